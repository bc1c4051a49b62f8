"""Running checks so that a failure names the check and the object."""

from collections.abc import Callable, Iterable
from typing import Any


def run(owner: str, checked: object, checks: Iterable[Callable[..., None]], *arguments: Any) -> None:
    """Call checks with the arguments; raise an AssertionError again with the name of the check and of the object."""
    for check in checks:
        try:
            check(*arguments)
        except AssertionError as failure:
            name = check.__name__.strip("_").replace("_", " ")
            context = "".join(f"\n{argument!r}" for argument in arguments[1:2])
            raise AssertionError(f"{owner}: {checked!r} fails {name!r}: {failure}{context}") from failure
