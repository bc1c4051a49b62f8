"""Estimator of releases from a plain function of one group."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.arguments import check_problem
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Posterior, Problem, probability_rows


@dataclass(frozen=True)
class PerGroup:
    """Estimator that applies a function to each group separately: the quick way to try a rule.

    Parameters
    ----------
    function : callable
        ``function(prior, counts) -> belief``, where ``prior`` has the rows of a group's k members, shape ``(k, m)``, ``counts``
        is the group's multiset, shape ``(m,)``, and ``belief`` has shape ``(k, m)`` and probabilities as rows. It is not called
        for empty groups.

    Raises
    ------
    TypeError
        If ``function`` cannot be called, or is a class. When called with anything but a `Problem`.
    ValueError
        When called, if the problem has evidence, or if the function returns another shape or rows that are no probabilities;
        the message names the group.

    Examples
    --------
    Beliefs in proportion to prior times count, row by row:

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

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise TypeError(
                f"PerGroup: function is {self.function!r:.60}; it is a function that takes the prior (k, m) and the counts (m,) "
                "of one group and returns beliefs (k, m)."
            )

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem)
        belief = problem.prior.copy()
        order, starts = group_rows(problem.group, len(problem.counts))
        for j in np.flatnonzero(problem.sizes):
            rows = order[starts[j] : starts[j + 1]]
            answer = np.asarray(self.function(problem.prior[rows], problem.counts[j]), dtype=np.float64)
            if answer.shape != belief[rows].shape:
                raise ValueError(
                    f"PerGroup: the function returned shape {answer.shape} for group {j}; it must be {belief[rows].shape}."
                )
            belief[rows] = probability_rows(answer, f"group {j}: the function's row")
        return Posterior(belief, np.zeros(len(problem.counts), dtype=np.int64))
