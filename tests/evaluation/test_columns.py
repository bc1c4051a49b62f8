"""Tables of all public measures and checks: one vocabulary of columns, plain rows, one kind of entry in a column."""

import dataclasses
import inspect

import numpy as np
import pandas as pd
import pytest
from mined_beliefs import HISTORY as TOWN_HISTORY
from mined_beliefs import TOWNS, beliefs_with, mined
from patients import LINKING, patients
from places import ROOT
from strategies import history_of

import foreknow.models
from foreknow import attacks, defenses, evaluation
from foreknow.attacks import ForegroundAttack, Influence, JointAttack, LinkingAttack, SequentialAttack, SnapshotAttack
from foreknow.defenses import ItemSuppression, KAnonymity, QSDiversity, TCloseness
from foreknow.evaluation import COLUMNS, Comparison, Workload
from foreknow.evaluation.checks.verify import m_invariance, verify_table
from foreknow.evaluation.loss.queries import query_errors
from foreknow.evaluation.measures import ALONE, BELIEF_MEASURES, RELEASE_MEASURES, ROW_COLUMNS, SUFFIXES
from foreknow.evaluation.risk.global_errors import global_errors
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    CompromisedRecords,
    ItemRelease,
    MarkovChain,
    Presence,
    PriorCascade,
    Problem,
    Release,
    UniformMembership,
    UniformPrior,
)
from foreknow.models.programs import CalibrationRanks, release_predictive

STAYS = MarkovChain(1, np.full((3, 3), 0.1) + 0.7 * np.eye(3))
ADVERSARY = Adversary(UniformPrior(), STAYS, cascade=PriorCascade())
HISTORY = history_of(("ABCDEF", "abbcca"), ("ABCD", "bbac"), ("ABCDE", "cabbc"))
GROUPS = ([0, 0, 1, 1, 2, 2], [0, 0, 1, 1], [1, 0, 1, 0, -1])
RELEASES = tuple(Release(view, labels) for view, labels in zip(HISTORY, GROUPS, strict=True))
ATTACK = SequentialAttack(ADVERSARY)
BELIEFS = ATTACK(RELEASES)
SPREAD = SequentialAttack(Averaged([ADVERSARY, Adversary(UniformPrior(), STAYS)]))(RELEASES)
LATER = JointAttack(ADVERSARY)(RELEASES)
WORKLOAD = Workload.draw(HISTORY, rng=1, queries=4, selectivity=0.5)
COMPARISON = Comparison(HISTORY, {"one": RELEASES}, {("one", "s"): BELIEFS, ("one", "t"): BELIEFS})
DRAWN = beliefs_with(mined(["town"], [0.8, 0.5, 0.3], draws=np.full((4, 3, 2), 0.5)))
PLAIN, MINED_FROM_NOTHING = beliefs_with(TOWNS), ForegroundAttack()([])
ITEMS = ItemRelease(Release(patients(), [0, 0, 1, 1]), LINKING, LINKING.items_of(patients()))
SUPPRESSED = ItemSuppression(QSDiversity(2.0, 2, LINKING))(ITEMS.release)
LABELS = LinkingAttack(LINKING)([ITEMS])
TOLD = dataclasses.replace(
    ADVERSARY,
    compromised=CompromisedRecords(
        pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [1], "confidence": [0.7]})
    ),
)
GRAPH = Influence(ADVERSARY)(RELEASES, "A", "a", 1)
RANKS = CalibrationRanks({"a": np.array([0.5, 0.2])}, np.array([0, 0]))
PROBLEM = Problem(np.full((4, 2), 0.5), np.array([0, 0, 1, 1]), np.array([[2, 0], [0, 2]]))
PUBLISHED = RELEASES[0].table
SET, DRAWS = {"sensitive_set": {"a"}}, {"draws": 20, "rng": 1}
WORST = {"nothing": SnapshotAttack(Adversary(UniformPrior())), "chain": ATTACK}


def scenario_measure(goal, beliefs):
    """Measure of a goal; that of values is `risk_table`."""
    return evaluation.Scenario(goal=goal).measure(beliefs, HISTORY)


TABLES = {
    "odds_shift": lambda: [evaluation.odds_shift(RELEASES, ADVERSARY, each) for each in (True, False)],
    "leaving_shift": lambda: [evaluation.leaving_shift(STAYS, Presence(np.array([0.1, 0.2, 0.1])))],
    "recommend": lambda: [
        evaluation.recommend(evaluation.exams(2, 100, rng=1).history, departures=["ghosts"], candidates=[(5, 5)])
    ],
    "role_anonymity": lambda: [evaluation.role_anonymity(RELEASES)],
    "across_draws": lambda: [evaluation.across_draws(evaluation.risk_table, SPREAD, HISTORY)],
    "belief_sources": lambda: [evaluation.belief_sources(ATTACK, RELEASES, "A")],
    "breaches": lambda: [evaluation.breaches(each, HISTORY, r=2, **SET) for each in (BELIEFS, Beliefs(()))],
    "compare_cascades": lambda: [
        evaluation.compare_cascades(RELEASES, {"prior": PriorCascade(), "none": None}, {"me": TOLD}),
    ],
    "compare_knowledge": lambda: [evaluation.compare_knowledge(RELEASES, {"me": ADVERSARY}, **DRAWS)],
    "consistency_test": lambda: [evaluation.consistency_test(BELIEFS, HISTORY, **DRAWS)],
    "exposing_members": lambda: [
        evaluation.exposing_members(BELIEFS, "A", 1),
        evaluation.exposing_members(BELIEFS, "E", 3),
    ],
    "global_errors": lambda: [
        global_errors(of, TOWN_HISTORY, {"x"}, by_attribute_set=each)
        for each in (True, False)
        for of in (PLAIN, MINED_FROM_NOTHING)
    ],
    "global_probabilities": lambda: [
        evaluation.global_probabilities(each, TOWN_HISTORY, {"x"}) for each in (PLAIN, DRAWN)
    ],
    "greatest_differences": lambda: [
        evaluation.greatest_differences(of, by_attribute_set=each)
        for each in (True, False)
        for of in (PLAIN, MINED_FROM_NOTHING)
    ],
    "group_linkage": lambda: [
        evaluation.group_linkage(Adversary(UniformPrior(), membership=UniformMembership()), each)
        for each in (RELEASES, [])
    ],
    "influence_by_distance": lambda: [evaluation.influence_by_distance(GRAPH)],
    "influence_by_release": lambda: [evaluation.influence_by_release(GRAPH)],
    "items_lost": lambda: [evaluation.items_lost([SUPPRESSED.release]), evaluation.items_lost([])],
    "label_disclosure": lambda: [
        evaluation.label_disclosure(LABELS),
        evaluation.label_disclosure(LinkingAttack(LINKING)([])),
    ],
    "m_invariance": lambda: [m_invariance(RELEASES, 2)],
    "query_error": lambda: [evaluation.query_error(each, WORKLOAD) for each in (RELEASES, [])],
    "query_errors": lambda: [query_errors(RELEASES[0], WORKLOAD)],
    "reliability_curve": lambda: [evaluation.reliability_curve(BELIEFS, HISTORY, **each) for each in ({}, DRAWS)],
    "respondent_risk": lambda: [evaluation.respondent_risk(each, HISTORY) for each in (BELIEFS, SPREAD, Beliefs(()))],
    "retroactive_leak": lambda: [evaluation.retroactive_leak(BELIEFS, LATER, HISTORY)],
    "score_decomposition": lambda: [evaluation.score_decomposition(BELIEFS, HISTORY, **each) for each in ({}, DRAWS)],
    "verify": lambda: [evaluation.verify(RELEASES[0], KAnonymity(2) & TCloseness(0.5))],
    "verify_table": lambda: [verify_table(PUBLISHED, "result", "abc", KAnonymity(2))],
    "verify_items": lambda: [evaluation.verify_items(SUPPRESSED.release, QSDiversity(2.0, 2, LINKING))],
    "worst_case": lambda: [evaluation.worst_case(RELEASES, WORST, by_release=each) for each in (True, False)],
    "release_predictive": lambda: [release_predictive(np.ones((3, 2, 2), dtype=int), PROBLEM)],
    "Comparison.risk": lambda: [COMPARISON.risk()],
    "Comparison.cost": lambda: [COMPARISON.cost(WORKLOAD)],
    "Comparison.summary": lambda: [COMPARISON.summary(WORKLOAD)],
    "Comparison.worst_case": lambda: [COMPARISON.worst_case(by_release=each) for each in (True, False)],
    "CalibrationRanks.uniformity": lambda: [RANKS.uniformity()],
    "ForegroundBeliefs.over": lambda: [PLAIN.over(3.5), MINED_FROM_NOTHING.over(2)],
    "LabelBeliefs.certain": lambda: [LABELS.certain(), LABELS.certain(1.0)],
    "Scenario.measure": lambda: [scenario_measure("change", each) for each in (LATER, Beliefs(()))],
    "Scenario.measure of a path": lambda: [scenario_measure("path", each) for each in (LATER, Beliefs(()))],
    "SuppressedItems.groups": lambda: [SUPPRESSED.groups],
} | {
    name: lambda measure=measure, of=of: [measure(*each) for each in of]
    for family, of in (
        (BELIEF_MEASURES, [(BELIEFS, HISTORY), (Beliefs(()), HISTORY)]),
        (RELEASE_MEASURES, [(RELEASES,), ([],)]),
    )
    for name, measure in family.items()
    if name in ALONE
}
"""Tables of each measure: with and without options that add columns, and of nothing."""

OF_OTHER_SHAPES = {
    "BeliefBounds": "matrices of bounds: a row per respondent, a column per value or release",
    "Beliefs": "matrices of beliefs: a row per respondent or stage, a column per value",
    "ReleaseBeliefs": "matrices of beliefs",
    "LabelBeliefs": "matrices of beliefs, but for `certain`",
    "GlobalDistribution": "matrix: a row per signature, a column per value",
    "SampledKnowledge": "the summary that ArviZ makes",
    "ItemRelease": "published tables, with the columns of the data",
    "People": "columns of the data",
    "Cells": "labels of cells, with the columns of the data",
    "Promise": "a row for each form of the promise",
    "Release": "published tables, with the columns of the data",
}
"""Public classes that return tables which are no measures, and what these are."""


@pytest.fixture(scope="module", params=TABLES)
def tables(request):
    return TABLES[request.param]()


def meaning(column):
    """Meaning of a column, or of its suffix."""
    if column in COLUMNS:
        return COLUMNS[column]
    stem, suffix = next(((column.removesuffix(end), end) for end in SUFFIXES if column.endswith(end)), (column, ""))
    assert stem in COLUMNS, column
    return SUFFIXES[suffix]


def test_columns_are_in_the_vocabulary(tables):
    for table in tables:
        assert isinstance(table.columns, pd.Index)
        assert not isinstance(table.columns, pd.MultiIndex)
        assert table.columns.is_unique
        for column in table.columns:
            assert column in ("low", "high") or meaning(column)


def test_the_index_is_the_number_of_the_row(tables):
    for table in tables:
        assert table.index.equals(pd.RangeIndex(len(table)))
        assert table.index.name is None


def test_a_column_has_the_kind_that_its_meaning_says(tables):
    kinds = {"number of": pd.api.types.is_integer_dtype, "whether": pd.api.types.is_bool_dtype}
    for table in tables:
        for column in table.columns if len(table) else ():
            if column in ROW_COLUMNS or column.endswith("_attack"):
                continue
            text = "" if column in ("low", "high") else meaning(column)
            fits = next((kind for start, kind in kinds.items() if text.startswith(start)), pd.api.types.is_float_dtype)
            assert fits(table[column].dtype), (column, table[column].dtype)


def test_a_table_of_nothing_has_the_columns_of_a_table(tables):
    for table in tables:
        if not len(table):
            assert set(table.columns) <= set(tables[0].columns)
            assert len(table.columns)


def test_an_interval_has_two_ends(tables):
    for table in tables:
        assert {name[:-4] for name in table if name.endswith("_low")} == {
            name[:-5] for name in table if name.endswith("_high") and name != "calibrated_high"
        }


def test_every_meaning_is_of_a_column():
    used = {column for make in TABLES.values() for table in make() for column in table.columns}
    used |= set(evaluation.log_score(BELIEFS, HISTORY, leaving_out={"A"}).columns)
    assert set(COLUMNS) <= used
    assert len(set(COLUMNS.values())) == len(COLUMNS)


def returns_a_table(function):
    return "DataFrame" in str(inspect.signature(function).return_annotation)


def test_every_public_function_and_class_with_a_table_is_here():
    for package in (evaluation, attacks, defenses, foreknow.models):
        for name in package.__all__:
            target = getattr(package, name)
            if inspect.isfunction(target) and returns_a_table(target):
                assert name in TABLES
            elif inspect.isclass(target):
                methods = [each for each, one in inspect.getmembers(target, inspect.isfunction) if each[0] != "_"]
                for method in methods:
                    function = getattr(target, method)
                    if "DataFrame" in str(inspect.signature(function).return_annotation):
                        known = f"{name}.{method}" in TABLES or name in OF_OTHER_SHAPES
                        assert known or issubclass(target, Beliefs) or "together" in method, (name, method)


def test_the_page_of_columns_is_the_vocabulary():
    text = (ROOT / "docs" / "reference" / "columns.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.replace("\\|", "/").splitlines() if line.startswith("| `")]
    listed = {row[1].strip(" `"): row[2].strip() for row in rows}
    assert listed == {name: meaning.replace("|", "/") for name, meaning in (COLUMNS | SUFFIXES).items()}
