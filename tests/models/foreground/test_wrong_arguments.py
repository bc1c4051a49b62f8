"""Arguments of the wrong kind: each constructor and function raises TypeError or ValueError, and nothing else."""

import dataclasses
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from failing_cases import failing
from hypothesis import given, settings
from hypothesis import strategies as st
from mined_beliefs import HISTORY, SCHEMA, TOWNS, VIEW, beliefs_with

from foreknow.attacks import ForegroundAttack
from foreknow.evaluation import foreground_map, global_probabilities, greatest_differences
from foreknow.evaluation.risk.global_errors import global_errors
from foreknow.models import Auto, Evidence, Exact, ExpectationMaximization, GibbsSampling, Release, SampleSize
from foreknow.models.tables.schema import SensitiveSet

pytestmark = pytest.mark.slow

ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    10**400,
    -(10**400),
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    1j,
    "all",
    "x",
    "",
    b"x",
    (),
    [],
    {},
    set(),
    ("x",),
    ["x", "x"],
    [["x"]],
    [[["x"]]],
    {"x": 1},
    object(),
    int,
    Exact,
    Exact(),
    GibbsSampling,
    ExpectationMaximization(),
    SampleSize(),
    lambda *_: None,
    np.int64(3),
    np.float32(0.5),
    np.array(3),
    np.array([0, 1]),
    np.array(["x"]),
    np.array([[1, 1]]),
    np.zeros((0, 2)),
    np.array([None, "x"], dtype=object),
    np.datetime64("2024-01-01"),
    pd.Timestamp("2024-01-01"),
    pd.NA,
    pd.Series(["x"]),
    pd.DataFrame({"x": [1]}),
    VIEW,
    HISTORY,
    SCHEMA,
]
"""Values of many kinds, wrong for most parameters."""

EVIDENCE = {
    "signature": np.array([0, 1, 0, 0]),
    "group": np.array([0, 0, 1, 1]),
    "counts": np.array([[1, 1], [1, 1]]),
    "rest": np.array([0.5, 0.5]),
}
CONSTRUCTORS = {
    ForegroundAttack: {},
    ExpectationMaximization: {},
    GibbsSampling: {"rng": 1},
    SampleSize: {},
    Evidence: EVIDENCE,
}
"""Each public class of foreground knowledge, with valid arguments for its required parameters."""


@pytest.mark.parametrize("kind", CONSTRUCTORS, ids=lambda kind: kind.__name__)
def test_each_parameter_of_each_constructor(kind):
    for field in dataclasses.fields(kind):

        def check(odd, name=field.name):
            with suppress(TypeError, ValueError):
                repr(kind(**CONSTRUCTORS[kind] | {name: odd}))

        assert not failing(check, ODD)


@given(st.data())
@settings(max_examples=100)
def test_several_parameters_at_once(data):
    kind = data.draw(st.sampled_from(list(CONSTRUCTORS)))
    names = [field.name for field in dataclasses.fields(kind)]
    odd = data.draw(st.dictionaries(st.sampled_from(names), st.sampled_from(ODD), min_size=2))
    with suppress(TypeError, ValueError):
        kind(**CONSTRUCTORS[kind] | odd)


BELIEFS = beliefs_with(TOWNS)
CALLS = {
    "attack": lambda odd: ForegroundAttack()(odd),
    "attack on a list": lambda odd: ForegroundAttack()([odd]),
    "attribute sets": lambda odd: ForegroundAttack([odd], support=1)([Release(VIEW, np.arange(8))]),
    "sensitive": lambda odd: ForegroundAttack(sensitive_set=odd, support=1)([Release(VIEW, np.zeros(8, int))]),
    "over": lambda odd: BELIEFS.over(odd),
    "expectation-maximization": lambda odd: ExpectationMaximization(iterations=1)(odd, Auto()),
    "gibbs sampling": lambda odd: GibbsSampling(draws=8, chains=2, rng=1)(odd, Auto()),
    "sensitive set": lambda odd: SensitiveSet.within(("x", "y"), odd, "F"),
    "global probabilities": lambda odd: global_probabilities(odd, HISTORY, {"x"}),
    "global probabilities of a history": lambda odd: global_probabilities(BELIEFS, odd, {"x"}),
    "global probabilities of a set": lambda odd: global_probabilities(BELIEFS, HISTORY, odd),
    "global errors": lambda odd: global_errors(odd, HISTORY, {"x"}),
    "global errors by set": lambda odd: global_errors(BELIEFS, HISTORY, {"x"}, by_attribute_set=odd),
    "differences": lambda odd: greatest_differences(odd),
    "differences of a set": lambda odd: greatest_differences(BELIEFS, odd),
    "map": lambda odd: foreground_map(odd, HISTORY, {"x"}, "town"),
    "map of attributes": lambda odd: foreground_map(BELIEFS, HISTORY, {"x"}, odd),
    "map at a time": lambda odd: foreground_map(BELIEFS, HISTORY, {"x"}, "town", odd),
}
"""Functions of one argument of any kind."""


@pytest.mark.parametrize("name", CALLS)
def test_each_argument_of_each_call(name):
    def check(odd):
        with suppress(TypeError, ValueError):
            CALLS[name](odd)

    assert not failing(check, ODD)
