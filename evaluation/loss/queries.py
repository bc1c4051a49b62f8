"""Relative errors of counting queries answered from a release."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.boxes import check_same_columns, original_boxes, published_boxes
from foreknow.evaluation.loss.workload import Workload
from foreknow.evaluation.release_table import release_table
from foreknow.models import Release, View
from foreknow.models.arrays import FloatArray
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import as_floats, check_kind


def query_error(releases: Iterable[Release], workload: Workload, *, progress: Progress = iter) -> pd.DataFrame:
    """Relative error of counting queries over a workload: ``|act - est| / act`` (Xiao and Tao, VLDB 2006).

    ``act`` is the count of original records, and ``est`` the count that a reader of the release expects. In a generalized
    release, the records of a group are spread evenly over the vectors of the domain in its box; the domain of a number is the
    set of numbers that occur (`foreknow.evaluation.boxes.domains`), whatever their unit. In a bucketized release, the records
    of a group with selected quasi-identifiers have the selected sensitive values in the group's proportion. Suppressed records
    are missing from ``est``, and so are part of the error. Counterfeits are published, and are counted in it.

    Parameters
    ----------
    releases : iterable of Release
        The published releases.
    workload : Workload
        The queries, from `Workload.draw`. Draw them once, from all views, so that defenses answer the same ones.
    progress : callable
        Function of the releases that returns an iterable of the same length, as ``rich.progress.track``. One item is taken before
        each release.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``query_mean`` (Xiao and Tao; foreground knowledge) and ``query_median`` (JS-reduce,
        Figure 8b) of the errors; ``queries``, the number of queries they are over; ``empty``, the number left out because they
        count no record of this view and there is no sanity bound; ``redrawn``, the number replaced for the same reason when the
        workload was drawn.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If a record has a value that is not in the domains of the workload.

    Notes
    -----
    Cost: O(q (c d + p)) for c groups, or distinct vectors in a group where the release is bucketized, that show p pairs of a
    group and a value; and the same for the distinct vectors of each view.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Release, Schema, View
    >>> frame = pd.DataFrame({"id": range(4), "age": [20, 21, 22, 29], "result": list("abba")})
    >>> view = View(frame, Schema({"age": Numeric(20, 29)}, "result", ("a", "b")))
    >>> workload = Workload.draw(view, rng=1, queries=100, selectivity=0.5)
    >>> releases = [Release(view, [0, 1, 2, 3]), Release(view, [-1, -1, -1, -1])]
    >>> query_error(releases, workload)[["query_mean", "query_median", "queries"]]
       query_mean  query_median  queries
    0         0.0           0.0      100
    1         1.0           1.0      100
    """
    _check_workload("query_error", workload)
    check_progress("query_error", progress, "the releases")
    checked = check_releases("query_error", releases)
    actual: dict[View, FloatArray] = {}
    rows = []
    for release, _ in zip(checked, progress(checked), strict=True):
        if release.view not in actual:
            actual[release.view] = actual_counts(release.view, workload)
        errors = query_errors(release, workload, actual=actual[release.view])["error"]
        rows.append(
            {
                "time": release.time,
                "query_mean": float(errors.mean()),
                "query_median": float(errors.median()),
                "queries": int(errors.count()),
                "empty": int(errors.isna().sum()),
                "redrawn": workload.redrawn,
            }
        )
    return release_table(rows, ("time", "query_mean", "query_median", "queries", "empty", "redrawn"))


def query_errors(release: Release, workload: Workload, *, actual: FloatArray | None = None) -> pd.DataFrame:
    """Counts and relative error of each query on one release, one row per query; see `query_error`.

    Parameters
    ----------
    release : Release
        The published release.
    workload : Workload
        The queries.
    actual : float array, shape (q,), optional
        The `actual_counts` of the release's view, where they are known from another release of it.

    Returns
    -------
    DataFrame
        Columns ``dimensions``, the number of quasi-identifiers with a predicate; ``actual`` and ``estimate``, numbers of records;
        ``error``, NaN where a query counts no record and there is no sanity bound.

    Raises
    ------
    TypeError, ValueError
        As `query_error`; if ``actual`` has not one number per query.
    """
    takes = "takes one Release; make one, as Release(view, labels), or use query_error for several"
    check_kind("query_errors", "release", release, Release, takes)
    _check_workload("query_errors", workload)
    takes = "is a float array, one count for each query"
    given = actual_counts(release.view, workload) if actual is None else actual
    counted = as_floats("query_errors", "actual", given, takes)
    if counted.shape != (len(workload),):
        raise ValueError(
            f"query_errors: actual has the shape {counted.shape}; it holds one count for each of the {len(workload)} queries."
        )
    estimate = workload.count(published_boxes(release, workload.domains))
    least = 0.0 if workload.sanity_bound is None else workload.sanity_bound * len(release.view)
    divisor = np.maximum(counted, least)
    error = np.divide(np.abs(counted - estimate), divisor, out=np.full(len(divisor), np.nan), where=divisor > 0)
    columns = {"dimensions": workload.dimensions, "actual": counted, "estimate": estimate, "error": error}
    return pd.DataFrame(columns)


def actual_counts(view: View, workload: Workload) -> FloatArray:
    """Number of original records that each query counts: float array, shape ``(q,)``."""
    check_same_columns(view, len(workload.domains), workload.selected_values.shape[1])
    return workload.count(original_boxes(view, workload.domains))


def _check_workload(owner: str, workload: object) -> None:
    takes = "takes a Workload; draw one, as Workload.draw(history, rng=1)"
    check_kind(owner, "workload", workload, Workload, takes)
