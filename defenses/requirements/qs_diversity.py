"""QS (c, l)-diversity, a requirement on the labels that items reveal."""

from dataclasses import dataclass
from typing import ClassVar, override

from foreknow.defenses.requirements.label_levels import UNBOUNDED_L, diversity_ratios
from foreknow.defenses.requirements.member_predicate import MemberPredicate
from foreknow.defenses.requirements.membership import GroupMembers
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Linking, View
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import MAX_FLOAT, check_flag, check_kind, check_whole, is_number


@dataclass(frozen=True)
class QSDiversity(Requirement):
    """QS (c, l)-diversity: ``p_1 <= c (p_l + p_(l+1) + ...)``, where p are the beliefs in a group's labels, decreasing.

    The belief in a label is the mean over the group's records of the probability that a record's items link it to that label
    (`Links.beliefs`). No label counts as one more label: a group whose records certainly link to no label fails, since it
    reveals that no member has a listed label.

    Parameters
    ----------
    c : float
        Above 0, finite.
    l : int
        From 1 to 2**62. With fewer than l labels the right side is 0 and the group fails.
    linking : Linking
        External knowledge on items, and the column that holds them.
    as_printed : bool
        If True, the paper's formula ``p_1 <= c (p_1 + p_(l+1) + ...)``, which every group satisfies if c is at least 1, its
        default.

    Raises
    ------
    ValueError
        If a setting is out of range. When bound, if the view lacks the column of items.
    TypeError
        If ``linking`` is not a Linking, or ``as_printed`` not a bool.

    Notes
    -----
    Definition 3 of the paper, with the p_1 on the right side read as p_l, as in the (c, l)-diversity that it extends: a
    reconstruction. The inequality is not strict there, nor here. A label to which no record links has belief 0 and is no p.

    Monotone, in both readings. The beliefs of a union are a mean of its parts' beliefs. The largest belief of a mean, and the
    sum of its l - 1 largest, are at most the mean of the parts'. As beliefs sum to 1, the tail from l on is at least the mean
    of the parts' tails, and ``p_1 <= sum w p_1 <= c sum w tail <= c tail``. As printed, for c < 1, move p_1 to the left.

    The level is that of the items as they are; `ItemSuppression` suppresses items. Exact. Cost of a level, for e labels:
    O(e) for each group, O(e / 64) for each member, and O(1) for each label that a member links to.

    References
    ----------
    P. Shi, L. Xiong, B. C. M. Fung, "Anonymizing Data with Quasi-Sensitive Attribute Values", CIKM 2010, section 2.1.

    Examples
    --------
    The four patients of figure 1. Every member of the first group has the flu.

    >>> import numpy as np, pandas as pd
    >>> from foreknow.defenses import summarize_groups, summarize_records
    >>> from foreknow.models import ExternalKnowledge, Numeric, Schema
    >>> symptoms = ["cough, headache, sore throat", "cough, headache", "headache, vomiting", "headache, sore throat"]
    >>> patients = pd.DataFrame({"id": range(4), "age": [22, 25, 30, 35], "symptoms": symptoms})
    >>> view = View(patients, Schema({"age": Numeric()}, "symptoms", tuple(symptoms)))
    >>> known = {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
    >>> diverse, prior = QSDiversity(1, 2, Linking(ExternalKnowledge(known), "symptoms")), np.full((4, 4), 1 / 4)
    >>> groups = summarize_groups(summarize_records(view, prior, members=True), np.array([0, 0, 1, 1]))
    >>> diverse.bind(view, prior).level(groups)  # in the second, one links to the flu and one to no label
    array([inf,  1.])
    """

    c: float
    l: int  # noqa: E741 - the field's own letter
    linking: Linking
    as_printed: bool = False

    sense: ClassVar[Sense] = "at most"
    is_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole("QSDiversity", "l", self.l, "labels")
        if self.l > UNBOUNDED_L:
            raise ValueError(
                f"QSDiversity: l is {self.l}; it must be at most {UNBOUNDED_L}, more labels than there are."
            )
        if not is_number(self.c, 0, MAX_FLOAT) or self.c == 0:
            raise ValueError(f"QSDiversity: c is {self.c!r}; it must be above 0, and finite.")
        check_linking("QSDiversity", self.linking)
        check_flag("QSDiversity", "as_printed", self.as_printed)

    def __repr__(self) -> str:
        printed = ", as_printed=True" if self.as_printed else ""
        return f"QSDiversity(c={self.c}, l={self.l}, linking=Linking(items={self.linking.items!r}){printed})"

    @property
    @override
    def bound(self) -> float:
        return float(self.c)

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:  # noqa: ARG002 - the items alone decide
        """Link the view's records to labels."""
        links, l, printed = self.linking(view), int(self.l), bool(self.as_printed)  # noqa: E741

        def ratios(summary: Summary, members: GroupMembers) -> FloatArray:  # noqa: ARG001
            prevalence = links.knowledge.weights
            return diversity_ratios(links.bits, links.weight, prevalence, members.records, members.starts, l, printed)

        return MemberPredicate(self, ratios)


def check_linking(owner: str, linking: object) -> None:
    """Raise TypeError unless an argument is a Linking of items to labels."""
    takes = "holds the external knowledge on items and names their column: give a Linking(knowledge, 'symptoms')"
    check_kind(owner, "linking", linking, Linking, takes)
