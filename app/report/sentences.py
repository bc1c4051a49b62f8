"""Sentences of a report: the verdict, the advice, and the meaning of each number."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.defense_choices import defense_name, defense_text
from foreknow.app.exposure import TwoSides, Verdict, worst_sides
from foreknow.app.report.adversaries import (
    ALL_TOLD,
    BY_GROUP,
    BY_QUASI_IDENTIFIERS,
    INFORMED,
    LARGEST_GAIN,
    LEARNED,
    LEAVING_ALONE,
    SIZES,
    TITLES,
    WITHOUT_LEAVING,
    Inference,
    Readers,
    Row,
    best_setting,
    detail_lost,
    raised_setting,
    sides_of_row,
)
from foreknow.app.report.contents import Headline, ReportContents
from foreknow.app.report.respondents import label, percent
from foreknow.defenses import Cohorts
from foreknow.evaluation import SolverCalibration
from foreknow.models import Adversary, ClassFrequencies, MarkovChain
from foreknow.models.settings import counted

MANY_SUPPRESSED = 0.2
"""Share of suppressed records above which the page warns."""


class Told(NamedTuple):
    """The verdict of a report in words.

    Attributes
    ----------
    state : Verdict
    heading : str
        The verdict and the bound.
    numbers : str
        Both sides, the larger of both adversaries each.
    sentence : str
        Both in one.
    reasons : str
        Numbers of each adversary and of each reader, in sentences.
    adversaries : str
        The class of adversaries of the upper side; empty without a bound.
    advice : str
    """

    state: Verdict
    heading: str
    numbers: str
    sentence: str
    reasons: str
    adversaries: str
    advice: str


def verdict(contents: ReportContents) -> Told:
    """Verdict on a publication, by the numbers of exposed respondents and the bound on their share."""
    bound, sides = contents.settings.bound, worst_sides([one.sides for one in contents.headlines.values()])
    informed, learned = contents.headlines[INFORMED], contents.headlines[LEARNED]
    sure, unpublished = percent(contents.settings.sure), contents.unpublished
    knows = _prior_knowledge(contents.inferences[INFORMED].knows)
    if sides.exposed:
        parts = [
            f"{of_people(informed)} to the informed adversary, who {knows}; {of_people(learned)} to one who has only these "
            f"releases: each is at least {sure} sure of their true values, and was not before.",
            fewer_sentence(informed, learned),
            readers_sentence(contents.readers),
        ]
    else:
        parts = [
            f"No release makes either adversary {sure} sure of a true value. An adversary who knows more may infer more."
        ]
    if unpublished:
        parts.append(f"{counted(unpublished, 'other person has', 'other people have')} no published record.")
    parts.append(leaving_sentence(contents.leaving))
    state = sides.verdict(bound)
    return Told(
        state,
        state.of(bound),
        sides.numbers,
        sides.sentence(bound),
        " ".join(filter(None, parts)),
        " ".join(sides.adversaries),
        advice(contents),
    )


def fewer_sentence(informed: Headline, learned: Headline) -> str:
    """Reason for which the informed adversary exposes fewer people; empty where it does not."""
    if informed.exposed >= learned.exposed:
        return ""
    before = informed.known - learned.known
    known = (
        f" {counted(before, 'person', 'people')} more {'was' if before == 1 else 'were'} known to it before any release."
        if before > 0
        else ""
    )
    return (
        "The informed adversary exposes fewer, as it knows rates of all records: the other one takes the frequencies and changes "
        "that fit these releases best, and is sooner sure. Of the sure beliefs, "
        f"{_right(informed)} of the informed adversary are right, and {_right(learned)} of the other.{known}"
    )


def _right(one: Headline) -> str:
    return f"{one.right:,} of {one.sure:,}"


def leaving_sentence(leaving: pd.DataFrame) -> str:
    """Numbers of people exposed with and without departures, of the first adversary who reads presence; empty without one."""
    if leaving.empty:
        return ""
    name = leaving["adversary"].iloc[0]
    first = leaving[leaving["adversary"] == name].set_index("reads")["exposed"]
    both, groups, alone = (int(first[reads]) for reads in (ALL_TOLD, WITHOUT_LEAVING, LEAVING_ALONE))
    return (
        f"Who leaves, and when, is read: of {counted(both, 'person', 'people')} exposed to the {TITLES[name].lower()}, the groups "
        f"alone expose {groups:,}, and departures without the groups {alone:,}."
    )


def readers_sentence(readers: Readers) -> str:
    """Numbers of people exposed by one release to those who know the group, and the quasi-identifiers; empty if none was read."""
    if not readers.read:
        return ""
    total = readers.read + readers.left_out
    some = f" ({readers.read:,} of {total:,}; the others were not computed)" if readers.left_out else ""
    if not readers.overlap:
        where = f" in the releases that were read one at a time{some}" if some else ""
        return f"The ranges that groups show do not overlap{where}: who knows the quasi-identifiers of a person knows the group."
    numbers = readers.table.set_index(["reader", "adversary"])["exposed"]
    (first, second), (third, fourth) = (
        [f"{int(numbers[reader, name]):,}" for name in (INFORMED, LEARNED)]
        for reader in (BY_GROUP, BY_QUASI_IDENTIFIERS)
    )
    return (
        f"Both know the group of each person. Read one at a time{some}, the releases expose {first} people to the informed and "
        f"{second} to the other; to those who know the quasi-identifiers, and must infer the group, {third} and {fourth}."
    )


def of_people(one: Headline) -> str:
    """Number of exposed respondents, of how many, and their share."""
    share = percent(one.exposed / one.respondents) if one.respondents else "–"
    told = f"{one.exposed:,}" if one.exposed else "None"
    return f"{told} of {one.respondents:,} people ({share}) {'are' if one.exposed > 1 else 'is'} exposed"


class Card(NamedTuple):
    """One number of the headline: what is measured, the number, its interval, and a sentence."""

    name: str
    number: str
    interval: str
    meaning: str


def cards(contents: ReportContents, name: str) -> list[Card]:
    """Numbers of the headline of an adversary, each with its interval and one sentence."""
    one, sure = contents.headlines[name], percent(contents.settings.sure)
    table = one.table.set_index("measure")
    ends = {measure: interval_text(float(row["low"]), float(row["high"])) for measure, row in table.iterrows()}
    known = f" Of {one.known:,} others, this adversary was as sure before any release." if one.known else ""
    return [
        Card(
            "Exposed people",
            f"{one.exposed:,} of {one.respondents:,}",
            f"{percent(one.value('exposed'))}; interval {ends['exposed']}",
            f"After reading all releases, this adversary is at least {sure} sure of the true value of "
            f"{'no person' if not one.exposed else f'{one.exposed:,} people'}.{known}",
        ),
        Card("Exposed at most", *_upper_side(one.sides)),
        Card(
            "Mean belief in the true value",
            percent(one.value("confidence")),
            f"interval {ends['confidence']}",
            f"The groups alone suggest {percent(one.value('confidence_of_shares'))}: the difference is what knowledge and the "
            "other releases add.",
        ),
        Card(
            "Best guesses that are right",
            percent(one.value("success")),
            f"interval {ends['success']}",
            f"Taking the most frequent value of each group would be right for {percent(one.value('success_of_shares'))}.",
        ),
        Card(
            "Right when sure",
            f"{one.right:,} of {one.sure:,}",
            percent(one.right / one.sure) if one.sure else "never sure",
            "There is no sure belief."
            if not one.sure
            else f"The number of records of which it is at least {sure} sure, and for how many of them it is right.",
        ),
    ]


def _upper_side(sides: TwoSides) -> tuple[str, str, str]:
    """Number, what stands beside it, and meaning of the upper side of the verdict."""
    if sides.at_most is None:
        return "no bound", "proved for no one", f"There is no upper side, as {sides.cause}."
    return (
        f"{sides.at_most:,} of {sides.respondents:,}",
        f"{sides.not_decided:,} not decided",
        f"No adversary of this class can be sure of others, which is proved. The class: {sides.cause}.",
    )


def interval_text(low: float, high: float) -> str:
    """Ends of an interval, with two decimals where they would otherwise look equal.

    >>> interval_text(0.12, 0.14), interval_text(0.1301, 0.1312), interval_text(1.0, 1.0)
    ('12% to 14%', '13.01% to 13.12%', '100% to 100%')
    """
    if percent(low) != percent(high) or low == high:
        return f"{percent(low)} to {percent(high)}"
    return f"{100 * low:.2f}% to {100 * high:.2f}%"


def strongest_sentence(attacks: pd.DataFrame) -> str:
    """The attack with the most sure and right beliefs."""
    best = attacks.iloc[int(attacks["right"].to_numpy(dtype=float).argmax())]
    if not int(best["right"]):
        return f"None of the {len(attacks)} attacks that were made has a sure and right belief."
    return (
        f"Of the {len(attacks)} attacks that were made, this one has the most sure and right beliefs: {best['attack']}, with "
        f"{int(best['right']):,} right of {int(best['sure']):,} sure ones. The table of all attacks has the others."
    )


def what_it_knows(one: Inference) -> str:
    """Knowledge of an adversary, for the page."""
    rule = "" if one.adversary is one.knows else " It knows the rule of terminal values, and reads whom it withholds."
    if one.name == LEARNED:
        return (
            "Knows who is in each group, and nothing of the values beforehand: it learns frequencies and changes from these "
            f"releases.{rule} Reads all releases together."
        )
    return f"Knows who is in each group. It also {_prior_knowledge(one.knows)}.{rule} Reads all releases together."


def _prior_knowledge(adversary: Adversary) -> str:
    """Prior knowledge of the informed adversary: the rates of records in words, other knowledge without a description."""
    transitions = adversary.transitions
    learned = isinstance(adversary.prior, ClassFrequencies) and isinstance(transitions, MarkovChain | None)
    if not learned or adversary.compromised is not None:
        return "has the prior knowledge that the author of this report gave it"
    known = "knows how frequent each value is among people of the same kind"
    return known if transitions is None else f"{known}, and how values change from release to release"


CELLS = (
    "cells of people who stay together from release to release, the cheapest by which the mean gain of an adversary who does not "
    f"read who leaves when is at most {percent(LARGEST_GAIN)} (cohorts)"
)
"""Meaning of the cohorts that are tried."""

STRICTER_CELLS = "larger batches and cells (a, size), or one more value that ends a course (terminal)"
"""Meaning of the stricter settings of cohorts."""


def stricter_sentence(contents: ReportContents) -> str:
    """Publications with stricter settings: what they change, and whose settings they are."""
    raised = None if contents.changed is None else raised_setting(contents.changed)
    assumed, in_use = contents.assumed, isinstance(contents.changed, Cohorts)
    with_cells = any(isinstance(each, Cohorts) for each in contents.tried.values())
    cells = [STRICTER_CELLS if in_use else CELLS] if with_cells else []
    changes = [*([] if raised is None else [SIZES[raised]]), *cells]
    if not changes:
        return ""
    by = (
        ""
        if assumed is None or (raised is None and not in_use)
        else f" The defense is not recorded; {defense_text(assumed)} is assumed, and made stricter."
    )
    return f"The same records, published again with {', or '.join(changes)}, and read by the same two adversaries.{by}"


def leak_sentence(leak: pd.DataFrame) -> str:
    """Number of sure beliefs that later releases brought about."""
    number = float((leak["newly_sure"] * leak["measured"]).sum())
    right = float((leak["newly_right"] * leak["measured"]).sum())
    if round(number) == 0:
        return "Later releases made the adversary sure of no further value of an earlier release."
    return (
        f"Later releases made the adversary sure of {round(number):,} values of earlier releases, of which {round(right):,} are "
        "the true ones. What is published now can expose what was published before."
    )


def calibration_sentence(contents: ReportContents) -> str:
    """Number of sure beliefs, and share of them that is right."""
    one, least = contents.headlines[contents.details.name], percent(contents.settings.sure)
    if not one.respondents:
        return "No record is published."
    right = f" Of these beliefs, {percent(one.right / one.sure)} are right." if one.sure else ""
    return (
        f"The adversary has {counted(one.sure, 'belief')} of {least} or more.{right} An adversary whose beliefs are right as often "
        f"as believed knows how much to trust them. {ranking_sentence(contents.ranking)}{redrawn_sentence(contents.redrawn, least)}"
    )


MAX_Z = 3.0
"""Standard deviations by which the right beliefs may differ from the expected ones by chance."""


def redrawn_sentence(redrawn: SolverCalibration | None, least: str) -> str:
    """Trial of the computation in redrawn worlds: right and expected beliefs of at least some size; empty without one."""
    if redrawn is None:
        return ""
    chance = "Chance explains the difference."
    if abs(redrawn.z) > MAX_Z:
        less, more = ("fewer", "too sure") if redrawn.z < 0 else ("more", "not sure enough, and the risk may be higher")
        chance = f"That is {less} than chance explains: the computation is {more}."
    return (
        f" The computation was tried on {counted(redrawn.worlds, 'copy', 'copies')} of the releases with the same groups, and with "
        f"values drawn from what the adversary knows: of {counted(redrawn.sure, 'belief')} of {least} or more, {redrawn.right:,} "
        f"were right and {round(redrawn.expected):,} expected. {chance}"
    )


def ranking_sentence(ranking: float) -> str:
    """Rank of the holders of a value among the members of their group."""
    if np.isnan(ranking):
        return "Each group shows one value alone, so there is nothing to rank."
    return (
        f"Of two members of a group of whom one has a value, the adversary believes it more of the right one in {percent(ranking)} "
        "of all pairs; 50% is guessing."
    )


def influence_sentence(trials: pd.DataFrame) -> str:
    """Reach of one compromised record."""
    if trials.empty:
        return "No record is published."
    worst, mean = trials.iloc[0], float(trials["respondents"].mean())
    return (
        f"We let the adversary learn one true value, for {len(trials)} records in turn. On average this changed the beliefs about "
        f"{mean:.1f} other people by at least 5 percentage points. The record of {worst['person']} reached most: "
        f"{counted(worst['respondents'], 'person', 'people')}, in {counted(worst['releases'], 'release')}."
    )


def utility_sentence(utility: pd.DataFrame) -> str:
    """Suppressed records and lost detail."""
    records, gone = int(utility["records"].sum()), int(utility["suppressed"].sum())
    published = (utility["records"] - utility["suppressed"]).to_numpy(dtype=float)
    lost = float(np.nansum(utility["gcp"].to_numpy(dtype=float) * published) / max(published.sum(), 1))
    share = gone / max(records, 1)
    warned = " That is a large part of the data." if share > MANY_SUPPRESSED else ""
    shares = utility["suppressed_share"]
    most = _most_suppressed(float(shares.max()), utility["time"].tolist()[int(shares.argmax())])
    return (
        f"{gone:,} of {records:,} records ({percent(share)}) are not published{most}.{warned} Of the detail of the other columns, "
        f"{percent(lost)} is lost: 0% means exact values, 100% no information."
    )


def _most_suppressed(share: float, time: Any) -> str:
    """Clause on the release of which the largest share is suppressed; empty for less than half."""
    return f", {'all' if share == 1 else percent(share)} of those of the release {label(time)}" if share >= 0.5 else ""


def advice(contents: ReportContents) -> str:
    """The stricter setting to publish, and its price."""
    rows, bound = contents.stricter.to_dict("records"), contents.settings.bound
    if len(rows) < 2:
        return ""
    if all(row["problem"] for row in rows[1:]):
        return "No stricter setting that was tried can be published."
    now = rows[0]
    if sides_of_row(now).verdict(bound) is not Verdict.OVER:
        return "No stricter setting is needed for these two adversaries."
    best = advised(rows, bound)
    if best is None:
        return "None of the stricter settings that were tried exposes fewer people; consider another defense, or fewer releases."
    assumed, tried = contents.assumed, str(best["setting"])
    tried = (
        tried
        if assumed is None or (isinstance(contents.tried.get(tried), Cohorts) and not isinstance(assumed, Cohorts))
        else f"{defense_name(assumed)} ({tried})"
    )
    most = _most_suppressed(best["most_suppressed"], best.get("most_suppressed_at"))
    return (
        f"In a trial with {tried}, the informed adversary exposed {_people(best, INFORMED)} (now "
        f"{now[f'exposed_{INFORMED}']:,.0f}), and the one without prior knowledge {_people(best, LEARNED)} (now "
        f"{now[f'exposed_{LEARNED}']:,.0f}). {sides_of_row(best).verdict(bound).of(bound)}. The price: "
        f"{percent(detail_lost(best))} of the detail is lost in all (now {percent(detail_lost(now))}), with "
        f"{percent(best['suppressed'])} of the records left out{most} "
        f"(now {percent(now['suppressed'])}).{_invented_text(best)}{_without_distinct_values(best, contents)} Another "
        "draw of the groups gives somewhat different numbers."
    )


def advised(rows: Sequence[Row], bound: float | None) -> Row | None:
    """The setting to publish instead of the present publication, the first row.

    It is the one of `best_setting`, or where all are over the bound, the one that exposes the fewest respondents, if these are
    fewer than now. None where there is none, and where the present publication is not over the bound.
    """
    now, *others = rows
    if sides_of_row(now).verdict(bound) is not Verdict.OVER:
        return None
    tried = [row for row in others if not row["problem"]]
    fewest = min(tried, key=lambda row: (sides_of_row(row).exposed, detail_lost(row)), default=now)
    fewer = fewest if sides_of_row(fewest).exposed < sides_of_row(now).exposed else None
    return best_setting(tried, bound) or fewer


def _invented_text(row: Row) -> str:
    """Sentence on the share of invented records; empty for none."""
    return f" Of the published records, {percent(float(row['invented']))} would be invented." if row["invented"] else ""


def _without_distinct_values(row: Row, contents: ReportContents) -> str:
    """Sentence on groups of one value, which cohorts allow; empty where each group has several."""
    if not isinstance(contents.tried.get(str(row["setting"])), Cohorts) or row["values"] != 1:
        return ""
    return (
        " Cohorts require no distinct values of a group, and some have one value: their people are among those exposed."
    )


def _people(row: Row, name: str) -> str:
    """Number of respondents that a setting exposes to an adversary."""
    number = int(row[f"exposed_{name}"])
    return counted(number, "person", "people") if number else "no person"
