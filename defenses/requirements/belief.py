"""Requirements on what is believed of a group's members, held together with those beliefs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Estimator, Problem
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.beliefs import posterior_beliefs
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.sensitive_set import SensitiveSet

type Gain = Callable[[FloatArray, IntArray, FloatArray], FloatArray]
"""How much some members have lost: of their posteriors ``(k, c)``, their rows in the view ``(k,)`` and their groups' shares
``(k, c)``, a float array of shape ``(k,)``."""


@dataclass(frozen=True, eq=False, repr=False)
class Weighed(Requirement):
    """A requirement on beliefs as it is for one view: it weighs the members of all groups of a batch in one problem.

    Parameters
    ----------
    asked : Requirement
        The requirement; its name and its bound are this one's.
    prior : float array, shape (n, c)
        What is believed of each record of the view before it is published: a probability for each of c classes.
    estimator : Estimator
        How that and a group's values make a belief.
    gain : Gain
        What is measured of each member; a group's level is its members' largest.
    sensitive_set : SensitiveSet, optional
        The two classes, a sensitive set and all other values; without it, every value is a class.
    """

    asked: Requirement
    prior: FloatArray
    estimator: Estimator
    gain: Gain
    sensitive_set: SensitiveSet | None = None

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
        counts = summary.counts if self.sensitive_set is None else self.sensitive_set.class_counts(summary.counts)
        posterior = self._posterior(self.prior[who.records], group, counts)
        shares = (counts / summary.size[:, None])[group]
        return np.asarray(np.maximum.reduceat(self.gain(posterior, who.records, shares), who.starts[:-1]))

    def _posterior(self, prior: FloatArray, group: IntArray, counts: IntArray) -> FloatArray:
        if self.sensitive_set is None:
            return self.estimator(Problem(prior, group, counts)).probabilities
        # People of whom the same is believed are as those of one signature.
        having, alike = np.unique(prior[:, 0], return_inverse=True)
        rows = np.column_stack([having, 1.0 - having])
        return posterior_beliefs(Evidence(alike, group, counts, rows[0]), self.estimator, rows)


def refuse(requirement: Requirement) -> NoReturn:
    """Raise ValueError: a requirement on beliefs is asked about groups without those beliefs, or without their members."""
    raise ValueError(
        f"{requirement!r} needs what is believed of the records, and who is in each group; a defense calls "
        "requirement.given(view, prior), and makes summaries with members, as summarize_records(..., members=True)."
    )
