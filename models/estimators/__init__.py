"""Posterior estimators: each a frozen settings object, ``estimator(problem) -> Posterior``."""

from collections.abc import Callable

from foreknow.models.estimators.auto import Auto
from foreknow.models.estimators.belief_propagation import BeliefPropagation
from foreknow.models.estimators.confidence_sum import ConfidenceSum
from foreknow.models.estimators.dirichlet_multinomial import DirichletMultinomial
from foreknow.models.estimators.exact import Exact, TooLarge
from foreknow.models.estimators.mixed import Mixed
from foreknow.models.estimators.omega import Omega
from foreknow.models.estimators.per_group import PerGroup
from foreknow.models.estimators.random_worlds import RandomWorlds
from foreknow.models.estimators.sinkhorn import Sinkhorn
from foreknow.models.estimators.swap_chain import SwapChain
from foreknow.models.problem import Estimator

ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "random-worlds": RandomWorlds,
    "confidence-sum": ConfidenceSum,
    "dirichlet-multinomial": DirichletMultinomial,
    "omega": Omega,
    "mixed": Mixed,
    "sinkhorn": Sinkhorn,
    "belief-propagation": BeliefPropagation,
    "exact": Exact,
    "auto": Auto,
}
"""Every estimator that needs no argument, by the name the command line gives it. `SwapChain` needs chance to come from
somewhere, `PerGroup` a function."""

__all__ = [
    "ESTIMATORS",
    "Auto",
    "BeliefPropagation",
    "ConfidenceSum",
    "DirichletMultinomial",
    "Exact",
    "Mixed",
    "Omega",
    "PerGroup",
    "RandomWorlds",
    "Sinkhorn",
    "SwapChain",
    "TooLarge",
]
