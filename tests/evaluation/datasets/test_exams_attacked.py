"""Claims of JS-reduce's Figures 3 and 4 at full size: 24 releases of 5,000 records, exact knowledge."""

import numpy as np
import pytest

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, Mondrian, TCloseness, publish
from foreknow.evaluation import adversary_gain, exams, suppressed, verify
from foreknow.models import Adversary, Exact, Omega

pytestmark = pytest.mark.slow

DIVERSE = KAnonymity(2) & DistinctDiversity(2)
JS_REDUCE = JSReduce(3, 0.5, 0.6)
TIMES = list(range(1, 25))


@pytest.fixture(scope="module")
def simulation():
    return exams(rng=np.random.default_rng(20120126))


@pytest.fixture(scope="module")
def omega(simulation):
    return Adversary(simulation.prior, simulation.transitions, estimator=Omega())


@pytest.fixture(scope="module")
def diverse(simulation):
    """Releases that are safe by 2-diversity."""
    return publish(simulation.history, Mondrian(DIVERSE))


@pytest.fixture(scope="module")
def read_with_omega(simulation, omega, diverse):
    return adversary_gain(SequentialAttack(omega)(diverse), simulation.history).set_index("time")


@pytest.fixture(scope="module")
def read_exactly(simulation, diverse):
    exact = Adversary(simulation.prior, simulation.transitions, estimator=Exact())
    return adversary_gain(SequentialAttack(exact)(diverse), simulation.history).set_index("time")


@pytest.fixture(scope="module")
def guarded(simulation, omega):
    """Published by JS-reduce with the paper's thresholds, against the very adversary that attacks."""
    return publish(simulation.history, JS_REDUCE, omega)


@pytest.fixture(scope="module")
def read_from_guarded(simulation, omega, guarded):
    return adversary_gain(SequentialAttack(omega)(guarded), simulation.history).set_index("time")


def test_all_records_are_published_in_diverse_groups(diverse):
    assert [release.time for release in diverse] == TIMES
    for release in (diverse[0], diverse[11], diverse[23]):
        assert len(release.table) == 5000
        assert verify(release, DIVERSE)["holds"].all()


def test_the_gain_starts_low_and_passes_four_tenths(read_with_omega):
    """Figure 3: below .1 at the first release, beyond .4 within the first six to eight."""
    assert read_with_omega.loc[1, "gain"] < 0.1
    assert read_with_omega["gain"].max() > 0.4
    assert read_with_omega.loc[1:8, "gain"].is_monotonic_increasing
    assert (read_with_omega["measured"] == 5000).all()


def test_a_snapshot_attack_gains_nothing(simulation, omega, diverse):
    """Figure 4: the curve of background knowledge without memory is negligible."""
    alone = adversary_gain(SnapshotAttack(omega)(diverse), simulation.history)
    assert alone["time"].tolist() == TIMES
    assert (alone["gain"].abs() < 0.05).all()


def test_the_exact_posterior_gains_more_than_the_paper_s_estimate(read_with_omega, read_exactly):
    assert read_exactly["gain"].mean() > read_with_omega["gain"].mean()
    assert read_exactly.loc[24, "gain"] > read_with_omega.loc[24, "gain"]
    assert read_exactly.loc[1, "gain"] < 0.1


def test_js_reduce_gives_away_several_times_less_where_it_publishes(read_with_omega, read_from_guarded):
    """From the fifth release on; means over the releases in which JS-reduce publishes a record."""
    late = read_from_guarded.loc[5:]
    late = late[late["measured"] > 0]
    same = read_with_omega.loc[late.index]
    assert len(late) > 0
    assert (late["gain"] < same["gain"]).all()
    assert same["gain"].mean() >= 3 * late["gain"].mean()


def test_what_js_reduce_leaves_out_is_reported(guarded, read_from_guarded):
    """Counted from the public tables; how much it is, docs/findings.md says."""
    published = np.array([len(release.table) for release in guarded])
    table = suppressed(guarded)
    assert table["time"].tolist() == TIMES
    np.testing.assert_array_equal(table["suppressed"], 5000 - published)
    np.testing.assert_allclose(table["suppressed_share"], 1 - published / 5000)
    np.testing.assert_array_equal(read_from_guarded["suppressed"], table["suppressed"])
    np.testing.assert_array_equal(read_from_guarded["measured"] + read_from_guarded["certain"], published)
    for release, left_out in zip(guarded, table["suppressed"], strict=True):
        assert any("suppressed" in note for note in release.grouping.notes) == (left_out > 0)


def test_what_js_reduce_publishes_is_anonymous_and_close(guarded):
    for release in guarded:
        assert verify(release, KAnonymity(3) & TCloseness(0.5))["holds"].all()


def test_a_release_without_a_record_has_no_gain(read_from_guarded):
    nothing = read_from_guarded["measured"] == 0
    np.testing.assert_array_equal(read_from_guarded["gain"].isna(), nothing)


def test_it_does_so_too_where_it_publishes_much_of_the_table(simulation, omega, read_with_omega):
    """With patience, over a third of the records is published (as printed, most are not)."""
    patient = publish(simulation.history, JSReduce(3, 0.5, 0.6, patience=50), omega)
    assert sum(len(release.table) for release in patient) > 24 * 5000 / 3
    gain = adversary_gain(SequentialAttack(omega)(patient), simulation.history).set_index("time")["gain"]
    assert read_with_omega.loc[5:, "gain"].mean() >= 3 * gain.loc[5:].mean()
