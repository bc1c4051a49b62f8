"""Progress of long calls: a function through which the steps of a call are drawn."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from foreknow.models.settings import shown

type Progress = Callable[[Sequence[Any]], Iterable[Any]]
"""Function of the steps of a call that returns an iterable of the same length, as ``rich.progress.track``; `iter` shows nothing."""


def check_progress(owner: str, progress: Any, steps: str) -> None:
    """Raise TypeError unless ``progress`` can be called; ``steps`` says what it is a function of."""
    if not callable(progress):
        raise TypeError(f"{owner}: progress is {shown(progress)}; it is a function of {steps}, as rich.progress.track.")


def stepping(progress: Progress, steps: Sequence[Any]) -> Callable[[], None]:
    """Function that takes one item of ``progress(steps)`` at each call, also from several threads, and none after the last."""
    items, lock = iter(progress(steps)), threading.Lock()

    def step() -> None:
        with lock:
            next(items, None)

    return step


def no_step() -> None:
    """Take no item: a step of a call without progress."""
