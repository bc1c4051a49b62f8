"""Tables and notices that `foreknow attack` prints."""

from collections.abc import Iterable

from rich.console import RenderableType

from foreknow.attacks import Attack, ForegroundAttack, ForegroundBeliefs
from foreknow.evaluation.cli.attack_choices import DEFAULT_R, READS_NO_ESTIMATOR
from foreknow.evaluation.cli.commands.attack_making import AttackSettings
from foreknow.evaluation.cli.printing.attack_tables import foreground_tables, joint_and_sequential, risk_tables
from foreknow.evaluation.cli.printing.terminal import notice, show
from foreknow.models import Beliefs, History


def report_attack(
    chosen: AttackSettings, attack: Attack, beliefs: Beliefs, sequential: Beliefs | None, history: History
) -> None:
    """Print the risk of an attack and its notes; for the joint attack, the sequential one beside it."""
    if sequential is not None:
        _show_all(joint_and_sequential(beliefs, sequential, history, chosen.forward))
    if isinstance(attack, ForegroundAttack) and isinstance(beliefs, ForegroundBeliefs):
        _show_all(foreground_tables(beliefs, history, attack.sensitive_set, chosen.r or DEFAULT_R))
    _show_all(risk_tables(beliefs, history, attack_title(chosen)))
    for note in beliefs.notes:
        notice(note)
    for note in () if sequential is None else sequential.notes:
        notice(f"Sequential attack: {note}")


def attack_title(chosen: AttackSettings) -> str:
    """Title of the tables of an attack."""
    if chosen.name == "joint":
        return f"joint attack, {chosen.solver} solver, {'forward' if chosen.forward else 'in hindsight'}"
    posterior = "" if chosen.name in READS_NO_ESTIMATOR else f", {chosen.estimator} posterior"
    return f"{chosen.name} attack{posterior}"


def _show_all(parts: Iterable[RenderableType]) -> None:
    for part in parts:
        show(part)
