"""PyMC programs with unknown transitions: one table, tables by class of respondent, and missing visits."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.class_frequencies import class_codes, class_cuts
from foreknow.models.knowledge.dirichlet import row_concentrations
from foreknow.models.knowledge.personal_transitions import as_classes
from foreknow.models.knowledge.sequences import MAX_TRANSITIONS, MISSING, check_chain_size, check_longest, end_to_end
from foreknow.models.settings import check_positive, check_whole
from foreknow.models.tables.columns import check_value, coordinate
from foreknow.models.tables.history import History
from foreknow.models.tables.schema import Categorical, Schema
from foreknow.models.tables.view import View

if TYPE_CHECKING:
    import pymc as pm


def markov_model(
    sequences: "History | Iterable[Sequence[int]]",
    order: int = 1,
    concentration: "float | FloatArray" = 1.0,
    values: int | None = None,
    never_missed: Iterable[Hashable] = (),
) -> "pm.Model":
    """Return the joint law of a Markov chain's transitions and of respondents' values with some visits missing.

    The row after each sequence of ``order`` values is an unknown ``Dirichlet(concentration)``. Respondents are independent
    given the rows, and each value is drawn from the row of the last ``order`` values. Missing visits are summed over.

    Parameters
    ----------
    sequences : History, or iterable of sequences of int
        Values of each respondent, one per visit, as positions in the sensitive domain; -1 for a visit with an unknown value.
        In a history, every view from a respondent's first record to the last is a visit, missing where the respondent has
        no record; views are taken to be equally far apart.
    order : int
        Number of past values that the next value depends on.
    concentration : float, or float array of shape (m,) * (order + 1)
        Of all rows, or of each, as ``DirichletChain.concentrations[-1]`` counted in another corpus.
    values : int, optional
        Size m of the sensitive domain; a history has its own. The default is the largest value plus one.
    never_missed : iterable of values
        Values of the domain that a missing visit cannot have, as a death, which would have been recorded.

    Returns
    -------
    pymc.Model
        With the variables

        - ``transitions``, shape ``(m,) * (order + 1)``, dims ``value_1, ..., value_d, value``: the last values, oldest
          first, and the next one. The coordinates are the sensitive domain's values.
        - ``followed``, observed, of the same shape: the number of times that each sequence of ``order`` known visits was
          followed by each value at a known next visit. Multinomial, given the number of times for each sequence.
        - ``gaps``, a potential: the log-probability of the known values around missing visits. It exists only if a visit is
          missing.

        The arrays that depend on the sequences are `pymc.Data`: ``counts``, and with missing visits ``first_visits``, ``allowed``
        and ``occurrences``.

    Notes
    -----
    Exact. A transition between known visits is a factor without missing visits, so only its count matters. The remaining
    visits fall into stretches between runs of ``order`` known visits. Along each, the forward algorithm carries the
    distribution of the last ``order`` values, scaled to 1 at every step. Equal stretches are computed once. Cost of a density:
    O(k l m^(order + 1)) for k distinct stretches of at most l visits. The graph has one step per visit of the longest stretch;
    compiling it takes seconds for some tens of steps.

    Not modelled: visits before a respondent's first known value and after the last, which carry no information on the rows.
    The first ``order`` values of a respondent are conditioned on where they are known, and uniform where they are missing.
    Missing visits are taken to be missing at random. If respondents stay away because they are dead or well, the rows are
    those of respondents who come. In particular, a value that ends the records, as a death, can in the model also have occurred
    at the missing visits just before. This biases the probabilities of reaching it, unless it is named in ``never_missed``.

    Predictive draws are of ``followed``: tables of transitions between known visits, with the observed number from each
    sequence. PyMC warns that the potential is left out. The potential has no part in a prior, and the posterior draws of the
    rows include it; stretches with missing visits are not predicted.

    Without missing visits the posterior is known in closed form: it is `DirichletChain`.

    References
    ----------
    L. Rabiner, "A Tutorial on Hidden Markov Models", Proc. IEEE 77 (1989), sections III.A and V.A, with a known value as
    an emission that only this value has.

    Examples
    --------
    >>> model = markov_model([[0, 1, -1, 0], [1, 1, 0]])
    >>> model.free_RVs, model.observed_RVs, model.potentials
    ([transitions], [followed], [gaps])
    """
    import pymc as pm

    check_whole("markov_model", "order", order, "past values")
    if values is not None:
        check_whole("markov_model", "values", values, "values of the sensitive domain")
        check_chain_size(int(order), int(values))
    order, values = int(order), None if values is None else int(values)
    known, domain = known_visits(sequences, values)
    m, can_be_missed = len(domain), _can_be_missed(domain, never_missed)
    check_chain_size(order, m)
    check_longest(order, max(map(len, known)))
    shape, dims = (m,) * (order + 1), (*(f"value_{place}" for place in range(1, order + 1)), "value")
    followed, stretches = known_transitions(known, order, m), stretches_with_missing(known, order)
    with pm.Model(coords=dict.fromkeys(dims, domain)) as model:
        rows = row_concentrations("markov_model", "concentration", concentration, shape)
        transitions = pm.Dirichlet("transitions", rows, dims=dims)
        counts = pm.Data("counts", followed)
        pm.Multinomial("followed", n=counts.sum(axis=-1), p=transitions, observed=counts, dims=dims)
        if len(stretches.visits):
            pm.Potential("gaps", _log_probability(transitions, stretches, order, can_be_missed))
    return model


class Stretches(NamedTuple):
    """Distinct stretches of visits with missing ones among them."""

    visits: IntArray  # (k, l): values of each stretch, filled up with `MISSING` after its last known value
    occurrences: IntArray  # (k,): number of respondents' stretches equal to each


def _log_probability(transitions: Any, stretches: Stretches, order: int, can_be_missed: FloatArray) -> Any:
    """Log-probability of the known values of all stretches after the first ``order`` visits, as a tensor.

    ``belief`` is the distribution of the last ``order`` values, of shape (k, m, m^(order - 1)): the oldest of them, and the
    others. Each step sums over the oldest value and appends the next one.
    """
    import pymc as pm
    import pytensor.tensor as pt

    m, visits = len(can_be_missed), stretches.visits.shape[1]
    # 1 for each value that a visit can have, 0 for the others; after a stretch all values are allowed.
    missing = stretches.visits == MISSING
    known = np.where(missing[..., None], can_be_missed, stretches.visits[..., None] == np.arange(m))
    known[np.logical_and.accumulate(missing[:, ::-1], axis=1)[:, ::-1]] = 1.0
    others = m ** (order - 1)
    rows = transitions.reshape((m, others, m))
    # Uniform over the allowed first values of every stretch.
    start = np.ones((len(known), 1))
    for visit in range(order):
        start = (start[:, :, None] * known[:, visit, None, :]).reshape(len(known), -1)
    belief = pm.Data("first_visits", (start / start.sum(axis=1, keepdims=True)).reshape(-1, m, others))
    allowed, occurrences = pm.Data("allowed", known), pm.Data("occurrences", stretches.occurrences)
    total = pt.zeros(())
    for visit in range(order, visits):
        ahead = (belief[..., None] * rows).sum(axis=1) * allowed[:, visit, None, :]
        scale = ahead.sum(axis=(1, 2))
        total += (occurrences * pt.log(scale)).sum()
        belief = (ahead / scale[:, None, None]).reshape((-1, m, others))
    return total


def _can_be_missed(domain: Sequence[Hashable], never_missed: Any) -> FloatArray:
    """1 for each value that a missing visit can have, 0 for the others: float array, shape ``(m,)``."""
    closed = list(never_missed)
    for value in closed:
        check_value("the value never missed", value, domain)
    return np.array([float(value not in closed) for value in domain])


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
    followed, domain, labels = _counted(owner, sequences, classes, int(order), values)
    dims = (*(f"value_{place}" for place in range(1, int(order) + 1)), "value")
    coords = dict.fromkeys(dims, domain) | {"class": labels}
    with pm.Model(coords=coords) as model:
        uniform = np.full(followed.shape[1:], float(pooled_concentration))
        rows = pm.Dirichlet("pooled", uniform, dims=dims)
        prior = _concentration(owner, concentration) * rows
        counts = pm.Data("counts", followed)
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


def _counted(
    owner: str, sequences: Any, classes: Any, order: int, values: int | None
) -> tuple[IntArray, Sequence[Any], list[Any]]:
    """Number of times that each sequence was followed by each value in each class, shape (c, m, ..., m); values; class names."""
    if values is not None:
        check_whole(owner, "values", values, "values of the sensitive domain")
        check_chain_size(order, int(values))
    if isinstance(sequences, History):
        cuts = class_cuts(owner, sequences.schema, classes)
        labels: list[Any] = class_labels(sequences.schema, cuts)
        visits = list(_by_view(sequences, lambda view: view.sensitive))
        own = list(_by_view(sequences, lambda view: class_codes(cuts, view.people)))
        domain: Sequence[Any] = [coordinate(value) for value in sequences.schema.values]
    else:
        known, domain = known_visits(sequences := list(sequences), None if values is None else int(values))
        own_class = as_classes(f"{owner}: classes", classes, len(sequences), MAX_TRANSITIONS)
        visits = [np.asarray(each, dtype=np.int64) for each in sequences]
        own = [np.full(len(each), number) for each, number in zip(visits, own_class.tolist(), strict=True)]
        labels = list(range(int(own_class.max(initial=0)) + 1))
        check_longest(order, max(map(len, known)))
    m, number = len(domain), len(labels)
    check_chain_size(order, m, number)
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
    return followed, domain, labels


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
    return names


def _concentration(owner: str, concentration: Any) -> "float | pm.Distribution":
    """Random variable of the model on the context stack, or the number given."""
    import pymc as pm

    if isinstance(concentration, tuple | list):
        mean, deviation = concentration
        check_positive(owner, "the standard deviation of the concentration", deviation, "a number such as 1.5")
        return pm.LogNormal("concentration", float(mean), float(deviation))
    check_positive(owner, "concentration", concentration, "or the mean and standard deviation of its logarithm")
    if float(concentration) > LARGEST_CONCENTRATION:
        raise ValueError(
            f"{owner}: concentration is {concentration:g}; over {LARGEST_CONCENTRATION:g} use markov_model."
        )
    return float(concentration)


def known_visits(
    sequences: "History | Iterable[Sequence[int]]", values: int | None
) -> tuple[list[IntArray], Sequence[Hashable]]:
    """Visits of each respondent from the first known value to the last, and the sensitive domain."""
    domain: Sequence[Hashable]
    if isinstance(sequences, History):
        domain = sequences.schema.values
        respondent, visits = end_to_end(_by_view(sequences, lambda view: view.sensitive))
    else:
        respondent, visits = end_to_end(sequences)
        domain = range(values or int(visits.max(initial=0)) + 1)
    wrong = visits[(visits < MISSING) | (visits >= len(domain))]
    if len(wrong):
        raise ValueError(
            f"the sequences hold {wrong[0]}; values are positions 0 to {len(domain) - 1} in the sensitive domain, or "
            f"{MISSING} for a missing visit."
        )
    known = []
    for part in np.split(visits, np.flatnonzero(np.diff(respondent)) + 1):
        seen = np.flatnonzero(part != MISSING)
        known.append(part[seen[0] : seen[-1] + 1] if len(seen) else part[:0])
    return known, domain


def _by_view(history: History, own: Callable[[View], IntArray]) -> IntArray:
    """Numbers of each respondent in each view, `MISSING` without a record: int array, shape ``(respondents, t)``."""
    rows = {respondent: row for row, respondent in enumerate(history.respondents)}
    table = np.full((len(rows), len(history)), MISSING, dtype=np.int64)
    for column, view in enumerate(history):
        table[[rows[respondent] for respondent in view.people.respondents], column] = own(view)
    return table


def known_transitions(known: list[IntArray], order: int, m: int) -> IntArray:
    """Count of each value after each sequence of ``order`` values, all visits known: shape ``(m,) * (order + 1)``."""
    end = np.full(order + 1, MISSING)
    runs = np.lib.stride_tricks.sliding_window_view(
        np.concatenate([np.append(visits, end) for visits in known]), order + 1
    )
    cells = np.ravel_multi_index(tuple(runs[(runs != MISSING).all(axis=1)].T), (m,) * (order + 1))
    return np.bincount(cells, minlength=m ** (order + 1)).reshape((m,) * (order + 1))


def stretches_with_missing(known: list[IntArray], order: int) -> Stretches:
    """Distinct stretches with missing visits, each between runs of ``order`` known visits."""
    counted = Counter(stretch for visits in known for stretch in _stretches(visits.tolist(), order))
    longest = max(map(len, counted), default=0)
    visits = [stretch + (MISSING,) * (longest - len(stretch)) for stretch in counted]
    return Stretches(np.array(visits, dtype=np.int64).reshape(len(counted), longest), np.array([*counted.values()]))


def _stretches(visits: list[int], order: int) -> Iterator[tuple[int, ...]]:
    """Parts of one respondent's visits with missing ones, cut after each run of ``order`` known visits."""
    start = 0
    for end in range(order + 1, len(visits) + 1):
        known = MISSING not in visits[end - order : end]
        if (known or end == len(visits)) and MISSING in visits[start:end]:
            yield tuple(visits[start:end])
        if known:
            start = end - order
