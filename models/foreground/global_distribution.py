"""The global distribution of an attribute set, labelled for people."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.fit import Fit, FitStatus
from foreknow.models.foreground.sensitive_set import SensitiveSet
from foreknow.models.foreground.signatures import Signatures


@dataclass(frozen=True, eq=False)
class GlobalDistribution:
    """How likely each value is for people who match a signature, as published groups teach it: foreground knowledge.

    Foreground knowledge, Definition 2.

    Attributes
    ----------
    signatures : Signatures
        Who matches what.
    sensitive_set : SensitiveSet
        What is told apart.
    fit : Fit
        The numbers, and what is to be said of them.
    rest : float array, shape (m,)
        What was taken for people whose signature too few match.
    """

    signatures: Signatures
    sensitive_set: SensitiveSet
    fit: Fit
    rest: FloatArray

    def __repr__(self) -> str:
        return (
            f"GlobalDistribution({', '.join(self.attributes)}: {len(self.signatures)} signatures, {self.fit.status!r})"
        )

    @property
    def values(self) -> tuple[Hashable, ...]:
        """What is told apart: the sensitive domain, or ``True`` (a value of the sensitive set) and ``False``; m of them."""
        return self.sensitive_set.values

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attribute set."""
        return self.signatures.attributes

    @property
    def probabilities(self) -> FloatArray:
        """The distribution of each signature: float array, shape ``(s, m)``."""
        return self.fit.probabilities

    @property
    def status(self) -> FitStatus:
        """What is to be said of the numbers."""
        return self.fit.status

    @property
    def of_people(self) -> FloatArray:
        """Everybody's distribution before the groups are seen again: float array, shape ``(n, m)``."""
        return np.vstack([self.probabilities, self.rest])[self.signatures.person]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per signature: its values, ``support`` (how many people match it) and its distribution, a column per value.

        Of two values, the set and all others, only the first is shown, as ``probability``. With draws, ``low`` and ``high``
        are the ends of its 90 % credible interval.
        """
        table = pd.DataFrame({**self.signatures.labels, "support": self.signatures.support})
        if self.sensitive_set.is_set:
            table["probability"] = self.probabilities[:, 0]
            if self.fit.draws is not None:
                table["low"], table["high"] = np.quantile(self.fit.draws[:, :, 0], [0.05, 0.95], axis=0)
            return table
        return pd.concat([table, pd.DataFrame(self.probabilities, columns=pd.Index(self.values, dtype=object))], axis=1)
