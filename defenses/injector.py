"""Injector: buckets that stay diverse for an adversary who mines negative rules from the table."""

from dataclasses import dataclass, field

import numpy as np

from foreknow.defenses.buckets.bucketization import bucketize, record_types
from foreknow.defenses.buckets.negative_rules import check_mining_settings, negative_rules
from foreknow.defenses.buckets.residues import assign_residues
from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.requirements.feasibility import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.advice import VIEW, Advice
from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.notes import Note
from foreknow.models.settings import as_generator, check_flag, check_whole, stored_generator


@equal_by_fields
@dataclass(frozen=True)
class Injector:
    """Buckets that are diverse under the negative rules of the view, which the defense mines first.

    A bucket shows at least l values, each once. Each of its records has at least l possible values: for each of these there is an
    assignment of the bucket's values that gives the record that value and no record a denied one (`matching_diversity`).

    Parameters
    ----------
    l : int
        Least number of possible values of each record, 1 or more.
    min_confidence : float
        Least confidence of a rule, above 0 and at most 1. Below 1, rules have exceptions, and an adversary who believes a rule
        excludes the true value of these records as well. They are protected as all others are, which few buckets can do, so that
        many records may be suppressed.
    min_expectation : float
        Least probability of an exception to the rule by chance, if condition and value were independent.
    terms : int
        Number of fuzzy terms of a numeric attribute in rules, 2 or more.
    deterministic : bool
        If True, records that are close on a Hilbert curve are grouped, and no random numbers are drawn. Then an insider who
        knows this algorithm, the buckets and the value of one respondent derives the values of other respondents with
        certainty, as with `Anatomy`. For experiments only.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, for experiments to be repeated; these need `publish(rng=...)` too, which draws
        the order of the records and the numbers of the groups. A later call continues the sequence. An adversary can find a
        seed by trying all seeds. By default each call draws fresh entropy from the operating system.

    Raises
    ------
    TypeError, ValueError
        If a setting has the wrong type or range, or ``rng`` is given with ``deterministic``.
    Infeasible
        When called, if l is larger than the view, a value has more than one in l records, or no bucket can be formed.

    Notes
    -----
    T. Li, N. Li, ICDE 2008, for the rules (`negative_rules`) and the condition on buckets. The forming of buckets is a
    reconstruction from a few lines of the paper. Let N(s) be the number of remaining records with value s plus the number that
    are denied s. A bucket starts with a record of the value of the largest N. It takes further values in turn: always the value
    of the largest N among the records that are compatible with all members, where neither is denied the other's value. When no
    further bucket can be completed, each remaining record joins the nearest bucket without its value in which every record, by
    the matchings, still has l possible values; otherwise it is suppressed. That no bucket shows a value twice is Anatomy's
    rule; it makes buckets diverse also for an adversary without rules.

    Of the records of one value, the first along a random order starts a bucket, and the nearest to that one in the order joins.
    With ``deterministic`` the order is that of a Hilbert curve. The choice is greedy: for l above 2, a bucket may be given up
    that other choices would complete. The prior is not read.

    Records with equal values and equal denied values are exchangeable in the random choices. An adversary who knows this
    algorithm therefore learns nothing about two members of a bucket with the same denied values. The order of the values
    depends on the number of records that are denied each; what it discloses about members with different denied values is not
    bounded.

    Cost: that of the rules, and O(n l c), with c the number of distinct pairs of a value and a set of denied values.

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
        check_mining_settings("Injector", self.min_confidence, self.min_expectation, self.terms)
        check_flag("Injector", "deterministic", self.deterministic)
        object.__setattr__(self, "rng", stored_generator("Injector", self.rng, self.deterministic))

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view into buckets; the prior, shape ``(n, m)``, and the past releases do not matter."""
        prior_of(view, prior)
        self._check_eligible(view)
        rules = negative_rules(view, self.min_confidence, self.min_expectation, self.terms)
        rng = None if self.deterministic else as_generator("Injector", self.rng, optional=True)
        order = hilbert_order(view.people) if rng is None else rng.permutation(len(view))
        types = record_types(rules.forbidden, view.sensitive, order)
        labels = bucketize(types, int(self.l))
        if not (labels >= 0).any():
            raise Infeasible(
                Advice(
                    f"the {len(rules)} negative rules of the ",
                    VIEW,
                    f" at {view.time!r} leave no {self.l} records that may all have each other's values. Lower l, or mine fewer "
                    "rules: raise min_confidence or min_expectation.",
                )
            )
        labels = assign_residues(types, labels, int(self.l))
        suppressed = int((labels < 0).sum())
        kind = "{records:,} {records:record fits|records fit} no bucket and {records:is|are} suppressed."
        notes = (Note(kind, records=suppressed),) if suppressed else ()
        return Grouping(labels, notes=notes, bucketized=True)

    @property
    def smallest(self) -> int:
        """Least number of records of a bucket, l."""
        return int(self.l)

    def _check_eligible(self, view: View) -> None:
        """Raise Infeasible if the view has fewer than l records, or a value more than one in l of them."""
        check_size("l", self.l, view)
        counts = np.bincount(view.sensitive)
        most = int(counts.max())
        if most * self.l > len(view):
            value = view.schema.values[int(counts.argmax())]
            raise Infeasible(
                Advice(
                    f"{value!r} is the value of {most} of the {len(view)} records of the ",
                    VIEW,
                    f" at {view.time!r}, over one in {self.l}: they cannot be in different buckets of {self.l} or more. The "
                    f"largest possible l is {len(view) // most}. Lower l.",
                )
            )
