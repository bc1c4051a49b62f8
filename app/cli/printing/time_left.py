"""Progress of steps of unequal cost: the present one, its number, and the time left, beside a spinner on standard error."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self

from rich.text import Text

from foreknow.app.cli.printing.terminal import error_console, literal

LEAST_DONE = 0.05
"""Share of the cost from which the time left is told; before, an estimate is little more than noise."""


class Costed(Protocol):
    """A step with a title and a cost, in any unit."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def cost(self) -> float: ...  # noqa: D102


@dataclass(frozen=True)
class PresentStep:
    """Text of a step: its title, details in parentheses, and the time left.

    Attributes
    ----------
    title : str
    details : tuple of str
    ends : float or None
        Time at which the step is expected to end, by `time.monotonic`; None if no time is told.
    later : float
        Expected seconds of the later steps.
    later_cost : float
        Cost of the later steps over that of this one.
    """

    title: str
    details: tuple[str, ...] = ()
    ends: float | None = None
    later: float = 0.0
    later_cost: float = 0.0

    def text(self, now: float) -> str:
        """The text at a time."""
        details = self.details
        if self.ends is not None:
            seconds = round(max(self.ends - now, 0.0) + self.later)
            details = (*details, f"about {timedelta(seconds=seconds)} left")
        return f"{self.title} ({', '.join(details)})" if details else self.title


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
        self._begin(PresentStep(title))

    def steps[T: Costed](self, steps: Sequence[T]) -> Iterator[T]:
        """Yield the steps one after another, with their number and the time left."""
        total, start, done = sum(step.cost for step in steps), time.monotonic(), 0.0
        for number, step in enumerate(steps, 1):
            rest, now = total - done - step.cost, time.monotonic()
            shown = PresentStep(step.title, (f"{number} of {len(steps)}",), later_cost=rest / step.cost)
            if done >= LEAST_DONE * total:
                unit = (now - start) / done
                shown = replace(shown, ends=now + unit * step.cost, later=unit * rest)
            self._begin(shown)
            yield step
            done += step.cost

    def parts[T](self, parts: Sequence[T]) -> Iterator[T]:
        """Yield parts of the present step, of about equal cost, with their number and the time left.

        The time of the parts so far is that of the others. A step that has other work beside these parts keeps its time by `steps`
        where that is longer. Parts of other work in the same step take the place of these.
        """
        step, start = self._step, time.monotonic()
        for number, each in enumerate(parts, 1):
            shown, now = replace(step, details=(*step.details, f"part {number} of {len(parts)}")), time.monotonic()
            if number > 1:
                length = (now - start) / (number - 1) * len(parts)
                later = length * step.later_cost if step.ends is None else step.later
                shown = replace(shown, ends=max(start + length, step.ends or 0.0), later=later)
            self._show(shown)
            yield each

    def _begin(self, step: PresentStep) -> None:
        """Show a step, whose parts may follow."""
        self._step = step
        self._show(step)

    def _show(self, step: PresentStep) -> None:
        """Replace the present step; the spinner reads it at each of its frames."""
        self._present = step
        self._status.update(self)

    def __rich__(self) -> Text:
        """The text at this moment."""
        return literal(self._present.text(time.monotonic()))

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()
