"""Revised priors from past beliefs: forward filter, RBK^sv of JS-reduce (section 5.3), RPD^sv of BayFrame (section 4.3.2)."""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.knowledge.markov_chain import MarkovChain


def product_revision(chain: MarkovChain, past: FloatArray, known: IntArray) -> FloatArray:
    """Distribution of the next value if past values are independent draws from past beliefs: the rule of JS-reduce.

    ``sum over sequences of probability(next | sequence) * product of the beliefs in the values of the sequence``

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    past : float array, shape (d, n, m)
        Last d beliefs about n respondents, oldest first; where fewer are known they are at the end.
    known : int array, shape (n,)
        Number of known beliefs about each respondent, 1 to d.

    Returns
    -------
    float array, shape (n, m)
        Rows are not normalized: they sum to less than 1 where the rows of the chain do.

    Notes
    -----
    JS-reduce, Algorithm 3. Beliefs in values before the last d sum to 1 and drop out. Each belief already contains the evidence
    of the earlier ones, so their product counts evidence twice (docs/findings.md, sections 5 and 10). It is not the joint
    distribution of the last values, which `filter_revision` reads.

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
    """Sum over sequences of past values; ``table`` has one row per sequence, numbered with the oldest value first.

    The sequences of positive probability are enumerated step by step: ``sequences`` holds their numbers, ``weights`` their
    probabilities.
    """
    d, n, m = past.shape
    revised = np.zeros((n, m))
    for i in range(n):
        sequences, weights = np.zeros(1, dtype=np.int64), np.ones(1)
        for step in range(d):
            sequences, weights = _extended(sequences, weights, past[step, i])
        for a in range(len(sequences)):
            for s in range(m):
                revised[i, s] += weights[a] * table[sequences[a], s]
    return revised


@compiled
def _extended(sequences: IntArray, weights: FloatArray, belief: FloatArray) -> tuple[IntArray, FloatArray]:
    """All sequences followed by each value of positive probability, and their weights."""
    support = np.flatnonzero(belief > 0.0)
    longer = np.zeros(len(sequences) * len(support), dtype=np.int64)
    products = np.zeros(len(longer))
    for a in range(len(sequences)):
        for b in range(len(support)):
            longer[a * len(support) + b] = sequences[a] * len(belief) + support[b]
            products[a * len(support) + b] = weights[a] * belief[support[b]]
    return longer, products


def chain_revision(chain: MarkovChain, past: FloatArray, known: IntArray) -> FloatArray:
    """Distribution of the next value by the chain alone, from the oldest of the last d beliefs: the rule of BayFrame.

    ``sum over s_1 .. s_d of belief_1(s_1) * probability(s_2 | s_1) * ... * probability(next | s_1 .. s_d)``

    Parameters and result are those of `product_revision`.

    Notes
    -----
    BayFrame, Equations 3 and 4. The evidence of the d - 1 later releases is not used; for d = 1 the result is that of
    `product_revision`. The paper uses one-step transitions between the first d values; here they are the ``tables`` of the
    chain, which is the same for d up to 2. Cost: O(n m^2), and O(m^(d + 1)) once.
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


def filter_revision(chain: MarkovChain, joint: FloatArray, known: IntArray, rows: IntArray | None = None) -> FloatArray:
    """Distribution of the next value under the joint distribution of the last d values: prediction step of the forward filter.

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    joint : float array, shape (N, m^d)
        Probability of each sequence of the last d values of a respondent, numbered with the oldest value first. Where only
        l < d values are known, the first m^l columns hold the probabilities of their sequences. `filter_update` makes it.
    known : int array, shape (N,)
        Number of known values of each respondent, 1 to d.
    rows : int array, shape (n,), optional
        Rows of ``joint`` to predict from; all by default.

    Returns
    -------
    float array, shape (n, m)
        Rows sum to less than 1 where the rows of the chain do.

    Notes
    -----
    The hidden Markov model has the releases as its observations. Exact for one respondent whose releases depend on this
    respondent alone. Evidence from groups is treated as independent from release to release, which it is not where the same
    respondents share a group again (docs/findings.md, section 5). Neither paper has this rule. Cost: O(n m^(d + 1)) time,
    and no memory of size m^d beside ``joint``.
    """
    rows = np.arange(len(joint)) if rows is None else rows
    revised = np.zeros((len(rows), chain.values))
    for length, table in enumerate(chain.tables, start=1):
        some = np.flatnonzero(known[rows] == length)
        _predict(joint, rows, some, table.reshape(-1, chain.values), revised)
    return revised


@compiled
def _predict(joint: FloatArray, rows: IntArray, some: IntArray, table: FloatArray, revised: FloatArray) -> None:
    """Add ``joint[rows[some]] @ table`` to ``revised[some]``; without a copy of the rows, which BLAS would need."""
    for i in some:
        belief = joint[rows[i]]
        for q in range(len(table)):
            if belief[q] > 0.0:
                for s in range(table.shape[1]):
                    revised[i, s] += belief[q] * table[q, s]


def filter_update(
    chain: MarkovChain, joint: FloatArray, known: IntArray, rows: IntArray, posterior: FloatArray | None = None
) -> None:
    """Update the joint distribution of the last d values in place, by a release or by a step of the chain without one.

    The weight of a sequence continued by the value s is the product of the probability of the sequence, the transition
    probability of s after it, and the likelihood ``posterior(s) / revised(s)`` of s. Then the oldest value is summed out. A
    value with ``revised(s) = 0`` and a positive posterior follows every sequence with the same probability.

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    joint : float array, shape (N, m^d)
        As for `filter_revision`; **overwritten** in ``rows``.
    known : int array, shape (N,)
        Number of known values of each respondent before this step, 0 to d.
    rows : int array, shape (n,)
        Rows to update; no row twice.
    posterior : float array, shape (n, m), optional
        Beliefs after the release. Without it, the chain takes a step without observation.

    Notes
    -----
    A respondent without known values starts with the posterior. Where the chain has no continuation (rows of a
    substochastic chain) the last value stays. Cost: O(n m^(d + 1)) time, and O(m^d) memory for any n.
    """
    lengths, m = known[rows], chain.values
    new = np.flatnonzero(lengths == 0)
    if posterior is not None:
        joint[rows[new], :m] = posterior[new]
    beliefs = np.zeros((0, m)) if posterior is None else posterior
    for length, table in enumerate(chain.tables, start=1):
        some = np.flatnonzero(lengths == length)
        sequences = table.reshape(-1, m)
        kept = len(sequences) if length < chain.order else len(sequences) // m
        _continue(joint, rows, some, sequences, beliefs, np.zeros((kept, m)), np.zeros(kept))


@compiled
def _continue(
    joint: FloatArray,
    rows: IntArray,
    some: IntArray,
    table: FloatArray,
    posterior: FloatArray,
    longer: FloatArray,
    weight: FloatArray,
) -> None:
    """Continue the sequences of ``joint[rows[some]]`` by one value; ``longer`` and ``weight`` are scratch space.

    ``longer[q, s]`` is the probability of the sequence q followed by s, where q lacks its oldest value if d are known;
    ``weight[q]`` is the probability of q alone.
    """
    sequences, m = table.shape
    kept = len(weight)
    for i in some:
        belief = joint[rows[i]]
        longer[:] = 0.0
        weight[:] = 0.0
        for q in range(sequences):
            if belief[q] > 0.0:
                weight[q % kept] += belief[q]
                for s in range(m):
                    longer[q % kept, s] += belief[q] * table[q, s]
        if len(posterior):
            _reweigh(longer, weight, posterior[i])
        if longer.sum() == 0.0:
            # The chain has no continuation: the last value stays.
            for q in range(sequences):
                longer[q % kept, q % m] += belief[q]
        total = longer.sum()
        for q in range(kept):
            for s in range(m):
                belief[q * m + s] = longer[q, s] / total


@compiled
def _reweigh(longer: FloatArray, weight: FloatArray, posterior: FloatArray) -> None:
    """Scale the columns of ``longer`` in place so that they sum to the posterior of the last value."""
    for s in range(len(posterior)):
        revised = longer[:, s].sum()
        for q in range(len(weight)):
            if revised > 0.0:
                longer[q, s] = longer[q, s] / revised * posterior[s]
            else:
                longer[q, s] = weight[q] * posterior[s]
