"""The demo: a medical follow-up published by three defenses, and attacked by four adversaries."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from foreknow import evaluation
from foreknow.app.cli.files.atomic_output import write_table
from foreknow.app.cli.pictures import BELIEF, GAIN, GROUP_SIZES, save_picture
from foreknow.attacks import Attack, JointAttack, LearnedAttack, SequentialAttack, SnapshotAttack
from foreknow.defenses import Defense, DistinctDiversity, JSReduce, KAnonymity, Mondrian
from foreknow.evaluation.datasets.pbc import pbc
from foreknow.evaluation.experiment import Comparison, compare
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth
from foreknow.models import Adversary, ClassFrequencies, Exact, History, MarkovChain, Omega

BASELINE = "Mondrian k=3, l=2"
PUBLICATIONS: dict[str, Defense] = {
    BASELINE: Mondrian(KAnonymity(3) & DistinctDiversity(2)),
    "JS-reduce k=3, t=.5, j=.6": JSReduce(3, 0.5, 0.6, also=DistinctDiversity(2), patience=20),
    "JS-reduce k=3, t=.3, j=.2": JSReduce(3, 0.3, 0.2, also=DistinctDiversity(2), patience=20),
}
"""Mondrian with k-anonymity and 2-diversity; JS-reduce with the paper's thresholds, and with stricter ones.

JS-reduce also requires 2-diversity, because t-closeness alone allows groups of one value."""

STRONGEST_ATTACK = "joint"
LEARNED_ATTACK = "learned"
SEQUENTIAL_ATTACK = "sequential"
SNAPSHOT_ATTACK = "snapshot"
ATTACK_TERMS = {
    SNAPSHOT_ATTACK: "each release alone",
    SEQUENTIAL_ATTACK: "release by release, with memory",
    STRONGEST_ATTACK: "the joint law of all patients and all years, in hindsight",
    LEARNED_ATTACK: "the same, by an adversary who was taught nothing: knowledge learned from the releases alone",
}
"""Meaning of the attacks, in the order of the tables."""

MIN_PATIENTS = 20
"""Least number of patients of a year that is published."""

FILES = (GAIN, BELIEF, GROUP_SIZES, "summary.csv", "risk.csv", "cost.csv")
"""Files that `write_output` writes."""


@dataclass(frozen=True, eq=False)
class Demo:
    """Measurements of the demo.

    Attributes
    ----------
    comparison : Comparison
        Every defense under every attack, for the published patients.
    corpus : History
        The patients from whom the adversary learned; none of them is published.
    patient : hashable
        The respondent with the largest gain of the strongest attack, summed over the baseline's releases.
    """

    comparison: Comparison
    corpus: History
    patient: Hashable


def run(
    split: int = 0,
    defenses: Mapping[str, Defense] = PUBLICATIONS,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> Demo:
    """Split the patients, publish two thirds of them by year of follow-up, and attack the releases.

    A random third of the PBC patients is the adversary's corpus. From it come the prior (class frequencies by age and sex) and
    the Markov chain of states, with small pseudo-counts. The learned attack has no corpus: it learns from the releases. The
    defenses assume a sequential adversary with this knowledge and the Omega-estimate, as the JS-reduce paper does.

    Parameters
    ----------
    split : int
        Seed of the draws of the third and of the order of the records.
    defenses : mapping of name to Defense
        Defenses to compare; `BASELINE` must be one of them.
    progress : callable, optional
        As in `compare`.
    """
    follow_up = pbc()
    patients = np.random.default_rng(split).permutation(np.array(follow_up.respondents, dtype=object))
    third = len(patients) // 3
    corpus, published = follow_up.of(patients[:third]), _large_enough(follow_up.of(patients[third:]))
    prior = ClassFrequencies.fit(corpus, {"age": 3, "sex": None}, pseudo_count=0.5)
    chain = MarkovChain.fit(corpus, order=1, pseudo_count=0.1)
    exact, omega = Adversary(prior, chain, estimator=Exact()), Adversary(prior, chain, estimator=Omega())
    generator = np.random.default_rng([split, 1])
    comparison = compare(published, defenses, attacks(exact), omega, progress=progress, rng=generator)
    return Demo(comparison, corpus, _most_exposed(comparison))


def attacks(adversary: Adversary) -> dict[str, Attack]:
    """The attacks of the demo: each is a column of the tables and a panel of the plot."""
    return {
        SNAPSHOT_ATTACK: SnapshotAttack(adversary),
        SEQUENTIAL_ATTACK: SequentialAttack(adversary),
        STRONGEST_ATTACK: JointAttack(adversary),
        LEARNED_ATTACK: LearnedAttack(),
    }


def write_output(demo: Demo, folder: Path) -> None:
    """Write the plots and tables of the demo into a folder."""
    comparison = demo.comparison
    save_picture(evaluation.gain_over_time(comparison.risk(), "year of follow-up", panel="attack"), folder / GAIN)
    beliefs = {
        f"{name}\n{STRONGEST_ATTACK} attack, in hindsight": comparison.beliefs[name, STRONGEST_ATTACK]
        for name in comparison.releases
    }
    save_picture(
        evaluation.belief_over_time(beliefs, comparison.history, demo.patient, "year of follow-up"), folder / BELIEF
    )
    save_picture(evaluation.group_sizes(comparison.releases), folder / GROUP_SIZES)
    write_table(comparison.summary(), folder / "summary.csv")
    write_table(comparison.risk(), folder / "risk.csv")
    write_table(comparison.cost(), folder / "cost.csv")


def patient_history(demo: Demo) -> pd.DataFrame:
    """Published group, belief and true value of the most exposed patient in the baseline's releases, one row per year."""
    rows = []
    for release, view in zip(demo.comparison.beliefs[BASELINE, STRONGEST_ATTACK], demo.comparison.history, strict=True):
        seen = release.observation
        for row in seen.people.rows(demo.patient):
            if seen.group[row] < 0:
                continue
            values, belief = seen.people.schema.values, release.posterior.probabilities[row]
            shown = seen.counts[seen.group[row]]
            rows.append(
                {
                    "year": seen.time,
                    "group": ", ".join(f"{count} {values[s]}" for s, count in enumerate(shown) if count),
                    "most probable": values[belief.argmax()],
                    "belief": float(belief.max()),
                    "true value": values[view.sensitive[row]],
                }
            )
    return pd.DataFrame(rows)


def _large_enough(history: History) -> History:
    return History(view for view in history if len(view) >= MIN_PATIENTS)


def _most_exposed(comparison: Comparison) -> Hashable:
    """The respondent with the largest belief in the true value beyond its share of the group, summed over the releases."""
    gained: dict[Hashable, float] = {}
    beliefs = comparison.beliefs[BASELINE, STRONGEST_ATTACK]
    for release, outcome in zip(beliefs, beliefs_and_truth("demo", beliefs, comparison.history), strict=True):
        published = release.observation.people[release.observation.group >= 0].respondents
        for respondent, gain in zip(published, outcome.confidence - outcome.share, strict=True):
            gained[respondent] = gained.get(respondent, 0.0) + float(gain)
    return max(gained, key=lambda respondent: gained[respondent])
