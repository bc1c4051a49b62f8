"""Notes add over blocks by their numbers: those that differ in their counts alone are one, with sums made by hand."""

import copy
import json
import pickle

import numpy as np

from foreknow.models.notes import Note, notes_of_blocks, notes_of_draws, prefixed

FIT = "{records:,} {records:record fits|records fit} no group and {records:is|are} suppressed."
SEVERAL = "records fit no group and are suppressed."
MERGED = "{groups:,} {groups:group was|groups were} merged, so that {groups:it satisfies|they satisfy} the requirement."


def test_numbers_are_summed_over_blocks():
    blocks = [
        [Note(FIT, records=1200), "The search ended early."],
        [Note(FIT, records=1)],
        [],
        [Note(FIT, records=7), Note(MERGED, groups=1)],
    ]
    assert notes_of_blocks(blocks) == [
        f"in 3 of 4 blocks: 1,208 {SEVERAL}",
        "in 1 of 4 blocks: The search ended early.",
        "in 1 of 4 blocks: 1 group was merged, so that it satisfies the requirement.",
    ]


def test_notes_of_one_block_are_summed_without_a_number_of_blocks():
    assert notes_of_blocks([[Note(FIT, records=7), Note(FIT, records=7), "Nothing fits.", "Nothing fits."]]) == [
        f"14 {SEVERAL}",
        "Nothing fits.",
    ]


def test_equal_notes_without_a_number_are_one():
    assert notes_of_blocks([["Nothing fits {}."], ["Nothing fits {}."]]) == ["in 2 of 2 blocks: Nothing fits {}."]


def test_a_block_with_several_notes_of_one_kind_counts_once():
    """As after two passes over a block: 5 + 5 + 1 + 20 records, of 3 blocks."""
    blocks = [[Note(FIT, records=5), Note(FIT, records=5)], [Note(FIT, records=1)], [Note(FIT, records=20)], []]
    assert notes_of_blocks(blocks) == [f"in 3 of 4 blocks: 31 {SEVERAL}"]


def test_each_count_is_summed_and_settings_are_not():
    """2 + 1 of 5 + 12 groups, with the looser threshold apart."""
    kind = "{failing} of {groups:,} groups do not satisfy TCloseness({t})."
    blocks = [
        [Note(kind, failing=2, groups=5, t="0.5")],
        [Note(kind, failing=1, groups=12, t="0.5"), Note(kind, failing=4, groups=12, t="0.25")],
    ]
    assert notes_of_blocks(blocks) == [
        "in 2 of 2 blocks: 3 of 17 groups do not satisfy TCloseness(0.5).",
        "in 1 of 2 blocks: 4 of 12 groups do not satisfy TCloseness(0.25).",
    ]


def test_a_prefix_keeps_the_numbers():
    """Braces of a label are text, a note of blocks keeps its sums, and what had no numbers has none."""
    note = prefixed("at {week}: ", *notes_of_blocks([[Note(FIT, records=5)], [Note(FIT, records=2)]]))
    assert (note, note.of) == (f"at {{week}}: in 2 of 2 blocks: 7 {SEVERAL}", {"records": 7})
    assert note.kind.endswith(FIT)
    assert prefixed("at 3: ", note.kind) == f"at 3: {note.kind}"


def test_prefixed_notes_have_ranges_over_draws():
    draws = [[prefixed("at 3: ", Note(FIT, records=number))] for number in (1, 1200)]
    assert notes_of_draws(draws) == [f"under 2 of 2 draws: at 3: 1 to 1,200 {SEVERAL}"]


def test_a_note_keeps_its_numbers_in_a_copy():
    note = Note(FIT, records=np.int64(3))
    for other in (
        pickle.loads(pickle.dumps(note)),
        copy.deepcopy(note),
        Note(note.kind, **json.loads(json.dumps(note.of))),
    ):
        assert (other, other.kind, other.of) == (note, FIT, {"records": 3})
