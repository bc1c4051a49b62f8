"""Requirements on what is believed of a group's members, held together with those beliefs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Estimator, Problem
from foreknow.models.arrays import FloatArray, IntArray

type Gain = Callable[[FloatArray, IntArray, FloatArray], FloatArray]
"""How much some members have lost: of their posteriors ``(k, m)``, their rows in the view ``(k,)`` and their groups' shares
``(k, m)``, a float array of shape ``(k,)``."""


@dataclass(frozen=True, eq=False, repr=False)
class Weighed(Requirement):
    """A requirement on beliefs as it is for one view: it weighs the members of all groups of a batch in one problem.

    Parameters
    ----------
    asked : Requirement
        The requirement; its name and its bound are this one's.
    prior : float array, shape (n, m)
        What is believed of each record of the view before it is published.
    estimator : Estimator
        How that and a group's values make a belief.
    gain : Gain
        What is measured of each member; a group's level is its members' largest.
    """

    asked: Requirement
    prior: FloatArray
    estimator: Estimator
    gain: Gain

    sense: ClassVar[Sense] = "at most"

    def __repr__(self) -> str:
        return repr(self.asked)

    @property
    def bound(self) -> float:
        """The requirement's."""
        return self.asked.bound

    @property
    def reads_prior(self) -> bool:
        """False: the members' rows are at hand, so that their sums are not read."""
        return False

    @property
    def reads_members(self) -> bool:
        """True: everybody is weighed."""
        return True

    def level(self, summary: Summary) -> FloatArray:
        """The largest of each group's members."""
        who = summary.members
        if who is None:
            refuse(self)
        if not len(summary):
            return np.zeros(0)
        group = who.group
        posterior = self.estimator(Problem(self.prior[who.records], group, summary.counts)).probabilities
        shares = (summary.counts / summary.size[:, None])[group]
        return np.asarray(np.maximum.reduceat(self.gain(posterior, who.records, shares), who.starts[:-1]))


def refuse(requirement: Requirement) -> NoReturn:
    """Raise ValueError: a requirement on beliefs is asked about groups without those beliefs, or without their members."""
    raise ValueError(
        f"{requirement!r} needs what is believed of the records, and who is in each group; a defense calls "
        "requirement.given(view, prior), and makes summaries with members, as summarize_records(..., members=True)."
    )
