"""Intervals of measures over draws of uncertain knowledge."""

import numpy as np
import pytest

from foreknow.attacks import RetrospectiveAttack, SequentialAttack
from foreknow.defenses import JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import (
    across_draws,
    adversary_gain,
    compare,
    exams,
    log_score,
    reliability_curve,
    respondent_risk,
    risk_table,
)
from foreknow.models import Adversary, Averaged, DirichletChain

SIMULATION = exams(3, 40, rng=1)


def attacked(draws, weights=None, updated=False):
    releases = publish(SIMULATION.history, Mondrian(KAnonymity(3)), rng=1)
    chain, rng = DirichletChain.fit(SIMULATION.history, concentration=0.5), np.random.default_rng(2)
    adversaries = [Adversary(SIMULATION.prior, chain.sample(rng=rng)) for _ in range(draws)]
    return SequentialAttack(Averaged(adversaries, weights, updated))(releases)


class TestAcrossDraws:
    def test_ends_are_weighted_quantiles_of_the_draws(self):
        weights = np.array([0.1, 0.2, 0.3, 0.4])
        beliefs = attacked(4, weights)
        table = across_draws(adversary_gain, beliefs, SIMULATION.history, mass=0.5)
        for t in range(3):
            gains = [adversary_gain(draw, SIMULATION.history)["gain"].iloc[t] for draw in beliefs.draws.beliefs]
            ranked = sorted(zip(gains, weights, strict=True))
            for end, level in (("low", 0.25), ("high", 0.75)):
                wanted = next(
                    g for i, (g, _) in enumerate(ranked) if sum(w for _, w in ranked[: i + 1]) >= level - 1e-9
                )
                assert table[f"gain_{end}"].iloc[t] == pytest.approx(wanted)

    def test_the_measure_is_that_of_the_mixture(self):
        beliefs = attacked(3)
        table = across_draws(log_score, beliefs, SIMULATION.history)
        assert table["log_score"].tolist() == log_score(beliefs, SIMULATION.history)["log_score"].tolist()
        assert {"log_score_low", "log_score_high"} <= set(table.columns)
        assert "measured_low" not in table.columns

    def test_one_draw_has_an_interval_of_no_width(self):
        table = across_draws(adversary_gain, attacked(1), SIMULATION.history)
        assert table["gain_low"].tolist() == pytest.approx(table["gain_high"].tolist())
        assert table["gain"].tolist() == pytest.approx(table["gain_high"].tolist())

    def test_counts_that_depend_on_the_beliefs_have_an_interval_and_numbers_of_records_have_none(self):
        beliefs = attacked(4)
        table = across_draws(risk_table, beliefs, SIMULATION.history)
        assert {"sure_low", "right_high", "gain_low", "log_score_high"} <= set(table.columns)
        assert not {"published_low", "suppressed_low", "certain_high", "time_low"} & set(table.columns)
        sure = [risk_table(draw, SIMULATION.history)["sure"].iloc[2] for draw in beliefs.draws.beliefs]
        assert table[["sure_low", "sure_high"]].iloc[2].tolist() == [min(sure), max(sure)]

    @pytest.mark.parametrize("measure", [reliability_curve, respondent_risk])
    def test_a_measure_over_all_releases_is_refused(self, measure):
        with pytest.raises(ValueError, match=f"{measure.__name__} returns no table with one row per release"):
            across_draws(measure, attacked(2), SIMULATION.history)

    def test_wrong_arguments_are_refused(self):
        beliefs = attacked(2)
        with pytest.raises(ValueError, match="no draws"):
            across_draws(adversary_gain, beliefs.draws.beliefs[0], SIMULATION.history)
        with pytest.raises(ValueError, match="mass is 1"):
            across_draws(adversary_gain, beliefs, SIMULATION.history, mass=1)


class TestRespondentRisk:
    def test_the_interval_is_that_of_the_draws(self):
        """Of 20 draws of equal weight, a weight of .05 is reached at the lowest, and of .95 at the 19th."""
        beliefs = attacked(20)
        table = respondent_risk(beliefs, SIMULATION.history)
        for _, row in table.head(5).iterrows():
            own = sorted(
                one.posterior(row["time"]).loc[row["respondent"], row["value"]] for one in beliefs.draws.beliefs
            )
            assert (row["low"], row["high"]) == pytest.approx((own[0], own[18]))
            assert row["belief"] == pytest.approx(np.mean(own))

    def test_without_draws_there_is_none(self):
        [one] = attacked(1).draws.beliefs
        assert respondent_risk(one, SIMULATION.history)[["low", "high"]].isna().all(axis=None)


def test_compare_takes_a_defender_and_attacks_with_draws():
    chain, rng = DirichletChain.fit(SIMULATION.history, concentration=0.5), np.random.default_rng(3)
    averaged = Averaged([Adversary(SIMULATION.prior, chain.sample(rng=rng)) for _ in range(2)], groups="worst")
    found = compare(
        SIMULATION.history,
        {"JS": JSReduce(3, 0.9, 0.8)},
        {name: attack(averaged) for name, attack in (("forward", SequentialAttack), ("back", RetrospectiveAttack))},
        averaged,
        rng=1,
    )
    assert all(len(beliefs.draws) == 2 for beliefs in found.beliefs.values())
    assert found.worst_case()["gain_attack"].isin(["forward", "back"]).all()
