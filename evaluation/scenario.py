"""Scenarios: who attacks, as one frozen object and one TOML file, with five built-in ones."""

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.attacks import (
    Attack,
    JointAttack,
    OthersKnown,
    RetrospectiveAttack,
    SequentialAttack,
    SignatureAttack,
    SnapshotAttack,
)
from foreknow.attacks.attack import each_release
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth
from foreknow.models import (
    ESTIMATORS,
    JOINT_SOLVERS,
    Adversary,
    Averaged,
    Beliefs,
    ClassFrequencies,
    CompromisedRecords,
    DirichletChain,
    DirichletFrequencies,
    GhostChain,
    History,
    LearnedKnowledge,
    MarkovChain,
    PathSampler,
    Presence,
    Prior,
    Release,
    RemoveKnown,
    Transitions,
    UniformMembership,
)
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.joint.problem import JointSolver
from foreknow.models.knowledge.class_frequencies import MIN_RESPONDENTS, class_intervals
from foreknow.models.knowledge.markov_chain import check_pseudo_count
from foreknow.models.knowledge.sequences import GAPS
from foreknow.models.settings import as_generator, check_kind, check_range, check_whole, shown
from foreknow.models.tables.table_files import existing_file

SEQUENTIAL = "sequential"
"""Name of the solver that goes release by release, with an estimator; all others are joint."""

QUASI_IDENTIFIERS = "quasi-identifiers"
"""What is known of people who must be looked for among the groups."""

NEAR = 0.5
"""Least similarity of a known name that a message names as the nearest one."""

DRAWS = 20
"""Number of draws of the knowledge if it is left out."""

CHOICES: dict[str, Sequence[str]] = {
    "law": ("known", "corpus", "learned", "draws"),
    "knows": ("group", "others", QUASI_IDENTIFIERS),
    "mechanism": ("nothing", "rule"),
    "presence": ("ignored", "read"),
    "goal": ("value", "change", "path"),
    "time": ("forward", "hindsight"),
    "solver": (*JOINT_SOLVERS, SEQUENTIAL),
    "estimator": (*ESTIMATORS,),
    "revision": ("filter", "product", "chain"),
    "gaps": GAPS,
}
"""Choices of the settings that are names."""


@dataclass(frozen=True)
class Scenario:
    """Scenario of an attack: what the adversary knows, wants and computes.

    Parameters
    ----------
    law : {"learned", "corpus", "draws", "known"}
        Source of prior, transitions and presence. ``"learned"``: the releases alone (`LearnedKnowledge`). ``"corpus"``: records of
        other people, as ``AuxiliaryDataKnowledge`` in TAPAS. ``"draws"``: draws of their Dirichlet posterior given a corpus
        (`Averaged`). ``"known"``: the statistics of the original records themselves, more than an outsider knows.
    knows : {"group", "others", "quasi-identifiers"}
        What is known of people at each release: their group, the worst case of the literature; besides the values of all other
        respondents (`OthersKnown`), as ``ExactDataKnowledge`` in TAPAS; or their quasi-identifiers and not their group
        (`UniformMembership`), each release alone.
    compromised : float
        Share of the records of each release whose values are known, drawn at random.
    mechanism : {"nothing", "rule"}
        ``"rule"``: the releases are known to be of m-invariance, with its rule.
    presence : {"ignored", "read"}
        ``"read"``: who is listed when is evidence of the values (`Presence`).
    goal : {"value", "change", "path"}
        What the adversary wants to know: the value of a respondent at a release, whether it changes from one record of the
        respondent to the next, or all values of the respondent. See `measure`.
    time : {"hindsight", "forward"}
        Beliefs about each release given all releases, or those up to it.
    solver : str
        Joint solver, a name of `JOINT_SOLVERS`; or ``"sequential"``: release by release, by the estimator.
    estimator : str
        Posterior estimator of the sequential solver, a name of `ESTIMATORS`.
    threshold : float
        Belief from which the adversary is sure.
    order, classes, pseudo_count, gaps
        Order of the chain; number of intervals of each numeric quasi-identifier in the prior; number added to every count; and
        treatment of releases without a record of a respondent: as the options of ``foreknow attack``.
    revision : {"filter", "product", "chain"}
        Revision of beliefs by the sequential solver, for an order of 2 or more; see `Adversary`.
    draws : int, optional
        Number of draws of the knowledge, with ``law="draws"`` alone; 20 by default.

    Raises
    ------
    TypeError, ValueError
        If a setting is none of its choices, or not of its range; if a setting is given that the others do not read.

    Notes
    -----
    Relatives (`Relations`) are not among the choices: they are a graph, and no table of the files has one.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity, Mondrian, publish
    >>> from foreknow.evaluation import exams
    >>> history, *_ = exams(views=3, records=60, rng=1)
    >>> releases = publish(history, Mondrian(KAnonymity(3)), rng=1)
    >>> scenario = Scenario.named("releases-only")
    >>> beliefs = scenario.attack()(releases)
    >>> scenario.measure(beliefs, history)["published"].tolist()
    [60, 60, 60]
    """

    law: Literal["learned", "corpus", "draws", "known"] = "learned"
    knows: Literal["group", "others", "quasi-identifiers"] = "group"
    compromised: float = 0.0
    mechanism: Literal["nothing", "rule"] = "nothing"
    presence: Literal["ignored", "read"] = "ignored"
    goal: Literal["value", "change", "path"] = "value"
    time: Literal["hindsight", "forward"] = "hindsight"
    solver: str = "group-graph"
    estimator: str = "auto"
    threshold: float = 0.9
    order: int = 1
    classes: int = 3
    pseudo_count: float = 0.1
    gaps: Literal["ignore", "power"] = "ignore"
    revision: Literal["filter", "product", "chain"] = "filter"
    draws: int | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_near("Scenario", f"a {name}", getattr(self, name), choices)
        check_range("Scenario", "compromised", self.compromised, 0, 1, "a part of the records")
        check_range("Scenario", "threshold", self.threshold, 0.5, 1, "a belief in one value", excluded=(0.5,))
        check_pseudo_count("Scenario", self.pseudo_count)
        for name, what in (("order", "past values"), ("classes", "intervals")):
            check_whole("Scenario", name, getattr(self, name), what)
        if self.draws is not None:
            check_whole("Scenario", "draws", self.draws, "draws")
        unread = {
            f"estimator = {self.estimator!r} is read by solver = 'sequential' alone": not self._sequential
            and self.estimator != "auto",
            f"revision = {self.revision!r} is read by solver = 'sequential' alone, of an order over 1": (
                self.revision != "filter" and (not self._sequential or self.order == 1)
            ),
            f"draws = {self.draws} is read with law = 'draws' alone": self.draws is not None and self.law != "draws",
            f"compromised = {self.compromised:g} says nothing more where knows = 'others'": self.compromised
            and self.knows == "others",
            f"goal = {self.goal!r} is about several releases, and time = 'forward' has beliefs given others at each": (
                self.goal != "value" and self.time == "forward"
            ),
            "mechanism = 'rule' goes forward with solver = 'sequential'; a joint solver reads it in hindsight": (
                self._sequential and self.mechanism == "rule" and self.time == "hindsight"
            ),
            "knows = 'quasi-identifiers' reads each release alone, without presence or the mechanism: with solver = 'sequential' "
            "and time = 'forward'": self.knows == QUASI_IDENTIFIERS
            and (self.solver, self.time, self.presence, self.mechanism)
            != (SEQUENTIAL, "forward", "ignored", "nothing"),
        }
        for text, is_unread in unread.items():
            if is_unread:
                raise ValueError(f"Scenario: {text}. Change one of them.")

    @classmethod
    def read(cls, path: str | Path) -> "Scenario":
        """Read a scenario from a TOML file, whose keys are the settings; those left out have their defaults.

        Parameters
        ----------
        path : path

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        TypeError, ValueError
            If the file is no TOML, has a key that is no setting, or a value that the setting does not take; the message names the
            nearest key or choice.
        """
        file = existing_file(path, "name a TOML file of a scenario")
        try:
            settings = tomllib.loads(file.read_text(encoding="utf-8"))
            for key in settings:
                check_near("Scenario", "a key", key, [each.name for each in fields(cls)])
            return cls(**settings)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(
                f'{path}: {error}; it has settings as TOML, with texts in quotes: law = "corpus".'
            ) from None
        except (TypeError, ValueError) as error:
            raise type(error)(f"{path}: {error}") from None

    @classmethod
    def named(cls, name: str) -> "Scenario":
        """A built-in scenario, one of `SCENARIOS`; ValueError for another name, with the nearest one."""
        check_near("Scenario.named", "a scenario", name, list(SCENARIOS))
        return SCENARIOS[name]

    def to_toml(self) -> str:
        """Settings that are not the default, as the text of a file that `read` reads; equal scenarios have equal texts."""
        given = [
            (each.name, getattr(self, each.name)) for each in fields(self) if getattr(self, each.name) != each.default
        ]
        return "".join(f"{name} = {json.dumps(value, default=int)}\n" for name, value in given)

    @property
    def reads_corpus(self) -> bool:
        """True if the law is from a corpus, which `attack` then requires."""
        return self.law in ("corpus", "draws")

    @property
    def reads_history(self) -> bool:
        """True if the adversary knows something of the original records, which `attack` then requires."""
        return self.law == "known" or self.knows == "others" or self.compromised > 0

    @property
    def _sequential(self) -> bool:
        return self.solver == SEQUENTIAL

    def attack(
        self,
        history: History | None = None,
        corpus: History | None = None,
        *,
        rng: np.random.Generator | int | None = None,
    ) -> "ScenarioAttack":
        """The attack of the scenario, to be called with releases.

        Parameters
        ----------
        history : History, optional
            The original records, of which the adversary knows what the scenario says; required if it says so (`reads_history`).
        corpus : History, optional
            Records of other people, from which the law is counted; required by its law alone, and refused by the others.
        rng : numpy.random.Generator or int, optional
            Random generator of the compromised records, the draws of the law, and a solver that draws; or a seed. By default fresh
            entropy.

        Raises
        ------
        TypeError, ValueError
            If a history that is required is missing, or one that is not read is given.
        """
        for name, given, required in (
            ("history", history, self.reads_history),
            ("corpus", corpus, self.reads_corpus),
        ):
            if required or given is not None:
                check_kind("Scenario.attack", name, given, History, f"is a History; the law is {self.law!r}")
        if corpus is not None and not self.reads_corpus:
            raise ValueError(
                f"Scenario.attack: there is a corpus, and the law {self.law!r} does not read one. Leave it out, or set "
                "law = 'corpus' or 'draws'."
            )
        generator = as_generator("Scenario.attack", rng, optional=True)
        records = None
        if self.compromised:
            assert history is not None
            records = CompromisedRecords.sample(history, self.compromised, 1.0, rng=generator)
        given = history if self.law == "known" else corpus
        knowledge = () if given is None else tuple(self._counted(given, generator))
        return ScenarioAttack(self, knowledge, history if self.knows == "others" else None, records, generator)

    def measure(self, beliefs: Beliefs, history: History, *, leaving_out: LeftOut = None) -> pd.DataFrame:
        """Measures of the goal, with the threshold of the scenario.

        Parameters
        ----------
        beliefs : Beliefs
            Those of its attack.
        history : History
            The original records.
        leaving_out : CompromisedRecords or collection of respondents, optional
            Respondents that are not counted, as the ``compromised`` of the attack; see `adversary_gain`.

        Returns
        -------
        DataFrame
            For a value, `risk_table`: one row per release. For a change, one row per release from the second on, about the
            respondents with a record there and an earlier one; for a path, one row per number of ``releases`` with a record of the
            respondent, over 1. Their columns: ``measured``, the number of respondents; ``sure``, ``right`` and ``expected`` as in
            `disclosures`; ``confidence_low`` and ``confidence_high``, mean bounds of the belief in the truth.

        Notes
        -----
        Beliefs are about single records; those in a change or a path are bounded by them, whatever their dependence (Frechet
        bounds). With the beliefs p and q about two records, a change has at least the total variation distance of p and q, and no
        change at least ``max(0, max over v of p(v) + q(v) - 1)``. A path of the beliefs p_1, ..., p_T in its values has at least
        ``max(0, 1 - sum of (1 - p_t))`` and at most the smallest p_t. Sure is a belief whose lower bound reaches the threshold:
        ``sure`` never counts too many, and may miss some. Cost: O(n m).
        """
        if self.goal == "value":
            return risk_table(beliefs, history, leaving_out=leaving_out, sure=self.threshold)
        label, bounds = ("time", _change_bounds) if self.goal == "change" else ("releases", _path_bounds)
        listed = [row for path in _paths(beliefs, history, leaving_out) for row in bounds(path)]
        each = pd.DataFrame(listed, columns=pd.Index([label, "confidence_low", "confidence_high", "surest", "true"]))
        sure = each["surest"] >= self.threshold
        counted = each.assign(
            measured=1, sure=sure * 1, right=(each["true"] & sure) * 1, expected=each["surest"].where(sure, 0.0)
        )
        sums, means = ["measured", "sure", "right", "expected"], ["confidence_low", "confidence_high"]
        groups = counted.groupby(label)
        return groups[sums].sum().join(groups[means].mean()).reset_index()

    def _counted(self, corpus: History, rng: np.random.Generator) -> Iterable[Adversary]:
        """Adversaries who counted prior, transitions and presence in records: one, or one for each draw."""
        records = sum(map(len, corpus))
        again = records > len(corpus.respondents)  # without a second record of any respondent there is no chain
        classes = class_intervals(corpus.schema, self.classes, records)
        if self.law != "draws":
            chain = MarkovChain.fit(corpus, self.order, self.pseudo_count, gaps=self.gaps) if again else None
            presence = Presence.fit(corpus, pseudo_count=self.pseudo_count) if self.presence == "read" else None
            yield self.adversary(ClassFrequencies.fit(corpus, classes, self.pseudo_count), chain, presence)
            return
        number = DRAWS if self.draws is None else int(self.draws)
        priors = DirichletFrequencies.fit(corpus, classes, self.pseudo_count)
        chains = DirichletChain.fit(corpus, self.order, self.pseudo_count, gaps=self.gaps) if again else None
        hazards: Sequence[Presence | None] = [None] * number
        if self.presence == "read":
            hazards = Presence.draws(corpus, number, pseudo_count=self.pseudo_count, rng=rng)
        for hazard in hazards:
            yield self.adversary(priors.sample(rng=rng), chains and chains.sample(rng=rng), hazard)

    def adversary(self, prior: Prior, transitions: Transitions | None, presence: Presence | None = None) -> Adversary:
        """The adversary with this knowledge, and with the rules of the scenario."""
        rules: dict[str, Any] = {
            "estimator": ESTIMATORS[self.estimator](),
            "revision": self.revision,
            "gaps": self.gaps,
        }
        return Adversary(prior, transitions, presence=presence, **rules)


@dataclass(frozen=True, eq=False)
class ScenarioAttack:
    """Attack of a scenario; made by `Scenario.attack`.

    Attributes
    ----------
    scenario : Scenario
    knowledge : tuple of Adversary
        Adversary who counted in records, or one for each draw; empty if the law is learned from the releases.
    others : History or None
        Original records whose values are known of all others.
    compromised : CompromisedRecords or None
        Records whose values are known; leave them out of measures.
    rng : numpy.random.Generator
    """

    scenario: Scenario
    knowledge: tuple[Adversary, ...]
    others: History | None
    compromised: CompromisedRecords | None
    rng: np.random.Generator
    reads_noise: ClassVar[bool] = True

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release."""
        given = list(each_release(self, releases, reads_ghosts=True))
        attack, notes = self.on(given)
        beliefs = attack(given)
        return replace(beliefs, notes=(*notes, *beliefs.notes))

    def on(self, releases: Iterable[Release]) -> tuple[Attack, tuple[str, ...]]:
        """The attack with the knowledge of some releases, one of `foreknow.attacks`, and notes on what was learned from them."""
        scenario, given = self.scenario, list(each_release(self, releases, reads_ghosts=True))
        knowledge, notes = self.knowledge, tuple[str, ...]()
        if not knowledge:
            learned = self._learned(given)
            knowledge, notes = (
                (scenario.adversary(learned.prior, learned.transitions, learned.presence),),
                learned.notes,
            )
        if self.compromised is not None:
            knowledge = tuple(replace(one, compromised=self.compromised, cascade=RemoveKnown()) for one in knowledge)
        if any(release.observation.ghosts is not None for release in given):
            knowledge = tuple(replace(one, mechanism=GhostChain()) for one in knowledge)
        if scenario.knows == QUASI_IDENTIFIERS:
            knowledge = tuple(replace(one, membership=UniformMembership()) for one in knowledge)
        adversary = Averaged(knowledge, min_effective=0.5) if scenario.law == "draws" else knowledge[0]
        hindsight, rule = scenario.time == "hindsight", scenario.mechanism == "rule"
        attack: Attack
        if scenario.solver != SEQUENTIAL:
            attack = JointAttack(adversary, self._solver, hindsight, signatures=rule)
        elif rule:
            attack = SignatureAttack(adversary)
        elif scenario.knows == QUASI_IDENTIFIERS:
            attack = SnapshotAttack(adversary)
        else:
            attack = RetrospectiveAttack(adversary) if hindsight else SequentialAttack(adversary)
        return attack if self.others is None else OthersKnown(attack, self.others), notes

    def _learned(self, releases: Sequence[Release]) -> LearnedKnowledge:
        """Prior, transitions and presence, learned from the releases alone."""
        scenario, observations = self.scenario, [release.observation for release in releases]
        people = {name for seen in observations for name in seen.people.respondents}
        return LearnedKnowledge.fit(
            observations,
            classes=class_intervals(observations[0].people.schema, scenario.classes, len(people) // MIN_RESPONDENTS),
            pseudo_count=scenario.pseudo_count,
            gaps=scenario.gaps,
            order=scenario.order,
            signatures=scenario.mechanism == "rule",
            presence=scenario.presence == "read",
        )

    @property
    def _solver(self) -> JointSolver:
        made: JointSolver = (
            PathSampler(rng=self.rng)
            if self.scenario.solver == "path-sampler"
            else JOINT_SOLVERS[self.scenario.solver]()
        )
        return made


def check_near(owner: str, what: str, given: Any, known: Sequence[str]) -> None:
    """Raise ValueError unless a name is among the known ones; the message has the nearest one."""
    if given not in known:
        near = get_close_matches(str(given), known, n=1, cutoff=NEAR)
        hint = f" The nearest is {near[0]!r}." if isinstance(given, str) and near else ""
        raise ValueError(f"{owner}: {shown(given)} is not {what}.{hint} Choose one of {', '.join(known)}.")


class _Path(NamedTuple):
    """Beliefs about the published records of one respondent, shape ``(T, m)``, their true values and their times."""

    belief: FloatArray
    true: IntArray
    times: list[Any]


type _Bounds = tuple[Any, float, float, float, bool]
"""Row of a change or a path: the label; bounds of the belief in the truth; the lower bound of the surest event; if that is true."""


def _paths(beliefs: Beliefs, history: History, leaving_out: LeftOut) -> Iterator[_Path]:
    """Beliefs about the measured records of each respondent, in the order of the releases."""
    listed: dict[Any, list[tuple[BeliefsAndTruth, int]]] = {}
    each = beliefs_and_truth("Scenario.measure", beliefs, history, leaving_out)
    for one, release in zip(each, beliefs, strict=True):
        for place, respondent in enumerate(release.observation.people.respondents[one.rows]):
            listed.setdefault(respondent, []).append((one, place))
    for records in listed.values():
        belief, true = (np.array([getattr(one, name)[place] for one, place in records]) for name in ("belief", "true"))
        yield _Path(belief, true, [one.time for one, _ in records])


def _change_bounds(path: _Path) -> Iterator[_Bounds]:
    """Bounds of the belief in a change, or in none, before each record but the first."""
    for t, (p, q) in enumerate(pairwise(path.belief), 1):
        changed, same = float(np.abs(p - q).sum() / 2), max(0.0, float((p + q).max()) - 1)
        low, other = (same, changed) if path.true[t - 1] == path.true[t] else (changed, same)
        yield path.times[t], low, 1 - other, max(low, other), low >= other


def _path_bounds(path: _Path) -> Iterator[_Bounds]:
    """Bounds of the belief in all values of a respondent with several records."""
    number = len(path.true)
    if number > 1:
        belief, highest = path.belief[np.arange(number), path.true], path.belief.max(axis=1)
        low, surest = (max(0.0, 1 - float((1 - some).sum())) for some in (belief, highest))
        yield number, low, float(belief.min()), surest, bool((path.belief.argmax(axis=1) == path.true).all())


SCENARIOS: dict[str, Scenario] = {
    "exact-but-one": Scenario(law="known", knows="others"),
    "auxiliary": Scenario(law="corpus"),
    "releases-only": Scenario(law="learned"),
    "presence": Scenario(law="corpus", presence="read"),
    "papers": Scenario(
        law="corpus", time="forward", solver="sequential", estimator="omega", order=2, revision="product"
    ),
}
"""Built-in scenarios: the values of all others are known; a corpus of other people; the releases alone; a corpus, with presence
read; and the rules of JS-reduce and BayFrame: release by release, with the Omega-estimate and the product of past posteriors."""
