"""Attacks against one another's definitions, written out in plain Python over all assignments and all paths."""

import dataclasses
import itertools
import math

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import ATTACKS, Influence, LinkingAttack, SequentialAttack, SnapshotAttack
from foreknow.models import (
    ESTIMATORS,
    Adversary,
    Beliefs,
    ExpectationMaximization,
    ExternalKnowledge,
    Grouping,
    Linking,
    MarkovChain,
    PriorCascade,
    Release,
)

PEOPLE = "ABCDEFGH"

LOOKS_BACK = {"retrospective"}
"""Attacks whose beliefs of a release change with later ones."""

ORDER_1 = {"retrospective", "signature"}
"""Attacks that take transitions of order 1 only."""

REFUSES_DISTORTED = {"signature"}
"""Attacks on a defense that distorts no value."""

KNOWS_NOTHING = {"foreground"}
"""Which take no adversary."""


@dataclasses.dataclass(frozen=True)
class ByName:
    """A prior that gives everybody a row of their own, all positive."""

    seed: int

    def row(self, respondent):
        return np.random.default_rng([self.seed, ord(respondent)]).dirichlet(np.ones(3)) * 0.97 + 0.01

    def __call__(self, people):
        return np.array([self.row(respondent) for respondent in people.respondents])


@st.composite
def histories(draw):
    """One to four releases of some of the people, in groups of at most four, some suppressed."""
    releases = []
    for time in range(1, draw(st.integers(1, 4)) + 1):
        ids = draw(st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=8, unique=True))
        results = draw(st.lists(st.sampled_from("abc"), min_size=len(ids), max_size=len(ids)))
        labels = draw(
            st.lists(st.integers(-1, 2), min_size=len(ids), max_size=len(ids)).filter(
                lambda labels: max(labels.count(label) for label in (0, 1, 2)) <= 4
            )
        )
        releases.append(Release(view_of(ids, results, time=time), labels))
    return releases


def chain(order, seed=5):
    rng = np.random.default_rng(seed)
    return MarkovChain(
        order,
        rng.dirichlet(np.ones(3), size=(3,) * order),
        tuple(rng.dirichlet(np.ones(3), size=(3,) * length) for length in range(1, order)),
    )


def posterior(rows, release):
    """Each person's belief after a release, by enumeration; ``rows`` are beliefs before it."""
    after = dict(rows)
    for g in range(release.groups):
        members = [r for r, group in zip(release.view.people.respondents, release.group, strict=True) if group == g]
        belief = oracle.product_posterior([rows[r] for r in members], release.counts[g])
        after.update(zip(members, belief, strict=True))
    return after


class Person:
    """What is remembered of one person, and three ways to look ahead: sums over all sequences, or over all paths so far.

    ``beliefs`` are those after each release the person was in; ``paths`` weighs every path of values so far by the chain
    and by what each release told of its value, posterior over revised prior.
    """

    def __init__(self, transitions, first):
        self.tables, self.m = transitions.tables, transitions.values
        self.beliefs, self.paths = [first], {(s,): p for s, p in enumerate(first)}

    def last(self):
        return self.beliefs[-len(self.tables) :]

    def product(self):
        return oracle.over_paths(self.tables[len(self.last()) - 1], self.last())

    def chain(self):
        revised, past = np.zeros(self.m), self.last()
        for path in itertools.product(range(self.m), repeat=len(past)):
            steps = (self.tables[step - 1][path[: step + 1]] for step in range(1, len(past)))
            revised += past[0][path[0]] * math.prod(steps) * self.tables[len(past) - 1][path]
        return revised

    def longer(self):
        d = min(len(next(iter(self.paths))), len(self.tables))
        table = self.tables[d - 1]
        return {(*path, s): w * table[path[-d:]][s] for path, w in self.paths.items() for s in range(self.m)}

    def filter(self):
        revised = np.zeros(self.m)
        for path, weight in self.longer().items():
            revised[path[-1]] += weight
        return revised / revised.sum()

    def goes_on(self, belief, told):
        self.paths = {path: w * told[path[-1]] for path, w in self.longer().items()}
        self.beliefs = [*self.beliefs, belief]


class TestOracle:
    @pytest.mark.parametrize("revision", ["product", "chain", "filter"])
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    @given(releases=histories(), order=st.integers(1, 3), seed=st.integers(0, 3))
    def test_sequential_by_every_revision_and_over_gaps(self, revision, gaps, releases, order, seed):
        """Groups by enumeration, people by their paths; a gap is a step of the chain, or nothing."""
        transitions, prior = chain(order), ByName(seed)
        beliefs = SequentialAttack(Adversary(prior, transitions, revision=revision, gaps=gaps))(releases)
        remembered = {}
        for release, found in zip(releases, beliefs, strict=True):
            respondents = release.view.people.respondents
            ahead = {r: getattr(person, revision)() for r, person in remembered.items()}
            revised = {r: ahead[r] if r in ahead else prior.row(r) for r in respondents}
            after = posterior(revised, release)
            assert np.allclose(found.revised, [revised[r] for r in respondents])
            assert np.allclose(found.posterior.probabilities, [after[r] for r in respondents])
            published = {r for r, group in zip(respondents, release.group, strict=True) if group >= 0}
            for r in published:
                if r in remembered:
                    remembered[r].goes_on(after[r], after[r] / revised[r])
                else:
                    remembered[r] = Person(transitions, after[r])
            for r in set(ahead) - published:
                if gaps == "power":
                    remembered[r].goes_on(ahead[r], np.ones(3))

    @given(releases=histories(), order=st.integers(1, 3), seed=st.integers(0, 3))
    def test_sequential_is_algorithms_1_to_3_over_all_assignments_and_paths(self, releases, order, seed):
        transitions, prior = chain(order), ByName(seed)
        beliefs = SequentialAttack(Adversary(prior, transitions, revision="product"))(releases)
        past = {}
        for release, found in zip(releases, beliefs, strict=True):
            respondents = release.view.people.respondents
            revised = {}
            for r in respondents:
                known = past.get(r, [])[-order:]
                revised[r] = oracle.over_paths(transitions.tables[len(known) - 1], known) if known else prior.row(r)
            after = posterior(revised, release)
            assert np.allclose(found.prior, [prior.row(r) for r in respondents])
            assert np.allclose(found.revised, [revised[r] for r in respondents])
            assert np.allclose(found.posterior.probabilities, [after[r] for r in respondents])
            for r, group in zip(respondents, release.group, strict=True):
                if group >= 0:
                    past.setdefault(r, []).append(after[r])

    @given(releases=histories(), seed=st.integers(0, 3))
    def test_snapshot_forgets_every_release(self, releases, seed):
        prior = ByName(seed)
        beliefs = SnapshotAttack(Adversary(prior, chain(1)))(releases)
        for release, found in zip(releases, beliefs, strict=True):
            before = {r: prior.row(r) for r in release.view.people.respondents}
            assert np.allclose(found.revised, list(before.values()))
            assert np.allclose(found.posterior.probabilities, list(posterior(before, release).values()))


RELEASES = (
    ("ABCDE", "abcab", [0, 0, 0, 1, 1]),
    ("ABDFG", "bbcaa", [1, 0, 0, 1, -1]),
    ("ABCFG", "cbaab", [2, 0, 2, 0, 2]),
)
"""No group shows a value twice, as the attack on m-invariance needs it."""


def released(records=RELEASES):
    return tuple(Release(view_of(ids, results, time=t), labels) for t, (ids, results, labels) in enumerate(records, 1))


def permuted_within_groups(rng):
    """The same releases of another truth: values exchanged within groups; suppressed people's redrawn."""
    for ids, results, labels in RELEASES:
        results, labels = np.array(list(results)), np.array(labels)
        for label in set(labels.tolist()) - {-1}:
            results[labels == label] = rng.permutation(results[labels == label])
        results[labels == -1] = rng.choice(list("abc"), size=(labels == -1).sum())
        yield ids, results, labels


@pytest.mark.parametrize("name", ATTACKS)
class TestConformance:
    def attack(self, name, estimator="exact"):
        rule = ESTIMATORS[estimator]()
        if name in KNOWS_NOTHING:  # Rules that only approximate need not converge.
            return ATTACKS[name](support=1, estimator=rule, fit=ExpectationMaximization(iterations=3))
        transitions = chain(1 if name in ORDER_1 else 2)
        return ATTACKS[name](Adversary(ByName(1), transitions, estimator=rule))

    def test_is_a_frozen_settings_object(self, name):
        attack = self.attack(name)
        settings = {field.name: getattr(attack, field.name) for field in dataclasses.fields(attack)}
        assert attack == ATTACKS[name](**settings)
        for setting in settings:
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(attack, setting, None)

    def test_gives_beliefs_about_every_release(self, name):
        beliefs = self.attack(name)(released())
        assert isinstance(beliefs, Beliefs)
        assert beliefs.times == (1, 2, 3)
        for release, found in zip(released(), beliefs, strict=True):
            assert np.array_equal(found.observation.people.respondents, release.view.people.respondents)
            for stage in ("prior", "revised", "posterior"):
                assert found.at(stage).shape == (len(release.view), 3)
                assert np.allclose(found.at(stage).sum(axis=1), 1)

    def test_the_first_release_is_met_with_the_prior(self, name):
        first = self.attack(name)(released()).releases[0]
        assert np.allclose(first.revised, first.prior)

    def test_later_releases_change_nothing_earlier_unless_it_looks_back(self, name):
        whole, part = self.attack(name)(released()), self.attack(name)(released()[:2])
        for time in part.times:
            assert whole.revised(time).equals(part.revised(time))
        assert all(whole.posterior(time).equals(part.posterior(time)) for time in part.times) == (
            name not in LOOKS_BACK
        )

    def test_it_takes_any_iterable_and_is_a_function(self, name):
        attack = self.attack(name)
        first, second = attack(iter(released())), attack(list(released()))
        assert all(first.posterior(time).equals(second.posterior(time)) for time in first.times)

    def test_no_release_no_beliefs(self, name):
        assert len(self.attack(name)([])) == 0

    @pytest.mark.parametrize("estimator", ESTIMATORS)
    @pytest.mark.parametrize("seed", range(5))
    def test_who_in_a_group_truly_has_what_changes_no_belief(self, name, estimator, seed):
        changed = list(permuted_within_groups(np.random.default_rng(seed)))
        before, after = (self.attack(name, estimator)(released(records)) for records in (RELEASES, changed))
        for expected, found in zip(before, after, strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert np.array_equal(expected.at(stage), found.at(stage))

    @pytest.mark.parametrize("seed", range(5))
    def test_who_is_published_with_another_value_changes_no_belief(self, name, seed):
        """Records, with what they are published with, change places in their groups; two values and a group are distorted."""
        rng, changed = np.random.default_rng(seed), []
        for t, (ids, results, labels) in enumerate(RELEASES, 1):
            true, labels = np.array(list(results)), np.array(labels)
            shown = np.array(["abc".index(value) for value in true])
            shown[[0, 3]] = (shown[[0, 3]] + 1) % 3
            both = []
            for turned in (False, True):
                order = np.arange(len(true))
                for label in set(labels.tolist()) - {-1} if turned else ():
                    order[labels == label] = rng.permutation(order[labels == label])
                both.append(Release(view_of(ids, true[order], time=t), Grouping(labels, values=shown[order])))
            changed.append(both)
        assert all(before.observation.distorted for before, _ in changed)
        if name in REFUSES_DISTORTED:
            with pytest.raises(ValueError, match="of m-invariance"):
                self.attack(name)([before for before, _ in changed])
            return
        before, after = (self.attack(name)(releases) for releases in zip(*changed, strict=True))
        for expected, found in zip(before, after, strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert np.array_equal(expected.at(stage), found.at(stage))

    @pytest.mark.parametrize("seed", range(5))
    def test_which_values_are_invented_changes_no_belief(self, name, seed):
        """A group shows one value more than it has people; the invented one is the last, or the first."""
        rng, changed = np.random.default_rng(seed), []
        for time in (1, 2):
            group = np.array([0, 0, 1, 1])
            shown = [rng.permutation(3), rng.permutation(3)]
            both = []
            for turned in (1, -1):
                values = [v[::turned] for v in shown]
                results = ["abc"[v] for g in (0, 1) for v in values[g][:2]]
                invented = np.array([[g, values[g][2]] for g in (0, 1)])
                both.append(Release(view_of("ABCD", results, time=time), Grouping(group, counterfeits=invented)))
            changed.append(both)
        before, after = (self.attack(name)(releases) for releases in zip(*changed, strict=True))
        for expected, found in zip(before, after, strict=True):
            assert np.array_equal(expected.at("posterior"), found.at("posterior"))

    def test_it_reads_nothing_but_observations(self, name):
        """An attack on objects that only have an observation."""

        @dataclasses.dataclass(frozen=True)
        class OnlySeen:
            observation: object

        beliefs = self.attack(name)([OnlySeen(release.observation) for release in released()])
        expected = self.attack(name)(released())
        assert all(beliefs.posterior(time).equals(expected.posterior(time)) for time in expected.times)

    def test_releases_out_of_the_order_of_time_are_one_clear_error(self, name):
        with pytest.raises(ValueError, match="time 2 comes after time 3"):
            self.attack(name)(released()[::-1])


CALLS = {
    **{
        name: ATTACKS[name](support=1) if name in KNOWS_NOTHING else ATTACKS[name](Adversary(ByName(1), chain(1)))
        for name in ATTACKS
    },
    "linking": LinkingAttack(Linking(ExternalKnowledge({"flu": ["a", "b"]}), "result")),
    "influence": lambda releases: Influence(Adversary(ByName(1), chain(1), cascade=PriorCascade()))(
        releases, "A", "a", 1
    ),
}


@pytest.mark.parametrize("attack", CALLS.values(), ids=CALLS)
class TestWhatIsAttacked:
    def test_one_release_is_one_clear_error(self, attack):
        with pytest.raises(
            TypeError, match=r"(Attack|Influence) takes releases.*, and got one Release; put it into a list"
        ):
            attack(released()[0])

    @pytest.mark.parametrize("wrong", [[view_of("AB", "ab")], [None], ["release"]])
    def test_what_is_no_release_is_one_clear_error(self, attack, wrong):
        with pytest.raises(TypeError, match=r"(takes releases, and got a|View is no|NoneType is no|str is no)"):
            attack(wrong)


@pytest.mark.parametrize("wrong", [None, 3])
@pytest.mark.parametrize("name", sorted(set(ATTACKS) - KNOWS_NOTHING))
def test_what_holds_no_releases_is_one_clear_error(name, wrong):
    with pytest.raises(
        TypeError, match=rf"Attack takes releases in the order of time, and got a {type(wrong).__name__}"
    ):
        CALLS[name](wrong)


def test_the_permuted_truths_differ():
    """Otherwise the test above would show nothing."""
    changed = [list(permuted_within_groups(np.random.default_rng(seed))) for seed in range(5)]
    assert any(
        "".join(r) != old for records in changed for (_, r, _), (_, old, _) in zip(records, RELEASES, strict=True)
    )


def test_one_person_s_belief_does_not_depend_on_who_else_is_listed_first():
    attack = SequentialAttack(Adversary(ByName(1), chain(1)))
    turned = tuple((ids[::-1], results[::-1], labels[::-1]) for ids, results, labels in RELEASES)
    before, after = attack(released()), attack(released(turned))
    for time in before.times:
        assert np.allclose(after.posterior(time).loc[before.posterior(time).index], before.posterior(time))
