"""PyMC model of the prior as a multinomial logistic regression on quasi-identifiers."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from foreknow.models.beliefs import coordinate
from foreknow.models.estimators.arguments import check_positive
from foreknow.models.knowledge.regression_design import RegressionDesign
from foreknow.models.settings import check_kind
from foreknow.models.tables.history import History

if TYPE_CHECKING:
    import pymc as pm

INTERCEPT_SCALE = 2.5
"""Prior standard deviation of the intercepts: frequencies from 1 to 99 percent are usual."""


def prior_model(history: History, attributes: Iterable[str] | None = None, scale: float = 1.0) -> "pm.Model":
    """Return the law of the sensitive values of a corpus given quasi-identifiers, as a shrunk logistic regression.

    With the design row x of a record (`RegressionDesign`: standardized numbers, one centered column per
    categorical value)::

        value ~ Categorical(softmax(intercept + x @ coefficients))
        coefficients[column] = scale[attribute of column] * normal, summing to 0 over the values

    The scale of each attribute is learned: attributes that tell nothing of the value are shrunk to coefficients of 0.

    Parameters
    ----------
    history : History
        Corpus with true values; every record of every view counts.
    attributes : iterable of str, optional
        Quasi-identifiers; all by default.
    scale : float
        Standard deviation of the half-normal prior of each attribute's scale.

    Returns
    -------
    pymc.Model
        With the variables

        - ``intercept``, dims ``value``;
        - ``scale``, dims ``attribute``;
        - ``standardized``, dims ``feature, value``: the coefficients without their scale;
        - ``coefficients``, dims ``feature, value``;
        - ``recorded``, observed, dims ``record``: the value of each record as a position in the domain, one log-likelihood each,
          so that `pymc.compute_log_likelihood` and ArviZ's ``loo`` and ``compare`` work.

        The recorded values are `pymc.Data`, ``values``.

    Raises
    ------
    TypeError
        If ``history`` is no `History`, or ``attributes`` no iterable of names.
    ValueError
        If an attribute is no quasi-identifier, there is none, the domain has one value, or the scale is not positive and finite.

    Notes
    -----
    Records are taken as independent. Several of one respondent are not: the posterior is then too narrow, and LOO leaves out a
    record, not a respondent. Give a history of one view, as ``History([history[0]])``, or judge by held-out respondents.

    For few records and many attributes this prior is sharper than `ClassFrequencies`, which has a row for each cell. It is linear
    in the logarithms: it has no interactions, and a number has a monotone effect on the ratio of two values.

    Cost of a density: O(u f m + r m) for r records of u distinct design rows. The sampler is the caller's choice, as
    ``pymc.sample(nuts_sampler=...)``; ``target_accept=0.95`` avoids divergences where an attribute tells nothing.

    The posterior is knowledge by ``RegressionPrior.from_posterior(trace, RegressionDesign.fit(history, attributes))``.

    References
    ----------
    A. Gelman, A. Jakulin, M. Pittau, Y. Su, "A weakly informative default prior distribution for logistic and other regression
    models", Annals of Applied Statistics 2 (2008). A learned normal scale replaces their fixed Cauchy one.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Schema, View
    >>> frame = pd.DataFrame({"id": range(3), "age": [20, 40, 50], "result": ["a", "b", "b"]})
    >>> model = prior_model(History([View(frame, Schema({"age": Numeric()}, "result", ("a", "b")), 1)]))
    >>> model.free_RVs, model.observed_RVs, model.deterministics
    ([intercept, scale, standardized], [recorded], [coefficients])
    """
    import pymc as pm

    check_kind(
        "prior_model", "history", history, History, "is a History; make one by History([view, ...]) or History.read"
    )
    check_positive("prior_model", "scale", scale, "1 for coefficients of some units")
    design = RegressionDesign.fit(history, attributes)
    values = history.schema.values
    if not design.attributes or len(values) < 2:
        raise ValueError(
            f"prior_model: there are {len(design.attributes)} attributes and {len(values)} values; it needs one attribute and two "
            "values. Use ClassFrequencies.fit(history, {}) for frequencies alone."
        )
    rows = np.concatenate([design(view.people) for view in history])
    distinct, row_of = np.unique(rows, axis=0, return_inverse=True)
    recorded = np.concatenate([view.sensitive for view in history])
    coords = {
        "value": [coordinate(value) for value in values],
        "attribute": design.attributes,
        "feature": design.features,
        "record": range(len(recorded)),
    }
    with pm.Model(coords=coords) as model:
        intercept = pm.ZeroSumNormal("intercept", INTERCEPT_SCALE, dims="value")
        scales = pm.HalfNormal("scale", float(scale), dims="attribute")
        standardized = pm.ZeroSumNormal("standardized", 1.0, dims=("feature", "value"))
        by_feature = scales[design.attribute_of][:, None] * standardized
        coefficients = pm.Deterministic("coefficients", by_feature, dims=("feature", "value"))
        logits = intercept + distinct @ coefficients
        codes = pm.Data("values", recorded, dims="record")
        pm.Categorical("recorded", logit_p=logits[row_of.reshape(-1)], observed=codes, dims="record")
    return model
