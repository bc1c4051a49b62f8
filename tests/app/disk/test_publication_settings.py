"""Settings of a publication from disk: seeds, generators, adversaries, folders, and the order of the groups."""

import os
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from large_history import bytes_of, parts_of, visits

from foreknow.app.disk import LargeTable, attack_large, publish_large
from foreknow.app.disk.begun_runs import make_folder
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import Anatomy, JSReduce, KAnonymity, Mondrian
from foreknow.models import Adversary, Averaged, MarkovChain, Omega, UniformPrior

CHAIN = MarkovChain(1, 0.6 * np.eye(4) + 0.1)


def on_disk(tmp_path, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


def test_a_publisher_whose_prior_cannot_be_written_begins_anew(tmp_path):
    table = on_disk(tmp_path, visits())
    adversary = Adversary(lambda people: np.full((len(people), 4), 0.25), CHAIN, estimator=Omega())
    arguments = (table, JSReduce(3, 0.7, 0.6, patience=20), tmp_path / "out", adversary)
    published = publish_large(*arguments, block=60, seed=7)
    assert sum(one.groups for one in published.releases) > 0
    with pytest.raises(
        ValueError, match=r"a run with another adversary \(one that cannot be pickled equals no other\)"
    ):
        publish_large(*arguments, block=60, seed=7)


def test_notes_of_blocks_tell_their_number(tmp_path):
    """Suppressed records by the notes of the blocks are those of the release."""
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    arguments = (on_disk(tmp_path, visits(releases=1)), JSReduce(3, 0.7, 0.6, patience=20))
    published = publish_large(*arguments, tmp_path / "out", adversary, block=30, seed=7)
    found = [
        re.fullmatch(r"in \d of 6 blocks: (\d+) records? .* suppressed\.", note) for note in published.releases[0].notes
    ]
    assert published.releases[0].suppressed == sum(int(one[1]) for one in found) > 0


@pytest.mark.parametrize("seed", [1.5, -1, "7", True, float("nan")])
def test_a_seed_is_a_whole_number(tmp_path, seed):
    with pytest.raises(ValueError, match=r"publish_large: seed is .*a whole number of at least 0, or None"):
        publish_large(on_disk(tmp_path, visits(people=20)), Mondrian(KAnonymity(4)), tmp_path / "out", seed=seed)
    assert not (tmp_path / "out").exists()


def test_a_deterministic_anatomy_and_one_with_a_generator(tmp_path):
    table = on_disk(tmp_path, visits(people=120, releases=2))
    publish_large(table, Anatomy(2, deterministic=True), tmp_path / "fixed", block=50, seed=7)
    for rng in (1, 2):
        publish_large(table, Anatomy(2, rng=rng), tmp_path / f"{rng}", block=50, seed=7)
    assert bytes_of(tmp_path / "1") == bytes_of(tmp_path / "2")
    assert parts_of(tmp_path / "1") != parts_of(tmp_path / "fixed")


def test_a_file_system_that_is_read_only(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(
        ValueError, match=r"publish_large: .* cannot be written to by this user, and the output would be in it"
    ):
        make_folder("publish_large", tmp_path / "out")


def test_an_averaged_adversary_is_refused_with_the_way_out(tmp_path):
    averaged = Averaged([Adversary(UniformPrior(), CHAIN)])
    table = on_disk(tmp_path, visits(people=40, releases=1))
    with pytest.raises(TypeError, match=r"publish_large: .* an Averaged one needs all records in memory"):
        publish_large(table, JSReduce(3, 0.5, 0.6), tmp_path / "j", averaged)
    published = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out")
    for attack in (SequentialAttack, JointAttack):
        with pytest.raises(TypeError, match=r"attack_large: .* an Averaged one needs all records in memory"):
            attack_large(published, attack(averaged), tmp_path / "beliefs")


def test_the_numbers_of_groups_do_not_tell_the_truth(tmp_path):
    """Correlation of the group number with the value of a binary table: below 4 / sqrt(groups) by chance."""
    frame = visits(people=1200, releases=1, values=2)
    published = publish_large(on_disk(tmp_path, frame), Mondrian(KAnonymity(3)), tmp_path / "out", block=400, seed=5)
    parts = sorted((published.folder / "public").rglob("part-*.parquet"))
    rows = pd.concat([pq.read_table(part).to_pandas() for part in parts])
    shares = rows.assign(first=rows["result"] == "v0").groupby("group")["first"].mean()
    assert abs(np.corrcoef(shares.index.to_numpy(), shares)[0, 1]) < 4 / np.sqrt(len(shares))
