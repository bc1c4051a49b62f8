"""The command `foreknow demo`: a medical follow-up published three times and attacked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from foreknow.app.cli import demo
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.next_step import typed_lines, unused_path
from foreknow.app.cli.files.atomic_output import atomic_output, check_output
from foreknow.app.cli.files.run_settings import SETTINGS, run_settings, write_settings
from foreknow.app.cli.options import Overwrite, output_folder
from foreknow.app.cli.printing.attack_tables import HEADINGS
from foreknow.app.cli.printing.compilation_notice import notice_compilation
from foreknow.app.cli.printing.printed_table import PrintedTable, definitions
from foreknow.app.cli.printing.terminal import error_console, notice, say, show, tracked

FILES = (*demo.FILES, SETTINGS)
"""Files in --out."""

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


def demo_command(
    context: typer.Context,
    out: Annotated[Path, output_folder("Folder for plots and tables.")] = Path("demo-output"),
    overwrite: Overwrite = False,
) -> Outcome:
    """Publish a medical follow-up by Mondrian with l-diversity and by JS-reduce, and attack the releases."""
    check_output(out, FILES, overwrite=overwrite)
    notice(
        "Mayo Clinic, primary biliary cirrhosis: adversaries learn from a third of the patients, or from the releases alone;"
    )
    notice("the records of the others are published.")
    notice_compilation()
    measured = demo.run(progress=lambda names: tracked(names, "publishing and attacking"))
    with error_console.status("drawing"), atomic_output(out, overwrite=overwrite) as folder:
        demo.write_output(measured, folder)
        write_settings(folder / SETTINGS, run_settings(context, []))
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


def demo_tables(measured: demo.Demo) -> Iterator[RenderableType]:
    """Tables and notes of the demo, each at most as wide as the terminal."""
    history, summary = measured.comparison.history, measured.comparison.summary()
    yield Text(
        f"\n{len(history.respondents)} patients, {sum(map(len, history))} records, published in {len(history)} yearly releases. "
        f"The adversary learned from {len(measured.corpus.respondents)} other patients. Years with fewer than "
        f"{demo.MIN_PATIENTS} patients are left out.\n"
    )
    yield definitions(demo.ATTACK_TERMS)
    yield ""
    gains = summary.pivot_table(index=["defense", "certain"], columns="attack", values="gain", sort=False)
    yield PrintedTable(gains.reset_index(), "Gain: (belief in the true value - its share f of the group) / (1 - f)")
    risks = summary.pivot_table(index="defense", columns="attack", values="total_risk", sort=False)
    yield PrintedTable(risks.reset_index(), "Total risk: the gain, with groups of one value (certain) counted as 1")
    scores = summary.pivot_table(index="defense", columns="attack", values="log_score", sort=False)
    yield PrintedTable(scores.reset_index(), "Log score: mean log2 of the belief in the true value")
    strongest = summary[summary["attack"] == demo.STRONGEST_ATTACK]
    columns = ["defense", "confidence", "success", "log_score", "sure", "expected", "right"]
    yield PrintedTable(strongest[columns].rename(columns=HEADINGS), f"Beliefs of the {demo.STRONGEST_ATTACK} attack")
    yield definitions(STRONGEST_ATTACK_TERMS)
    yield ""
    said: set[str] = set()
    for attack in (demo.SEQUENTIAL_ATTACK, demo.STRONGEST_ATTACK, demo.LEARNED_ATTACK):
        for note, names in _defenses_by_note(measured, attack).items():
            if note not in said:
                yield Text(f"{attack} attack on {'; '.join(names)}: {note}\n")
            said.add(note)
    loss = strongest[["defense", "suppressed_share", "group_size", "gcp"]]
    yield PrintedTable(
        loss.rename(columns={"suppressed_share": "suppressed", "group_size": "size"}), "Information loss"
    )
    yield definitions(COST_TERMS)
    yield ""
    yield PrintedTable(
        demo.patient_history(measured),
        f"Patient {measured.patient}, with the largest gain under {demo.BASELINE}: beliefs of the {demo.STRONGEST_ATTACK} attack",
    )


def _defenses_by_note(measured: demo.Demo, attack: str) -> dict[str, list[str]]:
    """The notes of an attack, each with the defenses whose releases it is about."""
    notes: dict[str, list[str]] = {}
    for name in measured.comparison.releases:
        for note in measured.comparison.beliefs[name, attack].notes:
            notes.setdefault(note, []).append(name)
    return notes
