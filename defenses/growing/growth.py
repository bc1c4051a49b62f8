"""Groups grown along an order, record by record: the greedy rule of JS-reduce, Algorithm 4."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.defenses.growing.running_sums import RunningSums
from foreknow.defenses.requirements.combinations import check_predicate
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary
from foreknow.models.arrays import IntArray
from foreknow.models.settings import check_kind, check_whole

FIRST_LENGTHS = 8
"""Number of lengths of a group that are evaluated together first."""

MAX_STARTS = 16
"""Largest number of first records that are evaluated together, after repeated failures."""


@dataclass(frozen=True, eq=False)
class Growth:
    """Groups grown along an order.

    Attributes
    ----------
    groups : tuple of int array
        Rows of each group, in the order.
    left : int array
        Rows in no group, in the order.
    """

    groups: tuple[IntArray, ...]
    left: IntArray


def grow(records: Summary, order: IntArray, requirement: GroupPredicate, patience: int | None = None) -> Growth:
    """Grow groups along an order of records; a group is closed as soon as it satisfies the requirement.

    Parameters
    ----------
    records : Summary
        Every record as a group of its own.
    order : int array
        Distinct rows of ``records``, first to last; all of them or some.
    requirement : GroupPredicate
        The requirement of every group, bound to the view.
    patience : int, optional
        Largest number of records of an unsatisfying group. Where a group reaches it, its first record is set aside. None is the
        printed rule: a group that never satisfies takes all remaining records, and none of them is published.

    Returns
    -------
    Growth
        The groups and the records in none.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or the requirement is not bound to a view.
    ValueError
        If a row of the order is not a row of ``records`` or occurs twice, or patience is not a positive integer.

    Notes
    -----
    JS-reduce, Algorithm 4. Adding a record adds its summary. The summaries of all groups that start at a record are therefore
    differences of running sums, and many are evaluated together. Cost: O(n m) for groups of bounded size and
    O(n patience m) at most; without patience, O(n m) more for the last, unsatisfying group.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.defenses import KAnonymity, summarize_records
    >>> from foreknow.models import Numeric, Schema, View
    >>> frame = pd.DataFrame({"id": range(5), "age": [20, 30, 40, 50, 60], "result": list("aabab")})
    >>> view = View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b")))
    >>> growth = grow(summarize_records(view, np.full((5, 2), 0.5)), np.arange(5), KAnonymity(2))
    >>> [group.tolist() for group in growth.groups], growth.left.tolist()
    ([[0, 1], [2, 3]], [4])
    """
    check_predicate("grow", requirement)
    takes = "is a Summary of the records; make one by summarize_records(view, prior)"
    check_kind("grow", "records", records, Summary, takes)
    order = _checked_order(order, len(records))
    if patience is not None:
        check_whole("grow", "patience", patience, "records")
    sums = RunningSums.along(records, order)
    n, smallest = len(order), requirement.smallest
    longest = n if patience is None else max(int(patience), smallest)
    groups: list[IntArray] = []
    aside: list[IntArray] = []
    start, starts = 0, 1
    while start + smallest <= n:
        first, end = _first_group(sums, requirement, start, min(start + starts, n - smallest + 1), longest)
        if end > first:
            groups.append(order[first:end])
        elif patience is None:
            break
        aside.append(np.arange(start, first))
        start, starts = max(first, end), max(starts // 2, 1) if end > first else min(2 * starts, MAX_STARTS)
    left = np.concatenate([*aside, np.arange(start, n)])
    return Growth(tuple(groups), order[left])


def _checked_order(order: Any, n: int) -> IntArray:
    """Order of some rows of n records as an array.

    Raises
    ------
    TypeError
        If it is not an int array.
    ValueError
        If it has not one axis, or a row is not from 0 to n - 1 or occurs twice.
    """
    takes = "is an int array of distinct rows, as hilbert_order(view.people)"
    check_kind("grow", "order", order, np.ndarray, takes)
    if not np.issubdtype(order.dtype, np.integer):
        raise TypeError(f"grow: order has dtype {order.dtype}; it {takes}.")
    if order.ndim != 1:
        raise ValueError(f"grow: order has shape {order.shape}; it has one axis and {takes}.")
    wrong = order[(order < 0) | (order >= n)]
    if len(wrong):
        raise ValueError(
            f"grow: order holds the row {wrong[0]}, and there are {n} records; rows are from 0 to {n - 1}."
        )
    times = np.bincount(order, minlength=n)
    if (times > 1).any():
        raise ValueError(f"grow: order holds the row {times.argmax()} {times.max()} times; give each row at most once.")
    return np.asarray(order)


def _first_group(
    sums: RunningSums, requirement: GroupPredicate, start: int, stop: int, longest: int
) -> tuple[int, int]:
    """First start from ``start`` to ``stop``, excluded, at which a group satisfies, and the end of its shortest group.

    The result is ``(stop, stop)`` if there is none. A single start is evaluated on lengths in batches of growing size, because
    most groups are short. Several starts, which follow failures, are evaluated on all lengths at once.
    """
    n = len(sums.sums) - 1
    starts = np.arange(start, stop)
    begin, batch = requirement.smallest, FIRST_LENGTHS if len(starts) == 1 else longest
    while begin <= longest and start + begin <= n:
        lengths = np.arange(begin, min(begin + batch, longest + 1, n - start + 1))
        ends = starts[:, None] + lengths
        inside = (ends <= n).ravel()
        evaluated = np.zeros(ends.size, dtype=bool)
        evaluated[inside] = requirement(sums.between(np.repeat(starts, len(lengths))[inside], ends.ravel()[inside]))
        satisfies = evaluated.reshape(ends.shape)
        if satisfies.any():
            which = int(satisfies.any(axis=1).argmax())
            return start + which, int(ends[which, satisfies[which].argmax()])
        begin, batch = begin + batch, 2 * batch
    return stop, stop
