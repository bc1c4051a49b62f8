"""All attacks: conformance, and their definitions in plain Python over all assignments and all paths."""

import dataclasses
import itertools
import math

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import (
    ATTACKS,
    CompositionAttack,
    ConditionalProbability,
    DeFinettiAttack,
    ForegroundAttack,
    Influence,
    LinkingAttack,
    MinimalityAttack,
    PrivacyMaxEntAttack,
    SequentialAttack,
    SnapshotAttack,
)
from foreknow.models import (
    ESTIMATORS,
    Adversary,
    Auto,
    ExpectationMaximization,
    ExternalKnowledge,
    Linking,
    MarkovChain,
    PriorCascade,
    Release,
)
from foreknow.testing import check_attack, examples

PEOPLE = "ABCDEFGH"

LOOKS_BACK = {"joint", "retrospective"}
"""Attacks whose beliefs of a release change with later ones."""

ORDER_1 = {"retrospective", "signature"}
"""Attacks that take transitions of order 1 only."""

REFUSES_DISTORTED = {"signature"}
"""Attacks on a defense that distorts no value."""

WITHOUT_ADVERSARY = {
    # Rules that only approximate need not converge.
    "foreground": lambda rule: ForegroundAttack(support=1, estimator=rule, fit=ExpectationMaximization(iterations=3)),
    "definetti": lambda rule: DeFinettiAttack(estimator=rule, rounds=3),
    "composition": lambda _: CompositionAttack(),
    "maxent": lambda _: PrivacyMaxEntAttack([ConditionalProbability("a", {}, 0.2, 0.3)]),
    "minimality": lambda _: MinimalityAttack(2),
}
"""Attacks that take no adversary, made with an estimator, which some do not read."""


@dataclasses.dataclass(frozen=True)
class ByName:
    """Prior in which every respondent has a positive row."""

    seed: int

    def row(self, respondent):
        return np.random.default_rng([self.seed, ord(respondent)]).dirichlet(np.ones(3)) * 0.97 + 0.01

    def __call__(self, people):
        return np.array([self.row(respondent) for respondent in people.respondents])


@st.composite
def histories(draw):
    """One to four releases of some respondents, in groups of at most four, some suppressed."""
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
    """Belief about each respondent after a release, by enumeration; ``rows`` are beliefs before it."""
    after = dict(rows)
    for g in range(release.groups):
        members = [r for r, group in zip(release.view.people.respondents, release.group, strict=True) if group == g]
        belief = oracle.product_posterior([rows[r] for r in members], release.counts[g])
        after.update(zip(members, belief, strict=True))
    return after


class Person:
    """Memory of one respondent, and three revisions: sums over all sequences, or over all paths so far.

    ``beliefs`` are those after each release the person was in; ``paths`` weighs every path of values so far by the chain
    and by the evidence of each release on its value, posterior over revised prior.
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
        """Groups by enumeration, respondents by their paths; a gap is a step of the chain, or none."""
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
    """The same releases with other true values: exchanged within groups, and redrawn for suppressed records."""
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
        if name in WITHOUT_ADVERSARY:
            return WITHOUT_ADVERSARY[name](rule)
        transitions = chain(1 if name in ORDER_1 else 2)
        return ATTACKS[name](Adversary(ByName(1), transitions, estimator=rule))

    def attack_of_examples(self, name):
        """The attack by the adversary of the kit, with transitions of order 1."""
        return self.attack(name) if name in WITHOUT_ADVERSARY else ATTACKS[name](examples.adversary())

    def test_passes_the_kit(self, name):
        """With transitions of order 2 where the attack takes them."""

        def make(adversary):
            if name in WITHOUT_ADVERSARY:
                return self.attack(name)
            order = 1 if name in ORDER_1 else 2
            return ATTACKS[name](dataclasses.replace(adversary, transitions=chain(order)))

        check_attack(make, hindsight=name in LOOKS_BACK)

    def test_later_releases_change_earlier_beliefs_where_it_looks_back(self, name):
        whole, part = self.attack(name)(released()), self.attack(name)(released()[:2])
        assert all(whole.revised(time).equals(part.revised(time)) for time in part.times)
        unchanged = all(whole.posterior(time).equals(part.posterior(time)) for time in part.times)
        assert unchanged == (name not in LOOKS_BACK)

    def test_beliefs_about_respondents_who_come_and_go(self, name):
        """The kit's releases are of the same respondents."""
        beliefs = self.attack(name)(released())
        assert beliefs.times == (1, 2, 3)
        for release, found in zip(released(), beliefs, strict=True):
            assert np.array_equal(found.observation.people.respondents, release.view.people.respondents)
            for stage in ("prior", "revised", "posterior"):
                assert found.beliefs(stage).shape == (len(release.view), 3)
                assert np.allclose(found.beliefs(stage).sum(axis=1), 1)

    @pytest.mark.parametrize("estimator", ESTIMATORS)
    @pytest.mark.parametrize("seed", range(5))
    def test_true_values_exchanged_within_groups_change_no_belief(self, name, estimator, seed):
        changed = list(permuted_within_groups(np.random.default_rng(seed)))
        before, after = (self.attack(name, estimator)(released(records)) for records in (RELEASES, changed))
        for expected, found in zip(before, after, strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert np.array_equal(expected.beliefs(stage), found.beliefs(stage))

    def test_distorted_values_are_refused_by_name_or_answered(self, name):
        """The kit checks that their places change no belief, and accepts any refusal."""
        releases, _ = examples.distorted_releases()
        assert all(release.observation.distorted for release in releases)
        attack = self.attack_of_examples(name)
        if name in REFUSES_DISTORTED:
            with pytest.raises(ValueError, match="of m-invariance"):
                attack(releases)
        else:
            assert attack(releases).times == (1, 2, 3)

    def test_counterfeits_are_answered(self, name):
        releases, _ = examples.counterfeit_releases()
        assert self.attack_of_examples(name)(releases).times == (1, 2)

    def test_releases_out_of_order_are_refused(self, name):
        with pytest.raises(ValueError, match="time 2 comes after time 3"):
            self.attack(name)(released()[::-1])


CALLS = {
    **{
        name: WITHOUT_ADVERSARY[name](Auto())
        if name in WITHOUT_ADVERSARY
        else ATTACKS[name](Adversary(ByName(1), chain(1)))
        for name in ATTACKS
    },
    "linking": LinkingAttack(Linking(ExternalKnowledge({"flu": ["a", "b"]}), "result")),
    "influence": lambda releases: Influence(Adversary(ByName(1), chain(1), cascade=PriorCascade()))(
        releases, "A", "a", 1
    ),
}


@pytest.mark.parametrize("attack", CALLS.values(), ids=CALLS)
class TestWhatIsAttacked:
    def test_one_release_is_refused(self, attack):
        with pytest.raises(TypeError, match=r"takes a list of releases.* got a Release|it is a list of ItemReleases"):
            attack(released()[0])

    @pytest.mark.parametrize("wrong", [[view_of("AB", "ab")], [None], ["release"]])
    def test_another_element_is_refused(self, attack, wrong):
        with pytest.raises(TypeError, match=r"(takes a list of releases|one of the releases is)"):
            attack(wrong)


@pytest.mark.parametrize("wrong", [None, 3])
@pytest.mark.parametrize("name", ATTACKS)
def test_no_list_of_releases_is_refused(name, wrong):
    with pytest.raises(
        TypeError, match=rf"Attack takes a list of releases in the order of time, and got a {type(wrong).__name__}"
    ):
        CALLS[name](wrong)


VARIANTS = (
    DeFinettiAttack("hard"),
    pytest.param(DeFinettiAttack(learned_from="past"), marks=pytest.mark.slow),
    CompositionAttack("product"),
    CompositionAttack("product", "table"),
    MinimalityAttack(2, {"a"}, rule="classes"),
    PrivacyMaxEntAttack([ConditionalProbability("a", {"age": (0, 25)}, 0.4), ConditionalProbability("b", {}, 0, 0.3)]),
)


@pytest.mark.parametrize("attack", VARIANTS, ids=repr)
def test_other_settings_pass_the_kit(attack):
    check_attack(lambda _: attack)


def test_the_permuted_truths_differ():
    """A condition of the test of true values above."""
    changed = [list(permuted_within_groups(np.random.default_rng(seed))) for seed in range(5)]
    assert any(
        "".join(r) != old for records in changed for (_, r, _), (_, old, _) in zip(records, RELEASES, strict=True)
    )


def test_beliefs_do_not_depend_on_the_order_of_records():
    attack = SequentialAttack(Adversary(ByName(1), chain(1)))
    turned = tuple((ids[::-1], results[::-1], labels[::-1]) for ids, results, labels in RELEASES)
    before, after = attack(released()), attack(released(turned))
    for time in before.times:
        assert np.allclose(after.posterior(time).loc[before.posterior(time).index], before.posterior(time))
