"""Estimated distribution of counterfeits against enumeration of all assignments and all missing values."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.models import Adversary, Exact, Grouping, Memory, Problem, Release, Status, UniformPrior
from foreknow.models.mechanisms import (
    MAX_ROUNDS,
    counterfeit_posterior,
    counterfeit_weights,
    signature_numbers,
    sums_of_other_groups,
)


def enumerated(prior, group, shown):
    """P(x | release) ~ product of P_i(x_i), 1 / N! of each value, and C! n! / (C + n + 1)! of each signature and value.

    ``shown`` is the set of values of each group, each shown once; rows are people.
    """
    n, m = prior.shape
    belief, total = np.zeros((n, m)), 0.0
    ways = [itertools.permutations(sorted(values), list(group).count(g)) for g, values in enumerate(shown)]
    for chosen in itertools.product(*map(list, ways)):
        members = [np.flatnonzero(np.asarray(group) == g) for g in range(len(shown))]
        x = {i: v for rows, values in zip(members, chosen, strict=True) for i, v in zip(rows, values, strict=True)}
        weight = math.prod(prior[i, v] for i, v in x.items())
        for v in range(m):
            weight /= math.factorial(sum(value == v for value in x.values()))
        for signature in set(map(frozenset, shown)):
            places = [g for g, values in enumerate(shown) if frozenset(values) == signature]
            for v in signature:
                true = sum(v in chosen[g] for g in places)
                lacking = len(places) - true
                weight *= math.factorial(lacking) * math.factorial(true) / math.factorial(len(places) + 1)
        total += weight
        for i, v in x.items():
            belief[i, v] += weight
    return belief / total


def problem_of(prior, group, shown):
    """The problem with uniform rows for counterfeits behind."""
    m = prior.shape[1]
    counts = np.array([[int(v in values) for v in range(m)] for values in shown])
    invented = counts.sum(axis=1) - np.bincount(group, minlength=len(shown))
    invented_group = np.repeat(np.arange(len(shown)), invented)
    return Problem(
        np.vstack([prior, np.full((len(invented_group), m), 1 / m)]), np.concatenate([group, invented_group]), counts
    )


def posterior_of(prior, group, shown):
    found = counterfeit_posterior(problem_of(prior, group, shown), len(prior), Exact())
    assert (found.status == Status.FINE).all()
    return found.probabilities[: len(prior)]


@st.composite
def releases(draw, lacking):
    """People with positive priors in groups that show 2 or 3 values of 4; ``lacking(group)``: may the group have counterfeits."""
    shown = draw(st.lists(st.sets(st.integers(0, 3), min_size=2, max_size=3), min_size=1, max_size=4))
    sizes = [draw(st.integers(1, len(v) - 1)) if lacking(g) else len(v) for g, v in enumerate(shown)]
    seed = draw(st.integers(0, 1000))
    prior = np.random.default_rng(seed).dirichlet(np.ones(4), size=sum(sizes)) * 0.96 + 0.01
    return prior, np.repeat(np.arange(len(shown)), sizes), shown


@given(drawn=releases(lambda group: group == 0))
def test_exact_where_one_group_has_counterfeits(drawn):
    assert np.allclose(posterior_of(*drawn), enumerated(*drawn))


def test_nearer_to_the_enumeration_than_uniform_rows():
    """Thirty releases with six groups of two signatures; a frequent, a medium and a rare value."""
    law, uniform = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        shown = [{0, 1}] * 4 + [{0, 2}] * 2
        group = np.array([0, 1, 2, 2, 3, 4, 5, 5])
        prior = rng.dirichlet([6.0, 3.0, 1.0], size=len(group)) * 0.97 + 0.01
        expected = enumerated(prior, group, shown)
        law.append(np.abs(posterior_of(prior, group, shown) - expected).mean())
        plain = Exact()(problem_of(prior, group, shown)).probabilities[: len(group)]
        uniform.append(np.abs(plain - expected).mean())
    assert np.mean(law) < np.mean(uniform) / 2


def test_a_law_of_large_numbers():
    """All priors are .7 for a and .3 for b, in 140 groups of a and b, of which 80 have one counterfeit.

    Of the 200 people some 140 have a, one per group, and 60 b: the 80 who are alone have a, nearly for certain.
    """
    shown, group = [{0, 1}] * 140, np.concatenate([np.repeat(np.arange(60), 2), np.arange(60, 140)])
    found = posterior_of(np.tile([0.7, 0.3], (200, 1)), group, shown)
    assert np.allclose(found[:120], 0.5)
    assert (found[120:, 0] > 0.9).all()
    plain = Exact()(problem_of(np.tile([0.7, 0.3], (200, 1)), group, shown)).probabilities
    assert np.allclose(plain[120:200, 0], 0.7)


@given(drawn=releases(lambda _: True), seed=st.integers(0, 9))
def test_relabelling_values_relabels_beliefs(drawn, seed):
    prior, group, shown = drawn
    order = np.random.default_rng(seed).permutation(4)
    place = np.argsort(order)
    turned = posterior_of(prior[:, order], group, [{int(place[v]) for v in values} for values in shown])
    assert np.allclose(turned, posterior_of(prior, group, shown)[:, order], atol=1e-9)


def test_groups_without_counterfeits_are_weighed_as_before_and_only_once():
    rng = np.random.default_rng(1)
    prior, group, shown = rng.dirichlet(np.ones(3), size=5), np.array([0, 0, 1, 1, 2]), [{0, 1}, {1, 2}, {0, 1}]
    seen = []

    def estimate(problem):
        seen.append(problem.group.tolist())
        return Exact()(problem)

    found = counterfeit_posterior(problem_of(prior, group, shown), 5, estimate)
    assert all(part == [-1, -1, -1, -1, 2, 2] for part in seen[:-1])
    assert seen[-1] == [0, 0, 1, 1, 2, 2]
    assert np.array_equal(found.probabilities[:4], Exact()(problem_of(prior, group, shown)).probabilities[:4])


def test_what_does_not_settle_is_said_of_the_groups_with_counterfeits():
    answers = itertools.cycle([[0.9, 0.1], [0.1, 0.9]])

    def unsteady(problem):
        found = Exact()(problem)
        rows = found.probabilities.copy()
        rows[-1] = next(answers)
        return type(found)(rows, found.status)

    problem = problem_of(np.full((3, 2), 0.5), np.array([0, 0, 1]), [{0, 1}, {0, 1}])
    found = counterfeit_posterior(problem, 3, unsteady)
    assert found.status.tolist() == [Status.FINE, Status.UNCONVERGED]


def test_the_number_of_rounds_is_bounded():
    calls = []

    def unsteady(problem):
        calls.append(1)
        rows = np.tile([0.9, 0.1] if len(calls) % 2 else [0.1, 0.9], (len(problem.group), 1))
        return type(Exact()(problem))(rows, np.zeros(len(problem.counts), dtype=np.int64))

    counterfeit_posterior(problem_of(np.full((1, 2), 0.5), np.array([0]), [{0, 1}]), 1, unsteady)
    assert len(calls) == MAX_ROUNDS + 1


def test_sums_over_the_other_groups_of_a_signature():
    counts = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [2, 1, 0]])
    signature = signature_numbers(counts)
    assert signature[0] == signature[1] == signature[3] != signature[2]
    lacking = np.array([[0.2, 0.8, 0], [0.5, 0.5, 0], [0, 0.3, 0.7], [1.0, 0.0, 0]])
    assert np.allclose(
        sums_of_other_groups(lacking, signature), [[1.5, 0.5, 0], [1.2, 0.8, 0], [0, 0, 0], [0.7, 1.3, 0]]
    )
    assert np.allclose(counterfeit_weights(counts, lacking, signature)[2], [0, 1, 1])


def test_the_setting_of_the_adversary():
    release = Release(view_of("ABC", "aba"), Grouping(np.array([0, 0, 1]), counterfeits=np.array([[1, 1]])))
    adversary = Adversary(UniformPrior(), estimator=Exact(), counterfeits="uniform")
    assert np.allclose(adversary.observe(Memory(), release.observation)[0].probabilities[2], [0.5, 0.5, 0])
    with pytest.raises(ValueError, match="counterfeits is 'drawn'; it is one of 'estimated', 'uniform'"):
        Adversary(UniformPrior(), counterfeits="drawn")
