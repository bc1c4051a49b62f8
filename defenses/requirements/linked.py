"""Requirements on the labels that a group's records can be linked to, held together with those links."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from foreknow.defenses.requirements.membership import Members
from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Linking
from foreknow.models.arrays import FloatArray

type Measure = Callable[[Members], FloatArray]
"""What each of b groups attains, shape ``(b,)``, of who is in it."""


@dataclass(frozen=True, eq=False, repr=False)
class Linked(Requirement):
    """A requirement on labels as it is for one view, whose records have been linked once and for all.

    Parameters
    ----------
    asked : Requirement
        The requirement; its name and its bound are this one's.
    measure : Measure
        The levels of groups of the view's records.
    """

    asked: Requirement
    measure: Measure

    sense: ClassVar[Sense] = "at most"

    def __repr__(self) -> str:
        return repr(self.asked)

    @property
    def bound(self) -> float:
        """The requirement's."""
        return self.asked.bound

    @property
    def reads_prior(self) -> bool:
        """False: nobody need be believed to have anything."""
        return False

    @property
    def reads_members(self) -> bool:
        """True: whose items they are decides."""
        return True

    def level(self, summary: Summary) -> FloatArray:
        """What is measured of each group's members."""
        if summary.members is None:
            refuse(self)
        return self.measure(summary.members)


def refuse(requirement: Requirement) -> NoReturn:
    """Raise ValueError: a requirement on labels is asked about groups without links, or without their members."""
    raise ValueError(
        f"{requirement!r} needs the labels that the records can be linked to, and who is in each group; a defense calls "
        "requirement.given(view, prior), and makes summaries with members, as summarize_records(..., members=True)."
    )


def check_linking(owner: str, given: object) -> None:
    """Raise TypeError unless something says how records are linked to labels."""
    if not isinstance(given, Linking):
        raise TypeError(
            f"{owner}: linking is {given!r}; it says what items give away and which column holds them: give a "
            "Linking(knowledge, 'symptoms')."
        )
