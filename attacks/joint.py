"""Joint attack: beliefs under the joint law of all respondents and all releases."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from foreknow.attacks.attack import check_adversary, each_release
from foreknow.attacks.joint_notes import joint_notes
from foreknow.models import Adversary, Beliefs, JointSolver, MaxEntropy, Release, joint_history, release_beliefs
from foreknow.models.joint.counterfeit_law import solve_with_counterfeits
from foreknow.models.joint.solver import check_is_solver
from foreknow.models.settings import check_flag


@dataclass(frozen=True)
class JointAttack:
    """Beliefs under the joint law of all respondents and all releases.

    Each respondent has a chain with the prior and the transitions of the adversary; each group conditions the values of its
    members on the published multiset. Other attacks keep the marginal beliefs of each respondent from release to release; the
    joint law keeps what the releases say together: later releases about earlier ones, and members of a group about each other.

    Parameters
    ----------
    adversary : Adversary
        Its prior, transitions, gaps, compromised records and law of counterfeits are used. Its estimator, cascade and revision are
        rules of release-by-release inference, and are not read.
    solver : JointSolver
        `MaxEntropy` by default; `JOINT_SOLVERS` lists all.
    hindsight : bool
        True for beliefs about each release given all releases, False for beliefs given the releases up to it.

    Raises
    ------
    TypeError
        If ``adversary`` is no `Adversary`, or ``solver`` no solver.
    ValueError
        When called: if a compromised record concerns a time without release or a value that its group does not show, if the
        releases differ in their sensitive domain, or if the solver refuses the problem.

    Notes
    -----
    Exact as far as the solver is. None of the five papers has the joint law; each of their adversaries approximates its
    marginals, one release at a time. The ``notes`` of the beliefs name an approximate solver, contradicted or unconverged groups,
    counterfeits and distorted values. The law of counterfeits is estimated together with the beliefs, in up to `MAX_SOLUTIONS`
    solutions; the channel of distorted values is estimated forward, release by release. Cost: that of the solver, with counterfeits
    of each solution; with ``hindsight=False`` a small multiple of it.
    """

    adversary: Adversary
    solver: JointSolver = field(default_factory=MaxEntropy)
    hindsight: bool = True

    def __post_init__(self) -> None:
        check_adversary(self, self.adversary)
        check_is_solver("JointAttack", "solver", self.solver)
        check_flag("JointAttack", "hindsight", self.hindsight)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        observations = [release.observation for release in each_release(self, releases)]
        self.adversary.check_claim_times([observation.time for observation in observations])
        history = joint_history(self.adversary, observations)
        solve = self.solver if self.hindsight else self.solver.forward
        estimated = self.adversary.counterfeits == "estimated"
        posterior = solve_with_counterfeits(history.problem, solve) if estimated else solve(history.problem)
        beliefs = release_beliefs(history, posterior, self.hindsight)
        return Beliefs(beliefs, notes=joint_notes(self.adversary, posterior, self.solver, beliefs))
