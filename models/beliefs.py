"""Beliefs before and after each release, labelled by respondent and value."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray
from foreknow.models.problem import Posterior
from foreknow.models.tables.lookalikes import lookalike
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.schema import Schema
from foreknow.models.tables.times import check_order

if TYPE_CHECKING:
    import xarray

type Stage = Literal["prior", "revised", "posterior"]
STAGES: tuple[Stage, ...] = ("prior", "revised", "posterior")


@dataclass(frozen=True, eq=False)
class ReleaseBeliefs:
    """Beliefs before and after one release.

    Attributes
    ----------
    observation : Observation
        The release, as the adversary saw it.
    prior, revised : float array, shape (n, m)
        Before anything was published, and before this release.
    posterior : Posterior
        After it. The row of a suppressed respondent is the revised prior's.
    """

    observation: Observation
    prior: FloatArray
    revised: FloatArray
    posterior: Posterior

    def at(self, stage: Stage) -> FloatArray:
        """The probabilities before anything, before the release, or after it: shape ``(n, m)``."""
        stages = {"prior": self.prior, "revised": self.revised, "posterior": self.posterior.probabilities}
        return stages[stage]

    def frame(self, stage: Stage) -> pd.DataFrame:
        """The same as a table, respondents x values."""
        people = self.observation.people
        index = pd.Index(people.respondents, name=people.schema.respondent, tupleize_cols=False)
        return pd.DataFrame(self.at(stage), index=index, columns=_columns(people.schema))


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs over a history: what an attack returns.

    Parameters
    ----------
    releases : tuple of ReleaseBeliefs
        In the order of time.
    notes : tuple of str
        Sentences that qualify the beliefs, as evidence that is counted twice; those about one release begin with its time.
        By keyword.

    Raises
    ------
    ValueError
        If the times do not increase.
    """

    releases: tuple[ReleaseBeliefs, ...]
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for before, after in pairwise(self.times):
            check_order(before, after)

    def __len__(self) -> int:
        return len(self.releases)

    def __repr__(self) -> str:
        return f"Beliefs(times={self.times!r})"

    def __iter__(self) -> Iterator[ReleaseBeliefs]:
        return iter(self.releases)

    @property
    def times(self) -> tuple[Any, ...]:
        """Times of the releases."""
        return tuple(release.observation.time for release in self.releases)

    def prior(self, time: Any) -> pd.DataFrame:
        """Beliefs before anything was published: respondents x values."""
        return self.at(time).frame("prior")

    def revised(self, time: Any) -> pd.DataFrame:
        """Beliefs just before the release of a time: respondents x values."""
        return self.at(time).frame("revised")

    def posterior(self, time: Any) -> pd.DataFrame:
        """Beliefs after the release of a time: respondents x values."""
        return self.at(time).frame("posterior")

    def of(self, respondent: Hashable) -> pd.DataFrame:
        """One person's evolution: indexed by time and stage (prior, revised, posterior), one column per value.

        Raises
        ------
        KeyError
            If the respondent is in no release.
        """
        rows: dict[tuple[Any, str], FloatArray] = {}
        for release in self.releases:
            for row in release.observation.people.rows(respondent):
                rows |= {(release.observation.time, stage): release.at(stage)[row] for stage in STAGES}
        if not rows:
            raise KeyError(
                f"respondent {respondent!r} is in no release; the releases are of {', '.join(map(repr, self.times))}."
                f"{lookalike(respondent, self._everybody)}"
            )
        schema = self.releases[0].observation.people.schema
        index = pd.MultiIndex.from_tuples(list(rows), names=["time", "stage"])
        return pd.DataFrame(list(rows.values()), index=index, columns=_columns(schema))

    def to_datatree(self) -> "xarray.DataTree":
        """The beliefs for ArviZ: groups ``prior``, ``revised`` and ``posterior``, each with the variable ``belief``.

        Its dimensions are release, respondent and value, behind ArviZ's own chain and draw, of length 1: a belief is a
        probability, not a sample of one. It is NaN where a respondent was not in the release. Labels that are no numbers,
        dates or texts, as tuples, become text. Cost: t N m numbers for N respondents in all.
        """
        import arviz_base
        import xarray

        if not self.releases:
            return xarray.DataTree()
        schema = self.releases[0].observation.people.schema
        everybody = self._everybody
        rows = {respondent: row for row, respondent in enumerate(everybody)}
        coords: dict[Hashable, Any] = {
            "release": [coordinate(time) for time in self.times],
            "respondent": [coordinate(respondent) for respondent in everybody],
            "value": [coordinate(value) for value in schema.values],
        }
        groups: dict[str, Any] = {}
        for stage in STAGES:
            belief = np.full((1, 1, len(self), len(everybody), len(schema.values)), np.nan)
            for t, release in enumerate(self):
                belief[0, 0, t, [rows[r] for r in release.observation.people.respondents]] = release.at(stage)
            groups[stage] = arviz_base.dict_to_dataset(
                {"belief": belief}, coords=coords, dims={"belief": ["release", "respondent", "value"]}
            )
        return xarray.DataTree.from_dict(groups)

    def at(self, time: Any) -> ReleaseBeliefs:
        """Beliefs around the release of a time, as arrays: its ``posterior`` has the status of each group.

        Raises
        ------
        KeyError
            If there is no release of that time.
        """
        for release in self.releases:
            if release.observation.time == time:
                return release
        raise KeyError(
            f"there is no release at {time!r}; there are {', '.join(map(repr, self.times))}.{lookalike(time, self.times)}"
        )

    @property
    def _everybody(self) -> list[Hashable]:
        """Every respondent, once, in the order of first appearance."""
        return list(dict.fromkeys(r for release in self for r in release.observation.people.respondents))


def _columns(schema: Schema) -> "pd.Index[Any]":
    return pd.Index(schema.values, name=schema.sensitive, dtype=object, tupleize_cols=False)


def coordinate(label: Hashable) -> Hashable:
    """The label of a coordinate on an axis of xarray: a number or a date as it is, anything else as text."""
    return label if isinstance(label, int | float | date) else str(label)
