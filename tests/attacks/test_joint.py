"""Joint attack: single releases against the release-by-release adversary, prefixes, suppressed records, calibration."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from strategies import view_of

from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack
from foreknow.defenses import MASK, DistinctDiversity, MInvariance, Mondrian, publish
from foreknow.evaluation import exams
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    Enumeration,
    EvidenceCascade,
    Exact,
    Grouping,
    GroupMessages,
    MarkovChain,
    MaxEntropy,
    Mixed,
    PathSampler,
    PosteriorCascade,
    PriorCascade,
    ProgramEstimator,
    Release,
    RemoveKnown,
    UniformPrior,
)

STICKY = MarkovChain(1, np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]]))


def simulated(views=4, records=120, seed=1):
    simulation = exams(views, records, rng=seed)
    return simulation, Adversary(simulation.prior, simulation.transitions, estimator=Exact())


@pytest.mark.parametrize("cascade", [PosteriorCascade(), PriorCascade(normalized=False), RemoveKnown()], ids=repr)
def test_a_cascade_without_a_likelihood_is_refused_below_certainty(cascade):
    simulation, adversary = simulated(1, 20)
    releases = publish(simulation.history, Mondrian(DistinctDiversity(2)), rng=1)
    first = simulation.history[0].frame.iloc[0]
    claim = {"respondent": [first["id"]], "time": [1], "value": [first["result"]]}

    def informed(confidence):
        known = CompromisedRecords(pd.DataFrame(claim | {"confidence": [confidence]}))
        return JointAttack(replace(adversary, compromised=known, cascade=cascade))

    assert informed(1.0)(releases).posterior(1).loc[first["id"], first["result"]] == pytest.approx(1)
    with pytest.raises(ValueError, match=r"has no meaning in the joint law .* EvidenceCascade"):
        informed(0.5)(releases)


def test_evidence_is_the_likelihood_of_one_record_in_all_releases():
    """Two respondents, two releases; all four paths of each by hand."""
    adversary = Adversary(
        UniformPrior(),
        MarkovChain(1, np.array([[0.8, 0.2], [0.3, 0.7]])),
        CompromisedRecords(pd.DataFrame({"respondent": ["A"], "time": [1], "value": ["b"], "confidence": [0.9]})),
        cascade=EvidenceCascade(),
    )
    releases = [Release(view_of("AB", "ab", time=time, domain="ab"), Grouping(np.array([0, 0]))) for time in (1, 2)]
    found = JointAttack(adversary, Enumeration())(releases).posterior(1).loc["A"]
    # A has a and B has b, or the reverse, at both times: the values are those of both at once.
    chain = adversary.transitions.probabilities
    weight = {x: sum(chain[x, y] * chain[1 - x, 1 - y] for y in (0, 1)) * (0.1, 0.9)[x] for x in (0, 1)}
    np.testing.assert_allclose(found, [weight[x] / sum(weight.values()) for x in (0, 1)])


def truth(releases):
    """Mask of published rows and their true values, of all releases."""
    return [(release.group >= 0, release.view.sensitive) for release in releases]


class TestOneRelease:
    """With one release, the exact joint law is the exact posterior of the release."""

    @pytest.mark.parametrize("defense", [Mondrian(DistinctDiversity(2)), MASK(3, 2)])
    def test_equals_the_snapshot_attack(self, defense):
        simulation, adversary = simulated(1, 60)
        releases = publish(simulation.history, defense)
        joint, alone = JointAttack(adversary, Enumeration(2**24))(releases), SnapshotAttack(adversary)(releases)
        np.testing.assert_allclose(joint.posterior(1), alone.posterior(1), atol=1e-9)

    @pytest.mark.parametrize(
        ("cascade", "confidence"),
        [(RemoveKnown(), 1.0), *product([PriorCascade(), EvidenceCascade()], [0.05, 0.4, 0.9, 1.0])],
    )
    def test_claims_have_the_meaning_of_the_cascade(self, cascade, confidence):
        simulation, adversary = simulated(1, 40)
        releases = publish(simulation.history, Mondrian(DistinctDiversity(2)), rng=1)
        people = releases[0].view.people.respondents
        claim = {
            "respondent": people[:1],
            "time": 1,
            "value": simulation.history[0].frame["result"].iloc[:1].to_numpy(),
        }
        known = CompromisedRecords(pd.DataFrame(claim | {"confidence": confidence}))
        informed = replace(adversary, compromised=known, cascade=cascade)
        joint, alone = (
            attack(releases) for attack in (JointAttack(informed, Enumeration(2**24)), SnapshotAttack(informed))
        )
        np.testing.assert_allclose(joint.posterior(1), alone.posterior(1), atol=1e-9)

    @pytest.mark.parametrize("law", ["uniform", "estimated"])
    def test_a_counterfeit_is_a_respondent_with_a_uniform_prior(self, law):
        view = view_of("ABCDE", "aabbc")
        invented = Release(view, Grouping(np.array([0, 0, 1, 1, 1]), counterfeits=np.array([[0, 1], [1, 0]])))
        naive = Adversary(UniformPrior(), STICKY, estimator=Exact(), counterfeits="uniform")
        for releases in ([invented], publish([view], MInvariance(2))):
            joint = JointAttack(replace(naive, counterfeits=law), Enumeration())(releases)
            alone = SnapshotAttack(naive)(releases)
            np.testing.assert_allclose(joint.posterior(1), alone.posterior(1), atol=1e-9)


class TestWithoutTransitions:
    """Without sequential knowledge the releases are independent, and each has its own exact posterior."""

    @pytest.mark.parametrize("hindsight", [True, False])
    def test_equals_the_snapshot_attack(self, hindsight):
        simulation, _ = simulated(3, 60)
        adversary = Adversary(simulation.prior, estimator=Exact())
        releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
        found, expected = JointAttack(adversary, hindsight=hindsight)(releases), SnapshotAttack(adversary)(releases)
        for time, release in enumerate(found, 1):
            np.testing.assert_allclose(found.posterior(time), expected.posterior(time), atol=1e-6)
            np.testing.assert_array_equal(release.revised, release.prior)


class TestProgram:
    """The joint law has a solver, and does not sample the adversary's program."""

    @pytest.mark.parametrize("inside", [False, True])
    def test_a_program_is_refused_and_left_out_knowingly(self, inside):
        program = ProgramEstimator(lambda problem: problem, rng=1)
        simulation, adversary = simulated(1, 12)
        releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
        with_program = replace(adversary, estimator=Mixed(small=program) if inside else program)
        with pytest.raises(ValueError, match="JointAttack does not read the part 'program'"):
            JointAttack(with_program)
        one, other = (JointAttack(each)(releases) for each in (with_program.without("program"), adversary))
        np.testing.assert_array_equal(one.posterior(releases[0].time), other.posterior(releases[0].time))


class TestHindsight:
    def test_forward_beliefs_are_those_of_the_prefixes(self):
        simulation, adversary = simulated()
        releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
        solver = MaxEntropy(tolerance=1e-5)
        forward = JointAttack(adversary, solver, hindsight=False)(releases)
        for t, time in enumerate(forward.times):
            prefix = JointAttack(adversary, solver)(releases[: t + 1])
            np.testing.assert_allclose(forward.posterior(time), prefix.posterior(time), atol=2e-3)

    def test_a_later_release_tells_what_an_earlier_one_hid(self):
        """A and B share a group; A alone has a later, and values are kept with probability .8."""
        first, second = Release(view_of("AB", "ab"), [0, 0]), Release(view_of("AB", "ab", time=2), [0, 1])
        adversary = Adversary(UniformPrior(), MarkovChain(1, np.array([[0.8, 0.2, 0], [0.2, 0.8, 0], [0, 0, 1]])))
        attack = JointAttack(adversary, Enumeration())
        # Odds of the two orders: (.8 * .8) to (.2 * .2).
        assert attack([first, second]).posterior(1).loc["A", "a"] == pytest.approx(0.64 / 0.68)
        forward = JointAttack(adversary, Enumeration(), hindsight=False)([first, second])
        assert forward.posterior(1).loc["A", "a"] == pytest.approx(0.5)
        assert SequentialAttack(adversary)([first, second]).posterior(1).loc["A", "a"] == pytest.approx(0.5)

    def test_revised_beliefs_in_hindsight_are_those_before_any_release(self):
        first, second = Release(view_of("AB", "ab"), [0, 0]), Release(view_of("AB", "ab", time=2), [0, 1])
        beliefs = JointAttack(Adversary(UniformPrior(), STICKY))([first, second])
        assert np.allclose(beliefs.revised(2), np.full(3, 1 / 3) @ STICKY.probabilities)

    def test_a_suppressed_record_is_predicted_from_the_record_before(self):
        first, second = Release(view_of("AB", "ab"), [0, 1]), Release(view_of("AB", "ab", time=2), [-1, 0])
        beliefs = JointAttack(Adversary(UniformPrior(), STICKY))([first, second])
        assert np.allclose(beliefs.posterior(2).loc["A"], STICKY.probabilities[0])

    @pytest.mark.parametrize("hindsight", [True, False])
    @pytest.mark.parametrize("solver", [MaxEntropy(), Enumeration(), GroupMessages(), PathSampler(sweeps=20, rng=1)])
    def test_releases_that_publish_nobody(self, solver, hindsight):
        """Beliefs are the prediction of the chain, or the prior, and those about other releases do not change."""
        views = [view_of("AB", "ab", time=t) for t in (1, 2, 3)]
        attack = JointAttack(Adversary(UniformPrior(), STICKY), solver, hindsight)
        last = attack([Release(views[0], [0, 1]), Release(views[1], [-1, -1])])
        assert np.allclose(last.posterior(1), np.eye(3)[:2])
        assert np.allclose(last.posterior(2), STICKY.probabilities[:2])
        nobody = attack([Release(view, [-1, -1]) for view in views])
        assert all(np.allclose(nobody.posterior(t), 1 / 3) for t in (1, 2, 3))


class TestBetterThanMarginals:
    def test_log_score_on_closed_groups(self):
        simulation, adversary = simulated(6, 300)
        releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
        scores = {}
        for attack in (JointAttack(adversary), SequentialAttack(adversary), SnapshotAttack(adversary)):
            beliefs = [belief.posterior.probabilities for belief in attack(releases)]
            own = [row[kept, true[kept]] for row, (kept, true) in zip(beliefs, truth(releases), strict=True)]
            scores[type(attack)] = np.log(np.maximum(np.concatenate(own), 1e-12)).mean()
        assert scores[JointAttack] > scores[SequentialAttack] > scores[SnapshotAttack]

    @pytest.mark.slow
    def test_the_sampler_is_calibrated_under_the_true_law(self):
        """The expected number of right guesses is the sum of the largest beliefs; its standard deviation is at most that of
        independent guesses times the root of the number of records that move together (a group of 4 over 4 releases)."""
        right, expected, variance = 0.0, 0.0, 0.0
        for seed in range(4):
            simulation, adversary = simulated(4, 80, seed)
            releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
            beliefs = JointAttack(adversary, PathSampler(sweeps=200, chains=2, rng=seed))(releases)
            for belief, (kept, true) in zip(beliefs, truth(releases), strict=True):
                rows = belief.posterior.probabilities[kept]
                right += (rows.argmax(axis=1) == true[kept]).sum()
                expected += rows.max(axis=1).sum()
                variance += (rows.max(axis=1) * (1 - rows.max(axis=1))).sum()
        assert abs(right - expected) < 4 * np.sqrt(16 * variance)


class TestWrongArguments:
    @pytest.mark.parametrize("solver", [MaxEntropy, None, lambda problem: problem, Exact()])
    def test_solver(self, solver):
        with pytest.raises(TypeError, match="solver is"):
            JointAttack(Adversary(UniformPrior()), solver)

    def test_domains_differ(self):
        first, second = (
            Release(view_of("AB", "ab"), [0, 0]),
            Release(view_of("AB", "ab", time=2, domain="ab"), [0, 0]),
        )
        with pytest.raises(ValueError, match="one domain"):
            JointAttack(Adversary(UniformPrior()))([first, second])
