"""The verdict of an attack: the number of exposed respondents, the first release that exposes, and --fail-over."""

from typing import Any, NamedTuple

import pandas as pd

from foreknow.app.report.exposure import percent
from foreknow.app.report.pseudonyms import label
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth
from foreknow.evaluation.risk.respondent_risk import respondent_risk
from foreknow.models import Beliefs, History


class Exposure(NamedTuple):
    """Exposed respondents of one attack.

    Attributes
    ----------
    sure : float
        Belief from which an adversary is sure.
    respondents : int
        Number of respondents with a published record.
    known : int
        Number of them with a sure belief in their true value before any release; they are not exposed.
    people : DataFrame
        `respondent_risk` of the exposed: those with a sure belief in their true value at a release, and none before any.
    first : object
        The first release with such a belief; None if no respondent is exposed.
    to : str
        The adversary or the attack, in words.
    """

    sure: float
    respondents: int
    known: int
    people: pd.DataFrame
    first: Any
    to: str = "the attack"

    @property
    def share(self) -> float:
        """Share of the respondents that is exposed."""
        return len(self.people) / self.respondents if self.respondents else 0.0


def exposure(beliefs: Beliefs, history: History, sure: float, to: str = "the attack") -> Exposure:
    """Exposed respondents by the beliefs in their true values, to an adversary or an attack in words; as in the report."""
    people = respondent_risk(beliefs, history)
    known = people["prior"] >= sure
    exposed = people[(people["belief"] >= sure) & ~known].reset_index(drop=True)
    owners, first = set(exposed["respondent"]), None
    for measured in beliefs_and_truth("attack", beliefs, history):
        names = beliefs.at(measured.time).observation.people.respondents[measured.rows]
        if any(name in owners for name in names[measured.confidence >= sure]):
            first = measured.time
            break
    return Exposure(sure, len(people), int(known.sum()), exposed, first, to)


def verdict_line(found: Exposure) -> str:
    """The verdict in one line."""
    n, number = found.respondents, len(found.people)
    known = f" ({found.known:,} more were known before any release)" if found.known else ""
    if not number:
        return f"None of {n:,} respondents is exposed to {found.to}: no belief in a true value reaches {found.sure:g}{known}."
    verb = "respondents are" if number > 1 else "respondents is"
    return (
        f"{number:,} of {n:,} {verb} exposed to {found.to}: a belief of at least {found.sure:g} in their true value at some "
        f"release, the first that of {label(found.first)}{known}."
    )


def is_over(found: Exposure, fail_over: float | None) -> bool:
    """Return whether the share of exposed respondents is over --fail-over."""
    return fail_over is not None and found.share > fail_over


def fail_over_lines(share: float, fail_over: float | None, of: str = "respondents") -> list[str]:
    """The line on --fail-over, if it was given, for the share that is exposed."""
    if fail_over is None:
        return []
    if share > fail_over:
        return [f"FAILED: {percent(share)} of the {of} are exposed, over --fail-over {fail_over:g}."]
    return [f"Passed: {percent(share)} of the {of} are exposed, not over --fail-over {fail_over:g}."]


def exposure_content(found: Exposure, fail_over: float | None) -> dict[str, Any]:
    """The verdict as JSON has it."""
    return {
        "verdict": verdict_line(found),
        "respondents": found.respondents,
        "exposed": len(found.people),
        "exposed_share": found.share,
        "known_before": found.known,
        "sure": found.sure,
        "first_release": found.first,
        "fail_over": fail_over,
        "failed": is_over(found, fail_over),
    }
