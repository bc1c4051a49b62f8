"""Composition attack: the values that all groups of a respondent have in common."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from foreknow.attacks.attack import (
    Published,
    beliefs_of_each,
    each_release,
    group_shares,
    table_shares,
)
from foreknow.models import Beliefs, Observation, Posterior
from foreknow.models.arrays import FloatArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.problem import CONTRADICTED
from foreknow.models.settings import check_choice, counted
from foreknow.models.tables.people import check_one_domain


@dataclass(frozen=True)
class CompositionAttack:
    """Combine the groups of a respondent over the releases, for a sensitive value that does not change.

    The belief about a respondent is multiplied by a factor for each group that published the respondent::

        intersection:  [the group shows s]
        product:       (share of s in the group) / prior(s)

    and normalized. With the uniform prior, the belief is 1 over the number of values in the intersection of the groups' sets, or
    the normalized product of the groups' shares. The prior of the table is divided out of each share, so that a frequent value is
    not counted again in each release.

    Parameters
    ----------
    rule : {"intersection", "product"}
    prior : {"uniform", "table"}
        Distribution of the value of each respondent: uniform over the domain, or the shares of the published table of the
        respondent's release.

    Notes
    -----
    S. Ganta, S. Kasiviswanathan, A. Smith, "Composition Attacks and Auxiliary Information in Data Privacy", KDD 2008.

    **The attack assumes that the value of a respondent is the same in all releases.** Where no value is in all groups of a
    respondent, this is disproved: the belief begins again with the present release, the status of the group is
    ``CONTRADICTED``, and the ``notes`` give the number of such respondents. Values that changed without a contradiction are not
    noticed, and the belief excludes the true value.

    Groups count as independent evidence, and members of a group do not constrain each other: that another member is certain of a
    value excludes nothing. Distorted values are taken as true, which a note says; counterfeits are values of their group.

    Cost: O(n m) per release.

    The respondents of two `PublishedTable` objects have only row numbers in common; attack `Release` objects.

    Examples
    --------
    Ann is in a group of cold and flu, and later in one of cold and HIV.

    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Release, Schema, View
    >>> schema = Schema({"age": Numeric(0, 99)}, "disease", ("HIV", "cold", "flu"), "name")
    >>> def published(diseases, groups, time):
    ...     rows = {"name": ["Ann", "Bob", "Cy", "Di"], "age": range(4), "disease": diseases}
    ...     return Release(View(pd.DataFrame(rows), schema, time), groups)
    >>> releases = [published(["cold", "flu", "HIV", "flu"], groups, t) for t, groups in enumerate([[0, 0, 1, 1], [0, 1, 0, 1]])]
    >>> CompositionAttack()(releases).of("Ann").loc[(1, "posterior")].to_dict()
    {'HIV': 0.0, 'cold': 1.0, 'flu': 0.0}
    """

    rule: Literal["intersection", "product"] = "intersection"
    prior: Literal["uniform", "table"] = "uniform"

    def __post_init__(self) -> None:
        check_choice("CompositionAttack", "rule", self.rule, ("intersection", "product"))
        check_choice("CompositionAttack", "prior", self.prior, ("uniform", "table"))

    def __call__(self, releases: Iterable[Published]) -> Beliefs:
        """Beliefs before and after each release, given the releases up to it. Only observations are read."""
        seen = [release.observation for release in each_release(self, releases)]
        check_one_domain("CompositionAttack", seen)
        return beliefs_of_each(seen, partial(self._step, {}))

    def _step(self, held: dict[Hashable, FloatArray], seen: Observation) -> tuple[ReleaseBeliefs, Iterator[str]]:
        """Beliefs around one release, which are then ``held`` by the names of the respondents, and notes."""
        m = seen.counts.shape[1]
        prior = np.tile(np.full(m, 1 / m) if self.prior == "uniform" else table_shares(seen), (len(seen.people), 1))
        known = [held.get(name) for name in seen.people.respondents]
        revised = np.array([row if own is None else own for row, own in zip(prior, known, strict=True)])
        published = seen.group >= 0
        factor = np.where(published[:, None], self._factor(seen, prior), 1.0)
        contradicted = (revised * factor).sum(axis=1) <= 0
        weights = np.where(contradicted[:, None], prior, revised) * factor
        status = np.zeros(len(seen.counts), dtype=np.int64)
        status[seen.group[contradicted]] = CONTRADICTED
        posterior = Posterior(weights / weights.sum(axis=1, keepdims=True), status)
        for row in np.flatnonzero(published):
            held[seen.people.respondents[row]] = posterior.probabilities[row]
        return ReleaseBeliefs(seen, prior, revised, posterior), _notes(seen, int(contradicted.sum()))

    def _factor(self, seen: Observation, prior: FloatArray) -> FloatArray:
        """Factor of each value by the group of each record: shape ``(n, m)``."""
        shares = group_shares(seen)
        if self.rule == "intersection":
            return (shares > 0).astype(np.float64)
        return np.divide(shares, prior, out=np.zeros_like(shares), where=prior > 0)


def _notes(seen: Observation, contradicted: int) -> Iterator[str]:
    if contradicted:
        yield (
            f"no value is in all groups of {counted(contradicted, 'respondent')}, so that values changed. "
            "Beliefs about them begin again with this release (status CONTRADICTED of their groups); the attack assumes constant "
            "values."
        )
    if seen.distorted:
        yield (
            f"{seen.distorted:,} values are distorted, and this attack takes them as true; an intersection may "
            "exclude the true value."
        )
