"""The Omega-estimate of Li, Li and Zhang, with which both papers ran their experiments."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.group_rows import group_sums
from foreknow.models.problem import CONTRADICTED, Posterior, Problem


@dataclass(frozen=True)
class Omega:
    """Each value's column of priors scaled to its multiplicity, then each row to 1.

    ``w[i, s] = n_s P[i, s] / sum_i' P[i', s]`` over the members i' of the group, and ``belief[i, s] = w[i, s] /
    sum_s' w[i, s']``. An approximation of `Exact`: it equals it where the members' priors are equal, and leans towards
    the group's shares where they are sharp. Columns of the belief need not sum to the counts. Cost: O(n m).

    A value that nobody's prior allows, yet the group shows, is given to all members alike, and a respondent whose
    prior allows none of the group's values gets the group's shares; both are reported as `Status.CONTRADICTED`.

    References
    ----------
    T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009;
    JS-reduce, section 5.2. What happens to zero columns and rows is not printed; it is our reading.
    """

    exact: ClassVar[bool] = False

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        columns = group_sums(problem.prior, problem.group, len(problem.counts))
        return Posterior(*_omega(problem.prior, problem.group, problem.counts, problem.sizes, columns))


@compiled
def _omega(
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
