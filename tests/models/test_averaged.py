"""Adversary with uncertain knowledge: its settings."""

import arviz
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.models import Adversary, Averaged, MarkovChain, UniformPrior

ONE = Adversary(UniformPrior())


class TestAveraged:
    @pytest.mark.parametrize(
        ("arguments", "error", "match"),
        [
            (([],), ValueError, "no adversary"),
            ((ONE,), TypeError, "adversaries"),
            (([ONE, UniformPrior()],), TypeError, "adversary 1"),
            (([ONE, ONE], [1.0]), ValueError, r"shape \(1,\)"),
            (([ONE], [-1.0]), ValueError, "at least 0"),
            (([ONE, ONE], [0.0, 0.0]), ValueError, "a positive one"),
            (([ONE, ONE], [np.nan, 1.0]), ValueError, "at least 0"),
            (([ONE], ["much"]), TypeError, "weights"),
            (([ONE], None, 1), TypeError, "updated"),
            (([ONE], None, True, "best"), ValueError, "groups"),
            (([ONE], None, True, "mean", 0.5), TypeError, "positional"),
        ],
    )
    def test_wrong_settings_are_refused(self, arguments, error, match):
        with pytest.raises(error, match=match):
            Averaged(*arguments)

    def test_weights_are_normalized(self):
        assert Averaged([ONE, ONE], [1, 3]).first_weights == pytest.approx([0.25, 0.75])

    def test_the_mean_prior_is_weighted(self):
        people = view_of([1, 2], "ab").people
        assert Averaged([ONE, ONE], [1, 3]).prior_rows(people) == pytest.approx(UniformPrior()(people))


class TestTempering:
    """Weights by a power of the evidence that leaves an effective number of draws."""

    def test_the_power_of_two_draws_has_a_closed_form(self):
        """1 / (w^2 + (1 - w)^2) = 1.5 for w = (1 + sqrt(1 / 3)) / 2, and the power is the logit of w over the difference."""
        averaged, heavy = Averaged([ONE, ONE], min_effective=0.75), (1 + np.sqrt(1 / 3)) / 2
        evidence = np.array([-100.0, -130.0])
        assert averaged.weights_given(evidence) == pytest.approx([heavy, 1 - heavy])
        assert averaged.power_given(evidence) == pytest.approx(np.log(heavy / (1 - heavy)) / 30)

    def test_without_a_share_it_is_bayes_rule(self):
        weights = Averaged([ONE] * 3, [1, 1, 2]).weights_given(np.log([0.2, 0.4, 0.1]))
        assert weights == pytest.approx(np.array([0.2, 0.4, 0.2]) / 0.8)

    def test_with_all_draws_the_weights_stay(self):
        averaged = Averaged([ONE] * 3, min_effective=1.0)
        assert averaged.weights_given(np.array([-1.0, -5.0, -9.0])) == pytest.approx(1 / 3, abs=1e-6)

    def test_a_draw_that_is_excluded_gets_no_weight(self):
        weights = Averaged([ONE] * 3, min_effective=0.9).weights_given(np.array([-1.0, -1.0, -np.inf]))
        assert weights == pytest.approx([0.5, 0.5, 0])

    def test_releases_that_every_draw_excludes_leave_the_weights(self):
        assert Averaged([ONE] * 2, [1, 3]).weights_given(np.full(2, -np.inf)) == pytest.approx([0.25, 0.75])

    @pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
    def test_a_share_out_of_range_is_refused(self, share):
        with pytest.raises(ValueError, match="min_effective"):
            Averaged([ONE], min_effective=share)

    @given(
        st.lists(st.floats(-1e4, 0), min_size=1, max_size=8),
        st.lists(st.integers(1, 9), min_size=8, max_size=8),
        st.floats(0, 1),
    )
    def test_the_effective_number_is_kept_and_a_likelier_draw_gains_most(self, evidence, weights, share):
        log_evidence, weights = np.array(evidence), weights[: len(evidence)]
        averaged = Averaged([ONE] * len(evidence), weights, min_effective=share)
        found, first = averaged.weights_given(log_evidence), averaged.first_weights
        assert found.sum() == pytest.approx(1)
        assert 1 / (found**2).sum() >= share / (first**2).sum() - 1e-6
        order = np.argsort(log_evidence)
        assert (np.diff((found / first)[order]) >= -1e-9).all()


class TestFromPosterior:
    def tree(self, chains=2, draws=5):
        rows = np.random.default_rng(1).dirichlet(np.ones(2), (chains, draws, 2))
        return arviz.from_dict({"posterior": {"transitions": rows}})

    def test_each_adversary_has_the_knowledge_of_one_draw(self):
        tree = self.tree()

        def adversary(draw):
            return Adversary(UniformPrior(), MarkovChain(1, draw.posterior["transitions"].to_numpy()[0, 0]))

        averaged = Averaged.from_posterior(tree, adversary, draws=10)
        tables = np.stack([one.transitions.probabilities for one in averaged.adversaries])
        assert tables == pytest.approx(tree.posterior["transitions"].to_numpy().reshape(10, 2, 2))

    def test_an_adversary_is_no_function_of_a_draw(self):
        with pytest.raises(TypeError, match="a function of a tree of one draw"):
            Averaged.from_posterior(self.tree(), ONE)

    def test_more_draws_than_there_are_are_refused(self):
        with pytest.raises(ValueError, match="10 draws"):
            Averaged.from_posterior(self.tree(), lambda draw: ONE, draws=11)  # noqa: ARG005
