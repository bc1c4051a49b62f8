"""Wrong arguments to programs: one TypeError or ValueError, before PyMC or PyTensor sees them."""

import re
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from strategies import history_of, view_of

from foreknow.models import (
    Beliefs,
    Evidence,
    Posterior,
    Problem,
    Release,
    compromised_model,
    foreground_model,
    hierarchical_markov_model,
    history_model,
    markov_model,
    permutation_model,
    prior_model,
    release_model,
)
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.joint import JointProblem
from foreknow.models.programs.published_groups import LogPermanent

pytestmark = pytest.mark.slow

HISTORY = history_of(("AB", "ab"), ("AB", "ba"))
PROBLEM = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]))
EVIDENCE = Evidence(np.array([0, 1]), np.zeros(2, int), np.array([[1, 1]]), np.array([0.5, 0.5]))
JOINT = JointProblem(np.full((2, 2), 0.5), (), [0, 1], [0, 0], [0, 0], [[1, 1]], [0])
CLAIMS = pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [1]})


def beliefs():
    observation = Release(view_of("AB", "ab", time=1, domain="ab"), np.zeros(2, int)).observation
    rows = np.full((2, 2), 0.5)
    return Beliefs((ReleaseBeliefs(observation, rows, rows, Posterior(rows, np.zeros(1, int))),))


BELIEFS = beliefs()

WRONG = [
    None,
    True,
    -1,
    1.5,
    np.nan,
    np.inf,
    10**400,
    10**30,
    1j,
    "x",
    b"x",
    [],
    [None],
    [[]],
    [["a"]],
    [[10**30]],
    [[0, 1], [[2]]],
    {},
    {"a": 1},
    {1, 2},
    (1, 2, 3),
    ("a", "b"),
    np.zeros(3),
    np.array("a"),
    np.zeros((2, 2, 2)),
    pd.DataFrame({"a": [1]}),
    pd.DataFrame({"respondent": [["A"]], "value": ["a"], "time": [1]}),
    pd.DataFrame({"respondent": ["A"], "value": [{}], "time": [None]}),
    object(),
    Problem,
    PROBLEM,
    EVIDENCE,
]
"""Values of many kinds, all wrong for some arguments."""

CALLS = {
    "compromised_model claims": lambda x: compromised_model(x, BELIEFS),
    "compromised_model beliefs": lambda x: compromised_model(CLAIMS, x),
    "compromised_model reliability": lambda x: compromised_model(CLAIMS, BELIEFS, x),
    "foreground_model evidence": foreground_model,
    "hierarchical_markov_model sequences": lambda x: hierarchical_markov_model(x, [0, 1]),
    "hierarchical_markov_model history": lambda x: hierarchical_markov_model(HISTORY, x),
    "hierarchical_markov_model classes": lambda x: hierarchical_markov_model([[0, 1], [1, 1]], x),
    "hierarchical_markov_model order": lambda x: hierarchical_markov_model([[0, 1], [1, 1]], [0, 1], x),
    "hierarchical_markov_model concentration": lambda x: hierarchical_markov_model([[0, 1]], [0], concentration=x),
    "hierarchical_markov_model pooled": lambda x: hierarchical_markov_model([[0, 1]], [0], pooled_concentration=x),
    "hierarchical_markov_model values": lambda x: hierarchical_markov_model([[0, 1]], [0], values=x),
    "history_model history": history_model,
    "history_model classes": lambda x: history_model(JOINT, x),
    "history_model frequency_concentration": lambda x: history_model(JOINT, frequency_concentration=x),
    "history_model transition_concentration": lambda x: history_model(JOINT, transition_concentration=x),
    "foreground_model concentration": lambda x: foreground_model(EVIDENCE, x),
    "markov_model sequences": markov_model,
    "markov_model order": lambda x: markov_model([[0, 1, 1]], x),
    "markov_model concentration": lambda x: markov_model([[0, 1]], concentration=x),
    "markov_model values": lambda x: markov_model([[0, 1]], values=x),
    "markov_model never_missed": lambda x: markov_model([[0, 1]], never_missed=x),
    "permutation_model problem": permutation_model,
    "permutation_model concentration": lambda x: permutation_model(PROBLEM, x),
    "prior_model history": prior_model,
    "prior_model attributes": lambda x: prior_model(HISTORY, x),
    "prior_model scale": lambda x: prior_model(HISTORY, scale=x),
    "release_model problems": lambda x: release_model(x, [np.zeros(2, int)]),
    "release_model one problem": lambda x: release_model([x], [np.zeros(2, int)]),
    "release_model classes": lambda x: release_model([PROBLEM], x),
    "release_model one class": lambda x: release_model([PROBLEM], [x]),
    "release_model past": lambda x: release_model([PROBLEM], past=x),
    "release_model one past": lambda x: release_model([PROBLEM], past=[x]),
    "release_model concentration": lambda x: release_model([PROBLEM], [np.zeros(2, int)], concentration=x),
    "LogPermanent group": LogPermanent,
    "LogPermanent row": lambda x: LogPermanent([0, 0], x),
    "LogPermanent limit": lambda x: LogPermanent([0, 0], limit=x),
    "LogPermanent counts": lambda x: LogPermanent([0, 0])(np.zeros((2, 2)), x),
    "LogPermanent log_prior": lambda x: LogPermanent([0, 0])(x, np.array([[1, 1]])),
    "LogPermanent without counts": lambda x: LogPermanent([0, 0])(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_is_refused_or_a_model_is_made(name):
    for value in WRONG:
        with suppress(TypeError, ValueError):
            CALLS[name](value)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: permutation_model(np.eye(2)), TypeError, "permutation_model: problem is"),
        (
            lambda: permutation_model(PROBLEM, "1"),
            ValueError,
            "the concentration is '1'; it is a positive number, or a function",
        ),
        (lambda: release_model(PROBLEM, [[0, 1]]), TypeError, "problems is a Problem; it is a sequence of Problem"),
        (lambda: release_model([np.eye(2)], [[0, 1]]), TypeError, "it is a sequence of Problem, one per release"),
        (
            lambda: release_model([PROBLEM], 3),
            TypeError,
            "classes is 3; it is one array of class numbers (n,) per release",
        ),
        (
            lambda: release_model([PROBLEM], past=["ab"]),
            TypeError,
            "it is one array of probabilities (n, m) per release",
        ),
        (
            lambda: release_model([PROBLEM], [[0, 1]], concentration="x"),
            TypeError,
            "concentration is 'x'; it is one positive",
        ),
        (lambda: foreground_model(PROBLEM), TypeError, "foreground_model: evidence is"),
        (
            lambda: compromised_model(CLAIMS, [0.5]),
            TypeError,
            "beliefs is [0.5]; it is a Beliefs; an attack makes them",
        ),
        (
            lambda: compromised_model(CLAIMS, BELIEFS, ("a", 1)),
            ValueError,
            "it is the two parameters of a Beta distribution",
        ),
        (lambda: markov_model(5), TypeError, "sequences is 5; it is a History, or an iterable with one sequence"),
        (lambda: markov_model([[0, 1]], "1"), ValueError, "markov_model: order is '1'; it is a number of past values"),
        (lambda: markov_model([[0, 1]], 10**9), ValueError, "choose a smaller order"),
        (
            lambda: LogPermanent([0.5]),
            TypeError,
            "group is [0.5]; it is a sequence with one whole number per respondent",
        ),
        (
            lambda: LogPermanent([0, 0])(np.zeros((2, 2))),
            TypeError,
            "called with 1 arguments; it takes a log-prior and counts",
        ),
    ],
)
def test_the_message_says_what_the_argument_takes(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
