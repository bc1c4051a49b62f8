"""Defenses and attacks held against each other on one history."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.attacks import Attack
from foreknow.defenses import Defense, publish
from foreknow.evaluation.cost import gcp, suppressed
from foreknow.evaluation.risk import risk_table
from foreknow.models import Adversary, Beliefs, History, Release


@dataclass(frozen=True, eq=False)
class Comparison:
    """Every defense under every attack.

    Attributes
    ----------
    history : History
        What was published.
    releases : mapping of defense to tuple of Release
    beliefs : mapping of (defense, attack) to Beliefs
    """

    history: History
    releases: Mapping[str, tuple[Release, ...]]
    beliefs: Mapping[tuple[str, str], Beliefs]

    def __repr__(self) -> str:
        return f"Comparison(defenses={list(self.releases)}, beliefs={list(self.beliefs)})"

    def risk(self) -> pd.DataFrame:
        """One row per defense, attack and release: gain, confidence, success, and who is surely believed of what."""
        tables = []
        for (defense, attack), beliefs in self.beliefs.items():
            table = risk_table(beliefs, self.history)
            table.insert(0, "attack", attack)
            table.insert(0, "defense", defense)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def cost(self) -> pd.DataFrame:
        """One row per defense and release: records, groups, suppressed and distorted records, and certainty penalties."""
        tables = []
        for defense, releases in self.releases.items():
            table = suppressed(releases)
            table.insert(0, "defense", defense)
            table["groups"] = [release.groups for release in releases]
            table[["total", "normalized", "per_group"]] = gcp(releases)[["total", "normalized", "per_group"]]
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def summary(self) -> pd.DataFrame:
        """One row per defense and attack, over all releases.

        ``gain``, ``confidence`` and ``success`` are means over all published records of all releases, ``gain`` without
        those in groups of one value, as `adversary_gain` has it; ``last_gain`` is the gain at the last release in which
        anything was published; ``sure`` and ``right`` count records; ``suppressed`` is a share of the records, ``size``
        the mean size of a group, ``gcp`` the normalized penalty of a published record.
        """
        risk, cost = self.risk(), self.cost()
        rows = []
        for defense, attack in self.beliefs:
            r = risk[(risk["defense"] == defense) & (risk["attack"] == attack)]
            c = cost[cost["defense"] == defense]
            published = c["records"] - c["suppressed"]
            gains = r["gain"].dropna()
            rows.append(
                {
                    "defense": defense,
                    "attack": attack,
                    "gain": _mean(r["gain"], r["records"]),
                    "last_gain": gains.iloc[-1] if len(gains) else float("nan"),
                    "confidence": _mean(r["confidence"], published),
                    "success": _mean(r["success"], published),
                    "sure": r["sure"].sum(),
                    "right": r["right"].sum(),
                    "suppressed": c["suppressed"].sum() / c["records"].sum(),
                    "size": published.sum() / max(c["groups"].sum(), 1),
                    "gcp": _mean(c["normalized"], published),
                }
            )
        return pd.DataFrame(rows)


def compare(
    history: History,
    defenses: Mapping[str, Defense],
    attacks: Mapping[str, Attack],
    defender: Adversary | None = None,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> Comparison:
    """Publish a history with every defense, and run every attack on every publication.

    Parameters
    ----------
    history : History
        The original records.
    defenses, attacks : mappings of name to Defense, to attack
        What to hold against each other. All defenses meet the same attacks.
    defender : Adversary, optional
        Whom the defenses assume, as in `publish`.
    progress : callable, optional
        What the names of the defenses go through, as ``rich.progress.track``.
    """
    releases: dict[str, tuple[Release, ...]] = {}
    beliefs: dict[tuple[str, str], Beliefs] = {}
    for name in progress(list(defenses)):
        releases[name] = publish(history, defenses[name], defender)
        beliefs |= {(name, other): attack(releases[name]) for other, attack in attacks.items()}
    return Comparison(history, releases, beliefs)


def _mean(values: "pd.Series[float]", weights: "pd.Series[int]") -> float:
    """The mean over the releases that published anything, weighed by how many records they did."""
    number, weight = values.to_numpy(dtype=float), weights.to_numpy(dtype=float)
    known = ~np.isnan(number) & (weight > 0)
    return float(np.average(number[known], weights=weight[known])) if known.any() else float("nan")
