"""Arguments of the wrong kind: every constructor and fit raises TypeError or ValueError, with the way out."""

import datetime
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import history_of, view_of

from foreknow.models import (
    Adversary,
    Auto,
    Beliefs,
    ChainByRelease,
    ClassFrequencies,
    CompromisedRecords,
    DirichletChain,
    DirichletFrequencies,
    GivenPrior,
    KernelPrior,
    MarkovChain,
    Memory,
    Numeric,
    Posterior,
    PosteriorCascade,
    PriorByTime,
    PriorCascade,
    Problem,
    Release,
    Schema,
    TooLarge,
    UniformPrior,
)
from foreknow.models.beliefs import ReleaseBeliefs

HISTORY = history_of(("AB", "ab"), ("AB", "bc"))
RELEASE = Release(HISTORY[0], [0, 0])
CHAIN = MarkovChain(1, np.full((3, 3), 1 / 3))
FRAME = pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [1], "confidence": [0.5]})
PRIOR = pd.DataFrame(np.full((2, 3), 1 / 3), index=list("AB"), columns=list("abc"))
HALVES = np.full((2, 2), 0.5)
POSTERIOR = Posterior(HALVES, np.zeros(1, dtype=int))
EVERYONE = RELEASE.observation.people

VALID = {
    Adversary: {
        "prior": UniformPrior(), "transitions": CHAIN, "compromised": None, "estimator": Auto(), "cascade": None,
        "revision": "filter", "gaps": "ignore", "counterfeits": "estimated", "distortion": "counted",
    },
    Adversary(UniformPrior(), CHAIN).revise: {"memory": Memory(), "people": EVERYONE, "time": 1},
    Adversary(UniformPrior(), CHAIN).observe: {"memory": Memory(), "observation": RELEASE.observation},
    Beliefs: {"releases": (), "notes": ()},
    Beliefs((ReleaseBeliefs(RELEASE.observation, HALVES, HALVES, POSTERIOR),)).posterior: {"time": 7},
    ReleaseBeliefs(RELEASE.observation, HALVES, HALVES, POSTERIOR).beliefs: {"stage": "prior"},
    ClassFrequencies: {"cuts": {"age": (20.0,)}, "probabilities": HALVES},
    ClassFrequencies.fit: {"history": HISTORY, "classes": {"age": 2}, "pseudo_count": 1.0},
    CompromisedRecords: {"frame": FRAME, "contradicted": "raise"},
    CompromisedRecords.sample: {"history": HISTORY, "share": 0.5, "confidence": 1.0, "rng": 1},
    CompromisedRecords(FRAME).at: {"time": 1, "people": EVERYONE},
    DirichletChain: {"concentrations": (np.ones((2, 2)),)},
    DirichletChain.fit: {"sequences": HISTORY, "order": 1, "concentration": 1.0, "values": 3, "gaps": "ignore"},
    DirichletChain((np.ones((2, 2)),)).sample: {"rng": 1},
    DirichletChain((np.ones((2, 2)),)).interval: {"mass": 0.9},
    DirichletFrequencies: {"cuts": {}, "concentrations": np.ones(3)},
    DirichletFrequencies.fit: {"history": HISTORY, "classes": {}, "concentration": 1.0},
    DirichletFrequencies({}, np.ones(3)).sample: {"rng": 1},
    GivenPrior: {"frame": PRIOR},
    GivenPrior(PRIOR): {"people": EVERYONE},
    ChainByRelease: {"chains": (CHAIN,), "later": CHAIN},
    ChainByRelease.extracted: {
        "history": HISTORY, "order": 1, "pseudo_count": 1.0, "as_printed": False, "inclusive": False, "gaps": "ignore",
    },
    ChainByRelease.fit: {
        "sequences": HISTORY, "order": 1, "pseudo_count": 1.0, "shrinkage": 1.0, "values": 3, "gaps": "ignore",
    },
    KernelPrior.fit: {"history": HISTORY, "bandwidth": 0.5, "leave_one_out": True},
    MarkovChain: {"order": 1, "probabilities": HALVES, "shorter": (), "substochastic": False},
    MarkovChain.fit: {
        "sequences": HISTORY, "order": 1, "pseudo_count": 1.0, "as_printed": False, "values": 3, "gaps": "ignore",
    },
    CHAIN.truncate: {"steps": 1},
    PosteriorCascade: {"keep_stated": False},
    PriorByTime: {"priors": {1: UniformPrior()}},
    PriorCascade: {"normalized": True},
    Problem: {
        "prior": HALVES, "group": np.array([0, 0]), "counts": np.array([[1, 1]]), "evidence": np.zeros((2, 2)),
    },
    UniformPrior(): {"people": EVERYONE},
}  # fmt: skip
"""Each public constructor and fit with arguments that it takes."""

ODD = [
    None, True, -1, 0, 3, 2.5, 10**400, -(10**400), math.nan, math.inf, 1j, "", "ignore", "age", b"x", (), [], {}, set(),
    [None], [[]], [[0, 1], [0]], ["a"], [[0.5, 0.5]], {"age": None}, {"age": "x"}, {"age": 10**400}, {"age": -1}, {1: 2},
    {"height": 1}, {None: None}, object(), print, len, lambda: None, lambda *_: None, UniformPrior, UniformPrior(), CHAIN,
    MarkovChain, HISTORY, HISTORY[0], RELEASE, RELEASE.observation, EVERYONE, POSTERIOR, Memory(), Auto(), Auto, FRAME,
    PRIOR, pd.DataFrame(), pd.Series([1.0]), pd.DataFrame({"a": ["x"]}), Schema({"age": Numeric()}, "result", ("a",)),
    np.array(None), np.array(3), np.array([]), np.array("x"), np.array(["x", "y"]), np.zeros((0, 0)), np.zeros((2, 2)),
    np.eye(2), np.eye(2, dtype=bool), np.eye(2, dtype=complex), np.ones((2, 2, 2)) / 2, np.full((2, 2), np.nan),
    np.full((2, 2), np.inf), np.full((2, 2), -1), np.array([0, 0]), np.array([0, 2**62]), np.array([[2**62, 2**62]]),
    np.array([2**64 - 1], dtype=np.uint64), np.array([{}, []], dtype=object), np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.random.default_rng(1), np.random.RandomState(1), datetime.date(2020, 1, 1), pd.NA, pd.NaT, range(3), (i for i in []),
    (CHAIN, MarkovChain(2, np.full((3, 3, 3), 1 / 3))), (CHAIN, None), [[0, 10**15]], [[2**70]], [[-1, 0]], [["a", "b"]],
    iter([[0, 1], 3]), {"age": [3, 1]}, {"age": np.eye(2)},
]  # fmt: skip
"""Values of many kinds."""

CALLS = [(call, name) for call, arguments in VALID.items() for name in arguments]


def name_of(call):
    return getattr(call, "__qualname__", type(call).__name__)


def refusal(call, arguments):
    """TypeError or ValueError of a call, or None; any other error is raised."""
    try:
        call(**arguments)
    except (TypeError, ValueError, TooLarge) as error:
        return error
    return None


@pytest.mark.parametrize(("call", "name"), CALLS, ids=[f"{name_of(call)}-{name}" for call, name in CALLS])
def test_one_argument_of_another_kind(call, name):
    for value in ODD:
        error = refusal(call, VALID[call] | {name: value})
        assert error is None or str(error), f"{name}={value!r} raises without a message"
        assert not isinstance(error, LookupError), f"{name}={value!r}: {error!r}"


@pytest.mark.parametrize("call", list(VALID), ids=name_of)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
def test_all_arguments_at_random(call, data):
    arguments = {
        name: data.draw(st.just(valid) | st.sampled_from(ODD), label=name) for name, valid in VALID[call].items()
    }
    assert not isinstance(refusal(call, arguments), LookupError)


@pytest.mark.parametrize("call", list(VALID), ids=name_of)
def test_the_valid_arguments_are_valid(call):
    if name_of(call) == "Beliefs.posterior":
        with pytest.raises(ValueError, match="there is no release at 7"):
            call(**VALID[call])
    else:
        call(**VALID[call])


MESSAGES = [
    (
        lambda: Adversary(np.eye(3)),
        TypeError,
        "Adversary: prior is an array of shape (3, 3); it maps people to probabilities, as UniformPrior(), "
        "ClassFrequencies.fit(history, classes), or GivenPrior(frame) of one row per respondent and one column per value. "
        "The prior stands first.",
    ),
    (
        lambda: Adversary(UniformPrior(), np.eye(3)),
        TypeError,
        "Adversary: transitions is an array of shape (3, 3); it is a chain over the sensitive values, as "
        "MarkovChain(1, array) or MarkovChain.fit(history), or TransitionsByClass(classes, chains).",
    ),
    (
        lambda: Adversary(UniformPrior(), estimator=print),
        TypeError,
        "Adversary: estimator is <built-in function print>; it is an estimator object, as Exact() or Auto(). Make one of a "
        "function of the prior (k, m) and the counts (m,) of one group by PerGroup(function), and of a PyMC program by "
        "ProgramEstimator(program, rng=1).",
    ),
    (
        lambda: Adversary(UniformPrior(), compromised=FRAME),
        TypeError,
        "Adversary: compromised is a DataFrame; it must be CompromisedRecords(frame).",
    ),
    (
        lambda: Adversary(UniformPrior()).observe(Memory(), RELEASE),
        TypeError,
        f"Adversary.observe: observation is {RELEASE!r}; it is an Observation, as release.observation.",
    ),
    (
        lambda: Adversary(lambda _: np.full(3, 1 / 3)).observe(Memory(), RELEASE.observation),
        ValueError,
        "Adversary: the result of prior(people) has shape (3,); it needs (2, 3), one distribution per respondent.",
    ),
    (
        lambda: CompromisedRecords.sample(HISTORY, 0.5, 1.0, rng="1"),
        TypeError,
        "CompromisedRecords.sample: rng is '1'; it is a generator, as numpy.random.default_rng(1), an integer seed.",
    ),
    (
        lambda: ClassFrequencies.fit(HISTORY[0], {"age": 3}),
        TypeError,
        f"ClassFrequencies.fit: history is {HISTORY[0]!r}; it is a History; make one by History([view, ...]) or History.read.",
    ),
    (
        lambda: MarkovChain.fit(FRAME),
        TypeError,
        "sequence 0 is 'respondent'; it holds whole numbers, positions in the sensitive domain, as [0, 1]. A History may stand in "
        "place of all sequences.",
    ),
    (
        lambda: GivenPrior({"A": [0.5, 0.5]}),
        TypeError,
        "GivenPrior: frame is {'A': [0.5, 0.5]}; it is a DataFrame with one row per respondent and one column per value.",
    ),
    (
        lambda: Problem(HALVES, ["x", "y"], [[1, 1]]),
        ValueError,
        "group must be whole numbers, an array of an integer type; got <U1.",
    ),
    (
        lambda: PriorCascade("yes"),
        TypeError,
        "PriorCascade: normalized is 'yes'; it is True or False.",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), MESSAGES, ids=[message[:40] for *_, message in MESSAGES])
def test_messages_say_the_way_out(call, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        call()


SEEDED = {
    "records": lambda rng: CompromisedRecords.sample(HISTORY, 0.5, 1.0, rng=rng).frame.to_numpy().tolist(),
    "frequencies": lambda rng: DirichletFrequencies({}, np.ones(3)).sample(rng=rng).probabilities.tolist(),
    "chain": lambda rng: DirichletChain((np.ones((2, 2)),)).sample(rng=rng).probabilities.tolist(),
}


@pytest.mark.parametrize("draw", SEEDED.values(), ids=SEEDED)
def test_a_seed_is_a_generator(draw):
    assert draw(5) == draw(np.random.default_rng(5)) == draw(np.int64(5))
    with pytest.raises(ValueError, match="a seed is an integer of at least 0"):
        draw(-1)


def test_a_prior_of_another_domain_is_named():
    view = view_of("AB", "ab", domain="ab")
    adversary = Adversary(lambda people: np.full((len(people), 3), 1 / 3))
    with pytest.raises(ValueError, match=re.escape("shape (2, 3); it needs (2, 2)")):
        adversary.prior_rows(view.people)
