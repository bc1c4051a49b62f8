"""Mined probabilities beside true frequencies, against counts by hand."""

import math

import numpy as np
import pytest
from mined_beliefs import FRAME, GROUPS, HISTORY, SCHEMA, TOWNS, VIEW, beliefs_with, mined
from places import ADULT

from foreknow.attacks import ForegroundAttack, SnapshotAttack
from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.evaluation import adult, global_probabilities
from foreknow.evaluation.risk.global_errors import global_errors
from foreknow.models import Adversary, Exact, History, Release, UniformPrior, View


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


class TestProbabilities:
    def test_each_signature_beside_its_truth(self):
        table = global_probabilities(beliefs_with(TOWNS), HISTORY, {"x"})
        assert table["attributes"].tolist() == ["town"] * 3
        assert table["signature"].tolist() == ["Como", "Milan", "Rome"]
        assert table["support"].tolist() == [1, 3, 3]
        assert table["probability"].tolist() == [0.8, 0.5, 0.3]
        np.testing.assert_allclose(table["frequency"], [1 / 2, 2 / 3, 1 / 3])
        assert list(table.columns) == ["time", "attributes", "signature", "support", "probability", "frequency"]

    def test_credible_intervals_where_there_are_draws(self):
        draws = np.linspace(0, 1, 101)[:, None] * np.array([1.0, 0.5, 0.2])
        sampled = mined(["town"], [0.5, 0.25, 0.1], draws=np.stack([draws, 1 - draws], axis=2))
        table = global_probabilities(beliefs_with(sampled), HISTORY, {"x"})
        np.testing.assert_allclose(table["low"], [0.05, 0.025, 0.01])
        np.testing.assert_allclose(table["high"], [0.95, 0.475, 0.19])

    def test_signatures_of_several_attributes_and_numbers_in_words(self):
        pairs = mined(["town", "age"], [0.9, 0.4], min_support=2)
        table = global_probabilities(beliefs_with(pairs), HISTORY, {"x"})
        assert table["attributes"].tolist() == ["town, age"] * 2
        assert table["signature"].tolist() == ["Milan, 30", "Rome, 20"]
        assert table["frequency"].tolist() == [1 / 2, 1 / 2]  # D of D and E; A of A and F

    def test_of_an_attack_on_all_values_any_set_is_summed(self):
        whole = mined(["town"], [[0.2, 0.3, 0.5], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2]], sensitive_set=None)
        table = global_probabilities(beliefs_with(whole), HISTORY, {"x", "z"})
        np.testing.assert_allclose(table["probability"], [0.7, 0.4, 0.6])
        np.testing.assert_allclose(table["frequency"], [1, 2 / 3, 2 / 3])  # G and H of Como have x and z

    def test_nothing_mined(self):
        assert global_probabilities(beliefs_with(), HISTORY, {"x"}).empty


class TestErrors:
    def test_by_hand(self):
        found = only(global_errors(beliefs_with(TOWNS), HISTORY, {"x"}))
        assert found["relative_error"] == pytest.approx(
            (0.3 / (1 / 2) + (2 / 3 - 1 / 2) / (2 / 3) + (1 / 3 - 0.3) / (1 / 3)) / 3
        )
        assert found["absolute_error"] == pytest.approx((0.3 + 1 / 6 + 1 / 30) / 3)
        assert (found["time"], found["signatures"], found["zeros"]) == (1, 3, 0)

    def test_frequencies_of_zero_are_left_out_and_counted(self):
        towns = mined(["town"], [0.8, 0.5, 0.3], sensitive_set=("y",))
        found = only(global_errors(beliefs_with(towns), HISTORY, {"y"}))  # none in Como
        assert found["relative_error"] == pytest.approx(((0.5 - 1 / 3) / (1 / 3) + (1 / 3 - 0.3) / (1 / 3)) / 2)
        assert found["absolute_error"] == pytest.approx((0.8 + 1 / 6 + 1 / 30) / 3)
        assert (found["signatures"], found["zeros"]) == (3, 1)

    def test_only_zeros(self):
        young = mined(["age"], [0.5], min_support=4, sensitive_set=("y",))
        found = only(global_errors(beliefs_with(young), HISTORY, {"y"}))  # A, C, F, G, H
        assert math.isnan(found["relative_error"])
        assert (found["absolute_error"], found["zeros"]) == (0.5, 1)

    def test_a_row_per_attribute_set_and_one_over_all(self):
        several = beliefs_with(TOWNS, mined(["age"], [0.25, 0.5]))
        table = global_errors(several, HISTORY, {"x"}, by_attribute_set=True)
        assert table["attributes"].tolist() == ["town", "age"]
        assert table["signatures"].tolist() == [3, 2]
        assert table["absolute_error"].iloc[1] == pytest.approx((abs(0.25 - 3 / 5) + abs(0.5 - 1 / 3)) / 2)
        whole = only(global_errors(several, HISTORY, {"x"}))
        for name in ("relative_error", "absolute_error"):
            assert whole[name] == pytest.approx(np.average(table[name], weights=[3, 2]))

    def test_nothing_mined(self):
        found = only(global_errors(beliefs_with(), HISTORY, {"x"}))
        assert (found["signatures"], found["zeros"]) == (0, 0)
        assert math.isnan(found["relative_error"])

    def test_groups_of_one_teach_the_truth(self):
        """For every attribute set the mined probabilities are the frequencies."""
        alone = ForegroundAttack(sensitive_set={"x"}, support=1)([Release(VIEW, np.arange(8))])
        found = only(global_errors(alone, HISTORY, {"x"}))
        assert found["absolute_error"] == pytest.approx(0, abs=1e-9)
        assert found["signatures"] == 3 + 2 + 5


class TestWhatIsRefused:
    @pytest.mark.parametrize("beliefs", [None, 3, "beliefs", (), FRAME])
    @pytest.mark.parametrize("measure", [global_probabilities, global_errors])
    def test_other_objects(self, measure, beliefs):
        with pytest.raises(TypeError, match=rf"{measure.__name__}: beliefs is .*; it holds global distributions; give"):
            measure(beliefs, HISTORY, {"x"})

    def test_beliefs_without_the_distributions_of_a_release(self):
        partial = ForegroundBeliefs(beliefs_with(TOWNS).releases)
        with pytest.raises(ValueError, match="has 1 releases and the global distributions of 0"):
            partial.over(2)

    def test_by_attribute_set_is_a_flag(self):
        with pytest.raises(TypeError, match="global_errors: by_attribute_set is 1; it is True or False"):
            global_errors(beliefs_with(TOWNS), HISTORY, {"x"}, by_attribute_set=1)

    @pytest.mark.parametrize(
        "measure",
        [
            lambda beliefs: global_probabilities(beliefs, HISTORY, {"x"}),
            lambda beliefs: global_errors(beliefs, HISTORY, {"x"}),
        ],
    )
    def test_beliefs_that_mined_nothing(self, measure):
        counted = SnapshotAttack(Adversary(UniformPrior(), estimator=Exact()))([Release(VIEW, GROUPS)])
        with pytest.raises(TypeError, match="give what a ForegroundAttack returned"):
            measure(counted)

    @pytest.mark.parametrize("measure", [global_probabilities, global_errors])
    @pytest.mark.parametrize(
        ("sensitive", "error", "words"),
        [({"w"}, ValueError, "holds 'w'"), (set("xyz"), ValueError, "all 3 values"), (None, TypeError, "is None")],
    )
    def test_the_sensitive_set(self, measure, sensitive, error, words):
        with pytest.raises(error, match=rf"{measure.__name__}: .*{words}"):
            measure(beliefs_with(TOWNS), HISTORY, sensitive)

    @pytest.mark.parametrize("measure", [global_probabilities, global_errors])
    def test_another_set_than_the_attack_s(self, measure):
        """Probabilities of {z, y} say nothing of {x, y}; the order of the values does not matter."""
        towns = beliefs_with(mined(["town"], [0.8, 0.5, 0.3], sensitive_set=("z", "y")))
        with pytest.raises(
            ValueError,
            match=rf"{measure.__name__}: the set asked for is {{'x', 'y'}}, and the attack was given {{'y', 'z'}}, .*"
            r"attack with sensitive_set={'x', 'y'}, or with sensitive_set=None",
        ):
            measure(towns, HISTORY, {"x", "y"})
        assert len(measure(towns, HISTORY, ["y", "z"]))

    def test_another_history(self):
        other = History([View(FRAME.iloc[::-1], SCHEMA, 1)])
        with pytest.raises(ValueError, match="give the history that was published"):
            global_errors(beliefs_with(TOWNS), other, {"x"})


@pytest.mark.skipif(not (ADULT / "adult.data").is_file(), reason=f"UCI Adult is not at {ADULT}")
def test_mined_probabilities_on_adult_are_near_the_frequencies():
    """A tenth of the table in random pairs: within four standard errors of the regression of the sums on the groups' composition.

    Least squares uses less of the pairs than their likelihood does, so that its standard error is an upper bound.
    """
    (view,) = adult(ADULT, "salary-class", ["sex", "race"])
    some = View(view.frame.iloc[::10], view.schema)
    groups = np.random.default_rng(1).permutation(np.arange(len(some)) // 2)
    beliefs = ForegroundAttack([["sex"]], {">50K"}, support=500)([Release(some, groups)])
    table = global_probabilities(beliefs, History([some]), {">50K"})
    true = some.frame.groupby("sex")["salary-class"].apply(lambda column: (column == ">50K").mean())
    assert dict(zip(table["signature"], table["frequency"], strict=True)) == pytest.approx(true.to_dict())
    assert table["support"].sum() == len(some)
    composition = np.zeros((groups.max() + 1, 2))
    np.add.at(composition, (groups, (some.frame["sex"] == "Male").astype(int)), 1)
    inverse = np.linalg.inv(composition.T @ composition)
    scatter = composition @ (true * (1 - true)).to_numpy()
    error = np.sqrt(np.diag(inverse @ (composition.T * scatter) @ composition @ inverse))
    assert table["signature"].tolist() == ["Female", "Male"]
    assert (np.abs(table["probability"] - table["frequency"]) < 4 * error).all()
    assert only(global_errors(beliefs, History([some]), {">50K"}))["signatures"] == 2
