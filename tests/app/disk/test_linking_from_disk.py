"""Linking published parts back to the records: by names, order, labels and metadata, no better than the groups allow."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from large_history import bytes_of
from linking_statistics import (
    MAX_DEVIATIONS,
    SCHEMA,
    Sum,
    add_matches,
    add_numbers,
    check_statistics,
    matches_by_chance,
    records,
)

from foreknow.app.disk import LargeTable, publish_large
from foreknow.app.disk import publication as publication_module
from foreknow.app.disk.partition import GROUPS_OF_A_RELEASE
from foreknow.app.disk.parts import GROUPS_OF_A_BLOCK, MOST_BLOCKS
from foreknow.defenses import BKAA, Anatomy, FullDomain, JSReduce, KAnonymity, Mondrian
from foreknow.models import Adversary, Categorical, Grouping, Numeric, Release, Schema, UniformPrior, View

pytestmark = pytest.mark.slow

NOBODY = Adversary(UniformPrior())
ONE_AGE = Schema({"age": Numeric(0, 99)}, "result", ("a", "b", "c", "d"))
AGE_AND_SEX = Schema({"age": Numeric(0, 99), "sex": Categorical(("f", "m"))}, "result", ("a", "b", "c", "d"))
HISTORIES = 6
DEFENSES = {
    "anatomy": Anatomy(2),
    "bkaa": BKAA(2, 4, 0.9, leftovers="suppress"),
    "full-domain": FullDomain(KAnonymity(3)),
    "js-reduce": JSReduce(3, 0.8, 0.9),
    "mondrian": Mondrian(KAnonymity(3)),
}
"""The defenses from disk, of which the second and the fourth suppress records."""


@dataclass(frozen=True)
class Decades(Mondrian):
    """Groups of the decade of the age; ages with a fraction are suppressed."""

    def __call__(self, view, prior, past=()):  # noqa: ARG002
        age = view.people.quasi_identifiers[:, 0]
        return Grouping(np.where(age % 1 > 0, -1, age // 10).astype(int))


def published(frame, schema, defense, folder, block):
    """Publication of a frame with a column ``week``, from disk."""
    folder.mkdir()
    frame.to_parquet(folder / "records.parquet")
    table = LargeTable(folder / "records.parquet", schema, "week")
    return publish_large(table, defense, folder / "out", NOBODY, block=block, seed=5)


def blocks_of(made, frame):
    """Each block as a release of its own records, and its published rows, with the groups numbered from 0."""
    for number, one in enumerate(made.releases):
        for part in sorted((made.folder / "public" / "published.parquet" / f"release-{number:04d}").iterdir()):
            key = pq.read_table(made.folder / "private" / "groups.parquet" / part.parent.name / part.name).to_pandas()
            key = key.set_index("id")["group"]
            here = frame[(frame["week"] == one.time) & frame["id"].isin(key.index)]
            view = View(here, made.schema, one.time)
            rows, first = pq.read_table(part).to_pandas(), int(part.stem[-5:]) * GROUPS_OF_A_BLOCK
            assert (rows.pop("week") == one.time).all()
            release = Release(view, Grouping(key.loc[view.people.respondents].to_numpy()))
            assert sorted(set(rows["group"] - first)) == list(range(release.groups))
            yield release, rows.assign(group=rows["group"] - first)


@pytest.mark.parametrize("name", DEFENSES)
def test_order_and_labels_link_no_better_than_chance(name, tmp_path):
    """As in memory: means and variances are exact given the groups of a block."""
    sums, groups, suppressed = {}, 0, 0
    for seed in range(HISTORIES):
        views = records(np.random.default_rng([7, seed]))
        frame = pd.concat([view.frame.assign(week=view.time) for view in views], ignore_index=True)
        made = published(frame, SCHEMA, DEFENSES[name], tmp_path / str(seed), block=12)
        for release, rows in blocks_of(made, frame):
            assert list(rows.columns) == ["group", "age", "town", "result"]
            assert rows["group"].is_monotonic_increasing
            add_matches(sums, release, rows)
            add_numbers(sums, release)
            groups, suppressed = groups + release.groups, suppressed + int((release.group < 0).sum())
    assert groups > HISTORIES
    assert suppressed > 0 or name not in ("bkaa", "js-reduce")
    assert {key: one.deviations for key, one in sums.items() if abs(one.deviations) > MAX_DEVIATIONS} == {}


def two_ages(rng, number=240):
    """Records of two releases, in which nine of ten people are each time; there are two ages."""
    ages = 40 + np.arange(number) % 2
    everyone = [
        pd.DataFrame({"id": np.arange(number), "age": ages, "week": week, "result": rng.choice(list("abcd"), number)})
        for week in (0, 1)
    ]
    return pd.concat(everyone, ignore_index=True)[rng.random(2 * number) < 0.9]


@pytest.mark.parametrize("name", DEFENSES)
def test_parts_of_two_releases_link_equal_records_no_better_than_chance(name, tmp_path):
    """Given the parts of the first release, those of equal records of the second one are in random order."""
    made = published(two_ages(np.random.default_rng(4)), ONE_AGE, DEFENSES[name], tmp_path / "w", block=20)
    first, second = (
        pd.concat(
            pq.read_table(part, columns=["id", "_q0"]).to_pandas().assign(part=part.stem)
            for part in (made.folder / "private" / "groups.parquet" / f"release-{number:04d}").iterdir()
        )
        .rename(columns={"_q0": "q0"})
        .set_index("id")
        for number in (0, 1)
    )
    assert second.groupby("q0")["part"].nunique().min() >= (1 if name == "full-domain" else 4)
    hits = Sum()
    for _, rows in second.groupby("q0"):
        own, rows = first["part"].reindex(rows.index).fillna("absent").tolist(), rows["part"].tolist()
        hits.add(sum(one == other for one, other in zip(own, rows, strict=True)), *matches_by_chance(own, rows))
    assert abs(hits.deviations) <= MAX_DEVIATIONS


def people(rng, number=60):
    """Records of two releases with distinct quasi-identifiers; a third of the ages have a fraction."""
    ages = rng.permutation(np.concatenate([np.arange(number), np.arange(0, number, 2) + 0.5]))
    columns = {"id": [f"respondent-{place}" for place in range(len(ages))], "age": ages}
    columns["sex"] = rng.choice(["f", "m"], len(ages))
    return pd.concat(
        [pd.DataFrame(columns).assign(week=week, result=rng.choice(list("abcd"), len(ages))) for week in (0, 1)],
        ignore_index=True,
    )


def other_world(frame, made, rng):
    """Other names, order of the file, holders within groups, values of suppressed records, types and metadata."""
    frame = frame.copy()
    for number, one in enumerate(made.releases):
        parts = (made.folder / "private" / "groups.parquet" / f"release-{number:04d}").iterdir()
        group = pd.concat([pq.read_table(part).to_pandas() for part in parts]).set_index("id")["group"]
        here = np.flatnonzero(frame["week"] == one.time)
        label = group.loc[frame["id"].iloc[here]].to_numpy()
        for each in np.unique(label):
            members, results = here[label == each], frame["result"].to_numpy(copy=True)
            frame.loc[members, "result"] = "d" if each == -1 else rng.permutation(results[members])
    names = dict(zip(frame["id"].unique(), rng.permutation(10**6).tolist(), strict=False))
    frame["id"] = [f"someone-{names[name]}" for name in frame["id"]]
    frame = frame.assign(note="private").astype({"result": pd.CategoricalDtype(list("dcba"))})
    frame.attrs["source"] = "a person"
    return frame.sample(frac=1, random_state=rng)


@pytest.mark.parametrize(
    "defense",
    [Decades(KAnonymity(1)), Mondrian(KAnonymity(4)), FullDomain(KAnonymity(2))],
    ids=["suppressing", "mondrian", "full-domain"],
)
def test_all_that_is_public_is_equal(defense, tmp_path):
    """Two worlds that agree in the quasi-identifiers and in the values of each group have the same files, byte by byte."""
    rng = np.random.default_rng(3)
    frame = people(rng)
    first = published(frame, AGE_AND_SEX, defense, tmp_path / "first", block=25)
    second = published(other_world(frame, first, rng), AGE_AND_SEX, defense, tmp_path / "second", block=25)
    files = [bytes_of(made.folder / "public" / "published.parquet") for made in (first, second)]
    assert files[0] == files[1]
    assert len(files[0]) > 4
    assert all(name[:13] in ("release-0000/", "release-0001/") for name in files[0])
    assert any(one.suppressed for one in first.releases) == isinstance(defense, Decades)
    for part in (first.folder / "public").rglob("*"):
        if part.is_file():
            check_statistics(part)
            assert not {"respondent-0", "private"} & set(map(str, pq.read_table(part).to_pandas().to_numpy().ravel()))
    private = [bytes_of(made.folder / "private" / "groups.parquet") for made in (first, second)]
    assert private[0] != private[1]


def test_labels_tell_nothing_of_suppressed_records(tmp_path):
    """Three tables that differ in suppressed records alone, of which each block has none, two or six."""
    ages = np.arange(80)
    worlds = [[], [10.5, 11.5, 50.5, 51.5], [*(np.arange(6) + 0.5), *(np.arange(70, 76) + 0.5)]]
    files = []
    for number, extra in enumerate(worlds):
        frame = pd.DataFrame({"age": np.concatenate([ages, extra])}).assign(
            id=lambda rows: rows.index,
            week=0,
            result=lambda rows: [("a", "b", "c")[int(age) % 3] for age in rows["age"]],
        )
        made = published(frame, ONE_AGE, Decades(KAnonymity(1)), tmp_path / str(number), block=40)
        assert made.releases[0].suppressed == len(extra)
        files.append(bytes_of(made.folder / "public"))
    assert files[0] == files[1] == files[2]
    labels = [np.unique(pq.read_table(part)["group"]) for part in sorted((made.folder / "public").rglob("part-*"))]
    np.testing.assert_array_equal(labels, [[0, 1, 2, 3], np.arange(4) + GROUPS_OF_A_BLOCK])


def test_the_keys_of_the_joint_attack_hold_the_labels_of_all_blocks_and_releases():
    assert MOST_BLOCKS * GROUPS_OF_A_BLOCK <= GROUPS_OF_A_RELEASE
    assert publication_module.MOST_RELEASES * GROUPS_OF_A_RELEASE <= 2**63


@pytest.mark.parametrize(
    ("limit", "words"), [("MOST_BLOCKS", "2 blocks; it has 1 at most"), ("MOST_RELEASES", "2 rel")]
)
def test_more_blocks_or_releases_are_refused(tmp_path, monkeypatch, limit, words):
    monkeypatch.setattr(publication_module, limit, 1)
    with pytest.raises(ValueError, match=f"publish_large: the table has {words}"):
        published(people(np.random.default_rng(1)), AGE_AND_SEX, Mondrian(KAnonymity(4)), tmp_path / "w", block=45)
