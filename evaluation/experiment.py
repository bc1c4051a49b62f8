"""Defenses and attacks held against each other on one history."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.attacks import Attack
from foreknow.defenses import Defense, publish
from foreknow.evaluation.loss.class_sizes import average_class_size, discernibility
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.evaluation.loss.queries import query_error
from foreknow.evaluation.loss.workload import Workload
from foreknow.evaluation.risk.record_linkage import record_linkage
from foreknow.evaluation.risk.risk_table import risk_table
from foreknow.evaluation.risk.total_risk import with_certain
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
        """The measures of `foreknow.evaluation.risk.risk_table`, one row per defense, attack and release."""
        tables = []
        for (defense, attack), beliefs in self.beliefs.items():
            table = risk_table(beliefs, self.history)
            table.insert(0, "attack", attack)
            table.insert(0, "defense", defense)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def cost(self, workload: Workload | None = None) -> pd.DataFrame:
        """One row per defense and release: what was left out and blurred, and how far records can be linked.

        Parameters
        ----------
        workload : Workload, optional
            Queries to put to every release; see `Workload.draw`.

        Returns
        -------
        DataFrame
            Columns ``defense``, those of `suppressed`, ``groups``; ``total``, ``normalized``, ``per_group`` of `gcp`;
            ``penalized``, the normalized one with suppressed records as blurred completely; ``linkage``, the mean of
            `record_linkage`; ``discernibility``, with the penalty for suppressed records; ``class_size``, the mean size of a group
            without counterfeits; and with a workload ``query_mean`` and ``query_median``, of `query_error`.
        """
        releases = [release for published in self.releases.values() for release in published]
        table = suppressed(releases)
        table.insert(0, "defense", [name for name, published in self.releases.items() for _ in published])
        table["groups"] = [release.groups for release in releases]
        table[["total", "normalized", "per_group"]] = gcp(releases)[["total", "normalized", "per_group"]]
        table["penalized"] = gcp(releases, penalize_suppressed=True)["normalized"]
        table["linkage"] = record_linkage(releases)["mean"]
        table["discernibility"] = discernibility(releases)["penalized"]
        table["class_size"] = average_class_size(releases)["average"]
        if workload is not None:
            table[["query_mean", "query_median"]] = query_error(releases, workload)[["mean", "median"]]
        return table

    def summary(self, workload: Workload | None = None) -> pd.DataFrame:
        """One row per defense and attack, over all releases.

        Parameters
        ----------
        workload : Workload, optional
            Queries to put to every release; see `Workload.draw`.

        Returns
        -------
        DataFrame
            ``defense`` and ``attack``.

            Risk: ``gain``, the mean of `adversary_gain` over the published records of all releases, without those in groups of
            one value; ``certain``, the number of these; ``total_risk``, which counts them as disclosed (`total_risk`, of this
            row's gain); ``last_gain``, the gain at the last release that has one; ``confidence``, ``success`` and
            ``log_score`` (in bits), means over all published records; ``sure``, the number of records with a belief of .9 or
            more in some value, ``expected``, the sum of these beliefs, and ``right``, the number of them whose value is true.

            Cost: ``suppressed``, a share of the records; ``size``, the mean size of a group; ``gcp``, the normalized penalty of
            a published record, which is 0 for bucketized ones; ``penalized``, that of any record, where a suppressed one counts
            as generalized completely; ``linkage``, the mean over all records, 0 for suppressed ones; ``discernibility`` per
            record, penalized; and with a workload ``query``, the mean over the releases of their median error.
        """
        risk, cost = self.risk(), self.cost(workload)
        rows = []
        for defense, attack in self.beliefs:
            r = risk[(risk["defense"] == defense) & (risk["attack"] == attack)]
            c = cost[cost["defense"] == defense]
            published = c["records"] - c["suppressed"]
            gains, certain = r["gain"].dropna(), r["certain"].sum()
            gain = _mean(r["gain"], r["records"])
            rows.append(
                {
                    "defense": defense,
                    "attack": attack,
                    "gain": gain,
                    "certain": certain,
                    "total_risk": with_certain(gain, r["records"].sum(), certain),
                    "last_gain": gains.iloc[-1] if len(gains) else float("nan"),
                    "confidence": _mean(r["confidence"], published),
                    "success": _mean(r["success"], published),
                    "log_score": _mean(r["log_score"], published),
                    "sure": r["sure"].sum(),
                    "expected": r["expected"].sum(),
                    "right": r["right"].sum(),
                    "suppressed": c["suppressed"].sum() / c["records"].sum(),
                    "size": published.sum() / max(c["groups"].sum(), 1),
                    "gcp": _mean(c["normalized"], published),
                    "penalized": _mean(c["penalized"], c["records"]),
                    "linkage": _mean(c["linkage"], c["records"]),
                    "discernibility": c["discernibility"].sum() / c["records"].sum(),
                }
                | ({} if workload is None else {"query": c["query_median"].mean()})
            )
        return pd.DataFrame(rows)


def compare(
    history: History,
    defenses: Mapping[str, Defense],
    attacks: Mapping[str, Attack],
    defender: Adversary | None = None,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
    bucketized: bool | None = None,
    *,
    rng: np.random.Generator | None = None,
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
    bucketized : bool, optional
        Whether all publish quasi-identifiers as they are, or generalized, as in `publish`; by default each as it does.
    rng : numpy.random.Generator, optional
        Draws the order of records and the numbers of groups, as in `publish`, for a comparison that must be repeated.
    """
    releases: dict[str, tuple[Release, ...]] = {}
    beliefs: dict[tuple[str, str], Beliefs] = {}
    for name in progress(list(defenses)):
        releases[name] = publish(history, defenses[name], defender, bucketized, rng=rng)
        beliefs |= {(name, other): attack(releases[name]) for other, attack in attacks.items()}
    return Comparison(history, releases, beliefs)


def _mean(values: "pd.Series[float]", weights: "pd.Series[int]") -> float:
    """The mean over the releases that published anything, weighed by how many records they did."""
    number, weight = values.to_numpy(dtype=float), weights.to_numpy(dtype=float)
    known = ~np.isnan(number) & (weight > 0)
    return float(np.average(number[known], weights=weight[known])) if known.any() else float("nan")
