"""BayFrame's posterior: a Dirichlet distribution over the assignments of a group, and one draw from it."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import kinds, pair_shares, state_count
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.group_rows import GroupRows, group_rows
from foreknow.models.problem import Posterior, Problem

NEGLIGIBLE = 1e-18
"""Where the one draw weighs less than this beside the concentration, rounding swallows it, and it is not looked for."""

MOST_STATES = 2**22
"""How many states a group's best assignments may have to be counted."""

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
        When called with ties="average", if the draw matters in a group whose equally good assignments make over
        `MOST_STATES` states; with a concentration of 1 only groups of up to 19 matter, and none of them has so many.

    Notes
    -----
    Amiri et al., Transactions on Data Privacy 12 (2019), sections 4.3.1 and 4.4.2, Equation 2. The closed form is ours
    (tests hold it against enumeration). Permutations are of published values, equal ones told apart, as printed. Cost:
    O(n m), and O(k^3) for each group in which the draw matters (see `NEGLIGIBLE`), and a walk as `Exact`'s over the pairs
    that tie.
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
        where = group_rows(problem.group, len(counts))
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

    def _best(self, problem: Problem, where: GroupRows, matters: IntArray) -> FloatArray:
        """The share of the best assignments in which each person has each value, for the groups where it matters."""
        best = np.zeros(problem.prior.shape)
        for j in matters:
            rows, counts = where.order[where.starts[j] : where.starts[j + 1]], problem.counts[j]
            published = np.repeat(np.arange(len(counts)), counts)
            weights = problem.prior[rows]
            person, place = linear_sum_assignment(weights[:, published], maximize=True)
            if self.ties == "first":
                best[rows[person], published[place]] = 1.0
                continue
            states, shares = _share_of_ties(weights, counts, published[place], MOST_STATES)
            if states > MOST_STATES:
                raise TooLarge(
                    f"group {j} has {len(rows)} respondents and {states:.3g} states of equally good assignments, more than "
                    f"{MOST_STATES}, and with a concentration of {self.concentration:g} its one draw matters. Use ties='first', "
                    "or a larger concentration."
                )
            best[rows] = shares
        return best


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


@compiled
def _share_of_ties(prior: FloatArray, counts: IntArray, given: IntArray, limit: int) -> tuple[float, FloatArray]:
    """Each person's values in all assignments as good as the given best one, and how many states were walked for it.

    A pair (i, s) stands in a best assignment exactly if i can take s, and people move on from s, one to the next one's value,
    until i's own is filled again, at no loss: a shortest path between values. Any assignment within such pairs is a best one.
    Over the limit of states nothing is walked.
    """
    values = np.flatnonzero(counts)
    k, d = len(prior), len(values)
    loss = np.full((d, d), np.inf)
    own = np.zeros(k, dtype=np.int64)
    for i in range(k):
        own[i] = np.searchsorted(values, given[i])
        for s in range(d):
            loss[own[i], s] = min(loss[own[i], s], prior[i, given[i]] - prior[i, values[s]])
    for middle in range(d):
        for s in range(d):
            for t in range(d):
                loss[s, t] = min(loss[s, t], loss[s, middle] + loss[middle, t])
    tied = np.zeros((k, d))
    for i in range(k):
        for s in range(d):
            if s == own[i] or prior[i, given[i]] - prior[i, values[s]] + loss[s, own[i]] <= TIE * k:
                tied[i, s] = 1.0
    shares = np.zeros(prior.shape)
    states = 1.0
    if tied.sum() > k:
        states = min(state_count(counts[values]), state_count(np.bincount(kinds(tied))))
        if states > limit:
            return states, shares
        tied = pair_shares(tied, counts[values])[1]
    for i in range(k):
        for s in range(d):
            shares[i, values[s]] = tied[i, s]
    return states, shares
