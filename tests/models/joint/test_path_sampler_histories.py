"""The sampler against enumeration on 2,000 random small histories: its errors, in standard errors, as a whole."""

import itertools

import joint_oracle
import numpy as np
import pytest
from scipy import stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from foreknow.models import PathSampler
from foreknow.models.joint import JointProblem

HISTORIES, SWEEPS, CHAINS, BATCHES = 2000, 1000, 4, 20

# --- does the sampler reach all of the support? ------------------------------------------------------------------------


def runs_of_two_paths(problem):
    """Meetings of two paths, in maximal sequences: a meeting is the next record of one path at least, of both for order 2."""
    at, group = problem.layout, problem.group
    when = problem.release[group]

    def next_meeting(a, b):
        c, d = at.following[a], at.following[b]
        while c >= 0 and d >= 0 and problem.order < 2 and when[c] != when[d]:
            if (when[c] < when[d] and d != at.following[b]) or (when[d] < when[c] and c != at.following[a]):
                return None
            c, d = (at.following[c], d) if when[c] < when[d] else (c, at.following[d])
        return (c, d) if c >= 0 and d >= 0 and group[c] == group[d] else None

    pairs = [(a, b) for a, b in itertools.combinations(range(len(group)), 2) if group[a] == group[b]]
    pairs = [pair if problem.path[pair[0]] < problem.path[pair[1]] else pair[::-1] for pair in pairs]
    later = {pair: next_meeting(*pair) for pair in pairs}
    for pair in set(pairs) - set(later.values()):
        run = [pair]
        while later[run[-1]] is not None:
            run.append(later[run[-1]])
        yield run


def parts_of_support(problem, values, blocks=True):
    """Part of each possible assignment, of those that run swaps, redraws and blocks connect: int array, shape ``(a,)``."""
    place = problem.values ** np.arange(values.shape[1])
    codes = values @ place
    order, edges = np.argsort(codes), []
    for run in runs_of_two_paths(problem):
        published = [pair for pair in run if problem.constrained[problem.group[pair[0]]]]
        for size in range(1, len(published) + 1):
            for swapped in itertools.combinations(published, size):
                moved = codes + sum((values[:, b] - values[:, a]) * (place[a] - place[b]) for a, b in swapped)
                found = order[np.minimum(np.searchsorted(codes, moved, sorter=order), len(codes) - 1)]
                edges.append(np.stack([np.arange(len(codes)), found])[:, codes[found] == moved])
    free = ~problem.constrained[problem.group]
    for path in np.unique(problem.path[free]):
        others = codes - values[:, free & (problem.path == path)] @ place[free & (problem.path == path)]
        edges.append(same_number(others))
    for three in itertools.combinations(np.unique(problem.path), 3) if blocks else ():
        mine = np.isin(problem.path, three)
        edges.append(same_number(codes - values[:, mine] @ place[mine]))
    one, two = np.concatenate(edges, axis=1) if edges else np.zeros((2, 0), dtype=int)
    graph = coo_array((np.ones(len(one)), (one, two)), shape=(len(codes),) * 2)
    return connected_components(graph, directed=False)[1]


def same_number(numbers):
    """Edges from each place to the first place of the same number: int array, shape ``(2, a)``."""
    _, first, same = np.unique(numbers, return_index=True, return_inverse=True)
    return np.stack([np.arange(len(numbers)), first[same]])


def test_a_cycle_of_three():
    """Three members of one group who may have two values each, a or b, b or c, c or a: no pair can swap alone."""
    evidence = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    ones, rows = np.zeros(3, dtype=int), np.arange(3)
    arrays = {"path": rows, "group": ones, "chain": ones, "counts": np.ones((1, 3), dtype=int), "release": ones[:1]}
    problem = JointProblem(np.full((3, 3), 1 / 3), (), evidence=evidence, evidence_row=rows, **arrays)
    possible = np.array([[0, 1, 2], [1, 2, 0]])
    assert len(set(parts_of_support(problem, possible, blocks=False))) == 2
    assert len(set(parts_of_support(problem, possible))) == 1
    everything = np.array(list(itertools.permutations(range(3))))
    assert len(set(parts_of_support(problem, everything, blocks=False))) == 1
    found = PathSampler(2000, chains=2, rng=1)(problem)
    assert np.allclose(found.rows(rows), (np.eye(3) + np.eye(3)[[1, 2, 0]]) / 2, atol=5 / np.sqrt(4 * 4000))


# --- errors ------------------------------------------------------------------------------------------------------------


def errors(seed):
    """Errors of uncertain beliefs in standard errors, exact beliefs, and whether the moves connect all possible assignments."""
    arrays = joint_oracle.random_arrays(np.random.default_rng([23, seed]))
    problem, every = JointProblem(**arrays), np.arange(len(arrays["path"]))
    values, weight = joint_oracle.joint_law(arrays)
    exact = joint_oracle.shares(values, weight, problem.values)
    one_part = parts_of_support(problem, values[weight > 0]).max() == 0
    found = PathSampler(SWEEPS, chains=CHAINS, rng=seed)(problem)
    open_ones = (exact > 1e-12) & (exact < 1 - 1e-12)
    error = np.abs(found.rows(every) - exact)[open_ones] / found.rows(every, found.standard_error)[open_ones]
    return error, exact[open_ones], one_part


def share_of_normal_batches(bound):
    """Share of errors beyond a bound if the means of batches are independent and normal."""
    rng, number = np.random.default_rng(1), 40_000
    means = rng.standard_normal((number, CHAINS, BATCHES))
    single, paired = means.reshape(number, -1), means.reshape(number, -1, 2).mean(axis=2)
    short, long = (part.var(axis=1, ddof=1) / part.shape[1] for part in (single, paired))
    variance = np.maximum(np.maximum(short, 2 * long - short), means.mean(axis=2).var(axis=1, ddof=1) / CHAINS)
    return (np.abs(single.mean(axis=1)) > bound * np.sqrt(variance)).mean()


@pytest.mark.slow
def test_errors_are_standard_errors_on_2000_histories():
    """Two to four releases, groups of one to four, people who come, go and meet again, claims, counterfeits, zeros.

    The standard error is the square root of the largest of three estimates of the variance, one of them of 80 batches, so that an
    error of a common value is beyond c with at most the probability of Student's t, 79 degrees. One belief of each history is
    drawn, for independence, of those with at least 200 draws for and against it; the number of errors beyond c is then at most
    binomial. Each comparison may fail by chance once in 10,000. No error of 16,000, rare values included, is beyond 6:
    Student's t has 6 in 10^8 there.

    Run swaps alone leave the possible assignments of 23 histories in parts, because of zeros. Blocks of three paths connect them
    all, which the test finds without the sampler.
    """
    rng, common, everything = np.random.default_rng(2), [], []
    for seed in range(HISTORIES):
        error, exact, one_part = errors(seed)
        assert one_part, seed
        everything.append(error)
        often = np.minimum(exact, 1 - exact) * SWEEPS * CHAINS >= 200
        common += rng.choice(error[often], 1).tolist() if often.any() else []
    pooled, common = np.concatenate(everything), np.array(common)
    print(
        "\nshares beyond 1 to 6, of",
        len(pooled),
        "beliefs:",
        [round(float((pooled > c).mean()), 5) for c in range(1, 7)],
    )
    print("numbers beyond 1 to 4, of", len(common), "common ones:", [int((common > c).sum()) for c in range(1, 5)])
    for bound in (2, 3, 4):
        most = stats.binom.isf(1e-4, len(common), 2 * stats.t.sf(bound, CHAINS * BATCHES - 1))
        assert (common > bound).sum() <= most
    # Standard errors are not too large either.
    assert (common > 1).sum() >= stats.binom.ppf(1e-4, len(common), share_of_normal_batches(1))
    assert pooled.max() < 6
