"""Posterior estimators: each a frozen settings object, ``estimator(problem) -> Posterior``."""

from collections.abc import Callable

from foreknow.models.estimators.confidence_sum import ConfidenceSum
from foreknow.models.estimators.exact import Exact, TooLarge
from foreknow.models.estimators.omega import Omega
from foreknow.models.estimators.per_group import PerGroup
from foreknow.models.estimators.random_worlds import RandomWorlds
from foreknow.models.problem import Estimator

ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "random-worlds": RandomWorlds,
    "confidence-sum": ConfidenceSum,
    "omega": Omega,
    "exact": Exact,
}
"""Every estimator that needs no argument, by the name the command line gives it."""

__all__ = ["ESTIMATORS", "ConfidenceSum", "Exact", "Omega", "PerGroup", "RandomWorlds", "TooLarge"]
