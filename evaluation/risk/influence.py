"""Influence of one compromised record, by distance and by release."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from foreknow.evaluation.arguments import check_influence

if TYPE_CHECKING:
    import networkx as nx


def influence_by_distance(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    """Number of places that a compromised record reached at each distance, and the change of belief there.

    A place is a respondent at a release. The change of belief is a Jensen-Shannon divergence, in bits.

    Parameters
    ----------
    graph : networkx.DiGraph
        The result of `foreknow.attacks.Influence`.

    Returns
    -------
    DataFrame
        One row per distance in steps, 0 for the record itself. Columns ``distance``; ``places``; ``respondents``, the number of
        distinct ones; ``mean_bits``, ``max_bits`` and ``total_bits``, the mean, maximum and sum of the changes.

    Raises
    ------
    TypeError, ValueError
        If the graph is no graph of influence.
    """
    check_influence("influence_by_distance", graph)
    places = _places(graph).groupby("distance")
    table = _bits(places)
    table.insert(1, "respondents", places["respondent"].nunique())
    return table.reset_index()


def influence_by_release(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    """Number of places that a compromised record reached in each release, and the change of belief there.

    Parameters
    ----------
    graph : networkx.DiGraph
        The result of `foreknow.attacks.Influence`.

    Returns
    -------
    DataFrame
        One row per release reached. Columns ``time``, and ``places``, ``mean_bits``, ``max_bits`` and ``total_bits`` as in
        `influence_by_distance`.

    Raises
    ------
    TypeError, ValueError
        If the graph is no graph of influence.
    """
    check_influence("influence_by_release", graph)
    return _bits(_places(graph).sort_values("release").groupby("time", sort=False)).reset_index()


def _bits(places: Any) -> pd.DataFrame:
    bits = places["bits"]
    return pd.DataFrame(
        {"places": places.size(), "mean_bits": bits.mean(), "max_bits": bits.max(), "total_bits": bits.sum()}
    )


def _places(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    return pd.DataFrame(
        [{"respondent": respondent, "time": time, **data} for (respondent, time), data in graph.nodes(data=True)]
    )
