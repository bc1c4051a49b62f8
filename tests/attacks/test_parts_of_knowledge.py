"""The contract of parts of knowledge: who reads which, what is refused, and parts of one's own."""

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from foreknow.app.cli.commands.attack_command import attack_command
from foreknow.attacks import (
    DataAugmentationAttack,
    Influence,
    JointAttack,
    RetrospectiveAttack,
    SequentialAttack,
    SignatureAttack,
    SnapshotAttack,
)
from foreknow.attacks.attack import attack_parts
from foreknow.defenses import DEFENSES, Anatomy, JSReduce, KAnonymity, Mondrian, PosteriorBound, publish
from foreknow.defenses.publish import READS, RequirementDefense
from foreknow.models import (
    ESTIMATORS,
    JOINT_SOLVERS,
    Adversary,
    Averaged,
    DirichletChain,
    DirichletMultinomial,
    Enumeration,
    GroupGraph,
    Grouping,
    Knowledge,
    MarkovChain,
    PathSampler,
    PerGroup,
    Presence,
    PriorCascade,
    ProgramEstimator,
    Relations,
    Release,
    SampledKnowledge,
    SwapChain,
    TransitionsByClass,
    UniformMembership,
    UniformPrior,
    View,
)
from foreknow.models.adversary import PARTS
from foreknow.testing import check_knowledge, examples

CHAIN = MarkovChain(1, examples.STEP)


@dataclass(frozen=True)
class Severity(Knowledge):
    """A disease that never gets better: the order of the values."""

    name = "severity"

    def step_factor(self, release):  # noqa: ARG002
        return np.triu(np.ones((3, 3)))


@dataclass(frozen=True)
class AgeTells(Knowledge):
    """The older, the likelier the last value."""

    name = "age"
    weight: float = 2.0

    def evidence(self, visits):
        ages = visits.people.quasi_identifiers[:, 0]
        return np.stack([np.ones(len(ages)), np.ones(len(ages)), 1 + self.weight * (ages > 25)], axis=1)


@dataclass(frozen=True)
class Nothing(Knowledge):
    name = "nothing"

    def evidence(self, visits):  # noqa: ARG002
        return None


PRESENCE = Presence([0.1, 0.3, 0.6], [0.2, 0.2, 0.1], 0.5)


@pytest.mark.parametrize("part", [Severity(), AgeTells(), Nothing(), PRESENCE], ids=lambda one: one.name)
def test_the_conformance_kit_accepts_parts(part):
    check_knowledge(part)


@dataclass(frozen=True)
class Negative(Knowledge):
    name = "negative"

    def prior_factor(self, people):
        return -np.ones((len(people), 3))


@dataclass(frozen=True)
class Excluding(Knowledge):
    name = "excluding"

    def prior_factor(self, people):
        return np.zeros((len(people), 3))


@dataclass(frozen=True)
class Crowd(Knowledge):
    name = "crowd"

    def evidence(self, visits):
        return np.full((len(visits.people), 3), 1.0 + len(visits.people))


@dataclass(frozen=True)
class Narrow(Knowledge):
    name = "narrow"

    def evidence(self, visits):
        return np.ones((len(visits.people), 2))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Negative(), "below 0"),
        (Excluding(), "all factors of prior_factor are 0"),
        (Crowd(), "depends on the other respondents"),
        (Narrow(), "has the shape"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_the_conformance_kit_refuses_faults(part, message):
    with pytest.raises(AssertionError, match=message):
        check_knowledge(part)


ATTACKS = [
    SnapshotAttack,
    SequentialAttack,
    RetrospectiveAttack,
    JointAttack,
    lambda adversary: JointAttack(adversary, hindsight=False),
    lambda adversary: JointAttack(adversary, Enumeration()),
]


@pytest.mark.parametrize("attack", [each for each in ATTACKS if each is not RetrospectiveAttack])
def test_empty_knowledge_changes_no_bit(attack):
    releases = examples.releases()
    for without, read in zip(
        attack(Adversary(UniformPrior(), CHAIN))(releases),
        attack(Adversary(UniformPrior(), CHAIN, own=(Nothing(),)))(releases),
        strict=True,
    ):
        np.testing.assert_array_equal(without.posterior.probabilities, read.posterior.probabilities)
        np.testing.assert_array_equal(without.revised, read.revised)


def test_a_factor_of_the_steps_is_the_chain_times_it():
    releases = examples.releases()
    times = examples.STEP * np.triu(np.ones((3, 3)))
    given = Adversary(UniformPrior(), MarkovChain(1, times / times.sum(axis=1, keepdims=True)))
    own = Adversary(UniformPrior(), CHAIN, own=(Severity(),))
    for attack in (SequentialAttack, JointAttack):
        for one, other in zip(attack(given)(releases), attack(own)(releases), strict=True):
            np.testing.assert_allclose(one.posterior.probabilities, other.posterior.probabilities, atol=1e-12)


def test_evidence_of_a_first_release_is_a_factor_of_the_prior():
    releases = examples.releases()[:1]

    @dataclass(frozen=True)
    class OfPrior(Knowledge):
        name = "of prior"

        def prior_factor(self, people):
            ages = people.quasi_identifiers[:, 0]
            return np.stack([np.ones(len(ages)), np.ones(len(ages)), 1 + 2.0 * (ages > 25)], axis=1)

    for attack in (SnapshotAttack, SequentialAttack, JointAttack):
        one, other = (
            attack(Adversary(UniformPrior(), CHAIN, own=(part,)))(releases) for part in (OfPrior(), AgeTells())
        )
        np.testing.assert_allclose(
            one.releases[0].posterior.probabilities, other.releases[0].posterior.probabilities, atol=1e-12
        )


def test_every_attack_by_an_adversary_says_what_it_reads():
    found = {name: (reads, ignores) for name, reads, ignores in attack_parts()}
    names = ("SnapshotAttack", "SequentialAttack", "RetrospectiveAttack", "JointAttack", "SignatureAttack", "Influence")
    assert set(names) <= set(found)
    for reads, ignores in found.values():
        assert set(reads) | set(ignores) <= {*PARTS, "own"}
        assert not set(reads) & set(ignores)
        assert "prior" in reads


def program(prior, counts):
    """A program, as a name; it is never run."""


PARTS_GIVEN = {
    "presence": Adversary(UniformPrior(), CHAIN, presence=PRESENCE),
    "relations": Adversary(UniformPrior(), CHAIN, relations=Relations(nx.Graph(), np.ones((3, 3)))),
    "own": Adversary(UniformPrior(), CHAIN, own=(Severity(),)),
    "membership": Adversary(UniformPrior(), CHAIN, membership=UniformMembership()),
    "program": Adversary(UniformPrior(), CHAIN, estimator=ProgramEstimator(program, rng=1)),
}


BY_ADVERSARY = [SnapshotAttack, SequentialAttack, RetrospectiveAttack, SignatureAttack, JointAttack]


@pytest.mark.parametrize(("part", "attack"), list(product(PARTS_GIVEN, BY_ADVERSARY)))
def test_what_is_not_read_is_refused_with_its_name_and_a_way_out(part, attack):
    adversary = PARTS_GIVEN[part]
    if part in (*attack.reads, *attack.ignores):
        attack(adversary)
        attack(Averaged([adversary]))
        return
    name = "severity" if part == "own" else part
    for given in (adversary, Averaged([adversary])):
        with pytest.raises(ValueError, match=f"{attack.__name__} does not read the part '{name}'") as error:
            attack(given)
    readers = [each for each, reads, _ in attack_parts() if part in reads]
    assert all(each in str(error.value) for each in readers)
    assert f"adversary.without('{name}')" in str(error.value)
    attack(adversary.without(name))


def test_other_readers_refuse_too():
    with pytest.raises(ValueError, match="DataAugmentationAttack does not read the part 'presence'"):
        DataAugmentationAttack(PARTS_GIVEN["presence"], rng=1)
    with pytest.raises(ValueError, match="Mondrian does not read the part 'membership'"):
        publish(examples.history(), Mondrian(KAnonymity(3)), PARTS_GIVEN["membership"], rng=1)
    own = Adversary(UniformPrior(), CHAIN, cascade=PriorCascade(), own=(Severity(),))
    assert Influence(own).adversary is own


def test_parts_are_named_and_left_out():
    adversary = Adversary(UniformPrior(), CHAIN, presence=PRESENCE, own=(Severity(), AgeTells()))
    assert list(adversary.parts) == ["prior", "transitions", "presence", "severity", "age"]
    left = adversary.without("presence", "severity")
    assert list(left.parts) == ["prior", "transitions", "age"]
    assert adversary.without("compromised") == adversary
    with pytest.raises(ValueError, match="'hazards' is no part that can be left out"):
        adversary.without("hazards")
    with pytest.raises(ValueError, match="'prior' is no part"):
        adversary.without("prior")


def test_names_of_own_parts_are_their_own():
    @dataclass(frozen=True)
    class Taken(Knowledge):
        name = "transitions"

    for own in ((Taken(),), (Severity(), Severity()), (Knowledge(),)):
        with pytest.raises(ValueError, match="each has one that no other part has"):
            Adversary(UniformPrior(), CHAIN, own=own)
    with pytest.raises(TypeError, match="extends Knowledge"):
        Adversary(UniformPrior(), CHAIN, own=(UniformPrior(),))


def test_a_rule_of_computation_is_never_refused():
    JointAttack(Adversary(UniformPrior(), CHAIN, estimator=DirichletMultinomial(), revision="product"))


def test_publish_reads_presence_release_by_release():
    history = examples.history()
    published = publish(history, Mondrian(KAnonymity(3)), PARTS_GIVEN["presence"], rng=1)
    assert len(published) == len(history)


TABLE = Path(__file__).parents[2] / "docs/methods/knowledge.md"


def table_of(heading, rules):
    """Table of parts by names of rules with what they read and ignore; rules of equal rows share one."""
    columns, lines = (*PARTS, "own"), {}
    for name, reads, ignores in rules:
        cells = ["read" if part in reads else "ignored" if part in ignores else "" for part in columns]
        lines.setdefault(tuple(cells), []).append(f"`{name}`")
    rows = [f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in lines.items()]
    heading = f"| {heading} | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}"
    return "\n".join([heading, *rows]).replace("|  |", "| |").replace("|  |", "| |")


def declared(rules):
    return [(name, rule.reads, getattr(rule, "ignores", ())) for name, rule in rules]


def solver_parts():
    return declared((rule.__name__, rule) for rule in (*JOINT_SOLVERS.values(), SampledKnowledge))


def estimator_parts():
    rules = (*(rule() for rule in ESTIMATORS.values()), SwapChain(rng=1), PerGroup(program))
    return declared((type(rule).__name__, rule) for rule in (*rules, ProgramEstimator(program, rng=1)))


def defense_parts():
    """Those with a requirement read the prior where it does."""
    bound = (KAnonymity(2), PosteriorBound(0.5))
    asking = [
        (f"{each.__name__}({type(one).__name__})", each(one))
        for one in bound
        for each in DEFENSES.values()
        if issubclass(each, RequirementDefense)
    ]
    others = [(each.__name__, each) for each in DEFENSES.values() if not issubclass(each, RequirementDefense)]
    return declared([*asking, *others])


TABLES = {
    "attack": attack_parts,
    "joint solver": solver_parts,
    "estimator": estimator_parts,
    "defense": defense_parts,
}


@pytest.mark.parametrize("kind", TABLES)
def test_the_page_has_the_table_of_parts(kind):
    assert table_of(kind, TABLES[kind]()) in TABLE.read_text()


@pytest.mark.parametrize("kind", TABLES)
def test_every_rule_declares_names_of_parts(kind):
    for _, reads, ignores in TABLES[kind]():
        assert set(reads) | set(ignores) <= {*PARTS, "own"}
        assert not set(reads) & set(ignores)


@pytest.mark.parametrize("part", PARTS_GIVEN)
@pytest.mark.parametrize("solver", [*JOINT_SOLVERS.values()], ids=lambda rule: rule.__name__)
def test_a_solver_refuses_what_it_does_not_read(solver, part):
    adversary = PARTS_GIVEN[part]
    if part not in JointAttack.reads:
        return
    made = solver(rng=1) if solver is PathSampler else solver()
    if part in solver.reads:
        JointAttack(adversary, made)
        return
    for given in (adversary, Averaged([adversary])):
        with pytest.raises(ValueError, match=f"{solver.__name__} does not read the part '{part}'") as error:
            JointAttack(given, made)
    assert all(rule.__name__ in str(error.value) for rule in JOINT_SOLVERS.values() if part in rule.reads)
    assert f"adversary.without('{part}')" in str(error.value)
    JointAttack(adversary.without(part), made)


def test_a_solver_without_a_declaration_reads_no_relations():
    @dataclass(frozen=True)
    class Own:
        exact = False

        def __call__(self, problem):
            return GroupGraph()(problem)

        def forward(self, problem):
            return GroupGraph().forward(problem)

    JointAttack(PARTS_GIVEN["presence"], Own())
    with pytest.raises(ValueError, match="Own does not read the part 'relations'"):
        JointAttack(PARTS_GIVEN["relations"], Own())


def test_draws_of_an_unknown_law_read_nothing_else():
    sampled = SampledKnowledge.__new__(SampledKnowledge)
    with pytest.raises(ValueError, match=r"SampledKnowledge does not read the part 'presence'.*GroupGraph"):
        JointAttack(PARTS_GIVEN["presence"], sampled)


@pytest.mark.parametrize("part", [part for part in PARTS_GIVEN if part not in READS])
@pytest.mark.parametrize(
    "defense", [Anatomy(2), Mondrian(KAnonymity(2)), JSReduce(2, 1, 1)], ids=lambda one: type(one).__name__
)
def test_a_defense_refuses_what_its_prior_does_not_hold(defense, part):
    adversary = PARTS_GIVEN[part]
    for given in (adversary, Averaged([adversary])):
        with pytest.raises(ValueError, match=rf"{type(defense).__name__} does not read the part '{part}'.*without"):
            publish(examples.history(), defense, given, rng=1)


def test_a_defense_that_declares_nothing_is_given_all_that_a_prior_holds():
    def whole(view, prior, past):
        return Grouping(np.zeros(len(view), dtype=int))

    assert len(publish(examples.history(), whole, PARTS_GIVEN["presence"], rng=1))
    with pytest.raises(ValueError, match="whole does not read the part 'relations'"):
        publish(examples.history(), whole, PARTS_GIVEN["relations"], rng=1)


def test_the_help_text_of_the_command_has_the_same_table():
    """A part is in a row of its own, with an x or a - under the name of each attack."""
    parts = {name.removesuffix("Attack").lower(): (reads, ignores) for name, reads, ignores in attack_parts()}
    text = attack_command.__doc__.partition("it refuses the others:\n")[2].split("\n\n")[0].splitlines()
    heading, *rows = text
    assert [row.split()[0] for row in rows] == [*PARTS, "own"]
    for row in rows:
        part = row.split()[0]
        for name in heading.split():
            start = heading.index(name)
            mark = row[start : start + len(name)].strip()
            reads, ignores = parts[name]
            assert mark == ("x" if part in reads else "-" if part in ignores else ""), (part, name)


@dataclass(frozen=True)
class Excludes(Knowledge):
    name = "excludes"

    def step_factor(self, release):  # noqa: ARG002
        return np.zeros((3, 3))


@dataclass(frozen=True)
class Misspelt(Knowledge):
    name = "misspelt"

    def step_factors(self, release):  # noqa: ARG002
        return np.ones((3, 3))


@dataclass(frozen=True)
class NamedPrior(Severity):
    name = "prior"


def test_a_part_that_excludes_everything_is_refused():
    with pytest.raises(ValueError, match=r"Excludes.step_factor: all factors are 0"):
        SequentialAttack(Adversary(UniformPrior(), CHAIN, own=(Excludes(),)))(examples.releases())


@pytest.mark.parametrize(
    ("part", "message"), [(Misspelt(), "overrides none of prior_factor"), (NamedPrior(), "has the name 'prior'")]
)
def test_the_kit_finds_a_part_without_effect_and_a_taken_name(part, message):
    with pytest.raises(AssertionError, match=message):
        check_knowledge(part)


@dataclass(frozen=True)
class AtRelease(Knowledge):
    """Evidence of one release alone, for the first value, about one respondent or all."""

    name = "at a release"
    number: int = 1
    who: str | None = None

    def evidence(self, visits):
        rows = np.ones((len(visits.people), 3))
        about = [self.who in (None, each) for each in visits.people.respondents]
        rows[about, 0] = 5.0 if visits.release == self.number else 1.0
        return rows


def test_each_attack_asks_about_the_number_of_the_release():
    releases = examples.releases()[:2]
    adversary = Adversary(UniformPrior(), own=(AtRelease(),))
    found = SnapshotAttack(adversary)(releases).releases
    other = SequentialAttack(adversary)(releases).releases
    for one, second in zip(found, other, strict=True):
        np.testing.assert_allclose(one.posterior.probabilities, second.posterior.probabilities)


@pytest.mark.parametrize("order", [1, 2])
def test_evidence_about_a_withheld_record_is_kept_where_the_chain_steps(order):
    chain = MarkovChain(order, np.random.default_rng(4).dirichlet(np.ones(3), (3,) * order))
    frame = pd.DataFrame({"id": ["p", "q"], "age": 30, "weight": 50, "result": ["a", "b"]})
    labels = ([0, 0], [-1, -1], [-1, -1])
    releases = [Release(View(frame, examples.SCHEMA, t), label) for t, label in enumerate(labels)]
    adversary = Adversary(UniformPrior(), chain, gaps="power", own=(AtRelease(who="p"),))
    found = SequentialAttack(adversary)(releases)
    for one, other in zip(found, JointAttack(adversary, Enumeration(), hindsight=False)(releases), strict=True):
        # The joint law tells q what is known of p as well.
        np.testing.assert_allclose(one.posterior.probabilities[0], other.posterior.probabilities[0], atol=1e-12)
    without = SequentialAttack(adversary.without("at a release"))(releases)
    assert found.posterior(2).loc["p", "a"] != without.posterior(2).loc["p", "a"]


def test_classes_keep_their_chains():
    unsure = [DirichletChain((np.random.default_rng(seed).uniform(0.5, 3, (3, 3)),)) for seed in (1, 2)]
    transitions = TransitionsByClass(lambda people: (people.quasi_identifiers[:, 0] > 25).astype(int), unsure)

    @dataclass(frozen=True)
    class Flat(Knowledge):
        name = "flat"

        def step_factor(self, release):  # noqa: ARG002
            return np.ones((3, 3))

    releases = examples.releases()
    known = Adversary(UniformPrior(), transitions)
    exact = SequentialAttack(known)(releases)
    for _ in range(5):
        adversary = Adversary(UniformPrior(), transitions, own=(Flat(),))
        for one, other in zip(SequentialAttack(adversary)(releases), exact, strict=True):
            np.testing.assert_allclose(one.posterior.probabilities, other.posterior.probabilities, atol=1e-12)


def test_factors_are_multiplied_before_a_row_is_ruled_out():
    @dataclass(frozen=True)
    class Of(Knowledge):
        factors: tuple = (1.0, 0.0, 0.0)

        name = "of"

        def prior_factor(self, people):
            return np.tile(self.factors, (len(people), 1))

    @dataclass(frozen=True)
    class Rest(Of):
        factors: tuple = (0.0, 1.0, 1.0)

        name = "rest"

    people = examples.releases()[0].observation.people
    one, other = (
        Adversary(UniformPrior(), CHAIN, own=parts).prior_rows(people) for parts in ((Of(), Rest()), (Rest(), Of()))
    )
    np.testing.assert_array_equal(one, other)


def test_a_factor_of_the_steps_needs_transitions():
    with pytest.raises(ValueError, match="'severity' has a factor of the transitions, and there are none"):
        Adversary(UniformPrior(), own=(Severity(),))
    assert Adversary(UniformPrior(), CHAIN, own=(Severity(),)).without("transitions").own == ()
