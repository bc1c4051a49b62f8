"""Beliefs held against what was true: where the measures of risk meet the original records."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models import Beliefs, CompromisedRecords, History, Observation, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.foreground.sensitive_set import SensitiveSet, as_sensitive_values

type LeftOut = CompromisedRecords | Collection[Hashable] | None
"""Whose respondents are left out of the releases they are about, or who is left out of all."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """One release's beliefs beside the truth, for the n' respondents that were published.

    Attributes
    ----------
    time
        When it was published.
    belief : float array, shape (n', m)
        The posteriors.
    true : int array, shape (n',)
        The true values' codes.
    shares : float array, shape (n', m)
        Each value's share of the published group.
    group : int array, shape (n',)
        The published group.
    suppressed : int
        How many respondents were not published.
    compromised : int, optional
        How many published respondents were left out because the adversary knew them already.
    """

    time: Any
    belief: FloatArray
    true: IntArray
    shares: FloatArray
    group: IntArray
    suppressed: int
    compromised: int | None = None

    @property
    def confidence(self) -> FloatArray:
        """The belief in each true value: shape ``(n',)``."""
        return np.asarray(self.belief[np.arange(len(self.true)), self.true])

    @property
    def share(self) -> FloatArray:
        """The true value's share of the published group: shape ``(n',)``."""
        return np.asarray(self.shares[np.arange(len(self.true)), self.true])

    @property
    def missing(self) -> dict[str, object]:
        """Counts of respondents not among them, as columns: ``suppressed``, and ``compromised`` where somebody was left out."""
        columns: dict[str, object] = {"suppressed": self.suppressed}
        return columns if self.compromised is None else columns | {"compromised": self.compromised}


@dataclass(frozen=True, eq=False)
class SetOutcome:
    """One release's beliefs that somebody has a value of a set, beside the truth, for the n' respondents that were published.

    Attributes
    ----------
    belief, share : float array, shape (n',)
        The set's posterior probability, and its share of the published group: what somebody believes who only counts.
    holds : bool array, shape (n',)
        Whether the true value is in the set.
    outcome : Outcome
        The same release, value by value.
    """

    belief: FloatArray
    share: FloatArray
    holds: BoolArray
    outcome: Outcome


def outcomes(beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> Iterator[Outcome]:
    """Each release's beliefs beside the truth, without some respondents if they are named.

    Compromised records leave their respondents out of the releases they are about; a collection of respondents leaves these
    out of all.

    Raises
    ------
    ValueError
        If the history has no view of a release's time, or another population or sensitive domain in it.
    TypeError
        If ``history`` is no sequence of views, as a History is.
    """
    for release in beliefs:
        seen = release.observation
        view = original(history, seen)
        kept = seen.group >= 0
        suppressed, compromised = int((~kept).sum()), None
        if leaving_out is not None:
            gone = _left_out(leaving_out, seen)
            compromised = int((kept & gone).sum())
            kept = kept & ~gone
        true, group = view.sensitive[kept], seen.group[kept]
        shares = (seen.counts / seen.counts.sum(axis=1, keepdims=True))[group]
        belief = release.posterior.probabilities[kept]
        yield Outcome(seen.time, belief, true, shares, group, suppressed, compromised)


def set_outcomes(
    owner: str, beliefs: Beliefs, history: History, sensitive: Collection[Hashable], leaving_out: LeftOut = None
) -> Iterator[SetOutcome]:
    """The same of the values of a sensitive set, taken together.

    Raises
    ------
    ValueError, TypeError
        As `outcomes`; and if the set is none, empty, not in the domain, or all of it.
    """
    checked = as_sensitive_values(owner, sensitive)
    for release, outcome in zip(beliefs, outcomes(beliefs, history, leaving_out), strict=True):
        codes = SensitiveSet.of(release.observation.people.schema.values, checked, owner).codes
        belief, share = outcome.belief[:, codes].sum(axis=1), outcome.shares[:, codes].sum(axis=1)
        yield SetOutcome(belief, share, np.isin(outcome.true, codes), outcome)


def original(history: History, seen: Observation) -> View:
    """The view that an observation is of.

    Raises
    ------
    ValueError
        If the history has no view of its time, or another population or sensitive domain in it.
    TypeError
        If ``history`` is no sequence of views, as a History is.
    """
    wrong = [v for v in history if not isinstance(v, View)] if isinstance(history, Iterable) else [history]
    if wrong:
        raise TypeError(
            f"beliefs are measured against the original records, a History, and got {_kind(history, wrong[0])}; pass the "
            "History that was published."
        )
    view = next((view for view in history if view.time == seen.time), None)
    if view is None or not np.array_equal(view.people.respondents, seen.people.respondents):
        raise ValueError(
            f"the history holds no view at {seen.time!r} of the respondents these beliefs are about; give the history that "
            "was published."
        )
    if view.schema.values != seen.people.schema.values:
        raise ValueError(
            f"at {seen.time!r} the history's sensitive domain is {_some(view.schema.values)} and that of the beliefs "
            f"{_some(seen.people.schema.values)}; give the history a schema with the values the beliefs are about, in their order."
        )
    return view


def mean(each: FloatArray | BoolArray) -> float:
    """The mean of one number per respondent; NaN where there is nobody."""
    return float(each.mean()) if len(each) else float("nan")


def _kind(history: object, other: object) -> str:
    """The type of something that is no history, with that of what it holds."""
    held = "" if other is history else f" that holds a {type(other).__name__}"
    return f"a {type(history).__name__}{held}"


def _some(values: tuple[Hashable, ...]) -> str:
    return ", ".join(map(repr, values[:8])) + (", ..." if len(values) > 8 else "")


def _left_out(leaving_out: CompromisedRecords | Collection[Hashable], seen: Observation) -> BoolArray:
    """Mask of the respondents left out of a release."""
    gone = np.zeros(len(seen.people), dtype=np.bool_)
    if isinstance(leaving_out, CompromisedRecords):
        gone[leaving_out.at(seen.time, seen.people).rows] = True
        return gone
    return np.array([respondent in leaving_out for respondent in seen.people.respondents], dtype=np.bool_)
