"""What one compromised record did, in numbers."""

from typing import Any

import networkx as nx
import pandas as pd


def influence_by_distance(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    """How many places a compromised record reached at each distance, and how strongly.

    Parameters
    ----------
    graph : networkx.DiGraph
        As `foreknow.attacks.Influence` gives it.

    Returns
    -------
    DataFrame
        A row per distance in steps, the record itself being 0; columns ``places`` (respondents at releases), ``people``,
        ``mean``, ``most`` and ``total`` (the divergence of their beliefs, in bits).
    """
    places = _places(graph)
    grouped = places.groupby("distance")
    return pd.DataFrame(
        {
            "places": grouped.size(),
            "people": grouped["respondent"].nunique(),
            "mean": grouped["bits"].mean(),
            "most": grouped["bits"].max(),
            "total": grouped["bits"].sum(),
        }
    ).reset_index()


def influence_by_release(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    """The same by release: columns time, places, mean, most and total."""
    places = _places(graph)
    grouped = places.sort_values("release").groupby("time", sort=False)["bits"]
    return pd.DataFrame(
        {"places": grouped.size(), "mean": grouped.mean(), "most": grouped.max(), "total": grouped.sum()}
    ).reset_index()


def _places(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    return pd.DataFrame(
        [{"respondent": respondent, "time": time, **data} for (respondent, time), data in graph.nodes(data=True)]
    )
