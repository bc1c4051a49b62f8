"""Settings of cohorts that are recommended: the price of batches by simulation, the order of the rows, errors."""

import numpy as np
import pytest

from foreknow.defenses import Cohorts
from foreknow.evaluation import exams, expected_gain_bound, recommend
from foreknow.evaluation.recommended import arrivals_of, foreseen
from foreknow.models import Adversary

HISTORY = exams(3, 100, rng=1).history


def simulated_share(a, size, rng, cells=4000, hazard=0.002):
    """Share of ghosts over the lives of cells whose members leave at a constant rate, by their times of departure."""
    times = np.sort(rng.exponential(1 / hazard, (cells, size)), axis=1)
    ghosts = records = 0.0
    for row in times:
        ends, start = np.empty(size), 0
        while start < size:
            stop = start + a if size - start - a >= a else size
            ends[start:stop], start = row[stop - 1], stop
        ghosts, records = ghosts + (ends - row).sum(), records + ends.sum()
    return ghosts / records


def foreseen_share(a, size, rate=0.005):
    """Share of ghosts that is foreseen for a cell whose members leave after the expected times of a constant rate."""
    gone = 1 + np.ceil(np.cumsum(1 / (rate * (size - np.arange(size))))).astype(int)
    return foreseen(Cohorts(a, size), [(np.zeros(size, dtype=int), gone)], int(gone[-1]) + 1)[1]


@pytest.mark.parametrize(("a", "size"), [(2, 20), (5, 20), (10, 50), (3, 8), (5, 5)])
def test_the_price_of_batches_is_that_of_simulated_cells(a, size):
    assert foreseen_share(a, size) == pytest.approx(simulated_share(a, size, np.random.default_rng(1)), abs=0.01)


def test_the_price_of_batches_does_not_differ_from_the_published_table():
    """Values that another simulation of generations had given, in two decimals."""
    table = {2: [0.10, 0.05, 0.03, 0.02], 5: [0.32, 0.18, 0.11, 0.07], 10: [0.53, 0.35, 0.23, 0.14]}
    for a, row in table.items():
        assert [foreseen_share(a, size) for size in (20, 50, 100, 200)] == pytest.approx(row, abs=0.006)


def test_departures_of_several_members_in_one_release_cost_more():
    """A batch of more than a leaves fewer than 2 a places at last, which end when all have left."""
    assert foreseen_share(10, 50, rate=0.05) > foreseen_share(10, 50) + 0.03


@pytest.mark.parametrize(("a", "size"), [(2, 8), (5, 20), (10, 10), (4, 30)])
def test_what_the_screen_foresees_is_what_a_trial_finds(a, size):
    """Without absences and revision: `publish` and `role_anonymity` of cells drawn otherwise, so up to sampling."""
    panel, prior, _ = exams(6, 600, rng=2)
    adversary = Adversary(prior)
    bound, price = foreseen(Cohorts(a, size), arrivals_of(panel, adversary, 0.0), len(panel))
    found = recommend(panel, 1.0, adversary, departures=["ghosts"], candidates=[(a, size)]).iloc[0]
    assert bound == pytest.approx(found["gain_bound"], abs=0.02)
    assert price == pytest.approx(found["price"], abs=0.02)


def test_a_pair_whose_full_cell_is_over_the_bound_is_tried():
    """Cells shrink, and those who stay are one atom: here the cheapest pair has .158 by its full cell and less in truth."""
    panel, prior, _ = exams(6, 600, rng=2)
    table = recommend(panel, 0.05, Adversary(prior), departures=["ghosts"], candidates=[(20, 20), (5, 20)])
    assert table.loc[0, ["a", "meets"]].tolist() == [5, True]
    assert expected_gain_bound(5, 20) > 0.15


def test_settings_that_meet_the_bound_come_first_and_then_the_cheapest():
    table = recommend(HISTORY, 0.05, departures=["ghosts", "retire"], candidates=[(10, 10), (5, 5)])
    assert len(table) == 4
    assert table["meets"].all()
    assert (table["gain_bound"] == 0).all()
    assert table["price"].is_monotonic_increasing
    assert (table["price"] == table["ghosts"] + table["withheld"] + table["waiting"]).all()
    assert (table.loc[table["departures"] == "retire", "ghosts"] == 0).all()


def test_without_a_pair_that_meets_the_bound_the_lowest_bounds_are_tried():
    table = recommend(HISTORY, 0.0, departures=["ghosts"], candidates=[(2, 8), (3, 12)], trials=1)
    assert table["a"].tolist() == [3]
    assert not table["meets"].any()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"gain": 2}, "gain is 2"),
        ({"trials": 0}, "trials is 0"),
        ({"departures": ["vanish"]}, "departures is 'vanish'"),
        ({"candidates": []}, "there are no candidates"),
        ({"candidates": [(5, 9)]}, "at least 2 a"),
        ({"candidates": [(500, 500)], "departures": ["ghosts"]}, "no record is published"),
        ({"defense": Cohorts(2, terminal=("none such",)), "departures": ["ghosts"]}, "is no sensitive value"),
    ],
)
def test_bad_input_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        recommend(HISTORY, **given)
