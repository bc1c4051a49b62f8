"""Checks of an estimator."""

import dataclasses
import itertools
from collections.abc import Iterable
from math import factorial

import numpy as np

from foreknow.models import Estimator, Posterior, Problem, Status
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import as_list, check_kind, check_range
from foreknow.testing import examples
from foreknow.testing.examples import is_a_settings_object, run

TOLERANCE = 1e-9
"""Default distance between two beliefs that are equal by definition."""

MAX_ENUMERATED_MEMBERS = 7
"""Largest group whose assignments are enumerated: 7! = 5,040 of them."""


def check_estimator(
    estimator: Estimator, *, tolerance: float = TOLERANCE, problems: Iterable[Problem] | None = None
) -> None:
    """Check that an estimator behaves as those of foreknow do.

    Parameters
    ----------
    estimator : Estimator
        ``estimator(problem) -> Posterior``.
    tolerance : float
        Distance at which two beliefs count as equal. An estimator that iterates needs a larger one. Groups with the status
        ``UNCONVERGED`` and sampled beliefs, which have a ``standard_error``, are not compared.
    problems : iterable of Problem, optional
        By default thirty small ones, in half of which the prior contradicts the counts.

    Notes
    -----
    Checked: the estimator is a frozen dataclass with a class attribute ``exact``; it returns a `Posterior`, whose beliefs are
    distributions over the values that the group shows; rows outside all groups keep the prior; renaming respondents, renaming
    values and removing other groups change neither beliefs nor status; the problem is not modified, and results share no memory;
    evidence is read or refused; a problem without groups and an empty group are answered; equal priors give the shares of the
    group; a group of one is certain. A group that some assignment explains is not ``CONTRADICTED``. An ``exact`` estimator
    equals the enumeration of all assignments, and reports ``CONTRADICTED`` where there is none. Sampled beliefs have ``ess`` and
    ``rhat``. Groups of more than 7 members are not enumerated. Cost: about 15 calls per problem.

    Examples
    --------
    >>> from foreknow.models import Exact
    >>> check_estimator(Exact())
    """
    owner, takes = "check_estimator", "is a list of Problems, as [Problem(prior, group, counts)]"
    check_range(owner, "tolerance", tolerance, 0, what="the largest distance between equal beliefs")
    listed = examples.problems() if problems is None else as_list(owner, "problems", problems, takes)
    run("check_estimator", estimator, (_is_a_settings_object,), estimator)
    for problem in listed:
        check_kind(owner, "a problem", problem, Problem, "is a Problem, as Problem(prior, group, counts)")
        run("check_estimator", estimator, BY_PROBLEM, estimator, problem)
        run("check_estimator", estimator, BY_COMPARISON, estimator, problem, tolerance)
    run("check_estimator", estimator, (_handles_corner_cases, _reads_or_refuses_evidence), estimator)


def _is_a_settings_object(estimator: Estimator) -> None:
    is_a_settings_object(estimator)
    assert isinstance(estimator.exact, bool), "the class attribute exact is not True or False"


def _handles_corner_cases(estimator: Estimator) -> None:
    prior = np.array([[0.2, 0.8], [1.0, 0.0]])
    nothing = estimator(Problem(prior, np.array([-1, -1]), np.zeros((0, 2), dtype=np.int64)))
    assert np.array_equal(nothing.probabilities, prior), "without groups, the belief is not the prior"
    assert nothing.status.shape == (0,), "without groups, the status is not empty"
    empty = estimator(Problem(np.full((2, 2), 0.5), np.array([1, 1]), np.array([[0, 0], [1, 1]])))
    assert_distributions(empty.probabilities)
    assert (empty.status == Status.FINE).all(), "an empty group and a group of equal priors are not FINE"
    for row, value in (((0.2, 0.8), 0), ((0.2, 0.8), 1), ((1e-6, 1 - 1e-6), 0), ((0.0, 1.0), 1)):
        one = estimator(Problem(np.array([row]), np.zeros(1, dtype=np.int64), np.eye(2, dtype=np.int64)[[value]]))
        assert np.allclose(one.probabilities, np.eye(2)[[value]]), "the value of a group of one is not certain"


def _reads_or_refuses_evidence(estimator: Estimator) -> None:
    plain = Problem(np.full((2, 2), 0.5), np.zeros(2, dtype=np.int64), np.array([[1, 1]]))
    answers: list[Posterior | None] = []
    for evidence in (np.array([[0.0, 1], [0, 0]]), np.zeros((2, 2))):
        try:
            answers.append(estimator(dataclasses.replace(plain, evidence=evidence)))
        except ValueError:
            answers.append(None)
    informative, zero = answers
    assert (informative is None) == (zero is None), (
        "evidence is refused or accepted by its values (Problem.refuse_evidence)"
    )
    is_read = informative is None or informative.probabilities[0, 1] > 0.5
    assert is_read, "evidence is neither read nor refused (Problem.refuse_evidence)"


def _rows_are_distributions(estimator: Estimator, problem: Problem) -> None:
    posterior, inside = estimator(problem), problem.group >= 0
    assert isinstance(posterior, Posterior), f"it returns a {type(posterior).__name__}, not a Posterior"
    shape = np.shape(posterior.probabilities)
    assert shape == problem.prior.shape, f"the beliefs have the shape {shape}, not {problem.prior.shape}"
    assert_distributions(posterior.probabilities)
    assert np.shape(posterior.status) == (len(problem.counts),), "the status has not one entry per group"
    if _sampled(posterior):
        sampled = (posterior.standard_error, posterior.ess, posterior.rhat)
        sizes = [None if each is None else each.shape for each in sampled]
        assert sizes == [shape] * 3, (
            f"standard_error, ess and rhat of sampled beliefs have the shapes {sizes}, not {shape}"
        )
    outside = posterior.probabilities[~inside]
    assert np.array_equal(outside, problem.prior[~inside]), "a row outside all groups is not the prior's"
    hidden = problem.counts[problem.group[inside]] == 0
    assert (posterior.probabilities[inside][hidden] == 0).all(), "a value that the group does not show has a belief"


def _is_a_function(estimator: Estimator, problem: Problem) -> None:
    before = [problem.prior.copy(), problem.group.copy(), problem.counts.copy()]
    first, second = estimator(problem), estimator(problem)
    after = [problem.prior, problem.group, problem.counts]
    assert all(map(np.array_equal, before, after)), "the problem was modified"
    if not _sampled(first):
        assert np.array_equal(first.probabilities, second.probabilities), "two calls differ"
        assert np.array_equal(first.status, second.status), "the status of two calls differs"
    kept = second.probabilities.copy()
    first.probabilities[:] = -1
    assert np.array_equal(second.probabilities, kept), "two results share memory"
    assert all(map(np.array_equal, before, after)), "the result shares memory with the problem"
    if not _sampled(second):
        assert np.array_equal(estimator(problem).probabilities, kept), "a result shares memory with the estimator"


def _respondents_are_exchangeable(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    order = np.random.default_rng(0).permutation(len(problem.group))
    turned = estimator(Problem(problem.prior[order], problem.group[order], problem.counts))
    rows = np.arange(len(order))
    _compare(problem, (estimator(problem), turned), order, rows, tolerance, "depends on the order of the rows", True)


def _values_are_exchangeable(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    order = np.random.default_rng(0).permutation(problem.counts.shape[1])
    turned = estimator(Problem(problem.prior[:, order], problem.group, problem.counts[:, order]))
    back = dataclasses.replace(turned, probabilities=turned.probabilities[:, np.argsort(order)])
    rows = np.arange(len(problem.group))
    _compare(problem, (estimator(problem), back), rows, rows, tolerance, "depends on the order of the values", True)


def _groups_are_independent(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    together = estimator(problem)
    for j, counts in enumerate(problem.counts):
        rows = np.flatnonzero(problem.group == j)
        alone = estimator(Problem(problem.prior[rows], np.zeros(len(rows), dtype=np.int64), counts[None]))
        same = Posterior(alone.probabilities, np.full_like(together.status, alone.status[0]), alone.standard_error)
        each = np.arange(len(rows))
        _compare(problem, (together, same), rows, each, tolerance, f"of group {j} depends on other groups")
        if not _sampled(together):
            assert alone.status[0] == together.status[j], f"the status of group {j} depends on other groups"


def _equal_priors_give_shares(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    if not len(problem.counts):
        return
    inside, m = problem.group >= 0, problem.prior.shape[1]
    sizes = problem.counts.sum(axis=1, keepdims=True)
    shares = problem.counts / np.maximum(sizes, 1)
    shown = np.where((problem.counts > 0) | (sizes == 0), 0.25 ** np.arange(m), 0.0)
    for row_of_group in (np.full(shown.shape, 1 / m), shown / shown.sum(axis=1, keepdims=True)):
        # Rows outside all groups take the last group's row; they are not compared.
        posterior = estimator(Problem(row_of_group[problem.group], problem.group, problem.counts))
        expected = Posterior(shares[problem.group], posterior.status)
        _compare(
            problem, (posterior, expected), inside, inside, tolerance, "under equal priors is not the group's share"
        )


def _agrees_with_the_enumeration(estimator: Estimator, problem: Problem, tolerance: float) -> None:
    posterior = estimator(problem)
    for j, counts in enumerate(problem.counts):
        rows = np.flatnonzero(problem.group == j)
        if len(rows) > MAX_ENUMERATED_MEMBERS:
            continue
        expected, contradicted = enumerated(problem.prior[rows], counts), posterior.status[j] & Status.CONTRADICTED
        if expected is not None:
            assert not contradicted, f"group {j} is possible and CONTRADICTED"
        if estimator.exact and expected is None:
            assert contradicted, f"group {j} is impossible and not CONTRADICTED"
        if estimator.exact and expected is not None:
            found = posterior.probabilities[rows]
            assert np.allclose(found, expected, rtol=1e-9, atol=tolerance), f"group {j} differs from the enumeration"


BY_PROBLEM = (_is_a_function, _rows_are_distributions)

BY_COMPARISON = (
    _respondents_are_exchangeable,
    _values_are_exchangeable,
    _groups_are_independent,
    _equal_priors_give_shares,
    _agrees_with_the_enumeration,
)


def enumerated(prior: FloatArray, counts: IntArray) -> FloatArray | None:
    """Posterior of one group by enumeration of all assignments of its values; None where none is possible."""
    values = np.repeat(np.arange(len(counts)), counts)
    weights = np.zeros(prior.shape)
    rows = np.arange(len(prior))
    for assignment in itertools.permutations(values.tolist()):
        weights[rows, list(assignment)] += prior[rows, list(assignment)].prod() / factorial(len(values))
    return weights / weights.sum(axis=1, keepdims=True) if weights.sum() > 0 else None


def assert_distributions(rows: FloatArray) -> None:
    """Raise AssertionError unless rows are finite, not negative and sum to 1."""
    assert np.isfinite(rows).all(), "a belief is not finite"
    assert (rows >= 0).all(), "a belief is negative"
    assert np.allclose(rows.sum(axis=1), 1, atol=TOLERANCE), "a row of beliefs does not sum to 1"


def _sampled(posterior: Posterior) -> bool:
    return posterior.standard_error is not None


def _compare(
    problem: Problem,
    answers: tuple[Posterior, Posterior],
    rows: IntArray | BoolArray,
    other_rows: IntArray | BoolArray,
    tolerance: float,
    what: str,
    and_status: bool = False,
) -> None:
    """Compare rows of one answer with rows of another; sampled and unconverged beliefs are left out.

    Both answers have the groups of the problem. With ``and_status``, their status is compared too.
    """
    one, other = answers
    if _sampled(one) or _sampled(other):
        return
    unconverged = (one.status | other.status) & Status.UNCONVERGED
    fine = np.append(unconverged == 0, True)[problem.group[rows]]
    found, expected = one.probabilities[rows][fine], other.probabilities[other_rows][fine]
    assert np.allclose(found, expected, rtol=1e-9, atol=tolerance), f"the belief {what}"
    assert not and_status or np.array_equal(one.status, other.status), f"the status {what}"
