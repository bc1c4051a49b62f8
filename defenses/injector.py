"""Injector: buckets that stay diverse for an adversary who mines negative rules from the table."""

from dataclasses import dataclass, field

import numpy as np

from foreknow.defenses.buckets.bucket_residues import insert
from foreknow.defenses.buckets.bucketization import bucketize, kinds_of
from foreknow.defenses.buckets.negative_rules import check_settings, negative_rules
from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.requirements.requirement import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import as_generator, check_whole, stored_generator


@dataclass(frozen=True)
class Injector:
    """Mine the table's negative rules, and publish buckets that stay diverse under them.

    A bucket shows at least l different values, none twice. Of each of its records, at least l are possible: sharing out the
    bucket's values so that the record has that one, and nobody has a value that a rule denies them, can be completed
    (`matching_diversity`).

    Parameters
    ----------
    l : int
        How many values must be possible for everybody, 1 or more.
    min_confidence : float
        From which confidence on a rule is believed. Below 1 rules have exceptions, and somebody who believes a rule thinks
        their own value impossible for those as well: they are protected as all others, which few buckets can do, so that
        many may have to be suppressed.
    min_expectation : float
        How probable a rule's exception would be by chance, where the rule did not hold.
    terms : int
        How many fuzzy terms a number has in rules, 2 or more.
    deterministic : bool
        Put records together that lie close on a Hilbert curve, and draw nothing. The cost: an insider who knows this rule, the
        buckets and one person's value derives the values of other people with certainty, as with `Anatomy`. Use it for
        experiments only.
    rng : numpy.random.Generator or int, optional
        Source of the random choices, for experiments that must be repeated; these need `publish(rng=...)` too, which draws the
        order of the records and the numbers of the groups. Each call continues where the last one stopped. A seed is found by
        trying all of them. By default each call draws from fresh entropy.

    Raises
    ------
    ValueError
        If a setting is out of its range, or ``rng`` is given with ``deterministic``.
    Infeasible
        When called, if l is larger than the view, a value occurs in more than one in l records, or no bucket can be made.

    Notes
    -----
    T. Li, N. Li, ICDE 2008, for the rules (`negative_rules`) and what a bucket must satisfy. How buckets are made is a
    reconstruction, after a few lines of the paper: N(s) is how many of the remaining records have the value s plus how many
    are denied it. A bucket starts with a record of the value of the largest N, and takes in further values, always the one of
    the largest N of a record that may be in a bucket with all that are in there: nothing denies either the other's value.
    When no bucket can be completed so, each record left over joins the nearest bucket that lacks its value and in which
    everybody, by the matchings, still has l; where there is none it is suppressed. That no bucket shows a value twice is
    Anatomy's rule, kept here: it makes buckets diverse also for those who know no rule.

    Among records of equal value, the first along a random order starts a bucket, and the nearest to it along that order joins;
    with ``deterministic`` the order is that of a Hilbert curve. The choice is greedy: where l is over 2, a bucket may be given up
    that others could complete. The prior is not looked at.

    Records with equal values and equal denied values are exchangeable in what is drawn. So an adversary who knows this rule
    learns nothing about two members of a bucket who are denied the same values. The order in which values are served
    depends on how many records are denied each; what it tells about members who are denied different values is not bounded.

    Cost: that of the rules, and O(n l c), with c the number of different pairs of a value and a set of denied ones.

    Examples
    --------
    >>> Injector(2)
    Injector(l=2, min_confidence=1.0, min_expectation=0.9, terms=5, deterministic=False, rng=None)
    """

    l: int  # noqa: E741 - the field's own letter
    min_confidence: float = 1.0
    min_expectation: float = 0.9
    terms: int = 5
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("Injector", "l", self.l, "values")
        object.__setattr__(self, "rng", stored_generator("Injector", self.rng, self.deterministic))
        check_settings("Injector", self.min_confidence, self.min_expectation, self.terms)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view into buckets; the prior, shape ``(n, m)``, does not matter."""
        prior_of(view, prior)
        self._check_eligible(view)
        rules = negative_rules(view, self.min_confidence, self.min_expectation, self.terms)
        order = (
            hilbert_order(view.people)
            if self.deterministic
            else as_generator("Injector", self.rng, optional=True).permutation(len(view))
        )
        kinds = kinds_of(rules.forbidden, view.sensitive, order)
        labels = bucketize(kinds, int(self.l))
        if not (labels >= 0).any():
            raise Infeasible(
                f"the {len(rules)} negative rules of the view at {view.time!r} leave no {self.l} records whose values all of them "
                "may have. Lower l, or mine fewer rules: raise min_confidence or min_expectation."
            )
        labels = insert(kinds, labels, int(self.l))
        suppressed = int((labels < 0).sum())
        notes = (f"{suppressed} records fit no bucket and are suppressed.",) if suppressed else ()
        return Grouping(labels, notes=notes, bucketized=True)

    @property
    def smallest(self) -> int:
        """The fewest records of a bucket, l."""
        return int(self.l)

    def _check_eligible(self, view: View) -> None:
        check_size("l", self.l, view)
        counts = np.bincount(view.sensitive)
        most = int(counts.max())
        if most * self.l > len(view):
            value = view.schema.values[int(counts.argmax())]
            raise Infeasible(
                f"{value!r} is the value of {most} of the {len(view)} records of the view at {view.time!r}, over one in {self.l}: "
                f"they cannot be in different buckets of {self.l} or more. The largest possible l is {len(view) // most}."
            )
