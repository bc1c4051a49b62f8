"""Linking a published release back to the records: by order, numbers, types and metadata, no better than the groups allow."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linking_statistics import (
    HISTORIES,
    MAX_DEVIATIONS,
    PEOPLE,
    SCHEMA,
    TOWNS,
    add_matches,
    add_numbers,
    check_statistics,
    records,
)

from foreknow.app.cli.files.release_files import published_table
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.disk.parts import Block, write_part
from foreknow.app.disk.published_block import BlockTask, PublishJob, published_rows
from foreknow.app.publication import write_release
from foreknow.defenses import (
    BKAA,
    DEFENSES,
    MASK,
    UHRA,
    Anatomy,
    Cohorts,
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
from foreknow.models import (
    Adversary,
    ExpectationMaximization,
    Grouping,
    History,
    MarkovChain,
    Release,
    UniformPrior,
    View,
)

NOBODY = Adversary(UniformPrior())
MADE = {
    "anatomy": lambda seed: Anatomy(2, rng=np.random.default_rng(seed)),
    "bkaa": lambda _: BKAA(2, 4, 0.9),
    "cohorts": lambda seed: Cohorts(3, rng=np.random.default_rng(seed)),
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


def test_every_defense_is_here():
    assert set(MADE) == set(DEFENSES)


@pytest.mark.slow
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


def leaving(rng):
    """The two views of `records`; a third of the people, drawn independently, leaves between them."""
    first, second = records(rng)
    gone = rng.choice(first.people.respondents, PEOPLE // 3, replace=False)
    return [first, View(second.frame[~second.frame["id"].isin(gone)], SCHEMA, 2)]


def test_ghosts_are_linked_no_better_than_chance():
    """Ghosts have the law of the values, so that all orders of people and ghosts are equally likely."""
    sums, leaks, ghosts = {}, {}, 0
    chain = MarkovChain(1, np.full((4, 4), 0.25))
    for seed in range(3 * HISTORIES):
        defense = Cohorts(3, 6, transitions=chain, rng=np.random.default_rng(seed))
        views = History(leaving(np.random.default_rng([9, seed])))
        releases = publish(views, defense, NOBODY, rng=np.random.default_rng([8, seed]))
        table = published_table(releases, "week")
        assert set(table.columns) == {"week", "group", "age", "town", "result", "ghosts"}
        for release in releases:
            rows = table[table["week"] == release.time]
            assert rows["group"].is_monotonic_increasing
            add_matches(sums, release, rows)
            add_numbers(sums, release)
            ghosts += len(release.ghosts[1])
        order = np.random.default_rng([10, seed]).permutation(len(release.view))
        labels = np.append(release.group[order], release.ghosts[1])
        values = np.append(release.view.sensitive[order], release.ghosts[2])
        leaking = pd.DataFrame({"group": labels, "result": np.array(SCHEMA.values)[values]})
        add_matches(leaks, release, leaking.sort_values("group", kind="stable"))
    assert ghosts > 3 * HISTORIES
    assert {key: one.deviations for key, one in sums.items() if abs(one.deviations) > MAX_DEVIATIONS} == {}
    assert leaks["file", 2].deviations > MAX_DEVIATIONS  # the ghosts alone: the people are shuffled


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

    @pytest.mark.slow
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

    @pytest.mark.slow
    @given(seed=st.integers(0, 10**6), bucketized=st.booleans())
    def test_ghosts_are_published_as_records(self, folder, seed, bucketized):
        """Another choice of the places that ghosts carry on, as many of each group, changes no byte."""
        rng = np.random.default_rng(seed)
        frame = next(records(rng)).frame
        labels = rng.integers(-1, 4, PEOPLE)
        one, other = rng.permutation(PEOPLE), rng.permutation(PEOPLE)
        shares = rng.random(4)
        files = []
        for order in (one, other):
            ghost = np.zeros(PEOPLE, dtype=np.bool_)
            for g in range(4):
                members = order[labels[order] == g]
                ghost[members[: int(shares[g] * len(members))]] = True
            real = View(frame[~ghost], SCHEMA, 3)
            whole = View(frame, SCHEMA, 3)
            places = whole.people[rng.permutation(np.flatnonzero(ghost))]
            made = pd.Series(np.arange(PEOPLE), index=frame["id"])[places.respondents].to_numpy()
            rows = np.column_stack([labels[made], whole.sensitive[made], np.arange(len(made))])
            grouping = Grouping(labels[~ghost], counterfeits=rows, bucketized=bucketized, places=places)
            release = Release(real, grouping)
            files.append((files_of(release, folder), release.table, *release.tables, release.ghost_counts.tolist()))
        for before, after in zip(*files, strict=True):
            if isinstance(before, pd.DataFrame):
                pd.testing.assert_frame_equal(before, after)
            else:
                assert before == after


def files_of(release, folder):
    """Bytes of every public file of a release."""
    for name in ("published.csv", "published.parquet"):
        write_table(published_table([release], "week"), folder / name)
        write_release(folder, {}, [release.view.time], Mondrian(KAnonymity(2)), {})
    if not release.grouping.bucketized or release.grouping.counterfeits is None:
        job = PublishJob(release.view.schema, "week", pa.int64(), Mondrian(KAnonymity(2)), None, 1, folder)
        task = BlockTask(job, Block(folder, 0, 0, 5, 0, release.view.time, job.schema), np.zeros(1))
        write_part(folder / "part.parquet", published_rows(release, task))
    content = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert not any(mark in each for each in content.values() for mark in (b"respondent", b"someone", b"77.5", b"Atl"))
    for name in content:
        if name.endswith(".parquet"):
            check_statistics(folder / name)
    return content
