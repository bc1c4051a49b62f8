"""Levels of requirements on the beliefs about group members."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from foreknow.defenses.requirements.membership import GroupMembers
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Estimator, Problem
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.beliefs import posterior_beliefs
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.tables.sensitive_set import SensitiveSet

type Gain = Callable[[FloatArray, IntArray, FloatArray], FloatArray]
"""Gain of the adversary on each of k group members, shape ``(k,)``, from their posteriors ``(k, c)``, their rows in the view
``(k,)`` and the value shares of their groups ``(k, c)``."""


@dataclass(frozen=True, eq=False)
class BeliefLevel:
    """Largest gain on a member of each group; one problem holds all groups of a batch.

    Parameters
    ----------
    prior : float array, shape (n, c)
        Prior of each record of the view over c classes.
    estimator : Estimator
        Posterior estimator.
    gain : Gain
        Gain on each member.
    sensitive_set : SensitiveSet, optional
        Makes two classes, a sensitive set and its complement. By default every value is a class.
    """

    prior: FloatArray
    estimator: Estimator
    gain: Gain
    sensitive_set: SensitiveSet | None = None

    def __call__(self, summary: Summary, members: GroupMembers) -> FloatArray:
        """Largest gain in each of b groups: float array, shape ``(b,)``. Cost: the estimator's, once for the batch."""
        if not len(summary):
            return np.zeros(0)
        group = members.group
        counts = summary.counts if self.sensitive_set is None else self.sensitive_set.class_counts(summary.counts)
        posterior = self._posterior(self.prior[members.records], group, counts)
        shares = (counts / summary.size[:, None])[group]
        return np.asarray(np.maximum.reduceat(self.gain(posterior, members.records, shares), members.starts[:-1]))

    def _posterior(self, prior: FloatArray, group: IntArray, counts: IntArray) -> FloatArray:
        if self.sensitive_set is None:
            return self.estimator(Problem(prior, group, counts)).probabilities
        # Respondents with equal priors are interchangeable, as those of one attribute signature are.
        having, alike = np.unique(prior[:, 0], return_inverse=True)
        rows = np.column_stack([having, 1.0 - having])
        return posterior_beliefs(Evidence(alike, group, counts, rows[0]), self.estimator, rows)
