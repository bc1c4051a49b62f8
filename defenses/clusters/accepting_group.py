"""Search for the first group that satisfies a requirement with a further record."""

import numpy as np

from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models.arrays import IntArray

FIRST_BATCH = 8
"""Number of candidate groups that are evaluated first; each further batch has twice as many."""

MAX_BATCHES = 40
"""Largest number of batches, more than any number of groups needs."""

type MemberLists = list[list[int]]
"""The records of each group."""


def members_by_group(labels: IntArray) -> MemberLists:
    """Records of each group 0 to g - 1."""
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)]


def first_accepting_group(
    records: Summary, members: MemberLists, row: int, candidates: IntArray, predicate: GroupPredicate
) -> int:
    """The first of some groups that satisfies a predicate with a further record, or -1.

    Candidates are evaluated in batches of growing size, as most searches end early.
    """
    ends = FIRST_BATCH * (2 ** np.arange(1, MAX_BATCHES) - 1)
    batches = np.split(candidates, ends[ends < len(candidates)]) if len(candidates) else []
    for batch in batches:
        satisfied = predicate(_with_record(records, members, row, batch))
        if satisfied.any():
            return int(batch[satisfied.argmax()])
    return -1


def is_dispensable(records: Summary, members: list[int], row: int, predicate: GroupPredicate) -> bool:
    """Return whether a group satisfies a predicate without one of its members."""
    others = [other for other in members if other != row]
    return bool(predicate(summarize_groups(records[np.array(others)], np.zeros(len(others), dtype=np.int64)))[0])


def _with_record(records: Summary, members: MemberLists, row: int, candidates: IntArray) -> Summary:
    """Summaries of some groups with a further record each."""
    rows = [[*members[group], row] for group in candidates]
    labels = np.repeat(np.arange(len(rows)), [len(group) for group in rows])
    return summarize_groups(records[np.concatenate(rows)], labels)
