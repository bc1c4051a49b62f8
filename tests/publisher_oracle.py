"""Beliefs of the adversary that a publisher assumes, in plain NumPy: sums over all assignments of each group, under each draw."""

import itertools
from typing import NamedTuple

import numpy as np


class Knowledge(NamedTuple):
    """One draw: prior rows by respondent, and a function from a respondent and a release to a transition table."""

    prior: dict
    table: object


class Assumed(NamedTuple):
    """Priors of all draws before a release, shape ``(D, n, m)``, and the weights of the draws given the releases before."""

    priors: np.ndarray
    weights: np.ndarray


def posterior_of_group(rows, counts):
    """Posterior of the members of a group and the probability of its multiset, by the sum over all assignments.

    Members are added one after another; a state is the multiset of those added. Cost: O(product of (count + 1)) for each member.
    """
    before, after = _sums(rows, counts), _sums(rows[::-1], counts)[::-1]
    full = tuple(counts.tolist())
    found = np.zeros(rows.shape)
    for i, row in enumerate(rows):
        for state, weight in before[i].items():
            for value in range(len(counts)):
                rest = tuple(n - have - (v == value) for v, (n, have) in enumerate(zip(full, state, strict=True)))
                found[i, value] += weight * row[value] * after[i + 1].get(rest, 0.0)
    return found / found.sum(axis=1, keepdims=True), before[-1][full]


def _sums(rows, counts):
    """For 0, 1, ..., n members: weight of each multiset of their values that is part of the counts."""
    found = [{(0,) * len(counts): 1.0}]
    for row in rows:
        following = {}
        for state, weight in found[-1].items():
            for value, count in enumerate(counts.tolist()):
                if state[value] < count:
                    new = (*state[:value], state[value] + 1, *state[value + 1 :])
                    following[new] = following.get(new, 0.0) + weight * row[value]
        found.append(following)
    return found


def assumed_before(releases, draws, weights):
    """Yield the beliefs before each release; a step across a gap is one step (``gaps="ignore"``)."""
    memories, weights = [{} for _ in draws], np.asarray(weights, dtype=float)
    for number, release in enumerate(releases):
        people, group = release.view.people.respondents, release.group
        priors = []
        for draw, memory in zip(draws, memories, strict=True):
            step = [memory[p] @ draw.table(p, number) if p in memory else draw.prior[p] for p in people]
            priors.append(np.array(step))
        yield Assumed(np.array(priors), weights / weights.sum())
        for d, (rows, memory) in enumerate(zip(priors, memories, strict=True)):
            for g in range(release.groups):
                inside = np.flatnonzero(group == g)
                beliefs, evidence = posterior_of_group(rows[inside], counts_of(release, inside))
                weights[d] *= evidence
                memory.update({people[row]: belief for row, belief in zip(inside, beliefs, strict=True)})


def counts_of(release, rows):
    """Multiset of the true values of some records."""
    return np.bincount(release.view.sensitive[rows], minlength=len(release.view.schema.values))


def entropy(rows):
    """Entropy in bits, along the last axis."""
    return -(rows * np.log2(np.where(rows > 0, rows, 1.0))).sum(axis=-1)


def divergence(rows):
    """Jensen-Shannon divergence of rows of equal weight, in bits."""
    return entropy(rows.mean(axis=0)) - entropy(rows).mean()


def j_similarity(rows, counts):
    return divergence(rows)


def posterior_gain(rows, counts):
    """Largest posterior of a member minus the share of the value."""
    return (posterior_of_group(rows, counts)[0] - counts / counts.sum()).max()


def bt_divergence(rows, counts):
    """Largest divergence of the prior and the posterior of a member."""
    after, _ = posterior_of_group(rows, counts)
    return max(divergence(np.stack(pair)) for pair in zip(rows, after, strict=True))


def largest_pair(rows, counts):
    """Largest divergence of the priors of two members."""
    return max((divergence(rows[list(pair)]) for pair in itertools.combinations(range(len(rows)), 2)), default=0.0)


def levels_under_draws(release, assumed, level):
    """Level of each group under each draw: float array, shape ``(g, D)``."""
    found = []
    for g in range(release.groups):
        inside = np.flatnonzero(release.group == g)
        found.append([level(rows[inside], counts_of(release, inside)) for rows in assumed.priors])
    return np.array(found).reshape(release.groups, len(assumed.priors))
