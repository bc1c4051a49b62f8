"""foreknow: each defense with the requirements it takes; ``list`` prints the calls."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from runners import QUASI_IDENTIFIERS, SENSITIVE, K, L, T, clocked, hand_over, interval

from foreknow.defenses import (
    BKAA,
    MASK,
    UHRA,
    Anatomy,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    Mondrian,
    Requirement,
    TCloseness,
    publish,
)
from foreknow.evaluation import adult
from foreknow.models import Adversary, Release, UniformPrior, View

ASKED: dict[str, Requirement] = {
    "k": KAnonymity(K),
    "k, l": KAnonymity(K) & DistinctDiversity(L),
    "k, t": KAnonymity(K) & TCloseness(T),
}


def calls() -> dict[str, Callable[[], Defense]]:
    made: dict[str, Callable[[], Defense]] = {}
    for name, requirement in ASKED.items():
        made[f"Mondrian: {name}"] = partial(Mondrian, requirement)
        made[f"FullDomain: {name}"] = partial(FullDomain, requirement)
    return made | {
        "JSReduce(5, .5, .6, patience=50): k, t": lambda: JSReduce(K, T, 0.6, patience=50),
        "BKAA(5, 2, .6, patience=50): k": lambda: BKAA(K, 2.0, 0.6, patience=50),
        "UHRA(5, .5, .6): k, t": lambda: UHRA(K, T, 0.6),
        "KPrimacy(5, 2, .6): k": lambda: KPrimacy(K, 2.0, 0.6),
        "Anatomy(5): k, l": lambda: Anatomy(K, rng=1),
        "MASK(5, 2): k, l": lambda: MASK(K, L, rng=1),
        "Injector(2): l": lambda: Injector(L, rng=1),
    }


def view(folder: Path) -> View:
    """View of the records, with ARX's hierarchies for all quasi-identifiers except age, which is a number."""
    source = json.loads((folder / "source.json").read_text())
    return adult(source["adult"], SENSITIVE, QUASI_IDENTIFIERS, source["hierarchies"])[0]


def rows(release: Release) -> pd.DataFrame:
    """Published table with the row number of a record at each line of its group; the order within a group is arbitrary."""
    table = release.table.sort_values("group", kind="stable").reset_index(drop=True)
    members = pd.DataFrame({"row": np.arange(len(release.group)), "group": release.group})
    members = members[members["group"] >= 0].sort_values("group", kind="stable")
    for side in (table, members):
        side["place"] = side.groupby("group").cumcount()
    joined = table.merge(members, on=["group", "place"], how="left").drop(columns="place")
    return joined.assign(row=joined["row"].fillna(-1).astype(int))


def run(folder: Path, call: str) -> None:
    """Print the calls, or time one and hand its published table over."""
    if call == "list":
        print(json.dumps(list(calls())))
        return
    data, defense = view(folder), calls()[call]()

    def work() -> tuple[Release, pd.DataFrame]:
        release = publish([data], defense, Adversary(UniformPrior()), rng=np.random.default_rng(1))[0]
        return release, release.table

    (release, _), seconds = clocked(work, compiles=True)
    published = rows(release).drop(columns="group") if call.startswith("FullDomain") else rows(release)
    published["age"] = [
        text if str(text).startswith("[") else interval(float(text), float(text)) for text in published["age"]
    ]
    hand_over(published, seconds, folder, f"foreknow {call.replace(':', '').replace('.', '')}")
