"""The adversaries of `foreknow attack`: without --corpus and --knowledge two, as in the report, and the verdict counts both."""

from typing import Any, NamedTuple

from foreknow.app.cli.attack_choices import WITHOUT_ADVERSARY
from foreknow.app.cli.commands.attack_making import (
    LEARNED,
    RECORDS,
    Attacked,
    AttackSettings,
    beliefs_of,
    chosen_attack,
    has_transitions,
)
from foreknow.app.cli.commands.exposure_verdict import (
    Exposure,
    exposure,
    exposure_content,
    fail_over_lines,
    verdict_line,
)
from foreknow.app.cli.printing.terminal import error_console, notice
from foreknow.attacks import Attack
from foreknow.models import Beliefs

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


def sources(settings: AttackSettings, read: Attacked) -> tuple[str | None, ...]:
    """Sources of knowledge of the adversaries; the tables of the command are about the first.

    By default the releases and the records, the former first where a respondent is published twice.
    """
    if settings.name in WITHOUT_ADVERSARY:
        return (None,)
    if read.corpus is not None:
        return (CORPUS,)
    if settings.source is not None:
        return (settings.source,)
    if has_transitions(read.releases):
        return (LEARNED, RECORDS)
    notice("No respondent is published twice: the releases are too little data to learn transitions from.")
    return (RECORDS, LEARNED)


def found_by(source: str | None, settings: AttackSettings, read: Attacked, sure: float) -> Found:
    """Findings of the adversary with some source of knowledge."""
    attack = chosen_attack(settings._replace(source=source), read)
    beliefs = beliefs_of(settings.name, attack, read.releases)
    with error_console.status("counting exposed respondents"):
        exposed = exposure(beliefs, read.history, sure, in_words(source, settings.name))
    return Found(source, attack, beliefs, exposed)


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
