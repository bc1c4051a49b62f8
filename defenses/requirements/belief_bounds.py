"""Requirements on the beliefs about group members: an upper bound on posteriors, and (B, t)-privacy."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, override

import numpy as np

from foreknow.defenses.requirements.closeness import check_base, check_distance
from foreknow.defenses.requirements.requirement import (
    GroupPredicate,
    MemberPredicate,
    Requirement,
    Sense,
    all_of,
    bind_draws,
)
from foreknow.defenses.requirements.summary import DrawnPrior, GroupMembers, Summary, prior_of
from foreknow.models import Categorical, Estimator, Hierarchy, History, KernelPrior, Omega, Problem, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.global_distribution import posterior_beliefs
from foreknow.models.problem import check_is_estimator, jensen_shannon
from foreknow.models.settings import check_choice, check_positive, check_range
from foreknow.models.tables.distance import tree_distances
from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values


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
        check_choice("PosteriorBound", "quantity", self.quantity, ("gain", "belief"))
        check_range("PosteriorBound", "most", self.most, 0, 1, "a probability, or a difference of two")
        check_is_estimator("PosteriorBound", "estimator", self.estimator)
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values("PosteriorBound", self.sensitive_set))

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:
        """Keep the prior, shape ``(n, m)``, of the view's records."""
        if isinstance(prior, DrawnPrior):
            return bind_draws(self, view, prior)
        prior_of(view, prior)  # raises for another shape
        if self.sensitive_set is None:
            return MemberPredicate(self, BeliefLevel(prior, self.estimator, _largest(self.quantity, prior.shape[1])))
        sensitive_set = SensitiveSet.within(view.schema.values, self.sensitive_set, "PosteriorBound")
        having = np.minimum(prior[:, sensitive_set.codes].sum(axis=1), 1.0)
        rows = np.column_stack([having, 1.0 - having])
        return MemberPredicate(self, BeliefLevel(rows, self.estimator, _largest(self.quantity, 1), sensitive_set))


# Gain of the adversary on each of k group members, shape `(k,)`, from their posteriors `(k, c)`, their rows in the view
# `(k,)` and the value shares of their groups `(k, c)`
type Gain = Callable[[FloatArray, IntArray, FloatArray], FloatArray]


def _largest(quantity: str, classes: int) -> Gain:
    """Largest bounded quantity of each member, over the first classes."""

    def gain(posterior: FloatArray, records: IntArray, shares: FloatArray) -> FloatArray:  # noqa: ARG001
        beyond = posterior - shares if quantity == "gain" else posterior
        return np.asarray(beyond[:, :classes].max(axis=1))

    return gain


@dataclass(frozen=True)
class BTPrivacy(Requirement):
    """(B, t)-privacy: the belief about every member moves by at most t, for an adversary with knowledge of bandwidth B.

    ``max over members i of D[P_pri(B, q_i), P_pos(B, q_i)] <= t``. The prior is `KernelPrior` with bandwidth B, fitted on the
    view that is published, or the prior given to the defense. The posterior follows from that prior and the group's
    values by the estimator. D is the Jensen-Shannon divergence of the two, smoothed over near values: ``p^[r] = sum_s p[s]
    K(d_rs) / sum_s K(d_rs)``, with the Epanechnikov kernel K, then normalized.

    Parameters
    ----------
    bandwidth : float, mapping of str to float, or None
        B for all quasi-identifiers, or one for each. The smaller it is, the more the adversary knows. See `KernelPrior`. None
        for the revised prior of the adversary that the publisher assumes, as in `PosteriorBound`; it may have draws (`Averaged`).
    t : float
        Largest divergence, in units of ``base``: from 0 to 1 in bits.
    estimator : Estimator
        Posterior estimator of the adversary. One that samples gives other levels at each call. One that raises `TooLarge`
        stops the defense; `Auto` is exact where `Exact` can be. `Omega` by default, the estimate of the paper.
    distance : "equal", "ordered" or Hierarchy
        Distance of two sensitive values: 1; the difference of their ranks in the domain over m - 1; or the height of their
        lowest common ancestor over the tree's height.
    smoothing : float
        Bandwidth b of K. Values at distance b or more are not mixed; with the distance "equal" and b up to 1, none are.
    base : float
        Base of the logarithm. The papers name none; with 2, D lies between 0 and 1.

    Notes
    -----
    The form of the divergence is the paper's. Its constants, and the normalization of smoothed distributions, are our
    reconstruction. Where the prior rules out the values of a group, which a table of true values never does, the posterior is
    the estimator's.

    Not monotone: the union of two satisfying groups may fail, and the parts of a satisfying group may fail. `Mondrian`, by
    which the paper enforces it, stops at the first cut that fails: it is a heuristic here.

    Cost: that of the kernel prior to bind; that of the estimator, once for all groups of a batch, for a level.

    References
    ----------
    T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009.
    """

    bandwidth: float | Mapping[str, float] | None
    t: float
    estimator: Estimator = field(default_factory=Omega)
    distance: "Literal['equal', 'ordered'] | Hierarchy" = "equal"
    smoothing: float = 0.5
    base: float = 2.0

    sense: ClassVar[Sense] = "at most"
    is_monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        sizes = self.bandwidth if isinstance(self.bandwidth, Mapping) else {"": self.bandwidth}
        for size in sizes.values() if self.bandwidth is not None else ():
            check_positive("BTPrivacy", "bandwidth", size, "of the kernel prior")
        check_positive("BTPrivacy", "smoothing", self.smoothing, "a bandwidth")
        check_range("BTPrivacy", "t", self.t, 0, what="a divergence")
        check_is_estimator("BTPrivacy", "estimator", self.estimator)
        check_distance("BTPrivacy", self.distance)
        check_base("BTPrivacy", self.base)

    def __hash__(self) -> int:
        known = self.bandwidth
        sizes = tuple(sorted(known.items())) if isinstance(known, Mapping) else known
        return hash((sizes, self.t, self.estimator, self.distance, self.smoothing, self.base))

    def __repr__(self) -> str:
        kind = "Hierarchy" if isinstance(self.distance, Hierarchy) else repr(self.distance)
        return (
            f"BTPrivacy(bandwidth={self.bandwidth}, t={self.t}, estimator={self.estimator!r}, distance={kind}, "
            f"smoothing={self.smoothing}, base={self.base})"
        )

    @classmethod
    def skyline(
        cls, pairs: "Iterable[tuple[float | Mapping[str, float] | None, float]]", **settings: Any
    ) -> Requirement:
        """Conjunction of (B, t)-privacy for several pairs: against adversaries with more and with less knowledge.

        Parameters
        ----------
        pairs : iterable of (bandwidth, t)
        **settings
            The other settings, the same for all pairs.

        Raises
        ------
        TypeError, ValueError
            If there is no pair, or as the constructor.

        Examples
        --------
        >>> BTPrivacy.skyline([(0.2, 0.9), (0.5, 0.6)]) == BTPrivacy(0.2, 0.9) & BTPrivacy(0.5, 0.6)
        True
        """
        return all_of(*(cls(bandwidth, t, **settings) for bandwidth, t in pairs))

    @property
    @override
    def bound(self) -> float:
        return float(self.t)

    @property
    @override
    def weighs_beliefs(self) -> bool:
        """True if the prior is the one given to the defense."""
        return self.bandwidth is None

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:
        """Fit the kernel prior of the view, or keep the given prior, shape ``(n, m)``."""
        if self.bandwidth is None and isinstance(prior, DrawnPrior):
            return bind_draws(self, view, prior)
        rows = prior if self.bandwidth is None else KernelPrior.fit(History([view]), self.bandwidth)(view.people)
        weights = smoothing_weights(view.schema.values, self.distance, self.smoothing)
        return MemberPredicate(self, BeliefLevel(rows, self.estimator, _divergence(rows, weights, self.base)))


def _divergence(prior: FloatArray, weights: FloatArray, base: float) -> Gain:
    """Divergence of posteriors from a prior, ``(n, m)``, both smoothed by `smoothing_weights`.

    Cost: O(k m), and O(k m^2) where values are smoothed.
    """
    before = _smoothed(prior, weights)

    def gain(posterior: FloatArray, records: IntArray, shares: FloatArray) -> FloatArray:  # noqa: ARG001
        return jensen_shannon(before[records], _smoothed(posterior, weights)) / math.log2(base)

    return gain


def smoothing_weights(
    values: tuple[Hashable, ...], distance: "Literal['equal', 'ordered'] | Hierarchy", bandwidth: float
) -> FloatArray:
    """Kernel weight of each value in the smoothed probability of another: float array, shape ``(m, m)``, rows sum to 1.

    ``w[r, s]`` is proportional to the Epanechnikov kernel of their distance, ``1 - (d_rs / b)^2`` for ``d_rs < b``, else 0.
    """
    weights = 1 - (np.minimum(_distances(values, distance), bandwidth) / bandwidth) ** 2
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _distances(values: tuple[Hashable, ...], distance: "Literal['equal', 'ordered'] | Hierarchy") -> FloatArray:
    """Distances of sensitive values, from 0 to 1: float array, shape ``(m, m)``."""
    m = len(values)
    if distance == "equal":
        return 1 - np.eye(m)
    if distance == "ordered":
        return np.asarray(np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / max(m - 1, 1))
    assert isinstance(distance, Hierarchy)
    kind = Categorical(values, distance)
    place = np.array([kind.values.index(value) for value in values])
    return tree_distances(kind)[np.ix_(place, place)]


def _smoothed(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Rows with each probability replaced by the weighted mean of those of near values, then normalized."""
    if np.array_equal(weights, np.eye(len(weights))):
        return rows
    # einsum adds in the same order for every row, so that a row's result does not depend on its batch, as by a matrix product.
    means = np.einsum("is,rs->ir", rows, weights)
    return np.asarray(means / means.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class BeliefLevel:
    """Largest gain on a member of each group; one problem holds all groups of a batch."""

    prior: FloatArray  # (n, c): prior of each record of the view over c classes
    estimator: Estimator  # posterior estimator
    gain: Gain  # gain on each member
    # Makes two classes, a sensitive set and its complement. By default every value is a class.
    sensitive_set: SensitiveSet | None = None

    def __call__(self, summary: Summary, members: GroupMembers) -> FloatArray:
        """Largest gain in each of b groups: float array, shape ``(b,)``. Cost: the estimator's, once for the batch."""
        if not len(summary):
            return np.zeros(0)
        group = members.group
        counts = summary.counts if self.sensitive_set is None else self.sensitive_set.class_counts(summary.counts)
        posterior = self._posterior(self.prior[members.records], group, counts)
        shares = (counts / summary.size[:, None])[group]
        return np.asarray(np.maximum.reduceat(self.gain(posterior, members.records, shares), members.starts[:-1]))

    def _posterior(self, prior: FloatArray, group: IntArray, counts: IntArray) -> FloatArray:
        if self.sensitive_set is None:
            return self.estimator(Problem(prior, group, counts)).probabilities
        # Respondents with equal priors are interchangeable, as those of one attribute signature are.
        having, alike = np.unique(prior[:, 0], return_inverse=True)
        rows = np.column_stack([having, 1.0 - having])
        return posterior_beliefs(Evidence(alike, group, counts, rows[0]), self.estimator, rows)
