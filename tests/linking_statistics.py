"""Statistics of the links between published rows and the records: by order, numbers and metadata, under the null hypothesis."""

import hashlib
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from foreknow.models import Categorical, Numeric, Schema, View

TOWNS = ("Como", "Milan", "Rome", "Turin")
SCHEMA = Schema({"age": Numeric(0, 99), "town": Categorical(TOWNS)}, "result", ("a", "b", "c", "d"))

HISTORIES, PEOPLE = 12, 24
MAX_DEVIATIONS = 4.5
"""Standard deviations: under the null hypothesis one in 10^5 of these sums is farther from its mean."""


def records(rng):
    """Two views of the same people; names, the order of the file, values and quasi-identifiers are drawn independently."""
    names = np.array([f"respondent-{number:06d}" for number in rng.choice(10**6, PEOPLE, replace=False)])
    age, town = rng.integers(20, 60, PEOPLE), rng.choice(TOWNS, PEOPLE)
    for time in (1, 2):
        order = rng.permutation(PEOPLE)
        columns = {"id": names, "age": age, "town": town, "result": rng.choice(list("abcd"), PEOPLE)}
        yield View(pd.DataFrame(columns).iloc[order], SCHEMA, time)


ORDERS = {
    "file": lambda _, place: place,
    "file, reversed": lambda _, place: -place,
    "row number modulo 5": lambda _, place: place % 5 * 1000 + place,
    "name": lambda name, _: name,
    "checksum of the name": lambda name, _: hashlib.sha256(name.encode()).hexdigest(),
}
"""Orders of the members of a group, by name and place in the file, in which they are matched with the rows of the group."""


class Sum:
    """Sum of independent statistics, beside its mean and variance under the null hypothesis."""

    def __init__(self):
        self.value = self.mean = self.variance = 0.0

    def add(self, value, mean, variance):
        self.value, self.mean, self.variance = self.value + value, self.mean + mean, self.variance + variance

    @property
    def deviations(self):
        return (self.value - self.mean) / self.variance**0.5 if self.variance > 0 else self.value - self.mean


def matches_by_chance(own, rows):
    """Mean and variance of the matches of a random permutation of values with fixed rows.

    The number N_v of matches of value v is hypergeometric: mean a f / r for a values and f rows of r. Two of them have the
    covariance a_u f_u a_v f_v / (r^2 (r - 1)).
    """
    r, a, f = len(own), Counter(own), Counter(rows)
    mean = sum(a[v] * f[v] for v in a) / r
    if r == 1:
        return mean, 0.0
    alone = sum(a[v] * f[v] * (r - a[v]) * (r - f[v]) for v in a)
    together = 2 * sum(a[u] * f[u] * a[v] * f[v] for u, v in combinations(sorted(a), 2))
    return mean, (alone + together) / (r**2 * (r - 1))


def add_matches(sums, release, table):
    """Match the members and ghosts of each group, in each order, with the rows of the group in the order of the table.

    Ghosts come after the file, so that they are the last of a group, or the first in reverse.
    """
    shown = release.view.sensitive if release.grouping.values is None else release.grouping.values
    names, labels = release.view.people.respondents, release.group
    ghosts, ghost_group, ghost_value = release.ghosts
    if ghosts is not None:
        names, labels = np.append(names, ghosts.respondents), np.append(labels, ghost_group)
        shown = np.append(shown, ghost_value)
    for group, rows in table.groupby("group")["result"]:
        members = np.flatnonzero(labels == group)
        cells = rows.tolist()[: len(members)]
        for name, key in ORDERS.items():
            ordered = sorted(members, key=lambda place, key=key: key(names[place], int(place)))
            own = [SCHEMA.values[shown[place]] for place in ordered]
            hits = sum(one == other for one, other in zip(own, cells, strict=True))
            sums.setdefault((name, release.time), Sum()).add(hits, *matches_by_chance(own, cells))


def add_numbers(sums, release):
    """Products of the number of a group and a fact about it: all orders of the numbers are equally likely."""
    if release.groups < 2:
        return
    counts, members = release.counts, [np.flatnonzero(release.group == g) for g in range(release.groups)]
    facts = {f"share of {value}": counts[:, code] / counts.sum(axis=1) for code, value in enumerate(SCHEMA.values)}
    facts |= {"size": counts.sum(axis=1), "first in the file": np.array([each.min() for each in members])}
    facts["ghosts"] = release.ghost_counts
    facts["mean age"] = np.array([release.view.people.quasi_identifiers[each, 0].mean() for each in members])
    number = np.arange(release.groups)
    for name, fact in facts.items():
        spread = ((number - number.mean()) ** 2).sum() * ((fact - fact.mean()) ** 2).sum() / (release.groups - 1)
        mean = release.groups * number.mean() * fact.mean()
        sums.setdefault((f"number and {name}", release.time), Sum()).add(float(number @ fact), mean, spread)


def check_statistics(path):
    """The metadata of a Parquet file are its schema, its writer, and the least and greatest published values."""
    file = pq.ParquetFile(path)
    assert set(file.metadata.metadata or {}) <= {b"ARROW:schema"}
    assert file.schema_arrow.metadata is None
    table = file.read()
    for group in range(file.num_row_groups):
        for number, column in enumerate(table.columns):
            statistics = file.metadata.row_group(group).column(number).statistics
            if statistics is not None and statistics.has_min_max:
                assert {statistics.min, statistics.max} <= set(column.to_pylist())
