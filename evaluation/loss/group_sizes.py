"""Measures of group sizes: discernibility and average group size."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.release_table import release_table
from foreknow.models import Release
from foreknow.models.arrays import IntArray
from foreknow.models.settings import check_whole


def discernibility(releases: Iterable[Release]) -> pd.DataFrame:
    """Discernibility metric: each record costs the number of records indistinguishable from it.

    Groups are distinguished by their number, also where two publish the same quasi-identifiers; the groups of a bucketized release
    are its buckets. Counterfeits are not counted.

    Parameters
    ----------
    releases : iterable of Release
        The published releases.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``discernibility``, the sum of ``|G|^2`` over the groups G, plus the number N of all
        records for each suppressed one (Bayardo and Agrawal, ICDE 2005); ``discernibility_published``, the sum over the groups
        alone; ``records``, the number of records of the view; ``suppressed``. Cost: O(n).

    Raises
    ------
    TypeError
        If ``releases`` are no releases.
    """
    rows = []
    for release in check_releases("discernibility", releases):
        sizes, records = record_counts(release), len(release.view)
        suppressed, squares = records - int(sizes.sum()), int((sizes**2).sum())
        rows.append(
            {
                "time": release.time,
                "discernibility": squares + records * suppressed,
                "discernibility_published": squares,
                "records": records,
                "suppressed": suppressed,
            }
        )
    return release_table(rows, ("time", "discernibility", "discernibility_published", "records", "suppressed"))


def average_group_size(releases: Iterable[Release], *, k: int = 1) -> pd.DataFrame:
    """Normalized average group size: ``(N / g) / k`` for N published records in g groups (LeFevre et al., ICDE 2006).

    Suppressed records are in no group, and counterfeits are not counted.

    Parameters
    ----------
    releases : iterable of Release
        The published releases.
    k : int
        Unit of the size: the k of k-anonymity, or 1 for the plain mean.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``group_size``, NaN where nothing is published; ``smallest`` and ``largest``, in
        records; ``groups``; ``measured``, the number of published records; ``suppressed``. Cost: O(n).

    Raises
    ------
    TypeError
        If ``releases`` are no releases.
    ValueError
        If k is no whole number of 1 or more.
    """
    check_whole("average_group_size", "k", k, "records, the unit of group sizes")
    rows = []
    for release in check_releases("average_group_size", releases):
        sizes = record_counts(release)
        rows.append(
            {
                "time": release.time,
                "group_size": float(sizes.mean()) / k if len(sizes) else float("nan"),
                "smallest": int(sizes.min()) if len(sizes) else 0,
                "largest": int(sizes.max(initial=0)),
                "groups": len(sizes),
                "measured": int(sizes.sum()),
                "suppressed": len(release.view) - int(sizes.sum()),
            }
        )
    return release_table(rows, ("time", "group_size", "smallest", "largest", "groups", "measured", "suppressed"))


def record_counts(release: Release) -> IntArray:
    """Number of original records of each group: int array, shape ``(g,)``."""
    return np.bincount(release.group[release.group >= 0], minlength=release.groups).astype(np.int64)
