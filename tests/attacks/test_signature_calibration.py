"""Calibration of the signature attack on m-invariant releases of respondents who come, go and change their value."""

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import SequentialAttack, SignatureAttack
from foreknow.defenses import publish
from foreknow.defenses.m_invariance import MInvariance
from foreknow.models import Adversary, ClassFrequencies, History, MarkovChain, Numeric, PriorByTime, Schema, View

VALUES, PEOPLE, TIMES = "abcdef", 2500, 4
SHARES = np.array([0.3, 0.25, 0.2, 0.13, 0.08, 0.04])


def drifting(seed):
    """A history of newcomers, absences and persistent values; the exact prior of each time; the exact chain.

    The values follow a Metropolis chain. First values depend on age, and drift from release to release.
    """
    rng, m = np.random.default_rng(seed), len(VALUES)
    apart = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    step = 0.2 * 0.5**apart * np.minimum(1, SHARES / SHARES[:, None]) * (apart > 0)
    step += np.diag(1 - step.sum(axis=1))
    age = rng.integers(20, 70, PEOPLE)
    first = rng.choice(TIMES, PEOPLE, p=[0.55, 0.15, 0.15, 0.15])
    schema = Schema({"age": Numeric(20, 69)}, "value", tuple(VALUES), "id")

    def law(people, time):
        weights = SHARES * np.exp((0.02 * (age[people, None] - 45) + 0.35 * time) * (np.arange(m) - 2) / 3)
        return weights / weights.sum(axis=1, keepdims=True)

    def drawn(rows):
        return (rows.cumsum(axis=1) > rng.random(len(rows))[:, None]).argmax(axis=1)

    value, views = np.zeros(PEOPLE, dtype=int), []
    for time in range(TIMES):
        value = np.where(first == time, drawn(law(np.arange(PEOPLE), time)), drawn(step[value]))
        seen = np.flatnonzero((first <= time) & (rng.random(PEOPLE) < 0.9))
        frame = pd.DataFrame({"id": seen, "age": age[seen], "value": [VALUES[code] for code in value[seen]]})
        views.append(View(frame, schema, time))
    prior = PriorByTime({t: lambda people, t=t: law(people.respondents.astype(int), t) for t in range(TIMES)})
    return History(views), prior, MarkovChain(1, step)


def priors(history, exact):
    """Priors of three kinds of adversary: exact by time, mined by time, mined and pooled over all releases."""
    fit = ClassFrequencies.fit
    by_time = {view.time: fit(History([view]), {"age": 5}, pseudo_count=1.0) for view in history}
    return {"exact": exact, "by time": PriorByTime(by_time), "pooled": fit(history, {"age": 5}, pseudo_count=1.0)}


def surplus(attack, releases, history):
    """Expected minus actual number of records whose likeliest value is the true one, in standard deviations.

    The deviation is that of independent guesses. Guesses are dependent within a group of m people and between the
    T releases of a person, so that the true standard deviation is at most about sqrt(m T) times as large.
    """
    expected = right = variance = 0.0
    for belief, view in zip(attack(releases), history, strict=True):
        top = belief.posterior.probabilities.max(axis=1)
        expected, variance = expected + top.sum(), variance + (top * (1 - top)).sum()
        right += (belief.posterior.probabilities.argmax(axis=1) == view.sensitive).sum()
    return (expected - right) / np.sqrt(variance)


@pytest.mark.parametrize("known", ["exact", "by time", "pooled"])
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_is_right_as_often_as_expected(seed, m, known):
    history, exact, chain = drifting(seed)
    rng = np.random.default_rng(seed)
    releases = publish(history, MInvariance(m, rng=rng), rng=rng)
    adversary = Adversary(priors(history, exact)[known], chain, gaps="power")
    bound = 4 * np.sqrt(m * TIMES)
    assert abs(surplus(SignatureAttack(adversary), releases, history)) < bound
    assert surplus(SequentialAttack(adversary), releases, history) > bound
