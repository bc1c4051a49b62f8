"""Measures that look only at how large the groups are."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.evaluation.several import several
from foreknow.models import Release
from foreknow.models.arrays import IntArray


def discernibility(releases: Iterable[Release]) -> pd.DataFrame:
    """The discernibility metric: each record costs the number of records that it cannot be told from.

    Groups are classes by their number, also where two publish the same; of a bucketized release, which shows the
    quasi-identifiers as they are, they are its buckets. Counterfeits are not counted.

    Returns
    -------
    DataFrame
        Columns ``time``; ``published``, the sum of ``|G|^2`` over the groups; ``penalized``, that sum and, for each
        suppressed record, the number N of all records, as it cannot be told from anyone (Bayardo and Agrawal, ICDE 2005);
        ``records`` (of the view), ``suppressed``. Cost: O(n).
    """
    rows = []
    for release in several("discernibility", releases):
        sizes, records = class_sizes(release), len(release.view)
        suppressed, published = records - int(sizes.sum()), int((sizes**2).sum())
        rows.append(
            {
                "time": release.time,
                "published": published,
                "penalized": published + records * suppressed,
                "records": records,
                "suppressed": suppressed,
            }
        )
    return pd.DataFrame(rows)


def average_class_size(releases: Iterable[Release], k: int = 1) -> pd.DataFrame:
    """The mean size of a group, in multiples of the least allowed: ``(N / g) / k`` (LeFevre et al., ICDE 2006).

    N are the published records: suppressed ones are no class and counterfeits are not counted.

    Parameters
    ----------
    releases : iterable of Release
        What was published.
    k : int
        What a size is measured in: the k of k-anonymity; 1 for the plain mean.

    Returns
    -------
    DataFrame
        Columns ``time``; ``average``, missing where nothing is published; ``smallest`` and ``largest`` group, in records;
        ``groups``; ``records``, those published; ``suppressed``. Cost: O(n).

    Raises
    ------
    ValueError
        If k is less than 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; the sizes of groups are measured in multiples of 1 or more records.")
    rows = []
    for release in several("average_class_size", releases):
        sizes = class_sizes(release)
        rows.append(
            {
                "time": release.time,
                "average": float(sizes.mean()) / k if len(sizes) else float("nan"),
                "smallest": int(sizes.min()) if len(sizes) else 0,
                "largest": int(sizes.max(initial=0)),
                "groups": len(sizes),
                "records": int(sizes.sum()),
                "suppressed": len(release.view) - int(sizes.sum()),
            }
        )
    return pd.DataFrame(rows)


def class_sizes(release: Release) -> IntArray:
    """Number of original records of each group: int array, shape ``(g,)``."""
    return np.bincount(release.group[release.group >= 0], minlength=release.groups).astype(np.int64)
