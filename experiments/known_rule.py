"""Disclosure by the groups to an adversary who knows the rule of the defense.

A row of `known_rule` is a defense on all tables of six respondents and three equally likely values. The adversary sees the members
and the values of each group, and keeps the tables from which the defense makes this release. A row of `insiders` is about an
insider, who also knows the value of one member, and about bucketizers with and without chance, on ten tables of equally frequent
values.
"""

import itertools
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pandas as pd

from foreknow.defenses import (
    BKAA,
    UHRA,
    Anatomy,
    Defense,
    DistinctDiversity,
    FrequencyDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KPrimacy,
    MInvariance,
    Mondrian,
    hilbert_order,
)
from foreknow.evaluation.cells import Cell, Experiment
from foreknow.models import Numeric, Release, Schema, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray

PEOPLE, VALUES = 6, "abc"
SCHEMA = Schema({"age": Numeric(0, PEOPLE - 1)}, "value", tuple(VALUES))
PRIOR = np.full((PEOPLE, len(VALUES)), 1 / len(VALUES))
SIZES = (60, 600, 6000)
TABLES, INSIDERS = 10, 20
TIED = (0, 0, 0, 0, 1, 2)
"""Ages of which the median cut makes parts of four and two."""

DEFENSES: dict[str, Defense] = {
    "Mondrian(FrequencyDiversity(2))": Mondrian(FrequencyDiversity(2)),
    "Mondrian(DistinctDiversity(2))": Mondrian(DistinctDiversity(2)),
    "FullDomain(FrequencyDiversity(2))": FullDomain(FrequencyDiversity(2)),
    "FullDomain(DistinctDiversity(2))": FullDomain(DistinctDiversity(2)),
    "JSReduce(2, .5, .6, also=DistinctDiversity(2))": JSReduce(2, 0.5, 0.6, also=DistinctDiversity(2)),
    "BKAA(2, 1, .6)": BKAA(2, 1, 0.6),
    "UHRA(2, .5, .6)": UHRA(2, 0.5, 0.6),
    "KPrimacy(2, 1, .6)": KPrimacy(2, 1, 0.6),
    "Anatomy(2, deterministic=True)": Anatomy(2, deterministic=True),
    "Injector(2, deterministic=True)": Injector(2, deterministic=True),
    "MInvariance(2, deterministic=True)": MInvariance(2, deterministic=True),
}


def worlds(defense: Defense, ages: Sequence[int] = range(PEOPLE)) -> tuple[float, float, float, int]:
    """Beliefs of an adversary who knows the rule, over all tables.

    Returns three shares of the published records and the number of refused tables. The shares are those of records with a belief
    over the largest share of their group, of certain records, and of records that are certain for an insider who knows the
    value of a member of another group.
    """
    seen: dict[tuple[object, ...], list[tuple[int, ...]]] = defaultdict(list)
    refused = 0
    for table in itertools.product(range(len(VALUES)), repeat=PEOPLE):
        frame = pd.DataFrame({"id": range(PEOPLE), "age": ages, "value": [VALUES[code] for code in table]})
        view = View(frame, SCHEMA)
        try:
            release = Release(view, defense(view, PRIOR, ()))
        except ValueError:
            refused += 1
            continue
        shown = [(tuple(np.flatnonzero(release.group == g)), tuple(release.counts[g])) for g in range(release.groups)]
        seen[tuple(sorted(shown))].append(table)
    published = above = certain = asked = inside = 0
    for shown, tables in seen.items():
        possible = np.array(tables)
        for people, counts in shown:
            shares = [np.bincount(possible[:, i]).max() / len(tables) for i in people]
            published += len(people) * len(tables)
            above += len(tables) * sum(share > max(counts) / sum(counts) + 1e-9 for share in shares)
            open_ = max(counts) < sum(counts)
            certain += len(tables) * sum(share > 1 - 1e-9 for share in shares if open_)
            for known in set(range(PEOPLE)) - set(people):
                asked += len(people) * len(tables)
                for code in range(len(VALUES)):
                    left = possible[possible[:, known] == code]
                    inside += (
                        open_ * len(left) * int((left == left[:1]).all(axis=0)[list(people)].sum()) if len(left) else 0
                    )
    return above / published, certain / published, inside / asked, refused


def followed(kind: type[Anatomy] | type[MInvariance], deterministic: bool, people: int, values: str) -> FloatArray:
    """Shares claimed and correctly claimed by insiders of several tables: float array, shape ``(i, 2)``."""
    found = []
    for seed in range(TABLES):
        rng = np.random.default_rng(seed)
        view = crowd(people, values, rng)
        defense = kind(2, deterministic=True) if deterministic else kind(2, rng=rng)
        release = Release(view, defense(view, np.full((people, len(values)), 1 / len(values)), ()))
        found.append(claims(release, kind is MInvariance, rng.choice(people, INSIDERS, replace=False)))
    return np.concatenate(found)


def crowd(people: int, values: str, rng: np.random.Generator) -> View:
    """A view of respondents with two random quasi-identifiers, and equally frequent values in random order."""
    frame = pd.DataFrame({"id": range(people), "age": rng.random(people), "weight": rng.random(people)})
    frame["value"] = rng.permutation(np.resize(list(values), people))
    return View(frame, Schema({"age": Numeric(0, 1), "weight": Numeric(0, 1)}, "value", tuple(values)))


class Groups:
    """Groups of two members with two values, and the assignments that the publisher's rule allows.

    In the rule of `Anatomy(2, deterministic=True)`, the i-th record of a value along the Hilbert curve is in the i-th group that
    shows the value. With ``by_signature``, as in `MInvariance`, it is in the i-th of the groups of one signature.
    """

    def __init__(self, release: Release, by_signature: bool) -> None:
        members = np.array([np.flatnonzero(release.group == g) for g in range(release.groups)])
        self.values = np.array([np.flatnonzero(counts) for counts in release.counts])
        self.of = release.group
        self.rank = np.argsort(hilbert_order(release.view.people)).astype(float)[members]
        self.truth = (release.view.sensitive[members[:, 0]] != self.values[:, 0]).astype(int)
        signature = np.unique(self.values, axis=0, return_inverse=True)[1].reshape(-1) if by_signature else 0
        key = signature * (self.values.max() + 1) + self.values.T
        self.chains = [np.nonzero((key == one).T) for one in np.unique(key)]

    def possible(self, known: int | None) -> BoolArray:
        """Assignments of each group that the rule allows, given the assignment of the group of a known member.

        The records of a value must be in the order of the groups that show the value. The search removes assignments that no
        choice in the earlier or later groups can complete, until nothing changes.
        """
        allowed = np.ones((len(self.values), 2), dtype=bool)
        if known is not None:
            allowed[self.of[known], 1 - self.truth[self.of[known]]] = False
        struck = True
        while struck:
            struck = False
            for group, slot in self.chains:
                place = np.column_stack([self.rank[group, slot], self.rank[group, 1 - slot]])
                fits = allowed[group] & _in_order(place, allowed[group])
                struck |= bool((fits != allowed[group]).any())
                allowed[group] = fits
        return allowed

    def claimed(self, known: int) -> tuple[float, float]:
        """Share of the other groups whose assignment is certain for an insider, and the share where it is correct."""
        allowed = self.possible(known)
        sure = allowed.sum(axis=1) == 1
        sure[self.of[known]] = False
        others = len(sure) - 1
        return sure.sum() / others, (sure & (allowed.argmax(axis=1) == self.truth)).sum() / others


def _in_order(place: FloatArray, allowed: BoolArray) -> BoolArray:
    """Return whether each place of a chain leaves places for the groups before and after it."""
    low = np.where(allowed, place, np.inf).min(axis=1)
    high = np.where(allowed, place, -np.inf).max(axis=1)
    before = np.append(-np.inf, np.maximum.accumulate(np.where(np.isfinite(low), low, -np.inf))[:-1])
    after = np.append(np.minimum.accumulate(np.where(np.isfinite(high), high, np.inf)[::-1])[::-1][1:], np.inf)
    return (place > before[:, None]) & (place < after[:, None])


def claims(release: Release, by_signature: bool, insiders: IntArray) -> FloatArray:
    """Shares claimed and correctly claimed by each insider: float array, shape ``(i, 2)``."""
    groups = Groups(release, by_signature)
    return np.array([groups.claimed(int(known)) for known in insiders])


def enumerated(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Shares of the published records of all tables, by one defense."""
    columns = ("over_share", "certain", "certain_for_insider", "refused")
    found = worlds(DEFENSES[cell["defense"]], TIED if cell["four_of_one_age"] else range(PEOPLE))
    return pd.DataFrame([dict(zip(columns, found, strict=True))])


def insiders(cell: Cell, _rng: np.random.Generator) -> pd.DataFrame:
    """Shares of the other groups that insiders claim, and claim rightly."""
    kind = {"Anatomy": Anatomy, "MInvariance": MInvariance}[cell["defense"]]
    claimed = followed(kind, cell["deterministic"], cell["people"], cell["values"])
    shares = (*claimed.mean(axis=0).tolist(), float(claimed[:, 1].max()))
    return pd.DataFrame([dict(zip(("claimed", "right", "best"), shares, strict=True))])


CASES = [{"defense": name, "four_of_one_age": False} for name in DEFENSES]
TIED_CASES = [{"defense": name, "four_of_one_age": True} for name in DEFENSES if name.startswith("Mondrian")]

KNOWN_RULE = Experiment("known_rule", enumerated, CASES + TIED_CASES)

INSIDERS_OF_BUCKETS = Experiment(
    "insiders",
    insiders,
    [
        {"defense": kind, "deterministic": deterministic, "values": values, "people": people}
        for kind in ("Anatomy", "MInvariance")
        for deterministic in (True, False)
        for values in ("ab", "abcdef")
        for people in SIZES
    ],
)
