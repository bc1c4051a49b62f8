"""Transitions by class of respondent: counts by hand, attacks against separate attacks and against enumeration of all paths."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import Influence, JointAttack, RetrospectiveAttack, SequentialAttack, SignatureAttack
from foreknow.defenses import JSimilarity, JSReduce, publish
from foreknow.evaluation import verify
from foreknow.models import (
    Adversary,
    Categorical,
    ChainByRelease,
    Enumeration,
    Exact,
    History,
    MarkovChain,
    MaxEntropy,
    Memory,
    Numeric,
    PriorCascade,
    Release,
    Schema,
    TransitionsByClass,
    UniformPrior,
    View,
)
from foreknow.models.knowledge.personal_transitions import PersonalTransitions

SCHEMA = Schema({"age": Numeric(0, 99), "sex": Categorical(("f", "m"))}, "result", ("a", "b", "c"), "id")
RNG = np.random.default_rng(4)
SEXES = {"sex": (0.5,)}


def chain(order=1, m=3):
    return MarkovChain(order, RNG.dirichlet(np.ones(m), size=(m,) * order))


def view(time, rows):
    """A view of rows (id, age, sex, result)."""
    return View(pd.DataFrame(rows, columns=["id", "age", "sex", "result"]), SCHEMA, time)


def random_history(views=3, people=8, absent=0.25, rng=RNG):
    """Respondents of both sexes, one year older at each view, who miss some views."""
    ages = rng.integers(28, 32, people)
    present = rng.random((views, people)) > absent
    present[:, :2] = present[0] = True
    rows = [
        [(i, int(ages[i]) + t, "fm"[i % 2], "abc"[rng.integers(3)]) for i in range(people) if present[t, i]]
        for t in range(views)
    ]
    return History([view(t, part) for t, part in enumerate(rows)])


def released(history, labels=None):
    """Releases in groups of two of one sex, or in groups by a function of a view."""
    of_sex = lambda view: 10 * view.people.quasi_identifiers[:, 1].astype(int) + _within(view) // 2  # noqa: E731
    return [Release(view, (labels or of_sex)(view)) for view in history]


def _within(view):
    sex = view.people.quasi_identifiers[:, 1]
    return np.array([(sex[:row] == sex[row]).sum() for row in range(len(view))])


class TestFit:
    def test_a_class_that_never_changes_is_fit_alone(self):
        history = random_history(5, 20)
        fitted = TransitionsByClass.fit(history, {"sex": None}, order=2, pseudo_count=0.5)
        assert fitted.classes == {"sex": (0.5,)}
        for sex, chain in enumerate(fitted.chains):
            alone = MarkovChain.fit(history.of([i for i in range(20) if i % 2 == sex]), order=2, pseudo_count=0.5)
            for ours, theirs in zip(chain.tables, alone.tables, strict=True):
                assert np.allclose(ours, theirs)

    def test_a_transition_counts_in_the_class_at_its_later_record(self):
        history = History([view(1, [(1, 20, "f", "a")]), view(2, [(1, 60, "f", "b")]), view(3, [(1, 70, "f", "c")])])
        young, old = TransitionsByClass.fit(history, {"age": 2}, pseudo_count=1.0).chains
        assert np.allclose(young.probabilities, 1 / 3)
        assert np.allclose(old.probabilities, [[0.25, 0.5, 0.25], [0.25, 0.25, 0.5], [1 / 3] * 3])

    def test_shrinkage_leads_to_the_pooled_rows(self):
        history = random_history(5, 20)
        pooled = MarkovChain.fit(history)
        weak, strong = (TransitionsByClass.fit(history, {"sex": None}, shrinkage=s) for s in (2.0, 1e9))
        assert all(np.allclose(chain.probabilities, pooled.probabilities) for chain in strong.chains)
        women = MarkovChain.fit(history.of(range(0, 20, 2)))
        counts = np.zeros((3, 3))
        for i in range(0, 20, 2):
            values = [view.sensitive[view.people.rows(i)[0]] for view in history if view.people.rows(i)]
            np.add.at(counts, (values[:-1], values[1:]), 1)
        rows = (counts + 2 * pooled.probabilities) / (counts.sum(axis=1, keepdims=True) + 2)
        assert np.allclose(weak.chains[0].probabilities, rows)
        assert not np.allclose(rows, women.probabilities)

    def test_a_class_without_records_has_the_pooled_rows(self):
        history = history_of(("AB", "ab"), ("AB", "ba"))
        fitted = TransitionsByClass.fit(history, {next(iter(history.schema.quasi_identifiers)): 40})
        pooled = MarkovChain.fit(history).probabilities
        assert sum(np.allclose(chain.probabilities, pooled) for chain in fitted.chains) >= 38


SETTINGS = [
    (1, "filter", "ignore"),
    (1, "filter", "power"),
    (2, "filter", "ignore"),
    (2, "filter", "power"),
    (2, "product", "power"),
    (2, "chain", "ignore"),
]


def adversaries(order, **settings):
    """The adversary with a chain for each sex, and the two with one of the chains."""
    chains = (chain(order), chain(order))
    prior = UniformPrior()
    both = Adversary(prior, TransitionsByClass(SEXES, chains), estimator=Exact(), **settings)
    return both, [Adversary(prior, each, estimator=Exact(), **settings) for each in chains]


def assert_split_attacks_agree(attack, order, **settings):
    """Assert that the attack on all equals the attacks on each sex; no group mixes them."""
    history = random_history(4, 10, rng=np.random.default_rng(order))
    both, alone = adversaries(order, **settings)
    beliefs = attack(both)(released(history))
    for sex, adversary in enumerate(alone):
        part = history.of([i for i in range(10) if i % 2 == sex])
        found = attack(adversary)(released(part))
        for time in found.times:
            for stage in ("revised", "posterior"):
                ours, theirs = getattr(beliefs, stage)(time), getattr(found, stage)(time)
                assert np.allclose(ours.loc[theirs.index], theirs, atol=1e-9)


class TestSplit:
    @pytest.mark.parametrize(("order", "revision", "gaps"), SETTINGS)
    def test_the_sequential_attack(self, order, revision, gaps):
        assert_split_attacks_agree(SequentialAttack, order, revision=revision, gaps=gaps)

    @pytest.mark.parametrize(("order", "gaps"), [(1, "ignore"), (1, "power"), (2, "ignore"), (2, "power")])
    @pytest.mark.parametrize("hindsight", [False, True])
    def test_the_joint_attack(self, order, gaps, hindsight):
        attack = lambda adversary: JointAttack(adversary, Enumeration(), hindsight=hindsight)  # noqa: E731
        assert_split_attacks_agree(attack, order, gaps=gaps)

    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_the_maximum_entropy_of_the_joint_law(self, gaps):
        attack = lambda adversary: JointAttack(adversary, MaxEntropy(tolerance=1e-12))  # noqa: E731
        assert_split_attacks_agree(attack, 2, gaps=gaps)

    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_the_retrospective_attack(self, gaps):
        assert_split_attacks_agree(RetrospectiveAttack, 1, gaps=gaps)


def by_age(people):
    """Class of a respondent: one of three, by age; not by cuts."""
    return (people.quasi_identifiers[:, 0].astype(np.int64) // 2) % 3


def all_paths(releases, transitions, gaps):
    """Posterior of each respondent at each release, by enumeration of the values of all respondents at all releases.

    A respondent who misses a release steps with ``gaps="power"`` by the class last seen.
    """
    records = [(t, i) for t, release in enumerate(releases) for i in range(len(release.observation.people))]
    own = [by_age(release.observation.people) for release in releases]
    total = {record: np.zeros(3) for record in records}
    of_release = [list(_assignments(release.observation)) for release in releases]
    for assignment in itertools.product(*of_release):
        weight, last = 1.0, {}
        for t, release in enumerate(releases):
            for row, name in enumerate(release.observation.people.respondents):
                value, now = assignment[t][row], own[t][row]
                if name not in last:
                    weight /= 3
                else:
                    start, before, previous = last[name]
                    step = np.eye(3)
                    for middle in range(start + 1, t) if gaps == "power" else ():
                        step = step @ transitions.chains_at(middle)[previous].probabilities
                    weight *= (step @ transitions.chains_at(t)[now].probabilities)[before, value]
                last[name] = (t, value, now)
        for t, i in records:
            total[t, i][assignment[t][i]] += weight
    return {record: weights / weights.sum() for record, weights in total.items()}


def _assignments(seen):
    """All values of the respondents of a release that have the published multisets."""
    options = []
    for group, counts in enumerate(seen.counts):
        shown = [value for value, count in enumerate(counts) for _ in range(count)]
        rows = np.flatnonzero(seen.group == group)
        options.append([dict(zip(rows, values, strict=True)) for values in set(itertools.permutations(shown))])
    for chosen in itertools.product(*options):
        merged = {row: value for part in chosen for row, value in part.items()}
        yield [merged[row] for row in range(len(seen.people))]


class TestMixedGroups:
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    @pytest.mark.parametrize("seed", range(4))
    def test_the_joint_attack_equals_the_sum_over_all_paths(self, gaps, seed):
        rng = np.random.default_rng(seed)
        history = random_history(4, 4, absent=0.35, rng=rng)
        releases = released(history, lambda view: rng.integers(2, size=len(view)))
        personal = TransitionsByClass(by_age, (chain(), ChainByRelease((chain(), chain(), chain()), chain()), chain()))
        adversary = Adversary(UniformPrior(), personal, gaps=gaps)
        expected = all_paths(releases, personal, gaps)
        beliefs = JointAttack(adversary, Enumeration())(releases)
        for (t, row), row_belief in expected.items():
            assert np.allclose(beliefs.releases[t].posterior.probabilities[row], row_belief)


class TestConformance:
    """One chain for all classes is the ordinary chain."""

    def both(self, order=1, **settings):
        same = chain(order)
        personal = TransitionsByClass(by_age, (same, same, same))
        return [Adversary(UniformPrior(), each, estimator=Exact(), **settings) for each in (personal, same)]

    @pytest.mark.parametrize(
        "attack", [SequentialAttack, RetrospectiveAttack, lambda each: JointAttack(each, Enumeration())]
    )
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_attacks(self, attack, gaps):
        history = random_history(4, 9, rng=np.random.default_rng(3))
        releases = released(history, lambda view: np.arange(len(view)) // 3)
        ours, theirs = (attack(each)(releases) for each in self.both(gaps=gaps))
        for one, other in zip(ours, theirs, strict=True):
            assert np.allclose(one.posterior.probabilities, other.posterior.probabilities)
            assert np.allclose(one.revised, other.revised)

    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_the_signature_attack(self, gaps):
        values = ["ab", "ab", "ba"]
        history = History([view(t, [(i, 30 + t, "f", v) for i, v in enumerate(row)]) for t, row in enumerate(values)])
        releases = [Release(view, [0, 0]) for view in history]
        ours, theirs = (SignatureAttack(each)(releases) for each in self.both(gaps=gaps))
        for one, other in zip(ours, theirs, strict=True):
            assert np.allclose(one.posterior.probabilities, other.posterior.probabilities)

    def test_influence(self):
        history = random_history(3, 6, rng=np.random.default_rng(3))
        releases = released(history, lambda view: np.arange(len(view)) // 3)
        value = SCHEMA.values[history[0].sensitive[0]]
        ours, theirs = (Influence(each)(releases, 0, value, 0, 0.9) for each in self.both(cascade=PriorCascade()))
        assert {*ours.nodes} == {*theirs.nodes}
        assert {*ours.edges} == {*theirs.edges}

    def test_a_defense_of_beliefs_with_equal_chains(self):
        history = random_history(3, 24, absent=0.0, rng=np.random.default_rng(3))
        ours, theirs = (publish(history, JSReduce(2, 0.9, 0.6), each, rng=1) for each in self.both())
        assert all(np.array_equal(one.group, other.group) for one, other in zip(ours, theirs, strict=True))

    def test_a_defense_bounds_the_divergence_under_the_chain_of_each_class(self):
        """Priors by the attack, which equals enumeration; groups against one of the chains break the bound."""
        history = random_history(3, 24, absent=0.0, rng=np.random.default_rng(3))
        stay, step = (MarkovChain(1, np.roll(np.full((3, 3), 0.05) + 0.85 * np.eye(3), by, axis=1)) for by in (0, 1))
        prior = lambda people: (0.85 * np.eye(3) + 0.05)[np.array(people.respondents, dtype=int) // 2 % 3]  # noqa: E731
        personal = Adversary(prior, TransitionsByClass(SEXES, (stay, step)), estimator=Exact())
        largest = []
        for assumed in (personal, Adversary(prior, stay, estimator=Exact())):
            releases = publish(history, JSReduce(2, 1.0, 0.3, patience=24), assumed, rng=1)
            found = zip(releases, SequentialAttack(personal)(releases), strict=True)
            levels = [verify(release, JSimilarity(0.3), one.revised)["level"] for release, one in found]
            largest.append(pd.concat(levels).max())
        assert largest[0] <= 0.3 + 1e-9 < largest[1] - 0.2


def test_signatures_weigh_the_step_of_the_own_class():
    """Classes with values of their own are attacked as if alone."""
    values = [("ab", "cd"), ("ab", "cd"), ("ba", "dc")]
    schema = Schema({"sex": Categorical(("f", "m"))}, "result", tuple("abcd"), "id")

    def history(rows):
        frames = [
            pd.DataFrame(
                [(f"{s}{i}", "fm"[s], v) for s, part in row for i, v in enumerate(part)],
                columns=["id", "sex", "result"],
            )
            for row in rows
        ]
        return [View(frame, schema, t) for t, frame in enumerate(frames)]

    def blocks(first, second):
        table = np.zeros((4, 4))
        table[:2, :2], table[2:, 2:] = first, second
        return MarkovChain(1, table)

    half, sure, likely = np.full((2, 2), 0.5), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.3, 0.7], [0.6, 0.4]])
    personal = TransitionsByClass(SEXES, (blocks(sure, half), blocks(half, likely)))

    class ByOwnValues:
        def __call__(self, people):
            rows = np.array([[0.6, 0.4, 0, 0], [0, 0, 0.7, 0.3]])
            first = np.array([name[1] == "0" for name in people.respondents])
            chosen = rows[people.quasi_identifiers[:, 0].astype(int)]
            return np.where(first[:, None], chosen, np.where(chosen > 0, 0.5, 0.0))

    beliefs = SignatureAttack(Adversary(ByOwnValues(), personal, estimator=Exact()))(
        [Release(view, [0, 0, 1, 1]) for view in history([[(0, a), (1, b)] for a, b in values])]
    )
    for sex in (0, 1):
        alone = SignatureAttack(Adversary(ByOwnValues(), personal.chains[sex], estimator=Exact()))(
            [Release(view, [0, 0]) for view in history([[(sex, row[sex])] for row in values])]
        )
        for t in range(3):
            mine = alone.posterior(t)
            assert np.allclose(beliefs.posterior(t).loc[mine.index], mine, atol=1e-6)


class TestSteps:
    YOUNG, OLD = chain(), chain()
    PERSONAL = TransitionsByClass({"age": (40.0,)}, (YOUNG, OLD))

    def revised(self, gaps, second=((2, 20, "f", "a"),)):
        adversary = Adversary(UniformPrior(), self.PERSONAL, gaps=gaps, estimator=Exact())
        _, memory = adversary.observe(
            Memory(), Release(view(1, [(1, 30, "f", "b"), (2, 30, "f", "a")]), [0, 1]).observation
        )
        _, memory = adversary.observe(memory, Release(view(2, second), range(len(second))).observation)
        return adversary.revise(memory, view(3, [(1, 60, "f", "a")]).people)[0]

    def test_the_last_step_is_by_the_class_at_its_release(self):
        assert np.allclose(self.revised("ignore"), self.OLD.probabilities[1])

    def test_an_absent_respondent_steps_by_the_class_last_seen(self):
        assert np.allclose(self.revised("power"), (self.YOUNG.probabilities @ self.OLD.probabilities)[1])

    def test_a_suppressed_respondent_steps_by_the_class_of_the_release(self):
        adversary = Adversary(UniformPrior(), self.PERSONAL, gaps="power", estimator=Exact())
        first = Release(view(1, [(1, 30, "f", "b"), (2, 30, "f", "a")]), [0, 1])
        second = Release(view(2, [(1, 50, "f", "b"), (2, 30, "f", "a")]), [-1, 0])
        third = Release(view(3, [(1, 60, "f", "a"), (2, 30, "f", "a")]), [0, 0])
        expected = (self.OLD.probabilities @ self.OLD.probabilities)[1]
        assert np.allclose(SequentialAttack(adversary)([first, second, third]).revised(3).loc[1], expected)
        joint = JointAttack(adversary, Enumeration(), hindsight=False)([first, second, third])
        assert np.allclose(joint.revised(3).loc[1], expected)


def constant(result):
    return lambda _: result


class TestFaults:
    TWO = (chain(), chain())

    def test_it_is_the_interface(self):
        personal = TransitionsByClass(SEXES, self.TWO)
        assert isinstance(personal, PersonalTransitions)
        assert not isinstance(self.TWO[0], PersonalTransitions)
        assert personal.truncate(1).chains[1].order == 1

    def test_no_chain_holds_for_all(self):
        with pytest.raises(TypeError, match=re.escape("Read chains_at(release) and class_of(people)")):
            TransitionsByClass(SEXES, self.TWO).at(3)

    @pytest.mark.parametrize(
        ("classes", "chains", "error", "message"),
        [
            (3, TWO, TypeError, "classes is 3; it maps each attribute to increasing cuts"),
            (SEXES, TWO[0], TypeError, "it is a tuple of chains, one per class"),
            (SEXES, (TWO[0], 1), TypeError, "chain 1 is 1; it is a MarkovChain"),
            (SEXES, TWO[:1], ValueError, "the cuts make (2,) classes, and there are 1 chains"),
            (SEXES, (), ValueError, "the chains are absent"),
            (by_age, (), ValueError, "the chains are absent"),
            (
                by_age,
                (TWO[0], chain(2)),
                ValueError,
                "the chains are of order 1 over 3 values, of order 2 over 3 values",
            ),
            ({"sex": (1.0, 0.0)}, TWO, ValueError, "the cuts of 'sex' are"),
            ({"sex": None}, TWO, ValueError, "the cuts of 'sex' are None; they are increasing numbers"),
            ({"age": 3}, TWO, ValueError, "the cuts of 'age' are 3; they are increasing numbers"),
        ],
    )
    def test_wrong_settings(self, classes, chains, error, message):
        with pytest.raises(error, match=re.escape(message)):
            TransitionsByClass(classes, chains)

    @pytest.mark.parametrize(
        ("result", "error", "message"),
        [
            (["a", "b"], TypeError, "the result of class_of(people) must be an array of integers, one class of 0 to 1"),
            (np.array([0.5, 1.0]), ValueError, "class_of(people) must be integers"),
            (np.array([0]), ValueError, "got shape (1,)"),
            (np.array([0, 2]), ValueError, "has classes from 0 to 2; each is one of 0 to 1"),
        ],
    )
    def test_a_function_that_returns_no_classes(self, result, error, message):
        adversary = Adversary(UniformPrior(), TransitionsByClass(constant(result), self.TWO))
        releases = [Release(view(t, [(1, 30, "f", "a"), (2, 30, "m", "b")]), [0, 0]) for t in (1, 2)]
        for attack in (SequentialAttack, JointAttack):
            with pytest.raises(error, match=re.escape(message)):
                attack(adversary)(releases)

    def test_chains_over_another_domain(self):
        releases = [Release(view(t, [(1, 30, "f", "a"), (2, 30, "m", "b")]), [0, 0]) for t in (1, 2)]
        adversary = Adversary(UniformPrior(), TransitionsByClass(SEXES, (chain(m=2), chain(m=2))))
        for attack in (SequentialAttack, JointAttack):
            with pytest.raises(ValueError, match="the transitions are over 2 values"):
                attack(adversary)(releases)

    def test_objects_whose_chains_are_none(self):
        class Empty:
            def class_of(self, people):
                return np.zeros(len(people), int)

            def chains_at(self, _):
                return []

        with pytest.raises(TypeError, match=r"transitions is .*; it is a chain over the sensitive values"):
            Adversary(UniformPrior(), Empty())


class TestFromPosterior:
    DRAWS = RNG.dirichlet(np.ones(3), size=(2, 3, 2, 3))

    def tree(self, dims, draws):
        import arviz as az

        return az.from_dict({"posterior": {"transitions": draws}}, dims={"transitions": dims})

    def test_each_class_has_its_mean(self):
        expected = self.DRAWS.mean(axis=(0, 1))
        for classes in (SEXES, lambda people: people.quasi_identifiers[:, 1].astype(int)):
            fitted = TransitionsByClass.from_posterior(self.tree(["class", "last", "value"], self.DRAWS), classes)
            for number, found in enumerate(fitted.chains):
                assert np.allclose(found.probabilities, expected[number])

    def test_one_dimension_per_attribute(self):
        fitted = TransitionsByClass.from_posterior(self.tree(["sex", "value_1", "value"], self.DRAWS), SEXES)
        assert np.allclose(fitted.chains[1].probabilities, self.DRAWS.mean(axis=(0, 1))[1])

    def test_other_classes_are_refused(self):
        tree = self.tree(["class", "last", "value"], self.DRAWS)
        with pytest.raises(ValueError, match=re.escape("(2,) classes, and the cuts make (2, 3)")):
            TransitionsByClass.from_posterior(tree, {"sex": (0.5,), "age": (30.0, 50.0)})
        with pytest.raises(ValueError, match=re.escape("it needs (chain, draw, class, last, value)")):
            TransitionsByClass.from_posterior(self.tree(["a", "last", "value"], self.DRAWS), SEXES)
