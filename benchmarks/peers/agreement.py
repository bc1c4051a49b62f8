"""Comparison of pycanon and foreknow: each measure that both compute on the same published table."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from environments import Program, Unavailable, output_of, python_of
from pycanon_rules import RULES
from records import QUASI_IDENTIFIERS, SENSITIVE, K

from foreknow import defenses
from foreknow.defenses import (
    BasicBetaLikeness,
    BetaLikeness,
    Defense,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    JSReduce,
    KAnonymity,
    Mondrian,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    publish,
    summarize_groups,
    summarize_records,
)
from foreknow.evaluation import verify_table
from foreknow.models import Adversary, Release, UniformPrior, View

FIRST_RECORDS = 3000
LIMIT = 3600.0
MAX_IS_WORST = ("t", "basic beta", "enhanced beta", "recursive c")
"""Measures whose worst group has the largest value; for all others it has the smallest."""


class ComparedMeasure(NamedTuple):
    """One measure of one release by pycanon, by `verify`, by the requirement, and by pycanon's own rule where it differs."""

    release: str
    by: str
    measure: str
    pycanon: float
    verify: float
    requirement: float
    rule: float


def releases() -> dict[str, Defense]:
    """Defenses whose releases are compared."""
    k = KAnonymity(K)
    made: dict[str, Defense] = {
        "Mondrian: k": Mondrian(k),
        "Mondrian: k, distinct l = 3": Mondrian(k & DistinctDiversity(3)),
        "Mondrian: k, entropy l = 3": Mondrian(k & EntropyDiversity(3)),
        "Mondrian: k, recursive (2, 3)": Mondrian(k & RecursiveDiversity(2, 3)),
        "Mondrian: k, t = .5": Mondrian(k & TCloseness(0.5)),
        "Mondrian: k, basic beta = 2": Mondrian(k & BasicBetaLikeness(2)),
        "Mondrian: k, enhanced beta = 2": Mondrian(k & BetaLikeness(2)),
        "JSReduce(5, .5, .6, patience=50)": JSReduce(K, 0.5, 0.6, patience=50),
    }
    return made | (
        {"Anatomy(5)": defenses.Anatomy(5, rng=np.random.default_rng(1))} if hasattr(defenses, "Anatomy") else {}
    )


def agreement(program: Program, view: View, folder: Path) -> tuple[list[ComparedMeasure], list[str]]:
    """Measures of every release of the first `FIRST_RECORDS` records and of all records; and the failures of pycanon."""
    found: list[ComparedMeasure] = []
    failures: list[str] = []
    for size in sorted({min(FIRST_RECORDS, len(view)), len(view)}):
        part = View(view.frame.iloc[:size], view.schema)
        for name, defense in releases().items():
            release = publish([part], defense, Adversary(UniformPrior()), rng=np.random.default_rng(1))[0]
            # In a bucketized release, rows do not link quasi-identifiers and values.
            by = ["group"] if release.bucketized or size > FIRST_RECORDS else ["group", "labels"]
            try:
                found += compared(f"{name}, {size:,} rows", release, by, pycanon_measures(program, release, by, folder))
            except Unavailable as why:
                failures.append(f"{name}, {size:,} rows: {why}")
    return found, failures


def pycanon_measures(program: Program, release: Release, by: list[str], folder: Path) -> dict[str, float]:
    """Measures of a release by pycanon, from the published table alone."""
    path = folder / "published" / "checked.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    release.table.to_csv(path, index=False)
    command = [python_of(program), str(Path(__file__).parent / program.runner), str(path), *by]
    return json.loads(output_of(command, LIMIT).splitlines()[-1])["found"]


def compared(name: str, release: Release, columns: list[str], found: dict[str, float]) -> Iterator[ComparedMeasure]:
    """Measures of pycanon and of foreknow: groups by the column ``group``, or by the published quasi-identifiers alone."""
    values = release.view.schema.values
    for by in columns:
        table = release.table
        if by == "labels":
            table["group"] = table.groupby(QUASI_IDENTIFIERS, sort=False).ngroup()
        counts = pd.crosstab(table["group"], table[SENSITIVE])
        summary = summarized(table, release)
        for measure, requirement in measures(int(found[f"distinct l by {by}"])).items():
            by_pycanon = found[f"{measure} by {by}"]
            rule = RULES[measure](counts) if measure in RULES else float("nan")
            if requirement is None:
                yield ComparedMeasure(name, by, measure, by_pycanon, delta(counts), delta(counts), rule)
                continue
            checked = verify_table(table, SENSITIVE, values, requirement)["level"].to_numpy()
            ours = [worst(measure, levels) for levels in (checked, requirement.level(summary))]
            yield ComparedMeasure(name, by, measure, by_pycanon, *ours, rule)


def measures(l: int) -> dict[str, Requirement | None]:  # noqa: E741
    """Measures of pycanon, with the requirement that has this level; the last has no requirement in foreknow."""
    return {
        "k": KAnonymity(1),
        "alpha": FrequencyDiversity(1),
        "distinct l": DistinctDiversity(1),
        "entropy l": EntropyDiversity(1),
        "recursive c": RecursiveDiversity(1, l),
        "t": TCloseness(1.0),
        "basic beta": BasicBetaLikeness(1),
        "enhanced beta": BetaLikeness(1),
        "delta": None,
    }


def summarized(table: pd.DataFrame, release: Release):
    """Summaries of the published groups, with the published records as the whole table."""
    frame = release.view.frame.iloc[: len(table)].assign(**{SENSITIVE: table[SENSITIVE].to_numpy()})
    view = View(frame, release.view.schema)
    uniform = np.full((len(view), len(view.schema.values)), 1 / len(view.schema.values))
    return summarize_groups(summarize_records(view, uniform), table["group"].to_numpy())


def worst(measure: str, levels: np.ndarray) -> float:
    """Level of a table: that of its worst group; alpha is one over the frequency diversity."""
    level = float(levels.max() if measure in MAX_IS_WORST else levels.min())
    return 1 / level if measure == "alpha" else level


def delta(counts: pd.DataFrame) -> float:
    """Largest absolute logarithm of the ratio of a value's share in a group to its share in the table, over shown values."""
    ratio = counts.div(counts.sum(axis=1), axis=0) / (counts.sum() / counts.to_numpy().sum())
    return float(np.abs(np.log(ratio.to_numpy()[ratio.to_numpy() > 0])).max())


def same(one: float, other: float) -> bool:
    """Return whether two numbers are equal up to rounding."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(one) and math.isnan(other))


def agree(one: ComparedMeasure) -> bool:
    """Return whether all three programs give the same number."""
    return same(one.pycanon, one.verify) and same(one.verify, one.requirement)


def explained(one: ComparedMeasure) -> bool:
    """Return whether only pycanon differs, and its known rule gives its number."""
    return same(one.verify, one.requirement) and same(one.pycanon, one.rule)
