"""Factors of the joint law as the moves of a sampler read them, and the exchange of the values of two records."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, inlined
from foreknow.models.joint.problem import JointProblem
from foreknow.models.problem import DOUBT

PREVIOUS, FOLLOWING, GROUP, RELEASE, PATH, EVIDENCE, KNOWN, BASE = range(8)
"""Columns of `PathFactors.records`: the records before and after on the path, -1 for none; group; release; path; row of the
evidence, -1 for none; number of values before the record on which its distribution depends, at most the order; first row of the
table of the chain that leads to the record, to which the code of the values before is added."""

PREVIOUS_GROUP, PREVIOUS_RELEASE, FOLLOWING_GROUP, FOLLOWING_RELEASE, FOLLOWING_BASE = range(8, 13)
"""Further columns: group and release of the record before, and group, release and first row of the record after; -1 for none. They
are copies, so that a move need not read the rows of other records."""

RELATED, RELATIVES = 13, 14
"""Further columns: first row of the record in ``relatives``, and number of its rows."""


class PathFactors(NamedTuple):
    """Arrays that moves over whole paths read."""

    prior: FloatArray  # (N, m): weight of each first value of each path
    table: FloatArray  # (Q, m): rows of all transition tables
    evidence: FloatArray  # (E, m)
    emission: FloatArray  # (C, m, m): probability of each published value of a record given each own value
    # (R, 15), of 32 bits: one row for each record, in the columns `PREVIOUS` to `RELATIVES`. One row is one line of a processor's
    # cache.
    records: IntArray
    group_starts: IntArray  # (G + 1,)
    free: BoolArray  # (G,): True for groups whose records can have any value, independently of each other
    # (G,): row of ``emission`` of each group; -1 where published values are the own ones, or nothing is published
    channel: IntArray
    relatives: IntArray  # (2 P, 2): the other record of each pair, and its table, by record
    tables: FloatArray  # (K, m, m): factors of the values of related records, scaled to a largest one of 1


def path_factors(problem: JointProblem) -> PathFactors:
    """Factors of a problem, each mixed with the uniform distribution of weight `DOUBT`. Cost: O(R d + N m + C m^2 + tables)."""
    at, m, order = problem.layout, problem.values, problem.order
    when = problem.release[problem.group]
    known, before = np.zeros(len(when), dtype=np.int64), at.previous
    for _ in range(order):
        known += before >= 0
        before = np.where(before >= 0, at.previous[before], -1)
    sizes = np.array([0, *(m**length for length in range(1, order + 1))], dtype=np.int64)
    offsets = np.array([0, *np.cumsum([0, *(table.size // m for table in problem.tables)])[:-1]], dtype=np.int64)
    base = offsets[known] + problem.chain * sizes[known]
    columns = (at.previous, at.following, problem.group, when, problem.path, problem.evidence_row, known, base)
    of_previous, of_following = (problem.group, when), (problem.group, when, base)
    beside = [np.where(at.previous >= 0, of_record[at.previous], -1) for of_record in of_previous]
    beside += [np.where(at.following >= 0, of_record[at.following], -1) for of_record in of_following]
    owner = np.repeat(np.arange(len(when)), np.diff(at.related_starts))
    relatives = np.stack([problem.pairs.sum(axis=1)[at.related] - owner, problem.pair_table[at.related]], axis=1)
    beside += [at.related_starts[:-1], np.diff(at.related_starts)]
    largest = problem.evidence.max(axis=1, keepdims=True, initial=0.0)
    likelihood = np.divide(problem.evidence, largest, out=np.ones_like(problem.evidence), where=largest > 0.0)
    return PathFactors(
        (1.0 - DOUBT) * problem.prior + DOUBT / m,
        (1.0 - DOUBT) * at.table + DOUBT / m,
        np.maximum(likelihood, DOUBT),
        (1.0 - DOUBT) * problem.emission + DOUBT / m,
        np.ascontiguousarray(np.stack((*columns, *beside), axis=1), dtype=np.int32),
        at.group_starts,
        ~problem.constrained,
        np.where(problem.constrained, problem.emission_row, -1),
        relatives,
        problem.pair_tables / problem.pair_tables.max(axis=(1, 2), keepdims=True, initial=0.0),
    )


def softened(factors: PathFactors, weight: float) -> PathFactors:
    """Factors mixed with the uniform distribution of the given weight, tables as powers of them; every factor is positive."""
    m = factors.prior.shape[1]
    return factors._replace(
        prior=(1.0 - weight) * factors.prior + weight / m,
        table=(1.0 - weight) * factors.table + weight / m,
        evidence=(1.0 - weight) * factors.evidence + weight,
        emission=(1.0 - weight) * factors.emission + weight / m,
        tables=factors.tables ** (1.0 - weight),
    )


@inlined
def chain_factor(f: PathFactors, r: int, x: int, value: IntArray) -> float:
    """Probability of the value x of a record given the values before it, for chains of any order."""
    known = f.records[r, KNOWN]
    if known == 0:
        return float(f.prior[f.records[r, PATH], x])
    code, place, at = 0, 1, r
    for _ in range(known):
        at = f.records[at, PREVIOUS]
        code += place * value[at]
        place *= f.table.shape[1]
    return float(f.table[f.records[r, BASE] + code, x])


@inlined
def evidence_factor(f: PathFactors, r: int, x: int) -> float:
    """Relative likelihood of the value x of a record by the claims about it; 1 without claim."""
    row = f.records[r, EVIDENCE]
    return float(f.evidence[row, x]) if row >= 0 else 1.0


@inlined
def related_factor(f: PathFactors, value: IntArray, r: int, x: int, left_out: int) -> float:
    """Factor of the value x of a record by the values of its relatives, but for one of them."""
    weight, first = 1.0, f.records[r, RELATED]
    for k in range(first, first + f.records[r, RELATIVES]):
        if f.relatives[k, 0] != left_out:
            weight *= f.tables[f.relatives[k, 1], x, value[f.relatives[k, 0]]]
    return weight


@inlined
def are_related(f: PathFactors, r: int, q: int) -> bool:
    """True if two records are a pair."""
    found, first = False, f.records[r, RELATED]
    for k in range(first, first + f.records[r, RELATIVES]):
        found = found or f.relatives[k, 0] == q
    return found


class Workspace(NamedTuple):
    """Buffers of a move, allocated once for each chain.

    ``pair``, shape ``(T + d, 2)``, are the records of the pair at each meeting; ``forward``, shape ``(T + d, 2^d)``, the filtered
    weights of the last d decisions; ``weight``, shape ``(T + d, 2^d, 2)``, that of each decision given the last d ones; ``own``,
    shape ``(2, m)``, the weights of the own values of two records; ``codes``, shape ``(T, m^d)``, those of the last d own values
    of a path, no row if multisets fix all own values; ``cursor`` the record that the next move visits.
    """

    pair: IntArray
    forward: FloatArray
    weight: FloatArray
    own: FloatArray
    codes: FloatArray
    cursor: IntArray


def workspace(releases: int, order: int, values: int, some_open: bool) -> Workspace:
    """Buffers for histories of a number of releases and chains of an order; ``some_open`` if not all own values are published."""
    length, states = releases + max(order, 1), 2 ** max(order, 1)
    return Workspace(
        np.zeros((length, 2), dtype=np.int64),
        np.zeros((length, states)),
        np.zeros((length, states, 2)),
        np.zeros((2, values)),
        np.zeros((releases if some_open else 0, values ** max(order, 1))),
        np.zeros(1, dtype=np.int64),
    )


@inlined
def exchange(records: IntArray, value: IntArray, published: IntArray, beside: IntArray, a: int, b: int) -> None:
    """Exchange the values of two records of a group."""
    if len(published):
        published[a], published[b] = published[b], published[a]
    if value[a] != value[b]:
        value[a], value[b] = value[b], value[a]
        write_beside(records, value, beside, a)
        write_beside(records, value, beside, b)


@inlined
def write_beside(records: IntArray, value: IntArray, beside: IntArray, r: int) -> None:
    """Write the own value of a record to its neighbours on the path."""
    if records[r, PREVIOUS] >= 0:
        beside[records[r, PREVIOUS], 1] = value[r]
    if records[r, FOLLOWING] >= 0:
        beside[records[r, FOLLOWING], 0] = value[r]
