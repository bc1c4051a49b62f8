"""Risk of published tables without original records: of linked persons, and of an unknown member of each group."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.cli.files.published_tables import PublishedRelease
from foreknow.app.cli.files.register import LinkedRelease
from foreknow.app.exposure import Exposure, exposure_of_records
from foreknow.app.report.respondents import label
from foreknow.evaluation.risk.respondent_risk import as_objects
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


def exposed_linked(beliefs: Beliefs, sure: float, to: str) -> Exposure:
    """Linked persons who are exposed by the belief in their most probable value, whether it is true or not."""
    rows: list[dict[str, Any]] = []
    for release in beliefs:
        seen, belief = release.observation, release.posterior.probabilities
        for row in np.flatnonzero(seen.group >= 0).tolist():
            code, counts = int(belief[row].argmax()), seen.counts[seen.group[row]]
            cells = (
                seen.people.respondents[row],
                seen.time,
                seen.people.schema.values[code],
                float(belief[row, code]),
                float(release.prior[row, code]),
                counts[code] / counts.sum(),
                int(seen.group[row]),
                shown_values(counts, seen.people.schema.values),
            )
            rows.append(dict(zip(PERSON_COLUMNS, cells, strict=True)))
    columns = {name: as_objects([row[name] for row in rows]) for name in PERSON_COLUMNS}
    columns |= {name: columns[name].astype(float) for name in ("belief", "prior")}
    return exposure_of_records(columns, sure, to)


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
