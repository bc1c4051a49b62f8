"""Trial publications of `foreknow compare`, each attacked, and the one to choose."""

import time
from collections.abc import Sequence
from typing import Any

import pandas as pd

from foreknow.attacks import JointAttack
from foreknow.defenses import Infeasible, publish
from foreknow.evaluation.cli.adversary_knowledge import Learning, assumed_adversary
from foreknow.evaluation.cli.commands.compare_options import Compared
from foreknow.evaluation.cli.commands.report_making import informed_of, learned_of
from foreknow.evaluation.cli.defense_choices import seeded_generator
from foreknow.evaluation.cli.printing.terminal import tracked
from foreknow.evaluation.report.stricter import Measured, risk_and_price
from foreknow.models import Auto, History, JointSolver

SHOWN = {
    "setting": "defense",
    "exposed": "exposed",
    "share": "share",
    "suppressed": "suppressed",
    "gcp": "gcp",
    "group_size": "size",
    "seconds": "seconds",
}
"""Columns that are printed, and their headings."""


def measured(
    history: History,
    corpus: History | None,
    tried: Sequence[Compared],
    learning: Learning,
    solver: JointSolver,
    sure: float,
    seed: int,
) -> pd.DataFrame:
    """Risk and price, one row per setting, in their order."""
    informed = informed_of(history if corpus is None else corpus, learning, Auto())
    defender = assumed_adversary(history, corpus, learning)
    rows = []
    for each in tracked(tried, "publishing and attacking"):
        start = time.perf_counter()
        row: dict[str, Any] = {"setting": each.title, "exposed": float("nan"), "problem": ""}
        try:
            releases = publish(
                history,
                each.defense,
                defender if each.assumes_adversary else None,
                infeasible="suppress",
                rng=seeded_generator(seed, 1),
            )
        except Infeasible as error:
            rows.append(row | {"problem": str(error)})
            continue
        row["seconds"] = time.perf_counter() - start
        if not any(release.groups for release in releases):
            rows.append(row | {"problem": "all records would be suppressed."})
            continue
        adversaries = {"informed": informed, "learned": learned_of(releases, learning, Auto())}
        beliefs = {name: JointAttack(one, solver)(releases) for name, one in adversaries.items()}
        row |= risk_and_price(Measured(releases, beliefs), history, sure)
        exposed = max(row["exposed_informed"], row["exposed_learned"])
        rows.append(row | {"exposed": exposed, "share": exposed / max(row["respondents"], 1)})
    return (
        pd.DataFrame(rows)
        .reindex(columns=[*SHOWN, "exposed_informed", "exposed_learned", "respondents", "problem"])
        .astype({"exposed": "Int64"})
    )


def best_row(found: pd.DataFrame, fail_over: float | None) -> int | None:
    """Row of the setting to publish: the least suppression and generalization under --fail-over, or else the least risk."""
    known = found[found["exposed"].notna()]
    if fail_over is not None:
        known = known[known["share"] <= fail_over]
    order = ["suppressed", "gcp", "share"] if fail_over is not None else ["share", "suppressed", "gcp"]
    return None if known.empty else int(known.sort_values(order, kind="stable").index[0])
