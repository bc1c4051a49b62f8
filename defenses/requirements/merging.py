"""Which requirements the union of two groups keeps wherever both of them do."""

from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.closeness import TCloseness
from foreknow.defenses.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)
from foreknow.defenses.requirements.likeness import BasicBetaLikeness, BetaLikeness
from foreknow.defenses.requirements.linked import Linked
from foreknow.defenses.requirements.qs_closeness import QSCloseness
from foreknow.defenses.requirements.qs_diversity import QSDiversity
from foreknow.defenses.requirements.requirement import AllOf, Requirement

KEPT = (
    KAnonymity,
    DistinctDiversity,
    FrequencyDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    TCloseness,
    BasicBetaLikeness,
    BetaLikeness,
    QSDiversity,
    QSCloseness,
)
"""Kinds of requirement that merging keeps. Sizes and numbers of distinct values grow. The values' shares of a union are a
mean of its parts' shares; of such a mean the largest share and every distance of t-closeness is at most the mean of theirs,
the entropy at least, and shares that keep to a bound each still do. In recursive diversity the largest count is at most the
sum of the parts' and the tail at least (Machanavajjhala et al., TKDD 2007, section 4). Beliefs in labels are a mean of the
parts' as shares are."""


def merging_keeps(requirement: Requirement) -> bool:
    """Whether it is known that the union of two groups satisfies a requirement wherever both do.

    So it is for the kinds in `KEPT` and conjunctions of them. It is not for J-similarity and what else is about beliefs in
    people's values, nor for disjunctions, where each part may hold by another claim; of any other kind nothing is known.
    """
    if isinstance(requirement, AllOf):
        return all(map(merging_keeps, requirement.parts))
    if isinstance(requirement, Linked):
        return merging_keeps(requirement.asked)
    return type(requirement) in KEPT
