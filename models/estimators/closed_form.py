"""Estimators in closed form: random worlds, the sum rule of JS-reduce, BayFrame's Dirichlet, and functions of one group."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.estimators.assignments import average_of_best, drawn_place, group_beliefs, group_sums
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.problem import ROW_PARTS, GroupRows, Posterior, Problem, Status, group_rows, probability_rows
from foreknow.models.settings import as_generator, check_choice, check_kind, check_positive, check_shape


@dataclass(frozen=True)
class RandomWorlds:
    """Frequencies of the group as beliefs: ``belief[i, s] = n_s / k``, whatever the prior.

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
    reads: ClassVar[tuple[str, ...]] = ("compromised",)  # those that leave the group
    ignores: ClassVar[tuple[str, ...]] = ("prior", "transitions", "presence", "own")

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
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

    Notes
    -----
    Exact for this weight, which is not Bayesian: an assignment with a pair of prior 0 keeps the weight of its other pairs. As
    groups grow, the belief approaches the frequencies of the group, however sharp the knowledge. Cost: O(n m).

    JS-reduce, section 5.2 and Algorithm 2. The closed form is ours and is tested against enumeration.
    """

    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
        in_group = problem.group >= 0
        group, counts, prior = problem.group[in_group], problem.counts, problem.prior[in_group]
        size = problem.sizes[group][:, None]
        others, totals = _other_pairs(prior, group, counts)
        others, total = others / np.maximum(size - 1, 1), totals[group][:, None]
        pair = np.divide(prior + others, total, out=1.0 / np.broadcast_to(size, prior.shape), where=total > 0)
        belief = problem.prior.copy()
        belief[in_group] = np.where(size == 1, 1.0, np.maximum(pair, 0.0)) * counts[group]
        status = np.where((totals > 0) | (problem.sizes == 0), Status.FINE, Status.CONTRADICTED)
        return Posterior(belief, status.astype(np.int64))


def _other_pairs(pairs: FloatArray, group: IntArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """``S - R_i - C_j + M[i, j]`` of each member and value, shape ``(k, m)``, and S of each group, for numbers M of pairs.

    R, C and S are the sums over rows, columns and all of the matrix of the members and published values of a group.
    """
    columns = group_sums(pairs, group, len(counts))
    totals = (columns * counts).sum(axis=1)
    rows = (pairs * counts[group]).sum(axis=1, keepdims=True)
    return totals[group][:, None] - rows - columns[group] + pairs, totals


@dataclass(frozen=True)
class PerGroup:
    """Estimator that applies a function to each group separately: the quick way to try a rule.

    Parameters
    ----------
    function : callable
        ``function(prior, counts) -> belief``, where ``prior`` has the rows of a group's k members, shape ``(k, m)``, ``counts``
        is the group's multiset, shape ``(m,)``, and ``belief`` has shape ``(k, m)`` and probabilities as rows. It is not called
        for empty groups.

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
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __post_init__(self) -> None:
        takes = "is a function that takes the prior (k, m) and the counts (m,) of one group and returns beliefs (k, m)"
        check_kind("PerGroup", "function", self.function, Callable, takes)

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
        belief = problem.prior.copy()
        order, starts = group_rows(problem.group, len(problem.counts))
        for j in np.flatnonzero(problem.sizes):
            rows = order[starts[j] : starts[j + 1]]
            answer = np.asarray(self.function(problem.prior[rows], problem.counts[j]), dtype=np.float64)
            check_shape(
                f"PerGroup: the function's answer for group {j}", answer, belief[rows].shape, "a row per member"
            )
            belief[rows] = probability_rows(answer, f"group {j}: the function's row")
        return Posterior(belief, np.zeros(len(problem.counts), dtype=np.int64))


NEGLIGIBLE_DRAW = 1e-18
"""Weight of the draw, relative to the concentration, below which it is lost to rounding and not computed."""

MAX_TIED_STATES = 2**22
"""Largest number of states of a group's best assignments."""


@equal_by_fields
@dataclass(frozen=True)
class DirichletMultinomial:
    """Expected probabilities of a group's k! assignments under a Dirichlet distribution, after one multinomial draw.

    The paper lists the assignments, adds 1 to the parameter of the one with the largest sum of priors, and takes expectations;
    it calls that intractable for large groups. It has a closed form. For a member i and one of the group's k published values
    j, with concentration a and x[i, j] = 1 if the best assignment gives i the value j::

        W[i, j] = (a / k + M'[i, j] + x[i, j] / k!) / (a + S / k + 1 / k!)
        M'[i, j] = M[i, j] / k + (S - R_i - C_j + M[i, j]) / (k (k - 1))

    M is the problem's evidence for the pairs, and R, C and S are its row sums, column sums and total (Definition 6: the
    pseudo-count of a pair is added to the parameter of every assignment that contains it). The belief in a value sums W over
    the published values equal to it.

    Parameters
    ----------
    concentration : float
        Dirichlet parameter a of every assignment.
    ties : {"average", "first", "random"}
        Treatment of several assignments with the largest sum. ``"average"`` divides the draw equally among them, so that equal
        respondents have equal beliefs. ``"first"`` takes one of them, the same in each run. ``"random"``, only for reproduction,
        takes one of them at random, as the paper does; respondents with equal priors then have different beliefs.
    rng : numpy.random.Generator or int, optional
        Random generator, or a seed, for ``ties="random"`` alone. Each call continues it. By keyword.

    Raises
    ------
    TooLarge
        When called, unless ties="first", if the best assignments of a group have more than `MAX_TIED_STATES` states and its
        draw is not negligible. With a concentration of 1 the draw is negligible from 20 members on, and no group of 19 has so
        many states.

    Notes
    -----
    Exact for its own rule at any group size. The rule is not Bayesian inference from the priors: they only select the best
    assignment. The draw has weight 1 / (k! a + 1), so that from five members on the belief is close to the frequencies of the
    group, whatever the knowledge.

    Amiri et al., Transactions on Data Privacy 12 (2019), sections 4.3.1 and 4.4.2, Equation 2. The closed form is ours and is
    tested against enumeration. Permutations are of published values, with equal ones distinguished, as printed.

    Cost: O(n m), and for each group with a draw that is not negligible (`NEGLIGIBLE_DRAW`) O(k^3) plus the cost of `Exact` over
    the tied pairs.
    """

    concentration: float = 1.0
    ties: Literal["average", "first", "random"] = "average"
    rng: "np.random.Generator | int | None" = field(default=None, kw_only=True, repr=False)
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __post_init__(self) -> None:
        what = "a Dirichlet parameter; the paper's is 1"
        check_positive("DirichletMultinomial", "concentration", self.concentration, what)
        check_choice("DirichletMultinomial", "ties", self.ties, ("average", "first", "random"))
        if self.ties == "random":
            set_fields(self, rng=as_generator("DirichletMultinomial", self.rng))
        elif self.rng is not None:
            raise ValueError(f"DirichletMultinomial: rng is given, and ties={self.ties!r} draws nothing; leave it out.")

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        from scipy.special import gammaln

        sizes, counts, concentration = problem.sizes, problem.counts, float(self.concentration)
        draw = np.exp(-gammaln(sizes + 1.0))
        with_draw = np.flatnonzero((draw > NEGLIGIBLE_DRAW * concentration) & (sizes > 0))
        best = self._best(problem, group_rows(problem.group, len(counts)), with_draw)
        in_group = problem.group >= 0
        group = problem.group[in_group]
        evidence_of_pairs, evidence_of_groups = _evidence_terms(problem, group, in_group)
        total = concentration + evidence_of_groups / np.maximum(sizes, 1) + draw
        belief = problem.prior.copy()
        belief[in_group] = (
            counts[group] * (concentration / sizes[group][:, None] + evidence_of_pairs)
            + draw[group][:, None] * best[in_group]
        ) / total[group][:, None]
        return Posterior(belief, np.zeros(len(counts), dtype=np.int64))

    def _best(self, problem: Problem, rows_of: GroupRows, groups: IntArray) -> FloatArray:
        """Fraction of the best assignments in which each member of some groups has each value: shape ``(n, m)``."""
        from scipy.optimize import linear_sum_assignment

        best = np.zeros(problem.prior.shape)
        for j in groups:
            rows, counts = rows_of.order[rows_of.starts[j] : rows_of.starts[j + 1]], problem.counts[j]
            published = np.repeat(np.arange(len(counts)), counts)
            weights = problem.prior[rows]
            member, place = linear_sum_assignment(weights[:, published], maximize=True)
            if self.ties == "first":
                best[rows[member], published[place]] = 1.0
                continue
            states, average = average_of_best(weights, counts, published[place], MAX_TIED_STATES)
            if states > MAX_TIED_STATES:
                raise TooLarge(
                    f"group {j} has {len(rows)} respondents and {states:.3g} states of equally good assignments, more than "
                    f"{MAX_TIED_STATES}, and with a concentration of {self.concentration:g} its draw is not negligible. Use "
                    "ties='first', or a larger concentration."
                )
            best[rows] = self._one_of(average, counts) if self.ties == "random" else average
        return best

    def _one_of(self, average: FloatArray, counts: IntArray) -> FloatArray:
        """One of the best assignments, each as likely, by the fractions of them in which each member has each value."""
        generator = as_generator("DirichletMultinomial", self.rng)
        values, drawn = np.flatnonzero(counts), average.copy()
        for i in range(len(average)):
            drawn[i] = np.arange(len(counts)) == drawn_place(drawn[i], generator)
            drawn[:, values] = group_beliefs((drawn[:, values] > 0).astype(float), counts[values])[1]
        return drawn


def _evidence_terms(problem: Problem, group: IntArray, in_group: BoolArray) -> tuple[FloatArray, FloatArray]:
    """M' of each group member for one published value of each kind, and S of each group."""
    counts = problem.counts
    if problem.evidence is None:
        return np.zeros((len(group), counts.shape[1])), np.zeros(len(counts))
    pairs = problem.evidence[in_group]
    others, totals = _other_pairs(pairs, group, counts)
    size = problem.sizes[group][:, None]
    return pairs / size + np.maximum(others, 0.0) / np.maximum(size * (size - 1), 1), totals
