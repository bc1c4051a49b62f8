"""Published groups and the signatures of one attribute set, as arrays, with repeated groups collected."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.problem import Problem, group_rows, probability_rows
from foreknow.models.settings import as_floats, shown


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Evidence:
    """Published groups and the signature of each record, from which a global distribution is estimated.

    Parameters
    ----------
    signature : int array, shape (n,)
        Signature of each record, 0 to s - 1; -1 for records whose signature has too little support.
    group : int array, shape (n,)
        Group of each record, 0 to g - 1; -1 outside all groups.
    counts : int array, shape (g, m)
        Multiset of each group; it sums to the group's number of records.
    rest : float array, shape (m,)
        Distribution of the records of signature -1; it is given, not estimated.
    by_group : bool
        If True, records of signature -1 in a group have the group's shares in place of ``rest``.

    Raises
    ------
    ValueError, TypeError
        If the arrays have other shapes or types, a group's counts do not sum to its size, or ``rest`` is no distribution.
    """

    signature: IntArray
    group: IntArray
    counts: IntArray
    rest: FloatArray
    by_group: bool = False

    def __post_init__(self) -> None:
        signature = np.asarray(self.signature)
        if signature.ndim != 1 or signature.dtype.kind not in "iu" or signature.min(initial=0) < -1:
            raise ValueError(
                f"Evidence: signature is {shown(signature)}; it is an integer array of shape (n,): 0 to s - 1, or -1 for records "
                "whose signature has too little support."
            )
        rest = as_floats("Evidence", "rest", self.rest, "is an array of m probabilities that sum to 1").reshape(1, -1)
        rest = probability_rows(rest, "the rest's distribution, row")
        problem = Problem(np.repeat(rest, len(signature), axis=0), self.group, self.counts)
        set_fields(self, signature=signature.astype(np.int64), group=problem.group, counts=problem.counts, rest=rest[0])

    @property
    def signatures(self) -> int:
        """The number s of signatures."""
        return int(self.signature.max(initial=-1)) + 1

    @cached_property
    def published(self) -> BoolArray:
        """True for records in a group: shape ``(n,)``."""
        return self.group >= 0

    @cached_property
    def _unmatched(self) -> tuple[FloatArray, IntArray]:
        """The f distributions that are given, ``rest`` last, and that of each group and of no group: ``(f, m), (g + 1,)``."""
        if not self.by_group:
            return self.rest[None], np.zeros(len(self.counts) + 1, dtype=np.int64)
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        distinct, number = np.unique(shares, axis=0, return_inverse=True)
        return np.vstack([distinct, self.rest]), np.append(number.reshape(-1), len(distinct))

    @property
    def rows(self) -> int:
        """Number of rows of a table: the s signatures, and the distributions of records of signature -1."""
        return self.signatures + len(self._unmatched[0])

    @cached_property
    def row(self) -> IntArray:
        """Row of each record in a table (`table`): int array, shape ``(n,)``."""
        return np.where(self.signature < 0, self.signatures + self._unmatched[1][self.group], self.signature)

    @cached_property
    def support(self) -> IntArray:
        """Number of published records of each signature: int array, shape ``(s,)``."""
        return np.bincount(self.row[self.published], minlength=self.rows)[: self.signatures]

    @cached_property
    def shares(self) -> FloatArray:
        """Mean of the groups' shares over the published records of each signature: float array, shape ``(s, m)``.

        It is the estimate before any fit. Signatures without published records have ``rest``.
        """
        sizes = np.maximum(self.counts.sum(axis=1), 1)
        kept = self.published
        group_shares = (self.counts / sizes[:, None])[self.group[kept]]
        sums = np.zeros((self.rows, len(self.rest)))
        np.add.at(sums, self.row[kept], group_shares)
        support = self.support[:, None]
        return np.asarray(np.where(support > 0, sums[: len(support)] / np.maximum(support, 1), self.rest))

    def table(self, probabilities: FloatArray) -> FloatArray:
        """Distributions of the signatures, shape ``(s, m)``, followed by those of records of signature -1."""
        return np.vstack([probabilities, self._unmatched[0]])

    @cached_property
    def mixed(self) -> BoolArray:
        """True for groups with more than one value, the only ones with several assignments: shape ``(g,)``."""
        return np.asarray((self.counts > 0).sum(axis=1) > 1)

    @property
    def in_mixed(self) -> BoolArray:
        """True for records in groups with more than one value: shape ``(n,)``."""
        inside = self.published.copy()
        inside[inside] = self.mixed[self.group[inside]]
        return inside

    @cached_property
    def component(self) -> IntArray:
        """Connected component of each signature, from 0, and a last one for the rest: int array, shape ``(s + 1,)``.

        Two signatures are connected if a mixed group has records of both. The likelihood of the groups is a product over the
        components, so that each can be fitted on its own. Cost: O(n).
        """
        s = self.signatures
        linked = self.in_mixed & (self.signature >= 0)
        nodes = s + len(self.counts)
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        links = coo_array(
            (np.ones(linked.sum()), (self.signature[linked], s + self.group[linked])), shape=(nodes, nodes)
        )
        _, label = connected_components(links, directed=False)
        _, component = np.unique(label[:s], return_inverse=True)
        return np.append(component, component.max(initial=-1) + 1).astype(np.int64)

    @property
    def component_of_row(self) -> IntArray:
        """Component of each row of a table: int array, shape `rows`."""
        return np.pad(self.component, (0, self.rows - len(self.component)), "edge")

    @cached_property
    def cells(self) -> "Cells":
        """The groups as cells of records of one signature, for two values."""
        return _cells(self)


@dataclass(frozen=True, eq=False)
class Cells:
    """Mixed groups of two values as cells of records of one signature; groups with equal cells and counts are stored once.

    Attributes
    ----------
    row, size : int array, shape (k,)
        For each cell, the row of its records in the table (`Evidence.row`), and their number.
    starts : int array, shape (p + 1,)
        Position of the first cell of each of the p distinct groups.
    holders : int array, shape (p,)
        Number of the group's records that have the first value.
    multiplicity : int array, shape (p,)
        Number of groups with these cells and this number.
    decided : int array, shape (rows, 2)
        Number of records of each row in groups of one value only, by that value.
    cell : int array, shape (n,)
        Cell of each record; -1 in groups of one value only, and outside all groups.
    """

    row: IntArray
    size: IntArray
    starts: IntArray
    holders: IntArray
    multiplicity: IntArray
    decided: IntArray
    cell: IntArray


def _cells(evidence: Evidence) -> Cells:
    rows, in_mixed = evidence.rows, evidence.in_mixed
    records = np.flatnonzero(in_mixed)
    keys, cell_of, size = np.unique(
        evidence.group[records] * rows + evidence.row[records], return_inverse=True, return_counts=True
    )
    group, row = np.divmod(keys, rows)
    groups, begins = np.unique(group, return_index=True)
    lengths = np.diff(np.append(begins, len(keys)))
    holders = evidence.counts[groups, 0]
    ends = begins + lengths
    kind, example, multiplicity = _distinct(
        (int(c), row[begin:end].tobytes(), size[begin:end].tobytes())
        for c, begin, end in zip(holders, begins, ends, strict=True)
    )
    starts = np.concatenate([[0], np.cumsum(lengths[example])]).astype(np.int64)
    stored = np.arange(starts[-1]) + np.repeat(begins[example] - starts[:-1], lengths[example])
    # The cells of a group stand in the same order in every group of its kind.
    position = np.arange(len(keys)) - np.repeat(begins, lengths)
    cell = np.full(len(evidence.group), -1, dtype=np.int64)
    cell[records] = (starts[np.repeat(kind, lengths)] + position)[cell_of]
    return Cells(row[stored], size[stored], starts, holders[example], multiplicity, _decided(evidence, in_mixed), cell)


def _distinct(keys: Iterable[Hashable]) -> tuple[IntArray, IntArray, IntArray]:
    """Number of each key in the order of first appearance; and for each number its first place, and how often it occurs."""
    numbers: dict[Hashable, int] = {}
    number = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    _, first, times = np.unique(number, return_index=True, return_counts=True)
    return number, first, times


def _decided(evidence: Evidence, in_mixed: BoolArray) -> IntArray:
    """Number of records of each row in groups of one value only, by that value: shape ``(rows, 2)``."""
    records = np.flatnonzero(evidence.published & ~in_mixed)
    value = (evidence.counts[evidence.group[records], 0] == 0).astype(np.int64)
    decided = np.zeros((evidence.rows, 2), dtype=np.int64)
    np.add.at(decided, (evidence.row[records], value), 1)
    return decided


class DistinctGroups(NamedTuple):
    """Groups with the same number of records of each signature and the same counts, one example of each."""

    row: IntArray  # (n',): row of each record of these groups in the table of distributions
    group: IntArray  # (n',): group of the record, 0 to k - 1
    counts: IntArray  # (k, m): multiset of each group
    multiplicity: IntArray  # (k,): number of groups equal to each


def distinct_groups(evidence: Evidence) -> DistinctGroups:
    """Collect equal groups, in the order of their first appearance, without empty groups. Cost: O(n log n)."""
    order, starts = group_rows(evidence.group, len(evidence.counts))
    row = evidence.row[order[np.lexsort((evidence.row[order], evidence.group[order]))]]
    present = np.flatnonzero(np.diff(starts))
    _, example, multiplicity = _distinct(
        (row[starts[group] : starts[group + 1]].tobytes(), evidence.counts[group].tobytes()) for group in present
    )
    chosen = present[example]
    sizes = np.diff(starts)[chosen]
    stored = np.arange(sizes.sum()) + np.repeat(starts[chosen] - np.cumsum(sizes) + sizes, sizes)
    return DistinctGroups(row[stored], np.repeat(np.arange(len(chosen)), sizes), evidence.counts[chosen], multiplicity)
