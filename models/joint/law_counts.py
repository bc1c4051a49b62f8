"""Counts of first values and of steps in a joint assignment, and the unknown law of the values given these counts."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.expected_counts import ChainLaw, with_law
from foreknow.models.joint.path_factors import PathFactors
from foreknow.models.joint.problem import JointProblem
from foreknow.models.problem import DOUBT


class LawCells(NamedTuple):
    """Probability of the law that each record selects: rows of first values, then rows of steps after 1, ..., d values.

    Attributes
    ----------
    previous : int array, shape (R,)
        Record before each record on its path; -1 for none.
    first : int array, shape (R,)
        Row of the first value of a path: the class of the respondent; -1 for other records and for counterfeits.
    steps : int array, shape (R,)
        Number of steps of the chain from the previous record.
    row_starts : int array, shape (d + 2,)
        First row of the first values, of the steps after 1, ..., d values, and the number of rows.
    """

    previous: IntArray
    first: IntArray
    steps: IntArray
    row_starts: IntArray


def law_cells(problem: JointProblem, classes: IntArray, law: ChainLaw, powers: IntArray) -> LawCells:
    """Cells of the records of a problem.

    Parameters
    ----------
    problem : JointProblem
    classes : int array, shape (respondents,)
    law : ChainLaw
        Any law of the same shape.
    powers : int array, shape (K,)
        Number of steps of each chain; 1 for chains of an order over 1.
    """
    previous, m = problem.layout.previous, problem.values
    of_path = np.full(len(problem.prior), -1, dtype=np.int64)
    of_path[: problem.respondents] = classes
    first = np.where(previous < 0, of_path[problem.path], -1)
    rows = [0, *np.cumsum([len(law.prior), *(table.size // m for table in law.tables)])]
    return LawCells(previous, first, powers[problem.chain], np.array(rows, dtype=np.int64))


@compiled
def count_cells(value: IntArray, cells: LawCells, ahead: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Number of first values and of steps in an assignment, by cell: float array, shape ``(rows, m)``.

    Parameters
    ----------
    value : int array, shape (R,)
        Value of each record.
    cells : LawCells
    ahead : float array, shape (longest + 1, m, m)
        Powers 0, 1, ... of the transitions of order 1. Between records that are several steps apart, the values in between are
        drawn given both ends, and their steps are counted. Not read where each step is one.
    rng : numpy.random.Generator

    Notes
    -----
    Cost: O(R d), and O(m) for each value in between.
    """
    m, order = ahead.shape[1], len(cells.row_starts) - 2
    counts = np.zeros((cells.row_starts[-1], m))
    weight = np.zeros(m)
    for r in range(len(value)):
        at, y = cells.previous[r], value[r]
        if at < 0:
            if cells.first[r] >= 0:
                counts[cells.first[r], y] += 1.0
            continue
        if cells.steps[r] > 1:
            x = value[at]
            for left in range(cells.steps[r] - 1, 0, -1):
                total = 0.0
                for z in range(m):
                    weight[z] = ahead[1, x, z] * ahead[left, z, y]
                    total += weight[z]
                rest, between = rng.random() * total, 0
                for z in range(m):
                    if weight[z] > 0.0:
                        between = z
                        rest -= weight[z]
                        if rest < 0.0:
                            break
                counts[cells.row_starts[1] + x, between] += 1.0
                x = between
            counts[cells.row_starts[1] + x, y] += 1.0
            continue
        known, code, place = 0, 0, 1
        while known < order and at >= 0:
            code += place * value[at]
            place *= m
            known += 1
            at = cells.previous[at]
        counts[cells.row_starts[known] + code, y] += 1.0
    return counts


def law_of_rows(rows: FloatArray, cells: LawCells) -> ChainLaw:
    """Law of probabilities by cell, shape ``(rows, m)``; rows are mixed with the uniform distribution of weight `DOUBT`."""
    m = rows.shape[1]
    mixed = (1.0 - DOUBT) * rows + DOUBT / m
    parts = np.split(mixed, cells.row_starts[1:-1])
    return ChainLaw(
        parts[0], tuple(part.reshape((m,) * (length + 1)) for length, part in enumerate(parts[1:], start=1))
    )


def rows_of_law(law: ChainLaw) -> FloatArray:
    """Probabilities of a law by cell: float array, shape ``(rows, m)``."""
    m = law.prior.shape[1]
    return np.concatenate([law.prior, *(table.reshape(-1, m) for table in law.tables)])


def powers_ahead(law: ChainLaw, longest: int) -> FloatArray:
    """Powers 0, ..., longest of the transitions of a law of order 1; the identity alone where each step is one."""
    m = law.prior.shape[1]
    powers = [np.eye(m)]
    if len(law.tables) == 1 and longest > 1:
        for _ in range(longest):
            powers.append(powers[-1] @ law.tables[0])
    return np.stack(powers)


def with_factors(
    factors: PathFactors, problem: JointProblem, law: ChainLaw, classes: IntArray, powers: IntArray
) -> PathFactors:
    """Factors of a problem under a positive law. Cost: O(N m + size of the tables)."""
    prior, tables = with_law(problem, law, classes, powers)
    rows = [table.reshape(-1, problem.values) for table in tables] if law.tables else [factors.table]
    return factors._replace(
        prior=prior.astype(factors.prior.dtype), table=np.concatenate(rows).astype(factors.table.dtype)
    )


def collapsed_log_probability(counts: FloatArray, pseudo_count: float) -> float:
    """Logarithm of the probability of an assignment with these counts, all rows of the law being integrated out.

    The sum over the rows of the logarithms of Dirichlet-multinomial probabilities, without the known law of counterfeits. Counts
    have the shape ``(rows, m)``.
    """
    from scipy.special import gammaln

    m = counts.shape[-1]
    cells = gammaln(counts + pseudo_count).sum() - counts.size * gammaln(pseudo_count)
    rows = gammaln(m * pseudo_count) * len(counts) - gammaln(counts.sum(axis=-1) + m * pseudo_count).sum()
    return float(cells + rows)
