"""Recompute the tables of docs/findings.md: ``python benchmarks/findings.py``, some minutes on two cores."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.defenses import (
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
from foreknow.evaluation import Comparison, adversary_gain, demo, disclosures, exams, gcp, suppressed
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    Exact,
    GivenPrior,
    History,
    IncrementalChain,
    MarkovChain,
    Memory,
    Numeric,
    Omega,
    Release,
    Schema,
    Simulation,
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
    """Section 1."""
    for weeks in (1, 26):
        simulation = exams(weeks_per_step=weeks, rng=seeded())
        releases = publish(simulation.history, SAFE)
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
    releases = publish(simulation.history, SAFE)
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
    """Section 2."""
    simulation = exams(rng=seeded())
    settings = [(0.5, j, p, 2.0, "suppress") for j in (0.6, 1.0, 1.5, 2.0) for p in (None, 50)]
    settings += [(t, j, None, 2.0, "suppress") for t, j in ((0.3, 0.6), (0.3, 0.8), (0.2, 0.6))]
    settings += [(0.5, 0.6, 50, math.e, "suppress"), (0.5, 0.6, 50, 2.0, "relax"), (0.5, 0.6, 50, 2.0, "counterfeit")]
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    for t, j, patience, base, leftovers in settings:
        defense = JSReduce(3, t, j, base, patience=patience, leftovers=leftovers)
        releases = publish(simulation.history, defense, omega)
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
    releases, memory = publish(simulation.history, JSReduce(3, 0.5, 0.6, patience=50), omega), Memory()
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
    """Section 4."""
    simulation = exams(rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    first = publish(simulation.history.views[:1], JSReduce(3, 0.5, 0.6, patience=50), omega)[0]
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
        whole = type(groups.whole)(groups.whole.values, groups.counts.sum(axis=0))
        failing = ~close(type(groups)(groups.size, groups.counts, groups.prior, groups.entropy, whole))
        if not failing.any():
            break
        yield f"{lost} suppressed so far: {failing.sum()} groups of {groups.size[failing].sum()} records fail"
        labels[kept] = np.where(failing[labels[kept]], -1, labels[kept])
        lost = int((labels < 0).sum())
    yield f"{lost} suppressed in the end; merged instead: {JSReduce(3, 0.5, 0.6, patience=50)(view, prior).notes}"


def pbc_over_splits(splits: int = 30) -> Iterator[str]:
    """Section 3."""
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
        tables.append(table[table["attack"] == demo.STRONGEST].assign(seed=seed))
    found = pd.concat(tables)
    columns = ["gain", "sure", "right", "expected", "suppressed", "size", "gcp", "penalized"]
    yield found.groupby("defense", sort=False)[columns].mean().round(3).to_string()
    wide = found.pivot_table(index="seed", columns="defense", values="gain")
    for one, other in (
        ("JSReduce(3, 0.5, 0.6)", "Mondrian k=3, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=3, l=2"),
        ("JSReduce(3, 0.3, 0.2)", "Mondrian k=5, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=6, l=2"),
        ("JSReduce(3, 0.2, 0.2)", "Mondrian k=7, l=2"), ("JSReduce(3, 0.2, 0.2)", "Mondrian k=8, l=2"),
    ):  # fmt: skip
        yield f"{one} gives away less than {other} in {(wide[one] < wide[other]).sum()} of {len(wide)} splits"


def penalized(comparison: Comparison) -> dict[str, float]:
    """The normalized penalty with suppressed records as blurred completely."""
    found = {}
    for name, releases in comparison.releases.items():
        table = gcp(releases, penalize_suppressed=True)
        found[name] = float(np.average(table["normalized"], weights=table["records"]))
    return found


def counted_twice() -> Iterator[str]:
    """Section 5: two people, always together, who never change."""
    schema = Schema({"age": Numeric(0, 9)}, "value", ("a", "b"))
    frame = pd.DataFrame({"id": ["x", "y"], "age": [1, 2], "value": ["a", "b"]})
    prior = GivenPrior(pd.DataFrame([[0.6, 0.4], [0.4, 0.6]], index=["x", "y"], columns=["a", "b"]))
    releases = [Release(View(frame, schema, time), [0, 0]) for time in range(1, 6)]
    beliefs = SequentialAttack(Adversary(prior, MarkovChain(1, np.eye(2)), estimator=Exact()))(releases)
    yield f"belief in x having a: {[round(float(beliefs.posterior(t).loc['x', 'a']), 4) for t in range(1, 6)]}"


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


SECTIONS = (
    attack_on_exams, knowledge, js_reduce_on_exams, divergence_on_exams, pbc_over_splits, settling, counted_twice, nothing_to_learn
)  # fmt: skip

if __name__ == "__main__":
    for section in SECTIONS:
        if len(sys.argv) < 2 or section.__name__ in sys.argv[1:]:
            print(f"\n{section.__name__} ({Path(__file__).name}): {section.__doc__}", flush=True)
            for line in section():
                print(f"  {line}", flush=True)
