"""Privacy-MaxEnt: beliefs of maximum entropy under statements about the population."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from foreknow.attacks.attack import Published, each_release
from foreknow.attacks.conditional_probability import ConditionalProbability
from foreknow.attacks.group_shares import table_shares
from foreknow.attacks.max_entropy_law import LinearConstraints, MaxEntropyBeliefs, max_entropy_beliefs
from foreknow.models import Beliefs, Observation, Posterior, ReleaseBeliefs
from foreknow.models.problem import CONTRADICTED, UNCONVERGED
from foreknow.models.settings import check_kind

MET = 1e-5
"""Largest distance of a probability from that of its statement at which the statement is met."""


@dataclass(frozen=True)
class PrivacyMaxEntAttack:
    """Beliefs of maximum entropy about each release, under statements P(value | quasi-identifiers) about its records.

    With q the quasi-identifiers, s the value and b the group, the entropy of P(q, s, b) is maximized under::

        Σ_s P(q, s, b) = P(q, b),    Σ_q P(q, s, b) = P(s, b),
        Σ_{q that match} Σ_b P(q, s, b) = P(s | matching) P(matching)      for each statement, or between two bounds.

    The posterior is P(s | q, b). Without statements it is the share P(s, b) / P(b) of the group.

    Parameters
    ----------
    statements : sequence of ConditionalProbability
        What the adversary knows of the published records. A statement about no published record of a release is not used there.

    Raises
    ------
    TypeError
        If ``statements`` is no sequence of `ConditionalProbability`.
    ValueError
        When called, if a statement does not fit the schema of a release.

    Notes
    -----
    W. Du, Z. Teng, Z. Zhu, "Privacy-MaxEnt: Integrating Background Knowledge in Privacy Quantification", SIGMOD 2008.

    Each release is attacked on its own. Expected counts, not counts, equal the published ones: members of a group are treated as
    independent, as by `Sinkhorn`. A statement is about the records of the release, not about a population from which they
    are drawn; a probability that no table has exactly is met in expectation.

    Solved by the convex dual (`max_entropy_beliefs`). Where statements contradict each other or the groups, the nearest
    solution found is used; the ``notes`` name the statements, and groups with a record that they match have the status
    ``CONTRADICTED``. Groups whose expected counts are off have ``UNCONVERGED``. Records outside all groups keep the prior, the
    shares of the published table. Counterfeits match no statement, and distorted values are taken as true.

    Cost: O(n c) for c statements, and O(q m) for each scaling of q groups of equal records.

    Examples
    --------
    A man and a woman share a group of flu and breast cancer; one in ten thousand men has breast cancer.

    >>> import pandas as pd
    >>> from foreknow.models import PublishedTable
    >>> rows = [("m", "flu", 1), ("f", "breast cancer", 1), ("f", "flu", 2), ("m", "flu", 2)]
    >>> table = PublishedTable(pd.DataFrame(rows, columns=["sex", "disease", "group"]), sensitive="disease")
    >>> rare = ConditionalProbability("breast cancer", {"sex": "m"}, 1e-4)
    >>> PrivacyMaxEntAttack([rare])([table]).posterior(0).round(4)["breast cancer"].to_list()
    [0.0002, 0.9998, 0.0, 0.0]
    """

    statements: Sequence[ConditionalProbability] = ()

    def __post_init__(self) -> None:
        takes = "is a list of ConditionalProbability, as [ConditionalProbability('flu', {'sex': 'f'}, 0.1)]"
        check_kind("PrivacyMaxEntAttack", "statements", self.statements, (list, tuple), takes)
        for number, statement in enumerate(self.statements):
            takes = "is a ConditionalProbability, as ConditionalProbability('flu', {'sex': 'f'}, 0.1)"
            check_kind("PrivacyMaxEntAttack", f"statement {number}", statement, ConditionalProbability, takes)
        object.__setattr__(self, "statements", tuple(self.statements))

    def __call__(self, releases: Iterable[Published]) -> Beliefs:
        """Beliefs before and after each release, each on its own. Only observations are read."""
        found, notes = list[ReleaseBeliefs](), list[str]()
        for release in each_release(self, releases):
            seen = release.observation
            constraints = self._constraints(seen)
            solved = max_entropy_beliefs(seen.group, seen.counts, constraints)
            found.append(_beliefs(seen, constraints, solved))
            notes += self._notes(seen, constraints, solved)
        return Beliefs(tuple(found), notes=tuple(notes))

    def _constraints(self, seen: Observation) -> LinearConstraints:
        published, c = seen.group >= 0, len(self.statements)
        matches = np.zeros((len(published), c), dtype=np.bool_)
        for number, statement in enumerate(self.statements):
            matches[:, number] = statement.matches(seen.people) & published
        value = np.array([statement.position(seen.people) for statement in self.statements], dtype=np.int64)
        intervals = np.array([statement.interval for statement in self.statements]).reshape(c, 2)
        bounds = np.asarray(intervals * matches.sum(axis=0)[:, None], dtype=np.float64)
        return LinearConstraints(matches, value, bounds[:, 0], bounds[:, 1])

    def _notes(self, seen: Observation, constraints: LinearConstraints, solved: MaxEntropyBeliefs) -> list[str]:
        matching = constraints.matches.sum(axis=0)
        notes = []
        for statement, number, gap in zip(self.statements, matching, solved.gap, strict=True):
            if not number:
                notes.append(f"at {seen.time}: no published record matches {statement!r}; it is not used.")
            elif gap > MET * number:
                notes.append(
                    f"at {seen.time}: {statement!r} cannot be met together with the groups and the other statements; the "
                    f"probability found differs by {gap / number:.2g}."
                )
        return notes


def _beliefs(seen: Observation, constraints: LinearConstraints, solved: MaxEntropyBeliefs) -> ReleaseBeliefs:
    prior = np.tile(table_shares(seen), (len(seen.people), 1))
    published = seen.group >= 0
    status = np.where(solved.group_gap > MET * np.maximum(seen.counts.sum(axis=1), 1), UNCONVERGED, 0)
    unmet = solved.gap > MET * np.maximum(constraints.matches.sum(axis=0), 1)
    concerned = (constraints.matches & unmet).any(axis=1)
    status[np.unique(seen.group[concerned])] |= CONTRADICTED
    posterior = np.where(published[:, None], solved.probabilities, prior)
    return ReleaseBeliefs(seen, prior, prior, Posterior(posterior, status.astype(np.int64)))
