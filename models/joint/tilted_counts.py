"""Expected counts of groups whose tilts are given: the part of one partition of the respondents in groups that it shares."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.group_visit import Scratch, write_weights
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import Factors, Messages


@compiled
def tilted_counts(
    groups: IntArray, m: int, at: Layout, factors: Factors, messages: Messages, scratch: Scratch
) -> FloatArray:
    """Expected number of records of each value among the members of some groups: float array, shape ``(len(groups), m)``.

    Groups publish own values, not distorted ones. ``scratch`` is overwritten. Cost: O(states of their members times values).
    """
    expected = np.zeros((len(groups), m))
    for row in range(len(groups)):
        g = groups[row]
        first, members = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
        start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        weights = scratch.weights[:members, :width]
        write_weights(weights, first, at, factors, messages, scratch.predicted)
        for i in range(members):
            total = 0.0
            for s in range(width):
                total += weights[i, s] * messages.tilt[start + s]
            if total > 0.0:
                for s in range(width):
                    expected[row, at.values[start + s]] += weights[i, s] * messages.tilt[start + s] / total
    return expected
