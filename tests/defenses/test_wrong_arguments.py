"""Arguments of the wrong kind to defenses, their calls, `publish` and the orders of records end in TypeError or ValueError."""

import contextlib
import inspect
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import history_of

from foreknow.attacks import SnapshotAttack
from foreknow.defenses import (
    DEFENSES,
    Anatomy,
    FullDomain,
    JSReduce,
    KAnonymity,
    Mondrian,
    grow,
    hilbert_order,
    publish,
    summarize_records,
)
from foreknow.defenses.algorithms.hilbert import hilbert_index
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.models import Adversary, Hierarchy, Omega, Release, UniformPrior

pytestmark = pytest.mark.slow

HISTORY = history_of(("ABCDEF", "abcabc"), ("ABCDFG", "baccab"))
VIEW, PRIOR = HISTORY[0], np.full((6, 3), 1 / 3)
RECORDS = summarize_records(VIEW, PRIOR)
RELEASE = Release(VIEW, [0, 0, 0, 1, 1, 1])
POINTS = np.array([[0, 1], [1, 0]])

WRONG = [
    *(None, True, -1, 0, 1, 2, 2.5, -0.5, 1e-320, math.nan, math.inf, 10**400, 2**70, 1j, "", "x", "age", "relax", b"y"),
    *((), (1,), ("a",), [], [[1]], {}, {"age": 1}, {"age": (1e-300, 1)}, {"age": (1e-320, 1e300)}, {1: (2, 4)}, {1}, {"a"}),
    *({"age": "x"}, {"age": None}, {"age": [None]}, [None], [["age"]], slice(2), object(), object, int, len, iter),
    *(lambda *_: 0, lambda *_: [0] * 6, lambda *_: np.zeros(6, dtype=int), Omega, Omega(), Adversary, Adversary(UniformPrior())),
    *(UniformPrior, UniformPrior(), SnapshotAttack(Adversary(UniformPrior())), KAnonymity, KAnonymity(2), Mondrian),
    *(Mondrian(KAnonymity(2)), Hierarchy.flat(("a", "b", "c")), np.random.default_rng(0), np.random, np.array(3)),
    *(np.arange(3), np.arange(6), np.array([9, 9]), np.array([0, 0]), np.array([-1]), np.array([[0.5]]), np.array(["a"]), POINTS),
    *(PRIOR, np.float64(0.5), np.datetime64("2024-01-01"), pd.DataFrame({"a": [1]}), pd.Series([1, 2]), pd.NA, pd.NaT),
    *(VIEW, VIEW.frame, VIEW.people, VIEW.schema, HISTORY, RELEASE, [RELEASE], [VIEW], RECORDS),
]  # fmt: skip
"""Values of many kinds: for each argument most are wrong, and some are right."""

RIGHT = {
    "anatomy": {"l": 2},
    "bkaa": {"k": 2, "beta": 2, "j": 0.6},
    "foreground-safe": {"r": 2, "sensitive_set": {"a"}, "support": 1},
    "full-domain": {"requirement": KAnonymity(2)},
    "injector": {"l": 2},
    "js-reduce": {"k": 2, "t": 0.6, "j": 0.6},
    "k-primacy": {"k": 2, "beta": 1, "j": 0.6},
    "m-invariance": {"m": 2},
    "mask": {"k": 2, "l": 2},
    "mondrian": {"requirement": KAnonymity(2)},
    "uhra": {"k": 2, "t": 0.6, "j": 0.6},
}
"""Settings of each defense that two records can satisfy. A new defense adds its row."""

CALLS = {
    "publish": (publish, {"views": HISTORY, "defense": Mondrian(KAnonymity(2)), "adversary": None, "bucketized": None}),
    "publish, options": (
        lambda **options: publish(HISTORY, Anatomy(2), **options),
        {"infeasible": "raise", "rng": 1, "progress": iter},
    ),
    "mondrian, called": (Mondrian(KAnonymity(2)), {"view": VIEW, "prior": PRIOR}),
    "full-domain, called": (FullDomain(KAnonymity(2)), {"view": VIEW, "prior": PRIOR}),
    "js-reduce, called": (JSReduce(2, 0.6, 0.6), {"view": VIEW, "prior": PRIOR}),
    "grow": (grow, {"records": RECORDS, "order": np.arange(6), "requirement": KAnonymity(2), "patience": None}),
    "hilbert_order": (hilbert_order, {"people": VIEW.people}),
    "hilbert_index": (hilbert_index, {"points": POINTS, "bits": 2}),
    "nearest_point_order": (nearest_point_order, {"people": VIEW.people}),
}
SETTINGS = [(name, setting) for name in DEFENSES for setting in inspect.signature(DEFENSES[name]).parameters]
ARGUMENTS = [(name, argument) for name, (_, right) in CALLS.items() for argument in right]


def attempt(name, settings):
    """Make a defense and group a view with it: only TypeError and ValueError may leave either."""
    with contextlib.suppress(TypeError, ValueError):
        defense = DEFENSES[name](**settings)
        repr(defense), hash(defense)
        defense(VIEW, PRIOR, ())


def test_every_defense_is_here():
    assert set(RIGHT) == set(DEFENSES)


@pytest.mark.parametrize(("name", "setting"), SETTINGS, ids=[f"{name}-{setting}" for name, setting in SETTINGS])
def test_each_setting_of_a_defense(name, setting):
    for value in WRONG:
        attempt(name, RIGHT[name] | {setting: value})


@pytest.mark.parametrize("name", DEFENSES)
@settings(max_examples=25)
@given(data=st.data())
def test_several_settings_at_once(name, data):
    parameters = inspect.signature(DEFENSES[name]).parameters
    changed = data.draw(st.dictionaries(st.sampled_from(list(parameters)), st.sampled_from(WRONG), max_size=4))
    attempt(name, RIGHT[name] | changed)


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS, ids=[f"{name}-{argument}" for name, argument in ARGUMENTS])
def test_each_argument_of_a_call(name, argument):
    call, right = CALLS[name]
    for value in WRONG:
        with contextlib.suppress(TypeError, ValueError):
            call(**right | {argument: value})


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=25)
@given(data=st.data())
def test_several_arguments_at_once(name, data):
    call, right = CALLS[name]
    changed = data.draw(st.dictionaries(st.sampled_from(list(right)), st.sampled_from(WRONG), max_size=4))
    with contextlib.suppress(TypeError, ValueError):
        call(**right | changed)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: grow(VIEW, np.arange(6), KAnonymity(2)), TypeError, r"grow: records is .*; make one by summarize_records\("),
        (lambda: grow(RECORDS, [0, 1], KAnonymity(2)), TypeError, r"grow: order is \[0, 1\]; .* as hilbert_order\(view\.people"),
        (lambda: grow(RECORDS, np.array([0, 6]), KAnonymity(2)), ValueError, "holds the row 6, and there are 6 records; rows"),
        (lambda: grow(RECORDS, np.array([0, 1, 0]), KAnonymity(2)), ValueError, "holds the row 0 2 times; give each row at most"),
        (lambda: grow(RECORDS, np.arange(6), KAnonymity(2), 0), ValueError, "grow: patience is 0; it is a number of records, 1"),
        (lambda: grow(RECORDS, np.arange(6), 3), TypeError, "grow: 3 is no requirement; give one, as KAnonymity"),
        (lambda: hilbert_index([[0, 1]], 1), TypeError, "points is .*; it is an int array of shape"),
        (lambda: hilbert_index(POINTS, 65), ValueError, "bits is 65; it is the number of bits of a coordinate, from 1 to 64"),
        (lambda: hilbert_index(4 * POINTS, 2), ValueError, "the coordinate 4; coordinates of 2 bits are from 0 to 3"),
        (lambda: Mondrian(KAnonymity(2))(VIEW.frame, PRIOR), TypeError, r"view is a DataFrame; .* View\(frame, schema\)"),
        (
            lambda: FullDomain(KAnonymity(2), {"age": (1e-300,)})(VIEW, PRIOR),
            ValueError,
            "start at 1e-300, which divides its domain from .* into over .* intervals; give wider ones",
        ),
    ],
)  # fmt: skip
def test_messages_say_the_way_out(call, error, match):
    with pytest.raises(error, match=match):
        call()
