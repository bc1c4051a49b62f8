"""Examples on which the checks run: random problems, views and releases, the same at every call."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import (
    Adversary,
    Exact,
    Grouping,
    History,
    MarkovChain,
    Numeric,
    People,
    Problem,
    Release,
    Schema,
    View,
)
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import shown

DOMAIN = ("a", "b", "c")
SCHEMA = Schema({"age": Numeric(0, 99), "weight": Numeric(0, 99)}, "result", DOMAIN, "id")
"""Schema of every view here."""

STEP = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])


@dataclass(frozen=True)
class PriorByName:
    """A prior in which every respondent has a positive row that depends on the name and the number of values alone."""

    def __call__(self, people: People) -> FloatArray:
        """Prior beliefs: shape ``(n, m)``."""
        seeds = [int.from_bytes(str(name).encode(), "big") for name in people.respondents]
        m = len(people.schema.values)
        return np.array([np.random.default_rng(seed).dirichlet(np.ones(m)) * 0.97 + 0.03 / m for seed in seeds])


def adversary() -> Adversary:
    """An adversary with a prior by name and a Markov chain of order 1."""
    return Adversary(PriorByName(), MarkovChain(1, STEP), estimator=Exact())


def problems(number: int = 30, largest: int = 5) -> Iterator[Problem]:
    """Problems of one to three groups of at most ``largest`` members, with ties, zeros, and records outside all groups.

    In one half of them, the prior rules out no assignment that is needed; in the other it may contradict the counts.
    """
    for seed in range(number):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 5))
        sizes = rng.integers(1, largest + 1, rng.integers(1, 4))
        group = rng.permutation(
            np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(rng.integers(0, 3), -1)])
        )
        weights = rng.choice([0, 1, 1, 2, 5, 20, 1000, 1e-6], size=(4, m))
        weights[weights.sum(axis=1) == 0] = 1
        prior = (weights / weights.sum(axis=1, keepdims=True))[rng.integers(0, 4, len(group))]
        yield Problem(prior, group.astype(np.int64), _counts(prior, group, len(sizes), rng, possible=seed % 2 == 0))


def _counts(prior: FloatArray, group: IntArray, groups: int, rng: np.random.Generator, possible: bool) -> IntArray:
    counts = np.zeros((groups, prior.shape[1]), dtype=np.int64)
    for row, j in enumerate(group):
        if j >= 0:
            allowed = np.flatnonzero(prior[row]) if possible else np.arange(prior.shape[1])
            counts[j, rng.choice(allowed)] += 1
    return counts


def view(records: int = 30, time: int = 1, seed: int = 0) -> View:
    """A view of respondents ``p0``, ``p1``, ... with two numbers and three sensitive values."""
    rng = np.random.default_rng([seed, time])
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(records)],
            "age": np.random.default_rng(seed).integers(0, 99, records),
            "weight": rng.integers(0, 99, records),
            "result": rng.permutation(np.array(DOMAIN)[np.arange(records) % len(DOMAIN)]),
        }
    )
    return View(frame, SCHEMA, time)


def history(views: int = 3, records: int = 30) -> History:
    """Consecutive views of the same respondents."""
    return History([view(records, time) for time in range(1, views + 1)])


def releases(seed: int = 0) -> tuple[Release, ...]:
    """Three releases in groups of three different values, so that every attack of the package accepts them.

    Some records are suppressed, and groups change from release to release.
    """
    published = []
    for time in range(1, 4):
        rng = np.random.default_rng([seed, time])
        people = rng.permutation(12)
        frame = pd.DataFrame({"id": [f"p{i}" for i in people], "age": 20 + people, "weight": 50 + people})
        frame["result"] = np.tile(DOMAIN, 4)
        published.append(Release(View(frame, SCHEMA, time), np.repeat([0, 1, 2, -1], 3)))
    return tuple(published)


def distorted_releases(seed: int = 0) -> tuple[tuple[Release, ...], tuple[Release, ...]]:
    """Two series of releases with equal observations, in which the records of each group change places.

    Two records show another value than their own. A record keeps the value that it shows.
    """
    one, other = list[Release](), list[Release]()
    for release in releases():
        rng, frame = np.random.default_rng([seed, release.time]), release.view.frame
        shown = release.view.sensitive.copy()
        shown[[0, 3]] = (shown[[0, 3]] + 1) % len(DOMAIN)
        order = np.arange(len(shown))
        for label in np.unique(release.group[release.group >= 0]):
            order[release.group == label] = rng.permutation(order[release.group == label])
        one.append(Release(release.view, Grouping(release.group, values=shown)))
        moved = frame.assign(result=frame["result"].to_numpy()[order])
        other.append(Release(View(moved, SCHEMA, release.time), Grouping(release.group, values=shown[order])))
    return tuple(one), tuple(other)


def counterfeit_releases() -> tuple[tuple[Release, ...], tuple[Release, ...]]:
    """Two series of releases with equal observations: the counterfeit of a group of three values is the last, or the first."""
    one, other = list[Release](), list[Release]()
    for time in (1, 2):
        rng = np.random.default_rng(time)
        values = [rng.permutation(len(DOMAIN)) for _ in range(2)]
        for series, turned in ((one, 1), (other, -1)):
            shown = [each[::turned] for each in values]
            frame = pd.DataFrame({"id": [f"p{i}" for i in range(4)], "age": range(20, 24), "weight": range(50, 54)})
            frame["result"] = [DOMAIN[value] for each in shown for value in each[:2]]
            counterfeits = np.array([[group, each[2]] for group, each in enumerate(shown)])
            series.append(
                Release(View(frame, SCHEMA, time), Grouping(np.array([0, 0, 1, 1]), counterfeits=counterfeits))
            )
    return tuple(one), tuple(other)


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


def is_a_settings_object(checked: Any) -> None:
    """Raise AssertionError unless an object is a frozen dataclass that equals a copy of itself and can be hashed."""
    assert dataclasses.is_dataclass(checked), "it is no dataclass"
    assert not isinstance(checked, type), f"it is the class {checked!r}; make an object of it"
    parameters = checked.__dataclass_params__  # type: ignore[attr-defined]
    assert parameters.frozen, "the dataclass is not frozen"
    if parameters.eq:
        copy = dataclasses.replace(checked)
        assert checked == copy, "it does not equal an object of the same settings"
        assert hash(checked) == hash(copy), "objects of the same settings have different hashes"
