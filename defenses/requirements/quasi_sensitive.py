"""Requirements on the labels that items reveal: QS (c, l)-diversity and QS t-closeness."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.defenses.requirements.requirement import (
    LEVEL_TOLERANCE,
    GroupPredicate,
    MemberPredicate,
    Requirement,
    Sense,
)
from foreknow.defenses.requirements.summary import GroupMembers, Summary
from foreknow.models import Linking, View
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.quasi_sensitive.links import READINGS, Reading, Words, add_record
from foreknow.models.settings import check_choice, check_kind, check_positive, check_range, check_whole

LINKING = "holds the external knowledge on items and names their column: give a Linking(knowledge, 'symptoms')"


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
        check_whole("QSDiversity", "l", self.l, "labels", most=UNBOUNDED_L)
        check_positive("QSDiversity", "c", self.c, "a ratio of beliefs")
        check_kind("QSDiversity", "linking", self.linking, Linking, LINKING)

    def __repr__(self) -> str:
        printed = ", as_printed=True" if self.as_printed else ""
        return f"QSDiversity(c={self.c}, l={self.l}, linking=Linking(items={self.linking.items!r}){printed})"

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:  # noqa: ARG002 - the items alone decide
        """Link the view's records to labels."""
        links, l, printed = self.linking(view), int(self.l), bool(self.as_printed)  # noqa: E741

        def ratios(summary: Summary, members: GroupMembers) -> FloatArray:  # noqa: ARG001
            prevalence = links.knowledge.weights
            return diversity_ratios(links.bits, links.weight, prevalence, members.records, members.starts, l, printed)

        return MemberPredicate(self, ratios)


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
        check_range("QSCloseness", "t", self.t, 0, what="a distance")
        check_choice("QSCloseness", "prior", self.prior, READINGS)
        check_kind("QSCloseness", "linking", self.linking, Linking, LINKING)

    def __repr__(self) -> str:
        return f"QSCloseness(t={self.t}, linking=Linking(items={self.linking.items!r}), prior={self.prior!r})"

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:  # noqa: ARG002 - the items alone decide
        """Link the view's records to labels and compute alpha."""
        links = self.linking(view)
        alpha = links.prior(self.prior)

        def distances(summary: Summary, members: GroupMembers) -> FloatArray:  # noqa: ARG001
            prevalence = links.knowledge.weights
            return label_distances(links.bits, links.weight, prevalence, members.records, members.starts, alpha)

        return MemberPredicate(self, distances)


# Largest belief that counts as 0: adding and removing records leaves rounding errors of this size
NEGLIGIBLE_BELIEF = 1e-12

UNBOUNDED_L = 2**62  # stands for an unbounded l: the largest l of a row that is (c, l)-diverse for every l


@compiled
def diversity_ratio(belief: FloatArray, l: int, as_printed: bool) -> float:  # noqa: E741
    """Smallest c for which a row of beliefs, shape ``(e + 1,)``, is (c, l)-diverse: ``p_1 / (p_l + p_(l+1) + ...)``.

    The p are the beliefs over `NEGLIGIBLE_BELIEF`, in decreasing order. The level is infinite if there are fewer than l. As
    printed, it is ``p_1 / (p_1 + p_(l+1) + ...)``, at most 1. Cost: O(e).
    """
    above = _positive_beliefs(belief)
    if len(above) == 0:
        return np.inf
    first = l + 1 if as_printed else l
    tail, most = 0.0, above.max()
    if first <= len(above):
        for p in np.partition(above, len(above) - first)[: len(above) - first + 1]:
            tail += p
    if as_printed:
        return most / (most + tail)
    return most / tail if tail > 0.0 else np.inf


@compiled
def largest_l(belief: FloatArray, c: float, as_printed: bool) -> int:
    """Largest l for which a row of beliefs, shape ``(e + 1,)``, is (c, l)-diverse; 0 if there is none.

    The row is (c, l)-diverse for every smaller l as well. `UNBOUNDED_L` if it is for every l, which only the printed formula
    allows, with c of at least 1. Cost: O(e log e).
    """
    if as_printed and c + LEVEL_TOLERANCE >= 1.0:
        return UNBOUNDED_L
    above = np.sort(_positive_beliefs(belief))
    tail = 0.0
    for place in range(len(above)):
        most = above[-1]
        tail += above[place]
        rank = len(above) - place
        if as_printed and most <= (c + LEVEL_TOLERANCE) * (most + tail):
            return rank - 1
        if not as_printed and most <= (c + LEVEL_TOLERANCE) * tail:
            return rank
    return 0


@compiled
def label_distance(belief: FloatArray, prior: FloatArray) -> float:
    """Euclidean distance of two rows of beliefs, shape ``(e + 1,)``; at most the root of 2. Cost: O(e)."""
    total = 0.0
    for label in range(len(belief)):
        total += (belief[label] - prior[label]) ** 2
    return math.sqrt(total)


@compiled
def diversity_ratios(
    bits: Words,
    weight: FloatArray,
    prevalence: FloatArray,
    records: IntArray,
    starts: IntArray,
    l: int,  # noqa: E741
    as_printed: bool,
) -> FloatArray:
    """`diversity_ratio` of each of b groups, shape ``(b,)``; ``records`` and ``starts`` are those of `GroupMembers`."""
    level, belief = np.empty(len(starts) - 1), np.empty(len(prevalence) + 1)
    for g in range(len(level)):
        _write_beliefs(bits, weight, prevalence, records[starts[g] : starts[g + 1]], belief)
        level[g] = diversity_ratio(belief, l, as_printed)
    return level


@compiled
def label_distances(
    bits: Words, weight: FloatArray, prevalence: FloatArray, records: IntArray, starts: IntArray, prior: FloatArray
) -> FloatArray:
    """`label_distance` from a prior, shape ``(e + 1,)``, of each of b groups, shape ``(b,)``."""
    level, belief = np.empty(len(starts) - 1), np.empty(len(prevalence) + 1)
    for g in range(len(level)):
        _write_beliefs(bits, weight, prevalence, records[starts[g] : starts[g + 1]], belief)
        level[g] = label_distance(belief, prior)
    return level


@compiled
def _write_beliefs(
    bits: Words, weight: FloatArray, prevalence: FloatArray, members: IntArray, belief: FloatArray
) -> None:
    """Write the mean of the members' label probabilities into ``belief``."""
    belief[:] = 0.0
    for record in members:
        add_record(bits[record], weight[record], prevalence, 1.0 / len(members), belief)


@compiled
def _positive_beliefs(belief: FloatArray) -> FloatArray:
    """Beliefs over `NEGLIGIBLE_BELIEF`, in the order of the labels."""
    count = 0
    for p in belief:
        count += p > NEGLIGIBLE_BELIEF
    above, count = np.empty(count), 0
    for p in belief:
        if p > NEGLIGIBLE_BELIEF:
            above[count] = p
            count += 1
    return above
