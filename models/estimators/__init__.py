"""Posterior estimators: frozen settings objects, ``estimator(problem) -> Posterior``.

Each file has one estimator, in one shape: a frozen dataclass with its settings as fields, checked in ``__post_init__``; a flag
``exact``; ``__call__(problem)`` for a whole release; below it the compiled kernels. Two files hold what several share:
``assignments`` the kernels over the assignments of one group, ``convergence`` effective sample size and R-hat.
"""

from collections.abc import Callable

from foreknow.models.estimators.auto import Auto, Mixed
from foreknow.models.estimators.belief_propagation import BeliefPropagation
from foreknow.models.estimators.closed_form import ConfidenceSum, DirichletMultinomial, PerGroup, RandomWorlds
from foreknow.models.estimators.exact import Exact, TooLarge
from foreknow.models.estimators.sinkhorn import Omega, Sinkhorn
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
"""Estimators that need no argument, by their names on the command line. `SwapChain` needs a random generator, `PerGroup` a
function, and `ProgramEstimator` (of ``foreknow.models.programs``) both."""

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
