"""Expected counts of first values and of transitions, and the law that maximizes their likelihood."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.max_entropy import TiltedLaw
from foreknow.models.joint.problem import JointProblem


class ChainLaw(NamedTuple):
    """Law of the values of all respondents.

    Attributes
    ----------
    prior : float array, shape (c, m)
        Distribution of the first value in each class.
    tables : tuple of float array, shapes (m, m), (m, m, m), ..., d arrays
        Transitions after 1, ..., d known values; none where no respondent has two records.
    """

    prior: FloatArray
    tables: tuple[FloatArray, ...]


def expected_counts(law: TiltedLaw, classes: IntArray, number: int, powers: IntArray, chain: ChainLaw) -> ChainLaw:
    """Expected numbers of first values of each class and of transitions, in the shapes of a law.

    Parameters
    ----------
    law : TiltedLaw
    classes : int array, shape (respondents,)
        Class of each path that belongs to a respondent.
    number : int
        Number c of classes.
    powers : int array, shape (K,)
        Number of steps of each transition table of the problem; 1 for chains of an order over 1.
    chain : ChainLaw
        Law of which the tables are powers.

    Notes
    -----
    Exact given the law. A transition over g steps adds the expected numbers of its g single steps, given both of its ends.
    Cost: O(R m + K g m^3).
    """
    problem = law.posterior.problem
    first = np.flatnonzero((problem.layout.previous < 0) & (problem.path < problem.respondents))
    started = np.zeros((number, problem.values))
    np.add.at(started, classes[problem.path[first]], law.posterior.rows(first))
    tables, offset = [], 0
    for length, table in enumerate(chain.tables, start=1):
        rows = len(powers) * problem.values**length
        counts = law.steps[offset : offset + rows].reshape(len(powers), *table.shape)
        tables.append(_single_steps(counts, powers, table) if len(chain.tables) == 1 else counts.sum(axis=0))
        offset += rows
    return ChainLaw(started, tuple(tables))


def most_likely(counts: ChainLaw, pseudo_count: float, before: ChainLaw) -> ChainLaw:
    """Law that maximizes the likelihood of expected counts plus pseudo-counts; a row without counts keeps its law before."""
    prior = _rows(counts.prior, pseudo_count, before.prior)
    pairs = zip(counts.tables, before.tables, strict=True)
    return ChainLaw(prior, tuple(_rows(count, pseudo_count, table) for count, table in pairs))


def weighted_change(before: ChainLaw, after: ChainLaw, counts: ChainLaw) -> float:
    """Largest mean of the total variations between the rows of two laws, weighted by expected counts.

    The largest is over the prior and the longest table.
    """
    parts = [(before.prior, after.prior, counts.prior)]
    parts += [(before.tables[-1], after.tables[-1], counts.tables[-1])] if counts.tables else []
    changes = []
    for old, new, count in parts:
        weight = count.sum(axis=-1)
        changes.append(float((weight * np.abs(old - new).sum(axis=-1) / 2).sum() / max(float(weight.sum()), 1e-300)))
    return max(changes)


def log_density(law: ChainLaw, pseudo_count: float) -> float:
    """Logarithm of the Dirichlet density with ``1 + pseudo_count`` at a law, up to a constant."""
    if pseudo_count == 0:
        return 0.0
    return float(pseudo_count * sum(np.log(np.maximum(rows, 1e-300)).sum() for rows in (law.prior, *law.tables)))


def _rows(counts: FloatArray, pseudo_count: float, before: FloatArray) -> FloatArray:
    added = counts + pseudo_count
    totals = added.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(totals > 0, added / np.where(totals > 0, totals, 1.0), before))


def _single_steps(counts: FloatArray, powers: IntArray, table: FloatArray) -> FloatArray:
    """Expected number of single steps, from the expected number of transitions over several steps, shape ``(K, m, m)``."""
    steps = np.zeros(table.shape)
    for over, power in zip(counts, powers.tolist(), strict=True):
        if power == 1:
            steps += over
            continue
        ahead = [np.linalg.matrix_power(table, step) for step in range(power + 1)]
        ratio = np.divide(over, ahead[power], out=np.zeros_like(over), where=ahead[power] > 0)
        for step in range(power):
            steps += table * (ahead[step].T @ ratio @ ahead[power - 1 - step].T)
    return steps


def with_law(
    problem: JointProblem, law: ChainLaw, classes: IntArray, powers: IntArray
) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Prior of each path, and transition tables of each chain, of a problem under a law."""
    prior = problem.prior.copy()
    prior[: problem.respondents] = law.prior[classes]
    if len(law.tables) == 1:
        stacked = [
            np.minimum(np.stack([np.linalg.matrix_power(law.tables[0], power) for power in powers.tolist()]), 1.0)
        ]
    else:
        stacked = [np.stack([table] * len(powers)) for table in law.tables]
    return prior, tuple(stacked)
