"""BayFrame's posterior against its definition over all k! permutations and against the paper's numbers."""

import itertools
from fractions import Fraction
from math import factorial

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from foreknow.models import DirichletMultinomial, Problem, Status, TooLarge

CONCENTRATIONS = (1e-3, 0.3, 1.0, 7.0, 1e3)


def solve(prior, counts, evidence=None, **settings):
    """Belief of a group; the rest of each row is the prior of a value that is not shown."""
    prior = np.asarray(prior, dtype=float)
    prior = np.column_stack([prior, np.maximum(0, 1 - prior.sum(axis=1))])
    if evidence is not None:
        evidence = np.column_stack([evidence, np.zeros(len(prior))])
    problem = Problem(prior, np.zeros(len(prior), int), np.array([[*counts, 0]]), evidence)
    return DirichletMultinomial(**settings)(problem).probabilities[:, :-1]


@st.composite
def groups(draw, largest):
    """Priors in sixteenths, so that sums tie often; repeated values; evidence for some pairs, or none."""
    k, m = draw(st.integers(1, largest)), draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 3), min_size=m, max_size=m)
    kinds = draw(st.lists(row, min_size=1, max_size=k))
    prior = np.array([kinds[draw(st.integers(0, len(kinds) - 1))] for _ in range(k)]) / 16
    counts = np.bincount(draw(st.lists(st.integers(0, m - 1), min_size=k, max_size=k)), minlength=m)
    pseudo = st.sampled_from([0.0, 0.0, 0.02, 0.95, 3.0, 40.0])
    known = draw(st.none() | st.lists(pseudo, min_size=k * m, max_size=k * m))
    return prior, counts, None if known is None else np.reshape(known, (k, m))


def largest_sum(prior):
    """Largest sum of priors over all assignments of k members to k values, as a linear program."""
    k = len(prior)
    margins = np.vstack([np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))])
    return -linprog(-prior.ravel(), A_eq=margins, b_eq=np.ones(2 * k)).fun


class TestEnumeration:
    @given(group=groups(6), concentration=st.sampled_from(CONCENTRATIONS))
    def test_the_draw_in_equal_parts_for_all_that_are_best(self, group, concentration):
        prior, counts, evidence = group
        belief = solve(prior, counts, evidence, concentration=concentration)
        expected = oracle.dirichlet_posterior(prior, counts, concentration, evidence)
        assert np.abs(belief - expected).max() < 1e-12

    @given(group=groups(5), concentration=st.sampled_from(CONCENTRATIONS))
    def test_the_draw_for_one_of_them(self, group, concentration):
        prior, counts, evidence = group
        belief = solve(prior, counts, evidence, concentration=concentration, ties="first")
        best = oracle.best_assignments(prior, counts)
        _, different = np.unique(oracle.assignments(counts)[best], axis=0, return_index=True)
        candidates = (
            oracle.dirichlet_posterior(prior, counts, concentration, evidence, drawn=best[one]) for one in different
        )
        assert min(np.abs(belief - expected).max() for expected in candidates) < 1e-12

    @given(group=groups(5), seed=st.integers(0, 99))
    def test_the_draw_for_one_of_them_at_random(self, group, seed):
        prior, counts, evidence = group
        belief = solve(prior, counts, evidence, ties="random", rng=seed)
        best = oracle.best_assignments(prior, counts)
        _, different = np.unique(oracle.assignments(counts)[best], axis=0, return_index=True)
        candidates = (oracle.dirichlet_posterior(prior, counts, 1.0, evidence, drawn=best[one]) for one in different)
        assert min(np.abs(belief - expected).max() for expected in candidates) < 1e-12

    @pytest.mark.parametrize("counts", [[1, 1, 1, 1], [2, 1, 1]])
    def test_each_of_them_is_as_likely(self, counts):
        """Three members tie and the fourth has a value of its own: over 3,000 draws within five standard deviations."""
        prior = np.full((4, len(counts)), 0.1)
        prior[3, -1] = 0.6
        law, draws = DirichletMultinomial(1e-6, ties="random", rng=7), 3000
        problem = Problem(np.column_stack([prior, 1 - prior.sum(axis=1)]), np.zeros(4, int), np.array([[*counts, 0]]))
        drawn = [tuple(law(problem).probabilities.argmax(axis=1).tolist()) for _ in range(draws)]
        best = oracle.assignments(counts)[oracle.best_assignments(prior, counts)]
        expected = {tuple(values): (best == values).all(axis=1).mean() for values in best.tolist()}
        assert set(drawn) == set(expected)
        for values, share in expected.items():
            assert abs(drawn.count(values) - draws * share) < 5 * np.sqrt(draws * share * (1 - share))

    @pytest.mark.parametrize("concentration", CONCENTRATIONS)
    @pytest.mark.parametrize("counts", [[1] * 7, [2, 2, 3], [6, 1], [3, 1, 1, 1, 1]])
    def test_groups_of_seven(self, counts, concentration):
        rng = np.random.default_rng(7)
        prior = rng.dirichlet(np.full(len(counts), 0.5), size=7)
        evidence = rng.gamma(0.2, 5.0, size=prior.shape)
        for known in (None, evidence):
            for ties in ("average", "first"):
                belief = solve(prior, counts, known, concentration=concentration, ties=ties)
                expected = oracle.dirichlet_posterior(prior, counts, concentration, known)
                assert np.abs(belief - expected).max() < 1e-12

    @pytest.mark.parametrize("seed", range(20))
    @pytest.mark.parametrize("counts", [[1] * 7, [2, 1, 1, 3]])
    def test_many_assignments_that_tie(self, counts, seed):
        """Priors of 0, 1 or 2 fourteenths: cycles, blocks and chains of exchanges without loss."""
        prior = np.random.default_rng(seed).integers(0, 3, size=(7, len(counts))) / 14
        belief = solve(prior, counts, concentration=1e-3)
        assert np.abs(belief - oracle.dirichlet_posterior(prior, counts, 1e-3)).max() < 1e-12

    def test_evidence_about_values_that_are_not_shown_is_evidence_about_no_assignment(self):
        prior, group = np.full((3, 3), 1 / 3), np.zeros(3, int)
        evidence = np.array([[0.0, 2, 0], [0, 0, 1], [1, 0, 0]])
        more = evidence + 9.0 * (np.arange(9).reshape(3, 3) == 8)
        counts = np.array([[2, 1, 0]])
        for known in (evidence, more):
            belief = DirichletMultinomial()(Problem(prior, group, counts, known)).probabilities
            assert np.abs(belief - oracle.dirichlet_posterior(prior, counts[0], 1.0, evidence)).max() < 1e-12

    def test_evidence_about_people_outside_all_groups_changes_nothing(self):
        prior = np.full((3, 2), 0.5)
        evidence = np.array([[0.0, 0], [0, 0], [0, 7]])
        belief = DirichletMultinomial()(Problem(prior, np.array([0, 0, -1]), np.array([[1, 1]]), evidence))
        assert np.allclose(belief.probabilities, 0.5, atol=1e-15)

    def test_the_concentration_of_one_group_is_not_the_other_s(self):
        """Groups of two and of three in one problem, each as in a problem of its own."""
        rng = np.random.default_rng(8)
        prior, evidence = rng.dirichlet(np.ones(3), size=5), rng.gamma(1.0, size=(5, 3))
        group, counts = np.array([1, 0, 1, 0, 1]), np.array([[0, 1, 1], [1, 1, 1]])
        belief = DirichletMultinomial(0.5)(Problem(prior, group, counts, evidence)).probabilities
        for j in (0, 1):
            mine = group == j
            expected = oracle.dirichlet_posterior(prior[mine], counts[j], 0.5, evidence[mine])
            assert np.abs(belief[mine] - expected).max() < 1e-12


class TestBayFrame:
    """The group of Cayla, Dior and Elisa at the third release (Examples 2 to 4, Tables 8, 9 and 11).

    Values are in the order Cancer-II, GERD, Depression. Cayla's prior averages three rows of Table 7, the others' two or
    more; Table 9 prints them normalized over the three values, with the last digits cut off.
    """

    RAW = np.array([[0.604 / 3, 0.002, 0.203 / 3], [0.0004, 0.31 / 3, 0.004], [0.0004, 0.31 / 3, 0.004]])
    PRIOR = RAW / RAW.sum(axis=1, keepdims=True)
    PRINTED = np.array([[0.74, 0.007, 0.25], [0.003, 0.96, 0.037], [0.003, 0.96, 0.037]])
    COUNTS = (1, 1, 1)
    PERMUTATIONS = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    """The paper's pm_0 to pm_5: the values of Cayla, Dior and Elisa."""
    TIE_BREAK = np.array([[0.0, 0.0, 0.0], [0.0, 1e-9, 0.0], [0.0, 0.0, 0.0]])
    """Breaks the tie of pm_0 and pm_1, which have the same sum, in favour of pm_0, which the paper draws."""

    def test_table_9(self):
        expected = [[0.74293, 0.00738, 0.24969], *[[0.00371, 0.95916, 0.03713]] * 2]
        assert np.allclose(self.PRIOR, expected, atol=5e-6)
        assert ((self.PRIOR - self.PRINTED >= -2e-3) & (self.PRIOR - self.PRINTED < 4e-3)).all()

    def test_table_11_confidences(self):
        sums = self.PRINTED[np.arange(3), self.PERMUTATIONS].sum(axis=1)
        assert np.allclose(sums, [1.737, 1.737, 0.047, 0.047, 1.213, 1.213], atol=1e-12)
        assert np.array_equal(np.sort(self.PERMUTATIONS, axis=0), np.sort(oracle.assignments(self.COUNTS), axis=0))

    @pytest.mark.parametrize("prior", [PRIOR, PRINTED], ids=["exact", "printed"])
    def test_example_3_is_3_7_and_2_7(self, prior):
        drawn = np.where(np.eye(3), 3 / 7, 2 / 7)
        belief = solve(prior + self.TIE_BREAK, self.COUNTS)
        assert np.allclose(belief, drawn, atol=1e-12)
        assert belief[0, 0] == pytest.approx(0.4286, abs=5e-5)
        assert belief[0, 1] == pytest.approx(0.2857, abs=5e-5)

    def test_the_first_of_the_tied_permutations_is_pm_0_or_pm_1(self):
        """Dior and Elisa have equal priors, so either may be first."""
        belief = solve(self.PRIOR, self.COUNTS, ties="first")
        drawn = np.where(np.eye(3), 3 / 7, 2 / 7)
        assert min(np.abs(belief - drawn).max(), np.abs(belief - drawn[[0, 2, 1]]).max()) < 1e-12
        assert np.array_equal(belief, solve(self.PRIOR, self.COUNTS, ties="first"))

    def test_the_average_of_the_two_treats_dior_and_elisa_alike(self):
        """Cayla has Cancer-II in both: 3/7. The draw's other two thirds are halved: (2 + 1/2) / 7."""
        belief = solve(self.PRIOR, self.COUNTS)
        assert np.allclose(belief, np.array([[3, 2, 2], [2, 2.5, 2.5], [2, 2.5, 2.5]]) / 7, atol=1e-12)

    def test_example_4(self):
        """Dior's GERD is known with .97; Elisa's Depression, by what is left, with .95."""
        evidence = np.zeros((3, 3))
        evidence[1, 1], evidence[2, 2] = 0.97, 0.95
        parameters = 1 + evidence[np.arange(3), self.PERMUTATIONS].sum(axis=1)
        assert np.allclose(parameters, [2.92, 1, 1.95, 1, 1, 1.97], atol=1e-12)
        expectations = (parameters + np.eye(6)[0]) / (parameters.sum() + 1)
        assert np.allclose(expectations, [0.3616, 0.0923, 0.1799, 0.0923, 0.0923, 0.1817], atol=5e-5)
        belief = solve(self.PRIOR + self.TIE_BREAK, self.COUNTS, evidence)
        expected = [[0.4539, 0.2721, 0.2740], [0.2721, 0.5434, 0.1845], [0.2740, 0.1845, 0.5415]]
        assert np.allclose(belief, expected, atol=5e-5)
        for (i, person), s in itertools.product(enumerate("CDE"), range(3)):
            has = self.PERMUTATIONS[:, i] == s
            assert belief[i, s] == pytest.approx(expectations[has].sum(), abs=1e-12), person

    def test_table_8_is_uniform_which_the_procedure_as_written_is_not(self):
        """For uniform priors the paper prints .33; its three steps, taken literally, draw one of six."""
        nothing = np.full((3, 3), 1 / 3)
        assert np.allclose(solve(nothing, self.COUNTS), 1 / 3, atol=1e-12)
        literal = solve(nothing, self.COUNTS, ties="first")
        assert np.allclose(np.sort(literal, axis=1), [[2 / 7, 2 / 7, 3 / 7]] * 3, atol=1e-12)

    @pytest.mark.parametrize(
        ("k", "own"), [(3, Fraction(3, 7)), (4, Fraction(28, 100)), (5, Fraction(25, 121)), (8, Fraction(5041, 40321))]
    )
    def test_from_five_people_on_nearly_nothing_is_left_of_what_is_known(self, k, own):
        """A nearly certain prior keeps (k - 1)! + 1 of the k! + 1 parts; .2066 and .12502 were worked by hand."""
        prior = np.full((k, k), 0.001 / (k - 1)) + 0.998 * np.eye(k)
        belief = solve(prior, [1] * k)
        assert np.allclose(np.diag(belief), float(own), atol=1e-14)
        assert np.allclose(belief[~np.eye(k, dtype=bool)], (1 - float(own)) / (k - 1), atol=1e-14)
        assert float(own) == pytest.approx({3: 0.42857, 4: 0.28, 5: 0.20661, 8: 0.12502}[k], abs=5e-6)


class TestLargeGroups:
    def test_a_thousand_people_in_whole_numbers(self):
        """Worked by hand: (n-1)! a n_s, and of each pair's evidence (n-1)! for itself, (n-2)! for each compatible pair.

        Evidence for a repeated value counts for each of its copies. The draw is one in 1000!.
        """
        k, counts = 1000, [400, 350, 200, 49, 1]
        evidence = {(3, 0): Fraction(97, 100), (3, 4): Fraction(40), (500, 4): Fraction(5, 2), (999, 2): Fraction(1000)}
        a, n = Fraction(1, 3), factorial(k)
        total = n * a + factorial(k - 1) * sum(counts[s] * known for (_, s), known in evidence.items()) + 1

        def share(i, s):
            own = Fraction(factorial(k - 1)) * a * counts[s]
            for (person, value), known in evidence.items():
                if person == i:
                    own += known * factorial(k - 1) * counts[s] * (value == s)
                else:
                    places = counts[s] * counts[value] - counts[s] * (value == s)
                    own += known * factorial(k - 2) * places
            return float(own / total)

        matrix = np.zeros((k, 5))
        for (i, s), known in evidence.items():
            matrix[i, s] = known
        prior = np.random.default_rng(9).dirichlet(np.ones(5), size=k)
        belief = solve(prior * 0.999, counts, matrix, concentration=float(a))
        for i in (0, 3, 500, 999):
            assert np.allclose(belief[i], [share(i, s) for s in range(5)], rtol=1e-12, atol=0)
        assert np.allclose(belief.sum(axis=0), counts, atol=1e-9)
        assert np.allclose(belief.sum(axis=1), 1, atol=1e-12)

    @pytest.mark.parametrize("ties", ["average", "first"])
    def test_a_tiny_concentration_leaves_the_draw_alone(self, ties):
        """With 1e-30 for each of 20! assignments, the draw dominates: the belief is the best assignment."""
        prior = 0.9 * np.eye(20)[np.random.default_rng(10).permutation(20)] + 0.1 / 20
        belief = solve(prior, [1] * 20, concentration=1e-30, ties=ties)
        assert np.allclose(belief, (prior > 0.5).astype(float), atol=1e-9)

    def test_a_huge_concentration_leaves_the_shares(self):
        prior = np.random.default_rng(11).dirichlet(np.ones(3), size=6)
        assert np.allclose(solve(prior, [1, 2, 3], concentration=1e30), np.array([1, 2, 3]) / 6, atol=1e-15)

    def test_too_large_is_said_of_the_group_with_the_way_out(self):
        """Each of 23 members has two values with the largest prior: two best assignments, in 2^23 states."""
        k = 23
        ring = np.full((k, k), 0.1 / (k - 2)) + 0.45 * (np.eye(k) + np.roll(np.eye(k), 1, axis=1))
        prior = np.vstack([np.full((2, k), 1 / k), ring / ring.sum(axis=1, keepdims=True)])
        counts = np.vstack([2 * np.eye(k, dtype=int)[0], np.ones(k, dtype=int)])
        problem = Problem(prior, np.array([0, 0, *[1] * k]), counts)
        message = r"group 1 has 23 respondents and 8\.39e\+06 states of equally good .* 4194304.*1e-30.*ties='first'"
        with pytest.raises(TooLarge, match=message):
            DirichletMultinomial(1e-30)(problem)
        first = DirichletMultinomial(1e-30, ties="first")(problem).probabilities[2:]
        own = min(np.abs(first - np.roll(np.eye(k), step, axis=1)).max() for step in (0, 1))
        assert own < 1e-6
        assert np.allclose(DirichletMultinomial()(problem).probabilities[2:], 1 / k, atol=1e-12)

    def test_ties_of_equal_members_or_none_are_not_too_large(self):
        """Twenty-five equal members tie in 25! assignments, whose average is the frequencies; without ties one is best."""
        k = 25
        assert np.allclose(solve(np.full((k, k), 1 / k), [1] * k, concentration=1e-36), 1 / k, atol=1e-12)
        prior = np.random.default_rng(12).dirichlet(np.full(k, 0.1), size=k)
        belief = solve(prior, [1] * k, concentration=1e-36)
        assert np.allclose(belief, np.round(belief), atol=1e-8)
        assert (belief * prior).sum() == pytest.approx(largest_sum(prior), abs=1e-7)

    def test_contradictions_are_none_of_its_business(self):
        """Priors only select the best assignment."""
        problem = Problem(np.array([[1.0, 0.0], [1.0, 0.0]]), np.zeros(2, int), np.array([[1, 1]]))
        posterior = DirichletMultinomial()(problem)
        assert np.allclose(posterior.probabilities, 0.5)
        assert posterior.status.tolist() == [Status.FINE]


class TestSettings:
    @pytest.mark.parametrize("concentration", [0, 0.0, -1.0, np.nan, np.inf, -np.inf])
    def test_a_concentration_is_positive_and_finite(self, concentration):
        with pytest.raises(
            ValueError, match=f"concentration is {concentration}; it is a positive finite number, a Dirichlet parameter"
        ):
            DirichletMultinomial(concentration)

    def test_ties_are_one_of_three_words(self):
        with pytest.raises(ValueError, match="ties is 'drawn'; it is one of 'average', 'first', 'random'"):
            DirichletMultinomial(ties="drawn")

    def test_a_generator_goes_with_random_ties(self):
        with pytest.raises(TypeError, match="rng is None; it is a generator"):
            DirichletMultinomial(ties="random")
        with pytest.raises(ValueError, match="ties='first' draws nothing; leave it out"):
            DirichletMultinomial(ties="first", rng=1)
        assert DirichletMultinomial(ties="random", rng=1) == DirichletMultinomial(ties="random", rng=1)
