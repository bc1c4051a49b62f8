"""Knowledge that an adversary of the command line learns from a table of records."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from foreknow.app.cli.options import KNOWLEDGE_PANEL, option, switch
from foreknow.app.cli.terminal import error_console
from foreknow.defenses import Cohorts
from foreknow.models import (
    Adversary,
    Auto,
    ChainByRelease,
    ClassFrequencies,
    CompromisedRecords,
    Estimator,
    EvidenceCascade,
    GhostChain,
    History,
    LearnedKnowledge,
    MarkovChain,
    Omega,
    Presence,
    Transitions,
)
from foreknow.models.knowledge.class_frequencies import MIN_RESPONDENTS, class_intervals
from foreknow.models.progress import Progress

if TYPE_CHECKING:
    from foreknow.app.disk import Engine, LargeTable
    from foreknow.attacks.attack import Published
    from foreknow.defenses import Defense


@dataclass(frozen=True)
class Learning:
    """Options by which an adversary of the command line learns and revises beliefs."""

    classes: Annotated[
        int,
        option(
            "Number of intervals of each numeric quasi-identifier in the prior.",
            "N",
            KNOWLEDGE_PANEL,
            min=1,
        ),
    ] = 3
    order: Annotated[int, option("Order of the Markov chain of sensitive values.", "N", KNOWLEDGE_PANEL, min=1)] = 1
    pseudo_count: Annotated[
        float, option("Number added to every count that the adversary learns from.", "X", KNOWLEDGE_PANEL, min=0)
    ] = 0.1
    revision: Annotated[
        Literal["filter", "product", "chain"],
        option(
            "Revision of beliefs with --order 2 or more: filter (joint law of the last values), product (as in JS-reduce) or "
            "chain (as in BayFrame).",
            "RULE",
            KNOWLEDGE_PANEL,
        ),
    ] = "filter"
    gaps: Annotated[
        Literal["ignore", "power"],
        option(
            "Releases without a record of a respondent: ignore them, or take one step of the chain for each (power).",
            "RULE",
            KNOWLEDGE_PANEL,
        ),
    ] = "ignore"
    presence: Annotated[
        bool,
        switch(
            "--presence",
            "Learn how often respondents leave and pause after each value, and read it: who is listed when is evidence.",
            KNOWLEDGE_PANEL,
        ),
    ] = False

    def adversary(
        self,
        prior: ClassFrequencies,
        transitions: Transitions | None,
        estimator: Estimator,
        presence: Presence | None = None,
    ) -> Adversary:
        """The adversary with a prior, transitions, an estimator and presence, who revises beliefs by these settings."""
        rules: Any = {"estimator": estimator, "revision": self.revision, "gaps": self.gaps}
        return Adversary(prior, transitions, **rules, presence=presence)


DEFAULT_LEARNING, DEFAULT_ESTIMATOR = Learning(), Auto()
"""Settings of the adversaries of a report that are not given."""


KNOWLEDGE_OPTIONS = ("corpus", *(each.name for each in fields(Learning)))
"""Options that define what an adversary knows."""


def informed_adversary(
    corpus: History, learning: Learning = DEFAULT_LEARNING, estimator: Estimator = DEFAULT_ESTIMATOR
) -> Adversary:
    """The adversary who knows the class frequencies and the Markov chain of a corpus.

    There is no chain if every respondent has one record. There are at most as many classes as records; see `class_intervals`.
    """
    records = sum(map(len, corpus))
    prior = ClassFrequencies.fit(
        corpus, class_intervals(corpus.schema, learning.classes, records), learning.pseudo_count
    )
    chain = None
    if len(corpus.respondents) < records:
        chain = MarkovChain.fit(corpus, learning.order, learning.pseudo_count, gaps=learning.gaps)
    presence = Presence.fit(corpus, pseudo_count=learning.pseudo_count) if learning.presence else None
    return learning.adversary(prior, chain, estimator, presence)


def knowing_ghosts(adversary: Adversary, releases: "Sequence[Published]") -> Adversary:
    """The adversary who takes the ghosts of releases, if there are some, to follow the own transitions."""
    some = any(release.observation.ghosts is not None for release in releases)
    return replace(adversary, mechanism=GhostChain()) if some else adversary


def knowing_terminal(adversary: Adversary, releases: "Sequence[Published]", defense: "Defense | None") -> Adversary:
    """The adversary who knows what the rule of `Cohorts` for terminal values tells, as compromised records."""
    rule = terminal_rule(defense)
    if rule is None or adversary.compromised is not None:
        return adversary
    told = CompromisedRecords.of_terminal_values(releases, rule.terminal, rule.ends)
    return adversary if told is None else replace(adversary, compromised=told, cascade=EvidenceCascade())


def terminal_rule(defense: "Defense | None") -> Cohorts | None:
    """The defense, if its rule for terminal values tells the values of who is listed and withheld."""
    return defense if isinstance(defense, Cohorts) and defense.departures == "ghosts" and defense.terminal else None


def ghost_chain(known: History, learning: Learning) -> MarkovChain:
    """Chain by which a publisher draws ghosts, of order 1, counted in some records."""
    return MarkovChain.fit(known, 1, learning.pseudo_count, values=len(known.schema.values), gaps=learning.gaps)


def learned_adversary(
    releases: "Sequence[Published]",
    learning: Learning = DEFAULT_LEARNING,
    estimator: Estimator = DEFAULT_ESTIMATOR,
    progress: Progress = iter,
) -> Adversary:
    """The adversary who learned prior and transitions from releases alone, by `learn_from_releases`."""
    learned = learn_from_releases(releases, learning, progress)
    return knowing_ghosts(learning.adversary(learned.prior, learned.transitions, estimator, learned.presence), releases)


def learn_from_releases(
    releases: "Sequence[Published]", learning: Learning, progress: Progress = iter, signatures: bool = False
) -> LearnedKnowledge:
    """Learn the prior and the transitions from releases alone, without their true values.

    A class has at least `MIN_RESPONDENTS` respondents on average; see `class_intervals`. ``progress`` and ``signatures``
    are those of `LearnedKnowledge.fit`.
    """
    respondents = {name for release in releases for name in release.observation.people.respondents}
    schema = releases[0].observation.people.schema
    return LearnedKnowledge.fit(
        [release.observation for release in releases],
        classes=class_intervals(schema, learning.classes, len(respondents) // MIN_RESPONDENTS),
        pseudo_count=learning.pseudo_count,
        gaps=learning.gaps,
        order=learning.order,
        signatures=signatures,
        presence=learning.presence,
        progress=progress,
    )


def assumed_adversary(history: History, corpus: History | None, learning: Learning) -> Adversary:
    """The adversary that a defense assumes, with the Omega-estimate.

    With a corpus, the prior and the chain are the corpus's. Without one, the prior is the history's, and the chain at each release
    is learned from the views before it (`ChainByRelease`).
    """
    known = informed_adversary(history if corpus is None else corpus, learning, Omega())
    if corpus is not None or known.transitions is None:
        return known
    chain = ChainByRelease.extracted(history, learning.order, learning.pseudo_count, gaps=learning.gaps)
    return replace(known, transitions=chain)


def learned_from(table: "LargeTable", learning: Learning, engine: "Engine") -> Any:
    """Knowledge learned from a table on disk, with the classes of the command line."""
    from foreknow.app.disk.knowledge import learn_from_disk

    with error_console.status("learning what the adversary knows"):
        with engine.connection() as connection:
            records = int(table.relation(connection).aggregate("count(*)").fetchall()[0][0])
        classes = class_intervals(table.schema, learning.classes, records)
        return learn_from_disk(table, classes, learning.pseudo_count, learning.gaps, engine, learning.presence)
