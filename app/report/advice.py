"""Level of risk of a publication, and the advice: the stricter setting of lowest level, and its price."""

from collections.abc import Hashable, Sequence
from enum import IntEnum
from typing import Any

from foreknow.app.cli.defense_choices import defense_text
from foreknow.app.report.adversaries import INFORMED, LEARNED
from foreknow.app.report.contents import ReportContents
from foreknow.app.report.exposure import percent
from foreknow.models.settings import counted

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

    High if the adversary without prior knowledge exposes a respondent, because every reader of the releases can do it; some if
    only the informed one does; none if neither does.

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
    gone, lost = _price_text(best)
    gone_now, lost_now = _price_text(now)
    said = (
        f"In a trial with {_named(best, contents)}, the informed adversary exposed {_people(best, INFORMED)} (now "
        f"{now[f'exposed_{INFORMED}']:,.0f}), and the one without prior knowledge {_people(best, LEARNED)} (now "
        f"{now[f'exposed_{LEARNED}']:,.0f}). The price: {gone} of the records would be left out (now {gone_now}), and {lost} of "
        f"the detail of the other columns lost (now {lost_now}). Another draw of the groups gives somewhat different numbers."
    )
    if cheaper is None:
        return said
    gone, lost = _price_text(cheaper)
    people = f"{_people(cheaper, INFORMED)} and {_people(cheaper, LEARNED)}"
    return f"{said} Cheaper: in a trial with {cheaper['setting']}, they exposed {people}, for {gone} and {lost}."


def _named(row: Row, contents: ReportContents) -> str:
    """A stricter setting, with the name of its defense where the one that made the groups is not known."""
    assumed, setting = contents.assumed, str(row["setting"])
    return setting if assumed is None else f"{defense_text(assumed).split()[0]} ({setting})"


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
    """Share of the detail that is lost, all of it for a suppressed record."""
    return float(row["suppressed"] + (1 - row["suppressed"]) * row["gcp"])


def _price_text(row: Row) -> tuple[str, str]:
    """Share of suppressed records, and share of lost detail."""
    return percent(float(row["suppressed"])), percent(float(row["gcp"]))


def _people(row: Row, name: str) -> str:
    """Number of respondents that a setting exposes to an adversary."""
    number = int(row[f"exposed_{name}"])
    return counted(number, "person", "people") if number else "no person"
