"""Sweeps over assignments, against the law of one group's counts by enumeration, and in closed form."""

import itertools
from collections import Counter

import numpy as np
import pytest
from sampled_evidence import MANY, SMALL, assert_mean
from scipy import special, stats

from foreknow.models import Evidence
from foreknow.models.foreground.gibbs_sampling import assignment_sweeps


def count_law(evidence, pseudo_counts):
    """Probability of the counts by signature of one group: rising factorials, and powers of the rest's probabilities."""
    people = evidence.row
    found = Counter()
    m = evidence.counts.shape[1]
    for world in set(itertools.permutations(np.repeat(np.arange(m), evidence.counts[0]).tolist())):
        counts = np.zeros((evidence.signatures + 1, m), int)
        np.add.at(counts, (people, list(world)), 1)
        weight = special.poch(pseudo_counts, counts[:-1]).prod() * (evidence.rest ** counts[-1]).prod()
        found[tuple(counts[:-1].ravel().tolist())] += weight
    total = sum(found.values())
    return {counts: weight / total for counts, weight in found.items()}


class TestSweeps:
    @pytest.mark.parametrize(
        "counts", [[1, 6], [2, 5], [3, 4], [4, 3], [6, 1], [3, 2, 2], [1, 5, 1], [2, 0, 5], [0, 3, 4]]
    )
    def test_assignments_have_their_probabilities(self, counts):
        signature = np.array([0, 1, 0, -1, 2, -1, 1])
        rest = np.array([0.2, 0.8]) if len(counts) == 2 else np.array([0.2, 0.5, 0.3])
        evidence = Evidence(signature, np.zeros(7, int), np.array([counts]), rest)
        expected = count_law(evidence, 1.7 * rest)
        sweep = assignment_sweeps(evidence, np.random.default_rng(3))
        rounds = [tuple(sweep(1.7 * rest).ravel().tolist()) for _ in range(8000)]
        assert set(rounds) <= set(expected)
        for drawn, share in expected.items():
            assert_mean(np.array([one == drawn for one in rounds]).reshape(4, -1), share, 1e-9)

    @pytest.mark.parametrize(("people", "c"), [((4000, 6000), 5000), ((4000, 6000), 9000), ((9000, 1000), 20)])
    def test_groups_of_ten_thousand(self, people, c):
        """For two signatures in one group, the law of the number with the value is in rising factorials."""
        rest, concentration = np.array([0.01, 0.99]), 3.0
        evidence = Evidence(np.repeat([0, 1], people), np.zeros(10_000, int), np.array([[c, 10_000 - c]]), rest)
        b = np.arange(max(0, c - people[1]), min(people[0], c) + 1)
        weight = _log_ways(people[0], b, concentration * rest) + _log_ways(people[1], c - b, concentration * rest)
        share = np.exp(weight - special.logsumexp(weight))
        sweep = assignment_sweeps(evidence, np.random.default_rng(4))
        drawn = np.array([sweep(concentration * rest)[0, 0] for _ in range(100)])
        assert ((b[0] <= drawn) & (drawn <= b[-1])).all()
        below = np.cumsum(share)[drawn - b[0]] - share[drawn - b[0]] * np.random.default_rng(5).random(100)
        assert stats.kstest(below, "uniform").pvalue > 1e-4

    def test_each_record_is_counted(self):
        for evidence in (SMALL, MANY):
            counts = assignment_sweeps(evidence, np.random.default_rng(6))(10 * evidence.rest)
            assert np.array_equal(counts.sum(axis=1), evidence.support)


def _log_ways(n, b, alpha):
    """Logarithm of n over b times the probability that b given records have the value, under a Beta distribution."""
    return (
        special.gammaln(n + 1)
        - special.gammaln(b + 1)
        - special.gammaln(n - b + 1)
        + special.betaln(*_added(n, b, alpha))
    )


def _added(n, b, alpha):
    return alpha[0] + b, alpha[1] + n - b
