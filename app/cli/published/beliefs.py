"""Risk of published tables without original records: of linked persons, and of an unknown member of each group."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.published.register import LinkedRelease
from foreknow.app.cli.published.tables import PublishedRelease
from foreknow.app.report.pseudonyms import label
from foreknow.models import Beliefs
from foreknow.models.arrays import IntArray

LINKED_TERMS = {
    "linked": "number of persons whose group is determined",
    "open": "number of persons who fit a group, and may be in it or not",
    "highest": "mean over the linked persons of the belief in their most probable value",
    "sure": "number of linked persons with a belief of at least --sure",
    "expected": "sum of these beliefs: the number of them that the adversary expects to be right",
}
"""Meaning of the columns of `linked_per_release`."""

MEMBER_TERMS = {
    "smallest": "number of records of the smallest group",
    "certain": "number of records in groups with a single value",
    "highest": "mean over the records of the share of the most frequent value of their group",
    "sure": "number of records in groups in which that share is at least --sure",
}
"""Meaning of the columns of `members_per_release`."""

PERSON_COLUMNS = ("respondent", "time", "believed", "belief", "prior", "share", "group", "group_values")
"""Columns of the persons at risk."""


class Believed(NamedTuple):
    """Persons with a sure belief in one value, whether it is true or not.

    Attributes
    ----------
    people : DataFrame
        One row per person, at the release of the highest belief; those with a sure belief before any release are left out.
    linked : int
        Number of persons who are linked at a release.
    known : int
        Number of them with a sure belief before any release.
    """

    people: pd.DataFrame
    linked: int
    known: int

    @property
    def expected(self) -> float:
        """Number of the values that the adversary expects to be true."""
        return float(self.people["belief"].sum())

    @property
    def share(self) -> float:
        """Share of the linked persons with a sure belief, and none before."""
        return len(self.people) / self.linked if self.linked else 0.0

    @property
    def content(self) -> dict[str, Any]:
        """The numbers as JSON has them."""
        numbers = {"linked": self.linked, "believed": len(self.people)}
        return numbers | {"known_before": self.known, "expected": self.expected}


def believed(beliefs: Beliefs, sure: float) -> Believed:
    """Persons with a sure belief at a release."""
    rows: list[dict[str, Any]] = []
    for release in beliefs:
        seen, belief = release.observation, release.posterior.probabilities
        for row in np.flatnonzero(seen.group >= 0).tolist():
            code, counts = int(belief[row].argmax()), seen.counts[seen.group[row]]
            rows.append(
                {
                    "respondent": seen.people.respondents[row],
                    "time": seen.time,
                    "believed": seen.people.schema.values[code],
                    "belief": float(belief[row, code]),
                    "prior": float(release.prior[row, code]),
                    "share": counts[code] / counts.sum(),
                    "group": int(seen.group[row]),
                    "group_values": shown_values(counts, seen.people.schema.values),
                    "sure_before": bool(release.prior[row].max() >= sure),
                }
            )
    table = pd.DataFrame(rows, columns=pd.Index([*PERSON_COLUMNS, "sure_before"]))
    table = table.sort_values("belief", ascending=False, kind="stable")
    table["sure_before"] = table.groupby("respondent")["sure_before"].transform("any")
    people = table.drop_duplicates("respondent")
    at_risk = people[(people["belief"] >= sure) & ~people["sure_before"].astype(bool)]
    return Believed(at_risk[list(PERSON_COLUMNS)].reset_index(drop=True), len(people), int(people["sure_before"].sum()))


def linked_per_release(beliefs: Beliefs, releases: Sequence[LinkedRelease], sure: float) -> pd.DataFrame:
    """Linked persons and their beliefs, one row per release."""
    rows = []
    for found, release in zip(beliefs, releases, strict=True):
        seen = found.observation
        inside = seen.group >= 0
        highest = found.posterior.probabilities[inside].max(axis=1, initial=0)
        rows.append(
            {
                "time": seen.time,
                "records": int(seen.counts.sum()),
                "groups": len(seen.counts),
                "linked": int(inside.sum()),
                "open": release.undetermined,
                "highest": float(highest.mean()) if inside.any() else np.nan,
                "sure": int((highest >= sure).sum()),
                "expected": float(highest[highest >= sure].sum()),
            }
        )
    return pd.DataFrame(rows)


def member_risk(releases: Sequence[PublishedRelease], values: Sequence[Any], sure: float) -> pd.DataFrame:
    """Most frequent value of each group and its share, one row per group, in decreasing order of the share.

    An unknown member has each value with its share of the group.

    Returns
    -------
    DataFrame
        Columns ``time``, ``group``, ``records``, ``values``, the number of different ones; ``believed``, the most frequent value;
        ``share``, its share; ``sure``, whether it is at least ``sure``; ``group_values``.
    """
    rows = []
    for release in releases:
        for name, counts in zip(release.names, release.counts, strict=True):
            rows.append(
                {
                    "time": release.time,
                    "group": name,
                    "records": int(counts.sum()),
                    "values": int((counts > 0).sum()),
                    "believed": values[int(counts.argmax())],
                    "share": counts.max() / counts.sum(),
                    "sure": bool(counts.max() / counts.sum() >= sure),
                    "group_values": shown_values(counts, values),
                }
            )
    return pd.DataFrame(rows).sort_values("share", ascending=False, kind="stable").reset_index(drop=True)


def members_per_release(groups: pd.DataFrame) -> pd.DataFrame:
    """Risk of an unknown member by release, from rows of `member_risk`."""
    weighted = groups.assign(
        highest=groups["share"] * groups["records"],
        certain=groups["records"].where(groups["values"] == 1, 0),
        sure=groups["records"].where(groups["sure"], 0),
    )
    table = weighted.groupby("time", sort=True).agg(
        records=("records", "sum"),
        groups=("group", "size"),
        smallest=("records", "min"),
        certain=("certain", "sum"),
        highest=("highest", "sum"),
        sure=("sure", "sum"),
    )
    table["highest"] /= table["records"]
    return table.reset_index()


def shown_values(counts: IntArray, values: Sequence[Any]) -> str:
    """The values of a group with their numbers, the most frequent first."""
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    return ", ".join(f"{counts[code]:g} {label(values[code])}" for code in order)
