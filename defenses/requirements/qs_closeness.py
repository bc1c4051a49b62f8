"""QS t-closeness: what a group's items say of its members is close to what was known (Shi, Xiong, Fung, CIKM 2010)."""

from dataclasses import dataclass
from typing import ClassVar

from foreknow.defenses.requirements.label_levels import label_distances
from foreknow.defenses.requirements.linked import Linked, check_linking, refuse
from foreknow.defenses.requirements.membership import Members
from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Linking, View
from foreknow.models.arrays import FloatArray
from foreknow.models.quasi_sensitive.linking import READINGS, Reading
from foreknow.models.settings import is_number


@dataclass(frozen=True)
class QSCloseness(Requirement):
    """QS t-closeness: the Euclidean distance of the beliefs in labels after and before, ``|beta - alpha|``, is at most t.

    Beta, of a group, is the mean of its records' probabilities (`Links.beliefs`), none among the labels. Alpha is the same for
    all groups.

    Parameters
    ----------
    t : float
        0 or more; distances are at most the root of 2. The x axis of the paper's figure 6 is t squared.
    linking : Linking
        What items give away, and which column holds them.
    prior : "counted", "fractional" or "uniform"
        How alpha is read (`Links.prior`): in proportion to the records that link to a label, the paper's words; the mean of
        the records' probabilities, of which the whole view as one group is at distance 0; or every label alike. But for the
        last it is made of the view's own items, all of them, whatever is left out of them later.

    Raises
    ------
    ValueError
        If a setting is out of its range; if it is asked about groups before `given` has bound it to a view.
    TypeError
        If ``linking`` is none.

    Notes
    -----
    Definition 4. Its prior is that of an adversary who knows nothing but the table's labels; the prior of a defense, of the
    values of a sensitive attribute, is not read.

    What two groups satisfy, their union does: its beta is a mean of theirs, and a mean lies no farther from a point than the
    mean of the distances. If not even the whole view satisfies, no grouping of all of it does; items must be left out.

    Cost of a level: O(e) for each group, O(e / 64) for each member, and O(1) for each label that a member links to.

    References
    ----------
    P. Shi, L. Xiong, B. C. M. Fung, "Anonymizing Data with Quasi-Sensitive Attribute Values", CIKM 2010, section 2.1.

    Examples
    --------
    Of two patients one links to the flu and one to nothing. One by one, each is sure, and at a distance of root 1/2.

    >>> import numpy as np, pandas as pd
    >>> from foreknow.defenses import summarize_groups, summarize_records
    >>> from foreknow.models import ExternalKnowledge, Numeric, Schema
    >>> patients = pd.DataFrame({"id": [1, 2], "age": [30, 35], "symptoms": ["headache", "headache, vomiting"]})
    >>> view = View(patients, Schema({"age": Numeric()}, "symptoms", tuple(patients["symptoms"])))
    >>> linking = Linking(ExternalKnowledge({"flu": ["cough", "headache"], "hepatitis B": ["vomiting"]}), "symptoms")
    >>> records = summarize_records(view, np.eye(2), members=True)
    >>> QSCloseness(0.4, linking).given(view, np.eye(2)).level(records).round(4)
    array([0.7071, 0.7071])
    """

    t: float
    linking: Linking
    prior: Reading = "counted"

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        if not is_number(self.t, 0):
            raise ValueError(f"QSCloseness: t is {self.t}; it is a distance, 0 or more.")
        if self.prior not in READINGS:
            raise ValueError(f"QSCloseness: prior is {self.prior!r}; it is one of {', '.join(map(repr, READINGS))}.")
        check_linking("QSCloseness", self.linking)

    def __repr__(self) -> str:
        return f"QSCloseness(t={self.t}, linking=Linking(items={self.linking.items!r}), prior={self.prior!r})"

    @property
    def bound(self) -> float:
        """The distance t."""
        return float(self.t)

    @property
    def reads_prior(self) -> bool:
        """False: the items alone decide."""
        return False

    @property
    def reads_members(self) -> bool:
        """True: whose items they are decides."""
        return True

    def given(self, view: View, prior: FloatArray) -> Requirement:  # noqa: ARG002 - the items alone decide
        """The requirement with the labels that the view's records link to, and with alpha."""
        links = self.linking(view)
        alpha = links.prior(self.prior)

        def distances(who: Members) -> FloatArray:
            prevalence = links.knowledge.weights
            return label_distances(links.bits, links.weight, prevalence, who.records, who.starts, alpha)

        return Linked(self, distances)

    def level(self, summary: Summary) -> FloatArray:  # noqa: ARG002
        """Unknown before `given`: raises ValueError. Then the distance of each group."""
        refuse(self)
