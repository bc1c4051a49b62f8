"""Prior by multinomial logistic regression on quasi-identifiers, and its design matrix."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.knowledge.posterior_variable import VALUE, equidistant_draws, posterior_dataset, posterior_variable
from foreknow.models.settings import as_floats, as_list, check_kind, check_whole
from foreknow.models.tables.columns import check_quasi_identifiers
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Categorical, Schema

PROBABILITIES_PER_CHUNK = 2**22
"""Number of probabilities, over draws, respondents and values, that one step of a call holds (32 MiB)."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class RegressionDesign:
    """Columns of a regression on quasi-identifiers.

    A numeric attribute has one column, its code, and a categorical one a column of 0 and 1 for each value. All columns are
    ``(column - center) / spread``.

    Parameters
    ----------
    schema : Schema
    attributes : tuple of str
        Quasi-identifiers in the order of the columns.
    centers, spreads : float array, shape (f,)
        Of each column. Spreads are positive.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import History, Numeric, View
    >>> schema = Schema({"age": Numeric(), "sex": Categorical(("f", "m"))}, "result", ("a", "b"))
    >>> frame = pd.DataFrame({"id": [1, 2], "age": [20, 40], "sex": ["f", "m"], "result": ["a", "b"]})
    >>> history = History([View(frame, schema, 1)])
    >>> design = RegressionDesign.fit(history)
    >>> design.features
    ('age', 'sex f', 'sex m')
    >>> design(history[0].people).tolist()
    [[-1.0, 0.5, -0.5], [1.0, -0.5, 0.5]]
    """

    schema: Schema
    attributes: tuple[str, ...]
    centers: FloatArray
    spreads: FloatArray

    @classmethod
    def fit(cls, history: History, attributes: Iterable[str] | None = None) -> "RegressionDesign":
        """Centers are the means of all records of a history; spreads their standard deviations for numbers, and 1 for categories.

        Parameters
        ----------
        history : History
        attributes : iterable of str, optional
            Quasi-identifiers; all by default.

        Raises
        ------
        TypeError, ValueError
            If ``history`` is no `History`, or an attribute is no quasi-identifier or is named twice.
        """
        owner = "RegressionDesign.fit"
        check_kind(owner, "history", history, History)
        schema = history.schema
        given = schema.quasi_identifiers if attributes is None else attributes
        names = tuple(as_list(owner, "attributes", given, "is a tuple of quasi-identifiers, as ('age', 'sex')"))
        check_quasi_identifiers(owner, names, schema.quasi_identifiers)
        plain = cls(schema, names, np.zeros(1), np.ones(1))
        columns = np.concatenate([plain(view.people) for view in history])
        numeric = np.array([_values(schema, names[place]) is None for place in plain.attribute_of], dtype=np.bool_)
        spreads = columns.std(axis=0)
        return cls(schema, names, columns.mean(axis=0), np.where(numeric & (spreads > 0), spreads, 1.0))

    @property
    def features(self) -> tuple[str, ...]:
        """Name of each of the f columns."""
        return tuple(name for attribute in self.attributes for name in self._names(attribute))

    @property
    def attribute_of(self) -> IntArray:
        """Attribute of each column, as a position in ``attributes``: int array, shape ``(f,)``."""
        return np.repeat(np.arange(len(self.attributes)), [len(self._names(name)) for name in self.attributes])

    def __call__(self, people: People) -> FloatArray:
        """Design matrix of some respondents: float array, shape ``(n, f)``.

        Raises
        ------
        TypeError
            If ``people`` is no `People`.
        ValueError
            If their quasi-identifiers are others than those of the schema.
        """
        check_kind("RegressionDesign", "people", people, People)
        names = list(people.schema.quasi_identifiers)
        parts = [np.zeros((len(people), 0))]
        for name in self.attributes:
            values = _values(self.schema, name)
            if name not in names or _values(people.schema, name) != values:
                raise ValueError(
                    f"RegressionDesign: the quasi-identifier {name!r} is missing in the people or has other values; make the "
                    "design from a history of their schema."
                )
            codes = people.quasi_identifiers[:, names.index(name)]
            parts.append(
                codes[:, None] if values is None else (codes[:, None] == np.arange(len(values))).astype(np.float64)
            )
        return (np.concatenate(parts, axis=1) - self.centers) / self.spreads

    def _names(self, attribute: str) -> list[str]:
        values = _values(self.schema, attribute)
        return [attribute] if values is None else [f"{attribute} {value}" for value in values]


@equal_by_fields
@dataclass(frozen=True, eq=False)
class RegressionPrior:
    """Prior of a multinomial logistic regression, averaged over draws of its coefficients.

    The row of a respondent with the design row x is the mean over the draws k of ``softmax(intercept[k] + x @ coefficients[k])``.

    Parameters
    ----------
    design : RegressionDesign
        Its f columns.
    intercept : float array, shape (m,) or (k, m)
        One row, or one for each of k draws.
    coefficients : float array, shape (f, m) or (k, f, m)

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If the shapes do not fit.

    Notes
    -----
    The mean of the rows is the posterior predictive prior; it is not the row at the mean coefficients. Cost of a call:
    O(k n f m).

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import History, Numeric, Schema, View
    >>> frame = pd.DataFrame({"id": [1, 2], "age": [20, 40], "result": ["a", "b"]})
    >>> history = History([View(frame, Schema({"age": Numeric()}, "result", ("a", "b")), 1)])
    >>> prior = RegressionPrior(RegressionDesign.fit(history), np.zeros(2), np.log([[1.0, 3.0]]))
    >>> prior(history[0].people)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    design: RegressionDesign
    intercept: FloatArray = field(repr=False)
    coefficients: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        check_kind("RegressionPrior", "design", self.design, RegressionDesign)
        f, m = len(self.design.features), len(self.design.schema.values)
        intercept = as_floats("RegressionPrior", "intercept", self.intercept, "is a float array, shape (m,) or (k, m)")
        takes = "is a float array, shape (f, m) or (k, f, m)"
        coefficients = as_floats("RegressionPrior", "coefficients", self.coefficients, takes)
        draws = intercept.shape[:-1]
        if len(draws) > 1 or intercept.shape != (*draws, m) or coefficients.shape != (*draws, f, m) or 0 in draws:
            raise ValueError(
                f"RegressionPrior: intercept has shape {intercept.shape} and coefficients {coefficients.shape}; for {f} features "
                f"and {m} values they are ({m},) and ({f}, {m}), or have the draws before."
            )
        set_fields(self, intercept=intercept.reshape(-1, m), coefficients=coefficients.reshape(-1, f, m))

    @classmethod
    def from_posterior(
        cls, tree: Any, design: RegressionDesign, draws: int = 200, values: Sequence[Hashable] | None = None
    ) -> "RegressionPrior":
        """Prior of a sampled `prior_model`, from its variables ``intercept`` and ``coefficients``.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`.
        design : RegressionDesign
            That of the model: ``RegressionDesign.fit(history, attributes)`` of the same arguments.
        draws : int
            Largest number of draws kept, equidistant over the draws of all chains. Rows are means over them.
        values : sequence, optional
            Sensitive domain; that of the design's schema by default. Coordinates are compared with it.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if the features are not those of the design.
        """
        owner = "RegressionPrior.from_posterior"
        check_kind(owner, "design", design, RegressionDesign)
        check_whole(owner, "draws", draws, "draws")
        domain = design.schema.values if values is None else values
        coefficients = posterior_variable(tree, "coefficients", [("feature", VALUE)], domain)
        intercept = posterior_variable(posterior_dataset(tree), "intercept", [(VALUE,)], domain)
        if coefficients.labels[0] not in (list(design.features), list(range(len(design.features)))):
            raise ValueError(
                f"the features of the posterior are {', '.join(map(str, coefficients.labels[0]))}, and those of the "
                f"design {', '.join(design.features)}; give the design of the model."
            )
        total = len(intercept.draws)
        kept = equidistant_draws(min(int(draws), total), total)
        return cls(design, intercept.draws[kept], coefficients.draws[kept])

    def __call__(self, people: People) -> FloatArray:
        """One distribution per respondent: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If the people have other quasi-identifiers or sensitive values than the design.
        """
        rows = self.design(people)
        if people.schema.values != self.design.schema.values:
            raise ValueError("RegressionPrior: the people have other sensitive values than the history of the design.")
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        m = self.intercept.shape[1]
        found = np.zeros((len(distinct), m))
        step = max(PROBABILITIES_PER_CHUNK // (len(self.intercept) * m), 1)
        for start in range(0, len(distinct), step):
            part = distinct[start : start + step]
            logits = self.intercept[:, None] + part @ self.coefficients
            weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
            found[start : start + step] = (weights / weights.sum(axis=-1, keepdims=True)).mean(axis=0)
        return np.asarray(found[place.reshape(-1)])


def _values(schema: Schema, attribute: str) -> Any:
    """Values of a categorical attribute; None of a numeric one."""
    kind = schema.quasi_identifiers[attribute]
    return kind.values if isinstance(kind, Categorical) else None
