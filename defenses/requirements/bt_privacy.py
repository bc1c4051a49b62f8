"""(B, t)-privacy."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, override

from foreknow.defenses.requirements.belief_level import BeliefLevel
from foreknow.defenses.requirements.closeness import check_distance
from foreknow.defenses.requirements.combinations import all_of
from foreknow.defenses.requirements.drawn_prior import DrawnPrior, bind_draws
from foreknow.defenses.requirements.member_predicate import MemberPredicate
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, Sense
from foreknow.defenses.requirements.similarity import check_base
from foreknow.defenses.requirements.smoothed_divergence import SmoothedDivergence, smoothing_weights
from foreknow.models import Estimator, Hierarchy, History, KernelPrior, Omega, View
from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.arguments import check_is_estimator
from foreknow.models.settings import is_number


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

    Raises
    ------
    TypeError, ValueError
        If a setting is of the wrong kind or out of range. When bound, if the bandwidth names an attribute that is no
        quasi-identifier, or the hierarchy lacks a sensitive value.

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
        for name, size in sizes.items():
            if not isinstance(name, str):
                raise TypeError(
                    f"BTPrivacy: bandwidth names {name!r}; it is a mapping of quasi-identifiers, by their names."
                )
            if self.bandwidth is not None:
                _check_positive("a bandwidth", size)
        _check_positive("smoothing", self.smoothing)
        if not is_number(self.t, 0):
            raise ValueError(f"BTPrivacy: t is {self.t!r}; it is a divergence, 0 or more.")
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
        try:
            listed = [(bandwidth, t) for bandwidth, t in pairs]
        except (TypeError, ValueError) as wrong:
            raise TypeError(
                f"BTPrivacy.skyline: pairs is {pairs!r}; it is a list of pairs of a bandwidth and a t, as [(0.2, 0.9), (0.5, 0.6)]."
            ) from wrong
        return all_of(*(cls(bandwidth, t, **settings) for bandwidth, t in listed))

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
        gain = SmoothedDivergence.from_prior(rows, weights, self.base)
        return MemberPredicate(self, BeliefLevel(rows, self.estimator, gain))


def _check_positive(what: str, number: Any) -> None:
    if not is_number(number, 0) or not 0 < number < math.inf:
        raise ValueError(f"BTPrivacy: {what} is {number!r}; it must be a positive number.")
