"""Beliefs as probability forecasts of events: all beliefs of an attack beside their outcomes, by respondent."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from foreknow.evaluation.risk.beliefs_and_truth import (
    BeliefsAndTruth,
    LeftOut,
    beliefs_and_truth,
    set_beliefs_and_truth,
)
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray, IntArray


class Forecasts(NamedTuple):
    """Beliefs beside their outcomes, pooled over releases.

    A forecast is the belief that a published respondent has a value, or a value of a sensitive set. Of n records in all there
    are ``c = n m`` forecasts, or n of a set.

    Attributes
    ----------
    belief : float array, shape (c,)
    outcome : bool array, shape (c,)
        True where the respondent has the value.
    respondent : int array, shape (c,)
        Number of the respondent, from 0 on, the same in all releases.
    respondents : int
        Number of respondents with a forecast.
    per_record : int
        Number of forecasts of one record: m, or 1 of a set.
    """

    belief: FloatArray
    outcome: BoolArray
    respondent: IntArray
    respondents: int
    per_record: int


def forecasts(
    owner: str, beliefs: Beliefs, history: History, sensitive_set: Collection[Hashable] | None, leaving_out: LeftOut
) -> Forecasts:
    """Forecasts of an attack over all releases: of each value, or of a sensitive set.

    Cost: O(n m) for n records in all.

    Raises
    ------
    TypeError, ValueError
        As `beliefs_and_truth`; with a set, as `set_beliefs_and_truth`.
    """
    measured: list[tuple[BeliefsAndTruth, FloatArray, BoolArray]]
    if sensitive_set is None:
        by_value = beliefs_and_truth(owner, beliefs, history, leaving_out)
        measured = [(one, one.belief, true_values(one)) for one in by_value]
    else:
        of_set = set_beliefs_and_truth(owner, beliefs, history, sensitive_set, leaving_out)
        measured = [(one.by_value, one.belief[:, None], one.holds[:, None]) for one in of_set]
    numbers: dict[Hashable, int] = {}
    respondent = [numbered(numbers, names) for names in _names(beliefs, (one for one, _, _ in measured))]
    per_record = measured[0][1].shape[1] if measured else 1
    return Forecasts(
        np.concatenate([np.zeros(0), *(belief.ravel() for _, belief, _ in measured)]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *(outcome.ravel() for _, _, outcome in measured)]),
        np.repeat(np.concatenate([np.zeros(0, dtype=np.int64), *respondent]), per_record),
        len(numbers),
        per_record,
    )


def true_values(release: BeliefsAndTruth) -> BoolArray:
    """Mask of each respondent's true value: shape ``(n', m)``."""
    return np.asarray(release.true[:, None] == np.arange(release.belief.shape[1]))


def _names(beliefs: Beliefs, measured: Iterable[BeliefsAndTruth]) -> Iterator[Iterable[Hashable]]:
    """Respondents of the measured records of each release."""
    for release, one in zip(beliefs, measured, strict=True):
        yield release.observation.people.respondents[one.rows]


def numbered(numbers: dict[Hashable, int], names: Iterable[Hashable]) -> IntArray:
    """Number of each respondent: int array; respondents that are not yet in ``numbers`` are added with the next numbers."""
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
