"""Rule of m-invariance in the joint law: signatures as factors of the steps of the chains."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.problem import JointProblem
from foreknow.models.mechanisms.counterfeits import normalized_rows, signature_numbers
from foreknow.models.mechanisms.signature_law import SignatureLaw
from foreknow.models.problem import DOUBT


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
    counterfeits = _by_group(problem, [law.counterfeits for law in laws])
    received, cell = _received(problem, laws)
    chain, tables = _steps(problem, signature_numbers(problem.counts), cell, received)
    prior = problem.prior.copy()
    first, invented = _first_records(problem)
    prior[problem.path[first]] = normalized_rows(prior[problem.path[first]] * received[cell[problem.group[first]]])
    prior[problem.path[invented]] = counterfeits[problem.group[invented]]
    return replace(problem, prior=prior, chain=chain, tables=(tables,))


def first_signatures_log_evidence(problem: JointProblem, laws: Sequence[SignatureLaw]) -> float:
    """Log-probability of the first signature of all respondents, given the shares; arguments as those of `with_signatures`.

    It is the scale by which `with_signatures` divides the priors. The evidence of later signatures is in its steps. A probability
    of 0 counts as `foreknow.models.problem.DOUBT`.
    """
    received, cell = _received(problem, laws)
    first, _ = _first_records(problem)
    sums = (problem.prior[problem.path[first]] * received[cell[problem.group[first]]]).sum(axis=1)
    return float(np.log(np.maximum(sums, DOUBT)).sum())


def _received(problem: JointProblem, laws: Sequence[SignatureLaw]) -> tuple[FloatArray, IntArray]:
    """Share of the newly assigned records of each value that each signature of a release received, and its row of each group."""
    _, cell = np.unique(np.stack([problem.release, signature_numbers(problem.counts)]), axis=1, return_inverse=True)
    return _means(_by_group(problem, [law.shares for law in laws]), cell.reshape(-1)), cell.reshape(-1)


def _first_records(problem: JointProblem) -> tuple[IntArray, IntArray]:
    """First published records of paths, if these are the first records at all: those of respondents, and those of counterfeits."""
    first = np.flatnonzero((problem.layout.previous < 0) & problem.constrained[problem.group])
    invented = problem.path[first] >= problem.respondents
    return first[~invented], first[invented]


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
