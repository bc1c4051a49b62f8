"""The demo: a real follow-up, published in three ways, read by somebody who knows how the disease goes on."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, SequentialAttack, SnapshotAttack
from foreknow.defenses import Defense, DistinctDiversity, JSReduce, KAnonymity, Mondrian
from foreknow.evaluation.cli.atomic_output import write_table
from foreknow.evaluation.datasets.pbc import pbc
from foreknow.evaluation.experiment import Comparison, compare
from foreknow.evaluation.plots.belief_plots import belief_over_time, gain_over_time, group_sizes
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth
from foreknow.models import Adversary, ClassFrequencies, Exact, History, MarkovChain, Omega

SAFE = "Mondrian k=3, l=2"
PUBLICATIONS: dict[str, Defense] = {
    SAFE: Mondrian(KAnonymity(3) & DistinctDiversity(2)),
    "JS-reduce k=3, t=.5, j=.6": JSReduce(3, 0.5, 0.6, also=DistinctDiversity(2), patience=20),
    "JS-reduce k=3, t=.3, j=.2": JSReduce(3, 0.3, 0.2, also=DistinctDiversity(2), patience=20),
}
"""Mondrian with k-anonymity and 2-diversity; JS-reduce with the paper's thresholds, and with stricter ones.

JS-reduce asks for 2-diversity as well: t-closeness alone allows groups of one value."""

STRONGEST = "sequential, Exact"
FEWEST = 20
"""Years with fewer patients than this are not published."""

FILES = ("gain.png", "belief.png", "groups.png", "summary.csv", "risk.csv", "cost.csv")
"""What `pictures` writes."""


@dataclass(frozen=True, eq=False)
class Demo:
    """Measurements of the demo.

    Attributes
    ----------
    comparison : Comparison
        Every defense under every attack, on the published patients.
    corpus : History
        The patients the adversary learned from; none of them is published.
    victim : hashable
        The respondent whose diagnoses the strongest attack read best from the releases called safe.
    """

    comparison: Comparison
    corpus: History
    victim: Hashable


def run(
    split: int = 0,
    defenses: Mapping[str, Defense] = PUBLICATIONS,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> Demo:
    """Split the patients, publish two thirds of them by year of follow-up, and attack.

    A third of the PBC patients, drawn once, are the adversary's corpus: from it come the prior (frequencies by age and
    sex) and the chain (which state follows which), with small pseudo-counts for what it does not show. The defender
    assumes the same adversary, with the Omega-estimate, as the paper does. Nothing else is known to anybody.

    Parameters
    ----------
    split : int
        The seed by which the third, and the order of the records, are drawn.
    defenses : mapping of name to Defense
        What is compared; `SAFE` must be among them.
    progress : callable, optional
        As in `compare`.
    """
    everybody = pbc()
    patients = np.random.default_rng(split).permutation(np.array(everybody.respondents, dtype=object))
    third = len(patients) // 3
    corpus, published = everybody.of(patients[:third]), _large_enough(everybody.of(patients[third:]))
    prior = ClassFrequencies.fit(corpus, {"age": 3, "sex": None}, pseudo_count=0.5)
    chain = MarkovChain.fit(corpus, order=1, pseudo_count=0.1)
    exact, omega = Adversary(prior, chain, estimator=Exact()), Adversary(prior, chain, estimator=Omega())
    attacks: dict[str, Attack] = {
        STRONGEST: SequentialAttack(exact),
        "sequential, Omega": SequentialAttack(omega),
        "snapshot, Exact": SnapshotAttack(exact),
    }
    comparison = compare(published, defenses, attacks, omega, progress=progress, rng=np.random.default_rng([split, 1]))
    return Demo(comparison, corpus, _victim(comparison))


def pictures(demo: Demo, folder: Path) -> None:
    """Write the demo's pictures and tables into a folder."""
    comparison = demo.comparison
    gain_over_time(comparison.risk(), "year of follow-up").savefig(folder / "gain.png", dpi=130)
    beliefs = {name: comparison.beliefs[name, STRONGEST] for name in comparison.releases}
    belief_over_time(beliefs, comparison.history, demo.victim, "year of follow-up").savefig(
        folder / "belief.png", dpi=130
    )
    group_sizes(comparison.releases).savefig(folder / "groups.png", dpi=130)
    write_table(comparison.summary(), folder / "summary.csv")
    write_table(comparison.risk(), folder / "risk.csv")
    write_table(comparison.cost(), folder / "cost.csv")


def story(demo: Demo) -> pd.DataFrame:
    """History of one patient in the releases called safe: one row per year."""
    rows = []
    for release, view in zip(demo.comparison.beliefs[SAFE, STRONGEST], demo.comparison.history, strict=True):
        seen = release.observation
        for row in seen.people.rows(demo.victim):
            if seen.group[row] < 0:
                continue
            values, belief = seen.people.schema.values, release.posterior.probabilities[row]
            shown = seen.counts[seen.group[row]]
            rows.append(
                {
                    "year": seen.time,
                    "published among": ", ".join(f"{count} {values[s]}" for s, count in enumerate(shown) if count),
                    "believed": values[belief.argmax()],
                    "with": float(belief.max()),
                    "truth": values[view.sensitive[row]],
                }
            )
    return pd.DataFrame(rows)


def _large_enough(history: History) -> History:
    return History(view for view in history if len(view) >= FEWEST)


def _victim(comparison: Comparison) -> Hashable:
    """The respondent of whom the truth is believed most beyond its share of the group, summed over the releases."""
    gained: dict[Hashable, float] = {}
    beliefs = comparison.beliefs[SAFE, STRONGEST]
    for release, outcome in zip(beliefs, beliefs_and_truth("demo", beliefs, comparison.history), strict=True):
        published = release.observation.people[release.observation.group >= 0].respondents
        for respondent, gain in zip(published, outcome.confidence - outcome.share, strict=True):
            gained[respondent] = gained.get(respondent, 0.0) + float(gain)
    return max(gained, key=lambda respondent: gained[respondent])
