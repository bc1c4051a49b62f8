"""Messages of the records of one group: predicted laws of their states, and messages to the records before and after them.

Each kernel takes a whole group in one body. Numba counts references to every array of a tuple at each call of a function on it,
which costs more than the message of a record.
"""

from foreknow.models.arrays import FloatArray, compiled, inlined
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import Factors, Messages


@compiled
def write_predicted(
    predicted: FloatArray, first: int, last: int, at: Layout, factors: Factors, forward: FloatArray
) -> None:
    """Law of the state of each record given the earlier records and its evidence; uniform where they leave no possible value.

    Parameters
    ----------
    predicted : float array, shape (states of the records,) at least
        Overwritten.
    first, last : int
        Records of one group, from ``first`` to the one before ``last``.
    at, factors
        Read only.
    forward : float array, shape (S,)
        Forward messages.
    """
    starts, rows, table, values = at.state_starts, at.state_rows, at.table, at.values
    previous, evidence, evidence_row = at.previous, factors.evidence, factors.evidence_row
    start, width = _values_of(first, last, at, factors)
    for r in range(first, last):
        low, high, p = starts[r] - starts[first], starts[r + 1] - starts[first], previous[r]
        if p < 0:
            for s in range(width):
                predicted[low + s] = factors.prior[factors.path[r], values[start + s]]
        else:
            begin = low
            for state in range(low, high):
                predicted[state] = 0.0
            for state in range(starts[p], starts[p + 1]):
                weight, row = forward[state], rows[state]
                if weight > 0.0:
                    for s in range(width):
                        predicted[begin + s] += weight * table[row, values[start + s]]
                begin = begin + width if begin + width < high else low
        claim = evidence_row[r]
        if claim >= 0:
            for begin in range(low, high, width):
                for s in range(width):
                    predicted[begin + s] *= evidence[claim, values[start + s]]
        total = 0.0
        for state in range(low, high):
            total += predicted[state]
        scale = 1.0 / total if total > 0.0 else 0.0
        for state in range(low, high):
            predicted[state] = predicted[state] * scale if total > 0.0 else 1.0 / (high - low)


@compiled
def send_forward(
    first: int,
    last: int,
    records: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    predicted: FloatArray,
    likelihood: FloatArray,
    stride: int,
    pending: FloatArray,
) -> None:
    """Message of each record to the next one of its path: the predicted law of its states times the likelihood of its value.

    Parameters
    ----------
    first, last : int
        Records of one group.
    records : int
        Records from this number on are not part of the problem; nothing is added to their ``pending``.
    at, factors, messages
        ``messages.forward`` is overwritten.
    predicted : float array
        As `write_predicted` wrote it.
    likelihood : float array
        Likelihood of value s of record r at ``(r - first) * stride + s``.
    stride : int
        0 if all records have the same likelihood, else the number of values of the group.
    pending : float array, shape (G,)
        The change of each message is added to that of the group which receives it.
    """
    starts, following, group = at.state_starts, at.following, factors.group
    forward, backward = messages.forward, messages.backward
    _, width = _values_of(first, last, at, factors)
    for r in range(first, last):
        low, states, of_predicted = starts[r], starts[r + 1] - starts[r], starts[r] - starts[first]
        place, total, total_old, total_new = (r - first) * stride, 0.0, 0.0, 0.0
        for begin in range(0, states, width):
            for s in range(width):
                state = begin + s
                weight = predicted[of_predicted + state] * likelihood[place + s]
                predicted[of_predicted + state] = weight
                total += weight
                total_old += forward[low + state] * backward[low + state]
                total_new += weight * backward[low + state]
        scale = 1.0 / total if total > 0.0 else 0.0
        if 0 <= following[r] < records:
            change, old, new = 1.0, 0.0, 0.0
            if total_old > 0.0 and total_new > 0.0:
                change, old, new = 0.0, 1.0 / total_old, 1.0 / total_new
                for state in range(states):
                    moved = abs(forward[low + state] * old - predicted[of_predicted + state] * new)
                    change += moved * backward[low + state] / 2
            pending[group[following[r]]] += change
        for state in range(states):
            forward[low + state] = predicted[of_predicted + state] * scale if total > 0.0 else 1.0 / states


@compiled
def send_backward(
    first: int,
    last: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    onward: FloatArray,
    sent: FloatArray,
    likelihood: FloatArray,
    stride: int,
    pending: FloatArray,
) -> None:
    """Message of each record to the previous one of its path: the likelihood of this record and the later ones.

    A likelihood of 0 throughout becomes uniform. ``messages.backward`` of the previous records is overwritten, ``onward`` and
    ``sent`` are buffers for the states of one record, and the other parameters are those of `send_forward`.
    """
    starts, rows, table, values = at.state_starts, at.state_rows, at.table, at.values
    previous, group, evidence, evidence_row = at.previous, factors.group, factors.evidence, factors.evidence_row
    forward, backward = messages.forward, messages.backward
    start, width = _values_of(first, last, at, factors)
    for r in range(first, last):
        p = previous[r]
        if p < 0:
            continue
        states, place, claim = starts[r + 1] - starts[r], (r - first) * stride, evidence_row[r]
        for begin in range(0, states, width):
            for s in range(width):
                onward[begin + s] = backward[starts[r] + begin + s] * likelihood[place + s]
                if claim >= 0:
                    onward[begin + s] *= evidence[claim, values[start + s]]
        low, length, begin = starts[p], starts[p + 1] - starts[p], 0
        largest, total_old, total_new = 0.0, 0.0, 0.0
        for state in range(length):
            row, total = rows[low + state], 0.0
            for s in range(width):
                total += table[row, values[start + s]] * onward[begin + s]
            begin = begin + width if begin + width < states else 0
            sent[state] = total
            largest = max(largest, total)
            total_old += backward[low + state] * forward[low + state]
            total_new += total * forward[low + state]
        change, old, new = 1.0, 0.0, 0.0
        if total_old > 0.0 and total_new > 0.0:
            change, old, new = 0.0, 1.0 / total_old, 1.0 / total_new
            for state in range(length):
                change += abs(backward[low + state] * old - sent[state] * new) * forward[low + state] / 2
        pending[group[p]] += change
        scale = 1.0 / largest if largest > 0.0 else 0.0
        for state in range(length):
            backward[low + state] = sent[state] * scale if largest > 0.0 else 1.0


@inlined
def _values_of(first: int, last: int, at: Layout, factors: Factors) -> tuple[int, int]:
    """First position and number of the possible values of the records of a group; 0 for no record."""
    if last <= first:
        return 0, 0
    g = factors.group[first]
    return at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
