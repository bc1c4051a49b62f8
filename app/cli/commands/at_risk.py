"""The table at-risk.csv: each exposed respondent, what the group shows, and the releases that exposed."""

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.cli.commands.attack_making import Attacked, beliefs_of
from foreknow.app.cli.commands.exposure_verdict import Exposure
from foreknow.app.cli.printing.terminal import error_console
from foreknow.app.cli.printing.time_left import TimeLeft
from foreknow.app.report.adversaries import INFORMED, Inference
from foreknow.app.report.exposure import LEAST_CHANGE, exposed_people, percent
from foreknow.app.report.pseudonyms import Pseudonyms, label
from foreknow.attacks import Attack, JointAttack
from foreknow.models import Averaged, Beliefs, Release

MAX_REASONS = 500
"""Number of respondents whose reason is computed, the most exposed ones; each takes some milliseconds."""

COLUMNS = ("respondent", "time", "believed", "belief", "prior", "share", "group", "group_values", "releases", "reason")
"""Columns of the table."""


def at_risk(
    found: Exposure, attack: Attack, beliefs: Beliefs, sequential: Beliefs | None, read: Attacked
) -> pd.DataFrame:
    """Exposed respondents, in decreasing order of the belief.

    Returns
    -------
    DataFrame
        Columns ``respondent``; ``time``, the release of the highest belief; ``believed``, the value believed, the true one;
        ``belief``; ``prior``, the belief before any release; ``share``, the value's share of the group; ``group``, its number;
        ``group_values``, the values that the group shows, with their numbers; ``releases``, those that led to the belief;
        ``reason``, a sentence, for the first `MAX_REASONS` rows.
    """
    people = found.people.reset_index(drop=True)
    reasons = _reasons(people, attack, beliefs, sequential, read.releases)
    with error_console.status("listing exposed respondents"):
        rows = [
            _row(row, beliefs, read, *(reasons[place] if place < len(reasons) else ([row.time], "")))
            for place, row in enumerate(people.itertuples())
        ]
    return pd.DataFrame(rows, columns=pd.Index(COLUMNS))


def _row(row: Any, beliefs: Beliefs, read: Attacked, leading: list[Any], reason: str) -> dict[str, Any]:
    """One exposed respondent, with the releases that led to the belief and the reason."""
    observation = beliefs.at(row.time).observation
    group = int(observation.group[observation.people.rows(row.respondent)[0]])
    counts = observation.counts[group]
    order = np.argsort(-counts, kind="stable")
    shown = [f"{counts[code]:g} {label(read.schema.values[code])}" for code in order if counts[code]]
    return {
        "respondent": row.respondent,
        "time": row.time,
        "believed": row.value,
        "belief": row.belief,
        "prior": row.prior,
        "share": row.share,
        "group": group,
        "group_values": ", ".join(shown),
        "releases": ", ".join(map(str, leading)),
        "reason": reason,
    }


def _reasons(
    people: pd.DataFrame, attack: Attack, beliefs: Beliefs, sequential: Beliefs | None, releases: Sequence[Release]
) -> list[tuple[list[Any], str]]:
    """Releases that led to each belief, and a sentence."""
    if not isinstance(attack, JointAttack) or sequential is None or isinstance(attack.adversary, Averaged):
        return [([row.time], _sentence(row)) for row in people.head(MAX_REASONS).itertuples()]
    forward = beliefs_of("joint", replace(attack, hindsight=False), releases) if attack.hindsight else beliefs
    one = Inference(INFORMED, attack.adversary, beliefs, forward, sequential)
    names = Pseudonyms.of(people["respondent"], True)
    with TimeLeft("finding the releases that exposed them") as shown:
        table = exposed_people(
            one, people.assign(exposed=True), releases, attack.solver, names, MAX_REASONS, shown.parts
        )
    published = {release.time: _published(release) for release in releases}
    return [(_leading(row, published), str(row.reason)) for row in table.itertuples()]


def _published(release: Release) -> set[Any]:
    """Respondents with a published record."""
    observation = release.observation
    return set(observation.people[observation.group >= 0].respondents)


def _leading(row: Any, published: Mapping[Any, Set[Any]]) -> list[Any]:
    """Releases that led to a belief: earlier ones of the respondent and the named members, the release, and a later one."""
    names = {row.respondent, *row.mates} if row.forward - row.share >= LEAST_CHANGE else set()
    before = itertools.takewhile(lambda time: time != row.time, published)
    earlier = [time for time in before if not names.isdisjoint(published[time])]
    return [*earlier, row.time, *([] if row.later is None else [row.later])]


def _sentence(row: Any) -> str:
    shown = f"The group shows {label(row.value)} for {round(row.share * row.members)} of {row.members} records"
    return f"{shown} ({percent(row.share)}); the attack believes it with {percent(row.belief)}."
