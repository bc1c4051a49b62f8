"""Enumeration, and the choice of a solver for each component, against sums over all joint assignments."""

import joint_oracle
import numpy as np
import pytest

from foreknow.models.estimators import TooLarge
from foreknow.models.joint.enumeration import Enumeration, JointAuto, _row_numbers, eliminate, log_factors
from foreknow.models.joint.group_graph import GroupGraph
from foreknow.models.joint.max_entropy import MaxEntropy
from foreknow.models.joint.problem import JointProblem, components, sub_problem
from foreknow.models.problem import DOUBT, Status


def all_rows(posterior):
    return posterior.rows(np.arange(len(posterior.problem.path)))


def closed_cohort(k=3, releases=3, m=None, seed=0, counts=None):
    """One group of the same people at every release."""
    rng, m = np.random.default_rng(seed), m or k
    return {
        "prior": rng.dirichlet(np.ones(m), size=k),
        "tables": (rng.dirichlet(np.ones(m), size=(1, m)),),
        "path": np.tile(np.arange(k), releases),
        "group": np.repeat(np.arange(releases), k),
        "chain": np.zeros(k * releases, dtype=int),
        "counts": np.tile(np.ones(m, dtype=int) if counts is None else counts, (releases, 1)),
        "release": np.arange(releases),
    }


def with_doubt(arrays):
    """The same arguments, with the uniform distribution of weight DOUBT mixed into all knowledge."""
    m = arrays["counts"].shape[1]
    evidence = arrays["evidence"]
    return arrays | {
        "prior": (1 - DOUBT) * arrays["prior"] + DOUBT / m,
        "tables": tuple((1 - DOUBT) * table + DOUBT / m for table in arrays["tables"]),
        "emission": (1 - DOUBT) * arrays["emission"] + DOUBT / m,
        "evidence": np.array([(1 - DOUBT) * row + DOUBT * max(row) for row in evidence]).reshape(evidence.shape),
    }


class TestOracle:
    @pytest.mark.parametrize("seed", range(30))
    def test_equals_enumeration_of_all_assignments(self, seed):
        rng = np.random.default_rng([13, seed])
        for _ in range(70):
            arrays = joint_oracle.random_arrays(rng)
            expected = joint_oracle.joint_beliefs(arrays)
            posterior = Enumeration()(JointProblem(**arrays))
            assert np.abs(all_rows(posterior) - expected).max() < 1e-12
            assert not posterior.status.any()
            assert not posterior.gap.any()

    @pytest.mark.parametrize("seed", range(10))
    def test_equals_enumeration_with_distorted_values(self, seed):
        rng = np.random.default_rng([14, seed])
        for _ in range(40):
            arrays = joint_oracle.random_arrays(rng, emission=True)
            expected = joint_oracle.joint_beliefs(arrays)
            posterior = Enumeration()(JointProblem(**arrays))
            assert np.abs(all_rows(posterior) - expected).max() < 1e-12

    def test_random_histories_have_all_features(self):
        """Features of the histories above, counted over the same seeds."""
        seen = dict.fromkeys(["orders", "zeros", "claims", "counterfeits", "unpublished", "gaps", "meeting again"], 0)
        orders = set()
        for seed in range(30):
            rng = np.random.default_rng([13, seed])
            arrays = joint_oracle.random_arrays(rng)
            orders.add(len(arrays["tables"]))
            when = arrays["release"][arrays["group"]]
            seen["zeros"] += any((table == 0).any() for table in arrays["tables"])
            seen["claims"] += (arrays["evidence_row"] >= 0).any()
            seen["counterfeits"] += arrays["respondents"] < len(arrays["prior"])
            seen["unpublished"] += (~arrays["counts"].any(axis=1)).any()
            pairs = []
            for i in np.unique(arrays["path"]):
                seen["gaps"] += (np.diff(np.sort(when[arrays["path"] == i])) > 1).any()
            for g in range(len(arrays["counts"])):
                members = np.sort(arrays["path"][arrays["group"] == g]).tolist()
                pairs += [(a, b) for a in members for b in members if a < b]
            seen["meeting again"] += len(set(pairs)) < len(pairs)
        assert orders == {0, 1, 2}
        assert all(count >= 3 for name, count in seen.items() if name != "orders"), seen

    def test_log_weight_is_that_of_all_assignments(self):
        rng = np.random.default_rng(5)
        for _ in range(100):
            arrays = joint_oracle.random_arrays(rng, emission=True)
            problem = JointProblem(**arrays)
            factors = log_factors(problem)
            found = sum(eliminate(problem, factors, records, 2**30).log_total for records in components(problem))
            assert found == pytest.approx(np.log(joint_oracle.joint_law(arrays)[1].sum()), abs=1e-10)

    @pytest.mark.parametrize(("emission_row", "options"), [(-1, 3), (0, 3 * 3)])
    def test_transitions_up_to_the_limit(self, emission_row, options):
        """Three records share a, b and c: one state before the first, three after it and after the second.

        Where values are distorted, own times published values are tried.
        """
        arrays = closed_cohort(3, 1) | {"emission": np.full((1, 3, 3), 1 / 3), "emission_row": np.array([emission_row])}
        problem = JointProblem(**arrays)
        factors, transitions = log_factors(problem), options + 3 * options + 3 * options
        assert eliminate(problem, factors, np.arange(3), transitions) is not None
        assert eliminate(problem, factors, np.arange(3), transitions - 1) is None

    @pytest.mark.parametrize(("k", "counts"), [(3, None), (4, [2, 1, 1]), (4, [2, 2])])
    def test_closed_cohort(self, k, counts):
        arrays = closed_cohort(k, 3, m=None if counts is None else len(counts), counts=counts)
        posterior = Enumeration()(JointProblem(**arrays))
        assert np.abs(all_rows(posterior) - joint_oracle.joint_beliefs(arrays)).max() < 1e-12


class TestContradiction:
    @pytest.mark.slow
    def test_beliefs_are_those_of_doubtful_knowledge(self):
        """Histories whose knowledge is drawn apart from their releases, so that some are impossible."""
        rng, contradicted = np.random.default_rng(3), 0
        for _ in range(400):
            arrays, other = joint_oracle.random_arrays(rng, emission=True), joint_oracle.random_arrays(rng)
            if other["prior"].shape[1] == arrays["prior"].shape[1]:
                rows = rng.integers(len(other["prior"]), size=len(arrays["prior"]))
                arrays["prior"] = np.eye(arrays["prior"].shape[1])[other["prior"][rows].argmax(axis=1)]
            problem = JointProblem(**arrays)
            posterior = Enumeration()(problem)
            beliefs = all_rows(posterior)
            assert np.allclose(beliefs.sum(axis=1), 1)
            for records in components(problem):
                own = sub_arrays(arrays, records)
                expected = joint_oracle.joint_beliefs(own)
                if expected is None:
                    contradicted += 1
                    expected = joint_oracle.joint_beliefs(with_doubt(own))
                    assert (posterior.status[arrays["group"][records]] == Status.CONTRADICTED).all()
                assert np.abs(beliefs[records] - expected).max() < 1e-9
        assert contradicted > 20

    def test_names_only_the_groups_of_the_component(self):
        arrays = {
            "prior": np.array([[1.0, 0], [0.5, 0.5], [0.3, 0.7], [0.5, 0.5]]),
            "tables": (),
            "path": np.arange(4),
            "group": np.array([0, 0, 1, 1]),
            "chain": np.zeros(4, dtype=int),
            "counts": np.array([[0, 2], [1, 1]]),
            "release": np.array([0, 0]),
        }
        posterior = Enumeration()(JointProblem(**arrays))
        assert posterior.status.tolist() == [Status.CONTRADICTED, Status.FINE]
        assert np.allclose(all_rows(posterior)[:2], [[0, 1], [0, 1]])

    def test_small_numbers_do_not_vanish(self):
        """A chain whose paths have probabilities far below the smallest float."""
        arrays = closed_cohort(2, 40)
        arrays["tables"] = (np.array([[[1 - 1e-200, 1e-200], [1e-200, 1 - 1e-200]]]),)
        arrays["prior"] = np.array([[0.7, 0.3], [0.4, 0.6]])
        arrays["evidence"], arrays["evidence_row"] = np.array([[1e-300, 3e-300]]), np.zeros(80, dtype=int)
        beliefs = all_rows(Enumeration()(JointProblem(**arrays)))
        assert np.allclose(beliefs[::2], [0.42 / 0.54, 0.12 / 0.54])


def sub_arrays(arrays, records):
    """Arguments of the problem of some records, written by loops."""
    paths, groups = sorted(set(arrays["path"][records])), sorted(set(arrays["group"][records]))
    return arrays | {
        "prior": arrays["prior"][paths],
        "path": np.array([paths.index(p) for p in arrays["path"][records]]),
        "group": np.array([groups.index(g) for g in arrays["group"][records]]),
        "chain": arrays["chain"][records],
        "counts": arrays["counts"][groups],
        "release": arrays["release"][groups],
        "evidence_row": arrays["evidence_row"][records],
        "emission_row": arrays["emission_row"][groups],
        "respondents": sum(p < arrays["respondents"] for p in paths),
    }


class TestComponents:
    def test_equal_a_search_over_shared_groups(self):
        rng = np.random.default_rng(8)
        for _ in range(100):
            arrays = joint_oracle.random_arrays(rng)
            parts = components(JointProblem(**arrays))
            found = [set(records.tolist()) for records in parts]
            expected = [{r} for r in range(len(arrays["path"]))]
            for r in range(len(arrays["path"])):
                for s in range(r):
                    group = arrays["group"][r]
                    together = arrays["group"][s] == group and arrays["counts"][group].any()
                    if together or arrays["path"][r] == arrays["path"][s]:
                        joined = next(c for c in expected if r in c) | next(c for c in expected if s in c)
                        expected = [c for c in expected if not c & joined] + [joined]
            assert sorted(map(min, found)) == [min(c) for c in found]
            assert sorted(found, key=min) == sorted(expected, key=min)

    def test_sub_problem_has_the_same_law(self):
        rng = np.random.default_rng(9)
        for _ in range(100):
            arrays = joint_oracle.random_arrays(rng, emission=True)
            problem = JointProblem(**arrays)
            parts = components(problem)
            kept = np.sort(np.concatenate(parts[::2]))
            sub, expected = sub_problem(problem, kept), sub_arrays(arrays, kept)
            for name in ("prior", "path", "group", "chain", "counts", "release", "evidence_row", "emission_row"):
                assert np.allclose(getattr(sub, name), expected[name], rtol=1e-15), name
            assert sub.respondents == expected["respondents"]
            assert np.abs(all_rows(Enumeration()(sub)) - all_rows(Enumeration()(problem))[kept]).max() < 1e-12

    def test_part_of_a_group_is_refused(self):
        with pytest.raises(ValueError, match="group 0 has 2 records"):
            sub_problem(JointProblem(**closed_cohort(3, 1)), np.array([0, 1]))

    def test_no_records(self):
        empty = JointProblem(
            np.zeros((0, 2)), (), *np.zeros((3, 0), dtype=int), np.zeros((0, 2), dtype=int), np.zeros(0, int)
        )
        for solver in (Enumeration(), JointAuto()):
            assert solver(empty).beliefs.shape == (0,)


class TestLimit:
    def test_names_the_component_and_the_way_out(self):
        message = (
            r"5 respondents \(paths 0, 1, 2, 3, 4\) who share 2 groups \(0, 1\).*MaxEntropy.*PathSampler.*JointAuto"
        )
        with pytest.raises(TooLarge, match=message):
            Enumeration(limit=100)(JointProblem(**closed_cohort(5, 2)))

    def test_long_lists_are_cut(self):
        with pytest.raises(TooLarge, match=r"paths 0, 1, 2, 3, 4, 5, \.\.\."):
            Enumeration(limit=100)(JointProblem(**closed_cohort(7, 2)))

    @pytest.mark.parametrize("solver", [Enumeration, JointAuto])
    @pytest.mark.parametrize("limit", [0, -1, 2.5, "x", None, 2**50])
    def test_is_a_number_of_transitions(self, solver, limit):
        with pytest.raises(ValueError, match=r"limit is .* from 1 to 1,099,511,627,776"):
            solver(limit=limit)


class TestJointAuto:
    def two_parts(self):
        """A cohort of 5 over 2 releases, and a couple at the first."""
        arrays = closed_cohort(5, 2)
        pair = np.vstack([arrays["prior"], np.full((1, 5), 0.2), np.eye(5)[[0]]])
        return arrays | {
            "prior": pair,
            "path": np.array([0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4]),
            "group": np.array([0] * 5 + [1] * 2 + [2] * 5),
            "chain": np.zeros(12, dtype=int),
            "counts": np.array([[1] * 5, [1, 1, 0, 0, 0], [1] * 5]),
            "release": np.array([0, 0, 1]),
        }

    def test_is_exact_where_components_fit(self):
        problem = JointProblem(**self.two_parts())
        posterior = JointAuto(limit=100)(problem)
        assert posterior.rule == "Enumeration: 2 records in 1 group; GroupGraph: 10 records in 2 groups"
        assert np.array_equal(all_rows(posterior)[5:7], np.eye(5)[[1, 0]])
        rest = np.array([0, 1, 2, 3, 4, 7, 8, 9, 10, 11])
        relaxed = GroupGraph()(sub_problem(problem, rest))
        assert np.array_equal(all_rows(posterior)[rest], all_rows(relaxed))
        assert posterior.gap[[0, 2]].tolist() == relaxed.gap.tolist()
        assert (posterior.gap[1], posterior.rounds) == (0, relaxed.rounds)

    def test_is_enumeration_of_small_histories(self):
        posterior = JointAuto()(problem := JointProblem(**self.two_parts()))
        assert posterior.rule == "Enumeration: 12 records in 3 groups"
        assert np.array_equal(posterior.beliefs, Enumeration()(problem).beliefs)

    def test_is_the_other_solver_of_large_ones(self):
        posterior = JointAuto(limit=1)(problem := JointProblem(**self.two_parts()))
        assert posterior.rule == "GroupGraph: 12 records in 3 groups"
        assert np.array_equal(posterior.beliefs, GroupGraph()(problem).beliefs)

    def test_keeps_the_diagnostics_of_a_sampler(self):
        class Sampler:
            exact = False

            def __call__(self, problem):
                posterior = MaxEntropy()(problem)
                numbers = np.arange(1.0, len(posterior.beliefs) + 1)
                return type(posterior)(
                    problem, posterior.beliefs, posterior.status, posterior.gap, 1, numbers, 2 * numbers, 3 * numbers
                )

            forward = __call__

        posterior = JointAuto(limit=100, otherwise=Sampler())(JointProblem(**self.two_parts()))
        couple = slice(25, 29)  # after five records of five values
        assert posterior.standard_error[couple].tolist() == [0.0] * 4
        assert posterior.ess[couple].tolist() == [np.inf] * 4
        assert posterior.rhat[couple].tolist() == [1.0] * 4
        assert np.delete(posterior.rhat, np.arange(25, 29)).tolist() == (3 * np.arange(1.0, 51)).tolist()
        assert posterior.rule.endswith("Sampler: 10 records in 2 groups")

    @pytest.mark.parametrize("other", [MaxEntropy, None, 3, len, lambda problem: problem])
    def test_otherwise_is_a_solver(self, other):
        with pytest.raises(TypeError, match=r"JointAuto: otherwise is .* joint solver"):
            JointAuto(otherwise=other)


def test_row_numbers_of_many_columns():
    """Columns whose numbers of values multiply to more than any integer."""
    rng = np.random.default_rng(0)
    columns = list(rng.integers(0, 2, size=(3, 200))) + list(rng.integers(0, 50, size=(20, 1)).repeat(200, axis=1))
    columns += [np.arange(200) % 7 * 10**6] * 4
    number, first = _row_numbers(columns, 200)
    rows = np.stack(columns, axis=1)
    distinct = np.unique(rows, axis=0)
    assert len(first) == len(distinct)
    assert np.array_equal(rows[first][number], rows)


def test_row_numbers_whose_key_has_more_than_64_bits():
    """The first column would be shifted out of an integer of 64 bits."""
    large = np.full(3, 2**32 - 1)
    assert _row_numbers([np.array([0, 1, 0]), large, large], 3)[0].tolist() == [0, 1, 0]
