"""Prior by multinomial logistic regression on quasi-identifiers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.posterior_variable import VALUE, posterior_dataset, posterior_variable
from foreknow.models.knowledge.regression_design import RegressionDesign
from foreknow.models.settings import as_floats, check_kind, check_whole
from foreknow.models.tables.people import People

PROBABILITIES_PER_CHUNK = 2**22
"""Number of probabilities, over draws, respondents and values, that one step of a call holds (32 MiB)."""


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
        If the shapes do not fit, or a number is not finite.

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
        takes = "is a RegressionDesign; make one by RegressionDesign.fit(history)"
        check_kind("RegressionPrior", "design", self.design, RegressionDesign, takes)
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
        if not (np.isfinite(intercept).all() and np.isfinite(coefficients).all()):
            raise ValueError("RegressionPrior: a coefficient is not finite; each is a number.")
        object.__setattr__(self, "intercept", intercept.reshape(-1, m))
        object.__setattr__(self, "coefficients", coefficients.reshape(-1, f, m))

    @classmethod
    def from_posterior(
        cls, tree: Any, design: RegressionDesign, draws: int = 200, values: Sequence[Hashable] | None = None
    ) -> "RegressionPrior":
        """Prior of a sampled `prior_model`.

        Parameters
        ----------
        tree : DataTree or Dataset
            With the group ``posterior``, as `pymc.sample` returns it, and its variables ``intercept`` and ``coefficients``.
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

        Warns
        -----
        UserWarning
            If draws diverged.
        """
        owner = "RegressionPrior.from_posterior"
        check_kind(owner, "design", design, RegressionDesign, "is a RegressionDesign, as RegressionDesign.fit(history)")
        check_whole(owner, "draws", draws, "draws")
        domain = design.schema.values if values is None else values
        coefficients = posterior_variable(owner, tree, "coefficients", [("feature", VALUE)], domain)
        intercept = posterior_variable(owner, posterior_dataset(owner, tree), "intercept", [(VALUE,)], domain)
        if coefficients.labels[0] not in (list(design.features), list(range(len(design.features)))):
            raise ValueError(
                f"{owner}: the features of the posterior are {', '.join(map(str, coefficients.labels[0]))}, and those of the "
                f"design {', '.join(design.features)}; give the design of the model."
            )
        total = len(intercept.draws)
        number = min(int(draws), total)
        kept = ((np.arange(number) + 0.5) * total / number).astype(np.int64)
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
