"""Notes of blocks: those that differ in their number alone are one, with the sum."""

from foreknow.evaluation.large.block_notes import notes_of_blocks

FIT = "records fit no group and are suppressed."


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


def test_notes_of_one_block_stay():
    assert notes_of_blocks([[f"7 {FIT}", f"7 {FIT}"]]) == [f"7 {FIT}"]


def test_equal_notes_without_a_number_are_one():
    assert notes_of_blocks([["Nothing fits."], ["Nothing fits."]]) == ["in 2 of 2 blocks: Nothing fits."]
