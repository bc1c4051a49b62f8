"""Anatomy: groups of distinct values with exact quasi-identifiers."""

import heapq
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.publish import SizedDefense
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import as_generator, check_choice, check_whole, stored_generator
from foreknow.models.tables.schema import as_sensitive_values, sensitive_codes


@equal_by_fields
@dataclass(frozen=True)
class Anatomy(SizedDefense):
    """Groups of at least l records with l different values, published without the link between records and values.

    Each step of the algorithm makes a group of one record of each of the l most frequent values. Without a sensitive set, no two
    records of a group share a value, so that `FrequencyDiversity` and `DistinctDiversity` of l hold. No record is suppressed and
    no value is distorted.

    Parameters
    ----------
    l : int
        Least number of records, and of distinct values, of a group.
    sensitive_set : collection of values, optional
        The sensitive set: values whose link to respondents is protected. By default every value is.
    bound : {"together", "each", "all"}
        Values that no two records of a group share, if there is a sensitive set. ``"together"``: any values of the set;
        ``"each"``: the same value of the set; ``"all"``: any values of the set, or the same other value. Values that are not
        bounded may be shared.
    bucketized : bool
        If True, the quasi-identifiers are published unchanged, beside a table of each group's values; otherwise they are
        generalized.
    deterministic : bool
        If True, records that are close on a Hilbert curve are grouped, as far as their values allow, and no random numbers are
        drawn. Then an insider who knows this algorithm, the groups and the value of one respondent derives the values of most
        other respondents with certainty, for a table of any size (see Notes). For experiments only.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, for experiments to be repeated; these need `publish(rng=...)` too, which draws
        the order of the records and the numbers of the groups. A later call continues the sequence. An adversary can find a
        seed by trying all seeds. By default each call draws fresh entropy from the operating system.

    Raises
    ------
    ValueError
        When called, if a value of the sensitive set is not in the domain of the view.
    Infeasible
        When called, if l is larger than the view, or more than one in l records have the same value.

    Notes
    -----
    Xiao, Tao, VLDB 2006. The record of a value that a step takes is drawn uniformly. Of equally frequent values, the first of
    the domain is taken (the set before other values, free records last). At most l - 1 records remain, the residues. Each joins
    a group without its value: a group drawn uniformly, as printed; with ``deterministic``, the nearest on the curve among
    the smallest, so that groups have l or l + 1 records if there are enough groups.

    Drawn groups make all assignments of a group's values to its members equally likely, also for an adversary who knows the
    algorithm and the values of some respondents (enumerated in the tests). With ``deterministic``, the i-th record of a value
    along the curve is in the i-th group that shows the value. Then one known value determines its group, and that group
    determines those it overlaps on the curve. With two values, an insider is certain and correct about 32 % of the other
    respondents on average, and about 83 % at worst, for 6,000 respondents as for 600 (``experiments/known_rule.py``).

    ``bound`` is our reading of the foreground-knowledge paper, which runs Anatomy for l up to 10 on a table in which one value
    has a third of the records. It must have bounded its sensitive set alone: ``"together"``. ``"all"`` treats the set as one
    value among the others.

    Cost: O(n log n); exact.

    Examples
    --------
    >>> from foreknow.evaluation import exams
    >>> import numpy as np
    >>> view = exams(1, 100, rng=1).history[0]
    >>> prior = np.full((100, len(view.schema.values)), 1 / len(view.schema.values))
    >>> sizes = np.bincount(Anatomy(3)(view, prior).labels)
    >>> len(sizes), int(sizes.min()), int(sizes.max())
    (33, 3, 4)
    """

    l: int  # noqa: E741 - the field's own letter
    sensitive_set: tuple[Hashable, ...] | None = None
    bound: Literal["together", "each", "all"] = "together"
    bucketized: bool = True
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("Anatomy", "l", self.l, "records and values")
        check_choice("Anatomy", "bound", self.bound, ("together", "each", "all"))
        object.__setattr__(self, "rng", stored_generator("Anatomy", self.rng, self.deterministic))
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values("Anatomy", self.sensitive_set))
        elif self.bound != "together":
            raise ValueError(
                f"Anatomy: bound is {self.bound!r} and there is no sensitive set; give sensitive_set=, or leave out bound."
            )

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, and the past releases do not matter."""
        self._checked_prior(view, prior)
        classes = value_classes("Anatomy", view, self.sensitive_set, self.bound != "each", self.bound == "all")
        self._check_classes(view, classes)
        rng = None if self.deterministic else as_generator("Anatomy", self.rng, optional=True)
        order = hilbert_order(view.people) if rng is None else rng.permutation(len(view))
        return Grouping(create_groups(classes[view.sensitive], order, int(self.l), rng), bucketized=self.bucketized)


# Fractional part of the golden ratio; the multiples of any run of integers, modulo 1, are spread evenly
GOLDEN_RATIO = (5**0.5 - 1) / 2


def create_groups(classes: IntArray, order: IntArray, l: int, rng: np.random.Generator | None) -> IntArray:  # noqa: E741
    """Group of each record, such that no group has two records of one class.

    Return an int array of shape (n,): groups are numbered from 0.

    Each step takes one record of each of the l largest classes. Free records are classes of one record. At most l - 1 records
    remain, the residues; each joins a group without its class. Cost: O(n log n).

    Parameters
    ----------
    classes : int array, shape (n,)
        Class of each record's value; -1 if the value is free.
    order : int array, shape (n,)
        Order in which the records of a class are taken.
    l : int
        Least number of records of a group, at most n. No class has more than n / l records.
    rng : numpy.random.Generator, optional
        Draws the group of each residue. Without it, a residue joins the nearest group along the order among the smallest.
    """
    rank = np.argsort(order)
    bounded = int(classes.max()) + 1
    free = order[classes[order] < 0]
    own_class = classes.copy()
    own_class[free] = bounded + np.arange(len(free))
    step = _steps(np.bincount(own_class), l)
    # A class is taken in a run of steps, or in every other one. The steps are renumbered so that those of a class are spread evenly
    # over all groups: its records along the order then meet those of other classes at a similar place.
    steps = int(step.max()) + 1
    number = np.empty(steps + 1, dtype=np.int64)
    number[np.argsort(np.arange(steps) * GOLDEN_RATIO % 1.0)] = np.arange(steps)
    number[steps] = steps  # records that no step took
    groups = number[step]
    # Within a class, records in the order join groups in theirs. All free records are one class here.
    by_group = np.lexsort((groups, np.minimum(np.sort(own_class), bounded)))
    labels = np.empty(len(classes), dtype=np.int64)
    labels[np.lexsort((rank, np.minimum(own_class, bounded)))] = groups[by_group]
    return _assign_residues(labels, own_class, rank, len(classes) // l, rng)


def _assign_residues(
    labels: IntArray, classes: IntArray, rank: IntArray, groups: int, rng: np.random.Generator | None
) -> IntArray:
    """Assign each residue, which has a label of at least ``groups``, to a group without its class."""
    placed = labels < groups
    size = np.bincount(labels[placed], minlength=groups)
    mean_rank = np.bincount(labels[placed], weights=rank[placed], minlength=groups) / size
    by_class = np.argsort(classes, kind="stable")
    residues = np.flatnonzero(~placed)
    for record in residues[np.argsort(rank[residues])]:
        first, last = np.searchsorted(classes[by_class], [classes[record], classes[record] + 1])
        candidates = np.setdiff1d(np.arange(groups), labels[by_class[first:last]])
        if rng is not None:
            labels[record] = rng.choice(candidates)
        else:
            smallest = candidates[size[candidates] == size[candidates].min()]
            labels[record] = smallest[np.abs(mean_rank[smallest] - rank[record]).argmin()]
        size[labels[record]] += 1
    return labels


@compiled
def _steps(sizes: IntArray, l: int) -> IntArray:  # noqa: E741
    """Step that takes each record, with the records of class 0 first, in their order; -1 if no step takes it."""
    step = np.full(sizes.sum(), -1)
    next_record = np.cumsum(sizes) - sizes
    # The key of a class is -left * classes + class: the smallest key has the most records left, then the lowest class.
    heap = [-sizes[number] * len(sizes) + number for number in range(len(sizes)) if sizes[number] > 0]
    heapq.heapify(heap)
    largest = np.empty(l, dtype=np.int64)
    now = 0
    while len(heap) >= l:
        for i in range(l):
            largest[i] = heapq.heappop(heap)
        for key in largest:
            number = key % len(sizes)
            step[next_record[number]] = now
            next_record[number] += 1
            if key + len(sizes) < 0:
                heapq.heappush(heap, key + len(sizes))
        now += 1
    return step


def value_classes(
    owner: str,  # the defense, for error messages
    view: View,  # the view with the sensitive domain, of m values
    sensitive_set: tuple[Hashable, ...] | None,  # the sensitive set. Without one, each value is a class of its own.
    set_as_one: bool = True,  # if True, the set is one class; otherwise each of its values is a class
    # If True, each value outside the set is a class as well; otherwise these values are free
    bound_others: bool = False,
) -> IntArray:
    """Class of each sensitive value; a defense bounds the number of records of each class in a group.

    Return an int array of shape (m,): classes are numbered from 0; -1 for a free value.
    """
    domain = view.schema.values
    if sensitive_set is None:
        return np.arange(len(domain))
    in_set = np.zeros(len(domain), dtype=bool)
    in_set[sensitive_codes(owner, domain, sensitive_set)] = True
    alone = np.ones(len(domain), dtype=bool) if bound_others else in_set.copy()
    classes = np.full(len(domain), -1)
    if set_as_one:
        classes[in_set], alone = 0, alone & ~in_set
    classes[alone] = int(set_as_one) + np.arange(alone.sum())
    return classes
