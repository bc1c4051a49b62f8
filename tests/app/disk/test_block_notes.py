"""Notes of the blocks of a release on disk."""

import json
import re

import numpy as np
import pytest
from large_history import visits

from foreknow.app.disk import LargeTable, publish_large
from foreknow.defenses import BKAA, JSReduce, KAnonymity, Mondrian, TCloseness
from foreknow.defenses.algorithms.ordered_growth import MERGED as MERGED_GROUPS
from foreknow.models import Adversary, MarkovChain, Omega, UniformPrior


@pytest.mark.parametrize(
    "defense",
    [
        JSReduce(3, 0.4, 0.6, patience=12),
        BKAA(3, 0.7, 0.6, patience=20),
        Mondrian(KAnonymity(3) & TCloseness(0.4)),
    ],
    ids=lambda defense: type(defense).__name__,
)
def test_the_notes_of_a_release_count_its_suppressed_records(tmp_path, defense):
    """One block of `JSReduce` merges a group in two passes: its two notes of one text count as one block, with their sum."""
    visits(people=600, releases=1, seed=4, values=5).to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    adversary = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(5) + 0.08), estimator=Omega())
    published = publish_large(table, defense, tmp_path / "out", adversary, block=60, seed=1)
    release = published.releases[0]
    numbers = [re.match(r"in (\d+) of (\d+) blocks: ([\d,]+)", note) for note in release.notes]
    assert all(int(one[1]) <= int(one[2]) for one in numbers)
    lost = [one for one, note in zip(numbers, release.notes, strict=True) if "suppressed" in note]
    assert sum(int(one[3].replace(",", "")) for one in lost) == release.suppressed
    blocks = [json.loads(path.read_text())["notes"] for path in (tmp_path / "out/private/done").rglob("*.json")]
    merging = [[of["groups"] for kind, of in block if kind == MERGED_GROUPS] for block in blocks]
    told = [one for one, note in zip(numbers, release.notes, strict=True) if "merged with a neighbour" in note]
    assert sum(int(one[3]) for one in told) == sum(map(sum, merging))
    assert sum(int(one[1]) for one in told) == sum(map(bool, merging))
    assert any(len(block) == 2 for block in merging) == isinstance(defense, JSReduce)
