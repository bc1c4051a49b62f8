"""Sequences with missing visits, split into counts of known transitions and stretches around missing visits."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.knowledge.sequences import MISSING, end_to_end
from foreknow.models.programs.arguments import as_arrays
from foreknow.models.tables.history import History


class Stretches(NamedTuple):
    """Distinct stretches of visits with missing ones among them.

    Attributes
    ----------
    visits : int array, shape (k, l)
        Values of each stretch, filled up with `MISSING` after its last known value.
    occurrences : int array, shape (k,)
        Number of respondents' stretches equal to each.
    """

    visits: IntArray
    occurrences: IntArray


def known_visits(
    sequences: "History | Iterable[Sequence[int]]", values: int | None
) -> tuple[list[IntArray], Sequence[Hashable]]:
    """Visits of each respondent from the first known value to the last, and the sensitive domain.

    Raises
    ------
    TypeError
        If ``sequences`` is neither a `History` nor an iterable of sequences.
    ValueError
        If a value is no position in the domain.
    """
    domain: Sequence[Hashable]
    if isinstance(sequences, History):
        domain, (respondent, visits) = sequences.schema.values, end_to_end(_values_by_view(sequences))
    else:
        takes = "it is a History, or an iterable with one sequence of whole numbers per respondent"
        parts = as_arrays("markov_model", "sequences", sequences, takes)
        if any(part.ndim != 1 for part in parts):
            raise TypeError(f"markov_model: sequences holds arrays with {parts[0].ndim} axes; {takes}.")
        respondent, visits = end_to_end(parts)
        domain = range(values or int(visits.max(initial=0)) + 1)
    wrong = visits[(visits < MISSING) | (visits >= len(domain))]
    if len(wrong):
        raise ValueError(
            f"the sequences hold {wrong[0]}; values are positions 0 to {len(domain) - 1} in the sensitive domain, or "
            f"{MISSING} for a missing visit."
        )
    known = [_trimmed(part) for part in np.split(visits, np.flatnonzero(np.diff(respondent)) + 1)]
    return known, domain


def _values_by_view(history: History) -> IntArray:
    """Value of each respondent in each view, `MISSING` without a record: int array, shape ``(respondents, t)``."""
    rows = {respondent: row for row, respondent in enumerate(history.respondents)}
    table = np.full((len(rows), len(history)), MISSING, dtype=np.int64)
    for column, view in enumerate(history):
        table[[rows[respondent] for respondent in view.people.respondents], column] = view.sensitive
    return table


def _trimmed(visits: IntArray) -> IntArray:
    known = np.flatnonzero(visits != MISSING)
    return visits[known[0] : known[-1] + 1] if len(known) else visits[:0]


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
