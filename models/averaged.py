"""Adversary who is uncertain of the knowledge: one adversary for each draw."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import softmax

from foreknow.models.adversary import Adversary
from foreknow.models.arrays import FloatArray
from foreknow.models.knowledge.posterior_draws import posterior_draws
from foreknow.models.settings import as_floats, check_choice, check_flag, check_kind
from foreknow.models.tables.people import People

if TYPE_CHECKING:
    import xarray

MIN_WEIGHT = 0.01
"""Weight of a draw from which its group status enters the mixture, and from which the worst level of a group includes it."""


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
        the mean over the draws, with their weights. ``"worst"``: it is the worst level of any draw with a weight of at least
        `MIN_WEIGHT`.

    Raises
    ------
    TypeError
        If an adversary is no `Adversary`, or a setting is of another kind.
    ValueError
        If there is no adversary, or the weights are not one number of at least 0 for each adversary, one of them positive.

    Notes
    -----
    `SequentialAttack`, `SnapshotAttack` and `JointAttack` take it, and are run once for each draw. The probability of the
    releases given each draw is exact for groups of few states in attacks forward in time, as far as the attack's revised priors
    are, and approximated for large groups (`log_evidence`); for `JointAttack` in hindsight see `joint_log_evidence`. After many
    releases the weights often concentrate on one draw; the ``notes`` of the beliefs say how many are left.
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

    def __post_init__(self) -> None:
        takes = "is an iterable of Adversary, one for each draw"
        check_kind("Averaged", "adversaries", self.adversaries, Iterable, takes)
        adversaries = tuple(self.adversaries)
        for number, adversary in enumerate(adversaries):
            check_kind(
                "Averaged",
                f"adversary {number}",
                adversary,
                Adversary,
                "is an Adversary, as Adversary(prior, transitions)",
            )
        if not adversaries:
            raise ValueError("Averaged: there is no adversary; give one for each draw, at least one.")
        check_flag("Averaged", "updated", self.updated)
        check_choice("Averaged", "groups", self.groups, ("mean", "worst"))
        object.__setattr__(self, "adversaries", adversaries)
        object.__setattr__(self, "weights", _checked_weights(self.weights, len(adversaries)))

    @classmethod
    def from_posterior(
        cls,
        tree: "xarray.DataTree",
        adversary: Callable[["xarray.DataTree"], Adversary],
        draws: int = 40,
        updated: bool = True,
        groups: Literal["mean", "worst"] = "mean",
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
        updated, groups
            As for `Averaged`.

        Raises
        ------
        TypeError, ValueError
            As `posterior_draws`, or if the function returns no `Adversary`.
        """
        if not callable(adversary) or isinstance(adversary, Adversary):
            raise TypeError(
                f"Averaged.from_posterior: adversary is a {type(adversary).__name__}; it is a function of a tree of one draw, as "
                "lambda draw: Adversary(prior, MarkovChain.from_posterior(draw))."
            )
        return cls(tuple(adversary(draw) for draw in posterior_draws(tree, draws)), updated=updated, groups=groups)

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
        with np.errstate(divide="ignore"):
            return np.asarray(softmax(np.log(self.first_weights) + log_evidence))

    def check_claim_times(self, times: Sequence[Any]) -> None:
        """Raise ValueError as `Adversary.check_claim_times`, for the first adversary that has such a record."""
        for adversary in self.adversaries:
            adversary.check_claim_times(times)


def _checked_weights(weights: Any, draws: int) -> FloatArray:
    """Normalized weights; equal ones where none are given."""
    if weights is None:
        return np.full(draws, 1.0 / draws)
    array = as_floats("Averaged", "weights", weights, "is an array of numbers, one for each adversary")
    if array.shape != (draws,) or not np.isfinite(array).all() or (array < 0).any() or not array.sum() > 0:
        raise ValueError(
            f"Averaged: the weights have shape {array.shape} and sum to {array.sum():g}, for {draws} adversaries; give one "
            "number of at least 0 for each, and a positive one."
        )
    return np.asarray(array / array.sum())
