"""Measures of generalization and suppression: certainty penalty, suppressed records."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.boxes import published_hulls
from foreknow.evaluation.loss.group_sizes import record_counts
from foreknow.evaluation.release_table import release_table
from foreknow.models import Categorical, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_choice, check_flag

type Width = Literal["domain", "table", "distinct"]
"""Divisor of the width of a published interval."""

WIDTHS: tuple[Width, ...] = ("domain", "table", "distinct")


def gcp(releases: Iterable[Release], *, penalize_suppressed: bool = False, width: Width = "domain") -> pd.DataFrame:
    """Global certainty penalty: width of published intervals, and number of values under published labels.

    The normalized certainty penalty of a group in a numeric quasi-identifier is the width of its interval over that of the
    domain. In a categorical one it is the number of values under its label over the number of all values, and 0 where the
    value itself is published (Xu et al., KDD 2006). The penalty of a record is the sum over the quasi-identifiers. A bucketized
    release has the penalty 0; `query_error` and `kl_loss` measure its loss.

    Parameters
    ----------
    releases : iterable of Release
        The published releases.
    penalize_suppressed : bool
        If True, a suppressed record counts as completely generalized. The papers leave it out.
    width : {"domain", "table", "distinct"}
        Divisor of the width of an interval. "domain" is the width of the domain. "table" is that of the records of the view,
        suppressed ones included (BayFrame, section 6.2). "distinct" is the number of distinct values of these (UHRA, Equation 2,
        as printed; a penalty may exceed 1 where the numbers have gaps).

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; the three normalizations in use: ``gcp_total``, the sum over the records (BayFrame,
        UHRA); ``gcp``, that sum over d times the number of records, from 0 to 1 (Ghinita et al., VLDB 2007);
        ``gcp_per_group``, the mean over the groups of a record's penalty (JS-reduce, "average GCP of QI-groups"); ``measured``, the
        number of records in the sum; ``suppressed``. NaN where nothing is published. Cost: O(n d).

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If ``width`` is none of the three.
    """
    check_flag("gcp", "penalize_suppressed", penalize_suppressed)
    check_choice("gcp", "width", width, WIDTHS)
    rows = []
    for release in check_releases("gcp", releases):
        penalty, sizes = certainty_penalty(release, width), record_counts(release)
        suppressed, d = int((release.group < 0).sum()), len(release.view.schema.quasi_identifiers)
        total = float(penalty @ sizes) + (suppressed * d if penalize_suppressed else 0)
        measured = int(sizes.sum()) + (suppressed if penalize_suppressed else 0)
        rows.append(
            {
                "time": release.time,
                "gcp_total": total,
                "gcp": total / (d * measured) if measured else float("nan"),
                "gcp_per_group": float(penalty.mean()) if len(penalty) else float("nan"),
                "measured": measured,
                "suppressed": suppressed,
            }
        )
    return release_table(rows, ("time", "gcp_total", "gcp", "gcp_per_group", "measured", "suppressed"))


def certainty_penalty(release: Release, width: Width = "domain") -> FloatArray:
    """Normalized certainty penalty of a record of each group: float array, shape ``(g,)``; from 0 to d over the domain."""
    penalty = np.zeros(release.groups)
    if release.bucketized:
        return penalty
    hull, divisor = published_hulls(release), _divisors(release, width)
    for a, kind in enumerate(release.view.schema.quasi_identifiers.values()):
        extent = hull.high[:, a] - hull.low[:, a]
        if isinstance(kind, Categorical):
            penalty += np.where(extent > 0, (extent + 1) / len(kind.values), 0.0)
        elif divisor[a] > 0:
            penalty += extent / divisor[a]
    return penalty


def _divisors(release: Release, width: Width) -> FloatArray:
    """Divisor of the intervals of each quasi-identifier: float array, shape ``(d,)``."""
    codes = release.view.people.quasi_identifiers
    match width:
        case "domain":
            bounds = release.view.schema.bounds
            return np.asarray(bounds[:, 1] - bounds[:, 0])
        case "table":
            return np.asarray(np.ptp(codes, axis=0))
        case "distinct":
            return np.array([float(len(np.unique(column))) for column in codes.T])


def suppressed(releases: Iterable[Release]) -> pd.DataFrame:
    """Numbers of suppressed records, of distorted values and of counterfeits.

    Parameters
    ----------
    releases : iterable of Release
        The published releases.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``records``, the number of records of the view; ``suppressed``;
        ``suppressed_share``, their share of the records; ``distorted``, the number of records published with another value than
        their own; ``counterfeits``. Nothing is left out.

    Raises
    ------
    TypeError
        If ``releases`` are no releases.
    """
    rows = []
    for release in check_releases("suppressed", releases):
        grouping, kept = release.grouping, release.group >= 0
        number, records = int((~kept).sum()), len(release.view)
        distorted = 0 if grouping.values is None else int((grouping.values != release.view.sensitive)[kept].sum())
        rows.append(
            {
                "time": release.time,
                "records": records,
                "suppressed": number,
                "suppressed_share": number / records,
                "distorted": distorted,
                "counterfeits": 0 if grouping.counterfeits is None else len(grouping.counterfeits),
            }
        )
    return release_table(rows, ("time", "records", "suppressed", "suppressed_share", "distorted", "counterfeits"))
