"""Programs that read who is published: what they receive, what is kept of them, and two worked ones against enumeration.

The two are those of notebook 16: an unknown chance of leaving after each value, and a household effect of unknown strength.
"""

import dataclasses
from collections.abc import Callable
from itertools import product

import nbformat
import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from places import ROOT

from foreknow.attacks import JointAttack, RetrospectiveAttack, SequentialAttack, SnapshotAttack
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    Categorical,
    CompromisedRecords,
    Enumeration,
    GivenPrior,
    MarkovChain,
    Mixed,
    Numeric,
    Observation,
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
from foreknow.models.estimators import TooLarge
from foreknow.models.programs import ProgramPosterior, calibration_ranks, program_estimator

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
        assert [seen.people.respondents.tolist() for _, seen in found] == [
            ["Ann", "Dan"],
            ["Bob", "Cyd"],
            ["Eve", "Fay"],
        ]
        assert [seen.group.tolist() for _, seen in found] == [[0, 0], [1, 1], [2, 2]]
        assert [seen.people.frame["age"].tolist() for _, seen in found] == [[31, 64], [42, 53], [75, 86]]
        assert all(np.array_equal(seen.counts[seen.group[0]], problem.counts[0]) for problem, seen in found)
        assert {seen.time for _, seen in found} == {"t"}

    def test_of_a_group_without_a_known_member(self):
        claims = CompromisedRecords(
            pd.DataFrame([("Ann", "a", 2001, 1.0)], columns=["respondent", "value", "time", "confidence"])
        )
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

        def certain(problem, shift=0):  # an argument with a default is no observation
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
        gone = np.isnan(found["by_person"].sel(release=2002)).all(("chain", "draw"))
        assert gone.values.tolist() == [False, True, True, False, False, True]
        assert not np.isnan(found["by_home"]).any()

    def test_of_groups(self):
        found = SnapshotAttack(adversary(estimator_of(effects, per="group")))(releases()).unknowns["posterior"]
        assert found["by_home"].dims == ("chain", "draw", "release", "group", "home")
        known = ~np.isnan(found["by_person"]).all(("chain", "draw"))
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
        with pytest.raises(TooLarge, match=r"more than 100 numbers\. Take keep_unknowns=False"):
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


NOTEBOOK = ROOT / "notebooks" / "16-unknowns-of-a-program.ipynb"
LEAN = np.array([-1.0, 1.0])
HOME = dict(zip(NAMES, HOMES, strict=True))
LISTED = {2001: NAMES, 2002: ["Ann", "Dan", "Eve"]}
LEFT = np.array([name not in LISTED[2002] for name in NAMES])
ERRORS = 4.0
"""Largest deviation of a mean, in standard errors."""


def worked(name, **names):
    """Program that the notebook defines."""
    cells = [cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    (source,) = (cell for cell in cells if cell.startswith(f"def {name}("))
    assert source.count("\n") < 30
    scope = {"np": np, "pd": pd, "pm": pm, "pt": pt, "observe_groups": observe_groups, "Problem": Problem}
    scope |= {"Callable": Callable, "Observation": Observation} | names
    exec(compile(source, str(NOTEBOOK), "exec"), scope)
    return scope[name]


def worlds(release=None):
    """All values of the six people that the first release allows, shape ``(a, 6)``, by permutation of each group."""
    seen = (releases()[0] if release is None else release).observation
    found = []
    for one in product(range(2), repeat=6):
        counts = np.zeros_like(seen.counts)
        np.add.at(counts, (seen.group, [one[NAMES.index(name)] for name in seen.people.respondents]), 1)
        if np.array_equal(counts, seen.counts):
            found.append(one)
    return np.array(found)


def mean_of_worlds(factors, weights):
    """Belief in b of each person: factors of each person's values at each point, shape ``(p, 6, 2)``, with point weights."""
    values = worlds()
    law = factors[:, np.arange(6), values].prod(axis=2) * weights[:, None]
    return (law.sum(axis=0) @ values) / law.sum()


def by_leaving(leave):
    """Factors at chances of leaving, shape ``(p, 2)``."""
    return PRIOR * np.where(LEFT[:, None], leave[:, None], 1 - leave[:, None])


def by_household(strength, lean):
    """Factors at a strength, shape ``(p,)``, and leanings of the homes in the order of first appearance, ``(p, 3)``."""
    place = pd.factorize(np.array(HOMES))[0]
    weights = PRIOR * np.exp(strength[:, None, None] * lean[:, place, None] * LEAN)
    return weights / weights.sum(axis=2, keepdims=True)


def belief_at(build, release, given):
    """Belief in b by respondent, of a program's model at given values of its free variables."""
    seen = release.observation
    order = [NAMES.index(name) for name in seen.people.respondents]
    model = build(seen.problem(PRIOR[order]), seen)
    function = pytensor.function([model[name] for name in given], model["belief"], mode="FAST_COMPILE")
    return pd.Series(function(*given.values())[:, 1], index=seen.people.respondents).loc[NAMES].to_numpy()


def mixed_up(release, order):
    """The same groups in another order of the rows, with the values of each group's members permuted."""
    frame = release.view.frame.assign(group=release.group)
    shuffled = frame.assign(result=frame.groupby("group")["result"].transform(lambda shown: shown.to_numpy()[::-1]))
    shuffled = shuffled.iloc[order]
    return Release(View(shuffled.drop(columns="group"), SCHEMA, release.time), shuffled["group"].to_numpy())


CASES = {
    "leaving": (lambda: worked("leaving")(LISTED), {"leave": np.array([0.15, 0.6])}),
    "household": (
        lambda: worked("household", LEAN=LEAN)(HOME, 2001),
        {"strength": 1.4, "lean": np.array([0.3, -1.2, 0.8])},
    ),
}


class TestWorkedPrograms:
    def test_leaving_at_known_chances(self):
        build, given = CASES["leaving"]
        expected = mean_of_worlds(by_leaving(given["leave"][None]), np.ones(1))
        assert np.allclose(belief_at(build(), releases()[0], given), expected, atol=1e-12)

    def test_household_at_known_effects(self):
        build, given = CASES["household"]
        expected = mean_of_worlds(by_household(np.array([given["strength"]]), given["lean"][None]), np.ones(1))
        assert np.allclose(belief_at(build(), releases()[0], given), expected, atol=1e-12)

    @pytest.mark.parametrize("name", CASES)
    def test_permuting_members_changes_no_belief(self, name):
        """The law at given unknowns is that of the groups: neither true values nor the order of rows enter."""
        build, given = CASES[name]
        before = belief_at(build(), releases()[0], given)
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(6)
            if name == "household":  # leanings are in the order of first appearance
                homes = list(dict.fromkeys(HOMES[i] for i in order))
                given = given | {
                    "lean": CASES[name][1]["lean"][[["hill", "lake", "mill"].index(home) for home in homes]]
                }
            after = belief_at(build(), mixed_up(releases()[0], order), given)
            assert np.allclose(after, before, atol=1e-12)

    @pytest.mark.slow
    def test_leaving_in_an_attack(self):
        points = (np.arange(80) + 0.5) / 80
        grid = np.array(list(product(points, points)))
        expected = mean_of_worlds(by_leaving(grid), ((1 - grid) ** 2).prod(axis=1))
        self.check_attack("leaving", expected)

    @pytest.mark.slow
    def test_household_in_an_attack(self):
        nodes, weights = np.polynomial.hermite_e.hermegauss(12)
        strengths = (np.arange(60) + 0.5) / 8
        grid = np.array(list(product(strengths, nodes, nodes, nodes)))
        density = np.exp(-(grid[:, 0] ** 2) / 8) * np.tile([np.prod(each) for each in product(weights, repeat=3)], 60)
        self.check_attack("household", mean_of_worlds(by_household(grid[:, 0], grid[:, 1:]), density))

    def check_attack(self, name, expected):
        estimator = estimator_of(CASES[name][0](), draws=700, chains=4, target_accept=0.95)
        beliefs = SnapshotAttack(adversary(estimator))(releases())
        first = beliefs.at(2001)
        place = [first.observation.people.respondents.tolist().index(one) for one in NAMES]
        error = first.posterior.standard_error[place, 1]
        assert (np.abs(first.posterior.probabilities[place, 1] - expected) <= ERRORS * error + 1e-9).all()
        assert error.max() < 0.02

    @pytest.mark.slow
    @pytest.mark.parametrize("name", CASES)
    def test_calibration(self, name):
        seen = releases()[0].observation

        def simulate(rng):
            if name == "leaving":
                truth, rows = {"leave": rng.beta(1, 3, size=2)}, PRIOR
            else:
                truth = {"strength": np.abs(rng.normal(0, 2)), "lean": rng.normal(size=3)}
                rows = by_household(truth["strength"][None], truth["lean"][None])[0]
            values = (rng.random(6) < rows[:, 1]).astype(int)
            counts = np.zeros_like(seen.counts)
            np.add.at(counts, (seen.group, values), 1)
            stays = rng.random(6) >= truth.get("leave", np.zeros(2))[values]
            return truth, (Problem(PRIOR, seen.group, counts), [NAMES[i] for i in np.flatnonzero(stays)])

        def build(data):
            problem, stays = data
            program = CASES[name][0]() if name == "household" else worked("leaving")({2001: NAMES, 2002: stays})
            return program(problem, dataclasses.replace(seen, counts=problem.counts))

        posterior = ProgramPosterior(build, list(CASES[name][1]), thinning=4, target_accept=0.95)
        ranks = calibration_ranks(simulate, posterior, 80, rng=5)
        assert ranks.uniformity()["adjusted"].min() > 1e-3


def histories(seed):
    """Three releases of some of the six people in random groups, with random values, and one prior for all."""
    rng = np.random.default_rng(seed)
    made = []
    for time in range(3):
        here = np.sort(rng.permutation(6)[: rng.integers(3, 6)])
        cut = int(rng.integers(1, len(here)))
        groups = [here[:cut].tolist(), here[cut:].tolist()]
        made.append(release_of(time, groups, [rng.integers(0, 2, len(group)).tolist() for group in groups]))
    return made


def leaving_records(records):
    """Program of a history: an unknown chance of leaving after each value."""
    leave = pm.Beta("leave", 1, 1, dims="value")
    left, known = (records.following < 0)[:, None], (records.release < records.releases - 1)[:, None]
    return pt.where(known, pt.log(pt.where(left, leave, 1 - leave)), 0.0)


def history_law(made, program=leaving_records):
    """Model of the history of some releases, with known frequencies and transitions to be given."""
    adversary = Adversary(lambda people: np.tile([0.4, 0.6], (len(people), 1)), MarkovChain(1, STEP))
    history = joint_history(adversary, [release.observation for release in made])
    return history, history_model(history, program=program)


class TestHistories:
    @pytest.mark.parametrize("seed", range(12))
    def test_known_chances_are_presence(self, seed):
        """Against `Enumeration` with `Presence`, another program of the same law; absent respondents may return."""
        made, leave = histories(seed), np.array([0.2, 0.7])
        history, model = history_law(made)
        given = {"frequencies": np.array([[0.4, 0.6]]), "transitions": STEP, "leave": leave}
        function = pytensor.function([model[name] for name in given], model["belief"], mode="FAST_COMPILE")
        found = function(*given.values())
        informed = dataclasses.replace(history.adversary, presence=Presence(leave))
        exact = JointAttack(informed, Enumeration())(made)
        for t, one in enumerate(exact):
            assert np.allclose(found[history.record[t]], one.posterior.probabilities, atol=1e-10)

    def test_what_a_program_receives(self):
        found = []

        def recording(records):
            found.append(records)
            return np.zeros((len(records.release), 2))

        history, model = history_law(releases(), recording)
        (records,) = found
        assert records.listed == NAMES
        named = [records.listed[i] for i in records.respondent]
        assert list(zip(named, records.time.tolist(), strict=True)) == [
            *((name, 2001) for name in NAMES),
            *((name, 2002) for name in LISTED[2002]),
        ]
        assert records.quasi_identifiers["home"].tolist() == [HOME[name] for name in named]
        assert records.group.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0]
        assert records.following.tolist() == [1, -1, -1, 1, 1, -1, -1, -1, -1]
        assert model.coords["respondent"] == tuple(NAMES)
        assert model.coords["record"][6:] == ("Ann at 2002", "Dan at 2002", "Eve at 2002")
        assert history.problem.respondents == 6
        assert records.releases == 2

    def test_a_last_release_without_records_is_counted(self):
        """All are withheld at it: they are listed, and have not left."""
        first = releases()[0]
        listed = first.observation
        withheld = Release(View(first.view.frame, SCHEMA, 2002), np.full(6, -1)).observation
        history = joint_history(Adversary(lambda people: np.full((len(people), 2), 0.5)), [listed, withheld])
        found = []
        history_model(history, program=lambda records: found.append(records) or np.zeros((len(records.release), 2)))
        (records,) = found
        assert (records.release.max(), records.releases) == (0, 2)
        assert records.following.tolist() == [1] * 6

    def test_departures_are_not_read_twice(self):
        """A program that does not read ``following`` goes with presence, and has its beliefs."""
        made = histories(3)
        history, _ = history_law(made, None)
        informed = dataclasses.replace(history.adversary, presence=Presence([0.2, 0.7]))
        told = joint_history(informed, [release.observation for release in made])
        with pytest.raises(ValueError, match=r"departures would count twice.*without\('presence'\)"):
            history_model(told, program=leaving_records)
        model = history_model(told, program=lambda records: np.zeros((len(records.release), 2)))
        given = {"frequencies": np.array([[0.4, 0.6]]), "transitions": STEP}
        function = pytensor.function([model[name] for name in given], model["belief"], mode="FAST_COMPILE")
        found = function(*given.values())
        for t, one in enumerate(JointAttack(informed, Enumeration())(made)):
            assert np.allclose(found[told.record[t]], one.posterior.probabilities, atol=1e-10)

    def test_counterfeits_are_not_read(self):
        """Extreme likelihoods of their rows change nothing."""
        made = releases()
        seen = dataclasses.replace(made[1].observation, counts=np.array([[2, 2]]))
        known = Adversary(lambda people: np.tile([0.4, 0.6], (len(people), 1)), MarkovChain(1, STEP))
        history = joint_history(known, [made[0].observation, seen])

        def extreme(records):
            invented = records.respondent < 0
            assert invented.sum() == 1
            return np.where(invented[:, None], [-99.0, 99.0], 0.0)

        given = {"frequencies": np.array([[0.4, 0.6]]), "transitions": STEP}
        beliefs = []
        for program in (None, extreme):
            model = history_model(history, program=program)
            function = pytensor.function([model[name] for name in given], model["belief"], mode="FAST_COMPILE")
            beliefs.append(function(*given.values()))
        assert np.array_equal(*beliefs)

    def test_wrong_programs(self):
        with pytest.raises(ValueError, match=r"the result of program has shape \(9, 3\); it is \(9, 2\)"):
            history_law(releases(), lambda records: np.zeros((len(records.release), 3)))
        with pytest.raises(TypeError, match="program is 3; it is a function from HistoryRecords"):
            history_law(releases(), 3)
        history, _ = history_law(releases(), None)
        with pytest.raises(ValueError, match="a JointProblem has none; give joint_history"):
            history_model(history.problem, program=leaving_records)
