"""Counting queries on releases with ghosts: the estimate is unbiased over which places are ghosts, with its stated variance."""

import itertools

import numpy as np
import pandas as pd
import pytest

from foreknow.defenses import KAnonymity
from foreknow.evaluation import Workload, kl_loss, query_error, suppressed, verify
from foreknow.evaluation.loss.queries import query_errors
from foreknow.models import Grouping, Numeric, Release, Schema, View

SCHEMA = Schema({"age": Numeric(20, 29)}, "result", ("a", "b", "c"))
AGES, RESULTS, LABELS = [20, 21, 22, 24, 26, 27, 29, 29], list("aabbcabc"), [0, 0, 0, 0, 0, 1, 1, 1]
FRAME = pd.DataFrame({"id": range(8), "age": AGES, "result": RESULTS})
WHOLE = View(FRAME, SCHEMA)
GHOSTS = 2, 1
"""Number of ghosts in each group."""


def release_of(ghosts, bucketized):
    """A release in which some places are ghosts'."""
    ghosts = list(ghosts)
    real = [i for i in range(8) if i not in ghosts]
    rows = np.column_stack([np.array(LABELS)[ghosts], WHOLE.sensitive[ghosts], np.arange(len(ghosts))])
    view = View(FRAME.iloc[real], SCHEMA)
    places = WHOLE.people[np.array(ghosts)]
    return Release(view, Grouping(np.array(LABELS)[real], counterfeits=rows, bucketized=bucketized, places=places))


def all_worlds(bucketized):
    first, second = itertools.combinations(range(5), GHOSTS[0]), list(itertools.combinations(range(5, 8), GHOSTS[1]))
    return [release_of([*one, *other], bucketized) for one in first for other in second]


@pytest.mark.parametrize("bucketized", [False, True])
def test_unbiased_with_the_stated_variance(bucketized):
    """Over all choices of the ghosts' places, with queries on the sensitive value alone: no part of a box is selected."""
    workload = Workload.draw(WHOLE, rng=1, queries=3, dimensions=1, selectivity=1.0)
    everywhere = tuple(np.ones_like(column) for column in workload.selected)
    workload = Workload(workload.domains, everywhere, np.eye(3, dtype=bool), workload.dimensions)
    found = [query_errors(release, workload) for release in all_worlds(bucketized)]
    estimates = np.array([each["estimate"] for each in found])
    actual = np.array([each["actual"] for each in found])
    assert np.ptp(estimates, axis=0).max() < 1e-12, "the estimate is a function of what is published"
    np.testing.assert_allclose(actual.mean(axis=0), estimates[0], atol=1e-12)
    counts = np.array([[2, 2, 1], [1, 1, 1]])
    c, g = np.array([[5], [3]]), np.array(GHOSTS)[:, None]
    variance = ((c - g) * counts / c * (1 - counts / c) * g / (c - 1)).sum(axis=0)
    np.testing.assert_allclose(actual.var(axis=0), variance, atol=1e-12)
    for each in found:
        np.testing.assert_allclose(each["deviation"], actual.std(axis=0), atol=1e-12)


@pytest.mark.parametrize("bucketized", [False, True])
def test_deviation_where_queries_select_a_part_of_a_box(bucketized, monkeypatch):
    """Of f times the real records with selected values, over all choices of the ghosts' places; queries one at a time or not."""
    workload = Workload.draw(WHOLE, rng=2, queries=12, selectivity=0.3)
    group, ages, codes = np.array(LABELS), np.array(AGES), WHOLE.sensitive
    domain = np.unique(ages)
    firsts, others = itertools.combinations(range(5), GHOSTS[0]), list(itertools.combinations(range(5, 8), GHOSTS[1]))
    worlds = [np.isin(range(8), [*one, *other], invert=True) for one in firsts for other in others]
    found = query_errors(release_of([1, 3, 6], bucketized), workload)["deviation"]
    for query, ages_selected, values in zip(range(12), workload.selected[0], workload.selected_values, strict=True):
        estimates = np.zeros(len(worlds))
        for one in (0, 1):
            own = group == one
            box = (domain >= ages[own].min()) & (domain <= ages[own].max())
            f = np.isin(ages[own], domain[ages_selected]).mean() if bucketized else ages_selected[box].mean()
            estimates += f * np.array([(own & real & values[codes]).sum() for real in worlds])
        assert found[query] == pytest.approx(estimates.std())
    assert (found > 0).any()
    monkeypatch.setattr("foreknow.evaluation.loss.queries.MAX_PRODUCTS", 1)
    np.testing.assert_allclose(query_errors(release_of([1, 3, 6], bucketized), workload)["deviation"], found)
    plain = Release(WHOLE, Grouping(np.array(LABELS), bucketized=bucketized))
    table = query_error([release_of([1, 3, 6], bucketized), plain], workload)
    assert table["deviation"].tolist() == [pytest.approx(found.mean()), 0]


def test_no_deviation_of_a_group_that_is_known():
    """Of a group of ghosts alone no record is counted, and of one without ghosts each."""
    workload = Workload.draw(WHOLE, rng=2, queries=12, selectivity=0.3)
    assert not query_errors(release_of([5, 6, 7], bucketized=False), workload)["deviation"].any()


@pytest.mark.parametrize("bucketized", [False, True])
def test_other_measures_read_ghosts(bucketized):
    release = release_of([0, 1, 5, 6, 7], bucketized)  # a group of ghosts alone
    assert release.ghost_counts.tolist() == [2, 3]
    assert suppressed([release])["counterfeits"].tolist() == [5]
    assert np.isfinite(kl_loss([release])["identifiers"]).all()
    assert verify(release, KAnonymity(3))["holds"].all()
    assert not verify(release, KAnonymity(4))["holds"].all()
