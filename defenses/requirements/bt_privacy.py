"""(B, t)-privacy: nobody's value is believed much otherwise than it was (Li, Li, Zhang, ICDE 2009)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from foreknow.defenses.requirements.belief import Weighed, refuse
from foreknow.defenses.requirements.requirement import Requirement, Sense, all_of
from foreknow.defenses.requirements.smoothed_divergence import Divergence, smoothing
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Estimator, Hierarchy, History, KernelPrior, Omega, View
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import GREATEST_FLOAT, is_number


@dataclass(frozen=True)
class BTPrivacy(Requirement):
    """No member's belief moves by more than t, for an adversary who knows the table as well as a bandwidth B says.

    ``max over members i of D[P_pri(B, q_i), P_pos(B, q_i)] <= t``. The prior is `KernelPrior` with bandwidth B, fitted on the
    very view that is published; the prior that a defense is given is not read. The posterior is an estimator's, from that
    prior and the group's values. D is the Jensen-Shannon divergence of the two, smoothed over near values: ``p^[r] = sum_s
    p[s] K(d_rs) / sum_s K(d_rs)``, with the Epanechnikov kernel K, then made to sum to 1.

    Parameters
    ----------
    bandwidth : float, or mapping of str to float
        The B of all quasi-identifiers, or one for each; the smaller, the more the adversary knows. See `KernelPrior`.
    t : float
        The most a belief may move, in units of ``base``: from 0 to 1 in bits.
    estimator : Estimator
        What the adversary computes. One that samples gives other levels at each call; one that raises `TooLarge` of a group
        stops the defense, rather than that a group be refused in silence: `Auto` is exact where `Exact` can be.
    distance : "equal", "ordered" or Hierarchy
        How far two sensitive values lie apart: 1; their distance in the order of the domain, over m - 1; or the height of
        their lowest common ancestor over the tree's.
    smoothing : float
        The bandwidth b of K. Values at distance b or more are not mixed; with the distance "equal" and b up to 1, none are.
    base : float
        The base of the logarithm. The papers name none; with 2, D lies between 0 and 1.

    Raises
    ------
    ValueError
        If a setting is out of its range; if it is asked about groups before `given` has bound it to a view.

    Notes
    -----
    The divergence's form is the paper's; its constants, and that smoothed distributions are made to sum to 1, are our
    reconstruction. Where the prior rules out what a group shows, which a table with its true values never
    does, the posterior is what the estimator then says.

    Not monotone: of two groups that satisfy, the union may not, and the parts of a group that does may not. `Mondrian`, by
    which the paper enforces it, stops at the first cut that fails: it is a heuristic here.

    Cost: of `given`, the kernel prior's; of a level, the estimator's, for all groups of a batch at once.

    References
    ----------
    T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009.
    """

    bandwidth: float | Mapping[str, float]
    t: float
    estimator: Estimator = field(default_factory=Omega)
    distance: "Literal['equal', 'ordered'] | Hierarchy" = "equal"
    smoothing: float = 0.5
    base: float = 2.0

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        sizes = self.bandwidth.values() if isinstance(self.bandwidth, Mapping) else [self.bandwidth]
        for size in sizes:
            _check_positive("a bandwidth", size)
        _check_positive("smoothing", self.smoothing)
        if not is_number(self.t, 0):
            raise ValueError(f"BTPrivacy: t is {self.t}; it is a divergence, 0 or more.")
        if not (self.distance in ("equal", "ordered") or isinstance(self.distance, Hierarchy)):
            raise ValueError(f"BTPrivacy: distance is {self.distance!r}; it is 'equal', 'ordered' or a Hierarchy.")
        if not is_number(self.base, 1, GREATEST_FLOAT) or self.base == 1:
            raise ValueError(f"BTPrivacy: the logarithm's base is {self.base}; it must be above 1.")

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
    def skyline(cls, pairs: "Iterable[tuple[float | Mapping[str, float], float]]", **settings: Any) -> Requirement:
        """The requirement that (B, t)-privacy holds for each of several pairs: against adversaries who know more and less.

        Examples
        --------
        >>> BTPrivacy.skyline([(0.2, 0.9), (0.5, 0.6)]) == BTPrivacy(0.2, 0.9) & BTPrivacy(0.5, 0.6)
        True
        """
        return all_of(*(cls(bandwidth, t, **settings) for bandwidth, t in pairs))

    @property
    def bound(self) -> float:
        """The divergence t."""
        return float(self.t)

    @property
    def reads_prior(self) -> bool:
        """False: the prior is the kernel's."""
        return False

    @property
    def reads_members(self) -> bool:
        """True: everybody is weighed."""
        return True

    def given(self, view: View, prior: FloatArray) -> Requirement:  # noqa: ARG002 - the prior is the kernel's
        """The requirement with the kernel prior of the view."""
        rows = KernelPrior.fit(History([view]), self.bandwidth)(view.people)
        weights = smoothing(view.schema.values, self.distance, self.smoothing)
        return Weighed(self, rows, self.estimator, Divergence.since(rows, weights, self.base))

    def level(self, summary: Summary) -> FloatArray:  # noqa: ARG002
        """Unknown before `given`: raises ValueError."""
        refuse(self)


def _check_positive(what: str, number: float) -> None:
    if not (isinstance(number, int | float | np.number) and 0 < number < math.inf):
        raise ValueError(f"BTPrivacy: {what} is {number!r}; it must be a positive number.")
