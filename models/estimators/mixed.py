"""BayFrame's combination of two estimators, one for small groups and one for large groups."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.arguments import check_is_estimator, check_problem
from foreknow.models.estimators.by_group import by_group
from foreknow.models.estimators.dirichlet_multinomial import DirichletMultinomial
from foreknow.models.estimators.omega import Omega
from foreknow.models.problem import Estimator, Posterior, Problem
from foreknow.models.settings import check_choice, is_whole


@dataclass(frozen=True)
class Mixed:
    """``small`` for groups of at most ``size`` members and ``large`` for the others, as in BayFrame's experiments.

    The posterior's ``rule`` has the name of each group's estimator.

    Definition 6 adds the pseudo-counts of compromised records (`Problem.evidence`, from `PosteriorCascade`) to the Dirichlet
    parameters of the assignments that they match. `Omega` has no such parameters, and the paper does not say what the
    definition means there. Section 4.4.2 keeps claims out of the revised prior, which is all that `Omega` reads. So with
    ``evidence="drop"`` the claims of a large group have no effect in it. ``evidence="prior"`` reads a prior row as the mean
    of a Dirichlet distribution of concentration 1, as each assignment has, and adds the pseudo-counts M to it::

        prior[i, s] = (P[i, s] + M[i, s]) / (1 + sum over r of M[i, r])

    Parameters
    ----------
    small, large : Estimator
        ``small`` receives the evidence and refuses it where it cannot read it; ``large`` never receives it.
    size : int
        Largest number of members of a small group. The paper says "when a QI-group is large" and gives no number.
    evidence : {"drop", "prior"}
        Use of the evidence in large groups.

    Raises
    ------
    ValueError
        If the size is not a whole number of at least 0, or ``evidence`` is another word. When called, the errors of the
        estimators.
    TypeError
        If ``small`` or ``large`` is no estimator. When called with anything but a `Problem`.

    Notes
    -----
    Not Bayesian inference, as neither of the default estimators is. Amiri et al., Transactions on Data Privacy 12 (2019),
    sections 4.3.1 and 4.4.2. Cost: that of the two estimators, and O(n m).

    Examples
    --------
    >>> problem = Problem(
    ...     np.array([[0.9, 0.1], [0.5, 0.5], [0.9, 0.1], [0.5, 0.5], [0.5, 0.5]]),
    ...     np.array([0, 0, 1, 1, 1]),
    ...     np.array([[1, 1], [1, 2]]),
    ... )
    >>> Mixed(size=2)(problem).rule
    array(['DirichletMultinomial', 'Omega'], dtype=object)
    """

    small: Estimator = field(default_factory=DirichletMultinomial)
    large: Estimator = field(default_factory=Omega)
    size: int = 8
    evidence: Literal["drop", "prior"] = "drop"
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_is_estimator("Mixed", "small", self.small)
        check_is_estimator("Mixed", "large", self.large)
        if not is_whole(self.size, 0):
            raise ValueError(f"Mixed: size is {self.size!r}; it is a number of members, 0 or more. The default is 8.")
        check_choice("Mixed", "evidence", self.evidence, ("drop", "prior"))

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem, reads_evidence=True)
        prior = problem.prior if self.evidence == "drop" else _prior_with_evidence(problem)
        without_evidence = Problem(prior, problem.group, problem.counts)
        is_large = (problem.sizes > self.size).astype(np.int64)
        return by_group(((self.small, problem), (self.large, without_evidence)), is_large)


def _prior_with_evidence(problem: Problem) -> FloatArray:
    """Priors with the evidence added, rows normalized."""
    if problem.evidence is None:
        return problem.prior
    return np.asarray((problem.prior + problem.evidence) / (1 + problem.evidence.sum(axis=1, keepdims=True)))
