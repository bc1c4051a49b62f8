"""Channels of releases with distorted values in the joint law."""

from collections.abc import Sequence

import numpy as np

from foreknow.models.adversary import Adversary
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.mechanisms.distortion import emission_matrices
from foreknow.models.memory import Memory
from foreknow.models.tables.observation import Observation


def channel_emissions(
    adversary: Adversary, observations: Sequence[Observation], release: IntArray, counts: IntArray
) -> tuple[FloatArray, IntArray]:
    """Emissions of the groups of releases with distorted values.

    Parameters
    ----------
    adversary : Adversary
        Its estimator computes the channel of each such release, going forward (`Adversary.channel`).
    observations : sequence of Observation
    release : int array, shape (G,)
    counts : int array, shape (G, m)

    Returns
    -------
    emission : float array, shape (C, m, m)
    emission_row : int array, shape (G,)
        Row of each group; -1 in other releases, and where nothing is published.

    Notes
    -----
    The channel of a release is estimated from it and the releases before, not from later ones. Cost: that of the sequential
    attack up to the last release with distorted values; nothing without any.
    """
    m = counts.shape[1]
    row = np.full(len(counts), -1, dtype=np.int64)
    matrices = [np.zeros((0, m, m))]
    memory, number = Memory(), 0
    last = max((t for t, seen in enumerate(observations) if seen.distorted), default=-1)
    for t, observation in enumerate(observations[: last + 1] if adversary.distortion == "counted" else ()):
        revised = adversary.revise(memory, observation.people, observation.time)
        channel = adversary.channel(revised, observation)
        if channel is not None:
            groups = np.flatnonzero((release == t) & counts.any(axis=1))
            row[groups] = number + np.arange(len(groups))
            number += len(groups)
            matrices.append(emission_matrices(channel, counts[groups]))
        memory = adversary.update_memory(memory, observation, adversary.posterior(revised, observation))
    return np.concatenate(matrices), row
