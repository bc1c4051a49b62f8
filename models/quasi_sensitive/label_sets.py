"""Compiled kernels of sets of labels, held as bits: links of records, and beliefs in labels."""

import numpy as np
from numpy.typing import NDArray

from foreknow.models.arrays import FloatArray, IntArray, compiled

type Words = NDArray[np.uint64]
"""Sets of labels as bits, 64 to a word: label b is bit ``b % 64`` of word ``b // 64``."""


@compiled
def link_records(
    codes: IntArray, starts: IntArray, item_labels: Words, all_labels: Words, prevalence: FloatArray
) -> tuple[Words, FloatArray]:
    """Labels of each record, shape ``(n, w)``, and their total prevalence, shape ``(n,)``."""
    n = len(starts) - 1
    bits, weight = np.empty((n, len(all_labels)), dtype=np.uint64), np.zeros(n)
    for i in range(n):
        bits[i] = all_labels
        for place in range(starts[i], starts[i + 1]):
            bits[i] &= item_labels[codes[place]]
        weight[i] = total_prevalence(bits[i], prevalence)
    return bits, weight


@compiled
def total_prevalence(bits: Words, prevalence: FloatArray) -> float:
    """Sum of the prevalences of a set of labels."""
    total = 0.0
    for word in range(len(bits)):
        left = bits[word]
        label = 64 * word
        while left != 0:
            if left & np.uint64(1):
                total += prevalence[label]
            left >>= np.uint64(1)
            label += 1
    return total


@compiled
def group_beliefs(bits: Words, weight: FloatArray, prevalence: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Mean of the probabilities of each group's records, as in `Links.beliefs`."""
    belief, size = np.zeros((groups, len(prevalence) + 1)), np.zeros(groups)
    for i in range(len(group)):
        if group[i] >= 0:
            size[group[i]] += 1.0
            add_record(bits[i], weight[i], prevalence, 1.0, belief[group[i]])
    for g in range(groups):
        if size[g] > 0.0:
            belief[g] /= size[g]
    return belief


@compiled
def add_record(bits: Words, weight: float, prevalence: FloatArray, times: float, belief: FloatArray) -> None:
    """Add ``times`` a record's probabilities to a row of beliefs in each label and none, shape ``(e + 1,)``, in place."""
    if weight <= 0.0:
        belief[-1] += times
        return
    for word in range(len(bits)):
        left = bits[word]
        label = 64 * word
        while left != 0:
            if left & np.uint64(1):
                belief[label] += times * prevalence[label] / weight
            left >>= np.uint64(1)
            label += 1
