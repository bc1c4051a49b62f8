"""How wrong a release answers counting queries."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.evaluation.boxes import original_boxes, published_boxes
from foreknow.evaluation.loss.workload import Workload
from foreknow.evaluation.several import several
from foreknow.models import Release, View
from foreknow.models.arrays import FloatArray


def query_error(releases: Iterable[Release], workload: Workload) -> pd.DataFrame:
    """The relative error of counting queries, over a workload: ``|act - est| / act`` (Xiao and Tao, VLDB 2006).

    ``act`` counts the original records. ``est`` is what a reader of the release counts. Generalized, the records of a group are
    spread evenly over the vectors of the domain inside its box; the domain of a number is the numbers that occur
    (`foreknow.evaluation.boxes.domains`), whatever their unit. Bucketized, those of a group with quasi-identifiers asked for
    have the sensitive values asked for in the proportion of the group's. Suppressed records are missing from it, and so are part
    of the error; counterfeits are among what is published, and are counted with it.

    Parameters
    ----------
    releases : iterable of Release
        What was published.
    workload : Workload
        The queries, from `Workload.draw`; draw them once, from all views, so that defenses answer the same ones.

    Returns
    -------
    DataFrame
        Columns ``time``; ``mean`` (Xiao and Tao; foreground knowledge) and ``median`` (JS-reduce, Figure 8b) of the errors;
        ``queries``, how many they are over; ``empty``, those left out, as they count nobody in this view and there is no sanity
        bound; ``redrawn``, those that were replaced for the same reason when the workload was drawn.

    Raises
    ------
    ValueError
        If a record has a value that the workload does not know of.

    Notes
    -----
    Cost: O(q (c d + p)) for c groups, or distinct vectors in a group where the release is bucketized, that show p pairs of a
    group and a value; and as much again for the distinct vectors of each view.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from foreknow.models import Numeric, Release, Schema, View
    >>> frame = pd.DataFrame({"id": range(4), "age": [20, 21, 22, 29], "result": list("abba")})
    >>> view = View(frame, Schema({"age": Numeric(20, 29)}, "result", ("a", "b")))
    >>> workload = Workload.draw(view, rng=np.random.default_rng(1), queries=100, selectivity=0.5)
    >>> query_error([Release(view, [0, 1, 2, 3]), Release(view, [-1, -1, -1, -1])], workload)[["mean", "median", "queries"]]
       mean  median  queries
    0   0.0     0.0      100
    1   1.0     1.0      100
    """
    actual: dict[View, FloatArray] = {}
    rows = []
    for release in several("query_error", releases):
        if release.view not in actual:
            actual[release.view] = actual_counts(release.view, workload)
        errors = query_errors(release, workload, actual[release.view])["error"]
        rows.append(
            {
                "time": release.time,
                "mean": float(errors.mean()),
                "median": float(errors.median()),
                "queries": int(errors.count()),
                "empty": int(errors.isna().sum()),
                "redrawn": workload.redrawn,
            }
        )
    return pd.DataFrame(rows)


def query_errors(release: Release, workload: Workload, actual: FloatArray | None = None) -> pd.DataFrame:
    """Each query's answers, one row per query, as `query_error` has them.

    Parameters
    ----------
    release : Release
        What was published.
    workload : Workload
        The queries.
    actual : float array, shape (q,), optional
        The `actual_counts` of the release's view, where they are known from another release of it.

    Returns
    -------
    DataFrame
        Columns ``dimensions``, how many quasi-identifiers are asked for; ``actual`` and ``estimate``, numbers of records;
        ``error``, missing where a query counts nobody and there is no sanity bound.
    """
    counted = actual_counts(release.view, workload) if actual is None else actual
    estimate = workload.count(published_boxes(release, workload.domains))
    least = 0.0 if workload.sanity_bound is None else workload.sanity_bound * len(release.view)
    divisor = np.maximum(counted, least)
    error = np.divide(np.abs(counted - estimate), divisor, out=np.full(len(divisor), np.nan), where=divisor > 0)
    columns = {"dimensions": workload.dimensions, "actual": counted, "estimate": estimate, "error": error}
    return pd.DataFrame(columns).rename_axis("query")


def actual_counts(view: View, workload: Workload) -> FloatArray:
    """Number of original records that each query counts: float array, shape ``(q,)``."""
    return workload.count(original_boxes(view, workload.domains))
