"""Upper bound on the posterior beliefs about group members."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, override

import numpy as np

from foreknow.defenses.requirements.belief_level import BeliefLevel, Gain
from foreknow.defenses.requirements.drawn_prior import DrawnPrior, bind_draws
from foreknow.defenses.requirements.member_predicate import MemberPredicate
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, Sense
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Estimator, Omega, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.arguments import check_is_estimator
from foreknow.models.settings import check_kind, is_number
from foreknow.models.tables.sensitive_set import SensitiveSet, as_sensitive_values


@dataclass(frozen=True)
class PosteriorBound(Requirement):
    """Bound on every member's posterior of every value, or on its gain over the group's share of that value.

    ``max over members i and values s of posterior[i, s] - n_s / n <= most``, or of ``posterior[i, s]`` itself. The prior is
    the one given to the defense; the posterior is the estimator's.

    Parameters
    ----------
    most : float
        From 0 to 1.
    estimator : Estimator
        Posterior estimator of the adversary. One that samples gives other levels at each call. One that raises `TooLarge`
        stops the defense; `Auto` is exact where `Exact` can be. `Omega` by default: a level is computed for each candidate group
        while groups grow. For a sensitive set, both use a closed form, whatever the
        size of the group.
    sensitive_set : collection of values, optional
        Sensitive set, the only class that is bounded. Its values are not distinguished, nor are the others, and the prior of
        each of the two classes is the sum over its values. By default every value is bounded on its own.
    quantity : {"gain", "belief"}
        Bounded quantity: the posterior minus the share, or the posterior.

    Raises
    ------
    ValueError, TypeError
        If a setting is of the wrong kind or out of range. When bound, if the set is not in the view's domain or is all of it.

    Notes
    -----
    J-similarity requires similar priors within a group, since the posteriors then equal the shares (JS-reduce, section 6.1).
    This requirement, which is ours, bounds the posteriors themselves. The gain is 0 in a group of one, and the shares are not
    bounded: combine it with a requirement that bounds them, as ``FrequencyDiversity(3) & PosteriorBound(0.1)``. For a
    sensitive set, a belief of at most 1/r is no breach in the sense of the foreground-knowledge paper.

    Where the prior rules out the values of a group, the posterior is the estimator's (`Status.CONTRADICTED`), as in an
    attack. In closed form it is the share.

    Not monotone: the union of two satisfying groups may fail, and the parts of a satisfying group may fail. `Mondrian`,
    which starts from the whole view and stops at cuts that fail, is a heuristic here. It refuses a view that fails as one
    group, as it does wherever the prior of some respondent is sharp; a defense that grows groups need not.

    Cost of a level: the estimator's, once for all groups of a batch.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.defenses import summarize_groups, summarize_records
    >>> from foreknow.models import Numeric, Schema
    >>> records = pd.DataFrame({"id": [1, 2, 3], "age": [30, 31, 32], "result": ["none", "none", "hiv"]})
    >>> view = View(records, Schema({"age": Numeric()}, "result", ("hiv", "none")))
    >>> prior = np.array([[0.05, 0.95], [0.05, 0.95], [0.3, 0.7]])
    >>> group = summarize_groups(summarize_records(view, prior, members=True), np.zeros(3, dtype=int))
    >>> PosteriorBound(0.3).bind(view, prior).level(group).round(4)  # the third has a posterior of .5821 and a share of 1/3
    array([0.2488])
    >>> PosteriorBound(0.6, sensitive_set={"hiv"}, quantity="belief").bind(view, prior).level(group).round(4)
    array([0.5821])
    """

    most: float
    estimator: Estimator = field(default_factory=Omega)
    sensitive_set: Collection[Hashable] | None = None
    quantity: Literal["gain", "belief"] = "gain"

    sense: ClassVar[Sense] = "at most"
    is_monotone: ClassVar[bool] = False
    weighs_beliefs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.quantity, str) and self.quantity in ("gain", "belief")):
            raise ValueError(f"PosteriorBound: quantity is {self.quantity!r}; it is 'gain' or 'belief'.")
        if not is_number(self.most, 0, 1):
            what = "a difference of probabilities" if self.quantity == "gain" else "a probability"
            raise ValueError(f"PosteriorBound: most is {self.most!r}; it is {what}, from 0 to 1.")
        check_is_estimator("PosteriorBound", "estimator", self.estimator)
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values("PosteriorBound", self.sensitive_set))

    @property
    @override
    def bound(self) -> float:
        return float(self.most)

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:
        """Keep the prior, shape ``(n, m)``, of the view's records."""
        check_kind("PosteriorBound.bind", "view", view, View, "is a View; make one by View(frame, schema)")
        if isinstance(prior, DrawnPrior):
            return bind_draws(self, view, prior)
        takes = "is a float array of shape (n, m), as prior(view.people)"
        check_kind("PosteriorBound.bind", "prior", prior, np.ndarray, takes)
        prior_of(view, prior)  # raises for another shape
        if self.sensitive_set is None:
            return MemberPredicate(self, BeliefLevel(prior, self.estimator, _largest(self.quantity, prior.shape[1])))
        sensitive_set = SensitiveSet.within(view.schema.values, self.sensitive_set, "PosteriorBound")
        having = np.minimum(prior[:, sensitive_set.codes].sum(axis=1), 1.0)
        rows = np.column_stack([having, 1.0 - having])
        return MemberPredicate(self, BeliefLevel(rows, self.estimator, _largest(self.quantity, 1), sensitive_set))


def _largest(quantity: str, classes: int) -> Gain:
    """Largest bounded quantity of each member, over the first classes."""

    def gain(posterior: FloatArray, records: IntArray, shares: FloatArray) -> FloatArray:  # noqa: ARG001
        beyond = posterior - shares if quantity == "gain" else posterior
        return np.asarray(beyond[:, :classes].max(axis=1))

    return gain
