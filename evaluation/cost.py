"""What a release lost. Each measure is a tidy table, one row per release, that says what it leaves out."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.models import Categorical, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.generalization import common_level, hulls


def gcp(releases: Iterable[Release], penalize_suppressed: bool = False) -> pd.DataFrame:
    """The global certainty penalty: how wide the published intervals are, and how high the published labels stand.

    The normalized certainty penalty of a group in one quasi-identifier is its interval's width over the domain's, or, for
    a categorical one, the number of values under its label over the number of all, and 0 where the value itself is
    published (Xu et al., KDD 2006). A record's is the sum over the quasi-identifiers.

    Parameters
    ----------
    releases : iterable of Release
        What was published.
    penalize_suppressed : bool
        Whether a suppressed record counts as one blurred completely; the papers leave it out.

    Returns
    -------
    DataFrame
        Columns ``time``, then the three normalizations in use: ``total``, the sum over the records (BayFrame, UHRA);
        ``normalized``, that sum over d times the records, between 0 and 1 (Ghinita et al., VLDB 2007); ``per_group``,
        the mean over the groups of a record's penalty (JS-reduce, "average GCP of QI-groups"); and ``records`` and
        ``suppressed``. Cost: O(n d).
    """
    rows = []
    for release in releases:
        penalty = certainty_penalty(release)
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


def certainty_penalty(release: Release) -> FloatArray:
    """The normalized certainty penalty of a record of each group: float array, shape ``(g,)``, from 0 to d."""
    penalty = np.zeros(release.groups)
    if not release.groups:
        return penalty
    people = release.view.people
    hull = hulls(people, release.group, release.groups)
    width = people.schema.bounds[:, 1] - people.schema.bounds[:, 0]
    for a, kind in enumerate(people.schema.quasi_identifiers.values()):
        if isinstance(kind, Categorical):
            level = common_level(kind, people.quasi_identifiers[:, a], release.group, release.groups)
            labels = kind.tree.levels()[level, hull.low[:, a].astype(np.int64)]
            under = (kind.tree.levels()[level] == labels[:, None]).sum(axis=1)
            penalty += np.where(level == 0, 0.0, under / len(kind.values))
        elif width[a] > 0:
            penalty += (hull.high[:, a] - hull.low[:, a]) / width[a]
    return penalty


def suppressed(releases: Iterable[Release]) -> pd.DataFrame:
    """How many records were left out, and how many are published with a value not their own or do not exist.

    Returns
    -------
    DataFrame
        Columns ``time``, ``records`` (of the view), ``suppressed``, ``share`` (of the records), ``distorted``,
        ``counterfeits``.
    """
    rows = []
    for release in releases:
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
