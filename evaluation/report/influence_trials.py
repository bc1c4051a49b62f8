"""Influence of compromised records: trials with single records that become known."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from foreknow.attacks import Influence
from foreknow.evaluation.report.adversaries import Inference
from foreknow.evaluation.report.pseudonyms import Pseudonyms
from foreknow.evaluation.risk.influence import influence_by_distance
from foreknow.models import Adversary, PriorCascade, Release

TRIALS = 6
"""Number of records that are tried."""

MAX_TRIAL_RECORDS = 50_000
"""Number of records in all, up to which `TRIALS` records are tried; one beyond it."""

LEAST_BITS = 0.002
"""Least change of a belief that counts, in bits (Jensen-Shannon divergence): about 50 % to 55 %."""

COLUMNS = ("person", "time", "respondents", "releases", "mean_bits", "max_bits", "distance")


def influence_trials(
    one: Inference, releases: Sequence[Release], names: Pseudonyms, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Influence of records drawn at random from the first release with a group.

    Each trial adds the true value of one published record to the adversary's knowledge (`Influence`).

    Returns
    -------
    trials : DataFrame
        One row per record, in decreasing order of ``respondents``, the number of other respondents about whom a belief changes
        by at least `LEAST_BITS`. Further columns: ``person``; ``time``; ``releases``, the number of releases reached;
        ``mean_bits`` and ``max_bits`` over the changed beliefs about others; ``distance``, the largest distance in steps.
    by_distance : DataFrame
        `influence_by_distance` of the record that reaches the most respondents.
    """
    release = next((each for each in releases if each.groups), None)
    if release is None:
        return pd.DataFrame(columns=pd.Index(COLUMNS)), pd.DataFrame()
    small = sum(len(each.view) for each in releases) <= MAX_TRIAL_RECORDS
    published = np.flatnonzero(release.group >= 0)
    rows = rng.permutation(published)[: TRIALS if small else 1]
    adversary = _with_cascade(one.adversary)
    found: list[tuple[dict[str, Any], nx.DiGraph[Any]]] = []
    values = release.view.schema.values
    for row in rows.tolist():
        respondent: Hashable = release.view.people.respondents[row]
        value = values[release.view.sensitive[row]]
        graph = Influence(adversary, LEAST_BITS)(releases, respondent, value, release.time)
        found.append(({"person": names(respondent), "time": release.time} | _reach(graph, respondent), graph))
    found.sort(key=lambda each: -each[0]["respondents"])
    return pd.DataFrame([row for row, _ in found], columns=pd.Index(COLUMNS)), influence_by_distance(found[0][1])


def _reach(graph: "nx.DiGraph[Any]", respondent: Hashable) -> dict[str, Any]:
    """Numbers of other respondents and of releases that a record reached, and the changes of belief there."""
    others = [(place, data) for place, data in graph.nodes(data=True) if place[0] != respondent]
    bits = np.array([data["bits"] for _, data in others])
    return {
        "respondents": len({place[0] for place, _ in others}),
        "releases": len({place[1] for place, _ in others}),
        "mean_bits": float(bits.mean()) if len(bits) else 0.0,
        "max_bits": float(bits.max()) if len(bits) else 0.0,
        "distance": max((int(data["distance"]) for _, data in others), default=0),
    }


def _with_cascade(adversary: Adversary) -> Adversary:
    return adversary if adversary.cascade is not None else replace(adversary, cascade=PriorCascade())
