"""Parts of the learning: each is begun once, in order, when the change of the law is under its threshold."""

import pytest

from foreknow.models.joint.learned_knowledge import LearningParts


class Counted:
    """A progress that counts its parts and the items that are taken."""

    def __init__(self):
        self.parts, self.taken = 0, 0

    def __call__(self, parts):
        self.parts = len(parts)
        for part in parts:
            self.taken += 1
            yield part


def taken(rounds, expected, exact):
    """Number of parts, and the number that have begun before each round and after the end."""
    progress, numbers = Counted(), []
    parts = LearningParts(progress, expected, exact)
    for each in rounds:
        parts.reach(*each)
        numbers.append(progress.taken)
    parts.reach(True, 0.0)
    return progress.parts, [*numbers, progress.taken]


def test_a_part_begins_when_the_change_is_under_its_threshold():
    """Thresholds .05, .025 and .0125, then .02 / sqrt(2), .01, .01 / sqrt(2): the first part of each kind has none."""
    rounds = [(False, float("inf")), (False, 0.06), (False, 0.05), (False, 0.02), (False, 0.011)]
    exact = [(True, 0.1), (True, 0.05), (True, 0.012), (True, 0.03), (True, 0.008)]
    assert taken(rounds + exact, 0.01, 0.007) == (8, [1, 1, 2, 3, 4, 5, 5, 6, 6, 7, 8])


def test_exact_rounds_begin_all_parts_of_expected_ones():
    assert taken([(False, float("inf")), (True, 0.1)], 0.01, 0.01)[1][:2] == [1, 5]


@pytest.mark.parametrize(("expected", "exact", "parts"), [(0.001, None, 7), (1.0, None, 1), (5.0, 5.0, 2)])
def test_the_number_of_parts_is_that_of_the_thresholds_over_the_tolerance(expected, exact, parts):
    assert taken([(False, float("inf"))], expected, exact) == (parts, [1, parts])


def test_a_tolerance_of_zero_has_finitely_many_parts():
    assert taken([], 0.0, 0.0)[0] < 100
