"""Global distributions of attribute sets, estimated from published groups: foreground knowledge."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.foreground.attribute_signatures import AttributeSignatures
from foreknow.models.foreground.beliefs import INTERVAL
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.fit import Fit, FitStatus, Fitting
from foreknow.models.problem import Estimator
from foreknow.models.settings import check_kind
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.sensitive_set import SensitiveSet

type Unmatched = Literal["table", "uniform"]
"""Distribution of records whose signature has too little support: the whole table's, or that of equally likely values."""


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
        Distribution of the records whose signature has too little support.

    Raises
    ------
    TypeError, ValueError
        If an attribute is of another type, or the shapes do not fit.
    """

    signatures: AttributeSignatures
    sensitive_set: SensitiveSet
    fit: Fit
    rest: FloatArray

    def __post_init__(self) -> None:
        way_out = "; ForegroundAttack.mine(observation) makes global distributions"
        for name, kind in (("signatures", AttributeSignatures), ("sensitive_set", SensitiveSet), ("fit", Fit)):
            check_kind("GlobalDistribution", name, getattr(self, name), kind, f"is of type {kind.__name__}{way_out}")
        shape = (len(self.signatures), len(self.values))
        if np.shape(self.fit.probabilities) != shape or np.shape(self.rest) != shape[1:]:
            raise ValueError(
                f"GlobalDistribution: the fit's probabilities have the shape {np.shape(self.fit.probabilities)} and rest has "
                f"{np.shape(self.rest)}; of {shape[0]} signatures and {shape[1]} values they have {shape} and {shape[1:]}{way_out}."
            )

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
    published table, or with ``unmatched="uniform"`` that of equally likely values of the sensitive domain. The records of the
    evidence are those of the observation, followed by one of signature -1 for each counterfeit.
    """
    counts = sensitive_set.class_counts(observation.counts)
    shown = (
        counts
        if counts.any() and unmatched == "table"
        else sensitive_set.class_counts(np.ones((1, len(sensitive_set.domain)), dtype=np.int64))
    )
    rest = shown.sum(axis=0) / shown.sum()
    group = _with_counterfeits(observation)
    counterfeits = np.full(len(group) - len(observation.group), -1, dtype=np.int64)
    for signatures in sets:
        evidence = Evidence(np.concatenate([signatures.signature, counterfeits]), group, counts, rest)
        yield GlobalDistribution(signatures, sensitive_set, fit(evidence, estimator), rest), evidence


def _with_counterfeits(observation: Observation) -> IntArray:
    """Group of each record, followed by those of the counterfeits."""
    true = np.bincount(observation.group[observation.group >= 0], minlength=len(observation.counts))
    invented = observation.counts.sum(axis=1) - true
    return np.concatenate([observation.group, np.repeat(np.arange(len(observation.counts)), invented)])
