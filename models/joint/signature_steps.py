"""Rule of m-invariance in the joint law: signatures as factors of the steps of the chains."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.problem import JointProblem
from foreknow.models.mechanisms.counterfeits import normalized_rows, signature_numbers
from foreknow.models.mechanisms.signature_law import SignatureLaw


def with_signatures(problem: JointProblem, laws: Sequence[SignatureLaw]) -> JointProblem:
    """Problem of a history of m-invariant releases whose law contains the rule of the signatures.

    A respondent of the same value as when last published keeps the signature S' (the set of values that the group shows); every
    other one has a signature S at random among the records of the same value. So a step from x' to x has the factor::

        P(S | S', x', x) = [x = x'] [S = S'] + [x != x'] r_S(x)

    and the first record of a path the factor r_S(x), the share of the newly assigned records of value x that S received.

    Parameters
    ----------
    problem : JointProblem
        With chains of order 1.
    laws : sequence of SignatureLaw
        Of each release, with the shares r_S and the distribution of the counterfeits of each group.

    Notes
    -----
    Exact for given shares. Groups of one release and one signature have the mean of their shares. A step from or to a record
    that is not published has no factor. Cost: O(R log R), and ``m^2`` numbers for each release, signature, and chain.
    """
    shares = _by_group(problem, [law.shares for law in laws])
    counterfeits = _by_group(problem, [law.counterfeits for law in laws])
    signature, release = signature_numbers(problem.counts), problem.release
    _, cell = np.unique(np.stack([release, signature]), axis=1, return_inverse=True)
    cell = cell.reshape(-1)
    received = _means(shares, cell)
    chain, tables = _steps(problem, signature, cell, received)
    prior = problem.prior.copy()
    published = problem.constrained[problem.group]
    first = np.flatnonzero((problem.layout.previous < 0) & published)
    invented = problem.path[first] >= problem.respondents
    group, path = problem.group[first], problem.path[first]
    prior[path[~invented]] = normalized_rows(prior[path[~invented]] * received[cell[group[~invented]]])
    prior[path[invented]] = counterfeits[group[invented]]
    return replace(problem, prior=prior, chain=chain, tables=(tables,))


def _by_group(problem: JointProblem, parts: Sequence[FloatArray]) -> FloatArray:
    """Numbers of each group of each release; 1 in groups that publish nothing: ``(g, m)`` for each release to ``(G, m)``."""
    rows = np.ones(problem.counts.shape)
    for t, part in enumerate(parts):
        start = int(np.searchsorted(problem.release, t))
        rows[start : start + len(part)] = part
    return rows


def _means(rows: FloatArray, cell: IntArray) -> FloatArray:
    """Mean row of each cell."""
    total = np.zeros((int(cell.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(total, cell, rows)
    return np.asarray(total / np.bincount(cell, minlength=len(total))[:, None])


def _steps(
    problem: JointProblem, signature: IntArray, cell: IntArray, received: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Chain of each record, and the tables of all chains with the factors of the signatures."""
    previous, group = problem.layout.previous, problem.group
    published = problem.constrained[group]
    later = np.flatnonzero((previous >= 0) & published & published[previous])
    earlier = previous[later]
    kept = signature[group[later]] == signature[group[earlier]]
    keys, number = np.unique(np.stack([problem.chain[later], cell[group[later]], kept]), axis=1, return_inverse=True)
    base = problem.tables[0]
    tables = base[keys[0]] * received[keys[1]][:, None, :]
    values = np.arange(problem.values)
    tables[:, values, values] = np.where(keys[2][:, None] > 0, base[keys[0]][:, values, values], 0.0)
    chain = problem.chain.copy()
    chain[later] = len(base) + number.reshape(-1)
    return chain, np.concatenate([base, tables])
