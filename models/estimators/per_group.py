"""A rule for one group, written as a plain function, made an estimator of releases."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Posterior, Problem, probability_rows


@dataclass(frozen=True)
class PerGroup:
    """The estimator that applies a function to every group by itself: the quick way to try a rule.

    Parameters
    ----------
    function : callable
        ``function(prior, counts) -> belief``: the prior of a group's k members, shape ``(k, m)``, and the group's
        multiset, shape ``(m,)``, to their beliefs, shape ``(k, m)``, whose rows are probabilities.

    Raises
    ------
    ValueError
        When called, if the function returns another shape or rows that are no probabilities; it names the group.

    Examples
    --------
    Whoever is likeliest for a value counts for it, the others do not:

    >>> import numpy as np
    >>> def proportional(prior, counts):
    ...     weight = prior * counts
    ...     return weight / weight.sum(axis=1, keepdims=True)
    >>> problem = Problem(np.array([[0.8, 0.2], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> PerGroup(proportional)(problem).probabilities
    array([[0.8, 0.2],
           [0.5, 0.5]])
    """

    function: Callable[[FloatArray, IntArray], FloatArray]
    exact: ClassVar[bool] = False

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        belief = problem.prior.copy()
        order, starts = group_rows(problem.group, len(problem.counts))
        for j, counts in enumerate(problem.counts):
            rows = order[starts[j] : starts[j + 1]]
            if not len(rows):
                continue
            answer = np.asarray(self.function(problem.prior[rows], counts), dtype=np.float64)
            if answer.shape != problem.prior[rows].shape:
                raise ValueError(
                    f"the function gave shape {answer.shape} for group {j}; it must be {problem.prior[rows].shape}."
                )
            belief[rows] = probability_rows(answer, f"group {j}: the function's row")
        return Posterior(belief, np.zeros(len(problem.counts), dtype=np.int64))
