"""Programs that read who is published: what they receive, what is kept of them, and two worked ones against enumeration.

The two are those of notebook 15: an unknown chance of leaving after each value, and a household effect of unknown strength.
"""

import dataclasses
from itertools import permutations, product

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

from foreknow.attacks import JointAttack, RetrospectiveAttack, SequentialAttack, SnapshotAttack
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    Categorical,
    Enumeration,
    GivenPrior,
    MarkovChain,
    Mixed,
    Numeric,
    Presence,
    Problem,
    ProgramEstimator,
    Release,
    RemoveKnown,
    Schema,
    View,
    history_model,
    joint_history,
    observe_groups,
)
from foreknow.models import CompromisedRecords
from foreknow.models.estimators import TooLarge
from foreknow.models.programs import program_estimator

SCHEMA = Schema({"age": Numeric(0, 99), "home": Categorical(("hill", "lake", "mill"))}, "result", ("a", "b"), "id")
STEP = np.array([[0.8, 0.2], [0.3, 0.7]])
PRIOR = np.array([[0.5, 0.5], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8], [0.7, 0.3]])
NAMES = ["Ann", "Bob", "Cyd", "Dan", "Eve", "Fay"]
HOMES = ["hill", "lake", "hill", "mill", "lake", "mill"]
AGES = [31, 42, 53, 64, 75, 86]


def release_of(time, groups, shown):
    """Release of groups of people, numbered as `NAMES`, that show some values."""
    rows = [
        (NAMES[i], AGES[i], HOMES[i], "ab"[s], g)
        for g, (group, values) in enumerate(zip(groups, shown, strict=True))
        for i, s in zip(group, values, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["id", "age", "home", "result", "group"])
    return Release(View(frame.drop(columns="group"), SCHEMA, time), frame["group"].to_numpy())


def releases():
    """Six people in two groups; then three of them, the others have left."""
    return [
        release_of(2001, [[0, 1, 2], [3, 4, 5]], [[0, 0, 1], [0, 1, 1]]),
        release_of(2002, [[0, 3, 4]], [[0, 1, 1]]),
    ]


def adversary(estimator=None, **parts):
    prior = GivenPrior(pd.DataFrame(PRIOR, index=NAMES, columns=["a", "b"]))
    given = {} if estimator is None else {"estimator": estimator}
    return Adversary(prior, MarkovChain(1, STEP), **given, **parts)


def estimator_of(build, **settings):
    return ProgramEstimator(build, **({"draws": 8, "chains": 2, "per": "release", "rng": 1} | settings))


def effects(problem, observation):
    """Free variables of each kind of dimension, without any data but the counts."""
    with pm.Model(coords=problem.coords | {"home": SCHEMA.quasi_identifiers["home"].values}) as model:
        pm.Normal("alone")
        pm.Normal("by_value", dims="value")
        pm.Normal("by_person", dims="respondent")
        pm.Normal("by_home", dims="home")
        pm.Normal("unnamed", shape=2)
        pm.Deterministic("belief", pt.as_tensor(problem.prior), dims=("respondent", "value"))
    del observation
    return model


class TestWhatAProgramReceives:
    def received(self, per, attacked, **settings):
        """Problems and observations that a program receives in an attack."""
        found = []

        def recording(problem, observation):
            found.append((problem, observation))
            with pm.Model(coords=problem.coords) as model:
                pm.Deterministic("belief", pt.as_tensor(problem.prior), dims=("respondent", "value"))
            return model

        SequentialAttack(adversary(estimator_of(recording, per=per), **settings))(attacked)
        return found

    def test_of_a_release(self):
        for (problem, seen), release in zip(self.received("release", releases()), releases(), strict=True):
            assert seen == release.observation
            assert seen.people.respondents.tolist() == problem.coords["respondent"]
            assert problem.coords["value"] == ["a", "b"]
            assert seen.time == seen.people.time == release.time
            assert seen.people.frame["home"].tolist() == [HOMES[NAMES.index(i)] for i in problem.coords["respondent"]]

    def test_of_each_group(self):
        """Each has its members alone, under the number of the group in the release, although no two problems differ in arrays."""
        attacked = [release_of("t", [[0, 3], [1, 2], [4, 5]], [[0, 1]] * 3)]
        found = self.received("group", attacked, cascade=None)
        assert [seen.people.respondents.tolist() for _, seen in found] == [["Ann", "Dan"], ["Bob", "Cyd"], ["Eve", "Fay"]]
        assert [seen.group.tolist() for _, seen in found] == [[0, 0], [1, 1], [2, 2]]
        assert [seen.people.frame["age"].tolist() for _, seen in found] == [[31, 64], [42, 53], [75, 86]]
        assert all(np.array_equal(seen.counts[seen.group[0]], problem.counts[0]) for problem, seen in found)
        assert {seen.time for _, seen in found} == {"t"}

    def test_of_a_group_without_a_known_member(self):
        claims = CompromisedRecords(pd.DataFrame([("Ann", "a", 2001, 1.0)], columns=["respondent", "value", "time", "confidence"]))
        found = self.received("group", releases()[:1], compromised=claims, cascade=RemoveKnown())
        assert [seen.people.respondents.tolist() for _, seen in found] == [["Bob", "Cyd"], ["Dan", "Eve", "Fay"]]
        assert [problem.counts.tolist() for problem, _ in found] == [[[1, 1]], [[1, 2]]]

    def test_counterfeits_come_last(self):
        attacked = release_of(1, [[0, 1]], [[0, 1]])
        seen = dataclasses.replace(attacked.observation, counts=np.array([[1, 2]]))
        problem = seen.problem(PRIOR[:2])
        assert problem.coords["respondent"] == ["Ann", "Bob", "counterfeit 0"]
        assert Problem(PRIOR, np.zeros(6, int), np.array([[3, 3]])).coords["respondent"] == list(range(6))

    def test_problems_are_compared_without_it(self):
        problem = releases()[0].observation.problem(PRIOR)
        assert problem == dataclasses.replace(problem, observation=None)

    def test_a_program_of_the_problem_alone_samples_equal_groups_once(self):
        calls = []

        def counting(problem):
            calls.append(problem.observation)
            return certain(problem)

        def certain(problem, shift=0):
            with pm.Model() as model:
                pm.Deterministic("belief", pt.as_tensor(problem.prior + shift))
            return model

        attacked = [release_of(1, [[0, 1], [2, 3]], [[0, 1]] * 2)]
        flat = Adversary(lambda people: np.full((len(people), 2), 0.5))
        SnapshotAttack(dataclasses.replace(flat, estimator=estimator_of(counting, per="group")))(attacked)
        assert calls == [None]
        SnapshotAttack(dataclasses.replace(flat, estimator=estimator_of(certain, per="group")))(attacked)

    def test_a_problem_without_observation_is_refused(self):
        with pytest.raises(ValueError, match="build takes an observation and the problem has none"):
            estimator_of(effects)(Problem(PRIOR, np.zeros(6, int), np.array([[3, 3]])))


@pytest.fixture(scope="module")
def beliefs():
    return SequentialAttack(adversary(estimator_of(effects)))(releases())


class TestUnknowns:
    def test_names_and_labels(self, beliefs):
        tree = beliefs.unknowns
        found = tree["posterior"]
        assert {name: each.dims for name, each in found.data_vars.items()} == {
            "alone": ("chain", "draw", "release"),
            "by_value": ("chain", "draw", "release", "value"),
            "by_person": ("chain", "draw", "release", "respondent"),
            "by_home": ("chain", "draw", "release", "home"),
            "unnamed": ("chain", "draw", "release", "unnamed_dim_0"),
        }
        assert found["release"].values.tolist() == [2001, 2002]
        assert found["respondent"].values.tolist() == NAMES
        assert found["home"].values.tolist() == ["hill", "lake", "mill"]
        gone = found["by_person"].sel(release=2002).isnull().all(("chain", "draw"))
        assert gone.values.tolist() == [False, True, True, False, False, True]
        assert not found["by_home"].isnull().any()

    def test_of_groups(self):
        found = SnapshotAttack(adversary(estimator_of(effects, per="group")))(releases()).unknowns["posterior"]
        assert found["by_home"].dims == ("chain", "draw", "release", "group", "home")
        known = ~found["by_person"].isnull().all(("chain", "draw"))
        assert known.sel(release=2001, group=1).values.tolist() == [False] * 3 + [True] * 3
        assert not known.sel(release=2002, group=1).any()

    def test_one_release(self, beliefs):
        alone = beliefs.at(2002).posterior.unknowns["posterior"]
        assert alone["by_person"].dims == ("chain", "draw", "respondent")
        assert np.array_equal(alone["alone"], beliefs.unknowns["posterior"]["alone"].sel(release=2002))
        assert alone["respondent"].values.tolist() == ["Ann", "Dan", "Eve"]

    def test_saved_and_read(self, beliefs, tmp_path):
        beliefs.save(tmp_path / "beliefs.nc")
        read = Beliefs.load(tmp_path / "beliefs.nc")
        assert read == beliefs
        assert read.unknowns.identical(beliefs.unknowns)
        tree = beliefs.to_datatree()
        assert tree["unknowns"].to_dataset().identical(beliefs.unknowns["posterior"].to_dataset())
        assert Beliefs.from_datatree(tree) == beliefs

    def test_some_releases_of_beliefs(self, beliefs):
        last = Beliefs(beliefs.releases[1:])
        assert last.unknowns["posterior"]["release"].values.tolist() == [2002]

    def test_other_attacks_keep_them(self, beliefs):
        again = RetrospectiveAttack(adversary(estimator_of(effects)))(releases())
        assert again.unknowns.identical(beliefs.unknowns)
        mixed = Mixed(small=estimator_of(effects, per="group"), size=3)
        assert SnapshotAttack(adversary(mixed))(releases()).unknowns["posterior"]["group"].values.tolist() == [0, 1]
        draws = SequentialAttack(Averaged([adversary(estimator_of(effects))] * 2))(releases())
        assert draws.unknowns is None
        assert draws.draws.beliefs[1].unknowns["posterior"]["by_home"].shape == (2, 8, 2, 3)

    def test_none_without_a_program_or_without_keeping_them(self):
        assert SequentialAttack(adversary())(releases()).unknowns is None
        dropped = estimator_of(effects, keep_unknowns=False)
        assert SequentialAttack(adversary(dropped))(releases()).unknowns is None

    def test_they_are_bounded(self, monkeypatch):
        monkeypatch.setattr(program_estimator, "MAX_KEPT", 100)
        with pytest.raises(TooLarge, match="more than 100 numbers. Take keep_unknowns=False"):
            SequentialAttack(adversary(estimator_of(effects)))(releases())

    @pytest.mark.parametrize(("per", "dim"), [("release", "release"), ("group", "group")])
    def test_a_dimension_of_the_tree_is_refused(self, per, dim):
        def taken(problem, observation):
            del observation
            with pm.Model(coords={dim: [1, 2]}) as model:
                pm.Normal("x", dims=dim)
                pm.Deterministic("belief", pt.as_tensor(problem.prior))
            return model

        with pytest.raises(ValueError, match=f"has the dimension '{dim}'"):
            SequentialAttack(adversary(estimator_of(taken, per=per)))(releases())
