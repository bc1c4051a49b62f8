"""The attack by linking: harmless items, and a public table of what they give away."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from foreknow.attacks.label_beliefs import LabelBeliefs, ReleaseLabelBeliefs
from foreknow.models import ItemRelease, Linking, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.problem import ROW_SUM_TOLERANCE
from foreknow.models.quasi_sensitive.item_release import ItemObservation
from foreknow.models.quasi_sensitive.linking import READINGS, Reading, links


@dataclass(frozen=True, eq=False)
class LinkingAttack:
    """Find a person's group by the quasi-identifiers, and the labels of the group by its items.

    The adversary knows that the person has a record, and the exact quasi-identifiers; not which of the group's records it is,
    nor any of the items. The belief in a label is the mean over the group's records of the probability with which each links
    to it, ``beta = (1 / |G|) sum P(tp -> L)``. Each release is taken alone.

    Parameters
    ----------
    linking : Linking
        What is publicly known of items; and the column that holds them, for a `Release`.
    prior : {"counted", "fractional", "uniform"} or float array, shape (e + 1,)
        What was believed before: a reading of the prior (`Links.prior`), made of the items that the release shows, all groups
        together, since the adversary sees no others; or the belief in each label, and none last, from elsewhere. An array
        ``linking(view).prior()`` is of somebody who knew the frequencies in the original table: the alpha of `QSCloseness`.

    Raises
    ------
    TypeError
        If ``linking`` is none, or what is attacked is no list of releases.
    ValueError
        If the prior is no reading and no distribution over the labels and none; when called, if a view has no such column, or
        the times do not increase.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, Anonymizing Data with Quasi-Sensitive Attribute Values, CIKM 2010, section 2.1. Exact under
    the paper's assumption that the labels a record links to are equally likely, or as likely as they are common; items that
    are missing because they were suppressed are not told from those that are missing, so that the minimality of a
    suppression is not exploited. Cost: O(i e / 64 + n e), and g (e + 1) numbers per release.

    Examples
    --------
    Whoever is 22, and so in the first group, has the flu; 2-anonymity and 2-diversity of the symptoms hold.

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
        if not isinstance(self.linking, Linking):
            raise TypeError(
                f"LinkingAttack: linking is a {type(self.linking).__name__}; give a Linking, of the external knowledge and the "
                "column of items."
            )
        object.__setattr__(self, "prior", _check_prior(self.prior, len(self.linking.knowledge)))

    def __call__(self, releases: Iterable[ItemRelease | Release]) -> LabelBeliefs:
        """What is believed around each release. Only what it shows is read; a `Release` shows all items of its view's records."""
        if isinstance(releases, ItemRelease | Release):
            raise TypeError(
                f"LinkingAttack takes releases in the order of time, and got one {type(releases).__name__}; put it into a list."
            )
        return LabelBeliefs(self.linking.knowledge, tuple(self._linked(self._seen(release)) for release in releases))

    def _seen(self, release: ItemRelease | Release) -> ItemObservation:
        if isinstance(release, ItemRelease):
            return release.observation
        if isinstance(release, Release):
            return ItemRelease(release, self.linking, self.linking.items_of(release.view)).observation
        raise TypeError(
            f"LinkingAttack: {type(release).__name__} is no release; give a list of ItemReleases or Releases."
        )

    def _linked(self, seen: ItemObservation) -> ReleaseLabelBeliefs:
        found, prior = links(seen.items, self.linking.knowledge), self.prior
        before = prior if isinstance(prior, np.ndarray) else found.prior(prior)
        return ReleaseLabelBeliefs(seen, before, found.beliefs(seen.shown_in, seen.groups))


def _check_prior(given: Reading | FloatArray, labels: int) -> Reading | FloatArray:
    """The reading, or the beliefs as an array; it must be either."""
    readings = f"one of {', '.join(map(repr, READINGS))}"
    if isinstance(given, str):
        if given not in READINGS:
            raise ValueError(
                f"LinkingAttack: prior is {given!r}; it is {readings}, or the beliefs in the labels and none."
            )
        return given
    prior = np.asarray(given, dtype=np.float64)
    if prior.shape != (labels + 1,) or not (prior >= 0).all() or not abs(prior.sum() - 1) <= ROW_SUM_TOLERANCE:
        raise ValueError(
            f"LinkingAttack: prior has shape {prior.shape} and sums to {prior.sum():g}; give {readings}, or {labels + 1} beliefs "
            "that sum to 1, one in each label and the last in none."
        )
    return prior
