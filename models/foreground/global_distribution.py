"""Global distributions of attribute sets, estimated from published groups, and the beliefs that follow."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.foreground.attribute_signatures import AttributeSignatures
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import cells_under, has_closed_form, max_operations
from foreknow.models.foreground.fit import Fit, FitStatus, Fitting
from foreknow.models.problem import Estimator, Problem, group_rows
from foreknow.models.tables.people import Observation
from foreknow.models.tables.schema import SensitiveSet

type Unmatched = Literal["table", "uniform", "classes", "groups"]
"""Distribution of records whose signature has too little support: the whole table's, that of equally likely values or classes, or
the shares of each record's group. All but the first are for reproduction."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class GlobalDistribution:
    """Distribution of the sensitive values given each signature of an attribute set, estimated from published groups.

    Foreground knowledge, Definition 2. `foreknow.attacks.ForegroundAttack` makes them.

    Attributes
    ----------
    signatures : AttributeSignatures
        The s signatures, and that of each record.
    sensitive_set : SensitiveSet
        The classes of values that are distinguished.
    fit : Fit
        The numbers and their status.
    rest : float array, shape (m,)
        Distribution of the records whose signature has too little support, before their groups are seen.
    """

    signatures: AttributeSignatures
    sensitive_set: SensitiveSet
    fit: Fit
    rest: FloatArray

    def __repr__(self) -> str:
        return (
            f"GlobalDistribution({', '.join(self.attributes)}: {len(self.signatures)} signatures, {self.fit.status!r})"
        )

    @property
    def values(self) -> tuple[Hashable, ...]:
        """The m values that are distinguished: the sensitive domain, or ``True`` (in the sensitive set) and ``False``."""
        return self.sensitive_set.class_labels

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attribute set."""
        return self.signatures.attributes

    @property
    def probabilities(self) -> FloatArray:
        """Distribution of each signature: float array, shape ``(s, m)``."""
        return self.fit.probabilities

    @property
    def status(self) -> FitStatus:
        """Status of the fit."""
        return self.fit.status

    @property
    def prior(self) -> FloatArray:
        """Distribution of each record by its signature, before its group is seen: float array, shape ``(n, m)``."""
        return np.vstack([self.probabilities, self.rest])[self.signatures.signature]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per signature: its values, ``support`` (its number of records) and its distribution, a column per value.

        For a sensitive set, only the probability of the set is shown, as ``probability``. With draws, ``low`` and ``high`` are
        the ends of its 90 % credible interval.
        """
        table = pd.DataFrame({**self.signatures.labels, "support": self.signatures.support})
        if self.sensitive_set.is_proper_subset:
            table["probability"] = self.probabilities[:, 0]
            if self.fit.draws is not None:
                table["low"], table["high"] = np.quantile(self.fit.draws[:, :, 0], INTERVAL, axis=0)
            return table
        return pd.concat([table, pd.DataFrame(self.probabilities, columns=pd.Index(self.values, dtype=object))], axis=1)


def mine_global_distributions(
    observation: Observation,
    sensitive_set: SensitiveSet,
    sets: Iterable[AttributeSignatures],
    fit: Fitting,
    estimator: Estimator,
    unmatched: Unmatched = "table",
) -> Iterator[tuple[GlobalDistribution, Evidence]]:
    """Yield the global distribution of each attribute set and its evidence (foreground knowledge, Algorithm 1).

    The sets are those of `supported_sets`. Records whose signature has less than its support have the distribution of the whole
    published table, or that of another `Unmatched`. The records of the evidence are those of the observation, followed by one of
    signature -1 for each counterfeit.
    """
    counts = sensitive_set.class_counts(observation.counts)
    if unmatched == "classes":
        shown = np.ones((1, counts.shape[1]), dtype=np.int64)
    elif counts.any() and unmatched != "uniform":
        shown = counts
    else:
        shown = sensitive_set.class_counts(np.ones((1, len(sensitive_set.domain)), dtype=np.int64))
    rest = shown.sum(axis=0) / shown.sum()
    true = np.bincount(observation.group[observation.group >= 0], minlength=len(observation.counts))
    invented = np.repeat(np.arange(len(true)), observation.counts.sum(axis=1) - true)
    group, counterfeits = np.concatenate([observation.group, invented]), np.full(len(invented), -1, dtype=np.int64)
    for signatures in sets:
        records = np.concatenate([signatures.signature, counterfeits])
        evidence = Evidence(records, group, counts, rest, unmatched == "groups")
        yield GlobalDistribution(signatures, sensitive_set, fit(evidence, estimator), rest), evidence


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
    """Posterior beliefs over the draws of a global distribution: float arrays, shape ``(n, m)``."""

    mean: FloatArray  # posterior with the distribution integrated out
    # low, high: ends of the 90 % credible interval of each probability under a known distribution. Its width is the uncertainty
    # that comes from estimating the distribution from few groups.
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
