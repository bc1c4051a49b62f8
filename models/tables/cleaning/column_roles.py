"""Roles of the columns of a table that is cleaned."""

from collections.abc import Iterable
from dataclasses import dataclass

from foreknow.models.tables.arguments import as_list
from foreknow.models.tables.columns.required_columns import is_column_name


@dataclass(frozen=True)
class ColumnRoles:
    """Roles of the columns of a table: the columns that are read, and how.

    Parameters
    ----------
    sensitive : str
    quasi_identifiers : sequence of str
    respondent, time : str or None
        None if the table has none: repeated records are not looked for, and times not read.
    categorical : sequence of str
        Columns whose cells are names, even if they are written as numbers.
    numbers : sequence of str
        Quasi-identifiers whose cells are numbers with a unit, which is removed.

    Raises
    ------
    TypeError
        If a name cannot be that of a column, or a list is one text.
    ValueError
        If a column has two roles, or one of ``numbers`` is no quasi-identifier or is categorical.
    """

    sensitive: str = "result"
    quasi_identifiers: tuple[str, ...] = ()
    respondent: str | None = "id"
    time: str | None = "week"
    categorical: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("quasi_identifiers", "categorical", "numbers"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        for name in self.names:
            if not is_column_name(name):
                raise TypeError(f"ColumnRoles: a column is named by {name!r}; a column's name is one text, as 'age'.")
        for name in self.names:
            if self.names.count(name) > 1:
                raise ValueError(f"the column {name!r} has two roles; give each role a column of its own.")
        for name in self.numbers:
            if name not in self.quasi_identifiers:
                raise ValueError(
                    f"numbers names {name!r}, which is no quasi-identifier; name it in quasi_identifiers too."
                )
            if name in self.categorical:
                raise ValueError(f"{name!r} is named in numbers and in categorical; leave one out.")

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that have a role."""
        first = [name for name in (self.respondent, self.time) if name is not None]
        return (*first, self.sensitive, *self.quasi_identifiers)

    @property
    def names_of_values(self) -> tuple[str, ...]:
        """Columns whose cells are names: the sensitive column and the categorical ones."""
        return (self.sensitive, *(name for name in self.quasi_identifiers if name in self.categorical))


def _names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(as_list("ColumnRoles", name, names, "is a list of columns, as ['age']"))
