"""Arguments of wrong kinds: one TypeError or ValueError that says what a function takes and how to get there."""

import contextlib

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import history_of

from foreknow.attacks import LinkingAttack, SnapshotAttack
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.evaluation import (
    Comparison,
    Workload,
    adult,
    adversary_gain,
    breaches,
    compare,
    disclosures,
    exams,
    exposing_members,
    gcp,
    influence_by_distance,
    influence_by_release,
    log_score,
    reliability_curve,
    respondent_risk,
    retroactive_leak,
    score_decomposition,
    total_risk,
    worst_case,
)
from foreknow.evaluation.datasets.exams import exam_transitions
from foreknow.evaluation.loss.queries import query_errors
from foreknow.evaluation.measures import BELIEF_MEASURES, MEASURES, RELEASE_MEASURES
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    ExternalKnowledge,
    Linking,
    PublishedTable,
    Release,
    UniformPrior,
)

pytestmark = pytest.mark.slow

HISTORY = history_of(("ABC", "abc"), ("AB", "ba"))
RELEASES = [Release(HISTORY[0], [0, 0, 1]), Release(HISTORY[1], [0, 0])]
ATTACK = SnapshotAttack(Adversary(UniformPrior()))
BELIEFS = ATTACK(RELEASES)
WORKLOAD = Workload.draw(HISTORY, rng=0, queries=2, sanity_bound=1)
FRAME = HISTORY[0].frame
TABLE = PublishedTable(RELEASES[0].table, sensitive="result")
LABELS = LinkingAttack(Linking(ExternalKnowledge({"x": "a"}), "result"))([RELEASES[0]])
RECORDS = CompromisedRecords(pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [1], "confidence": [1.0]}))
NEEDS = {"breaches": ({"a"}, 2), "query_error": (WORKLOAD,)}

WRONG = (
    None, True, 0, -1, 3, 2**70, 0.5, float("nan"), float("inf"), 1j, "", "a", b"a", (), [], {}, set(), [None], [3], ["a"],
    {"a": 3},
    [[]], object(), int, len, np.zeros(3), np.zeros((2, 2)), np.array(1), np.array("a"), pd.Series([1.0]), FRAME, HISTORY,
    HISTORY[0],
    RELEASES[0], RELEASES, BELIEFS, BELIEFS.releases[0], RELEASES[0].observation, ATTACK, Mondrian(KAnonymity(2)), UniformPrior(),
    WORKLOAD, TABLE, [TABLE], LABELS, RECORDS, nx.DiGraph(), nx.DiGraph([(("A", 1), ("B", 1))]), np.random.default_rng(0),
)  # fmt: skip
"""Values of many kinds: for each argument most are wrong, and some are right."""

CALLS = {
    **{name: (measure, ["beliefs", "history"]) for name, measure in BELIEF_MEASURES.items() if name != "breaches"},
    "breaches": (breaches, ["beliefs", "history", "sensitive_set", "r"]),
    "score_decomposition": (score_decomposition, ["beliefs", "history"]),
    "reliability_curve": (reliability_curve, ["beliefs", "history"]),
    "respondent_risk": (respondent_risk, ["beliefs", "history"]),
    "retroactive_leak": (retroactive_leak, ["beliefs", "beliefs", "history"]),
    "exposing_members": (exposing_members, ["beliefs", "respondent", "time"]),
    "worst_case": (worst_case, ["releases", "attacks"]),
    **{name: (measure, ["releases"]) for name, measure in RELEASE_MEASURES.items() if name != "query_error"},
    "query_error": (MEASURES["query_error"], ["releases", "workload"]),
    "query_errors": (query_errors, ["release", "workload"]),
    "compare": (compare, ["history", "defenses", "attacks"]),
    "Comparison": (Comparison, ["history", "releases", "titled"]),
    "Workload.draw": (Workload.draw, ["history"]),
    "exams": (lambda **options: exams(**({"views": 1, "records": 3, "rng": 1} | options)), []),
    "exam_transitions": (exam_transitions, ["weeks"]),
    "influence_by_distance": (influence_by_distance, ["graph"]),
    "influence_by_release": (influence_by_release, ["graph"]),
}
RIGHT = {
    "beliefs": BELIEFS, "history": HISTORY, "sensitive_set": {"a"}, "r": 2, "releases": RELEASES, "release": RELEASES[0],
    "workload": WORKLOAD, "defenses": {"halved": Mondrian(KAnonymity(1))}, "attacks": {"snapshot": ATTACK},
    "respondent": "A", "time": 1, "titled": {("halved", "snapshot"): BELIEFS}, "weeks": 1,
    "graph": nx.DiGraph(),
}  # fmt: skip
OPTIONS = {
    **{name: ["leaving_out"] for name in BELIEF_MEASURES},
    "adversary_gain": ["leaving_out", "absolute"],
    "disclosures": ["leaving_out", "sure"],
    "log_score": ["leaving_out", "least"],
    "risk_table": ["leaving_out", "least", "sure"],
    "brier_score": ["bins", "decomposition", "leaving_out"],
    "information_flow": ["gains", "before", "leaving_out"],
    "score_decomposition": [
        *("score", "decomposition", "bins", "sensitive_set", "least", "leaving_out", "draws", "level", "rng")
    ],
    "reliability_curve": ["sensitive_set", "leaving_out", "draws", "level", "rng"],
    "respondent_risk": ["most", "show_values", "leaving_out"],
    "retroactive_leak": ["sure", "least", "leaving_out"],
    "exposing_members": ["value", "estimator", "without", "most"],
    "worst_case": ["by_release", "leaving_out", "sure", "least"],
    "average_group_size": ["k"],
    "gcp": ["penalize_suppressed", "width"],
    "kl_loss": ["penalize_suppressed"],
    "record_linkage": ["representative"],
    "query_errors": ["actual"],
    "compare": ["defender", "rng", "leaving_out", "bucketized"],
    "Workload.draw": [
        "rng",
        "queries",
        "dimensions",
        "selectivity",
        "predicates",
        "restrict_sensitive",
        "sanity_bound",
    ],
    "exams": ["views", "records", "weeks_per_step", "rng"],
}
ALWAYS = {"Workload.draw": {"rng": 1}}
ARGUMENTS = [
    (name, place) for name, (_, data) in CALLS.items() for place in [*range(len(data)), *OPTIONS.get(name, [])]
]
LARGE = {("exams", "records"), ("exams", "views"), ("Workload.draw", "queries")}
"""Sizes, of which 2**70 is a whole number that no machine holds."""


def call(name, place, value):
    """Call a function with one of its arguments replaced."""
    function, data = CALLS[name]
    arguments, options = [RIGHT[each] for each in data], dict(ALWAYS.get(name, {}))
    if isinstance(place, int):
        arguments[place] = value
    else:
        options[place] = value
    return function(*arguments, **options)


@pytest.mark.parametrize(("name", "place"), ARGUMENTS, ids=[f"{name}-{place}" for name, place in ARGUMENTS])
def test_only_type_and_value_errors(name, place):
    """Each value as each argument: an answer, or one clear error."""
    for value in WRONG:
        if (name, place) in LARGE and isinstance(value, int) and value > 3:
            continue
        with contextlib.suppress(TypeError, ValueError):
            call(name, place, value)


@given(st.data())
def test_several_wrong_at_once(data):
    name = data.draw(st.sampled_from(sorted(CALLS)))
    function, places = CALLS[name]
    arguments = [data.draw(st.sampled_from([RIGHT[each], *WRONG])) for each in places]
    wanted = [option for option in OPTIONS.get(name, []) if (name, option) not in LARGE]
    options = {option: data.draw(st.sampled_from(WRONG)) for option in wanted if data.draw(st.booleans())}
    with contextlib.suppress(TypeError, ValueError):
        function(*arguments, **ALWAYS.get(name, {}) | options)


class TestReleases:
    @pytest.mark.parametrize("name", RELEASE_MEASURES)
    def test_the_way_out(self, name):
        for wrong, words in (
            (
                RELEASES[0],
                "releases is .*; it takes several (Item)?Release( or NoisyRelease)? objects; put a single one into a list",
            ),
            (HISTORY, r"one of the releases is .*; it is an? (Item)?[Rr]elease, as"),
            (FRAME, "one of the releases is 'id'"),
        ):
            with pytest.raises(TypeError, match=f"{name}: {words}"):
                MEASURES[name](wrong, *NEEDS.get(name, ()))


class TestBeliefs:
    @pytest.mark.parametrize("name", BELIEF_MEASURES)
    def test_the_way_out(self, name):
        # The risk table is made of other measures, whose names its errors carry.
        owner = "adversary_gain" if name in ("risk_table", "total_risk") else name
        with pytest.raises(TypeError, match=f"{owner}: beliefs is .*; it takes the Beliefs that an attack returns"):
            MEASURES[name](RELEASES, HISTORY, *NEEDS.get(name, ()))
        with pytest.raises(TypeError, match=f"{owner}: history is .*; it takes the original records; make a History"):
            MEASURES[name](BELIEFS, FRAME, *NEEDS.get(name, ()))

    @pytest.mark.parametrize("wrong", ["A", FRAME, 3, HISTORY])
    def test_who_is_left_out(self, wrong):
        """A text would leave out its letters and a table its columns, without a word."""
        with pytest.raises(
            TypeError, match=r"leaving_out is a .*; it takes CompromisedRecords or a collection of resp"
        ):
            total_risk(BELIEFS, HISTORY, leaving_out=wrong)

    def test_a_column_of_respondents(self):
        found = [
            adversary_gain(BELIEFS, HISTORY, leaving_out=some) for some in (["A"], FRAME["id"][:1], np.array(["A"]))
        ]
        assert [table["compromised"].tolist() for table in found] == [[1, 1]] * 3


class TestNumbers:
    def test_thresholds(self):
        with pytest.raises(ValueError, match="disclosures: sure is 90; it is a number from 0 to 1"):
            disclosures(BELIEFS, HISTORY, sure=90)
        with pytest.raises(ValueError, match="log_score: least is 0; it is a number over 0"):
            log_score(BELIEFS, HISTORY, least=0)
        with pytest.raises(TypeError, match="gcp: penalize_suppressed is 'no'; it is True or False"):
            gcp(RELEASES, penalize_suppressed="no")

    @pytest.mark.parametrize("rng", [None, "1", 1.5, True, -1, [1]])
    def test_seeds(self, rng):
        for draw in (lambda: exams(1, 3, rng=rng), lambda: Workload.draw(HISTORY, rng=rng)):
            with pytest.raises((TypeError, ValueError), match=r"rng is .*; (it is a generator|a seed is)"):
                draw()

    def test_a_seed_draws_what_its_generator_draws(self):
        one, other = (exams(2, 20, rng=rng).history for rng in (5, np.random.default_rng(5)))
        assert all(a.frame.equals(b.frame) for a, b in zip(one, other, strict=True))
        drawn = [Workload.draw(HISTORY, rng=rng, queries=9, sanity_bound=1) for rng in (5, np.random.default_rng(5))]
        np.testing.assert_array_equal(drawn[0].selected[0], drawn[1].selected[0])


class TestCompare:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((FRAME, {}, {}), r"compare: history is a DataFrame; it takes the original records; make a History"),
            ((HISTORY, [Mondrian(KAnonymity(1))], {}), r"compare: defenses is a list; it is a mapping of names, as \{"),
            ((HISTORY, {"m": KAnonymity}, {}), r"compare: defenses\['m'\] is .*; it is a settings object"),
            (
                (HISTORY, {"m": Mondrian(KAnonymity(1))}, {"a": 3}),
                r"compare: attacks\['a'\] is 3; it is a settings object",
            ),
            (
                (HISTORY, {"m": Mondrian(KAnonymity(1))}, {}, UniformPrior()),
                r"compare: defender is .*; it takes an Adversary",
            ),
        ],
    )
    def test_the_way_out(self, arguments, words):
        with pytest.raises(TypeError, match=words):
            compare(*arguments)

    def test_progress(self):
        with pytest.raises(
            TypeError, match=r"compare: progress is 3; it is a function of the names, as rich\.progress"
        ):
            compare(HISTORY, {"m": Mondrian(KAnonymity(1))}, {}, progress=3)


class TestWorkload:
    def test_views_of_another_schema(self):
        other = history_of(("AB", "ab"), domain="ab")
        with pytest.raises(
            ValueError, match="has 1 quasi-identifiers and 2 sensitive values, and the workload's views have 1 and 3"
        ):
            MEASURES["query_error"]([Release(other[0], [0, 0])], WORKLOAD)


def test_adult():
    with pytest.raises(TypeError, match="adult: "):
        adult(3)
