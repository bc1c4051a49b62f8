"""Beliefs about each release of a history, from a joint posterior."""

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.joint.building import JointHistory
from foreknow.models.joint.posterior import JointPosterior
from foreknow.models.problem import Posterior


def release_beliefs(history: JointHistory, posterior: JointPosterior) -> tuple[ReleaseBeliefs, ...]:
    """Beliefs about each release of a history.

    The posterior of a record is that of the joint law. The revised prior of a respondent is the prediction of the chain from the
    belief about the last record before, or the prior where there is none; it is also the posterior of a suppressed record that is
    not in the law.

    Notes
    -----
    For chains of order d over 1 the prediction uses the transitions after one value. Cost: O(n m^2) per release.
    """
    return tuple(_one_release(history, posterior, t) for t in range(len(history.observations)))


def _one_release(history: JointHistory, posterior: JointPosterior, t: int) -> ReleaseBeliefs:
    observation, record = history.observations[t], history.record[t]
    prior = history.adversary.prior_rows(observation.people)
    revised = _predicted(history, posterior, t, prior)
    inside = np.flatnonzero(record >= 0)
    first = int(posterior.problem.layout.release_starts[t])
    groups = slice(first, first + len(observation.counts))
    arrays: dict[str, FloatArray] = {}
    for name in ("standard_error", "ess", "rhat"):
        numbers = getattr(posterior, name)
        if numbers is not None:
            arrays[name] = np.full(revised.shape, 0.0 if name == "standard_error" else np.nan)
            arrays[name][inside] = posterior.rows(record[inside], numbers)
    beliefs = revised.copy()
    beliefs[inside] = posterior.rows(record[inside])
    rule = np.full(len(observation.counts), posterior.rule, dtype=object)
    return ReleaseBeliefs(
        observation, prior, revised, Posterior(beliefs, posterior.status[groups], rule=rule, **arrays)
    )


def _predicted(history: JointHistory, posterior: JointPosterior, t: int, prior: FloatArray) -> FloatArray:
    """Prediction of the chain from the belief about the last record of each respondent before a release."""
    transitions, before = history.adversary.transitions, history.before[t]
    seen = np.flatnonzero(before >= 0)
    revised = prior.copy()
    if transitions is None or not len(seen):
        return revised
    problem = posterior.problem
    when = problem.release[problem.group[before[seen]]]
    for start in np.unique(when):
        rows = seen[when == start]
        belief = posterior.rows(before[rows])
        for step in range(start + 1 if history.adversary.gaps == "power" else t, t + 1):
            belief = belief @ transitions.at(step).tables[0]
        totals = belief.sum(axis=1, keepdims=True)
        revised[rows] = np.divide(belief, totals, out=revised[rows], where=totals > 0)
    return revised
