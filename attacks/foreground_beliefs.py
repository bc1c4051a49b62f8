"""Beliefs of the foreground attack, with the global distributions and attribute sets behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import Beliefs, GlobalDistribution
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import MAX_FLOAT, check_kind, is_number
from foreknow.models.tables.sensitive_set import SensitiveSet

ROUNDING_ERROR = 1e-9
"""Largest excess of a belief over 1/r that counts as rounding, not as a breach."""

COLUMNS = ("time", "respondent", "group", "belief", "share", "attributes")
"""Columns of `ForegroundBeliefs.over` that are always there."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ForegroundBeliefs(Beliefs):
    """Beliefs of the foreground attack, and the foreground knowledge behind them.

    Attributes
    ----------
    releases : tuple of ReleaseBeliefs
        The posterior of each record is that of the attribute set that gives a sensitive value the largest probability, the worst
        case. The prior and the revised prior are that set's global distribution.
    knowledge : tuple of tuple of GlobalDistribution
        For each release, the global distribution of every attribute set with enough support.
    worst : tuple of int array, shape (n,)
        For each release, the position in ``knowledge`` of the attribute set behind each record's posterior; -1 where there is
        none, and the posterior is the group's shares.
    intervals : tuple of float array, shape (n, 2), or None
        For each release, where the global distributions were sampled: ends of the 90 % credible interval of the probability of the
        sensitive set or, without a set, of the most likely value, under the same attribute set. NaN for a release without
        foreground knowledge.
    sensitive_set : SensitiveSet, optional
        The sensitive set within its domain, or all values; None where there is no release.
    notes : tuple of str
        As in `Beliefs`: that no signature has enough support, that global distributions did not converge or have several
        solutions, or that groups were computed by the law of large numbers.
    draws : BeliefDraws, optional
        None: the foreground attack has no draws of an adversary.

    Raises
    ------
    TypeError
        If the knowledge, the positions or the sensitive set are of another kind.
    ValueError
        If the times do not increase.
    """

    knowledge: tuple[tuple[GlobalDistribution, ...], ...] = ()
    worst: tuple[IntArray, ...] = ()
    intervals: tuple[FloatArray, ...] | None = None
    sensitive_set: SensitiveSet | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        parts: tuple[tuple[str, Any, type, str], ...] = (
            ("knowledge", self.knowledge, tuple, "is a tuple with the tuple of global distributions of each release"),
            ("worst", self.worst, np.ndarray, "is a tuple with an int array for each release"),
        )
        for name, value, kind, takes in parts:
            for one in value if isinstance(value, tuple) else (value,):
                check_kind("ForegroundBeliefs", name, one, kind, f"{takes}; ForegroundAttack makes both")
        takes = "is a SensitiveSet or None; ForegroundAttack(sensitive_set=...) makes it"
        check_kind("ForegroundBeliefs", "sensitive_set", self.sensitive_set, (SensitiveSet, type(None)), takes)

    def __repr__(self) -> str:
        return f"ForegroundBeliefs(times={self.times!r}, attribute sets={tuple(map(len, self.knowledge))!r})"

    def over(self, r: float) -> pd.DataFrame:
        """Respondents in breach by the attack's own beliefs: their posterior of a sensitive value is over 1/r.

        The true values are not needed. Where they are known, `foreknow.evaluation.risk.breaches` measures how often such beliefs
        are right.

        Parameters
        ----------
        r : float
            The threshold is 1/r; 1 or more. A belief of 1/r to rounding (1e-9) is not over it.

        Returns
        -------
        DataFrame
            One row per release and respondent, in descending order of belief: ``time``, ``respondent``, ``group``; ``value``, the
            most likely value, without a sensitive set; ``belief``; ``share``, the group's share, which is the belief without
            foreground knowledge; ``attributes``, the attribute set; and, where distributions were sampled, ``low`` and ``high``,
            the ends of the 90 % credible interval: a ``low`` over 1/r is a breach with probability 95 %, given that attribute set.
            Respondents outside all groups are left out.

        Raises
        ------
        ValueError
            If r is under 1, or the beliefs were made without the foreground knowledge of each release.
        """
        if not is_number(r, 1, MAX_FLOAT):
            raise ValueError(f"r is {r!r}; a breach is a belief over 1/r, so it is a number, 1 or more.")
        if not len(self.knowledge) == len(self.worst) == len(self):
            raise ValueError(
                f"{self!r} has {len(self)} releases and the global distributions of {len(self.knowledge)}; beliefs that "
                "ForegroundAttack returns have those of each."
            )
        tables = [self._breaches_of_release(number, 1 / float(r) + ROUNDING_ERROR) for number in range(len(self))]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=pd.Index(COLUMNS))

    def _breaches_of_release(self, number: int, bound: float) -> pd.DataFrame:
        """Rows of one release."""
        release, observation = self.releases[number], self.releases[number].observation
        counts = np.vstack([observation.counts, observation.counts.sum(axis=0)])
        shares = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))[observation.group]
        value, belief, share = self._sensitive(release.posterior.probabilities, shares)
        rows = np.flatnonzero((belief > bound) & (observation.group >= 0))
        rows = rows[np.argsort(-belief[rows], kind="stable")]
        names = [*(", ".join(one.attributes) for one in self.knowledge[number]), ""]
        columns: dict[str, Any] = {
            "time": observation.time,
            "respondent": observation.people.respondents[rows],
            "group": observation.group[rows],
        }
        if value is not None:
            columns["value"] = [observation.people.schema.values[code] for code in value[rows]]
        columns |= {
            "belief": belief[rows],
            "share": share[rows],
            "attributes": [names[position] for position in self.worst[number][rows]],
        }
        if self.intervals is not None:
            columns["low"], columns["high"] = self.intervals[number][rows].T
        return pd.DataFrame(columns, index=range(len(rows)))

    def _sensitive(self, posterior: FloatArray, shares: FloatArray) -> tuple[IntArray | None, FloatArray, FloatArray]:
        """The most likely value of each record, None for a sensitive set; its posterior, and its share of the group."""
        sensitive_set = self.sensitive_set
        if sensitive_set is not None and sensitive_set.is_proper_subset:
            belief, share = (rows[:, sensitive_set.codes].sum(axis=1) for rows in (posterior, shares))
            return None, belief, share
        value = posterior.argmax(axis=1)
        belief, share = (np.take_along_axis(rows, value[:, None], 1)[:, 0] for rows in (posterior, shares))
        return value, belief, share
