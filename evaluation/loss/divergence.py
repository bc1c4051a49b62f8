"""Kullback-Leibler divergence of the published distribution from the original one."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.boxes import Boxes, Domains, domains, original_boxes, published_boxes
from foreknow.evaluation.release_table import release_table
from foreknow.models import Release
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.settings import check_flag


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

    Raises
    ------
    TypeError
        If an argument is of another kind.

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
