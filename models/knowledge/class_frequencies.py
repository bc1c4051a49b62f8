"""Prior from the value frequencies of classes of respondents, as in JS-reduce, section 7.1."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.knowledge.posterior_variable import VALUE, posterior_variable
from foreknow.models.problem import probability_rows, rows_of_counts
from foreknow.models.settings import MAX_FLOAT, as_floats, check_kind, check_range, check_whole, shown
from foreknow.models.tables.columns import check_quasi_identifiers
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Categorical, Numeric, Schema

MAX_CLASS_PROBABILITIES = 2**27
"""Largest number of probabilities in a table of class frequencies (1 GiB)."""

MIN_RESPONDENTS = 10
"""Least mean number of respondents of a class, where its prior is learned from releases."""

CUTS = "maps each attribute to increasing cuts of its codes, as {'age': (20.0, 40.0)}"
"""What a parameter ``cuts`` takes."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ClassFrequencies:
    """Value frequencies in the class of a respondent, as in JS-reduce, section 7.1.

    Parameters
    ----------
    cuts : mapping of str to tuple of float
        Cuts of the codes of each attribute that defines classes: c - 1 increasing cuts make c classes, and a code equal to a cut
        belongs to the class above it.
    probabilities : float array, shape (c_1, ..., c_a, m)
        Distribution of every class; the axes are the attributes of ``cuts``, in order.

    Raises
    ------
    TypeError
        If ``cuts`` is no mapping, or the probabilities are no array of numbers.
    ValueError
        If cuts do not increase, the shape does not fit the cuts, or the row of a class is not a distribution.
    """

    cuts: Mapping[str, tuple[float, ...]]
    probabilities: FloatArray

    def __post_init__(self) -> None:
        cuts = increasing_cuts(self.cuts)
        takes = "is a float array of shape (c_1, ..., c_a, m), a distribution per class"
        probabilities = as_floats("ClassFrequencies", "probabilities", self.probabilities, takes)
        shape = tuple(len(cut) + 1 for cut in cuts.values())
        if not probabilities.ndim or probabilities.shape[:-1] != shape or not probabilities.shape[-1]:
            raise ValueError(
                f"the cuts make classes {shape} and the probabilities have shape {probabilities.shape}; one row per class."
            )
        rows = probability_rows(probabilities.reshape(-1, probabilities.shape[-1]), "the distribution of class")
        set_fields(self, cuts=cuts, probabilities=rows.reshape(probabilities.shape))

    @classmethod
    def fit(cls, history: History, classes: Mapping[str, int | None], pseudo_count: float = 0.0) -> "ClassFrequencies":
        """Estimate the frequencies from every record of a history.

        Parameters
        ----------
        history : History
            Corpus with true values.
        classes : mapping of str to int or None
            Attributes that define classes. For a numeric attribute the number of intervals of equal width into which its domain
            is cut, as ``{"age": 3, "weight": 3}``. A categorical attribute has one class per value: write its number of values,
            or None.
        pseudo_count : float
            Number added to every count (concentration of a symmetric Dirichlet prior). With 0, a class without records has the
            frequencies of the whole corpus.

        Raises
        ------
        TypeError
            If ``history`` is no `History`, or ``classes`` no mapping.
        ValueError
            If an attribute is no quasi-identifier, its number of classes does not fit, or ``pseudo_count`` is negative.
        """
        check_range("ClassFrequencies.fit", "pseudo_count", pseudo_count, 0, MAX_FLOAT, "added to counts")
        cuts, table = class_counts("ClassFrequencies.fit", history, classes)
        return cls(cuts, frequencies_of_counts(table, pseudo_count))

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        cuts: Mapping[str, tuple[float, ...]],
        variable: str = "frequencies",
        values: Sequence[Hashable] | None = None,
    ) -> "ClassFrequencies":
        """Posterior mean of the class frequencies of a sampled PyMC model.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`, for a model as `release_model` or `history_model`.
        cuts : mapping of str to tuple of float
            Cuts of the attributes into classes. Class c of the model is the class c of `ClassFrequencies.classes`.
        variable : str
            With the dimensions chain and draw, and ``class, value`` or one dimension for each attribute of the cuts and
            ``value``.
        values
            As for `MarkovChain.from_posterior`.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if the number of classes does not fit the cuts.
        """
        shape = class_shape(cuts)
        found = posterior_variable(tree, variable, [("class", VALUE), (*map(str, cuts), VALUE)], values)
        return cls(cuts, with_classes(found.mean, shape, 1))

    def __call__(self, people: People) -> FloatArray:
        """Distribution of the class of each respondent: float array, shape ``(n, m)``."""
        return np.asarray(self.probabilities.reshape(-1, self.probabilities.shape[-1])[self.classes(people)])

    def classes(self, people: People) -> IntArray:
        """Class of each respondent, 0 to c - 1 in the order of ``probabilities.reshape(c, m)``: int array, shape ``(n,)``."""
        check_kind("ClassFrequencies", "people", people, People)
        return class_codes(self.cuts, people)


def frequencies_of_counts(table: FloatArray, pseudo_count: float) -> FloatArray:
    """Frequencies of the values in each class from their counts: shape ``(c_1, ..., c_a, m)``; see `ClassFrequencies.fit`."""
    whole = table.reshape(-1, table.shape[-1]).sum(axis=0) + pseudo_count
    return rows_of_counts(table, pseudo_count, whole / whole.sum())


def class_shape(cuts: Any) -> tuple[int, ...]:
    """Number of classes of each attribute of some cuts; raises TypeError or ValueError if they are no cuts."""
    return tuple(len(cut) + 1 for cut in increasing_cuts(cuts).values())


def with_classes(table: FloatArray, shape: tuple[int, ...], rest: int) -> FloatArray:
    """Table with one axis for each attribute before its last ``rest`` ones; the given one may have a single axis of all classes.

    Raises
    ------
    ValueError
        If the number of classes does not fit.
    """
    classes = table.shape[: table.ndim - rest]
    if classes != shape and classes != (math.prod(shape),):
        raise ValueError(f"the posterior has {classes} classes, and the cuts make {shape}. Give the cuts of the model.")
    return table.reshape(*shape, *table.shape[table.ndim - rest :])


def class_counts(
    owner: str, history: History, classes: Mapping[str, int | None]
) -> tuple[dict[str, tuple[float, ...]], FloatArray]:
    """Cuts of the classes, and the number of records with each value in each class: shape ``(c_1, ..., c_a, m)``.

    Raises
    ------
    TypeError, ValueError
        As `ClassFrequencies.fit`; ``owner`` is named.
    """
    check_kind(owner, "history", history, History)
    cuts = class_cuts(owner, history.schema, classes)
    shape, m = tuple(len(cut) + 1 for cut in cuts.values()), len(history.schema.values)
    cells = np.concatenate([class_codes(cuts, view.people) * m + view.sensitive for view in history])
    counts = np.bincount(cells, minlength=math.prod(shape) * m).reshape(*shape, m)
    return cuts, counts.astype(np.float64)


def class_cuts(owner: str, schema: Schema, classes: Mapping[str, int | None]) -> dict[str, tuple[float, ...]]:
    """Cuts of the codes of each attribute that defines classes.

    Raises
    ------
    TypeError, ValueError
        As `ClassFrequencies.fit`; ``owner`` is named.
    """
    takes = "maps each attribute to its number of classes, as {'age': 3, 'sex': None}, with None for a categorical attribute"
    check_kind(owner, "classes", classes, Mapping, takes)
    check_quasi_identifiers("the classes", classes, schema.quasi_identifiers)
    cuts = {name: _cuts(schema, name, parts) for name, parts in classes.items()}
    shape, m = tuple(len(cut) + 1 for cut in cuts.values()), len(schema.values)
    if math.prod(shape) * m > MAX_CLASS_PROBABILITIES:
        raise ValueError(
            f"the classes {dict(zip(cuts, shape, strict=True))} make a table of {math.prod(shape)} times {m} probabilities, "
            f"over {MAX_CLASS_PROBABILITIES}; cut fewer attributes, or into fewer intervals."
        )
    return cuts


def class_intervals(schema: Schema, intervals: int, most: int) -> dict[str, int | None]:
    """Attributes that define classes, with the number of intervals of each.

    A numeric quasi-identifier has some ``intervals``, a categorical one its values. A quasi-identifier that would make more than
    ``most`` classes is left out.
    """
    cuts: dict[str, int | None] = {}
    classes = 1
    for name, kind in schema.quasi_identifiers.items():
        parts = intervals if isinstance(kind, Numeric) else len(kind.values)
        if classes * parts <= most:
            cuts[name], classes = parts, classes * parts
    return cuts


def class_codes(cuts: Mapping[str, tuple[float, ...]], people: People) -> IntArray:
    """Class of each respondent as one number: the row of the table of class frequencies in shape ``(c, m)``."""
    names = list(people.schema.quasi_identifiers)
    cell = np.zeros(len(people), dtype=np.int64)
    check_quasi_identifiers("the classes", cuts, names)
    for name, cut in cuts.items():
        codes = people.quasi_identifiers[:, names.index(name)]
        cell = cell * (len(cut) + 1) + np.searchsorted(np.asarray(cut, dtype=np.float64), codes, side="right")
    return cell


def _cuts(schema: Schema, name: str, parts: Any) -> tuple[float, ...]:
    """Cuts of the codes of an attribute into classes."""
    kind = schema.quasi_identifiers[name]
    if isinstance(kind, Categorical):
        if parts not in (None, len(kind.values)):
            raise ValueError(
                f"{name!r} has {len(kind.values)} values and one class for each, not {shown(parts)}; write None."
            )
        return tuple(np.arange(len(kind.values) - 1) + 0.5)
    check_whole("the classes", repr(name), parts, "intervals of equal width", most=MAX_CLASS_PROBABILITIES)
    return tuple(np.linspace(*kind.bounds, int(parts) + 1)[1:-1].tolist())


def increasing_cuts(cuts: Any) -> dict[str, tuple[float, ...]]:
    """Cuts of each attribute as floats; raises TypeError or ValueError unless they map attributes to increasing numbers."""
    check_kind("ClassFrequencies", "cuts", cuts, Mapping, CUTS)
    found = {}
    for name, cut in cuts.items():
        codes = as_floats("ClassFrequencies", f"the cuts of {name!r}", cut, "is a tuple of increasing numbers")
        if codes.ndim != 1 or not (np.diff(codes) >= 0).all() or not np.isfinite(codes).all():
            raise ValueError(
                f"the cuts of {name!r} are {shown(cut)}; they are increasing numbers, as (20.0, 40.0). "
                "ClassFrequencies.fit makes them of a number of classes: its result has them as .cuts."
            )
        found[name] = tuple(codes.tolist())
    return found
