"""Settings of cohorts that are recommended: the price of batches by simulation, the order of the rows, errors."""

import numpy as np
import pytest

from foreknow.defenses import Cohorts
from foreknow.evaluation import exams, recommend
from foreknow.evaluation.recommended import ghost_share

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


@pytest.mark.parametrize(("a", "size"), [(2, 20), (5, 20), (10, 50), (3, 8), (5, 5)])
def test_the_price_of_batches_is_that_of_simulated_cells(a, size):
    assert ghost_share(a, size) == pytest.approx(simulated_share(a, size, np.random.default_rng(1)), abs=0.01)


def test_the_price_of_batches_does_not_differ_from_the_published_table():
    """Values that another simulation of generations had given, in two decimals."""
    table = {2: [0.10, 0.05, 0.03, 0.02, 0.00], 5: [0.32, 0.18, 0.11, 0.07, 0.02], 10: [0.53, 0.35, 0.23, 0.14, 0.04]}
    for a, row in table.items():
        assert [ghost_share(a, size) for size in (20, 50, 100, 200, 1000)] == pytest.approx(row, abs=0.006)


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
