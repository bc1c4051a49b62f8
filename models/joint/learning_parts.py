"""Parts of the learning from releases, by which its progress is told: the number of its rounds is not known beforehand."""

from collections import deque
from collections.abc import Iterator

from foreknow.models.progress import Progress, stepping

EXPECTED_FROM, EXPECTED_FACTOR = 0.1, 2.0
"""Usual change of the law in the first round with expected counts, and the factor by which it decreases in a part."""

EXACT_FROM, EXACT_FACTOR = 0.02, 2.0**0.5
"""The same for rounds with exact counts, which take about twice as long."""

LEAST = 1e-9
"""Change that is the threshold of the last part, where the tolerance is smaller."""


class LearningParts:
    """Parts of about equal length, each of which lasts until the change of the law is under a threshold.

    Parameters
    ----------
    progress : callable
        Function of the parts, as a range; it returns an iterable of the same length.
    expected : float
        Change at which the rounds with expected counts end.
    exact : float or None
        Change at which the rounds with exact counts end; None if there are none.
    """

    def __init__(self, progress: Progress, expected: float, exact: float | None) -> None:
        parts = [(False, -change) for change in _changes(EXPECTED_FROM, EXPECTED_FACTOR, expected)]
        if exact is not None:
            parts += [(True, -change) for change in _changes(EXACT_FROM, EXACT_FACTOR, exact)]
        self._later, self._step = deque(parts), stepping(progress, range(len(parts)))

    def reach(self, exact: bool, change: float) -> None:
        """Take the items of the parts that have begun, before a round with exact or expected counts.

        ``change`` is that of the round before. A round may begin no part, or several.
        """
        while self._later and self._later[0] <= (exact, -change):
            self._later.popleft()
            self._step()

    def end(self) -> None:
        """Take the items that are left, after the last round."""
        self.reach(True, 0.0)


def _changes(first: float, factor: float, tolerance: float) -> Iterator[float]:
    """Changes at which parts begin: infinity, then smaller ones, all over a tolerance."""
    yield float("inf")
    change = first / factor
    while change > max(tolerance, LEAST):
        yield change
        change /= factor
