"""The sampler where small factors are walls: histories with exact answers, starts of both kinds, and chains that differ."""

import numpy as np
import pytest

from foreknow.models import Enumeration, PathSampler, Status
from foreknow.models.joint import JointProblem, path_sampler
from foreknow.models.joint.path_sampler import BATCHES, belief_ratios, densities_differ, number_of_chains, path_start


def rotated(small):
    """One release of three records with the values a, b, c, whose priors are rotations of each other."""
    prior = np.array([[0.67, 0.33, small], [small, 0.67, 0.33], [0.33, small, 0.67]])
    prior, ones = prior / prior.sum(axis=1, keepdims=True), np.zeros(3, dtype=int)
    return JointProblem(prior, (), np.arange(3), ones, ones, np.ones((1, 3), dtype=int), ones[:1])


def sharp_rows(rng, number, values, hold):
    """Rows that hold their value with a given weight and have two random others; all else has the probability 10^-5."""
    rows = np.full((number, values), 1e-5)
    for i, row in enumerate(rows):
        row[i % values] += hold
        row[rng.choice(values, 2, replace=False)] += (1 - hold) * rng.dirichlet([1, 1])
    return rows / rows.sum(axis=1, keepdims=True)


def forty_people(seed):
    """Eight cohorts of five people over eight releases of five values; each cohort has its own sharp chain."""
    rng, parts, size, releases, values = np.random.default_rng([7, seed]), 8, 5, 8, 5
    tables = np.stack([sharp_rows(rng, values, values, 0.9) for _ in range(parts)])
    prior = np.concatenate([sharp_rows(rng, size, values, 0.0) for _ in range(parts)])
    chain = np.repeat(np.arange(parts), size)
    now = np.array([rng.choice(values, p=row) for row in prior])
    counts = np.zeros((releases, parts, values), dtype=int)
    for t in range(releases):
        now = np.array([rng.choice(values, p=tables[c, x]) for c, x in zip(chain, now, strict=True)]) if t else now
        np.add.at(counts[t], (chain, now), 1)
    group = np.concatenate([t * parts + chain for t in range(releases)])
    arrays = {"chain": np.tile(chain, releases), "counts": counts.reshape(-1, values)}
    path, when = np.tile(np.arange(parts * size), releases), np.repeat(np.arange(releases), parts)
    return JointProblem(prior, (tables,), path, group, release=when, **arrays)


def unflagged(posterior):
    """True for each belief whose group is not reported as unconverged."""
    flagged = (posterior.status & Status.UNCONVERGED) > 0
    return ~np.repeat(flagged[posterior.problem.group], np.diff(posterior.starts))


@pytest.mark.parametrize("small", [1e-4, 1e-3])
@pytest.mark.parametrize("start", ["mixed", "random"])
def test_rotations_are_drawn_where_factors_are_small(small, start):
    problem = rotated(small)
    exact = Enumeration()(problem)
    for seed in range(6):
        found = PathSampler(start=start, rng=seed)(problem)
        assert not found.status.any()
        # 6 runs of 9 beliefs, of which 3 are free; 5 standard errors.
        assert (np.abs(found.beliefs - exact.beliefs) < 5 * found.standard_error + 1e-4).all()


@pytest.mark.parametrize("seed", range(3))
def test_forty_people_are_right_or_flagged(seed):
    """Exact by enumeration of each cohort; with moves of two paths and random starts alone, 10 of 18 runs were wrong in silence."""
    problem = forty_people(seed)
    exact, found = Enumeration()(problem), PathSampler(rng=seed)(problem)
    quiet, difference = unflagged(found), np.abs(found.beliefs - exact.beliefs)
    assert quiet.mean() > 0.85
    # Beliefs that are drawn a few times have an error of about their own size; 1,600 beliefs of a history are compared.
    assert (difference <= 5 * found.standard_error + 5e-3)[quiet].all()


def test_stuck_chains_are_flagged_by_their_densities():
    """One component mixes, one has a chain apart from the others, one has constant chains."""
    means = np.random.default_rng(1).normal(size=(8, BATCHES, 3))
    means[1, :, 1] += 3.0
    means[:, :, 2] = -7.0
    assert densities_differ(means).tolist() == [False, True, False]
    means[3, :, 2] = -9.0
    assert densities_differ(means).tolist() == [False, True, True]
    assert not densities_differ(means[:1]).any()


def test_false_alarms_are_rare():
    means = np.random.default_rng(2).normal(size=(8, BATCHES, 20_000))
    # 2 expected of 20,000; the tail of the F distribution has about 3 times as many.
    assert densities_differ(means).sum() < 25


@pytest.mark.parametrize("seed", range(3))
def test_starts_from_beliefs_show_the_multisets_and_are_likely(seed):
    problem, rng = forty_people(seed), np.random.default_rng(seed)
    ahead = belief_ratios(problem.layout, Enumeration()(problem).beliefs)
    start = path_start(problem, ahead, rng)
    counts = np.zeros_like(problem.counts)
    np.add.at(counts, (problem.group, start.own), 1)
    assert (counts == problem.counts).all()
    sampler = PathSampler(sweeps=1, anneal=0, warmup=0, chains=2, redraws=0, rng=seed)
    densities = sampler(problem).log_density.mean(axis=1)
    assert densities[1] > densities[0]


def test_chains_are_more_where_they_are_cheap():
    problem = rotated(1e-3)
    assert number_of_chains(PathSampler(rng=1), problem) == 8
    assert number_of_chains(PathSampler(chains=3, rng=1), problem) == 3
    assert PathSampler(20, rng=1)(problem).log_density.shape == (8, 20)
    assert PathSampler(20, rng=1).draws(problem, 9).shape == (9, 3)


def test_one_chain_starts_at_random_and_solves_nothing_first(monkeypatch):
    def refuse(problem):
        raise AssertionError("No chain starts from beliefs.")

    monkeypatch.setattr(path_sampler, "START_SOLVER", refuse)
    mixed, independent = (
        PathSampler(sweeps=20, chains=1, start=start, rng=1)(rotated(0.1)) for start in ("mixed", "random")
    )
    assert (mixed.beliefs == independent.beliefs).all()
    with pytest.raises(AssertionError, match="No chain"):
        PathSampler(sweeps=20, chains=2, rng=1)(rotated(0.1))
