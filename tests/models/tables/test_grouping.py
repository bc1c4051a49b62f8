"""Groupings with reordered records and with renumbered groups."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from foreknow.models import Grouping

LABELS = st.lists(st.integers(-1, 4), min_size=1, max_size=12)


class TestRenumbered:
    @given(labels=LABELS, seed=st.integers(0, 9), data=st.data())
    def test_is_the_same_grouping_but_for_its_numbers(self, labels, seed, data):
        kept = sorted({label for label in labels if label >= 0})
        pairs = st.tuples(st.sampled_from(kept), st.integers(0, 2)) if kept else st.nothing()
        invented = data.draw(st.lists(pairs, max_size=4)) if kept else []
        grouping = Grouping(np.array(labels), counterfeits=np.array(invented) if invented else None, notes=("a",))
        found = grouping.renumbered(np.random.default_rng(seed))
        new = dict(zip(labels, found.labels.tolist(), strict=True))
        assert [new[label] for label in labels] == found.labels.tolist()
        assert sorted(new[label] for label in kept) == list(range(len(kept)))
        assert new.get(-1, -1) == -1
        assert found.notes == ("a",)
        if invented:
            assert sorted(map(tuple, found.counterfeits.tolist())) == sorted((new[g], v, -1) for g, v in invented)
        else:
            assert found.counterfeits is None

    def test_all_orders_of_numbers_are_as_likely(self):
        rng = np.random.default_rng(1)
        draws = [tuple(Grouping(np.array([7, 3, 7, 5])).renumbered(rng).labels) for _ in range(600)]
        counts = [draws.count(numbers) for numbers in set(draws)]
        assert len(counts) == 6
        assert max(abs(count - 100) for count in counts) <= 5 * np.sqrt(600 * 5 / 36), "five standard deviations"


def test_in_rows_reorders_the_records():
    grouping = Grouping(np.array([0, 1, -1]), values=np.array([4, 5, 6])).in_rows(np.array([2, 0, 1]))
    assert grouping.labels.tolist() == [-1, 0, 1]
    assert grouping.values.tolist() == [6, 4, 5]
