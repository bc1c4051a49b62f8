"""Knowledge that an adversary of the command line learns from a table of records."""

from dataclasses import dataclass

from foreknow.models import (
    Adversary,
    ClassFrequencies,
    Estimator,
    History,
    IncrementalChain,
    MarkovChain,
    Numeric,
    Omega,
    Transitions,
)
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.memory import Revision


@dataclass(frozen=True)
class Learning:
    """Settings by which an adversary of the command line learns and revises beliefs.

    Attributes
    ----------
    classes : int
        Number of intervals of each numeric quasi-identifier.
    order : int
        Order of the Markov chain.
    pseudo_count : float
        Number added to every count.
    revision, gaps
        As in `Adversary`.
    """

    classes: int = 3
    order: int = 1
    pseudo_count: float = 0.1
    revision: Revision = "filter"
    gaps: GapRule = "ignore"

    def adversary(self, prior: ClassFrequencies, transitions: Transitions | None, estimator: Estimator) -> Adversary:
        """The adversary with a prior, transitions and an estimator, who revises beliefs by these settings."""
        return Adversary(prior, transitions, estimator=estimator, revision=self.revision, gaps=self.gaps)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Knowledge learned from a corpus: class frequencies, and transitions if a respondent has several records."""

    prior: ClassFrequencies
    transitions: MarkovChain | None


def learn_knowledge(corpus: History, learning: Learning) -> Knowledge:
    """Learn the class frequencies and the Markov chain of a corpus.

    A numeric quasi-identifier has ``learning.classes`` intervals, a categorical one its values. A quasi-identifier that would make
    more classes than the corpus has records is left out. There is no chain if every respondent has one record.
    """
    cuts: dict[str, int | None] = {}
    classes, records = 1, sum(map(len, corpus))
    for name, kind in corpus.schema.quasi_identifiers.items():
        parts = learning.classes if isinstance(kind, Numeric) else len(kind.values)
        if classes * parts <= records:
            cuts[name], classes = parts, classes * parts
    prior = ClassFrequencies.fit(corpus, cuts, learning.pseudo_count)
    if len(corpus.respondents) == records:
        return Knowledge(prior, None)
    return Knowledge(prior, MarkovChain.fit(corpus, learning.order, learning.pseudo_count, gaps=learning.gaps))


def assumed_adversary(history: History, corpus: History | None, learning: Learning) -> Adversary:
    """The adversary that a defense assumes, with the Omega-estimate.

    With a corpus, the prior and the chain are the corpus's. Without one, the prior is the history's, and the chain at each release
    is learned from the views before it (`IncrementalChain`).
    """
    knowledge = learn_knowledge(history if corpus is None else corpus, learning)
    chain: Transitions | None = knowledge.transitions
    if corpus is None and chain is not None:
        chain = IncrementalChain.fit(history, learning.order, learning.pseudo_count, gaps=learning.gaps)
    return learning.adversary(knowledge.prior, chain, Omega())
