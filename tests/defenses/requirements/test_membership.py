"""Members of each group of a batch against lists of lists, and the summaries that hold them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses.requirements.summary import GroupMembers, slices, summarize_groups, summarize_records

lists = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=5)


def members_of(groups):
    starts = np.cumsum([0, *map(len, groups)])
    return GroupMembers(np.array([i for group in groups for i in group], dtype=np.int64), starts)


def as_lists(members):
    return [members.records[a:b].tolist() for a, b in zip(members.starts[:-1], members.starts[1:], strict=True)]


class TestGroupMembers:
    @given(groups=lists, data=st.data())
    def test_some_of_them(self, groups, data):
        which = np.array(data.draw(st.lists(st.integers(0, len(groups) - 1), max_size=6)), dtype=np.int64)
        assert as_lists(members_of(groups).select(which)) == [groups[g] for g in which]
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(groups), max_size=len(groups))))
        assert as_lists(members_of(groups).select(mask)) == [groups[g] for g in np.flatnonzero(mask)]
        assert as_lists(members_of(groups).select(slice(1, 3))) == groups[1:3]

    @given(groups=lists, data=st.data())
    def test_merged_pair_by_pair(self, groups, data):
        others = data.draw(
            st.lists(st.lists(st.integers(0, 9), min_size=1), min_size=len(groups), max_size=len(groups))
        )
        pairs = zip(groups, others, strict=True)
        assert as_lists(members_of(groups).joined(members_of(others))) == [a + b for a, b in pairs]

    @given(groups=lists, one=st.lists(st.integers(0, 9), min_size=1))
    def test_one_merged_with_each_of_many(self, groups, one):
        assert as_lists(members_of(groups).joined(members_of([one]))) == [group + one for group in groups]
        assert as_lists(members_of([one]).joined(members_of(groups))) == [one + group for group in groups]

    def test_nothing_merged_with_one_is_nothing(self):
        nothing = members_of([[1], [2]]).select(np.zeros(0, dtype=np.int64))
        assert as_lists(nothing.joined(members_of([[3]]))) == []
        assert as_lists(members_of([[3]]).joined(nothing)) == []

    @given(groups=lists)
    def test_each_record_s_group(self, groups):
        assert members_of(groups).group.tolist() == [g for g, group in enumerate(groups) for _ in group]

    @given(records=st.permutations(range(8)), data=st.data())
    def test_runs_of_a_sequence(self, records, data):
        ends = st.tuples(st.integers(0, 8), st.integers(0, 8)).map(sorted)
        runs = data.draw(st.lists(ends, max_size=5))
        starts, ends = (np.array([run[i] for run in runs], dtype=np.int64) for i in (0, 1))
        assert as_lists(slices(np.array(records), starts, ends)) == [records[a:b] for a, b in runs]


class TestSummaries:
    @given(drawn=tables(), data=st.data())
    def test_groups_know_their_records(self, drawn, data):
        view, prior = drawn
        labels = data.draw(st.lists(st.integers(-1, 2), min_size=len(view), max_size=len(view)))
        names = sorted(set(labels) - {-1})
        labels = np.array([names.index(label) if label >= 0 else -1 for label in labels])
        groups = summarize_groups(summarize_records(view, prior, members=True), labels)
        assert as_lists(groups.members) == [np.flatnonzero(labels == g).tolist() for g in range(len(names))]
        assert summarize_groups(summarize_records(view, prior), labels).members is None

    @given(drawn=tables(), data=st.data())
    def test_one_of_a_batch_replaced_by_another(self, drawn, data):
        view, prior = drawn
        records = summarize_records(view, prior, members=data.draw(st.booleans()))
        which, other = (data.draw(st.integers(0, len(view) - 1)) for _ in range(2))
        pair = records[which] + records[other]
        replaced = records.replaced(which, pair)
        for field in ("size", "counts", "prior", "entropy"):
            found, before = getattr(replaced, field), getattr(records, field)
            assert np.array_equal(found[which], getattr(pair, field)[0])
            assert np.array_equal(np.delete(found, which, axis=0), np.delete(before, which, axis=0))
        if records.members is None:
            assert replaced.members is None
        else:
            expected = [[i] for i in range(len(view))]
            expected[which] = [which, other]
            assert as_lists(replaced.members) == expected
        assert len(replaced) == len(records)

    def test_members_are_lost_where_one_side_has_none(self):
        view, prior = tables_of_two()
        with_members, without = (summarize_records(view, prior, members) for members in (True, False))
        assert (with_members + without).members is None
        assert with_members.replaced(0, without[1]).members is None

    @pytest.mark.parametrize("which", [0, slice(0, 1), np.array([0]), np.array([True, False])])
    def test_a_choice_keeps_who_is_in_it(self, which):
        view, prior = tables_of_two()
        assert as_lists(summarize_records(view, prior, members=True)[which].members) == [[0]]


def tables_of_two():
    return view_of("AB", "ab"), np.full((2, 3), 1 / 3)
