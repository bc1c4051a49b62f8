"""Joint attack: beliefs under the joint law of all respondents and all releases."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from foreknow.attacks.attack import check_adversary, check_order_1
from foreknow.attacks.joint_notes import joint_notes
from foreknow.attacks.over_draws import ReleaseEvidence, Weighed, forward_evidence, over_draws
from foreknow.attacks.signature import read_signatures, signature_evidence
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    GroupMessages,
    JointSolver,
    Release,
    joint_history,
    joint_log_evidence,
    release_beliefs,
)
from foreknow.models.joint.signature_steps import first_signatures_log_evidence, with_signatures
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
    adversary : Adversary or Averaged
        Its prior, transitions, gaps and compromised records are used. Its cascade, revision and law of counterfeits are rules of
        release-by-release inference, and are not read; its estimator reads only distorted values and signatures.
    solver : JointSolver
        `GroupMessages` by default; `JOINT_SOLVERS` lists all. All but `Enumeration` take ``progress=``.
    hindsight : bool
        True for beliefs about each release given all releases, False for beliefs given the releases up to it.
    signatures : bool
        True if the adversary knows that the releases are of m-invariance, and its rule: a respondent keeps the set of values
        that the group shows, as long as the value stays the same (`foreknow.models.joint.signature_steps.with_signatures`).

    Raises
    ------
    TypeError
        If ``adversary`` is no `Adversary`, or ``solver`` no solver.
    ValueError
        With ``signatures``: if the adversary has no transitions of order 1, or, when called, a release is not of m-invariance.
        When called: if a compromised record concerns a time without release or a value that its group does not show, if the
        releases differ in their sensitive domain, or if the solver refuses the problem.

    Notes
    -----
    Exact as far as the solver is. None of the five papers has the joint law; each of their adversaries approximates its
    marginals, one release at a time. The ``notes`` of the beliefs name an approximate solver, contradicted or unconverged groups,
    counterfeits and distorted values.

    A counterfeit is a respondent of one record with a uniform prior: ``counterfeits`` of the adversary is not read. With
    ``signatures`` the law of the counterfeits and the shares of the signatures are those that `SignatureAttack` estimates
    forward, release by release; so is the channel of distorted values. Cost: that of the solver; with ``hindsight=False`` a
    small multiple of it; with ``signatures`` also that of `SignatureAttack`.

    Draws of an `Averaged` adversary are weighed by `joint_log_evidence`, and with ``hindsight=False`` by the evidence of the
    forward attack. With ``signatures`` the probability of all signatures is in the weights, given the shares under each draw.
    """

    adversary: Adversary | Averaged
    solver: JointSolver = field(default_factory=GroupMessages)
    hindsight: bool = True
    signatures: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_adversary(self, self.adversary)
        check_is_solver("JointAttack", "solver", self.solver)
        check_flag("JointAttack", "hindsight", self.hindsight)
        check_flag("JointAttack", "signatures", self.signatures)
        if self.signatures:
            check_order_1(self, self.adversary)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        return over_draws(self, self.adversary, releases, self._attack)

    def _attack(self, adversary: Adversary, releases: list[Release]) -> Weighed:
        observations = [release.observation for release in releases]
        adversary.check_claim_times([observation.time for observation in observations])
        history = joint_history(adversary, observations)
        _, laws = read_signatures(adversary, releases) if self.signatures else ((), ())
        problem = with_signatures(history.problem, laws) if self.signatures else history.problem
        posterior = self.solver(problem) if self.hindsight else self.solver.forward(problem)
        found = release_beliefs(history, posterior, self.hindsight)
        beliefs = Beliefs(found, notes=joint_notes(adversary, posterior, self.solver, found, self.signatures))
        if not self.hindsight:
            rule = partial(signature_evidence, laws) if self.signatures else partial(forward_evidence, beliefs)
            return Weighed(beliefs, rule)
        zero = np.zeros(len(beliefs))
        first = first_signatures_log_evidence(history.problem, laws) if self.signatures else 0.0
        return Weighed(beliefs, lambda: ReleaseEvidence(zero, zero + joint_log_evidence(posterior) + first))
