"""Checks of arguments, with which constructors and functions refuse a wrong one by one message."""

import math
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray

MAX_FLOAT = sys.float_info.max
"""Largest finite float."""

INTEGER_LIMIT = 2.0**63
"""Smallest absolute value beyond the integers of 64 bits."""

MAX_ARRAY_NUMBERS = 2**31
"""Largest number of entries of an array whose shape arguments choose; 16 GiB at 8 bytes each."""


def is_number(value: Any, least: float, most: float = math.inf) -> bool:
    """Return whether a value is a real number from ``least`` to ``most``; booleans, NaN and integers over any float are not."""
    is_real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    # NumPy would compare in the value's own type, in which the ends may not fit.
    number = value.item() if isinstance(value, np.generic) else value
    return is_real and bool(least <= number <= most) and not (isinstance(number, int) and abs(number) > MAX_FLOAT)


def is_whole(value: Any, least: int = 1, most: float = MAX_FLOAT) -> bool:
    """Return whether a value is a finite whole number from ``least`` to ``most``: 2 or 2.0."""
    return is_number(value, least, most) and bool(value == int(value))


def check_whole(owner: str, name: str, value: Any, what: str, least: int = 1, most: float = MAX_FLOAT) -> None:
    """Raise ValueError unless a setting is a whole number of something, from ``least`` to ``most``."""
    if not is_whole(value, least, most):
        ends = f"from {least} to {most:,}" if most < MAX_FLOAT else f"{least} or more"
        raise ValueError(f"{owner}: {name} is {shown(value)}; it is a number of {what}, {ends}.")


def check_array_size(owner: str, **sizes: int) -> None:
    """Raise ValueError if arguments ask for an array of more than `MAX_ARRAY_NUMBERS` numbers.

    Parameters
    ----------
    owner : str
        The class or function.
    **sizes : int
        Size of each axis, by the plural noun of what it counts: ``views=24, records=5_000``.
    """
    if math.prod(sizes.values()) > MAX_ARRAY_NUMBERS:
        listed = " x ".join(f"{size} {name.replace('_', ' ')}" for name, size in sizes.items())
        raise ValueError(
            f"{owner}: {listed} are more than 2^31 numbers (16 GiB), the limit of one array; ask for fewer."
        )


def check_range(
    owner: str,
    name: str,
    value: Any,
    least: float,
    most: float = math.inf,
    what: str = "",
    excluded: Sequence[float] = (),
) -> None:
    """Raise ValueError unless a setting is a number from ``least`` to ``most``; ``excluded`` are the ends that it must not be."""
    if not is_number(value, least, most) or value in excluded:
        above = "above" if least in excluded else "of at least"
        but = f", but not {' or '.join(f'{end:g}' for end in excluded)}" if excluded else ""
        ends = f"from {least:g} to {most:g}{but}" if most < MAX_FLOAT else f"{above} {least:g}"
        raise ValueError(f"{owner}: {name} is {shown(value)}; it is a number {ends}{f', {what}' if what else ''}.")


def check_shape(what: str, array: Any, shape: tuple[int, ...], why: str) -> None:
    """Raise ValueError unless an array has some shape; ``why`` gives the meaning of its axes."""
    if np.shape(array) != shape:
        raise ValueError(f"{what} has shape {np.shape(array)}; it needs {shape}, {why}.")


def check_choice(owner: str, name: str, value: Any, choices: Collection[Any]) -> None:
    """Raise ValueError unless a setting is one of several values."""
    if not any(isinstance(value, type(choice)) and value == choice for choice in choices):
        raise ValueError(f"{owner}: {name} is {shown(value)}; it is one of {', '.join(map(repr, choices))}.")


def check_flag(owner: str, name: str, value: Any) -> None:
    """Raise TypeError unless a setting is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{owner}: {name} is {value!r}; it is True or False.")


KINDS = {
    "Adversary": "is an Adversary, as Adversary(prior, transitions)",
    "NoisyRelease": "is a NoisyRelease, as publish(views, NoisyCounts(...)) returns",
    "Evidence": "is an Evidence; make one by Evidence(signature, group, counts, rest), or attack releases by ForegroundAttack",
    "ExternalKnowledge": "is an ExternalKnowledge, as ExternalKnowledge({'flu': ['cough']})",
    "History": "is a History; make one by History([view, ...]) or History.read",
    "ItemRelease": "is an ItemRelease, as ItemRelease(release, linking, items), or the `release` of a SuppressedItems",
    "Items": "is Items, as linking.items_of(view) or Items.from_cells(column) makes them",
    "LargeReleases": "is the result of publish_large, or LargeReleases(folder)",
    "Linking": "is a Linking(knowledge, 'symptoms')",
    "MarkovChain": "is a MarkovChain",
    "Observation": "is an Observation, as release.observation",
    "People": "is People, as view.people or release.observation.people",
    "RegressionDesign": "is a RegressionDesign; make one by RegressionDesign.fit(history)",
    "Release": "is a Release, as publish or Release(view, labels) makes it",
    "Requirement": "is a requirement, as KAnonymity(3), or several joined by &",
    "View": "is a View, as View(frame, schema) makes it",
    "Workload": "takes a Workload; draw one, as Workload.draw(history, rng=1)",
}
"""What a parameter of a class takes, and how an object of the class is made, as a predicate."""


def check_kind(owner: str, name: str, value: Any, kind: Any, takes: str = "") -> None:
    """Raise TypeError unless a value is of some type; a class, where an object of it was meant, is not.

    Parameters
    ----------
    owner, name : str
        The class or function, and its parameter.
    value : object
    kind : type or tuple of types
        A ``typing.Protocol`` with ``@runtime_checkable`` is one too.
    takes : str
        What the parameter takes and how to make it, as a predicate: "is a View; make one by View(frame, schema)". By default
        that of the type in `KINDS`.
    """
    if isinstance(value, type) or not isinstance(value, kind):
        raise TypeError(f"{owner}: {name} is {shown(value)}; it {takes or KINDS[getattr(kind, '__name__', '')]}.")


def as_list[T](owner: str, name: str, values: Iterable[T], takes: str) -> list[T]:
    """Return an argument as a list; raise TypeError if it is one text or cannot be iterated.

    Parameters
    ----------
    owner, name : str
        The class or function, and its parameter.
    values : iterable
    takes : str
        What the parameter takes, as a predicate: "is a list of columns, as ['age']".
    """
    if isinstance(values, str | bytes) or not np.iterable(values):
        raise TypeError(f"{owner}: {name} is {shown(values)}; it {takes}.")
    return list(values)


def as_generator(owner: str, rng: Any, optional: bool = False) -> np.random.Generator:
    """Return a random generator, made from an integer seed where one is given.

    Parameters
    ----------
    owner : str
        The class or function that draws.
    rng : numpy.random.Generator, int or None
        None only if ``optional``: then the generator is seeded with 128 bits of entropy from the operating system.
    optional : bool

    Raises
    ------
    TypeError
        If ``rng`` is something else.
    ValueError
        If the seed is negative.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None and optional:
        return np.random.default_rng()
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"{owner}: rng is {rng}; a seed is an integer of at least 0.")
        return np.random.default_rng(int(rng))
    without = ", or None for fresh entropy" if optional else ""
    raise TypeError(
        f"{owner}: rng is {shown(rng)}; it is a generator, as numpy.random.default_rng(1), an integer seed{without}."
    )


def stored_generator(owner: str, rng: Any, deterministic: bool = False) -> np.random.Generator | None:
    """Return the generator that a settings object stores: made from an integer seed once, and None where it was left out.

    A settings object that stores None draws each of its calls from fresh entropy, by ``as_generator(owner, rng, optional=True)``.

    Parameters
    ----------
    owner, rng
        As in `as_generator`; ``rng`` may be None.
    deterministic : bool
        True if the settings draw nothing; ``rng`` must then be None.

    Raises
    ------
    TypeError
        If ``rng`` is no generator, integer or None.
    ValueError
        If the seed is negative, or ``rng`` is given with ``deterministic``.
    """
    if rng is None:
        return None
    generator = as_generator(owner, rng, optional=True)
    if deterministic:
        raise ValueError(f"{owner}: deterministic=True draws nothing, and rng is given; leave out one of them.")
    return generator


def as_floats(owner: str, name: str, value: Any, takes: str) -> FloatArray:
    """Return an array of real numbers as float64.

    Parameters
    ----------
    owner, name, takes : str
        As for `check_kind`.
    value : array_like

    Raises
    ------
    TypeError
        If the value is no array of real numbers, as a mapping, a text or a ragged list.
    """
    with suppress(TypeError, ValueError, OverflowError):
        array = np.asarray(value)
        if array.dtype.kind in "biufO":
            return np.asarray(array, dtype=np.float64)
    raise TypeError(f"{owner}: {name} is {shown(value)}; it {takes}.")


def as_integers(name: str, numbers: Any, shape: tuple[int | None, ...], takes: str) -> IntArray:
    """Return an array of integers of a given shape.

    Parameters
    ----------
    name : str
        The array, for messages, as ``"the labels of a grouping"``.
    numbers : array_like
        Integers, or floats that equal integers. An empty array is accepted in any shape that ``shape`` allows.
    shape : tuple of int or None
        The length of each axis; None for any length.
    takes : str
        The content of the array in words, for messages: "one integer per record".

    Returns
    -------
    int array
        Of dtype int64. It shares memory with ``numbers`` where that is such an array.

    Raises
    ------
    TypeError
        If the numbers are not an array of numbers, as a ragged list or None.
    ValueError
        If the shape does not fit, or a number is not an integer of 64 bits.
    """
    array = _integer_array(numbers)
    if array is None or array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be an array of integers, {takes}; got {shown(numbers)}.")
    if array.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} must be {takes}; got shape {array.shape}.")
    rounded = np.array_equal(array, np.round(array))
    if not rounded or (array.size and max(abs(float(array.max())), abs(float(array.min()))) >= INTEGER_LIMIT):
        raise ValueError(
            f"{name} must be integers of 64 bits, {takes}; got {array.dtype} from {array.min()} to {array.max()}."
        )
    return array.astype(np.int64, copy=False)


def _integer_array(numbers: Any) -> "np.ndarray[Any, Any] | None":
    """The numbers as an array, or None if they cannot form one; Python integers in an object array become int64."""
    try:
        array = np.asarray(numbers)
    except (TypeError, ValueError):
        return None
    if array.dtype == object and all(isinstance(x, Integral) and not isinstance(x, bool) for x in array.flat):
        fits = all(abs(int(number)) < INTEGER_LIMIT for number in array.flat)
        return array.astype(np.int64) if fits else np.full(array.shape, np.inf)
    return array


def shown(value: Any) -> str:
    """Return a value as text for an error message: its type, and its own text where short."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = repr(value)
    article = "an" if type(value).__name__[0] in "aeiouAEIOU" else "a"
    return text if len(text) <= 60 and "\n" not in text else f"{article} {type(value).__name__}"


def counted(number: float, one: str, several: str | None = None) -> str:
    """A number with its noun, in the plural unless it is 1: "1 cell", "1,200 cells"; a final y becomes ies."""
    plural = several or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{int(number):,} {one if int(number) == 1 else plural}"


def installing(extra: str) -> str:
    """Command that installs the packages of an extra, in the words of a message.

    >>> installing("report")
    "pip install '.[report]' in the folder of foreknow's sources"
    """
    return f"pip install '.[{extra}]' in the folder of foreknow's sources"


MAX_ITERATIONS = 2**63 - 1
"""Largest number of iterations that a compiled kernel counts."""

MAX_STATES_IN_MEMORY = 2**40
"""Largest limit of states; at 32 bytes each they take 32 TiB."""


def check_folder(owner: str, name: str, value: Any) -> None:
    """Raise TypeError or ValueError unless a setting is None or the path of an existing folder."""
    if value is None:
        return
    check_kind(owner, name, value, (str, Path), "is the path of a folder, as '/var/tmp'")
    if not Path(value).is_dir():
        raise ValueError(f"{owner}: {name} is {shown(str(value))}, which is no folder; make it first.")


def check_state_limit(owner: str, limit: Any) -> None:
    """Raise ValueError unless a limit is a whole number of states from 1 to `MAX_STATES_IN_MEMORY`."""
    check_whole(owner, "limit", limit, "states of 32 bytes", most=MAX_STATES_IN_MEMORY)


def check_positive(owner: str, name: str, value: Any, what: str) -> None:
    """Raise ValueError unless a setting is a positive finite number."""
    if not (is_number(value, 0, MAX_FLOAT) and value > 0):
        raise ValueError(f"{owner}: {name} is {shown(value)}; it is a positive finite number, {what}.")


def check_iteration(owner: str, tolerance: Any, iterations: Any) -> None:
    """Raise ValueError unless a tolerance is positive and finite and a number of iterations fits a kernel."""
    check_positive(owner, "tolerance", tolerance, "at which the iteration stops")
    check_whole(owner, "iterations", iterations, "iterations", most=MAX_ITERATIONS)
