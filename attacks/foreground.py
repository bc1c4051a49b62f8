"""The attack that needs no background knowledge: the published groups teach the population's patterns."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from foreknow.attacks.attack import Published
from foreknow.models import Auto, Beliefs, Estimator, Observation, Posterior, ReleaseBeliefs
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import believed
from foreknow.models.foreground.expectation_maximization import ExpectationMaximization
from foreknow.models.foreground.fit import Fitting
from foreknow.models.foreground.global_distribution import GlobalDistribution
from foreknow.models.foreground.mining import mined
from foreknow.models.foreground.sample_size import SampleSize
from foreknow.models.foreground.secret import Secret, check_sensitive
from foreknow.models.foreground.signatures import AttributeSets, check_attribute_sets


@dataclass(frozen=True, eq=False)
class ForegroundBeliefs(Beliefs):
    """Beliefs, and the foreground knowledge they come from.

    Attributes
    ----------
    releases : tuple of ReleaseBeliefs
        The posterior of each person is that of the attribute set which makes a sensitive value likeliest for this person, the
        worst case; the prior, and the revised prior, are the same set's global distribution.
    knowledge : tuple of tuple of GlobalDistribution
        Per release, the global distribution of every attribute set with enough support.
    worst : tuple of int array, shape (n,)
        Per release, which of them each person's posterior is of; -1 where there is none, and groups' shares are believed.
    intervals : tuple of float array, shape (n, 2), or None
        Per release, where the global distributions were sampled: the ends of the 90 % credible interval of the probability
        that each person has a value of the sensitive set, under the same attribute set.
    """

    knowledge: tuple[tuple[GlobalDistribution, ...], ...] = ()
    worst: tuple[IntArray, ...] = ()
    intervals: tuple[FloatArray, ...] | None = None


@dataclass(frozen=True)
class ForegroundAttack:
    """Learn the global distribution of attribute sets from the published groups, and turn it against the people in them.

    Of each attribute set with enough support, the distribution of the sensitive values among the people of each signature is
    found from the groups alone; under it, some assignments of a group's values are likelier than others. The worst over the
    attribute sets is reported for everybody. Nothing else is known beforehand; each release is taken alone.

    Parameters
    ----------
    attribute_sets : "all", or sequence of sequences of str
        Which attribute sets to look at: each set of quasi-identifiers, or those listed.
    sensitive : collection of values, optional
        The set nobody should be linked to; its values are not told apart, nor are the others. Left out, every value is one
        of its own, and all are weighed at once.
    estimator : Estimator
        What a group makes of a prior. For a sensitive set, `Auto` and `Exact` are computed in closed form.
    fit : Fitting
        How the distributions are found: `ExpectationMaximization`, `Newton`, or `GibbsSampling`, which gives a posterior
        over them.
    support : int or SampleSize
        How many people must match a signature. The others' distribution is the whole table's.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its range; when called, if an attribute set is not among the quasi-identifiers, or the
        sensitive set not in the domain or all of it.

    Notes
    -----
    R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, "Can the Utility of Anonymized Data be Used for Privacy Breaches?",
    arXiv:0905.1755, sections 3 and 4. Where they assume "uniform distribution" for a signature of too few people, that of the
    whole published table is taken.

    The posterior over values of a sensitive set spreads the set's probability by their shares in the group: people who are
    alike in having one of the set are alike in which. The worst over attribute sets is no belief anybody should hold; it
    overstates (`foreknow.evaluation.breaches` measures by how much). People in groups that show a counterfeit are
    joined by as many strangers, of whom the whole table's distribution is believed.

    Cost: per attribute set O(n log n) for the signatures, and the fit's; for a sensitive set a round of the fit is O(N c) per
    kind of group, N people of whom c have a value of it.

    Examples
    --------
    Example 2 of the paper:

    >>> import pandas as pd
    >>> from foreknow.models import PublishedTable
    >>> table = PublishedTable(
    ...     pd.DataFrame(
    ...         {"A": ["s1", "s2", "s1", "s1", "s2", "s2"], "group": [1, 1, 2, 2, 3, 3], "X": ["x", "y", "x", "y", "y", "z"]}
    ...     ),
    ...     sensitive="X",
    ... )
    >>> beliefs = ForegroundAttack(sensitive={"x"}, support=1)([table])
    >>> beliefs.knowledge[0][0].frame.round(6)
        A  support  probability
    0  s1        3     0.666667
    1  s2        3     0.000000
    """

    attribute_sets: AttributeSets = "all"
    sensitive: "Sequence[Hashable] | set[Hashable] | frozenset[Hashable] | None" = None
    estimator: Estimator = field(default_factory=Auto)
    fit: Fitting = field(default_factory=ExpectationMaximization)
    support: int | SampleSize = field(default_factory=SampleSize)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute_sets", check_attribute_sets("ForegroundAttack", self.attribute_sets))
        object.__setattr__(self, "sensitive", check_sensitive("ForegroundAttack", self.sensitive))
        if not isinstance(self.support, SampleSize) and not (self.support >= 1 and self.support == int(self.support)):
            raise ValueError(
                f"ForegroundAttack: support is {self.support}; it is a number of people, 1 or more, or a SampleSize."
            )

    @property
    def fewest(self) -> int:
        """How many people must match a signature."""
        return self.support.records if isinstance(self.support, SampleSize) else int(self.support)

    def __call__(self, releases: Iterable[Published]) -> ForegroundBeliefs:
        """What each release teaches, and what follows for everybody in it. Only the releases' observations are read."""
        found = [self._learned(release.observation) for release in releases]
        intervals = tuple(one.interval for one in found if one.interval is not None)
        return ForegroundBeliefs(
            tuple(one.beliefs for one in found),
            tuple(one.knowledge for one in found),
            tuple(one.worst for one in found),
            intervals if len(intervals) == len(found) and found else None,
        )

    def mine(self, observation: Observation) -> tuple[GlobalDistribution, ...]:
        """The global distribution of every attribute set with enough support, from one release."""
        return tuple(distribution for distribution, _ in self._mined(observation))

    def _mined(self, seen: Observation) -> Iterator[tuple[GlobalDistribution, Evidence]]:
        secret = Secret.of(seen.people.schema.values, self.sensitive, "ForegroundAttack")
        return mined(seen, secret, self.attribute_sets, self.fewest, self.fit, self.estimator)

    def _learned(self, seen: Observation) -> "_Learned":
        """What one release teaches: of each attribute set in turn, and for everybody the worst so far."""
        secret = Secret.of(seen.people.schema.values, self.sensitive, "ForegroundAttack")
        worst, knowledge = _Worst.before(seen, secret), []
        for number, (distribution, evidence) in enumerate(self._mined(seen)):
            worst = worst.or_(_weighed(distribution, evidence, self.estimator, len(seen.people)), number)
            knowledge.append(distribution)
        values = secret.spread(worst.posterior, _shown(seen))
        prior = secret.spread(worst.prior, seen.counts.sum(axis=0))
        posterior = Posterior(values, np.zeros(len(seen.counts), dtype=np.int64))
        return _Learned(ReleaseBeliefs(seen, prior, prior, posterior), tuple(knowledge), worst.chosen, worst.interval)


class _Learned(NamedTuple):
    """What one release teaches."""

    beliefs: ReleaseBeliefs
    knowledge: tuple[GlobalDistribution, ...]
    worst: IntArray
    interval: FloatArray | None


class _Weighed(NamedTuple):
    """What follows for everybody from one attribute set: prior and posterior ``(n, c)``, and the posterior's interval."""

    prior: FloatArray
    posterior: FloatArray
    interval: FloatArray | None


class _Worst(NamedTuple):
    """For everybody, what follows from the attribute set that makes a sensitive value likeliest, of those heard so far."""

    prior: FloatArray
    posterior: FloatArray
    interval: FloatArray | None
    chosen: IntArray
    classes: int

    @classmethod
    def before(cls, seen: Observation, secret: Secret) -> "_Worst":
        """Nothing heard: the table's shares, and the groups'."""
        counts = secret.counts(seen.counts)
        rest = counts.sum(axis=0) / max(int(counts.sum()), 1)
        prior = np.tile(rest if counts.any() else np.full(len(rest), 1 / len(rest)), (len(seen.people), 1))
        posterior = prior.copy()
        inside = seen.group >= 0
        posterior[inside] = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))[seen.group[inside]]
        chosen = np.full(len(seen.people), -1, dtype=np.int64)
        return cls(prior, posterior, None, chosen, 1 if secret.values == (True, False) else len(secret.values))

    def or_(self, weighed: _Weighed, number: int) -> "_Worst":
        """With one more attribute set heard."""
        worse = weighed.posterior[:, : self.classes].max(axis=1) > self.posterior[:, : self.classes].max(axis=1)
        worse |= self.chosen < 0
        rows, interval = worse[:, None], weighed.interval
        if interval is not None and self.interval is not None:
            interval = np.where(rows, interval, self.interval)
        return _Worst(
            np.where(rows, weighed.prior, self.prior),
            np.where(rows, weighed.posterior, self.posterior),
            interval,
            np.where(worse, number, self.chosen),
            self.classes,
        )


def _weighed(distribution: GlobalDistribution, evidence: Evidence, estimator: Estimator, n: int) -> _Weighed:
    prior, draws = distribution.of_people, distribution.fit.draws
    if draws is None:
        return _Weighed(prior, believed(evidence, estimator, distribution.probabilities)[:n], None)
    each = np.array([believed(evidence, estimator, draw)[:n] for draw in draws])
    mean = each.mean(axis=0)
    first = 0 if distribution.values == (True, False) else mean.argmax(axis=1)[None, :, None]
    of_value = (
        each[:, :, 0]
        if isinstance(first, int)
        else np.take_along_axis(each, np.broadcast_to(first, (*each.shape[:2], 1)), 2)[:, :, 0]
    )
    return _Weighed(prior, mean, np.quantile(of_value, [0.05, 0.95], axis=0).T)


def _shown(seen: Observation) -> IntArray:
    """The multiset of each person's group; outside all groups, the table's. Shape ``(n, m)``."""
    return np.vstack([seen.counts, seen.counts.sum(axis=0)])[seen.group]
