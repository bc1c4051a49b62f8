"""m-invariance: each respondent keeps the same set of possible sensitive values from release to release."""

from dataclasses import dataclass, field

import numpy as np

from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.m_invariance.bucket_plan import fill_buckets, lacking_values, plan_buckets, split_buckets
from foreknow.defenses.m_invariance.signatures import Signatures, past_signatures
from foreknow.defenses.requirements.feasibility import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.notes import Note
from foreknow.models.settings import as_generator, check_flag, check_whole

FILLING = (
    "{number:,} {number:counterfeit fills|counterfeits fill} signatures that lack a record of one of their values."
)
ELIGIBILITY = (
    "{number:,} {number:counterfeit is|counterfeits are} added because more than one in {m} new records share a value."
)
CHANGED = (
    "{number:,} {number:respondent has|respondents have} another value than when last published, and {number:is|are} treated "
    "as new."
)
UNFIT = (
    "{number:,} {number:respondent was|respondents were} last published among values without theirs or fewer than {m}, and "
    "{number:is|are} treated as new."
)


@equal_by_fields
@dataclass(frozen=True)
class MInvariance:
    """Groups of at least m distinct sensitive values, each shown once, and the same for a respondent at every release.

    Parameters
    ----------
    m : int
        Least number of values of a group, 1 or more.
    deterministic : bool
        If True, records that are close on a Hilbert curve are grouped, as far as their values allow, and no random numbers are
        drawn. Then an insider who knows this algorithm, the groups and the value of one respondent derives the values of most
        other respondents of the same signature with certainty, for a table of any size (see Notes). For experiments only.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, for experiments to be repeated; these need `publish(rng=...)` too, which draws
        the order of the records and the numbers of the groups. A later call continues the sequence. An adversary can find a
        seed by trying all seeds. By default each call draws fresh entropy from the operating system.

    Raises
    ------
    TypeError, ValueError
        If a setting has the wrong type or range, or ``rng`` is given with ``deterministic``; when called, if ``past`` does not
        hold releases of the same sensitive domain.
    Infeasible
        When called, if the view has fewer than m records, or the sensitive domain fewer than m values.

    Notes
    -----
    Xiao, Tao, SIGMOD 2007: a reconstruction of the paper's four phases.

    1. *Division*: respondents who were published before (survivors) go into one bucket for each signature, the set of values of
       the group they were in.
    2. *Balancing*: a bucket needs each value of its signature equally often. It takes in new records where there are any, and
       counterfeits for the rest.
    3. *Assignment*: equal numbers of the remaining new records of each of the most frequent values go into the bucket of these
       values, in steps, until none remains (`foreknow.defenses.m_invariance.assignment.assign`).
    4. *Split*: the records of each value of a bucket are put in a random order. The bucket's groups are the first record of each
       value, the second of each, and so on; a value with counterfeits is spread evenly. With ``deterministic`` the order is
       that of a Hilbert curve. The split of the paper is not known here.

    If more than one in m of the new records share a value, after the balancing or in the first view, counterfeits of other
    values are added until they are eligible. The number of counterfeits of both kinds is the least that these buckets allow at
    each release. No record is suppressed, and every group has a true record.

    Signatures are invariant for respondents whose value has not changed. A respondent with another value than when last published,
    a case which the paper does not cover, is treated as new, as footnote 2 of JS-reduce reads the definition; a note counts them.
    Nor does the paper cover a return after an absence: a respondent who returns with the same value has the signature of the
    last release that shows the record. From one change of value to the next, the groups of a respondent therefore have at least m
    values in common.

    New records are drawn uniformly, both into buckets and into groups. In a first release all assignments of a group's values to
    its members are therefore equally likely, also for an adversary who knows the algorithm and the values of some respondents
    (enumerated in the tests). In later releases the algorithm still discloses two facts, since it needs the fewest counterfeits.
    New records that balance a bucket have the values that its survivors lack; an adversary who knows one of them may know
    others. A counterfeit never shows the value that is most frequent in its bucket, so that its group's records are more likely
    to have that value.

    The random order costs utility where quasi-identifiers are generalized: the extent of a group is that of m records drawn from a
    bucket. On three views of 2,000 exams, the normalized certainty penalty is .38 instead of .27 for m = 2, and .74 instead of
    .50 for m = 5. Publish with ``publish(..., bucketized=True)`` to keep quasi-identifiers exact. Pairing near records where
    possible does not help: a pair of distant records then discloses that the values around it are unbalanced, and an insider who
    knows one of these values knows the others. With ``deterministic`` this is extreme, as with `Anatomy`.

    Cost: O(n log n + n m + b m^2) for b buckets, and the reading of the past.

    Examples
    --------
    >>> MInvariance(3)
    MInvariance(m=3, deterministic=False, rng=None)
    """

    m: int
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("MInvariance", "m", self.m, "values")
        check_flag("MInvariance", "deterministic", self.deterministic)
        if self.rng is not None:
            object.__setattr__(self, "rng", as_generator("MInvariance", self.rng))
            if self.deterministic:
                raise ValueError(
                    "MInvariance: deterministic=True draws nothing, and rng is given; leave out one of them."
                )

    @property
    def smallest(self) -> int:
        """Least number of records of a view, m."""
        return int(self.m)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:
        """Group a view after the releases so far; the prior, shape ``(n, m)``, does not matter."""
        prior_of(view, prior)
        m, domain = int(self.m), len(view.schema.values)
        check_size("m", m, view)
        if m > domain:
            raise Infeasible(
                f"m is {m} and the sensitive domain has {domain} values; a group needs m different ones. Lower m."
            )
        signatures = past_signatures(view, past, m)
        rng = None if self.deterministic else as_generator("MInvariance", self.rng, optional=True)
        plan = plan_buckets(view.sensitive, signatures.values, m, rng)
        rank = np.empty(len(view), dtype=np.int64)
        rank[hilbert_order(view.people) if rng is None else rng.permutation(len(view))] = np.arange(len(view))
        bucket = fill_buckets(plan, view.sensitive, rank)
        labels = split_buckets(plan, bucket, view.sensitive, rank)
        counterfeits = lacking_values(plan, labels, view.sensitive)
        notes = _notes(signatures, len(counterfeits), plan.eligibility_counterfeits, m)
        return Grouping(labels, counterfeits=counterfeits if len(counterfeits) else None, notes=notes)


def _notes(signatures: Signatures, counterfeits: int, for_eligibility: int, m: int) -> tuple[Note, ...]:
    numbers = {
        FILLING: counterfeits - for_eligibility,
        ELIGIBILITY: for_eligibility,
        CHANGED: signatures.changed,
        UNFIT: signatures.unfit,
    }
    return tuple(Note(kind, number=number, m=str(m)) for kind, number in numbers.items() if number > 0)
