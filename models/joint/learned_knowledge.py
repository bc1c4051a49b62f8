"""Prior and transitions learned from the releases alone, by expectation-maximization."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from foreknow.models.adversary import Adversary
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.building import JointHistory, joint_history
from foreknow.models.joint.exact_groups import exact_groups, first_likelihoods
from foreknow.models.joint.expected_counts import (
    ChainLaw,
    expected_counts,
    log_density,
    most_likely,
    weighted_change,
    with_law,
)
from foreknow.models.joint.log_weight import log_weight
from foreknow.models.joint.max_entropy import MaxEntropy, TiltedLaw, with_doubt
from foreknow.models.joint.messages import Messages, factors_of, first_messages
from foreknow.models.joint.observations import each_observation
from foreknow.models.joint.problem import JointProblem
from foreknow.models.knowledge.class_frequencies import ClassFrequencies, class_codes, class_cuts
from foreknow.models.knowledge.markov_chain import MarkovChain, check_pseudo_count
from foreknow.models.knowledge.priors import UniformPrior
from foreknow.models.knowledge.sequences import GapRule, check_chain_order, check_gaps
from foreknow.models.settings import check_choice, check_kind, check_range, check_whole
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.release import Release

LOOSEST = 0.1
"""Largest tolerance of the expected counts in the first rounds."""

FIRST_TOLERANCE = 1e-2
"""Change of the law at which rounds with exact counts follow those with expected counts."""

PATIENCE = 50
"""Number of rounds with exact counts without a new smallest change after which they count as oscillating."""

FEW_STEPS = 1.0
"""Expected number of transitions from a value under which the pseudo-counts determine its row."""


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


@dataclass(frozen=True, eq=False)
class LearnedKnowledge:
    """Prior and transitions learned from the releases alone; made by `LearnedKnowledge.fit`.

    Attributes
    ----------
    prior : ClassFrequencies
        Distribution of the first published value of a respondent, by class.
    transitions : MarkovChain or None
        Distribution of the next value; None where no respondent has two records.
    trace : tuple of LearningRound
    converged : bool
        True if the last change was at most the tolerance.
    notes : tuple of str
        Limits of the data: values whose row the pseudo-counts determine, and rounds that did not converge.

    Notes
    -----
    Use it as any other knowledge: ``Adversary(learned.prior, learned.transitions, gaps=...)``, with the same gaps as in `fit`.
    """

    prior: ClassFrequencies
    transitions: MarkovChain | None
    trace: tuple[LearningRound, ...] = ()
    converged: bool = True
    notes: tuple[str, ...] = field(default=())

    @property
    def rounds(self) -> int:
        """Number of rounds of expectation-maximization."""
        return len(self.trace)

    @classmethod
    def fit(
        cls,
        releases: Iterable[Release | Observation],
        *,
        classes: Mapping[str, int | None] | None = None,
        pseudo_count: float = 0.1,
        gaps: GapRule = "ignore",
        order: int = 1,
        tolerance: float = 1e-3,
        rounds: int = 200,
        counts: Literal["exact", "expected"] = "exact",
        solver: MaxEntropy | None = None,
    ) -> "LearnedKnowledge":
        """Learn the prior and the transitions from releases.

        Parameters
        ----------
        releases : iterable of Release or Observation
            In the order of time. Only observations are read, which hold no true value.
        classes : mapping of str to int or None, optional
            Attributes that define classes, each with a prior of its own, as for `ClassFrequencies.fit`. One prior for all by
            default.
        pseudo_count : float
            Number added to every expected count (concentration of a symmetric Dirichlet prior).
        gaps : {"ignore", "power"}
            Treatment of releases in which a respondent is not published; see `Adversary`.
        order : int
            Order of the chain.
        tolerance : float
            Change of the law in a round at which the iteration stops; see `LearningRound`.
        rounds : int
            Largest number of rounds.
        counts : {"exact", "expected"}
            Treatment of the published counts. ``"expected"``: expected counts, by `MaxEntropy`; this underestimates staying,
            more in larger groups, however many respondents there are. ``"exact"``: further rounds with messages of exact
            counts (`exact_groups`); consistent where groups are drawn anew at each release.
        solver : MaxEntropy, optional
            Solver of the rounds with expected counts; ``MaxEntropy()`` by default. Early rounds have a looser tolerance.

        Raises
        ------
        TypeError
            If an argument is of another kind.
        ValueError
            If there is no published record, the releases differ in their sensitive domain, or a setting is out of range.

        Notes
        -----
        Each round with expected counts alternates two minimizations of the relative entropy of a law Q of all paths to the
        chains: over Q, among the laws with the published expected counts (`MaxEntropy`), and over prior and transitions (expected
        counts of Q, normalized; Csiszar and Tusnady, 1984). The objective is the negative relative entropy plus the logarithm of
        the Dirichlet density; it does not decrease, up to the tolerance of the solver. Where every group has one member, it is
        the penalized log-likelihood of the values, and the result of the first round is their relative frequencies.

        Rounds with exact counts replace the tilts by messages of belief propagation. They are an approximation where the same
        respondents meet again, and have no objective that increases. Where they do not converge, the law of the rounds with
        expected counts is returned, with a note. The maximum may be local. The start is the
        published distribution for the prior, and for each row of the transitions half of it, with half staying. Where no
        respondent has two records, only the prior is learned, and ``transitions`` is None. Counterfeits keep a uniform prior,
        and distorted values are taken as true.

        Cost: for each round, one `MaxEntropy` started from the tilts of the round before, or `Auto` on all groups.
        """
        owner = "LearnedKnowledge.fit"
        check_pseudo_count(pseudo_count)
        check_gaps(gaps)
        check_chain_order(order)
        check_range(owner, "tolerance", tolerance, 0)
        check_whole(owner, "rounds", rounds, "rounds")
        check_choice(owner, "counts", counts, ("exact", "expected"))
        solver = MaxEntropy() if solver is None else solver
        check_kind(owner, "solver", solver, MaxEntropy, "is a MaxEntropy, as MaxEntropy(tolerance=1e-3)")
        observations = each_observation(owner, releases)
        data = _learning_data(owner, observations, {} if classes is None else classes, gaps, int(order))
        settings = _Settings(float(pseudo_count), float(tolerance), int(rounds), counts, solver)
        law, expected, trace = _iterate(data, settings)
        values = observations[0].people.schema.values
        prior = ClassFrequencies(data.cuts, law.prior.reshape(*(len(cut) + 1 for cut in data.cuts.values()), -1))
        chain = MarkovChain(len(law.tables), law.tables[-1], law.tables[:-1]) if law.tables else None
        converged = trace[-1].change <= tolerance and bool(counts == "expected" or np.isnan(trace[-1].objective))
        return cls(prior, chain, tuple(trace), converged, _notes(values, expected, trace, converged))


class _Data(NamedTuple):
    """History under the first law, class of each path, number of steps of each chain, and the first law."""

    history: JointHistory
    cuts: dict[str, tuple[float, ...]]
    classes: IntArray
    powers: IntArray
    start: ChainLaw


class _Settings(NamedTuple):
    """Checked settings of `LearnedKnowledge.fit`."""

    pseudo_count: float
    tolerance: float
    rounds: int
    counts: str
    solver: MaxEntropy


def _learning_data(
    owner: str, observations: tuple[Observation, ...], classes: Mapping[str, int | None], gaps: GapRule, order: int
) -> _Data:
    shown = sum((observation.counts.sum(axis=0) for observation in observations), np.zeros(1))
    if not shown.any():
        raise ValueError(f"{owner}: the releases publish no record; there is nothing to learn from.")
    schema = observations[0].people.schema
    cuts = class_cuts(owner, schema, classes)
    table = _first_table(shown / shown.sum(), order)
    chain = MarkovChain(order, table)
    history = joint_history(Adversary(UniformPrior(), chain, gaps=gaps), observations)
    problem = history.problem
    number = int(np.prod([len(cut) + 1 for cut in cuts.values()], dtype=np.int64))
    tables = chain.tables if (problem.layout.previous >= 0).any() else ()
    start = ChainLaw(np.tile(shown / shown.sum(), (number, 1)), tables)
    return _Data(history, cuts, _path_classes(history, cuts), _powers(problem, gaps, order), start)


def _first_table(shown: FloatArray, order: int) -> FloatArray:
    """Transitions at the start: half staying at the last value, half to the published distribution."""
    m = len(shown)
    return np.broadcast_to((np.eye(m) + shown) / 2, (m,) * (order + 1)).copy()


def _path_classes(history: JointHistory, cuts: Mapping[str, tuple[float, ...]]) -> IntArray:
    """Class of each path of a respondent, at its first record."""
    problem = history.problem
    of_record = np.zeros(len(problem.path), dtype=np.int64)
    for observation, record in zip(history.observations, history.record, strict=True):
        inside = record >= 0
        of_record[record[inside]] = class_codes(cuts, observation.people)[inside]
    first = np.flatnonzero((problem.layout.previous < 0) & (problem.path < problem.respondents))
    classes = np.zeros(problem.respondents, dtype=np.int64)
    classes[problem.path[first]] = of_record[first]
    return classes


def _powers(problem: JointProblem, gaps: GapRule, order: int) -> IntArray:
    """Number of steps of each chain."""
    at = problem.layout
    powers = np.ones(len(problem.tables[0]) if problem.tables else 1, dtype=np.int64)
    if gaps == "power" and order == 1:
        later = np.flatnonzero(at.previous >= 0)
        when = problem.release[problem.group]
        powers[problem.chain[later]] = when[later] - when[at.previous[later]]
    return powers


def _iterate(data: _Data, settings: _Settings) -> tuple[ChainLaw, ChainLaw, list[LearningRound]]:
    """Law after the last round, its expected counts, and the trace."""
    last = settings.tolerance if settings.counts == "expected" else max(settings.tolerance, FIRST_TOLERANCE)
    law, counts, messages, trace = _with_expected_counts(data, settings, last)
    if settings.counts == "exact":
        law, counts = _with_exact_counts(data, settings, law, counts, messages, trace)
    return law, counts, trace


def _with_expected_counts(
    data: _Data, settings: _Settings, tolerance: float
) -> tuple[ChainLaw, ChainLaw, Messages, list[LearningRound]]:
    """Rounds with the law of `MaxEntropy`; the tilts of one round start the next."""
    law, change, loose = data.start, np.inf, LOOSEST
    trace: list[LearningRound] = []
    messages = first_messages(_problem(data, law))
    while not trace or (
        len(trace) < settings.rounds and (change > tolerance or loose > max(settings.solver.tolerance, tolerance))
    ):
        problem = _problem(data, law)
        loose = max(settings.solver.tolerance, min(LOOSEST, change))
        tilted = replace(settings.solver, tolerance=loose).fit(problem, messages)
        messages = tilted.messages
        doubted = with_doubt(problem)[0]
        objective = log_weight(doubted.layout, factors_of(doubted), messages.tilt)
        objective += log_density(law, settings.pseudo_count)
        law, counts, change = _maximized(data, settings, tilted, law)
        trace.append(LearningRound(objective, change))
    return law, counts, messages, trace


def _with_exact_counts(
    data: _Data,
    settings: _Settings,
    law: ChainLaw,
    counts: ChainLaw,
    messages: Messages,
    trace: list[LearningRound],
) -> tuple[ChainLaw, ChainLaw]:
    """Law and counts after rounds with exact counts, appended to the trace; those before where the rounds do not converge."""
    likelihoods, change = first_likelihoods(data.history.problem, messages), np.inf
    found, expected, least, since = law, counts, np.inf, 0
    while change > settings.tolerance and len(trace) < settings.rounds and since < PATIENCE:
        tilted, likelihoods = exact_groups(_problem(data, found), likelihoods)
        found, expected, change = _maximized(data, settings, tilted, found)
        trace.append(LearningRound(np.nan, change))
        since = 0 if change < least else since + 1
        least = min(least, change)
    return (found, expected) if change <= settings.tolerance else (law, counts)


def _problem(data: _Data, law: ChainLaw) -> JointProblem:
    problem = data.history.problem
    prior, tables = with_law(problem, law, data.classes, data.powers)
    return replace(problem, prior=prior, tables=tables if law.tables else problem.tables)


def _maximized(data: _Data, settings: _Settings, tilted: TiltedLaw, law: ChainLaw) -> tuple[ChainLaw, ChainLaw, float]:
    """Law of highest penalized likelihood given the expected counts of a round, the counts, and the change of the law."""
    counts = expected_counts(tilted, data.classes, len(law.prior), data.powers, law)
    after = most_likely(counts, settings.pseudo_count, law)
    return after, counts, weighted_change(law, after, counts)


def _notes(
    values: tuple[object, ...], counts: ChainLaw, trace: list[LearningRound], converged: bool
) -> tuple[str, ...]:
    """Limits of the data, as sentences."""
    notes = []
    if not counts.tables:
        notes.append("No respondent has two published records; the prior is learned, and no transitions.")
    else:
        few = np.flatnonzero(counts.tables[0].sum(axis=-1) < FEW_STEPS)
        if len(few):
            listed = ", ".join(repr(values[s]) for s in few)
            notes.append(
                f"Fewer than {FEW_STEPS:g} transition is expected from {listed}; the pseudo-counts determine these rows."
            )
    if not converged:
        kept = " The law is that of the rounds with expected counts." if np.isnan(trace[-1].objective) else ""
        changed = f"The law changed by {trace[-1].change:.2g} in the last of {len(trace)} rounds, over the tolerance."
        notes.append(changed + kept)
    return tuple(notes)
