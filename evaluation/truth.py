"""Beliefs held against what was true: where the measures of risk meet the original records."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray, IntArray


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
    """

    time: Any
    belief: FloatArray
    true: IntArray
    share: FloatArray
    suppressed: int

    @property
    def confidence(self) -> FloatArray:
        """The belief in each true value: shape ``(n',)``."""
        return np.asarray(self.belief[np.arange(len(self.true)), self.true])


def outcomes(beliefs: Beliefs, history: History) -> Iterator[Outcome]:
    """Each release's beliefs beside the truth.

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
        true, group = view.sensitive[kept], seen.group[kept]
        share = seen.counts[group, true] / seen.counts.sum(axis=1)[group]
        yield Outcome(seen.time, release.posterior.probabilities[kept], true, share, int((~kept).sum()))
