"""QS (c, l)-diversity: the likeliest label of a group is no certainty (Shi, Xiong, Fung, CIKM 2010)."""

from dataclasses import dataclass
from typing import ClassVar

from foreknow.defenses.requirements.label_levels import ENDLESS, diversity_ratios
from foreknow.defenses.requirements.linked import Linked, check_linking, refuse
from foreknow.defenses.requirements.membership import Members
from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Linking, View
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import GREATEST_FLOAT, check_whole, is_number


@dataclass(frozen=True)
class QSDiversity(Requirement):
    """QS (c, l)-diversity: ``p_1 <= c (p_l + p_(l+1) + ...)``, the p the beliefs in a group's labels, from the largest.

    The belief in a label is the mean, over the group's records, of the probability with which a record's items link it to
    that label (`Links.beliefs`). Who links to no label counts for one more, none: a group of which that is sure is refused as
    any other, since it says that nobody in it has anything listed.

    Parameters
    ----------
    c : float
        Above 0, and finite.
    l : int
        1 or more, at most 2**62. With fewer than l labels the right side is 0 and the requirement fails.
    linking : Linking
        What items give away, and which column holds them.
    as_printed : bool
        The paper's formula, ``p_1 <= c (p_1 + p_(l+1) + ...)``, which holds of every group from c = 1, its default, on.

    Raises
    ------
    ValueError
        If a setting is out of its range; if it is asked about groups before `given` has bound it to a view.
    TypeError
        If ``linking`` is none.

    Notes
    -----
    Definition 3, whose p_1 on the right side is read as p_l, as in the (c, l)-diversity that it extends, as we
    reconstruct it; it is not strict there, and so here. Labels that nobody links to have no belief and are no p.

    What two groups satisfy, their union does, in both readings. Its beliefs are a mean of theirs. Of a mean, the largest
    belief and the sum of the l - 1 largest are at most the mean of theirs; so, beliefs summing to 1, the tail from l on is at
    least the mean of theirs, and ``p_1 <= sum w p_1 <= c sum w tail <= c tail``. As printed, for c < 1, move p_1 to the left.

    It is of the items as they are; what leaving items out can still do, `ItemRelease` shows and suppression finds. Cost of a
    level: O(e) for each group, O(e / 64) for each member, and O(1) for each label that a member links to.

    References
    ----------
    P. Shi, L. Xiong, B. C. M. Fung, "Anonymizing Data with Quasi-Sensitive Attribute Values", CIKM 2010, section 2.1.

    Examples
    --------
    The four patients of figure 1. Whoever is in the first group has the flu.

    >>> import numpy as np, pandas as pd
    >>> from foreknow.defenses import summarize_groups, summarize_records
    >>> from foreknow.models import ExternalKnowledge, Numeric, Schema
    >>> symptoms = ["cough, headache, sore throat", "cough, headache", "headache, vomiting", "headache, sore throat"]
    >>> patients = pd.DataFrame({"id": range(4), "age": [22, 25, 30, 35], "symptoms": symptoms})
    >>> view = View(patients, Schema({"age": Numeric()}, "symptoms", tuple(symptoms)))
    >>> known = {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
    >>> diverse, prior = QSDiversity(1, 2, Linking(ExternalKnowledge(known), "symptoms")), np.full((4, 4), 1 / 4)
    >>> groups = summarize_groups(summarize_records(view, prior, members=True), np.array([0, 0, 1, 1]))
    >>> diverse.given(view, prior).level(groups)  # in the second, one links to the flu and one to nothing
    array([inf,  1.])
    """

    c: float
    l: int  # noqa: E741 - the field's own letter
    linking: Linking
    as_printed: bool = False

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        check_whole("QSDiversity", "l", self.l, "labels")
        if self.l > ENDLESS:
            raise ValueError(f"QSDiversity: l is {self.l}; it must be at most {ENDLESS}, more labels than there are.")
        if not is_number(self.c, 0, GREATEST_FLOAT) or self.c == 0:
            raise ValueError(f"QSDiversity: c is {self.c}; it must be above 0, and finite.")
        check_linking("QSDiversity", self.linking)

    def __repr__(self) -> str:
        printed = ", as_printed=True" if self.as_printed else ""
        return f"QSDiversity(c={self.c}, l={self.l}, linking=Linking(items={self.linking.items!r}){printed})"

    @property
    def bound(self) -> float:
        """The number c."""
        return float(self.c)

    @property
    def reads_prior(self) -> bool:
        """False: the items alone decide."""
        return False

    @property
    def reads_members(self) -> bool:
        """True: whose items they are decides."""
        return True

    def given(self, view: View, prior: FloatArray) -> Requirement:  # noqa: ARG002 - the items alone decide
        """The requirement with the labels that the view's records link to."""
        links, l, printed = self.linking(view), int(self.l), bool(self.as_printed)  # noqa: E741

        def ratios(who: Members) -> FloatArray:
            prevalence = links.knowledge.weights
            return diversity_ratios(links.bits, links.weight, prevalence, who.records, who.starts, l, printed)

        return Linked(self, ratios)

    def level(self, summary: Summary) -> FloatArray:  # noqa: ARG002
        """Unknown before `given`: raises ValueError. Then the least c that would do, infinite with fewer than l labels."""
        refuse(self)
