"""Promises of every requirement of `REQUIREMENTS`: binding, monotonicity, names, summaries of unions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import distributions

import foreknow.defenses
from foreknow.defenses import (
    REQUIREMENTS,
    BasicBetaLikeness,
    BetaLikeness,
    BTPrivacy,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    GroupPredicate,
    JSimilarity,
    KAnonymity,
    PosteriorBound,
    QSCloseness,
    QSDiversity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    grow,
    summarize_groups,
    summarize_records,
)
from foreknow.defenses.requirements.requirement import AllOf, AnyOf
from foreknow.models import ExternalKnowledge, Linking, Numeric, Omega, Schema, View
from foreknow.testing import check_requirement

DOMAIN = "abcd"
LETTERS = Linking(ExternalKnowledge({"x": ["a", "b"], "y": ["c", "b"]}), "result")
NAMED = {"Linking": lambda items: {"result": LETTERS}[items], "Omega": Omega}
"""Names in the repr of a requirement that do not rebuild their object."""

EXAMPLES = {
    "basic-beta-likeness": [BasicBetaLikeness(0.5), BasicBetaLikeness(2)],
    "beta-likeness": [BetaLikeness(0.5), BetaLikeness(2)],
    "bt-privacy": [BTPrivacy(0.5, 0.2)],
    "distinct-diversity": [DistinctDiversity(2), DistinctDiversity(3)],
    "entropy-diversity": [EntropyDiversity(1.5), EntropyDiversity(2)],
    "frequency-diversity": [FrequencyDiversity(1.5), FrequencyDiversity(2)],
    "j-similarity": [JSimilarity(0.2)],
    "k-anonymity": [KAnonymity(2), KAnonymity(3)],
    "posterior-bound": [PosteriorBound(0.2), PosteriorBound(0.6, sensitive_set=("a",), quantity="belief")],
    "qs-closeness": [QSCloseness(0.3, LETTERS), QSCloseness(0.5, LETTERS, "uniform")],
    "qs-diversity": [QSDiversity(1.5, 2, LETTERS), QSDiversity(0.6, 1, LETTERS, as_printed=True)],
    "recursive-diversity": [RecursiveDiversity(2, 2), RecursiveDiversity(0.75, 1)],
    "t-closeness": [TCloseness(0.25), TCloseness(0.2, "ordered")],
}
CLAIMS = {
    "basic-beta-likeness": ("at most", [1, 1], True, "counts"),
    "beta-likeness": ("at most", [1, 1], True, "counts"),
    "bt-privacy": ("at most", [1], False, "members"),
    "distinct-diversity": ("at least", [2, 3], True, "counts"),
    "entropy-diversity": ("at least", [2, 2], True, "counts"),
    "frequency-diversity": ("at least", [2, 2], True, "counts"),
    "j-similarity": ("at most", [1], False, "prior"),
    "k-anonymity": ("at least", [2, 3], True, "counts"),
    "posterior-bound": ("at most", [1, 1], False, "members"),
    "qs-closeness": ("at most", [1, 1], True, "members"),
    "qs-diversity": ("at most", [1, 1], True, "members"),
    "recursive-diversity": ("below", [2, 1], True, "counts"),
    "t-closeness": ("at most", [1, 1], True, "counts"),
}
"""Sense, smallest group of each example, monotonicity, and what of a summary the level reads, by the definitions."""

CASES = [requirement for some in EXAMPLES.values() for requirement in some]


@st.composite
def split(draw):
    """A view, a prior that rules out no value, and two groups of all records: (view, prior, labels)."""
    n = draw(st.integers(2, 10))
    columns = {
        "age": draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)),
        "result": draw(st.lists(st.sampled_from(DOMAIN), min_size=n, max_size=n)),
    }
    view = View(pd.DataFrame({"id": range(n)} | columns), Schema({"age": Numeric(0, 9)}, "result", tuple(DOMAIN)))
    rows = draw(st.lists(distributions(4), min_size=1, max_size=3))
    prior = np.array([0.9 * rows[i % len(rows)] + 0.1 / 4 for i in range(n)])
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    assume(0 < labels.sum() < n)
    return view, prior, labels


def test_every_requirement_is_listed():
    public = [getattr(foreknow.defenses, name) for name in foreknow.defenses.__all__]
    kinds = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Requirement)}
    assert set(REQUIREMENTS.values()) == kinds - {Requirement, GroupPredicate, AllOf, AnyOf}
    assert list(REQUIREMENTS) == sorted(REQUIREMENTS) == list(EXAMPLES)
    assert all(isinstance(one, REQUIREMENTS[name]) for name, some in EXAMPLES.items() for one in some)


@pytest.mark.parametrize("requirement", CASES, ids=repr)
class TestRequirements:
    @settings(max_examples=8)
    @given(drawn=split())
    def test_passes_the_kit(self, requirement, drawn):
        """Each view is grouped at random 20 times."""
        check_requirement(requirement, view=drawn[0])

    @given(drawn=split())
    def test_reads_only_what_it_says(self, requirement, drawn):
        """With the priors of Hypothesis, which have more ties than those of the kit."""
        view, prior, labels = drawn
        predicate = requirement.bind(view, prior)
        groups = summarize_groups(summarize_records(view, prior, members=True), labels)
        less = groups if predicate.reads_members else replace(groups, members=None)
        if not predicate.reads_prior:
            less = replace(less, prior=0 * less.prior, entropy=0 * less.entropy)
        assert np.array_equal(predicate.level(groups), predicate.level(less))

    def test_repr_rebuilds_it(self, requirement):
        assert eval(repr(requirement), vars(foreknow.defenses) | NAMED) == requirement
        assert hash(eval(repr(requirement), vars(foreknow.defenses) | NAMED)) == hash(requirement)

    def test_declares_on_its_class_whether_it_is_monotone(self, requirement):
        assert isinstance(type(requirement).is_monotone, bool)


@pytest.mark.parametrize("name", EXAMPLES)
def test_claims_are_those_of_the_definition(name):
    frame = pd.DataFrame({"id": range(3), "age": range(3), "result": list("abc")})
    view = View(frame, Schema({"age": Numeric(0, 9)}, "result", tuple(DOMAIN)))
    sense, smallest, is_monotone, reads = CLAIMS[name]
    for requirement, least in zip(EXAMPLES[name], smallest, strict=True):
        bound = requirement.bind(view, np.full((3, 4), 1 / 4))
        assert (requirement.sense, requirement.smallest, requirement.is_monotone) == (sense, least, is_monotone)
        assert (bound.sense, bound.smallest, bound.is_monotone) == (sense, least, is_monotone)
        assert (bound.reads_prior, bound.reads_members) == (reads == "prior", reads == "members")
        assert bound.weighs_beliefs == (name in ("j-similarity", "posterior-bound"))
    assert BTPrivacy(None, 0.2).weighs_beliefs


@given(drawn=split())
def test_summaries_of_unions_add(drawn):
    view, prior, labels = drawn
    records = summarize_records(view, prior, members=True)
    parts = summarize_groups(records, labels)
    added, union = parts[0] + parts[1], summarize_groups(records, 0 * labels)
    for field in ("size", "counts", "prior", "entropy"):
        assert np.allclose(getattr(added, field), getattr(union, field), atol=1e-12)
    assert sorted(added.members.records.tolist()) == union.members.records.tolist()


class TestUnbound:
    """A requirement on the records of a view, where a predicate is needed."""

    @pytest.mark.parametrize(
        "requirement", [PosteriorBound(0.2), KAnonymity(2) & PosteriorBound(0.2), KAnonymity(2) | BTPrivacy(0.5, 0.2)]
    )
    def test_is_one_clear_error(self, requirement):
        frame = pd.DataFrame({"id": range(3), "age": range(3), "result": list("abc")})
        view = View(frame, Schema({"age": Numeric(0, 9)}, "result", tuple("abc")))
        prior = np.full((3, 3), 1 / 3)
        records = summarize_records(view, prior, members=True)
        match = r"needs the records of a view; bind it first, by requirement\.bind\(view, prior\)"
        with pytest.raises(TypeError, match=match):
            grow(records, np.arange(3), requirement)
        if isinstance(requirement, AllOf | AnyOf):
            with pytest.raises(TypeError, match=match):
                requirement(records)
            with pytest.raises(TypeError, match=match):
                requirement.level(records)
        assert requirement.bind(view, prior)(records).shape == (3,)
