"""Grouping: the partition of a view's records into groups, as a defense decides it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import as_generator, check_flag, check_kind
from foreknow.models.tables.arguments import as_integers, as_list


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Grouping:
    """Partition of a view's records into groups, with the changes made to them.

    Parameters
    ----------
    labels : int array, shape (n,)
        The group of each record, any non-negative number; -1 if the record is suppressed.
    values : int array, shape (n,), optional
        The published sensitive codes, if the defense distorts values; the true codes otherwise.
    counterfeits : int array, shape (c, 2), optional
        Invented records: the label of a group and a sensitive code each.
    notes : tuple of str
        Notes on relaxed requirements, suppressed records and other limits that were met.
    bucketized : bool
        True if quasi-identifiers are published unchanged and only the link within each group is broken (Anatomy); otherwise
        they are generalized.

    Raises
    ------
    TypeError
        If an array does not hold numbers, the notes are not texts, or ``bucketized`` is not True or False.
    ValueError
        If a label is not an integer of at least -1, an array has the wrong shape, or a counterfeit is in no group.

    Notes
    -----
    Sensitive codes are compared with the domain by `Release`.

    Examples
    --------
    >>> grouping = Grouping([7, 7, -1, 3], notes=["1 record suppressed"])
    >>> grouping.labels, grouping.notes
    (array([ 7,  7, -1,  3]), ('1 record suppressed',))
    """

    labels: IntArray
    values: IntArray | None = None
    counterfeits: IntArray | None = None
    notes: tuple[str, ...] = ()
    bucketized: bool = False

    def __post_init__(self) -> None:
        labels = as_integers(
            "the labels of a grouping", self.labels, (None,), "one label per record, from -1 (suppressed) on"
        )
        if (labels < -1).any():
            raise ValueError(
                f"the labels of a grouping are integers from -1 (suppressed) on, one per record; the smallest is {labels.min()}."
            )
        object.__setattr__(self, "labels", labels)
        if self.values is not None:
            takes = f"one sensitive code for each of the {len(labels)} records"
            values = as_integers("the published values of a grouping", self.values, (len(labels),), takes)
            object.__setattr__(self, "values", values)
        if self.counterfeits is not None:
            object.__setattr__(self, "counterfeits", _counterfeits(self.counterfeits, labels))
        object.__setattr__(self, "notes", _notes(self.notes))
        check_flag("Grouping", "bucketized", self.bucketized)

    def in_rows(self, rows: IntArray) -> "Grouping":
        """Return the grouping of the records in another order: record i of the result is record ``rows[i]`` of this one.

        Parameters
        ----------
        rows : int array
            Row numbers, 0 to n - 1.
        """
        rows = as_integers("the rows of Grouping.in_rows", rows, (None,), "row numbers")
        if rows.size and not (rows.min() >= 0 and rows.max() < len(self.labels)):
            wrong = rows.min() if rows.min() < 0 else rows.max()
            raise ValueError(
                f"Grouping.in_rows: row {wrong} is not one of the {len(self.labels)} records; rows are numbers from 0 to n - 1."
            )
        return replace(self, labels=self.labels[rows], values=None if self.values is None else self.values[rows])

    def renumbered(self, rng: "np.random.Generator | int") -> "Grouping":
        """Return the same groups, numbered 0 to g - 1 in a random order; suppressed records stay at -1.

        Parameters
        ----------
        rng : numpy.random.Generator or int
            A random generator, or a seed.
        """
        rng = as_generator("Grouping.renumbered", rng)
        old = np.unique(self.labels[self.labels >= 0])
        new = np.append(rng.permutation(len(old)), -1)
        labels = new[np.where(self.labels >= 0, np.searchsorted(old, self.labels), -1)]
        if self.counterfeits is None:
            return replace(self, labels=labels)
        groups = new[np.searchsorted(old, self.counterfeits[:, 0])]
        counterfeits = np.column_stack([groups, self.counterfeits[:, 1]])
        return replace(self, labels=labels, counterfeits=counterfeits[np.lexsort(counterfeits.T[::-1])])


def _counterfeits(counterfeits: IntArray, labels: IntArray) -> IntArray:
    """The counterfeits as an array of shape ``(c, 2)``, each in a group that has a record."""
    listed = counterfeits.tolist() if isinstance(counterfeits, np.ndarray) else counterfeits
    if isinstance(listed, list) and not listed:
        return np.zeros((0, 2), dtype=np.int64)
    takes = "one row per invented record, of the label of its group and its sensitive code"
    pairs = as_integers("the counterfeits of a grouping", counterfeits, (None, 2), takes)
    empty = np.setdiff1d(pairs[:, 0], labels[labels >= 0])
    if len(empty):
        raise ValueError(f"a counterfeit is in group {empty[0]}, which has no record; use the label of a group.")
    return pairs


def _notes(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes as a tuple; raises TypeError unless they are texts."""
    takes = "is a list of texts, as ['3 records suppressed']"
    listed = as_list("Grouping", "notes", notes, takes)
    for note in listed:
        check_kind("Grouping", "one of the notes", note, str, "is a text, as '3 records suppressed'")
    return tuple(listed)
