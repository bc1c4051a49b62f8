"""Simulated exams against their exact prior and transitions."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from foreknow.evaluation.datasets.exams import RESULTS, exam_transitions, exams

ENDS = ("deceased", "discharged")
FALSE_ALARM = 1e-3
"""Probability that a correct simulator fails a statistical test (union bound over cells); the seed is fixed."""


@pytest.fixture(scope="module", params=[1.0, 26.0], ids=["weekly", "half-yearly"])
def simulation(request):
    return exams(weeks_per_step=request.param, rng=np.random.default_rng(20120101))


@pytest.fixture(scope="module")
def weekly():
    return exams(rng=np.random.default_rng(7))


def table(simulation):
    """All records, person by person in the order of time, with codes and the next record's code (-1 for none)."""
    records = pd.concat([view.frame.assign(time=view.time, code=view.sensitive) for view in simulation.history])
    records = records.sort_values(["id", "time"]).reset_index(drop=True)
    same = records["id"].shift(-1) == records["id"]
    return records.assign(following=records["code"].shift(-1).where(same, -1).astype(int))


def assert_drawn_from(counts, laws):
    """Exact binomial test of every cell, at the level `FALSE_ALARM` over all cells."""
    totals = counts.sum(axis=-1, keepdims=True)
    tails = 2 * np.minimum(stats.binom.cdf(counts, totals, laws), stats.binom.sf(counts - 1, totals, laws))
    assert tails.min() >= FALSE_ALARM / counts.size


def test_every_view_has_its_records_and_columns(simulation):
    assert simulation.history.times == tuple(range(1, 25))
    assert {len(view) for view in simulation.history} == {5000}
    assert list(simulation.history[3].frame.columns) == ["id", "week", "age", "gender", "weight", "result"]
    assert set(simulation.history[3].frame["week"]) == {4}
    assert list(simulation.history.schema.quasi_identifiers) == ["age", "gender", "weight"]
    np.testing.assert_array_equal(simulation.history.schema.bounds, [[45, 74], [1, 2], [60, 89]])
    assert simulation.history.schema.values == RESULTS


def test_people_are_under_care_in_one_run_and_keep_their_traits(simulation):
    records = table(simulation)
    people = records.groupby("id")["time"]
    assert (people.max() - people.min() + 1 == people.size()).all()
    assert len(records[["id", "age", "gender", "weight"]].drop_duplicates()) == len(people)


def test_no_record_after_the_last_state(simulation):
    records = table(simulation)
    ended = records["result"].isin(ENDS)
    assert ended.any()
    assert (records.loc[ended, "following"] == -1).all()


def test_first_results_are_drawn_from_the_prior(simulation):
    first = table(simulation).drop_duplicates("id")
    bands = [(first["age"] - 45) // 10, first["gender"] - 1, (first["weight"] - 60) // 10, first["code"]]
    counts = np.zeros((3, 2, 3, 19))
    np.add.at(counts, tuple(bands), 1)
    assert_drawn_from(counts, simulation.prior.probabilities)


def test_later_results_are_drawn_from_the_transitions(simulation):
    records = table(simulation)
    later = records[records["following"] >= 0]
    counts = np.zeros((19, 19))
    np.add.at(counts, (later["code"], later["following"]), 1)
    assert_drawn_from(counts, simulation.transitions.probabilities)


def test_traits_are_uniform(weekly):
    people = table(weekly).drop_duplicates("id")
    for trait, low, high in (("age", 45, 74), ("gender", 1, 2), ("weight", 60, 89)):
        counts = np.bincount(people[trait] - low, minlength=high - low + 1)
        assert_drawn_from(counts, np.full(high - low + 1, 1 / (high - low + 1)))


def test_there_are_as_many_people_as_in_the_paper(weekly):
    assert 15_900 <= len(weekly.history.respondents) <= 16_450
    ends = [int(np.isin(view.frame["result"], ENDS).sum()) for view in weekly.history]
    assert max(ends) < 485
    before, after = weekly.history.views[:-1], weekly.history.views[1:]
    newcomers = [len(set(b.frame["id"]) - set(a.frame["id"])) for a, b in zip(before, after, strict=True)]
    assert set(newcomers) <= {485, 486}  # 5000 * .09704 = 485.2, rounded either way


def test_people_leave_whatever_their_result(weekly):
    records = table(weekly)
    stayed = records[(records["time"] < 24) & (records["code"] < 17)].assign(left=lambda rows: rows["following"] == -1)
    expected = stayed.groupby("time")["left"].transform("mean")
    spread = expected * (1 - expected)  # drawn without replacement, so this is more than the variance
    sums = pd.DataFrame({"code": stayed["code"], "excess": stayed["left"] - expected, "spread": spread})
    sums = sums.groupby("code").sum()
    bound = stats.norm.isf(FALSE_ALARM / len(sums) / 2)
    assert (sums["excess"].abs() <= bound * np.sqrt(sums["spread"])).all()


def test_where_more_records_end_than_leave_no_other_respondent_leaves():
    history = exams(views=6, records=2000, weeks_per_step=26, rng=np.random.default_rng(3)).history
    ended = [set(view.frame["id"][view.frame["result"].isin(ENDS)]) for view in history]
    gone = [set(a.frame["id"]) - set(b.frame["id"]) for a, b in zip(history.views[:-1], history.views[1:], strict=True)]
    crowded = [step for step in range(5) if len(ended[step]) > 2000 * 0.0971]
    assert crowded
    assert all(gone[step] == ended[step] for step in crowded)


def test_the_prior_tells_18_classes_apart(weekly):
    classes = weekly.prior.probabilities.reshape(-1, 19)
    assert len(np.unique(classes.round(12), axis=0)) == 18
    assert (classes > 0).all()


def test_the_generator_alone_decides():
    first, again, other = (exams(3, 50, rng=np.random.default_rng(seed)).history for seed in (1, 1, 2))
    assert all(a.frame.equals(b.frame) for a, b in zip(first, again, strict=True))
    assert not first[0].frame.equals(other[0].frame)


def test_the_smallest_history_is_one_record():
    assert len(exams(1, 1, rng=np.random.default_rng(0)).history[0]) == 1
    assert {len(view) for view in exams(40, 1, rng=np.random.default_rng(0)).history} == {1}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"views": 0}, "views is 0"),
        ({"records": -3}, "records is -3"),
        ({"weeks_per_step": 0}, "weeks_per_step is 0"),
    ],
)
def test_a_wrong_setting_is_named(settings, words):
    with pytest.raises(ValueError, match=words):
        exams(**settings, rng=np.random.default_rng(0))


@pytest.mark.parametrize("sizes", [{"views": 2.5}, {"records": "10"}, {"views": 0}])
def test_sizes_are_whole_numbers(sizes):
    with pytest.raises(ValueError, match=r"it is a whole number of (views|records), 1 or more"):
        exams(**sizes, rng=np.random.default_rng(1))


class TestPastAndClass:
    """Transitions that depend on the duration of a stage and on the class."""

    def test_results_are_drawn_from_the_chain_of_the_class_and_the_duration(self):
        """Every class together is too thin for a test by class: the counts of a class are compared with its own laws."""
        simulation = exams(12, 5000, 26.0, order=3, by_class=True, rng=11)
        people = simulation.history[0].people
        chains = simulation.transitions.chains_at(1)
        classes = {}
        for view in simulation.history:
            classes |= dict(
                zip(
                    view.people.respondents.tolist(), simulation.transitions.class_of(view.people).tolist(), strict=True
                )
            )
        records = table(simulation)
        records["lasting"] = records.groupby("id")["code"].transform(
            lambda codes: codes.groupby((codes != codes.shift()).cumsum()).cumcount() + 1
        )
        records["lasting"] = records["lasting"].clip(upper=3)
        records["class"] = records["id"].map(classes)
        m = len(RESULTS)
        counts = np.zeros((18, 3, m, m))
        some = records[records["following"] >= 0]
        np.add.at(counts, (some["class"], some["lasting"] - 1, some["code"], some["following"]), 1)
        laws = np.array([chain.probabilities[1:].reshape(3, m, m) for chain in chains])
        assert_drawn_from(counts, laws)
        assert len(people) == 5000

    def test_the_rate_is_in_proportion_to_the_duration(self):
        """-log of the probability of staying is 2 k / (d + 1) times that of the chain of order 1; leaving goes where it went."""
        one, chain = exam_transitions().probabilities, exam_transitions(order=4)
        rows = chain.probabilities[1:].reshape(4, len(RESULTS), len(RESULTS))
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.log(np.diagonal(rows, axis1=1, axis2=2)) / np.log(np.diag(one))
            shares = [np.where(np.eye(len(RESULTS)), np.nan, row / (1 - np.diag(row))[:, None]) for row in (one, *rows)]
        chronic = RESULTS.index("AIDS")
        np.testing.assert_allclose(rates[:, chronic], [0.4, 0.8, 1.2, 1.6])
        np.testing.assert_allclose(rates[:, :-2], np.array([[0.4, 0.8, 1.2, 1.6]] * 17).T)
        np.testing.assert_allclose(shares[1:], [shares[0]] * 4)

    def test_the_chain_of_one_result_is_that_after_it_alone(self):
        chain = exam_transitions(order=2, by_class=True)
        assert chain.truncate(1).chains_at(0)[0].order == 1
        np.testing.assert_array_equal(
            chain.truncate(1).chains_at(0)[7].probabilities, chain.chains_at(0)[7].probabilities[1:20]
        )

    def test_defaults_are_one_chain_of_order_one(self):
        plain, given = exams(3, 50, rng=4), exams(3, 50, order=1, by_class=False, rng=4)
        assert plain == given
        assert exams(3, 50, by_class=True, rng=4).transitions.chains_at(0)[0].order == 1

    @pytest.mark.parametrize("wrong", [{"order": 0}, {"by_class": 1}])
    def test_wrong_settings_are_named(self, wrong):
        with pytest.raises((TypeError, ValueError), match=f"exams: {next(iter(wrong))}"):
            exams(2, 10, rng=1, **wrong)
