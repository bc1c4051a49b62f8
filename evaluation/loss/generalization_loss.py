"""Information lost by grouping: generalization, suppression, divergence, group sizes, removed items."""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.defenses.suppression.item_suppression import removal_cost
from foreknow.evaluation.arguments import check_releases, release_table
from foreknow.evaluation.boxes import Boxes, Domains, domains, original_boxes, published_boxes
from foreknow.models import Categorical, ItemRelease, Release
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.problem import group_rows
from foreknow.models.settings import check_choice, check_flag, check_whole
from foreknow.models.tables.release import published_hulls

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
        their own; ``counterfeits``, invented records, ghosts among them. Nothing is left out.
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


class Price(NamedTuple):
    """Share of the records that are withheld, and of the published ones that are invented."""

    withheld: float
    invented: float


def price(cost: pd.DataFrame) -> Price:
    """Price of releases, by their table of `suppressed`."""
    records, withheld = int(cost["records"].sum()), int(cost["suppressed"].sum())
    invented = int(cost["counterfeits"].sum()) if "counterfeits" in cost else 0
    return Price(withheld / max(records, 1), invented / max(records - withheld + invented, 1))


def kl_loss(releases: Iterable[Release], *, penalize_suppressed: bool = False) -> pd.DataFrame:
    """Kullback-Leibler divergence, in bits, of the distribution that a reader infers from the original one.

    With p the share of the original records at a vector x of quasi-identifiers, or at a pair of x and a sensitive value, it is
    ``sum p(x) log2(p(x) / q(x))``. The reader's q spreads each published row evenly over the vectors of the domain in its
    group's box: ``q(x) = sum_G |G|/N 1[x in G] / vol(G)``, and of a pair the same with the rows of that value. In a bucketized
    release q gives every vector that a group shows the group's shares of the values, so that quasi-identifiers alone lose
    nothing. Volumes count values, see `foreknow.evaluation.boxes.domains`.

    Parameters
    ----------
    releases : iterable of Release
        The published releases.
    penalize_suppressed : bool
        If True, a suppressed record is in p, and in q as completely generalized: any vector and any value is equally likely. If
        False, p is the distribution of the published records.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``identifiers``, the divergence of quasi-identifiers alone; ``joint``, that of
        pairs, infinite where a record's value is not published in any box around it, as with distorted values; both NaN where p
        has no record; ``measured``, the number of records in p; ``suppressed``. Counterfeits are part of q alone.

    Notes
    -----
    Cost: O(u g d) at most for u distinct vectors; a vector and a group are compared up to the first attribute in which they
    differ.
    """
    check_flag("kl_loss", "penalize_suppressed", penalize_suppressed)
    rows = (_divergences(release, penalize_suppressed) for release in check_releases("kl_loss", releases))
    return release_table(rows, ("time", "identifiers", "joint", "measured", "suppressed"))


def _divergences(release: Release, penalize_suppressed: bool) -> dict[str, object]:
    suppressed = int((release.group < 0).sum())
    known = domains([release.view])
    if release.grouping.places is not None:
        ghosts = release.grouping.places.quasi_identifiers.T
        known = tuple(np.union1d(domain, codes) for domain, codes in zip(known, ghosts, strict=True))
    published = published_boxes(release, known)
    if penalize_suppressed:
        original, published = original_boxes(release.view, known), _with_generalized(published, suppressed, known)
    else:
        original = original_boxes(release.view, known, release.group >= 0)
    density = _densities(original.low, published.low, published.high, published.weights / published.volume[:, None])
    return {
        "time": release.time,
        "identifiers": _divergence(original.weights.sum(axis=1), density.sum(axis=1), published.weights.sum()),
        "joint": _divergence(original.weights, density, published.weights.sum()),
        "measured": int(original.weights.sum()),
        "suppressed": suppressed,
    }


def _with_generalized(boxes: Boxes, records: int, domains: Domains) -> Boxes:
    """Boxes with a further one of the whole domain, with records of every value in equal number."""
    m = boxes.weights.shape[1]
    return Boxes(
        np.vstack([boxes.low, np.zeros((1, len(domains)), dtype=np.int64)]),
        np.vstack([boxes.high, [[len(domain) - 1 for domain in domains]]]),
        np.vstack([boxes.weights, np.full((1, m), records / m)]),
    )


def _divergence(weights: FloatArray, density: FloatArray, mass: float) -> float:
    """Divergence of the normalized weights from densities of a total mass."""
    positive = weights > 0
    if not positive.any():
        return float("nan")
    p, q = weights[positive] / weights.sum(), density[positive] / mass
    if (q == 0).any():
        return float("inf")
    return max(float((p * np.log2(p / q)).sum()), 0.0)


@compiled
def _densities(vectors: IntArray, low: IntArray, high: IntArray, density: FloatArray) -> FloatArray:
    """Sum of the densities of the boxes around each vector: float array, shape ``(u, m)``."""
    total = np.zeros((len(vectors), density.shape[1]))
    for x in range(len(vectors)):
        for box in range(len(low)):
            inside = True
            for a in range(vectors.shape[1]):
                if not low[box, a] <= vectors[x, a] <= high[box, a]:
                    inside = False
                    break
            if inside:
                total[x] += density[box]
    return total


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


COLUMNS = ("time", "items", "removed", "removed_share", "cost", "cost_per_group", "measured", "suppressed")


def items_lost(releases: Iterable[ItemRelease]) -> pd.DataFrame:
    """Number of items removed from published records, and their cost.

    The removal of an item costs the inverse of the number of items that its record had until then. The cost is divided by the cost
    of removing all items. For d records with w_i items, of which v_i are removed (Equation 1):
    ``T = sum_i sum_(j = w_i - v_i + 1..w_i) 1 / j  /  sum_i sum_(j = 1..w_i) 1 / j``.

    Parameters
    ----------
    releases : iterable of ItemRelease

    Returns
    -------
    DataFrame
        One row per release, with the columns

        - ``time``;
        - ``items``: number of items of the published records before any was removed;
        - ``removed``: number of them that were removed;
        - ``removed_share``: ``removed / items``;
        - ``cost``: T of all published records together;
        - ``cost_per_group``: mean over the groups of each group's T, the paper's "average removal cost";
        - ``measured``: number of published records;
        - ``suppressed``: number of suppressed records. Their items are left out of all columns; `suppressed` measures their loss.

        Where there is no item, ``removed_share`` and the costs are 0. Without a group, ``cost_per_group`` is NaN. Cost: O(i) for i
        items.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, Equation 1; `removal_cost` computes it, for this measure and for the search.
    """
    rows = []
    for release in check_releases("items_lost", releases, ItemRelease):
        group, before, after = release.release.group, release.original.sizes, release.published.sizes
        order, starts = group_rows(group, release.release.groups)
        costs = [removal_cost(before[own], after[own]) for own in np.split(order, starts)[1:-1]]
        kept = group >= 0
        items, left = int(before[kept].sum()), int(after[kept].sum())
        rows.append(
            {
                "time": release.time,
                "items": items,
                "removed": items - left,
                "removed_share": (items - left) / items if items else 0.0,
                "cost": removal_cost(before[kept], after[kept]),
                "cost_per_group": math.fsum(costs) / len(costs) if costs else math.nan,
                "measured": int(kept.sum()),
                "suppressed": int((~kept).sum()),
            }
        )
    return release_table(rows, COLUMNS)
