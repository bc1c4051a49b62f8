"""Reference kernel: fixed work, timed beside each figure, so that figures of a loaded or a slower machine can be compared."""

import time

import numba
import numpy as np

RECORDS, ROUNDS = 2**20, 8


@numba.njit
def _gather(values: np.ndarray, order: np.ndarray, rounds: int) -> float:
    """Sums of values in a random order: additions, multiplications and cache misses, as in the kernels of foreknow."""
    total = 0.0
    for _ in range(rounds):
        for place in order:
            total = 0.5 * total + values[place]
    return total


def reference_seconds(runs: int = 3) -> float:
    """Least processor time of some runs of the kernel, after one that compiles it."""
    rng = np.random.default_rng(1)
    values, order = rng.random(RECORDS), rng.permutation(RECORDS)
    _gather(values, order[:1], 1)
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        _gather(values, order, ROUNDS)
        seconds.append(time.process_time() - start)
    return min(seconds)
