"""Linking a published release back to the records: by order, numbers, types and metadata, no better than the groups allow."""

import hashlib
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.defenses import (
    BKAA,
    DEFENSES,
    MASK,
    UHRA,
    Anatomy,
    ForegroundSafe,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    publish,
)
from foreknow.evaluation.cli.files.atomic_output import write_table
from foreknow.evaluation.cli.files.checksums import write_release
from foreknow.evaluation.cli.files.release_files import published_table
from foreknow.evaluation.large.parts import write_part
from foreknow.evaluation.large.published_block import _published
from foreknow.models import (
    Adversary,
    Categorical,
    ExpectationMaximization,
    Grouping,
    History,
    Numeric,
    Release,
    Schema,
    UniformPrior,
    View,
)

NOBODY = Adversary(UniformPrior())
TOWNS = ("Como", "Milan", "Rome", "Turin")
SCHEMA = Schema({"age": Numeric(0, 99), "town": Categorical(TOWNS)}, "result", ("a", "b", "c", "d"))
MADE = {
    "anatomy": lambda seed: Anatomy(2, rng=np.random.default_rng(seed)),
    "bkaa": lambda _: BKAA(2, 4, 0.9),
    "foreground-safe": lambda seed: ForegroundSafe(
        2, ("a",), support=9, fit=ExpectationMaximization(starts=1), rng=np.random.default_rng(seed)
    ),
    "full-domain": lambda _: FullDomain(KAnonymity(3)),
    "injector": lambda seed: Injector(2, rng=np.random.default_rng(seed)),
    "js-reduce": lambda _: JSReduce(3, 0.8, 0.9, leftovers="counterfeit"),
    "k-primacy": lambda _: KPrimacy(3, 4, 0.9),
    "m-invariance": lambda seed: MInvariance(2, rng=np.random.default_rng(seed)),
    "mask": lambda seed: MASK(3, 2, rng=np.random.default_rng(seed)),
    "mondrian": lambda _: Mondrian(KAnonymity(3)),
    "uhra": lambda _: UHRA(3, 0.8, 0.9),
}
"""Every defense of `DEFENSES`, by its name; a new one adds its row."""

HISTORIES, PEOPLE = 12, 24
MAX_DEVIATIONS = 4.5
"""Standard deviations: under the null hypothesis one in 10^5 of these sums is farther from its mean."""


def test_every_defense_is_here():
    assert set(MADE) == set(DEFENSES)


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
    """Match the members of each group, in each order, with the rows of the group in the order of the table."""
    shown = release.view.sensitive if release.grouping.values is None else release.grouping.values
    names = release.view.people.respondents
    for group, rows in table.groupby("group")["result"]:
        members = np.flatnonzero(release.group == group)
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
    facts["mean age"] = np.array([release.view.people.quasi_identifiers[each, 0].mean() for each in members])
    number = np.arange(release.groups)
    for name, fact in facts.items():
        spread = ((number - number.mean()) ** 2).sum() * ((fact - fact.mean()) ** 2).sum() / (release.groups - 1)
        mean = release.groups * number.mean() * fact.mean()
        sums.setdefault((f"number and {name}", release.time), Sum()).add(float(number @ fact), mean, spread)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.filterwarnings("ignore")
def test_order_and_numbers_link_no_better_than_chance(name):
    """Means and variances are exact given the groups: names and the order of the file are independent of all else."""
    sums, groups = {}, 0
    for seed in range(HISTORIES):
        rng = np.random.default_rng([7, seed])
        releases = publish(
            History(records(rng)), MADE[name](seed), NOBODY, infeasible="suppress", rng=np.random.default_rng([8, seed])
        )
        table = published_table(releases, "week")
        assert list(table.columns) == ["week", "group", "age", "town", "result"] or set(table.columns) == {
            "week", "group", "age", "town", "result",
        }  # fmt: skip
        for release in releases:
            rows = table[table["week"] == release.time]
            assert rows["group"].is_monotonic_increasing
            add_matches(sums, release, rows)
            add_numbers(sums, release)
            groups += release.groups
    assert groups > HISTORIES
    assert {key: one.deviations for key, one in sums.items() if abs(one.deviations) > MAX_DEVIATIONS} == {}


def test_the_statistics_find_what_leaks():
    """Rows in the order of the file, and groups numbered by size, are found in as many histories."""
    matched, numbered = {}, {}
    for seed in range(HISTORIES):
        view = next(records(np.random.default_rng([7, seed])))
        labels = np.sort(np.random.default_rng(seed).integers(0, 6, PEOPLE))
        labels = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))[labels]
        release = Release(view, labels)
        cells = [SCHEMA.values[code] for code in view.sensitive]
        leaking = pd.DataFrame({"group": release.group, "result": cells}).sort_values("group", kind="stable")
        add_matches(matched, release, leaking)
        add_numbers(numbered, release)
    assert matched["file", 1].deviations > MAX_DEVIATIONS
    assert abs(numbered["number and size", 1].deviations) > MAX_DEVIATIONS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("published")


class TestSameObservation:
    """Two worlds that differ in all that is hidden, and agree in members' quasi-identifiers and values of each group."""

    @staticmethod
    def other_world(view, grouping, rng):
        """Other names, order of rows, holders within groups, suppressed records, spellings, types and metadata."""
        frame, labels = view.frame.copy(), grouping.labels
        frame["id"] = [f"someone-{number}" for number in rng.permutation(10**6)[: len(view)]]
        for group in np.unique(labels):
            members = np.flatnonzero(labels == group)
            if group == -1:
                frame.loc[members, "age"], frame.loc[members, "town"] = 77.5, "Turin"
                frame.loc[members, "result"] = "d"
            else:
                frame.loc[members, "result"] = rng.permutation(frame["result"].to_numpy()[members])
        frame = frame.astype({"town": pd.CategoricalDtype([*TOWNS, "Atlantis"]), "result": "category"})
        frame = frame.assign(note="private", age=frame["age"].map(lambda age: f"0{age}"))
        frame.index = pd.Index(rng.permutation(len(frame)), name="key")
        frame.attrs["source"] = "a person"
        order = rng.permutation(len(view))
        return View(frame.iloc[order], view.schema, view.time), grouping.in_rows(order)

    @given(seed=st.integers(0, 10**6), bucketized=st.booleans(), invented=st.booleans())
    def test_all_that_is_public_is_equal(self, folder, seed, bucketized, invented):
        rng = np.random.default_rng(seed)
        frame = next(records(rng)).frame
        frame["age"] = frame["age"].astype(float)
        labels = rng.integers(-1, 5, PEOPLE)
        counterfeits = [(labels.max(), 1), (labels.max(), 3)] if invented else None
        grouping = Grouping(labels, counterfeits=counterfeits, bucketized=bucketized)
        first = View(frame, SCHEMA, 3), grouping
        second = self.other_world(*first, rng)
        one, other = (Release(*world) for world in (first, second))
        for before, after in zip([one.table, *one.tables], [other.table, *other.tables], strict=True):
            pd.testing.assert_frame_equal(before, after, check_flags=True)
            assert after.attrs == {}
            assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in after.dtypes)
        assert (repr(one), one._repr_html_()) == (repr(other), other._repr_html_())
        assert files_of(one, folder) == files_of(other, folder)


def files_of(release, folder):
    """Bytes of every public file of a release."""
    for name in ("published.csv", "published.parquet"):
        write_table(published_table([release], "week"), folder / name)
        write_release(folder / name, [release], Mondrian(KAnonymity(2)))
    if not release.grouping.bucketized or release.grouping.counterfeits is None:
        write_part(folder / "part.parquet", _published(release, 5))
    content = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert not any(mark in each for each in content.values() for mark in (b"respondent", b"someone", b"77.5", b"Atl"))
    for name in content:
        if name.endswith(".parquet"):
            check_statistics(folder / name)
    return content


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
