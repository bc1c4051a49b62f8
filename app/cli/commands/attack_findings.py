"""Findings of `foreknow attack`: those of each adversary, the verdict on all, the tables printed and the table at-risk.csv.

Without --corpus and --knowledge there are two adversaries, as in the report.
"""

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rich.console import RenderableType

from foreknow.app.cli.attack_choices import DEFAULT_R, LEARNED, RECORDS, Attacked, AttackOptions, beliefs_of
from foreknow.app.cli.commands.exposure_verdict import exposure_content, fail_over_lines, verdict_line
from foreknow.app.cli.printing.attack_tables import foreground_tables, joint_and_sequential, risk_tables
from foreknow.app.cli.printing.terminal import TimeLeft, error_console, notice, show
from foreknow.app.exposure import Exposure, exposed
from foreknow.app.report.adversaries import INFORMED, Inference
from foreknow.app.report.respondents import LEAST_CHANGE, Pseudonyms, exposed_people, label, percent
from foreknow.attacks import Attack, ForegroundAttack, JointAttack
from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.models import Averaged, Beliefs, History, Release

CORPUS = "corpus"
"""Source of the knowledge of an adversary with a --corpus."""

KNOWERS = {
    LEARNED: "an adversary who learned from these releases alone",
    RECORDS: "an adversary who knows the statistics of the records",
    CORPUS: "an adversary who knows the statistics of the corpus",
}
"""Each adversary in words, by the source of the knowledge."""


class Found(NamedTuple):
    """Findings of one adversary.

    Attributes
    ----------
    source : {"learned", "records", "corpus"} or None
        Source of the adversary's knowledge; None for an attack without an adversary.
    attack : Attack
    beliefs : Beliefs
    exposed : Exposure
    """

    source: str | None
    attack: Attack
    beliefs: Beliefs
    exposed: Exposure


def sources(chosen: AttackOptions, read: Attacked) -> tuple[str | None, ...]:
    """Sources of knowledge of the adversaries; the tables of the command are about the first.

    By default the releases and the records, the former first where a respondent is published twice.
    """
    if not chosen.choice.has_adversary:
        return (None,)
    if read.corpus is not None:
        return (CORPUS,)
    if chosen.source is not None:
        return (chosen.source,)
    if _has_transitions(read.releases):
        return (LEARNED, RECORDS)
    notice("No respondent is published twice: the releases are too little data to learn transitions from.")
    return (RECORDS, LEARNED)


def _has_transitions(releases: Sequence[Release]) -> bool:
    """True if a respondent is published in two releases."""
    seen: set[Any] = set()
    for names in map(_published, releases):
        if seen & names:
            return True
        seen |= names
    return False


def found_by(chosen: AttackOptions, read: Attacked, history: History, sure: float) -> Found:
    """Findings of the adversary with the source of knowledge of some options."""
    attack = chosen.choice.make(chosen, read)
    beliefs = beliefs_of(chosen.attack, attack, read.releases)
    with error_console.status("counting exposed respondents"):
        found = exposed(beliefs, history, sure, to=in_words(chosen.source, chosen.attack))
    return Found(chosen.source, attack, beliefs, found)


def in_words(source: str | None, attack: str) -> str:
    """The adversary with some source of knowledge, or the attack where it has none."""
    return f"the {attack} attack" if source is None else KNOWERS[source]


def by_exposure(found: list[Found]) -> list[Found]:
    """Findings in decreasing order of the share of exposed respondents."""
    return sorted(found, key=lambda one: one.exposed.share, reverse=True)


def verdict_lines(found: list[Found], fail_over: float | None) -> list[str]:
    """The verdict on each adversary, the worst first, and the line on --fail-over for the worst."""
    worst = by_exposure(found)
    return [*(verdict_line(one.exposed) for one in worst), *fail_over_lines(worst[0].exposed.share, fail_over)]


def tables_line(found: list[Found]) -> list[str]:
    """The line that says which of two adversaries the tables are about; none for one adversary."""
    return [
        f"The tables are about {found[0].exposed.to}; with --knowledge {other.source} about the other."
        for other in found[1:]
    ]


def notice_others(found: list[Found]) -> None:
    """Print the notes of the adversaries that the tables are not about."""
    for other in found[1:]:
        for note in other.beliefs.notes:
            if note not in found[0].beliefs.notes:
                notice(f"--knowledge {other.source}: {note}")


def adversaries_content(found: list[Found], fail_over: float | None) -> dict[str, Any]:
    """The verdict as JSON has it: that of the worst adversary, and ``adversaries``, that of each."""
    each = [{"adversary": one.source} | exposure_content(one.exposed, fail_over) for one in by_exposure(found)]
    return each[0] | {"verdict": " ".join(str(one["verdict"]) for one in each), "adversaries": each}


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
    people = found.at_risk
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
        table = exposed_people(one, people, releases, attack.solver, names, MAX_REASONS, shown.parts)
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


def report_attack(
    chosen: AttackOptions,
    attack: Attack,
    beliefs: Beliefs,
    sequential: Beliefs | None,
    history: History,
    sure: float,
) -> None:
    """Print the risk of an attack and its notes; for the joint attack, the sequential one beside it."""
    parts: list[RenderableType] = []
    with error_console.status("measuring the risk"):
        if sequential is not None:
            parts += joint_and_sequential(beliefs, sequential, history, chosen.forward, sure)
        if isinstance(attack, ForegroundAttack) and isinstance(beliefs, ForegroundBeliefs):
            parts += foreground_tables(beliefs, history, attack.sensitive_set, chosen.r or DEFAULT_R)
        parts += risk_tables(beliefs, history, chosen.title, sure)
    for part in parts:
        show(part)
    for note in beliefs.notes:
        notice(note)
    for note in () if sequential is None else sequential.notes:
        notice(f"Sequential attack: {note}")
