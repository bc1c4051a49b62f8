"""Trial publications of `foreknow compare`, each attacked, and the one to choose."""

import itertools
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from foreknow.app.cli.adversary_knowledge import Learning, assumed_adversary
from foreknow.app.cli.commands.compare_options import Compared
from foreknow.app.cli.commands.report_making import informed_of, learned_of
from foreknow.app.cli.defense_choices import seeded_generator
from foreknow.app.cli.printing.time_left import TimeLeft
from foreknow.app.report.adversaries import LEARNED
from foreknow.app.report.steps import ATTACKS, KNOWLEDGE, PUBLICATION, Step
from foreknow.app.report.stricter import Measured, risk_and_price
from foreknow.attacks import JointAttack
from foreknow.defenses import Infeasible, publish
from foreknow.models import Adversary, Auto, History, JointSolver
from foreknow.models.joint.solver import with_progress
from foreknow.models.progress import Progress

INFEASIBLE: Literal["suppress"] = "suppress"
"""Treatment of a release that cannot be published, in a trial."""

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


PHASES = {
    "publishing": PUBLICATION,
    "learning from the releases": KNOWLEDGE[LEARNED],
    "attack by the informed adversary": ATTACKS["all releases in hindsight"],
    "attack by the one who learned": ATTACKS["all releases in hindsight"],
}
"""Phases of a setting, and their costs."""


class Trials(NamedTuple):
    """Data and settings that all trial publications of a comparison share.

    Attributes
    ----------
    history : History
    corpus : History or None
        Records from which the adversaries learned; None: the history.
    learning : Learning
    solver : JointSolver
    sure : float
        Belief from which an adversary is sure.
    seed : int
    """

    history: History
    corpus: History | None
    learning: Learning
    solver: JointSolver
    sure: float
    seed: int


def measured(trials: Trials, tried: Sequence[Compared]) -> pd.DataFrame:
    """Risk and price, one row per setting, in their order."""
    steps = [Step(f"{each.title}: {phase}", cost) for each in tried for phase, cost in PHASES.items()]
    with TimeLeft("learning what is known") as shown:
        source = trials.history if trials.corpus is None else trials.corpus
        informed = informed_of(source, trials.learning, Auto())
        defender = assumed_adversary(trials.history, trials.corpus, trials.learning)
        taken, rows = iter(shown.steps(steps)), []
        for each in tried:
            phases = itertools.islice(taken, len(PHASES))
            rows.append(_row(each, trials, informed, defender, phases, shown.parts))
            deque(phases, maxlen=0)  # the phases that are left where nothing is published
    columns = [*SHOWN, "exposed_informed", "exposed_learned", "respondents", "problem"]
    return pd.DataFrame(rows).reindex(columns=columns).astype({"exposed": "Int64"})


def _row(
    each: Compared,
    trials: Trials,
    informed: Adversary,
    defender: Adversary,
    phases: Iterator[Step],
    progress: Progress,
) -> dict[str, Any]:
    """Risk and price of one setting; the problem, where nothing can be published. One phase is taken before each part."""
    row: dict[str, Any] = {"setting": each.title, "exposed": float("nan"), "problem": ""}
    next(phases)
    start = time.perf_counter()
    try:
        releases = publish(
            trials.history,
            each.defense,
            defender if each.choice.assumes_adversary else None,
            infeasible=INFEASIBLE,
            rng=seeded_generator(trials.seed, 1),
            progress=progress,
        )
    except Infeasible as error:
        return row | {"problem": str(error)}
    row["seconds"] = time.perf_counter() - start
    if not any(release.groups for release in releases):
        return row | {"problem": "all records would be suppressed."}
    next(phases)
    adversaries = {"informed": informed, "learned": learned_of(releases, trials.learning, Auto(), progress)}
    attacks = {name: JointAttack(one, with_progress(trials.solver, progress)) for name, one in adversaries.items()}
    beliefs = {name: attack(releases) for (name, attack), _ in zip(attacks.items(), phases, strict=True)}
    row |= risk_and_price(Measured(releases, beliefs), trials.history, trials.sure)
    exposed = max(row["exposed_informed"], row["exposed_learned"])
    return row | {"exposed": exposed, "share": exposed / max(row["respondents"], 1)}


def best_row(found: pd.DataFrame, fail_over: float | None) -> int | None:
    """Row of the setting to publish: the least suppression and generalization under --fail-over, or else the least risk."""
    known = found[found["exposed"].notna()]
    if fail_over is not None:
        known = known[known["share"] <= fail_over]
    order = ["suppressed", "gcp", "share"] if fail_over is not None else ["share", "suppressed", "gcp"]
    return None if known.empty else int(known.sort_values(order, kind="stable").index[0])
