"""Likely mistakes in the settings and the calls of defenses and requirements: one plain error that says the way out."""

import numpy as np
import pytest
from strategies import history_of, view_of

from foreknow.defenses import (
    MASK,
    UHRA,
    Anatomy,
    BTPrivacy,
    FullDomain,
    Injector,
    KAnonymity,
    MInvariance,
    Mondrian,
    PosteriorBound,
    QSDiversity,
    TCloseness,
    grow,
    publish,
    summarize_groups,
    summarize_records,
)
from foreknow.defenses.injector import negative_rules
from foreknow.defenses.requirements.requirement import AllOf, AnyOf
from foreknow.defenses.requirements.summary import TableCounts
from foreknow.evaluation import verify
from foreknow.evaluation.checks.verify import m_invariance, verify_table
from foreknow.models import Omega, Release

HISTORY = history_of(("ABCDEF", "abcabc"), ("ABCDFG", "baccab"))
VIEW, PRIOR = HISTORY[0], np.full((6, 3), 1 / 3)
RECORDS = summarize_records(VIEW, PRIOR, members=True)
RELEASE = Release(VIEW, [0, 0, 0, 1, 1, 1])
POINTS = np.array([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: publish(VIEW, Anatomy(2)), TypeError, "publish takes views in the order of time.*put one view into a list"),
        (lambda: publish(HISTORY, KAnonymity(2)), TypeError, r"is no defense; give one with its settings, as Mondrian\("),
        (lambda: publish(HISTORY, Anatomy(2), infeasible="skip"), ValueError, "infeasible is 'skip'; it is one of"),
        (lambda: Mondrian(KAnonymity), TypeError, "Mondrian: requirement is .*; it is a requirement, as KAnonymity"),
        (lambda: Mondrian(KAnonymity(2))(VIEW, PRIOR[:2]), ValueError, r"the prior of the view at .* has shape \(2, 3\); it needs"),
        (lambda: FullDomain(KAnonymity(2), {"age": (5, 12)}), ValueError, "a whole multiple of the one before"),
        (
            lambda: FullDomain(KAnonymity(2), {"age": (1e-300,)})(VIEW, PRIOR),
            ValueError,
            "start at 1e-300, which divides its domain from .* into over .* intervals; give wider ones",
        ),
        (lambda: Anatomy(0), ValueError, "Anatomy: l is 0; it is a number of records and values, 1 or more"),
        (lambda: MASK(2, 2, grouped=Mondrian(KAnonymity(2))), TypeError, "grouped is Mondrian.*as Mondrian without arg"),
        (lambda: UHRA(2, 0.5, 0.5, also=3), TypeError, "AllOf: requirement is 3; it is a requirement, as KAnonymity"),
        (lambda: UHRA(2, 0.5, "x"), ValueError, "UHRA: j is 'x'; it is a number of at least 0, a divergence"),
        (lambda: UHRA(2, 0.5, 0.5, tolerance=0.4), ValueError, "UHRA: tolerance is 0.4; it is a number from 0 to 0.125, a"),
        (lambda: negative_rules(VIEW, terms=10**6), ValueError, "terms is 1000000; it is a number of fuzzy terms, from 2 to 1,000"),
        (lambda: grow(RECORDS, np.array([0, 6]), KAnonymity(2)), ValueError, "distinct rows from 0 to 5"),
        (lambda: grow(RECORDS, np.array([0, 1, 0]), KAnonymity(2)), ValueError, "distinct rows from 0 to 5"),
        (lambda: grow(RECORDS, np.arange(6), KAnonymity(2), 0), ValueError, "grow: patience is 0; it is a number of records, 1"),
        (lambda: grow(RECORDS, np.arange(6), 3), TypeError, "grow: requirement is 3; it is a requirement, as KAnonymity"),
        (lambda: grow(RECORDS, np.arange(6), BTPrivacy(0.5, 0.3)), TypeError, "needs the records of a view; bind it first"),
        (lambda: BTPrivacy(0.5, 0.3, len), TypeError, r"BTPrivacy: estimator is .*PerGroup\(function\)"),
        (lambda: PosteriorBound(0.5, Omega), TypeError, "PosteriorBound: estimator is the class Omega"),
        (lambda: TCloseness(0.5, "other"), ValueError, "it is 'equal', 'ordered' or a Hierarchy"),
        (lambda: QSDiversity(1, 2, None), TypeError, r"QSDiversity: linking is None; .*give a Linking\(knowledge, 'symptoms'\)"),
        (lambda: AnyOf((KAnonymity(3), 2)), TypeError, "AnyOf: requirement is 2; it is a requirement, as KAnonymity"),
        (lambda: KAnonymity(3) & 2, TypeError, "requirement is 2; it is a requirement"),
        (lambda: AllOf(()), ValueError, "there is no requirement to combine"),
        (lambda: TableCounts(("a", "b"), np.array([1])), ValueError, r"counts has shape \(1,\); it needs \(2,\)"),
        (lambda: summarize_groups(RECORDS, np.array([0, 2, 2, 2, 2, 2])), ValueError, "group 1 has no record; number the groups"),
        (lambda: summarize_groups(RECORDS, np.array([0, 0])), ValueError, r"it needs \(6,\), one for each record"),
        (lambda: verify(RELEASE, 3), TypeError, r"requirement is 3; it is a requirement, as KAnonymity\(3\)"),
        (lambda: verify_table(RELEASE.table, "x", "abc", KAnonymity(3)), ValueError, "the table has no column 'x'"),
        (lambda: m_invariance([RELEASE], "x"), ValueError, "m is 'x'; it is a number of values, 1 or more"),
    ],
)  # fmt: skip
def test_messages_say_the_way_out(call, error, match):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("kind", [Anatomy, Injector, MInvariance])
class TestSeeds:
    def test_an_integer_is_a_seed_and_is_converted_once(self, kind):
        view = view_of("ABCDEF", "aabbcc")
        by_seed, by_generator = kind(2, rng=5), kind(2, rng=np.random.default_rng(5))
        assert isinstance(by_seed.rng, np.random.Generator)
        for _ in range(3):
            assert by_seed(view, PRIOR).labels.tolist() == by_generator(view, PRIOR).labels.tolist()

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
