"""Section 26: nine defenses under sequential and joint adversaries, on simulated exams and on the PBC follow-up."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from exams_settings import SAFE, seeded
from joint_adversary import FORWARD, HINDSIGHT, Row, all_attacks, assessed, joint_attacks, signature_attacks

from foreknow.app.cli.commands import demo_command as demo
from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.defenses import (
    BKAA,
    UHRA,
    Anatomy,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    publish,
)
from foreknow.evaluation import Comparison, exams, score_decomposition, suppressed
from foreknow.models import (
    Adversary,
    Auto,
    Beliefs,
    ClassFrequencies,
    History,
    LearnedKnowledge,
    MarkovChain,
    MaxEntropy,
    Omega,
    PathSampler,
    Release,
    Sinkhorn,
)


def every_defense(patience: int) -> dict[str, Defense]:
    """Defenses of one table; groups of 2 or 3 records."""
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


def joint_on_exams(views: int = 24, records: int = 2000) -> Iterator[str]:
    """Section 26: exams, an adversary with the exact law."""
    simulation = exams(views, records, rng=seeded())
    for name, defense in every_defense(50).items():
        attacks = all_attacks(simulation.prior, simulation.transitions)
        if isinstance(defense, MInvariance):
            attacks |= signature_attacks(Adversary(simulation.prior, simulation.transitions, estimator=Auto()))
        omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
        releases = publish(simulation.history, defense, omega, rng=seeded(1))
        beliefs = {attack: carried_out(releases) for attack, carried_out in attacks.items()}
        yield from described(name, defended(releases, simulation.history, beliefs))
        pairs = {(name, attack): found for attack, found in beliefs.items()}
        most = Comparison(simulation.history, {name: releases}, pairs).worst_case().iloc[0]
        yield f"  worst case: gain by {most['gain_attack']}, log score by {most['log_score_attack']}"


def learned_on_exams(views: int = 12, records: int = 2000) -> Iterator[str]:
    """Section 26: exams; the best sequential adversary, the joint one, and the joint one who learned its law from the releases."""
    simulation = exams(views, records, rng=seeded())
    exact = Adversary(simulation.prior, simulation.transitions)
    for name, defense in every_defense(50).items():
        releases = publish(simulation.history, defense, replace(exact, estimator=Omega()), rng=seeded(1))
        learned = LearnedKnowledge.fit(releases)
        taught = JointAttack(Adversary(learned.prior, learned.transitions), MaxEntropy())
        attacks: dict[str, Attack] = {
            "Sinkhorn": SequentialAttack(replace(exact, estimator=Sinkhorn())),
            "Auto": SequentialAttack(replace(exact, estimator=Auto())),
        }
        attacks |= joint_attacks(exact) | {"joint and learned, in hindsight": taught}
        if isinstance(defense, MInvariance):
            attacks |= signature_attacks(exact)
        for attack, carried_out in attacks.items():
            beliefs = carried_out(releases)
            row = assessed(beliefs, simulation.history)
            terms = score_decomposition(beliefs, simulation.history, score="log", draws=40, rng=1).set_index("term")
            low, value, high = (terms.loc["miscalibration", column] for column in ("low", "amount", "high"))
            yield (
                f"| {name} | {attack} | {row['gain']:.3f} | {row['gain, first']:.3f} | {row['log score']:.3f} | "
                f"{value:.3f} ({low:.3f}, {high:.3f}) | {row['sure, share']:.1%}, {row['right']:.1%} |"
            )


SAMPLED_FORWARD, SAMPLED_HINDSIGHT = "sampled, forward", "sampled, in hindsight"


def sampled_attacks(adversary: Adversary, seed: int, chains: int = 2) -> dict[str, Attack]:
    """Joint attacks whose groups have exactly the published counts, by Markov chains; for small histories."""
    return {
        name: JointAttack(adversary, PathSampler(400, chains, rng=seeded(seed)), hindsight=hindsight)
        for name, hindsight in ((SAMPLED_FORWARD, False), (SAMPLED_HINDSIGHT, True))
    }


def joint_on_pbc(splits: int = 10, sampled: bool = False) -> Iterator[str]:
    """Section 26: the PBC follow-up, an adversary who learned from a third of the patients; means over random splits."""
    found: dict[str, list[pd.DataFrame]] = {}
    for split in range(splits):
        history, attacks, omega = follow_up(split)
        attacks = {**attacks, **(sampled_attacks(omega, split) if sampled else {})}
        for name, defense in every_defense(20).items():
            published = two_diverse(history) if isinstance(defense, Anatomy | Injector) else history
            releases = publish(published, defense, omega, rng=np.random.default_rng([split, 1]))
            beliefs = {attack: carried_out(releases) for attack, carried_out in attacks.items()}
            table = defended(releases, published, beliefs)
            found.setdefault(name, []).append(table)
    for name, tables in found.items():
        yield from described(name, pd.concat(tables).groupby(level=0, sort=False).mean())
        scores = pd.DataFrame([table["log score"] for table in tables])
        for after, before in AGAINST if sampled else AGAINST[:3]:
            better = int((scores[after] > scores[before]).sum())
            yield f"  log score of {after} above that of {before} in {better} of {len(scores)} splits"


def exact_counts(views: int = 8, records: int = 600) -> Iterator[str]:
    """Section 26: groups of two, where `MaxEntropy` and `PathSampler` differ most."""
    simulation = exams(views, records, rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    for name in ("Anatomy(2)", "MInvariance(2)", "Mondrian l=2"):
        attacks = all_attacks(simulation.prior, simulation.transitions) | sampled_attacks(omega, 1, chains=4)
        if name == "MInvariance(2)":
            attacks |= signature_attacks(Adversary(simulation.prior, simulation.transitions, estimator=Auto()))
        releases = publish(simulation.history, every_defense(50)[name], omega, rng=seeded(1))
        beliefs = {attack: carried_out(releases) for attack, carried_out in attacks.items()}
        yield from described(name, defended(releases, simulation.history, beliefs))


AGAINST = (
    (FORWARD, "sequential, Sinkhorn"), (FORWARD, "sequential, Auto"), (HINDSIGHT, "sequential, Auto"),
    (SAMPLED_FORWARD, "sequential, Auto"), (SAMPLED_HINDSIGHT, HINDSIGHT),
)  # fmt: skip
"""Pairs of adversaries whose log scores are compared split by split."""


def two_diverse(history: History) -> History:
    """The first views in which no value has over half of the records, so that buckets of two values exist."""
    largest = [np.bincount(view.sensitive).max() / len(view) for view in history]
    return History(history.views[: next((t for t, share in enumerate(largest) if share > 0.5), len(largest))])


def follow_up(split: int) -> tuple[History, Mapping[str, Attack], Adversary]:
    """Published patients, attacks and defender of one random split, as in the demo."""
    patients = demo.pbc()
    order = np.random.default_rng(split).permutation(np.array(patients.respondents, dtype=object))
    third = len(order) // 3
    corpus = patients.of(order[:third])
    published = History(view for view in patients.of(order[third:]) if len(view) >= demo.MIN_PATIENTS)
    prior = ClassFrequencies.fit(corpus, {"age": 3, "sex": None}, pseudo_count=0.5)
    chain = MarkovChain.fit(corpus, order=1, pseudo_count=0.1)
    return published, all_attacks(prior, chain), Adversary(prior, chain, estimator=Omega())


def defended(releases: tuple[Release, ...], history: History, beliefs: Mapping[str, Beliefs]) -> pd.DataFrame:
    """One row per attack: its measures, and the share of suppressed records."""
    lost = suppressed(releases)
    share = {"suppressed": lost["suppressed"].sum() / lost["records"].sum()}
    share |= {"size": (lost["records"].sum() - lost["suppressed"].sum()) / max(sum(r.groups for r in releases), 1)}
    rows: dict[str, Row] = {name: assessed(found, history) | share for name, found in beliefs.items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def described(name: str, table: pd.DataFrame) -> Iterator[str]:
    yield f"{name}: suppressed {table['suppressed'].iloc[0]:.1%}, groups of {table['size'].iloc[0]:.1f}"
    yield table.drop(columns=["suppressed", "size"]).round(3).to_string()
