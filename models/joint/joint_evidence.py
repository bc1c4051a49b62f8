"""Logarithm of the probability of all published counts of a history under an adversary's knowledge."""

import numpy as np

from foreknow.models.estimators.log_evidence import log_evidence
from foreknow.models.joint.max_entropy import MaxEntropy
from foreknow.models.joint.posterior import JointPosterior
from foreknow.models.problem import Problem
from foreknow.models.settings import check_kind


def joint_log_evidence(posterior: JointPosterior) -> float:
    """Log-probability of all published counts, by which the releases weigh one knowledge against another.

    Parameters
    ----------
    posterior : JointPosterior
        Of an exact solver, of `MaxEntropy`, or of a solver that starts with it and keeps its posterior. For the posterior of
        another solver, `MaxEntropy` solves the problem.

    Raises
    ------
    TypeError
        If ``posterior`` is no `JointPosterior`.

    Notes
    -----
    Exact for `Enumeration`. For `MaxEntropy`, with Q the tilted law, ``log P(counts) = -KL(Q || P) + log Q(counts)``, where the
    probability of all counts under Q is approximated by the product over groups (`log_evidence`). It is exact for one release with
    small groups; what it neglects are correlations under Q between the counts of groups that share respondents. Counts of distorted
    values are treated as counts of own values in the second term. Cost: that of `log_evidence` on all groups.
    """
    check_kind("joint_log_evidence", "posterior", posterior, JointPosterior, "is a JointPosterior of a solver")
    if posterior.log_evidence is not None:
        return posterior.log_evidence
    if posterior.log_tilted is None:
        posterior = posterior.relaxed or MaxEntropy()(posterior.problem)
    assert posterior.log_tilted is not None
    problem = posterior.problem
    published = np.where(problem.constrained[problem.group], problem.group, -1)
    counts = np.where(problem.constrained[:, None], problem.counts, 0)
    rows = posterior.rows(np.arange(len(problem.path)))
    return posterior.log_tilted + float(log_evidence(Problem(rows, published, counts)).sum())
