"""Attack by linking: sensitive labels inferred from harmless items and a public table of items and labels."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from foreknow.attacks.label_beliefs import LabelBeliefs, ReleaseLabelBeliefs
from foreknow.models import ItemRelease, Linking, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.problem import ROW_SUM_TOLERANCE
from foreknow.models.quasi_sensitive.item_release import ItemObservation
from foreknow.models.quasi_sensitive.links import READINGS, Reading, links
from foreknow.models.settings import check_kind


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

    Raises
    ------
    TypeError
        If ``linking`` is no `Linking`, the prior is no array of numbers, or the argument of the call is no list of releases.
    ValueError
        If the prior is neither a reading nor a distribution over the labels and none; when called, if a view has no such
        column, or the times do not increase.

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
        if isinstance(releases, ItemRelease | Release) or not np.iterable(releases):
            raise TypeError(
                f"LinkingAttack takes releases in the order of time, and got one {type(releases).__name__}; put it into a list."
            )
        observations = [self._observation(release) for release in releases]
        return LabelBeliefs(self.linking.knowledge, tuple(self._beliefs(one) for one in observations))

    def _observation(self, release: ItemRelease | Release) -> ItemObservation:
        """The adversary's observation of one release."""
        if isinstance(release, ItemRelease):
            return release.observation
        if isinstance(release, Release):
            return ItemRelease(release, self.linking, self.linking.items_of(release.view)).observation
        raise TypeError(
            f"LinkingAttack: {type(release).__name__} is no release; give a list of ItemReleases or Releases."
        )

    def _beliefs(self, observation: ItemObservation) -> ReleaseLabelBeliefs:
        """Prior and posterior beliefs of one release."""
        linked = links(observation.items, self.linking.knowledge)
        prior = self.prior if isinstance(self.prior, np.ndarray) else linked.prior(self.prior)
        return ReleaseLabelBeliefs(observation, prior, linked.beliefs(observation.shown_in, observation.groups))


def _check_prior(given: Reading | FloatArray, labels: int) -> Reading | FloatArray:
    """The reading, or the beliefs as a float array, shape ``(e + 1,)``."""
    readings = f"one of {', '.join(map(repr, READINGS))}"
    if isinstance(given, str):
        if given not in READINGS:
            raise ValueError(
                f"LinkingAttack: prior is {given!r}; it is {readings}, or the beliefs in the labels and none."
            )
        return given
    try:
        if np.iscomplexobj(given):
            raise TypeError
        prior = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"LinkingAttack: prior is a {type(given).__name__} that holds no numbers; give {readings}, or {labels + 1} beliefs."
        ) from None
    if prior.shape != (labels + 1,) or not (prior >= 0).all() or not abs(prior.sum() - 1) <= ROW_SUM_TOLERANCE:
        raise ValueError(
            f"LinkingAttack: prior has shape {prior.shape} and sums to {prior.sum():g}; give {readings}, or {labels + 1} beliefs "
            "that sum to 1, one in each label and the last in none."
        )
    return prior
