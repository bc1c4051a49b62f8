"""A bound on what an adversary learns of anybody beyond the shares of the group."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from foreknow.defenses.requirements.belief import Weighed, refuse
from foreknow.defenses.requirements.requirement import Requirement, Sense, is_number
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Estimator, Omega, View
from foreknow.models.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class PosteriorBound(Requirement):
    """No member's posterior of any value is over the group's share of that value by more than a bound.

    ``max over members i and values s of posterior[i, s] - n_s / n <= most``. The prior is the one that the defense is given,
    the posterior is an estimator's. J-similarity wants the members' priors to be alike because their posteriors then are the
    shares; this asks for the posteriors themselves. It is 0 in a group of one, and says nothing of the shares: combine it
    with a requirement that bounds them, as ``FrequencyDiversity(3) & PosteriorBound(0.1)``.

    Parameters
    ----------
    most : float
        From 0 to 1.
    estimator : Estimator
        What the adversary computes. One that samples gives other levels at each call; one that raises `TooLarge` of a group
        stops the defense, rather than that a group be refused in silence: `Auto` is exact where `Exact` can be.

    Raises
    ------
    ValueError
        If ``most`` is out of its range; if it is asked about groups before `given` has bound it to a view.

    Notes
    -----
    Ours; the question is that of JS-reduce, section 6.1, and of METHODS A.1. Where the prior rules out what a group shows,
    the posterior is what the estimator then says (`Status.CONTRADICTED`): it is what an attack would compute.

    Not monotone: of two groups that satisfy, the union may not, and the parts of a group that does may not. `Mondrian`,
    which starts from the whole view and stops at cuts that fail, is a heuristic here, and refuses a view that fails as one
    group, as it does wherever somebody's prior is sharp; a defense that grows groups need not.

    Cost of a level: the estimator's, for all groups of a batch at once.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.defenses import summarize_groups, summarize_records
    >>> from foreknow.models import Numeric, Schema
    >>> records = pd.DataFrame({"id": [1, 2, 3], "age": [30, 31, 32], "result": ["none", "none", "hiv"]})
    >>> view = View(records, Schema({"age": Numeric()}, "result", ("hiv", "none")))
    >>> prior = np.array([[0.05, 0.95], [0.05, 0.95], [0.3, 0.7]])
    >>> group = summarize_groups(summarize_records(view, prior, members=True), np.zeros(3, dtype=int))
    >>> PosteriorBound(0.3).given(view, prior).level(group).round(4)  # the third has it with .5821, its share is 1/3
    array([0.2488])
    """

    most: float
    estimator: Estimator = field(default_factory=Omega)

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        if not is_number(self.most, 0, 1):
            raise ValueError(f"PosteriorBound: most is {self.most}; it is a difference of probabilities, from 0 to 1.")

    @property
    def bound(self) -> float:
        """The number ``most``."""
        return float(self.most)

    @property
    def reads_prior(self) -> bool:
        """False: it reads the rows that `given` gives it, not their sums."""
        return False

    @property
    def reads_members(self) -> bool:
        """True: everybody is weighed."""
        return True

    @property
    def weighs_beliefs(self) -> bool:
        """True."""
        return True

    def given(self, view: View, prior: FloatArray) -> Requirement:  # noqa: ARG002 - the prior is all it needs of a view
        """The requirement with the prior, shape ``(n, m)``."""
        return Weighed(self, prior, self.estimator, _beyond_the_share)

    def level(self, summary: Summary) -> FloatArray:  # noqa: ARG002
        """Unknown before `given`: raises ValueError."""
        refuse(self)


def _beyond_the_share(posterior: FloatArray, records: IntArray, shares: FloatArray) -> FloatArray:  # noqa: ARG001
    return np.asarray((posterior - shares).max(axis=1))
