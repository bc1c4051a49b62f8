"""Posterior beliefs beside the true values of the original records, and beliefs as forecasts of events."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_beliefs, check_history
from foreknow.models import Beliefs, CompromisedRecords, History, Observation, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values

type LeftOut = CompromisedRecords | Collection[Hashable] | None
"""Compromised records, whose respondents are left out of the releases they are about; or respondents left out of all."""


@dataclass(frozen=True, eq=False)
class BeliefsAndTruth:
    """Posteriors of one release beside the true values, for the n' respondents that are published and not left out."""

    time: Any  # time of the release
    belief: FloatArray  # (n', m): posterior probabilities
    true: IntArray  # (n',): codes of the true values
    group_shares: FloatArray | None  # (n', m): each value's share of the published group; None where counts are noisy
    group: IntArray  # (n',): published group
    rows: IntArray  # (n',): row of each respondent in the view
    suppressed: int  # number of suppressed records
    # number of published records that were left out; None where leaving out was not asked for
    compromised: int | None = None

    @property
    def confidence(self) -> FloatArray:
        """Belief in each true value: shape ``(n',)``."""
        return np.asarray(self.belief[np.arange(len(self.true)), self.true])

    @property
    def shares(self) -> FloatArray:
        """Each value's share of the published group: shape ``(n', m)``; ValueError where counts are noisy."""
        if self.group_shares is None:
            raise ValueError(
                f"the counts of the release at {self.time!r} are noisy, and show no share of a value in a group; give "
                'adversary_gain, total_risk or risk_table baseline="law", or use a measure without shares, as adversary_confidence.'
            )
        return self.group_shares

    @property
    def share(self) -> FloatArray:
        """Share of the true value in the published group: shape ``(n',)``."""
        return np.asarray(self.shares[np.arange(len(self.true)), self.true])

    @property
    def excluded(self) -> dict[str, object]:
        """Numbers of records not measured, as columns: ``suppressed``, and ``compromised`` where leaving out was asked for."""
        columns: dict[str, object] = {"suppressed": self.suppressed}
        return columns if self.compromised is None else columns | {"compromised": self.compromised}


@dataclass(frozen=True, eq=False)
class SetBeliefsAndTruth:
    """Beliefs of one release in a sensitive set beside the truth, for the n' respondents that are published and not left out."""

    belief: FloatArray  # (n',): posterior probability of the set
    codes: IntArray  # values of the set
    holds: BoolArray  # (n',): True where the true value is in the set
    by_value: BeliefsAndTruth  # the same release, value by value

    @property
    def share(self) -> FloatArray:
        """Share of the set in the published group, the belief of an adversary without background knowledge: shape ``(n',)``."""
        return np.asarray(self.by_value.shares[:, self.codes].sum(axis=1))


def beliefs_and_truth(
    owner: str, beliefs: Beliefs, history: History, leaving_out: LeftOut = None
) -> Iterator[BeliefsAndTruth]:
    """Posteriors of each release beside the true values; ``owner`` is the measure, for error messages.

    Compromised records leave their respondents out of the releases they are about; a collection of respondents leaves these out
    of all.
    """
    check_beliefs(owner, beliefs)
    check_history(owner, history)
    respondents = _respondents(owner, leaving_out)
    for release in beliefs:
        seen = release.observation
        view = original_view(history, seen)
        kept = seen.group >= 0
        suppressed, compromised = int((~kept).sum()), None
        if respondents is not None:
            gone = _left_out(respondents, seen)
            compromised = int((kept & gone).sum())
            kept = kept & ~gone
        true, group = view.sensitive[kept], seen.group[kept]
        shares = None if seen.noise else (seen.counts / seen.counts.sum(axis=1, keepdims=True))[group]
        belief = release.posterior.probabilities[kept]
        yield BeliefsAndTruth(seen.time, belief, true, shares, group, np.flatnonzero(kept), suppressed, compromised)


def set_beliefs_and_truth(
    owner: str, beliefs: Beliefs, history: History, sensitive_set: Collection[Hashable], leaving_out: LeftOut = None
) -> Iterator[SetBeliefsAndTruth]:
    """Beliefs of each release in a sensitive set beside the truth: posteriors of the set's values, summed."""
    check_beliefs(owner, beliefs)
    checked = as_sensitive_values(owner, sensitive_set)
    for by_value, release in zip(beliefs_and_truth(owner, beliefs, history, leaving_out), beliefs, strict=True):
        codes = SensitiveSet.within(release.observation.people.schema.values, checked, owner).codes
        belief = by_value.belief[:, codes].sum(axis=1)
        yield SetBeliefsAndTruth(belief, codes, np.isin(by_value.true, codes), by_value)


def original_view(history: History, seen: Observation) -> View:
    """Return the view that an observation is of."""
    check_history("a measure", history)
    view = next((view for view in history if view.time == seen.time), None)
    if view is None or not np.array_equal(view.people.respondents, seen.people.respondents):
        raise ValueError(
            f"the history holds no view at {seen.time!r} of the respondents these beliefs are about; give the history that "
            "was published."
        )
    if view.schema.values != seen.people.schema.values:
        raise ValueError(
            f"at {seen.time!r} the history and the beliefs have other sensitive values, or another order of them; give the "
            "history a schema with the values the beliefs are about, in their order."
        )
    return view


def mean(each: FloatArray | BoolArray) -> float:
    """Mean of one number per respondent; NaN where there is no respondent."""
    return float(each.mean()) if len(each) else float("nan")


def _respondents(owner: str, leaving_out: object) -> "CompromisedRecords | frozenset[Hashable] | None":
    """Check the records or respondents to leave out."""
    if leaving_out is None or isinstance(leaving_out, CompromisedRecords):
        return leaving_out
    # A DataFrame iterates over its column names, a text over its letters: both would leave out other respondents than meant.
    if np.iterable(leaving_out) and not isinstance(leaving_out, str | bytes | pd.DataFrame | Beliefs | History):
        return frozenset(leaving_out)
    raise TypeError(
        f"{owner}: leaving_out is a {type(leaving_out).__name__}; it takes CompromisedRecords or a collection of respondents, as "
        '{"Ann"} or set(records.frame["respondent"]).'
    )


def _left_out(leaving_out: "CompromisedRecords | frozenset[Hashable]", seen: Observation) -> BoolArray:
    """Mask of the respondents left out of a release."""
    if isinstance(leaving_out, CompromisedRecords):
        gone = np.zeros(len(seen.people), dtype=np.bool_)
        gone[leaving_out.at(seen.time, seen.people).rows] = True
        return gone
    return np.array([respondent in leaving_out for respondent in seen.people.respondents], dtype=np.bool_)


class Forecasts(NamedTuple):
    """Beliefs beside their outcomes, pooled over releases.

    A forecast is the belief that a published respondent has a value, or a value of a sensitive set. Of n records in all there
    are ``c = n m`` forecasts, or n of a set.
    """

    belief: FloatArray  # (c,)
    outcome: BoolArray  # (c,): True where the respondent has the value
    respondent: IntArray  # (c,): number of the respondent, from 0 on, the same in all releases
    respondents: int  # number of respondents with a forecast
    per_record: int  # number of forecasts of one record: m, or 1 of a set


def forecasts(
    owner: str, beliefs: Beliefs, history: History, sensitive_set: Collection[Hashable] | None, leaving_out: LeftOut
) -> Forecasts:
    """Forecasts of an attack over all releases: of each value, or of a sensitive set.

    Cost: O(n m) for n records in all.
    """
    measured: list[tuple[BeliefsAndTruth, FloatArray, BoolArray]]
    if sensitive_set is None:
        by_value = beliefs_and_truth(owner, beliefs, history, leaving_out)
        measured = [(one, one.belief, true_values(one)) for one in by_value]
    else:
        of_set = set_beliefs_and_truth(owner, beliefs, history, sensitive_set, leaving_out)
        measured = [(one.by_value, one.belief[:, None], one.holds[:, None]) for one in of_set]
    numbers: dict[Hashable, int] = {}
    respondent = [
        numbered(numbers, release.observation.people.respondents[one.rows])
        for release, (one, _, _) in zip(beliefs, measured, strict=True)
    ]
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


def numbered(numbers: dict[Hashable, int], names: Iterable[Hashable]) -> IntArray:
    """Number of each respondent: int array; respondents that are not yet in ``numbers`` are added with the next numbers."""
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
