"""Prior and transitions learned from the releases alone, by expectation-maximization."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.learning_data import learning_data
from foreknow.models.joint.learning_rounds import Learned, LearningRound, LearningSettings, learn_law
from foreknow.models.joint.max_entropy import MaxEntropy
from foreknow.models.joint.observations import each_observation
from foreknow.models.knowledge.class_frequencies import ClassFrequencies
from foreknow.models.knowledge.markov_chain import MarkovChain, check_pseudo_count
from foreknow.models.knowledge.sequences import GapRule, check_chain_order, check_gaps
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import check_choice, check_kind, check_range, check_whole
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.release import Release

FEW_STEPS = 1.0
"""Expected number of transitions from a value under which the pseudo-counts determine its row."""


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
        progress : callable
            Function of a range that returns an iterable of the same length, as ``rich.progress.track``. The number of rounds is not
            known beforehand: an item is taken each time that the change of the law is under the next of some thresholds, so that
            the parts between take about as long.

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

        Rounds with exact counts replace the tilts by messages of belief propagation, which one sweep forward and backward in time
        updates. They are an approximation where the same respondents meet again and in groups of more than 4,096 states
        (the Bethe approximation), and have no objective that increases. Where they do not converge, the law of the rounds with
        expected counts is returned, with a note. The maximum may be local.

        The start is the published distribution for the prior, and for each row of the transitions half of it, with half staying.
        Where no respondent has two records, only the prior is learned, and ``transitions`` is None. Counterfeits keep a uniform
        prior. The channel of distorted values is not learned: it is estimated once, going forward, under a uniform prior and the
        first transitions.

        Changes far below the sampling error of the law are noise: the error of a row with n transitions is O(1 / sqrt(n)), .01 for
        100,000 transitions between 19 values. With the default tolerance the log score of an attack was within .01 bits of that
        with a tenth of it (24 x 5,000 `exams`).

        Cost: for each round, one `MaxEntropy` started from the tilts of the round before, or one sweep over the groups whose
        members' weights changed.
        """
        owner = "LearnedKnowledge.fit"
        check_pseudo_count(pseudo_count)
        check_gaps(gaps)
        check_chain_order(order)
        check_range(owner, "tolerance", tolerance, 0)
        check_whole(owner, "rounds", rounds, "rounds")
        check_choice(owner, "counts", counts, ("exact", "expected"))
        check_progress(owner, progress, "the parts of the learning")
        solver = MaxEntropy() if solver is None else solver
        check_kind(owner, "solver", solver, MaxEntropy, "is a MaxEntropy, as MaxEntropy(tolerance=1e-3)")
        observations = each_observation(owner, releases)
        data = learning_data(owner, observations, {} if classes is None else classes, gaps, int(order))
        settings = LearningSettings(float(pseudo_count), float(tolerance), int(rounds), counts, solver)
        learned = learn_law(data, settings, progress)
        law, trace = learned.law, learned.trace
        prior = ClassFrequencies(data.cuts, law.prior.reshape(*(len(cut) + 1 for cut in data.cuts.values()), -1))
        chain = MarkovChain(len(law.tables), law.tables[-1], law.tables[:-1]) if law.tables else None
        converged = trace[-1].change <= tolerance and bool(counts == "expected" or np.isnan(trace[-1].objective))
        return cls(
            prior, chain, tuple(trace), converged, _notes(observations[0].people.schema.values, learned, converged)
        )


def _notes(values: tuple[object, ...], learned: Learned, converged: bool) -> tuple[str, ...]:
    """Limits of the data, as sentences."""
    notes, counts, trace = [], learned.counts, learned.trace
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
