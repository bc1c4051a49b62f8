"""Beliefs about each release of a history, from a joint posterior."""

from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.joint.building import JointHistory
from foreknow.models.joint.posterior import JointPosterior
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.personal_transitions import chains_at, classes_of
from foreknow.models.problem import Posterior
from foreknow.models.settings import check_flag, check_kind


def release_beliefs(
    history: JointHistory, posterior: JointPosterior, hindsight: bool = True
) -> tuple[ReleaseBeliefs, ...]:
    """Beliefs about each release of a history.

    The posterior of a record is that of the joint law. The posterior of a suppressed record that is not in the law is the
    prediction of the chain from the belief about the last record of its respondent before, or the prior.

    Parameters
    ----------
    history : JointHistory
    posterior : JointPosterior
        Of the problem of the history.
    hindsight : bool
        False if the posterior of each release is given the releases up to it: the revised prior is then the prediction from the
        beliefs after the releases before. True if it is given all releases: all of them are one observation, and the revised prior
        is the prediction of prior and transitions before any release.

    Notes
    -----
    For chains of order d over 1 predictions use the transitions after one value. Cost: O(n m^2) per release.
    """
    check_kind("release_beliefs", "history", history, JointHistory, "is a JointHistory; make one by joint_history")
    takes = "is a JointPosterior, which a joint solver returns"
    check_kind("release_beliefs", "posterior", posterior, JointPosterior, takes)
    check_flag("release_beliefs", "hindsight", hindsight)
    found = []
    unconditional = np.zeros((len(history.problem.prior), history.problem.values))
    for t, observation in enumerate(history.observations):
        prior = history.adversary.prior_rows(observation.people)
        before = history.before[t]
        some = len(before) > 0 and len(history.problem.path) > 0
        predicted = _predicted(history, t, prior, posterior.rows(np.maximum(before, 0)) if some else prior)
        revised = predicted
        if hindsight and some:
            revised = _predicted(history, t, prior, unconditional[history.problem.path[before]])
            inside = np.flatnonzero(history.record[t] >= 0)
            unconditional[history.problem.path[history.record[t][inside]]] = revised[inside]
        arrays = _posterior(history, posterior, t, predicted)
        found.append(ReleaseBeliefs(observation, prior, revised, arrays))
    return tuple(found)


def _posterior(history: JointHistory, posterior: JointPosterior, t: int, predicted: FloatArray) -> Posterior:
    """Posterior of the rows of a release, with the diagnostics of a solver that samples."""
    inside = np.flatnonzero(history.record[t] >= 0)
    record = history.record[t][inside]
    # Releases without published records at the end of the history have no entry in the layout.
    first, number = int(np.searchsorted(posterior.problem.release, t)), len(history.observations[t].counts)
    arrays: dict[str, Any] = {}
    for name, default in (("standard_error", 0.0), ("ess", np.nan), ("rhat", np.nan)):
        numbers = getattr(posterior, name)
        if numbers is not None:
            arrays[name] = np.full(predicted.shape, default)
            arrays[name][inside] = posterior.rows(record, numbers)
    beliefs = predicted.copy()
    beliefs[inside] = posterior.rows(record)
    rule = np.full(number, posterior.rule, dtype=object)
    return Posterior(beliefs, posterior.status[first : first + number], rule=rule, **arrays)


def _predicted(history: JointHistory, t: int, prior: FloatArray, belief: FloatArray) -> FloatArray:
    """Prediction of the chain for each row of a release from the belief about the last record before; the prior where none is."""
    transitions, before = history.adversary.transitions, history.before[t]
    seen = np.flatnonzero(before >= 0)
    revised = prior.copy()
    if transitions is None or not len(seen):
        return revised
    when: IntArray = history.problem.release[history.problem.group[before[seen]]]
    through, last = history.classes[before[seen]], classes_of(transitions, history.observations[t].people)[seen]
    for start in np.unique(when):
        some = when == start
        rows = seen[some]
        onward = belief[rows]
        for step in range(start + 1 if history.adversary.gaps == "power" else t, t + 1):
            onward = _stepped(onward, chains_at(transitions, step), (last if step == t else through)[some])
        totals = onward.sum(axis=1, keepdims=True)
        revised[rows] = np.divide(onward, totals, out=revised[rows], where=totals > 0)
    return revised


def _stepped(belief: FloatArray, chains: tuple[MarkovChain, ...], classes: IntArray) -> FloatArray:
    """Beliefs after one step of the chain of each row's class, by the transitions after one value."""
    if len(chains) == 1:
        return np.asarray(belief @ chains[0].tables[0])
    onward = np.zeros(belief.shape)
    for number in np.unique(classes):
        some = classes == number
        onward[some] = belief[some] @ chains[number].tables[0]
    return onward
