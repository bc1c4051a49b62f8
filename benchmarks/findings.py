"""Recompute sections 1 to 11 of docs/findings.md: ``python benchmarks/findings.py``, some minutes on two cores."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from foreknow.attacks import Influence, SequentialAttack, SnapshotAttack
from foreknow.defenses import (
    BKAA,
    Defense,
    DistinctDiversity,
    JSimilarity,
    JSReduce,
    KAnonymity,
    Mondrian,
    TCloseness,
    grow,
    hilbert_order,
    publish,
    summarize_groups,
    summarize_records,
)
from foreknow.evaluation import (
    Comparison,
    adversary_gain,
    disclosures,
    exams,
    gcp,
    influence_by_distance,
    log_score,
    suppressed,
)
from foreknow.evaluation.cli import demo
from foreknow.models import (
    Adversary,
    Auto,
    BeliefPropagation,
    Beliefs,
    Cascade,
    ClassFrequencies,
    CompromisedRecords,
    ConfidenceSum,
    DirichletMultinomial,
    Estimator,
    EvidenceCascade,
    Exact,
    GivenPrior,
    History,
    IncrementalChain,
    MarkovChain,
    Memory,
    Mixed,
    Numeric,
    Omega,
    PosteriorCascade,
    PriorCascade,
    Release,
    RemoveKnown,
    Schema,
    Simulation,
    Sinkhorn,
    SwapChain,
    UniformPrior,
    View,
)

SAFE = Mondrian(KAnonymity(2) & DistinctDiversity(2))
CLASSES = {"age": 3, "gender": 2, "weight": 3}
SHOWN = [0, 1, 3, 6, 11, 23]


def seeded(seed: int = 2012) -> np.random.Generator:
    return np.random.default_rng(seed)


def gains(adversary: Adversary, releases: tuple[Release, ...], history: History) -> "pd.Series[float]":
    return adversary_gain(SequentialAttack(adversary)(releases), history)["gain"]


def attack_on_exams() -> Iterator[str]:
    """Section 1: gain of the sequential and the snapshot attack."""
    for weeks in (1, 26):
        simulation = exams(weeks_per_step=weeks, rng=seeded())
        releases = publish(simulation.history, SAFE, rng=seeded(1))
        for estimator in (Omega(), Exact()):
            adversary = Adversary(simulation.prior, simulation.transitions, estimator=estimator)
            gain = gains(adversary, releases, simulation.history)
            snapshot = adversary_gain(SnapshotAttack(adversary)(releases), simulation.history)["gain"].abs().max()
            sure = disclosures(SequentialAttack(adversary)(releases), simulation.history).iloc[-1]
            yield (
                f"{weeks} weeks {estimator}: {gain[SHOWN].round(3).tolist()}, over .4 from {int((gain > 0.4).idxmax()) + 1} on, "
                f"snapshot at most {snapshot:.4f}; at the last release {dict(sure)}"
            )


def knowledge() -> Iterator[str]:
    """Section 1: mined and extracted knowledge."""
    simulation = exams(rng=seeded())
    releases = publish(simulation.history, SAFE, rng=seeded(1))
    for name, prior, chain in sources(simulation):
        for estimator in (Omega(), Exact()):
            gain = gains(Adversary(prior, chain, estimator=estimator), releases, simulation.history)
            yield f"{name}, {estimator}: {gain[SHOWN].round(3).tolist()}"


def sources(simulation: Simulation) -> Iterator[tuple[str, object, object]]:
    large, small = exams(rng=seeded(99)).history, exams(records=500, rng=seeded(7)).history
    yield "exact", simulation.prior, simulation.transitions
    for name, corpus in (("mined from 24 x 5,000", large), ("mined from 24 x 500", small)):
        yield name, ClassFrequencies.fit(corpus, CLASSES), MarkovChain.fit(corpus)
    yield "as printed", ClassFrequencies.fit(large, CLASSES), MarkovChain.fit(large, as_printed=True)
    yield "extracted before", simulation.prior, IncrementalChain.fit(simulation.history)
    yield "extracted up to", simulation.prior, IncrementalChain.fit(simulation.history, inclusive=True)


def js_reduce_on_exams() -> Iterator[str]:
    """Section 2: JS-reduce by thresholds and by the treatment of leftovers."""
    simulation = exams(rng=seeded())
    settings = [(0.5, j, p, 2.0, "suppress") for j in (0.6, 1.0, 1.5, 2.0) for p in (None, 50)]
    settings += [(t, j, None, 2.0, "suppress") for t, j in ((0.3, 0.6), (0.3, 0.8), (0.2, 0.6))]
    settings += [(0.5, 0.6, 50, math.e, "suppress"), (0.5, 0.6, 50, 2.0, "relax"), (0.5, 0.6, 50, 2.0, "counterfeit")]
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    for t, j, patience, base, leftovers in settings:
        defense = JSReduce(3, t, j, base, patience=patience, leftovers=leftovers)
        releases = publish(simulation.history, defense, omega, rng=seeded(1))
        lost, gain = suppressed(releases), gains(omega, releases, simulation.history)
        published = lost["records"].sum() - lost["suppressed"].sum()
        yield (
            f"{defense}: at most {lost['suppressed'].max()} in a view, {1 - published / lost['records'].sum():.3f} of all, "
            f"{(lost['suppressed'] == lost['records']).sum()} releases empty, distorted {lost['distorted'].sum()}, gain up to "
            f"{gain.max():.2f}, groups of {published / max(sum(r.groups for r in releases), 1):.1f}, "
            f"GCP {gcp(releases)['normalized'].mean():.3f}"
        )


def divergence_on_exams() -> Iterator[str]:
    """Section 2: the divergence of the shortest runs that are 3-anonymous and .5-close, at every fiftieth start."""
    simulation = exams(rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    releases, memory = publish(simulation.history, JSReduce(3, 0.5, 0.6, patience=50), omega, rng=seeded(1)), Memory()
    for release in releases[:6]:
        prior = omega.revise(memory, release.view.people)
        records, order = summarize_records(release.view, prior), hilbert_order(release.view.people)
        short, longer = [], []
        for start in range(0, 4900, 50):
            run = grow(records, order[start : start + 60], KAnonymity(3) & TCloseness(0.5)).groups
            if run:
                for size, into in ((len(run[0]), short), (len(run[0]) + 20, longer)):
                    labels = np.full(len(order), -1)
                    labels[order[start : start + size]] = 0
                    into.append(float(JSimilarity(0.6).level(summarize_groups(records, labels))[0]))
        quartile = np.quantile(short, 0.75)
        yield f"{release.time}: median {np.median(short):.2f}, quartile {quartile:.2f}, with 20 more {np.median(longer):.2f}"
        _, memory = omega.observe(memory, release.observation)


def settling() -> Iterator[str]:
    """Section 4: groups that fail once leftovers are suppressed."""
    simulation = exams(rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    first = publish(simulation.history.views[:1], JSReduce(3, 0.5, 0.6, patience=50), omega, rng=seeded(1))[0]
    _, memory = omega.observe(Memory(), first.observation)
    view = simulation.history[1]
    prior = omega.revise(memory, view.people)
    labels = JSReduce(3, 0.5, 0.6, patience=50, judged="view")(view, prior).labels
    records, close = summarize_records(view, prior), TCloseness(0.5)
    lost = int((labels < 0).sum())
    while (labels >= 0).any():
        kept = labels >= 0
        labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
        groups = summarize_groups(records[np.flatnonzero(kept)], labels[kept])
        whole = type(groups.table)(groups.table.values, groups.counts.sum(axis=0))
        failing = ~close(type(groups)(groups.size, groups.counts, groups.prior, groups.entropy, whole))
        if not failing.any():
            break
        yield f"{lost} suppressed so far: {failing.sum()} groups of {groups.size[failing].sum()} records fail"
        labels[kept] = np.where(failing[labels[kept]], -1, labels[kept])
        lost = int((labels < 0).sum())
    yield f"{lost} suppressed at the end; merged instead: {JSReduce(3, 0.5, 0.6, patience=50)(view, prior).notes}"


def pbc_over_splits(splits: int = 30) -> Iterator[str]:
    """Section 3: Mondrian and JS-reduce on 30 random splits of the patients."""
    defenses: dict[str, Defense] = {
        f"Mondrian k={k}, l=2": Mondrian(KAnonymity(k) & DistinctDiversity(2)) for k in (3, 5, 6, 7, 8)
    }
    defenses["Mondrian k=3, t=.3"] = Mondrian(KAnonymity(3) & TCloseness(0.3))
    defenses |= {
        f"JSReduce(3, {t}, {j})": JSReduce(3, t, j, patience=20)
        for t, j in ((0.5, 0.6), (0.5, 0.2), (0.3, 0.6), (0.3, 0.2), (0.2, 0.2))
    }
    tables = []
    for seed in range(splits):
        comparison = demo.run(seed, defenses).comparison
        table = comparison.summary()
        table["penalized"] = table["defense"].map(penalized(comparison))
        table["expected"] = [disclosures(b, comparison.history)["expected"].sum() for b in comparison.beliefs.values()]
        tables.append(table[table["attack"] == demo.STRONGEST_ATTACK].assign(seed=seed))
    found = pd.concat(tables)
    columns = ["gain", "sure", "right", "expected", "suppressed_share", "group_size", "gcp", "penalized"]
    yield found.groupby("defense", sort=False)[columns].mean().round(3).to_string()
    wide = found.pivot_table(index="seed", columns="defense", values="gain")
    for one, other in (
        ("JSReduce(3, 0.5, 0.6)", "Mondrian k=3, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=3, l=2"),
        ("JSReduce(3, 0.3, 0.2)", "Mondrian k=5, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=6, l=2"),
        ("JSReduce(3, 0.2, 0.2)", "Mondrian k=7, l=2"), ("JSReduce(3, 0.2, 0.2)", "Mondrian k=8, l=2"),
    ):  # fmt: skip
        yield f"gain of {one} below that of {other} in {(wide[one] < wide[other]).sum()} of {len(wide)} splits"


def penalized(comparison: Comparison) -> dict[str, float]:
    """Normalized certainty penalty with suppressed records as completely generalized."""
    found = {}
    for name, releases in comparison.releases.items():
        table = gcp(releases, penalize_suppressed=True)
        found[name] = float(np.average(table["normalized"], weights=table["measured"]))
    return found


def counted_twice() -> Iterator[str]:
    """Section 5: two respondents who always share a group and never change."""
    schema = Schema({"age": Numeric(0, 9)}, "value", ("a", "b"))
    frame = pd.DataFrame({"id": ["x", "y"], "age": [1, 2], "value": ["a", "b"]})
    prior = GivenPrior(pd.DataFrame([[0.6, 0.4], [0.4, 0.6]], index=["x", "y"], columns=["a", "b"]))
    releases = [Release(View(frame, schema, time), [0, 0]) for time in range(1, 6)]
    beliefs = SequentialAttack(Adversary(prior, MarkovChain(1, np.eye(2)), estimator=Exact()))(releases)
    yield f"belief that x has a: {[round(float(beliefs.posterior(t).loc['x', 'a']), 4) for t in range(1, 6)]}"


def nothing_to_learn() -> Iterator[str]:
    """Section 5: independent values, and knowledge extracted before and up to the release."""
    for inclusive in (False, True):
        gain = [_without_memory(seed, inclusive) for seed in range(200)]
        yield f"inclusive={inclusive}: gain {np.mean(gain):.4f} +- {np.std(gain) / math.sqrt(len(gain)):.4f}"


def _without_memory(seed: int, inclusive: bool) -> float:
    rng, people = seeded(seed), 40
    frame = pd.DataFrame(
        {
            "id": np.tile(np.arange(people), 2),
            "week": np.repeat([1, 2], people),
            "age": np.tile(rng.integers(20, 60, people), 2),
            "value": rng.integers(0, 6, 2 * people),
        }
    )
    history = History.read(frame, Schema({"age": Numeric()}, "value", range(6)))
    releases = tuple(Release(view, rng.permutation(people) // 4) for view in history)
    adversary = Adversary(UniformPrior(), IncrementalChain.fit(history, inclusive=inclusive), estimator=Exact())
    return float(gains(adversary, releases, history).iloc[1])


RULES: dict[str, Estimator] = {
    "ConfidenceSum": ConfidenceSum(),
    "DirichletMultinomial": DirichletMultinomial(),
    "Omega": Omega(),
    "Sinkhorn": Sinkhorn(),
    "BeliefPropagation": BeliefPropagation(),
    "SwapChain": SwapChain(rng=seeded(3)),
    "Auto": Auto(),
}


def rules_on_exams() -> Iterator[str]:
    """Section 8: the same releases under every estimator."""
    simulation = exams(rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    settings = {"Mondrian": publish(simulation.history, SAFE, rng=seeded(1))}
    settings["JSReduce(3, .5, .6)"] = publish(
        simulation.history, JSReduce(3, 0.5, 0.6, patience=50), omega, rng=seeded(1)
    )
    for name, releases in settings.items():
        for rule, estimator in RULES.items():
            beliefs = SequentialAttack(Adversary(simulation.prior, simulation.transitions, estimator=estimator))(
                releases
            )
            gain = adversary_gain(beliefs, simulation.history)["gain"]
            held = disclosures(beliefs, simulation.history)[["sure", "right", "expected"]].sum()
            yield (
                f"{name}, {rule}: {gain[SHOWN].round(3).tolist()}, log score {mean_score(beliefs, simulation.history):.3f}; "
                f"sure {held['sure']:.0f}, expected {held['expected']:.0f}, right {held['right']:.0f}{sampled(beliefs)}"
            )


def sampled(beliefs: Beliefs) -> str:
    """Convergence of a sampling estimator: median over records of the smallest effective sample size, and share of large R-hat."""
    least = [
        np.where(error > 0, ess, np.inf).min(axis=1)
        for error, ess in ((r.posterior.standard_error, r.posterior.ess) for r in beliefs)
        if error is not None and ess is not None
    ]
    if not least:
        return ""
    drawn = np.concatenate(least)
    rhat = np.concatenate([r.posterior.rhat.max(axis=1) for r in beliefs if r.posterior.rhat is not None])
    return (
        f"; of the {np.isfinite(drawn).mean():.0%} of records that were sampled the median effective sample size is "
        f"{np.median(drawn[np.isfinite(drawn)]):.0f}, R-hat over 1.01 in {(rhat > 1.01).mean():.1%} of all"
    )


def mean_score(beliefs: Beliefs, history: History) -> float:
    table = log_score(beliefs, history)
    return float(np.average(table["log_score"], weights=table["measured"]))


def fixed_adversary() -> Iterator[str]:
    """Section 9: JSReduce published under each of two estimators, attacked by both and by `Auto`."""
    simulation = exams(rng=seeded())
    for judged in ("DirichletMultinomial", "Omega"):
        defender = Adversary(simulation.prior, simulation.transitions, estimator=RULES[judged])
        releases = publish(simulation.history, JSReduce(3, 0.5, 0.6, patience=50), defender, rng=seeded(1))
        lost, each = suppressed(releases), []
        for rule in ("DirichletMultinomial", "Omega", "Auto"):
            adversary = Adversary(simulation.prior, simulation.transitions, estimator=RULES[rule])
            gain = gains(adversary, releases, simulation.history)
            each.append(f"{rule} {gain.max():.3f} at most, {gain.iloc[-1]:.3f} at the end")
        yield (
            f"published under {judged}: at most {lost['suppressed'].max()} suppressed in a view, GCP "
            f"{gcp(releases)['normalized'].mean():.3f}; gain under {'; '.join(each)}"
        )


def second_order(seed: int, people: int = 2000, views: int = 10, values: int = 6) -> Simulation:
    """A history of a chain of order 2: each value depends on the two values before it."""
    rng = seeded(seed)
    law = rng.dirichlet(np.full(values, 0.15), (values, values))
    start = rng.dirichlet(np.ones(values))
    path = np.zeros((people, views), dtype=np.int64)
    path[:, 0] = rng.choice(values, people, p=start)
    first = rng.dirichlet(np.full(values, 0.5), values)
    for t in range(1, views):
        rows = first[path[:, 0]] if t == 1 else law[path[:, t - 2], path[:, t - 1]]
        path[:, t] = (rows.cumsum(axis=1) < rng.random((people, 1)) - 1e-12).sum(axis=1)
    frame = pd.DataFrame(
        {
            "id": np.tile(np.arange(people), views),
            "time": np.repeat(np.arange(views), people),
            "age": np.tile(rng.integers(20, 80, people), views),
            "value": path.T.ravel(),
        }
    )
    history = History.read(frame, Schema({"age": Numeric()}, "value", tuple(range(values))), time="time")
    prior = GivenPrior(pd.DataFrame(np.tile(start, (people, 1)), index=np.arange(people), columns=list(range(values))))
    return Simulation(history, prior, MarkovChain(2, law, (first,)))


def revisions() -> Iterator[str]:
    """Section 10: each revision rule on a chain of order 2; groups are drawn anew at every release."""
    found = []
    for seed in range(10):
        simulation = second_order(seed)
        rng = seeded(seed)
        releases = tuple(Release(view, rng.permutation(len(view)) // 4) for view in simulation.history)
        for chain in (simulation.transitions, simulation.transitions.truncate(1)):
            for revision in ("product", "chain", "filter") if chain.order == 2 else ("filter",):
                adversary = Adversary(simulation.prior, chain, estimator=Exact(), revision=revision)
                beliefs = SequentialAttack(adversary)(releases)
                risk = adversary_gain(beliefs, simulation.history)["gain"]
                held = disclosures(beliefs, simulation.history)[["sure", "right", "expected"]].sum()
                found.append(
                    {
                        "order": chain.order,
                        "revision": revision,
                        "second": risk[1],
                        "third": risk[2],
                        "last": risk.iloc[-1],
                    }
                    | {"log score": mean_score(beliefs, simulation.history), "sure": held["sure"]}
                    | {"expected": held["expected"] / held["sure"], "right": held["right"] / held["sure"]}
                )
    yield pd.DataFrame(found).groupby(["order", "revision"], sort=False).mean().round(3).to_string()


def cascades_on_exams() -> Iterator[str]:
    """Section 11: BayFrame's Figures 4, 5 and 11 under its own estimator and under Bayes' rule; groups as in section 9."""
    simulation = exams(rng=seeded())
    defender = Adversary(simulation.prior, simulation.transitions, estimator=DirichletMultinomial())
    releases = publish(simulation.history, JSReduce(3, 0.5, 0.6, patience=50), defender, rng=seeded(1))
    for share in (0.01, 0.1):
        records = CompromisedRecords.sample(simulation.history, share, 0.9, rng=seeded(2019))
        sure = CompromisedRecords(records.frame.assign(confidence=1.0))
        ever = set(records.frame["respondent"])
        kinds: list[tuple[str, CompromisedRecords | None, Cascade | None, str]] = [
            ("no compromised records", None, None, "both"),
            ("PriorCascade", records, PriorCascade(), "both"),
            ("PriorCascade as printed", records, PriorCascade(normalized=False), "both"),
            ("PosteriorCascade", records, PosteriorCascade(), "DirichletMultinomial"),
            ("EvidenceCascade", records, EvidenceCascade(), "both"),
            ("RemoveKnown, CR = 1", sure, RemoveKnown(), "both"),
        ]
        for name, known, cascade, rule in kinds:
            for estimator in (DirichletMultinomial(), Auto()):
                if rule in ("both", type(estimator).__name__):
                    adversary = Adversary(simulation.prior, simulation.transitions, known, estimator, cascade)
                    beliefs = SequentialAttack(adversary)(releases)
                    all_records = adversary_gain(beliefs, simulation.history)["gain"]
                    others = adversary_gain(beliefs, simulation.history, leaving_out=records)["gain"]
                    never = adversary_gain(beliefs, simulation.history, leaving_out=ever)["gain"]
                    yield (
                        f"sigma {share}, {type(estimator).__name__}, {name}: all {all_records.mean():.4f}, last "
                        f"{all_records.iloc[-1]:.4f}; uncompromised {others.mean():.4f}, last {others.iloc[-1]:.4f}; "
                        f"never compromised {never.mean():.4f}, last {never.iloc[-1]:.4f}"
                    )


MIXED_SIZES = (4, 8, 16, 32)
"""Sizes of `Mixed`: the paper gives no number."""


def bayframe_defenses() -> dict[str, Defense]:
    return {
        "JSReduce": JSReduce(3, 0.5, 0.6, patience=50),
        "BKAA": BKAA(3, 5, 0.6),
        "BKAA, patience": BKAA(3, 5, 0.6, patience=50),
    }


def mixed_rules(views: int = 24, records: int = 5000) -> Iterator[str]:
    """Section 9 with `Mixed`: published under each estimator, attacked by the same and by `Auto`; signed gain and Equation 8."""
    simulation = exams(views, records, rng=seeded())
    rules: dict[str, Estimator] = {"Omega": Omega(), "DirichletMultinomial": DirichletMultinomial()}
    rules |= {f"Mixed(size={size})": Mixed(size=size) for size in MIXED_SIZES}
    yield (
        "| published under | defense | suppressed | GCP | mean group | own rule: largest gain | last | Equation 8, mean | "
        "Auto: largest gain | last |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for rule, estimator in rules.items():
        for name, defense in bayframe_defenses().items():
            known = Adversary(simulation.prior, simulation.transitions, estimator=estimator)
            releases = publish(simulation.history, defense, known, rng=seeded(1))
            beliefs = SequentialAttack(known)(releases)
            own = adversary_gain(beliefs, simulation.history)["gain"]
            absolute = adversary_gain(beliefs, simulation.history, absolute=True)["gain"]
            exact = gains(
                Adversary(simulation.prior, simulation.transitions, estimator=Auto()), releases, simulation.history
            )
            lost = suppressed(releases)
            kept = lost["records"].sum() - lost["suppressed"].sum()
            yield (
                f"| {rule} | {name} | {lost['suppressed'].sum() / lost['records'].sum():.1%} | "
                f"{gcp(releases)['normalized'].mean():.3f} | {kept / max(sum(r.groups for r in releases), 1):.1f} | "
                f"{own.max():.3f} | {own.iloc[-1]:.3f} | {absolute.mean():.3f} | {exact.max():.3f} | {exact.iloc[-1]:.3f} |"
            )


def about_nothing(records: CompromisedRecords, history: History) -> CompromisedRecords:
    """The same claims with values drawn from the domain, so that they carry no information."""
    values = np.array(history.schema.values, dtype=object)
    drawn = values[seeded(7).integers(0, len(values), len(records.frame))]
    return CompromisedRecords(records.frame.assign(value=drawn), contradicted="report")


def mixed_cascades(views: int = 24, records: int = 5000, sizes: tuple[int, ...] = MIXED_SIZES) -> Iterator[str]:
    """Section 11 with `Mixed`: Figures 5 and 11; mean gain over the releases, signed and by Equation 8.

    The defender uses the adversary's cascade or none. Claims "of nothing" have values drawn from the domain: a positive value of
    Equation 8 for them is not knowledge.
    """
    simulation = exams(views, records, rng=seeded())
    history = simulation.history
    yield (
        "| size | defense | sigma | claims | defender | cascade | records in small groups | gain | not compromised now | "
        "Equation 8 | not compromised now |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for size in sizes:
        cascades: dict[str, tuple[Cascade | None, Mixed]] = {
            "none": (None, Mixed(size=size)),
            "prior": (PriorCascade(), Mixed(size=size)),
            "prior, as printed": (PriorCascade(normalized=False), Mixed(size=size)),
            "posterior, drop": (PosteriorCascade(), Mixed(size=size)),
            "posterior, prior": (PosteriorCascade(), Mixed(size=size, evidence="prior")),
        }
        for name, defense in list(bayframe_defenses().items())[:2]:
            unaware = publish(
                history,
                defense,
                Adversary(simulation.prior, simulation.transitions, estimator=Mixed(size=size)),
                rng=seeded(1),
            )
            for sigma in (0.01, 0.1):
                true = CompromisedRecords.sample(history, sigma, 0.9, rng=seeded(2019))
                for claims, listed in (("true", true), ("of nothing", about_nothing(true, history))):
                    for cascade, (rule, estimator) in cascades.items():
                        known = listed if rule is not None else None
                        adversary = Adversary(simulation.prior, simulation.transitions, known, estimator, rule)
                        for defender in (
                            ("unaware", "cascades") if rule is not None and claims == "true" else ("unaware",)
                        ):
                            releases = (
                                publish(history, defense, adversary, rng=seeded(1))
                                if defender == "cascades"
                                else unaware
                            )
                            found = mixed_gains(SequentialAttack(adversary)(releases), history, true)
                            small = np.concatenate([release.observation.counts.sum(axis=1) for release in releases])
                            share = small[small <= size].sum() / max(small.sum(), 1)
                            yield (
                                f"| {size} | {name} | {sigma} | {claims} | {defender} | {cascade} | {share:.1%} | "
                                f"{' | '.join(f'{gain:.4f}' for gain in found)} |"
                            )


def mixed_gains(beliefs: Beliefs, history: History, records: CompromisedRecords) -> list[float]:
    """Mean gain of all records and of records that are not compromised at the release: signed, then by Equation 8."""
    return [
        float(adversary_gain(beliefs, history, absolute=absolute, leaving_out=left)["gain"].mean())
        for absolute in (False, True)
        for left in (None, records)
    ]


def reach_of_a_record() -> Iterator[str]:
    """Section 11: influence of 60 single records of the first release, known with certainty, on two publications."""
    simulation = exams(rng=seeded())
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=Auto(), cascade=RemoveKnown())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    view = simulation.history[0]
    settings = {"Mondrian": publish(simulation.history[:12], SAFE, rng=seeded(1))}
    settings["JSReduce"] = publish(simulation.history[:12], JSReduce(3, 0.5, 0.6, patience=50), omega, rng=seeded(1))
    for name, releases in settings.items():
        rows = seeded(5).choice(np.flatnonzero(releases[0].group >= 0), 60, replace=False)
        graphs = []
        for row in rows:
            value = view.schema.values[view.sensitive[row]]
            graphs.append(Influence(adversary)(releases, view.people.respondents[row], value, view.time))
        tables = pd.concat([influence_by_distance(graph) for graph in graphs])
        strength = tables.groupby("distance")[["places", "total_bits"]].sum() / len(graphs)
        strength["mean"] = strength["total_bits"] / strength["places"]
        sizes = [len(graph) for graph in graphs]
        yield f"{name}: places affected, quartiles {np.quantile(sizes, [0.25, 0.5, 0.75, 1]).tolist()}"
        yield strength.loc[[d for d in (0, 1, 2, 4, 6, 8, 10) if d in strength.index]].round(4).to_string()


SECTIONS = (
    attack_on_exams, knowledge, js_reduce_on_exams, divergence_on_exams, pbc_over_splits, settling, counted_twice, nothing_to_learn,
    rules_on_exams, fixed_adversary, mixed_rules, revisions, cascades_on_exams, mixed_cascades, reach_of_a_record,
)  # fmt: skip

if __name__ == "__main__":
    for section in SECTIONS:
        if len(sys.argv) < 2 or section.__name__ in sys.argv[1:]:
            print(f"\n{section.__name__} ({Path(__file__).name}): {section.__doc__}", flush=True)
            for line in section():
                print(f"  {line}", flush=True)
