"""Further adversaries of the joint law: one who reads presence, its control, and one who learned the law from the releases alone.

Of none of the papers. Presence is the chance of leaving after each value, counted in the published history; its control reads it
without any group, so that what leaving alone tells is no fault of a defense.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, JointAttack, LearnedAttack, WithoutGroups
from foreknow.evaluation.papers.figures import Figure
from foreknow.evaluation.risk.adversary_gain import adversary_gain, gains
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth, mean
from foreknow.evaluation.risk.bounds import bound
from foreknow.models import Adversary, Beliefs, History, Presence, Release

JOINT, READ, CONTROL, LEARNED, UPPER = (
    "joint",
    "joint, presence read",
    "presence read without groups",
    "learned from the releases",
    "upper bound",
)
"""Adversaries of the rows, the control of the second, and the bound of the first."""

STRONGER_SEEDS = range(2, 12)
"""Without 1, the seed of ``--fast``, since an adversary takes minutes."""


def forward_beliefs(
    attack: Attack, history: History, releases: Sequence[Release], at: Sequence[int]
) -> tuple[Beliefs, History]:
    """Beliefs about some releases by number, from 1, each given those up to it; and their part of the history."""
    beliefs = tuple(attack(releases[:number]).releases[-1] for number in at)
    return Beliefs(beliefs), History(history.views[number - 1] for number in at)


def stronger(defense: str, history: History, releases: Sequence[Release], known: Adversary) -> pd.DataFrame:
    """Signed gain of each adversary, the mean over releases that have records, and the share of records that are bounded.

    ``known`` has prior and transitions. The upper bound is the gain of beliefs at the `bound` of this adversary; a record is
    bounded if that excludes a belief of 1 in its value.
    """
    reads = JointAttack(replace(known, presence=Presence.fit(history, pseudo_count=0.5)))
    attacks: dict[str, Attack] = {JOINT: JointAttack(known), READ: reads, CONTROL: WithoutGroups(reads)}
    attacks[LEARNED] = LearnedAttack()
    beliefs = {name: attack(releases) for name, attack in attacks.items()}
    rows = [(name, adversary_gain(each, history)["gain"].mean()) for name, each in beliefs.items()]
    uppers, open_gains, bounded = bound(releases, known).upper, [], []
    for upper, release in zip(uppers, beliefs_and_truth("stronger", beliefs[JOINT], history), strict=True):
        highest = replace(release, belief=upper[release.rows])
        gain, certain = gains(highest)
        open_gains.append(mean(gain[~certain]))
        bounded.append(highest.confidence < 1)
    rows.append((UPPER, pd.Series(open_gains).mean()))
    table = pd.DataFrame(rows, columns=pd.Index(["adversary", "gain"]))
    return table.assign(defense=defense, bounded=float(np.concatenate(bounded).mean())).round(4)


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
            "*Upper bound* is the gain of beliefs at the `bound` of the first adversary, whose own gain is the lower side; "
            "*bounded below 1* is the share of published records for which it excludes a belief of 1.",
            *readings,
        ),
    )
