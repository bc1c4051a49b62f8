"""Omega-estimate of Li, Li and Zhang, the estimator in the experiments of JS-reduce and BayFrame."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.arguments import check_problem
from foreknow.models.group_rows import group_sums
from foreknow.models.problem import CONTRADICTED, Posterior, Problem


@dataclass(frozen=True)
class Omega:
    """Omega-estimate: each value's column of priors scaled to its count, then each row scaled to 1.

    ``w[i, s] = n_s P[i, s] / sum_i' P[i', s]`` over the members i' of the group, and ``belief[i, s] = w[i, s] /
    sum_s' w[i, s']``. An approximation of `Exact`: equal to it where the members' priors are equal, and biased towards the
    frequencies of the group where they are sharp. Columns of the belief need not sum to the counts.

    A shown value to which every member's prior gives 0 is shared equally among the members. A respondent whose prior gives 0 to
    every shown value gets the frequencies of the group. Both are reported as `Status.CONTRADICTED`.

    Raises
    ------
    TypeError
        When called with anything but a `Problem`.
    ValueError
        When called with a problem that has evidence.

    Notes
    -----
    Cost: O(n m). T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009;
    JS-reduce, section 5.2. The treatment of columns and rows of zeros is not printed; it is our reading.
    """

    exact: ClassVar[bool] = False

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem)
        columns = group_sums(problem.prior, problem.group, len(problem.counts))
        return Posterior(*_beliefs_and_status(problem.prior, problem.group, problem.counts, problem.sizes, columns))


@compiled
def _beliefs_and_status(
    prior: FloatArray, group: IntArray, counts: IntArray, sizes: IntArray, columns: FloatArray
) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    m = prior.shape[1]
    for i in range(len(prior)):
        j = group[i]
        if j < 0:
            continue
        total = 0.0
        for s in range(m):
            if counts[j, s] == 0:
                belief[i, s] = 0.0
            elif columns[j, s] > 0.0:
                belief[i, s] = counts[j, s] * (prior[i, s] / columns[j, s])
            else:
                belief[i, s] = counts[j, s] / sizes[j]
                status[j] = CONTRADICTED
            total += belief[i, s]
        if total == 0.0:
            status[j] = CONTRADICTED
        for s in range(m):
            belief[i, s] = belief[i, s] / total if total > 0.0 else counts[j, s] / sizes[j]
    return belief, status
