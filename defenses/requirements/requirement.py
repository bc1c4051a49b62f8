"""Requirements of published groups, and their form bound to a view."""

from abc import ABC, abstractmethod
from typing import Literal, overload

from foreknow.defenses.requirements.summary import Summary
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import check_kind

LEVEL_TOLERANCE = 1e-9
"""Largest distance by which a level may miss its bound and still satisfy: it absorbs rounding errors."""

type Sense = Literal["at least", "at most", "below"]
"""Relation of a level to its bound. "below" is strict and has no tolerance."""


def check_summary(requirement: object, summary: Summary) -> None:
    """Raise TypeError unless a batch of groups is a Summary."""
    takes = "is a Summary; make one by summarize_groups(records, labels)"
    check_kind(type(requirement).__name__, "summary", summary, Summary, takes)


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
    @abstractmethod
    def bound(self) -> float:
        """Threshold of the level."""

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
        from foreknow.defenses.requirements.combinations import (
            all_of,  # combinations are requirements: imported when used
        )

        return all_of(self, other)

    def __or__(self, other: "Requirement") -> "Requirement":
        """Disjunction with another requirement."""
        from foreknow.defenses.requirements.combinations import (
            any_of,  # combinations are requirements: imported when used
        )

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
        """Return whether each group satisfies the requirement: bool array, shape ``(b,)``; TypeError for another argument."""
        check_summary(self, summary)
        level = self.level(summary)
        if self.sense == "at least":
            return level >= self.bound - LEVEL_TOLERANCE
        return level <= self.bound + LEVEL_TOLERANCE if self.sense == "at most" else level < self.bound

    @overload
    def __and__(self, other: "GroupPredicate") -> "GroupPredicate": ...
    @overload
    def __and__(self, other: Requirement) -> Requirement: ...
    def __and__(self, other: Requirement) -> Requirement:
        """Conjunction with another requirement."""
        return super().__and__(other)

    @overload
    def __or__(self, other: "GroupPredicate") -> "GroupPredicate": ...
    @overload
    def __or__(self, other: Requirement) -> Requirement: ...
    def __or__(self, other: Requirement) -> Requirement:
        """Disjunction with another requirement."""
        return super().__or__(other)


def check_requirement(owner: str, requirement: object) -> None:
    """Raise TypeError unless an argument is a requirement."""
    if not isinstance(requirement, Requirement):
        raise TypeError(
            f"{owner}: {requirement!r} is no requirement; give one, as KAnonymity(3), or several joined by &."
        )
