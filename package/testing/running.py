"""Running checks so that a failure names the check, the object and its argument."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from foreknow.models.settings import shown


def run(owner: str, checked: object, checks: Iterable[Callable[..., None]], *arguments: Any) -> None:
    """Call checks with the arguments, and raise AssertionError with the name of the check and of the object where one fails.

    An error of another type fails the check too, because no check expects it.
    """
    for check in checks:
        try:
            check(*arguments)
        except Exception as failure:
            name = check.__name__.strip("_").replace("_", " ")
            words = failure if isinstance(failure, AssertionError) else f"it raises {failure!r}"
            context = "".join(f"\n{argument!r}" for argument in arguments[1:2])
            raise AssertionError(f"{owner}: {checked!r} fails {name!r}: {words}{context}") from failure


def made[T](owner: str, make: Callable[..., T], *arguments: Any) -> T:
    """The object that ``make`` returns; raises TypeError unless it is a function, and AssertionError if it raises."""
    if not callable(make):
        raise TypeError(f"{owner}: make is {shown(make)}; it is a function or a class that makes the object to check.")
    try:
        return make(*arguments)
    except Exception as failure:
        raise AssertionError(f"{owner}: {shown(make)} raises {failure!r}") from failure


def assert_settings_object(checked: Any) -> None:
    """Raise AssertionError unless an object is a frozen dataclass that equals a copy of itself and can be hashed."""
    assert dataclasses.is_dataclass(checked), "it is no dataclass"
    assert not isinstance(checked, type), f"it is the class {checked!r}; make an object of it"
    parameters = checked.__dataclass_params__  # type: ignore[attr-defined]
    assert parameters.frozen, "the dataclass is not frozen"
    if parameters.eq:
        copy = dataclasses.replace(checked)
        assert checked == copy, "it does not equal an object of the same settings"
        assert hash(checked) == hash(copy), "objects of the same settings have different hashes"
