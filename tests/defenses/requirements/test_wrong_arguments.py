"""Arguments of the wrong kind to the public constructors and functions on requirements end in TypeError or ValueError."""

import contextlib
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import view_of

from foreknow.defenses import (
    REQUIREMENTS,
    BTPrivacy,
    KAnonymity,
    PosteriorBound,
    QSDiversity,
    Summary,
    TCloseness,
    all_of,
    any_of,
    grow,
    summarize_groups,
    summarize_records,
)
from foreknow.defenses.requirements.requirement import AllOf, AnyOf
from foreknow.defenses.requirements.summary import TableCounts, prior_of
from foreknow.evaluation import verify
from foreknow.evaluation.checks.verify import m_invariance, verify_table
from foreknow.models import Omega, Release

pytestmark = pytest.mark.slow

VIEW, PRIOR = view_of("ABC", "abc"), np.full((3, 3), 1 / 3)
RECORDS = summarize_records(VIEW, PRIOR, members=True)
RELEASE = Release(VIEW, [0, 0, 0])


class Bare:
    """Object without any interface."""


WRONG = [
    *(None, True, -1, 0, 1, 2, 2.5, -0.5, math.nan, math.inf, 10**400, 1j, "", "x", "equal", b"y", (), (1,), [], [[1]]),
    *(
        {},
        {"age": 1},
        {1: 2},
        {"age": "x"},
        {"age": None},
        {1},
        object(),
        Bare,
        Bare(),
        len,
        lambda *_: 0,
        Omega,
        Omega(),
    ),
    *(np.array(3), np.arange(3), np.array([[0.5]]), np.array(["a"]), np.float64(0.5), np.datetime64("2024-01-01")),
    *(
        pd.DataFrame({"a": [1]}),
        pd.Series([1, 2]),
        pd.NA,
        pd.NaT,
        KAnonymity(3),
        KAnonymity,
        VIEW,
        RELEASE,
        RECORDS,
        slice(2),
    ),
]

TARGETS = {
    **REQUIREMENTS,
    "all-of": AllOf,
    "any-of": AnyOf,
    "all_of": all_of,
    "any_of": any_of,
    "and": lambda other: KAnonymity(2) & other,
    "or": lambda other: PosteriorBound(0.5) | other,
    "skyline": BTPrivacy.skyline,
    "table counts": TableCounts,
    "summary": Summary,
    "summarize_records": summarize_records,
    "summarize_records, prior": lambda prior: summarize_records(VIEW, prior),
    "summarize_groups": summarize_groups,
    "summarize_groups, labels": lambda labels: summarize_groups(RECORDS, labels),
    "prior_of": prior_of,
    "prior_of, prior": lambda prior: prior_of(VIEW, prior),
    "grow, requirement": lambda requirement: grow(RECORDS, np.arange(3), requirement),
    "verify": verify,
    "verify, requirement": lambda requirement: verify(RELEASE, requirement),
    "verify, prior": lambda prior: verify(RELEASE, KAnonymity(2), prior),
    "verify_table": verify_table,
    "verify_table, table": lambda table: verify_table(table, "result", "abc", KAnonymity(2)),
    "verify_table, column": lambda column: verify_table(RELEASE.table, column, "abc", KAnonymity(2)),
    "verify_table, values": lambda values: verify_table(RELEASE.table, "result", values, KAnonymity(2)),
    "verify_table, priors": lambda priors: verify_table(RELEASE.table, "result", "abc", KAnonymity(2), priors),
    "m_invariance": m_invariance,
    "m_invariance, m": lambda m: m_invariance([RELEASE], m),
}


def called(target, arguments):
    """Call a target; only TypeError and ValueError may leave it."""
    with contextlib.suppress(TypeError, ValueError):
        TARGETS[target](*arguments)


@pytest.mark.parametrize("target", TARGETS)
class TestAnyArgument:
    def test_one_by_one(self, target):
        called(target, ())
        for argument in WRONG:
            called(target, (argument,))

    @settings(max_examples=25)
    @given(arguments=st.lists(st.sampled_from(WRONG), min_size=1, max_size=6))
    def test_several_at_once(self, target, arguments):
        called(target, arguments)


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_what_a_constructor_takes_can_be_bound_or_says_why(name):
    """Settings that pass the constructor fail only with TypeError or ValueError when they meet a view."""
    for first in WRONG:
        for second in (0.5, 2):
            for arguments in ((first,), (first, second), (second, first)):
                try:
                    requirement = REQUIREMENTS[name](*arguments)
                except (TypeError, ValueError):
                    continue
                repr(requirement), hash(requirement)
                with contextlib.suppress(TypeError, ValueError):
                    requirement.bind(VIEW, PRIOR)(RECORDS)


def summary(**changed):
    """The summaries of the three records, with some arrays replaced."""
    return replace(RECORDS, **changed)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: BTPrivacy(0.5, 0.3, len), TypeError, r"BTPrivacy: estimator is .*PerGroup\(function\)"),
        (lambda: PosteriorBound(0.5, Omega), TypeError, "PosteriorBound: estimator is the class Omega; write estimator=Omega"),
        (lambda: PosteriorBound(0.5, None), TypeError, "PosteriorBound: estimator is None"),
        (lambda: BTPrivacy({1: 0.5}, 0.3), TypeError, "BTPrivacy: bandwidth names 1; .* by their names"),
        (lambda: BTPrivacy.skyline(3), TypeError, "pairs is 3; it is a list of pairs"),
        (lambda: TCloseness(0.5, np.arange(3)), ValueError, "it is 'equal', 'ordered' or a Hierarchy"),
        (lambda: QSDiversity(1, 2, None), TypeError, r"QSDiversity: linking is None; .*give a Linking\(knowledge, 'symptoms'\)"),
        (lambda: AllOf(KAnonymity(3)), TypeError, "AllOf: parts is .*; it is a tuple of requirements. Use & or |"),
        (lambda: AnyOf((KAnonymity(3), 2)), TypeError, "AnyOf: 2 is no requirement; give one, as KAnonymity"),
        (lambda: KAnonymity(3) & 2, TypeError, "2 is no requirement"),
        (lambda: TableCounts(("a", "b"), np.array([1])), ValueError, r"counts has shape \(1,\), and there are 2 values"),
        (lambda: TableCounts(("a", "b"), np.array([1, 1, 1])), ValueError, r"counts has shape \(3,\), and there are 2 values"),
        (lambda: summary(size=np.ones(1)), ValueError, r"Summary: counts has shape \(3, 3\) and must have \(1, 3\)"),
        (lambda: summary(size=[1, 1, 1]), TypeError, r"Summary: size is .*; it is an array; make summaries by summarize_records"),
        (lambda: summary(counts=np.ones((3, 4), int)), ValueError, r"Summary: counts has shape \(3, 4\) and must have \(3, 3\)"),
        (lambda: summary(prior=np.ones((4, 3))), ValueError, r"Summary: prior has shape \(4, 3\) and must have \(3, 3\)"),
        (lambda: summary(entropy=np.ones((3, 3))), ValueError, r"Summary: entropy has shape \(3, 3\) and must have \(3,\)"),
        (lambda: summarize_records(VIEW.frame, PRIOR), TypeError, r"view is a DataFrame; .*make one by View\(frame, schema\)"),
        (lambda: summarize_records(VIEW, "x"), TypeError, r"must be an array of numbers.*prior\(view\.people\)"),
        (lambda: summarize_groups(RECORDS, np.array([0, 2, 2])), ValueError, "group 1 has no record; number the groups from 0"),
        (lambda: summarize_groups(RECORDS, np.array([0, 0])), ValueError, "there are 3 records; give one label for each"),
        (lambda: summarize_groups(RECORDS, np.array([0.0, 0, 0])), TypeError, "labels has dtype float64; it is an int array"),
        (lambda: verify(RELEASE, 3), TypeError, r"requirement is 3; it is a requirement, as KAnonymity\(3\)"),
        (lambda: verify(RELEASE, KAnonymity(3), "x"), TypeError, "prior is a str; it is an array of numbers"),
        (lambda: verify_table(RELEASE.table, "x", "abc", KAnonymity(3)), ValueError, "the table has no column 'x'"),
        (lambda: verify_table(RELEASE.table, "result", "abc", KAnonymity(3), {}), ValueError, "has no rows for group 0"),
        (lambda: m_invariance([RELEASE], "x"), ValueError, "m is 'x'; it is a number of values, 1 or more"),
        (lambda: m_invariance([3], 2), TypeError, "each of the type Release, and got a list that holds an int"),
    ],
)  # fmt: skip
def test_messages_say_the_way_out(call, error, match):
    with pytest.raises(error, match=match):
        call()
