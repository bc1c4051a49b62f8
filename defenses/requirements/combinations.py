"""Conjunctions and disjunctions of requirements."""

from dataclasses import dataclass
from typing import overload, override

import numpy as np

from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, check_requirement, check_summary
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray


class Combination(GroupPredicate):
    """Conjunction or disjunction; its level is the number of parts that hold.

    A combination is evaluated once all of its parts are predicates: TypeError otherwise.
    """

    parts: tuple[Requirement, ...]

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if not isinstance(self.parts, tuple):
            raise TypeError(f"{owner}: parts is {self.parts!r}; it is a tuple of requirements. Use & or |.")
        if not self.parts:
            raise ValueError("there is no requirement to combine; give at least one.")
        for part in self.parts:
            check_requirement(owner, part)

    @property
    def predicates(self) -> tuple[GroupPredicate, ...]:
        """The parts, all of them predicates."""
        return tuple(check_predicate(type(self).__name__, part) for part in self.parts)

    @property
    @override
    def reads_prior(self) -> bool:
        return any(part.reads_prior for part in self.predicates)

    @property
    @override
    def reads_members(self) -> bool:
        return any(part.reads_members for part in self.predicates)

    @property
    @override
    def weighs_beliefs(self) -> bool:
        return any(part.weighs_beliefs for part in self.parts)

    def bind(self, view: View, prior: FloatArray) -> "GroupPredicate":
        """Bind every part."""
        return type(self)(tuple(part.bind(view, prior) for part in self.parts))  # type: ignore[call-arg]

    def level(self, summary: Summary) -> FloatArray:
        """Number of parts that hold."""
        check_summary(self, summary)
        return np.sum([part(summary) for part in self.predicates], axis=0, dtype=np.float64)


@dataclass(frozen=True)
class AllOf(Combination):
    """Conjunction of requirements.

    Parameters
    ----------
    parts : tuple of Requirement
        At least one.
    """

    parts: tuple[Requirement, ...]

    def __repr__(self) -> str:
        return " & ".join(f"({part!r})" if isinstance(part, AnyOf) else repr(part) for part in self.parts)

    @property
    @override
    def bound(self) -> float:
        return float(len(self.parts))

    @property
    @override
    def smallest(self) -> int:
        return max(part.smallest for part in self.parts)

    @property
    @override
    def is_monotone(self) -> bool:
        return all(part.is_monotone for part in self.parts)

    def __call__(self, summary: Summary) -> BoolArray:
        """Return whether all parts hold; a part is evaluated only on the groups that satisfy those before it."""
        passing = np.arange(len(summary))
        for part in self.predicates:
            if len(passing):
                passing = passing[part(summary if len(passing) == len(summary) else summary[passing])]
        holds = np.zeros(len(summary), dtype=bool)
        holds[passing] = True
        return holds


@dataclass(frozen=True)
class AnyOf(Combination):
    """Disjunction of requirements.

    It is not monotone, even of monotone parts: the groups of a union may satisfy different parts.

    Parameters
    ----------
    parts : tuple of Requirement
        At least one.
    """

    parts: tuple[Requirement, ...]

    def __repr__(self) -> str:
        return " | ".join(f"({part!r})" if isinstance(part, AllOf) else repr(part) for part in self.parts)

    @property
    @override
    def bound(self) -> float:
        return 1.0

    @property
    @override
    def smallest(self) -> int:
        return min(part.smallest for part in self.parts)


@overload
def all_of(*requirements: GroupPredicate) -> GroupPredicate: ...
@overload
def all_of(*requirements: Requirement) -> Requirement: ...
def all_of(*requirements: Requirement) -> Requirement:
    """Conjunction of requirements; nested conjunctions are flattened.

    Parameters
    ----------
    *requirements : Requirement
        One or more. A single one is returned as it is.

    Raises
    ------
    ValueError
        If there is no requirement.
    TypeError
        If an argument is not a requirement.
    """
    parts = AllOf(tuple(part for r in requirements for part in (r.parts if isinstance(r, AllOf) else (r,))))
    return parts.parts[0] if len(parts.parts) == 1 else parts


@overload
def any_of(*requirements: GroupPredicate) -> GroupPredicate: ...
@overload
def any_of(*requirements: Requirement) -> Requirement: ...
def any_of(*requirements: Requirement) -> Requirement:
    """Disjunction of requirements; nested disjunctions are flattened.

    Parameters
    ----------
    *requirements : Requirement
        One or more. A single one is returned as it is.

    Raises
    ------
    ValueError
        If there is no requirement.
    TypeError
        If an argument is not a requirement.
    """
    parts = AnyOf(tuple(part for r in requirements for part in (r.parts if isinstance(r, AnyOf) else (r,))))
    return parts.parts[0] if len(parts.parts) == 1 else parts


def check_predicate(owner: str, requirement: object) -> GroupPredicate:
    """Return a requirement that can be evaluated on summaries.

    Raises
    ------
    TypeError
        If it is not a requirement, or it or one of its parts is not bound to a view.
    """
    check_requirement(owner, requirement)
    for part in requirement.parts if isinstance(requirement, Combination) else ():
        check_predicate(owner, part)
    if not isinstance(requirement, GroupPredicate):
        raise TypeError(
            f"{owner}: {requirement!r} needs the records of a view; bind it first, by requirement.bind(view, prior)."
        )
    return requirement
