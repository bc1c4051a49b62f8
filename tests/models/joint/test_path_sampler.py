"""The sampler of joint assignments against enumeration by definition, simulation-based calibration, and bad input."""

import itertools

import numpy as np
import pytest

from foreknow.models.joint.joint_draws import moves
from foreknow.models.joint.path_sampler import PathSampler, sampled_posterior
from foreknow.models.joint.problem import JointProblem
from foreknow.models.problem import Status

M = 3


def weight(problem, values):
    """Weight of one joint assignment, by definition: one factor for each record, in the order of time."""
    seen, total = {}, 1.0
    for r in np.lexsort((np.arange(len(values)), problem.release[problem.group])):
        before = seen.setdefault(int(problem.path[r]), [])
        known = before[-problem.order :] if problem.order else []
        if known:
            total *= problem.tables[len(known) - 1][problem.chain[r]][tuple(known)][values[r]]
        else:
            total *= problem.prior[problem.path[r], values[r]]
        if problem.evidence_row[r] >= 0:
            total *= problem.evidence[problem.evidence_row[r], values[r]]
        before.append(values[r])
    return total


def assignments(problem):
    """All joint assignments, as tuples of the values of all records."""
    of_groups = []
    for g, counts in enumerate(problem.counts):
        size = int((problem.group == g).sum())
        multiset = np.repeat(np.arange(problem.values), counts)
        free = itertools.product(range(problem.values), repeat=size)
        of_groups.append(sorted(set(itertools.permutations(multiset.tolist())) if counts.any() else free))
    for parts in itertools.product(*of_groups):
        yield tuple(itertools.chain.from_iterable(parts))


def enumerated(problem):
    """Beliefs of all records by enumeration: float array, shape (R, m)."""
    belief = np.zeros((len(problem.path), problem.values))
    for values in assignments(problem):
        belief[np.arange(len(values)), values] += weight(problem, values)
    return belief / belief.sum(axis=1, keepdims=True)


def rows(rng, shape, stay, zeros):
    """Random distributions; ``stay`` is added where the last two axes agree, and a share of the others are zero."""
    table = rng.dirichlet(np.ones(M), size=shape)
    table[rng.random(table.shape) < zeros] = 0.0
    if len(shape) > 1:
        table += stay * np.eye(M)
    table += 1e-3 if zeros == 0 else 0.0
    table[table.sum(axis=-1) == 0] = 1.0
    return table / table.sum(axis=-1, keepdims=True)


def history(rng, releases=3, people=4, closed=False, order=1, zeros=0.0, claims=False, hidden=False, stay=2.0):
    """Problem of a random small history whose counts are those of values drawn from its own law, and these values."""
    prior = rows(rng, (people,), 0.0, 0.0)
    tables = tuple(rows(rng, (2, *(M,) * length), stay, zeros) for length in range(1, order + 1))
    path, group, release, chain, free = [], [], [], [], []
    split, g = rng.permutation(people), 0
    for t in range(releases):
        there = split if closed or t == 0 else rng.permutation(people)
        parts = np.array_split(there, 2 if people > 3 else 1)
        for part in parts:
            members = [i for i in part if closed or rng.random() < 0.8] or [part[0]]
            path += members
            group += [g] * len(members)
            release.append(t)
            chain += rng.integers(2, size=len(members)).tolist()
            free.append(hidden and t == 1 and len(parts) == 2 and g % 2 == 1)
            g += 1
    evidence = rng.random((2, M)) + 0.05
    evidence_row = np.where(rng.random(len(path)) < 0.3, rng.integers(2, size=len(path)), -1) if claims else None
    values, seen = [], {}
    for i, c in zip(path, chain, strict=True):
        before = seen.setdefault(int(i), [])
        known = before[-order:] if order else []
        law = tables[len(known) - 1][c][tuple(known)] if known else prior[i]
        before.append(int(rng.choice(M, p=law / law.sum())))
        values.append(before[-1])
    if order == 0:
        prior, path, chain = prior[path], np.arange(len(path)).tolist(), [0] * len(path)
    counts = np.zeros((g, M), dtype=int)
    np.add.at(counts, (group, values), 1)
    counts[np.array(free)] = 0
    problem = JointProblem(
        prior,
        tables,
        np.array(path),
        np.array(group),
        np.array(chain),
        counts,
        np.array(release),
        evidence,
        evidence_row,
    )
    return problem, np.array(values)


SMALL = {
    "open": {},
    "closed cohort": {"closed": True, "stay": 20.0},
    "two people, four releases": {"people": 2, "releases": 4, "stay": 20.0},
    "claims": {"claims": True},
    "zeros in the chain": {"zeros": 0.3},
    "order 2": {"order": 2, "releases": 4, "people": 3},
    "order 3 in a closed cohort": {"order": 3, "releases": 4, "people": 3, "closed": True, "stay": 20.0},
    "no chain": {"order": 0},
    "unpublished records": {"hidden": True, "claims": True},
}
SWEEPS = 2000


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_enumeration(kind, seed):
    problem, _ = history(np.random.default_rng(seed), **SMALL[kind])
    found = PathSampler(SWEEPS, warmup=50, anneal=50, rng=seed)(problem)
    belief = found.rows(np.arange(len(problem.path)))
    error = found.rows(np.arange(len(problem.path)), found.standard_error)
    # 5.5 standard errors: about 1,000 beliefs are compared, and an error from 80 batches is distributed as Student's t, 79 degrees.
    # A belief p near 0 has an error of about sqrt(p / draws) even if it was drawn a few times; 5 draws of 8,000 are added.
    assert (np.abs(belief - enumerated(problem)) <= 5.5 * error + 5 / (4 * SWEEPS)).all()


def closed_pair():
    """Two people who share one group at five releases, of a chain that almost never leaves a value."""
    table = np.array([[[0.999, 0.001], [0.001, 0.999]]])
    prior, t = np.array([[0.7, 0.3], [0.4, 0.6]]), np.arange(5)
    path, group = np.tile([0, 1], 5), np.repeat(t, 2)
    return JointProblem(prior, (table,), path, group, np.zeros(10, dtype=int), np.ones((5, 2), dtype=int), t)


def test_swaps_at_single_releases_fail_where_runs_do_not():
    problem = closed_pair()
    truth = (
        0.7 * 0.6 / (0.7 * 0.6 + 0.3 * 0.4)
    )  # belief that path 0 has value 0: both paths stay with probability near 1
    assert enumerated(problem)[:, 0][::2] == pytest.approx(truth, abs=0.01)
    sampler = PathSampler(400, chains=1, warmup=20, anneal=0, rng=1)
    errors = {
        runs: np.array(
            [
                np.abs(
                    sampled_posterior(sampler, problem, moves(problem, 0.0, runs)).rows(np.arange(10))
                    - enumerated(problem)
                ).max()
                for _ in range(8)
            ]
        )
        for runs in (False, True)
    }
    # 400 nearly independent draws: a standard error of .023, and 5 of them. Single swaps leave a state after about 10^5 moves.
    assert (errors[True] < 0.12).all()
    assert (errors[False] > 0.2).all()


@pytest.mark.parametrize("kind", [kind for kind in SMALL if SMALL[kind].get("order", 1) == 1])
@pytest.mark.parametrize("seed", range(2))
def test_path_redraws_agree_with_enumeration(kind, seed):
    problem, _ = history(np.random.default_rng(100 + seed), **SMALL[kind])
    found = PathSampler(SWEEPS, warmup=50, anneal=0, redraws=4.0, rng=seed)(problem)
    every = np.arange(len(problem.path))
    error = found.rows(every, found.standard_error)
    assert (np.abs(found.rows(every) - enumerated(problem)) <= 5.5 * error + 5 / (4 * SWEEPS)).all()


@pytest.mark.slow
def test_ranks_of_true_densities_are_uniform():
    """Simulation-based calibration (Talts et al. 2018): the rank of a true statistic among draws given its own data is uniform."""
    rng, draws, bins, number = np.random.default_rng(5), 39, 8, 400
    ranks = np.zeros(number, dtype=int)
    for i in range(number):
        problem, values = history(rng, releases=4, people=6, closed=i % 2 == 0, stay=3.0)
        made = PathSampler(draws * 10, chains=1, warmup=20, anneal=20, redraws=1.0, rng=i).draws(problem, draws)
        # A statistic of all records with few ties: a random weight of each value of each record.
        weights = rng.random((len(values), M))
        of_draws = weights[np.arange(len(values)), made].sum(axis=1)
        truth = weights[np.arange(len(values)), values].sum()
        # A draw can be the truth itself; ties are broken at random.
        ties = np.isclose(of_draws, truth)
        ranks[i] = ((of_draws < truth) & ~ties).sum() + rng.integers(ties.sum() + 1)
    found = np.bincount(ranks * bins // (draws + 1), minlength=bins)
    # Pearson's statistic of 8 equal bins has the chi-squared distribution with 7 degrees: 29.9 is exceeded with probability 10^-4.
    assert ((found - number / bins) ** 2 / (number / bins)).sum() < 29.9


def test_draws_show_the_published_multisets():
    problem, _ = history(np.random.default_rng(3), releases=4, people=8)
    made = PathSampler(20, chains=3, rng=1).draws(problem, 10)
    assert made.shape == (10, len(problem.path))
    for values in made:
        counts = np.zeros_like(problem.counts)
        np.add.at(counts, (problem.group, values), 1)
        assert (counts == problem.counts).all()


def test_beliefs_of_a_record_sum_to_one_and_of_a_group_to_its_counts():
    problem, _ = history(np.random.default_rng(4), releases=4, people=8)
    belief = PathSampler(40, rng=1)(problem).rows(np.arange(len(problem.path)))
    counts = np.zeros(problem.counts.shape)
    np.add.at(counts, problem.group, belief)
    assert belief.sum(axis=1) == pytest.approx(1)
    assert counts == pytest.approx(problem.counts)


def test_contradicted_groups_are_named():
    never = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    counts = np.array([[2, 0], [1, 1], [1, 1], [1, 1]])
    problem = JointProblem(
        np.full((4, 2), 0.5),
        (never,),
        np.array([0, 1, 2, 3, 0, 1, 2, 3]),
        np.repeat(np.arange(4), 2),
        np.zeros(8, dtype=int),
        counts,
        np.array([0, 0, 1, 1]),
    )
    found = PathSampler(100, rng=1)(problem)
    # Paths 0 and 1 have the value 0 at first, and one of them has the value 1 later: group 2 contradicts group 0.
    assert (found.status & Status.CONTRADICTED).astype(bool).tolist() == [False, False, True, False]
    assert found.rows(np.arange(8)).sum(axis=1) == pytest.approx(1)


def test_stuck_chains_are_reported():
    problem = closed_pair()
    found = sampled_posterior(PathSampler(100, warmup=0, anneal=0, rng=3), problem, moves(problem, 0.0, runs=False))
    assert (found.status & Status.UNCONVERGED).any()
    assert found.unconverged_share > 0


def test_log_density_is_that_of_the_definition():
    problem, _ = history(np.random.default_rng(6), claims=True)
    sampler = PathSampler(20, chains=1, warmup=0, anneal=0, rng=2)
    density = sampler(problem).log_density[0]
    scale = np.log(problem.evidence.max(axis=1))[problem.evidence_row[problem.evidence_row >= 0]].sum()
    possible = [np.log(weight(problem, values)) - scale for values in assignments(problem)]
    assert np.abs(np.subtract.outer(density, possible)).min(axis=1).max() < 1e-6


@pytest.mark.parametrize(
    "settings",
    [
        {"sweeps": 0},
        {"sweeps": 2.5},
        {"chains": 0},
        {"warmup": -1},
        {"anneal": "x"},
        {"redraws": -1},
        {"sweeps": 10**9},
    ],
)
def test_wrong_settings(settings):
    with pytest.raises(ValueError, match=f"PathSampler: {next(iter(settings))} is"):
        PathSampler(**settings, rng=1)


def test_distorted_values_are_refused():
    problem = closed_pair()
    distorted = JointProblem(
        problem.prior, problem.tables, problem.path, problem.group, problem.chain, problem.counts, problem.release,
        emission=np.eye(2)[None], emission_row=np.array([-1, -1, 0, -1, -1]),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"group 2 publishes distorted values.*MaxEntropy"):
        PathSampler(rng=1)(distorted)
    with pytest.raises(TypeError, match="JointProblem"):
        PathSampler(rng=1)(None)
    with pytest.raises(ValueError, match="number"):
        PathSampler(rng=1).draws(problem, 0)
