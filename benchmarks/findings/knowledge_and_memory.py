"""Sections 1 and 5: gain by the knowledge of the adversary, and the limits of what memory adds."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from exams_settings import CLASSES, SAFE, SHOWN, gains, seeded
from joint_adversary import assessed, joint_attacks, line

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.defenses import publish
from foreknow.evaluation import adversary_gain, disclosures, exams
from foreknow.models import (
    Adversary,
    ChainByRelease,
    ClassFrequencies,
    Exact,
    GivenPrior,
    History,
    MarkovChain,
    Numeric,
    Omega,
    Release,
    Schema,
    Simulation,
    UniformPrior,
    View,
)


def attack_on_exams() -> Iterator[str]:
    """Section 1: gain of the sequential and the snapshot attack."""
    for weeks in (1, 26):
        simulation = exams(weeks_per_step=weeks, rng=seeded())
        releases = publish(simulation.history, SAFE, rng=seeded(1))
        for estimator in (Omega(), Exact()):
            adversary = Adversary(simulation.prior, simulation.transitions, estimator=estimator)
            gain = gains(adversary, releases, simulation.history)
            snapshot = adversary_gain(SnapshotAttack(adversary)(releases), simulation.history)["gain"].abs().max()
            sure = disclosures(SequentialAttack(adversary)(releases), simulation.history).iloc[-1]
            yield (
                f"{weeks} weeks {estimator}: {gain[SHOWN].round(3).tolist()}, over .4 from {int((gain > 0.4).idxmax()) + 1} on, "
                f"snapshot at most {snapshot:.4f}; at the last release {dict(sure)}"
            )


def knowledge() -> Iterator[str]:
    """Section 1: mined and extracted knowledge."""
    simulation = exams(rng=seeded())
    releases = publish(simulation.history, SAFE, rng=seeded(1))
    for name, prior, chain in sources(simulation):
        for estimator in (Omega(), Exact()):
            gain = gains(Adversary(prior, chain, estimator=estimator), releases, simulation.history)
            yield f"{name}, {estimator}: {gain[SHOWN].round(3).tolist()}"


def joint_knowledge(views: int = 24, records: int = 5000) -> Iterator[str]:
    """Section 1: the joint attack with exact, mined and extracted knowledge, and with 26 weeks per step."""
    for weeks in (1, 26):
        simulation = exams(views, records, weeks_per_step=weeks, rng=seeded())
        releases = publish(simulation.history, SAFE, rng=seeded(1))
        for name, prior, chain in sources(simulation):
            if name == "exact" or (weeks == 1 and name != "as printed" and name != "extracted up to"):
                for attack, carried_out in joint_attacks(Adversary(prior, chain)).items():
                    beliefs = carried_out(releases)
                    gain = adversary_gain(beliefs, simulation.history)["gain"]
                    shown = gain.iloc[[i for i in SHOWN if i < views]].round(3).tolist()
                    yield f"{weeks} weeks, {name}, {attack}: {shown}; {line(assessed(beliefs, simulation.history))}"


def sources(simulation: Simulation) -> Iterator[tuple[str, object, object]]:
    large, small = exams(rng=seeded(99)).history, exams(records=500, rng=seeded(7)).history
    yield "exact", simulation.prior, simulation.transitions
    for name, corpus in (("mined from 24 x 5,000", large), ("mined from 24 x 500", small)):
        yield name, ClassFrequencies.fit(corpus, CLASSES), MarkovChain.fit(corpus)
    yield "as printed", ClassFrequencies.fit(large, CLASSES), MarkovChain.fit(large, as_printed=True)
    yield "extracted before", simulation.prior, ChainByRelease.extracted(simulation.history)
    yield "extracted up to", simulation.prior, ChainByRelease.extracted(simulation.history, inclusive=True)


def counted_twice() -> Iterator[str]:
    """Section 5: two respondents who always share a group and never change."""
    schema = Schema({"age": Numeric(0, 9)}, "value", ("a", "b"))
    frame = pd.DataFrame({"id": ["x", "y"], "age": [1, 2], "value": ["a", "b"]})
    prior = GivenPrior(pd.DataFrame([[0.6, 0.4], [0.4, 0.6]], index=["x", "y"], columns=["a", "b"]))
    releases = [Release(View(frame, schema, time), [0, 0]) for time in range(1, 6)]
    beliefs = SequentialAttack(Adversary(prior, MarkovChain(1, np.eye(2)), estimator=Exact()))(releases)
    yield f"belief that x has a: {[round(float(beliefs.posterior(t).loc['x', 'a']), 4) for t in range(1, 6)]}"


def nothing_to_learn() -> Iterator[str]:
    """Section 5: independent values, and knowledge extracted before and up to the release."""
    for inclusive in (False, True):
        gain = [_without_memory(seed, inclusive) for seed in range(200)]
        yield f"inclusive={inclusive}: gain {np.mean(gain):.4f} +- {np.std(gain) / math.sqrt(len(gain)):.4f}"


def _without_memory(seed: int, inclusive: bool) -> float:
    rng, people = seeded(seed), 40
    frame = pd.DataFrame(
        {
            "id": np.tile(np.arange(people), 2),
            "week": np.repeat([1, 2], people),
            "age": np.tile(rng.integers(20, 60, people), 2),
            "value": rng.integers(0, 6, 2 * people),
        }
    )
    history = History.read(frame, Schema({"age": Numeric()}, "value", range(6)))
    releases = tuple(Release(view, rng.permutation(people) // 4) for view in history)
    adversary = Adversary(UniformPrior(), ChainByRelease.extracted(history, inclusive=inclusive), estimator=Exact())
    return float(gains(adversary, releases, history).iloc[1])
