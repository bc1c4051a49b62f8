"""A published table of anybody's making, with a column that names the group: what an adversary sees of it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.people import People
from foreknow.models.release import Observation
from foreknow.models.schema import Categorical, Schema, check_columns


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table, or two, in which groups are named and the link between people and sensitive values is hidden.

    That a sensitive value stands in somebody's row means nothing: of a group only who is in it, and the multiset of its
    values, is read. Every row is a person, known by the quasi-identifiers as they are printed: exact in a bucketized table; in
    a generalized one people who share a label cannot be told apart, so that whoever knows them better should attack the
    `Release` instead.

    Parameters
    ----------
    frame : DataFrame
        One row per person, with the group, the quasi-identifiers and, unless ``values`` is given, the sensitive attribute.
    sensitive : str
        The sensitive attribute's column.
    group : str
        The column that names the group, here and in ``values``.
    quasi_identifiers : sequence of str, optional
        By default every other column.
    values : DataFrame, optional
        The second table of Anatomy: ``group``, the sensitive attribute and, if it is there, ``count``.
    time : optional
        When it was published.

    Raises
    ------
    ValueError
        If a column or cell is missing, or a group has not as many values as people.

    Examples
    --------
    >>> rows = pd.DataFrame({"nation": ["American", "Japanese"], "group": ["L1", "L1"], "disease": ["heart", "flu"]})
    >>> table = PublishedTable(rows, sensitive="disease")
    >>> table.observation.people, table.observation.counts
    (People(2, known by nation), array([[1, 1]]))
    """

    frame: pd.DataFrame
    sensitive: str
    group: str = "group"
    quasi_identifiers: Sequence[str] | None = None
    values: pd.DataFrame | None = None
    time: Any = 0

    def __post_init__(self) -> None:
        self.observation  # noqa: B018 - it checks the table

    @cached_property
    def observation(self) -> Observation:
        """Who is in each group, and each group's values; a respondent is a row of the frame, by its number."""
        identifying = self._identifying()
        shown = self.frame if self.values is None else self.values
        check_columns(self.frame, [self.group, *identifying])
        check_columns(shown, [self.group, self.sensitive])
        if self.frame.empty:
            raise ValueError("the published table has no row.")
        for name in (self.group, *identifying):
            _check_cells(self.frame, name)
        for name in (self.group, self.sensitive):
            _check_cells(shown, name)
        names, group = np.unique(self.frame[self.group].astype(str).to_numpy(dtype=object), return_inverse=True)
        domain = _listed(shown[self.sensitive])
        schema = Schema(
            {name: Categorical(_listed(self.frame[name])) for name in identifying}, self.sensitive, domain, "row"
        )
        codes = np.column_stack([schema.quasi_identifiers[name].codes(self.frame[name]) for name in identifying])
        people = People(np.arange(len(self.frame)).astype(object), codes, schema)
        return Observation(people, group.astype(np.int64), self._counts(shown, names, domain, group), self.time)

    def _identifying(self) -> tuple[str, ...]:
        if self.quasi_identifiers is not None:
            return tuple(self.quasi_identifiers)
        return tuple(name for name in self.frame.columns if name not in (self.group, self.sensitive))

    def _counts(
        self,
        shown: pd.DataFrame,
        names: "np.ndarray[Any, Any]",
        domain: tuple[Hashable, ...],
        group: "np.ndarray[Any, Any]",
    ) -> "np.ndarray[Any, np.dtype[np.int64]]":
        place = {name: number for number, name in enumerate(names)}
        code = {value: number for number, value in enumerate(domain)}
        counts = np.zeros((len(names), len(domain)), dtype=np.int64)
        times = (
            shown["count"] if self.values is not None and "count" in shown.columns else np.ones(len(shown), dtype=int)
        )
        for name, value, count in zip(shown[self.group].astype(str), shown[self.sensitive], times, strict=True):
            if name not in place:
                raise ValueError(
                    f"the group {name!r} has sensitive values and no people; give both tables of one release."
                )
            counts[place[name], code[value]] += int(count)
        sizes = np.bincount(group, minlength=len(names))
        if (wrong := counts.sum(axis=1) != sizes).any():
            worst = int(wrong.argmax())
            raise ValueError(
                f"the group {names[worst]!r} has {sizes[worst]} people and {counts[worst].sum()} values; a group shows one "
                "value per person."
            )
        return counts


def _listed(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    return tuple(sorted(column.unique().tolist(), key=str))


def _check_cells(frame: pd.DataFrame, name: str) -> None:
    missing = frame[name].isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"row {int(missing.argmax())} of the published table has no {name!r}; leave the row out, or write what is meant."
        )
