"""What somebody learns who knows how a defense groups: all tables of six records, enumerated.

``python benchmarks/known_rule.py`` prints the table of docs/findings.md. All tables of six people of different ages and three
values are equally likely; the adversary sees who is in each group and its values, and keeps the tables that the defense
publishes just so.
"""

import itertools
from collections import defaultdict

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
)
from foreknow.models import Numeric, Release, Schema, View

PEOPLE, VALUES = 6, "abc"
SCHEMA = Schema({"age": Numeric(0, PEOPLE - 1)}, "value", tuple(VALUES))
PRIOR = np.full((PEOPLE, len(VALUES)), 1 / len(VALUES))


def worlds(defense: Defense) -> tuple[int, int, int, int]:
    """How many records are published, believed over the largest share of their group, and certain; how many tables refused."""
    seen: dict[tuple[object, ...], list[tuple[int, ...]]] = defaultdict(list)
    refused = 0
    for table in itertools.product(range(len(VALUES)), repeat=PEOPLE):
        frame = pd.DataFrame({"id": range(PEOPLE), "age": range(PEOPLE), "value": [VALUES[code] for code in table]})
        view = View(frame, SCHEMA)
        try:
            release = Release(view, defense(view, PRIOR, ()))
        except ValueError:
            refused += 1
            continue
        shown = [(tuple(np.flatnonzero(release.group == g)), tuple(release.counts[g])) for g in range(release.groups)]
        seen[tuple(sorted(shown))].append(table)
    published = above = certain = 0
    for shown, tables in seen.items():
        for people, counts in shown:
            shares = [
                np.bincount([table[i] for table in tables], minlength=len(VALUES)).max() / len(tables) for i in people
            ]
            published += len(people) * len(tables)
            above += len(tables) * sum(share > max(counts) / sum(counts) + 1e-9 for share in shares)
            certain += len(tables) * sum(share > 1 - 1e-9 for share in shares if max(counts) < sum(counts))
    return published, above, certain, refused


def main() -> None:
    """Print the table."""
    defenses = {
        "`Mondrian(FrequencyDiversity(2))`": Mondrian(FrequencyDiversity(2)),
        "`FullDomain(FrequencyDiversity(2))`": FullDomain(FrequencyDiversity(2)),
        "`JSReduce(2, .5, .6, also=DistinctDiversity(2))`": JSReduce(2, 0.5, 0.6, also=DistinctDiversity(2)),
        "`BKAA(2, 1, .6)`": BKAA(2, 1, 0.6),
        "`UHRA(2, .5, .6)`": UHRA(2, 0.5, 0.6),
        "`KPrimacy(2, 1, .6)`": KPrimacy(2, 1, 0.6),
        "`Anatomy(2)`, nothing drawn": Anatomy(2),
        "`Injector(2)`": Injector(2),
        "`MInvariance(2)`": MInvariance(2),
    }
    print("| defense | believed over the group's largest share | certain | tables refused |\n|---|---|---|---|")
    for name, defense in defenses.items():
        published, above, certain, refused = worlds(defense)
        print(
            f"| {name} | {above / published:.0%} | {certain / published:.0%} | {refused} of {len(VALUES) ** PEOPLE} |"
        )


if __name__ == "__main__":
    main()
