"""Requirements bound to the records of a view."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, override

from foreknow.defenses.requirements.membership import GroupMembers
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, Sense, check_summary
from foreknow.defenses.requirements.summary import Summary
from foreknow.models.arrays import FloatArray

type Measure = Callable[[Summary, GroupMembers], FloatArray]
"""Level of each of b groups, shape ``(b,)``, from their summaries and their members."""


@dataclass(frozen=True, eq=False, repr=False)
class MemberPredicate(GroupPredicate):
    """Requirement bound to a view: its level is a function of the groups' members.

    Parameters
    ----------
    requirement : Requirement
        The requirement before it was bound; repr, bound, sense and monotonicity are its own.
    measure : Measure
        Level of groups of the view's records.
    """

    requirement: Requirement
    measure: Measure

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
        check_summary(self, summary)
        return self.measure(summary, members_of(self, summary))


def members_of(requirement: Requirement, summary: Summary) -> GroupMembers:
    """Members of the groups of a batch.

    Raises
    ------
    ValueError
        If the summaries hold no members.
    """
    if summary.members is None:
        raise ValueError(
            f"{requirement!r} reads who is in each group, and the summaries hold no members; make them by "
            "summarize_records(view, prior, members=True)."
        )
    return summary.members
