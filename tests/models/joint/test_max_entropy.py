"""MaxEntropy against a general convex solver, against Sinkhorn, and its properties."""

import itertools
from dataclasses import replace

import joint_oracle
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from foreknow.models import MaxEntropy, Problem, Sinkhorn, Status
from foreknow.models.joint import JointProblem
from foreknow.models.joint.max_entropy import contradicted_groups, with_doubt
from foreknow.models.problem import DOUBT

PRECISE = MaxEntropy(tolerance=1e-9, rounds=20_000)


def positive_arrays(rng, **options):
    """A random history without zeros in its knowledge, for which the dual has a solution."""
    while True:
        arrays = joint_oracle.random_arrays(rng, **options)
        knowledge = (arrays["prior"], *arrays["tables"], arrays["evidence"], arrays["emission"])
        if all((rows > 0).all() for rows in knowledge):
            return arrays


def sequences(arrays):
    """For each path its records, all sequences of possible values, and the logarithm of their weights."""
    release, emission_row = arrays["release"], arrays["emission_row"]
    for i in np.unique(arrays["path"]):
        records = sorted(np.flatnonzero(arrays["path"] == i), key=lambda r: release[arrays["group"][r]])
        groups = arrays["group"][records]
        m = arrays["counts"].shape[1]
        every = [
            np.arange(m)
            if emission_row[g] >= 0 or not arrays["counts"][g].any()
            else np.flatnonzero(arrays["counts"][g])
            for g in groups
        ]
        values = np.array(list(itertools.product(*every)))
        weight = np.ones(len(values))
        for j, r in enumerate(records):
            known = min(j, len(arrays["tables"]))
            last = tuple(values[:, j - known : j].T)
            rows = arrays["tables"][known - 1][(arrays["chain"][r], *last)] if known else arrays["prior"][i][None]
            weight *= np.broadcast_to(rows, (len(values), m))[np.arange(len(values)), values[:, j]]
            if arrays["evidence_row"][r] >= 0:
                weight *= arrays["evidence"][arrays["evidence_row"][r]][values[:, j]]
        yield records, values, np.log(weight)


def dual_beliefs(arrays):
    """Beliefs of the law of least relative entropy, by L-BFGS on the dual over the logarithms of all tilts."""
    counts, paths = arrays["counts"], list(sequences(arrays))
    shown = np.argwhere(counts > 0)

    def weights(log_tilt):
        """For each group and own value, the weight of each published value: shape ``(G, m, m)``."""
        tilt = np.zeros(counts.shape)
        tilt[tuple(shown.T)] = np.exp(log_tilt)
        tilt[~counts.any(axis=1)] = 1.0
        distorted = arrays["emission_row"] >= 0
        channel = np.where(distorted[:, None, None], arrays["emission"], np.eye(counts.shape[1]))
        return channel * tilt[:, None, :]

    def law(weight, records, values, log_weight):
        """Logarithm of the total weight of a path, and the probability of each of its sequences."""
        total = log_weight.copy()
        for column, r in zip(values.T, records, strict=True):
            total += np.log(weight[arrays["group"][r]].sum(axis=1)[column])
        return logsumexp(total), np.exp(total - logsumexp(total))

    def negative_dual(log_tilt):
        weight, expected = weights(log_tilt), np.zeros(counts.shape)
        value = counts[tuple(shown.T)] @ log_tilt
        for records, values, log_weight in paths:
            log_total, p = law(weight, records, values, log_weight)
            value -= log_total
            for column, r in zip(values.T, records, strict=True):
                g = arrays["group"][r]
                if counts[g].any():
                    expected[g] += p @ (weight[g] / weight[g].sum(axis=1, keepdims=True).clip(1e-300))[column]
        return -value, (expected - counts)[tuple(shown.T)]

    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5_000}
    solution = minimize(negative_dual, np.zeros(len(shown)), jac=True, method="L-BFGS-B", options=options).x
    beliefs, weight = np.zeros((len(arrays["path"]), counts.shape[1])), weights(solution)
    for records, values, log_weight in paths:
        _, p = law(weight, records, values, log_weight)
        for column, r in zip(values.T, records, strict=True):
            np.add.at(beliefs[r], column, p)
    return beliefs


def all_rows(posterior):
    return posterior.rows(np.arange(len(posterior.problem.path)))


class TestConvexSolver:
    @pytest.mark.parametrize("seed", range(10))
    def test_agrees_with_the_dual(self, seed):
        rng = np.random.default_rng([17, seed])
        for _ in range(6):
            arrays = positive_arrays(rng)
            posterior = PRECISE(JointProblem(**arrays))
            assert not posterior.status.any()
            assert np.allclose(all_rows(posterior), dual_beliefs(arrays), atol=1e-5)

    @pytest.mark.slow
    def test_distorted_values_agree_with_the_dual(self):
        rng, distorted = np.random.default_rng(22), 0
        for _ in range(12):
            arrays = positive_arrays(rng, emission=True)
            posterior = PRECISE(JointProblem(**arrays))
            distorted += (arrays["emission_row"] >= 0).sum()
            assert not posterior.status.any()
            assert np.allclose(all_rows(posterior), dual_beliefs(arrays), atol=1e-5)
        assert distorted > 6

    @pytest.mark.parametrize("emission", [False, True])
    def test_messages_are_normalized(self, emission):
        problem = JointProblem(**positive_arrays(np.random.default_rng(23), emission=emission))
        messages = MaxEntropy().fit(problem).messages
        starts = problem.layout.state_starts[:-1]
        assert np.add.reduceat(messages.forward, starts) == pytest.approx(1)
        assert np.maximum.reduceat(messages.backward, starts) == pytest.approx(1)


class TestCounts:
    @pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
    def test_expected_counts_are_published_ones_to_the_tolerance(self, tolerance):
        rng = np.random.default_rng(18)
        for _ in range(30):
            arrays = positive_arrays(rng)
            posterior = MaxEntropy(tolerance, rounds=20_000)(JointProblem(**arrays))
            found = all_rows(posterior)
            for g, counts in enumerate(arrays["counts"]):
                shown = counts > 0
                if shown.any():
                    expected = found[arrays["group"] == g].sum(axis=0)
                    # Half the sum of absolute deviations is the total variation, as a share of the records.
                    deviation = np.abs(expected - counts).sum() / (2 * counts.sum())
                    assert deviation <= tolerance + 1e-12
            assert not posterior.status.any()
            assert posterior.gap.max() <= tolerance

    def test_too_few_rounds_are_reported(self):
        arrays = positive_arrays(np.random.default_rng(19))
        posterior = MaxEntropy(1e-12, rounds=1)(JointProblem(**arrays))
        assert (posterior.status == Status.UNCONVERGED).any()
        assert (posterior.gap[posterior.status > 0] > 1e-12).all()

    @pytest.mark.parametrize("solve", [MaxEntropy(), MaxEntropy().forward])
    def test_groups_without_common_respondents_are_visited_once(self, solve):
        """Three groups of one release each: the tilts of a group are final after one visit."""
        problem = JointProblem(
            *(np.random.default_rng(21).dirichlet(np.ones(2), 6), (), np.arange(6), np.arange(6) // 2),
            *(np.zeros(6, int), np.ones((3, 2), int), np.arange(3)),
        )
        assert solve(problem).rounds == 1

    def test_beliefs_are_called_approximate(self):
        assert not MaxEntropy.exact


class TestContradiction:
    def test_groups_of_impossible_steps_and_of_impossible_first_values(self):
        """Of paths 0, 1, 2, 3: no doubt; an impossible step; an impossible first value; a step less improbable than the bound."""
        prior = np.array([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
        problem = JointProblem(
            *(prior, (np.full((1, 2, 2), 0.5),), np.tile(np.arange(4), 2), np.arange(8), np.zeros(8, int)),
            *(np.tile([1, 0], (8, 1)), np.repeat([0, 1], 4)),
        )
        problem = replace(problem, counts=np.where(np.arange(8)[:, None] == 2, [0, 1], problem.counts))
        ruled_out = np.array([0.9, 0.9, 0.0, 0.0, 0.0, 0.02, 0.0, 0.005])
        found = contradicted_groups(problem, problem, ruled_out, np.ones(8))
        assert np.flatnonzero(found).tolist() == [2, 5]
        assert set(found[[2, 5]]) == {Status.CONTRADICTED}


class TestOneRelease:
    @pytest.mark.parametrize("seed", range(10))
    def test_is_sinkhorn(self, seed):
        rng = np.random.default_rng(seed)
        k, m = rng.integers(2, 9, size=3), 4
        group = np.repeat(np.arange(3), k)
        prior = rng.dirichlet(np.ones(m), size=len(group))
        counts = np.array([np.bincount(rng.integers(m, size=size), minlength=m) for size in k])
        nothing = np.zeros(len(group), dtype=int)
        joint = JointProblem(prior, (), np.arange(len(group)), group, nothing, counts, np.zeros(3, dtype=int))
        expected = Sinkhorn(tolerance=1e-12, iterations=10**5)(Problem(prior, group, counts)).probabilities
        assert np.allclose(all_rows(PRECISE(joint)), expected, atol=1e-7)


class TestEqualPeople:
    def test_have_equal_beliefs(self):
        """Two respondents of equal priors who meet at some releases and are apart in equal groups at others."""
        rng = np.random.default_rng(20)
        m, prior = 3, rng.dirichlet(np.ones(3), size=4)
        prior[1] = prior[0]
        counts = np.array([[1, 2, 1], [1, 1, 0], [1, 1, 0], [0, 2, 2]])
        prior[3] = prior[2]
        arrays = {
            "prior": prior,
            "tables": (rng.dirichlet(np.ones(m), size=(1, m)),),
            "path": np.array([0, 1, 2, 3, 0, 2, 1, 3, 0, 1, 2, 3]),
            "group": np.array([0] * 4 + [1, 1, 2, 2] + [3] * 4),
            "chain": np.zeros(12, dtype=int),
            "counts": counts,
            "release": np.array([0, 1, 1, 2]),
        }
        found = all_rows(PRECISE(JointProblem(**arrays)))
        assert np.allclose(found[[0, 2, 4, 5, 8, 10]], found[[1, 3, 6, 7, 9, 11]], atol=1e-8)

    @pytest.mark.parametrize("settings", [{"tolerance": 0}, {"tolerance": -1}, {"rounds": 0}, {"rounds": 1.5}])
    def test_settings_are_checked(self, settings):
        with pytest.raises(ValueError, match="MaxEntropy"):
            MaxEntropy(**settings)


@pytest.mark.parametrize("zero", ["none", "prior", "table"])
def test_doubt_is_mixed_in_where_a_prior_or_a_step_is_zero(zero):
    prior = np.array([[1.0, 0.0] if zero == "prior" else [0.3, 0.7]])
    table = np.array([[[1.0, 0.0] if zero == "table" else [0.3, 0.7], [0.5, 0.5]]])
    path, numbers = np.zeros(2, dtype=int), np.arange(2)
    problem = JointProblem(prior, (table,), path, numbers, path, np.zeros((2, 2), dtype=int), numbers)
    found, impossible = with_doubt(problem)
    assert impossible.sum() == (zero == "table")
    if zero == "none":
        assert found is problem
    else:
        np.testing.assert_allclose(found.prior, (1 - DOUBT) * prior + DOUBT / 2)
        np.testing.assert_allclose(found.tables[0], (1 - DOUBT) * table + DOUBT / 2)
