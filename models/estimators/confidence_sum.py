"""The posterior that JS-reduce prints: an assignment weighs the sum of its priors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.group_rows import group_sums
from foreknow.models.problem import Posterior, Problem, Status


@dataclass(frozen=True)
class ConfidenceSum:
    """Each of the k! assignments of a group weighs the sum of the k priors it uses.

    The paper calls it intractable and approximates it; it has a closed form. For a person i and one of the group's k
    published values j, with S the sum of the priors over all pairs, R_i over the person's pairs, C_j over the value's::

        W[i, j] = (A[i, j] + (S - R_i - C_j + A[i, j]) / (k - 1)) / S

    and 1 for k = 1. Exact for its own rule, which is not Bayesian: a pair that is ruled out keeps the weight of the
    other pairs, so that as groups grow the belief nears the group's shares however sharp the knowledge. Cost: O(n m).

    A group none of whose pairs has any prior gets its shares, and is reported as `Status.CONTRADICTED`.

    References
    ----------
    JS-reduce, section 5.2 and Algorithm 2. The closed form is ours; tests hold it against enumeration.
    """

    exact: ClassVar[bool] = False

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        inside = problem.group >= 0
        group, counts, prior = problem.group[inside], problem.counts, problem.prior[inside]
        size = problem.sizes[group][:, None]
        columns = group_sums(problem.prior, problem.group, len(counts))
        totals = (columns * counts).sum(axis=1)
        row = (prior * counts[group]).sum(axis=1, keepdims=True)
        total = totals[group][:, None]
        others = (total - row - columns[group] + prior) / np.maximum(size - 1, 1)
        pair = np.divide(prior + others, total, out=1.0 / np.broadcast_to(size, prior.shape), where=total > 0)
        belief = problem.prior.copy()
        belief[inside] = np.where(size == 1, 1.0, np.maximum(pair, 0.0)) * counts[group]
        status = np.where((totals > 0) | (problem.sizes == 0), Status.FINE, Status.CONTRADICTED)
        return Posterior(belief, status.astype(np.int64))
