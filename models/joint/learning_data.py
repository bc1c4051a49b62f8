"""Observations in the form from which a law is learned: paths with classes, steps of each chain, and the first law."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from foreknow.models.adversary import Adversary
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.building import JointHistory, check_one_domain, joint_history
from foreknow.models.joint.expected_counts import ChainLaw
from foreknow.models.joint.problem import JointProblem
from foreknow.models.knowledge.class_frequencies import class_codes, class_cuts
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.priors import UniformPrior
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.tables.observation import Observation


class LearningData(NamedTuple):
    """History from which a law is learned.

    Attributes
    ----------
    problem : JointProblem
        The history under the first law.
    cuts : dict of str to tuple of float
        Cuts of each attribute that defines classes, as in `ClassFrequencies`.
    classes : int array, shape (respondents,)
        Class of each path of a respondent, at its first record.
    powers : int array, shape (K,)
        Number of steps of each chain.
    start : ChainLaw
        The first law.
    """

    problem: JointProblem
    cuts: dict[str, tuple[float, ...]]
    classes: IntArray
    powers: IntArray
    start: ChainLaw


def learning_data(
    owner: str, observations: tuple[Observation, ...], classes: Mapping[str, int | None], gaps: GapRule, order: int
) -> LearningData:
    """History of observations under the first law.

    The first law has the published distribution as prior. Each row of its transitions is half of it, with half staying.

    Raises
    ------
    ValueError
        If no record is published; the message begins with ``owner``. If the releases differ in their sensitive domain.
    """
    check_one_domain(observations)
    shown = sum((observation.counts.sum(axis=0) for observation in observations), np.zeros(1))
    if not shown.any():
        raise ValueError(f"{owner}: the releases publish no record; there is nothing to learn from.")
    cuts = class_cuts(owner, observations[0].people.schema, classes)
    chain = MarkovChain(order, _first_table(shown / shown.sum(), order))
    history = joint_history(Adversary(UniformPrior(), chain, gaps=gaps), observations)
    problem = history.problem
    number = int(np.prod([len(cut) + 1 for cut in cuts.values()], dtype=np.int64))
    tables = chain.tables if (problem.layout.previous >= 0).any() else ()
    start = ChainLaw(np.tile(shown / shown.sum(), (number, 1)), tables)
    return LearningData(problem, cuts, _path_classes(history, cuts), _powers(problem, gaps, order), start)


def _first_table(shown: FloatArray, order: int) -> FloatArray:
    """Transitions at the start: half staying at the last value, half to the published distribution."""
    m = len(shown)
    return np.broadcast_to((np.eye(m) + shown) / 2, (m,) * (order + 1)).copy()


def _path_classes(history: JointHistory, cuts: Mapping[str, tuple[float, ...]]) -> IntArray:
    """Class of each path of a respondent, at its first record."""
    problem = history.problem
    of_record = np.zeros(len(problem.path), dtype=np.int64)
    for observation, record in zip(history.observations, history.record, strict=True):
        inside = record >= 0
        of_record[record[inside]] = class_codes(cuts, observation.people)[inside]
    first = np.flatnonzero((problem.layout.previous < 0) & (problem.path < problem.respondents))
    classes = np.zeros(problem.respondents, dtype=np.int64)
    classes[problem.path[first]] = of_record[first]
    return classes


def _powers(problem: JointProblem, gaps: GapRule, order: int) -> IntArray:
    """Number of steps of each chain."""
    at = problem.layout
    powers = np.ones(len(problem.tables[0]) if problem.tables else 1, dtype=np.int64)
    if gaps == "power" and order == 1:
        later = np.flatnonzero(at.previous >= 0)
        when = problem.release[problem.group]
        powers[problem.chain[later]] = when[later] - when[at.previous[later]]
    return powers
