"""Gains over the share, over the law without releases, and over a control, by hand; measures of beliefs about noisy counts."""

import numpy as np
import pandas as pd
import pytest
from given_beliefs import given_beliefs
from noisy_histories import noisy_history, noisy_release
from strategies import history_of

from foreknow.attacks import JointAttack, SequentialAttack, WithoutGroups
from foreknow.evaluation import (
    adversary_confidence,
    adversary_gain,
    bound,
    breaches,
    brier_score,
    disclosures,
    gcp,
    log_score,
    reliability_curve,
    respondent_risk,
    risk_table,
    success_rate,
    total_risk,
)
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    ClassFrequencies,
    CompromisedRecords,
    Enumeration,
    EvidenceCascade,
    GivenPrior,
    MarkovChain,
    Noise,
    Presence,
    Release,
    UniformPrior,
)

HISTORY = history_of(("AB", "ab"), ("AB", "bb"), domain="ab")
PRIOR = GivenPrior(pd.DataFrame({"a": [0.8, 0.4], "b": [0.2, 0.6]}, index=list("AB")))
CHAIN = MarkovChain(1, np.array([[0.9, 0.1], [0.3, 0.7]]))
RELEASES = [Release(view, [0, 0]) for view in HISTORY]
LAW = [[[0.8, 0.2], [0.4, 0.6]], [[0.78, 0.22], [0.54, 0.46]]]
"""Prior, and prior carried on by the chain: .8 * .9 + .2 * .3 = .78, .4 * .9 + .6 * .3 = .54."""


@pytest.mark.parametrize("hindsight", [True, False])
class TestTheLaw:
    def test_is_the_prior_carried_on_by_the_chain(self, hindsight):
        """Whatever the releases, presence and compromised records tell."""
        records = CompromisedRecords(
            pd.DataFrame([("A", "a", 1, 1.0)], columns=["respondent", "value", "time", "confidence"])
        )
        adversary = Adversary(PRIOR, CHAIN, records, presence=Presence(np.array([0.1, 0.5])), cascade=EvidenceCascade())
        beliefs = JointAttack(adversary, Enumeration(), hindsight)(RELEASES)
        for one, expected in zip(beliefs, LAW, strict=True):
            assert one.law == pytest.approx(np.array(expected))

    def test_of_draws_is_their_first_mixture(self, hindsight):
        draws = [Adversary(UniformPrior(), MarkovChain(1, np.array([[p, 1 - p], [0.5, 0.5]]))) for p in (0.9, 0.5)]
        beliefs = JointAttack(Averaged(draws), hindsight=hindsight)(RELEASES)
        assert beliefs.releases[1].law[0].tolist() == pytest.approx([0.6, 0.4])

    def test_is_saved_with_the_beliefs(self, hindsight, tmp_path):
        beliefs = JointAttack(Adversary(PRIOR, CHAIN), hindsight=hindsight)(RELEASES)
        beliefs.save(tmp_path / "beliefs.nc")
        assert Beliefs.load(tmp_path / "beliefs.nc") == beliefs


def test_gains_by_hand():
    """True values a, b; then b, b. Beliefs in them .9, .7; then .5, 1."""
    given, history = given_beliefs([[0, 1], [1, 1]], [[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0, 1]]])
    control, _ = given_beliefs([[0, 1], [1, 1]], [[[0.8, 0.2], [0.4, 0.6]], [[0.6, 0.4], [0, 1]]])
    law = [np.array(rows) for rows in LAW]
    beliefs = Beliefs(tuple(type(one)(**(vars(one) | {"law": row})) for one, row in zip(given, law, strict=True)))
    gain = adversary_gain(beliefs, history, baseline="law")
    first = ((0.9 - 0.8) / 0.2 + (0.7 - 0.6) / 0.4) / 2
    second = ((0.5 - 0.22) / 0.78 + (1 - 0.46) / 0.54) / 2
    assert gain["gain"].tolist() == pytest.approx([first, second])
    assert gain["certain"].tolist() == [0, 0]
    assert risk_table(beliefs, history, baseline="law")["total_risk"].tolist() == pytest.approx([first, second])
    over = adversary_gain(beliefs, history, baseline=control)
    assert over["gain"].tolist() == pytest.approx([((0.9 - 0.8) / 0.2 + (0.7 - 0.6) / 0.4) / 2, (0.5 - 0.4) / 0.6])
    assert (over["certain"].tolist(), over["measured"].tolist()) == ([0, 1], [2, 1])
    assert total_risk(beliefs, history, baseline=control)["total_risk"].tolist() == pytest.approx(
        [over["gain"][0], 1 / 6]
    )
    assert adversary_gain(beliefs, history).equals(adversary_gain(beliefs, history, baseline="share"))


def test_a_group_of_c_gains_1_of_c_over_the_law():
    """Mean over all values of a group of c respondents of one law, by their counts alone."""
    rng, law, c = np.random.default_rng(1), np.array([0.2, 0.3, 0.5]), 4
    true = rng.choice(3, (20_000, c), p=law)
    share = np.stack([(true == s).sum(1) / c for s in range(3)], axis=1)
    f = law[true]
    gain = ((share[np.arange(len(true))[:, None], true] - f) / (1 - f)).mean()
    # the standard deviation of a group's mean gain is below 1
    assert gain == pytest.approx(1 / c, abs=5 / np.sqrt(len(true)))


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        ("law", "no law without releases.*JointAttack"),
        ("prior", 'it is "share", "law"'),
        (JointAttack(Adversary(PRIOR))(RELEASES[:1]), "other releases"),
    ],
)
def test_wrong_baselines(baseline, words):
    with pytest.raises(ValueError, match=words):
        adversary_gain(SequentialAttack(Adversary(PRIOR))(RELEASES), HISTORY, baseline=baseline)


class TestNoisyCounts:
    PRIOR, CHAIN = np.array([0.3, 0.7]), np.array([[0.8, 0.2], [0.3, 0.7]])
    HISTORY, RELEASES = noisy_history(np.random.default_rng(1), Noise("gaussian", 1.0), PRIOR, CHAIN, people=8)
    ATTACK = JointAttack(Adversary(ClassFrequencies({}, PRIOR), MarkovChain(1, CHAIN)))

    def test_measures_without_shares(self):
        beliefs = self.ATTACK(self.RELEASES)
        for measure in (adversary_confidence, success_rate, log_score, disclosures, brier_score, reliability_curve):
            assert measure(beliefs, self.HISTORY).notna().to_numpy().any()
        assert len(reliability_curve(beliefs, self.HISTORY, sensitive_set={"a"}))
        assert respondent_risk(beliefs, self.HISTORY)["share"].isna().all()

    def test_the_share_is_refused(self):
        beliefs = self.ATTACK(self.RELEASES)
        for measure in (adversary_gain, total_risk, risk_table, lambda *given: breaches(*given, {"a"}, r=2)):
            with pytest.raises(ValueError, match=r'noisy.*baseline="law"'):
                measure(beliefs, self.HISTORY)
        assert np.isfinite(risk_table(beliefs, self.HISTORY, baseline="law")["gain"]).all()
        control = WithoutGroups(self.ATTACK)(self.RELEASES)
        assert np.isfinite(adversary_gain(beliefs, self.HISTORY, baseline=control)["gain"]).all()

    def test_losses_of_groups_are_refused(self):
        with pytest.raises(TypeError, match="NoisyRelease"):
            gcp(self.RELEASES)

    def test_a_claim_is_not_contradicted_by_a_noisy_0(self):
        view = self.HISTORY[0]
        release = noisy_release(view, Noise("gaussian", 1.0), [[0, 8]])
        rows = [(view.people.respondents[0], "a", view.time, 1.0)]
        records = CompromisedRecords(pd.DataFrame(rows, columns=["respondent", "value", "time", "confidence"]))
        adversary = Adversary(UniformPrior(), compromised=records, cascade=EvidenceCascade())
        assert JointAttack(adversary)([release]).releases[0].posterior.probabilities[0].tolist() == pytest.approx(
            [1, 0]
        )
        assert bound([release], adversary).upper[0][0].tolist() == pytest.approx([1, 0], abs=1e-6)
