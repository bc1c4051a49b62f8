"""PyMC model of a Markov chain with unknown transitions, learned from sequences with missing visits."""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.arguments import check_positive
from foreknow.models.knowledge.dirichlet_rows import positive_concentrations
from foreknow.models.knowledge.sequences import MAX_TRANSITIONS, MISSING, check_longest
from foreknow.models.programs.arguments import as_floats
from foreknow.models.programs.missing_visits import (
    Stretches,
    known_transitions,
    known_visits,
    stretches_with_missing,
)
from foreknow.models.settings import check_whole
from foreknow.models.tables.columns.lookalikes import lookalike
from foreknow.models.tables.history import History

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

    Raises
    ------
    TypeError
        If ``sequences`` is neither a history nor an iterable of sequences, or a concentration is no number.
    ValueError
        If the order or a concentration is not positive, a value lies outside the domain, no respondent has two values, the
        concentrations have another shape, a value that is never missed is not in the domain, or the table would be too
        large.

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
        _check_size(int(order), int(values))
    order, values = int(order), None if values is None else int(values)
    known, domain = known_visits(sequences, values)
    m, can_be_missed = len(domain), _can_be_missed(domain, never_missed)
    _check_size(order, m)
    check_longest(order, max(map(len, known)))
    shape, dims = (m,) * (order + 1), (*(f"value_{place}" for place in range(1, order + 1)), "value")
    followed, stretches = known_transitions(known, order, m), stretches_with_missing(known, order)
    with pm.Model(coords=dict.fromkeys(dims, domain)) as model:
        transitions = pm.Dirichlet("transitions", _concentrations(concentration, shape), dims=dims)
        counts = pm.Data("counts", followed)
        pm.Multinomial("followed", n=counts.sum(axis=-1), p=transitions, observed=counts, dims=dims)
        if len(stretches.visits):
            pm.Potential("gaps", _log_probability(transitions, stretches, order, can_be_missed))
    return model


def _log_probability(transitions: Any, stretches: Stretches, order: int, can_be_missed: FloatArray) -> Any:
    """Log-probability of the known values of all stretches after the first ``order`` visits, as a tensor.

    ``belief`` is the distribution of the last ``order`` values, of shape (k, m, m^(order - 1)): the oldest of them, and the
    others. Each step sums over the oldest value and appends the next one.
    """
    import pymc as pm
    import pytensor.tensor as pt

    m, visits = len(can_be_missed), stretches.visits.shape[1]
    known = _allowed(stretches, can_be_missed)
    others = m ** (order - 1)
    rows = transitions.reshape((m, others, m))
    belief = pm.Data("first_visits", _start(known[:, :order]).reshape(-1, m, others))
    allowed, occurrences = pm.Data("allowed", known), pm.Data("occurrences", stretches.occurrences)
    total = pt.zeros(())
    for visit in range(order, visits):
        ahead = (belief[..., None] * rows).sum(axis=1) * allowed[:, visit, None, :]
        scale = ahead.sum(axis=(1, 2))
        total += (occurrences * pt.log(scale)).sum()
        belief = (ahead / scale[:, None, None]).reshape((-1, m, others))
    return total


def _allowed(stretches: Stretches, can_be_missed: FloatArray) -> FloatArray:
    """1 for each value that a visit can have, 0 for the others: shape ``(k, l, m)``. After a stretch all values are allowed."""
    visits = stretches.visits
    allowed = np.where(visits[..., None] == MISSING, can_be_missed, visits[..., None] == np.arange(len(can_be_missed)))
    after = np.logical_and.accumulate(visits[:, ::-1] == MISSING, axis=1)[:, ::-1]
    allowed[after] = 1.0
    return allowed


def _can_be_missed(domain: Sequence[Hashable], never_missed: Any) -> FloatArray:
    """1 for each value that a missing visit can have, 0 for the others: float array, shape ``(m,)``."""
    if not np.iterable(never_missed):
        raise TypeError(f"markov_model: never_missed is {never_missed!r}; it is an iterable of values of the domain.")
    closed = list(never_missed)
    for value in closed:
        if value not in domain:
            raise ValueError(
                f"{value!r} is said to be never missed and is not in the domain, {', '.join(map(repr, domain))}."
                f"{lookalike(value, domain)}"
            )
    return np.array([float(value not in closed) for value in domain])


def _start(allowed: FloatArray) -> FloatArray:
    """Uniform distribution over the allowed first values of every stretch: float array, shape ``(k, m^order)``."""
    start = np.ones((len(allowed), 1))
    for visit in range(allowed.shape[1]):
        start = (start[:, :, None] * allowed[:, visit, None, :]).reshape(len(allowed), -1)
    return np.asarray(start / start.sum(axis=1, keepdims=True))


def _check_size(order: int, m: int) -> None:
    if m > MAX_TRANSITIONS or (order + 1) * math.log(m) > math.log(MAX_TRANSITIONS):
        raise ValueError(
            f"a chain of order {order} over {m} values has {m}^{order + 1} probabilities, more than {MAX_TRANSITIONS}; "
            "choose a smaller order."
        )


def _concentrations(concentration: "float | FloatArray", shape: tuple[int, ...]) -> FloatArray:
    """Concentration of each transition, of the given shape."""
    takes = f"it is one positive number, or one per transition, as an array of shape {shape}"
    concentrations = as_floats("markov_model", "concentration", concentration, takes)
    if concentrations.ndim == 0:
        check_positive("markov_model", "concentration", float(concentrations), "1 for uniform rows")
        return np.full(shape, float(concentrations))
    concentrations = positive_concentrations(concentrations, "the sequence")
    if concentrations.shape != shape:
        raise ValueError(
            f"the concentrations have shape {concentrations.shape}; they are one number, or one per transition: {shape}."
        )
    return concentrations
