"""From past beliefs to the revised prior: RBK^sv of JS-reduce, section 5.3, RPD^sv of BayFrame, section 4.3.2."""

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


def chain_revision(chain: MarkovChain, past: FloatArray, known: IntArray) -> FloatArray:
    """The distribution of the next value, when the oldest of the last d beliefs is carried on by the chain alone.

    ``sum over s_1 .. s_d of belief_1(s_1) * probability(s_2 | s_1) * ... * probability(next | s_1 .. s_d)``

    Parameters and returned rows are those of `product_revision`.

    Notes
    -----
    BayFrame, Equations 3 and 4. What was learned from the d - 1 later releases is not used, so that for d > 1 the latest
    evidence is thrown away; for d = 1 it is the same as `product_revision`. The paper puts one-step transitions for all the
    shorter ones; here they are the chain's own `tables`, which is the same for d up to 2. Cost: O(n m^2), and m^(d + 1) once.
    """
    revised = np.zeros(past.shape[1:])
    paths = np.eye(chain.values)
    for length, table in enumerate(chain.tables, start=1):
        m = chain.values
        onward = paths[:, :, None] * table.reshape(-1, m)[None]
        rows = np.flatnonzero(known == length)
        revised[rows] = past[-length, rows] @ onward.sum(axis=1)
        # Row s of `paths` holds the weight of each sequence that starts with s, numbered as the rows of the next table.
        paths = onward.reshape(m, -1)
    return revised


def filter_revision(chain: MarkovChain, joint: FloatArray, known: IntArray) -> FloatArray:
    """The distribution of the next value under the joint law of the last d values.

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    joint : float array, shape (n, m^d)
        Of each person, the probability of each sequence of the last d values, numbered with the oldest value first; where
        fewer are known, of these, in the first places. `filter_update` makes it.
    known : int array, shape (n,)
        How many are known of each, 1 to d.

    Returns
    -------
    float array, shape (n, m)
        Rows sum to less than 1 where the chain's do.

    Notes
    -----
    The forward filter of a hidden Markov model whose observations are the releases. Exact for one person whose releases
    speak of this person alone; what groups tell is taken for independent evidence from release to release, which it is not
    where the same people meet again (docs/findings.md, section 5). Neither paper has it. Cost: O(n m^(d + 1)).
    """
    revised = np.zeros((len(joint), chain.values))
    for length, table in enumerate(chain.tables, start=1):
        rows = np.flatnonzero(known == length)
        sequences = table.reshape(-1, chain.values)
        revised[rows] = joint[rows, : len(sequences)] @ sequences
    return revised


def filter_update(
    chain: MarkovChain, joint: FloatArray, known: IntArray, posterior: FloatArray | None = None
) -> FloatArray:
    """The joint law of the last d values after a release that led to a posterior, or after a step nobody saw.

    Each sequence, carried on by a value, weighs its probability times what the release says of that value: posterior over
    revised prior. Then the oldest value sums out. A value that was ruled out before and is believed now follows
    every sequence alike. Parameters are those of `filter_revision`; ``posterior`` has shape ``(n, m)``;
    people of whom nothing is known (0) start with it. Cost: O(n m^(d + 1)).
    """
    updated = np.zeros_like(joint)
    if posterior is not None:
        fresh = np.flatnonzero(known == 0)
        updated[np.ix_(fresh, np.arange(chain.values))] = posterior[fresh]
    for length, table in enumerate(chain.tables, start=1):
        rows = np.flatnonzero(known == length)
        sequences = table.reshape(-1, chain.values)
        told = np.zeros((0, chain.values)) if posterior is None else posterior[rows]
        longer = _carried_on(np.ascontiguousarray(joint[rows, : len(sequences)]), sequences, told)
        if length == chain.order:
            updated[rows] = longer.reshape(len(rows), chain.values, len(sequences)).sum(axis=1)
        else:
            updated[rows, : longer.shape[1]] = longer
    return updated


@compiled
def _carried_on(joint: FloatArray, table: FloatArray, posterior: FloatArray) -> FloatArray:
    """The law of each sequence with one more value; without a posterior, as the chain has it."""
    n, sequences = joint.shape
    m = table.shape[1]
    longer = np.zeros((n, sequences * m))
    for i in range(n):
        revised = np.zeros(m)
        for q in range(sequences):
            if joint[i, q] > 0.0:
                for s in range(m):
                    longer[i, q * m + s] = joint[i, q] * table[q, s]
                    revised[s] += longer[i, q * m + s]
        if len(posterior):
            for s in range(m):
                doubted = posterior[i, s] > 0.0 and revised[s] == 0.0
                for q in range(sequences):
                    if doubted:
                        longer[i, q * m + s] = joint[i, q] * posterior[i, s]
                    elif revised[s] > 0.0:
                        longer[i, q * m + s] = longer[i, q * m + s] / revised[s] * posterior[i, s]
        total = longer[i].sum()
        if total == 0.0:
            # The chain leads nowhere: the last value stays.
            for q in range(sequences):
                longer[i, q * m + q % m] = joint[i, q]
            total = longer[i].sum()
        longer[i] /= total
    return longer
