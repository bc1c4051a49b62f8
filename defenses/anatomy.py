"""Anatomy: groups of records with distinct sensitive values, published with exact quasi-identifiers."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from foreknow.defenses.buckets.group_creation import create_groups
from foreknow.defenses.buckets.value_classes import value_classes
from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.requirements.feasibility import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.advice import VIEW, Advice
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import as_generator, check_choice, check_flag, check_whole, stored_generator
from foreknow.models.tables.sensitive_set import as_sensitive_values


@equal_by_fields
@dataclass(frozen=True)
class Anatomy:
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
    TypeError, ValueError
        If a setting has the wrong type or range, or ``rng`` is given with ``deterministic``; when called, if a value of the
        sensitive set is not in the domain of the view.
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
    respondents on average, and about 83 % at worst, for 6,000 respondents as for 600 (``benchmarks/known_rule.py``).

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
        check_flag("Anatomy", "bucketized", self.bucketized)
        check_flag("Anatomy", "deterministic", self.deterministic)
        object.__setattr__(self, "rng", stored_generator("Anatomy", self.rng, self.deterministic))
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values("Anatomy", self.sensitive_set))
        elif self.bound != "together":
            raise ValueError(
                f"Anatomy: bound is {self.bound!r} and there is no sensitive set; give sensitive_set=, or leave out bound."
            )

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, and the past releases do not matter."""
        prior_of(view, prior)
        check_size("l", self.l, view)
        classes = value_classes("Anatomy", view, self.sensitive_set, self.bound != "each", self.bound == "all")
        self._check_eligible(view, classes)
        rng = None if self.deterministic else as_generator("Anatomy", self.rng, optional=True)
        order = hilbert_order(view.people) if rng is None else rng.permutation(len(view))
        return Grouping(create_groups(classes[view.sensitive], order, int(self.l), rng), bucketized=self.bucketized)

    @property
    def smallest(self) -> int:
        """Least number of records of a group, l."""
        return int(self.l)

    def _check_eligible(self, view: View, classes: IntArray) -> None:
        """Raise Infeasible if a class of values has more than one in l records."""
        class_of = classes[view.sensitive]
        counts = np.bincount(class_of[class_of >= 0], minlength=1)
        n, worst = len(view), int(counts.argmax())
        most = int(counts[worst])
        if most * self.l <= n:
            return
        values = [repr(value) for value, number in zip(view.schema.values, classes, strict=True) if number == worst]
        raise Infeasible(
            Advice(
                f"{' or '.join(values)} is the value of {most} of the {n} records of the ",
                VIEW,
                f" at {view.time!r}, a share of {most / n:.4g}; at most 1/l = {1 / self.l:.4g} may share one. The largest l that "
                f"this view allows is {n // most}. Lower l, or give a sensitive set that is rarer.",
            )
        )
