"""Groups at each level vector of a table: their sizes, and their summaries."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.defenses.full_domain.generalization_levels import GeneralizationLevels
from foreknow.defenses.full_domain.lattice import Node
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models.arrays import IntArray

MAX_CACHED_TABLES = 128
"""Number of generalized tables that are kept, from which further ones are computed."""

MAX_CACHED_GROUPS = 4
"""Number of groups of all tables that are kept, as a multiple of those of the finest table."""

MAX_GROUP_NUMBER = 2**62
"""Largest product of the numbers of values that a group number of 64 bits may have."""


@dataclass(frozen=True, eq=False)
class _Table[T]:
    """Groups at a level vector: the values of one member in each attribute, shape ``(d, c)``, and what is known of each."""

    node: Node
    values: IntArray
    content: T


class GeneralizedTables[T]:
    """Sizes or summaries of the groups at each level vector, computed from the smallest finer table that is kept.

    Parameters
    ----------
    levels : sequence of GeneralizationLevels
    values : int array, shape (d, c)
        Values of the groups of the finest table.
    content : T
        Their sizes or summaries.
    merged : callable
        Function of the content of some groups and the label of each, which returns that of their unions.
    """

    def __init__(
        self,
        levels: Sequence[GeneralizationLevels],
        values: IntArray,
        content: T,
        merged: Callable[[T, IntArray], T],
    ) -> None:
        self._levels, self._merged = levels, merged
        self._finest = _Table((0,) * len(levels), values, content)
        self._latest: deque[_Table[T]] = deque(maxlen=MAX_CACHED_TABLES)

    def __call__(self, node: Node) -> T:
        """Content of the groups at a level vector, in any order of the groups."""
        finer = self._smallest_finer(node)
        if finer is self._finest:
            finer = self._generalized(finer, self._by_the_same_attributes(node))
        return self._generalized(finer, node).content

    def _smallest_finer(self, node: Node) -> _Table[T]:
        finer = [table for table in self._latest if all(a <= b for a, b in zip(table.node, node, strict=True))]
        return min((self._finest, *finer), key=lambda table: table.values.shape[1])

    def _by_the_same_attributes(self, node: Node) -> Node:
        """Level vector with the values of the attributes that a node generalizes by, and no other attribute.

        Its table is finer than those of all vectors of these attributes, which a search takes one after the other.
        """
        return tuple(
            0 if level < attribute.height else level for level, attribute in zip(node, self._levels, strict=True)
        )

    def _generalized(self, finer: _Table[T], node: Node) -> _Table[T]:
        """Table at a level vector, from a finer one; it is kept."""
        if finer.node == node:
            return finer
        labels, uniques = pd.factorize(group_numbers(self._levels, node, finer.values))
        first = np.empty(len(uniques), dtype=np.int64)
        first[labels[::-1]] = np.arange(len(labels))[::-1]
        table = _Table(node, finer.values[:, first], self._merged(finer.content, labels))
        self._keep(table)
        return table

    def _keep(self, table: _Table[T]) -> None:
        limit = MAX_CACHED_GROUPS * self._finest.values.shape[1]
        self._latest.append(table)
        while sum(kept.values.shape[1] for kept in self._latest) > limit:
            self._latest.popleft()


def group_numbers(levels: Sequence[GeneralizationLevels], node: Node, values: IntArray) -> IntArray:
    """Number of the group of each column of ``values``, shape ``(d, c)``, at a level vector; equal numbers are a group.

    The generalized values of a column are combined in mixed radix. Numbers are renumbered before they would overflow.
    """
    numbers, limit = np.zeros(values.shape[1], dtype=np.int64), 1
    for attribute, level, column in zip(levels, node, values, strict=True):
        generalized = attribute.levels[level]
        radix = int(generalized.max()) + 1
        if radix == 1:
            continue
        if limit > MAX_GROUP_NUMBER // radix:
            numbers = np.unique(numbers, return_inverse=True)[1]
            limit = len(numbers)
        numbers = numbers * radix + generalized[column]
        limit *= radix
    return numbers


def merged_sizes(sizes: IntArray, labels: IntArray) -> IntArray:
    """Sizes of the unions of some groups. Exact below 2^53 records."""
    return np.bincount(labels, weights=sizes).astype(np.int64)


def summaries_at(
    levels: Sequence[GeneralizationLevels], values: IntArray, records: Summary, requirement: GroupPredicate
) -> Callable[[Node], Summary]:
    """Function of a level vector that returns the summaries of its groups, in any order of the groups.

    A requirement that reads neither priors nor members gets summaries without them. Cost: O(u + c m) for u pairs of a group of
    the finest table and a value that it holds, and c groups; otherwise that of `summarize_groups` on a finer table.
    """
    if requirement.reads_prior or requirement.reads_members:
        return GeneralizedTables(levels, values, records, summarize_groups)
    row, value = np.nonzero(records.counts)
    number, m = records.counts[row, value], records.counts.shape[1]

    def counted(node: Node) -> Summary:
        labels, uniques = pd.factorize(group_numbers(levels, node, values))
        totals = np.bincount(labels[row] * m + value, weights=number, minlength=len(uniques) * m)
        counts: IntArray = totals.astype(np.int64).reshape(-1, m)
        nothing = np.zeros(len(uniques))
        return Summary(np.asarray(counts.sum(axis=1)), counts, np.zeros(counts.shape), nothing, records.table)

    return counted
