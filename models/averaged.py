"""Adversary who is uncertain of the knowledge: one adversary for each draw."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from foreknow.models.adversary import Adversary, check_reads
from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.knowledge.posterior_variable import posterior_draws
from foreknow.models.problem import ROW_PARTS
from foreknow.models.settings import as_floats, as_list, check_choice, check_flag, check_kind, check_range
from foreknow.models.tables.people import People

if TYPE_CHECKING:
    import xarray

MIN_WEIGHT = 0.01
"""Weight of a draw from which its group status enters the mixture."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Averaged:
    """Adversary with uncertain knowledge: its beliefs are the mixture of those of several adversaries.

    The posterior of each release is ``sum over draws d of w_d p_d``, with the posterior ``p_d`` of adversary d, and not the
    posterior under the mean knowledge. The releases weigh the draws: ``w_d ~ weights[d] * p(releases | knowledge d)``.

    Parameters
    ----------
    adversaries : iterable of Adversary
        One for each draw of the knowledge, as of a posterior (`Averaged.from_posterior`).
    weights : float array, shape (D,), optional
        Weight of each draw before any release; equal by default. Normalized on entry.
    updated : bool
        True if the releases weigh the draws, False if the weights stay. Use False for draws from a posterior given the same
        releases, as `history_model` has, whose evidence would count twice.
    groups : {"mean", "worst"}
        Groups of a defense whose publisher assumes this adversary (`publish`). ``"mean"``: the level of a requirement on beliefs is
        the mean over the draws, with their weights. ``"worst"``: it is the worst level of any draw that has a weight
        before the releases. The weights that the releases give do not matter: draws that they exclude count too.
    min_effective : float
        Smallest effective number of draws that the releases leave, as a share of the number before any release; keyword only.
        0, the default, is Bayes' rule, for candidate laws one of which holds. Use 0.5 for draws from a posterior, as
        `from_posterior` does.

    Raises
    ------
    TypeError
        If an adversary is no `Adversary`, or a setting is of another kind.
    ValueError
        If there is no adversary, the weights are not one number of at least 0 for each adversary, one of them positive, or
        ``min_effective`` is not from 0 to 1.

    Notes
    -----
    Attacks with an adversary take it, and are run once for each draw; `Influence` and `DataAugmentationAttack` do not. The
    probability of the releases given each draw is exact for groups of few states in attacks forward in time, as far as the
    attack's revised priors are, and approximated for large groups (`log_evidence`); for `JointAttack` in hindsight see
    `joint_log_evidence`.

    A sample of a wide posterior need not contain a draw near the law. In a simulation
    (docs/findings/adversary.md) the most probable draw has all weight after a few releases, far from the law, and beliefs are
    overconfident. With ``min_effective`` over 0 the evidence is tempered: the weights are ``weights[d] * p(releases | knowledge
    d)^power``, with a power up to 1 that leaves this effective number, ``1 / sum of squared weights`` (Kong, Liu, Wong 1994;
    tempering by it: Jasra, Stephens, Doucet, Tsagaris 2011). Each release has its own power. The ``notes`` of the beliefs name
    that of the last release, or the number of draws that are left. `DataAugmentationAttack` moves draws of a `DirichletChain`
    instead, which was better than weights in that finding.
    Cost: D times that of one adversary, in time and in memory.

    Examples
    --------
    >>> from foreknow.models import MarkovChain, UniformPrior
    >>> chains = [MarkovChain(1, np.array([[stay, 1 - stay], [1 - stay, stay]])) for stay in (0.6, 0.9)]
    >>> Averaged([Adversary(UniformPrior(), chain) for chain in chains]).weights
    array([0.5, 0.5])
    """

    adversaries: tuple[Adversary, ...]
    weights: FloatArray | None = None
    updated: bool = True
    groups: Literal["mean", "worst"] = "mean"
    min_effective: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        takes = "is an iterable of Adversary, one for each draw"
        adversaries = tuple(as_list("Averaged", "adversaries", self.adversaries, takes))
        for number, adversary in enumerate(adversaries):
            check_kind("Averaged", f"adversary {number}", adversary, Adversary)
        if not adversaries:
            raise ValueError("Averaged: there is no adversary; give one for each draw, at least one.")
        check_flag("Averaged", "updated", self.updated)
        check_choice("Averaged", "groups", self.groups, ("mean", "worst"))
        check_range("Averaged", "min_effective", self.min_effective, 0, 1, "a share of the draws")
        given = np.ones(len(adversaries)) if self.weights is None else self.weights
        weights = as_floats("Averaged", "weights", given, "is an array of numbers, one for each adversary")
        usable = weights.shape == (len(adversaries),) and np.isfinite(weights).all() and (weights >= 0).all()
        if not usable or not weights.sum() > 0:
            raise ValueError(
                f"Averaged: the weights have shape {weights.shape} and sum to {weights.sum():g}, for {len(adversaries)} "
                "adversaries; give one number of at least 0 for each, and a positive one."
            )
        set_fields(self, adversaries=adversaries, weights=weights / weights.sum())

    @classmethod
    def from_posterior(
        cls,
        tree: "xarray.DataTree",
        adversary: Callable[["xarray.DataTree"], Adversary],
        draws: int = 40,
        updated: bool = True,
        groups: Literal["mean", "worst"] = "mean",
        *,
        min_effective: float = 0.5,
    ) -> "Averaged":
        """One adversary for each of some draws of a posterior.

        Parameters
        ----------
        tree : DataTree
            Result of `pymc.sample`, with a group ``posterior``.
        adversary : function of a DataTree to an Adversary
            It receives a tree of one draw, so that all parts of the knowledge come from the same draw:
            ``lambda draw: Adversary(ClassFrequencies.from_posterior(draw, {}), MarkovChain.from_posterior(draw))``.
        draws : int
            Number of draws, equidistant over all chains.
        updated, groups, min_effective
            As for `Averaged`. Half of the draws are kept by default, a usual threshold for importance weights.

        Raises
        ------
        TypeError, ValueError
            As `posterior_draws`, or if the function returns no `Adversary`.
        """
        takes = (
            "is a function of a tree of one draw, as lambda draw: Adversary(prior, MarkovChain.from_posterior(draw))"
        )
        check_kind("Averaged.from_posterior", "adversary", adversary, Callable, takes)
        each = tuple(adversary(draw) for draw in posterior_draws(tree, draws))
        return cls(each, updated=updated, groups=groups, min_effective=min_effective)

    @property
    def first_weights(self) -> FloatArray:
        """Weight of each draw before any release: float array, shape ``(D,)``; sums to 1."""
        assert self.weights is not None
        return self.weights

    def __len__(self) -> int:
        return len(self.adversaries)

    def prior_rows(self, people: People) -> FloatArray:
        """Mean prior of some respondents over the draws: float array, shape ``(n, m)``."""
        return np.asarray(
            sum(w * one.prior_rows(people) for w, one in zip(self.first_weights, self.adversaries, strict=True))
        )

    def weights_given(self, log_evidence: FloatArray) -> FloatArray:
        """Weight of each draw given the log-probability of the releases under it: float arrays, shape ``(D,)``."""
        if not self.updated:
            return self.first_weights
        return powered_weights(self.first_weights, log_evidence, self.power_given(log_evidence))

    def power_given(self, log_evidence: FloatArray) -> float:
        """Power of the probability of the releases in the weights: 1, unless ``min_effective`` requires less."""
        from scipy.optimize import bisect

        def surplus(power: float) -> float:
            return effective_number(powered_weights(self.first_weights, log_evidence, power)) - least

        least = self.min_effective * effective_number(powered_weights(self.first_weights, log_evidence, 0.0))
        if surplus(1.0) >= 0:
            return 1.0
        return float(bisect(surplus, 0.0, 1.0, xtol=1e-15)) if surplus(0.0) > 0 else 0.0

    def check_claim_times(self, times: Sequence[Any]) -> None:
        """Raise ValueError as `Adversary.check_claim_times`, for the first adversary that has such a record."""
        for adversary in self.adversaries:
            adversary.check_claim_times(times)


def powered_weights(weights: FloatArray, log_evidence: FloatArray, power: float) -> FloatArray:
    """Normalized ``weights * evidence^power``; 0 where the evidence is 0, unless it is 0 for every draw: shape ``(D,)``."""
    from scipy.special import softmax

    possible = (weights > 0) & (log_evidence > -np.inf)
    if not possible.any():
        return weights
    found = np.zeros(len(weights))
    found[possible] = softmax(np.log(weights[possible]) + power * log_evidence[possible])
    return found


def effective_number(weights: FloatArray) -> float:
    """Effective number of weighted draws, ``1 / sum of squared weights``; weights sum to 1."""
    return float(1.0 / np.square(weights).sum())


def check_rule_reads(
    rule: object,
    adversary: Adversary | Averaged,
    readers: Callable[[str], Sequence[str]] = lambda _: (),
    otherwise: Sequence[str] = ROW_PARTS,
) -> None:
    """Raise ValueError if an adversary, or a draw of it, has a part of knowledge that an attack, solver or defense does not read.

    The rule has ``reads`` and ``ignores``, names of parts; without ``reads`` it reads ``otherwise``. ``readers`` is that of
    `foreknow.models.adversary.check_reads`.
    """
    owner = getattr(rule, "__name__", type(rule).__name__)
    for one in adversary.adversaries if isinstance(adversary, Averaged) else (adversary,):
        check_reads(owner, one, getattr(rule, "reads", otherwise), getattr(rule, "ignores", ()), readers)
