"""Beliefs that published groups themselves teach, and the knowledge they come from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import Beliefs, GlobalDistribution
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.sensitive_set import SensitiveSet
from foreknow.models.settings import GREATEST_FLOAT, is_number


@dataclass(frozen=True, eq=False)
class ForegroundBeliefs(Beliefs):
    """Beliefs, and the foreground knowledge they come from.

    Attributes
    ----------
    releases : tuple of ReleaseBeliefs
        The posterior of each person is that of the attribute set which makes a sensitive value likeliest for this person, the
        worst case; the prior, and the revised prior, are the same set's global distribution.
    knowledge : tuple of tuple of GlobalDistribution
        Per release, the global distribution of every attribute set with enough support.
    worst : tuple of int array, shape (n,)
        Per release, which of them each person's posterior is of; -1 where there is none, and groups' shares are believed.
    intervals : tuple of float array, shape (n, 2), or None
        Per release, where the global distributions were sampled: the ends of the 90 % credible interval of the probability
        that each person has a value of the sensitive set, or, without one, the value believed most; under the same attribute
        set. NaN for a release without foreground knowledge.
    notes : tuple of str
        As in `Beliefs`: that too few people match any signature, that global distributions did not converge or have several
        solutions, or that groups were computed by the law of large numbers.
    sensitive_set : SensitiveSet, optional
        The sensitive set within its domain, or all values; None where there is no release.
    """

    knowledge: tuple[tuple[GlobalDistribution, ...], ...] = ()
    worst: tuple[IntArray, ...] = ()
    intervals: tuple[FloatArray, ...] | None = None
    sensitive_set: SensitiveSet | None = None

    def __repr__(self) -> str:
        return f"ForegroundBeliefs(times={self.times!r}, attribute sets={tuple(map(len, self.knowledge))!r})"

    def over(self, r: float) -> pd.DataFrame:
        """Respondents in breach, as far as the attack believes: those it links to a sensitive value with more than 1/r.

        No truth is needed; how often such beliefs are right `foreknow.evaluation.risk.breaches` measures, where it is known.

        Parameters
        ----------
        r : float
            The threshold is 1/r; 1 or more. A belief of 1/r to rounding (1e-9) is not over it.

        Returns
        -------
        DataFrame
            One row per release and person, the likeliest first: ``time``, ``respondent``, ``group``; ``value``, the value
            believed most, where there is no sensitive set; ``belief``; ``share``, what counting alone believes; ``attributes``, the
            attribute set it comes from; and, where distributions were sampled, ``low`` and ``high``, the ends of the 90 % credible
            interval: a ``low`` over 1/r is a breach with 95 %, given that attribute set. People outside all groups are left out.

        Raises
        ------
        ValueError
            If r is under 1.
        """
        if not is_number(r, 1, GREATEST_FLOAT):
            raise ValueError(f"r is {r!r}; a breach is a belief over 1/r, so it is a number, 1 or more.")
        tables = [self._over(number, 1 / float(r) + 1e-9) for number in range(len(self))]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def _over(self, number: int, bound: float) -> pd.DataFrame:
        release, sensitive_set = self.releases[number], self.sensitive_set
        assert sensitive_set is not None
        seen, posterior = release.observation, release.posterior.probabilities
        counts = np.vstack([seen.counts, seen.counts.sum(axis=0)])
        share = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))[seen.group]
        if sensitive_set.is_set:
            value = None
            belief, counted = (
                posterior[:, sensitive_set.sensitive].sum(axis=1),
                share[:, sensitive_set.sensitive].sum(axis=1),
            )
        else:
            value = posterior.argmax(axis=1)
            belief, counted = (np.take_along_axis(rows, value[:, None], 1)[:, 0] for rows in (posterior, share))
        rows = np.flatnonzero((belief > bound) & (seen.group >= 0))
        rows = rows[np.argsort(-belief[rows], kind="stable")]
        named = [*(", ".join(one.attributes) for one in self.knowledge[number]), ""]
        columns: dict[str, Any] = {
            "time": seen.time,
            "respondent": seen.people.respondents[rows],
            "group": seen.group[rows],
        }
        if value is not None:
            columns["value"] = [sensitive_set.domain[code] for code in value[rows]]
        columns |= {
            "belief": belief[rows],
            "share": counted[rows],
            "attributes": [named[at] for at in self.worst[number][rows]],
        }
        if self.intervals is not None:
            columns["low"], columns["high"] = self.intervals[number][rows].T
        return pd.DataFrame(columns, index=range(len(rows)))
