"""Revised priors from past beliefs: the forward filter, RBK^sv of JS-reduce (section 5.3), RPD^sv of BayFrame (section 4.3.2)."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.knowledge.markov_chain import MarkovChain


def product_revision(chain: MarkovChain, past: FloatArray, known: IntArray) -> FloatArray:
    """The distribution of the next value if past values are drawn independently from past beliefs: the rule of JS-reduce.

    ``sum over sequences of probability(next | sequence) * product of the beliefs in the sequence's values``

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    past : float array, shape (d, n, m)
        The last d beliefs of n people, oldest first; where fewer are known they stand at the end.
    known : int array, shape (n,)
        The number of beliefs known of each, 1 to d.

    Returns
    -------
    float array, shape (n, m)
        Rows are not normalized: they sum to less than 1 where the chain's do.

    Notes
    -----
    JS-reduce, Algorithm 3. Beliefs in values further back than d sum to 1 and drop out. Each belief already contains the
    evidence of the earlier ones, so their product counts evidence twice (docs/findings.md, sections 5 and 10): it is not the joint
    distribution of the last values, which `filter_revision` takes.

    Cost: O(n m^2) for d = 1; in general O(n m) times the number of sequences with positive probability.
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
    """The distribution of the next value by the chain alone from the oldest of the last d beliefs: the rule of BayFrame.

    ``sum over s_1 .. s_d of belief_1(s_1) * probability(s_2 | s_1) * ... * probability(next | s_1 .. s_d)``

    Parameters and returned rows are those of `product_revision`.

    Notes
    -----
    BayFrame, Equations 3 and 4. The evidence of the d - 1 later releases is not used; for d = 1 the result is that of
    `product_revision`. The paper takes one-step transitions between the first d values; here they are the chain's own
    `tables`, which is the same for d up to 2. Cost: O(n m^2), and m^(d + 1) once.
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


def filter_revision(
    chain: MarkovChain, joint: FloatArray, known: IntArray, places: IntArray | None = None
) -> FloatArray:
    """The distribution of the next value under the joint distribution of the last d values.

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    joint : float array, shape (N, m^d)
        The probability of each sequence of a person's last d values, numbered with the oldest value first; where fewer are
        known, of these, in the first places. `filter_update` makes it.
    known : int array, shape (N,)
        The number of values known of each, 1 to d.
    places : int array, shape (n,), optional
        The rows of ``joint`` that are asked for; all by default.

    Returns
    -------
    float array, shape (n, m)
        Rows sum to less than 1 where the chain's do.

    Notes
    -----
    The prediction step of the forward filter of a hidden Markov model whose observations are the releases. Exact for one
    person whose releases depend on this person alone. Evidence from groups is treated as independent from release to
    release, which it is not where the same people meet again (docs/findings.md, section 5). Neither paper has it. Cost:
    O(n m^(d + 1)) time, and no memory of size m^d beside ``joint``.
    """
    places = np.arange(len(joint)) if places is None else places
    revised = np.zeros((len(places), chain.values))
    for length, table in enumerate(chain.tables, start=1):
        rows = np.flatnonzero(known[places] == length)
        _predict(joint, places, rows, table.reshape(-1, chain.values), revised)
    return revised


@compiled
def _predict(joint: FloatArray, places: IntArray, rows: IntArray, table: FloatArray, revised: FloatArray) -> None:
    """Write ``joint[places[rows]] @ table`` into some rows; without a copy, which BLAS would need."""
    for row in rows:
        belief = joint[places[row]]
        for q in range(len(table)):
            if belief[q] > 0.0:
                for s in range(table.shape[1]):
                    revised[row, s] += belief[q] * table[q, s]


def filter_update(
    chain: MarkovChain, joint: FloatArray, known: IntArray, places: IntArray, posterior: FloatArray | None = None
) -> None:
    """Update the joint distribution of the last d values, in place, by a release or by a step without one.

    The weight of a sequence continued by the value s is its probability, times that of s after it, times
    ``posterior(s) / revised(s)``, the likelihood of s by the release; then the oldest value is summed out. A value that was
    ruled out (``revised(s) = 0``) and is believed now follows every sequence with the same probability.

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    joint : float array, shape (N, m^d)
        As for `filter_revision`; **overwritten** in the rows ``places``.
    known : int array, shape (N,)
        The number of values known of each person before this step, 0 to d.
    places : int array, shape (n,)
        The rows to update; no row twice.
    posterior : float array, shape (n, m), optional
        Beliefs after the release. Without it, the chain takes a step that nobody observed.

    Notes
    -----
    A person of whom nothing is known starts with the posterior. Where the chain has no continuation (rows of a
    substochastic chain) the last value stays. Cost: O(n m^(d + 1)) time and O(m^d) memory, whatever n.
    """
    lengths, m = known[places], chain.values
    fresh = np.flatnonzero(lengths == 0)
    if posterior is not None:
        joint[places[fresh], :m] = posterior[fresh]
    for length, table in enumerate(chain.tables, start=1):
        rows = np.flatnonzero(lengths == length)
        sequences = table.reshape(-1, m)
        kept = len(sequences) if length < chain.order else len(sequences) // m
        told = np.zeros((0, m)) if posterior is None else posterior
        _carry_on(joint, places, rows, sequences, told, np.zeros((kept, m)), np.zeros(kept))


@compiled
def _carry_on(
    joint: FloatArray,
    places: IntArray,
    rows: IntArray,
    table: FloatArray,
    posterior: FloatArray,
    longer: FloatArray,
    weight: FloatArray,
) -> None:
    """Continue the sequences of some rows by one value; ``longer`` and ``weight`` are scratch space.

    ``longer[q, s]`` is the probability of the sequence q, without its oldest value where d are known, and then s;
    ``weight[q]`` is that of q alone.
    """
    sequences, m = table.shape
    kept = len(weight)
    for row in rows:
        belief = joint[places[row]]
        longer[:] = 0.0
        weight[:] = 0.0
        for q in range(sequences):
            if belief[q] > 0.0:
                weight[q % kept] += belief[q]
                for s in range(m):
                    longer[q % kept, s] += belief[q] * table[q, s]
        if len(posterior):
            for s in range(m):
                revised = longer[:, s].sum()
                for q in range(kept):
                    if revised > 0.0:
                        longer[q, s] = longer[q, s] / revised * posterior[row, s]
                    else:
                        longer[q, s] = weight[q] * posterior[row, s]
        total = longer.sum()
        if total == 0.0:
            # The chain has no continuation: the last value stays.
            for q in range(sequences):
                longer[q % kept, q % m] += belief[q]
            total = longer.sum()
        for q in range(kept):
            for s in range(m):
                belief[q * m + s] = longer[q, s] / total
