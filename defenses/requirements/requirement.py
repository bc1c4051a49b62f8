"""Requirements of published groups, alone, combined, and bound to the records of a view."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, override

import numpy as np

from foreknow.defenses.requirements.summary import DrawnPrior, GroupMembers, Summary, entropy
from foreknow.models import View
from foreknow.models.advice import VIEW, Advice
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import check_kind

# Largest distance by which a level may miss its bound and still satisfy: it absorbs rounding errors
LEVEL_TOLERANCE = 1e-9

# Relation of a level to its bound. "below" is strict and has no tolerance.
type Sense = Literal["at least", "at most", "below"]


class Requirement(ABC):
    """Condition that every published group satisfies: a level, measured on the group, compared with a bound.

    `bind` gives the `GroupPredicate` that a defense evaluates. Most requirements depend on the group's summary alone; they
    extend `GroupPredicate` and are their own predicate. Requirements on the records of the view (their priors or items)
    extend `Requirement` and hold those records once they are bound. Requirements combine with ``&`` and ``|``, or with
    `all_of` and `any_of`.

    The properties below are data of the class. A subclass overrides one by a property, or by a class attribute, as in
    ``is_monotone: ClassVar[bool] = True``; Pyright takes the property only.
    """

    @property
    def sense(self) -> Sense:
        """Relation of the level to the bound."""
        return "at least"

    @property
    def bound(self) -> float:
        """Threshold of the level: the first setting, unless a subclass says otherwise."""
        return float(getattr(self, self.__match_args__[0]))  # type: ignore[attr-defined]

    @property
    def smallest(self) -> int:
        """Lower bound on the size of a satisfying group; algorithms skip smaller groups."""
        return 1

    @property
    def is_monotone(self) -> bool:
        """True if the union of two satisfying groups always satisfies. Full-domain search prunes by it."""
        return False

    @property
    def weighs_beliefs(self) -> bool:
        """True if the level depends on the prior given to the defense. `publish` then asks for an adversary."""
        return False

    @abstractmethod
    def bind(self, view: View, prior: FloatArray) -> "GroupPredicate":
        """Bind the requirement to a view and a prior, shape ``(n, m)``; a defense calls it once for each view.

        The predicate has the repr, the bound and the sense of the requirement. Binding a predicate again returns it.
        """

    def __bool__(self) -> bool:
        """Raise TypeError: ``and``, ``or`` and ``not`` would silently drop a requirement."""
        raise TypeError(
            f"{self!r} has no truth value, so that 'and', 'or' and 'not' cannot combine it. Write & for requirements that must "
            "all hold, as KAnonymity(3) & DistinctDiversity(2), and | for at least one of them."
        )

    def __and__(self, other: "Requirement") -> "Requirement":
        """Conjunction with another requirement."""
        return all_of(self, other)

    def __or__(self, other: "Requirement") -> "Requirement":
        """Disjunction with another requirement."""
        return any_of(self, other)


class GroupPredicate(Requirement):
    """Requirement that is evaluated on group summaries: it needs nothing of the view, or is bound to it.

    Reporting reads ``level`` and enforcement calls the object, which compares that same level with the bound, so that the two
    cannot disagree.
    """

    @property
    def reads_prior(self) -> bool:
        """True if the level reads the summaries' priors; where False, summaries may leave them at zero."""
        return True

    @property
    def reads_members(self) -> bool:
        """True if the level reads the groups' members, so that summaries must hold them."""
        return False

    def bind(self, view: View, prior: FloatArray) -> "GroupPredicate":  # noqa: ARG002 - nothing of the view is needed
        """Return the predicate itself."""
        return self

    @abstractmethod
    def level(self, summary: Summary) -> FloatArray:
        """Level of each group: float array, shape ``(b,)``. Cost: O(b m)."""

    def __call__(self, summary: Summary) -> BoolArray:
        """Return whether each group satisfies the requirement: bool array, shape ``(b,)``."""
        level = self.level(summary)
        if self.sense == "at least":
            return level >= self.bound - LEVEL_TOLERANCE
        return level <= self.bound + LEVEL_TOLERANCE if self.sense == "at most" else level < self.bound

    def __and__[R: (GroupPredicate, Requirement)](self, other: R) -> R:
        """Conjunction with another requirement, a predicate if that is one."""
        return all_of(self, other)

    def __or__[R: (GroupPredicate, Requirement)](self, other: R) -> R:
        """Disjunction with another requirement, a predicate if that is one."""
        return any_of(self, other)


class CountsPredicate(GroupPredicate):
    """Requirement on the counts of a group, such that the union of two satisfying groups satisfies."""

    reads_prior: ClassVar[bool] = False
    is_monotone: ClassVar[bool] = True

    @property
    @override
    def smallest(self) -> int:
        # A level that must reach its bound is at most the number of records.
        return math.ceil(self.bound - LEVEL_TOLERANCE) if self.sense == "at least" else 1


def check_requirement(owner: str, requirement: object) -> None:
    """Raise TypeError unless an argument is a requirement."""
    check_kind(
        owner, "requirement", requirement, Requirement, "is a requirement, as KAnonymity(3), or several joined by &"
    )


@dataclass(frozen=True, repr=False)
class Combination(GroupPredicate):
    """Conjunction or disjunction; its level is the number of parts that hold.

    A combination is evaluated once all of its parts are predicates: TypeError otherwise.

    Parameters
    ----------
    parts : tuple of Requirement
        At least one.
    """

    parts: tuple[Requirement, ...]

    _sign: ClassVar[str]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("there is no requirement to combine; give at least one.")
        for part in self.parts:
            check_requirement(type(self).__name__, part)

    def __repr__(self) -> str:
        mixed = [isinstance(part, Combination) and part._sign != self._sign for part in self.parts]
        return self._sign.join(f"({p!r})" if other else repr(p) for p, other in zip(self.parts, mixed, strict=True))

    @cached_property
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
        return type(self)(tuple(part.bind(view, prior) for part in self.parts))

    def level(self, summary: Summary) -> FloatArray:
        """Number of parts that hold."""
        return np.sum([part(summary) for part in self.predicates], axis=0, dtype=np.float64)


class AllOf(Combination):
    """Conjunction of requirements: a tuple of at least one."""

    _sign: ClassVar[str] = " & "

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
        holds = np.ones(len(summary), dtype=bool)
        for part in self.predicates:
            number = np.count_nonzero(holds)
            if number == len(holds):
                holds = np.array(part(summary), dtype=bool)
            elif number:
                holds[holds] = part(summary[holds])
        return holds


class AnyOf(Combination):
    """Disjunction of requirements: a tuple of at least one.

    It is not monotone, even of monotone parts: the groups of a union may satisfy different parts.
    """

    _sign: ClassVar[str] = " | "

    @property
    @override
    def bound(self) -> float:
        return 1.0

    @property
    @override
    def smallest(self) -> int:
        return min(part.smallest for part in self.parts)


def all_of[R: (GroupPredicate, Requirement)](*requirements: R) -> R:
    """Conjunction of one or more requirements.

    Parameters
    ----------
    *requirements : Requirement
        Nested conjunctions are flattened. A single requirement is returned as it is.
    """
    return _combined(AllOf, requirements)


def any_of[R: (GroupPredicate, Requirement)](*requirements: R) -> R:
    """Disjunction of one or more requirements.

    Parameters
    ----------
    *requirements : Requirement
        Nested disjunctions are flattened. A single requirement is returned as it is.
    """
    return _combined(AnyOf, requirements)


def _combined[R: (GroupPredicate, Requirement)](kind: type[Combination], requirements: tuple[R, ...]) -> R:
    parts = tuple(part for r in requirements for part in (r.parts if isinstance(r, kind) else (r,)))
    combined = kind(parts)
    return parts[0] if len(parts) == 1 else combined  # type: ignore[return-value]


def check_predicate(owner: str, requirement: object) -> GroupPredicate:
    """Return a requirement that can be evaluated on summaries."""
    check_requirement(owner, requirement)
    for part in requirement.parts if isinstance(requirement, Combination) else ():
        check_predicate(owner, part)
    if not isinstance(requirement, GroupPredicate):
        raise TypeError(
            f"{owner}: {requirement!r} needs the records of a view; bind it first, by requirement.bind(view, prior)."
        )
    return requirement


# Level of each of b groups, shape `(b,)`, from their summaries and their members
type Measure = Callable[[Summary, GroupMembers], FloatArray]


@dataclass(frozen=True, eq=False, repr=False)
class MemberPredicate(GroupPredicate):
    """Requirement bound to a view: its level is a function of the groups' members."""

    requirement: Requirement  # the requirement before it was bound; repr, bound, sense and monotonicity are its own
    measure: Measure  # level of groups of the view's records

    reads_prior: ClassVar[bool] = False
    reads_members: ClassVar[bool] = True

    def __repr__(self) -> str:
        return repr(self.requirement)

    @property
    @override
    def sense(self) -> Sense:
        return self.requirement.sense

    @property
    @override
    def bound(self) -> float:
        return self.requirement.bound

    @property
    @override
    def smallest(self) -> int:
        return self.requirement.smallest

    @property
    @override
    def is_monotone(self) -> bool:
        return self.requirement.is_monotone

    @property
    @override
    def weighs_beliefs(self) -> bool:
        return self.requirement.weighs_beliefs

    def level(self, summary: Summary) -> FloatArray:
        """Measured level of each group."""
        return self.measure(summary, members_of(self, summary))


def bind_draws(requirement: Requirement, view: View, prior: DrawnPrior) -> GroupPredicate:
    """Bind a requirement on beliefs to each draw of a prior.

    The level of a group is the mean of its levels under the draws, or the worst of them. The level of mean beliefs is at most the
    mean level, for levels that are the largest gain of a member. Cost: that of the requirement for each draw.
    """
    worst = prior.groups == "worst"
    rows = prior.counted if worst else list(prior.draws)
    predicates = [requirement.bind(view, np.asarray(draw)) for draw in rows]
    sums = [np.column_stack([draw, entropy(np.asarray(draw))]) for draw in rows]  # what adds when records form a group
    extreme = np.minimum if requirement.sense == "at least" else np.maximum

    def measure(summary: Summary, members: GroupMembers) -> FloatArray:
        levels = [
            predicate.level(_summary_of_draw(summary, members, each) if predicate.reads_prior else summary)
            for predicate, each in zip(predicates, sums, strict=True)
        ]
        return np.asarray(extreme.reduce(levels) if worst else np.tensordot(prior.weights, np.stack(levels), axes=1))

    return MemberPredicate(requirement, measure)


def _summary_of_draw(summary: Summary, members: GroupMembers, records: FloatArray) -> Summary:
    """Summaries of the same groups under one draw, from the prior of each record and, in the last column, its entropy."""
    if len(members.starts) == 1:  # no group
        return summary
    sums = np.add.reduceat(records[members.records], members.starts[:-1], axis=0)
    return replace(summary, prior=sums[:, :-1], entropy=sums[:, -1])


def members_of(requirement: Requirement, summary: Summary) -> GroupMembers:
    """Members of the groups of a batch."""
    if summary.members is None:
        raise ValueError(
            f"{requirement!r} reads who is in each group, and the summaries hold no members; make them by "
            "summarize_records(view, prior, members=True)."
        )
    return summary.members


def shortfall(requirement: GroupPredicate, group: Summary) -> str:
    """Description of the parts that a group fails, each with its level, sense and bound, for error messages.

    ``group`` is a batch of length 1.
    """
    parts = requirement.predicates if isinstance(requirement, AllOf) else (requirement,)
    failing = [part for part in parts if not part(group)[0]]
    return ", ".join(f"{p!r} (is {p.level(group)[0]:.4g}, must be {p.sense} {p.bound:g})" for p in failing)


def check_smallest(requirement: Requirement, view: View) -> None:
    """Raise Infeasible if a view has fewer records than a group that satisfies a requirement."""
    if requirement.smallest > len(view):
        raise Infeasible.of_view(
            f"{requirement!r} needs groups of {requirement.smallest} records, and the ",
            view.time,
            f" has {len(view)}; lower the requirement, or publish more at once.",
        )


class Infeasible(ValueError):  # noqa: N818 - the name says what is wrong
    """No publication of the view satisfies the settings of the defense."""

    @classmethod
    def of_view(cls, before: str, time: object, after: str) -> "Infeasible":
        """Error on the view of a time, in words around it."""
        return cls(Advice(before, VIEW, f" at {time!r}", after))
