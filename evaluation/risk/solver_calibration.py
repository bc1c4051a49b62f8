"""Calibration of an attack in redrawn worlds: values drawn from the adversary's own law, with the groups of a publication."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from foreknow.attacks import Attack, SignatureAttack
from foreknow.evaluation.arguments import check_releases, check_share
from foreknow.evaluation.risk.beliefs_and_truth import numbered
from foreknow.models import Adversary, Grouping, Release, View, joint_history
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.building import JointHistory
from foreknow.models.joint.path_factors import PREVIOUS, PathFactors, path_factors
from foreknow.models.joint.problem import JointProblem, check_no_pairs
from foreknow.models.joint.redraws import redraw_own_values
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import as_generator, check_kind, check_range, check_whole


@dataclass(frozen=True)
class SolverCalibration:
    """Beliefs of an attack beside the drawn values, pooled over redrawn worlds.

    Attributes
    ----------
    worlds : int
        Number of worlds.
    beliefs : int
        Number of published records in all worlds.
    sure, right : int
        Number of sure beliefs, and of those whose value of highest belief is the drawn one.
    expected : float
        Sum of the highest beliefs of the sure ones: the number that the adversary expects to be right.
    z : float
        ``right - expected`` in standard deviations; negative for overconfident beliefs, 0 without a sure belief. The variance is
        the larger one of the sum of p (1 - p) over the sure beliefs p, and the sum of the squared differences of each respondent
        in each world: beliefs about one respondent are dependent, worlds are independent.
    log_score : float
        Mean base-2 logarithm of the belief in the drawn value, in bits.
    expected_log_score : float
        The same as the beliefs expect it: their mean negative entropy.
    standard_error : float
        Of ``difference``, in bits, by the same rule as ``z``.
    """

    worlds: int
    beliefs: int
    sure: int
    right: int
    expected: float
    z: float
    log_score: float
    expected_log_score: float
    standard_error: float

    @property
    def difference(self) -> float:
        """``log_score - expected_log_score``, in bits; negative for overconfident beliefs."""
        return self.log_score - self.expected_log_score


def solver_calibration(
    attack: Attack,
    releases: Iterable[Release],
    *,
    worlds: int = 10,
    sure: float = 0.9,
    least: float = 2.0**-20,
    rng: np.random.Generator | int | None = None,
    progress: Progress = iter,
) -> SolverCalibration:
    """Calibration of an attack in worlds redrawn from its adversary's own law, with the groups of a publication.

    In each world the values of all respondents are drawn from prior, transitions and compromised records of the adversary. The
    members of each group stay, and all absences; the published multisets are those of the drawn values. The attack is made on
    each world, and its beliefs are compared with the drawn values.

    The exact posterior of the joint law is calibrated there, so that a deviation is an error of the solver, not of the knowledge.
    The true values are not read.

    Parameters
    ----------
    attack : Attack
        An attack with an ``adversary``, as `JointAttack` (also with ``hindsight=False``), `SequentialAttack` or `SnapshotAttack`.
    releases : iterable of Release
        In the order of time.
    worlds : int
        Number of worlds, each of which is one attack.
    sure : float
        Threshold from 0 to 1, as in `disclosures`.
    least : float
        Lower limit of a belief in the logarithm, as in `log_score`.
    rng : numpy.random.Generator or int, optional
        Random generator of the values, or a seed. By default fresh entropy.
    progress : callable, optional
        Function of the numbers of the worlds that returns an iterable of the same length, as ``rich.progress.track``.

    Returns
    -------
    SolverCalibration

    Raises
    ------
    TypeError
        If the attack has no `Adversary` of its own, as `LearnedAttack` or an attack of an `Averaged` one.
    ValueError
        If the attack reads the rule of m-invariance, or the channel of distorted values: both are estimated from the publication,
        and have no law that could be drawn from. If the releases have ghosts.

    Notes
    -----
    The worlds are exact draws of the law that `joint_history` builds: chains of any order, by class or by release, gaps, and
    compromised records as evidence. Counterfeits are drawn uniformly, as `JointAttack` takes them; an attack that estimates their
    values (`Adversary`, ``counterfeits``) has another law. For an attack release by release the deviation has two parts, the
    estimator and the memory of marginal beliefs.

    Standard deviations are approximate: members of one group are dependent, for which they do not allow. With exact posteriors of
    six families of small histories that of ``z`` is .8 to 1.0, and that of ``difference / standard_error`` 1.1 to 1.25.

    Not seen: beliefs that are calibrated and tell less than the posterior, as those of an attack that reads a part of the releases.
    A world need not satisfy the requirements of the defense, since the groups were made for other values.

    Cost: O(R m^(d + 1)) for R records, m values and chains of order d, and one attack, for each world.

    The principle is that of simulation-based calibration (Talts, Betancourt, Simpson, Vehtari, Gelman 2018, arXiv:1804.06788), with
    sure beliefs and the log score in place of ranks.

    Examples
    --------
    >>> from foreknow.attacks import JointAttack
    >>> from foreknow.defenses import KAnonymity, Mondrian, publish
    >>> from foreknow.evaluation import exams
    >>> from foreknow.models import Adversary, GroupGraph
    >>> simulation = exams(views=3, records=60, rng=1)
    >>> releases = publish(simulation.history, Mondrian(KAnonymity(3)), rng=1)
    >>> attack = JointAttack(Adversary(simulation.prior, simulation.transitions), GroupGraph())
    >>> found = solver_calibration(attack, releases, worlds=20, rng=1)
    >>> abs(found.z) < 3, abs(found.difference) < 4 * found.standard_error
    (True, True)
    """
    owner = "solver_calibration"
    published = check_releases(owner, releases)
    check_whole(owner, "worlds", worlds, "worlds")
    check_range(owner, "sure", sure, 0, 1, "the belief from which the adversary is sure")
    check_share(owner, "least", least)
    check_progress(owner, progress, "the numbers of the worlds")
    generator = as_generator(owner, rng, optional=True)
    reporting = _checked(attack)
    if any(release.ghosts[0] is not None for release in published):
        raise ValueError(
            f"{owner}: the releases have ghosts, whose values are not drawn anew; give releases of a defense without them, or of "
            "Cohorts(departures='withdraw')."
        )
    history = joint_history(reporting.adversary, [release.observation for release in published])
    if (history.problem.emission_row >= 0).any():
        raise ValueError(
            f"{owner}: the releases have distorted values, whose channel is estimated from them; there is no law to draw from. "
            "Give the groups without distortion, as [Release(release.view, release.group) for release in releases]."
        )
    members = [np.flatnonzero(release.group >= 0) for release in published]
    numbers: dict[Hashable, int] = {}
    owners = [
        numbered(numbers, release.view.people.respondents[rows])
        for release, rows in zip(published, members, strict=True)
    ]
    respondent = np.concatenate([np.zeros(0, dtype=np.int64), *owners])
    made = range(int(worlds))
    sums = np.zeros(len(SUMS))
    for _ in zip(made, progress(made), strict=True):
        if not len(respondent):
            continue
        world = redrawn_releases(history, published, generator)
        beliefs = reporting(world)
        belief = [each.posterior.probabilities[rows] for each, rows in zip(beliefs, members, strict=True)]
        drawn = [each.view.sensitive[rows] for each, rows in zip(world, members, strict=True)]
        sums += _sums(np.concatenate(belief), np.concatenate(drawn), respondent, sure, least)
    found = dict(zip(SUMS, sums.tolist(), strict=True))
    number = max(found["beliefs"], 1.0)
    deviation = max(found["sure_variance"], found["sure_squares"]) ** 0.5
    return SolverCalibration(
        worlds=int(worlds),
        beliefs=int(found["beliefs"]),
        sure=int(found["sure"]),
        right=int(found["right"]),
        expected=found["expected"],
        z=(found["right"] - found["expected"]) / deviation if deviation > 0 else 0.0,
        log_score=found["score"] / number,
        expected_log_score=found["expected_score"] / number,
        standard_error=max(found["score_variance"], found["score_squares"]) ** 0.5 / number,
    )


def _checked(attack: Any) -> Any:
    """The attack, with compromised records that a group may contradict: claims that are not certain may be wrong in a world."""
    adversary: Any = getattr(attack, "adversary", None)
    takes = "has an Adversary, not Averaged, from whose law values are drawn, as JointAttack(adversary)"
    check_kind("solver_calibration", "the adversary of the attack", adversary, Adversary, takes)
    if isinstance(attack, SignatureAttack) or getattr(attack, "signatures", False):
        raise ValueError(
            "solver_calibration: the attack reads the rule of m-invariance, by which groups depend on the values; with kept "
            "groups, drawn values break it. Take JointAttack(adversary) without signatures."
        )
    claims = adversary.compromised
    if claims is None or claims.contradicted == "report":
        return attack
    return replace(attack, adversary=replace(adversary, compromised=replace(claims, contradicted="report")))


def redrawn_releases(
    history: JointHistory, releases: Sequence[Release], rng: np.random.Generator
) -> tuple[Release, ...]:
    """Releases of one world: the groups of some releases, with values drawn from the law of a history.

    ``history`` is that of the observations of the releases. Suppressed records that are not in the law keep their values, which no
    attack and no measure reads. Cost: that of `drawn_values`, and O(n d).
    """
    problem = history.problem
    value = drawn_values(problem, rng)
    invented = np.flatnonzero(problem.path >= problem.respondents)
    world = []
    for t, release in enumerate(releases):
        record, sensitive = history.record[t], release.view.sensitive.copy()
        sensitive[record >= 0] = value[record[record >= 0]]
        own = invented[problem.release[problem.group[invented]] == t]
        first = int(np.searchsorted(problem.release, t))
        counterfeits = np.column_stack([problem.group[own] - first, value[own]]) if len(own) else None
        grouping = Grouping(release.group, counterfeits=counterfeits, bucketized=release.bucketized)
        world.append(Release(View.from_codes(release.view.people, sensitive), grouping))
    return tuple(world)


def drawn_values(problem: JointProblem, rng: np.random.Generator) -> IntArray:
    """Values of all records drawn from the law of the paths, without the multisets of the groups: int array, shape ``(R,)``.

    The law of a path is its prior, its transitions and its evidence; that of a counterfeit is its prior. Exact, but for factors
    of 0, which have the weight `foreknow.models.problem.DOUBT`. Cost: O(R m^(d + 1)), and O(R d + N m + tables) for the factors.
    """
    check_no_pairs("solver_calibration", problem)
    factors, groups = path_factors(problem), len(problem.counts)
    free = factors._replace(free=np.ones(groups, dtype=np.bool_), channel=np.full(groups, -1))
    value = np.zeros(len(problem.path), dtype=np.int64)
    forward = np.zeros((problem.releases, problem.values ** max(problem.order, 1)))
    _draw_all_paths(free, value, forward, rng)
    return value


@compiled
def _draw_all_paths(f: PathFactors, value: IntArray, forward: FloatArray, rng: np.random.Generator) -> None:
    for r in range(len(value)):
        if f.records[r, PREVIOUS] < 0:
            redraw_own_values(f, value, value, r, forward, rng)


SUMS = (
    "beliefs", "sure", "right", "expected", "sure_variance", "sure_squares", "score", "expected_score", "score_variance",
    "score_squares",
)  # fmt: skip
"""Sums over all records: of a variance by the beliefs, and of the squared differences of each respondent, for either measure."""


def _sums(belief: FloatArray, drawn: IntArray, respondent: IntArray, sure: float, least: float) -> FloatArray:
    """The `SUMS` of one world: beliefs, shape ``(n, m)``, drawn values and respondent of each record, shapes ``(n,)``."""
    highest = belief.max(axis=1)
    held = highest >= sure
    hit = held & (belief.argmax(axis=1) == drawn)
    believed = np.where(held, highest, 0.0)
    logs = np.log2(np.maximum(belief, least))
    score, entropy = logs[np.arange(len(drawn)), drawn], (belief * logs).sum(axis=1)

    def squares(difference: FloatArray) -> float:
        return float((np.bincount(respondent, difference) ** 2).sum())

    return np.array([
        len(drawn), held.sum(), hit.sum(), believed.sum(), (believed * (1 - believed)).sum(), squares(hit - believed),
        score.sum(), entropy.sum(), ((belief * logs**2).sum(axis=1) - entropy**2).sum(), squares(score - entropy),
    ])  # fmt: skip
