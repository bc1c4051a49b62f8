"""Estimators that choose another one for each group: `Auto`, and the combination of BayFrame."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.belief_propagation import BeliefPropagation
from foreknow.models.estimators.closed_form import DirichletMultinomial
from foreknow.models.estimators.exact import Exact, state_counts
from foreknow.models.estimators.sinkhorn import Omega, Sinkhorn
from foreknow.models.problem import (
    ROW_PARTS,
    Estimator,
    Posterior,
    Problem,
    check_is_estimator,
    chosen_groups,
    group_rows,
)
from foreknow.models.settings import check_choice, check_state_limit, check_whole

EXACT, BEYOND, SINKHORN = 0, 1, 2
"""Positions of the three estimators in the choice of each group."""


LARGE = Sinkhorn()
"""Estimator of groups with many pairs."""


@dataclass(frozen=True)
class Auto:
    """`Exact` for groups with few states, another estimator for groups with few pairs, and `Sinkhorn` for the rest.

    A group of k members and d distinct values has k d pairs. An iteration of `BeliefPropagation` takes about 100 ns for each
    pair, and it needs 20 to 2,000 iterations. `Sinkhorn` takes 2 ns for each pair and iteration, and its error falls as 1 / k
    by the law of large numbers.

    The posterior's ``rule`` has the name of each group's estimator. Its ``error`` has the estimated largest error of a belief
    for groups that `Sinkhorn` computed (`first_order_errors`), 0 for `Exact`, and NaN for ``beyond``. Where ``beyond`` samples,
    its standard errors, effective sample sizes and R-hats are kept; they are 0, infinity and 1 in the other groups.

    Parameters
    ----------
    limit : int
        Largest number of states of a group for `Exact`, at most 2^40; 2^16 take some milliseconds.
    beyond : Estimator
        Estimator for groups with more states: `BeliefPropagation`, which is deterministic, or ``SwapChain(rng=...)``, which
        gives standard errors.
    pairs : int
        Largest number of pairs k d of a group for ``beyond``; 2^17 take `BeliefPropagation` about .2 seconds, and 30 if it needs
        all its iterations.

    Examples
    --------
    >>> two = Problem(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 1]]))
    >>> Auto()(two).rule
    array(['Exact'], dtype=object)

    A group of 10,000 members with distinct priors:

    >>> share = np.linspace(0.1, 0.9, 10_000)
    >>> crowd = Problem(np.column_stack([share, 1 - share]), np.zeros(10_000, int), np.array([[4_000, 6_000]]))
    >>> posterior = Auto(pairs=10_000)(crowd)
    >>> posterior.rule, posterior.error.round(6)
    (array(['Sinkhorn'], dtype=object), array([3.1e-05]))
    """

    limit: int = 2**16
    beyond: Estimator = field(default_factory=BeliefPropagation)
    pairs: int = 2**17
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_state_limit("Auto", self.limit)
        check_is_estimator("Auto", "beyond", self.beyond)
        check_whole("Auto", "pairs", self.pairs, "pairs of member and value")

    @property
    def reads(self) -> tuple[str, ...]:
        """Parts of the knowledge that ``beyond`` reads."""
        return tuple(getattr(self.beyond, "reads", ROW_PARTS))

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
        fits_exact = state_counts(problem, self.limit) <= self.limit
        fits_beyond = problem.sizes * (problem.counts > 0).sum(axis=1) <= self.pairs
        choice = np.where(fits_exact, EXACT, np.where(fits_beyond, BEYOND, SINKHORN))
        estimators: tuple[Estimator, ...] = (Exact(self.limit), self.beyond, LARGE)
        posterior = by_group([(estimator, problem) for estimator in estimators], choice)
        errors = np.where(choice == BEYOND, np.nan, 0.0)
        order, starts = group_rows(problem.group, len(problem.counts))
        for j in np.flatnonzero(choice == SINKHORN):
            belief = posterior.probabilities[order[starts[j] : starts[j + 1]]]
            errors[j] = np.abs(first_order_errors(belief[:, problem.counts[j] > 0])).max()
        return replace(posterior, error=errors)


def first_order_errors(belief: FloatArray) -> FloatArray:
    """First-order difference of the exact posterior from the belief of `Sinkhorn`, for one group.

    The belief p of `Sinkhorn` is that of independent respondents whose expected counts are the counts shown. The exact
    posterior is the law of the same respondents, conditioned on these counts. The local limit theorem for the vector of counts
    (its Edgeworth expansion to the third cumulant) gives the difference. With W the pseudo-inverse of the covariance matrix
    of the counts, ``sum over i of diag(p_i) - p_i p_i^T``::

        q[i, s] = (e_s - p_i)^T W (e_s - p_i)        t[s] = sum over i of p[i, s] (q[i, s] - sum over r of p[i, r] q[i, r])
        c[i, s] = ((W t)[s] - q[i, s]) / 2           difference[i, s] = p[i, s] (c[i, s] - sum over r of p[i, r] c[i, r])

    The difference is O(1 / k) where the variance of each value's count is proportional to k; the remainder is O(1 / k^2).

    Parameters
    ----------
    belief : float array, shape (k, d)
        Beliefs of a group's k members in its d shown values; rows sum to 1.

    Returns
    -------
    float array, shape (k, d)
        Rows sum to 0. Where the variance of a count is near 0, because the knowledge determines the holders of the value, this
        is a bad estimate of a difference that need not be small.

    Notes
    -----
    An approximation; W omits the directions in which no count varies. Cost: O(k d^2 + d^3).
    """
    covariance = np.diag(belief.sum(axis=0)) - belief.T @ belief
    inverse = np.linalg.pinv(covariance, hermitian=True)
    projected = belief @ inverse
    quadratic = np.diag(inverse) - 2 * projected + (projected * belief).sum(axis=1, keepdims=True)
    third_cumulant = (belief * (quadratic - (belief * quadratic).sum(axis=1, keepdims=True))).sum(axis=0)
    correction = (inverse @ third_cumulant - quadratic) / 2
    return np.asarray(belief * (correction - (belief * correction).sum(axis=1, keepdims=True)))


@dataclass(frozen=True)
class Mixed:
    """``small`` for groups of at most ``size`` members and ``large`` for the others, as in BayFrame's experiments.

    The posterior's ``rule`` has the name of each group's estimator, and the notes of an attack have the size.

    Definition 6 adds the pseudo-counts of compromised records (`Problem.evidence`, from `PosteriorCascade`) to the Dirichlet
    parameters of the assignments that they match. `Omega` has no such parameters, and the paper does not say what the
    definition means there. Section 4.4.2 keeps claims out of the revised prior, which is all that `Omega` reads. So with
    ``evidence="drop"`` the claims of a large group have no effect in it. ``evidence="prior"`` reads a prior row as the mean
    of a Dirichlet distribution of concentration 1, as each assignment has, and adds the pseudo-counts M to it::

        prior[i, s] = (P[i, s] + M[i, s]) / (1 + sum over r of M[i, r])

    Parameters
    ----------
    small, large : Estimator
        ``small`` receives the evidence and refuses it where it cannot read it; ``large`` never receives it.
    size : int
        Largest number of members of a small group. The paper says "when a QI-group is large" and gives no number.
    evidence : {"drop", "prior"}
        Use of the evidence in large groups.

    Notes
    -----
    Not Bayesian inference, as neither of the default estimators is. Amiri et al., Transactions on Data Privacy 12 (2019),
    sections 4.3.1 and 4.4.2. Cost: that of the two estimators, and O(n m).

    Examples
    --------
    >>> problem = Problem(
    ...     np.array([[0.9, 0.1], [0.5, 0.5], [0.9, 0.1], [0.5, 0.5], [0.5, 0.5]]),
    ...     np.array([0, 0, 1, 1, 1]),
    ...     np.array([[1, 1], [1, 2]]),
    ... )
    >>> Mixed(size=2)(problem).rule
    array(['DirichletMultinomial', 'Omega'], dtype=object)
    """

    small: Estimator = field(default_factory=DirichletMultinomial)
    large: Estimator = field(default_factory=Omega)
    size: int = 8
    evidence: Literal["drop", "prior"] = "drop"
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __post_init__(self) -> None:
        check_is_estimator("Mixed", "small", self.small)
        check_is_estimator("Mixed", "large", self.large)
        check_whole("Mixed", "size", self.size, "members", 0)
        check_choice("Mixed", "evidence", self.evidence, ("drop", "prior"))

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        prior, evidence = problem.prior, problem.evidence
        if self.evidence == "prior" and evidence is not None:
            prior = (prior + evidence) / (1 + evidence.sum(axis=1, keepdims=True))
        without_evidence = replace(problem, prior=prior, evidence=None)
        is_large = (problem.sizes > self.size).astype(np.int64)
        return by_group(((self.small, problem), (self.large, without_evidence)), is_large)


def by_group(parts: Sequence[tuple[Estimator, Problem]], choice: IntArray) -> Posterior:
    """Posterior of a release whose group j is computed by ``parts[choice[j]]``, an estimator with the problem that it reads.

    The problems have the same groups and counts. ``rule`` has the name of each group's estimator. Standard errors, effective sample
    sizes, R-hats, numbers of divergent draws and draws of unknown numbers are those of the chosen estimators that give them;
    elsewhere they are 0, infinity, 1 and 0. A respondent outside all groups keeps the prior of the first problem. Cost: that of the
    estimators, and O(n m) for each.
    """
    first = parts[0][1]
    choice_of_row = np.append(choice, -1)[first.group]
    # An estimator without groups is called only to refuse evidence: its kernels would be compiled for nothing.
    answers = {
        number: estimator(chosen_groups(problem, choice == number))
        for number, (estimator, problem) in enumerate(parts)
        if (choice == number).any() or problem.evidence is not None
    }
    probabilities, status = first.prior.copy(), np.zeros(len(choice), dtype=np.int64)
    for number, answer in answers.items():
        probabilities[choice_of_row == number] = answer.probabilities[choice_of_row == number]
        status |= answer.status
    names = np.array([type(estimator).__name__ for estimator, _ in parts], dtype=object)
    sampled = {}
    for name, default in (("standard_error", 0.0), ("ess", np.inf), ("rhat", 1.0)):
        arrays = {number: array for number, answer in answers.items() if (array := getattr(answer, name)) is not None}
        if arrays:
            sampled[name] = np.full(probabilities.shape, default)
        for number, array in arrays.items():
            sampled[name][choice_of_row == number] = array[choice_of_row == number]
    given = [answer.divergences for answer in answers.values() if answer.divergences is not None]
    divergences = np.sum(given, axis=0) if given else None
    unknown = tuple(draws for answer in answers.values() for draws in answer.unknown_draws)
    return Posterior(
        probabilities, status, **sampled, rule=names[choice], divergences=divergences, unknown_draws=unknown
    )
