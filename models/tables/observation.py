"""Observation: a release as the worst-case adversary sees it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.problem import Problem
from foreknow.models.settings import check_kind, is_whole
from foreknow.models.tables.arguments import as_floats, as_integers
from foreknow.models.tables.columns.times import check_time
from foreknow.models.tables.people import People


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

    Raises
    ------
    TypeError
        If the respondents are not `People`, an array does not hold integers, or the time cannot be ordered.
    ValueError
        If the shapes do not fit, a group does not exist, a group shows fewer values than it has members, or ``distorted`` or
        ``vanished`` is not an integer of at least 0.

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

    def __post_init__(self) -> None:
        check_kind("Observation", "people", self.people, People, "is a People, as view.people")
        n, m = len(self.people), len(self.people.schema.values)
        group = as_integers(
            "the group of an observation", self.group, (n,), f"one group for each of the {n} respondents"
        )
        takes = f"one row per group, with the number of records of each of the {m} sensitive values"
        counts = as_integers("the counts of an observation", self.counts, (None, m), takes)
        _check_groups(group, counts)
        for name in ("distorted", "vanished"):
            if not is_whole(getattr(self, name), 0):
                raise ValueError(
                    f"Observation: {name} is {getattr(self, name)!r}; it is a number of records, 0 or more."
                )
        object.__setattr__(self, "group", group)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "time", check_time("Observation", self.time))
        if self.people.time != self.time:
            object.__setattr__(self, "people", replace(self.people, time=self.time))

    def problem(self, prior: FloatArray) -> Problem:
        """Return the estimation problem under a prior, as if no value were distorted.

        Counterfeits become respondents after the n respondents, with uniform rows. `Adversary.posterior` treats counterfeits
        and distorted values differently.

        Parameters
        ----------
        prior : float array, shape (n, m)
            Rows are probabilities.
        """
        groups, m = self.counts.shape
        prior = as_floats("Observation.problem", "prior", prior)
        if prior.shape != (len(self.people), m):
            raise ValueError(
                f"the prior has shape {prior.shape}; give one row for each of the {len(self.people)} respondents, with one "
                f"column for each of the {m} sensitive values."
            )
        number = self.counts.sum(axis=1) - np.bincount(self.group[self.group >= 0], minlength=groups)
        if not number.any():
            return Problem(prior, self.group, self.counts)
        counterfeit_group = np.repeat(np.arange(groups), number)
        rows = np.full((len(counterfeit_group), m), 1.0 / m)
        return Problem(np.vstack([prior, rows]), np.concatenate([self.group, counterfeit_group]), self.counts)


def _check_groups(group: IntArray, counts: IntArray) -> None:
    """Raise ValueError unless every group exists and shows at least one value per member."""
    if group.size and not (group.min() >= -1 and group.max() < len(counts)):
        wrong = group.min() if group.min() < -1 else group.max()
        raise ValueError(
            f"the group of an observation holds {wrong}, and there are {len(counts)} groups; it must lie in -1..{len(counts) - 1}."
        )
    sizes = np.bincount(group[group >= 0], minlength=len(counts))
    wrong_groups = (counts < 0).any(axis=1) | (counts.sum(axis=1) < sizes)
    if wrong_groups.any():
        worst = int(wrong_groups.argmax())
        raise ValueError(
            f"group {worst} of an observation has {sizes[worst]} respondents and the counts {counts[worst].tolist()}; counts are "
            "not negative, and a group shows at least one value per respondent."
        )
