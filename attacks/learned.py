"""Joint attack without background knowledge: prior and transitions are learned from the attacked releases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from foreknow.attacks.attack import each_release
from foreknow.attacks.joint import JointAttack
from foreknow.models import Adversary, Beliefs, GroupMessages, JointSolver, LearnedKnowledge, Release
from foreknow.models.joint.solver import check_is_solver
from foreknow.models.knowledge.markov_chain import check_pseudo_count
from foreknow.models.knowledge.sequences import GapRule, check_chain_order, check_gaps
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import check_flag, check_kind


@dataclass(frozen=True)
class LearnedAttack:
    """Joint attack of an adversary who knows nothing but the releases.

    Prior and transitions are learned from the attacked releases by expectation-maximization (`LearnedKnowledge.fit`); then
    `JointAttack` computes the beliefs with them.

    Parameters
    ----------
    classes, pseudo_count, gaps, order
        As in `LearnedKnowledge.fit`.
    solver, hindsight
        As in `JointAttack`. Knowledge is learned from all releases, also with ``hindsight=False``.
    progress : callable
        Progress of the learning, as in `LearnedKnowledge.fit`. The solver has a progress of its own. By keyword.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If a setting is out of range; when called, as `LearnedKnowledge.fit` and `JointAttack`.

    Notes
    -----
    The beliefs take the learned law as known: its error is no part of them. The ``notes`` of the beliefs have the number of rounds,
    the notes of the learned knowledge, and those of the joint attack. With one release, or where no respondent is published
    twice, there are no transitions, and the notes say so. Cost: that of `LearnedKnowledge.fit` and of `JointAttack`.
    """

    classes: Mapping[str, int | None] | None = None
    pseudo_count: float = 0.1
    gaps: GapRule = "ignore"
    order: int = 1
    solver: JointSolver = field(default_factory=GroupMessages)
    hindsight: bool = True
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.classes is not None:
            takes = "maps attributes to numbers of intervals, as {'age': 3, 'sex': None}"
            check_kind("LearnedAttack", "classes", self.classes, Mapping, takes)
        check_pseudo_count(self.pseudo_count)
        check_gaps(self.gaps)
        check_chain_order(self.order)
        check_is_solver("LearnedAttack", "solver", self.solver)
        check_flag("LearnedAttack", "hindsight", self.hindsight)
        check_progress("LearnedAttack", self.progress, "the parts of the learning")

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        attacked = tuple(each_release(self, releases))
        learned = LearnedKnowledge.fit(
            attacked,
            classes=self.classes,
            pseudo_count=self.pseudo_count,
            gaps=self.gaps,
            order=self.order,
            progress=self.progress,
        )
        adversary = Adversary(learned.prior, learned.transitions, gaps=self.gaps)
        beliefs = JointAttack(adversary, self.solver, self.hindsight)(attacked)
        first = f"Prior and transitions were learned from the releases alone, in {learned.rounds} rounds."
        return Beliefs(beliefs.releases, notes=(first, *learned.notes, *beliefs.notes))
