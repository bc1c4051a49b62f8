"""QS t-closeness, a requirement on the labels that items reveal."""

from dataclasses import dataclass
from typing import ClassVar, override

from foreknow.defenses.requirements.label_levels import label_distances
from foreknow.defenses.requirements.member_predicate import MemberPredicate
from foreknow.defenses.requirements.membership import GroupMembers
from foreknow.defenses.requirements.qs_diversity import check_linking
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Linking, View
from foreknow.models.arrays import FloatArray
from foreknow.models.quasi_sensitive.links import READINGS, Reading
from foreknow.models.settings import is_number


@dataclass(frozen=True)
class QSCloseness(Requirement):
    """QS t-closeness: the Euclidean distance ``|beta - alpha|`` of the beliefs in labels after and before is at most t.

    Beta, of a group, is the mean of its records' label probabilities (`Links.beliefs`), with no label as one more label.
    Alpha, the prior belief, is the same for all groups.

    Parameters
    ----------
    t : float
        At least 0; distances are at most the root of 2. The x axis of the paper's figure 6 is t squared.
    linking : Linking
        External knowledge on items, and the column that holds them.
    prior : {"counted", "fractional", "uniform"}
        Reading of alpha (`Links.prior`). "counted": in proportion to the number of records that link to a label, the paper's
        words. "fractional": the mean of the records' probabilities, so that the whole view as one group is at distance 0.
        "uniform": equal for every label. The first two read all items of the view, before any is suppressed.

    Raises
    ------
    ValueError
        If a setting is out of range. When bound, if the view lacks the column of items.
    TypeError
        If ``linking`` is not a Linking.

    Notes
    -----
    Definition 4 of the paper. Its adversary knows only the labels of the table; the prior given to the defense, over the
    values of a sensitive attribute, is not read.

    Monotone: beta of a union is a mean of its parts' betas, and the distance is convex. If the whole view as one group
    fails, every grouping of all its records has a failing group; items must be suppressed.

    Exact. Cost of a level, for e labels: O(e) for each group, O(e / 64) for each member, and O(1) for each label that a
    member links to.

    References
    ----------
    P. Shi, L. Xiong, B. C. M. Fung, "Anonymizing Data with Quasi-Sensitive Attribute Values", CIKM 2010, section 2.1.

    Examples
    --------
    Of two patients one links to the flu and one to no label. As groups of one, both lie at a distance of root 1/2.

    >>> import numpy as np, pandas as pd
    >>> from foreknow.defenses import summarize_groups, summarize_records
    >>> from foreknow.models import ExternalKnowledge, Numeric, Schema
    >>> patients = pd.DataFrame({"id": [1, 2], "age": [30, 35], "symptoms": ["headache", "headache, vomiting"]})
    >>> view = View(patients, Schema({"age": Numeric()}, "symptoms", tuple(patients["symptoms"])))
    >>> linking = Linking(ExternalKnowledge({"flu": ["cough", "headache"], "hepatitis B": ["vomiting"]}), "symptoms")
    >>> records = summarize_records(view, np.eye(2), members=True)
    >>> QSCloseness(0.4, linking).bind(view, np.eye(2)).level(records).round(4)
    array([0.7071, 0.7071])
    """

    t: float
    linking: Linking
    prior: Reading = "counted"

    sense: ClassVar[Sense] = "at most"
    is_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_number(self.t, 0):
            raise ValueError(f"QSCloseness: t is {self.t!r}; it is a distance, 0 or more.")
        if not (isinstance(self.prior, str) and self.prior in READINGS):
            raise ValueError(f"QSCloseness: prior is {self.prior!r}; it is one of {', '.join(map(repr, READINGS))}.")
        check_linking("QSCloseness", self.linking)

    def __repr__(self) -> str:
        return f"QSCloseness(t={self.t}, linking=Linking(items={self.linking.items!r}), prior={self.prior!r})"

    @property
    @override
    def bound(self) -> float:
        return float(self.t)

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:  # noqa: ARG002 - the items alone decide
        """Link the view's records to labels and compute alpha."""
        links = self.linking(view)
        alpha = links.prior(self.prior)

        def distances(summary: Summary, members: GroupMembers) -> FloatArray:  # noqa: ARG001
            prevalence = links.knowledge.weights
            return label_distances(links.bits, links.weight, prevalence, members.records, members.starts, alpha)

        return MemberPredicate(self, distances)
