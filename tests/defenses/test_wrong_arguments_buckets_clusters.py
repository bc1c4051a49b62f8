"""Arguments of the wrong kind to defenses with buckets or clusters, and to rule mining, end in TypeError or ValueError."""

import contextlib
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import view_of

from foreknow.defenses import MASK, UHRA, Anatomy, Injector, KAnonymity, KPrimacy, MInvariance, Mondrian
from foreknow.defenses.injector import matching_diversity
from foreknow.defenses.negative_rules import negative_rules
from foreknow.models import Grouping, Release

pytestmark = pytest.mark.slow

VIEW = view_of("ABCDEF", "aabbcc")
PRIOR = np.full((6, 3), 1 / 3)
RELEASE = Release(VIEW, np.zeros(6, dtype=int))


class Bare:
    """Object without any interface."""


WRONG = [
    *(None, True, -1, 0, 1, 2, 7, 2.5, -0.5, 1e300, math.nan, math.inf, -math.inf, 10**400, 1j, "", "x", b"y"),
    *("together", "each", "published", "equal", (), (1,), [], ["a"], ("a", "z"), [[1]], {"a"}, {}, {"a": 1}, object()),
    *(Bare, Bare(), len, lambda *_: 0, np.array(3), np.arange(3), np.array([[0.5]]), np.array(["a"]), np.float64(0.5)),
    *(np.datetime64("2024-01-01"), np.random.default_rng(1), np.random, pd.DataFrame({"a": [1]}), pd.Series([1, 2])),
    *(pd.NA, pd.NaT, KAnonymity(2), KAnonymity, Mondrian(KAnonymity(2)), VIEW, RELEASE, PRIOR, slice(2)),
]

KEYWORDS = {
    Anatomy: ("l", "sensitive_set", "bound", "bucketized", "deterministic", "rng"),
    Injector: ("l", "min_confidence", "min_expectation", "terms", "deterministic", "rng"),
    MASK: ("k", "l", "sensitive_set", "grouped", "bucketized", "rng"),
    UHRA: ("k", "t", "j", "base", "distance", "also", "patience", "repaired", "sweeps", "judged", "tolerance"),
    KPrimacy: ("k", "beta", "j", "base", "judged", "tolerance"),
    MInvariance: ("m", "deterministic", "rng"),
}

VALID = {Anatomy: (2,), Injector: (2,), MASK: (2, 2), UHRA: (2, 0.5, 0.5), KPrimacy: (2, 1.0, 0.5), MInvariance: (2,)}

FUNCTIONS = {
    "negative_rules": negative_rules,
    "negative_rules, settings": lambda *settings: negative_rules(VIEW, *settings),
    "matching_diversity": matching_diversity,
    "matching_diversity, values": lambda values: matching_diversity(np.zeros((2, 3), dtype=bool), values),
    "matching_diversity, forbidden": lambda forbidden: matching_diversity(forbidden, [0, 1]),
} | {
    f"{kind.__name__}, {what}": call
    for kind, arguments in VALID.items()
    for what, call in {
        "call": lambda *given, kind=kind, arguments=arguments: kind(*arguments)(*given),
        "prior": lambda prior, kind=kind, arguments=arguments: kind(*arguments)(VIEW, prior),
        "past": lambda past, kind=kind, arguments=arguments: kind(*arguments)(VIEW, PRIOR, past),
    }.items()
}


def built_and_called(kind, given):
    """Build a defense and group a view; only TypeError and ValueError may leave either."""
    with contextlib.suppress(TypeError, ValueError):
        defense = kind(**given)
        repr(defense), hash(defense), defense.smallest
        defense(VIEW, PRIOR)


@pytest.mark.parametrize("kind", KEYWORDS)
class TestConstructors:
    def test_each_setting_alone(self, kind):
        valid = dict(zip(KEYWORDS[kind], VALID[kind], strict=False))
        for name in KEYWORDS[kind]:
            for wrong in WRONG:
                built_and_called(kind, valid | {name: wrong})

    @settings(max_examples=60)
    @given(data=st.data())
    def test_several_settings_at_once(self, kind, data):
        valid = dict(zip(KEYWORDS[kind], VALID[kind], strict=False))
        built_and_called(
            kind, valid | data.draw(st.dictionaries(st.sampled_from(KEYWORDS[kind]), st.sampled_from(WRONG)))
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_calls(name):
    for count in (1, 2, 3):
        for start in range(0, len(WRONG), 1 if count == 1 else 5):
            with contextlib.suppress(TypeError, ValueError):
                FUNCTIONS[name](*(WRONG * 2)[start : start + count])


@pytest.mark.parametrize("kind", [Anatomy, Injector, MInvariance])
class TestSeeds:
    def test_an_integer_is_a_seed_and_is_converted_once(self, kind):
        by_seed, by_generator = kind(2, rng=5), kind(2, rng=np.random.default_rng(5))
        assert isinstance(by_seed.rng, np.random.Generator)
        for _ in range(3):
            assert by_seed(VIEW, PRIOR).labels.tolist() == by_generator(VIEW, PRIOR).labels.tolist()

    def test_a_negative_seed_is_refused(self, kind):
        with pytest.raises(ValueError, match="rng is -1; a seed is an integer of at least 0"):
            kind(2, rng=-1)

    def test_a_seed_without_random_choices_is_refused(self, kind):
        with pytest.raises(ValueError, match="deterministic=True draws nothing, and rng is given"):
            kind(2, deterministic=True, rng=5)


def test_mask_takes_a_seed():
    view = view_of("ABCDEFGH", "aaabaabb", [1, 1, 1, 1, 9, 9, 9, 9])
    prior = np.full((8, 3), 1 / 3)
    by_seed, by_generator = MASK(4, 2, ("a",), rng=5), MASK(4, 2, ("a",), rng=np.random.default_rng(5))
    assert by_seed(view, prior).values.tolist() == by_generator(view, prior).values.tolist()


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: Anatomy(2, bucketized="yes"), TypeError, "Anatomy: bucketized is 'yes'; it is True or False"),
        (lambda: Anatomy(2, deterministic=1), TypeError, "Anatomy: deterministic is 1; it is True or False"),
        (lambda: MASK(2, 2, grouped=None), TypeError, "MASK: grouped is None; it is a function from a requirement"),
        (lambda: MASK(2, 2, grouped=Mondrian(KAnonymity(2))), TypeError, "grouped is Mondrian.*as Mondrian without arg"),
        (lambda: MASK(2, 2, grouped=lambda _: lambda *_: 3)(VIEW, PRIOR), TypeError, "is 3; it is a Grouping"),
        (lambda: UHRA(2, 0.5, 0.5, also=3), TypeError, "UHRA: also is 3; it is a requirement, as EntropyDiversity"),
        (lambda: UHRA(2, 0.5, "x"), ValueError, "UHRA: j is 'x'; it is a number of at least 0, a divergence"),
        (lambda: UHRA(2, 0.5, 0.5, repaired=None), TypeError, "UHRA: repaired is None; it is True or False"),
        (lambda: MInvariance(2)(VIEW, PRIOR, RELEASE), TypeError, "past is .*; it is a tuple of releases"),
        (lambda: MInvariance(2)(VIEW, PRIOR, (Grouping,)), TypeError, "a past release is .*; it is a Release"),
        (lambda: UHRA(2, 0.5, 0.5)(VIEW.frame, PRIOR), TypeError, r"view is a DataFrame; .*by View\(frame, schema\)"),
        (lambda: negative_rules(3), TypeError, r"negative_rules: view is 3; it is a View; make one by View"),
        (lambda: negative_rules(VIEW, terms=10**6), ValueError, "terms is 1e.06; it is at most 1000"),
        (lambda: matching_diversity([[True]], ["a"]), TypeError, "values has dtype <U1; it is an int array"),
        (lambda: matching_diversity("x", [0]), TypeError, "forbidden has dtype <U1; it is a bool array"),
    ],
)  # fmt: skip
def test_messages_say_the_way_out(call, error, match):
    with pytest.raises(error, match=match):
        call()
