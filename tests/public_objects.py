"""An object of each public class, for the tests that every class passes."""

import dataclasses
import inspect
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from hostile_report import hostile
from patients import KNOWLEDGE, LINKING, patients
from strategies import MIXED, history_of

import foreknow.app.disk
import foreknow.attacks
import foreknow.defenses
import foreknow.evaluation
import foreknow.models
from foreknow import attacks, defenses, evaluation, models
from foreknow.app import disk as large
from foreknow.app.disk.measures import LargeMeasures
from foreknow.defenses.injector import negative_rules
from foreknow.models import Adversary, MarkovChain, Release, UniformPrior, View
from foreknow.models.foreground.fit import FitStatus
from foreknow.models.knowledge.compromised_records import Claims
from foreknow.models.programs import CalibrationRanks, PosteriorDraws, ProgramPosterior
from foreknow.models.unknown_draws import UnknownDraws

HISTORY = history_of(("ABC", "abc"), ("AB", "ba"))
VIEW = HISTORY[0]
PEOPLE = VIEW.people
GROUPING = models.Grouping([0, 0, 3], [1, 0, 2], [[3, 1]], ("one note",))
RELEASES = (Release(VIEW, GROUPING), Release(HISTORY[1], [0, 0]))
STEP = np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]])
THIRDS = np.full((3, 3), 1 / 3)
CHAIN = MarkovChain(1, STEP)
ADVERSARY = Adversary(UniformPrior(), CHAIN)
RECORDS = models.CompromisedRecords(
    pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [1], "confidence": [0.5]})
)
MEMBERSHIP = models.GivenMembership(
    pd.DataFrame({"respondent": ["A"], "group": [0], "time": [1], "probability": [0.5]})
)
PROBLEM = models.Problem(THIRDS, np.array([0, 0, 1]), np.array([[1, 1, 0], [0, 0, 1]]))
JOINT = models.joint_history(ADVERSARY, [release.observation for release in RELEASES])
SAMPLER = models.PathSampler(20, 2, 5, rng=np.random.default_rng(1))
EVIDENCE = models.Evidence(np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([[2, 1]]), np.array([0.5, 0.5]))
ITEM_RELEASE = models.ItemRelease(Release(patients(), [0, 0, 1, 1]), LINKING, LINKING.items_of(patients()))
TABLE = models.PublishedTable(
    pd.DataFrame({"A": ["s1", "s2", "s1", "s2"], "group": [1, 1, 2, 2], "X": ["x", "y", "x", "y"]}), sensitive="X"
)
FOREGROUND = attacks.ForegroundAttack(sensitive_set={"x"}, support=1)([TABLE])
DESIGN = models.RegressionDesign.fit(HISTORY)
CLASSES = models.ClassFrequencies({}, np.full(3, 1 / 3))
RNG = {"rng": np.random.default_rng(3)}
RULES = View(
    pd.DataFrame({"id": range(40), "sex": ["M", "F"] * 20, "illness": ["flu", "flu", "gout", "flu"] * 10}),
    models.Schema({"sex": models.Categorical(("M", "F"))}, "illness", ("flu", "gout")),
)
CLEANED = models.Cleaning()(
    pd.DataFrame({"illness": ["flu", "gout"]}), models.ColumnRoles("illness", respondent=None, time=None)
)
SPREADING = dataclasses.replace(ADVERSARY, cascade=models.PriorCascade())
RELATIONS = models.Relations(nx.Graph([("A", "B")]), STEP + STEP.T)
LINKED = attacks.LinkingAttack(LINKING)([ITEM_RELEASE])
UNSURE = Adversary(UniformPrior(), models.DirichletChain.fit(HISTORY, 1))
AVERAGED = models.Averaged([ADVERSARY, Adversary(UniformPrior())])
FOLDER = tempfile.TemporaryDirectory()
pd.concat(view.frame.assign(week=view.time) for view in HISTORY).to_parquet(Path(FOLDER.name) / "visits.parquet")
ON_DISK = large.LargeTable.infer(Path(FOLDER.name) / "visits.parquet", ["age"], time="week")
PUBLISHED = large.publish_large(
    ON_DISK, defenses.Mondrian(defenses.KAnonymity(1)), Path(FOLDER.name) / "published", seed=1
)
MEASURED = LargeMeasures(pd.DataFrame({"gain": [0.0]}), pd.DataFrame({"suppressed": [0.0]}), 3, 1, 0, None)


def build(problem):
    """A program that is never sampled."""
    return problem


def shares(prior, counts):
    """Shares of each group."""
    return np.tile(counts / counts.sum(), (len(prior), 1))


def class_of(people):
    """One class."""
    return np.zeros(len(people), dtype=np.int64)


UNKNOWN = UnknownDraws(0, {"a": np.zeros((2, 8, 1))}, {"a": ("home",)}, {"home": ("hill",)})

NOISY = defenses.publish([VIEW], defenses.NoisyCounts(2, 3, gain=0.2, **RNG))[0]

GIVEN = [
    *(HISTORY, VIEW, PEOPLE, GROUPING, RELEASES[0], RELEASES[0].observation, MIXED, MIXED.quasi_identifiers["town"]),
    *(models.Numeric(0, 9), MIXED.quasi_identifiers["town"].hierarchy, TABLE, RECORDS, PROBLEM, models.Exact()(PROBLEM)),
    *(ADVERSARY, AVERAGED, CHAIN, models.GivenPrior(pd.DataFrame(THIRDS, list("ABC"), list("abc")))),
    *(models.PriorByTime({1: UniformPrior()}), CLASSES, models.DirichletFrequencies.fit(HISTORY, {})),
    *(models.DirichletChain.fit(HISTORY, 1), models.ChainByRelease.extracted(HISTORY, 1), models.ChainByRelease.fit(HISTORY)),
    *(models.KernelPrior.fit(HISTORY, bandwidth=0.5), models.RegressionPrior(DESIGN, np.zeros(3), np.zeros((1, 3)))),
    *(DESIGN, models.TransitionsByClass(class_of, (CHAIN,)), Claims(*[np.zeros(2, dtype=np.int64)] * 3)),
    *(models.SwapChain(**RNG), models.GibbsSampling(**RNG), SAMPLER, models.ProgramEstimator(build, **RNG)),
    *(ProgramPosterior(build, ("belief",)), PosteriorDraws({"a": np.zeros(3)}, 0), UNKNOWN, models.PerGroup(shares)),
    *(CalibrationRanks({"a": np.array([0.5])}, np.array([0])), JOINT, JOINT.problem, SAMPLER(JOINT.problem)),
    *(models.MaxEntropy()(JOINT.problem), models.LearnedKnowledge.fit([r.observation for r in RELEASES])),
    *(models.Memory(), EVIDENCE, models.ExpectationMaximization()(EVIDENCE, models.Exact()), KNOWLEDGE, LINKING, ITEM_RELEASE),
    *(ITEM_RELEASE.observation, ITEM_RELEASE.published, models.Simulation(HISTORY, UniformPrior(), CHAIN)),
    *(models.links(ITEM_RELEASE.published, KNOWLEDGE), FOREGROUND, FOREGROUND.knowledge[0][0], models.Status.CONTRADICTED),
    *(FitStatus(1), attacks.ConditionalProbability("flu", {"sex": "m"}, 0.5), attacks.SequentialAttack(AVERAGED)),
    *(attacks.DataAugmentationAttack(UNSURE, **RNG), attacks.Influence(SPREADING), attacks.JointAttack(ADVERSARY)),
    *(attacks.MinimalityAttack(2, {"a"}), attacks.RetrospectiveAttack(ADVERSARY), attacks.SignatureAttack(ADVERSARY)),
    *(attacks.SnapshotAttack(ADVERSARY), attacks.LinkingAttack(LINKING), LINKED),
    *(attacks.OthersKnown(attacks.SnapshotAttack(ADVERSARY), HISTORY), evaluation.Scenario()),
    *(attacks.WithoutGroups(attacks.SnapshotAttack(ADVERSARY)), models.Presence([0.1, 0.2, 0.3]), models.Visits.of_now(PEOPLE, 0)),
    *(RELATIONS, evaluation.simulated_families(1, 1, rng=1)),
    *(models.UnlabeledObservation(PEOPLE, np.zeros((1, 1)), np.ones((1, 1)), np.array([[2, 1, 0]])), MEMBERSHIP),
    *(LINKED.releases[0], defenses.KAnonymity(2), defenses.TCloseness(0.5)),
    *(defenses.KAnonymity(2) & defenses.TCloseness(0.5), defenses.KAnonymity(2) | defenses.TCloseness(0.5)),
    *(defenses.BTPrivacy(0.5, 0.5), defenses.BasicBetaLikeness(2.0), defenses.BetaLikeness(2.0), defenses.DistinctDiversity(2)),
    *(defenses.EntropyDiversity(2), defenses.FrequencyDiversity(2), defenses.RecursiveDiversity(1.0, 2)),
    *(defenses.JSimilarity(0.5), defenses.PosteriorBound(0.5), defenses.QSCloseness(0.5, LINKING)),
    *(defenses.QSDiversity(1.0, 2, LINKING), defenses.Mondrian(defenses.KAnonymity(2)), defenses.Anatomy(2, **RNG)),
    *(defenses.FullDomain(defenses.KAnonymity(2)), defenses.JSReduce(2, 0.5, 0.5), defenses.BKAA(2, 1.0, 0.5)),
    *(defenses.UHRA(2, 0.5, 0.5), defenses.KPrimacy(2, 1.0, 0.5), defenses.MASK(2, 2, {"a"}, **RNG)),
    *(defenses.Cohorts(2, **RNG), models.GhostChain()),
    *(defenses.Injector(2, **RNG), defenses.MInvariance(2, **RNG), defenses.ForegroundSafe(2, {"a"}, **RNG)),
    *(defenses.ItemSuppression(defenses.QSDiversity(1.0, 2, LINKING)), negative_rules(RULES)),
    *(negative_rules(RULES).rules[0], defenses.summarize_records(VIEW, THIRDS, members=True)),
    defenses.summarize_records(VIEW, THIRDS).table,
    evaluation.compare(HISTORY, {"M": defenses.Mondrian(defenses.KAnonymity(1))}, {"s": attacks.SnapshotAttack(ADVERSARY)}),
    models.SampledKnowledge.fit([r.observation for r in RELEASES], sampler=models.PathSampler(20, 2, rng=1)),
    defenses.ItemSuppression(defenses.QSDiversity(2.0, 2, LINKING))(ITEM_RELEASE.release),
    evaluation.Workload.draw(HISTORY, rng=0, queries=2, sanity_bound=1),
    *(evaluation.BeliefBounds((RELEASES[0].observation,), (THIRDS,)), defenses.Cohorts(2, **RNG)),
    evaluation.SolverCalibration(2, 4, 1, 1, 0.9, 0.3, -0.5, -0.6, 0.2),
    hostile(),
    *(NOISY, NOISY.made, NOISY.made.cells, NOISY.made.noise, defenses.NoisyCounts(2, 3, gain=0.2, **RNG)),
    defenses.NoisyCounts(2, 3, gain=0.2, **RNG).promise,
    evaluation.certificate(RELEASES[1:], defenses.Mondrian(defenses.KAnonymity(2))),
    *(ON_DISK, PUBLISHED, *PUBLISHED.releases[:1], MEASURED),
    *(models.Cleaning(), models.ColumnRoles("illness", ["sex"]), CLEANED, models.InputFaults((), ())),
]  # fmt: skip
"""Objects of the classes whose constructors need arguments, and results of attacks, estimators and solvers."""

BELIEFS = [
    attacks.SequentialAttack(each)(RELEASES) if each is ADVERSARY else attacks.SequentialAttack(each)(RELEASES[1:])
    for each in (ADVERSARY, AVERAGED)
]


def public_classes():
    """Each public class that is no interface, by name."""
    packages = (foreknow.models, foreknow.attacks, foreknow.defenses, foreknow.evaluation, foreknow.app.disk)
    for package in packages:
        for name in package.__all__:
            target = getattr(package, name)
            if (
                inspect.isclass(target)
                and not inspect.isabstract(target)
                and not getattr(target, "_is_protocol", False)
            ):
                yield name, target


def public_objects():
    """Pairs of the name of a public class and an object of it."""
    objects = [*GIVEN, *BELIEFS, BELIEFS[0].releases[0], BELIEFS[1].draws]
    found = {type(each).__name__ for each in objects}
    defaults = [target() for name, target in public_classes() if name not in found]
    return [(type(each).__name__, each) for each in [*objects, *defaults]]
