"""Laws of counterfeits, of distorted values and of signatures: attacks with and without them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from comparison_settings import Row, markdown, seeded, simulated
from joint_adversary import joint_attacks, signature_attacks

from foreknow.attacks import Attack, SequentialAttack, SnapshotAttack
from foreknow.defenses import MASK, Defense, MInvariance, publish
from foreknow.evaluation import adversary_gain, disclosures, log_score
from foreknow.models import (
    Adversary,
    Auto,
    Beliefs,
    Categorical,
    History,
    MarkovChain,
    Numeric,
    People,
    Schema,
    Simulation,
    View,
)

STATES = np.array([0.09, 0.19, 0.49, 0.12, 0.085, 0.01, 0.006, 0.004, 0.003, 0.002])
"""Stationary distribution of the payment states -2 to 7 of `accounts`."""


def accounts(number: int, months: int) -> Simulation:
    """Simulated credit accounts by month: ten ordered payment states, about 82 % unchanged; exact priors by account.

    The states follow a Metropolis chain with the stationary shares `STATES`; the first ones depend on sex, education
    and age, which do not change.
    """
    rng, m = seeded(), len(STATES)
    apart = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    step = 0.25 * 0.5**apart * np.minimum(1, STATES / STATES[:, None]) * (apart > 0)
    step += np.diag(1 - step.sum(axis=1))
    sexes, educations, marriages = (rng.integers(0, size, number) for size in (2, 4, 3))
    age = rng.integers(21, 70, number)
    tilt = 0.5 * sexes + 0.3 * educations - 0.02 * (age - 45)
    prior = STATES * np.exp(0.35 * (tilt - tilt.mean())[:, None] * (np.arange(m) - 2) / 3)
    prior /= prior.sum(axis=1, keepdims=True)
    traits = {
        "sex": sexes.astype(str),
        "education": educations.astype(str),
        "marriage": marriages.astype(str),
        "age": age,
    }
    schema = Schema(
        {
            "sex": Categorical(("0", "1")),
            "education": Categorical(tuple("0123")),
            "marriage": Categorical(tuple("012")),
            "age": Numeric(21, 69),
        },
        "status",
        tuple(range(-2, m - 2)),
        "id",
    )
    views, law = [], prior
    for month in range(1, months + 1):
        state = (law.cumsum(axis=1) > rng.random(number)[:, None]).argmax(axis=1)
        frame = pd.DataFrame({"id": np.arange(number), **traits, "status": state - 2})
        views.append(View(frame, schema, month))
        law = step[state]

    def known(people: People) -> "np.ndarray[Any, np.dtype[np.float64]]":
        return prior[people.respondents.astype(int)]

    return Simulation(History(views), known, MarkovChain(1, step))


def laws() -> Iterator[str]:
    """Attacks with exact knowledge on counterfeits, distorted values and signatures, with and without their laws."""
    weekly, monthly = simulated(12, 2000), accounts(30_000, 6)
    settings: tuple[tuple[str, Simulation, str, Defense], ...] = (
        ("exams", weekly, "MInvariance(5)", MInvariance(5, rng=seeded(1))),
        ("exams", weekly, "MInvariance(2)", MInvariance(2, rng=seeded(1))),
        ("exams", weekly, "MASK(5, 5)", MASK(5, 5, rng=seeded(1))),
        ("accounts", monthly, "MInvariance(3)", MInvariance(3, rng=seeded(1))),
        ("accounts", monthly, "MInvariance(2)", MInvariance(2, rng=seeded(1))),
        ("accounts", monthly, "MASK(5, 2)", MASK(5, 2, rng=seeded(1))),
    )
    yield from markdown(row for setting in settings for row in by_law(*setting))


def by_law(data: str, simulation: Simulation, name: str, defense: Defense) -> Iterator[Row]:
    """One row per attack on a defense; "naive" gives counterfeits a uniform prior and takes all published values for true."""
    naive = Adversary(
        simulation.prior, simulation.transitions, estimator=Auto(), counterfeits="uniform", distortion="ignored"
    )
    knows = Adversary(simulation.prior, simulation.transitions, estimator=Auto())
    attacks: dict[str, Attack] = {
        "snapshot, naive": SnapshotAttack(naive),
        "snapshot": SnapshotAttack(knows),
        "sequential, naive": SequentialAttack(naive),
        "sequential": SequentialAttack(knows),
    } | joint_attacks(knows)
    if isinstance(defense, MInvariance):
        attacks |= signature_attacks(knows)
    releases = publish(simulation.history, defense, rng=seeded(1))
    for attack, carried_out in attacks.items():
        beliefs = carried_out(releases)
        yield {"data": data, "defense": name, "attack": attack} | surety(beliefs, simulation.history)


def surety(beliefs: Beliefs, history: History) -> Row:
    """Gain over all records, of the first and of the last release; sure beliefs; log score in bits."""
    gain, sure, score = (measure(beliefs, history) for measure in (adversary_gain, disclosures, log_score))
    return {
        "gain": whole_and_ends(gain, "gain"),
        "sure": int(sure["sure"].sum()),
        "expected": f"{sure['expected'].sum():.0f}",
        "right": int(sure["right"].sum()),
        "log score": whole_and_ends(score, "log_score"),
    }


def whole_and_ends(measured: pd.DataFrame, column: str) -> str:
    """Mean over all records; in parentheses, the first and the last release."""
    first, last = measured[column].iloc[[0, -1]]
    return f"{np.average(measured[column], weights=measured['measured']):.3f} ({first:.3f}, {last:.3f})"
