"""Adversary with uncertain knowledge: its settings."""

import arviz
import numpy as np
import pytest
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
