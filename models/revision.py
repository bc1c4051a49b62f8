"""From past beliefs to the revised prior: RBK^sv of JS-reduce, section 5.3."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.markov_chain import MarkovChain


def product_revision(chain: MarkovChain, past: FloatArray, known: IntArray) -> FloatArray:
    """The distribution of the next value, when past values are drawn independently from past beliefs.

    ``sum over sequences of probability(next | sequence) * product of the beliefs in the sequence's values``

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    past : float array, shape (d, n, m)
        The last d beliefs of n people, oldest first; where fewer are known they stand at the end.
    known : int array, shape (n,)
        How many are known of each, 1 to d.

    Returns
    -------
    float array, shape (n, m)
        Rows are not normalized: they sum to less than 1 where the chain's do.

    Notes
    -----
    JS-reduce, Algorithm 3. Beliefs of values further back than d sum out of it. The beliefs already hold what was
    revised before, so multiplying them counts evidence twice (docs/findings.md, section 5): it is the paper's rule, not the
    joint law. Cost: O(n m^2) for d = 1; in general O(n m) times the number of sequences with positive probability.
    """
    revised = np.zeros(past.shape[1:])
    for length, table in enumerate(chain.tables, start=1):
        rows = np.flatnonzero(known == length)
        if length == 1:
            revised[rows] = past[-1, rows] @ table
        elif len(rows):
            flat = table.reshape(-1, table.shape[-1])
            revised[rows] = _over_sequences(flat, np.ascontiguousarray(past[-length:, rows]))
    return revised


@compiled
def _over_sequences(table: FloatArray, past: FloatArray) -> FloatArray:
    """The sum over sequences; ``table`` has a row per sequence, numbered with the oldest value first."""
    d, n, m = past.shape
    revised = np.zeros((n, m))
    for i in range(n):
        places = np.zeros(1, dtype=np.int64)
        weights = np.ones(1)
        for step in range(d):
            support = np.flatnonzero(past[step, i] > 0.0)
            longer = np.zeros(len(places) * len(support), dtype=np.int64)
            heavier = np.zeros(len(longer))
            for a in range(len(places)):
                for b in range(len(support)):
                    longer[a * len(support) + b] = places[a] * m + support[b]
                    heavier[a * len(support) + b] = weights[a] * past[step, i, support[b]]
            places, weights = longer, heavier
        for a in range(len(places)):
            for s in range(m):
                revised[i, s] += weights[a] * table[places[a], s]
    return revised
