"""Section 11: compromised records, their cascades and their reach."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from exams_settings import MIXED_SIZES, SAFE, bayframe_defenses, seeded

from foreknow.attacks import Influence, SequentialAttack
from foreknow.defenses import JSReduce, publish
from foreknow.evaluation import adversary_gain, exams, influence_by_distance
from foreknow.models import (
    Adversary,
    Auto,
    Beliefs,
    Cascade,
    CompromisedRecords,
    DirichletMultinomial,
    EvidenceCascade,
    History,
    Mixed,
    Omega,
    PosteriorCascade,
    PriorCascade,
    Release,
    RemoveKnown,
)


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
    for size, (name, defense) in product(sizes, list(bayframe_defenses().items())[:2]):
        without_claims = Adversary(simulation.prior, simulation.transitions, estimator=Mixed(size=size))
        unaware = publish(history, defense, without_claims, rng=seeded(1))
        for sigma in (0.01, 0.1):
            true = CompromisedRecords.sample(history, sigma, 0.9, rng=seeded(2019))
            claims = {"true": true, "of nothing": about_nothing(true, history)}
            for (kind, listed), (cascade, (rule, estimator)) in product(claims.items(), cascades_of(size).items()):
                known = listed if rule is not None else None
                adversary = Adversary(simulation.prior, simulation.transitions, known, estimator, rule)
                published = {"unaware": unaware}
                if rule is not None and kind == "true":
                    published["cascades"] = publish(history, defense, adversary, rng=seeded(1))
                for defender, releases in published.items():
                    found = mixed_gains(SequentialAttack(adversary)(releases), history, true)
                    yield (
                        f"| {size} | {name} | {sigma} | {kind} | {defender} | {cascade} | "
                        f"{share_in_small_groups(releases, size):.1%} | {' | '.join(f'{gain:.4f}' for gain in found)} |"
                    )


def cascades_of(size: int) -> dict[str, tuple[Cascade | None, Mixed]]:
    """Rules for compromised records, each with its estimator of groups up to a size."""
    return {
        "none": (None, Mixed(size=size)),
        "prior": (PriorCascade(), Mixed(size=size)),
        "prior, as printed": (PriorCascade(normalized=False), Mixed(size=size)),
        "posterior, drop": (PosteriorCascade(), Mixed(size=size)),
        "posterior, prior": (PosteriorCascade(), Mixed(size=size, evidence="prior")),
    }


def share_in_small_groups(releases: Sequence[Release], size: int) -> float:
    """Share of the published records in groups up to a size."""
    sizes = np.concatenate([release.observation.counts.sum(axis=1) for release in releases])
    return float(sizes[sizes <= size].sum() / max(sizes.sum(), 1))


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
