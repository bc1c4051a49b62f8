"""Influence of one compromised record: the beliefs that it changes, and the groups and releases through which it spreads."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from foreknow.attacks.attack import Attack, check_adversary, each_release
from foreknow.attacks.sequential import SequentialAttack
from foreknow.models import Adversary, Beliefs, CompromisedRecords, Release
from foreknow.models.knowledge.personal_transitions import chains_at
from foreknow.models.problem import jensen_shannon
from foreknow.models.settings import check_kind, check_range

if TYPE_CHECKING:
    import networkx as nx

type _Place = tuple[Hashable, Any]
"""Respondent and time."""

MIN_REPORTED_BITS = 1e-6  # default threshold in bits; smaller divergences are rounding errors

# Reason for which `Influence` takes no `Averaged` adversary
AVERAGED = (
    "With draws, a record also changes the weights of the draws, and by them all beliefs at once, which is no path through "
    "groups and releases. Run it for each of its adversaries."
)


@dataclass(frozen=True)
class Influence:
    """Graph of the beliefs that one compromised record changes.

    The adversary attacks with the record and without it. A node (respondent, release) is reached if the Jensen-Shannon divergence
    of the two posteriors is at least ``least`` bits. Influence passes from the respondent of the record to the other members of
    the group, from each of them to their next releases (as many as the order of the chain), there to the group, and so on. The
    distance of a node is the smallest number of such steps. With an attack that keeps the joint law, influence also passes back in
    time and to related respondents.

    Parameters
    ----------
    adversary : Adversary
        With a cascade. Influence reaches later releases only through transitions. Not an `Averaged` one: a record would also
        change the weights of the draws, and by them all beliefs at once, along no path of the graph.
    least : float
        Smallest divergence of a reached node, in bits.
    attack : callable
        Function from an adversary to an attack: `SequentialAttack` (the default), `JointAttack`, whose influence is that of the
        joint law, or ``lambda adversary: JointAttack(adversary, hindsight=False)``. By keyword.

    Raises
    ------
    ValueError
        When called, if the respondent, the value or the time is not hashable.
    ValueError
        When called, if there is no release, or the record does not fit the releases.

    Notes
    -----
    Cost: two attacks, and O(reached nodes * group size) for the graph. Not checked: the estimator must not sample, because
    Monte Carlo noise would count as influence.
    """

    reads: ClassVar[tuple[str, ...]] = SequentialAttack.reads
    ignores: ClassVar[tuple[str, ...]] = ()

    adversary: Adversary
    least: float = MIN_REPORTED_BITS
    attack: Callable[[Adversary], Attack] = field(default=SequentialAttack, kw_only=True)

    def __post_init__(self) -> None:
        if self.attack is SequentialAttack:
            check_adversary(self, self.adversary, averaged=AVERAGED)
        else:
            check_kind("Influence", "adversary", self.adversary, Adversary)
            self.attack(self.adversary)
        check_range("Influence", "least", self.least, 0, what="a divergence in bits")
        if self.adversary.cascade is None:
            raise ValueError(
                "the adversary has no cascade, so that no record can spread; give it one, as PriorCascade()."
            )

    def __call__(
        self, releases: Iterable[Release], respondent: Hashable, value: Hashable, time: Any, confidence: float = 1.0
    ) -> "nx.DiGraph[Any]":
        """Graph of influence of the record that ``respondent`` has ``value`` at ``time``.

        Returns
        -------
        networkx.DiGraph
            Nodes ``(respondent, time)``, with the attributes ``bits``, ``distance`` (0 for the record itself), ``release``
            (the number of the release) and ``group``; edges with ``through``: ``"group"``, ``"time"`` or ``"relation"``. The
            graph's attribute ``source`` is the record's node.
        """
        published = tuple(each_release(self, releases))
        if not published:
            raise ValueError("Influence: there is no release; give those that the record is about, as a list.")
        records = _with_claim(self.adversary.compromised, (respondent, value, time), confidence)
        informed = replace(self.adversary, compromised=records)
        places = _places(*(self.attack(each)(published) for each in (self.adversary, informed)))
        transitions, relations = self.adversary.transitions, self.adversary.relations
        steps = _next_places(places, 0 if transitions is None else chains_at(transitions, 0)[0].order)
        if self.attack is not SequentialAttack:
            for place, later in [(place, later) for place, onward in steps.items() for later, _ in onward]:
                steps[later].append((place, "time"))
            for one, other in () if relations is None else relations.graph.edges:
                for place, mate in [((one, at.time), (other, at.time)) for at in published]:
                    if place in places and mate in places:
                        steps[place].append((mate, "relation"))
                        steps[mate].append((place, "relation"))
        return _graph(places, steps, (respondent, time), self.least)


def _with_claim(
    before: CompromisedRecords | None, claim: tuple[Hashable, Hashable, Hashable], confidence: float
) -> CompromisedRecords:
    """Compromised records with one more; ValueError if the claim is among them already."""
    respondent, value, time = claim
    record = pd.DataFrame({"respondent": [respondent], "value": [value], "time": [time], "confidence": [confidence]})
    if before is None:
        return CompromisedRecords(record)
    if claim in zip(*(before.frame[name] for name in ("respondent", "value", "time")), strict=True):
        raise ValueError(
            f"the adversary already has a record that respondent {respondent!r} has {value!r} at {time!r}; leave it out of "
            "the compromised records to follow it."
        )
    return CompromisedRecords(pd.concat([before.frame, record], ignore_index=True), before.contradicted)


def _graph(
    places: dict[_Place, dict[str, Any]], onward: dict[_Place, list[tuple[_Place, str]]], source: _Place, least: float
) -> "nx.DiGraph[Any]":
    mates: dict[tuple[int, int], list[_Place]] = {}
    for place, data in places.items():
        if data["bits"] >= least and data["group"] >= 0:
            mates.setdefault((data["release"], data["group"]), []).append(place)
    import networkx as nx

    graph: nx.DiGraph[Any] = nx.DiGraph(source=source)
    graph.add_node(source, **places[source], distance=0)
    # A node reached through the group does not pass influence to the group: its other members are reached already.
    edge = [(source, True)]
    while edge:
        reached: list[tuple[_Place, bool]] = []
        for place, spreads in edge:
            here, distance = places[place], graph.nodes[place]["distance"]
            others = mates.get((here["release"], here["group"]), []) if spreads else []
            steps = [(other, "group") for other in others] + onward[place]
            for other, through in steps:
                if other == place or places[other]["bits"] < least:
                    continue
                if other not in graph:
                    graph.add_node(other, **places[other], distance=distance + 1)
                    reached.append((other, through != "group"))
                if through != "group" or graph.nodes[other]["distance"] > distance:
                    graph.add_edge(place, other, through=through)
        edge = reached
    return graph


def _places(without: Beliefs, with_record: Beliefs) -> dict[_Place, dict[str, Any]]:
    """Nodes of all respondents at all releases, in the order of time, with the divergence of the two posteriors."""
    places = {}
    for number, (old, new) in enumerate(zip(without, with_record, strict=True)):
        seen = old.observation
        bits = jensen_shannon(old.posterior.probabilities, new.posterior.probabilities)
        for row, respondent in enumerate(seen.people.respondents):
            places[respondent, seen.time] = {"bits": float(bits[row]), "release": number, "group": int(seen.group[row])}
    return places


def _next_places(places: dict[_Place, dict[str, Any]], order: int) -> dict[_Place, list[tuple[_Place, str]]]:
    """Later nodes that remember a belief: the next ``order`` publications, and unpublished records before them."""
    of: dict[Hashable, list[_Place]] = {}
    for place in places:
        of.setdefault(place[0], []).append(place)
    onward: dict[_Place, list[tuple[_Place, str]]] = {}
    for mine in of.values():
        for position, place in enumerate(mine):
            left, onward[place] = order, []
            for later in mine[position + 1 :]:
                if not left:
                    break
                onward[place].append((later, "time"))
                left -= places[later]["group"] >= 0
    return onward
