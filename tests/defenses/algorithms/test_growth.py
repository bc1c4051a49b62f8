"""Growth of groups, against Algorithm 4 of JS-reduce record by record."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses import DistinctDiversity, JSimilarity, KAnonymity, TCloseness
from foreknow.defenses.algorithms.growth import grow
from foreknow.defenses.requirements.summary import summarize_records


def satisfies(view, prior, k, t, j, distinct=1):
    """k-anonymity, t-closeness and J-similarity, for lists of records."""
    whole = view.frame["result"].tolist()

    def judge(group):
        values = [whole[i] for i in group]
        return (
            len(group) >= k
            and len(set(values)) >= distinct
            and oracle.close(values, whole, t)
            and oracle.divergence([prior[i] for i in group]) <= j + oracle.SLACK
        )

    return judge


@given(
    drawn=tables(),
    k=st.integers(1, 4),
    t=st.sampled_from([0.1, 0.3, 0.5, 1.0]),
    j=st.sampled_from([0.0, 0.2, 0.6, 2.0]),
    patience=st.sampled_from([None, 4, 5, 9]),
    data=st.data(),
)
def test_equals_the_algorithm_record_by_record(drawn, k, t, j, patience, data):
    view, prior = drawn
    order = np.array(data.draw(st.permutations(range(len(view)))))
    requirement = KAnonymity(k) & TCloseness(t) & JSimilarity(j)
    growth = grow(summarize_records(view, prior), order, requirement, patience)
    groups, left = oracle.grow(order.tolist(), satisfies(view, prior, k, t, j), patience)
    assert [group.tolist() for group in growth.groups] == groups
    assert growth.left.tolist() == left


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("patience", [None, 30, 25, 200])
@pytest.mark.parametrize("t", [0.1, 0.25])
def test_equals_the_algorithm_on_longer_tables(seed, patience, t):
    """Tables long enough for large groups, and for many consecutive failures."""
    rng = np.random.default_rng(seed)
    n = 150
    results = np.repeat(list("abc"), n // 3)
    results[rng.permutation(n)[:60]] = rng.choice(list("abc"), 60)
    view = view_of(map(str, range(n)), results, ages=rng.integers(0, 99, n))
    prior = rng.dirichlet([0.3, 0.3, 0.3], size=4)[rng.integers(0, 4, n)]
    requirement = KAnonymity(3) & DistinctDiversity(2) & TCloseness(t) & JSimilarity(0.9)
    growth = grow(summarize_records(view, prior), np.arange(n), requirement, patience)
    groups, left = oracle.grow(list(range(n)), satisfies(view, prior, 3, t, 0.9, distinct=2), patience)
    assert [group.tolist() for group in growth.groups] == groups
    assert growth.left.tolist() == left


def test_the_longer_tables_reach_what_they_are_for():
    """The same draws: some group is large, and under the stricter bound most records are set aside."""
    rng = np.random.default_rng(0)
    n = 150
    results = np.repeat(list("abc"), n // 3)
    results[rng.permutation(n)[:60]] = rng.choice(list("abc"), 60)
    view = view_of(map(str, range(n)), results, ages=rng.integers(0, 99, n))
    prior = rng.dirichlet([0.3, 0.3, 0.3], size=4)[rng.integers(0, 4, n)]
    groups, _ = oracle.grow(list(range(n)), satisfies(view, prior, 3, 0.25, 0.9, distinct=2), 200)
    assert max(map(len, groups)) > 16
    _, left = oracle.grow(list(range(n)), satisfies(view, prior, 3, 0.1, 0.9, distinct=2), 30)
    assert len(left) > 64


def test_one_misfit_at_the_front_leaves_out_the_rest_unless_one_is_patient():
    """Only the first record has a prior certain of c: groups with it diverge, and groups without it have equal priors."""
    view = view_of("ABCDEFG", "abababa")
    prior = np.array([[0, 0, 1.0]] + [[0.5, 0.5, 0]] * 6)
    records, requirement = summarize_records(view, prior), KAnonymity(2) & JSimilarity(0.1)
    printed = grow(records, np.arange(7), requirement)
    assert (printed.groups, printed.left.tolist()) == ((), list(range(7)))
    patient = grow(records, np.arange(7), requirement, patience=4)
    assert [group.tolist() for group in patient.groups] == [[1, 2], [3, 4], [5, 6]]
    assert patient.left.tolist() == [0]


def test_only_the_records_of_the_order_are_taken():
    view = view_of("ABCDEF", "abcabc")
    growth = grow(summarize_records(view, np.full((6, 3), 1 / 3)), np.array([5, 1, 3]), KAnonymity(2))
    assert [group.tolist() for group in growth.groups] == [[5, 1]]
    assert growth.left.tolist() == [3]
