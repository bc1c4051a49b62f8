"""A bound on what an adversary believes of anybody, or learns beyond the shares of the group."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from foreknow.defenses.requirements.belief import Gain, Weighed, refuse
from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Estimator, Omega, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.sensitive_set import SensitiveSet, as_sensitive_values
from foreknow.models.settings import is_number


@dataclass(frozen=True)
class PosteriorBound(Requirement):
    """No member's posterior of any value, or gain over the group's share of that value, is over a bound.

    ``max over members i and values s of posterior[i, s] - n_s / n <= most``, or of ``posterior[i, s]`` itself. The prior is
    the one that the defense is given, the posterior is an estimator's. J-similarity wants the members' priors to be alike
    because their posteriors then are the shares; this asks for the posteriors themselves. The gain is 0 in a group of one, and
    says nothing of the shares: combine it with a requirement that bounds them, as
    ``FrequencyDiversity(3) & PosteriorBound(0.1)``. Of a sensitive set, a belief of at most 1/r is what the foreground-knowledge
    paper calls no breach.

    Parameters
    ----------
    most : float
        From 0 to 1.
    estimator : Estimator
        What the adversary computes. One that samples gives other levels at each call; one that raises `TooLarge` of a group
        stops the defense, rather than that a group be refused in silence: `Auto` is exact where `Exact` can be. Of a set, both
        are computed in closed form, whatever the size of the group.
    sensitive : collection of values, optional
        The set that alone is bounded, as one: its values are not told apart, nor are the others, and the prior of each of
        the two classes is the sum over its values. Left out, every value is bounded on its own.
    of : {"gain", "belief"}
        What is bounded: what the posterior is over the share, or the posterior.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its range; if it is asked about groups before `given` has bound it to a view; when it is bound,
        if the set is not in the view's domain or all of it.

    Notes
    -----
    Ours; the question is that of JS-reduce, section 6.1. Where the prior rules out what a group shows,
    the posterior is what the estimator then says (`Status.CONTRADICTED`): it is what an attack would compute. In closed form
    it is the share.

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
    >>> PosteriorBound(0.6, sensitive={"hiv"}, of="belief").given(view, prior).level(group).round(4)
    array([0.5821])
    """

    most: float
    estimator: Estimator = field(default_factory=Omega)
    sensitive: Collection[Hashable] | None = None
    of: Literal["gain", "belief"] = "gain"

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        if self.of not in ("gain", "belief"):
            raise ValueError(f"PosteriorBound: of is {self.of!r}; it is 'gain' or 'belief'.")
        if not is_number(self.most, 0, 1):
            what = "a difference of probabilities" if self.of == "gain" else "a probability"
            raise ValueError(f"PosteriorBound: most is {self.most}; it is {what}, from 0 to 1.")
        if self.sensitive is not None:
            object.__setattr__(self, "sensitive", as_sensitive_values("PosteriorBound", self.sensitive))

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

    def given(self, view: View, prior: FloatArray) -> Requirement:
        """The requirement with the prior, shape ``(n, m)``."""
        if self.sensitive is None:
            return Weighed(self, prior, self.estimator, _largest(self.of, prior.shape[1]))
        sensitive_set = SensitiveSet.of(view.schema.values, self.sensitive, "PosteriorBound")
        having = np.minimum(prior[:, sensitive_set.codes].sum(axis=1), 1.0)
        rows = np.column_stack([having, 1.0 - having])
        return Weighed(self, rows, self.estimator, _largest(self.of, 1), sensitive_set)

    def level(self, summary: Summary) -> FloatArray:  # noqa: ARG002
        """Unknown before `given`: raises ValueError."""
        refuse(self)


def _largest(of: str, classes: int) -> Gain:
    """What is bounded of the first classes, the largest of each member."""

    def gain(posterior: FloatArray, records: IntArray, shares: FloatArray) -> FloatArray:  # noqa: ARG001
        beyond = posterior - shares if of == "gain" else posterior
        return np.asarray(beyond[:, :classes].max(axis=1))

    return gain
