"""Propagation on the graph of groups: against enumeration, and what its status says."""

import errno
import os

import joint_oracle
import numpy as np
import oracle
import pytest

from foreknow.models import Enumeration, GroupGraph, GroupMessages, MaxEntropy, PathSampler, Status
from foreknow.models.joint import JointProblem, group_graph
from foreknow.models.joint.group_graph import GraphLaw
from foreknow.models.joint.problem import forward_by_prefixes
from foreknow.models.problem import DOUBT

FINEST = GroupGraph(tolerance=1e-9, sweeps=200)


def total_variation(posterior, exact):
    starts = exact.starts
    return np.add.reduceat(np.abs(posterior.beliefs - exact.beliefs), starts[:-1]) / 2


def record_status(posterior):
    return posterior.status[posterior.problem.group]


class TestAgainstEnumeration:
    @pytest.mark.parametrize("forward", [False, True])
    @pytest.mark.parametrize("seed", range(3))
    def test_beliefs_are_exact_where_the_status_says_so(self, forward, seed):
        """Gaps, arrivals, claims, suppressed records, chains of several kinds, and zeros of the knowledge."""
        rng, exact = np.random.default_rng([33, seed]), 0
        for _ in range(40):
            arrays = joint_oracle.random_arrays(rng)
            if len(arrays["tables"]) > 1 or not len(arrays["path"]):
                continue
            problem = JointProblem(**arrays)
            found, truth = (
                (solver.forward if forward else solver)(problem)
                for solver in (GroupGraph(sweeps=1), Enumeration(2**21))
            )
            fine = record_status(found) == 0
            exact += fine.sum()
            assert total_variation(found, truth)[fine].max(initial=0) < 1e-10
        assert exact > 50

    @pytest.mark.parametrize("people", [4, 6])
    @pytest.mark.parametrize("zeros", [0.0, 0.4])
    def test_closed_cohorts_are_exact_and_say_so(self, people, zeros):
        rng = np.random.default_rng([34, people])
        for _ in range(5):
            problem = JointProblem(**joint_oracle.cohorts(rng, people, 5, 4, "closed", zeros))
            found = GroupGraph()(problem)
            assert (found.status == 0).all()
            assert found.rounds <= 2
            assert total_variation(found, Enumeration()(problem)).max() < 1e-12

    @pytest.mark.parametrize(("people", "values"), [(7, 4), (7, 5), (8, 4)])
    @pytest.mark.parametrize("zeros", [0.0, 0.4])
    def test_closed_cohorts_beyond_enumeration_are_exact(self, people, values, zeros):
        """Two cohorts of 7 or 8 people, against a forward-backward pass over their arrangements."""
        arrays = joint_oracle.cohorts(np.random.default_rng([35, people]), 2 * people, 6, values, "closed", zeros)
        found = GroupGraph()(JointProblem(**arrays))
        assert (found.status == 0).all()
        for side in range(2):
            rows = found.rows(np.flatnonzero(arrays["group"] % 2 == side)).reshape(6, people, values)
            prior = np.split(arrays["prior"], 2)[side]
            exact = oracle.cohort_posterior(prior, arrays["tables"][0][0], arrays["counts"][side::2])
            np.testing.assert_allclose(rows, exact, atol=1e-10)

    @pytest.mark.parametrize(("kind", "most"), [("exchanged", 0.012), ("drawn", 0.015)])
    def test_cycles_cost_little_and_are_named(self, kind, most):
        rng, off, before = np.random.default_rng(35), [], []
        for _ in range(20):
            problem = JointProblem(**joint_oracle.cohorts(rng, 6, 4, 4, kind))
            truth, found = Enumeration(2**22)(problem), FINEST(problem)
            off.append(total_variation(found, truth))
            before.append(total_variation(GroupMessages()(problem), truth))
            wrong = np.concatenate(off[-1:]) > 1e-9
            assert (record_status(found)[wrong] & (Status.CYCLES | Status.UNCONVERGED)).all()
        assert np.concatenate(off).mean() < most
        assert np.concatenate(off).mean() < np.concatenate(before).mean() / 3

    def test_more_values_than_8_bits_number(self):
        """Suppressed records, whose values are all 200 of the domain, before groups of two."""
        rng, m = np.random.default_rng(42), 200
        prior, chain = rng.dirichlet(np.full(m, 0.3), 4), rng.dirichlet(np.full(m, 0.05), m)
        values = np.array([rng.choice(m, p=row) for row in prior])
        after = np.array([rng.choice(m, p=chain[value]) for value in values])
        counts = np.zeros((3, m), dtype=int)
        np.add.at(counts, ([1, 1, 2, 2], after), 1)
        group = [0, 0, 0, 0, 1, 1, 2, 2]
        problem = JointProblem(prior, (chain[None],), [*range(4), *range(4)], group, np.zeros(8), counts, [0, 1, 1])
        found, exact = GroupGraph()(problem), Enumeration()(problem)
        assert (found.status == 0).all()
        assert total_variation(found, exact).max() < 1e-10

    def test_distorted_values_are_tilted(self):
        arrays = joint_oracle.random_arrays(np.random.default_rng([33, 7]), emission=True)
        problem = JointProblem(**arrays)
        found = GroupGraph()(problem)
        assert (found.status[problem.emission_row >= 0] & Status.TILTED).all()


@pytest.mark.parametrize(("spread", "most", "least"), [(1.0, 0.01, 0.93), (0.4, 0.025, 0.8)])
def test_beliefs_beyond_enumeration_are_near_those_of_the_sampler(spread, most, least):
    """40 people in groups of 3 and 4, each of which exchanges a member before each of 6 releases; 16,000 draws.

    The standard errors alone make a total variation of .006. Of exact beliefs .997 would be within three of them. Under the sharp
    chain cycles of groups make .02, a third of the error of `GroupMessages`. Groups that no cycle reaches are within them.
    """
    arrays = joint_oracle.cohorts(np.random.default_rng(42), 40, 6, 4, "exchanged", spread=spread, groups=12)
    problem = JointProblem(**arrays)
    found, before = GroupGraph()(problem), GroupMessages()(problem)
    drawn = PathSampler(sweeps=2000, chains=8, rng=1)(problem)
    assert drawn.rhat.max() < 1.05
    off = total_variation(found, drawn).mean()
    assert off < min(most, total_variation(before, drawn).mean() / 3)
    within = np.abs(found.beliefs - drawn.beliefs) <= 3 * drawn.standard_error + 1e-9
    assert within.mean() > least
    assert within[np.repeat(record_status(found) == 0, np.diff(found.starts))].mean() > 0.99


class TestLargeGroups:
    def test_groups_over_the_limit_are_tilted_and_keep_their_counts(self):
        rng = np.random.default_rng(36)
        problem = JointProblem(**joint_oracle.cohorts(rng, 12, 4, 5, "exchanged"))
        found = GroupGraph(limit=30, tolerance=1e-6, sweeps=200)(problem)
        assert (found.status & Status.TILTED).any()
        rows = found.rows(np.arange(len(problem.path)))
        for g in range(len(problem.counts)):
            np.testing.assert_allclose(rows[problem.group == g].sum(axis=0), problem.counts[g], atol=0.2)

    def test_a_higher_limit_is_nearer_to_the_truth(self):
        rng, off = np.random.default_rng(37), {1: [], 30: [], 2000: []}
        for _ in range(10):
            problem = JointProblem(**joint_oracle.cohorts(rng, 8, 3, 3, "closed"))
            truth = Enumeration(2**22)(problem)
            for limit, each in off.items():
                each.append(total_variation(GroupGraph(limit)(problem), truth).mean())
        assert np.mean(off[2000]) < 1e-12
        assert np.mean(off[1]) > np.mean(off[2000])

    def test_the_limit_is_lowered_where_memory_would_not_do(self, monkeypatch):
        problem = JointProblem(**joint_oracle.cohorts(np.random.default_rng(40), 8, 4, 4, "closed"))
        whole = GroupGraph()(problem)
        monkeypatch.setattr(group_graph, "MOST_ARRANGEMENTS", 20)
        found = GroupGraph()(problem)
        assert whole.approximation == GroupGraph()
        assert found.approximation.limit < 24 < whole.approximation.limit
        assert (found.status & Status.TILTED).any()

    def test_counts_by_a_normal_law_are_near_the_exact_ones(self):
        """Groups of independent respondents, in which `MaxEntropy` keeps counts in expectation."""
        rng, off = np.random.default_rng(38), []
        for _ in range(20):
            people, values = 14, int(rng.integers(2, 5))
            prior = rng.dirichlet(np.full(values, 0.7), people)
            drawn = [rng.choice(values, p=row) for row in prior]
            flat = {
                "path": np.arange(people),
                "group": np.zeros(people, dtype=int),
                "chain": np.zeros(people, dtype=int),
            }
            problem = JointProblem(prior, (), counts=[np.bincount(drawn, minlength=values)], release=[0], **flat)
            truth, found = Enumeration()(problem), GroupGraph(limit=1)(problem)
            assert (found.status & Status.TILTED).all()
            off.append([total_variation(one, truth).mean() for one in (found, MaxEntropy()(problem))])
        near, relaxed = np.mean(off, axis=0)
        assert near < 0.01
        assert near < relaxed / 3

    def test_groups_whose_counts_have_no_number_of_32_bits(self):
        rng = np.random.default_rng(39)
        people, values = 60, 40
        prior = rng.dirichlet(np.full(values, 0.2), people)
        drawn = [rng.choice(values, p=row) for row in prior]
        flat = {"path": np.arange(people), "group": np.zeros(people, dtype=int), "chain": np.zeros(people, dtype=int)}
        problem = JointProblem(prior, (), counts=[np.bincount(drawn, minlength=values)], release=[0], **flat)
        found = GroupGraph()(problem).rows(np.arange(people))
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        np.testing.assert_allclose(found.sum(axis=0), problem.counts[0], atol=0.5)


def test_more_sweeps_repeat_the_evidence_of_a_ring():
    """Pairs of four people who hardly change: the ring tells nothing of one of them, whose exact belief is the prior."""
    stays = np.array([[[0.9, 0.1], [0.1, 0.9]]])
    problem = JointProblem(
        [[0.6, 0.4], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], (stays,), path=[0, 1, 2, 3, 1, 2, 0, 3],
        group=[0, 0, 1, 1, 2, 2, 3, 3], chain=[0] * 8, counts=[[1, 1]] * 4, release=[0, 0, 1, 1],
    )  # fmt: skip
    exact, *by_sweeps = (solver(problem).beliefs[0] for solver in (Enumeration(), GroupGraph(), GroupGraph(sweeps=10)))
    assert exact == pytest.approx(0.6)
    assert 0.6 < by_sweeps[0] < by_sweeps[1]
    assert (GroupGraph()(problem).status == Status.CYCLES).all()


class TestScratch:
    @pytest.mark.parametrize("threads", [1, 3])
    def test_prefixes_are_solved_in_order_of_time_unless_by_threads(self, threads):
        """A solver with a random state would draw others in another order; the parts are joined in order of time in any case."""
        problem = JointProblem(**joint_oracle.cohorts(np.random.default_rng(5), 4, 4, 2, "drawn"))
        solved = []

        def solver(part):
            solved.append(part.releases)
            return Enumeration()(part)

        found = forward_by_prefixes(solver, problem, threads=threads)
        np.testing.assert_array_equal(found.beliefs, Enumeration().forward(problem).beliefs)
        assert sorted(solved) == [*range(1, problem.releases + 1)]
        assert threads > 1 or solved == sorted(solved)

    @pytest.mark.parametrize("limit", [30, 10_000])
    @pytest.mark.parametrize("forward", [False, True])
    def test_beliefs_do_not_depend_on_files_and_threads(self, tmp_path, monkeypatch, limit, forward):
        monkeypatch.setattr(group_graph, "MANY_RECORDS", 1)
        rng = np.random.default_rng(40)
        for kind in ("closed", "exchanged", "drawn"):
            problem = JointProblem(**joint_oracle.cohorts(rng, 12, 4, 5, kind))
            solvers = [GroupGraph(limit), *(GroupGraph(limit, scratch=tmp_path, workers=n) for n in (1, 2))]
            solvers += [GroupGraph(limit, workers=n) for n in (1, 3)]
            found = [(solver.forward if forward else solver)(problem) for solver in solvers]
            monkeypatch.setattr(group_graph, "MOST_TOGETHER", 1)
            found += [(solver.forward if forward else solver)(problem) for solver in solvers[-2:]]
            monkeypatch.undo()
            monkeypatch.setattr(group_graph, "MANY_RECORDS", 1)
            for other in found[1:]:
                np.testing.assert_array_equal(other.beliefs, found[0].beliefs)
                np.testing.assert_array_equal(other.status, found[0].status)
        assert not list(tmp_path.iterdir())

    def test_a_history_without_edges(self, tmp_path):
        problem = JointProblem([[0.5, 0.5]], (), [0], [0], [0], [[1, 0]], [0])
        assert GroupGraph(scratch=tmp_path)(problem).beliefs.tolist() == [1.0]

    def test_a_full_disk_is_an_error_before_anything_is_written(self, tmp_path, monkeypatch):
        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "posix_fallocate", full)
        problem = JointProblem([[0.5, 0.5]] * 2, (), [0, 1], [0, 0], [0, 0], [[1, 1]], [0])
        with pytest.raises(OSError, match="No space left"):
            GroupGraph(scratch=tmp_path)(problem)

    def test_wrong_settings(self, tmp_path):
        with pytest.raises(ValueError, match="which is no folder; make it first"):
            GroupGraph(scratch=tmp_path / "nowhere")
        with pytest.raises(ValueError, match="workers is 0; it is a number of threads"):
            GroupGraph(workers=0)


class TestContradictions:
    def test_a_group_that_knowledge_rules_out_is_named_and_others_stay_exact(self):
        """Group 0 shows a value that neither member can have; groups 1 and 2 are of other respondents."""
        prior = np.array([[1.0, 0.0], [1.0, 0.0], [0.7, 0.3], [0.4, 0.6]])
        groups = {"path": [0, 1, 2, 3], "group": [0, 0, 1, 1], "chain": [0] * 4, "release": [0, 0]}
        problem = JointProblem(prior, (), counts=[[1, 1], [1, 1]], **groups)
        found = GroupGraph()(problem)
        assert found.status.tolist() == [Status.CONTRADICTED, 0]
        rows = found.rows(np.arange(4))
        np.testing.assert_allclose(rows[:2], 0.5)
        one, other = 0.7 * 0.6, 0.3 * 0.4
        np.testing.assert_allclose(rows[2], [one / (one + other), other / (one + other)])

    def test_an_impossible_step_between_two_groups_is_found_by_messages(self):
        """Each group alone is possible; two people cannot exchange their values."""
        prior = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])
        stays = np.eye(3)
        groups = {"path": [0, 1, 0, 1], "group": [0, 0, 1, 1], "chain": [0] * 4, "release": [0, 1]}
        problem = JointProblem(prior, (stays[None],), counts=[[1, 1, 0], [2, 0, 0]], **groups)
        found = GroupGraph()(problem)
        assert (found.status & Status.CONTRADICTED).any()
        truth = Enumeration()(problem)
        assert total_variation(found, truth).max() < 100 * DOUBT**0.5


def test_chains_of_order_2_are_solved_by_group_messages():
    rng = np.random.default_rng(38)
    arrays = next(each for each in iter(lambda: joint_oracle.random_arrays(rng), None) if len(each["tables"]) == 2)
    problem = JointProblem(**arrays)
    found = GroupGraph()(problem)
    np.testing.assert_array_equal(found.beliefs, GroupMessages()(problem).beliefs)
    assert (found.status & Status.TILTED).all()


def test_equal_respondents_have_equal_beliefs():
    arrays = joint_oracle.cohorts(np.random.default_rng(39), 6, 3, 3, "closed")
    arrays["prior"] = np.tile(arrays["prior"][:1], (6, 1))
    rows = GroupGraph()(JointProblem(**arrays)).rows(np.arange(18))
    for g in range(6):
        np.testing.assert_allclose(
            rows[arrays["group"] == g], rows[arrays["group"] == g].mean(axis=0)[None].repeat(3, 0)
        )


class TestGraphLaw:
    def test_expected_transitions_are_those_of_enumeration_without_cycles(self):
        """Gaps, arrivals, claims and groups without counts; one call forward and one backward in time suffice without cycles."""
        rng, tried = np.random.default_rng(36), 0
        while tried < 12:
            arrays = joint_oracle.random_arrays(rng)
            if len(arrays["tables"]) != 1 or joint_oracle.number_of_assignments(arrays) > 20_000:
                continue
            values, weight = joint_oracle.joint_law(arrays)
            problem = JointProblem(**arrays)
            if not weight.sum() > 0 or GroupGraph()(problem).status.any():
                continue
            tried, wanted, shape = tried + 1, np.zeros(problem.layout.table.shape), (problem.values, problem.values)
            for r in np.flatnonzero(problem.layout.previous >= 0):
                pairs = np.zeros(shape)
                np.add.at(pairs, (values[:, problem.layout.previous[r]], values[:, r]), weight / weight.sum())
                wanted[problem.chain[r] * problem.values + np.arange(problem.values)] += pairs
            law = GraphLaw(problem, MaxEntropy().fit(problem), 2000, damping=0.0)
            for _ in range(3):
                found = law(problem.layout)
            np.testing.assert_allclose(found.steps, wanted, atol=1e-9)
