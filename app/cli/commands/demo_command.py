"""The command `foreknow demo`: a medical follow-up published three times and attacked."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from rich.console import RenderableType
from rich.text import Text

from foreknow import evaluation
from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.attack_choices import notice_compilation
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_findings import HEADINGS
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.options import Overwrite, output_folder
from foreknow.app.cli.pictures import BELIEF, GAIN, GROUP_SIZES, save_picture
from foreknow.app.cli.terminal import PrintedTable, definitions, error_console, notice, say, show, tracked
from foreknow.app.cli.typed_commands import typed_lines, unused_path
from foreknow.app.publication import SETTINGS
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

FILES = (GAIN, BELIEF, GROUP_SIZES, "summary.csv", "risk.csv", "cost.csv", SETTINGS)
"""Files in --out."""


@dataclass(frozen=True, eq=False)
class Demo:
    """Measurements of the demo."""

    comparison: Comparison  # every defense under every attack, for the published patients
    corpus: History  # the patients from whom the adversary learned; none of them is published
    # the respondent with the largest gain of the strongest attack, summed over the baseline's releases
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
    corpus, others = follow_up.of(patients[:third]), follow_up.of(patients[third:])
    published = History(view for view in others if len(view) >= MIN_PATIENTS)
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
    from foreknow.evaluation.plots.risk_utility import group_sizes

    comparison = demo.comparison
    save_picture(evaluation.gain_over_time(comparison.risk(), "year of follow-up", panel="attack"), folder / GAIN)
    beliefs = {
        f"{name}\n{STRONGEST_ATTACK} attack, in hindsight": comparison.beliefs[name, STRONGEST_ATTACK]
        for name in comparison.releases
    }
    save_picture(
        evaluation.belief_over_time(beliefs, comparison.history, demo.patient, "year of follow-up"), folder / BELIEF
    )
    save_picture(group_sizes(comparison.releases), folder / GROUP_SIZES)
    for name, table in {"summary": comparison.summary(), "risk": comparison.risk(), "cost": comparison.cost()}.items():
        write_table(table, folder / f"{name}.csv")


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


def _most_exposed(comparison: Comparison) -> Hashable:
    """The respondent with the largest belief in the true value beyond its share of the group, summed over the releases."""
    beliefs = comparison.beliefs[BASELINE, STRONGEST_ATTACK]
    gains = [
        pd.Series(outcome.confidence - outcome.share, release.observation.people.respondents[outcome.rows])
        for release, outcome in zip(beliefs, beliefs_and_truth("demo", beliefs, comparison.history), strict=True)
    ]
    most: Hashable = pd.concat(gains).groupby(level=0, sort=False).sum().idxmax()
    return most


STRONGEST_ATTACK_TERMS = {
    "confidence": "mean belief in the true value",
    "success": "share of records whose most probable value is the true value",
    "log score": "mean log2 of the belief in the true value",
    "sure": "number of posteriors of at least 0.9",
    "expected": "number of sure posteriors that the adversary expects to be right",
    "right": "number of sure posteriors that are right",
}
"""Meaning of the columns of the strongest attack."""

COST_TERMS = {
    "suppressed": "share of the records that are suppressed",
    "size": "mean size of a group",
    "gcp": "generalization of age and sex, from 0 (exact) to 1 (no information)",
}
"""Meaning of the columns of the information loss."""


@dataclass(frozen=True)
class DemoRun:
    """Options of `foreknow demo`."""

    context: typer.Context
    out: Annotated[Path, output_folder("Folder for plots and tables.")] = Path("demo-output")
    overwrite: Overwrite = False


def demo_command(command: DemoRun) -> Outcome:
    """Run `foreknow demo`.


    For example:
      foreknow demo --out demo-output
    """  # noqa: D205 - what follows two empty lines is printed below the options
    out = command.out
    check_output(out, FILES, overwrite=command.overwrite)
    notice(
        "Mayo Clinic, primary biliary cirrhosis: adversaries learn from a third of the patients, or from the releases alone;"
    )
    notice("the records of the others are published.")
    notice_compilation()
    measured = run(progress=lambda names: tracked(names, "publishing and attacking"))
    with error_console.status("drawing"), atomic_output(out, overwrite=command.overwrite) as folder:
        write_output(measured, folder)
        write_json(folder / SETTINGS, run_settings(command.context, []))
    for part in demo_tables(measured):
        show(part)
    names = sorted(str(name) for name in FILES)
    say(f"Plots and tables are in {out}:", f"  {', '.join(names)}")
    table = unused_path("visits.csv")
    say(
        "Next, with simulated visits, or a file of yours:",
        *typed_lines(f"simulate exams --out {table}", f"describe {table}"),
    )
    return Outcome(
        {
            "respondents": len(measured.comparison.history.respondents),
            "records": sum(map(len, measured.comparison.history)),
            "corpus": len(measured.corpus.respondents),
            "summary": measured.comparison.summary(),
            "most_exposed": measured.patient,
            "files": [str(out / name) for name in names],
        }
    )


def demo_tables(measured: Demo) -> Iterator[RenderableType]:
    """Tables and notes of the demo, each at most as wide as the terminal."""
    history, summary = measured.comparison.history, measured.comparison.summary()
    yield Text(
        f"\n{len(history.respondents)} patients, {sum(map(len, history))} records, published in {len(history)} yearly releases. "
        f"The adversary learned from {len(measured.corpus.respondents)} other patients. Years with fewer than "
        f"{MIN_PATIENTS} patients are left out.\n"
    )
    yield definitions(ATTACK_TERMS)
    yield ""
    for value, index, title in (
        ("gain", ["defense", "certain"], "Gain: (belief in the true value - its share f of the group) / (1 - f)"),
        ("total_risk", ["defense"], "Total risk: the gain, with groups of one value (certain) counted as 1"),
        ("log_score", ["defense"], "Log score: mean log2 of the belief in the true value"),
    ):
        table = summary.pivot_table(index=index, columns="attack", values=value, sort=False)
        yield PrintedTable(table.reset_index(), title)
    strongest = summary[summary["attack"] == STRONGEST_ATTACK]
    columns = ["defense", "confidence", "success", "log_score", "sure", "expected", "right"]
    yield PrintedTable(strongest[columns].rename(columns=HEADINGS), f"Beliefs of the {STRONGEST_ATTACK} attack")
    yield definitions(STRONGEST_ATTACK_TERMS)
    yield ""
    told: dict[str, tuple[str, list[str]]] = {}  # by the note: the first attack that has it, and the defenses
    for attack, name in product((SEQUENTIAL_ATTACK, STRONGEST_ATTACK, LEARNED_ATTACK), measured.comparison.releases):
        for note in measured.comparison.beliefs[name, attack].notes:
            first, names = told.setdefault(note, (attack, []))
            if attack == first:
                names.append(name)
    for note, (attack, names) in told.items():
        yield Text(f"{attack} attack on {'; '.join(names)}: {note}\n")
    loss = strongest[["defense", "suppressed_share", "group_size", "gcp"]]
    yield PrintedTable(
        loss.rename(columns={"suppressed_share": "suppressed", "group_size": "size"}), "Information loss"
    )
    yield definitions(COST_TERMS)
    yield ""
    yield PrintedTable(
        patient_history(measured),
        f"Patient {measured.patient}, with the largest gain under {BASELINE}: beliefs of the {STRONGEST_ATTACK} attack",
    )
