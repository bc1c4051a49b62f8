"""Parts of an adversary's knowledge: what each says about first values, transitions, and single records."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.markov_chain import MarkovChain, chain_of_tables
from foreknow.models.knowledge.personal_transitions import AnyTransitions, chains_at, classes_of
from foreknow.models.settings import as_floats, check_shape
from foreknow.models.tables.people import People


class Visits(NamedTuple):
    """Respondents of one release, and what later releases tell about when each is seen again.

    Attributes
    ----------
    people : People
        Of n respondents: those of the release, withheld ones as well.
    release : int
        Number of the release, 0 for the first.
    last : int
        Number of the last release that is known.
    following : int array, shape (n,)
        Number of the next release that lists each respondent; -1 for none up to the last known one.
    """

    people: People
    release: int
    last: int
    following: IntArray

    @classmethod
    def of_now(cls, people: People, release: int) -> "Visits":
        """Respondents of the last release that is known."""
        return cls(people, release, release, np.full(len(people), -1))

    def seen_again(self, later: int) -> "Visits":
        """The same respondents, all of whom are seen again at a release, which is the last known one."""
        return self._replace(last=later, following=np.full(len(self.people), later))


@dataclass(frozen=True)
class Knowledge:
    """Part of an adversary's knowledge; extend it, give it a name, and override what the part says.

    Errors and `Adversary.without` call the part by its class attribute ``name``. Each method returns a factor of the law, or None
    if the part says nothing; factors of several parts are multiplied, so that their order does not matter. A factor of 1 is no
    knowledge. Give the parts to ``Adversary(..., own=(part,))``, and check them by `foreknow.testing.check_knowledge`.

    Examples
    --------
    A disease that never gets better, over values in the order of severity:

    >>> class Severity(Knowledge):
    ...     name = "severity"
    ...
    ...     def step_factor(self, release):
    ...         return np.triu(np.ones((3, 3)))
    >>> Severity().step_factor(1).tolist()
    [[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    """

    name: ClassVar[str] = ""

    def prior_factor(self, people: People) -> FloatArray | None:  # noqa: ARG002 - overridden
        """Factor of the first value of some respondents: float array, shape ``(n, m)``."""
        return None

    def step_factor(self, release: int) -> FloatArray | None:  # noqa: ARG002 - overridden
        """Factor of the next value, in columns, after each last one, in rows: float array, shape ``(m, m)``.

        The values are in the order of the schema; the step leads to those at ``release``, numbered from 0.
        """
        return None

    def evidence(self, visits: Visits) -> FloatArray | None:  # noqa: ARG002 - overridden
        """Likelihood of each value of the respondents of one release: float array, shape ``(n, m)``.

        Of all that is known up to ``visits.last``. A joint attack that goes forward asks for it with what is known at each release.
        A sequential one asks when respondents are listed again, and treats all longer absences as one of one release.
        """
        return None


def overrides(part: Knowledge, method: str) -> bool:
    """True if a part has a method of its own."""
    return getattr(type(part), method) is not getattr(Knowledge, method)


def product(parts: Iterable[Knowledge], method: str, shape: tuple[int, ...], argument: object) -> FloatArray | None:
    """Product of what a method of some parts returns, of that shape; None if none says anything.

    Raises
    ------
    TypeError, ValueError
        If a result is no array of that shape, all factors are 0, or a factor or the product is not finite or below 0.
    """
    found = None
    for part in parts:
        rows = getattr(part, method)(argument)
        if rows is None:
            continue
        name = f"{type(part).__name__}.{method}"
        rows = as_floats(name, "the result", rows, f"is a float array of shape {shape}, or None")
        check_shape(f"{name}: the result", rows, shape, "a factor of each value")
        found = rows if found is None else found * rows
        if not (np.isfinite(found).all() and (rows >= 0).all()):
            raise ValueError(f"{name}: a factor, or its product with those of other parts, is below 0 or not finite.")
        if rows.size and not rows.any():
            raise ValueError(f"{name}: all factors are 0, which excludes every value; a factor of 1 is no knowledge.")
    return found


def weighed(rows: FloatArray, factors: FloatArray) -> FloatArray:
    """Rows times factors, with their sums kept; a row that the factors exclude stays as it is."""
    times, before = rows * factors, rows.sum(axis=-1, keepdims=True)
    total = times.sum(axis=-1, keepdims=True)
    return np.divide(times * before, total, out=rows.copy(), where=total > 0)


def evidence_of(parts: Iterable[Knowledge], visits: Visits) -> FloatArray | None:
    """Product of the evidence of some parts about the respondents of a release, shape ``(n, m)``; None without any."""
    return product(parts, "evidence", (len(visits.people), len(visits.people.schema.values)), visits)


class RevisedTransitions:
    """Transitions with the factors of some parts, normalized by row; a row that they rule out stays as it is.

    For a chain of order d the factor is that of the last value. A `PersonalTransitions`, of one class where the transitions hold
    for all respondents.
    """

    def __init__(self, transitions: AnyTransitions, parts: tuple[Knowledge, ...]) -> None:
        self._transitions, self._parts = transitions, parts
        self._revised: dict[int, tuple[MarkovChain, ...]] = {}

    def class_of(self, people: People) -> IntArray:
        """Class of each respondent."""
        return classes_of(self._transitions, people)

    def chains_at(self, release: int) -> tuple[MarkovChain, ...]:
        """Chain of each class that leads to the values at a release."""
        if release not in self._revised:
            chains = chains_at(self._transitions, release)
            self._revised[release] = tuple(self._times(chain, release) for chain in chains)
        return self._revised[release]

    def _times(self, chain: MarkovChain, release: int) -> MarkovChain:
        rows = product(self._parts, "step_factor", (chain.values, chain.values), release)
        if rows is None:
            return chain
        return chain_of_tables(tuple(weighed(table, rows) for table in chain.tables), chain.substochastic)
