"""Sweeps of block coordinate ascent over the tilts of all groups."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import (
    Messages,
    Potentials,
    write_backward,
    write_forward,
    write_likelihood,
    write_published,
    write_weights,
)

INNER_ROUNDS = 3
"""Rounds of scaling of one group for each visit of a sweep."""


@compiled
def sweep_forward(
    at: Layout, factors: Potentials, messages: Messages, gap: FloatArray, first: int, last: int, update: bool
) -> None:
    """Forward messages and tilts of releases ``first`` to ``last - 1``, in the order of time.

    ``gap[g]`` becomes the largest relative deviation of an expected count from the published one, before the update.
    """
    for t in range(first, last):
        for g in range(at.release_starts[t], at.release_starts[t + 1]):
            for r in range(at.group_starts[g], at.group_starts[g + 1]):
                p = at.previous[r]
                before = factors.group[p] if p >= 0 else g
                likelihood = np.empty(at.value_starts[before + 1] - at.value_starts[before])
                write_likelihood(likelihood, before, at, factors, messages.tilt)
                write_forward(r, at, factors, messages, likelihood)
            gap[g] = scale_group(g, at, factors, messages, update)


@compiled
def sweep_backward(at: Layout, factors: Potentials, messages: Messages, gap: FloatArray, first: int, last: int) -> None:
    """Tilts and backward messages of releases ``last - 1`` to ``first``, against the order of time."""
    for t in range(last - 1, first - 1, -1):
        for g in range(at.release_starts[t], at.release_starts[t + 1]):
            gap[g] = scale_group(g, at, factors, messages, True)
            likelihood = np.empty(at.value_starts[g + 1] - at.value_starts[g])
            write_likelihood(likelihood, g, at, factors, messages.tilt)
            for r in range(at.group_starts[g], at.group_starts[g + 1]):
                if at.previous[r] >= 0:
                    write_backward(r, at, factors, messages, likelihood)


@compiled
def scale_group(g: int, at: Layout, factors: Potentials, messages: Messages, update: bool) -> float:
    """Scale the tilts of a group towards its counts; return the largest relative deviation of a count before."""
    start, stop = at.value_starts[g], at.value_starts[g + 1]
    members = at.group_starts[g + 1] - at.group_starts[g]
    if at.shown[start:stop].sum() == 0.0 or members == 0:
        return 0.0
    weights = np.empty((members, stop - start))
    published = np.empty_like(weights)
    write_weights(weights, g, at, messages)
    write_published(published, weights, g, factors)
    tilt, shown = messages.tilt[start:stop], at.shown[start:stop]
    expected = np.empty(stop - start)
    deviation = expected_counts(expected, published, tilt, shown)
    for _ in range(INNER_ROUNDS if update else 0):
        for s in range(len(tilt)):
            if shown[s] > 0.0:
                tilt[s] *= shown[s] / max(expected[s], 1e-300)
        tilt /= tilt.max()
        expected_counts(expected, published, tilt, shown)
    return deviation


@compiled
def expected_counts(expected: FloatArray, published: FloatArray, tilt: FloatArray, shown: FloatArray) -> float:
    """Expected number of members with each published value; return the largest deviation relative to the count."""
    expected[:] = 0.0
    for i in range(len(published)):
        total = 0.0
        for s in range(len(tilt)):
            total += published[i, s] * tilt[s]
        if total > 0.0:
            for s in range(len(tilt)):
                expected[s] += published[i, s] * tilt[s] / total
    deviation = 0.0
    for s in range(len(tilt)):
        if shown[s] > 0.0:
            deviation = max(deviation, abs(expected[s] - shown[s]) / shown[s])
    return deviation


@compiled
def state_beliefs(at: Layout, factors: Potentials, messages: Messages, belief: FloatArray, starts: IntArray) -> None:
    """Belief in each value of each record: written to ``belief`` from position ``starts[r]`` on."""
    for g in range(len(at.group_starts) - 1):
        members, width = at.group_starts[g + 1] - at.group_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        weights, likelihood = np.empty((members, width)), np.empty(width)
        write_weights(weights, g, at, messages)
        write_likelihood(likelihood, g, at, factors, messages.tilt)
        for i in range(members):
            low = starts[at.group_starts[g] + i]
            total = 0.0
            for s in range(width):
                belief[low + s] = weights[i, s] * likelihood[s]
                total += belief[low + s]
            for s in range(width):
                belief[low + s] = belief[low + s] / total if total > 0.0 else 1.0 / width
