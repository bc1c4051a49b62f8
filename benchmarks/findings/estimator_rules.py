"""Sections 8 and 9: the same releases under several estimators."""

from collections.abc import Iterator

import numpy as np
from exams_settings import MIXED_SIZES, RULES, SAFE, SHOWN, bayframe_defenses, gains, mean_score, seeded
from joint_adversary import assessments, joint_attacks, line

from foreknow.attacks import SequentialAttack
from foreknow.defenses import JSReduce, publish
from foreknow.evaluation import adversary_gain, disclosures, exams, gcp, suppressed
from foreknow.models import Adversary, Auto, Beliefs, DirichletMultinomial, Estimator, Mixed, Omega


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


def joint_rules(views: int = 24, records: int = 5000) -> Iterator[str]:
    """Section 8: the same releases under the joint attacks."""
    simulation = exams(views, records, rng=seeded())
    omega = Adversary(simulation.prior, simulation.transitions, estimator=Omega())
    for defense in (SAFE, JSReduce(3, 0.5, 0.6, patience=50)):
        releases = publish(simulation.history, defense, omega, rng=seeded(1))
        for row in assessments(releases, simulation.history, joint_attacks(omega)):
            yield f"{type(defense).__name__}: {line(row)}"


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
            f"{gcp(releases)['gcp'].mean():.3f}; gain under {'; '.join(each)}"
        )


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
                f"{gcp(releases)['gcp'].mean():.3f} | {kept / max(sum(r.groups for r in releases), 1):.1f} | "
                f"{own.max():.3f} | {own.iloc[-1]:.3f} | {absolute.mean():.3f} | {exact.max():.3f} | {exact.iloc[-1]:.3f} |"
            )
