"""Arguments of the wrong kind to plot functions are one TypeError or ValueError."""

import contextlib
import inspect
import itertools

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from mined_beliefs import HISTORY as MINED
from mined_beliefs import TOWNS, beliefs_with
from strategies import view_of

from foreknow.attacks import SnapshotAttack
from foreknow.evaluation import (
    belief_forest,
    belief_over_time,
    breach_curve,
    convergence_plot,
    foreground_map,
    gain_over_time,
    influence_map,
    influence_over_distance,
    leak_plot,
    reliability_curve,
    reliability_plot,
    retroactive_leak,
    risk_utility_map,
)
from foreknow.evaluation.plots.risk_utility import group_sizes
from foreknow.models import Adversary, History, Release, SwapChain, UniformPrior

pytestmark = pytest.mark.slow

VIEW = view_of("ABCD", "xxyy", domain="xy")
HISTORY = History([VIEW])
RELEASE = Release(VIEW, [0, 0, 1, 1])
BELIEFS = SnapshotAttack(Adversary(UniformPrior()))([RELEASE])
SAMPLED = SnapshotAttack(Adversary(UniformPrior(), estimator=SwapChain(draws=8, chains=2, rng=1)))([RELEASE])
RISK = pd.DataFrame({"defense": ["a"], "attack": ["b"], "time": [1], "gain": [0.1], "gcp": [0.2]})
GRAPH = nx.DiGraph(source=("A", 1))
GRAPH.add_node(("A", 1), bits=0.5, release=0, group=0, distance=0)

CALLS = {
    gain_over_time: {"risk": RISK, "time": "release", "measure": "gain", "panel": None},
    belief_over_time: {"beliefs": {"one": BELIEFS}, "history": HISTORY, "respondent": "A", "time": "release"},
    belief_forest: {
        "beliefs": {"one": BELIEFS},
        "value": "x",
        "respondents": ["A"],
        "release": 1,
        "history": HISTORY,
        "mass": 0.9,
    },
    convergence_plot: {"beliefs": SAMPLED, "time": "release"},
    foreground_map: {
        "beliefs": beliefs_with(TOWNS),
        "history": MINED,
        "sensitive_set": {"x"},
        "attributes": "town",
        "time": 1,
    },
    group_sizes: {"releases": {"one": [RELEASE]}},
    breach_curve: {"beliefs": BELIEFS, "history": HISTORY, "sensitive_set": {"x"}, "r": 2, "leaving_out": {"A"}},
    reliability_plot: {"curves": {"one": reliability_curve(BELIEFS, HISTORY, draws=2, rng=1)}},
    leak_plot: {"table": retroactive_leak(BELIEFS, BELIEFS, HISTORY), "time": "release"},
    influence_map: {"graph": GRAPH, "time": "release", "most": 3},
    influence_over_distance: {"graph": GRAPH},
    risk_utility_map: {
        "table": RISK,
        "risk": "gain",
        "cost": "gcp",
        "along": None,
        "curve": "defense",
        "panel": None,
        "bound": None,
    },
}
WRONG = [
    None, 0, -1, 2.5, float("nan"), True, "", "x", b"x", (), [], [1], {}, {"one": 1}, {1: None}, set(), {"zzz"}, object(), len,
    int, np.zeros(3), np.zeros((2, 2)), pd.DataFrame(), pd.DataFrame({"time": [1]}), RISK, RISK["gain"], RISK.astype(str),
    BELIEFS, HISTORY, VIEW, RELEASE, GRAPH, nx.Graph(), nx.DiGraph(), nx.DiGraph([(1, 2)]), [[1]], ["gain"], 10**400,
    RISK.set_axis(pd.MultiIndex.from_tuples([(name, 1) for name in RISK.columns]), axis=1), pd.concat([RISK, RISK], axis=1),
    {"one": RISK}, {"one": BELIEFS, "two": HISTORY}, {"one": [RELEASE, VIEW]}, {"one": RELEASE}, Adversary, pd.NaT, 1j,
]  # fmt: skip


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_the_arguments_are_right(function):
    assert {*CALLS[function], "ax"} == set(inspect.signature(function).parameters)
    assert np.ravel(function(**CALLS[function])).size


@pytest.mark.parametrize(
    ("function", "name"),
    [(function, name) for function, arguments in CALLS.items() for name in [*arguments, "ax"]],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_one_wrong_argument(function, name):
    """Of one kind of error, with a message; some values are not wrong."""
    for wrong in WRONG:
        try:
            function(**{**CALLS[function], name: wrong})
        except (TypeError, ValueError) as error:
            text = str(error)
            assert len(text) > 20, (wrong, text)
            assert text.endswith((".", "?")) or text.startswith("unhashable type"), (wrong, text)
        plt.close("all")


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_all_arguments_wrong(function):
    """No other kind of error, whatever is wrong together."""
    for first, other in itertools.product(WRONG[::3], WRONG[1::4]):
        with contextlib.suppress(TypeError, ValueError):
            function(**dict(zip(CALLS[function], itertools.cycle([first, other]), strict=False)))
        plt.close("all")
