"""Comparison of defenses under attacks on one history, and the worst case over attacks."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from foreknow.attacks import Attack
from foreknow.defenses import Defense, publish
from foreknow.evaluation.arguments import check_history, check_releases
from foreknow.evaluation.cells import Cell, Experiment, fingerprint, run
from foreknow.evaluation.loss.generalization_loss import Width, average_group_size, discernibility, gcp, suppressed
from foreknow.evaluation.loss.queries import Workload, query_error
from foreknow.evaluation.risk.adversary_gain import WORST, risk_table, with_certain, with_right_share, worst_attacks
from foreknow.evaluation.risk.beliefs_and_truth import LeftOut
from foreknow.evaluation.risk.record_linkage import record_linkage
from foreknow.evaluation.scenario import Scenario, ScenarioAttack
from foreknow.models import Adversary, Averaged, Beliefs, CompromisedRecords, History, Release
from foreknow.models.equality import equal_by_fields
from foreknow.models.html_tables import html_table
from foreknow.models.progress import Progress, check_progress, stepping
from foreknow.models.settings import as_generator, check_flag, check_kind, is_whole


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Comparison:
    """Releases of every defense, and beliefs of every attack on them; or the kept tables of their measures.

    Attributes
    ----------
    history : History
        The original records.
    releases : mapping of defense to tuple of Release
    beliefs : mapping of (defense, attack) to Beliefs
    leaving_out : CompromisedRecords or collection of respondents, optional
        Respondents that no risk measure counts; see `adversary_gain`.
    kept : DataFrame, optional
        Risk and cost that `compare` keeps in a folder, with the default settings of these measures; there are then no releases and
        no beliefs.
    """

    history: History
    releases: Mapping[str, tuple[Release, ...]]
    beliefs: Mapping[tuple[str, str], Beliefs]
    leaving_out: LeftOut = None
    kept: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        check_history("Comparison", self.history)
        for name, titled in (("releases", self.releases), ("beliefs", self.beliefs)):
            check_kind("Comparison", name, titled, Mapping, f"is a mapping of names to {name}, as compare makes it")

    def __repr__(self) -> str:
        return f"Comparison(defenses={list(self.releases)}, beliefs={list(self.beliefs)})"

    def _repr_html_(self) -> str:
        rows = [
            [
                defense,
                attack,
                sum(release.groups for release in self.releases.get(defense, ())),
                sum(int((release.group < 0).sum()) for release in self.releases.get(defense, ())),
            ]
            for defense, attack in self.beliefs
        ]
        facts = {"records": sum(map(len, self.history)), "releases of each defense": len(self.history)}
        return html_table("Comparison", facts, ["defense", "attack", "groups", "suppressed"], rows)

    def risk(self, *, sure: float = 0.9, least: float = 2.0**-20) -> pd.DataFrame:
        """Risk measures of `foreknow.evaluation.risk.adversary_gain`, one row per defense, attack and release.

        Parameters
        ----------
        sure : float
            See `disclosures`.
        least : float
            See `log_score`.
        """
        if self.kept is not None:
            return self._kept("risk", ["defense", "attack"], sure == 0.9 and least == 2.0**-20)
        tables = []
        for (defense, attack), beliefs in self.beliefs.items():
            table = risk_table(beliefs, self.history, leaving_out=self.leaving_out, sure=sure, least=least)
            table.insert(0, "attack", attack)
            table.insert(0, "defense", defense)
            tables.append(table)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=pd.Index(["defense", "attack"]))

    def cost(self, workload: Workload | None = None, *, width: Width = "domain") -> pd.DataFrame:
        """Loss measures and record linkage, one row per defense and release.

        Parameters
        ----------
        workload : Workload, optional
            Queries to put to every release; see `Workload.draw`.
        width : {"domain", "table", "distinct"}
            See `gcp`.

        Returns
        -------
        DataFrame
            Columns ``defense``, those of `suppressed`, ``groups``; ``gcp_total``, ``gcp``, ``gcp_per_group`` of `gcp`;
            ``penalized``, ``gcp`` with suppressed records as completely generalized; ``linkage`` of
            `record_linkage`; ``discernibility``; ``group_size`` of `average_group_size`; and with a workload ``query_mean`` and
            ``query_median`` of `query_error`.
        """
        if self.kept is not None:
            return self._kept("cost", ["defense"], workload is None and width == "domain")
        releases = [release for published in self.releases.values() for release in published]
        table = suppressed(releases)
        table.insert(0, "defense", [name for name, published in self.releases.items() for _ in published])
        table["groups"] = [release.groups for release in releases]
        columns = ["gcp_total", "gcp", "gcp_per_group"]
        table[columns] = gcp(releases, width=width)[columns]
        table["penalized"] = gcp(releases, penalize_suppressed=True, width=width)["gcp"]
        table["linkage"] = record_linkage(releases)["linkage"]
        table["discernibility"] = discernibility(releases)["discernibility"]
        table["group_size"] = average_group_size(releases)["group_size"]
        if workload is not None:
            columns = ["query_mean", "query_median"]
            table[columns] = query_error(releases, workload)[columns]
        return table

    def summary(
        self,
        workload: Workload | None = None,
        *,
        sure: float = 0.9,
        least: float = 2.0**-20,
        width: Width = "domain",
    ) -> pd.DataFrame:
        """Risk and cost over all releases, one row per defense and attack.

        Parameters
        ----------
        workload : Workload, optional
            Queries to put to every release; see `Workload.draw`.
        sure, least
            As in `risk`.
        width
            As in `cost`.

        Returns
        -------
        DataFrame
            ``defense`` and ``attack``.

            Risk: ``gain``, the mean of `adversary_gain` over the published records of all releases, without certain ones;
            ``certain``, the number of records in groups of one value; ``total_risk``, which counts these as disclosed;
            ``last_gain``, the gain at the last release that has one; ``confidence``, ``success`` and ``log_score`` (in bits),
            means over all published records; ``sure``, ``expected`` and ``right`` of `disclosures`, summed.

            Cost: ``suppressed_share``, the share of records suppressed; ``group_size``, the mean size of a group; ``gcp``, the
            normalized penalty of a published record, which is 0 for bucketized ones; ``penalized``, that of any record, with
            suppressed ones as completely generalized; ``linkage``, the mean over all records, 0 for suppressed ones;
            ``discernibility_per_record``; and with a workload ``query``, the mean over the releases of the median error.
        """
        risk, cost = self.risk(sure=sure, least=least), self.cost(workload, width=width)
        return pd.DataFrame(
            {"defense": defense, "attack": attack}
            | total_of_risk(risk[(risk["defense"] == defense) & (risk["attack"] == attack)])
            | _total_of_cost(cost[cost["defense"] == defense])
            for defense, attack in risk[["defense", "attack"]].drop_duplicates().itertuples(index=False)
        )

    def _kept(self, which: str, names: list[str], is_default: bool) -> pd.DataFrame:
        """The columns of one kept table, one row for each of some names and each release."""
        if not is_default or self.kept is None:
            raise ValueError(
                f"Comparison: the {which} is kept with the default settings alone; leave them out, or compare without keep."
            )
        own = self.kept.drop_duplicates([*names, f"{which}_time"])[
            [*names, *(c for c in self.kept.columns.astype(str) if c.startswith(f"{which}_"))]
        ]
        return own.rename(columns=lambda name: name.removeprefix(f"{which}_")).reset_index(drop=True)

    def worst_case(self, *, by_release: bool = False, sure: float = 0.9, least: float = 2.0**-20) -> pd.DataFrame:
        """Largest gain, total risk, log score and share of sure and right beliefs of any attack, and the attack.

        Parameters
        ----------
        by_release : bool
            True for one row per defense and release; False for one per defense, over all releases as in `summary`.
        sure, least
            As in `risk`.

        Returns
        -------
        DataFrame
            Columns ``defense``, and ``time`` by release; ``gain``, ``total_risk``, ``log_score`` and ``right_share``, the share
            of the published records with a sure and right belief, each the largest of any attack; ``gain_attack``,
            ``total_risk_attack``, ``log_score_attack`` and ``right_share_attack``, the first attack that reaches it, None where
            no attack has a number. The attack is chosen with the truth known; see `foreknow.evaluation.worst_case`.
        """
        check_flag("Comparison.worst_case", "by_release", by_release)
        risk = self.risk(sure=sure, least=least)
        if risk.empty:
            return worst_attacks(
                risk.reindex(columns=["defense", "attack", "time", *WORST]), ["defense", "time"][: 1 + by_release]
            )
        if by_release:
            return worst_attacks(with_right_share(risk), ["defense", "time"])
        total = pd.DataFrame(
            {"defense": defense, "attack": attack, "published": of_pair["published"].sum()} | total_of_risk(of_pair)
            for (defense, attack), of_pair in risk.groupby(["defense", "attack"], sort=False)
        )
        return worst_attacks(with_right_share(total), ["defense"])


def compare(
    history: History,
    defenses: Mapping[str, Defense],
    attacks: Mapping[str, Attack | Scenario],
    defender: Adversary | Averaged | None = None,
    *,
    corpus: History | None = None,
    leaving_out: LeftOut = None,
    bucketized: bool | None = None,
    infeasible: Literal["raise", "suppress"] = "raise",
    progress: Progress = iter,
    within: Progress = iter,
    rng: np.random.Generator | int | None = None,
    keep: "str | Path | None" = None,
) -> Comparison:
    """Publish a history with every defense, and run every attack on every publication.

    Parameters
    ----------
    history : History
        The original records.
    defenses, attacks : mappings of name to Defense, of name to Attack or Scenario
        Every defense meets the same attacks, and the same scenarios, as those of `SCENARIOS`.
    defender : Adversary or Averaged, optional
        The adversary that the defenses assume, as in `publish`.
    corpus : History, optional
        Records of other people, for the scenarios whose law is from a corpus.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Respondents that no risk measure counts, as in `adversary_gain`. They are published and attacked like the others. By default
        the records that scenarios compromise.
    bucketized : bool, optional
        True publishes all quasi-identifiers as they are, False generalizes all, as in `publish`; by default each defense does
        as it is made.
    infeasible : {"raise", "suppress"}
        Treatment of a release that a defense cannot publish, as in `publish`.
    progress : callable, optional
        Function of the names of the defenses that returns an iterable of the same length, as ``rich.progress.track``. One item is
        taken before each defense.
    within : callable, optional
        The same of the releases of one publication, as the ``progress`` of `publish`.
    rng : numpy.random.Generator or int, optional
        Random generator of the order of records and the numbers of groups, as in `publish`, from which all defenses draw in turn;
        or a seed, from which each draws anew. What scenarios draw is drawn apart. By default fresh entropy.
    keep : path, optional
        Folder in which the measures of each defense and attack are kept: a comparison that was killed goes on. It needs a seed, and
        objects whose classes and functions are in files; random generators of defenses and attacks start anew for each pair. The
        result has the measures of `Comparison` with their default settings, and no releases or beliefs. ``progress`` is then of
        the pairs to measure.

    Raises
    ------
    TypeError, ValueError
        If an argument is of another type, a scenario lacks a history or corpus; or with ``keep`` if there is no seed or no attack,
        or the folder has cells of other records only, a torn or foreign file, or another run.
    """
    check_history("compare", history)
    check_named("compare", "defenses", defenses, '{"Mondrian": Mondrian(KAnonymity(3))}')
    bare = (
        {name: one for name, one in attacks.items() if not isinstance(one, Scenario)}
        if isinstance(attacks, Mapping)
        else attacks
    )
    check_named("compare", "attacks", bare, '{"snapshot": SnapshotAttack(adversary)}')
    if not defenses:
        raise ValueError('compare: defenses is empty; name at least one, as {"Mondrian": Mondrian(KAnonymity(3))}.')
    takes = "takes an Adversary, as Adversary(prior), Averaged(adversaries), or None"
    check_kind("compare", "defender", defender, (Adversary, Averaged, type(None)), takes)
    check_progress("compare", progress, "the names")
    bound = _bound(history, attacks, corpus, rng)
    compromised = [
        one.compromised.frame for one in bound.values() if isinstance(one, ScenarioAttack) and one.compromised
    ]
    if compromised and leaving_out is None:
        leaving_out = CompromisedRecords(pd.concat(compromised, ignore_index=True).drop_duplicates())

    def published(defense: Defense) -> tuple[Release, ...]:
        generator = None if rng is None else as_generator("compare", rng)  # a seed makes a new one
        rules: dict[str, Any] = {"bucketized": bucketized, "infeasible": infeasible, "progress": within}
        return publish(history, defense, defender, rng=generator, **rules)

    if keep is not None:
        if not attacks or not is_whole(rng, 0):
            raise ValueError(
                f"compare: keep needs attacks and a seed, and rng is {rng!r}; give a whole number, as rng=1."
            )
        shared = fingerprint(defender, bucketized, infeasible, rng, leaving_out)
        known = {name: fingerprint(one) for name, one in (*defenses.items(), *attacks.items())}
        cells = [
            {"defense": defense, "attack": attack, "settings": f"{known[defense]} {known[attack]} {shared}"}
            for defense, attack in itertools.product(defenses, attacks)
        ]
        last: dict[str, tuple[Release, ...]] = {}

        def measure(cell: Cell, _: np.random.Generator) -> pd.DataFrame:
            defense, attack = cell["defense"], cell["attack"]
            if defense not in last:
                last.clear()
                last[defense] = published(deepcopy(defenses[defense]))
            beliefs = {(defense, attack): deepcopy(bound[attack])(last[defense])}
            one = Comparison(history, {defense: last[defense]}, beliefs, leaving_out)
            risk, cost = one.risk().drop(columns=["defense", "attack"]), one.cost().drop(columns="defense")
            return risk.add_prefix("risk_").join(cost.add_prefix("cost_"))

        rows = run([Experiment("compare", measure, cells, data=fingerprint(history, corpus))], keep, progress=progress)
        return Comparison(history, {}, {}, leaving_out, rows[~rows["stale"]])
    releases: dict[str, tuple[Release, ...]] = {}
    beliefs: dict[tuple[str, str], Beliefs] = {}
    for name, _ in zip(defenses, progress(list(defenses)), strict=True):
        releases[name] = published(defenses[name])
        beliefs |= {(name, other): attack(releases[name]) for other, attack in bound.items()}
    return Comparison(history, releases, beliefs, leaving_out)


def _bound(
    history: History,
    attacks: Mapping[str, Attack | Scenario],
    corpus: History | None,
    rng: np.random.Generator | int | None,
) -> dict[str, Attack]:
    """Attacks by name, with the history and the corpus that each scenario reads."""
    scenarios = [one for one in attacks.values() if isinstance(one, Scenario)]
    if corpus is not None and not any(one.reads_corpus for one in scenarios):
        raise ValueError(
            "compare: there is a corpus, and no scenario reads one; leave it out, or add one with law='corpus'."
        )
    # Each scenario draws from the same seed, so that equal shares compromise the same records.
    seed = int(as_generator("compare", rng, optional=True).spawn(1)[0].integers(2**32))
    return {
        name: one.attack(history if one.reads_history else None, corpus if one.reads_corpus else None, rng=seed)
        if isinstance(one, Scenario)
        else one
        for name, one in attacks.items()
    }


def check_named(owner: str, name: str, named: Any, example: str) -> None:
    """Raise TypeError unless an argument is a mapping of names to callables."""
    check_kind(owner, name, named, Mapping, f"is a mapping of names, as {example}")
    for key, each in named.items():
        if not callable(each) or isinstance(each, type):
            raise TypeError(f"{owner}: {name}[{key!r}] is {each!r}; it is a settings object, as in {example}.")


def total_of_risk(risk: pd.DataFrame) -> dict[str, object]:
    """Risk over all releases of one defense and attack."""
    published, averaged = risk["published"], risk["published"] - risk["certain"]
    gain, gains, certain = _mean(risk["gain"], averaged), risk["gain"].dropna(), risk["certain"].sum()
    return {
        "gain": gain,
        "certain": certain,
        "total_risk": with_certain(gain, averaged.sum(), certain),
        "last_gain": gains.iloc[-1] if len(gains) else float("nan"),
        "confidence": _mean(risk["confidence"], published),
        "success": _mean(risk["success"], published),
        "log_score": _mean(risk["log_score"], published),
        "sure": risk["sure"].sum(),
        "expected": risk["expected"].sum(),
        "right": risk["right"].sum(),
    }


def _total_of_cost(cost: pd.DataFrame) -> dict[str, object]:
    """Cost over all releases of one defense."""
    records, published = cost["records"], cost["records"] - cost["suppressed"]
    totals: dict[str, object] = {
        "suppressed_share": cost["suppressed"].sum() / records.sum(),
        "group_size": published.sum() / max(cost["groups"].sum(), 1),
        "gcp": _mean(cost["gcp"], published),
        "penalized": _mean(cost["penalized"], records),
        "linkage": _mean(cost["linkage"], records),
        "discernibility_per_record": cost["discernibility"].sum() / records.sum(),
    }
    return totals | ({"query": cost["query_median"].mean()} if "query_median" in cost else {})


def _mean(values: "pd.Series[float]", weights: "pd.Series[int]") -> float:
    """Mean over the releases, weighted by numbers of records; releases without a value or a record are left out."""
    number, weight = values.to_numpy(dtype=float), weights.to_numpy(dtype=float)
    known = ~np.isnan(number) & (weight > 0)
    return float(np.average(number[known], weights=weight[known])) if known.any() else float("nan")


def worst_case(
    releases: Iterable[Release] | Mapping[str, Iterable[Release]],
    attacks: Mapping[str, Attack],
    *,
    by_release: bool = False,
    leaving_out: LeftOut = None,
    sure: float = 0.9,
    least: float = 2.0**-20,
    progress: Progress = iter,
) -> pd.DataFrame:
    """Largest gain, total risk, log score and share of sure and right beliefs that any attack reaches, and the attack.

    Parameters
    ----------
    releases : iterable of Release, or mapping of defense to iterable of Release
        Publications, with their original records in ``release.view``.
    attacks : mapping of name to Attack
        Every publication meets the same attacks.
    by_release : bool
        True for a row per release; False for a row over all releases.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.
    sure, least
        See `disclosures` and `log_score`.
    progress : callable, optional
        Function of the pairs of a defense and an attack that returns an iterable of the same length, as ``rich.progress.track``.
        One item is taken before each attack.

    Returns
    -------
    DataFrame
        As `Comparison.worst_case`; ``defense`` only with a mapping.

    Notes
    -----
    Which attack is best is chosen with the truth known, for each row and measure. An adversary without the truth does not know
    the choice, and the largest of several noisy means is biased upwards: compare few attacks on few records with care. The
    worst case is that of the attacks given; other attacks may gain more. Cost: that of the attacks, and O(n m) per attack and
    release.

    Examples
    --------
    >>> import numpy as np
    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, Numeric, RandomWorlds, Schema, UniformPrior, View
    >>> frame = pd.DataFrame({"id": ["A", "B"], "age": [20, 21], "result": ["ill", "well"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = GivenPrior(pd.DataFrame({"ill": [0.8, 0.2], "well": [0.2, 0.8]}, index=["A", "B"]))
    >>> attacks = {"nothing": SnapshotAttack(Adversary(UniformPrior())), "prior": SnapshotAttack(Adversary(prior))}
    >>> worst_case([Release(view, [0, 0])], attacks)[["gain", "gain_attack", "right_share"]].round(3)
        gain gain_attack  right_share
    0  0.882       prior          1.0
    """
    check_flag("worst_case", "by_release", by_release)
    check_named("worst_case", "attacks", attacks, '{"snapshot": SnapshotAttack(adversary)}')
    published = _publications(releases)
    if not attacks or not published:
        missing = "releases" if attacks else "attacks"
        raise ValueError(f"worst_case: {missing} is empty; give at least one, as in worst_case(releases, attacks).")
    check_progress("worst_case", progress, "pairs")
    step = stepping(progress, [(name, attack) for name in published for attack in attacks])
    tables = [
        _comparison(name, each, attacks, leaving_out, step).worst_case(by_release=by_release, sure=sure, least=least)
        for name, each in published.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    return table if isinstance(releases, Mapping) else table.drop(columns="defense")


def _publications(releases: Any) -> dict[str, tuple[Release, ...]]:
    """Publications by the name of the defense; one sequence of releases has the name "releases"."""
    if isinstance(releases, Mapping):
        return {name: check_releases("worst_case", each) for name, each in releases.items()}
    listed = check_releases("worst_case", releases)
    return {"releases": listed} if listed else {}


def _comparison(
    name: str,
    releases: tuple[Release, ...],
    attacks: Mapping[str, Attack],
    leaving_out: LeftOut,
    step: Callable[[], None],
) -> Comparison:
    """Beliefs of every attack on one publication, beside the original records."""
    beliefs: dict[tuple[str, str], Beliefs] = {}
    for attack, attacked in attacks.items():
        step()
        beliefs[name, attack] = attacked(releases)
    return Comparison(History([release.view for release in releases]), {name: releases}, beliefs, leaving_out)
