"""Findings of attacks: those of each adversary, the verdict, the tables printed, and the tables of --out.

Without --corpus and --knowledge there are two adversaries, as in the report.
"""

import itertools
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence, Set
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from rich.console import RenderableType

from foreknow.app.atomic_output import atomic_output, write_json
from foreknow.app.cli.adversary_knowledge import Learning
from foreknow.app.cli.attack_choices import (
    DEFAULT_R,
    LEARNED,
    RECORDS,
    Attacked,
    AttackOptions,
    AttackRun,
    beliefs_of,
    notice_compilation,
)
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.pictures import PICTURES
from foreknow.app.cli.terminal import PrintedTable, TimeLeft, definitions, error_console, notice, say, show
from foreknow.app.exposure import Exposure, exposed, worst_sides
from foreknow.app.report.respondents import LEAST_CHANGE, Pseudonyms, exposed_people, label, percent, rows_of
from foreknow.attacks import Attack, ForegroundAttack, JointAttack, OthersKnown
from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.loss.generalization_loss import price
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.evaluation.risk.breaches import breaches
from foreknow.evaluation.scenario import Scenario
from foreknow.models import Averaged, Beliefs, GroupGraph, History, Release, Status
from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.joint.learned_knowledge import check_learned_order
from foreknow.models.joint.problem import with_progress


def exposure_line(found: Exposure) -> str:
    """Both sides of one adversary in one line, with the belief and the first release that exposes."""
    known = f" ({found.known:,} more were known before any release)" if found.known else ""
    number, upper = f"{found.exposed:,}" if found.exposed else "none", found.sides
    most = (
        f", at most {upper.at_most:,}"
        if upper.at_most is not None
        else f", no upper side, as {upper.cause}" * bool(upper.cause)
    )
    belief = (
        f"a belief of at least {found.sure:g} in the true value, first at the release {label(found.first)}"
        if found.exposed
        else f"no belief in a true value reaches {found.sure:g}"
    )
    return f"To {found.to}: {number} of {found.respondents:,}{most}; {belief}{known}."


def is_over(found: Exposure, fail_over: float | None) -> bool:
    """Return whether the share of exposed respondents is over --fail-over."""
    return fail_over is not None and found.share > fail_over


def bound_lines(fail_over: float | None) -> list[str]:
    """The line on a bound of one's own, if --fail-over was not given."""
    return (
        ["Your own bound on the share of exposed people: --fail-over, as --fail-over 0.02."]
        if fail_over is None
        else []
    )


def exposure_content(found: Exposure, fail_over: float | None) -> dict[str, Any]:
    """The verdict as JSON has it."""
    return {
        "verdict": " ".join(verdict_lines([found], fail_over)),
        "state": found.sides.verdict(fail_over),
        "respondents": found.respondents,
        "exposed": found.exposed,
        "exposed_share": found.share,
        "known_before": found.known,
        "sure": found.sure,
        "first_release": found.first,
        "fail_over": fail_over,
        "failed": is_over(found, fail_over),
        **found.sides.content,
    }


CORPUS = "corpus"
"""Source of the knowledge of an adversary with a --corpus."""

KNOWERS = {
    LEARNED: "an adversary who learned from these releases alone",
    RECORDS: "an adversary who knows the statistics of the records",
    CORPUS: "an adversary who knows the statistics of the corpus",
}
"""Each adversary in words, by the source of the knowledge."""


class Found(NamedTuple):
    """Findings of one adversary, by the source of its knowledge: learned, records, corpus, or None for an attack without one."""

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
    published = [_published(release) for release in read.releases]
    if sum(map(len, published)) > len(set().union(*published)):
        return (LEARNED, RECORDS)
    notice("No respondent is published twice: the releases are too little data to learn transitions from.")
    return (RECORDS, LEARNED)


def found_by(chosen: AttackOptions, attack: Attack, beliefs: Beliefs, history: History, sure: float) -> Found:
    """Findings of an attack by the adversary with the source of knowledge of some options."""
    with error_console.status("counting exposed respondents"):
        bounded: Any = attack
        if isinstance(attack, OthersKnown) and any(one.observation.noise for one in beliefs):
            bounded = attack.attack  # noise bounds the beliefs of one who knows all others, too
        to, adversary = in_words(chosen.source, chosen.attack), getattr(bounded, "adversary", None)
        found = exposed(
            beliefs, history, sure, to=to, adversary=adversary, hindsight=getattr(bounded, "hindsight", True)
        )
    return Found(chosen.source, attack, beliefs, found)


def findings(chosen: AttackOptions, read: Attacked, history: History, sure: float) -> list[Found]:
    """Findings of each adversary; the tables of the command are about the first."""
    adversaries = sources(chosen, read)
    if chosen.choice.has_adversary or chosen.settled is not None:
        solver = chosen.solver if chosen.choice.solves else None
        notice_compilation(solver, chosen.estimator, LEARNED in adversaries)
    each = [replace(chosen, source=source) for source in adversaries]
    if adversaries == (LEARNED, RECORDS) and chosen.choice.solves:
        return _side_by_side(each[0], each[1], read, history, sure)
    found = []
    for one in each:
        attack = one.choice.make(one, read)
        found.append(found_by(one, attack, beliefs_of(one.attack, attack, read.releases), history, sure))
    return found


def _side_by_side(
    learning: AttackOptions, knowing: AttackOptions, read: Attacked, history: History, sure: float
) -> list[Found]:
    """Findings of one who learns, and of one who knows the records, whose joint law is computed in a thread meanwhile."""
    known = learning.learning or Learning()
    check_learned_order("LearnedKnowledge.fit", known.order, learning.signatures, known.presence)
    stopped = Event()

    def until_stopped[T](parts: Sequence[T]) -> Iterator[T]:
        for part in parts:
            if stopped.is_set():
                raise CancelledError
            yield part

    attack: Any = knowing.choice.make(knowing, read)
    with ThreadPoolExecutor(1) as thread:
        try:
            stoppable = replace(attack, solver=with_progress(attack.solver, until_stopped))
            running = thread.submit(stoppable, read.releases)
            learned = learning.choice.make(learning, read)
            beliefs = beliefs_of(learning.attack, learned, read.releases)
            first = found_by(learning, learned, beliefs, history, sure)
            with error_console.status(f"computing the beliefs of {KNOWERS[RECORDS]}"):
                of_records = running.result()
        finally:
            stopped.set()
    return [first, found_by(knowing, attack, of_records, history, sure)]


def in_words(source: str | None, attack: str) -> str:
    """The adversary with some source of knowledge, or the attack where it has none."""
    return f"the {attack} attack" if source is None else KNOWERS[source]


def by_exposure(found: list[Found]) -> list[Found]:
    """Findings in decreasing order of the share of exposed respondents."""
    return sorted(found, key=lambda one: one.exposed.share, reverse=True)


def verdict_lines(found: Sequence[Exposure], fail_over: float | None) -> list[str]:
    """The verdict, both sides of each adversary, the worst first, and the classes of adversaries."""
    classes = itertools.chain.from_iterable(one.sides.adversaries for one in found)
    verdict = worst_sides([one.sides for one in found]).sentence(fail_over)
    return [verdict, *map(exposure_line, found), *dict.fromkeys(classes)]


def notice_others(found: list[Found]) -> None:
    """Print the notes of the adversaries that the tables are not about."""
    for other in found[1:]:
        for note in other.beliefs.notes:
            if note not in found[0].beliefs.notes:
                notice(f"--knowledge {other.source}: {note}")


def adversaries_content(found: list[Found], fail_over: float | None) -> dict[str, Any]:
    """The verdict as JSON has it: that of the worst adversary, and ``adversaries``, that of each."""
    each = [{"adversary": one.source} | exposure_content(one.exposed, fail_over) for one in by_exposure(found)]
    worst = [one.exposed for one in by_exposure(found)]
    state = worst_sides([one.sides for one in worst]).verdict(fail_over)
    return each[0] | {"verdict": " ".join(verdict_lines(worst, fail_over)), "state": state, "adversaries": each}


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
    reasons = iter(_reasons(people, attack, beliefs, sequential, read.releases))
    rows, row_of = [], {release.observation.time: rows_of(release.observation.people) for release in beliefs}
    shown: dict[tuple[Any, int], str] = {}
    with error_console.status("listing exposed respondents"):
        for row in people.itertuples():
            leading, reason = next(reasons, ([row.time], ""))
            observation = beliefs.at(row.time).observation
            group = int(observation.group[row_of[row.time][row.respondent]])
            if (row.time, group) not in shown:
                shown[row.time, group] = shown_values(observation.counts[group], read.schema.values)
            known = (row.respondent, row.time, row.value, row.belief, row.prior, row.share, group)
            rows.append((*known, shown[row.time, group], ", ".join(map(str, leading)), reason))
    return pd.DataFrame(rows, columns=pd.Index(COLUMNS))


def shown_values(counts: IntArray, values: Sequence[Any]) -> str:
    """The values of a group with their numbers, the most frequent first."""
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    return ", ".join(f"{counts[code]:g} {label(values[code])}" for code in order)


def _reasons(
    people: pd.DataFrame, attack: Attack, beliefs: Beliefs, sequential: Beliefs | None, releases: Sequence[Release]
) -> list[tuple[list[Any], str]]:
    """Releases that led to each belief, and a sentence."""
    # The explanations are those of the joint law of one adversary, without the rule of m-invariance.
    if (
        not isinstance(attack, JointAttack)
        or sequential is None
        or attack.signatures
        or isinstance(attack.adversary, Averaged)
    ):
        return [([row.time], _sentence(row)) for row in people.head(MAX_REASONS).itertuples()]
    forward = beliefs if not attack.hindsight else None
    if attack.hindsight and not _solves_prefixes(attack):
        forward = beliefs_of("joint", replace(attack, hindsight=False), releases)
    names = Pseudonyms.of(people["respondent"], True)
    with TimeLeft("finding the releases that exposed them") as shown:
        options: Any = {"forward": forward, "most": MAX_REASONS, "progress": shown.parts}
        table = exposed_people(people, releases, attack, beliefs, sequential, names, **options)
    published = {release.time: _published(release) for release in releases}
    return [(_leading(row, published), str(row.reason)) for row in table.itertuples()]


def _solves_prefixes(attack: JointAttack) -> bool:
    """True if beliefs given the releases up to each one are those of its prefix, whose solutions the reasons then share."""
    transitions = None if isinstance(attack.adversary, Averaged) else attack.adversary.transitions
    return isinstance(attack.solver, GroupGraph) and getattr(transitions, "order", 1) == 1


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


HEADINGS = {
    "total_risk": "total risk",
    "log_score": "log score",
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
"""Meaning of the columns of risk, with the belief from which an adversary is sure in place of ``{sure}``."""

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
"""Meaning of the columns of breaches."""

BREACH_COLUMNS = {
    "time": "time",
    "measured": "records",
    "holders": "holders",
    "breached": "breached",
    "flagged": "flagged",
    "belief_of_holders": "p",
    "precision": "precision",
    "expected_precision_of_shares": "counted",
    "auc_within": "auc",
}
"""Columns of `breaches` that are printed, and their headings."""

DISTRIBUTION_TERMS = {
    "signatures": "number of combinations of values shared by enough respondents",
    "lowest, highest": "least and greatest probability of the sensitive set among the signatures, learned from the groups",
    "worst for": "number of respondents for whom this attribute set changes the belief most, beyond the shares of the group",
}
"""Meaning of the columns of global distributions."""

TOTAL_COLUMNS = ("gain", "success", "confidence", "log_score", "sure", "expected", "right")
"""Measures over all releases that are printed for the joint and the sequential attack."""

MAX_ATTRIBUTE_SETS = 12
"""Number of attribute sets of a release that are printed."""

MOST = 0.5
"""Share of suppressed records above which a command prints a warning."""

MIN_COUNTED_CHANGE = 1e-9
"""Difference between a belief and a share that is not counted as a change."""


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
            compared = {f"joint, {'forward' if chosen.forward else 'in hindsight'}": beliefs, "sequential": sequential}
            measured = {name: risk_table(found, history, sure=sure) for name, found in compared.items()}
            rows = [{"attack": name} | total_of_risk(table) for name, table in measured.items()]
            totals = pd.DataFrame(rows)[["attack", *TOTAL_COLUMNS]].rename(columns=HEADINGS)
            parts += [PrintedTable(totals, "Risk over all releases"), ""]
        if isinstance(attack, ForegroundAttack) and isinstance(beliefs, ForegroundBeliefs):
            parts += _foreground_tables(beliefs, history, attack.sensitive_set, chosen.r or DEFAULT_R)
        parts += _risk_tables(beliefs, history, chosen.title, sure)
    for part in parts:
        show(part)
    for note in beliefs.notes:
        notice(note)
    for note in () if sequential is None else sequential.notes:
        notice(f"Sequential attack: {note}")


def goal_table(scenario: Scenario | None, beliefs: Beliefs, history: History) -> pd.DataFrame | None:
    """The measures of a change or a path, which are printed; None for another goal, or without a scenario."""
    if scenario is None or scenario.goal == "value":
        return None
    table = scenario.measure(beliefs, history)
    show(PrintedTable(table, f"Beliefs about a {scenario.goal}: bounds"))
    return table


def _risk_tables(beliefs: Beliefs, history: History, title: str, sure: float) -> Iterator[RenderableType]:
    """The tables of risk of an attack, and the meaning of their columns."""
    table = risk_table(beliefs, history, sure=sure)
    table["ruled out"] = [int((release.posterior.status & Status.CONTRADICTED > 0).sum()) for release in beliefs]
    of_sure = table[["time", "sure", "expected", "right", "log_score", "ruled out"]].rename(columns=HEADINGS)
    yield PrintedTable(of_sure, "Sure beliefs, expected and right")
    yield PrintedTable(risk_columns(table), title)
    yield definitions({name: text.format(sure=sure) for name, text in RISK_TERMS.items()})


def risk_columns(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of a risk table that are printed for each release, with their headings."""
    names = ["time", "published", "suppressed", "gain", "certain", "total_risk", "success", "confidence"]
    return table[names].rename(columns=HEADINGS)


def _foreground_tables(
    beliefs: ForegroundBeliefs, history: History, sensitive_set: Collection[Hashable] | None, r: float
) -> Iterator[RenderableType]:
    """The global distributions that an attack learned, and the breaches of a sensitive set."""
    sets = max(map(len, beliefs.knowledge), default=0)
    if sets:
        shown = f", of {sets} the {MAX_ATTRIBUTE_SETS} worst" if sets > MAX_ATTRIBUTE_SETS else ""
        yield PrintedTable(_global_distributions(beliefs), f"Global distributions{shown}", keys=2)
        yield definitions(DISTRIBUTION_TERMS)
        yield ""
    if sensitive_set is not None:
        table = breaches(beliefs, history, sensitive_set, r)[[*BREACH_COLUMNS]].rename(columns=BREACH_COLUMNS)
        yield PrintedTable(table, f"Breaches, r = {r:g}")
        yield definitions(BREACH_TERMS)
        yield ""


def _global_distributions(beliefs: ForegroundBeliefs) -> pd.DataFrame:
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
            row |= {"signatures": len(learned.signatures)}
            if learned.sensitive_set.is_proper_subset:
                row |= {"lowest": learned.probabilities[:, 0].min(), "highest": learned.probabilities[:, 0].max()}
            status = str(learned.status.name).lower().replace("|", ", ")
            rows.append(row | {"worst for": respondents[number], "status": status})
    return pd.DataFrame(rows)


def _is_affected(release: ReleaseBeliefs) -> BoolArray:
    """Mask of the respondents whose posterior differs from the shares of their group."""
    seen, belief = release.observation, release.posterior.probabilities
    shares = seen.counts / np.maximum(seen.counts.sum(axis=1, keepdims=True), 1)
    affected = seen.group >= 0
    affected[affected] = (np.abs(belief[affected] - shares[seen.group[affected]]) > MIN_COUNTED_CHANGE).any(axis=1)
    return np.asarray(affected)


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


def notice_suppression(cost: pd.DataFrame) -> None:
    """Print a warning if most records are suppressed."""
    if (share := price(cost).withheld) > MOST:
        notice(
            f"WARNING: {cost['suppressed'].sum():,} of {cost['records'].sum():,} records ({percent(share)}) are suppressed. The "
            "table tells little, and a low risk is that of the few records that are left."
        )


def write_attack(
    run: AttackRun, out: Path, beliefs: pd.DataFrame, risky: pd.DataFrame, draw: Callable[[Path], None]
) -> None:
    """Write the files of an attack, each readable by its owner alone; ``draw`` writes the pictures, if asked, into a folder."""
    with atomic_output(out, run.inputs, run.overwrite) as folder:
        write_table(beliefs, folder / run.names[0], private=True)
        write_table(risky, folder / run.names[1], private=True)
        write_json(folder / run.names[2], run_settings(run.context, run.inputs, run.seed))
        if run.pictures:
            draw(folder)


def say_files(run: AttackRun) -> None:
    """Print where the files of an attack were written."""
    assert run.out is not None
    beliefs, risky, settings = run.names
    say(
        f"Posterior beliefs about each respondent, for you alone: {run.out / beliefs}.",
        f"Exposed respondents, for you alone: {run.out / risky}. How it was made: {settings}.",
        *([f"Pictures, for you alone: {run.out / PICTURES}."] if run.pictures else []),
    )


def files_content(run: AttackRun) -> dict[str, Any]:
    """The paths of the files as JSON has them."""
    return {} if run.out is None else {"files": [str(run.out / name) for name in run.names]}
