"""BayFrame's posterior: a Dirichlet distribution over the assignments of a group, and one draw from it."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.assignments import layers, shown, state_count
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.members import Members, members
from foreknow.models.problem import Posterior, Problem

NEGLIGIBLE = 1e-18
"""Where the one draw weighs less than this beside the concentration, rounding swallows it, and it is not looked for."""

MOST_STATES = 2**22
"""How many states a group may have for its best assignments to be counted."""

TIE = 1e-12
"""By how much sums of k priors may differ, per person, and still tie."""


@dataclass(frozen=True)
class DirichletMultinomial:
    """The k! assignments of a group share probability by a Dirichlet distribution; the likeliest one was drawn once.

    The paper lists the assignments, adds 1 to the parameter of the one whose priors have the largest sum, and takes
    expectations; it calls that intractable for large groups. It has a closed form. For a person i and one of the group's k
    published values j, with concentration a and x[i, j] = 1 if the best assignment gives i the value j::

        W[i, j] = (a / k + M'[i, j] + x[i, j] / k!) / (a + S / k + 1 / k!)
        M'[i, j] = M[i, j] / k + (S - R_i - C_j + M[i, j]) / (k (k - 1))

    where M is the problem's evidence for the pairs, and R, C and S are its row, column and whole sums (Definition 6: each
    pair's pseudo-count is added to the parameter of every assignment that contains it); the belief in a value sums over
    the published values equal to it. Exact for its own rule at any group size. That rule is not Bayesian inference from the
    priors: only which assignment is best matters, and the one draw weighs 1 / (k! a + 1), so that from five people on the
    belief is nearly the group's shares, whatever is known.

    Parameters
    ----------
    concentration : float
        The Dirichlet parameter a of every assignment.
    ties : {"average", "first"}
        What happens where several assignments have the largest sum. The paper draws one of them at random, which invents
        knowledge: people of whom nothing is known to differ get different beliefs. ``"average"`` gives each of them an
        equal part of the draw; then equal people have equal beliefs. ``"first"`` takes one, the same in each run.

    Raises
    ------
    ValueError
        If the concentration is not positive and finite, or ``ties`` is another word.
    TooLarge
        When called with ties="average", if the draw matters in a group with over `MOST_STATES` states; with a
        concentration of 1 only groups of up to 19 matter, and none of them has so many.

    Notes
    -----
    Amiri et al., Transactions on Data Privacy 12 (2019), sections 4.3.1 and 4.4.2, Equation 2. The closed form is ours
    (tests hold it against enumeration). Permutations are of published values, equal ones told apart, as printed. Cost:
    O(n m), and for each group in which the draw matters (see `NEGLIGIBLE`) its states times distinct values, or O(k^3) for
    ties="first".
    """

    concentration: float = 1.0
    ties: Literal["average", "first"] = "average"
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.concentration) and self.concentration > 0):
            raise ValueError(
                f"DirichletMultinomial: the concentration is {self.concentration}; a Dirichlet parameter is positive. The "
                "paper's is 1."
            )
        if self.ties not in ("average", "first"):
            raise ValueError(f"DirichletMultinomial: ties is {self.ties!r}; it is 'average' or 'first'.")

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        sizes, counts = problem.sizes, problem.counts
        draw = np.exp(-gammaln(sizes + 1.0))
        where = members(problem.group, len(counts))
        matters = np.flatnonzero((draw > NEGLIGIBLE * self.concentration) & (sizes > 0))
        best = self._best(problem, where, matters)
        inside = problem.group >= 0
        group = problem.group[inside]
        size, shown_here = sizes[group][:, None], counts[group]
        known, known_in_all = _known(problem, group, inside)
        total = self.concentration + known_in_all / np.maximum(sizes, 1) + draw
        belief = problem.prior.copy()
        belief[inside] = (
            shown_here * (self.concentration / size + known) + draw[group][:, None] * best[inside]
        ) / total[group][:, None]
        return Posterior(belief, np.zeros(len(counts), dtype=np.int64))

    def _best(self, problem: Problem, where: Members, matters: IntArray) -> FloatArray:
        """The share of the best assignments in which each person has each value, for the groups where it matters."""
        if self.ties == "first":
            return _first_best(problem, where, matters)
        states = np.array([state_count(problem.counts[j]) for j in matters])
        if states.size and states.max() > MOST_STATES:
            worst = int(matters[states.argmax()])
            raise TooLarge(
                f"group {worst} has {problem.sizes[worst]} respondents and {states.max():.3g} states, more than {MOST_STATES}, "
                f"and with a concentration of {self.concentration:g} its one draw matters. Use ties='first', or a larger "
                "concentration."
            )
        return _average_best(problem.prior, problem.counts, where.order, where.starts, matters)


def _known(problem: Problem, group: IntArray, inside: BoolArray) -> tuple[FloatArray, FloatArray]:
    """M' of each person inside a group, per published value, and S of each group."""
    counts = problem.counts
    if problem.evidence is None:
        return np.zeros((len(group), counts.shape[1])), np.zeros(len(counts))
    pairs = problem.evidence[inside]
    columns = np.zeros(counts.shape)
    np.add.at(columns, group, pairs)
    row = (pairs * counts[group]).sum(axis=1, keepdims=True)
    whole = (columns * counts).sum(axis=1)
    size = problem.sizes[group][:, None]
    others = whole[group][:, None] - row - columns[group] + pairs
    return pairs / size + np.maximum(others, 0.0) / np.maximum(size * (size - 1), 1), whole


def _first_best(problem: Problem, where: Members, matters: IntArray) -> FloatArray:
    best = np.zeros(problem.prior.shape)
    for j in matters:
        rows = where.order[where.starts[j] : where.starts[j + 1]]
        published = np.repeat(np.arange(problem.counts.shape[1]), problem.counts[j])
        person, place = linear_sum_assignment(problem.prior[np.ix_(rows, published)], maximize=True)
        best[rows[person], published[place]] = 1.0
    return best


@compiled
def _average_best(
    prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray, matters: IntArray
) -> FloatArray:
    best = np.zeros(prior.shape)
    for j in matters:
        rows = order[starts[j] : starts[j + 1]]
        values = np.flatnonzero(counts[j])
        shares = _shares_of_best(shown(prior, rows, values, 0.0), counts[j][values])
        for i in range(len(rows)):
            for s in range(len(values)):
                best[rows[i], values[s]] = shares[i, s]
    return best


@compiled
def _shares_of_best(weights: FloatArray, capacity: IntArray) -> FloatArray:
    """The walk of `marginals` with the largest sum in place of the sum of products, and how many ways reach it.

    A way gives the group's people, one by one, one of its distinct values; it stands for the same number of permutations
    as any other.
    """
    k, d = weights.shape
    slack = TIE * k
    stride = np.ones(d, dtype=np.int64)
    for s in range(1, d):
        stride[s] = stride[s - 1] * (capacity[s - 1] + 1)
    order, starts = layers(capacity, stride[-1] * (capacity[-1] + 1), k)
    largest, ways = np.full(len(order), -np.inf), np.zeros(len(order))
    largest[0], ways[0] = 0.0, 1.0
    terms, counted = np.zeros(d), np.zeros(d)
    for r in range(k):
        for state in order[starts[r + 1] : starts[r + 2]]:
            for s in range(d):
                possible = (state // stride[s]) % (capacity[s] + 1) > 0
                terms[s] = largest[state - stride[s]] + weights[r, s] if possible else -np.inf
                counted[s] = ways[state - stride[s]] if possible else 0.0
            largest[state] = terms.max()
            ways[state] = counted[terms >= largest[state] - slack].sum()
    shares = np.zeros((k, d))
    onward, ways_onward = np.full(len(order), -np.inf), np.zeros(len(order))
    onward[-1], ways_onward[-1] = 0.0, 1.0
    for r in range(k - 1, -1, -1):
        for state in order[starts[r] : starts[r + 1]]:
            for s in range(d):
                possible = (state // stride[s]) % (capacity[s] + 1) < capacity[s]
                terms[s] = weights[r, s] + onward[state + stride[s]] if possible else -np.inf
                counted[s] = ways_onward[state + stride[s]] if possible else 0.0
            onward[state] = terms.max()
            ways_onward[state] = counted[terms >= onward[state] - slack].sum()
            for s in range(d):
                if largest[state] + terms[s] >= largest[-1] - slack:
                    shares[r, s] += ways[state] * counted[s]
        shares[r] /= shares[r].sum()
    return shares
