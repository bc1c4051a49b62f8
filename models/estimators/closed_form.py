"""Estimators in closed form: random worlds, the sum rule of JS-reduce, and plain functions of one group."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.arguments import check_problem
from foreknow.models.problem import Posterior, Problem, Status, group_rows, group_sums, probability_rows


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
