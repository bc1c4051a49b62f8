"""Linking attack: sensitive labels inferred from the published items of records."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import ExternalKnowledge, ItemRelease, Linking, Release
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import check_respondent, release_at
from foreknow.models.equality import equal_by_fields
from foreknow.models.problem import ROW_SUM_TOLERANCE
from foreknow.models.quasi_sensitive.external_knowledge import NONE
from foreknow.models.quasi_sensitive.item_release import ItemObservation
from foreknow.models.quasi_sensitive.links import READINGS, Reading, links
from foreknow.models.settings import as_floats, as_list, check_kind, check_range
from foreknow.models.tables.columns import check_order, check_time


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ReleaseLabelBeliefs:
    """Beliefs before and after one release.

    Attributes
    ----------
    observation : ItemObservation
        The release as the adversary saw it.
    prior : float array, shape (e + 1,)
        Prior belief in each label, and last in none; the same for all respondents.
    posterior : float array, shape (g, e + 1)
        Posterior belief for a member of each group.
    """

    observation: ItemObservation
    prior: FloatArray
    posterior: FloatArray

    @property
    def likeliest(self) -> tuple[IntArray, FloatArray]:
        """Number of the likeliest label of each group, and the belief in it: two arrays of shape ``(g,)``.

        The first of equally likely labels; none is not a label.
        """
        labels = self.posterior[:, :-1]
        return labels.argmax(axis=1).astype(np.int64), labels.max(axis=1)

    def of_row(self, row: int) -> FloatArray:
        """Posterior belief for the respondent of a row; the prior for a suppressed one. Shape ``(e + 1,)``."""
        group = self.observation.group[row]
        return np.asarray(self.posterior[group] if group >= 0 else self.prior)


@equal_by_fields
@dataclass(frozen=True, eq=False)
class LabelBeliefs:
    """Beliefs in labels by release, as `LinkingAttack` returns them.

    They differ from `Beliefs`, which are of the m values of the schema's sensitive attribute, with one row per respondent. Labels
    are values of no column: there may be thousands, a respondent may have none of them, and all members of a group have the
    same beliefs. The view holds no true label to compare them with.

    Parameters
    ----------
    knowledge : ExternalKnowledge
        The labels.
    releases : iterable of ReleaseLabelBeliefs
        In the order of time.
    """

    knowledge: ExternalKnowledge
    releases: tuple[ReleaseLabelBeliefs, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "releases", tuple(self.releases))
        for before, after in pairwise(self.times):
            check_order(before, after)

    def __len__(self) -> int:
        return len(self.releases)

    def __iter__(self) -> Iterator[ReleaseLabelBeliefs]:
        return iter(self.releases)

    def __repr__(self) -> str:
        return f"LabelBeliefs(times={self.times!r}, labels={len(self.knowledge)})"

    @property
    def times(self) -> tuple[Any, ...]:
        """Times of the releases."""
        return tuple(release.observation.time for release in self.releases)

    def at(self, time: Any) -> ReleaseLabelBeliefs:
        """Beliefs before and after the release of a time, as arrays."""
        time = check_time("LabelBeliefs.at", time)
        found: ReleaseLabelBeliefs = release_at(self.releases, time)
        return found

    def prior(self, time: Any) -> "pd.Series[float]":
        """Prior belief before the release of a time, the same for all respondents: indexed by label, none last."""
        return pd.Series(self.at(time).prior, index=self._index(range(len(self.knowledge) + 1)), name="prior")

    def posterior(self, time: Any) -> pd.DataFrame:
        """Posterior beliefs after the release of a time: one row per group, one column per label with a belief above 0.

        The column of none, if its belief is above 0, is the last.
        """
        belief = self.at(time).posterior
        return self._believed(belief, pd.Index(np.arange(len(belief)), name="group"))

    def of(self, respondent: Hashable) -> pd.DataFrame:
        """Beliefs about one respondent: indexed by time and stage (prior, posterior), one column per label.

        Labels without belief after any release have no column. Each release is taken separately: nothing is remembered from an
        earlier one. After a release that suppresses the respondent the belief is the prior.

        Raises
        ------
        ValueError
            If the respondent is in no release.
        """
        rows = [
            (release.observation.time, release.prior, release.of_row(row))
            for release in self.releases
            for row in release.observation.people.rows(respondent)
        ]
        check_respondent(rows, respondent, self.releases)
        index = pd.MultiIndex.from_product(
            [[time for time, _, _ in rows], ["prior", "posterior"]], names=["time", "stage"]
        )
        beliefs = np.array([row for _, prior, posterior in rows for row in (prior, posterior)])
        return self._believed(beliefs, index, beliefs[1::2])

    def certain(self, sure: float = 0.9) -> pd.DataFrame:
        """Respondents with a belief of at least ``sure`` in some label.

        Parameters
        ----------
        sure : float
            Threshold of the belief, from 0 to 1.

        Returns
        -------
        DataFrame
            Columns ``time``, ``respondent``, ``group``, ``label`` and ``belief``: one row per release and published respondent
            whose likeliest label reaches the threshold. The first of equally likely labels is listed.

        Raises
        ------
        ValueError
            If the threshold is out of its range.
        """
        check_range("LabelBeliefs.certain", "sure", sure, 0, 1, "a threshold of the belief")
        labels, rows = self.knowledge.labels, []
        for release in self.releases:
            seen, (label, belief) = release.observation, release.likeliest
            for row in np.flatnonzero(seen.group >= 0).tolist():
                group = int(seen.group[row])
                if belief[group] >= sure - BELIEF_TOLERANCE:
                    rows.append((seen.time, seen.people.respondents[row], group, labels[label[group]], belief[group]))
        return pd.DataFrame(rows, columns=["time", "respondent", "group", "label", "belief"])

    def _believed(self, beliefs: FloatArray, index: pd.Index, selecting: FloatArray | None = None) -> pd.DataFrame:
        """Rows of beliefs as a table; it has the columns above 0 in some row of ``selecting``, by default of ``beliefs``."""
        columns = np.flatnonzero(((beliefs if selecting is None else selecting) > 0).any(axis=0))
        return pd.DataFrame(beliefs[:, columns], index=index, columns=self._index(columns.tolist()))

    def _index(self, numbers: "range | list[int]") -> pd.Index:
        """Labels by their numbers, none last, as an index."""
        names = (*self.knowledge.labels, NONE)
        return pd.Index([names[number] for number in numbers], dtype=object, name="label", tupleize_cols=False)


@equal_by_fields
@dataclass(frozen=True, eq=False)
class LinkingAttack:
    """Beliefs in sensitive labels, from the group found by the quasi-identifiers and the items of its records.

    The adversary knows that the respondent has a record, and the exact quasi-identifiers; not which of the group's records it is,
    nor any of its items. The belief in a label is the mean over the group's records of the probability that the record links
    to it, ``beta = (1 / |G|) sum P(tp -> L)``. Each release is attacked separately.

    Parameters
    ----------
    linking : Linking
        External knowledge about items; and the column that holds them, for a `Release`.
    prior : {"counted", "fractional", "uniform"} or float array, shape (e + 1,)
        Prior belief. A reading (`Links.prior`) is computed from the items that the release shows, over all groups, because the
        adversary sees no others. An array gives the belief in each label and, last, in none; ``linking(view).prior()`` is that
        of an adversary who knows the frequencies in the original table: the alpha of `QSCloseness`.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, Anonymizing Data with Quasi-Sensitive Attribute Values, CIKM 2010, section 2.1. Exact under the
    paper's assumption that the labels a record links to are equally likely, or have probabilities proportional to their
    prevalence. Suppressed items are not distinguished from items that the record never had: the attack does not exploit the
    minimality of a suppression. Cost: O(i e / 64 + n e), and g (e + 1) numbers per release.

    Examples
    --------
    The respondents of age 22 and 25 form the first group and have the flu; 2-anonymity and 2-diversity of the symptoms hold.

    >>> import pandas as pd
    >>> from foreknow.models import ExternalKnowledge, Numeric, Schema, View
    >>> symptoms = ["cough, headache, sore throat", "cough, headache", "headache, vomiting", "headache, sore throat"]
    >>> patients = pd.DataFrame({"id": ["Ann", "Bea", "Cleo", "Dora"], "age": [22, 25, 30, 35], "symptoms": symptoms})
    >>> view = View(patients, Schema({"age": Numeric()}, "symptoms", tuple(symptoms)))
    >>> known = {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
    >>> beliefs = LinkingAttack(Linking(ExternalKnowledge(known), "symptoms"))([Release(view, [0, 0, 1, 1])])
    >>> beliefs.posterior(0).to_dict()  # by label, and group
    {'flu': {0: 1.0, 1: 0.5}, 'none': {0: 0.0, 1: 0.5}}
    >>> beliefs.certain()["respondent"].tolist()
    ['Ann', 'Bea']
    """

    linking: Linking
    prior: Reading | FloatArray = "counted"

    def __post_init__(self) -> None:
        check_kind(
            "LinkingAttack",
            "linking",
            self.linking,
            Linking,
            "is a Linking, of external knowledge and the column of items",
        )
        object.__setattr__(self, "prior", _check_prior(self.prior, len(self.linking.knowledge)))

    def __call__(self, releases: Iterable[ItemRelease | Release]) -> LabelBeliefs:
        """Beliefs before and after each release. Only published items are read; a `Release` shows all items of its view."""
        takes = "is a list of ItemReleases or Releases, in the order of time"
        observations = [self._observation(each) for each in as_list("LinkingAttack", "releases", releases, takes)]
        return LabelBeliefs(self.linking.knowledge, tuple(map(self._beliefs, observations)))

    def _observation(self, release: ItemRelease | Release) -> ItemObservation:
        if isinstance(release, ItemRelease):
            return release.observation
        check_kind("LinkingAttack", "one of the releases", release, Release, "is an ItemRelease or a Release")
        return ItemRelease(release, self.linking, self.linking.items_of(release.view)).observation

    def _beliefs(self, observation: ItemObservation) -> ReleaseLabelBeliefs:
        """Prior and posterior beliefs of one release."""
        linked = links(observation.items, self.linking.knowledge)
        prior = self.prior if isinstance(self.prior, np.ndarray) else linked.prior(self.prior)
        return ReleaseLabelBeliefs(observation, prior, linked.beliefs(observation.shown_in, observation.groups))


def _check_prior(given: Reading | FloatArray, labels: int) -> Reading | FloatArray:
    """The reading, or the beliefs as a float array, shape ``(e + 1,)``."""
    takes = f"is one of {', '.join(map(repr, READINGS))}, or {labels + 1} beliefs that sum to 1, the last in none"
    if isinstance(given, str) and given in READINGS:
        return given
    prior = as_floats("LinkingAttack", "prior", given, takes)
    if prior.shape != (labels + 1,) or not (prior >= 0).all() or not abs(prior.sum() - 1) <= ROW_SUM_TOLERANCE:
        raise ValueError(f"LinkingAttack: prior has shape {prior.shape} and sums to {prior.sum():g}; it {takes}.")
    return prior


# Largest amount by which a belief below a threshold still reaches it: a group's belief is a rounded sum over records
BELIEF_TOLERANCE = 1e-9
