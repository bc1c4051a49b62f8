"""The two adversaries of a report, and their beliefs: given the releases so far, and in hindsight."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foreknow.app.cli.adversary_knowledge import Learning, learn_from_releases, learn_knowledge
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.models import Adversary, Auto, Beliefs, History, Release
from foreknow.models.joint import JointSolver
from foreknow.models.progress import no_step

INFORMED, LEARNED = "informed", "learned"
"""Names of the adversaries: one who knows the rates of the original records, and one who has read the releases alone."""

TITLES = {
    INFORMED: "Informed adversary",
    LEARNED: "Adversary without prior knowledge",
}
"""Titles of the adversaries on the page."""

SHORT_TITLES = {INFORMED: "Informed", LEARNED: "Without prior knowledge"}
"""Titles of the adversaries in legends and headings of columns."""


@dataclass(frozen=True, eq=False)
class Inference:
    """Beliefs of one adversary about all releases, under the joint law.

    Attributes
    ----------
    name : {"informed", "learned"}
    adversary : Adversary
    hindsight, forward : Beliefs
        Beliefs about each release given all releases, and given the releases up to it.
    sequential : Beliefs
        Beliefs of the sequential attack of the same adversary, whose revised priors tell what was known of each group member.
    """

    name: str
    adversary: Adversary
    hindsight: Beliefs
    forward: Beliefs
    sequential: Beliefs

    @property
    def title(self) -> str:
        """Title of the adversary on the page."""
        return TITLES[self.name]


def inference(
    name: str,
    adversary: Adversary,
    releases: Sequence[Release],
    solver: JointSolver,
    step: Callable[[], None] = no_step,
) -> Inference:
    """Beliefs of an adversary in hindsight, forward, and release by release; ``step`` is called before each attack."""
    attacks = (
        JointAttack(adversary, solver),
        JointAttack(adversary, solver, hindsight=False),
        SequentialAttack(adversary),
    )
    made = []
    for attack in attacks:
        step()
        made.append(attack(releases))
    return Inference(name, adversary, *made)


def informed_adversary(history: History) -> Adversary:
    """The adversary who knows the class frequencies and the transitions of the original records."""
    learning = Learning()
    knowledge = learn_knowledge(history, learning)
    return learning.adversary(knowledge.prior, knowledge.transitions, Auto())


def learned_adversary(releases: Sequence[Release]) -> Adversary:
    """The adversary who learned prior and transitions from the releases alone."""
    learning = Learning()
    learned = learn_from_releases(releases, learning)
    return learning.adversary(learned.prior, learned.transitions, Auto())
