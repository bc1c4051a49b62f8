"""Recompute sections 1 to 11 and 26 of docs/findings.md: ``python benchmarks/findings.py [section ...]``, an hour on two cores."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from subjects import seeded, subject
from tables import (
    FORWARD,
    HINDSIGHT,
    Releases,
    Row,
    all_attacks,
    assessed,
    attacked,
    joint_attacks,
    losses,
    print_sections,
    published,
    sampled_attacks,
    sequential_attacks,
)

from foreknow.app.cli.commands import demo_command as demo
from foreknow.attacks import Attack, Influence, JointAttack, SequentialAttack, SnapshotAttack
from foreknow.defenses import (
    BKAA,
    UHRA,
    Anatomy,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSimilarity,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    TCloseness,
    grow,
    hilbert_order,
    publish,
    summarize_groups,
    summarize_records,
)
from foreknow.evaluation import exams, influence_by_distance
from foreknow.models import (
    Adversary,
    Auto,
    BeliefPropagation,
    ChainByRelease,
    ClassFrequencies,
    CompromisedRecords,
    ConfidenceSum,
    DirichletMultinomial,
    Estimator,
    EvidenceCascade,
    Exact,
    GivenPrior,
    History,
    LearnedKnowledge,
    MarkovChain,
    MaxEntropy,
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
from foreknow.models.knowledge.cascades import Cascade

SAFE = Mondrian(KAnonymity(2) & DistinctDiversity(2))
REDUCE = JSReduce(3, 0.5, 0.6, patience=50)
CLASSES = {"age": 3, "gender": 2, "weight": 3}
MIXED_SIZES = (4, 8, 16, 32)
"""Sizes of `Mixed`: the paper gives no number."""
BAYFRAME: dict[str, Defense] = {
    "JSReduce": REDUCE,
    "BKAA": BKAA(3, 5, 0.6),
    "BKAA, patience": BKAA(3, 5, 0.6, patience=50),
}
RULES: dict[str, Estimator] = {
    "ConfidenceSum": ConfidenceSum(),
    "DirichletMultinomial": DirichletMultinomial(),
    "Omega": Omega(),
    "Sinkhorn": Sinkhorn(),
    "BeliefPropagation": BeliefPropagation(),
    "SwapChain": SwapChain(rng=seeded(3)),
    "Auto": Auto(),
}


def knowledge(views: int = 24, records: int = 5000) -> Iterator[Row]:
    """Section 1: exact, mined and extracted knowledge, under snapshot, sequential and joint attacks."""
    for weeks in (1, 26):
        simulation, _ = subject(views, records, weeks)
        releases = publish(simulation.history, SAFE, rng=seeded(1))
        for name, prior, chain in sources(simulation) if weeks == 1 else list(sources(simulation))[:1]:
            attacks = sequential_attacks(prior, chain, {"Omega": Omega(), "Exact": Exact()})
            attacks["snapshot"] = SnapshotAttack(Adversary(prior, estimator=Exact()))
            if name not in ("as printed", "extracted up to"):
                attacks |= joint_attacks(Adversary(prior, chain))
            for row in attacked(simulation.history, [("Mondrian", releases)], attacks):
                yield {"weeks": weeks, "knowledge": name} | row


def sources(simulation: Simulation) -> Iterator[tuple[str, object, object]]:
    large, small = exams(rng=seeded(99)).history, exams(records=500, rng=seeded(7)).history
    yield "exact", simulation.prior, simulation.transitions
    for name, corpus in (("mined from 24 x 5,000", large), ("mined from 24 x 500", small)):
        yield name, ClassFrequencies.fit(corpus, CLASSES), MarkovChain.fit(corpus)
    yield "as printed", ClassFrequencies.fit(large, CLASSES), MarkovChain.fit(large, as_printed=True)
    yield "extracted before", simulation.prior, ChainByRelease.extracted(simulation.history)
    yield "extracted up to", simulation.prior, ChainByRelease.extracted(simulation.history, inclusive=True)


def js_reduce_settings() -> dict[str, Defense]:
    """Thresholds t and j, patience, base of the divergence, treatment of leftovers."""
    settings = [(0.5, j, p, 2.0, "suppress") for j in (0.6, 1.0, 1.5, 2.0) for p in (None, 50)]
    settings += [(t, j, None, 2.0, "suppress") for t, j in ((0.3, 0.6), (0.3, 0.8), (0.2, 0.6))]
    settings += [(0.5, 0.6, 50, math.e, "suppress"), (0.5, 0.6, 50, 2.0, "relax"), (0.5, 0.6, 50, 2.0, "counterfeit")]
    made = [JSReduce(3, t, j, base, patience=patience, leftovers=rest) for t, j, patience, base, rest in settings]
    return {repr(defense): defense for defense in made}


def js_reduce_on_exams() -> Iterator[Row]:
    """Section 2: JS-reduce by thresholds and by the treatment of leftovers."""
    simulation, omega = subject()
    releases = published(simulation.history, js_reduce_settings(), omega)
    return attacked(simulation.history, releases, {"Omega": SequentialAttack(omega)})


def joint_on_js_reduce(views: int = 12, records: int = 2000) -> Iterator[Row]:
    """Section 2: the publications of `js_reduce_on_exams`, at another size, under sequential and joint attacks."""
    simulation, omega = subject(views, records)
    releases = published(simulation.history, js_reduce_settings(), omega)
    return attacked(simulation.history, releases, all_attacks(simulation.prior, simulation.transitions))


def divergence_on_exams() -> Iterator[Row]:
    """Section 2: the divergence of the shortest runs that are 3-anonymous and .5-close, at every fiftieth start."""
    simulation, omega = subject()
    releases, memory = publish(simulation.history, REDUCE, omega, rng=seeded(1)), Memory()
    for release in releases[:6]:
        records = summarize_records(release.view, omega.revise(memory, release.view.people))
        order, short, longer = hilbert_order(release.view.people), [], []
        for start in range(0, 4900, 50):
            run = grow(records, order[start : start + 60], KAnonymity(3) & TCloseness(0.5)).groups
            for size, into in ((len(run[0]), short), (len(run[0]) + 20, longer)) if run else ():
                labels = np.full(len(order), -1)
                labels[order[start : start + size]] = 0
                into.append(float(JSimilarity(0.6).level(summarize_groups(records, labels))[0]))
        quartile = np.quantile(short, 0.75)
        yield {
            "release": release.time,
            "median": np.median(short),
            "quartile": quartile,
            "20 more": np.median(longer),
        }
        _, memory = omega.observe(memory, release.observation)


PAIRS = (
    ("JSReduce(3, 0.5, 0.6)", "Mondrian k=3, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=3, l=2"),
    ("JSReduce(3, 0.3, 0.2)", "Mondrian k=5, l=2"), ("JSReduce(3, 0.3, 0.2)", "Mondrian k=6, l=2"),
    ("JSReduce(3, 0.2, 0.2)", "Mondrian k=7, l=2"), ("JSReduce(3, 0.2, 0.2)", "Mondrian k=8, l=2"),
)  # fmt: skip
"""Pairs of defenses whose gains are compared split by split."""


def splits_defenses() -> dict[str, Defense]:
    defenses: dict[str, Defense] = {
        f"Mondrian k={k}, l=2": Mondrian(KAnonymity(k) & DistinctDiversity(2)) for k in (3, 5, 6, 7, 8)
    }
    defenses["Mondrian k=3, t=.3"] = Mondrian(KAnonymity(3) & TCloseness(0.3))
    thresholds = ((0.5, 0.6), (0.5, 0.2), (0.3, 0.6), (0.3, 0.2), (0.2, 0.2))
    return defenses | {f"JSReduce(3, {t}, {j})": JSReduce(3, t, j, patience=20) for t, j in thresholds}


def pbc_over_splits(splits: int = 30) -> Iterator[str]:
    """Section 3: Mondrian and JS-reduce on random splits of the patients, in the setting of the demo."""
    rows = []
    for seed in range(splits):
        comparison = demo.run(seed, splits_defenses()).comparison
        for (name, attack), beliefs in comparison.beliefs.items():
            found = losses(comparison.releases[name]) | assessed(beliefs, comparison.history)
            rows.append({"split": seed, "defense": name, "adversary": attack} | found)
    return over_splits(pd.DataFrame(rows), (), PAIRS)


def joint_over_splits(splits: int = 30, sampled: bool = False) -> Iterator[str]:
    """Section 3: the defenses of `pbc_over_splits` under sequential and joint attacks; each draws its own order of the records."""
    tables = []
    for seed in range(splits):
        history, omega = follow_up(seed)
        exact = Adversary(omega.prior, omega.transitions, estimator=Exact())
        attacks: dict[str, Attack] = {"sequential, Exact": SequentialAttack(exact)} | joint_attacks(exact)
        attacks |= sampled_attacks(exact, seed) if sampled else {}
        releases = publications_of(history, splits_defenses(), omega, seed)
        tables.append(pd.DataFrame(attacked(history, releases, attacks)).assign(split=seed))
    return over_splits(pd.concat(tables), [(joint, "sequential, Exact") for joint in list(attacks)[1:]], PAIRS)


def over_splits(
    found: pd.DataFrame, scores: Sequence[tuple[str, str]], gains: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Means over the splits, and the numbers of splits in which one adversary or defense is better than another."""
    yield found.groupby(["defense", "adversary"], sort=False).mean(numeric_only=True).round(3).to_string()
    for adversary, rows in found.groupby("adversary", sort=False):
        wide = rows.pivot_table(index="split", columns="defense", values="gain")
        for one, other in gains:
            yield f"{adversary}: gain of {one} below that of {other} in {(wide[one] < wide[other]).sum()} of {len(wide)}"
    wide = found.pivot_table(index=["defense", "split"], columns="adversary", values="log score", sort=False)
    for one, other in scores:
        better = (wide[one] > wide[other]).groupby(level="defense", sort=False).sum()
        yield f"splits in which the log score of {one} is above that of {other}: {better.to_dict()}"


def publications_of(
    history: History, defenses: Mapping[str, Defense], omega: Adversary, split: int
) -> Iterator[tuple[str, Releases]]:
    for name, defense in defenses.items():
        yield name, publish(history, defense, omega, rng=np.random.default_rng([split, 1]))


def settling() -> Iterator[str]:
    """Section 4: groups that fail once leftovers are suppressed."""
    simulation, omega = subject()
    (first,) = publish(simulation.history.views[:1], REDUCE, omega, rng=seeded(1))
    _, memory = omega.observe(Memory(), first.observation)
    view = simulation.history[1]
    prior = omega.revise(memory, view.people)
    labels = JSReduce(3, 0.5, 0.6, patience=50, judged="view")(view, prior).labels
    records, close = summarize_records(view, prior), TCloseness(0.5)
    while (labels >= 0).any():
        kept = labels >= 0
        labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
        groups = summarize_groups(records[np.flatnonzero(kept)], labels[kept])
        whole = type(groups.table)(groups.table.values, groups.counts.sum(axis=0))
        failing = ~close(type(groups)(groups.size, groups.counts, groups.prior, groups.entropy, whole))
        if not failing.any():
            break
        yield f"{(~kept).sum()} suppressed so far: {failing.sum()} groups of {groups.size[failing].sum()} records fail"
        labels[kept] = np.where(failing[labels[kept]], -1, labels[kept])
    yield f"{(labels < 0).sum()} suppressed at the end; merged instead: {REDUCE(view, prior).notes}"


def counted_twice() -> Iterator[str]:
    """Section 5: two respondents who always share a group and never change."""
    schema = Schema({"age": Numeric(0, 9)}, "value", ("a", "b"))
    frame = pd.DataFrame({"id": ["x", "y"], "age": [1, 2], "value": ["a", "b"]})
    prior = GivenPrior(pd.DataFrame([[0.6, 0.4], [0.4, 0.6]], index=["x", "y"], columns=["a", "b"]))
    releases = [Release(View(frame, schema, time), [0, 0]) for time in range(1, 6)]
    beliefs = SequentialAttack(Adversary(prior, MarkovChain(1, np.eye(2)), estimator=Exact()))(releases)
    yield f"belief that x has a: {[round(float(beliefs.posterior(t).loc['x', 'a']), 4) for t in range(1, 6)]}"


def nothing_to_learn(people: int = 40) -> Iterator[str]:
    """Section 5: independent values, and knowledge extracted before and up to the release."""
    for inclusive in (False, True):
        gain = []
        for rng in map(seeded, range(200)):
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
            chain = ChainByRelease.extracted(history, inclusive=inclusive)
            attack = {"": SequentialAttack(Adversary(UniformPrior(), chain, estimator=Exact()))}
            gain += [row["gain, last"] for row in attacked(history, [("", releases)], attack)]
        yield f"inclusive={inclusive}: gain {np.mean(gain):.4f} +- {np.std(gain) / math.sqrt(len(gain)):.4f}"


def joint_rules(views: int = 24, records: int = 5000) -> Iterator[Row]:
    """Section 8: the same releases under every estimator, and under the joint attacks."""
    simulation, omega = subject(views, records)
    attacks = sequential_attacks(simulation.prior, simulation.transitions, RULES) | joint_attacks(omega)
    return attacked(
        simulation.history, published(simulation.history, {"Mondrian": SAFE, "JSReduce": REDUCE}, omega), attacks
    )


def mixed_rules(views: int = 24, records: int = 5000) -> Iterator[Row]:
    """Section 9: published under each estimator, attacked by three estimators and by the defender's own."""
    simulation, _ = subject(views, records)
    rules: dict[str, Estimator] = {"Omega": Omega(), "DirichletMultinomial": DirichletMultinomial()}
    rules |= {f"Mixed(size={size})": Mixed(size=size) for size in MIXED_SIZES}
    others = {name: RULES[name] for name in ("DirichletMultinomial", "Omega", "Auto")}
    for rule, estimator in rules.items():
        defender = Adversary(simulation.prior, simulation.transitions, estimator=estimator)
        attacks = sequential_attacks(simulation.prior, simulation.transitions, others | {rule: estimator})
        for row in attacked(simulation.history, published(simulation.history, BAYFRAME, defender), attacks):
            yield {"published under": rule} | row


def revisions() -> Iterator[str]:
    """Section 10: each revision rule on a chain of order 2; groups are drawn anew at every release."""
    found = []
    for seed in range(10):
        simulation, rng = second_order(seed), seeded(seed)
        releases = tuple(Release(view, rng.permutation(len(view)) // 4) for view in simulation.history)
        for chain in (simulation.transitions, simulation.transitions.truncate(1)):
            for revision in ("product", "chain", "filter") if chain.order == 2 else ("filter",):
                adversary = Adversary(simulation.prior, chain, estimator=Exact(), revision=revision)
                (row,) = attacked(simulation.history, [("", releases)], {revision: SequentialAttack(adversary)})
                gains = dict(zip(("second", "third"), row["gain by release"][1:3], strict=True))
                found.append({"order": chain.order} | row | gains)
    yield pd.DataFrame(found).groupby(["order", "adversary"], sort=False).mean(numeric_only=True).round(3).to_string()


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


def cascades_on_exams() -> Iterator[Row]:
    """Section 11: BayFrame's Figures 4, 5 and 11 under its own estimator and under Bayes' rule; groups as in section 9."""
    simulation, _ = subject()
    defender = Adversary(simulation.prior, simulation.transitions, estimator=DirichletMultinomial())
    releases = publish(simulation.history, REDUCE, defender, rng=seeded(1))
    for share in (0.01, 0.1):
        records = CompromisedRecords.sample(simulation.history, share, 0.9, rng=seeded(2019))
        sure = CompromisedRecords(records.frame.assign(confidence=1.0))
        kinds: dict[str, tuple[CompromisedRecords | None, Cascade | None]] = {
            "no compromised records": (None, None),
            "PriorCascade": (records, PriorCascade()),
            "PriorCascade as printed": (records, PriorCascade(normalized=False)),
            "PosteriorCascade": (records, PosteriorCascade()),
            "EvidenceCascade": (records, EvidenceCascade()),
            "RemoveKnown, CR = 1": (sure, RemoveKnown()),
        }
        left = {"all": None, "uncompromised": records, "never compromised": set(records.frame["respondent"])}
        for (name, (known, cascade)), estimator in product(kinds.items(), (DirichletMultinomial(), Auto())):
            if name != "PosteriorCascade" or not isinstance(estimator, Auto):
                adversary = Adversary(simulation.prior, simulation.transitions, known, estimator, cascade)
                yield from _by_part(simulation.history, releases, adversary, left, {"sigma": share, "cascade": name})


def _by_part(
    history: History, releases: Releases, adversary: Adversary, left: Mapping[str, object], key: Row
) -> Iterator[Row]:
    attack = {type(adversary.estimator).__name__: SequentialAttack(adversary)}
    for part, leaving_out in left.items():
        for row in attacked(history, [("JSReduce", releases)], attack, leaving_out=leaving_out):
            yield key | {"records": part} | row


def mixed_cascades(views: int = 24, records: int = 5000, sizes: tuple[int, ...] = MIXED_SIZES) -> Iterator[Row]:
    """Section 11 with `Mixed`: Figures 5 and 11; the defender uses the adversary's cascade or none.

    Claims "of nothing" have values drawn from the domain: a positive value of Equation 8 for them is not knowledge.
    """
    history, prior, chain = exams(views, records, rng=seeded())
    for size, (name, defense) in product(sizes, list(BAYFRAME.items())[:2]):
        unaware = publish(history, defense, Adversary(prior, chain, estimator=Mixed(size=size)), rng=seeded(1))
        for sigma in (0.01, 0.1):
            true = CompromisedRecords.sample(history, sigma, 0.9, rng=seeded(2019))
            values = np.array(history.schema.values, dtype=object)
            drawn = values[seeded(7).integers(0, len(values), len(true.frame))]
            nothing = CompromisedRecords(true.frame.assign(value=drawn), contradicted="report")
            claims = {"true": true, "of nothing": nothing}
            for (kind, listed), (rule, (cascade, estimator)) in product(claims.items(), cascades_of(size).items()):
                adversary = Adversary(prior, chain, None if cascade is None else listed, estimator, cascade)
                publications = {"unaware": unaware}
                if cascade is not None and kind == "true":
                    publications["cascades"] = publish(history, defense, adversary, rng=seeded(1))
                for defender, releases in publications.items():
                    key = {"size": size, "published": name, "sigma": sigma, "claims": kind, "defender": defender}
                    key |= {"cascade": rule, "in small groups": share_in_small_groups(releases, size)}
                    yield from _by_part(history, releases, adversary, {"all": None, "uncompromised": true}, key)


def cascades_of(size: int) -> dict[str, tuple[Cascade | None, Mixed]]:
    return {
        "none": (None, Mixed(size=size)),
        "prior": (PriorCascade(), Mixed(size=size)),
        "prior, as printed": (PriorCascade(normalized=False), Mixed(size=size)),
        "posterior, drop": (PosteriorCascade(), Mixed(size=size)),
        "posterior, prior": (PosteriorCascade(), Mixed(size=size, evidence="prior")),
    }


def share_in_small_groups(releases: Releases, size: int) -> float:
    sizes = np.concatenate([release.observation.counts.sum(axis=1) for release in releases])
    return float(sizes[sizes <= size].sum() / max(sizes.sum(), 1))


def reach_of_a_record() -> Iterator[str]:
    """Section 11: influence of 60 single records of the first release, known with certainty, on two publications."""
    simulation, omega = subject()
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=Auto(), cascade=RemoveKnown())
    view = simulation.history[0]
    for name, releases in published(simulation.history[:12], {"Mondrian": SAFE, "JSReduce": REDUCE}, omega):
        graphs = []
        for row in seeded(5).choice(np.flatnonzero(releases[0].group >= 0), 60, replace=False):
            value = view.schema.values[view.sensitive[row]]
            graphs.append(Influence(adversary)(releases, view.people.respondents[row], value, view.time))
        tables = pd.concat([influence_by_distance(graph) for graph in graphs])
        strength = tables.groupby("distance")[["places", "total_bits"]].sum() / len(graphs)
        strength["mean"] = strength["total_bits"] / strength["places"]
        yield f"{name}: places affected, quartiles {np.quantile(list(map(len, graphs)), [0.25, 0.5, 0.75, 1]).tolist()}"
        yield strength.round(4).to_string()


def every_defense(patience: int) -> dict[str, Defense]:
    return {
        "Mondrian l=2": SAFE,
        "FullDomain k=3, l=2": FullDomain(KAnonymity(3) & DistinctDiversity(2)),
        f"JSReduce(3, .5, .6, patience={patience})": JSReduce(3, 0.5, 0.6, patience=patience),
        f"BKAA(3, 5, .6, patience={patience})": BKAA(3, 5, 0.6, patience=patience),
        "UHRA(3, .5, .6)": UHRA(3, 0.5, 0.6),
        "KPrimacy(3, 5, .6)": KPrimacy(3, 5, 0.6),
        "Anatomy(2)": Anatomy(2, rng=seeded(1)),
        "Injector(2)": Injector(2, rng=seeded(1)),
        "MInvariance(2)": MInvariance(2, rng=seeded(1)),
    }


def joint_on_exams(views: int = 24, records: int = 2000) -> Iterator[Row]:
    """Section 26: exams, an adversary with the exact law."""
    simulation, omega = subject(views, records)
    attacks = all_attacks(simulation.prior, simulation.transitions)
    releases = published(simulation.history, every_defense(50), omega)
    return attacked(simulation.history, releases, attacks, Adversary(omega.prior, omega.transitions, estimator=Auto()))


def exact_counts(views: int = 8, records: int = 600) -> Iterator[Row]:
    """Section 26: groups of two, where `MaxEntropy` and `PathSampler` differ most."""
    simulation, omega = subject(views, records)
    attacks = all_attacks(simulation.prior, simulation.transitions) | sampled_attacks(omega, 1, chains=4)
    defenses = {name: every_defense(50)[name] for name in ("Anatomy(2)", "MInvariance(2)", "Mondrian l=2")}
    releases = published(simulation.history, defenses, omega)
    return attacked(simulation.history, releases, attacks, Adversary(omega.prior, omega.transitions, estimator=Auto()))


def learned_on_exams(views: int = 12, records: int = 2000) -> Iterator[Row]:
    """Section 26: exams; the best sequential adversary, the joint one, and the joint one who learned its law from the releases."""
    simulation, omega = subject(views, records)
    history, exact = simulation.history, Adversary(simulation.prior, simulation.transitions)
    sequential = sequential_attacks(simulation.prior, simulation.transitions, {"Sinkhorn": Sinkhorn(), "Auto": Auto()})
    for name, releases in published(history, every_defense(50), omega):
        learned = LearnedKnowledge.fit(releases)
        taught = JointAttack(Adversary(learned.prior, learned.transitions), MaxEntropy())
        attacks = sequential | joint_attacks(exact) | {"joint and learned, in hindsight": taught}
        yield from attacked(history, [(name, releases)], attacks, exact, draws=40)


AGAINST = (
    (FORWARD, "sequential, Sinkhorn"), (FORWARD, "sequential, Auto"), (HINDSIGHT, "sequential, Auto"),
    ("sampled, forward", "sequential, Auto"), ("sampled, in hindsight", HINDSIGHT),
)  # fmt: skip
"""Pairs of adversaries whose log scores are compared split by split."""


def joint_on_pbc(splits: int = 10, sampled: bool = False) -> Iterator[str]:
    """Section 26: the PBC follow-up, an adversary who learned from a third of the patients; means over random splits."""
    tables = []
    for split in range(splits):
        history, omega = follow_up(split)
        attacks = all_attacks(omega.prior, omega.transitions) | (sampled_attacks(omega, split) if sampled else {})
        for name, defense in every_defense(20).items():
            shown = two_diverse(history) if isinstance(defense, Anatomy | Injector) else history
            rows = attacked(shown, publications_of(shown, {name: defense}, omega, split), attacks)
            tables.append(pd.DataFrame(rows).assign(split=split))
    return over_splits(pd.concat(tables), AGAINST if sampled else AGAINST[:3], ())


def two_diverse(history: History) -> History:
    """The first views in which no value has over half of the records, so that buckets of two values exist."""
    largest = [np.bincount(view.sensitive).max() / len(view) for view in history]
    return History(history.views[: next((t for t, share in enumerate(largest) if share > 0.5), len(largest))])


def follow_up(split: int) -> tuple[History, Adversary]:
    """Published patients, and the defender who learned from the others, in one random split, as in the demo."""
    found = demo.run(split, {demo.BASELINE: demo.PUBLICATIONS[demo.BASELINE]})
    prior = ClassFrequencies.fit(found.corpus, {"age": 3, "sex": None}, pseudo_count=0.5)
    chain = MarkovChain.fit(found.corpus, order=1, pseudo_count=0.1)
    return found.comparison.history, Adversary(prior, chain, estimator=Omega())


SECTIONS = (
    knowledge, js_reduce_on_exams, joint_on_js_reduce, divergence_on_exams, pbc_over_splits, joint_over_splits,
    settling, counted_twice, nothing_to_learn, joint_rules, mixed_rules, revisions, cascades_on_exams,
    mixed_cascades, reach_of_a_record, joint_on_exams, exact_counts, joint_on_pbc, learned_on_exams,
)  # fmt: skip

if __name__ == "__main__":
    print_sections(SECTIONS)
