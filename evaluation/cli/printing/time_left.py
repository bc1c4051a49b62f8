"""Progress of steps of unequal cost: the present one, its number, and the time left, beside a spinner on standard error."""

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self

from rich.text import Text

from foreknow.evaluation.cli.printing.terminal import error_console, literal

LEAST_DONE = 0.05
"""Share of the cost from which the time left is told; before, an estimate is little more than noise."""


class Costed(Protocol):
    """A step with a title and a cost, in any unit."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def cost(self) -> float: ...  # noqa: D102


class TimeLeft:
    """A spinner on standard error with the present step and the time left, which counts down while the step lasts.

    Parameters
    ----------
    title : str
        Text before the first step.

    Notes
    -----
    The time left is that of the steps so far, times the cost of the later ones over that of these. A step that takes longer than
    its cost says keeps the time of the later ones.
    """

    def __init__(self, title: str) -> None:
        self._status = error_console.status("")
        self.update(title)

    def update(self, title: str) -> None:
        """Show a text without time."""
        self._title, self._later = title, 0.0
        self._detail: list[str] = []
        self._ends: float | None = None
        self._status.update(self)

    def steps[T: Costed](self, steps: Sequence[T]) -> Iterator[T]:
        """Yield the steps one after another, with their number and the time left."""
        total, start, done = sum(step.cost for step in steps), time.monotonic(), 0.0
        for number, step in enumerate(steps, 1):
            self.update(step.title)
            self._detail = [f"{number} of {len(steps)}"]
            now = time.monotonic()
            if done >= LEAST_DONE * total:
                unit = (now - start) / done
                self._later = unit * (total - done - step.cost)
                self._ends = now + unit * step.cost
            yield step
            done += step.cost

    def rounds[T](self, rounds: Sequence[T]) -> Iterator[T]:
        """Yield rounds one after another, with their number beside the present step; how many are needed is not known."""
        before = self._detail
        for number, each in enumerate(rounds, 1):
            self._detail = [*before, f"round {number}"]
            yield each

    def __rich__(self) -> Text:
        """The text at this moment."""
        details = self._detail
        if self._ends is not None:
            seconds = max(self._ends - time.monotonic(), 0.0) + self._later
            details = [*details, f"about {timedelta(seconds=round(seconds))} left"]
        return literal(f"{self._title} ({', '.join(details)})" if details else self._title)

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()
