"""Counting queries on noisy counts by hand, and counts smoothed by a chain against enumeration."""

import numpy as np
import pytest
from noisy_histories import noisy_history, noisy_release, true_counts
from strategies import history_of, view_of

from foreknow.attacks import JointAttack
from foreknow.evaluation import Workload, query_error, smoothed_counts
from foreknow.evaluation.loss.queries import query_errors
from foreknow.models import (
    Adversary,
    Averaged,
    Cells,
    ClassFrequencies,
    Enumeration,
    MarkovChain,
    Noise,
    NoisyRelease,
    NoisyTable,
    Release,
    UniformPrior,
)

VIEW = view_of("ABCDE", "aabbc", [20, 21, 23, 40, 41])
NOISE = Noise("gaussian", 2.0)


def asking(ages, values, domain=100):
    """A workload of one query over ages from 0 on."""
    wanted, sensitive = np.isin(np.arange(domain), ages)[None], np.isin(list("abc"), list(values))[None]
    return Workload((np.arange(float(domain)),), (wanted,), sensitive, np.array([1]))


def estimate(release, *query, raw=False):
    return query_errors(release, asking(*query), raw=raw)["estimate"][0]


class TestByHand:
    RELEASE = noisy_release(VIEW, NOISE, [[4, -2, 1], [0, 10, 20]], cuts=[39], processed=[[4.0, 0, 1], [0, 5, 10]])

    def test_cells_are_clipped_to_the_domain(self):
        """40 ages from 0 to 39 in the first cell, 60 in the second: 4 * 2 / 40 and 5 * 6 / 60."""
        assert estimate(self.RELEASE, [20, 21], "a") == pytest.approx(0.2)
        assert estimate(self.RELEASE, range(40, 46), "b") == pytest.approx(0.5)

    def test_raw_counts_may_be_negative(self):
        assert estimate(self.RELEASE, [20, 21], "b", raw=True) == pytest.approx(-0.1)
        assert estimate(self.RELEASE, [20, 21], "b") == 0
        raw = noisy_release(VIEW, NOISE, self.RELEASE.counts, cuts=[39])
        assert estimate(raw, [20, 21], "b") == pytest.approx(-0.1)

    def test_a_cell_without_a_vector_of_the_domain_is_left_out(self):
        young = view_of("AB", "ab", [20, 21])
        release = noisy_release(young, NOISE, [[1, 1, 0], [9, 9, 9]], cuts=[39])
        assert estimate(release, range(40), "abc", 40) == pytest.approx(2)

    def test_without_noise_in_cells_of_a_point_counts_are_exact(self):
        cells = Cells.grid(VIEW.schema, {"age": [20, 21, 22, 23, 39, 40]})
        release = NoisyRelease(VIEW, NoisyTable(cells, true_counts(VIEW, cells), NOISE))
        workload = Workload.draw(VIEW, rng=1, queries=50, selectivity=0.5)
        assert query_error([release], workload)["query_mean"].tolist() == [0]


def test_both_kinds_of_releases_are_scored_by_one_workload():
    workload = Workload.draw(VIEW, rng=1, queries=50, selectivity=0.5)
    noisy = noisy_release(VIEW, NOISE, [[2, 2, 1]])
    table = query_error([Release(VIEW, [0] * 5), noisy], workload)
    assert table["query_mean"][0] == pytest.approx(table["query_mean"][1])
    with pytest.raises(TypeError, match="NoisyRelease"):
        query_error(noisy, workload)


PRIOR, CHAIN = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.2, 0.8]])
ANALYST = Adversary(ClassFrequencies({}, PRIOR), MarkovChain(1, CHAIN))


@pytest.mark.parametrize("hindsight", [True, False])
def test_smoothed_counts_are_sums_of_beliefs(hindsight):
    _, releases = noisy_history(np.random.default_rng(2), NOISE, PRIOR, CHAIN, people=6, listed=1.0)
    beliefs = JointAttack(ANALYST, Enumeration(), hindsight)(releases)
    found = smoothed_counts(releases, ANALYST, Enumeration(), hindsight=hindsight)
    for release, smooth, one in zip(releases, found, beliefs, strict=True):
        expected = [one.posterior.probabilities[release.group == cell].sum(axis=0) for cell in (0, 1)]
        assert smooth.made.processed == pytest.approx(np.array(expected))
        assert (smooth.view, smooth.counts.tolist()) == (release.view, release.counts.tolist())
        assert smooth.table["count"].tolist() == pytest.approx(np.ravel(expected).tolist())


def test_smoothing_reduces_the_error_of_counts():
    history, releases = noisy_history(
        np.random.default_rng(4), Noise("gaussian", 5.0), PRIOR, CHAIN, people=300, releases=8
    )
    truth = [true_counts(view, release.made.cells) for view, release in zip(history, releases, strict=True)]
    smooth = smoothed_counts(releases, ANALYST)
    raw = sum(np.abs(one.counts - counts).sum() for one, counts in zip(releases, truth, strict=True))
    left = sum(np.abs(one.made.processed - counts).sum() for one, counts in zip(smooth, truth, strict=True))
    assert left < 0.8 * raw
    workload = Workload.draw(history, rng=1, queries=200, selectivity=0.3)
    errors = [query_error(smooth, workload, raw=raw)["query_mean"].mean() for raw in (False, True)]
    assert errors[0] < errors[1]


class TestFittedChains:
    HISTORY, RELEASES = noisy_history(np.random.default_rng(2), NOISE, PRIOR, CHAIN, people=6, releases=4)

    @pytest.mark.parametrize(("pseudo_count", "gaps"), [(0.0, "ignore"), (1.0, "ignore"), (0.1, "power")])
    def test_a_chain_of_the_records_is_refused(self, pseudo_count, gaps):
        chain = MarkovChain.fit(self.HISTORY, pseudo_count=pseudo_count, gaps=gaps)
        with pytest.raises(ValueError, match=f"chain is that of the true records.*pseudo_count={pseudo_count:g}"):
            smoothed_counts(self.RELEASES, Adversary(UniformPrior(), chain, gaps=gaps))

    def test_another_one_is_not(self):
        others, _ = noisy_history(np.random.default_rng(3), NOISE, PRIOR, CHAIN, people=6, releases=4)
        assert len(smoothed_counts(self.RELEASES, Adversary(UniformPrior(), MarkovChain.fit(others)))) == 4
        assert len(smoothed_counts(self.RELEASES, Adversary(UniformPrior()))) == 4
        assert len(smoothed_counts(self.RELEASES[:1], ANALYST)) == 1

    def test_other_arguments_are_refused(self):
        exact = Release(history_of(("AB", "ab"))[0], [0, 0])
        for releases, analyst in (([exact], ANALYST), (self.RELEASES, Averaged([ANALYST]))):
            with pytest.raises(TypeError, match="smoothed_counts"):
                smoothed_counts(releases, analyst)
