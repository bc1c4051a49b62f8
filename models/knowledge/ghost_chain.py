"""Rule by which the values of ghosts are drawn, the invented records that carry on the places of respondents who left."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.presence import Presence
from foreknow.models.settings import check_kind


@equal_by_fields
@dataclass(frozen=True, eq=False)
class GhostChain:
    """The rule of a mechanism that carries on the places of respondents who left: each ghost takes a step of a chain.

    The first ghost of a place takes a step from the last published value of the respondent, each later one from the ghost before.

    Parameters
    ----------
    transitions : MarkovChain, optional
        Of order 1. By default the adversary's own transitions.

    Notes
    -----
    It is the part ``mechanism`` of an `Adversary`. Ghosts are public: who they stand for, and by which chain they are drawn. An
    adversary who takes them for records of unknown respondents is overconfident.
    """

    transitions: MarkovChain | None = None

    def __post_init__(self) -> None:
        check_kind(
            "GhostChain", "transitions", self.transitions, (MarkovChain, type(None)), "is a MarkovChain, or None"
        )
        if self.transitions is not None and self.transitions.order != 1:
            raise ValueError(f"GhostChain: transitions are of order {self.transitions.order}; give a chain of order 1.")

    @classmethod
    def of_stayers(cls, transitions: MarkovChain, presence: Presence) -> "GhostChain":
        """Chain of those who stay: ``A(v, w) (1 - h(w)) / Z(v)``, where h is the chance of leaving after w.

        Ghosts drawn from it tell an adversary who reads presence less than ghosts of the chain A itself, where the places are
        carried on for long. Of one class of people.

        Raises
        ------
        ValueError
            If the chances are by class, or a value is followed only by values after which all leave.
        """
        given: Any = transitions
        check_kind("GhostChain.of_stayers", "transitions", given, MarkovChain, "is a MarkovChain")
        check_kind("GhostChain.of_stayers", "presence", presence, Presence, "is Presence(leave)")
        if presence.leave.ndim != 1:
            raise ValueError(
                "GhostChain.of_stayers: the chances of leaving are by class; give those of all, as Presence(leave)."
            )
        weights = transitions.probabilities * (1 - presence.leave)
        totals = weights.sum(axis=1, keepdims=True)
        if (totals <= 0).any():
            value = int(np.argmin(totals[:, 0]))
            raise ValueError(
                f"GhostChain.of_stayers: from value {value} every next value is one after which all leave; count such "
                "values as departures."
            )
        return cls(MarkovChain(1, weights / totals))
