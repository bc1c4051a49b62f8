"""How far one compromised record reaches: who is believed differently because of it, through which groups and releases."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from foreknow.attacks.sequential import SequentialAttack
from foreknow.models import Adversary, Beliefs, CompromisedRecords, Release
from foreknow.models.arrays import FloatArray

LEAST = 1e-6
"""Divergences of fewer bits are no influence but rounding."""


@dataclass(frozen=True)
class Influence:
    """Follow one compromised record through a history of releases.

    The adversary attacks twice, with the record and without, whatever else is compromised. A respondent at a release is
    reached if the posterior beliefs differ, by the Jensen-Shannon divergence of the two, in bits. Influence goes from the
    record's respondent to the others of the group, from each of them to their own next release, there to the group, and so
    on; the distance of a reached place is the fewest such steps.

    Parameters
    ----------
    adversary : Adversary
        Who attacks; with a cascade. Influence reaches later releases only through transitions.
    least : float
        The divergence in bits from which on a place counts as reached.

    Raises
    ------
    ValueError
        If the adversary has no cascade; when called, if the record does not fit the releases.

    Notes
    -----
    Cost: two attacks, and O(reached places * group size) for the graph. A sampling estimator draws anew in each attack, and
    its noise is taken for influence; use one without.
    """

    adversary: Adversary
    least: float = LEAST

    def __post_init__(self) -> None:
        if self.adversary.cascade is None:
            raise ValueError("the adversary has no cascade, so no record can spread; give it one, as PriorCascade().")

    def __call__(
        self, releases: Iterable[Release], respondent: Hashable, value: Hashable, time: Any, confidence: float = 1.0
    ) -> "nx.DiGraph[Any]":
        """The graph of influence of the record that says ``respondent`` has ``value`` at ``time``.

        Returns
        -------
        networkx.DiGraph
            Nodes ``(respondent, time)``, with the attributes ``bits``, ``distance`` (0 for the record itself), ``release``
            (the number of the release) and ``group``; edges with ``through``: ``"group"`` or ``"time"``. The graph's
            attribute ``source`` is the record's node.
        """
        published = tuple(releases)
        record = pd.DataFrame(
            {"respondent": [respondent], "value": [value], "time": [time], "confidence": [float(confidence)]}
        )
        before = self.adversary.compromised
        records = record if before is None else pd.concat([before.frame, record], ignore_index=True)
        told = replace(
            self.adversary,
            compromised=CompromisedRecords(records, before.contradicted if before is not None else "raise"),
        )
        without, with_record = SequentialAttack(self.adversary)(published), SequentialAttack(told)(published)
        return _graph(without, with_record, (respondent, time), self.least)


def _graph(without: Beliefs, with_record: Beliefs, source: tuple[Hashable, Any], least: float) -> "nx.DiGraph[Any]":
    places: dict[tuple[Hashable, Any], dict[str, Any]] = {}
    mates: dict[tuple[Any, int], list[tuple[Hashable, Any]]] = {}
    following: dict[tuple[Hashable, Any], tuple[Hashable, Any]] = {}
    last: dict[Hashable, tuple[Hashable, Any]] = {}
    for number, (old, new) in enumerate(zip(without, with_record, strict=True)):
        seen = old.observation
        bits = divergence_bits(old.posterior.probabilities, new.posterior.probabilities)
        for row in np.flatnonzero((bits >= least) | (seen.people.respondents == source[0])):
            place = (seen.people.respondents[row], seen.time)
            places[place] = {"bits": float(bits[row]), "release": number, "group": int(seen.group[row])}
            if seen.group[row] >= 0:
                mates.setdefault((seen.time, int(seen.group[row])), []).append(place)
                if place[0] in last:
                    following[last[place[0]]] = place
                last[place[0]] = place
    graph: nx.DiGraph[Any] = nx.DiGraph(source=source)
    graph.add_node(source, **places[source], distance=0)
    # A place that was reached through time passes influence on to its group, one reached through the group does not.
    edge = [(source, True)]
    while edge:
        onward = []
        for place, spreads in edge:
            steps = [(mate, "group") for mate in mates.get((place[1], places[place]["group"]), ()) if spreads]
            steps += [(following[place], "time")] if place in following else []
            for reached, through in steps:
                if reached == place or places[reached]["bits"] < least:
                    continue
                if reached not in graph:
                    graph.add_node(reached, **places[reached], distance=graph.nodes[place]["distance"] + 1)
                    onward.append((reached, through == "time"))
                if through == "time" or graph.nodes[reached]["distance"] > graph.nodes[place]["distance"]:
                    graph.add_edge(place, reached, through=through)
        edge = onward
    return graph


def divergence_bits(one: FloatArray, other: FloatArray) -> FloatArray:
    """The Jensen-Shannon divergence of two arrays of rows, row by row, in bits: shape ``(n,)``."""
    middle = (one + other) / 2
    parts = [
        np.where(rows > 0, rows * np.log2(np.where(rows > 0, rows, 1) / np.where(middle > 0, middle, 1)), 0).sum(axis=1)
        for rows in (one, other)
    ]
    return np.asarray(np.maximum((parts[0] + parts[1]) / 2, 0.0))
