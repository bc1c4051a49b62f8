"""Scenarios: each built-in one is the attack built by hand; the file; what is refused; bounds of changes and paths."""

import re
import tomllib
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT

from foreknow.attacks import (
    JointAttack,
    LearnedAttack,
    RetrospectiveAttack,
    SequentialAttack,
    SignatureAttack,
    SnapshotAttack,
)
from foreknow.defenses import KAnonymity, MInvariance, Mondrian, publish
from foreknow.evaluation import SCENARIOS, Scenario, compare, exams, risk_table
from foreknow.evaluation.scenario import CHOICES
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    ClassFrequencies,
    CompromisedRecords,
    DirichletChain,
    DirichletFrequencies,
    History,
    MarkovChain,
    MaxEntropy,
    Numeric,
    Omega,
    Posterior,
    Presence,
    Release,
    RemoveKnown,
    Schema,
    UniformMembership,
    View,
)
from foreknow.models.beliefs import ReleaseBeliefs

HISTORY, *_ = exams(views=4, records=80, rng=2)
ROWS = pd.concat([view.frame.assign(week=view.time) for view in HISTORY])
CORPUS, TARGET = (History.read(ROWS[ROWS["id"] % 2 == half], HISTORY.schema, time="week") for half in (0, 1))
RELEASES = publish(TARGET, Mondrian(KAnonymity(3)), rng=1)
CLASSES = {"age": 3, "gender": 3, "weight": 3}
PRIOR = ClassFrequencies.fit(CORPUS, CLASSES, 0.1)
CHAIN = MarkovChain.fit(CORPUS, 1, 0.1)


def beliefs_of(scenario, releases=RELEASES, rng=1):
    history = TARGET if scenario.reads_history else None
    return scenario.attack(history, CORPUS if scenario.reads_corpus else None, rng=rng)(releases)


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.posterior.probabilities, other.posterior.probabilities)
        np.testing.assert_array_equal(one.revised, other.revised)


BY_HAND = {
    "auxiliary": JointAttack(Adversary(PRIOR, CHAIN)),
    # 40 respondents in classes of ten on average: the three of age, and no other attribute
    "releases-only": LearnedAttack(classes={"age": 3}),
    "presence": JointAttack(Adversary(PRIOR, CHAIN, presence=Presence.fit(CORPUS, pseudo_count=0.1))),
    "papers": SequentialAttack(
        Adversary(PRIOR, MarkovChain.fit(CORPUS, 2, 0.1), estimator=Omega(), revision="product")
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_built_in_scenario_is_the_attack_built_by_hand(name):
    assert_equal(beliefs_of(Scenario.named(name)), BY_HAND[name](RELEASES))


def test_exact_but_one_knows_each_published_value():
    found = beliefs_of(Scenario.named("exact-but-one"))
    for view, one in zip(TARGET, found, strict=True):
        published = one.observation.group >= 0
        truth = np.eye(len(TARGET.schema.values))[view.sensitive]
        np.testing.assert_array_equal(one.posterior.probabilities[published], truth[published])
        np.testing.assert_array_equal(
            one.observation.counts, RELEASES[list(TARGET.times).index(view.time)].observation.counts
        )


def test_all_built_in_ones_are_here():
    assert {*SCENARIOS} == {*BY_HAND, "exact-but-one"}


@pytest.mark.parametrize(
    ("changes", "attack"),
    [
        ({"time": "forward"}, JointAttack(Adversary(PRIOR, CHAIN), hindsight=False)),
        ({"solver": "max-entropy"}, JointAttack(Adversary(PRIOR, CHAIN), MaxEntropy())),
        ({"solver": "sequential"}, RetrospectiveAttack(Adversary(PRIOR, CHAIN))),
        ({"solver": "sequential", "time": "forward"}, SequentialAttack(Adversary(PRIOR, CHAIN))),
        (
            {"solver": "sequential", "time": "forward", "knows": "quasi-identifiers"},
            SnapshotAttack(Adversary(PRIOR, CHAIN, membership=UniformMembership())),
        ),
        ({"gaps": "power"}, JointAttack(Adversary(PRIOR, MarkovChain.fit(CORPUS, 1, 0.1, gaps="power"), gaps="power"))),
        (
            {"classes": 2, "pseudo_count": 1},
            JointAttack(
                Adversary(ClassFrequencies.fit(CORPUS, dict.fromkeys(CLASSES, 2), 1), MarkovChain.fit(CORPUS, 1, 1))
            ),
        ),
    ],
    ids=str,
)
def test_each_setting_changes_the_attack(changes, attack):
    assert_equal(beliefs_of(Scenario(law="corpus", **changes)), attack(RELEASES))


def test_the_known_law_is_that_of_the_records():
    adversary = Adversary(ClassFrequencies.fit(TARGET, CLASSES, 0.1), MarkovChain.fit(TARGET, 1, 0.1))
    assert_equal(beliefs_of(Scenario(law="known")), JointAttack(adversary)(RELEASES))


def test_draws_are_an_averaged_adversary():
    rng = np.random.default_rng(7)
    priors, chains = DirichletFrequencies.fit(CORPUS, CLASSES, 0.1), DirichletChain.fit(CORPUS, 1, 0.1)
    hazards = Presence.draws(CORPUS, 3, pseudo_count=0.1, rng=rng)
    each = [Adversary(priors.sample(rng=rng), chains.sample(rng=rng), presence=one) for one in hazards]
    scenario = Scenario(law="draws", draws=3, presence="read", solver="max-entropy")
    expected = JointAttack(Averaged(each, min_effective=0.5), MaxEntropy())(RELEASES)
    assert_equal(beliefs_of(scenario, rng=7), expected)
    assert len(scenario.attack(None, CORPUS, rng=7).knowledge) == 3
    assert len(replace(scenario, draws=None).attack(None, CORPUS, rng=7).knowledge) == 20


def test_the_rule_of_m_invariance():
    releases = publish(TARGET, MInvariance(2, rng=1), rng=1)
    adversary = Adversary(PRIOR, CHAIN)
    joint, forward = Scenario(law="corpus", mechanism="rule"), {"solver": "sequential", "time": "forward"}
    assert_equal(beliefs_of(joint, releases), JointAttack(adversary, signatures=True)(releases))
    assert_equal(beliefs_of(replace(joint, **forward), releases), SignatureAttack(adversary)(releases))
    learned = replace(joint, law="learned")
    assert_equal(beliefs_of(learned, releases), LearnedAttack(classes={"age": 3}, signatures=True)(releases))


def test_compromised_records_are_drawn_known_and_left_out():
    scenario = Scenario(law="corpus", compromised=0.2)
    attack = scenario.attack(TARGET, CORPUS, rng=5)
    records = CompromisedRecords.sample(TARGET, 0.2, 1.0, rng=5)
    assert attack.compromised == records
    adversary = Adversary(PRIOR, CHAIN, compromised=records, cascade=RemoveKnown())
    beliefs = attack(RELEASES)
    assert_equal(beliefs, JointAttack(adversary)(RELEASES))
    table = scenario.measure(beliefs, TARGET, leaving_out=attack.compromised)
    assert (table["compromised"] == 8).all()
    found = compare(TARGET, {"M": Mondrian(KAnonymity(3))}, {"some": scenario}, corpus=CORPUS, rng=1)
    assert (found.risk()["compromised"] == 8).all()


def test_notes_of_learning_are_those_of_the_beliefs():
    learned = beliefs_of(Scenario())
    assert set(learned.notes) >= {note for note in BY_HAND["releases-only"](RELEASES).notes if "expected from" in note}


class TestCompare:
    def test_scenarios_are_an_axis_beside_attacks(self):
        defenses = {"small": Mondrian(KAnonymity(2)), "large": Mondrian(KAnonymity(5))}
        found = compare(TARGET, defenses, SCENARIOS | {"by hand": BY_HAND["auxiliary"]}, corpus=CORPUS, rng=3)
        assert list(found.beliefs) == list(product(defenses, [*SCENARIOS, "by hand"]))
        for defense in defenses:
            assert_equal(found.beliefs[defense, "auxiliary"], found.beliefs[defense, "by hand"])
            assert_equal(found.beliefs[defense, "papers"], BY_HAND["papers"](found.releases[defense]))
        assert set(found.summary()["attack"]) == {*SCENARIOS, "by hand"}

    def test_releases_are_those_without_scenarios(self):
        defenses = {"M": Mondrian(KAnonymity(2))}
        one = compare(TARGET, defenses, {}, rng=3).releases["M"]
        other = compare(TARGET, defenses, {"s": Scenario(law="known", compromised=0.1)}, rng=3).releases["M"]
        assert all(first.table.equals(second.table) for first, second in zip(one, other, strict=True))

    def test_a_corpus_is_given_where_it_is_read(self):
        with pytest.raises(TypeError, match=r"Scenario\.attack: corpus is None; it is a History; the law is 'corpus'"):
            compare(TARGET, {"M": Mondrian(KAnonymity(2))}, SCENARIOS)
        with pytest.raises(ValueError, match="compare: there is a corpus, and no scenario reads one"):
            compare(TARGET, {"M": Mondrian(KAnonymity(2))}, {"l": Scenario()}, corpus=CORPUS)


class TestRefused:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"law": "corpsu"}, r"'corpsu' is not a law\. The nearest is 'corpus'\. Choose one of known, corpus"),
            ({"solver": "group-grph"}, "The nearest is 'group-graph'"),
            ({"estimator": "omga"}, "The nearest is 'omega'"),
            ({"goal": None}, "Scenario: None is not a goal. Choose one of value, change, path"),
            ({"time": "forward", "goal": "path"}, "goal = 'path' is about several releases"),
            ({"estimator": "omega"}, "estimator = 'omega' is read by solver = 'sequential' alone"),
            (
                {"revision": "product"},
                "revision = 'product' is read by solver = 'sequential' alone, of an order over 1",
            ),
            (
                {"revision": "chain", "solver": "sequential", "time": "forward"},
                "revision = 'chain' is read by solver = 'sequential' alone, of an order over 1",
            ),
            ({"draws": 5}, "draws = 5 is read with law = 'draws' alone"),
            ({"knows": "quasi-identifiers"}, "reads each release alone"),
            ({"knows": "others", "compromised": 0.1}, "compromised = 0.1 says nothing more where knows = 'others'"),
            (
                {"solver": "sequential", "mechanism": "rule"},
                "mechanism = 'rule' goes forward with solver = 'sequential'",
            ),
            ({"threshold": 0.5}, "threshold is 0.5"),
            ({"compromised": 1.5}, "compromised is 1.5"),
            ({"order": 0}, "order is 0"),
            ({"classes": 1.5}, "classes is 1.5"),
            ({"pseudo_count": -1}, "pseudo_count is -1"),
            ({"draws": 0, "law": "draws"}, "draws is 0"),
        ],
        ids=str,
    )
    def test_settings_that_are_wrong_or_not_read(self, changes, message):
        with pytest.raises(ValueError, match=message):
            Scenario(**changes)

    def test_histories_that_are_missing_or_not_read(self):
        with pytest.raises(TypeError, match="history is None; it is a History"):
            Scenario.named("exact-but-one").attack()
        with pytest.raises(TypeError, match="corpus is None"):
            Scenario.named("auxiliary").attack()
        with pytest.raises(ValueError, match="does not read one"):
            Scenario().attack(corpus=CORPUS)
        with pytest.raises(TypeError, match="takes a list of releases"):
            Scenario().attack()(RELEASES[0])

    def test_presence_is_refused_by_the_attack_that_does_not_read_it(self):
        scenario = Scenario(law="corpus", presence="read", solver="sequential")
        with pytest.raises(ValueError, match="RetrospectiveAttack does not read the part 'presence'"):
            beliefs_of(scenario)

    def test_another_name(self):
        with pytest.raises(ValueError, match=r"'auxilary' is not a scenario\. The nearest is 'auxiliary'"):
            Scenario.named("auxilary")


SETTINGS = {name: st.sampled_from(choices) for name, choices in CHOICES.items()} | {
    "threshold": st.floats(0.5, 1, exclude_min=True),
    "compromised": st.sampled_from([0.0, 0.25, 1]),
    "order": st.integers(1, 3),
    "classes": st.integers(1, 5),
    "pseudo_count": st.floats(0, 10),
    "draws": st.none() | st.integers(1, 30),
}


@st.composite
def scenarios(draw):
    """Scenarios of any settings that go together: a setting that the others do not read is left out."""
    found = {}
    for name, values in SETTINGS.items():
        try:
            found = {name: getattr(Scenario(**found, **{name: draw(values)}), name)} | found
        except ValueError:
            continue
    return Scenario(**found)


class TestFile:
    @settings(max_examples=60, deadline=None)
    @given(scenario=scenarios())
    def test_what_is_written_is_read(self, scenario, tmp_path_factory):
        path = tmp_path_factory.getbasetemp() / "scenario.toml"
        path.write_text(scenario.to_toml())
        assert Scenario.read(path) == scenario

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_built_in_ones_are_written_with_what_is_theirs(self, name, tmp_path):
        path = tmp_path / "scenario.toml"
        path.write_text(SCENARIOS[name].to_toml())
        assert Scenario.read(str(path)) == Scenario.named(name)

    def test_an_empty_file_is_the_default(self, tmp_path):
        (tmp_path / "s.toml").write_text("")
        assert Scenario.read(tmp_path / "s.toml") == Scenario()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "treshold = 0.8",
                r"s\.toml: Scenario: 'treshold' is not a key\. The nearest is 'threshold'\. Choose one of law",
            ),
            ("presense = 'read'", "The nearest is 'presence'"),
            ("[scenario]\nlaw = 'known'", "'scenario' is not a key"),
            ("presence = 'raed'", r"s\.toml: Scenario: 'raed' is not a presence\. The nearest is 'read'"),
            ("presence = true", r"True is not a presence\. Choose one of ignored, read"),
            ("threshold = 'high'", "threshold is 'high'"),
            ("law = ", r"s\.toml: Invalid value.*texts in quotes"),
        ],
    )
    def test_a_wrong_file_is_named_with_the_nearest_key(self, text, message, tmp_path):
        (tmp_path / "s.toml").write_text(text)
        with pytest.raises(ValueError, match=message):
            Scenario.read(tmp_path / "s.toml")

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="name a TOML file of a scenario"):
            Scenario.read(tmp_path / "s.toml")


def least_probability(marginals, event):
    """Smallest probability of an event of several values with these marginals, by linear programming over their joint laws."""
    cells = list(product(*(range(len(p)) for p in marginals)))
    rows, sides = [], []
    for place, p in enumerate(marginals):
        for value, probability in enumerate(p):
            rows.append([cell[place] == value for cell in cells])
            sides.append(probability)
    cost = np.array([event(cell) for cell in cells], dtype=float)
    return scipy.optimize.linprog(cost, A_eq=np.array(rows, dtype=float), b_eq=sides, method="highs").fun


ROW = st.lists(st.integers(0, 12), min_size=3, max_size=3).filter(any).map(lambda row: np.array(row) / sum(row))


def given_beliefs(rows, true):
    """Beliefs of some rows of each release, all records in one group, and the history of the true values."""
    people = list("ABC")[: len(rows[0])]
    times = range(len(rows))
    views = [
        View(pd.DataFrame({"id": people, "age": 1, "result": [*map("abc".__getitem__, true[t])]}), SCHEMA, t)
        for t in times
    ]
    each = []
    for view, belief in zip(views, np.array(rows, dtype=float), strict=True):
        seen = Release(view, [0] * len(view)).observation
        each.append(ReleaseBeliefs(seen, belief, belief, Posterior(belief, np.zeros(1, dtype=int))))
    return Beliefs(tuple(each)), History(views)


SCHEMA = Schema({"age": Numeric(0, 9)}, "result", ("a", "b", "c"))


class TestBounds:
    """The bounds are the sharpest that hold for every joint law with the beliefs as marginals."""

    @settings(max_examples=60, deadline=None)
    @given(ROW, ROW, st.tuples(st.integers(0, 2), st.integers(0, 2)))
    def test_a_change(self, p, q, true):
        beliefs, history = given_beliefs([[p], [q]], [[value] for value in true])
        (row,) = Scenario(goal="change").measure(beliefs, history).to_dict("records")
        changed = least_probability([p, q], lambda cell: cell[0] != cell[1])
        same = least_probability([p, q], lambda cell: cell[0] == cell[1])
        low, other = (same, changed) if true[0] == true[1] else (changed, same)
        assert (row["time"], row["measured"]) == (1, 1)
        assert row["confidence_low"] == pytest.approx(low, abs=1e-9)
        assert row["confidence_high"] == pytest.approx(1 - other, abs=1e-9)
        if abs(max(low, other) - 0.9) > 1e-6:
            assert row["sure"] == (max(low, other) > 0.9)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(ROW, min_size=2, max_size=3), st.data())
    def test_a_path(self, rows, data):
        true = tuple(data.draw(st.integers(0, 2)) for _ in rows)
        beliefs, history = given_beliefs([[row] for row in rows], [[value] for value in true])
        (row,) = Scenario(goal="path").measure(beliefs, history).to_dict("records")
        assert row["releases"] == len(rows)
        assert row["confidence_low"] == pytest.approx(least_probability(rows, lambda cell: cell == true), abs=1e-9)
        assert row["confidence_high"] == pytest.approx(1 - least_probability(rows, lambda cell: cell != true), abs=1e-9)

    def test_the_tables(self):
        """Of three respondents: the first sure and right, the second wrong of both values and right of the change, one unsure."""
        unsure = [0.4, 0.3, 0.3]
        rows = [[[1, 0, 0], [0, 0, 1], unsure], [[0, 1, 0], [0, 0, 1], unsure]]
        beliefs, history = given_beliefs(rows, [[0, 1, 2], [1, 1, 2]])
        path = Scenario(goal="path").measure(beliefs, history)
        assert path.iloc[0].to_dict() == pytest.approx(
            {"releases": 2, "measured": 3, "sure": 2, "right": 1, "expected": 2}
            | {"confidence_low": 1 / 3, "confidence_high": (1 + 0.3) / 3}
        )
        change = Scenario(goal="change").measure(beliefs, history)
        assert change.iloc[0].to_dict() == pytest.approx(
            {"time": 1, "measured": 3, "sure": 2, "right": 2, "expected": 2}
            | {"confidence_low": 2 / 3, "confidence_high": 1}
        )
        assert [table[["sure", "right"]].dtypes.tolist() for table in (path, change)] == [[np.dtype("int64")] * 2] * 2

    def test_without_records_the_tables_are_empty(self):
        empty = Beliefs(())
        for goal in ("change", "path"):
            assert Scenario(goal=goal).measure(empty, TARGET).empty

    def test_sure_beliefs_of_a_threshold(self):
        beliefs = beliefs_of(Scenario.named("auxiliary"))
        found = replace(Scenario.named("auxiliary"), threshold=0.7).measure(beliefs, TARGET)
        pd.testing.assert_frame_equal(found, risk_table(beliefs, TARGET, sure=0.7))


def test_the_page_has_the_files_of_the_built_in_ones():
    page = (ROOT / "docs/how-to/your-adversary.md").read_text(encoding="utf-8")
    table = page.split("| name | who attacks | file |")[1].split("\n\n")[0]
    files = dict(re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^|]+) \|$", table, flags=re.MULTILINE))
    read = {name: Scenario(**tomllib.loads("\n".join(re.findall("`([^`]+)`", text)))) for name, text in files.items()}
    assert read == SCENARIOS
    example = tomllib.loads(page.split("```toml\n")[1].split("```")[0])
    assert Scenario(**example) == Scenario(law="corpus", presence="read", goal="path", threshold=0.8)
