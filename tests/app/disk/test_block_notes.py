"""Notes of blocks: those that differ in their counts alone are one, with sums made by hand."""

import json
import re

import numpy as np
import pytest
from large_history import visits

from foreknow.app.disk import LargeTable, publish_large
from foreknow.app.disk.block_notes import notes_of_blocks
from foreknow.defenses import BKAA, JSReduce, KAnonymity, Mondrian, TCloseness
from foreknow.models import Adversary, MarkovChain, Omega, UniformPrior

FIT = "records fit no group and are suppressed."
SAVES = "groups that no merging saves"


def test_numbers_are_summed_over_blocks():
    blocks = [
        [f"1,200 {FIT}", "The search ended early."],
        ["1 record fits no group and is suppressed."],
        [],
        [f"7 {FIT}", "1 group was merged with a neighbour."],
    ]
    assert notes_of_blocks(blocks) == [
        f"in 3 of 4 blocks: 1,208 {FIT}",
        "in 1 of 4 blocks: The search ended early.",
        "in 1 of 4 blocks: 1 group was merged with a neighbour.",
    ]


def test_groups_merged_in_one_block_and_in_several():
    one = "1 group was merged with a neighbour, so that it satisfies the requirement."
    several = "groups were merged with a neighbour, so that they satisfy the requirement."
    assert notes_of_blocks([[one], [f"3 {several}"]]) == [f"in 2 of 2 blocks: 4 {several}"]


def test_notes_of_one_block_are_summed_without_a_number_of_blocks():
    assert notes_of_blocks([[f"7 {FIT}", f"7 {FIT}", "Nothing fits.", "Nothing fits."]]) == [
        f"14 {FIT}",
        "Nothing fits.",
    ]


def test_equal_notes_without_a_number_are_one():
    assert notes_of_blocks([["Nothing fits."], ["Nothing fits."]]) == ["in 2 of 2 blocks: Nothing fits."]


def test_a_block_with_several_notes_of_one_kind_counts_once():
    """As after two passes over a block: 5 + 5 + 1 + 20 records, of 3 blocks."""
    blocks = [
        [f"5 records of {SAVES} are suppressed.", f"5 records of {SAVES} are suppressed."],
        [f"1 record of {SAVES} is suppressed."],
        [f"20 records of {SAVES} are suppressed."],
        [],
    ]
    assert notes_of_blocks(blocks) == [f"in 3 of 4 blocks: 31 records of {SAVES} are suppressed."]


def test_each_count_is_summed_and_thresholds_are_not():
    """2 + 1 of 5 + 12 groups; 22 + 3 + 1 records in 1 + 1 + 1 groups, with the looser threshold apart."""
    blocks = [
        [
            "22 leftover records, in 1 group of their own, only satisfy KAnonymity(3) & JSimilarity(0.75).",
            "1 leftover record, in 1 group of their own, only satisfy KAnonymity(3) & JSimilarity(0.75).",
            "the last 1 leftover record joined the nearest group, whatever its j and t.",
            "2 of 5 groups do not satisfy KAnonymity(3) & TCloseness(0.5).",
        ],
        [
            "3 leftover records, in 1 group of their own, only satisfy KAnonymity(3) & JSimilarity(0.75).",
            "4 leftover records, in 1 group of their own, only satisfy KAnonymity(3) & JSimilarity(0.9375).",
            "the last 2 leftover records joined the nearest group, whatever its j and t.",
            "1 of 12 groups do not satisfy KAnonymity(3) & TCloseness(0.5).",
        ],
        ["1 leftover record joined a group."],
        ["2 leftover records joined a group."],
    ]
    assert notes_of_blocks(blocks) == [
        "in 2 of 4 blocks: 26 leftover records, in 3 groups of their own, only satisfy KAnonymity(3) & JSimilarity(0.75).",
        "in 2 of 4 blocks: the last 3 leftover records joined the nearest group, whatever its j and t.",
        "in 2 of 4 blocks: 3 of 17 groups do not satisfy KAnonymity(3) & TCloseness(0.5).",
        "in 1 of 4 blocks: 4 leftover records, in 1 group of their own, only satisfy KAnonymity(3) & JSimilarity(0.9375).",
        "in 2 of 4 blocks: 3 leftover records joined a group.",
    ]


def test_the_reason_of_a_block_that_cannot_be_published_keeps_its_numbers():
    """30 + 34 records of two blocks, and 20 of one with another reason."""
    reason = "KAnonymity(40) needs groups of 40 records, and the view at 0 has {}; lower it."
    blocks = [[f"{number} records of a block are suppressed: {reason.format(34)}"] for number in (30, 34)]
    blocks.append([f"20 records of a block are suppressed: {reason.format(20)}"])
    assert notes_of_blocks(blocks) == [
        f"in 2 of 3 blocks: 64 records of these blocks are suppressed: {reason.format(34)}",
        f"in 1 of 3 blocks: 20 records of a block are suppressed: {reason.format(20)}",
    ]


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
    merging = [[int(note.split()[0]) for note in block if "merged with a neighbour" in note] for block in blocks]
    told = [one for one, note in zip(numbers, release.notes, strict=True) if "merged with a neighbour" in note]
    assert sum(int(one[3]) for one in told) == sum(map(sum, merging))
    assert sum(int(one[1]) for one in told) == sum(map(bool, merging))
    assert any(len(block) == 2 for block in merging) == isinstance(defense, JSReduce)
