"""The sampler of joint assignments against enumeration by definition, simulation-based calibration, and bad input."""

import itertools

import numpy as np
import pytest

from foreknow.models.joint.path_sampler import PathSampler, sample_paths
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
        prior, tables, np.array(path), np.array(group), np.array(chain), counts, np.array(release), evidence, evidence_row
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
    # 5.5 standard errors: about 1,000 beliefs are compared, and an error from 80 batches has the tail of Student's t with 79 degrees.
    # A belief p near 0 has an error of about sqrt(p / draws) even if it was drawn a few times; 5 draws of 8,000 are added.
    assert (np.abs(belief - enumerated(problem)) <= 5.5 * error + 5 / (4 * SWEEPS)).all()
