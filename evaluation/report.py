"""What the command line prints: tables that fit a terminal."""

from collections.abc import Iterator

import pandas as pd
from rich.markup import escape
from rich.table import Table

from foreknow.evaluation.demo import SAFE, STRONGEST, Demo, story


def table(frame: pd.DataFrame, title: str) -> Table:
    """A data frame as a table: numbers to the right, fractions with three digits."""
    shown = Table(title=escape(title), title_justify="left")
    for name in frame.columns:
        number = pd.api.types.is_numeric_dtype(frame[name])
        shown.add_column(escape(str(name)), justify="right" if number else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        shown.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else escape(str(cell)) for cell in row))
    return shown


def demo(found: Demo) -> Iterator[Table | str]:
    """What the demo measured, part by part, each no wider than 80 characters."""
    history, summary = found.comparison.history, found.comparison.summary()
    yield (
        f"\n{len(history.respondents)} patients, {sum(map(len, history))} records, published in {len(history)} yearly releases;\n"
        f"the adversary learned from {len(found.corpus.respondents)} others.\n"
    )
    gains = summary.pivot_table(index="defense", columns="attack", values="gain", sort=False)
    yield table(gains.reset_index(), "Gain: belief in the truth beyond the group's own shares (0 to 1)")
    strongest = summary[summary["attack"] == STRONGEST]
    yield table(strongest[["defense", "confidence", "success", "sure", "right"]], f"What the {STRONGEST} attack read")
    yield "sure: records believed with 90% or more; right: those of them that are so\n"
    yield table(strongest[["defense", "suppressed", "size", "gcp"]], "What it cost")
    yield (
        "suppressed: share of records left out; size: mean size of a group;\n"
        "gcp: how blurred ages and sexes are (0 to 1)\n"
    )
    yield table(story(found), f"Patient {found.victim}, read out of {SAFE}")
