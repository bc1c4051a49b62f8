"""Cohorts from disk: the releases, the published rows and the key are those in memory, whatever the engine."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from large_history import CHAIN, KNOWN, bytes_of, on_disk, panel, published_in_memory

from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.release_files import key_table, published_table
from foreknow.app.disk import Engine, attack_large, publish_large, verify_large
from foreknow.app.disk import publication as module
from foreknow.defenses import Cohorts, JSimilarity, KAnonymity
from foreknow.models import Adversary, GhostChain, GivenPrior, MarkovChain, UniformPrior

COLUMNS = Columns("id", "week", "result", ("age", "sex"))


def rows(folder):
    """All rows of the parts of a folder, without the columns of codes."""
    table = pd.concat([pq.read_table(part).to_pandas() for part in sorted(folder.rglob("*.parquet"))])
    return table[[name for name in table if not name.startswith("_")]].reset_index(drop=True)


def check_same(published, releases):
    tables = published_table(releases, "week"), key_table(releases, COLUMNS)
    for expected, name in zip(tables, ("public/published.parquet", "private/groups.parquet"), strict=True):
        pd.testing.assert_frame_equal(rows(published.folder / name), expected, check_dtype=False)
    for one, release in zip(published.releases, releases, strict=True):
        numbers = (len(release.view), release.groups, (release.group < 0).sum(), release.ghost_counts.sum())
        assert (one.records, one.groups, one.suppressed, one.ghosts) == numbers
        assert one.notes == tuple(map(str, release.grouping.notes))


SETTINGS = {
    "ghosts": {},
    "ends": {"ends": 1},
    "terminal": {"terminal": ("w",), "wait": 2},
    "withdraw": {"departures": "withdraw"},
    "lag": {"departures": "lag", "lag": 2},
    "retire": {"departures": "retire"},
}


@pytest.mark.parametrize("more", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("gaps", ["ignore", "power"])
def test_the_releases_are_those_in_memory(tmp_path, more, gaps):
    frame, adversary = panel(), Adversary(UniformPrior(), CHAIN, gaps=gaps)
    table = on_disk(tmp_path, frame)

    def defense(rng=None):
        return Cohorts(3, 6, transitions=CHAIN, rng=rng, **more)

    published = publish_large(table, defense(), tmp_path / "out", adversary, seed=9, engine=Engine(1, 2))
    releases = published_in_memory(table, frame, defense, adversary, 9)
    check_same(published, releases)
    if more.get("departures", "ghosts") == "ghosts":
        assert sum(one.ghosts for one in published.releases) > 0
        assert max(len(release.grouping.notes) for release in releases) > 1


@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(0, 0.4), st.floats(0, 0.5), st.integers(0, 1))
@settings(max_examples=8, deadline=None)
def test_any_panel(tmp_path_factory, seed, a, leave, back, ends):
    folder, frame = tmp_path_factory.mktemp("any"), panel(60, 4, seed, leave, back)
    table = on_disk(folder, frame)

    def defense(rng=None):
        return Cohorts(a, 2 * a, transitions=CHAIN, priors=0.5, ends=ends, rng=rng)

    published = publish_large(table, defense(), folder / "out", KNOWN, seed=seed)
    check_same(published, published_in_memory(table, frame, defense, KNOWN, seed))


def test_priors_that_read_respondents_and_the_rule_of_the_ghosts(tmp_path):
    """Adversaries that blocks of other defenses cannot read."""
    frame = panel()
    table = on_disk(tmp_path, frame)
    names = sorted(frame["id"].unique().tolist())
    beliefs = np.where(np.arange(len(names))[:, None] % 2, [0.5, 0.3, 0.2], [0.2, 0.2, 0.6])
    prior = GivenPrior(pd.DataFrame(beliefs, names, ["u", "v", "w"]))
    adversary = Adversary(prior, CHAIN, mechanism=GhostChain(MarkovChain(1, 0.3 * np.eye(3) + 0.7 / 3)))

    def defense(rng=None):
        return Cohorts(3, 6, transitions=CHAIN, rng=rng)

    published = publish_large(table, defense(), tmp_path / "out", adversary, seed=2)
    check_same(published, published_in_memory(table, frame, defense, adversary, 2))


def test_the_same_bytes_whatever_the_engine_and_after_an_interruption(tmp_path, monkeypatch):
    table, made = on_disk(tmp_path, panel()), []
    defense = Cohorts(3, 6, transitions=CHAIN, rng=1)
    for number, engine in enumerate([Engine(1), Engine(2, 2)]):
        publish_large(table, defense, tmp_path / f"{number}", KNOWN, seed=7, engine=engine)
        made.append(bytes_of(tmp_path / f"{number}"))
    assert made[0] == made[1]
    write, calls = module.write_part, []

    def fails(path, *arguments, **more):
        calls.append(path)
        if len(calls) == 9:
            raise KeyboardInterrupt
        write(path, *arguments, **more)

    monkeypatch.setattr(module, "write_part", fails)
    with pytest.raises(KeyboardInterrupt):
        publish_large(table, defense, tmp_path / "killed", KNOWN, seed=7)
    monkeypatch.undo()
    for other in (MarkovChain(1, 0.5 * np.eye(3) + 0.5 / 3), None):
        with pytest.raises(ValueError, match="another"):
            publish_large(table, Cohorts(3, 6, transitions=other), tmp_path / "killed", KNOWN, seed=7)
    publish_large(table, defense, tmp_path / "killed", KNOWN, seed=7)
    assert bytes_of(tmp_path / "killed") == made[0]


def test_without_ghosts_no_column_and_all_else_from_disk(tmp_path):
    table = on_disk(tmp_path, panel(leave=0))
    published = publish_large(table, Cohorts(3, 6), tmp_path / "out", KNOWN, seed=7)
    for name in ("public/published.parquet", "private/groups.parquet"):
        assert not {"ghost", "ghosts", "published"} & set(rows(published.folder / name))
    attack_large(published, KNOWN, tmp_path / "beliefs")
    assert not verify_large(published, KAnonymity(6))["failing"].any()
    with pytest.raises(ValueError, match="has no beliefs of an assumed adversary"):
        verify_large(published, JSimilarity(0.5), KNOWN)


def test_what_is_refused(tmp_path):
    table = on_disk(tmp_path, panel())
    published = publish_large(table, Cohorts(3, 6, transitions=CHAIN), tmp_path / "out", KNOWN)
    with pytest.raises(
        ValueError, match=r"attack_large: the release at 1 has \d+ ghosts, which are read in memory alone"
    ):
        attack_large(published, KNOWN, tmp_path / "beliefs")
    with pytest.raises(ValueError, match="give adversary="):
        publish_large(table, Cohorts(3), tmp_path / "a")
    with pytest.raises(ValueError, match="the last 5 of 5 views are held back"):
        publish_large(table, Cohorts(3, ends=5), tmp_path / "b", KNOWN)
    with pytest.raises(ValueError, match="there is no chain by which ghosts carry on"):
        publish_large(table, Cohorts(3, 6), tmp_path / "c", KNOWN)
    twice = pd.concat([panel(), panel()[:1]])
    with pytest.raises(ValueError, match="appears twice in the release at"):
        publish_large(on_disk(tmp_path / "twice", twice), Cohorts(3), tmp_path / "d", KNOWN)
