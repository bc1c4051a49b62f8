"""Tables and notices that `foreknow attack` prints."""

from collections.abc import Iterator

from rich.console import RenderableType

from foreknow.app.cli.attack_choices import DEFAULT_R, READS_NO_ESTIMATOR
from foreknow.app.cli.commands.attack_making import AttackSettings
from foreknow.app.cli.printing.attack_tables import foreground_tables, joint_and_sequential, risk_tables
from foreknow.app.cli.printing.terminal import error_console, notice, show
from foreknow.attacks import Attack, ForegroundAttack, ForegroundBeliefs
from foreknow.models import Beliefs, History


def report_attack(
    chosen: AttackSettings,
    attack: Attack,
    beliefs: Beliefs,
    sequential: Beliefs | None,
    history: History,
    sure: float,
) -> None:
    """Print the risk of an attack and its notes; for the joint attack, the sequential one beside it."""
    with error_console.status("measuring the risk"):
        parts = list(_parts(chosen, attack, beliefs, sequential, history, sure))
    for part in parts:
        show(part)
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


def _parts(
    chosen: AttackSettings,
    attack: Attack,
    beliefs: Beliefs,
    sequential: Beliefs | None,
    history: History,
    sure: float,
) -> Iterator[RenderableType]:
    """Tables of the risk, and the meaning of their columns."""
    if sequential is not None:
        yield from joint_and_sequential(beliefs, sequential, history, chosen.forward, sure)
    if isinstance(attack, ForegroundAttack) and isinstance(beliefs, ForegroundBeliefs):
        yield from foreground_tables(beliefs, history, attack.sensitive_set, chosen.r or DEFAULT_R)
    yield from risk_tables(beliefs, history, attack_title(chosen), sure)
