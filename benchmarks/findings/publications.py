"""Sections 2 to 4: JS-reduce by thresholds and leftovers, and Mondrian beside it."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from every_defense import follow_up, sampled_attacks
from exams_settings import gains, seeded
from joint_adversary import all_attacks, assessments, joint_attacks, line

from foreknow.app.cli.commands import demo_command as demo
from foreknow.attacks import Attack, SequentialAttack
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
from foreknow.evaluation import Comparison, disclosures, exams, gcp, suppressed
from foreknow.models import Adversary, Exact, Memory, Omega


def js_reduce_settings() -> list[tuple[float, float, int | None, float, str]]:
    """Thresholds t and j, patience, base of the divergence, treatment of leftovers."""
    settings = [(0.5, j, p, 2.0, "suppress") for j in (0.6, 1.0, 1.5, 2.0) for p in (None, 50)]
    settings += [(t, j, None, 2.0, "suppress") for t, j in ((0.3, 0.6), (0.3, 0.8), (0.2, 0.6))]
    settings += [(0.5, 0.6, 50, math.e, "suppress"), (0.5, 0.6, 50, 2.0, "relax"), (0.5, 0.6, 50, 2.0, "counterfeit")]
    return settings


def js_reduce_on_exams() -> Iterator[str]:
    """Section 2: JS-reduce by thresholds and by the treatment of leftovers."""
    simulation = exams(rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    for t, j, patience, base, leftovers in js_reduce_settings():
        defense = JSReduce(3, t, j, base, patience=patience, leftovers=leftovers)
        releases = publish(simulation.history, defense, omega, rng=seeded(1))
        lost, gain = suppressed(releases), gains(omega, releases, simulation.history)
        published = lost["records"].sum() - lost["suppressed"].sum()
        yield (
            f"{defense}: at most {lost['suppressed'].max()} in a view, {1 - published / lost['records'].sum():.3f} of all, "
            f"{(lost['suppressed'] == lost['records']).sum()} releases empty, distorted {lost['distorted'].sum()}, gain up to "
            f"{gain.max():.2f}, groups of {published / max(sum(r.groups for r in releases), 1):.1f}, "
            f"GCP {gcp(releases)['gcp'].mean():.3f}"
        )


def joint_on_js_reduce(views: int = 12, records: int = 2000) -> Iterator[str]:
    """Section 2: the publications of `js_reduce_on_exams`, at another size, under sequential and joint attacks."""
    simulation = exams(views, records, rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    attacks = all_attacks(simulation.prior, simulation.transitions)
    for t, j, patience, base, leftovers in js_reduce_settings():
        defense = JSReduce(3, t, j, base, patience=patience, leftovers=leftovers)
        releases = publish(simulation.history, defense, omega, rng=seeded(1))
        lost = suppressed(releases)
        yield f"{defense}: suppressed {lost['suppressed'].sum() / lost['records'].sum():.3f}"
        for row in assessments(releases, simulation.history, attacks):
            yield f"  {line(row)}"


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


PAIRS = (
    ("JSReduce(3, 0.5, 0.6)", "Mondrian k=3, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=3, l=2"),
    ("JSReduce(3, 0.3, 0.2)", "Mondrian k=5, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=6, l=2"),
    ("JSReduce(3, 0.2, 0.2)", "Mondrian k=7, l=2"), ("JSReduce(3, 0.2, 0.2)", "Mondrian k=8, l=2"),
)  # fmt: skip
"""Pairs of defenses whose gains are compared split by split."""


def splits_defenses() -> dict[str, Defense]:
    """Defenses of section 3."""
    defenses: dict[str, Defense] = {
        f"Mondrian k={k}, l=2": Mondrian(KAnonymity(k) & DistinctDiversity(2)) for k in (3, 5, 6, 7, 8)
    }
    defenses["Mondrian k=3, t=.3"] = Mondrian(KAnonymity(3) & TCloseness(0.3))
    defenses |= {
        f"JSReduce(3, {t}, {j})": JSReduce(3, t, j, patience=20)
        for t, j in ((0.5, 0.6), (0.5, 0.2), (0.3, 0.6), (0.3, 0.2), (0.2, 0.2))
    }
    return defenses


def pbc_over_splits(splits: int = 30) -> Iterator[str]:
    """Section 3: Mondrian and JS-reduce on 30 random splits of the patients."""
    defenses = splits_defenses()
    tables = []
    for seed in range(splits):
        comparison = demo.run(seed, defenses).comparison
        table = comparison.summary()
        table["penalized"] = table["defense"].map(penalized(comparison))
        table["expected"] = [disclosures(b, comparison.history)["expected"].sum() for b in comparison.beliefs.values()]
        tables.append(table.assign(seed=seed))
    found = pd.concat(tables)
    for attack in (demo.SEQUENTIAL_ATTACK, demo.STRONGEST_ATTACK):
        yield f"{attack} attack"
        yield from _of_attack(found[found["attack"] == attack])


def _of_attack(found: pd.DataFrame) -> Iterator[str]:
    """Means over the splits, and the number of splits in which one defense has a lower gain than another."""
    columns = ["gain", "sure", "right", "expected", "suppressed_share", "group_size", "gcp", "penalized"]
    yield found.groupby("defense", sort=False)[columns].mean().round(3).to_string()
    wide = found.pivot_table(index="seed", columns="defense", values="gain")
    for one, other in PAIRS:
        yield f"gain of {one} below that of {other} in {(wide[one] < wide[other]).sum()} of {len(wide)} splits"


def joint_over_splits(splits: int = 30, sampled: bool = False) -> Iterator[str]:
    """Section 3: the defenses of `pbc_over_splits` under sequential and joint attacks; means over the splits."""
    tables = []
    for seed in range(splits):
        history, _, omega = follow_up(seed)
        exact = Adversary(omega.prior, omega.transitions, estimator=Exact())
        attacks: dict[str, Attack] = {"sequential, Exact": SequentialAttack(exact)} | joint_attacks(exact)
        if sampled:
            attacks |= sampled_attacks(exact, seed)
        for name, defense in splits_defenses().items():
            releases = publish(history, defense, omega, rng=np.random.default_rng([seed, 1]))
            for row in assessments(releases, history, attacks):
                tables.append({"seed": seed, "defense": name} | row)
    found = pd.DataFrame(tables)
    columns = ["gain", "gain, first", "gain, last", "log score", "log score, first", "sure", "expected", "right"]
    yield found.groupby(["defense", "adversary"], sort=False)[columns].mean().round(3).to_string()
    for adversary in found["adversary"].unique():
        wide = found[found["adversary"] == adversary].pivot_table(index="seed", columns="defense", values="gain")
        for one, other in PAIRS:
            yield f"{adversary}: gain of {one} below that of {other} in {(wide[one] < wide[other]).sum()} of {len(wide)}"
    scores = found.pivot_table(index=["defense", "seed"], columns="adversary", values="log score", sort=False)
    for joint in list(attacks)[1:]:
        better = (scores[joint] > scores["sequential, Exact"]).groupby(level="defense", sort=False).sum()
        yield f"splits in which the log score of {joint} is above that of sequential, Exact: {better.to_dict()}"


def penalized(comparison: Comparison) -> dict[str, float]:
    """Normalized certainty penalty with suppressed records as completely generalized."""
    found = {}
    for name, releases in comparison.releases.items():
        table = gcp(releases, penalize_suppressed=True)
        found[name] = float(np.average(table["gcp"], weights=table["measured"]))
    return found
