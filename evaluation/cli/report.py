"""What the command line prints and writes: tables that fit a terminal."""

from collections.abc import Collection, Hashable, Iterator
from textwrap import wrap

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.table import Table

from foreknow.attacks import ForegroundBeliefs
from foreknow.defenses import AllOf, Requirement
from foreknow.evaluation.cli.demo import FEWEST, SAFE, STRONGEST, Demo, story
from foreknow.evaluation.cli.terminal import literal
from foreknow.evaluation.risk.breaches import breaches
from foreknow.evaluation.risk.risk_table import risk_table
from foreknow.models import Beliefs, FitStatus, History, ReleaseBeliefs, Status
from foreknow.models.arrays import BoolArray


def table(frame: pd.DataFrame, title: str) -> Table:
    """A data frame as a table: numbers to the right, fractions with three digits."""
    shown = Table(title=literal(title), title_justify="left", box=SIMPLE_HEAD)
    for name in frame.columns:
        number = pd.api.types.is_numeric_dtype(frame[name])
        shown.add_column(literal(str(name)), justify="right" if number else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        shown.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else literal(str(cell)) for cell in row))
    return shown


def demo(found: Demo) -> Iterator[Table | str]:
    """Measurements of the demo, part by part, each no wider than 80 characters."""
    history, summary = found.comparison.history, found.comparison.summary()
    yield (
        f"\n{len(history.respondents)} patients, {sum(map(len, history))} records, published in {len(history)} yearly releases;\n"
        f"the adversary learned from {len(found.corpus.respondents)} others. Years with fewer\n"
        f"than {FEWEST} patients are left out.\n"
    )
    gains = summary.pivot_table(index=["defense", "certain"], columns="attack", values="gain", sort=False)
    yield table(gains.reset_index(), "Gain: belief in the truth beyond its share f of the group, over 1 - f")
    risks = summary.pivot_table(index="defense", columns="attack", values="total_risk", sort=False)
    yield table(risks.reset_index(), "Total risk: the same with groups of one value (certain) counted as 1")
    strongest = summary[summary["attack"] == STRONGEST]
    read = ["defense", "confidence", "success", "log_score", "sure", "expected", "right"]
    yield table(strongest[read].rename(columns=WORDS), f"What the {STRONGEST} attack read")
    yield (
        "sure: records believed with 90% or more; expected: the number of them that\n"
        "the adversary expects to be right; right: the number that are; log score:\n"
        "mean log2 of the belief in the truth\n"
    )
    for name in found.comparison.releases:
        for note in found.comparison.beliefs[name, STRONGEST].notes:
            yield "\n".join(wrap(f"{name}: {note}", 78)) + "\n"
    yield table(strongest[["defense", "suppressed", "size", "gcp"]], "What it cost")
    yield (
        "suppressed: share of records left out; size: mean size of a group;\n"
        "gcp: how blurred ages and sexes are (0 to 1)\n"
    )
    yield table(story(found), f"Patient {found.victim}, whom it read best, out of {SAFE}")


WORDS = {"total_risk": "total risk", "log_score": "log score", "suppressed": "lost"}
"""Names of columns in printed tables."""

GLOSSARY = (
    "gain: belief in the true value beyond its share f of the group, over 1 - f; those in groups of one value (certain) are left "
    "out. total risk: the share of those, and the gain of the others. success: the value believed most is the true one. "
    "confidence: mean belief in the true value. sure: beliefs of 90% or more; expected: the number of them that the adversary "
    "expects to be right; right: the number that are. log score: mean log2 of the belief in the true value; lower than a weaker "
    "attack's, or fewer right than expected: overconfident. ruled out: groups that the knowledge rules out."
)

BREACHES = (
    "in breach: believed to have a secret value with more than 1/r. breached: share in breach of those who have one; flagged: of "
    "those who have none; p: mean belief in those who have one. precision: share of those in breach who have one; counted: what "
    "counting in their groups says of it. auc: how often somebody who has one is believed likelier than somebody of the same "
    "group who has none; 0.5 is chance."
)


def linked(beliefs: Beliefs, history: History, sensitive_set: Collection[Hashable], r: float) -> pd.DataFrame:
    """Counts of the people an attack links to a secret value, and of those linked rightly, one row per release."""
    found = breaches(beliefs, history, sensitive_set, r)
    names = ["time", "records", "sensitive", "breached", "flagged", "probability", "precision", "counted", "auc_within"]
    return found[names].rename(columns={"sensitive": "secret", "probability": "p", "auc_within": "auc"})


MINED = (
    "signatures: how many combinations of values enough people share. lowest, highest: the probability of a secret value among "
    "them, as the groups teach it. worst for: how many people this attribute set tells most of, beyond their group's shares."
)

SHOWN = 12
"""How many attribute sets of a release are printed."""


def mined(beliefs: ForegroundBeliefs) -> pd.DataFrame:
    """Knowledge that a foreground attack has of each release's attribute sets, those first that are the worst for most people."""
    rows = []
    for release, knowledge, worst in zip(beliefs, beliefs.knowledge, beliefs.worst, strict=True):
        told = worst[_told(release)]
        people = np.bincount(told[told >= 0], minlength=len(knowledge))
        for number in np.argsort(-people, kind="stable")[:SHOWN]:
            found = knowledge[number]
            row: dict[str, object] = {"time": release.observation.time, "attributes": ", ".join(found.attributes)}
            row["signatures"] = len(found.signatures)
            if found.sensitive_set.is_proper_subset:
                row |= {"lowest": found.probabilities[:, 0].min(), "highest": found.probabilities[:, 0].max()}
            rows.append(row | {"worst for": people[number], "status": _words(found.status)})
    return pd.DataFrame(rows)


def _told(release: ReleaseBeliefs) -> BoolArray:
    """Of whom more is believed than their group's shares, or less."""
    seen, belief = release.observation, release.posterior.probabilities
    shares = seen.counts / np.maximum(seen.counts.sum(axis=1, keepdims=True), 1)
    inside = seen.group >= 0
    inside[inside] = (np.abs(belief[inside] - shares[seen.group[inside]]) > 1e-9).any(axis=1)
    return np.asarray(inside)


def _words(status: FitStatus) -> str:
    return str(status.name).lower().replace("|", ", ")


def attacked(beliefs: Beliefs, history: History, title: str) -> Iterator[Table | str]:
    """The tables of an attack, each at most 80 characters wide, and their glossary."""
    yield table(surety(beliefs, history), "Sure beliefs, expected and right")
    yield table(risk(beliefs, history), title)
    yield GLOSSARY


def risk(beliefs: Beliefs, history: History) -> pd.DataFrame:
    """Gain, groups of one value and total risk of an attack, one row per release; ``records`` are the published ones."""
    found = risk_table(beliefs, history)
    found["records"] += found["certain"]
    names = ["time", "records", "suppressed", "gain", "certain", "total_risk", "success", "confidence"]
    return found[names].rename(columns=WORDS)


def surety(beliefs: Beliefs, history: History) -> pd.DataFrame:
    """Sure beliefs of an attack, expected and right, and its log score, one row per release.

    ``ruled out`` is the number of groups that the knowledge rules out.
    """
    found = risk_table(beliefs, history)
    found["ruled out"] = [int((release.posterior.status & Status.CONTRADICTED > 0).sum()) for release in beliefs]
    return found[["time", "sure", "expected", "right", "log_score", "ruled out"]].rename(columns=WORDS)


def posteriors(beliefs: Beliefs, time: str) -> pd.DataFrame:
    """Everybody's posterior at every release: time, respondent, group, and a column per value.

    Raises
    ------
    ValueError
        If a sensitive value is named like one of the first three columns.
    """
    tables = []
    for release in beliefs:
        found = release.frame("posterior")
        respondent = str(found.index.name)
        for name in found.columns.astype(str):
            if name in (time, respondent, "group"):
                raise ValueError(
                    f"the sensitive value {name!r} is named like a column of the output; rename the value."
                )
        found = found.reset_index()
        found.columns = found.columns.astype(str)
        found.insert(0, time, release.observation.time)
        found.insert(2, "group", release.observation.group)
        tables.append(found)
    return pd.concat(tables, ignore_index=True)


def verdict(when: object, name: object, groups: pd.DataFrame, asked: Requirement) -> dict[str, object]:
    """One requirement over all groups of a release, from rows of `verify_table`."""
    parts = asked.parts if isinstance(asked, AllOf) else (asked,)
    sense = next(part.sense for part in parts if repr(part) == name)
    bad = groups[~groups["holds"]]
    return {
        "release": when,
        "requirement": name,
        "groups": len(groups),
        "worst": groups["level"].min() if sense == "at least" else groups["level"].max(),
        "asked": f"{sense} {groups['bound'].iloc[0]:g}",
        "failing": len(bad),
        "first failing": "" if bad.empty else bad["group"].iloc[0],
    }


def differing(published: pd.DataFrame, group: str, sensitive: str) -> str | None:
    """A column that is not the same all over each group, if there is one: no published quasi-identifier is."""
    for name in published.columns.drop([group, sensitive]):
        if published[[group, name]].astype(str).drop_duplicates()[group].duplicated().any():
            return str(name)
    return None
