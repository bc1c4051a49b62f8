"""Random worlds: every assignment of a group is equally likely."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.estimators.arguments import check_problem
from foreknow.models.problem import Posterior, Problem


@dataclass(frozen=True)
class RandomWorlds:
    """Frequencies of the group as beliefs: ``belief[i, s] = n_s / k``, whatever the prior.

    Exact for a prior that is equal within each group. Cost: O(n m).

    Raises
    ------
    TypeError
        When called with anything but a `Problem`.
    ValueError
        When called with a problem that has evidence.

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
        """Posterior of a whole release."""
        check_problem(self, problem)
        frequencies = problem.counts / np.maximum(problem.sizes, 1)[:, None]
        belief = problem.prior.copy()
        in_group = problem.group >= 0
        belief[in_group] = frequencies[problem.group[in_group]]
        return Posterior(belief, np.zeros(len(frequencies), dtype=np.int64))
