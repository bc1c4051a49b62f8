"""Priors: beliefs about a person before anything is published, BK^sv of JS-reduce, section 4.2."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import are_probabilities, probability_rows
from foreknow.models.tables.attributes import Categorical
from foreknow.models.tables.history import History
from foreknow.models.tables.lookalikes import lookalike
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Schema

LARGEST_TABLE = 2**27
"""The number of probabilities that class frequencies may hold (1 GiB)."""


class Prior(Protocol):
    """Probabilities of the sensitive values for people with some quasi-identifiers, and at ``people.time``."""

    def __call__(self, people: People) -> FloatArray:
        """One distribution per person: float array, shape ``(n, m)``."""
        ...


@dataclass(frozen=True)
class UniformPrior:
    """Nothing is known: every value is as likely as any other."""

    def __call__(self, people: People) -> FloatArray:
        """One distribution per person: float array, shape ``(n, m)``, all ``1 / m``."""
        m = len(people.schema.values)
        return np.full((len(people), m), 1.0 / m)


@dataclass(frozen=True, eq=False)
class ClassFrequencies:
    """The frequencies of the values in the class a person belongs to, as in JS-reduce, section 7.1.

    Parameters
    ----------
    cuts : mapping of str to tuple of float
        Per attribute that tells classes apart, where its codes are cut: c - 1 increasing cuts make c classes, and a
        code on a cut belongs above it.
    probabilities : float array, shape (c_1, ..., c_a, m)
        The distribution of every class; the axes are the attributes of ``cuts``, in order.

    Raises
    ------
    ValueError
        If the shape does not fit the cuts, or a class's row is no distribution.
    """

    cuts: Mapping[str, tuple[float, ...]]
    probabilities: FloatArray

    def __post_init__(self) -> None:
        probabilities = np.asarray(self.probabilities, dtype=np.float64)
        shape = tuple(len(cuts) + 1 for cuts in self.cuts.values())
        if probabilities.shape[:-1] != shape:
            raise ValueError(
                f"the cuts make classes {shape} and the probabilities have shape {probabilities.shape}; one row per class."
            )
        rows = probability_rows(probabilities.reshape(-1, probabilities.shape[-1]), "the distribution of class")
        object.__setattr__(self, "probabilities", rows.reshape(probabilities.shape))

    @classmethod
    def fit(cls, history: History, classes: Mapping[str, int | None], pseudo_count: float = 0.0) -> "ClassFrequencies":
        """Count a corpus: every record of a history, class by class.

        Parameters
        ----------
        history : History
            The corpus, with its true values.
        classes : mapping of str to int or None
            Per attribute that tells classes apart, into how many intervals of equal width its domain is cut, as
            ``{"age": 3, "weight": 3}``. A categorical attribute has one class per value: write its number of values,
            or None.
        pseudo_count : float
            Added to every count (a symmetric Dirichlet prior's concentration). With 0, a class nobody was seen in has
            the frequencies of the whole corpus.

        Raises
        ------
        TypeError
            If ``classes`` is no mapping.
        ValueError
            If an attribute is no quasi-identifier, its number of classes does not fit, or ``pseudo_count`` is negative.
        """
        if not (np.isfinite(pseudo_count) and pseudo_count >= 0):
            raise ValueError(f"pseudo_count is {pseudo_count}; it is added to counts, so it must be 0 or more.")
        schema = history.schema
        if not isinstance(classes, Mapping):
            raise TypeError(
                f"classes is {classes!r}; it maps each attribute to its number of classes, as {{'age': 3, 'sex': None}}, with None "
                "for a categorical attribute."
            )
        _check_parts(classes)
        cuts = {name: _cuts(schema, name, parts) for name, parts in classes.items()}
        shape, m = tuple(len(cut) + 1 for cut in cuts.values()), len(schema.values)
        if math.prod(shape) * m > LARGEST_TABLE:
            raise ValueError(
                f"the classes {dict(zip(cuts, shape, strict=True))} make a table of {math.prod(shape)} times {m} probabilities, "
                f"over {LARGEST_TABLE}; cut fewer attributes, or into fewer intervals."
            )
        cells = np.concatenate([class_codes(cuts, view.people) * m + view.sensitive for view in history])
        counts = np.bincount(cells, minlength=int(np.prod(shape)) * m).reshape(-1, m).astype(np.float64)
        whole = counts.sum(axis=0) + pseudo_count
        counts = np.where(counts.sum(axis=1, keepdims=True) + pseudo_count > 0, counts + pseudo_count, whole)
        return cls(cuts, (counts / counts.sum(axis=1, keepdims=True)).reshape(*shape, m))

    def __call__(self, people: People) -> FloatArray:
        """Each person's class's distribution: float array, shape ``(n, m)``."""
        return np.asarray(self.probabilities.reshape(-1, self.probabilities.shape[-1])[self.classes(people)])

    def classes(self, people: People) -> IntArray:
        """Each person's class, 0 to c - 1 in the order of ``probabilities.reshape(c, m)``: int array, shape ``(n,)``."""
        return class_codes(self.cuts, people)


@dataclass(frozen=True, eq=False)
class GivenPrior:
    """A table that says it: one row per respondent, one column per sensitive value.

    Parameters
    ----------
    frame : DataFrame
        Indexed by respondent. A value of the domain without a column is an error, so is a column that is no value.

    Raises
    ------
    ValueError
        If a respondent stands twice, or a row is negative, NaN or does not sum to 1; it names the respondent.
    """

    frame: pd.DataFrame

    def __post_init__(self) -> None:
        columns = self.frame.columns[self.frame.columns.duplicated()]
        if len(columns):
            raise ValueError(f"the prior has two columns {columns[0]!r}; give one column per value.")
        twice = self.frame.index[self.frame.index.duplicated()]
        if len(twice):
            raise ValueError(f"respondent {twice[0]!r} has two rows in the prior; keep one.")
        numbers = self.frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
        wrong = ~are_probabilities(numbers)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"the prior of respondent {self.frame.index[row]!r} is {self.frame.iloc[row].tolist()}; it must be "
                "probabilities that sum to 1 over the whole sensitive domain. Normalize it, or give the rest to the values "
                "that were left out."
            )

    def __call__(self, people: People) -> FloatArray:
        """The rows of some people: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If a person has no row, or the columns are not the sensitive domain.
        """
        values = people.schema.values
        if set(self.frame.columns) != set(values):
            odd = sorted(set(self.frame.columns) ^ set(values), key=str)[0]
            raise ValueError(
                f"the prior's columns and the sensitive domain differ in {odd!r}; give one column per value."
                f"{lookalike(odd, [*self.frame.columns, *values])}"
            )
        rows = self.frame.index.get_indexer(pd.Index(people.respondents, dtype=object))
        if (rows < 0).any():
            absent = people.respondents[int((rows < 0).argmax())]
            raise ValueError(
                f"the prior has no row for respondent {absent!r}; add one.{lookalike(absent, self.frame.index.tolist())}"
            )
        return probability_rows(
            self.frame[list(values)].to_numpy(dtype=np.float64)[rows], "the prior of respondent in row"
        )


@dataclass(frozen=True, eq=False)
class PriorByTime:
    """A prior for each time: people first seen at a later release have the prior of that time.

    Parameters
    ----------
    priors : mapping of time to Prior
        One for the time of every release.

    Raises
    ------
    TypeError
        If ``priors`` is no mapping of times to priors.

    Notes
    -----
    Every attack, defense and `publish` takes it as any other prior: it reads ``people.time``, which a `View` sets. The
    ``prior`` of an attack's `Beliefs`, against which gains are measured, is then that of each release's time.

    Examples
    --------
    The share of b grows from one year to the next:

    >>> import pandas as pd
    >>> from foreknow.models import History, Numeric, Schema
    >>> frame = pd.DataFrame({"id": [1, 2, 3, 4], "age": 30, "result": list("aabb"), "year": [1, 1, 1, 2]})
    >>> history = History.read(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b")), time="year")
    >>> fit = ClassFrequencies.fit
    >>> prior = PriorByTime({view.time: fit(History([view]), {}, pseudo_count=1.0) for view in history})
    >>> [prior(view.people)[0].round(2).tolist() for view in history]
    [[0.6, 0.4], [0.33, 0.67]]
    """

    priors: Mapping[Any, Prior]

    def __post_init__(self) -> None:
        if not isinstance(self.priors, Mapping) or not all(map(callable, self.priors.values())):
            raise TypeError(
                f"PriorByTime: priors is {self.priors!r}; it maps each time to a Prior, as {{1: UniformPrior()}}."
            )

    def __call__(self, people: People) -> FloatArray:
        """One distribution per person, by the prior of ``people.time``: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If there is no prior of that time.
        """
        if people.time not in self.priors:
            raise ValueError(
                f"there is no prior of the time {people.time!r}; there are those of {', '.join(map(repr, self.priors))}. Give one "
                "for the time of every release."
            )
        return self.priors[people.time](people)


def _check_parts(classes: Mapping[str, int | None]) -> None:
    for name, parts in classes.items():
        if parts is not None and parts > LARGEST_TABLE:
            raise ValueError(
                f"{name!r} is cut into {parts} classes, over {LARGEST_TABLE}; cut it into fewer intervals."
            )


def _cuts(schema: Schema, name: str, parts: int | None) -> tuple[float, ...]:
    kind = schema.quasi_identifiers.get(name)
    if kind is None:
        raise ValueError(
            f"{name!r} is no quasi-identifier; classes are told apart by {', '.join(schema.quasi_identifiers)}."
        )
    low, high = kind.bounds
    if isinstance(kind, Categorical):
        if parts not in (None, len(kind.values)):
            raise ValueError(f"{name!r} has {len(kind.values)} values and so as many classes, not {parts}; write None.")
        return tuple(np.arange(len(kind.values) - 1) + 0.5)
    if parts is None or parts < 1:
        raise ValueError(f"{name!r} is cut into {parts} classes; write how many intervals of equal width, 1 or more.")
    return tuple(np.linspace(low, high, parts + 1)[1:-1].tolist())


def class_codes(cuts: Mapping[str, tuple[float, ...]], people: People) -> IntArray:
    """Each person's class, as one number: the row of the reshaped table of class frequencies."""
    names = list(people.schema.quasi_identifiers)
    cell = np.zeros(len(people), dtype=np.int64)
    for name, cut in cuts.items():
        if name not in names:
            raise ValueError(f"{name!r} is no quasi-identifier; classes are told apart by {', '.join(names)}.")
        codes = people.quasi_identifiers[:, names.index(name)]
        cell = cell * (len(cut) + 1) + np.searchsorted(np.asarray(cut, dtype=np.float64), codes, side="right")
    return cell
