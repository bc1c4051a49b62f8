"""Beliefs held against what was true: where the measures of risk meet the original records."""

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models import Beliefs, CompromisedRecords, History, Observation
from foreknow.models.arrays import BoolArray, FloatArray, IntArray

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
    share : float array, shape (n',)
        The true value's share of the published group.
    suppressed : int
        How many respondents were not published.
    compromised : int, optional
        How many published respondents were left out because the adversary knew them already.
    """

    time: Any
    belief: FloatArray
    true: IntArray
    share: FloatArray
    suppressed: int
    compromised: int | None = None

    @property
    def confidence(self) -> FloatArray:
        """The belief in each true value: shape ``(n',)``."""
        return np.asarray(self.belief[np.arange(len(self.true)), self.true])


def outcomes(beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> Iterator[Outcome]:
    """Each release's beliefs beside the truth, without some respondents if they are named.

    Compromised records leave their respondents out of the releases they are about; a collection of respondents leaves these
    out of all.

    Raises
    ------
    ValueError
        If the history has no view of a release's time, or another population in it.
    """
    views = {view.time: view for view in history}
    for release in beliefs:
        seen = release.observation
        view = views.get(seen.time)
        if view is None or not np.array_equal(view.people.respondents, seen.people.respondents):
            raise ValueError(
                f"the history holds no view at {seen.time!r} of the respondents these beliefs are about; give the history that "
                "was published."
            )
        kept = seen.group >= 0
        suppressed, compromised = int((~kept).sum()), None
        if leaving_out is not None:
            gone = _left_out(leaving_out, seen)
            compromised = int((kept & gone).sum())
            kept = kept & ~gone
        true, group = view.sensitive[kept], seen.group[kept]
        share = seen.counts[group, true] / seen.counts.sum(axis=1)[group]
        yield Outcome(seen.time, release.posterior.probabilities[kept], true, share, suppressed, compromised)


def _left_out(leaving_out: CompromisedRecords | Collection[Hashable], seen: Observation) -> BoolArray:
    """Who is left out of a release."""
    gone = np.zeros(len(seen.people), dtype=np.bool_)
    if isinstance(leaving_out, CompromisedRecords):
        gone[leaving_out.at(seen.time, seen.people).rows] = True
        return gone
    return np.array([respondent in leaving_out for respondent in seen.people.respondents], dtype=np.bool_)
