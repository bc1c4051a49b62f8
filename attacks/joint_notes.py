"""Notes on the beliefs of the joint attack: solver, contradictions, convergence, counterfeits, distorted values."""

import numpy as np

from foreknow.attacks.belief_notes import unconverged
from foreknow.models import Adversary, JointPosterior, JointSolver, MaxEntropy, ProgramEstimator, ReleaseBeliefs, Status
from foreknow.models.arrays import BoolArray
from foreknow.models.joint.group_messages import GroupMessages
from foreknow.models.notes import Note


def joint_notes(
    adversary: Adversary,
    posterior: JointPosterior,
    solver: JointSolver,
    releases: tuple[ReleaseBeliefs, ...],
    signatures: bool,
) -> tuple[str, ...]:
    """Sentences that name what the beliefs of the joint attack leave out or approximate.

    Parameters
    ----------
    adversary : Adversary
    posterior : JointPosterior
    solver : JointSolver
        The solver of the posterior.
    releases : tuple of ReleaseBeliefs
        In the order of time.
    signatures : bool
        True if the rule of m-invariance is in the law.

    Returns
    -------
    tuple of str
        On a program that is not read, an approximate solver, contradicted groups, groups that did not converge, counterfeits and
        distorted values. Evidence is counted once by the joint law, so that repeated pairs need no note. Cost: O(R).
    """
    return (
        *_program(adversary),
        *_solver(posterior, solver),
        *_contradicted(releases),
        *unconverged(releases),
        *_gap(posterior),
        *(SIGNATURES if signatures else _counterfeits(releases)),
        *_distorted(adversary, releases),
    )


def _program(adversary: Adversary) -> list[str]:
    estimators = (
        [adversary.estimator, *vars(adversary.estimator).values()] if hasattr(adversary.estimator, "__dict__") else []
    )
    if not any(isinstance(each, ProgramEstimator) for each in estimators):
        return []
    return [
        "the adversary's program (ProgramEstimator) does not compute these beliefs: the joint law has a solver instead. "
        "SnapshotAttack, SequentialAttack and RetrospectiveAttack sample it."
    ]


def _solver(posterior: JointPosterior, solver: JointSolver) -> list[Note]:
    if solver.exact or not len(posterior.problem.path):
        return []
    rule = posterior.rule or type(solver).__name__
    if notes := law_notes(posterior.approximation, rule):
        return notes
    if posterior.standard_error is not None:
        kind = "the joint law is sampled ({rule}): beliefs have a Monte Carlo standard error of at most {largest:.2g}."
        return [Note(kind, rule=rule, largest=_largest(posterior))]
    return []


def law_notes(solver: JointSolver | None, rule: str) -> list[Note]:
    """Note on the approximation of the joint law by `MaxEntropy` or `GroupMessages`; empty for other solvers."""
    if isinstance(solver, MaxEntropy):
        kind = (
            "the joint law is approximated ({rule}): groups meet their published counts in expectation, and beliefs of group "
            "members are coupled by these counts only."
        )
        return [Note(kind, rule=rule)]
    if isinstance(solver, GroupMessages):
        again = ", and evidence of respondents who meet again counts more than once" if solver.passes else ""
        kind = (
            "the joint law is approximated ({rule}): each group has its exact counts, where its members are independent given the "
            "other groups{again}."
        )
        return [Note(kind, rule=rule, again=again)]
    return []


def _largest(posterior: JointPosterior) -> float:
    assert posterior.standard_error is not None
    errors = posterior.standard_error[np.isfinite(posterior.standard_error)]
    return float(errors.max(initial=0.0))


def _contradicted(releases: tuple[ReleaseBeliefs, ...]) -> list[Note]:
    """The number of groups whose published values the knowledge excludes, with the first of them and its respondents."""
    groups: list[BoolArray] = [one.posterior.status & Status.CONTRADICTED > 0 for one in releases]
    number = sum(int(found.sum()) for found in groups)
    if not number:
        return []
    first = next(t for t, found in enumerate(groups) if found.any())
    seen, group = releases[first].observation, int(groups[first].argmax())
    members = seen.people.respondents[seen.group == group]
    example = (
        f"group {group} at {seen.time!r}, of {', '.join(map(repr, members[:3]))}{', ...' if len(members) > 3 else ''}"
    )
    kind = (
        "the adversary's knowledge excludes the values of {number:,} groups, given the other releases (status CONTRADICTED). "
        "The first is {example}. Transitions or priors of 0 are the usual reason; a pseudo-count avoids them."
    )
    return [Note(kind, number=number, example=example)]


def _gap(posterior: JointPosterior) -> list[Note]:
    doubtful = posterior.status & Status.UNCONVERGED > 0
    largest = float(posterior.gap[doubtful].max(initial=0.0))
    if not largest:
        return []
    kind = "the expected counts of these groups differ from the published ones by up to {largest:.1%} of their records."
    return [Note(kind, largest=largest)]


SIGNATURES = (
    "the rule of m-invariance is in the law. The shares of its signatures and the law of its counterfeits are estimated forward, "
    "release by release.",
)
"""Note on the rule of m-invariance."""


def _counterfeits(releases: tuple[ReleaseBeliefs, ...]) -> list[Note]:
    seen = [one.observation for one in releases]
    number = sum(int(one.counts.sum() - (one.group >= 0).sum()) for one in seen)
    if not number:
        return []
    kind = (
        "{counterfeits:,} published records are counterfeits. They are treated as respondents with a uniform prior. m-invariance "
        "keeps the set of values of a respondent's groups; this attack does not read that set, and JointAttack(adversary, "
        "signatures=True) and SignatureAttack (--attack signature) do."
    )
    return [Note(kind, counterfeits=number)]


def _distorted(adversary: Adversary, releases: tuple[ReleaseBeliefs, ...]) -> list[str]:
    times = [repr(one.observation.time) for one in releases if one.observation.distorted]
    if not times:
        return []
    shown = ", ".join(times[:3]) + (", ..." if len(times) > 3 else "")
    law = (
        "Their law is estimated forward, release by release, from the number of distorted records"
        if adversary.distortion == "counted"
        else "Published values are read as true ones, so that beliefs are overconfident"
    )
    return [f"{len(times)} of {len(releases)} releases have distorted values ({shown}). {law}."]
