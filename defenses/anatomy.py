"""Anatomy: groups of records whose sensitive values all differ, published with exact quasi-identifiers."""

import heapq
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from foreknow.defenses.buckets.bounded import bounded_kinds
from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.requirements.requirement import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.foreground.sensitive_set import as_sensitive_values
from foreknow.models.settings import as_generator, check_whole, stored_generator

GOLDEN = (5**0.5 - 1) / 2
"""The golden ratio's fraction: any run of its multiples, taken modulo 1, is spread evenly."""


@dataclass(frozen=True)
class Anatomy:
    """Deal records into groups of l different values, the most frequent values first, and publish without the link.

    Every group has l records or more, and no two of them share a value: `FrequencyDiversity` and `DistinctDiversity` of l
    hold, where no sensitive set leaves values free. Nothing is suppressed or distorted.

    Parameters
    ----------
    l : int
        The fewest records, and distinct values, of a group.
    sensitive : sequence of values, optional
        A set of values whose link to people is all that is to be hidden.
    bound : {"together", "each", "all"}
        What no two records of a group may share where there is a sensitive set: any value of the set; or the same value of
        the set; or any of the set, or the same of the others. Values left free may be shared.
    bucketized : bool
        Whether quasi-identifiers are published as they are, beside a table of each group's values, or generalized.
    deterministic : bool
        Put records together that lie close on a Hilbert curve, as far as the values allow, and draw nothing. The cost:
        an insider who knows this rule, the groups and one person's value derives the values of most other people with
        certainty, at any table size (see Notes). Use it for experiments only.
    rng : numpy.random.Generator or int, optional
        Source of the random choices, for experiments that must be repeated; these need `publish(rng=...)` too, which draws the
        order of the records and the numbers of the groups. Each call continues where the last one stopped. A seed is found by
        trying all of them. By default each call draws from fresh entropy.

    Raises
    ------
    ValueError
        If l or the sensitive set is none, or ``rng`` is given with ``deterministic``; when called, if the view knows no
        such value.
    Infeasible
        When called, if l is larger than the view, or more than one in l records have the same value.

    Notes
    -----
    Xiao, Tao, VLDB 2006. Which record of a value is taken is drawn uniformly. Of equally frequent values, the first in the
    domain is taken (a set before others, free records last). The at most l - 1 records that are left over join groups that
    lack their value: a group drawn uniformly, as printed; with ``deterministic``, the nearest on the curve among the
    smallest, so that groups hold l or l + 1 records where there are groups enough.

    Drawn groups make all assignments of a group's values to its members equally likely, also for an adversary who knows the
    rule and the values of some people (enumerated in the tests). With ``deterministic`` the i-th record of a value along the
    curve stands in the i-th group that shows the value. Then one known value fixes its group, that group fixes those it
    overlaps on the curve, and so on: with two values, an insider is certain, and right, of 32 % of the others on average
    and of 83 % at worst, among 6,000 people as among 600 (``benchmarks/known_rule.py``).

    ``bound`` is our reading of the foreground-knowledge paper, which runs Anatomy for l up to 10 on a table where one value is
    a third of the records: it must have bounded its sensitive set alone (``"together"``: each of its
    records with l - 1 others, then groups of others). ``"all"`` treats the set as one value among the others.

    Cost: O(n log n); exact.

    Examples
    --------
    >>> from foreknow.evaluation import exams
    >>> import numpy as np
    >>> view = exams(1, 100, rng=np.random.default_rng(1)).history[0]
    >>> prior = np.full((100, len(view.schema.values)), 1 / len(view.schema.values))
    >>> sizes = np.bincount(Anatomy(3)(view, prior).labels)
    >>> len(sizes), int(sizes.min()), int(sizes.max())
    (33, 3, 4)
    """

    l: int  # noqa: E741 - the field's own letter
    sensitive: tuple[Hashable, ...] | None = None
    bound: Literal["together", "each", "all"] = "together"
    bucketized: bool = True
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("Anatomy", "l", self.l, "records and values")
        if self.bound not in ("together", "each", "all"):
            raise ValueError(f"Anatomy: bound is {self.bound!r}; it is 'together', 'each' or 'all'.")
        object.__setattr__(self, "rng", stored_generator("Anatomy", self.rng, self.deterministic))
        if self.sensitive is not None:
            object.__setattr__(self, "sensitive", as_sensitive_values("Anatomy", self.sensitive))
        if self.sensitive is None and self.bound != "together":
            raise ValueError(
                f"Anatomy: bound is {self.bound!r} and no sensitive set is named; name one, or leave out both."
            )

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, does not matter."""
        prior_of(view, prior)
        check_size("l", self.l, view)
        kinds = bounded_kinds("Anatomy", view, self.sensitive, self.bound != "each", self.bound == "all")
        pool = kinds[view.sensitive]
        self._check_eligible(view, kinds, pool)
        rng = None if self.deterministic else as_generator("Anatomy", self.rng, optional=True)
        order = hilbert_order(view.people) if rng is None else rng.permutation(len(view))
        return Grouping(self._labels(pool, order, rng), bucketized=self.bucketized)

    @property
    def smallest(self) -> int:
        """The fewest records of a group, l."""
        return int(self.l)

    def _check_eligible(self, view: View, kinds: IntArray, pool: IntArray) -> None:
        counts = np.bincount(pool[pool >= 0], minlength=1)
        n, worst = len(view), int(counts.argmax())
        if counts[worst] * self.l <= n:
            return
        values = [repr(value) for value, kind in zip(view.schema.values, kinds, strict=True) if kind == worst]
        raise Infeasible(
            f"{' or '.join(values)} is the value of {counts[worst]} of the {n} records of the view at {view.time!r}, a share of "
            f"{counts[worst] / n:.4g}; no more than 1/l = {1 / self.l:.4g} may share one. The largest l that this view allows "
            f"is {n // counts[worst]}. Lower l, or name a sensitive set that is rarer."
        )

    def _labels(self, pool: IntArray, order: IntArray, rng: np.random.Generator | None) -> IntArray:
        """The groups along the order in which records are dealt; free records, of pool -1, are kinds of their own."""
        n = len(pool)
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        bounded = int(pool.max()) + 1
        free = order[pool[order] < 0]
        kind = pool.copy()
        kind[free] = bounded + np.arange(len(free))
        step = _steps(np.bincount(kind), int(self.l))
        place = _evenly(step)
        into = np.lexsort((place, np.minimum(np.sort(kind), bounded)))
        labels = np.empty(n, dtype=np.int64)
        labels[np.lexsort((rank, np.minimum(kind, bounded)))] = place[into]
        return self._with_leftovers(labels, kind, rank, rng)

    def _with_leftovers(
        self, labels: IntArray, kind: IntArray, rank: IntArray, rng: np.random.Generator | None
    ) -> IntArray:
        """Put every record that no step took into a group that lacks its kind."""
        groups = len(labels) // int(self.l)
        taken, by_kind = labels < groups, np.argsort(kind, kind="stable")
        size = np.bincount(labels[taken], minlength=groups)
        centre = np.bincount(labels[taken], weights=rank[taken], minlength=groups) / size
        left = np.flatnonzero(~taken)
        for record in left[np.argsort(rank[left])]:
            first, last = np.searchsorted(kind[by_kind], [kind[record], kind[record] + 1])
            alike = by_kind[first:last]
            able = np.setdiff1d(np.arange(groups), labels[alike])
            if rng is None:
                able = able[size[able] == size[able].min()]
                labels[record] = able[np.abs(centre[able] - rank[record]).argmin()]
            else:
                labels[record] = rng.choice(able)
            size[labels[record]] += 1
        return labels


def _evenly(step: IntArray) -> IntArray:
    """Steps renumbered so that those at which a value is taken, a run of them or every other, are spread over all groups.

    Then the records of every value, in the order of the curve, meet those of the others that lie as far along it. What no
    step took comes last.
    """
    groups = int(step.max()) + 1
    place = np.empty(groups + 1, dtype=np.int64)
    place[np.argsort(np.arange(groups) * GOLDEN % 1.0)] = np.arange(groups)
    place[groups] = groups
    return place[step]


@compiled
def _steps(sizes: IntArray, l: int) -> IntArray:  # noqa: E741
    """At which step each record is taken, those of kind 0 first, in the order in which they are; -1 where none takes it."""
    step = np.full(sizes.sum(), -1)
    at = np.cumsum(sizes) - sizes
    # A heap gives its smallest: minus the number left, and of equal numbers the first kind.
    heap = [-sizes[kind] * len(sizes) + kind for kind in range(len(sizes)) if sizes[kind] > 0]
    heapq.heapify(heap)
    largest = np.empty(l, dtype=np.int64)
    now = 0
    while len(heap) >= l:
        for i in range(l):
            largest[i] = heapq.heappop(heap)
        for key in largest:
            kind = key % len(sizes)
            step[at[kind]] = now
            at[kind] += 1
            if key + len(sizes) < 0:
                heapq.heappush(heap, key + len(sizes))
        now += 1
    return step
