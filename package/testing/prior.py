"""Checks of a prior."""

from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import People, Prior, View
from foreknow.models.settings import check_kind
from foreknow.testing import examples
from foreknow.testing.estimator import assert_distributions
from foreknow.testing.examples import run


def check_prior(prior: Prior, people: People | None = None) -> None:
    """Check that a prior behaves as those of foreknow do.

    Parameters
    ----------
    prior : Prior
        ``prior(people) -> float array, shape (n, m)``.
    people : People, optional
        Respondents for whom the prior is meant; by default thirty with the quasi-identifiers ``age`` and ``weight``.

    Notes
    -----
    Checked: shape; rows are distributions; two calls agree; the row of a respondent depends neither on the order of the others
    nor on their presence. Cost: four calls.

    Examples
    --------
    >>> from foreknow.models import UniformPrior
    >>> check_prior(UniformPrior())
    """
    if people is not None:
        check_kind("check_prior", "people", people, People, "is People, as view.people")
    checks = (_rows_are_distributions, _is_a_function, _respondents_are_independent)
    run("check_prior", prior, checks, prior, examples.view().people if people is None else people)


def _rows_are_distributions(prior: Prior, people: People) -> None:
    rows = np.asarray(prior(people))
    expected = (len(people), len(people.schema.values))
    assert rows.shape == expected, f"the prior has the shape {rows.shape}; it is {expected}"
    assert_distributions(rows)


def _is_a_function(prior: Prior, people: People) -> None:
    before = people.frame.copy()
    assert np.array_equal(prior(people), prior(people)), "two calls differ"
    pd.testing.assert_frame_equal(people.frame, before)


def _respondents_are_independent(prior: Prior, people: People) -> None:
    some = np.random.default_rng(0).permutation(len(people))[: max(len(people) // 2, 1)]
    rest: dict[str, Any] = {
        people.schema.respondent: np.asarray(people.respondents)[some],
        people.schema.sensitive: people.schema.values[0],
    }
    fewer = View(people.frame.iloc[some].assign(**rest), people.schema, people.time).people
    assert np.allclose(prior(fewer), np.asarray(prior(people))[some]), "a row depends on the other respondents"
