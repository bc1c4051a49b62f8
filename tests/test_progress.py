"""Progress of long calls: results do not depend on it, and each step takes one item."""

import pandas as pd
import pytest
from public_objects import ADVERSARY, HISTORY, ITEM_RELEASE, JOINT, LINKING, PROBLEM, RELEASES, UNSURE

from foreknow.app import report
from foreknow.attacks import DataAugmentationAttack, ForegroundAttack, JointAttack, LearnedAttack, SnapshotAttack
from foreknow.defenses import ItemSuppression, KAnonymity, Mondrian, QSDiversity, publish
from foreknow.evaluation import Workload, certificate, compare, compare_knowledge, query_error, worst_case
from foreknow.models import (
    Adversary,
    LearnedKnowledge,
    PathSampler,
    ProgramEstimator,
    PublishedTable,
    SampledKnowledge,
    UniformPrior,
)
from foreknow.models.equality import same
from foreknow.models.programs import calibration_ranks

ATTACK = SnapshotAttack(ADVERSARY)
OBSERVATIONS = [release.observation for release in RELEASES]
TABLES = [
    PublishedTable(
        pd.DataFrame({"A": list("stst"), "B": list("uvvu"), "group": [1, 1, 2, 2], "X": list("xyxy")}), "X", time=time
    )
    for time in (1, 2)
]
WORKLOAD = Workload.draw(HISTORY, rng=0, queries=2, sanity_bound=1)


def known(problem):
    """A program without unknown quantities."""
    import pymc as pm

    with pm.Model() as model:
        pm.Deterministic("belief", pm.Data("rows", problem.prior))
    return model


def sampler(progress):
    return PathSampler(20, 2, 4, rng=1, progress=progress)


CALLS = {
    "publish": lambda progress: publish(HISTORY, Mondrian(KAnonymity(2)), rng=1, progress=progress),
    "compare": lambda progress: compare(
        HISTORY, {"m": Mondrian(KAnonymity(2))}, {"s": ATTACK}, rng=1, progress=progress
    ),
    "worst_case": lambda progress: worst_case(RELEASES, {"s": ATTACK, "t": ATTACK}, progress=progress),
    "compare_knowledge": lambda progress: compare_knowledge(
        RELEASES, {"a": ADVERSARY, "b": Adversary(UniformPrior())}, draws=0, progress=progress
    ),
    "certificate": lambda progress: certificate(RELEASES, Mondrian(KAnonymity(2)), progress=progress),
    "report": lambda progress: report(RELEASES, ADVERSARY, lambda _: ADVERSARY, draws=2, rng=1, progress=progress),
    "ItemSuppression": lambda progress: (
        ItemSuppression(QSDiversity(2.0, 2, LINKING), nodes=9)(ITEM_RELEASE.release, progress).release
    ),
    "LearnedKnowledge.fit": lambda progress: LearnedKnowledge.fit(OBSERVATIONS, progress=progress),
    "SampledKnowledge.fit": lambda progress: SampledKnowledge.fit(OBSERVATIONS, sampler=sampler(progress)).posterior,
    "PathSampler": lambda progress: sampler(progress)(JOINT.problem),
    "PathSampler.forward": lambda progress: sampler(progress).forward(JOINT.problem),
    "PathSampler.draws": lambda progress: sampler(progress).draws(JOINT.problem, 3),
    "LearnedAttack": lambda progress: LearnedAttack(progress=progress)(RELEASES),
    "DataAugmentationAttack": lambda progress: DataAugmentationAttack(UNSURE, 3, 2, progress=progress, rng=1)(RELEASES),
    "DataAugmentationAttack.learned": lambda progress: DataAugmentationAttack(
        UNSURE, 3, 2, progress=progress, rng=1
    ).learned(RELEASES),
    "ForegroundAttack": lambda progress: ForegroundAttack(support=1, progress=progress)(TABLES),
    "ForegroundAttack.mine": lambda progress: ForegroundAttack(support=1, progress=progress).mine(
        TABLES[0].observation
    ),
    "query_error": lambda progress: query_error(RELEASES, WORKLOAD, progress=progress),
    "JointAttack": lambda progress: JointAttack(ADVERSARY, sampler(progress))(RELEASES),
    "ProgramEstimator": lambda progress: ProgramEstimator(known, rng=1, progress=progress)(PROBLEM),
    "calibration_ranks": lambda progress: calibration_ranks(
        lambda rng: ({"a": rng.random()}, None), lambda _, rng: {"a": rng.random(9)}, 3, rng=1, progress=progress
    ),
}
STEPS = {
    "publish": 2, "certificate": 2, "compare": 1, "worst_case": 2, "compare_knowledge": 2, "report": 2 * (1 + 2) + 5 + 1,
    "LearnedKnowledge.fit": 4 + 9, "SampledKnowledge.fit": 2 * (10 + 1 + 20),
    "PathSampler": 2 * (10 + 1 + 20), "PathSampler.forward": 2, "PathSampler.draws": 2 * (10 + 1),
    "LearnedAttack": 4 + 9, "DataAugmentationAttack": 3 * 2, "DataAugmentationAttack.learned": 3 * 2,
    "ForegroundAttack": 2 * 3, "ForegroundAttack.mine": 3, "query_error": 2,
    "JointAttack": 2 * (10 + 1 + 20), "ProgramEstimator": 2, "calibration_ranks": 3,
}  # fmt: skip
"""Number of steps: views, names, pairs, adversaries; knowledge and attacks of two adversaries, five measures, and cohorts; a
first part and one for each change over .01 of .1 / 2, .1 / 4, ..., and the same over .001 of .02 divided by powers of the square
root of 2; two chains of 10 levels of annealing, the warm-up and 20 batches; three draws of two releases; the sets {A}, {B} and
{A, B} of two releases; releases; groups; simulations."""


class Watched:
    """A progress that counts its steps and the items that are taken."""

    def __init__(self):
        self.taken, self.promised = 0, 0

    def __call__(self, steps):
        self.promised += len(steps)
        for step in steps:
            self.taken += 1
            yield step


SLOW = {"ProgramEstimator": pytest.mark.slow}
"""Calls that compile a program."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in CALLS])
def test_results_do_not_depend_on_progress(name):
    watched = Watched()
    assert same(CALLS[name](watched), CALLS[name](iter))
    assert 0 < watched.taken <= watched.promised
    if name in STEPS:
        assert watched.taken == watched.promised == STEPS[name]


@pytest.mark.parametrize("name", CALLS)
def test_progress_is_a_function(name):
    with pytest.raises(TypeError, match=r"progress is 3; it is a function of|not callable"):
        CALLS[name](3)
