"""The result of a defense: which records are published together, and what is changed in them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foreknow.models.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Grouping:
    """Partition of a view's records into groups, with the changes made to them.

    Parameters
    ----------
    labels : int array, shape (n,)
        Each record's group, any non-negative number; -1 where the record is suppressed.
    values : int array, shape (n,), optional
        The published sensitive codes, where a defense distorts them; the true ones otherwise.
    counterfeits : int array, shape (c, 2), optional
        Invented records, each a group's label and a sensitive code.
    notes : tuple of str
        What was relaxed, suppressed or capped, in words.
    bucketized : bool
        Whether quasi-identifiers are published as they are, and only the link within each group is broken (Anatomy);
        otherwise they are generalized.

    Raises
    ------
    ValueError
        If labels are not whole numbers from -1 on, or another array has the wrong shape.
    """

    labels: IntArray
    values: IntArray | None = None
    counterfeits: IntArray | None = None
    notes: tuple[str, ...] = ()
    bucketized: bool = False

    def __post_init__(self) -> None:
        labels = _whole(self.labels, "labels")
        if labels.ndim != 1 or (labels < -1).any():
            worst = labels.min() if labels.size else "none"
            raise ValueError(
                f"the labels of a grouping are one whole number from -1 (suppressed) on per record; got shape "
                f"{labels.shape}, smallest {worst}."
            )
        object.__setattr__(self, "labels", labels)
        if self.values is not None:
            values = _whole(self.values, "values")
            if values.shape != labels.shape:
                raise ValueError(
                    f"a grouping of {len(labels)} records has {values.shape} published values; give one per record."
                )
            object.__setattr__(self, "values", values)
        if self.counterfeits is not None:
            counterfeits = _whole(self.counterfeits, "counterfeits").reshape(-1, 2)
            strangers = np.setdiff1d(counterfeits[:, 0], labels[labels >= 0])
            if len(strangers):
                raise ValueError(
                    f"a counterfeit stands in group {strangers[0]}, which has no record; use the label of a group."
                )
            object.__setattr__(self, "counterfeits", counterfeits)

    def in_rows(self, rows: IntArray) -> "Grouping":
        """The same decisions for the records in another order: record i of the result is record ``rows[i]`` of this one."""
        return replace(self, labels=self.labels[rows], values=None if self.values is None else self.values[rows])

    def renumbered(self, rng: np.random.Generator) -> "Grouping":
        """The same groups, numbered 0 to g - 1 in a random order; suppressed records stay at -1."""
        names = np.unique(self.labels[self.labels >= 0])
        numbers = np.append(rng.permutation(len(names)), -1)
        labels = numbers[np.where(self.labels >= 0, np.searchsorted(names, self.labels), -1)]
        if self.counterfeits is None:
            return replace(self, labels=labels)
        groups = numbers[np.searchsorted(names, self.counterfeits[:, 0])]
        invented = np.column_stack([groups, self.counterfeits[:, 1]])
        return replace(self, labels=labels, counterfeits=invented[np.lexsort(invented.T[::-1])])


def _whole(numbers: ArrayLike, name: str) -> "IntArray":
    array: Any = np.asarray(numbers)
    if array.size and not (np.issubdtype(array.dtype, np.integer) or np.array_equal(array, np.round(array))):
        raise ValueError(f"the {name} of a grouping must be whole numbers; got {array.dtype}.")
    return np.asarray(array, dtype=np.int64)
