"""How far the published distribution is from the original one."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from foreknow.evaluation.boxes import Boxes, Domains, domains, original_boxes, published_boxes
from foreknow.evaluation.several import several
from foreknow.models import Release
from foreknow.models.arrays import FloatArray, IntArray, compiled


def kl_loss(releases: Iterable[Release], penalize_suppressed: bool = False) -> pd.DataFrame:
    """The Kullback-Leibler divergence, in bits, of what a reader takes from a release from the original distribution.

    With p the share of the original records that a vector x of quasi-identifiers, or a pair of it and a sensitive value,
    has, it is ``sum p(x) log2(p(x) / q(x))``. The reader's q spreads each published row evenly over the vectors of the domain
    inside its group's box: ``q(x) = sum_G |G|/N 1[x in G] / vol(G)``, and of a pair, the same with the rows of
    that value. Of a bucketized release q gives every vector that a group shows the group's shares of the values, so that
    quasi-identifiers alone lose nothing. The volumes count values, see `foreknow.evaluation.boxes.domains`.

    Parameters
    ----------
    releases : iterable of Release
        What was published.
    penalize_suppressed : bool
        Whether a suppressed record is in p, and in q as one blurred completely, of which any vector and any value is
        equally likely; otherwise p is that of the published records.

    Returns
    -------
    DataFrame
        Columns ``time``; ``identifiers``, the divergence of quasi-identifiers alone; ``joint``, that of pairs, infinite where
        a value is published nowhere its record could be, as a distorted one may be; both missing where there is no record;
        ``records``, those in p, and ``suppressed``. Counterfeits are part of q alone.

    Notes
    -----
    Cost: O(distinct vectors * groups * d) at most; a vector is done with a group at the first attribute that tells them
    apart.
    """
    rows = []
    for release in several("kl_loss", releases):
        left_out = int((release.group < 0).sum())
        known = domains([release.view])
        published = published_boxes(release, known)
        if penalize_suppressed:
            original, published = original_boxes(release.view, known), _with_blurred(published, left_out, known)
        else:
            original = original_boxes(release.view, known, release.group >= 0)
        density = _densities(original.low, published.low, published.high, published.weights / published.volume[:, None])
        rows.append(
            {
                "time": release.time,
                "identifiers": _divergence(original.weights.sum(axis=1), density.sum(axis=1), published.weights.sum()),
                "joint": _divergence(original.weights, density, published.weights.sum()),
                "records": int(original.weights.sum()),
                "suppressed": left_out,
            }
        )
    return pd.DataFrame(rows)


def _with_blurred(boxes: Boxes, records: int, domains: Domains) -> Boxes:
    """The boxes, and one that is everything, with records of every value alike."""
    m = boxes.weights.shape[1]
    return Boxes(
        np.vstack([boxes.low, np.zeros((1, len(domains)), dtype=np.int64)]),
        np.vstack([boxes.high, [[len(domain) - 1 for domain in domains]]]),
        np.vstack([boxes.weights, np.full((1, m), records / m)]),
    )


def _divergence(weights: FloatArray, density: FloatArray, mass: float) -> float:
    """The divergence of the normalized weights from densities that add to a mass."""
    there = weights > 0
    if not there.any():
        return float("nan")
    share, assumed = weights[there] / weights.sum(), density[there] / mass
    if (assumed == 0).any():
        return float("inf")
    return max(float((share * np.log2(share / assumed)).sum()), 0.0)


@compiled
def _densities(vectors: IntArray, low: IntArray, high: IntArray, density: FloatArray) -> FloatArray:
    """The densities of the boxes around each vector, summed: float array, shape ``(u, m)``."""
    found = np.zeros((len(vectors), density.shape[1]))
    for x in range(len(vectors)):
        for box in range(len(low)):
            inside = True
            for a in range(vectors.shape[1]):
                if not low[box, a] <= vectors[x, a] <= high[box, a]:
                    inside = False
                    break
            if inside:
                found[x] += density[box]
    return found
