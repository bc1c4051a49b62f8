"""Everybody's posterior when the global distribution is known by draws only: its mean, and how far the draws leave it open."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import closed_form, in_cells, most_operations
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Estimator, Problem

ENDS = (0.05, 0.95)
"""Between which quantiles of the draws a credible interval lies."""

MOST = 2**24
"""How many numbers are held at once, all draws together."""


class SampledBeliefs(NamedTuple):
    """What is believed of everybody over the draws of a global distribution: float arrays, shape ``(n, m)``.

    Attributes
    ----------
    mean : float array
        The posterior, the distribution summed over.
    low, high : float array
        The ends of each probability's 90 % credible interval: it is what an adversary who knew the distribution would
        believe, and says how much of that hangs on its being learned from few groups.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray


def sampled_beliefs(evidence: Evidence, estimator: Estimator, draws: FloatArray) -> SampledBeliefs:
    """Everybody's posterior under each of some global distributions, shape ``(d, s, m)``, summed up.

    Cost: for two values and an exact estimator, d times the closed form's for each different group, and no more memory than
    d numbers for each of its cells; else d times the estimator's, some groups at a time, so that `MOST` numbers or those of
    one group are held.
    """
    tables = np.array([evidence.table(draw) for draw in draws])
    found = _summary(tables)[:, evidence.place]
    if closed_form(evidence, estimator):
        cells = evidence.cells
        settled, undecided = evidence.published & (cells.of_person < 0), cells.of_person >= 0
        layout = (cells.signature, cells.size, cells.starts, cells.holding)
        most = most_operations(estimator)
        expected = np.array([in_cells(*layout, table[:, 0].copy(), most)[0] for table in tables])
        shares = expected / np.maximum(cells.size, 1)
        found[:, settled] = (evidence.counts > 0)[evidence.group[settled]]
        found[:, undecided] = _summary(np.stack([shares, 1 - shares], axis=2))[:, cells.of_person[undecided]]
        return SampledBeliefs(*found)
    for rows, group, counts in _parts(evidence, max(MOST // tables[:, 0].size, 1)):
        priors = tables[:, evidence.place[rows]]
        found[:, rows] = _summary(
            np.array([estimator(Problem(prior, group, counts)).probabilities for prior in priors])
        )
    return SampledBeliefs(*found)


def _summary(each: FloatArray) -> FloatArray:
    return np.stack([each.mean(axis=0), *np.quantile(each, ENDS, axis=0)])


def _parts(evidence: Evidence, people: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Some groups at a time, of about as many people: their rows, the groups numbered from 0, and their counts."""
    order, starts = group_rows(evidence.group, len(evidence.counts))
    part = (starts[:-1] - starts[0]) // people
    for number in np.unique(part):
        groups = np.flatnonzero(part == number)
        rows = order[starts[groups[0]] : starts[groups[-1] + 1]]
        yield rows, evidence.group[rows] - groups[0], evidence.counts[groups]
