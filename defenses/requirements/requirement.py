"""What a published group must satisfy: predicates of its summary, and how they combine."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from foreknow.defenses.requirements.summary import Summary
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray

ROUNDING = 1e-9
"""By how much a level may miss its bound for the sake of rounding."""


type Sense = Literal["at least", "at most", "below"]


class Requirement(ABC):
    """A claim about a group: its level, measured on the summary, keeps to a bound.

    Reporting reads ``level`` and enforcing calls the object, which compares that same level: the two cannot disagree.
    Requirements combine with ``&`` and ``|``, or `all_of` and `any_of`.
    """

    sense: ClassVar[Sense] = "at least"
    """Relation of the level to the bound. All but "below" forgive `ROUNDING`."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """The bound of the level."""

    @property
    def smallest(self) -> int:
        """No group of fewer records can satisfy the requirement; algorithms need not try."""
        return 1

    @property
    def reads_prior(self) -> bool:
        """Whether the level depends on the members' priors; summaries may leave them at zero where it does not."""
        return True

    @property
    def reads_members(self) -> bool:
        """Whether the level depends on who is in a group, so that summaries must say it."""
        return False

    @property
    def weighs_beliefs(self) -> bool:
        """Whether the requirement is about the prior a defense is given, so that it says nothing where nobody knows anything."""
        return False

    def given(self, view: View, prior: FloatArray) -> "Requirement":  # noqa: ARG002 - most ask for neither
        """The requirement as it is for a view and what is believed of its records, ``(n, m)``; a defense asks it once.

        Requirements on beliefs hold the records' rows from then on; all others are themselves.
        """
        return self

    @abstractmethod
    def level(self, summary: Summary) -> FloatArray:
        """Level that each group attains: float array, shape ``(b,)``. Cost: O(b m)."""

    def __call__(self, summary: Summary) -> BoolArray:
        """Whether each group satisfies the requirement: bool array, shape ``(b,)``."""
        level = self.level(summary)
        if self.sense == "at least":
            return level >= self.bound - ROUNDING
        return level <= self.bound + ROUNDING if self.sense == "at most" else level < self.bound

    def __bool__(self) -> bool:
        """Raise TypeError: ``and``, ``or`` and ``not`` would silently drop a requirement."""
        raise TypeError(
            f"{self!r} has no truth value, so that 'and', 'or' and 'not' cannot combine it. Write & for requirements that must "
            "all hold, as KAnonymity(3) & DistinctDiversity(2), and | for at least one of them."
        )

    def __and__(self, other: "Requirement") -> "Requirement":
        return all_of(self, other)

    def __or__(self, other: "Requirement") -> "Requirement":
        return any_of(self, other)


@dataclass(frozen=True)
class AllOf(Requirement):
    """Every one of some requirements; the level is how many of them hold."""

    parts: tuple[Requirement, ...]

    def __repr__(self) -> str:
        return " & ".join(f"({part!r})" if isinstance(part, AnyOf) else repr(part) for part in self.parts)

    @property
    def bound(self) -> float:
        """All of them."""
        return float(len(self.parts))

    @property
    def smallest(self) -> int:
        """The largest of the parts'."""
        return max(part.smallest for part in self.parts)

    @property
    def reads_prior(self) -> bool:
        """Whether any part's does."""
        return any(part.reads_prior for part in self.parts)

    @property
    def reads_members(self) -> bool:
        """Whether any part's does."""
        return any(part.reads_members for part in self.parts)

    @property
    def weighs_beliefs(self) -> bool:
        """Whether any part does."""
        return any(part.weighs_beliefs for part in self.parts)

    def given(self, view: View, prior: FloatArray) -> Requirement:
        """The parts as they are for a view."""
        return AllOf(tuple(part.given(view, prior) for part in self.parts))

    def level(self, summary: Summary) -> FloatArray:
        """How many of the parts hold."""
        return np.sum([part(summary) for part in self.parts], axis=0, dtype=np.float64)

    def __call__(self, summary: Summary) -> BoolArray:
        """Whether all parts hold; a part is only asked about the groups that passed those before it."""
        passing = np.arange(len(summary))
        for part in self.parts:
            if len(passing):
                passing = passing[part(summary if len(passing) == len(summary) else summary[passing])]
        holds = np.zeros(len(summary), dtype=bool)
        holds[passing] = True
        return holds


@dataclass(frozen=True)
class AnyOf(Requirement):
    """At least one of some requirements; the level is how many of them hold."""

    parts: tuple[Requirement, ...]

    def __repr__(self) -> str:
        return " | ".join(f"({part!r})" if isinstance(part, AllOf) else repr(part) for part in self.parts)

    @property
    def bound(self) -> float:
        """One of them."""
        return 1.0

    @property
    def smallest(self) -> int:
        """The smallest of the parts'."""
        return min(part.smallest for part in self.parts)

    @property
    def reads_prior(self) -> bool:
        """Whether any part's does."""
        return any(part.reads_prior for part in self.parts)

    @property
    def reads_members(self) -> bool:
        """Whether any part's does."""
        return any(part.reads_members for part in self.parts)

    @property
    def weighs_beliefs(self) -> bool:
        """Whether any part does."""
        return any(part.weighs_beliefs for part in self.parts)

    def given(self, view: View, prior: FloatArray) -> Requirement:
        """The parts as they are for a view."""
        return AnyOf(tuple(part.given(view, prior) for part in self.parts))

    def level(self, summary: Summary) -> FloatArray:
        """How many of the parts hold."""
        return np.sum([part(summary) for part in self.parts], axis=0, dtype=np.float64)


def all_of(*requirements: Requirement) -> Requirement:
    """The requirement that all of some hold; conjunctions inside it are laid open.

    Raises
    ------
    ValueError
        If none is given.
    """
    parts = [part for r in _some(requirements) for part in (r.parts if isinstance(r, AllOf) else (r,))]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def any_of(*requirements: Requirement) -> Requirement:
    """The requirement that at least one of some holds; disjunctions inside it are laid open.

    Raises
    ------
    ValueError
        If none is given.
    """
    parts = [part for r in _some(requirements) for part in (r.parts if isinstance(r, AnyOf) else (r,))]
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _some(requirements: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
    if not requirements:
        raise ValueError("there is no requirement to combine; give at least one.")
    for one in requirements:
        check_requirement("a combination of requirements", one)
    return requirements


def check_requirement(owner: str, given: object) -> None:
    """Raise TypeError unless something is a requirement."""
    if not isinstance(given, Requirement):
        raise TypeError(f"{owner}: {given!r} is no requirement; give one, as KAnonymity(3), or several joined by &.")


def shortfall(requirement: Requirement, group: Summary) -> str:
    """The parts of a requirement that a group fails, in words: each with its level and what that must be.

    ``group`` is a batch of length 1.
    """
    parts = requirement.parts if isinstance(requirement, AllOf) else (requirement,)
    failing = [part for part in parts if not part(group)[0]]
    return ", ".join(f"{p!r} (is {p.level(group)[0]:.4g}, must be {p.sense} {p.bound:g})" for p in failing)


def check_size(letter: str, number: int, view: View) -> None:
    """Raise Infeasible if a view has fewer records than a setting asks of each group."""
    if number > len(view):
        raise Infeasible(
            f"{letter} is {number} and the view at {view.time!r} has {len(view)} records; lower {letter}, or publish more at once."
        )


class Infeasible(ValueError):  # noqa: N818 - the name says what is wrong
    """No publication of the view satisfies what is asked."""
