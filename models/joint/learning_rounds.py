"""Rounds of expectation-maximization: with expected counts, then with messages of exact counts."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.joint.exact_groups import ExactMessages, exact_groups, tilted_messages
from foreknow.models.joint.expected_counts import (
    ChainLaw,
    expected_counts,
    log_density,
    most_likely,
    weighted_change,
    with_law,
)
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.learning_data import LearningData
from foreknow.models.joint.learning_parts import LearningParts
from foreknow.models.joint.log_weight import log_weight
from foreknow.models.joint.max_entropy import MaxEntropy, TiltedLaw, with_doubt
from foreknow.models.joint.messages import Factors, Messages, factors_of, first_messages
from foreknow.models.joint.problem import JointProblem
from foreknow.models.problem import DOUBT
from foreknow.models.progress import Progress

LOOSEST = 0.1
"""Largest tolerance of the expected counts in the first rounds."""

FIRST_TOLERANCE = 1e-2
"""Change of the law at which rounds with exact counts follow those with expected counts."""

PATIENCE = 20
"""Number of rounds with exact counts without a new smallest change after which they count as oscillating."""

SKIPPED = 0.05
"""Change of the weights of a group's members, relative to that of the law, under which the group keeps its messages."""


class LearningRound(NamedTuple):
    """One round of expectation-maximization.

    Attributes
    ----------
    objective : float
        Penalized objective of the law at the start of the round (`LearnedKnowledge.fit`), up to the tolerance of the solver; NaN
        for a round with exact counts.
    change : float
        Mean total variation by which the rows of the law changed in the round, weighted by their expected counts; the larger of
        that of the prior and that of the transitions.
    """

    objective: float
    change: float


class LearningSettings(NamedTuple):
    """Checked settings of `LearnedKnowledge.fit`."""

    pseudo_count: float
    tolerance: float
    rounds: int
    counts: str
    solver: MaxEntropy


class Learned(NamedTuple):
    """Law after the last round, the expected counts that it maximizes, and the rounds."""

    law: ChainLaw
    counts: ChainLaw
    trace: list[LearningRound]


def learn_law(data: LearningData, settings: LearningSettings, progress: Progress = iter) -> Learned:
    """Law of highest penalized likelihood of the published counts, by rounds of expectation-maximization.

    ``progress`` is a function of the parts; see `LearningParts`.
    """
    exact = settings.counts == "exact"
    last = max(settings.tolerance, FIRST_TOLERANCE) if exact else settings.tolerance
    parts = LearningParts(progress, last, settings.tolerance if exact else None)
    learned, messages = _with_expected_counts(data, settings, last, parts)
    if exact:
        learned = _with_exact_counts(data, settings, learned, messages, parts)
    parts.end()
    return learned


def _with_expected_counts(
    data: LearningData, settings: LearningSettings, tolerance: float, parts: LearningParts
) -> tuple[Learned, Messages]:
    """Rounds with the law of `MaxEntropy`; the tilts of one round start the next."""
    law, change, loose = data.start, np.inf, LOOSEST
    trace: list[LearningRound] = []
    messages = first_messages(data.problem)
    while not trace or (
        len(trace) < settings.rounds and (change > tolerance or loose > max(settings.solver.tolerance, tolerance))
    ):
        parts.reach(False, change)
        prior, tables = with_law(data.problem, law, data.classes, data.powers)
        problem = replace(data.problem, prior=prior, tables=tables if law.tables else data.problem.tables)
        loose = max(settings.solver.tolerance, min(LOOSEST, change))
        tilted = replace(settings.solver, tolerance=loose).fit(problem, messages)
        messages = tilted.messages
        objective = _objective(problem, messages.tilt) + log_density(law, settings.pseudo_count)
        law, counts, change = _maximized(data, settings, tilted, law)
        trace.append(LearningRound(objective, change))
    return Learned(law, counts, trace), messages


def _objective(problem: JointProblem, tilt: FloatArray) -> float:
    doubted = with_doubt(problem)[0]
    return log_weight(doubted.layout, factors_of(doubted), tilt)


def _with_exact_counts(
    data: LearningData, settings: LearningSettings, start: Learned, messages: Messages, parts: LearningParts
) -> Learned:
    """Law after rounds with exact counts, appended to the trace; that before where the rounds do not converge."""
    law, counts, trace = start
    now, change, least, since = tilted_messages(data.problem, messages), LOOSEST, np.inf, 0
    while change > settings.tolerance and len(trace) < settings.rounds and since < PATIENCE:
        parts.reach(True, change)
        tilted, now = _exact_round(data, law, now, SKIPPED * change)
        law, counts, change = _maximized(data, settings, tilted, law)
        trace.append(LearningRound(np.nan, change))
        since = 0 if change < least else since + 1
        least = min(least, change)
    return Learned(law, counts, trace) if change <= settings.tolerance else start._replace(trace=trace)


def _exact_round(
    data: LearningData, law: ChainLaw, now: ExactMessages, threshold: float
) -> tuple[TiltedLaw, ExactMessages]:
    return exact_groups(data.problem, *_under(data, law), now, threshold)


def _under(data: LearningData, law: ChainLaw) -> tuple[Layout, Factors]:
    """Layout and factors of the history under a law without zeros."""
    prior, tables = with_law(data.problem, law, data.classes, data.powers)
    at, m = data.problem.layout, data.problem.values
    if law.tables:
        at = at._replace(table=_doubted(np.vstack([np.reshape(table, (-1, m)) for table in tables])))
    return at, factors_of(data.problem)._replace(prior=_doubted(prior))


def _doubted(rows: FloatArray) -> FloatArray:
    """Rows with a uniform distribution of weight `DOUBT` mixed in."""
    return np.asarray((1 - DOUBT) * rows + DOUBT / rows.shape[1])


def _maximized(
    data: LearningData, settings: LearningSettings, tilted: TiltedLaw, law: ChainLaw
) -> tuple[ChainLaw, ChainLaw, float]:
    """Law of highest penalized likelihood given the expected counts of a round, the counts, and the change of the law."""
    counts = expected_counts(tilted, data.classes, len(law.prior), data.powers, law)
    after = most_likely(counts, settings.pseudo_count, law)
    return after, counts, weighted_change(law, after, counts)
