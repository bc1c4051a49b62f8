"""Sequential attack with learned transitions, against Dirichlet-multinomial predictions and enumeration of paths."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from strategies import view_of

from foreknow.attacks import DataAugmentationAttack, SequentialAttack
from foreknow.attacks.data_augmentation import _Before
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.evaluation import exams, log_score
from foreknow.models import (
    Adversary,
    Averaged,
    DirichletChain,
    Exact,
    GivenPrior,
    MarkovChain,
    Release,
    TransitionsByClass,
    UniformPrior,
)
from foreknow.testing import check_attack

SMALL = np.array([[0.5, 0.2, 0.1], [0.3, 0.6, 0.2], [0.1, 0.4, 0.5]])
"""Concentrations of which the releases change much."""


def unknown(concentrations=SMALL):
    return DirichletChain((concentrations,))


def by_age(people):
    return (people.quasi_identifiers[:, 0] >= 23).astype(np.int64)


class TestExact:
    def test_with_certain_values_the_next_value_has_the_dirichlet_multinomial_distribution(self):
        """Everyone is alone in a group; the mean over draws of a Dirichlet row has the variance p (1 - p) / (total + 1) / draws."""
        ids, before, after, draws = "ABCDEFG", "aaaabbc", "aabcbac", 80
        releases = [
            Release(view_of(ids, values, time=t), range(7)) for t, values in enumerate((before, after, after), 1)
        ]
        beliefs = DataAugmentationAttack(Adversary(UniformPrior(), unknown()), draws, 1, rng=1)(releases)
        posterior = SMALL.copy()
        np.add.at(posterior, (["abc".index(v) for v in before], ["abc".index(v) for v in after]), 1)
        for person, value in zip(ids, after, strict=True):
            row = posterior["abc".index(value)]
            mean = row / row.sum()
            error = np.sqrt(mean * (1 - mean) / (row.sum() + 1) / draws)
            assert (np.abs(beliefs.revised(3).loc[person].to_numpy() - mean) < 5 * error).all()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "transitions", [unknown(), TransitionsByClass(lambda people: 1 - by_age(people), (unknown(SMALL.T), unknown()))]
    )
    def test_beliefs_about_a_follower_are_those_of_enumeration_with_the_law_integrated_out(self, transitions):
        """Two releases, each of A and a respondent who is seen once, and A's value at a third one, before it is published."""
        groups, rng = (("AB", "ab"), ("AC", "bc"), ("AD", "aa")), np.random.default_rng(3)
        prior = pd.DataFrame(rng.dirichlet(np.ones(3), 4), index=list("ABCD"), columns=list("abc"))
        releases = [Release(view_of(ids, values, time=t), [0, 0]) for t, (ids, values) in enumerate(groups, 1)]
        adversary, draws = Adversary(GivenPrior(prior), transitions, estimator=Exact()), 500
        beliefs = DataAugmentationAttack(adversary, draws, 6, rng=2)(releases)
        second, third = np.zeros(3), np.zeros(3)
        for x, y, z in itertools.product(range(3), repeat=3):
            if "abc"[x] not in "ab" or "abc"[y] not in "bc":
                continue
            other, another = "ab".replace("abc"[x], ""), "bc".replace("abc"[y], "")
            weight = prior.loc["A"].iloc[x] * prior.loc["B", other] * prior.loc["C", another]
            weight *= SMALL[x, y] / SMALL[x].sum()
            seen = SMALL[y] + (np.eye(3)[y] if x == y else 0)
            weight *= seen[z] / seen.sum()
            second[y] += weight
            third[z] += weight
        wanted = {("posterior", 2): second / second.sum(), ("revised", 3): third / third.sum()}
        for (stage, time), row in wanted.items():
            each = np.stack([one.at(time).beliefs(stage)[0] for one in beliefs.draws.beliefs])
            error = 4 * each.std(axis=0) / np.sqrt(draws)
            assert (np.abs(beliefs.at(time).beliefs(stage)[0] - row) < error + 1e-12).all()
        fixed = SMALL / SMALL.sum(axis=1, keepdims=True)
        unlearned = SequentialAttack(dataclasses.replace(adversary, transitions=MarkovChain(1, fixed)))(releases)
        assert (np.abs(unlearned.at(3).revised[0] - wanted["revised", 3]) > error).any()

    def test_a_law_that_is_known_is_that_of_the_sequential_attack(self):
        """With a total concentration of 3e9 a probability has a standard deviation under 1e-5."""
        table = np.random.default_rng(4).dirichlet(np.ones(3), 3) * 0.9 + 0.1 / 3
        releases = [
            Release(view_of("ABCD", values, time=t), groups)
            for t, (values, groups) in enumerate(
                (("abca", [0, 0, 1, 1]), ("bbca", [0, 1, 0, 1]), ("bbcc", [0, 0, 1, 1])), 1
            )
        ]
        learned = DataAugmentationAttack(Adversary(UniformPrior(), unknown(table * 3e9)), 2, 2, rng=5)(releases)
        known = SequentialAttack(Adversary(UniformPrior(), MarkovChain(1, table)))(releases)
        for one, other in zip(learned, known, strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert one.beliefs(stage) == pytest.approx(other.beliefs(stage), abs=1e-3)


class TestOrderAndClass:
    SECOND = 3 * np.random.default_rng(12).dirichlet(np.ones(3), (3, 3)) + 0.1
    OTHER = SMALL[::-1] + 0.2

    def certain(self, transitions, draws=80):
        """Attack on certain values of seven respondents at four releases; their values, and the beliefs."""
        values = ("aaaabbc", "aabcbac", "abbcbaa", "aabcbaa")
        releases = [Release(view_of("ABCDEFG", row, range(20, 27), t), range(7)) for t, row in enumerate(values, 1)]
        codes = np.array([["abc".index(value) for value in row] for row in values])
        return codes, DataAugmentationAttack(Adversary(UniformPrior(), transitions), draws, 1, rng=1)(releases)

    def check(self, found, concentrations, draws=80):
        """Mean of a Dirichlet row within 5 standard errors of the mean over draws."""
        mean = concentrations / concentrations.sum()
        error = np.sqrt(mean * (1 - mean) / (concentrations.sum() + 1) / draws)
        assert (np.abs(found - mean) < 5 * error).all()

    def test_certain_values_of_the_second_order(self):
        """The second value counts after the first; later ones count after the last two alone."""
        codes, beliefs = self.certain(DirichletChain((SMALL, self.SECOND)))
        second = self.SECOND.copy()
        np.add.at(second, tuple(codes[:3]), 1)
        for person in range(7):
            self.check(beliefs.revised(4).iloc[person].to_numpy(), second[codes[1, person], codes[2, person]])
        self.check(beliefs.revised(2).iloc[0].to_numpy(), SMALL[0])

    def test_certain_values_by_class(self):
        codes, beliefs = self.certain(TransitionsByClass(by_age, (unknown(), unknown(self.OTHER))))
        tables = [SMALL.copy(), self.OTHER.copy()]
        for person, t in itertools.product(range(7), (0, 1)):
            tables[person >= 3][codes[t, person], codes[t + 1, person]] += 1
        for person in range(7):
            self.check(beliefs.revised(4).iloc[person].to_numpy(), tables[person >= 3][codes[2, person]])

    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_a_law_that_is_known_is_that_of_the_sequential_attack(self, gaps):
        rng = np.random.default_rng(13)
        known = [
            MarkovChain(
                2, rng.dirichlet(np.ones(3), (3, 3)) * 0.9 + 0.1 / 3, (rng.dirichlet(np.ones(3), 3) * 0.9 + 0.1 / 3,)
            )
            for _ in range(2)
        ]
        learned = [DirichletChain(tuple(table * 3e9 for table in chain.tables)) for chain in known]
        people = (("ABCDEF", "abcabb"), ("ABCDE", "bcaab"), ("ACDF", "bcba"), ("ABCDEF", "aabccb"))
        releases = [
            Release(view_of(ids, values, [20 + "ABCDEF".index(i) for i in ids], t), [i // 2 for i in range(len(ids))])
            for t, (ids, values) in enumerate(people, 1)
        ]
        knowing, learning = (
            Adversary(UniformPrior(), TransitionsByClass(by_age, tuple(each)), gaps=gaps, estimator=Exact())
            for each in (known, learned)
        )
        found = DataAugmentationAttack(learning, 2, 2, rng=5)(releases)
        for one, other in zip(found, SequentialAttack(knowing)(releases), strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert one.beliefs(stage) == pytest.approx(other.beliefs(stage), abs=1e-3)

    def test_drawn_steps_have_the_joint_distribution_of_three_values(self):
        rng, number = np.random.default_rng(14), 20_000
        law = MarkovChain(2, rng.dirichlet(np.ones(3), (3, 3)))
        joint, now = rng.dirichlet(np.ones(9)), rng.dirichlet(np.ones(3))
        rows = np.arange(number)
        before = _Before(rows, 0 * rows, 0 * rows + 2, np.tile(joint, (number, 1)))
        ((first, second),) = before.drawn_steps(law, np.tile(now, (number, 1)), rng)
        weights = joint.reshape(3, 3, 1) * law.probabilities
        wanted = weights / weights.sum(axis=(0, 1)) * now
        assert first.sum() == 0
        error = np.sqrt(wanted * (1 - wanted) / number)
        assert (np.abs(second / number - wanted) < 5 * error).all()


class TestDraws:
    def test_it_holds_its_draws_with_equal_weights(self):
        releases = [Release(view_of("AB", "ab", time=t), [0, 0]) for t in (1, 2)]
        beliefs = DataAugmentationAttack(Adversary(UniformPrior(), unknown()), 3, rng=6)(releases)
        assert beliefs.draws.weights == pytest.approx(1 / 3)
        rows = [one.posterior(2).to_numpy() for one in beliefs.draws.beliefs]
        assert beliefs.posterior(2).to_numpy() == pytest.approx(np.mean(rows, axis=0))

    def test_the_learned_laws_are_dirichlet_given_the_counts(self):
        """Two hundred steps from a to b in groups of one: the mean of its row has a standard deviation under .02 / sqrt(draws)."""
        ids = [f"p{i}" for i in range(200)]
        releases = [
            Release(view_of(ids, values * 200, [i % 90 for i in range(200)], t), range(200))
            for t, values in ((1, "a"), (2, "b"))
        ]
        learned = DataAugmentationAttack(Adversary(UniformPrior(), unknown()), 30, 1, rng=10).learned(releases)
        tables = np.stack([one.transitions.probabilities for one in learned.adversaries])
        posterior = (SMALL[0] + [0, 200, 0]) / (SMALL[0].sum() + 200)
        assert not learned.updated
        assert tables[:, 0].mean(axis=0) == pytest.approx(posterior, abs=5 * 0.02 / np.sqrt(30))
        assert tables[:, 1].std(axis=0).min() > 0.1

    def test_a_seed_repeats_and_another_does_not(self):
        releases = [Release(view_of("AB", "ab", time=t), [0, 0]) for t in (1, 2, 3)]
        sticky = Adversary(lambda people: np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]])[: len(people)], unknown())
        one, same, other = (DataAugmentationAttack(sticky, 3, rng=seed)(releases).posterior(3) for seed in (7, 7, 8))
        assert one.equals(same)
        assert not np.allclose(one, other)


@pytest.mark.slow
def test_moved_draws_are_better_than_draws_that_stay():
    """A corpus of ten; the difference was .2 bits and more in each of four histories (docs/findings/adversary.md)."""
    history, prior, chain = exams(6, 400, rng=11)
    releases = publish(history, Mondrian(KAnonymity(2)), rng=1)
    corpus = [
        [view.sensitive[i] for view in (first, second) for i in view.people.rows(name)]
        for first, second in itertools.pairwise(exams(2, 400, rng=12).history)
        for name in first.people.respondents[:10]
    ]
    uncertain = DirichletChain.fit(corpus, concentration=0.1, values=chain.values)
    rng = np.random.default_rng(13)
    stay = Averaged([Adversary(prior, uncertain.sample(rng=rng)) for _ in range(12)], updated=False)
    scores = [
        log_score(attack(releases), history)["log_score"].mean()
        for attack in (DataAugmentationAttack(Adversary(prior, uncertain), 12, rng=14), SequentialAttack(stay))
    ]
    assert scores[0] > scores[1] + 0.1


class TestArguments:
    def test_conforms(self):
        check_attack(
            lambda adversary: DataAugmentationAttack(dataclasses.replace(adversary, transitions=unknown()), 2, 1, rng=9)
        )

    @pytest.mark.parametrize(
        ("transitions", "settings", "error", "match"),
        [
            (MarkovChain(1, np.eye(3)), {}, TypeError, "transitions are a MarkovChain; they are a DirichletChain"),
            (None, {}, TypeError, "transitions are a NoneType"),
            (TransitionsByClass({}, (MarkovChain(1, np.eye(3)),)), {}, TypeError, "transitions are a MarkovChain"),
            (unknown(), {"draws": 0}, ValueError, "draws"),
            (unknown(), {"sweeps": 0}, ValueError, "sweeps"),
            (unknown(), {"rng": None}, TypeError, "rng"),
        ],
    )
    def test_wrong_settings_are_refused(self, transitions, settings, error, match):
        with pytest.raises(error, match=match):
            DataAugmentationAttack(Adversary(UniformPrior(), transitions), **({"rng": 1} | settings))

    def test_the_second_order_needs_the_filter(self):
        second = DirichletChain((SMALL, np.ones((3, 3, 3))))
        with pytest.raises(ValueError, match="of order 2, and its revision 'product' keeps no joint"):
            DataAugmentationAttack(Adversary(UniformPrior(), second, revision="product"), rng=1)

    def test_draws_are_its_own(self):
        with pytest.raises(TypeError, match="It draws the laws itself: give Adversary"):
            DataAugmentationAttack(Averaged([Adversary(UniformPrior(), unknown())]), rng=1)
