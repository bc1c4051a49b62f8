"""What the groups of a release say of the signatures of one attribute set, as arrays."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.problem import Problem, probability_rows


@dataclass(frozen=True, eq=False)
class Evidence:
    """Published groups, and which signature each person matches: what a global distribution is found from.

    Parameters
    ----------
    signature : int array, shape (n,)
        The signature of each person, 0 to s - 1; -1 for people whose signature too few match.
    group : int array, shape (n,)
        Each person's group, 0 to g - 1; -1 outside all groups.
    counts : int array, shape (g, m)
        The multiset of each group; sums to its number of people.
    rest : float array, shape (m,)
        The distribution that is taken for people of signature -1, and not learned.

    Raises
    ------
    ValueError
        If the shapes do not fit, a group's counts do not sum to its size, or ``rest`` is no distribution.
    """

    signature: IntArray
    group: IntArray
    counts: IntArray
    rest: FloatArray

    def __post_init__(self) -> None:
        signature, rest = np.asarray(self.signature), np.asarray(self.rest, dtype=np.float64)
        uniform = np.full((len(signature), rest.shape[-1]), 1.0 / max(rest.shape[-1], 1))
        problem = Problem(uniform, self.group, self.counts)
        if not np.issubdtype(signature.dtype, np.integer) or signature.min(initial=0) < -1:
            raise ValueError(
                f"signatures are whole numbers from -1 on; got {signature.dtype}, {signature.min(initial=0)}."
            )
        object.__setattr__(self, "signature", signature.astype(np.int64))
        object.__setattr__(self, "group", problem.group)
        object.__setattr__(self, "counts", problem.counts)
        object.__setattr__(self, "rest", probability_rows(rest[None, :], "the rest's distribution, row")[0])

    @property
    def signatures(self) -> int:
        """The number s of signatures."""
        return int(self.signature.max(initial=-1)) + 1

    @cached_property
    def published(self) -> BoolArray:
        """Who is in a group: shape ``(n,)``."""
        return self.group >= 0

    @cached_property
    def support(self) -> IntArray:
        """How many published people match each signature, and in the last place no supported one: shape ``(s + 1,)``."""
        return np.bincount(self.place[self.published], minlength=self.signatures + 1)

    @cached_property
    def place(self) -> IntArray:
        """The row of each person in a table of s signatures and the rest behind them: shape ``(n,)``."""
        return np.where(self.signature < 0, self.signatures, self.signature)

    @cached_property
    def shares(self) -> FloatArray:
        """The mean, over the people of each signature, of their groups' shares: what is believed before anything is learned.

        Float array, shape ``(s, m)``; where nobody published matches, the rest's distribution.
        """
        sizes = np.maximum(self.counts.sum(axis=1), 1)
        kept = self.published
        rows = (self.counts / sizes[:, None])[self.group[kept]]
        sums = np.zeros((self.signatures + 1, len(self.rest)))
        np.add.at(sums, self.place[kept], rows)
        support = self.support[:-1, None]
        return np.asarray(np.where(support > 0, sums[:-1] / np.maximum(support, 1), self.rest))

    def table(self, probabilities: FloatArray) -> FloatArray:
        """Distributions of the signatures with the rest's behind them: shape ``(s + 1, m)``."""
        return np.vstack([probabilities, self.rest])

    @cached_property
    def mixed(self) -> BoolArray:
        """Which groups show more than one value, so that there is something to find out: shape ``(g,)``."""
        return np.asarray((self.counts > 0).sum(axis=1) > 1)

    @cached_property
    def part(self) -> IntArray:
        """The part each signature belongs to, from 0, and one more for the rest behind them: shape ``(s + 1,)``.

        Signatures share a part where people of both are in one group of several values, or both share a part with a third.
        The groups' likelihood is a product over the parts: what is found for one does not depend on the others. Cost:
        O(n).
        """
        s = self.signatures
        open_ = self.published & (self.signature >= 0)
        open_[open_] = self.mixed[self.group[open_]]
        nodes = s + len(self.counts)
        links = coo_array((np.ones(open_.sum()), (self.signature[open_], s + self.group[open_])), shape=(nodes, nodes))
        _, label = connected_components(links, directed=False)
        _, part = np.unique(label[:s], return_inverse=True)
        return np.append(part, part.max(initial=-1) + 1).astype(np.int64)

    @cached_property
    def cells(self) -> "Cells":
        """The groups as cells of people of one signature, for two values; alike groups once."""
        return _cells(self)


@dataclass(frozen=True, eq=False)
class Cells:
    """The groups that hold both of two values, as cells of people of one signature; groups with the same cells once.

    Attributes
    ----------
    signature, size : int array, shape (k,)
        Of each cell, the row of its people in the table, and their number.
    starts : int array, shape (p + 1,)
        Where the cells of each of the p kinds of group start.
    holding : int array, shape (p,)
        How many of a group's people have the first value.
    times : int array, shape (p,)
        How many groups are of this kind.
    settled : int array, shape (s + 1, 2)
        How many people of each signature are in groups that hold one value only, by that value.
    of_person : int array, shape (n,)
        Each person's cell; -1 for people of groups that hold one value only, and outside all groups.
    """

    signature: IntArray
    size: IntArray
    starts: IntArray
    holding: IntArray
    times: IntArray
    settled: IntArray
    of_person: IntArray


def _cells(evidence: Evidence) -> Cells:
    if evidence.counts.shape[1] != 2:
        raise ValueError(f"cells are of two values; the counts have {evidence.counts.shape[1]}.")
    group, place, first = evidence.group, evidence.place, evidence.counts[:, 0]
    rows = evidence.signatures + 1
    inside = np.flatnonzero(evidence.published)
    open_ = np.zeros(len(group), dtype=np.bool_)
    open_[inside] = evidence.mixed[group[inside]]
    settled = np.zeros((rows, 2), dtype=np.int64)
    decided = inside[~open_[inside]]
    np.add.at(settled, (place[decided], (first[group[decided]] == 0).astype(np.int64)), 1)
    who = np.flatnonzero(open_)
    cells, cell_of, size = np.unique(group[who] * rows + place[who], return_inverse=True, return_counts=True)
    cell_group, cell_signature = np.divmod(cells, rows)
    names, begins = np.unique(cell_group, return_index=True)
    ends = np.append(begins, len(cells))[1:]
    kinds: dict[tuple[int, bytes, bytes], int] = {}
    kind = np.empty(len(names), dtype=np.int64)
    for number, (name, begin, end) in enumerate(zip(names, begins, ends, strict=True)):
        key = (int(first[name]), cell_signature[begin:end].tobytes(), size[begin:end].tobytes())
        kind[number] = kinds.setdefault(key, len(kinds))
    _, example, times = np.unique(kind, return_index=True, return_counts=True)
    lengths = (ends - begins)[example]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    taken = np.arange(starts[-1]) + np.repeat(begins[example] - starts[:-1], lengths)
    # A group's cells stand in the same order in every group of its kind.
    within = np.arange(len(cells)) - np.repeat(begins, ends - begins)
    cell_number = starts[np.repeat(kind, ends - begins)] + within
    of_person = np.full(len(group), -1, dtype=np.int64)
    of_person[who] = cell_number[cell_of]
    return Cells(cell_signature[taken], size[taken], starts, first[names[example]], times, settled, of_person)
