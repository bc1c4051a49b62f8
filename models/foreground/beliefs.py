"""Posterior beliefs of all records under a global distribution, or under draws of it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import cells_under, has_closed_form, max_operations
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Estimator, Problem

INTERVAL = (0.05, 0.95)
"""Quantiles of the draws at the ends of a credible interval."""

MAX_NUMBERS = 2**24
"""Largest number of priors held at once, all draws together, where the estimator is called for each draw."""


def posterior_beliefs(evidence: Evidence, estimator: Estimator, probabilities: FloatArray) -> FloatArray:
    """Posterior of each record under a global distribution, shape ``(s, m)`` (foreground knowledge, Equation 3).

    Records outside all groups have the distribution of their signature. Cost: that of an expectation step
    (`foreknow.models.foreground.expectation`).

    Returns
    -------
    float array, shape (n, m)
    """
    table = evidence.table(probabilities)
    prior = table[evidence.row]
    if not has_closed_form(evidence, estimator):
        return estimator(Problem(prior, evidence.group, evidence.counts)).probabilities
    cells, share = evidence.cells, _shares(evidence, estimator, table)
    belief = prior
    in_cell = cells.cell >= 0
    belief[in_cell, 0] = share[cells.cell[in_cell]]
    belief[in_cell, 1] = 1.0 - belief[in_cell, 0]
    decided = evidence.published & ~in_cell
    belief[decided] = (evidence.counts > 0)[evidence.group[decided]]
    return belief


class SampledBeliefs(NamedTuple):
    """Posterior beliefs over the draws of a global distribution: float arrays, shape ``(n, m)``.

    Attributes
    ----------
    mean : float array
        Posterior with the distribution integrated out.
    low, high : float array
        Ends of the 90 % credible interval of each probability under a known distribution. Its width is the uncertainty that
        comes from estimating the distribution from few groups.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def sampled_beliefs(evidence: Evidence, estimator: Estimator, draws: FloatArray) -> SampledBeliefs:
    """Mean and credible intervals of the posterior of each record over draws of the distribution, shape ``(d, s, m)``.

    Notes
    -----
    Cost: in closed form d times that of each distinct group, and the memory of d numbers for each cell. Otherwise d times the
    estimator's, some groups at a time, such that `MAX_NUMBERS` numbers or those of one group are held.
    """
    tables = np.array([evidence.table(draw) for draw in draws])
    summary = _summary(tables)[:, evidence.row]
    if has_closed_form(evidence, estimator):
        cells = evidence.cells
        in_cell = cells.cell >= 0
        decided = evidence.published & ~in_cell
        shares = np.array([_shares(evidence, estimator, table) for table in tables])
        summary[:, decided] = (evidence.counts > 0)[evidence.group[decided]]
        summary[:, in_cell] = _summary(np.stack([shares, 1 - shares], axis=2))[:, cells.cell[in_cell]]
        return SampledBeliefs(*summary)
    for rows, group, counts in _batches(evidence, max(MAX_NUMBERS // tables[:, 0].size, 1)):
        priors = tables[:, evidence.row[rows]]
        summary[:, rows] = _summary(
            np.array([estimator(Problem(prior, group, counts)).probabilities for prior in priors])
        )
    return SampledBeliefs(*summary)


def _shares(evidence: Evidence, estimator: Estimator, table: FloatArray) -> FloatArray:
    """Posterior probability of the first value for the records of each cell, in closed form: shape ``(k,)``."""
    cells = evidence.cells
    expected, _, _ = cells_under(
        cells.row, cells.size, cells.starts, cells.holders, table[:, 0].copy(), max_operations(estimator)
    )
    return np.asarray(expected / np.maximum(cells.size, 1))


def _summary(each: FloatArray) -> FloatArray:
    """Mean and interval over the first axis, stacked along a new one."""
    return np.stack([each.mean(axis=0), *np.quantile(each, INTERVAL, axis=0)])


def _batches(evidence: Evidence, records: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Batches of whole groups of about ``records`` records: their rows, the groups numbered from 0, and their counts."""
    order, starts = group_rows(evidence.group, len(evidence.counts))
    batch = (starts[:-1] - starts[0]) // records
    for number in np.unique(batch):
        groups = np.flatnonzero(batch == number)
        rows = order[starts[groups[0]] : starts[groups[-1] + 1]]
        yield rows, evidence.group[rows] - groups[0], evidence.counts[groups]
