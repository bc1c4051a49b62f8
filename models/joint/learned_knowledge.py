"""Prior and transitions learned from the releases alone, by expectation-maximization."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.adversary import Adversary
from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.building import JointHistory, joint_history
from foreknow.models.joint.group_graph import GraphLaw, GroupGraph
from foreknow.models.joint.group_messages import exact_groups, tilted_messages
from foreknow.models.joint.max_entropy import (
    ChainLaw,
    MaxEntropy,
    TiltedLaw,
    expected_counts,
    log_density,
    most_likely,
    weighted_change,
    with_doubt,
    with_law,
)
from foreknow.models.joint.messages import Messages, first_messages, log_weight
from foreknow.models.joint.problem import JointPosterior, JointProblem, Layout, components, sub_problem
from foreknow.models.joint.signatures import SignatureRule, read_signatures, signature_rule
from foreknow.models.knowledge.class_frequencies import ClassFrequencies, class_codes, class_cuts
from foreknow.models.knowledge.ghost_chain import GhostChain
from foreknow.models.knowledge.markov_chain import MarkovChain, chain_of_tables, check_pseudo_count
from foreknow.models.knowledge.presence import Outcomes, Presence, following_releases
from foreknow.models.knowledge.priors import UniformPrior
from foreknow.models.knowledge.sequences import GAPS, GapRule
from foreknow.models.notes import Note
from foreknow.models.problem import DOUBT
from foreknow.models.progress import Progress, check_progress, stepping
from foreknow.models.settings import check_choice, check_flag, check_kind, check_range, check_whole
from foreknow.models.tables.people import Observation, check_one_domain
from foreknow.models.tables.release import Release

FEW_STEPS = 1.0
"""Expected number of transitions from a value under which the pseudo-counts determine its row."""


MOST_RECORDS = 100_000
"""Number of records that are enough to learn a law: about .01 off for 19 values, by the error of the sample."""

LEARNED_PART = "The law is learned from {records:,} of the {of_all:,} records: whole parts, independent of the others."


class LearningRound(NamedTuple):
    """One round of expectation-maximization.

    Attributes
    ----------
    objective : float
        Penalized objective of the law at the start of the round (`LearnedKnowledge.fit`), up to the tolerance of the solver; NaN
        for a round with exact or noisy counts.
    change : float
        Mean total variation by which the rows of the law changed in the round, weighted by their expected counts; the larger of
        that of the prior and that of the transitions.
    """

    objective: float
    change: float


@equal_by_fields
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
    presence : Presence or None
        Chances of leaving and pausing after each value, if they were learned.

    Notes
    -----
    Use it as any other knowledge: ``Adversary(learned.prior, learned.transitions, gaps=..., presence=learned.presence)``, with the
    same gaps as in `fit`.
    """

    prior: ClassFrequencies
    transitions: MarkovChain | None
    trace: tuple[LearningRound, ...] = ()
    converged: bool = True
    notes: tuple[str, ...] = field(default=())
    presence: Presence | None = field(default=None, kw_only=True)

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
        signatures: bool = False,
        presence: bool = False,
        tolerance: float = 1e-3,
        rounds: int = 200,
        counts: Literal["exact", "expected"] | None = None,
        solver: MaxEntropy | None = None,
        records: int | None = MOST_RECORDS,
        progress: Progress = iter,
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
        signatures : bool
            True if the releases are of m-invariance: its rule is in the law (`foreknow.models.joint.signatures.signature_rule`).
            The chain is of order 1.
        presence : bool
            True to learn the chances of leaving and of pausing after each value too (`Presence`), of all respondents alike.
        tolerance : float
            Change of the law in a round at which the iteration stops; see `LearningRound`.
        rounds : int
            Largest number of rounds.
        counts : {"exact", "expected"}, optional
            Treatment of the published counts: by default exact, and expected where a release has noisy counts. ``"expected"``:
            expected counts, by `MaxEntropy`; this underestimates staying, more in larger groups, however many respondents there
            are. ``"exact"``: further rounds with messages of exact counts between groups (`GraphLaw`); consistent where groups are
            drawn anew at each release, and where the same respondents stay together in groups of few arrangements.
        solver : MaxEntropy, optional
            Solver of the rounds with expected counts; ``MaxEntropy()`` by default. Early rounds have a looser tolerance.
        records : int or None
            Number of records that are enough: of a larger history, parts whose joint laws are independent are drawn until they have
            as many, and a note has their number. None: all.
        progress : callable
            Function of a range that returns an iterable of the same length, as ``rich.progress.track``. The number of rounds is not
            known beforehand: an item is taken each time that the change of the law is under the next of some thresholds, so that
            the parts between take about as long.

        Notes
        -----
        Each round with expected counts alternates two minimizations of the relative entropy of a law Q of all paths to the
        chains: over Q, among the laws with the published expected counts (`MaxEntropy`), and over prior and transitions (expected
        counts of Q, normalized; Csiszar and Tusnady, 1984). The objective is the negative relative entropy plus the logarithm of
        the Dirichlet density; it does not decrease, up to the tolerance of the solver. Where every group has one member, it is
        the penalized log-likelihood of the values, and the result of the first round is their relative frequencies.

        Rounds with exact counts replace the tilts by messages between groups, joint over the members they share, which go forward
        and backward in time in turn (`GroupGraph`). They are exact where the graph of groups has no cycle and blocks have at most
        10,000 arrangements, fewer in histories of over `MOST_ARRANGEMENTS`; above, messages are those of single members, which
        count the evidence of members who stay together more than once, with a normal law of the counts in large groups. Chains of
        an order above 1 have messages of single members throughout (`exact_groups`). There is no objective that increases: where
        the rounds do not converge, the law of the rounds with expected counts is returned, with a note. The maximum may be local.

        The start is the published distribution for the prior, and for each row of the transitions half of it, with half staying.
        Ghosts are taken to be drawn by the law itself, as by a publisher who knows it.

        With noisy counts the start has another part of staying, that of the highest likelihood under a normal law of the counts of
        each cell over time, whose level is free. At most `NOISY_ROUNDS` rounds with expected counts follow: these do not read the
        fluctuations that tell who stays, and more of them underestimate staying. Of 24 x 2,000 respondents in 16 cells, six values
        and Gaussian noise of scale 10, the transitions had a mean total variation from the true ones of .05 where .95 or .8 stay
        at least, .01 where .99 do, and .2 where .5 do (.37, .26, .40 and .10 at the other start): two seeds, by which the number of
        rounds was chosen, so that these figures are optimistic.

        Where no respondent has two records, only the prior is learned, and ``transitions`` is None. Counterfeits keep a uniform
        prior. The channel of distorted values is not learned: it is estimated once, going forward, under a uniform prior and the
        first transitions.

        With ``signatures`` the chains have the factors of the rule. Given two values these do not depend on the law, so that a
        round normalizes the expected transitions as before; the objective has the log-probability of the first signatures. The
        shares of the signatures are estimated forward, under the first law, and stay.

        With ``presence`` each record has the likelihood of its respondent's leaving, pausing or staying, and a round normalizes the
        expected numbers of these outcomes after each value. The chance of coming back does not depend on the law: it is estimated
        once, as if the chances were equal for all values.

        Changes far below the sampling error of the law are noise: the error of a row with n transitions is O(1 / sqrt(n)), .01 for
        100,000 transitions between 19 values. With the default tolerance the log score of an attack was within .01 bits of that
        with a tenth of it (24 x 5,000 `exams`).

        Which components of the graph of groups are drawn does not depend on what they show, so that the law of a part has the error
        of a smaller sample and no other; a history whose groups are all connected is never in parts.

        Cost: for each round, one `MaxEntropy` started from the tilts of the round before, or half a sweep of `GroupGraph`.
        """
        owner = "LearnedKnowledge.fit"
        check_pseudo_count(owner, pseudo_count)
        check_flag(owner, "presence", presence)
        check_choice(owner, "gaps", gaps, GAPS)
        check_learned_order(owner, order, signatures, presence)
        check_range(owner, "tolerance", tolerance, 0)
        check_whole(owner, "rounds", rounds, "rounds")
        check_choice(owner, "counts", counts, ("exact", "expected", None))
        if records is not None:
            check_whole(owner, "records", records, "records")
        check_progress(owner, progress, "the parts of the learning")
        solver = MaxEntropy() if solver is None else solver
        observations = each_observation(owner, releases)
        noisy = next((seen for seen in observations if seen.noise is not None), None)
        if noisy is not None and counts == "exact":
            raise ValueError(
                f'{owner}: the counts of the release at {noisy.time!r} are noisy, and counts is "exact"; give "expected".'
            )
        counts = counts or ("exact" if noisy is None else "expected")
        rounds = int(rounds) if noisy is None else min(int(rounds), NOISY_ROUNDS)
        data = learning_data(owner, observations, classes or {}, gaps, int(order), float(pseudo_count), presence)
        if signatures and data.start.tables:
            data = with_rule(data, observations, gaps)
        of_all = len(data.problem.path)
        data = data if records is None else data.part(int(records))
        learned = learn_law(data, solver, float(tolerance), rounds, counts == "exact", progress)
        law, trace = learned.law, learned.trace
        prior, chain, known = data.knowledge(law)
        converged = trace[-1].change <= tolerance and bool(counts == "expected" or np.isnan(trace[-1].objective))
        notes = _notes(observations[0].people.schema.values, learned, converged)
        if len(data.problem.path) < of_all:
            notes += (Note(LEARNED_PART, records=len(data.problem.path), of_all=of_all),)
        return cls(prior, chain, tuple(trace), converged, notes, presence=known)


def check_learned_order(owner: str, order: int, signatures: bool, presence: bool = False) -> None:
    """Raise TypeError or ValueError unless the order is a whole number, and 1 with ``signatures`` or ``presence``."""
    check_whole(owner, "order", order, "past values")
    name = "signatures" if signatures else "presence"
    if (signatures or presence) and order != 1:
        text = f"{owner}: {name}=True needs order 1, and it is {order}. Set order=1, or leave {name} out."
        raise ValueError(Advice(Wording(text, f"--{name} needs --order 1.")))


class Learned(NamedTuple):
    """Law after the last round, the expected counts that it maximizes, and the rounds."""

    law: ChainLaw
    counts: ChainLaw
    trace: list[LearningRound]


def _notes(values: tuple[object, ...], learned: Learned, converged: bool) -> tuple[str, ...]:
    """Limits of the data, as sentences."""
    notes, counts, trace = list[str](), learned.counts, learned.trace
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
        kind = "The law changed by {change:.2g} in the last of {rounds} rounds, over the tolerance.{kept}"
        notes.append(Note(kind, change=float(trace[-1].change), rounds=len(trace), kept=kept))
    return tuple(notes)


LOOSEST = 0.1
"""Largest tolerance of the expected counts in the first rounds."""

FIRST_TOLERANCE = 1e-2
"""Change of the law at which rounds with exact counts follow those with expected counts."""

NOISY_ROUNDS = 10
"""Largest number of rounds with noisy counts."""

PATIENCE = 20
"""Number of rounds with exact counts without a new smallest change after which they count as oscillating."""

SKIPPED = 0.05
"""Change of the weights of a group's members, relative to that of the law, under which the group keeps its messages."""


class LearningData(NamedTuple):
    """History from which a law is learned."""

    problem: JointProblem  # the history under the first law
    cuts: dict[str, tuple[float, ...]]  # cuts of each attribute that defines classes, as in `ClassFrequencies`
    classes: IntArray  # (respondents,): class of each path of a respondent, at its first record
    powers: IntArray  # (K,): number of steps of each chain
    start: ChainLaw  # the first law
    pseudo_count: float
    rule: SignatureRule | None = None  # factors of the rule of m-invariance, with which the problem is
    # what the respondent of each record did next; its kinds are the rows of the evidence of the problem
    presence: "Outcomes | None" = None

    def part(self, records: int) -> "LearningData":
        """Components of the graph of groups with at least a number of records, drawn by a fixed seed; all where a rule is read."""
        problem = self.problem
        if len(problem.path) <= records or self.rule is not None:
            return self
        parts = components(problem)
        order = np.random.default_rng(0).permutation(len(parts))
        enough = int(np.searchsorted(np.cumsum([len(parts[c]) for c in order]), records)) + 1
        some = np.sort(np.concatenate([parts[c] for c in order[:enough]]))
        classes = self.classes[np.unique(problem.path[some][problem.path[some] < problem.respondents])]
        data = self._replace(problem=sub_problem(problem, some), classes=classes)
        if self.presence is None:
            return data
        row, kinds = self.presence.row[some], len(self.presence.kinds)
        numbers = np.bincount(row[row >= 0], minlength=kinds).astype(np.float64)
        return data._replace(presence=self.presence._replace(row=row, numbers=numbers))

    def arrays(self, law: ChainLaw) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        """Prior of each path, and transition tables of each chain, under a law."""
        prior, tables = with_law(self.problem, law, self.classes, self.powers)
        return (prior, tables) if self.rule is None else (self.rule.prior(prior), (tables[0] * self.rule.steps,))

    def under(self, law: ChainLaw) -> JointProblem:
        """The history under a law."""
        prior, tables = self.arrays(law)
        evidence = self.problem.evidence if self.presence is None else self.presence.evidence(law.presence)
        return replace(
            self.problem, prior=prior, tables=tables if law.tables else self.problem.tables, evidence=evidence
        )

    def log_density(self, law: ChainLaw) -> float:
        """Logarithm of the density of a law, and of the probability of the first signatures under it."""
        dense = log_density(law, self.pseudo_count)
        if self.rule is None:
            return dense
        return dense + self.rule.log_evidence(with_law(self.problem, law, self.classes, self.powers)[0])

    def knowledge(self, law: ChainLaw) -> tuple[ClassFrequencies, MarkovChain | None, Presence | None]:
        """A law as a prior by class, transitions and presence."""
        shape = (*(len(cut) + 1 for cut in self.cuts.values()), -1)
        chain = chain_of_tables(law.tables) if law.tables else None
        known = None if self.presence is None else self.presence.knowledge(law.presence)
        return ClassFrequencies(self.cuts, law.prior.reshape(shape)), chain, known


def learn_law(
    data: LearningData, solver: MaxEntropy, tolerance: float, rounds: int, exact: bool, progress: Progress
) -> Learned:
    """Law of highest penalized likelihood of the published counts, by rounds of expectation-maximization.

    ``exact`` is True for further rounds with exact counts. ``progress`` is a function of the parts; see `LearningParts`.
    """
    last = max(tolerance, FIRST_TOLERANCE) if exact else tolerance
    parts = LearningParts(progress, last, tolerance if exact else None)
    learned, messages = _with_expected_counts(data, solver, last, rounds, parts)
    if exact:
        learned = _with_exact_counts(data, learned, messages, tolerance, rounds, parts)
    parts.reach(True, 0.0)
    return learned


class LearningParts:
    """Parts of about equal length, each of which lasts until the change of the law is under a threshold.

    Rounds with expected counts end at the change ``expected``, those with exact counts at ``exact``; None if there are none.
    """

    def __init__(self, progress: Progress, expected: float, exact: float | None) -> None:
        parts = [(False, -change) for change in _changes(EXPECTED_FROM, EXPECTED_FACTOR, expected)]
        if exact is not None:
            parts += [(True, -change) for change in _changes(EXACT_FROM, EXACT_FACTOR, exact)]
        self._later, self._step = deque(parts), stepping(progress, range(len(parts)))

    def reach(self, exact: bool, change: float) -> None:
        """Take the items of the parts that have begun, before a round with exact or expected counts.

        ``change`` is that of the round before. A round may begin no part, or several.
        """
        while self._later and self._later[0] <= (exact, -change):
            self._later.popleft()
            self._step()


def _with_expected_counts(
    data: LearningData, solver: MaxEntropy, tolerance: float, rounds: int, parts: LearningParts
) -> tuple[Learned, Messages]:
    """Rounds with the law of `MaxEntropy`; the tilts of one round start the next."""
    law, change, loose = data.start, np.inf, LOOSEST
    trace: list[LearningRound] = []
    messages = first_messages(data.problem)
    while not trace or (len(trace) < rounds and (change > tolerance or loose > max(solver.tolerance, tolerance))):
        parts.reach(False, change)
        problem = data.under(law)
        loose = max(solver.tolerance, min(LOOSEST, change))
        tilted = replace(solver, tolerance=loose).fit(problem, messages)
        messages = tilted.messages
        weight = np.nan if problem.noisy.any() else log_weight(with_doubt(problem)[0].layout, messages.tilt)
        objective = weight + data.log_density(law)
        law, counts, change = _maximized(data, tilted, law)
        trace.append(LearningRound(objective, change))
    return Learned(law, counts, trace), messages


def _with_exact_counts(
    data: LearningData, start: Learned, messages: Messages, tolerance: float, rounds: int, parts: LearningParts
) -> Learned:
    """Law after rounds with exact counts, appended to the trace; that before where the rounds do not converge."""
    law, counts, trace = start
    under = _each_law(data, law, messages)
    change, least, since = LOOSEST, np.inf, 0
    while change > tolerance and len(trace) < rounds and since < PATIENCE:
        parts.reach(True, change)
        law, counts, change = _maximized(data, under(law, SKIPPED * change), law)
        trace.append(LearningRound(np.nan, change))
        since = 0 if change < least else since + 1
        least = min(least, change)
    return Learned(law, counts, trace) if change <= tolerance else start._replace(trace=trace)


def _each_law(data: LearningData, first: ChainLaw, messages: Messages) -> Callable[[ChainLaw, float], TiltedLaw]:
    """Function of a law that returns the law of all paths under it with exact counts, one call starting from the last.

    The second argument is the change of a group's messages under which the group is not visited.
    """
    if data.problem.order > 1:
        now = tilted_messages(data.problem, messages)

        def by_member(law: ChainLaw, threshold: float) -> TiltedLaw:
            nonlocal now
            tilted, now = exact_groups(data.problem, _under(data, law), now, threshold)
            return tilted

        return by_member
    problem = with_doubt(data.under(first))[0]
    graph = GraphLaw(
        problem, MaxEntropy().fit(problem, messages), GroupGraph().limit, everywhere=data.presence is not None
    )
    return lambda law, _: graph(_under(data, law))


def _under(data: LearningData, law: ChainLaw) -> Layout:
    """Layout of the history under a law, with a uniform distribution of weight `DOUBT` mixed in."""
    prior, tables = data.arrays(law)
    at, m = data.problem.layout, data.problem.values
    if law.tables:
        at = at._replace(table=(1 - DOUBT) * np.vstack([table.reshape(-1, m) for table in tables]) + DOUBT / m)
    if data.presence is not None:
        at = at._replace(evidence=data.presence.evidence(law.presence))
    return at._replace(prior=(1 - DOUBT) * prior + DOUBT / m)


def _beliefs_by_kind(outcomes: Outcomes, posterior: JointPosterior) -> FloatArray:
    """Expected number of records of each kind by value, shape ``(E, m)``."""
    beliefs, some = np.zeros((len(outcomes.kinds), posterior.problem.values)), np.flatnonzero(outcomes.row >= 0)
    np.add.at(beliefs, outcomes.row[some], posterior.rows(some))
    return beliefs


def _maximized(data: LearningData, tilted: TiltedLaw, law: ChainLaw) -> tuple[ChainLaw, ChainLaw, float]:
    """Law of highest penalized likelihood given the expected counts of a round, the counts, and the change of the law."""
    counts = expected_counts(tilted, data.classes, len(law.prior), data.powers, law)
    if data.presence is not None:
        counts = counts._replace(
            presence=data.presence.counts(_beliefs_by_kind(data.presence, tilted.posterior), law.presence)
        )
    after = most_likely(counts, data.pseudo_count, law)
    return after, counts, weighted_change(law, after, counts)


EXPECTED_FROM, EXPECTED_FACTOR = 0.1, 2.0
"""Usual change of the law in the first round with expected counts, and the factor by which it decreases in a part."""

EXACT_FROM, EXACT_FACTOR = 0.02, 2.0**0.5
"""The same for rounds with exact counts, which take about twice as long."""

LEAST = 1e-9
"""Change that is the threshold of the last part, where the tolerance is smaller."""


def _changes(first: float, factor: float, tolerance: float) -> Iterator[float]:
    """Changes at which parts begin: infinity, then smaller ones, all over a tolerance."""
    yield float("inf")
    change = first / factor
    while change > max(tolerance, LEAST):
        yield change
        change /= factor


def learning_data(
    owner: str,
    observations: tuple[Observation, ...],
    classes: Mapping[str, int | None],
    gaps: GapRule,
    order: int,
    pseudo_count: float,
    presence: bool = False,
) -> LearningData:
    """History of observations under the first law.

    The first law has the published distribution as prior. Each row of its transitions is half of it, with half staying; or where
    counts are noisy, with the part that `_staying` finds.
    """
    check_one_domain(owner, observations)
    shown = sum((observation.counts.sum(axis=0) for observation in observations), np.zeros(1))
    staying = 0.5
    if any(observation.noise is not None for observation in observations):
        shown = np.maximum(shown, 1.0)  # noise may hide a value, and none has a law of 0 from the start
        staying = _staying(observations, shown / shown.sum())
    if not (shown.any() and any((observation.group >= 0).any() for observation in observations)):
        raise ValueError(f"{owner}: the releases publish no record; there is nothing to learn from.")
    cuts = class_cuts(owner, observations[0].people.schema, classes)
    m = len(shown)
    # A part that stays at the last value, and the rest to the published distribution.
    first = np.broadcast_to(staying * np.eye(m) + (1 - staying) * shown / shown.sum(), (m,) * (order + 1)).copy()
    chain = MarkovChain(order, first)
    history = joint_history(Adversary(UniformPrior(), chain, gaps=gaps, mechanism=GhostChain()), observations)
    problem = history.problem
    number = int(np.prod([len(cut) + 1 for cut in cuts.values()], dtype=np.int64))
    tables = chain.tables if (problem.layout.previous >= 0).any() else ()
    start = ChainLaw(np.tile(shown / shown.sum(), (number, 1)), tables)
    data = LearningData(problem, cuts, _path_classes(history, cuts), _powers(problem, gaps, order), start, pseudo_count)
    if not presence:
        return data
    known = _outcomes(history)
    start = start._replace(presence=known.start(m))
    problem = replace(problem, evidence=known.evidence(start.presence), evidence_row=known.row)
    return data._replace(problem=problem, start=start, presence=known)


FREE_LEVEL = 1e4
"""Variance of the level of a cell, in that of one of its members: it is free."""


def _staying(observations: tuple[Observation, ...], law: FloatArray) -> float:
    """Part a of those who stay for which the chain ``a I + (1 - a) law`` explains noisy counts best, by a normal law of each cell.

    The counts of a cell at releases t and u have the covariance ``N a^|t - u| (diag(law) - law law')`` for the N members of both,
    beside the noise. The level of each cell is free. Half where the releases have no cells in common. Cost: O(T^2 n + C m T^3).
    """
    from scipy.optimize import minimize_scalar

    if len(observations) < 2 or any(len(seen.counts) != len(observations[0].counts) for seen in observations):
        return 0.5
    numbers, names = pd.factorize(np.concatenate([seen.people.respondents for seen in observations]))
    cell, cells = np.full((len(observations), len(names)), -1), len(observations[0].counts)
    ends = np.cumsum([len(seen.people) for seen in observations])[:-1]
    for own, seen, who in zip(cell, observations, np.split(numbers, ends), strict=True):
        own[who] = seen.group
    pairs = [[np.bincount(one[(one == other) & (one >= 0)], minlength=cells) for other in cell] for one in cell]
    members = np.moveaxis(np.array(pairs, dtype=np.float64), 2, 0)
    size = np.diagonal(members, axis1=1, axis2=2)
    level = FREE_LEVEL / max(size.mean(), 1.0) * size[:, :, None] * size[:, None, :]
    noise = np.diag([1e-9 if seen.noise is None else seen.noise.variance + 1e-9 for seen in observations])
    variance, direction = np.linalg.eigh(np.diag(law) - np.outer(law, law))
    counts = np.stack([seen.counts for seen in observations], axis=1) @ direction
    lag = np.abs(np.subtract.outer(np.arange(len(observations)), np.arange(len(observations))))

    def surprise(staying: float) -> float:
        total = 0.0
        for k in np.flatnonzero(variance > 1e-9 * variance.max()):
            covariance, y = variance[k] * (members * staying**lag + level) + noise, counts[:, :, k, None]
            total += float(np.linalg.slogdet(covariance)[1].sum() + (y * np.linalg.solve(covariance, y)).sum())
        return total

    return float(minimize_scalar(surprise, bounds=(0.0, 0.999), method="bounded").x)


def _outcomes(history: JointHistory) -> Outcomes:
    """Departures, pauses and stays after the records of the problem."""
    following = following_releases([seen.people for seen in history.listed])
    found = Outcomes.of(following)
    row = np.full(len(history.problem.path), -1, dtype=np.int64)
    rows = np.split(found.row, np.cumsum([len(one) for one in following])[:-1])
    for record, own in zip(history.record, rows, strict=True):
        inside = record[: len(own)] >= 0
        row[record[: len(own)][inside]] = own[inside]
    return found._replace(row=row, numbers=np.bincount(row[row >= 0], minlength=len(found.kinds)).astype(np.float64))


def with_rule(data: LearningData, observations: tuple[Observation, ...], gaps: GapRule) -> LearningData:
    """History with the rule of m-invariance; the shares of its signatures are estimated forward, under the first law."""
    prior, chain, _ = data.knowledge(data.start)
    _, laws = read_signatures(Adversary(prior, chain, gaps=gaps), observations)
    rule = signature_rule(data.problem, laws)
    return data._replace(problem=rule.under(data.problem), powers=data.powers[rule.base], rule=rule)


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


def each_observation(owner: str, releases: Iterable[Any]) -> tuple[Observation, ...]:
    """Observations of releases, or of observations themselves."""
    observations = tuple(getattr(release, "observation", release) for release in releases)
    for observation in observations:
        check_kind(owner, "one of the releases", observation, Observation, "is a release, as publish returns")
    if not observations:
        raise ValueError(f"{owner}: there is no release; give one or more, in the order of time.")
    return observations
