"""Bounds on beliefs about noisy counts: tiny histories by enumeration, one that reaches its bound, and what is refused."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from noisy_histories import noisy_history, noisy_release
from strategies import history_of

from foreknow.attacks import JointAttack, OthersKnown
from foreknow.defenses import Promise
from foreknow.evaluation import bound, odds_shift, role_anonymity
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    CompromisedRecords,
    Enumeration,
    EvidenceCascade,
    MarkovChain,
    Noise,
    Presence,
    Relations,
    Release,
    UniformPrior,
)

HISTORY = history_of(("AB", "ab"), ("A", "a"), ("AB", "bb"), domain="ab")
LAPLACE = Noise("laplace", 1.5)
STAY = MarkovChain(1, np.eye(2))


def tiny_world(seed, noise):
    """An adversary with presence, gaps and a claim in turn, and the noisy releases of a history of that law."""
    rng = np.random.default_rng(seed)
    prior, chain = rng.dirichlet([1, 1]), rng.dirichlet([1, 1], 2)
    history, releases = noisy_history(rng, noise, prior, chain, people=int(rng.integers(1, 5)), listed=0.7)
    rest = {"gaps": "power" if seed % 2 else "ignore"}
    if seed % 3 == 0:
        rest["presence"] = Presence(rng.uniform(0.05, 0.4, 2))
    if seed % 5 == 0:
        view = history[int(rng.integers(len(history)))]
        rows = [(view.people.respondents[0], "a", view.time, 0.9)]
        claims = CompromisedRecords(pd.DataFrame(rows, columns=["respondent", "value", "time", "confidence"]))
        rest |= {"compromised": claims, "cascade": EvidenceCascade()}
    return history, releases, Adversary(ClassFrequencies({}, prior), MarkovChain(1, chain), **rest)


@pytest.mark.parametrize("hindsight", [True, False])
def test_no_belief_is_above_its_bound(hindsight):
    nearest = 1.0
    for seed in range(150):
        noise = Noise("laplace", 0.5 + seed % 4, clamped=seed % 7 == 0)
        history, releases, adversary = tiny_world(seed, noise)
        upper = bound(releases, adversary, hindsight).upper
        attack = JointAttack(adversary, Enumeration(), hindsight)
        for beliefs in (
            (attack(releases), OthersKnown(attack, history)(releases)) if not noise.clamped else (attack(releases),)
        ):
            room = [(most - one.posterior.probabilities).min() for one, most in zip(beliefs, upper, strict=True)]
            assert min(room) >= 0
            nearest = min(nearest, *room)
    assert nearest < 1e-3


def test_gaussian_bounds_hold_but_for_delta():
    """Delta is 1e-6, so that a belief over its bound in 200 histories has a chance of about 1e-3."""
    over = 0
    for seed in range(200):
        history, releases, adversary = tiny_world(3 * seed + 1, Noise("gaussian", 1.0))
        shifts = odds_shift(releases, adversary)
        promise = Promise(Noise("gaussian", 1.0), int(shifts["releases"].max()))
        assert (shifts["epsilon"].max(), shifts["delta"][0]) == (pytest.approx(promise.epsilon_delta), promise.delta)
        bounds = bound(releases, adversary)
        beliefs = OthersKnown(JointAttack(adversary, Enumeration()), history)(releases)
        over += any((one.posterior.probabilities > most).any() for one, most in zip(beliefs, bounds.upper, strict=True))
    assert (over, bounds.delta) == (0, 1e-6)
    shifts, own = odds_shift(releases, adversary, delta=1e-3), Promise(Noise("gaussian", 1.0), promise.releases, 1e-3)
    assert (shifts["epsilon"].max(), bound(releases, adversary, delta=1e-3).delta) == (own.epsilon_delta, 1e-3)


def test_a_respondent_alone_who_stays_reaches_the_bound():
    """Two releases, each with the ratios exp(1 / 1.5) of both counts: odds of exp(4 / 1.5), from a prior of 1/2."""
    view, later = history_of(("A", "a"), ("A", "a"), domain="ab")
    releases = [noisy_release(each, LAPLACE, [[9, -9]]) for each in (view, later)]
    adversary = Adversary(UniformPrior(), STAY)
    expected = 1 / (1 + np.exp(-4 / 1.5))
    assert bound(releases, adversary).upper[0][0].tolist() == pytest.approx([expected] * 2)
    assert bound(releases, adversary, hindsight=False).upper[0][0, 0] == pytest.approx(1 / (1 + np.exp(-2 / 1.5)))
    belief = JointAttack(adversary, Enumeration())(releases).releases[0].posterior.probabilities[0, 0]
    assert belief == pytest.approx(expected)
    assert belief <= bound(releases, adversary).upper[0][0, 0]


def test_shifts_are_of_the_releases_that_count_a_respondent():
    releases = [noisy_release(view, LAPLACE, [[1, 1]]) for view in HISTORY]
    adversary = Adversary(UniformPrior(), STAY)
    table = odds_shift(releases, adversary)
    assert table["respondent"].tolist() == ["A", "B"]
    assert (table["time"].tolist(), table["releases"].tolist()) == ([1, 1], [3, 2])
    assert table["epsilon"].tolist() == pytest.approx([6 / 1.5, 4 / 1.5])
    assert table["delta"].tolist() == [0, 0]
    forward = odds_shift(releases, adversary, hindsight=False)
    assert forward["releases"].tolist() == [1, 1, 2, 3, 2]
    assert bound(releases, adversary).frame(HISTORY).loc["B"].isna().tolist() == [False, True, False]


def test_the_groups_of_roles_are_cells():
    releases = [noisy_release(view, LAPLACE, [[7, 1]] * 2, cuts=[20]) for view in HISTORY]
    table = role_anonymity(releases)
    assert table["cell"].tolist() == [1] * 5


def test_a_sure_value_is_bounded_by_1():
    releases = [noisy_release(view, LAPLACE, [[1, 1]]) for view in HISTORY]
    upper = bound(releases, Adversary(ClassFrequencies({}, [1.0, 0.0]), STAY)).upper[0]
    assert (upper[:, 0] == 1).all()
    assert (upper[:, 1] < 1e-9).all()


def test_gaussian_bounds_are_those_of_the_own_law():
    """Five respondents surely have a by the law, and b in truth: the most probable counts shift odds beyond epsilon."""
    releases = [noisy_release(history_of(("ABCDE", "bbbbb"), domain="ab")[0], Noise("gaussian", 0.5), [[0, 5]])]
    adversary = Adversary(ClassFrequencies({}, [1 - 1e-30, 1e-30]))
    belief = JointAttack(adversary, Enumeration())(releases).releases[0].posterior.probabilities[0, 1]
    assert belief > 1e6 * bound(releases, adversary).upper[0][0, 1]


class TestRefused:
    RELEASES = tuple(noisy_release(view, LAPLACE, [[1, 1]]) for view in HISTORY)

    @pytest.mark.parametrize("measure", [bound, odds_shift])
    def test_mixed_sequences(self, measure):
        exact = Release(HISTORY[0], [0, 0])
        for mixed in (
            [exact, self.RELEASES[1]],
            [self.RELEASES[0], noisy_release(HISTORY[1], Noise("laplace", 2.0), [[1, 1]])],
        ):
            with pytest.raises(ValueError, match="do not have the noise of the others"):
                measure(mixed, Adversary(UniformPrior()))

    @pytest.mark.parametrize("measure", [bound, odds_shift])
    def test_relations(self, measure):
        graph = nx.Graph()
        graph.add_edge("A", "B", kind="pair")
        table = np.array([[0.6, 0.4], [0.4, 0.6]])
        related = Adversary(UniformPrior(), relations=Relations(graph, {"pair": table}))
        with pytest.raises(ValueError, match=r"related respondents.*without\('relations'\)"):
            measure(self.RELEASES, related)
        assert len(measure(self.RELEASES, related.without("relations")).__repr__())
