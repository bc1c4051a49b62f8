"""Sentences of a report: the verdict and its level, the advice, and the meaning of each number."""

from collections.abc import Hashable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.defense_choices import defense_name, defense_text
from foreknow.app.exposure import TwoSides
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
    raised_setting,
)
from foreknow.app.report.contents import Headline, ReportContents
from foreknow.app.report.respondents import percent
from foreknow.defenses import Cohorts
from foreknow.evaluation import SolverCalibration
from foreknow.models import Adversary, ClassFrequencies, MarkovChain
from foreknow.models.settings import counted

MANY_SUPPRESSED = 0.2
"""Share of suppressed records above which the page warns."""


class Verdict(NamedTuple):
    """Verdict of a report: a level, a word for it, and sentences; ``sides`` has the larger of each side of both adversaries."""

    level: str
    word: str
    sentence: str
    sides: str
    advice: str


def verdict(contents: ReportContents) -> Verdict:
    """Verdict on a publication, by the numbers of exposed respondents.

    The level is that of `risk_level`.
    """
    sure = percent(contents.settings.sure)
    informed, learned = contents.headlines[INFORMED], contents.headlines[LEARNED]
    level = risk_level(informed.exposed, learned.exposed)
    if level is Level.HIGH:
        told = (
            f"{of_people(learned, contents.unpublished)} are exposed to a reader who knows nothing beforehand and has only these "
            f"releases: such a reader is at least {sure} sure of their true value. Every reader who knows the group of each person "
            f"can do this, so one such person is enough for a high risk.{readers_sentence(contents.readers)} The informed "
            "adversary, who also "
            f"{_prior_knowledge(contents.inferences[INFORMED].knows)}, exposes {informed.exposed:,}."
        )
    elif level is Level.SOME:
        told = (
            f"{of_people(informed, contents.unpublished)} are exposed to the informed adversary, who "
            f"{_prior_knowledge(contents.inferences[INFORMED].knows)}. No person is exposed to a reader who has only these "
            "releases."
        )
    else:
        told = (
            f"None of {informed.respondents:,} people{_without_record(contents.unpublished)} is exposed: no release makes either "
            f"adversary {sure} sure of a true value. This is no proof of safety: an adversary who knows more may infer more."
        )
    told += leaving_sentence(contents.leaving)
    sides = worst_sides([one.sides for one in contents.headlines.values()])
    return Verdict(level.name.lower(), level.word, told, sides.sentence, advice(contents))


def worst_sides(sides: Sequence[TwoSides]) -> TwoSides:
    """The larger of each side of several verdicts, as `foreknow compare` has them: no bound if one of them has none.

    >>> worst_sides([TwoSides(5, 9, 7, "x"), TwoSides(2, 9, 8, "y"), TwoSides(2, 9, 8, "z")])[:4]
    (5, 9, 8, 'y')
    """
    upper = max(sides, key=lambda each: each.respondents + 1 if each.at_most is None else each.at_most)
    return upper._replace(disclosed=max(each.disclosed for each in sides))


def leaving_sentence(leaving: pd.DataFrame) -> str:
    """Numbers of people exposed with and without departures, of the first adversary who reads presence; empty without one."""
    if leaving.empty:
        return ""
    name = leaving["adversary"].iloc[0]
    first = leaving[leaving["adversary"] == name].set_index("reads")["exposed"]
    both, groups, alone = (int(first[reads]) for reads in (ALL_TOLD, WITHOUT_LEAVING, LEAVING_ALONE))
    return (
        f" Who leaves, and when, is read: of {counted(both, 'person', 'people')} exposed to the {TITLES[name].lower()}, the groups "
        f"alone expose {groups:,}, and departures without the groups {alone:,}."
    )


def readers_sentence(readers: Readers) -> str:
    """Numbers of people exposed by one release to the two readers without prior knowledge; empty where no release was read."""
    if not readers.read:
        return ""
    if not readers.overlap:
        return (
            " The ranges that groups show do not overlap: who knows the quasi-identifiers of a person knows the group."
        )
    numbers = readers.table[readers.table["adversary"] == LEARNED].set_index("reader")["exposed"]
    return (
        f" By each release alone, {counted(int(numbers[BY_GROUP]), 'person is', 'people are')} exposed to one who knows the "
        f"group, and {int(numbers[BY_QUASI_IDENTIFIERS]):,} to one who knows the quasi-identifiers and must infer it."
    )


def of_people(one: Headline, unpublished: int = 0) -> str:
    """Number of exposed respondents, of how many, their share, and the number of respondents without a published record."""
    share = percent(one.exposed / one.respondents) if one.respondents else "–"
    return f"{one.exposed:,} of {one.respondents:,} people{_without_record(unpublished, share)}"


def _without_record(unpublished: int, *before: str) -> str:
    """Texts in parentheses, the number of respondents without a published record among them unless it is 0."""
    others = [f"{counted(unpublished, 'other has', 'others have')} no published record"] if unpublished else []
    return f" ({'; '.join([*before, *others])})" if before or others else ""


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
    return (
        f"{gone:,} of {records:,} records ({percent(share)}) are not published.{warned} Of the detail of the other columns, "
        f"{percent(lost)} is lost: 0% means exact values, 100% no information."
    )


FEW = 0.1
"""Share of the respondents that are exposed now, up to which a cheaper setting is named."""

type Row = dict[Hashable, Any]
"""A row of `ReportContents.stricter`."""


class Level(IntEnum):
    """Level of the verdict, the lower the better."""

    NONE = 0
    SOME = 1
    HIGH = 2

    @property
    def word(self) -> str:
        """The level in words."""
        return ("No exposed person found", "Some risk", "High risk")[self]


def risk_level(informed: int, learned: int) -> Level:
    """Level of the verdict, by the numbers of respondents that the two adversaries expose.

    High if the adversary without prior knowledge exposes a respondent, because knowing the groups is enough for it; some if only
    the informed one does; none if neither does.

    >>> risk_level(informed=8, learned=0).word, risk_level(informed=1, learned=1).word
    ('Some risk', 'High risk')
    """
    if learned:
        return Level.HIGH
    return Level.SOME if informed else Level.NONE


def advice(contents: ReportContents) -> str:
    """The stricter setting of lowest risk, a cheaper one that exposes few, and their prices."""
    rows = contents.stricter.to_dict("records")
    if len(rows) < 2:
        return ""
    if all(row["problem"] for row in rows[1:]):
        return "No stricter setting that was tried can be published."
    now = rows[0]
    if _level(now) is Level.NONE:
        return "No stricter setting is needed for these two adversaries."
    best, cheaper = best_settings(rows)
    if best is None:
        return "None of the stricter settings that were tried lowers the risk; consider another defense, or fewer releases."
    assumed, tried = contents.assumed, str(best["setting"])
    tried = (
        tried
        if assumed is None or (isinstance(contents.tried.get(tried), Cohorts) and not isinstance(assumed, Cohorts))
        else f"{defense_name(assumed)} ({tried})"
    )
    gone, lost = _price_text(best)
    gone_now, lost_now = _price_text(now)
    said = (
        f"In a trial with {tried}, the informed adversary exposed {_people(best, INFORMED)} (now "
        f"{now[f'exposed_{INFORMED}']:,.0f}), and the one without prior knowledge {_people(best, LEARNED)} (now "
        f"{now[f'exposed_{LEARNED}']:,.0f}). The price: {gone} of the records would be left out (now {gone_now}), and {lost} of "
        f"the detail of the other columns lost (now {lost_now}).{_invented_text(best)} Another draw of the groups gives "
        "somewhat different numbers."
    )
    if cheaper is None:
        return said
    gone, lost = _price_text(cheaper)
    people = f"{_people(cheaper, INFORMED)} and {_people(cheaper, LEARNED)}"
    return f"{said} Cheaper: in a trial with {cheaper['setting']}, they exposed {people}, for {gone} and {lost}."


def best_settings(rows: Sequence[Row]) -> tuple[Row | None, Row | None]:
    """The setting of lowest risk, and a cheaper one that exposes at most a tenth of the respondents that are exposed now.

    A setting lowers the risk if the level of the verdict is lower, or the same and it exposes fewer respondents to an adversary
    and no more to the other. The lowest risk is that of the lowest level, then of the fewest respondents, then of the lowest
    price.

    Parameters
    ----------
    rows : sequence of dict
        Rows of `price_of_settings`, the present publication first.

    Returns
    -------
    best, cheaper : dict or None
        None where no setting lowers the risk, and where there is no cheaper one that does.
    """
    now = rows[0]
    lower = [row for row in rows[1:] if not row["problem"] and _lowers_risk(row, now)]
    if not lower:
        return None, None
    best = min(lower, key=lambda row: (_level(row), max(_exposed(row)), _price(row)))
    few = [row for row in lower if max(_exposed(row)) <= FEW * max(_exposed(now))]
    cheaper = min(few, key=_price, default=best)
    return best, cheaper if _price(cheaper) < _price(best) else None


def _lowers_risk(row: Row, now: Row) -> bool:
    """True if a setting has a lower level than the present one, or the same, fewer exposed by an adversary, and no more by any."""
    if _level(row) != _level(now):
        return _level(row) < _level(now)
    exposed, before = _exposed(row), _exposed(now)
    return exposed != before and all(each <= other for each, other in zip(exposed, before, strict=True))


def _level(row: Row) -> Level:
    return risk_level(*_exposed(row))


def _exposed(row: Row) -> tuple[int, int]:
    """Numbers of respondents that a setting exposes to the informed adversary, and to the one without prior knowledge."""
    return int(row[f"exposed_{INFORMED}"]), int(row[f"exposed_{LEARNED}"])


def _price(row: Row) -> float:
    """Share of the detail that is lost, all of it for a suppressed record, plus the share of the published that is invented."""
    return float(row["suppressed"] + (1 - row["suppressed"]) * row["gcp"] + row["invented"])


def _price_text(row: Row) -> tuple[str, str]:
    """Share of suppressed records, and share of lost detail."""
    return percent(float(row["suppressed"])), percent(float(row["gcp"]))


def _invented_text(row: Row) -> str:
    """Sentence on the share of invented records; empty for none."""
    return f" Of the published records, {percent(float(row['invented']))} would be invented." if row["invented"] else ""


def _people(row: Row, name: str) -> str:
    """Number of respondents that a setting exposes to an adversary."""
    number = int(row[f"exposed_{name}"])
    return counted(number, "person", "people") if number else "no person"
