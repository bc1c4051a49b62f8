"""Disclosure by the groups to an adversary who knows the rule of the defense: ``python benchmarks/known_rule.py``.

The script prints the tables of section 19 of docs/findings.md. The first table enumerates all tables of six respondents of
different ages and three equally likely values. The adversary sees the members and the values of each group, and keeps the tables
from which the defense makes this release. The second table is about an insider, who also knows the value of one member, and about
bucketizers at several sizes.
"""

import itertools
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pandas as pd
from insider import claims, crowd

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
)
from foreknow.models import Numeric, Release, Schema, View
from foreknow.models.arrays import FloatArray

PEOPLE, VALUES = 6, "abc"
SCHEMA = Schema({"age": Numeric(0, PEOPLE - 1)}, "value", tuple(VALUES))
PRIOR = np.full((PEOPLE, len(VALUES)), 1 / len(VALUES))
SIZES = (60, 600, 6000)
TABLES, INSIDERS = 10, 20
FOUR_EQUAL, TIED = "four of one age", (0, 0, 0, 0, 1, 2)
"""Ages of which the median cut makes parts of four and two."""


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


def main() -> None:
    """Print the tables."""
    defenses = {
        "`Mondrian(FrequencyDiversity(2))`": Mondrian(FrequencyDiversity(2)),
        "`Mondrian(DistinctDiversity(2))`": Mondrian(DistinctDiversity(2)),
        f"`Mondrian(DistinctDiversity(2))`, {FOUR_EQUAL}": Mondrian(DistinctDiversity(2)),
        f"`Mondrian(FrequencyDiversity(2))`, {FOUR_EQUAL}": Mondrian(FrequencyDiversity(2)),
        "`FullDomain(FrequencyDiversity(2))`": FullDomain(FrequencyDiversity(2)),
        "`FullDomain(DistinctDiversity(2))`": FullDomain(DistinctDiversity(2)),
        "`JSReduce(2, .5, .6, also=DistinctDiversity(2))`": JSReduce(2, 0.5, 0.6, also=DistinctDiversity(2)),
        "`BKAA(2, 1, .6)`": BKAA(2, 1, 0.6),
        "`UHRA(2, .5, .6)`": UHRA(2, 0.5, 0.6),
        "`KPrimacy(2, 1, .6)`": KPrimacy(2, 1, 0.6),
        "`Anatomy(2, deterministic=True)`": Anatomy(2, deterministic=True),
        "`Injector(2, deterministic=True)`": Injector(2, deterministic=True),
        "`MInvariance(2, deterministic=True)`": MInvariance(2, deterministic=True),
    }
    print(
        "| defense | over the group's largest share | certain | certain for an insider | tables refused |\n|---|---|---|---|---|"
    )
    for name, defense in defenses.items():
        above, certain, inside, refused = worlds(defense, TIED if FOUR_EQUAL in name else range(PEOPLE))
        print(f"| {name} | {above:.0%} | {certain:.0%} | {inside:.0%} | {refused} of {len(VALUES) ** PEOPLE} |")
    print("\n| defense | values | people | claimed | right | right, the best insider |\n|---|---|---|---|---|---|")
    for kind, deterministic, values, people in itertools.product(
        (Anatomy, MInvariance), (True, False), ("ab", "abcdef"), SIZES
    ):
        claimed = followed(kind, deterministic, people, values)
        name = f"`{kind.__name__}(2{', deterministic=True' if deterministic else ''})`"
        shares = " | ".join(f"{share:.1%}" for share in (*claimed.mean(axis=0), claimed[:, 1].max()))
        print(f"| {name} | {len(values)} | {people:,} | {shares} |")


if __name__ == "__main__":
    main()
