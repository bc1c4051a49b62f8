"""Respondents, and what an adversary observes of a release."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, ObjectArray, object_array
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.noise import Noise
from foreknow.models.problem import Problem, check_groups
from foreknow.models.settings import as_integers, check_kind
from foreknow.models.tables.columns import check_time
from foreknow.models.tables.schema import Categorical, Schema


@equal_by_fields
@dataclass(frozen=True, eq=False)
class People:
    """Respondents and their quasi-identifiers, without sensitive values.

    Parameters
    ----------
    respondents : object array, shape (n,)
        Their identifiers, which are distinct.
    quasi_identifiers : float array, shape (n, d)
        Codes: the number of a numeric attribute, or the position of a categorical value in the schema's ``values``.
    schema : Schema
        The meaning of the columns. The bounds of every numeric domain are known.
    time : optional
        The time of their records, for a `Prior` that depends on it.

    Notes
    -----
    Respondents and codes are those of a `View` or of another table that was checked; they are not checked again.

    Examples
    --------
    >>> from foreknow.models import Numeric
    >>> schema = Schema({"age": Numeric(0, 120), "sex": Categorical(("f", "m"))}, "disease", ("cold", "flu"))
    >>> People(np.array(["Ann", "Bob"], dtype=object), np.array([[31.0, 0], [45, 1]]), schema).frame.to_dict("index")
    {'Ann': {'age': 31.0, 'sex': 'f'}, 'Bob': {'age': 45.0, 'sex': 'm'}}
    """

    respondents: ObjectArray
    quasi_identifiers: FloatArray
    schema: Schema
    time: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "quasi_identifiers", np.asarray(self.quasi_identifiers, dtype=np.float64))

    def __repr__(self) -> str:
        return f"People({len(self)}, known by {', '.join(map(str, self.schema.quasi_identifiers))})"

    def __len__(self) -> int:
        return len(self.respondents)

    def __getitem__(self, rows: "IntArray | BoolArray | slice") -> "People":
        return replace(self, respondents=self.respondents[rows], quasi_identifiers=self.quasi_identifiers[rows])

    def rows(self, respondent: Hashable) -> list[int]:
        """Return the rows of a respondent: one, or none. Cost: O(n)."""
        return [row for row, identifier in enumerate(self.respondents) if identifier == respondent]

    def and_then(self, others: "People") -> "People":
        """These respondents, followed by others of the same schema."""
        respondents = np.concatenate([self.respondents, others.respondents])
        codes = np.concatenate([self.quasi_identifiers, others.quasi_identifiers])
        return replace(self, respondents=respondents, quasi_identifiers=codes)

    @property
    def frame(self) -> pd.DataFrame:
        """A table of the quasi-identifiers: one row per respondent, in order, indexed by respondent."""
        columns = {
            name: object_array(kind.values)[codes.astype(np.int64)] if isinstance(kind, Categorical) else codes
            for (name, kind), codes in zip(self.schema.quasi_identifiers.items(), self.quasi_identifiers.T, strict=True)
        }
        return pd.DataFrame(columns, index=pd.Index(self.respondents, name=self.schema.respondent, tupleize_cols=False))


def check_one_domain(owner: str, observations: "Iterable[Observation]") -> None:
    """Raise ValueError unless all releases have one sensitive domain, as those of a history have."""
    for one, other in pairwise(observations):
        if one.people.schema.values != other.people.schema.values:
            raise ValueError(
                f"{owner}: the sensitive domain at {other.time!r} is not that at {one.time!r}; attack each release on its own, or "
                "give all tables one domain."
            )


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Observation:
    """A release as the worst-case adversary sees it: the members and the values of each group, without the link.

    Parameters
    ----------
    people : People
        The respondents of the view, suppressed ones included. Their ``time`` becomes that of the release.
    group : int array, shape (n,)
        The group of each respondent, 0 to g - 1; -1 if the record is suppressed.
    counts : int array, shape (g, m)
        The number of records of each sensitive value in each group. Values beyond the number of members are those of
        counterfeits.
    time : optional
        The time of the release.
    distorted : int
        Number of records published with another value than the true one.
    vanished : int
        Number of distorted records whose true value their group does not show.
    ghosts : People, optional
        Respondents who are not listed and whose places invented records carry on. By keyword, as ``ghost_group``.
    ghost_group : int array, shape (number of ghosts,), optional
        The group of each of these records.
    listed : int, optional
        Number of the people who are listed; all of them, but in `with_ghosts`. By keyword.
    noise : Noise, optional
        Law of the noise of the counts, which are those of fixed cells and may be negative; exact counts by default. By keyword.

    Raises
    ------
    TypeError
        If an array does not hold integers, or the time cannot be ordered.
    ValueError
        If the shapes do not fit, a group does not exist, or a group shows fewer values than it has members.

    Notes
    -----
    ``distorted`` and ``vanished`` count over the whole release. They distinguish no respondent and no group.
    """

    people: People
    group: IntArray
    counts: IntArray
    time: Any = 0
    distorted: int = 0
    vanished: int = 0
    ghosts: People | None = field(default=None, kw_only=True)
    ghost_group: IntArray | None = field(default=None, kw_only=True)
    listed: int = field(default=-1, kw_only=True)
    noise: Noise | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        n, m = len(self.people), len(self.people.schema.values)
        group = as_integers(
            "the group of an observation", self.group, (n,), f"one group for each of the {n} respondents"
        )
        takes = f"one row per group, with the number of records of each of the {m} sensitive values"
        counts = as_integers("the counts of an observation", self.counts, (None, m), takes)
        ghosts = self.ghosts if self.ghosts is not None and len(self.ghosts) else None
        ghost_group = np.zeros(0, dtype=np.int64)
        if ghosts is not None:
            takes = f"one group for each of {len(ghosts)} ghosts"
            ghost_group = as_integers("the ghost_group of an observation", self.ghost_group, (len(ghosts),), takes)
            published = set(self.people.respondents[group >= 0])
            if twice := [each for each in ghosts.respondents if each in published]:
                raise ValueError(
                    f"respondent {twice[0]!r} has a published record at {self.time!r}, and a ghost carries on the same place; a "
                    "ghost stands for a respondent without a published record."
                )
        check_kind("Observation", "noise", self.noise, (Noise, type(None)), "is a Noise, as Noise('gaussian', 10.0)")
        check_groups(np.concatenate([group, ghost_group]), counts, counterfeits=True, noisy=self.noise is not None)
        time = check_time("Observation", self.time)
        people = self.people if self.people.time == time else replace(self.people, time=time)
        listed = n if self.listed < 0 else self.listed
        set_fields(self, people=people, group=group, counts=counts, time=time)
        set_fields(self, ghosts=ghosts, ghost_group=ghost_group, listed=listed)

    @property
    def with_ghosts(self) -> "Observation":
        """The same release with ghosts as respondents, behind those who are listed; itself where there are none.

        A respondent whose own record is suppressed may have two rows.
        """
        if self.ghosts is None or self.ghost_group is None:
            return self
        group = np.concatenate([self.group, self.ghost_group])
        return replace(self, people=self.people.and_then(self.ghosts), group=group, ghosts=None)

    def problem(self, prior: FloatArray) -> Problem:
        """Return the estimation problem under a prior, as if no value were distorted.

        Counterfeits become respondents after the n respondents, with uniform rows. `Adversary.posterior` treats counterfeits
        and distorted values differently.

        Parameters
        ----------
        prior : float array, shape (n, m)
            Rows are probabilities.

        Raises
        ------
        ValueError
            If there are ghosts, whose priors are not uniform (`with_ghosts` has them among its people), or counts are noisy.
        """
        if self.noise is not None:
            raise ValueError(
                f"the counts of the release at {self.time!r} are noisy, and show no multiset; use JointAttack, which reads them."
            )
        if self.ghosts is not None:
            raise ValueError(
                f"the release at {self.time!r} has ghosts, which carry on the places of {len(self.ghosts)} respondents; take them "
                "as respondents with priors of their own, as observation.with_ghosts.problem(prior)."
            )
        groups, m = self.counts.shape
        number = self.counts.sum(axis=1) - np.bincount(self.group[self.group >= 0], minlength=groups)
        if not number.any():
            return Problem(prior, self.group, self.counts, observation=self)
        counterfeit_group = np.repeat(np.arange(groups), number)
        rows = np.full((len(counterfeit_group), m), 1.0 / m)
        group = np.concatenate([self.group, counterfeit_group])
        return Problem(np.vstack([prior, rows]), group, self.counts, observation=self)
