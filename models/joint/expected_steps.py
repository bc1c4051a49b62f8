"""Expected transitions of the tilted law, and the probability of those that the knowledge rules out."""

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, compiled
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import Factors, Messages


@compiled
def expected_steps(
    at: Layout, factors: Factors, messages: Messages, impossible: BoolArray, records: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Expected number of each transition, and the probability that the step to each record is impossible.

    Parameters
    ----------
    at, factors, messages
        Of a fitted law; read only.
    impossible : bool array, shape (Q, m)
        Entries of the transition tables that the knowledge rules out.
    records : tuple of int
        First record, and the one after the last, to which steps lead. ``(0, R)`` for all.

    Returns
    -------
    steps : float array, shape (Q, m)
        Expected number of transitions by row of ``table`` and value: sums of the pair marginals of consecutive records.
    ruled_out : float array, shape (R,)
        0 for the first record of a path.

    Notes
    -----
    Exact given the tilts. The likelihood of a record's values is recovered from its forward message, without another pass over
    the groups. Cost: O(S m) for all records.
    """
    steps = np.zeros(at.table.shape)
    ruled_out = np.zeros(len(at.previous))
    for r in range(records[0], records[1]):
        p = at.previous[r]
        if p < 0:
            continue
        start = at.value_starts[factors.group[r]]
        width = at.value_starts[factors.group[r] + 1] - start
        low, first = at.state_starts[r], at.state_starts[p]
        states, before = at.state_starts[r + 1] - low, at.state_starts[p + 1] - first
        contexts = states // width
        predicted = np.zeros(states)
        for state in range(before):
            row, begin = at.state_rows[first + state], (state % contexts) * width
            for s in range(width):
                predicted[begin + s] += messages.forward[first + state] * at.table[row, at.values[start + s]]
        onward = np.zeros(states)
        total = 0.0
        for state in range(states):
            if predicted[state] > 0.0:
                onward[state] = messages.forward[low + state] * messages.backward[low + state] / predicted[state]
                total += messages.forward[low + state] * messages.backward[low + state]
        if total <= 0.0:
            ruled_out[r] = 1.0
            continue
        for state in range(before):
            row, begin = at.state_rows[first + state], (state % contexts) * width
            for s in range(width):
                value = at.values[start + s]
                pair = messages.forward[first + state] * at.table[row, value] * onward[begin + s] / total
                steps[row, value] += pair
                if impossible[row, value]:
                    ruled_out[r] += pair
    return steps, ruled_out
