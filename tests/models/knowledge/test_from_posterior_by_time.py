"""Knowledge by time, kernel priors and Dirichlet rows of sampled posteriors, against NumPy and closed forms."""

import datetime
import itertools
import re

import numpy as np
import pandas as pd
import pytest
import xarray
from strategies import history_of

from foreknow.models import (
    ChainByRelease,
    ClassFrequencies,
    DirichletChain,
    DirichletFrequencies,
    GivenPrior,
    KernelPrior,
    MarkovChain,
    PriorByTime,
    UniformPrior,
)
from foreknow.models.knowledge.posterior_variable import posterior_draws

VALUES = ("a", "b", "c")
RNG = np.random.default_rng(5)
STEPS = RNG.dirichlet(np.ones(3), size=(2, 4, 3, 3))
"""Tables of three steps, or views, in 8 draws."""


def posterior(coords=None, **variables):
    """Dataset of variables with their dimensions besides chain and draw: ``name=(dims, array)``."""
    arrays = {name: (("chain", "draw", *dims), array) for name, (dims, array) in variables.items()}
    return xarray.Dataset(arrays, coords=coords or {})


class TestChainsByTime:
    def test_each_step_has_its_mean_and_later_steps_the_mean_of_all(self):
        chain = ChainByRelease.from_posterior(posterior(transitions=(("step", "last", "value"), STEPS)))
        means = STEPS.mean(axis=(0, 1))
        for release in (1, 2, 3):
            assert chain.at(release).probabilities == pytest.approx(means[release - 1])
        for release in (0, 4, 9):
            assert chain.at(release).probabilities == pytest.approx(means.mean(axis=0))

    def test_later_steps_have_a_variable_of_their_own(self):
        later = RNG.dirichlet(np.ones(3), size=(2, 4, 3))
        tree = posterior(transitions=(("step", "last", "value"), STEPS), pooled=(("last", "value"), later))
        chain = ChainByRelease.from_posterior(tree, later="pooled")
        assert chain.at(4).probabilities == pytest.approx(later.mean(axis=(0, 1)))
        with pytest.raises(ValueError, match="no variable 'later'"):
            ChainByRelease.from_posterior(tree, later="later")

    def test_steps_of_the_second_order(self):
        tables = RNG.dirichlet(np.ones(3), size=(2, 4, 2, 3, 3))
        dims = ("value_1", "step", "value", "value_2")
        tree = posterior(transitions=(dims, np.moveaxis(tables, [3, 2, 5, 4], [2, 3, 4, 5])))
        chain = ChainByRelease.from_posterior(tree)
        assert chain.at(2).order == 2
        assert chain.at(2).probabilities == pytest.approx(tables.mean(axis=(0, 1))[1])

    def test_one_draw_is_one_chain(self):
        tree = posterior(transitions=(("step", "last", "value"), STEPS))
        for draw, tables in zip(posterior_draws(tree, 8), STEPS.reshape(8, 3, 3, 3), strict=True):
            assert ChainByRelease.from_posterior(draw).at(1).probabilities == pytest.approx(tables[0])

    @pytest.mark.parametrize("inclusive", [False, True])
    def test_the_knowledge_of_a_release_is_that_of_the_views_before_it(self, inclusive):
        tree = posterior(transitions=(("view", "last", "value"), STEPS))
        chain = ChainByRelease.from_posterior(tree, inclusive=inclusive)
        means = STEPS.mean(axis=(0, 1))
        for release, view in enumerate((0, 1, 2, 2) if inclusive else (0, 0, 1, 2)):
            assert chain.at(release).probabilities == pytest.approx(means[view])

    def test_steps_out_of_order_are_refused(self):
        tree = posterior({"step": [1, 3, 2]}, transitions=(("step", "last", "value"), STEPS))
        with pytest.raises(ValueError, match=r"'step' has 2 after 3; it is in the order of time. Sort it, as"):
            ChainByRelease.from_posterior(tree)
        ChainByRelease.from_posterior(tree.assign_coords(step=["first", "b", "a"]))


FREQUENCIES = RNG.dirichlet(np.ones(3), size=(2, 4, 2))


def frequencies(one):
    return ClassFrequencies.from_posterior(one, {}, values=VALUES)


class TestPriorByTime:
    HISTORY = history_of(("AB", "ab"), ("AB", "ba"), domain="abc")

    def rows(self, prior):
        return [prior(view.people)[0] for view in self.HISTORY]

    def test_each_time_has_its_mean(self):
        tree = posterior({"time": [2, 1], "value": list(VALUES)}, frequencies=(("time", "value"), FREQUENCIES))
        assert self.rows(PriorByTime.from_posterior(tree, frequencies)) == pytest.approx(
            FREQUENCIES.mean(axis=(0, 1))[[1, 0]]
        )

    def test_the_times_may_be_given(self):
        tree = posterior({"value": list(VALUES)}, frequencies=(("time", "value"), FREQUENCIES))
        prior = PriorByTime.from_posterior(tree, frequencies, times=[1, 2])
        assert self.rows(prior) == pytest.approx(FREQUENCIES.mean(axis=(0, 1)))
        day = datetime.date(2024, 1, 1)
        assert set(PriorByTime.from_posterior(tree, frequencies, times=[day, "later"]).priors) == {day, "later"}

    def test_dates_stay_dates(self):
        days = pd.to_datetime(["2024-01-01", "2024-02-01"])
        tree = posterior({"time": days}, frequencies=(("time", "value"), FREQUENCIES))
        assert set(PriorByTime.from_posterior(tree, lambda one: UniformPrior()).priors) == set(days)  # noqa: ARG005

    def test_variables_without_time_are_in_each(self):
        rows = RNG.dirichlet(np.ones(3), size=(2, 4))
        tree = posterior({"time": [1, 2]}, frequencies=(("value",), rows), other=(("time",), np.zeros((2, 4, 2))))
        assert self.rows(PriorByTime.from_posterior(tree, frequencies)) == pytest.approx(
            np.tile(rows.mean(axis=(0, 1)), (2, 1))
        )

    @pytest.mark.parametrize(
        ("prior", "times", "error", "message"),
        [
            (3, None, TypeError, "prior is 3; it is a function of the posterior of one time"),
            (UniformPrior, None, TypeError, "it is a function of the posterior of one time"),
            (UniformPrior(), None, TypeError, "people is a Dataset; it is People"),
            (lambda one: None, None, TypeError, "PriorByTime: priors is"),  # noqa: ARG005
            (frequencies, [1], ValueError, "1 different times, and the dimension 'time' has 2 entries"),
            (frequencies, [1, 1], ValueError, "1 different times, and the dimension 'time' has 2"),
            (frequencies, 3, TypeError, "times is 3; it is a sequence of the times of the releases"),
        ],
    )
    def test_wrong_arguments(self, prior, times, error, message):
        tree = posterior({"value": list(VALUES)}, frequencies=(("time", "value"), FREQUENCIES))
        with pytest.raises(error, match=re.escape(message)):
            PriorByTime.from_posterior(tree, prior, times)


class TestKernelPrior:
    HISTORY = history_of(("ABCDE", "abcab"), domain="abc")
    PEOPLE = HISTORY[0].people

    def tree(self, drawn):
        """Posterior in which each draw is one corpus of certain values."""
        belief = np.eye(3)[["abc".index(value) for corpus in drawn for value in corpus]]
        return posterior({"value": list(VALUES)}, belief=(("respondent", "value"), belief.reshape(1, -1, 5, 3)))

    @pytest.mark.parametrize("leave_one_out", [False, True])
    @pytest.mark.parametrize("bandwidth", [0.02, 0.3, 1.0])
    def test_it_is_the_mean_of_the_priors_of_all_draws(self, bandwidth, leave_one_out):
        drawn = ["".join(corpus) for corpus in itertools.product("abc", repeat=5)][::17]
        prior = KernelPrior.from_posterior(self.tree(drawn), self.PEOPLE, bandwidth, leave_one_out=leave_one_out)
        each = [
            KernelPrior.fit(history_of(("ABCDE", corpus), domain="abc"), bandwidth, leave_one_out) for corpus in drawn
        ]
        people = history_of(("ABFEC", "aaaaa"), domain="abc")[0].people
        assert prior(people) == pytest.approx(np.mean([one(people) for one in each], axis=0))

    def test_one_release_of_a_program_is_a_corpus(self):
        tree = self.tree(["abcab", "aabbc"]).expand_dims(release=[1])
        prior = KernelPrior.from_posterior(tree, self.PEOPLE, 0.3)
        alone = KernelPrior.from_posterior(tree.isel(release=0), self.PEOPLE, 0.3)
        assert prior(self.PEOPLE) == pytest.approx(alone(self.PEOPLE))

    @pytest.mark.parametrize(
        ("people", "bandwidth", "error", "message"),
        [
            (HISTORY, 0.3, TypeError, "it is People"),
            (PEOPLE[np.arange(3)], 0.3, ValueError, "and the people need (3, 3); select one release"),
            (PEOPLE, 0.0, ValueError, "it is a positive finite number"),
            (PEOPLE, {"weight": 1.0}, ValueError, "the bandwidth names weight"),
        ],
    )
    def test_wrong_arguments(self, people, bandwidth, error, message):
        with pytest.raises(error, match=re.escape(message)):
            KernelPrior.from_posterior(self.tree(["abcab"]), people, bandwidth)


class TestDirichletRows:
    def test_two_draws_of_two_values_by_hand(self):
        """Mean .4 and variance .02 of both values: .48 / .04 = 12, so that the total concentration is 11."""
        draws = np.array([[[0.3, 0.7], [0.5, 0.5]]])
        known = DirichletFrequencies.from_posterior(posterior(frequencies=(("value",), draws)), {})
        assert known.concentrations == pytest.approx([4.4, 6.6])

    def test_draws_of_a_dirichlet_distribution_give_its_concentrations(self):
        wanted = np.array([[2.0, 0.5, 1.0], [30.0, 20.0, 1.0], [0.3, 0.3, 0.3]])
        rng = np.random.default_rng(8)
        draws = np.stack([rng.dirichlet(row, size=(4, 20000)) for row in wanted], axis=2)
        known = DirichletChain.from_posterior(posterior(transitions=(("last", "value"), draws)))
        assert known.concentrations[0] == pytest.approx(wanted, rel=0.05)
        assert known.mean.probabilities == pytest.approx(draws.mean(axis=(0, 1)))

    def test_shorter_sequences_have_the_draws_averaged_over_the_oldest_value(self):
        draws = np.random.default_rng(9).dirichlet(np.ones(2), size=(2, 50, 2, 2))
        known = DirichletChain.from_posterior(posterior(transitions=(("value_1", "value_2", "value"), draws)))
        short = DirichletChain.from_posterior(posterior(transitions=(("last", "value"), draws.mean(axis=2))))
        assert known.order == 2
        assert known.concentrations[0] == pytest.approx(short.concentrations[0])
        assert known.concentrations[1][0] == pytest.approx(
            DirichletChain.from_posterior(posterior(transitions=(("last", "value"), draws[:, :, 0]))).concentrations[0]
        )

    @pytest.mark.parametrize("draws", [[[0.3, 0.7]], [[0.3, 0.7], [0.3, 0.7]], [[1.0, 0.0], [0.0, 1.0]]])
    def test_draws_that_are_no_spread_of_a_dirichlet_row_are_refused(self, draws):
        with pytest.raises(
            ValueError, match=r"a total variance of .*; those of a Dirichlet row of this mean are between 0"
        ):
            DirichletFrequencies.from_posterior(posterior(frequencies=(("value",), np.array([draws]))), {})


def test_one_draw_of_each_type_is_knowledge_of_that_draw():
    """Prior and transitions of one draw, as `Averaged.from_posterior` takes them."""
    belief = RNG.dirichlet(np.ones(3), size=(2, 4, 2))
    tree = posterior(
        {"respondent": ["A", "B"], "time": [1, 2], "value": list(VALUES)},
        transitions=(("last", "value"), STEPS[:, :, 0]),
        belief=(("time", "respondent", "value"), np.stack([belief, belief[..., ::-1]], axis=2)),
    )
    for d, draw in enumerate(posterior_draws(tree, 8)):
        prior = PriorByTime.from_posterior(draw, GivenPrior.from_posterior)
        assert prior.priors[2].frame.to_numpy() == pytest.approx(belief.reshape(8, 2, 3)[d][:, ::-1])
        assert MarkovChain.from_posterior(draw).probabilities == pytest.approx(STEPS[:, :, 0].reshape(8, 3, 3)[d])
