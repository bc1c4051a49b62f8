"""Intervals of measures over draws of uncertain knowledge."""

import numpy as np
import pytest

from foreknow.attacks import SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.evaluation import across_draws, adversary_gain, exams, log_score
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
            for end, level in (("lower", 0.25), ("upper", 0.75)):
                wanted = next(
                    g for i, (g, _) in enumerate(ranked) if sum(w for _, w in ranked[: i + 1]) >= level - 1e-9
                )
                assert table[f"gain_{end}"].iloc[t] == pytest.approx(wanted)

    def test_the_measure_is_that_of_the_mixture(self):
        beliefs = attacked(3)
        table = across_draws(log_score, beliefs, SIMULATION.history)
        assert table["log_score"].tolist() == log_score(beliefs, SIMULATION.history)["log_score"].tolist()
        assert {"log_score_lower", "log_score_upper"} <= set(table.columns)
        assert "measured_lower" not in table.columns

    def test_one_draw_has_an_interval_of_no_width(self):
        table = across_draws(adversary_gain, attacked(1), SIMULATION.history)
        assert table["gain_lower"].tolist() == pytest.approx(table["gain_upper"].tolist())
        assert table["gain"].tolist() == pytest.approx(table["gain_upper"].tolist())

    def test_wrong_arguments_are_refused(self):
        beliefs = attacked(2)
        with pytest.raises(ValueError, match="no draws"):
            across_draws(adversary_gain, beliefs.draws.beliefs[0], SIMULATION.history)
        with pytest.raises(ValueError, match="mass is 1"):
            across_draws(adversary_gain, beliefs, SIMULATION.history, mass=1)
        with pytest.raises(TypeError, match="measure is a str"):
            across_draws("gain", beliefs, SIMULATION.history)
