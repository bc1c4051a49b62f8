"""What a release lost to generalization and suppression. Each measure is a tidy table, one row per release."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd

from foreknow.evaluation.boxes import published_hulls
from foreknow.evaluation.several import several
from foreknow.models import Categorical, Release
from foreknow.models.arrays import FloatArray

type Width = Literal["domain", "table", "distinct"]
"""What the width of a published interval is divided by."""


def gcp(releases: Iterable[Release], penalize_suppressed: bool = False, width: Width = "domain") -> pd.DataFrame:
    """The global certainty penalty: how wide the published intervals are, and how high the published labels stand.

    The normalized certainty penalty of a group in one quasi-identifier is its interval's width over the domain's, or, for
    a categorical one, the number of values under its label over the number of all, and 0 where the value itself is
    published (Xu et al., KDD 2006). A record's is the sum over the quasi-identifiers. A bucketized release blurs no
    quasi-identifier: its penalty is 0, and what it loses shows in `query_error` and `kl_loss`.

    Parameters
    ----------
    releases : iterable of Release
        What was published.
    penalize_suppressed : bool
        Whether a suppressed record counts as one blurred completely; the papers leave it out.
    width : {"domain", "table", "distinct"}
        What a number's interval is divided by: the width of its domain; that of the records of the view, suppressed ones
        among them (BayFrame, section 6.2); or how many different numbers these have (UHRA, Equation 2, as printed: then
        a penalty may pass 1 where the numbers have gaps).

    Returns
    -------
    DataFrame
        Columns ``time``, then the three normalizations in use: ``total``, the sum over the records (BayFrame, UHRA);
        ``normalized``, that sum over d times the records, between 0 and 1 (Ghinita et al., VLDB 2007); ``per_group``,
        the mean over the groups of a record's penalty (JS-reduce, "average GCP of QI-groups"); and ``records`` and
        ``suppressed``. Cost: O(n d).
    """
    rows = []
    for release in several("gcp", releases):
        penalty = certainty_penalty(release, width)
        sizes = np.bincount(release.group[release.group >= 0], minlength=release.groups)
        suppressed, d = int((release.group < 0).sum()), len(release.view.schema.quasi_identifiers)
        total = float(penalty @ sizes) + (suppressed * d if penalize_suppressed else 0)
        records = int(sizes.sum()) + (suppressed if penalize_suppressed else 0)
        rows.append(
            {
                "time": release.time,
                "total": total,
                "normalized": total / (d * records) if records else float("nan"),
                "per_group": float(penalty.mean()) if len(penalty) else float("nan"),
                "records": records,
                "suppressed": suppressed,
            }
        )
    return pd.DataFrame(rows)


def certainty_penalty(release: Release, width: Width = "domain") -> FloatArray:
    """The normalized certainty penalty of a record of each group: float array, shape ``(g,)``; from 0 to d over the domain."""
    penalty = np.zeros(release.groups)
    if release.bucketized:
        return penalty
    hull, whole = published_hulls(release), _widths(release, width)
    for a, kind in enumerate(release.view.schema.quasi_identifiers.values()):
        blurred = hull.high[:, a] - hull.low[:, a]
        if isinstance(kind, Categorical):
            penalty += np.where(blurred > 0, (blurred + 1) / len(kind.values), 0.0)
        elif whole[a] > 0:
            penalty += blurred / whole[a]
    return penalty


def _widths(release: Release, width: Width) -> FloatArray:
    codes = release.view.people.quasi_identifiers
    match width:
        case "domain":
            bounds = release.view.schema.bounds
            return np.asarray(bounds[:, 1] - bounds[:, 0])
        case "table":
            return np.asarray(np.ptp(codes, axis=0))
        case "distinct":
            return np.array([float(len(np.unique(column))) for column in codes.T])
    raise ValueError(f'width is {width!r}; an interval is measured against "domain", "table" or "distinct".')


def suppressed(releases: Iterable[Release]) -> pd.DataFrame:
    """Counts of records that were left out, that are published with a value not their own, and that do not exist.

    Returns
    -------
    DataFrame
        Columns ``time``, ``records`` (of the view), ``suppressed``, ``share`` (of the records), ``distorted``,
        ``counterfeits``.
    """
    rows = []
    for release in several("suppressed", releases):
        grouping, left_out = release.grouping, int((release.group < 0).sum())
        kept = release.group >= 0
        changed = 0 if grouping.values is None else int((grouping.values != release.view.sensitive)[kept].sum())
        rows.append(
            {
                "time": release.time,
                "records": len(release.view),
                "suppressed": left_out,
                "share": left_out / len(release.view),
                "distorted": changed,
                "counterfeits": 0 if grouping.counterfeits is None else len(grouping.counterfeits),
            }
        )
    return pd.DataFrame(rows)
