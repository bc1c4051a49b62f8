"""Belief of somebody who knows nothing: every assignment is as likely as any other."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.problem import Posterior, Problem


@dataclass(frozen=True)
class RandomWorlds:
    """A value's share of the group, ``n_s / k``, whatever the prior says.

    Exact for a prior that is equal within each group. Cost: O(n m).

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> RandomWorlds()(problem).probabilities
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    exact: ClassVar[bool] = False

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        shares = problem.counts / np.maximum(problem.sizes, 1)[:, None]
        probabilities = problem.prior.copy()
        inside = problem.group >= 0
        probabilities[inside] = shares[problem.group[inside]]
        return Posterior(probabilities, np.zeros(len(shares), dtype=np.int64))
