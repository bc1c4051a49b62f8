"""How values follow each other, as a PyMC model: unknown transitions, and visits of which nothing is known."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.dirichlet_knowledge import check_concentration, positive_concentrations
from foreknow.models.knowledge.sequences import MAX_TRANSITIONS, MISSING, check_chain_order, check_longest, end_to_end
from foreknow.models.tables.lookalikes import lookalike
from foreknow.models.tables.view import History

if TYPE_CHECKING:
    import pymc as pm


class Gaps(NamedTuple):
    """Stretches of visits with missing ones among them.

    Attributes
    ----------
    visits : int array, shape (k, l)
        The distinct stretches, filled up with `MISSING` behind their last known value.
    people : int array, shape (k,)
        How often each occurs.
    """

    visits: IntArray
    people: IntArray


def markov_model(
    sequences: "History | Iterable[Sequence[int]]",
    order: int = 1,
    concentration: "float | FloatArray" = 1.0,
    values: int | None = None,
    never_missed: Iterable[Hashable] = (),
) -> "pm.Model":
    """Return the law of the transitions of a Markov chain, given people's values with some visits missing.

    The row after every sequence of ``order`` values is an unknown ``Dirichlet(concentration)``; people are independent
    given the rows, and each value is drawn from the row of the last ``order`` ones. Missing visits are summed over.

    Parameters
    ----------
    sequences : History, or iterable of sequences of int
        Each person's values, one per visit, as positions in the sensitive domain; -1 for a visit of which no value is
        known. Of a history, every view from a person's first record to the last is a visit, missing where the person has
        no record: views are taken to be equally far apart.
    order : int
        How many past values matter.
    concentration : float, or float array of shape (m,) * (order + 1)
        Of every row, or of each, as ``DirichletChain.concentrations[-1]`` counted in another corpus.
    values : int, optional
        The size m of the sensitive domain; a history knows it, otherwise it is the largest value plus one.
    never_missed : iterable of values
        Values of the domain that no missing visit can have had, as a death, which would have been recorded.

    Returns
    -------
    pymc.Model
        With the variables

        - ``transitions``, shape ``(m,) * (order + 1)``, dims ``value_1, ..., value_d, value``: the last values, oldest
          first, and the next one. The coordinates are the sensitive domain's values.
        - ``followed``, observed, of the same shape: how often each sequence of ``order`` known visits was followed by
          each value at a known next visit. Multinomial, given how often each was followed at all.
        - ``gaps``, a potential: the log-probability of all that is known around missing visits. It is there only if a
          visit is missing.

    Raises
    ------
    ValueError
        If the order or a concentration is not positive, a value lies outside the domain, nobody has two values, the
        concentrations have another shape, a value that is never missed is not in the domain, or the table would be too
        large.

    Notes
    -----
    Exact: a transition whose ``order + 1`` visits are all known is a factor that no missing visit enters, so counts are
    all that matters of it. The rest falls into stretches between ``order`` known visits in a row. Along each, the forward
    algorithm carries the distribution of the last ``order`` values, scaled to 1 at every step. Equal stretches are
    computed once. Cost of a density: O(k l m^(order + 1)) for k distinct stretches of at most l visits; the graph has
    one step per visit of the longest, and compiling it takes seconds for some tens of them.

    Not modelled: visits before a person's first known value and after the last, which say nothing of the rows; and a
    person's first ``order`` values, which are conditioned on where they are known, and uniform where they are missing.
    That a visit is missing is taken to say nothing of its value. If people stay away because they are dead or well, the
    rows are those of who comes. In particular, a value that ends the records, as a death, may for the model also have
    stood, unknown, at the missing visits just before, which distorts the probabilities of coming to it, unless it is named
    in ``never_missed``.

    Predictive draws are of ``followed``: tables of transitions between known visits that the rows could have brought
    about, with as many from each sequence as were seen. PyMC warns, before and after the data, that the potential is
    left out. It has no part in a prior, and the posterior draws of the rows have it in them; but nothing is predicted of
    stretches with missing visits.

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

    check_chain_order(order)
    known, domain = _known(sequences, values)
    m, open_values = len(domain), _open(domain, never_missed)
    shape, dims = (m,) * (order + 1), (*(f"value_{place}" for place in range(1, order + 1)), "value")
    if m ** (order + 1) > MAX_TRANSITIONS:
        raise ValueError(
            f"a chain of order {order} over {m} values has {m}^{order + 1} probabilities, more than {MAX_TRANSITIONS}; "
            "choose a smaller order."
        )
    check_longest(order, max(map(len, known)))
    followed, gaps = _followed(known, order, m), _gaps(known, order)
    with pm.Model(coords=dict.fromkeys(dims, domain)) as model:
        transitions = pm.Dirichlet("transitions", _concentrations(concentration, shape), dims=dims)
        pm.Multinomial("followed", n=followed.sum(axis=-1), p=transitions, observed=followed, dims=dims)
        if len(gaps.visits):
            pm.Potential("gaps", _log_probability(transitions, gaps, order, open_values))
    return model


def _log_probability(transitions: Any, gaps: Gaps, order: int, open_values: FloatArray) -> Any:
    """The log-probability of the known values of all stretches after the first ``order`` visits, as a tensor.

    The belief has shape (k, m, m^(order - 1)): the oldest of the last values, and the others.
    """
    import pytensor.tensor as pt

    m = len(open_values)
    allowed = np.where(gaps.visits[..., None] == MISSING, open_values, gaps.visits[..., None] == np.arange(m))
    filled_up = np.logical_and.accumulate(gaps.visits[:, ::-1] == MISSING, axis=1)[:, ::-1]
    allowed[filled_up] = 1.0
    rest = m ** (order - 1)
    rows = transitions.reshape((m, rest, m))
    belief = pt.as_tensor(_start(allowed[:, :order]).reshape(-1, m, rest))
    total = pt.zeros(())
    for visit in range(order, allowed.shape[1]):
        ahead = (belief[..., None] * rows).sum(axis=1) * allowed[:, visit, None, :]
        scale = ahead.sum(axis=(1, 2))
        total += (gaps.people * pt.log(scale)).sum()
        belief = (ahead / scale[:, None, None]).reshape((-1, m, rest))
    return total


def _open(domain: Sequence[Hashable], never_missed: Iterable[Hashable]) -> FloatArray:
    """1 for each value that a missing visit may have had, 0 for the others: float array, shape ``(m,)``."""
    closed = list(never_missed)
    for value in closed:
        if value not in domain:
            raise ValueError(
                f"{value!r} is said to be never missed and is not in the domain, {', '.join(map(repr, domain))}."
                f"{lookalike(value, domain)}"
            )
    return np.array([float(value not in closed) for value in domain])


def _start(allowed: FloatArray) -> FloatArray:
    """The distribution of the first values of every stretch, from what is allowed at each visit: shape ``(k, m^order)``."""
    start = np.ones((len(allowed), 1))
    for visit in range(allowed.shape[1]):
        start = (start[:, :, None] * allowed[:, visit, None, :]).reshape(len(allowed), -1)
    return np.asarray(start / start.sum(axis=1, keepdims=True))


def _known(
    sequences: "History | Iterable[Sequence[int]]", values: int | None
) -> tuple[list[IntArray], Sequence[Hashable]]:
    """Each person's visits from the first known value to the last, and the domain."""
    domain: Sequence[Hashable]
    if isinstance(sequences, History):
        domain, (person, visits) = sequences.schema.values, end_to_end(_by_view(sequences))
    else:
        person, visits = end_to_end(sequences)
        domain = range(values or int(visits.max(initial=0)) + 1)
    wrong = visits[(visits < MISSING) | (visits >= len(domain))]
    if len(wrong):
        raise ValueError(
            f"the sequences hold {wrong[0]}; values are positions 0 to {len(domain) - 1} in the sensitive domain, or "
            f"{MISSING} for a missing visit."
        )
    known = [_trimmed(part) for part in np.split(visits, np.flatnonzero(np.diff(person)) + 1)]
    return known, domain


def _by_view(history: History) -> IntArray:
    """Everybody's value in every view, `MISSING` without a record: int array, shape ``(people, t)``."""
    rows = {respondent: row for row, respondent in enumerate(history.respondents)}
    table = np.full((len(rows), len(history)), MISSING, dtype=np.int64)
    for column, view in enumerate(history):
        table[[rows[respondent] for respondent in view.people.respondents], column] = view.sensitive
    return table


def _trimmed(visits: IntArray) -> IntArray:
    known = np.flatnonzero(visits != MISSING)
    return visits[known[0] : known[-1] + 1] if len(known) else visits[:0]


def _followed(known: list[IntArray], order: int, m: int) -> IntArray:
    """How often each value followed each sequence, all visits known: int array, shape ``(m,) * (order + 1)``."""
    end = np.full(order + 1, MISSING)
    runs = np.lib.stride_tricks.sliding_window_view(
        np.concatenate([np.append(visits, end) for visits in known]), order + 1
    )
    cells = np.ravel_multi_index(tuple(runs[(runs != MISSING).all(axis=1)].T), (m,) * (order + 1))
    return np.bincount(cells, minlength=m ** (order + 1)).reshape((m,) * (order + 1))


def _gaps(known: list[IntArray], order: int) -> Gaps:
    counted = Counter(stretch for visits in known for stretch in _stretches(visits.tolist(), order))
    longest = max(map(len, counted), default=0)
    visits = [stretch + (MISSING,) * (longest - len(stretch)) for stretch in counted]
    return Gaps(np.array(visits, dtype=np.int64).reshape(len(counted), longest), np.array([*counted.values()]))


def _stretches(visits: list[int], order: int) -> Iterator[tuple[int, ...]]:
    """The parts of one person's visits with missing ones, cut wherever ``order`` known ones stand in a row."""
    start = 0
    for end in range(order + 1, len(visits) + 1):
        known = MISSING not in visits[end - order : end]
        if (known or end == len(visits)) and MISSING in visits[start:end]:
            yield tuple(visits[start:end])
        if known:
            start = end - order


def _concentrations(concentration: "float | FloatArray", shape: tuple[int, ...]) -> FloatArray:
    """The concentration of every transition."""
    if np.ndim(concentration) == 0:
        check_concentration(float(concentration))
        return np.full(shape, float(concentration))
    concentrations = positive_concentrations(np.asarray(concentration), "the sequence")
    if concentrations.shape != shape:
        raise ValueError(
            f"the concentrations have shape {concentrations.shape}; they are one number, or one per transition: {shape}."
        )
    return concentrations
