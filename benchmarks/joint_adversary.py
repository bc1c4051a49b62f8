"""Adversaries of the findings on the same releases: sequential ones, and the joint one forward and in hindsight."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, JointAttack, SequentialAttack, SignatureAttack
from foreknow.evaluation import adversary_gain, disclosures, log_score, score_decomposition
from foreknow.models import Adversary, Auto, Beliefs, Estimator, History, MaxEntropy, Omega, Release, Sinkhorn

SEQUENTIAL: dict[str, Estimator] = {"Omega": Omega(), "Sinkhorn": Sinkhorn(), "Auto": Auto()}
FORWARD, HINDSIGHT = "joint, forward", "joint, in hindsight"
ADVERSARIES = ("sequential, Omega", "sequential, Sinkhorn", "sequential, Auto", FORWARD, HINDSIGHT)

type Row = dict[str, Any]


def joint_attacks(adversary: Adversary) -> dict[str, Attack]:
    """Joint attacks of an adversary by `MaxEntropy`: beliefs given the releases up to each one, and given all."""
    return {
        FORWARD: JointAttack(adversary, MaxEntropy(), hindsight=False),
        HINDSIGHT: JointAttack(adversary, MaxEntropy()),
    }


def signature_attacks(adversary: Adversary) -> dict[str, Attack]:
    """Attacks of an adversary who knows the rule of m-invariance: sequential, and joint."""
    return {
        "signature": SignatureAttack(adversary),
        f"{FORWARD}, rule known": JointAttack(adversary, MaxEntropy(), hindsight=False, signatures=True),
        f"{HINDSIGHT}, rule known": JointAttack(adversary, MaxEntropy(), signatures=True),
    }


def all_attacks(prior: Any, transitions: Any) -> dict[str, Attack]:
    """Attacks of `ADVERSARIES` with one knowledge."""
    attacks: dict[str, Attack] = {
        f"sequential, {name}": SequentialAttack(Adversary(prior, transitions, estimator=estimator))
        for name, estimator in SEQUENTIAL.items()
    }
    return attacks | joint_attacks(Adversary(prior, transitions))


def assessed(beliefs: Beliefs, history: History) -> Row:
    """Gain, log score in bits, and sure beliefs of an attack, over all published records and at the ends of the history."""
    gain, score = adversary_gain(beliefs, history), log_score(beliefs, history)
    held = disclosures(beliefs, history)[["sure", "expected", "right", "measured"]].sum()
    terms = score_decomposition(beliefs, history, score="log").set_index("term")["amount"]
    unconverged = np.concatenate([release.posterior.status for release in beliefs])
    return {
        "gain": weighted(gain, "gain"),
        "gain, first": gain["gain"].iloc[0],
        "gain, largest": gain["gain"].max(),
        "gain, last": gain["gain"].iloc[-1],
        "log score": weighted(score, "log_score"),
        "log score, first": score["log_score"].iloc[0],
        "log score, last": score["log_score"].iloc[-1],
        "sure": int(held["sure"]),
        "sure, share": held["sure"] / max(held["measured"], 1),
        "expected": held["expected"] / held["sure"] if held["sure"] else np.nan,
        "right": held["right"] / held["sure"] if held["sure"] else np.nan,
        "miscalibration": terms["miscalibration"],
        "flagged groups": float((unconverged != 0).mean()),
    }


def weighted(table: pd.DataFrame, column: str) -> float:
    """Mean of a measure over the published records of all releases that have one."""
    known = table[table[column].notna()]
    return float(np.average(known[column], weights=known["measured"])) if len(known) else np.nan


def assessments(releases: tuple[Release, ...], history: History, attacks: Mapping[str, Attack]) -> Iterator[Row]:
    """One row per attack on the same releases."""
    for name, attack in attacks.items():
        yield {"adversary": name} | assessed(attack(releases), history)


def line(row: Row) -> str:
    """Measures of one attack in one line."""
    return ", ".join(
        f"{name} {cell:.4f}" if isinstance(cell, float) else f"{name} {cell}" for name, cell in row.items()
    )
