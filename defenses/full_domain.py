"""Full-domain generalization: minimal nodes of the lattice of generalization levels (Incognito)."""

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from foreknow.defenses.publish import RequirementDefense
from foreknow.defenses.requirements.requirement import (
    GroupPredicate,
    Infeasible,
    Requirement,
    check_requirement,
    check_smallest,
    shortfall,
)
from foreknow.defenses.requirements.summary import Summary, prior_of, summarize_groups, summarize_records
from foreknow.models import Categorical, Grouping, Numeric, People, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import MAX_FLOAT, check_choice, check_kind, is_number

# Criteria of the choice among minimal level vectors
CRITERIA: tuple[Literal["discernibility", "height", "classes"], ...] = ("discernibility", "height", "classes")


type Node = tuple[int, ...]


@dataclass(frozen=True)
class FullDomain(RequirementDefense):
    """Generalize every quasi-identifier to one level for the whole table, as low as the requirement allows.

    Records with equal values at the chosen levels are a group. A categorical attribute has the levels of its hierarchy; without
    one, its values and ``*``. A number has its values, intervals of growing width counted from the low end of its domain,
    and one interval.

    Parameters
    ----------
    requirement : Requirement
        Requirement of every group.
    widths : mapping of str to sequence of float, optional
        Widths of the intervals of some numeric attributes, increasing, each a whole multiple of the one before. The default of
        an attribute starts at twice the smallest difference between two of its values in the view, doubled until it is at
        least 1/64 of the domain, and doubles while it is at most the domain.
    choose : {"discernibility", "height", "classes"}
        Choice among the minimal satisfying level vectors: the smallest sum of squared group sizes, the smallest sum of levels,
        or the largest number of groups. Ties go to the smaller height, or among equal heights to the smaller discernibility,
        then to the lexicographically smallest vector.

    Raises
    ------
    ValueError
        When called, if widths are given for an attribute that is not numeric, or if there are more than `MAX_NODES` level vectors
        (`foreknow.defenses.full_domain`).
    Infeasible
        When called, if no level vector satisfies, not even the highest one, which makes a single group.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Incognito", SIGMOD 2005, with any requirement in place of k-anonymity, as Li, Li,
    Venkatasubramanian, ICDE 2007, do for t-closeness. A satisfying vector is minimal if no vector below it satisfies. The
    search prunes if the requirement is monotone (``requirement.is_monotone``). For other requirements, as those on beliefs, it
    evaluates every vector, so that the result is exact for any requirement. The papers do not say which minimal vector is
    published. No record is suppressed.

    As for every defense, a published group shows the tightest intervals and lowest labels that its members share. These are
    at least as precise as the levels. The levels are in ``notes``.

    Cost: O(c d) for each vector that is evaluated, with c groups of a finer vector, at most the number of distinct
    quasi-identifiers; and that of summaries, O(u + g m) for u distinct pairs of quasi-identifiers and value and g groups, for each
    vector without a group smaller than ``requirement.smallest``. Requirements that read priors or members take O(c m + c log c) for
    each vector. The number of vectors is at most the product of the numbers of levels.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity
    >>> FullDomain(KAnonymity(5), widths={"age": (5, 10, 20)})
    FullDomain(requirement=KAnonymity(k=5), widths={'age': (5.0, 10.0, 20.0)}, choose='discernibility')
    """

    requirement: Requirement
    widths: Mapping[str, Sequence[float]] | None = None
    choose: Literal["discernibility", "height", "classes"] = "discernibility"

    def __post_init__(self) -> None:
        check_requirement("FullDomain", self.requirement)
        check_choice("FullDomain", "choose", self.choose, CRITERIA)
        object.__setattr__(self, "widths", checked_widths(self.widths) or None)

    def __hash__(self) -> int:
        return hash((self.requirement, tuple((self.widths or {}).items()), self.choose))

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, matters only to requirements that depend on it."""
        prior = prior_of(view, prior)
        check_smallest(self.requirement, view)
        requirement = self.requirement.bind(view, prior)
        return self.group_rows(view.people, summarize_records(view, prior, requirement.reads_members), requirement)

    def group_rows(self, people: People, records: Summary, requirement: GroupPredicate) -> Grouping:
        """Group rows of which each stands for the records that its summary counts.

        Parameters
        ----------
        people : People
            Quasi-identifiers of the rows.
        records : Summary
            Batch of one summary for each row.
        requirement : GroupPredicate
            Requirement of this defense, bound to the table.

        Raises
        ------
        Infeasible
            As when called.
        """
        levels = generalization_levels(people, self.widths or {})
        rows = np.array([attribute.values for attribute in levels])
        search = _Search(levels, rows, records, requirement)
        nodes = minimal_nodes(search.heights, search.satisfies, requirement.is_monotone)
        if not nodes:
            whole = search.summaries(tuple(search.heights))
            raise Infeasible.of_view(
                "no levels of generalization of the ",
                people.time,
                f" satisfy {self.requirement!r}: even all records as one group do not satisfy "
                f"{shortfall(requirement, whole)}. Lower the requirement.",
            )
        best = min(nodes, key=lambda node: (*self._loss(node, search.sizes(node)), node))
        labels = np.unique(group_numbers(levels, best, rows), return_inverse=True)[1]
        note = ", ".join(attribute.descriptions[level] for attribute, level in zip(levels, best, strict=True)) + "."
        return Grouping(labels, notes=(note,))

    def _loss(self, node: Node, sizes: IntArray) -> tuple[int, int]:
        """Criterion to minimize, and the one that decides ties."""
        discernibility, height = int((sizes**2).sum()), sum(node)
        if self.choose == "height":
            return height, discernibility
        return (discernibility if self.choose == "discernibility" else -len(sizes)), height


@dataclass(frozen=True, eq=False)
class GeneralizationLevels:
    """Levels of a quasi-identifier."""

    values: IntArray  # (n,): value of each respondent, as a number from 0 to v - 1
    # (height + 1, v): generalized value of each value at each level. All values are distinct at level 0 and equal at
    # the last level. Values that are equal at one level are equal at the next.
    levels: IntArray
    descriptions: tuple[str, ...]  # description of each level, for notes

    @property
    def height(self) -> int:
        """Highest level."""
        return len(self.levels) - 1


class _Search:
    """Groups of a table at each level vector, and the vectors that satisfy a requirement."""

    def __init__(
        self, levels: Sequence[GeneralizationLevels], rows: IntArray, records: Summary, requirement: GroupPredicate
    ) -> None:
        self.heights, self.requirement = [attribute.height for attribute in levels], requirement
        _, first, labels = np.unique(
            group_numbers(levels, (0,) * len(levels), rows), return_index=True, return_inverse=True
        )
        values, groups = rows[:, first], summarize_groups(records, labels)
        self.sizes = GeneralizedTables(
            levels, values, groups.size, lambda sizes, labels: np.bincount(labels, weights=sizes).astype(np.int64)
        )
        self.summaries = summaries_at(levels, values, groups, requirement)

    def satisfies(self, node: Node) -> bool:
        """True if every group at a level vector satisfies. Groups that are too small are found by their sizes alone."""
        if self.sizes(node).min() < self.requirement.smallest:
            return False
        return bool(self.requirement(self.summaries(node)).all())


MAX_CACHED_TABLES = 128  # number of generalized tables that are kept, from which further ones are computed

MAX_CACHED_GROUPS = 4  # number of groups of all tables that are kept, as a multiple of those of the finest table

MAX_GROUP_NUMBER = 2**62  # largest product of the numbers of values that a group number of 64 bits may have


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
        finer = [table for table in self._latest if all(a <= b for a, b in zip(table.node, node, strict=True))]
        finest = min((self._finest, *finer), key=lambda table: table.values.shape[1])
        if finest is self._finest:
            # First the values of the attributes that the node generalizes by: this table is finer than those of all vectors of
            # these attributes, which a search takes one after the other.
            levels = zip(node, self._levels, strict=True)
            finest = self._generalized(finest, tuple(0 if level < each.height else level for level, each in levels))
        return self._generalized(finest, node).content

    def _generalized(self, finer: _Table[T], node: Node) -> _Table[T]:
        """Table at a level vector, from a finer one; it is kept."""
        if finer.node == node:
            return finer
        labels, uniques = pd.factorize(group_numbers(self._levels, node, finer.values))
        first = np.empty(len(uniques), dtype=np.int64)
        first[labels[::-1]] = np.arange(len(labels))[::-1]
        table = _Table(node, finer.values[:, first], self._merged(finer.content, labels))
        self._latest.append(table)
        while sum(kept.values.shape[1] for kept in self._latest) > MAX_CACHED_GROUPS * self._finest.values.shape[1]:
            self._latest.popleft()
        return table


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


MAX_DEFAULT_INTERVALS = 64  # largest number of intervals that divide a numeric domain by default

# Largest number of intervals that divide a numeric domain; float64 represents all integers up to it
MAX_INTERVALS = 2**53

# Rounding error that is ignored: of a number's position, in interval widths, and of the ratio of two widths, relatively
INTERVAL_TOLERANCE = 1e-9


def generalization_levels(people: People, widths: Mapping[str, Sequence[float]]) -> list[GeneralizationLevels]:
    """Levels of each quasi-identifier, in the schema's order.

    Parameters
    ----------
    people : People
    widths : mapping of str to sequence of float
        Interval widths of some numeric attributes, as `checked_widths` returns them.
    """
    kinds = people.schema.quasi_identifiers
    for name in widths:
        if not isinstance(kinds.get(name), Numeric):
            wrong = "is categorical; its hierarchy has its levels" if name in kinds else "is no quasi-identifier"
            raise ValueError(
                f"widths are given for {name!r}, which {wrong}. Give them for numbers; the quasi-identifiers are "
                f"{', '.join(map(repr, kinds))}."
            )
    return [
        _of_categories(name, kind, codes)
        if isinstance(kind, Categorical)
        else _of_numbers(name, kind, codes, widths.get(name))
        for (name, kind), codes in zip(kinds.items(), people.quasi_identifiers.T, strict=True)
    ]


def checked_widths(widths: Mapping[str, Sequence[float]] | None) -> dict[str, tuple[float, ...]]:
    """Interval widths of some attributes; those of an attribute increase, each a whole multiple of the one before."""
    check_kind("FullDomain", "widths", widths or {}, Mapping, "is a dict of widths, as {'age': (5, 10, 20)}")
    for name, steps in (widths or {}).items():
        times = (
            np.divide(steps[1:], steps[:-1]) if all(is_number(width, 1e-300, MAX_FLOAT) for width in steps) else [0.0]
        )
        if not all(1.5 < each < np.inf and abs(each - round(each)) <= INTERVAL_TOLERANCE * each for each in times):
            raise ValueError(
                f"FullDomain: the widths of {name!r} are {steps}; they are above 0, each a whole multiple of the one before, "
                "so that intervals only merge, as 5, 10, 20 are."
            )
    return {name: tuple(map(float, steps)) for name, steps in (widths or {}).items()}


def _of_categories(name: str, kind: Categorical, codes: FloatArray) -> GeneralizationLevels:
    """Levels of a categorical attribute: those of its hierarchy."""
    levels = kind.tree.levels()
    height = len(levels) - 1
    descriptions = (f"{name} as it is", *(f"{name} at level {level} of {height}" for level in range(1, height + 1)))
    return GeneralizationLevels(codes.astype(np.int64), levels, descriptions)


def _of_numbers(name: str, kind: Numeric, codes: FloatArray, widths: Sequence[float] | None) -> GeneralizationLevels:
    """Levels of a numeric attribute: its values, intervals of each width, and one interval."""
    low, high = kind.bounds
    numbers, values = np.unique(codes, return_inverse=True)
    steps = _default_widths(numbers, high - low) if widths is None else tuple(widths)
    if steps and (high - low) / MAX_INTERVALS > steps[0]:
        raise ValueError(
            f"the widths of {name!r} start at {steps[0]:g}, which divides its domain from {low:g} to {high:g} into over 2**53 "
            "intervals; give wider ones."
        )
    levels = [np.arange(len(numbers))]
    if steps:
        levels.append(np.floor((numbers - low) / steps[0] + INTERVAL_TOLERANCE).astype(np.int64))
    for narrow, wide in itertools.pairwise(steps):
        levels.append(levels[-1] // round(wide / narrow))
    levels.append(np.zeros(len(numbers), dtype=np.int64))
    intervals = (f"{name} in intervals of {step:g}" for step in steps)
    descriptions = (f"{name} as it is", *intervals, f"{name} in one interval")
    return GeneralizationLevels(values, np.array(levels, dtype=np.int64), descriptions)


def _default_widths(numbers: FloatArray, domain: float) -> tuple[float, ...]:
    """Twice the smallest difference of two numbers, doubled to at least 1/64 of the domain, and its doubles up to the domain."""
    if len(numbers) < 2:
        return ()
    width = 2 * float(np.diff(numbers).min())
    while width * MAX_DEFAULT_INTERVALS < domain:
        width *= 2
    widths = []
    while width <= domain:
        widths.append(width)
        width *= 2
    return tuple(widths)


MAX_NODES = 2**24  # largest number of level vectors of a search; each takes a few bytes


def minimal_nodes(
    heights: Sequence[int],  # highest level of each attribute
    satisfies: Callable[[Node], bool],  # function of a node that returns True if the node satisfies
    # True if every node above a satisfying one satisfies. Results are then propagated and few nodes are evaluated, as
    # in Incognito; otherwise every node is evaluated.
    monotone: bool,
) -> list[Node]:
    """Satisfying nodes of a lattice below which no other node satisfies.

    A node is a level for each attribute, from 0 to its height. It lies below another node if none of its levels is higher. At its
    highest level an attribute has one value, so that a node with some attributes at their highest level is the generalization
    by the others alone.

    Returns list of tuple of int: minimal nodes in lexicographic order; empty if no node satisfies.

    LeFevre, DeWitt, Ramakrishnan, "Incognito", SIGMOD 2005. Subsets of attributes are searched from the smaller to the larger,
    and the nodes of each subset from the lower to the higher. Every node above a satisfying one satisfies (roll-up), and every
    node below a failing one fails. A node of a larger subset is therefore not evaluated where its part in a smaller subset
    failed (subset pruning). The paper takes the nodes of a subset by height; here they are in lexicographic order, in which
    every node follows those below it too, so that the same nodes are evaluated. Cost: O(d nodes), and the evaluations.

    Examples
    --------
    >>> minimal_nodes([2, 2], lambda node: sum(node) >= 2, monotone=True)
    [(0, 2), (1, 1), (2, 0)]
    """
    shape = tuple(height + 1 for height in heights)
    if math.prod(shape) > MAX_NODES:
        raise ValueError(
            f"{len(shape)} attributes of {', '.join(map(str, heights))} levels make {math.prod(shape):,} level vectors, and a "
            f"search evaluates at most {MAX_NODES:,}; give fewer levels (widths=) or fewer quasi-identifiers."
        )
    satisfying, decided = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for node in _by_subsets(heights) if monotone else itertools.product(*map(range, shape)):
        if decided[node]:
            continue
        result = satisfies(node)
        above_or_below: tuple[slice, ...] = tuple(slice(level, None) if result else slice(level + 1) for level in node)
        where = above_or_below if monotone else node
        satisfying[where], decided[where] = result, True
    return [tuple(node) for node in np.argwhere(_minimal(satisfying)).tolist()]


def _by_subsets(heights: Sequence[int]) -> Iterator[Node]:
    """All nodes by the subset of attributes below their highest level: small subsets first, each in lexicographic order."""
    places = range(len(heights))
    for size in range(len(heights) + 1):
        for subset in itertools.combinations(places, size):
            yield from itertools.product(*(range(heights[a]) if a in subset else (heights[a],) for a in places))


def _minimal(satisfying: BoolArray) -> BoolArray:
    """Satisfying nodes without a satisfying node below: bool array of the same shape."""
    reached = satisfying.copy()
    for axis in range(satisfying.ndim):
        reached = np.logical_or.accumulate(reached, axis=axis)
    above = np.zeros_like(satisfying)
    for axis in range(satisfying.ndim):
        above |= np.roll(reached, 1, axis) & (np.indices(satisfying.shape, sparse=True)[axis] > 0)
    return np.asarray(satisfying & ~above)
