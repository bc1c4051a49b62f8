"""Reference implementations: every definition again in plain Python, by enumeration where possible."""

import itertools
import math
from collections import Counter
from functools import cache

import numpy as np
import scipy
from scipy.optimize import linprog

SLACK = 1e-9
"""Rounding tolerance of the package between a level and its bound."""


# --- posteriors -------------------------------------------------------------------------------------------------------


@cache
def permutations(k):
    return np.array(list(itertools.permutations(range(k))), dtype=np.int64).reshape(-1, k)


def by_assignment(prior, counts, weigh):
    """Fraction of the weight of all k! assignments in which each member has each value; None if all weights are 0."""
    prior, counts = np.asarray(prior, dtype=float), np.asarray(counts)
    k, m = prior.shape
    shown = np.repeat(np.arange(m), counts)
    given = shown[permutations(k)]
    weight = weigh(prior[np.arange(k), given])
    if not weight.sum() > 0:
        return None
    belief = np.zeros((k, m))
    for i in range(k):
        np.add.at(belief[i], given[:, i], weight)
    return belief / weight.sum()


def product_posterior(prior, counts):
    """Bayesian posterior: the weight of an assignment is the product of its priors."""
    return by_assignment(prior, counts, lambda used: used.prod(axis=1))


def sum_posterior(prior, counts):
    """JS-reduce, Algorithm 2: the weight of an assignment is the sum of its priors."""
    return by_assignment(prior, counts, lambda used: used.sum(axis=1))


def cohort_posterior(prior, chain, counts):
    """Joint law of k people who stay together, by a forward and a backward pass over their arrangements: shape (T, k, m).

    The weights of all m^k assignments of a release are an array; those that are no arrangement of its multiset are 0.
    """
    k, m = np.shape(prior)
    values = np.indices((m,) * k).reshape(k, -1)
    shown = [np.all([(values == s).sum(axis=0) == n for s, n in enumerate(row)], axis=0) for row in counts]

    def moved(weight, table):
        weight = weight.reshape((m,) * k)
        for _ in range(k):  # the first member's axis becomes the last one, so that k steps restore the order
            weight = np.tensordot(weight, table, (0, 0))
        return weight.ravel() / weight.sum()

    ahead = [shown[0] * np.prod([row[own] for row, own in zip(prior, values, strict=True)], axis=0)]
    back = [1.0 * shown[-1]]
    for own in shown[1:]:
        ahead.append(own * moved(ahead[-1], chain))
    for own in shown[-2::-1]:
        back.append(own * moved(back[-1], chain.T))
    weights = [one * other / (one @ other) for one, other in zip(ahead, back[::-1], strict=True)]
    return np.array([[np.bincount(own, weight, m) for own in values] for weight in weights])


def worlds(probabilities, c):
    """Foreground knowledge, Definition 4: all worlds in which c of N members have x, as rows of booleans, and weights."""
    f = np.asarray(probabilities, dtype=float)
    chosen = np.fromiter(
        itertools.chain.from_iterable(itertools.combinations(range(len(f)), c)), np.int64, math.comb(len(f), c) * c
    ).reshape(math.comb(len(f), c), c)
    has = np.zeros((len(chosen), len(f)), dtype=bool)
    np.put_along_axis(has, chosen, True, axis=1)
    return has, np.where(has, f, 1 - f).prod(axis=1)


def omega_posterior(prior, counts):
    """Li, Li, Zhang: ``n_s P[i,s] / sum_i P[i,s]``, rows scaled to 1; for groups without a contradiction."""
    k, m = len(prior), len(counts)
    belief = [[0.0] * m for _ in range(k)]
    for i in range(k):
        for s in range(m):
            if counts[s]:
                belief[i][s] = counts[s] * prior[i][s] / sum(prior[other][s] for other in range(k))
    return np.array([[w / sum(row) for w in row] for row in belief])


def share_posterior(prior, counts):
    """Random worlds: the frequency of each value in the group."""
    return np.array([[c / len(prior) for c in counts] for _ in prior])


def exact_posterior(prior, counts):
    """Bayesian posterior of larger groups, in whole numbers or `fractions.Fraction`, which neither overflow nor round.

    The weight of all assignments is a coefficient of the product of the members' polynomials ``sum_s prior[i][s] x_s``. The
    weight of one pair is the prior times the same coefficient without the member and one copy of the value.
    """

    def weight(rows, target):
        ways = {(0,) * len(target): 1}
        for row in rows:
            onward = Counter()
            for state, way in ways.items():
                for s, p in enumerate(row):
                    if p and state[s] < target[s]:
                        onward[(*state[:s], state[s] + 1, *state[s + 1 :])] += way * p
            ways = onward
        return ways.get(tuple(target), 0)

    @cache
    def belief(row):
        others = list(rows)
        others.remove(row)
        shares = [
            row[s] * weight(others, [n - (s == v) for v, n in enumerate(counts)]) if counts[s] and row[s] else 0
            for s in range(len(counts))
        ]
        return [float(share / total) for share in shares]

    rows = [tuple(row) for row in prior]
    total = weight(rows, list(counts))
    return np.array([belief(row) for row in rows])


def assignments(counts):
    """Values of k members in all k! assignments, with equal published values distinguished: shape (k!, k)."""
    shown = np.repeat(np.arange(len(counts)), counts)
    return shown[permutations(len(shown))]


def possible(prior, counts):
    """Pairs of member and value in at least one assignment of positive weight, by enumeration."""
    prior, given = np.asarray(prior, dtype=float), assignments(counts)
    people = np.arange(len(prior))
    allowed = given[(prior[people, given] > 0).all(axis=1)]
    pairs = np.zeros(prior.shape, dtype=bool)
    pairs[people, allowed] = True
    return pairs


def best_assignments(prior, counts):
    """Indices of the assignments with the largest sum of priors, to 1e-12 per member."""
    prior = np.asarray(prior, dtype=float)
    sums = prior[np.arange(len(prior)), assignments(counts)].sum(axis=1)
    return np.flatnonzero(sums >= sums.max() - 1e-12 * len(prior))


def dirichlet_posterior(prior, counts, concentration=1.0, evidence=None, drawn=None):
    """BayFrame, 4.3.1, Definition 6 and Equation 2: expected probabilities of the k! assignments, summed for each pair.

    The parameter of an assignment is the concentration, plus the evidence for its pairs, plus the draw: 1 for the
    assignment ``drawn``, or equal parts for all assignments with the largest sum of priors.
    """
    given = assignments(counts)
    k, m = np.shape(prior)
    parameter = np.full(len(given), float(concentration))
    if evidence is not None:
        parameter += np.asarray(evidence)[np.arange(k), given].sum(axis=1)
    best = best_assignments(prior, counts) if drawn is None else np.array([drawn])
    parameter[best] += 1 / len(best)
    share = parameter / parameter.sum()
    return np.array([[share[given[:, i] == s].sum() for s in range(m)] for i in range(k)])


def sinkhorn_posterior(prior, counts):
    """Table nearest to the prior in Kullback-Leibler divergence among those with both margins met.

    Its dual is convex in one number per value: sum over members of log sum_s P[i,s] exp(v_s), minus sum_s n_s v_s. Damped
    Newton iteration, until the columns are met to 1e-12.
    """
    counts = np.asarray(counts)
    open_values = np.flatnonzero(counts)
    pairs, wanted = possible(prior, counts)[:, open_values], counts[open_values]
    weights = np.where(pairs, np.asarray(prior, dtype=float)[:, open_values], 0.0)

    def look(v):
        with np.errstate(divide="ignore"):
            exponents = np.log(weights) + v
        terms = np.exp(exponents - exponents.max(axis=1, keepdims=True))
        height = exponents.max(axis=1) + np.log(terms.sum(axis=1))
        return height.sum() - wanted @ v, terms / terms.sum(axis=1, keepdims=True)

    v, damping = np.zeros(len(wanted)), 1.0
    height, table = look(v)
    for _ in range(1000):
        miss = table.sum(axis=0) - wanted
        if np.abs(miss).max() <= 1e-12:
            break
        curvature = np.diag(table.sum(axis=0)) - table.T @ table + damping * np.eye(len(v))
        step = -np.linalg.lstsq(curvature, miss, rcond=None)[0]
        step *= min(1.0, 5.0 / np.abs(step).max())
        lower, moved = look(v + step)
        if lower < height or np.abs(moved.sum(axis=0) - wanted).max() < np.abs(miss).max():
            v, height, table, damping = v + step, lower, moved, max(damping / 4, 1e-18)
        else:
            damping *= 8
    assert np.abs(table.sum(axis=0) - wanted).max() <= 1e-12
    belief = np.zeros(np.shape(prior))
    belief[:, open_values] = table
    return belief


def bethe_posterior(prior, counts, rounds=20_000):
    """Belief propagation between k members and k published values, in logarithms (Vontobel 2013).

    Pairs in no assignment are ruled out, members with one possible value are removed, and two members or fewer are
    enumerated. The damping is 0.2. That the limit minimizes the Bethe free energy is tested in test_belief_propagation.
    """
    pairs, left = possible(prior, counts), np.array(counts)
    belief = np.zeros(np.shape(prior))
    known = pairs.sum(axis=1) == 1
    belief[known] = pairs[known]
    left = left - belief.sum(axis=0).astype(int)
    weights = np.where(pairs, np.asarray(prior, dtype=float), 0.0)[~known]
    k = len(weights)
    if k <= 2:
        belief[~known] = product_posterior(weights, left) if k else 0.0
        return belief
    published = np.repeat(np.arange(len(left)), left)
    with np.errstate(divide="ignore"):
        a = np.log(weights[:, published])
    others = [np.delete(np.arange(k), i) for i in range(k)]
    mu, share = np.zeros((k, k)), np.zeros((k, k))
    for _ in range(rounds):
        nu = np.stack([a[:, j] - np.logaddexp.reduce((a + mu)[:, others[j]], axis=1) for j in range(k)], axis=1)
        said = np.stack([-np.logaddexp.reduce(nu[others[i]], axis=0) for i in range(k)], axis=0)
        mu = 0.2 * mu + 0.8 * said
        before, share = share, np.exp(-np.logaddexp(0.0, -(nu + mu)))
        if np.abs(share - before).max() <= 1e-13:
            break
    by_value = np.stack([share[:, published == s].sum(axis=1) for s in range(len(left))], axis=1)
    belief[~known] = by_value / by_value.sum(axis=1, keepdims=True)
    return belief


# --- knowledge --------------------------------------------------------------------------------------------------------


def over_paths(table, past):
    """JS-reduce, Algorithm 3: sum over all sequences of values of one respondent; ``past`` is (d, m), oldest first."""
    m = table.shape[-1]
    revised = np.zeros(m)
    for path in itertools.product(range(m), repeat=len(past)):
        revised += math.prod(past[step][s] for step, s in enumerate(path)) * table[path]
    return revised


def occurrences(sequences, wanted):
    """Number of occurrences of a run of values in some sequences."""
    k = len(wanted)
    return sum(tuple(seq[i : i + k]) == tuple(wanted) for seq in sequences for i in range(len(seq) - k + 1))


# --- requirements -----------------------------------------------------------------------------------------------------


def entropy(row, base=2.0):
    return -sum(p * math.log(p, base) for p in row if p > 0)


def shares(values, domain):
    return [sum(v == s for v in values) / len(values) for s in domain]


def divergence(rows, base=2.0):
    """Jensen-Shannon divergence of equally weighted rows."""
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return entropy(mean, base) - sum(entropy(row, base) for row in rows) / len(rows)


def transport(have, want, ground):
    """Smallest cost of transport between two distributions, as a linear program."""
    have, want, ground = (np.asarray(x, dtype=float) for x in (have, want, ground))
    m = len(have)
    leave = np.kron(np.eye(m), np.ones(m))
    arrive = np.kron(np.ones(m), np.eye(m))
    answer = linprog(
        ground.ravel(), A_eq=np.vstack([leave, arrive])[:-1], b_eq=np.concatenate([have, want])[:-1], method="highs"
    )
    assert answer.status == 0
    return answer.fun


def close(values, whole, t):
    """t-closeness with equal distances, for lists of values."""
    distance = sum(abs(values.count(s) / len(values) - whole.count(s) / len(whole)) for s in set(whole)) / 2
    return distance <= t + SLACK


# --- grouping ---------------------------------------------------------------------------------------------------------


def grow(order, satisfies, patience=None):
    """JS-reduce, Algorithm 4, record by record: the groups in order, and the records left over.

    With a patience, a group is the shortest satisfying run from the oldest record on, of at most that many records; without
    such a run the oldest record is set aside.
    """
    if patience is None:
        groups, open_group = [], []
        for record in order:
            open_group.append(record)
            if satisfies(open_group):
                groups.append(open_group)
                open_group = []
        return groups, open_group
    groups, aside, waiting = [], [], list(order)
    while waiting:
        for length in range(1, min(patience, len(waiting)) + 1):
            if satisfies(waiting[:length]):
                groups.append(waiting[:length])
                waiting = waiting[length:]
                break
        else:
            aside.append(waiting.pop(0))
    return groups, aside


def enforce_on_published(groups, order, satisfies, nearest=32):
    """Groups that all satisfy a requirement on the table they form together; ``satisfies(group, published records)``.

    A failing group is merged with the nearest group, by start along the order, with which it satisfies. Without such a group
    it is suppressed. Then all groups are checked again.
    """
    start = {record: rank for rank, record in enumerate(order)}
    groups = [list(group) for group in groups]
    while True:
        published = [record for group in groups for record in group]
        position = [min(start[record] for record in group) for group in groups]
        content = dict(enumerate(groups))
        failing = [g for g in content if not satisfies(content[g], published)]
        if not failing:
            return groups
        for g in failing:
            if satisfies(content[g], published):
                continue
            others = sorted((o for o in content if o != g), key=lambda o: (abs(position[o] - position[g]), o))
            saving = [o for o in others[:nearest] if satisfies(content[o] + content[g], published)]
            if saving:
                content[saving[0]] = content[saving[0]] + content.pop(g)
        groups = [group for g, group in content.items() if g not in failing or satisfies(group, published)]


def mondrian(codes, satisfies, smallest, strict=True):
    """LeFevre's Mondrian recursion over lists of records: the groups, each a list of rows."""
    d = len(codes[0])
    span = [max(row[a] for row in codes) - min(row[a] for row in codes) for a in range(d)]

    def width(part, a):
        return (max(codes[i][a] for i in part) - min(codes[i][a] for i in part)) / span[a] if span[a] else 0.0

    def halves(part, a):
        ranked = sorted(part, key=lambda i: codes[i][a])
        if not strict:
            return ranked[: len(part) // 2], ranked[len(part) // 2 :]
        median = codes[ranked[(len(part) - 1) // 2]][a]
        low = [i for i in part if codes[i][a] <= median]
        if len(part) - len(low) < smallest:
            low = [i for i in part if codes[i][a] < median]
        return low, [i for i in part if i not in low]

    def split(part):
        for a in sorted(range(d), key=lambda a: -width(part, a)):
            low, high = halves(part, a)
            if len(low) >= smallest and len(high) >= smallest and satisfies(low) and satisfies(high):
                return split(low) + split(high)
        return [part]

    return split(list(range(len(codes))))


def partition(groups):
    """Groups as a set, without their order."""
    return {frozenset(map(int, group)) for group in groups}


def groups_of(labels):
    """Groups as a set, from a label per record; -1 is in no group."""
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(np.asarray(labels).tolist()) - {-1}}


# --- buckets ----------------------------------------------------------------------------------------------------------


def matching_diversity(forbidden, values):
    """Number of distinct values that each record of a bucket may have: by one maximum matching for each record and value.

    A record may have a value if some assignment of the bucket's values to its records gives it that value and gives no record a
    forbidden one (T. Li, N. Li, ICDE 2008).
    """
    shown = np.asarray(values, dtype=np.int64)
    allowed = ~np.asarray(forbidden, dtype=bool)[:, shown]

    def completes(record, copy):
        if len(shown) == 1:
            return True
        rest = scipy.sparse.csr_array(np.delete(np.delete(allowed, record, axis=0), copy, axis=1))
        return (scipy.sparse.csgraph.maximum_bipartite_matching(rest, "column") >= 0).all()

    pairs = [(record, shown[copy]) for record, copy in np.argwhere(allowed) if completes(record, copy)]
    return np.array([len({value for i, value in pairs if i == record}) for record in range(len(shown))], dtype=np.int64)
