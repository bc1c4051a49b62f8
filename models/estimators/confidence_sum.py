"""JS-reduce, Algorithm 2: the weight of an assignment is the sum of its priors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.estimators.arguments import check_problem
from foreknow.models.group_rows import group_sums
from foreknow.models.problem import Posterior, Problem, Status


@dataclass(frozen=True)
class ConfidenceSum:
    """Beliefs under assignments weighted by the sum of their k priors.

    The paper calls the sum over the k! assignments intractable and approximates it; it has a closed form. Let i be a
    respondent, j one of the group's k published values, and A the k x k matrix of priors. With S the sum of all entries of A,
    R_i of row i and C_j of column j::

        W[i, j] = (A[i, j] + (S - R_i - C_j + A[i, j]) / (k - 1)) / S

    and W = 1 for k = 1. The belief in a value sums W over the published values equal to it. A group in which every pair has
    prior 0 gets its frequencies, and `Status.CONTRADICTED`.

    Raises
    ------
    TypeError
        When called with anything but a `Problem`.
    ValueError
        When called with a problem that has evidence.

    Notes
    -----
    Exact for this weight, which is not Bayesian: an assignment with a pair of prior 0 keeps the weight of its other pairs. As
    groups grow, the belief approaches the frequencies of the group, however sharp the knowledge. Cost: O(n m).

    JS-reduce, section 5.2 and Algorithm 2. The closed form is ours and is tested against enumeration.
    """

    exact: ClassVar[bool] = False

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem)
        in_group = problem.group >= 0
        group, counts, prior = problem.group[in_group], problem.counts, problem.prior[in_group]
        size = problem.sizes[group][:, None]
        columns = group_sums(problem.prior, problem.group, len(counts))
        totals = (columns * counts).sum(axis=1)
        row = (prior * counts[group]).sum(axis=1, keepdims=True)
        total = totals[group][:, None]
        others = (total - row - columns[group] + prior) / np.maximum(size - 1, 1)
        pair = np.divide(prior + others, total, out=1.0 / np.broadcast_to(size, prior.shape), where=total > 0)
        belief = problem.prior.copy()
        belief[in_group] = np.where(size == 1, 1.0, np.maximum(pair, 0.0)) * counts[group]
        status = np.where((totals > 0) | (problem.sizes == 0), Status.FINE, Status.CONTRADICTED)
        return Posterior(belief, status.astype(np.int64))
