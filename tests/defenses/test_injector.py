"""Injector against its rule written out record by record, and the invariants of its buckets."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import matching_diversity
from places import DATA
from strategies import tables

from foreknow.defenses import DistinctDiversity, Infeasible
from foreknow.defenses.injector import Injector, assign_residues, bucketize, negative_rules, record_types
from foreknow.evaluation import adult
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Categorical, Numeric, Release, Schema, UniformPrior, View


@st.composite
def knowledge(draw):
    """Forbidden values of records, their values, and an order. Their own value may be forbidden, by rules with exceptions."""
    n, m = draw(st.integers(1, 16)), draw(st.sampled_from((2, 4, 9)))
    values = np.array(draw(st.lists(st.integers(0, min(m, 5) - 1), min_size=n, max_size=n)))
    rows = st.lists(st.sampled_from((False, False, True)), min_size=m, max_size=m)
    rows = draw(st.lists(rows, min_size=1, max_size=4))
    forbidden = np.array([rows[draw(st.integers(0, len(rows) - 1))] for _ in range(n)])
    if draw(st.booleans()):
        forbidden[np.arange(n), values] = False
    return forbidden, values, np.array(draw(st.permutations(range(n))))


def classes_of(m, sensitive_set):
    return np.arange(m) if sensitive_set is None else np.where(np.isin(np.arange(m), sensitive_set), 0, -1)


def by_hand(forbidden, values, order, wanted, classes):
    """The greedy rule, one record at a time: the buckets, then the same with residues. Class -1 is free."""
    rank = {record: place for place, record in enumerate(order.tolist())}
    left, given_up, buckets = set(rank), set(), []

    def denied(record, other):
        return bool(forbidden[record, values[other]])

    def kind(record):
        return (values[record], -int(forbidden[record].sum()), tuple(forbidden[record].tolist()))

    def mutual(one, other):
        pairs = [(one, other), (other, one), (one, one), (other, other)]
        apart = classes[values[one]] != classes[values[other]] or classes[values[one]] < 0
        return apart and not any(denied(*pair) for pair in pairs)

    def urgency(kind):
        of_kind = classes == kind
        return sum(int(of_kind[values[r]]) + int(forbidden[r, of_kind].any()) for r in left) if kind >= 0 else 0

    def most_urgent(records):
        return min(classes[values[records]], key=lambda kind: (-urgency(kind), kind))

    while starts := [r for r in left if kind(r) not in given_up and not denied(r, r)]:
        urgent = most_urgent(starts)
        seed = min((r for r in starts if classes[values[r]] == urgent), key=lambda r: (kind(r), rank[r]))
        bucket = [seed]
        while len(bucket) < wanted:
            fitting = [r for r in left - set(bucket) if all(mutual(r, member) for member in bucket)]
            if not fitting:
                break
            urgent = most_urgent(fitting)
            fitting = [r for r in fitting if classes[values[r]] == urgent]
            bucket.append(min(fitting, key=lambda r: (abs(rank[r] - rank[seed]), kind(r), rank[r])))
        if len(bucket) < wanted:
            given_up.add(kind(seed))
        else:
            buckets.append(bucket)
            left -= set(bucket)
    made = [list(bucket) for bucket in buckets]
    positions = [min(rank[r] for r in bucket) for bucket in buckets]
    for record in sorted(left, key=lambda r: (kind(r), rank[r])):
        for number in sorted(range(len(buckets)), key=lambda b: (abs(positions[b] - rank[record]), positions[b])):
            joined = [*buckets[number], record]
            if distinct(values, joined, classes) and diverse(forbidden, values, joined, wanted, classes):
                buckets[number].append(record)
                break
    return made, buckets


def distinct(values, bucket, classes):
    kinds = [kind for kind in classes[values[bucket]] if kind >= 0]
    return len(set(kinds)) == len(kinds)


def diverse(forbidden, values, bucket, wanted, classes=None):
    """Each record may have the values of enough records and, with a sensitive set, enough records its value."""
    denied, each = forbidden[np.ix_(bucket, values[bucket])], np.arange(len(bucket))
    owners = matching_diversity(denied.T, each)
    of_set = (
        np.zeros(len(bucket), dtype=bool) if classes is None or classes.min() >= 0 else classes[values[bucket]] == 0
    )
    return (matching_diversity(denied, each) >= wanted).all() and (owners[of_set] >= wanted).all()


def labels_of(buckets, n):
    labels = np.full(n, -1)
    for number, bucket in enumerate(buckets):
        labels[bucket] = number
    return labels.tolist()


SETS = st.sampled_from([None, None, (0,), (0, 1), (1,)])


@given(known=knowledge(), wanted=st.integers(1, 4), sensitive_set=SETS)
def test_buckets_are_those_of_the_rule_taken_record_by_record(known, wanted, sensitive_set):
    forbidden, values, order = known
    classes = classes_of(forbidden.shape[1], sensitive_set)
    types = record_types(forbidden, values, order, classes, wanted if sensitive_set else 1)
    labels = bucketize(types, wanted)
    made, joined = by_hand(forbidden, values, order, wanted, classes)
    assert labels.tolist() == labels_of(made, len(values))
    if made:
        assert assign_residues(types, labels, wanted).tolist() == labels_of(joined, len(values))


@given(known=knowledge(), wanted=st.integers(1, 4), sensitive_set=SETS)
def test_each_record_of_a_bucket_has_l_possible_values_and_no_class_occurs_twice(known, wanted, sensitive_set):
    forbidden, values, order = known
    classes = classes_of(forbidden.shape[1], sensitive_set)
    types = record_types(forbidden, values, order, classes, wanted if sensitive_set else 1)
    labels = bucketize(types, wanted)
    assume((labels >= 0).any())
    labels = assign_residues(types, labels, wanted)
    for number in range(labels.max() + 1):
        bucket = np.flatnonzero(labels == number)
        assert len(bucket) >= wanted
        assert distinct(values, bucket, classes)
        assert diverse(forbidden, values, bucket, wanted, classes)


@given(drawn=tables(most=20, values=5), l=st.integers(2, 4))
def test_random_worlds_under_the_rules_give_no_record_more_than_one_in_l_of_the_set(drawn, l):  # noqa: E741
    """Over all assignments of a bucket's values that the rules allow; buckets without residues are bounded so."""
    view, prior = drawn
    defense = Injector(l, min_expectation=0.3, terms=3, sensitive_set=("a", "b"))
    try:
        release = Release(view, defense(view, prior))
    except Infeasible:
        assert l * (view.sensitive < 2).sum() > len(view) or len(negative_rules(view, 1.0, 0.3, 3))
        return
    forbidden = negative_rules(view, 1.0, 0.3, 3).forbidden
    for group in range(release.groups):
        bucket = np.flatnonzero(release.group == group)
        shown = view.sensitive[bucket]
        assert (shown < 2).sum() <= 1
        if len(bucket) == l and (shown < 2).any():
            worlds = [w for w in itertools.permutations(shown) if not forbidden[bucket, list(w)].any()]
            assert (np.mean(np.array(worlds) < 2, axis=0) <= 1 / l + 1e-12).all()


@given(drawn=tables(most=20), expectation=st.sampled_from((0.3, 0.7)), confidence=st.sampled_from((1.0, 1.0, 0.7)))
def test_publishes_diverse_buckets_or_says_why_not(drawn, expectation, confidence):
    view, prior = drawn
    defense = Injector(2, confidence, expectation, terms=3)
    forbidden = negative_rules(view, confidence, expectation, 3).forbidden
    try:
        release = Release(view, defense(view, prior))
    except Infeasible:
        frequent = 2 * np.bincount(view.sensitive).max() > len(view)
        assert frequent or not any(
            view.sensitive[i] != view.sensitive[j] and not forbidden[np.ix_([i, j], view.sensitive[[i, j]])].any()
            for i, j in itertools.combinations(range(len(view)), 2)
        )
        return
    assert release.bucketized
    assert verify(release, DistinctDiversity(2))["holds"].all()
    assert (release.counts <= 1).all()
    for group in range(release.groups):
        bucket = np.flatnonzero(release.group == group)
        assert diverse(forbidden, view.sensitive, bucket, 2)
    left_out = int((release.group < 0).sum())
    fit = "1 record fits no bucket and is" if left_out == 1 else f"{left_out} records fit no bucket and are"
    assert release.grouping.notes == ((f"{fit} suppressed.",) if left_out else ())


@given(drawn=tables(most=20, values=5), wanted=st.integers(1, 4))
def test_without_rules_all_eligible_records_are_published(drawn, wanted):
    """Anatomy's lemma: buckets that start with the most frequent value leave at most one record of each value."""
    view, prior = drawn
    assume(wanted <= len(view))
    try:
        labels = Injector(wanted, min_expectation=1 - 1e-12)(view, prior).labels
    except Infeasible:
        assert np.bincount(view.sensitive).max() * wanted > len(view)
    else:
        assert (labels >= 0).all()


def patients(*kinds):
    """A view with a number of records of each sex and illness."""
    rows = [(sex, illness) for number, sex, illness in kinds for _ in range(number)]
    frame = pd.DataFrame(rows, columns=["sex", "illness"]).assign(id=range(len(rows)), age=40)
    illnesses = tuple(sorted({illness for _, illness in rows}))
    return View(frame, Schema({"sex": Categorical(("M", "F")), "age": Numeric()}, "illness", illnesses), 2026)


def uniform(view):
    return UniformPrior()(view.people)


def test_men_do_not_share_a_bucket_with_an_illness_of_women():
    """Half of each sex has flu, and only flu of the same sex is compatible with the other illnesses."""
    view = patients((5, "M", "prostate"), (5, "M", "flu"), (5, "F", "ovaries"), (5, "F", "flu"))
    release = Release(view, Injector(2)(view, uniform(view)))
    assert (release.group >= 0).all()
    shown = [sorted(bucket["sex"] + bucket["illness"]) for _, bucket in view.frame.groupby(release.group)]
    assert sorted(shown) == 5 * [["Fflu", "Fovaries"]] + 5 * [["Mflu", "Mprostate"]]


def test_a_record_that_no_bucket_takes_is_suppressed_and_said():
    """There are six men with an illness of men, and five men with flu."""
    view = patients((6, "M", "prostate"), (5, "M", "flu"), (5, "F", "ovaries"), (6, "F", "flu"))
    grouping = Injector(2)(view, uniform(view))
    assert (grouping.labels < 0).sum() == 2
    assert grouping.notes == ("2 records fit no bucket and are suppressed.",)


def test_where_rules_leave_no_bucket_the_error_says_so():
    view = patients((10, "M", "prostate"), (10, "F", "ovaries"))
    with pytest.raises(
        Infeasible, match=r"the 2 negative rules of the view at 2026 leave no 2 records that may all have"
    ):
        Injector(2)(view, uniform(view))


def test_a_value_that_is_too_frequent_is_named_with_the_largest_l():
    view = patients((5, "M", "flu"), (2, "F", "gout"), (4, "F", "cold"))
    with pytest.raises(
        Infeasible, match=r"'flu' is the value of 5 of the 11 records .* The largest l that this view allows is 2\."
    ):
        Injector(3)(view, uniform(view))


def test_more_than_there_are_records_is_refused():
    view = patients((1, "M", "flu"), (1, "F", "gout"))
    with pytest.raises(ValueError, match=r"l is 3 and the view at 2026 has 2 records"):
        Injector(3)(view, uniform(view))


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"l": 0}, "l is 0"),
        ({"l": 1.5}, "l is 1.5"),
        ({"l": 2, "min_confidence": 0}, "Injector: min_confidence is 0"),
        ({"l": 2, "min_confidence": 1.1}, "Injector: min_confidence is 1.1"),
        ({"l": 2, "min_expectation": 1}, "Injector: min_expectation is 1"),
        ({"l": 2, "min_expectation": 0}, "Injector: min_expectation is 0"),
        ({"l": 2, "terms": 1}, "Injector: terms is 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings, wrong):
    with pytest.raises(ValueError, match=wrong):
        Injector(**settings)


@pytest.fixture(scope="module")
def census():
    if not (DATA / "adult" / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {DATA / 'adult'}")
    attributes = ("age", "workclass", "marital-status", "occupation", "race")
    return adult(DATA / "adult", sensitive="education", quasi_identifiers=attributes)[0]


@pytest.mark.slow
def test_all_of_adult_are_in_buckets_in_which_they_may_have_each_other_s_education(census):
    release = Release(census, Injector(2)(census, uniform(census)))
    assert (release.group >= 0).all()
    assert (release.counts <= 1).all()
    forbidden = negative_rules(census).forbidden
    buckets = list(census.frame.groupby(release.group).indices.values())
    pairs = np.array([bucket for bucket in buckets if len(bucket) == 2])
    assert not forbidden[pairs, census.sensitive[pairs[:, ::-1]]].any()
    assert all(diverse(forbidden, census.sensitive, bucket, 2) for bucket in buckets if len(bucket) > 2)


def test_ten_educations_are_not_possible_on_adult(census):
    """HS-grad is the education of 14,783 of 45,222, 32.7 %."""
    with pytest.raises(
        Infeasible, match=r"'HS-grad' is the value of 14783 of the 45222 .* The largest l that this view allows is 3\."
    ):
        Injector(10)(census, uniform(census))


@pytest.mark.slow
def test_ten_are_possible_for_a_sensitive_set_of_adult(census):
    low = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
    release = Release(census, Injector(10, sensitive_set=low, rng=1)(census, uniform(census)))
    in_set = np.isin(census.sensitive, [census.schema.values.index(value) for value in low])
    assert (release.group[in_set] >= 0).all()
    assert np.bincount(release.group[in_set]).max() == 1
    assert np.bincount(release.group[release.group >= 0]).min() >= 10
