"""All estimators against enumeration, and the properties that they share."""

import dataclasses
from typing import ClassVar

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import distributions, problems

from foreknow.models import ESTIMATORS, Exact, Omega, PerGroup, Problem, RandomWorlds, Status
from foreknow.models.estimators import ConfidenceSum
from foreknow.testing import check_estimator

ORACLES = {
    "random-worlds": oracle.share_posterior,
    "confidence-sum": oracle.sum_posterior,
    "dirichlet-multinomial": oracle.dirichlet_posterior,
    "omega": oracle.omega_posterior,
    "mixed": oracle.dirichlet_posterior,
    "sinkhorn": oracle.sinkhorn_posterior,
    "belief-propagation": oracle.bethe_posterior,
    "exact": oracle.product_posterior,
    "auto": oracle.product_posterior,
}
"""Reference for each estimator, for groups without a contradiction. A new estimator adds a row.

The groups here have at most eight members, so all are small for `Mixed`; its large groups are tested in its own file.
"""

ITERATES = {"sinkhorn": 1e-8, "belief-propagation": 2e-7}
"""Estimators that iterate to a tolerance, with the largest distance of a belief from the limit.

`Sinkhorn` leaves columns whose deviations from the counts sum to at most k 1e-9. The change of a belief is at most half of
that: 4e-9 for eight members, and twice that between two answers. `BeliefPropagation` stops at a change of 1e-10. The
remaining change is below 1e-10 times the number of iterations, at most 2,000, where changes fall geometrically by more than a
factor e in all. Groups with `Status.UNCONVERGED` are left out of comparisons.
"""

BY_ASSIGNMENTS = {"random-worlds", "confidence-sum", "dirichlet-multinomial", "mixed", "exact", "auto", *ITERATES}
"""Estimators whose belief is an average over assignments, so that the columns of a group sum to its counts."""

BELIEVES_CERTAINTY = {"omega", "exact", "auto", *ITERATES}
"""Estimators that leave a certain prior row unchanged."""

LOOKS_AT_ASSIGNMENTS = {"exact", "auto", *ITERATES}
"""Estimators that report a contradiction exactly where no assignment is possible."""

NOTICES_CONTRADICTION = {"confidence-sum", "omega", *LOOKS_AT_ASSIGNMENTS}
"""Estimators that report some contradictions."""

READS_EVIDENCE = {"dirichlet-multinomial", "mixed"}

fewer = settings(max_examples=30)
"""Settings of tests that run for each estimator."""


def distance(name):
    """Largest difference of two answers to the same problem."""
    return ITERATES.get(name, 1e-12)


def assert_distributions(belief):
    assert np.isfinite(belief).all()
    assert (belief >= 0).all()
    assert np.allclose(belief.sum(axis=1), 1, atol=1e-9)


def group_by_group(problem):
    for j, counts in enumerate(problem.counts):
        rows = np.flatnonzero(problem.group == j)
        yield j, rows, counts


def answered(problem, posterior):
    """Groups for which the estimator converged."""
    return [each for each in group_by_group(problem) if not posterior.status[each[0]] & Status.UNCONVERGED]


@pytest.mark.parametrize("name", ESTIMATORS)
class TestOracle:
    @fewer
    @given(problem=problems(possible=True))
    def test_equals_its_definition(self, name, problem):
        posterior = ESTIMATORS[name]()(problem)
        for _, rows, counts in answered(problem, posterior):
            expected = ORACLES[name](problem.prior[rows], counts)
            assert np.allclose(posterior.probabilities[rows], expected, rtol=1e-9, atol=distance(name))

    @pytest.mark.parametrize("counts", [[1] * 7, [2, 2, 3, 0], [6, 1], [3, 1, 1, 1, 1]])
    @pytest.mark.parametrize("alike", [1, 3, 7])
    def test_equals_its_definition_in_groups_of_seven(self, name, counts, alike):
        rng = np.random.default_rng(7)
        kinds = rng.dirichlet(np.full(len(counts), 0.3), size=alike)
        prior = kinds[np.arange(7) % alike]
        posterior = ESTIMATORS[name]()(Problem(prior, np.zeros(7, int), np.array([counts])))
        assert np.allclose(posterior.probabilities, ORACLES[name](prior, counts), rtol=1e-9, atol=distance(name))
        assert posterior.status.tolist() == [Status.FINE]


@pytest.mark.parametrize("name", ESTIMATORS)
class TestConformance:
    @fewer
    @given(problem=problems())
    def test_passes_the_kit(self, name, problem):
        check_estimator(ESTIMATORS[name](), tolerance=distance(name), problems=[problem])

    def test_passes_the_kit_on_its_own_problems(self, name):
        check_estimator(ESTIMATORS[name](), tolerance=max(1e-9, distance(name)))

    def test_default_settings_are_equal(self, name):
        assert ESTIMATORS[name]() == ESTIMATORS[name]()
        assert hash(ESTIMATORS[name]()) == hash(ESTIMATORS[name]())

    def test_exact_means_by_assignments_in_every_group(self, name):
        """``auto`` sums over assignments in small groups only."""
        assert ESTIMATORS[name].exact == (name == "exact")

    @fewer
    @given(problem=problems())
    def test_columns_sum_to_the_counts(self, name, problem):
        if name in BY_ASSIGNMENTS:
            posterior = ESTIMATORS[name]()(problem)
            for _, rows, counts in answered(problem, posterior):
                columns = posterior.probabilities[rows].sum(axis=0)
                assert np.allclose(columns, counts, atol=max(1e-7, len(rows) * distance(name)))

    @fewer
    @given(problem=problems(possible=True))
    def test_what_is_possible_is_fine(self, name, problem):
        status = ESTIMATORS[name]()(problem).status
        assert np.isin(status, [Status.FINE, Status.UNCONVERGED] if name in ITERATES else [Status.FINE]).all()

    @fewer
    @given(problem=problems())
    def test_groups_have_nothing_to_do_with_each_other(self, name, problem):
        """Stricter than the kit: also iterating estimators give the same numbers."""
        together = ESTIMATORS[name]()(problem)
        for j, rows, counts in group_by_group(problem):
            alone = ESTIMATORS[name]()(Problem(problem.prior[rows], np.zeros(len(rows), int), counts[None]))
            assert np.allclose(alone.probabilities, together.probabilities[rows], rtol=1e-9, atol=1e-12)
            assert alone.status[0] == together.status[j]

    @fewer
    @given(row=distributions(3), counts=st.tuples(*[st.integers(0, 4)] * 3).filter(any))
    def test_equal_priors_give_the_frequencies(self, name, row, counts):
        k = sum(counts)
        if row[np.flatnonzero(counts)].all():
            problem = Problem(np.tile(row, (k, 1)), np.zeros(k, int), np.array([counts]))
            belief = ESTIMATORS[name]()(problem).probabilities
            assert np.allclose(belief, np.array(counts) / k, atol=max(1e-9, distance(name)))

    @fewer
    @given(problem=problems(possible=True, largest=4))
    def test_a_certain_row_is_unchanged(self, name, problem):
        if name in BELIEVES_CERTAINTY:
            belief = ESTIMATORS[name]()(problem).probabilities
            for row in np.flatnonzero(problem.prior.max(axis=1) == 1):
                assert np.array_equal(belief[row], problem.prior[row])

    @fewer
    @given(row=distributions(3))
    def test_a_group_of_one_tells_all(self, name, row):
        for s in np.flatnonzero(row):
            one_hot = np.eye(3)[s]
            assert np.array_equal(
                ESTIMATORS[name]()(Problem(row[None], np.zeros(1, int), one_hot[None].astype(int))).probabilities[0],
                one_hot,
            )

    def test_evidence_is_read_or_refused(self, name):
        """Evidence that would be ignored is refused, even where it is 0."""
        problem = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]), np.array([[0.0, 1], [0, 0]]))
        if name in READS_EVIDENCE:
            assert ESTIMATORS[name]()(problem).probabilities[0, 1] > 0.5
        else:
            with pytest.raises(
                ValueError, match=r"the problem has evidence .*cannot read it\. Use DirichletMultinomial"
            ):
                ESTIMATORS[name]()(problem)
            with pytest.raises(ValueError, match=type(ESTIMATORS[name]()).__name__):
                ESTIMATORS[name]()(dataclasses.replace(problem, evidence=np.zeros((2, 2))))


@given(problem=problems(possible=True))
def test_no_priors_leave_less_certainty_than_equal_ones(problem):
    """Lemma 1 of UHRA: beliefs in a value have the mean of its share, which all are under equal priors; so one is not lower."""
    posterior = Exact()(problem)
    for _, rows, counts in answered(problem, posterior):
        assert (posterior.probabilities[rows].max(axis=0) >= counts / counts.sum() - 1e-9).all()


IMPOSSIBLE: dict[str, tuple[list[list[float]], list[int]]] = {
    "no member may have a shown value": ([[0, 0, 1.0], [0, 0, 1.0]], [1, 1, 0]),
    "no member may have one of the values": ([[1.0, 0, 0], [0.5, 0, 0.5], [1.0, 0, 0]], [2, 1, 0]),
    "a member may have none of the values": ([[0.5, 0.5, 0], [0, 0, 1.0]], [1, 1, 0]),
    "too many are sure of one value": ([[1.0, 0, 0], [1.0, 0, 0], [0.5, 0.5, 0]], [1, 2, 0]),
}
"""Priors that contradict the counts of a group."""


class TestContradiction:
    SEEN_BY: ClassVar[dict[str, set[str]]] = {
        "no member may have a shown value": NOTICES_CONTRADICTION,
        "no member may have one of the values": NOTICES_CONTRADICTION - {"confidence-sum"},
        "a member may have none of the values": NOTICES_CONTRADICTION - {"confidence-sum"},
        "too many are sure of one value": LOOKS_AT_ASSIGNMENTS,
    }

    @pytest.mark.parametrize("case", IMPOSSIBLE)
    @pytest.mark.parametrize("name", sorted(NOTICES_CONTRADICTION))
    def test_is_reported_of_that_group_alone(self, name, case):
        fine = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
        rows, shown = IMPOSSIBLE[case]
        k = len(rows)
        group = np.array([0, *[1] * k, 0, -1])
        prior = np.vstack([fine[:1], rows, fine[1:], [[0.2, 0.3, 0.5]]])
        posterior = ESTIMATORS[name]()(Problem(prior, group, np.array([[1, 0, 1], shown])))
        assert_distributions(posterior.probabilities)
        expected = Status.CONTRADICTED if name in self.SEEN_BY[case] else Status.FINE
        assert (posterior.status & ~Status.UNCONVERGED).tolist() == [Status.FINE, expected]
        alone = ESTIMATORS[name]()(Problem(fine, np.zeros(2, int), np.array([[1, 0, 1]])))
        assert np.allclose(posterior.probabilities[group == 0], alone.probabilities, atol=1e-12)

    @pytest.mark.parametrize("name", sorted(LOOKS_AT_ASSIGNMENTS))
    @fewer
    @given(problem=problems(largest=4))
    def test_is_reported_where_every_assignment_weighs_nothing(self, name, problem):
        status = ESTIMATORS[name]()(problem).status & ~Status.UNCONVERGED
        for j, rows, counts in group_by_group(problem):
            impossible = oracle.product_posterior(problem.prior[rows], counts) is None
            assert status[j] == (Status.CONTRADICTED if impossible else Status.FINE)

    def test_exact_takes_the_assignments_with_the_fewest_doubts(self):
        """Two members certainly have a and one b; the group shows a, b, b. Either of the first two has b."""
        prior = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        belief = Exact()(Problem(prior, np.zeros(3, int), np.array([[1, 2]]))).probabilities
        assert np.allclose(belief, [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]], atol=1e-9)

    def test_exact_mixes_the_doubt_into_the_knowledge_it_was_given(self):
        """All priors of b are 0. With a doubt d over 3 values, (a, b) weighs .5 (d/3) and (b, a) weighs (d/3) 1."""
        prior = np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
        belief = Exact()(Problem(prior, np.zeros(2, int), np.array([[1, 1, 0]]))).probabilities
        assert np.allclose(belief[:, 1], [2 / 3, 1 / 3], atol=1e-6)

    def test_omega_and_the_sum_fall_back_on_the_shares(self):
        prior, counts = np.array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 1.0]]), np.array([[2, 1, 0]])
        for estimator in (Omega(), ConfidenceSum()):
            belief = estimator(Problem(prior, np.zeros(3, int), counts)).probabilities
            assert np.allclose(belief, [[2 / 3, 1 / 3, 0]] * 3)


class TestPerGroup:
    @given(problem=problems(possible=True, largest=4))
    def test_makes_an_estimator_of_a_function(self, problem):
        belief = PerGroup(oracle.product_posterior)(problem).probabilities
        assert np.allclose(belief, Exact()(problem).probabilities, rtol=1e-9, atol=1e-12)

    def test_says_of_which_group_the_function_is_wrong(self):
        problem = Problem(np.full((3, 2), 0.5), np.array([0, 1, 1]), np.array([[1, 0], [1, 1]]))

        def one_row(prior, counts):
            return counts

        def too_much(prior, counts):
            return prior * len(prior)

        with pytest.raises(ValueError, match=r"for group 0 has shape \(2,\); it needs \(1, 2\)"):
            PerGroup(one_row)(problem)
        with pytest.raises(ValueError, match=r"group 1: .*sums to 2"):
            PerGroup(too_much)(problem)

    def test_has_no_place_for_evidence(self):
        problem = Problem(np.full((1, 1), 1.0), np.zeros(1, int), np.array([[1]]), np.ones((1, 1)))
        with pytest.raises(ValueError, match=r"has evidence .*PerGroup"):
            PerGroup(oracle.product_posterior)(problem)


class TestReferenceValues:
    """Three members of whom one has HIV, with priors .05, .05, .30 (after Li, Li, Zhang 2009; worked by hand)."""

    PROBLEM = Problem(np.array([[0.05, 0.95], [0.05, 0.95], [0.30, 0.70]]), np.zeros(3, int), np.array([[1, 2]]))

    @pytest.mark.parametrize(
        ("estimator", "third"),
        [
            (Exact(), 0.27075 / 0.33725),
            (Exact(), 0.80282),
            (Omega(), 0.75 / (0.75 + 2 * 0.7 / 2.6)),
            (Omega(), 0.58209),
            (RandomWorlds(), 1 / 3),
        ],
    )
    def test_three_people_one_with_hiv(self, estimator, third):
        assert estimator(self.PROBLEM).probabilities[2, 0] == pytest.approx(third, abs=1e-5)

    @pytest.mark.parametrize(("k", "own"), [(10, 0.18990), (20, 0.09083)])
    def test_the_sum_forgets_what_is_known(self, k, own):
        """Worked by hand: of priors .9 for the own value and .01 for the others, about 2/k is left (.19, .091)."""
        prior = np.full((k, k + 1), 0.01)
        prior[np.arange(k), np.arange(k)] = 0.9
        prior[:, k] = 0
        prior /= 1.1
        prior[:, k] = 1 - prior.sum(axis=1)
        problem = Problem(prior, np.zeros(k, int), np.array([[1] * k + [0]]))
        assert ConfidenceSum()(problem).probabilities[0, 0] == pytest.approx(own, abs=1e-5)
        assert Exact()(problem).probabilities[0, 0] > 0.98


def test_a_function_per_group_is_not_called_for_empty_groups():
    problem = Problem(np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([1, 1]), np.array([[0, 0], [1, 1]]))
    belief = PerGroup(lambda prior, counts: np.tile(counts / counts.sum(), (len(prior), 1)))(problem).probabilities
    assert np.array_equal(belief, np.full((2, 2), 0.5))
