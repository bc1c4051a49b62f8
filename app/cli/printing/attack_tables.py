"""Tables that `foreknow attack` prints and writes, and notices about records that commands share."""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from rich.console import RenderableType

from foreknow.app.cli.files.columns import possible_codes
from foreknow.app.cli.printing.printed_table import PrintedTable, definitions
from foreknow.app.cli.printing.terminal import notice
from foreknow.app.report.respondents import percent
from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.loss.generalization_loss import suppressed
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.evaluation.risk.breaches import breaches
from foreknow.models import Beliefs, History, Release, Schema, Status
from foreknow.models.arrays import BoolArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.foreground.fit import FitStatus

HEADINGS = {
    "total_risk": "total risk",
    "log_score": "log score",
    "belief_of_holders": "p",
    "auc_within": "auc",
    "published": "records",
}
"""Headings of columns whose names are different."""

RISK_TERMS = {
    "sure": "number of posteriors of at least {sure:g}",
    "expected": "sum of the sure posteriors: the number of them that the adversary expects to be right",
    "right": "number of sure posteriors that are right; fewer than expected means overconfident",
    "log score": "mean log2 of the belief in the true value; lower than a weaker attack's means overconfident",
    "ruled out": "number of groups whose published values the knowledge excludes",
    "records": "number of published records",
    "gain": "mean of (belief in the true value - f) / (1 - f), where f is the true value's share of its group; without certain "
    "records",
    "certain": "number of records in groups with a single value",
    "total risk": "share of certain records, plus the gain of the others times their share",
    "success": "share of records whose most probable value is the true value",
    "confidence": "mean belief in the true value",
}
"""Meaning of the columns of `risk_per_release` and `sure_beliefs_per_release`; see `risk_terms`."""

BREACH_TERMS = {
    "holders": "number of published records with a value of the sensitive set; the others are non-holders",
    "breached": "share of the holders in breach: believed with more than 1/r to have a value of the set",
    "flagged": "share of the non-holders in breach",
    "p": "mean belief in the set for the holders",
    "precision": "share of holders among the records in breach",
    "counted": "mean share of the set in the groups of the records in breach",
    "auc": "area under the ROC curve within groups: the fraction of (holder, non-holder) pairs of one group in which the holder "
    "has the higher belief; 0.5 is chance",
}
"""Meaning of the columns of `breaches_per_release`."""

DISTRIBUTION_TERMS = {
    "signatures": "number of combinations of values shared by enough respondents",
    "lowest, highest": "least and greatest probability of the sensitive set among the signatures, learned from the groups",
    "worst for": "number of respondents for whom this attribute set changes the belief most, beyond the shares of the group",
}
"""Meaning of the columns of `global_distributions`."""

TOTAL_COLUMNS = ("gain", "success", "confidence", "log_score", "sure", "expected", "right")
"""Measures over all releases that are printed for the joint and the sequential attack."""

TOTALS = "Risk over all releases"
"""Title of the table of the joint and the sequential attack."""

MAX_ATTRIBUTE_SETS = 12
"""Number of attribute sets of a release that are printed."""

MOST = 0.5
"""Share of suppressed records above which a command prints a warning."""

MIN_COUNTED_CHANGE = 1e-9
"""Difference between a belief and a share that is not counted as a change."""


def risk_terms(sure: float) -> dict[str, str]:
    """`RISK_TERMS` with the belief from which an adversary is sure."""
    return {name: text.format(sure=sure) for name, text in RISK_TERMS.items()}


def joint_and_sequential(
    joint: Beliefs, sequential: Beliefs, history: History, forward: bool, sure: float
) -> Iterator[RenderableType]:
    """The risk over all releases of the joint attack and of the sequential one, two rows."""
    beliefs = {f"joint, {'forward' if forward else 'in hindsight'}": joint, "sequential": sequential}
    yield PrintedTable(totals(beliefs, history, sure), TOTALS)
    yield ""


def totals(beliefs: Mapping[str, Beliefs], history: History, sure: float) -> pd.DataFrame:
    """Measures over all releases, one row per attack."""
    rows = [{"attack": name} | total_of_risk(risk_table(found, history, sure=sure)) for name, found in beliefs.items()]
    return pd.DataFrame(rows)[["attack", *TOTAL_COLUMNS]].rename(columns=HEADINGS)


def risk_tables(beliefs: Beliefs, history: History, title: str, sure: float) -> Iterator[RenderableType]:
    """The tables of risk of an attack, and the meaning of their columns."""
    yield PrintedTable(sure_beliefs_per_release(beliefs, history, sure), "Sure beliefs, expected and right")
    yield PrintedTable(risk_per_release(beliefs, history), title)
    yield definitions(risk_terms(sure))


def foreground_tables(
    beliefs: ForegroundBeliefs, history: History, sensitive_set: Collection[Hashable] | None, r: float
) -> Iterator[RenderableType]:
    """The global distributions that an attack learned, and the breaches of a sensitive set."""
    sets = max(map(len, beliefs.knowledge), default=0)
    if sets:
        shown = f", of {sets} the {MAX_ATTRIBUTE_SETS} worst" if sets > MAX_ATTRIBUTE_SETS else ""
        yield PrintedTable(global_distributions(beliefs), f"Global distributions{shown}", keys=2)
        yield definitions(DISTRIBUTION_TERMS)
        yield ""
    if sensitive_set is not None:
        yield PrintedTable(breaches_per_release(beliefs, history, sensitive_set, r), f"Breaches, r = {r:g}")
        yield definitions(BREACH_TERMS)
        yield ""


def risk_per_release(beliefs: Beliefs, history: History) -> pd.DataFrame:
    """Gain, certain records, total risk, success and confidence, one row per release.

    ``records`` is the number of published records.
    """
    return risk_columns(risk_table(beliefs, history))


def risk_columns(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of a risk table that are printed for each release, with their headings."""
    names = ["time", "published", "suppressed", "gain", "certain", "total_risk", "success", "confidence"]
    return table[names].rename(columns=HEADINGS)


def sure_beliefs_per_release(beliefs: Beliefs, history: History, sure: float) -> pd.DataFrame:
    """Sure beliefs, the number expected to be right and the number that are, and the log score, one row per release.

    ``ruled out`` is the number of groups whose published values the knowledge excludes.
    """
    table = risk_table(beliefs, history, sure=sure)
    table["ruled out"] = [int((release.posterior.status & Status.CONTRADICTED > 0).sum()) for release in beliefs]
    return table[["time", "sure", "expected", "right", "log_score", "ruled out"]].rename(columns=HEADINGS)


def breaches_per_release(
    beliefs: Beliefs, history: History, sensitive_set: Collection[Hashable], r: float
) -> pd.DataFrame:
    """Numbers of respondents linked to a sensitive set, and of those linked correctly, one row per release."""
    table = breaches(beliefs, history, sensitive_set, r)
    of_shares = "expected_precision_of_shares"
    names = [
        "time",
        "measured",
        "holders",
        "breached",
        "flagged",
        "belief_of_holders",
        "precision",
        of_shares,
        "auc_within",
    ]
    return table[names].rename(columns={**HEADINGS, "measured": "records", of_shares: "counted"})


def global_distributions(beliefs: ForegroundBeliefs) -> pd.DataFrame:
    """Global distributions that a foreground attack learned from each release, one row per attribute set.

    The attribute set that is the worst for the largest number of respondents comes first. At most `MAX_ATTRIBUTE_SETS` rows per
    release.
    """
    rows = []
    for release, knowledge, worst in zip(beliefs, beliefs.knowledge, beliefs.worst, strict=True):
        affected = worst[_is_affected(release)]
        respondents = np.bincount(affected[affected >= 0], minlength=len(knowledge))
        for number in np.argsort(-respondents, kind="stable")[:MAX_ATTRIBUTE_SETS]:
            learned = knowledge[number]
            row: dict[str, object] = {"time": release.observation.time, "attributes": ", ".join(learned.attributes)}
            row["signatures"] = len(learned.signatures)
            if learned.sensitive_set.is_proper_subset:
                row |= {"lowest": learned.probabilities[:, 0].min(), "highest": learned.probabilities[:, 0].max()}
            rows.append(row | {"worst for": respondents[number], "status": _in_words(learned.status)})
    return pd.DataFrame(rows)


def _is_affected(release: ReleaseBeliefs) -> BoolArray:
    """Mask of the respondents whose posterior differs from the shares of their group."""
    seen, belief = release.observation, release.posterior.probabilities
    shares = seen.counts / np.maximum(seen.counts.sum(axis=1, keepdims=True), 1)
    affected = seen.group >= 0
    affected[affected] = (np.abs(belief[affected] - shares[seen.group[affected]]) > MIN_COUNTED_CHANGE).any(axis=1)
    return np.asarray(affected)


def _in_words(status: FitStatus) -> str:
    return str(status.name).lower().replace("|", ", ")


def posterior_table(beliefs: Beliefs, time: str) -> pd.DataFrame:
    """Posterior of each respondent at every release: time, respondent, group, and a column per value.

    Raises
    ------
    ValueError
        If a sensitive value has the name of one of the first three columns.
    """
    tables = []
    for release in beliefs:
        table = release.frame("posterior")
        respondent = str(table.index.name)
        for name in table.columns.astype(str):
            if name in (time, respondent, "group"):
                raise ValueError(
                    f"the sensitive value {name!r} has the name of a column of the output; rename the value."
                )
        table = table.reset_index()
        table.columns = table.columns.astype(str)
        table.insert(0, time, release.observation.time)
        table.insert(2, "group", release.observation.group)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def notice_codes(schema: Schema, table: pd.DataFrame) -> None:
    """Print the quasi-identifiers that are read as numbers and may be codes."""
    if names := possible_codes(schema, table):
        options = " ".join(f"--categorical {name}" for name in names)
        notice(f"Read as numbers, with few distinct values: {', '.join(names)}. If they are codes, add {options}.")


def suppressed_share(releases: Sequence[Release]) -> float:
    """Share of suppressed records of all releases; 0 without a record."""
    cost = suppressed(releases)
    return float(cost["suppressed"].sum() / max(cost["records"].sum(), 1))


def notice_suppression(releases: Sequence[Release]) -> None:
    """Print a warning if most records are suppressed."""
    cost = suppressed(releases)
    lost, records = int(cost["suppressed"].sum()), int(cost["records"].sum())
    if lost > MOST * records:
        notice(
            f"WARNING: {lost:,} of {records:,} records ({percent(lost / records)}) are suppressed. The table tells little, and a "
            "low risk is that of the few records that are left."
        )
