"""Posteriors again in 50-digit arithmetic, by mpmath, from the definitions; and hard problems for them."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
from mpmath import mp, mpf

from foreknow.models import Problem

mp.dps = 50
SMALLEST = 1e-290
"""Beliefs below this number are compared absolutely: floats lose digits near 1e-308."""

AS_PRINTED = mpf(10) ** -12
"""Weight of the uniform distribution in contradicted knowledge, and tolerance of ties for each member, as documented."""


def exact_digits(rows):
    """The floats of some rows as numbers of 50 digits."""
    numbers = {p: mpf(p) for p in np.unique(rows).tolist()}
    return [[numbers[p] for p in row] for row in np.asarray(rows).tolist()]


# --- estimators, one group at a time ----------------------------------------------------------------------------------


def exact(prior, counts):
    """Sums over the numbers of members that have each value so far, forwards and backwards; None if all weights are 0."""
    shown = [s for s, n in enumerate(counts) if n]
    end = tuple(int(counts[s]) for s in shown)
    forward = [{(0,) * len(shown): mpf(1)}]
    for row in prior:
        forward.append(defaultdict(mpf))
        for state, weight in forward[-2].items():
            for place, s in enumerate(shown):
                if row[s] and state[place] < end[place]:
                    forward[-1][_more(state, place)] += weight * row[s]
    total = forward[-1].get(end)
    if not total:
        return None
    belief, backward = [[mpf(0)] * len(counts) for _ in prior], {end: mpf(1)}
    for r in range(len(prior) - 1, -1, -1):
        before = defaultdict(mpf)
        for state, weight in forward[r].items():
            for place, s in enumerate(shown):
                after = backward.get(_more(state, place)) if prior[r][s] else None
                if after:
                    before[state] += prior[r][s] * after
                    belief[r][s] += weight * prior[r][s] * after / total
        backward = before
    return belief


def _more(state, place):
    return (*state[:place], state[place] + 1, *state[place + 1 :])


def doubtful(estimate):
    """An estimate that mixes a uniform distribution into knowledge that rules the group out, as documented."""

    def of_group(prior, counts):
        found = estimate(prior, counts)
        m = len(counts)
        return found or estimate([[(1 - AS_PRINTED) * p + AS_PRINTED / m for p in row] for row in prior], counts)

    return of_group


def two_kinds(odds, sizes, c):
    """Belief of a member of each of two kinds in the second value, which c members have: a sum over the first kind's number.

    Members of kind a have odds ``odds[a]`` of the second value.
    """
    splits = [x for x in range(c + 1) if x <= sizes[0] and c - x <= sizes[1]]
    weights = [math.comb(sizes[0], x) * math.comb(sizes[1], c - x) * odds[0] ** x * odds[1] ** (c - x) for x in splits]
    total = mp.fsum(weights)
    first = mp.fsum(w * x for w, x in zip(weights, splits, strict=True)) / total / sizes[0]
    return first, mp.fsum(w * (c - x) for w, x in zip(weights, splits, strict=True)) / total / sizes[1]


def omega(prior, counts):
    k = len(prior)
    columns = [mp.fsum(row[s] for row in prior) for s in range(len(counts))]
    rows = [[n * row[s] / columns[s] if columns[s] else mpf(n) / k for s, n in enumerate(counts)] for row in prior]
    totals = [mp.fsum(row) for row in rows]
    shares = [mpf(int(n)) / k for n in counts]
    return [[w / total for w in row] if total else shares for row, total in zip(rows, totals, strict=True)]


def confidence_sum(prior, counts):
    k, m = len(prior), len(counts)
    columns = [mp.fsum(row[s] for row in prior) for s in range(m)]
    rows = [mp.fsum(int(n) * row[s] for s, n in enumerate(counts)) for row in prior]
    total = mp.fsum(rows)
    if k == 1 or not total:
        return [[mpf(int(n)) / k for n in counts] for _ in prior]
    return [
        [
            int(n) * (row[s] + (total - own - columns[s] + row[s]) / (k - 1)) / total if n else mpf(0)
            for s, n in enumerate(counts)
        ]
        for row, own in zip(prior, rows, strict=True)
    ]


def random_worlds(prior, counts):
    return [[mpf(int(n)) / len(prior) for n in counts] for _ in prior]


def dirichlet(prior, counts):
    """Dirichlet distribution with parameter 1 over all assignments; the draw is divided among the best, to 1e-12 a member."""
    k, shown = len(prior), [s for s, n in enumerate(counts) for _ in range(n)]
    belief = [[mpf(int(n)) / k for n in counts] for _ in prior]
    if k >= 20:
        return belief
    orders = list(itertools.permutations(shown))
    sums = [mp.fsum(row[s] for row, s in zip(prior, order, strict=True)) for order in orders]
    least = max(sums) - AS_PRINTED * k
    best = [order for order, total in zip(orders, sums, strict=True) if total >= least]
    draw = mpf(1) / math.factorial(k)
    for order in best:
        for row, s in zip(belief, order, strict=True):
            row[s] += draw / len(best)
    return [[w / (1 + draw) for w in row] for row in belief]


def sinkhorn(prior, counts):
    """Scaling of two values by bisection of the tilt; of more, by iteration until rows are met to 1e-40."""
    shown = [s for s, n in enumerate(counts) if n]
    if len(shown) == 1:
        return [[mpf(s in shown) for s in range(len(counts))] for _ in prior]
    weights = [[row[s] for s in shown] for row in prior]
    wanted = [int(counts[s]) for s in shown]
    tilt = _bisected(weights, wanted) if len(shown) == 2 else _iterated(weights, wanted)
    belief = [[mpf(0)] * len(counts) for _ in prior]
    for i, row in enumerate(weights):
        total = mp.fsum(w * v for w, v in zip(row, tilt, strict=True))
        for place, s in enumerate(shown):
            belief[i][s] = row[place] * tilt[place] / total
    return belief


def _bisected(weights, wanted):
    kinds, low, high = Counter(map(tuple, weights)), mpf(-4000), mpf(4000)
    for _ in range(220):
        middle = (low + high) / 2
        tilt = mp.exp(middle)
        has = mp.fsum(n * b * tilt / (a + b * tilt) for (a, b), n in kinds.items())
        low, high = (middle, high) if has < wanted[1] else (low, middle)
    return [mpf(1), mp.exp(low)]


def _iterated(weights, wanted):
    tilt = [mpf(1)] * len(wanted)
    for _ in range(4_000):
        totals = [mp.fsum(w * v for w, v in zip(row, tilt, strict=True)) for row in weights]
        has = [
            mp.fsum(row[s] * tilt[s] / total for row, total in zip(weights, totals, strict=True))
            for s in range(len(wanted))
        ]
        if max(abs(h - w) for h, w in zip(has, wanted, strict=True)) < mpf(10) ** -40:
            break
        tilt = [v * w / h for v, w, h in zip(tilt, wanted, has, strict=True)]
    return tilt


def of_release(estimate, problem):
    """Beliefs of a whole release by an estimate of one group; rows outside all groups keep their prior."""
    prior = exact_digits(problem.prior)
    beliefs = [list(row) for row in prior]
    for j, counts in enumerate(problem.counts.tolist()):
        rows = np.flatnonzero(problem.group == j)
        if len(rows):
            for row, belief in zip(rows, estimate([prior[i] for i in rows], counts), strict=True):
                beliefs[row] = belief
    return beliefs


def worst_error(found, wanted, smallest=SMALLEST):
    """Largest relative difference of an array from numbers of 50 digits; absolute below ``smallest``, in its units."""
    wanted = np.array([[float(w) for w in row] for row in wanted])
    return float((np.abs(np.asarray(found) - wanted) / np.maximum(wanted, smallest)).max())


# --- hard problems ----------------------------------------------------------------------------------------------------


def release(prior, *groups):
    """Problem of consecutive groups, each given by its counts; rows beyond them are in no group."""
    prior = np.asarray(prior, dtype=float)
    group = np.full(len(prior), -1)
    sizes = [sum(counts) for counts in groups]
    group[: sum(sizes)] = np.repeat(np.arange(len(groups)), sizes)
    return Problem(prior / prior.sum(axis=1, keepdims=True), group, np.array(groups))


def hard_problems():
    """Problems by name."""
    rng = np.random.default_rng(17)
    tiny = np.array([[1, 1e-300, 0.5], [1e-300, 1, 1e-8], [1e-150, 1e-300, 1], [0.3, 0.3, 0.4], [1, 1e-16, 1e-17]])
    ones = np.array([[1, 0, 0], [0.2, 0.5, 0.3], [0.7, 0, 0.3], [0, 0.5, 0.5], [1, 0, 0], [0, 0, 1.0]])
    against = np.array([[1, 1e-300], [1, 1e-280], [1, 1e-200], [1e-300, 1], [1, 0.5]])
    alike = 0.25 + 1e-13 * rng.standard_normal((6, 4))
    wild = 10.0 ** rng.uniform(-300, 0, (8, 4))
    many = rng.dirichlet(np.full(1000, 0.01), 24) + 1e-12
    rare = rng.permutation(np.bincount(rng.choice(1000, 24, replace=False), minlength=1000)).tolist()
    few = np.bincount(np.arange(9), minlength=1000).tolist()
    large = 10.0 ** rng.uniform(-12, 0, (10_000, 2))
    two = np.repeat([[1.0, 1e-3], [1e-3, 1.0]], [9800, 200], axis=0)
    return {
        "priors of 1e-300": release(tiny, [2, 1, 1], [1, 0, 0]),
        "zeros and ones": release(ones, [2, 1, 1], [1, 0, 1]),
        "values against the knowledge": release(against, [1, 3], [1, 0]),
        "nearly equal rows": release(alike, [2, 1, 2, 1]),
        "rows of wild numbers": release(wild, [3, 2, 2, 1]),
        "groups of one": release(np.vstack([tiny, ones]), *([[1, 0, 0]] * 5 + [[0, 0, 1]] * 5)),
        "a thousand values": release(many, few, *([[0] * 999 + [1]] * 3)),
        "a thousand values in one group": release(many, rare),
        "ten thousand members": release(large, [9997, 3]),
        "ten thousand members of two kinds": release(two, [9700, 300]),
    }


# --- the joint law ----------------------------------------------------------------------------------------------------


def of_fifty_digits(arrays):
    """Arguments of a `JointProblem` with the knowledge as arrays of numbers of 50 digits."""
    convert = np.vectorize(lambda p: mpf(float(p)), otypes=[object])
    known = {name: convert(arrays[name]) for name in ("prior", "evidence", "emission") if np.size(arrays[name])}
    return {**arrays, **known, "tables": tuple(convert(table) for table in arrays["tables"])}


def joint_shares(values, weights, m):
    """Fraction of the weight of the assignments in which each record has each value; None if all weights are 0."""
    total = mp.fsum(weights)
    if not total:
        return None
    return [[mp.fsum(weights[column == s]) / total for s in range(m)] for column in values.T]


def tilted_paths(arrays, sweeps=1000):
    """Law of `MaxEntropy`: independent paths, with a factor for each group and value by which expected counts are published.

    Each sweep visits the groups, and scales the factors of one so that its expected counts are met.
    """
    group, counts, m = arrays["group"], arrays["counts"], arrays["counts"].shape[1]
    paths = [_paths_of(arrays, np.flatnonzero(arrays["path"] == i)) for i in np.unique(arrays["path"])]
    tilt = [[mpf(1)] * m for _ in counts]
    for _ in range(sweeps):
        worst = mpf(0)
        for g, wanted in enumerate(counts.tolist()):
            has = _expected(paths, tilt, group, m, g)
            worst = max(worst, *(abs(h - w) for h, w in zip(has, wanted, strict=True)))
            tilt[g] = [v * w / h if w else mpf(0) for v, w, h in zip(tilt[g], wanted, has, strict=True)]
        if worst < mpf(10) ** -16:
            break
    else:
        raise ArithmeticError(f"the expected counts are met to {worst} only")
    beliefs = [None] * len(group)
    for records, values, weights in paths:
        tilted = _tilted(records, values, weights, tilt, group)
        for place, r in enumerate(records):
            beliefs[r] = [mp.fsum(tilted[values[:, place] == s]) for s in range(m)]
    return beliefs


def _paths_of(arrays, records):
    """Records of a respondent, all sequences of their values, and the weight of each."""
    m = arrays["counts"].shape[1]
    values = np.array(list(itertools.product(range(m), repeat=len(records))))
    weights = arrays["prior"][arrays["path"][records[0]]][values[:, 0]]
    for place in range(1, len(records)):
        weights = weights * arrays["tables"][0][arrays["chain"][records[place]], values[:, place - 1], values[:, place]]
    return records, values, weights


def _tilted(records, values, weights, tilt, group):
    for place, r in enumerate(records):
        weights = weights * np.array(tilt[group[r]], dtype=object)[values[:, place]]
    return weights / mp.fsum(weights)


def _expected(paths, tilt, group, m, g):
    has = [mpf(0)] * m
    for records, values, weights in paths:
        if g not in group[records]:
            continue
        tilted = _tilted(records, values, weights, tilt, group)
        for place in np.flatnonzero(group[records] == g):
            for s in range(m):
                has[s] += mp.fsum(tilted[values[:, place] == s])
    return has
