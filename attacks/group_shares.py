"""Shares of the sensitive values: of the group of each record, and of the published table."""

import numpy as np

from foreknow.models import Observation
from foreknow.models.arrays import FloatArray


def group_shares(observation: Observation) -> FloatArray:
    """Share of each value in the group of each record, zeros for records outside all groups: float array, shape ``(n, m)``."""
    counts = observation.counts
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.vstack([shares, np.zeros(counts.shape[1])])[observation.group])


def table_shares(observation: Observation) -> FloatArray:
    """Share of each value in the published table, uniform if nothing is published: float array, shape ``(m,)``."""
    counts = observation.counts.sum(axis=0)
    m = len(counts)
    return np.asarray(counts / counts.sum()) if counts.sum() else np.full(m, 1 / m)
