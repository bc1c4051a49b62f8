"""Further adversaries of the joint law: one who reads presence, its control, and one who learned the law from the releases alone.

Of none of the papers. Presence is the chance of leaving after each value, counted in the published history; its control reads it
without any group, so that what leaving alone tells is no fault of a defense.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, JointAttack, LearnedAttack, WithoutGroups
from foreknow.evaluation.papers.figures import Figure
from foreknow.evaluation.risk.adversary_gain import adversary_gain
from foreknow.evaluation.risk.bounds import bound
from foreknow.models import Adversary, History, Presence, Release

JOINT, READ, CONTROL, LEARNED = (
    "joint",
    "joint, presence read",
    "presence read without groups",
    "learned from the releases",
)
"""Adversaries of the rows, and their control."""

STRONGER_SEEDS = (2, 3, 4)
"""Few, since an adversary takes minutes; 1 is the seed of ``--fast``."""


def stronger(defense: str, history: History, releases: Sequence[Release], known: Adversary) -> pd.DataFrame:
    """Signed gain of each adversary, the mean over releases that have records, and the share of records that are bounded.

    ``known`` has prior and transitions. A record is bounded if `bound` excludes a belief of 1 in its value, for this adversary.
    """
    reads = JointAttack(replace(known, presence=Presence.fit(history, pseudo_count=0.5)))
    attacks: dict[str, Attack] = {JOINT: JointAttack(known), READ: reads, CONTROL: WithoutGroups(reads)}
    attacks[LEARNED] = LearnedAttack()
    gains = {name: adversary_gain(attack(releases), history) for name, attack in attacks.items()}
    rows = [(name, each["gain"].mean()) for name, each in gains.items()]
    bounded = np.concatenate([*_bounded(history, releases, known)])
    table = pd.DataFrame(rows, columns=pd.Index(["adversary", "gain"]))
    return table.assign(defense=defense, bounded=float(bounded.mean())).round(4)


def _bounded(history: History, releases: Sequence[Release], known: Adversary) -> Iterator[np.ndarray]:
    """True for each published record whose value is not open to a belief of 1, release by release."""
    for upper, view, release in zip(bound(releases, known).upper, history, releases, strict=True):
        rows = np.flatnonzero(release.group >= 0)
        yield upper[rows, view.sensitive[rows]] < 1


def stronger_figure(name: str, table: str, *readings: str) -> Figure:
    """Table of a row for each defense, a column for each adversary."""
    query = f"""SELECT adversary AS x, gain AS y, defense AS line, '' AS panel, seed FROM {table} UNION ALL
        SELECT 'bounded below 1', bounded, defense, '', seed FROM {table} WHERE adversary = '{JOINT}'"""
    return Figure(
        name,
        "mean gain, not in the paper",
        query,
        "table",
        "",
        "mean signed gain",
        "",
        (
            "Presence is read as the chance of leaving after each value, counted in the history. What it tells without groups is "
            "told by who is listed, whatever is published.",
            "*Bounded below 1* is the share of published records for which `bound` excludes a belief of 1, by the first adversary.",
            *readings,
        ),
    )
