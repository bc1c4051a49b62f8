"""What is believed of people's labels, to which their items lead."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import ExternalKnowledge
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.quasi_sensitive.external_knowledge import NONE
from foreknow.models.quasi_sensitive.item_release import ItemObservation
from foreknow.models.tables.times import check_order

ROUNDING = 1e-9
"""By how much a belief may miss what counts as sure for the sake of rounding; a group's belief is a sum over its records."""


@dataclass(frozen=True, eq=False)
class ReleaseLabelBeliefs:
    """What was believed around one release.

    Attributes
    ----------
    observation : ItemObservation
        The release, as the adversary saw it.
    prior : float array, shape (e + 1,)
        Before it, of anybody: the belief in each label, and in none.
    posterior : float array, shape (g, e + 1)
        After it, of anybody in each group.
    """

    observation: ItemObservation
    prior: FloatArray
    posterior: FloatArray

    @property
    def likeliest(self) -> tuple[IntArray, FloatArray]:
        """The label believed most of each group, as its number, and how much: two arrays of shape ``(g,)``.

        Of labels equally believed it is the first; that there is none is not one.
        """
        labels = self.posterior[:, :-1]
        return labels.argmax(axis=1).astype(np.int64), labels.max(axis=1)

    def of(self, row: int) -> FloatArray:
        """What is believed after the release of the person of a row; of a suppressed one the prior. Shape ``(e + 1,)``."""
        group = self.observation.group[row]
        return np.asarray(self.posterior[group] if group >= 0 else self.prior)


@dataclass(frozen=True, eq=False)
class LabelBeliefs:
    """Beliefs in labels, release by release: what `LinkingAttack` returns.

    They are no `Beliefs`. Those are of the values of the schema's sensitive attribute, a row of m per person; these are of
    labels that are no column of any view, thousands of them, and of none of them, and everybody in a group is believed to
    have the same. Nor is there a truth in the view to hold them against.

    Parameters
    ----------
    knowledge : ExternalKnowledge
        The labels.
    releases : tuple of ReleaseLabelBeliefs
        In the order of time.

    Raises
    ------
    ValueError
        If the times do not increase.
    """

    knowledge: ExternalKnowledge
    releases: tuple[ReleaseLabelBeliefs, ...]

    def __post_init__(self) -> None:
        for before, after in pairwise(self.times):
            check_order(before, after)

    def __len__(self) -> int:
        return len(self.releases)

    def __iter__(self) -> Iterator[ReleaseLabelBeliefs]:
        return iter(self.releases)

    def __repr__(self) -> str:
        return f"LabelBeliefs(times={self.times!r}, labels={len(self.knowledge)})"

    @property
    def times(self) -> tuple[Any, ...]:
        """When each release was published."""
        return tuple(release.observation.time for release in self.releases)

    def at(self, time: Any) -> ReleaseLabelBeliefs:
        """What was believed around the release of a time, as arrays.

        Raises
        ------
        KeyError
            If there is no release of that time.
        """
        for release in self.releases:
            if release.observation.time == time:
                return release
        raise KeyError(f"there is no release at {time!r}; there are {', '.join(map(repr, self.times))}.")

    def prior(self, time: Any) -> "pd.Series[float]":
        """What was believed of anybody before the release of a time: labels, and none last."""
        return pd.Series(self.at(time).prior, index=self._index(range(len(self.knowledge) + 1)), name="prior")

    def posterior(self, time: Any) -> pd.DataFrame:
        """What was believed after the release of a time: groups x the labels believed of some group, and none last."""
        belief = self.at(time).posterior
        groups = pd.Index(np.arange(len(belief)), name="group")
        return self._believed(belief, groups)

    def of(self, respondent: Hashable) -> pd.DataFrame:
        """One person's evolution: indexed by time and stage (prior, posterior), a column per label believed in after a release.

        Each release is taken alone: what an earlier one showed is not remembered. After one that suppressed the person, the
        prior is believed.

        Raises
        ------
        KeyError
            If the respondent is in no release.
        """
        found = [
            (release.observation.time, release.prior, release.of(row))
            for release in self.releases
            for row in release.observation.people.rows(respondent)
        ]
        if not found:
            raise KeyError(
                f"respondent {respondent!r} is in no release; the releases are of {', '.join(map(repr, self.times))}."
            )
        index = pd.MultiIndex.from_product(
            [[time for time, _, _ in found], ["prior", "posterior"]], names=["time", "stage"]
        )
        rows = np.array([row for _, prior, posterior in found for row in (prior, posterior)])
        return self._believed(rows, index, rows[1::2])

    def certain(self, sure: float = 0.9) -> pd.DataFrame:
        """Who is believed to have some label, and how surely.

        Parameters
        ----------
        sure : float
            From which belief in a label on it counts.

        Returns
        -------
        DataFrame
            Columns ``time``, ``respondent``, ``group``, ``label`` and ``belief``, a row per release and published person of
            whom a label is believed so much; of labels equally believed the first.
        """
        labels, rows = self.knowledge.labels, []
        for release in self.releases:
            seen, (label, belief) = release.observation, release.likeliest
            for row in np.flatnonzero(seen.group >= 0).tolist():
                group = int(seen.group[row])
                if belief[group] >= sure - ROUNDING:
                    rows.append((seen.time, seen.people.respondents[row], group, labels[label[group]], belief[group]))
        return pd.DataFrame(rows, columns=["time", "respondent", "group", "label", "belief"])

    def _believed(self, rows: FloatArray, index: pd.Index, shown: FloatArray | None = None) -> pd.DataFrame:
        """Rows of beliefs as a table of the columns in which one of them, or of those shown, is over 0."""
        columns = np.flatnonzero(((rows if shown is None else shown) > 0).any(axis=0))
        return pd.DataFrame(rows[:, columns], index=index, columns=self._index(columns.tolist()))

    def _index(self, numbers: "range | list[int]") -> pd.Index:
        names = (*self.knowledge.labels, NONE)
        return pd.Index([names[number] for number in numbers], dtype=object, name="label", tupleize_cols=False)
