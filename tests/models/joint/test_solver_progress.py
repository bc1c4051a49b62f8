"""Progress of joint solvers: one item for each part of a solution, and the same posterior."""

import numpy as np
import pytest

from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.evaluation import exams
from foreknow.models import (
    JOINT_SOLVERS,
    Adversary,
    GroupMessages,
    JointAuto,
    MarkovChain,
    MaxEntropy,
    PathSampler,
    UniformPrior,
    joint_history,
)
from foreknow.models.joint.messages import thresholds
from foreknow.models.joint.problem import with_progress

SOLVERS = {
    "MaxEntropy": MaxEntropy(1e-3),
    "MaxEntropy with a tolerance over the first threshold": MaxEntropy(2.0),
    "GroupMessages": GroupMessages(),
    "JointAuto": JointAuto(),
    "JointAuto with MaxEntropy": JointAuto(otherwise=MaxEntropy()),
    "PathSampler": PathSampler(sweeps=4, chains=2, rng=1),
}


@pytest.fixture(scope="module")
def problem():
    """Three releases of 40 exams."""
    simulated = exams(views=3, records=40, rng=1)
    releases = publish(simulated.history, Mondrian(KAnonymity(4)), rng=1)
    adversary = Adversary(UniformPrior(), MarkovChain.fit(simulated.history))
    return joint_history(adversary, [release.observation for release in releases]).problem


class Recorded:
    """Progress that keeps the numbers of all parts and of the parts taken."""

    def __init__(self):
        self.parts, self.taken = [], []

    def __call__(self, parts):
        self.parts.append(len(parts))
        self.taken.append(0)
        for part in parts:
            self.taken[-1] += 1
            yield part


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("forward", [False, True], ids=["hindsight", "forward"])
def test_parts_are_taken_from_one_sequence(solver, forward, problem):
    """Forward, each release is a part; MaxEntropy may need thresholds beyond those counted, and never takes more items."""
    progress = Recorded()
    shown = with_progress(solver, progress)
    (shown.forward if forward else shown)(problem)
    assert len(progress.parts) == 1
    assert 1 <= progress.taken[0] <= progress.parts[0]
    if forward:
        twice = isinstance(solver, GroupMessages)
        assert progress.taken == progress.parts == [(2 if twice else 1) * problem.releases]


def test_parts_of_group_messages_are_thresholds_and_one_for_each_release(problem):
    progress = Recorded()
    GroupMessages(progress=progress)(problem)
    assert progress.parts == [len(thresholds(GroupMessages().tolerance)) + problem.releases]


@pytest.mark.parametrize("solver", list(SOLVERS.values())[:-1], ids=list(SOLVERS)[:-1])
def test_the_posterior_does_not_depend_on_the_progress(solver, problem):
    silent, shown = solver(problem), with_progress(solver, Recorded())(problem)
    np.testing.assert_array_equal(silent.beliefs, shown.beliefs)


def test_a_solver_with_progress_equals_one_without():
    """Progress is not a setting of the result."""
    for solver in SOLVERS.values():
        assert with_progress(solver, list) == solver
        assert repr(with_progress(solver, list)) == repr(solver)


def test_a_solver_without_progress_is_unchanged():
    enumeration = JOINT_SOLVERS["enumeration"]()
    assert with_progress(enumeration, list) is enumeration


@pytest.mark.parametrize("kind", [MaxEntropy, GroupMessages, JointAuto])
def test_progress_is_a_function(kind):
    with pytest.raises(TypeError, match="progress is 3; it is a function of the parts of a solution"):
        kind(progress=3)
