"""Experiments of UHRA at a small size: their measures against sums over records, and what figures and claims read."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon

from foreknow.attacks import SnapshotAttack
from foreknow.defenses import publish
from foreknow.evaluation.papers import uhra
from foreknow.evaluation.papers.claims import all_claims
from foreknow.evaluation.papers.drawing import answered, means
from foreknow.models import Adversary, Grouping, Numeric, Release, Schema, View

CLAIMS = [claim for claim in all_claims() if claim.paper == "uhra" and claim.query]


@pytest.fixture(scope="module")
def small():
    """Three tables of 40 exams; parts of the experiments are smaller too."""
    uhra.exam_tables.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"TABLES": 3, "RECORDS": 40, "TIMED": 2}.items():
            patch.setattr(uhra, name, value)
        yield uhra
    uhra.exam_tables.cache_clear()


@pytest.fixture(scope="module")
def tables(small):
    """Rows of the first seed; those of the exams stand for Adult too."""
    found = {}
    for each in small.EXPERIMENTS:
        if not each.data:
            first = min(cell["seed"] for cell in each.cells)
            cells = [cell | {"seed": 1} for cell in each.cells if cell["seed"] == first]
            rows = [each.measure(cell, np.random.default_rng(1)).assign(**cell) for cell in cells]
            found[each.name] = pd.concat(rows)
    return found | {"uhra_adult": found["uhra_exams"]}


def test_losses_are_sums_over_the_records():
    """Ages 1, 2 and 5, 6, 9 in two groups and 20 suppressed; six distinct ages, as Equation 2 divides by.

    Centroids are 1.5 and 6 2/3, so that each record is nearest to its own group, and RL is 1/2 twice and 1/3 thrice over 6.
    """
    frame = pd.DataFrame({"id": range(6), "age": [1, 2, 5, 6, 9, 20], "result": list("abaabb")})
    view = View(frame, Schema({"age": Numeric(0, 30)}, "result", ("a", "b")))
    found = uhra.losses((Release(view, Grouping(np.array([0, 0, 1, 1, 1, -1]))),))
    published = 2 * 1 / 6 + 3 * 4 / 6
    assert found == pytest.approx(
        {
            "smallest": 2,
            "size": 5 / 2,
            "suppressed": 1 / 6,
            "gcp": published,
            "gcp_all": published + 1,
            "linkage": (2 / 2 + 3 / 3) / 6,
        },
        abs=1e-3,
    )


def test_one_parameter_varies_at_a_time():
    k, t, j = uhra.AT
    found = [at for along in "ktj" for at in uhra.settings(along)]
    assert len(found) == len(set(found)) == len(uhra.K) + len(uhra.T) - 1 + len(uhra.J) - 1
    assert all(sum(one != other for one, other in zip(at, (k, t, j), strict=True)) <= 1 for at in found)


def test_clusters_are_those_of_a_plain_merge(small):
    """The two clusters of records with the least largest divergence are merged, as long as that is at most J."""
    simulation = small.exam_tables(1)
    priors = [simulation.prior(view.people) for view in simulation.history]
    rows = small.clusters({"seed": 1}, np.random.default_rng(1)).set_index(["unit", "j"])["clusters"]
    for unit, base in (("bits", 2), ("nats", np.e)):
        for j in (0.1, 0.2, 0.3):
            assert rows[unit, j] == max(_plainly_merged(prior, j, base) for prior in priors)


def _plainly_merged(prior, j, base):
    distinct = np.unique(prior, axis=0)
    apart = {
        frozenset(pair): jensenshannon(*distinct[list(pair)], base) ** 2
        for pair in itertools.combinations(range(len(distinct)), 2)
    }
    clusters = [[each] for each in range(len(distinct))]
    while len(clusters) > 1:
        widest = {
            (one, other): max(apart[frozenset(pair)] for pair in itertools.product(clusters[one], clusters[other]))
            for one, other in itertools.combinations(range(len(clusters)), 2)
        }
        (one, other), least = min(widest.items(), key=lambda each: each[1])
        if least > j:
            break
        clusters[one] += clusters.pop(other)
    return len(clusters)


def test_the_gain_of_priors_alone_is_that_of_snapshots(small, tables):
    """Equation of the gain over all published records, the belief in the true value against its share of the group."""
    simulation = small.exam_tables(1)
    adversary = Adversary(simulation.prior)
    releases = publish(simulation.history, small.defenses(*small.AT)["UHRA"], adversary, rng=np.random.default_rng(1))
    gains = []
    for number, (release, view) in enumerate(zip(releases, simulation.history, strict=True), 1):
        table = SnapshotAttack(adversary)(releases).posterior(number)
        value = view.frame[view.schema.sensitive].to_numpy()
        for row, group in enumerate(release.group):
            if group >= 0:
                share = (value[release.group == group] == value[row]).mean()
                belief = table.loc[view.people.respondents[row], value[row]]
                gains.append((belief - share) / (1 - share) if share < 1 else 0)
    rows = tables["uhra_sequence"].query("algorithm == 'UHRA'").set_index("adversary")
    assert rows.loc["priors alone", "gain"] == pytest.approx(np.mean(gains), abs=1e-4)


def test_every_figure_and_claim_has_a_value(tables):
    for figure in uhra.PAPER.figures:
        assert not means(figure, tables).empty
    for claim in CLAIMS:
        for query in filter(None, (claim.query, claim.strongest, *(each.query for each in claim.reading))):
            assert answered(query, tables)["seed"].to_list() == [1]
