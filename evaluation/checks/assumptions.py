"""Assumptions of a publication in words: the adversary, and what no requirement covers."""

from typing import Any

from foreknow.models import Adversary, Averaged
from foreknow.models.knowledge.personal_transitions import chains_at

NOT_COVERED = (
    "Adversaries who know more, or other things, than the assumed one.",
    "Other publications about the same respondents, by this or another publisher.",
    "Presence in the table: the adversary is assumed to know who is in each group.",
    "The records that the publisher keeps, and the private files of this publication.",
)
"""Limits of every certificate."""

WITHOUT_ADVERSARY = (
    "Inference of any kind: no adversary is assumed, and the requirements are on the published values of each release alone.",
    "Inference from several releases together.",
)
"""Limits of a certificate of a publication without an assumed adversary."""


def assumptions(adversary: Adversary | Averaged | None) -> dict[str, Any]:
    """Assumed adversary: kinds of the prior and the transitions, order, estimator, rules; and the limits.

    It holds names of kinds and settings, and no probability: those may be learned from the records.
    """
    if adversary is None:
        return {"adversary": None, "not_covered": [*WITHOUT_ADVERSARY, *NOT_COVERED]}
    one = adversary.adversaries[0] if isinstance(adversary, Averaged) else adversary
    transitions = one.transitions
    return {
        "adversary": {
            "knows": "who is in each group, and the prior and the transitions below",
            "draws": len(adversary.adversaries) if isinstance(adversary, Averaged) else 1,
            "prior": type(one.prior).__name__,
            "classes": list(map(str, getattr(one.prior, "cuts", ()))),
            "transitions": None if transitions is None else type(transitions).__name__,
            "order": None if transitions is None else chains_at(transitions, 0)[0].order,
            "estimator": repr(one.estimator),
            "revision": one.revision,
            "gaps": one.gaps,
            "compromised_records": one.compromised is not None,
        },
        "not_covered": list(NOT_COVERED),
    }
