"""PyMC model of a Markov chain for each class of respondents, partially pooled."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.beliefs import coordinate
from foreknow.models.estimators.arguments import check_positive
from foreknow.models.knowledge.class_frequencies import class_codes, class_cuts, class_shape
from foreknow.models.knowledge.sequences import MAX_TRANSITIONS, MISSING, check_chain_size, check_longest
from foreknow.models.programs.arguments import as_arrays
from foreknow.models.programs.missing_visits import known_visits
from foreknow.models.settings import check_kind, check_whole, shown
from foreknow.models.tables.attributes import Categorical
from foreknow.models.tables.history import History
from foreknow.models.tables.schema import Schema

if TYPE_CHECKING:
    import pymc as pm

type Concentration = float | tuple[float, float]

LARGEST_CONCENTRATION = 1e12
"""Largest concentration of which differences of log-gamma functions are computed to some digits."""


def hierarchical_markov_model(
    sequences: "History | Iterable[Sequence[int]]",
    classes: "Mapping[str, int | None] | Sequence[int]",
    order: int = 1,
    concentration: Concentration = (2.3, 1.0),
    pooled_concentration: float = 1.0,
    values: int | None = None,
) -> "pm.Model":
    """Return the joint law of the transitions of each class and of the values that follow each other.

    The row of class c after a sequence q of ``order`` values is ``Dirichlet(concentration * pooled[q])``, where the pooled row of
    all classes is ``Dirichlet(pooled_concentration)``. The concentration is the number of observations that the pooled row counts
    as; it is learned, so that classes that differ are estimated apart and those that do not together.

    Parameters
    ----------
    sequences : History, or iterable of sequences of int
        As for `markov_model`; -1 is a missing visit. A transition counts where it and the ``order`` values before it are of
        consecutive visits with known values.
    classes : mapping of str to int or None, or sequence of int
        For a history, the attributes that define classes, as for `ClassFrequencies.fit`; a transition counts in the class at its
        later record. For sequences, the class of each, 0 to c - 1.
    order : int
        Number of past values that the next value depends on.
    concentration : (float, float) or float
        Mean and standard deviation of the logarithm of the concentration, which is log-normal. Or a number, which fixes it.
    pooled_concentration : float
        Of the pooled rows; 1 is uniform. Under 1 rows lie near the border of the simplex: for few records sample with
        ``target_accept=0.95``.
    values : int, optional
        Size m of the sensitive domain; a history has its own. The default is the largest value plus one.

    Returns
    -------
    pymc.Model
        With the variables

        - ``pooled``, shape ``(m,) * (order + 1)``, dims ``value_1, ..., value_d, value``;
        - ``concentration``, if it is learned;
        - ``followed``, observed, dims ``class, value_1, ..., value``: the number of times that each sequence of each class was
          followed by each value. Dirichlet-multinomial: the rows of the classes are summed over;
        - ``noise``, of the same dims: standard normal, of no effect on the likelihood;
        - ``transitions``, of the same dims: a draw of the rows given all others, ``Dirichlet(concentration * pooled + counts)``, as
          normalized gamma quantiles of the noise.

        The numbers of ``followed`` are `pymc.Data`, ``counts``.

    Raises
    ------
    TypeError
        If ``sequences`` or ``classes`` is of another type.
    ValueError
        As `markov_model` and `ClassFrequencies.fit`; or if there are not as many classes as sequences.

    Notes
    -----
    Exact for the counted transitions. Given concentration and pooled rows, the posterior of the rows is in closed form. So NUTS
    samples these few variables and independent normal ones, and meets no funnel. The draws of ``transitions`` are those
    of the full posterior. One concentration holds for all rows.

    Missing visits are not summed over, as in `markov_model`: that needs the rows in the likelihood. Transitions across them are
    left out, which is no bias if visits are missing at random and the chain is of the order given.

    With a concentration towards 0 the rows are those of separate fits, towards infinity those of one fit. Cost of a density:
    O(c m^(order + 1)). ``pymc.sample(var_names=["pooled", "transitions"])`` leaves the noise out of the draws. The sampler is the
    caller's choice, as ``pymc.sample(nuts_sampler=...)``.

    References
    ----------
    A. Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), chapter 5. D. MacKay, L. Bauman Peto, "A hierarchical Dirichlet
    language model", Natural Language Engineering 1 (1995).

    Examples
    --------
    >>> model = hierarchical_markov_model([[0, 1, 0, 1], [0, 0, 1, 1]], classes=[0, 1])
    >>> model.free_RVs, model.observed_RVs, model.deterministics
    ([pooled, concentration, noise], [followed], [transitions])

    The transitions of a history by sex, as knowledge of an adversary::

        classes = {"sex": None}
        trace = pm.sample(model=hierarchical_markov_model(history, classes), var_names=["pooled", "transitions"])
        cuts = ClassFrequencies.fit(history, classes).cuts
        transitions = TransitionsByClass.from_posterior(trace, cuts, values=history.schema.values)
    """
    import pymc as pm

    owner = "hierarchical_markov_model"
    check_whole(owner, "order", order, "past values")
    check_positive(owner, "pooled_concentration", pooled_concentration, "1 for uniform rows")
    counted = _counted(owner, sequences, classes, int(order), values)
    m = len(counted.domain)
    dims = (*(f"value_{place}" for place in range(1, int(order) + 1)), "value")
    coords = dict.fromkeys(dims, counted.domain) | {"class": counted.labels}
    with pm.Model(coords=coords) as model:
        uniform = np.full((m,) * (int(order) + 1), float(pooled_concentration))
        rows = pm.Dirichlet("pooled", uniform, dims=dims)
        prior = _concentration(owner, concentration) * rows
        counts = pm.Data("counts", counted.followed)
        pm.DirichletMultinomial("followed", counts.sum(axis=-1), prior, observed=counts, dims=("class", *dims))
        noise = pm.Normal("noise", dims=("class", *dims))
        pm.Deterministic("transitions", dirichlet_rows(prior + counts, noise), dims=("class", *dims))
    return model


def dirichlet_rows(concentrations: Any, noise: Any) -> Any:
    """Draw of Dirichlet rows as a function of standard normal noise of the same shape; a tensor.

    The gamma variate of the concentration a is the quantile of ``Gamma(a, 1)`` at the probability of the noise. For a below 1 it is
    ``G U^(1/a)`` with ``G ~ Gamma(a + 1)`` where the quantile underflows.
    """
    import pytensor.tensor

    pt: Any = pytensor.tensor
    probability = pt.clip(0.5 * pt.erfc(-noise / math.sqrt(2.0)), 1e-300, 1 - 1e-16)
    # Near 0 the distribution function is z^a / Gamma(a + 1); its inverse is taken in logarithms, which do not underflow.
    log_small = (pt.log(probability) + pt.gammaln(concentrations + 1)) / concentrations
    quantile = pt.gammaincinv(concentrations, probability)
    logs = pt.switch(log_small < -20.0, log_small, pt.log(pt.maximum(quantile, 1e-300)))
    return pt.special.softmax(logs, axis=-1)


class CountedTransitions(NamedTuple):
    """Transitions of a corpus by class.

    Attributes
    ----------
    followed : int array, shape (c, m, ..., m)
        Number of times that each sequence of values was followed by each value, in each class.
    domain : sequence
        The m sensitive values, or their positions.
    labels : list of str or int
        Name of each class.
    """

    followed: IntArray
    domain: Sequence[Any]
    labels: list[Any]


def _counted(owner: str, sequences: Any, classes: Any, order: int, values: int | None) -> CountedTransitions:
    """Transitions by class; raises TypeError or ValueError if the arguments are none."""
    if values is not None:
        check_whole(owner, "values", values, "values of the sensitive domain")
        check_chain_size(order, int(values))
    if isinstance(sequences, History):
        check_kind(
            owner, "classes", classes, Mapping, "maps attributes to numbers of classes, as {'age': 3}, for a history"
        )
        visits, own, labels = _of_history(owner, sequences, classes)
        domain: Sequence[Any] = [coordinate(value) for value in sequences.schema.values]
    else:
        known, domain = known_visits(sequences := _listed(owner, sequences), None if values is None else int(values))
        own_class = _classes(owner, classes, len(sequences))
        visits = [np.asarray(each, dtype=np.int64) for each in sequences]
        own = [np.full(len(each), number) for each, number in zip(visits, own_class.tolist(), strict=True)]
        labels = list(range(int(own_class.max(initial=0)) + 1))
        check_longest(order, max(map(len, known)))
    m, number = len(domain), len(labels)
    if math.log(number) + (order + 1) * math.log(m) > math.log(MAX_TRANSITIONS):
        raise ValueError(
            f"{owner}: {number} chains of order {order} over {m} values have more than {MAX_TRANSITIONS} probabilities; choose a "
            "smaller order."
        )
    followed = np.zeros((number, *(m,) * (order + 1)), dtype=np.int64)
    for one, of in zip(visits, own, strict=True):
        if len(one) > order:
            runs = np.lib.stride_tricks.sliding_window_view(one, order + 1)
            complete = (runs != MISSING).all(axis=1)
            np.add.at(followed, (of[order:][complete], *runs[complete].T), 1)
    if not followed.any():
        raise ValueError(
            f"{owner}: no respondent has {order + 1} known values of consecutive visits; choose a smaller order."
        )
    return CountedTransitions(followed, domain, labels)


def _of_history(owner: str, history: History, classes: Any) -> tuple[list[IntArray], list[IntArray], list[Any]]:
    """Values and classes of each respondent at each view, -1 where there is no record; names of the classes."""
    cuts = class_cuts(owner, history.schema, classes)
    rows = {respondent: row for row, respondent in enumerate(history.respondents)}
    table = np.full((2, len(rows), len(history)), MISSING, dtype=np.int64)
    for column, view in enumerate(history):
        at = [rows[respondent] for respondent in view.people.respondents]
        table[0, at, column] = view.sensitive
        table[1, at, column] = class_codes(cuts, view.people)
    return list(table[0]), list(table[1]), class_labels(history.schema, cuts)


def class_labels(schema: Schema, cuts: Mapping[str, tuple[float, ...]]) -> list[str]:
    """Name of each class, in the order of `ClassFrequencies.classes`: ``"age < 40, sex f"``."""
    names = [""]
    for name, cut in cuts.items():
        kind = schema.quasi_identifiers[name]
        if isinstance(kind, Categorical):
            parts = [f"{name} {value}" for value in kind.values]
        else:
            ends = [f"{end:g}" for end in cut]
            between = [f"{name} {one} to {two}" for one, two in pairwise(ends)]
            parts = [f"{name} < {ends[0]}", *between, f"{name} >= {ends[-1]}"] if ends else [name]
        names = [f"{before}, {part}" if before else part for before in names for part in parts]
    assert len(names) == math.prod(class_shape(cuts))
    return names


def _listed(owner: str, sequences: Any) -> list[Any]:
    takes = "it is a History, or an iterable with one sequence of whole numbers per respondent"
    parts = as_arrays(owner, "sequences", sequences, takes)
    if not parts or any(part.ndim != 1 for part in parts):
        raise TypeError(f"{owner}: sequences is {shown(sequences)}; {takes}.")
    return parts


def _classes(owner: str, classes: Any, number: int) -> IntArray:
    takes = "it is an int array, a class from 0 on for each sequence"
    if isinstance(classes, Mapping | str | bytes) or not isinstance(classes, Sequence | np.ndarray):
        raise TypeError(f"{owner}: classes is {shown(classes)}; {takes}.")
    array = as_arrays(owner, "classes", [classes], takes)[0]
    if array.dtype.kind not in "iu":
        raise TypeError(f"{owner}: classes is {shown(classes)}; {takes}.")
    if array.shape != (number,) or array.min(initial=0) < 0 or array.max(initial=0) > number:
        raise ValueError(
            f"{owner}: classes has shape {array.shape} and numbers to {array.max(initial=0)} for {number} sequences; {takes}, and "
            "at most as many classes as sequences."
        )
    return np.asarray(array, dtype=np.int64)


def _concentration(owner: str, concentration: Any) -> "float | pm.Distribution":
    """Random variable of the model on the context stack, or the number given."""
    import pymc as pm

    if isinstance(concentration, tuple | list) and len(concentration) == 2:
        mean, deviation = concentration
        if isinstance(mean, int | float) and math.isfinite(mean) and not isinstance(mean, bool):
            check_positive(owner, "the standard deviation of the concentration", deviation, "a number such as 1.5")
            return pm.LogNormal("concentration", float(mean), float(deviation))
    check_positive(owner, "concentration", concentration, "or the mean and standard deviation of its logarithm")
    if float(concentration) > LARGEST_CONCENTRATION:
        raise ValueError(
            f"{owner}: concentration is {concentration:g}; over {LARGEST_CONCENTRATION:g} use markov_model."
        )
    return float(concentration)
