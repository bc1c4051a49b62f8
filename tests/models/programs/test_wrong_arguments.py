"""Wrong arguments to programs: one TypeError or ValueError, before PyMC or PyTensor sees them."""

import re

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
    markov_model,
    permutation_model,
)
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.joint import JointProblem

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


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: permutation_model(PROBLEM, "1"),
            ValueError,
            "the concentration is '1'; it is a positive number, or a function",
        ),
        (
            lambda: compromised_model(CLAIMS, BELIEFS, ("a", 1)),
            ValueError,
            "of a Beta distribution",
        ),
        (lambda: markov_model([[0, 1]], "1"), ValueError, "markov_model: order is '1'; it is a number of past values"),
        (lambda: markov_model([[0, 1]], 10**9), ValueError, "choose a smaller order"),
    ],
)
def test_the_message_says_what_the_argument_takes(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
