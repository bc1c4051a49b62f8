"""Membership against the enumeration of all assignments of people to groups and values, and its laws."""

from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import SnapshotAttack, WithoutGroups
from foreknow.defenses import FullDomain, JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import exams, group_linkage
from foreknow.models import (
    Adversary,
    Auto,
    Averaged,
    BeliefPropagation,
    Categorical,
    CompromisedRecords,
    EvidenceCascade,
    Exact,
    GivenMembership,
    GivenPrior,
    Grouping,
    Hierarchy,
    Memory,
    Numeric,
    People,
    PosteriorCascade,
    PublishedTable,
    RandomWorlds,
    Release,
    RemoveKnown,
    Schema,
    Sinkhorn,
    Status,
    TooLarge,
    UniformMembership,
    UniformPrior,
    UnlabeledObservation,
    View,
)
from foreknow.models.knowledge import membership as membership_file
from foreknow.models.knowledge.membership import connected_components, membership_evidence, membership_posterior

VALUES = ("a", "b", "c")


def observed(n, counts):
    """A release of n people with equal quasi-identifiers: each fits every group."""
    counts = np.asarray(counts)
    ends = np.zeros((len(counts), 1))
    schema = Schema({"age": Numeric(0, 9)}, "result", VALUES[: counts.shape[1]])
    return UnlabeledObservation(
        People(np.arange(n).astype(object), np.zeros((n, 1)), schema), ends, ends, counts, time=0
    )


def random_case(rng, least=4, most=7):
    """Weights, priors and counts of a few people; the weights allow the groups by which the counts are made."""
    n, g, m = int(rng.integers(least, most)), int(rng.integers(2, 4)), int(rng.integers(2, 4))
    published = n - int(rng.integers(0, 2))
    labels = rng.permutation(np.concatenate([np.arange(g), rng.integers(0, g, published - g)]))
    counts = np.zeros((g, m), dtype=np.int64)
    np.add.at(counts, (labels, rng.integers(0, m, published)), 1)
    weights = rng.gamma(1, size=(n, g + 1)) * (rng.random((n, g + 1)) < 0.6)
    own = np.concatenate([labels, np.full(n - published, g)])
    weights[np.arange(n), own] += 0.5
    if rng.random() < 0.5:
        weights = (weights > 0).astype(np.float64)
    return weights, rng.dirichlet(np.full(m, 0.6), n), counts


def enumerated(weights, prior, counts):
    """Beliefs in values and in groups, and the total weight, over all ways to give people the published places."""
    n, m = prior.shape
    g = len(counts)
    places = [(j, s) for j in range(g) for s in range(m) for _ in range(counts[j, s])]
    places += [(g, None)] * (n - len(places))
    values, groups, total = np.zeros((n, m)), np.zeros((n, g + 1)), 0.0
    for order in permutations(range(n)):
        chosen = [places[k] for k in order]
        weight = np.prod([weights[i, j] * (1 if s is None else prior[i, s]) for i, (j, s) in enumerate(chosen)])
        total += weight
        for i, (j, s) in enumerate(chosen):
            groups[i, j] += weight
            values[i] += weight * (prior[i] if s is None else np.eye(m)[s])
    return values / total, groups / total, total


CASES = [random_case(np.random.default_rng([7, number])) for number in range(300)]


def found(case, estimator):
    weights, prior, counts = case
    components = connected_components(lambda _: weights, observed(len(prior), counts))
    return membership_posterior(components, prior, counts, estimator)


@pytest.fixture(scope="module")
def truth():
    return [enumerated(*case) for case in CASES]


def test_exact_equals_enumeration(truth):
    for case, (values, groups, _) in zip(CASES, truth, strict=True):
        answer = found(case, Exact())
        np.testing.assert_allclose(answer.posterior.probabilities, values, atol=1e-12)
        np.testing.assert_allclose(answer.group, groups, atol=1e-12)


@pytest.mark.parametrize(("estimator", "mean", "largest"), [(BeliefPropagation(), 0.05, 0.4), (Sinkhorn(), 0.09, 0.4)])
def test_error_of_the_others(truth, estimator, mean, largest):
    """Mean total variation of a belief, in the mean and in the worst of 300 cases; `Auto` solves them exactly."""
    errors = []
    for case, (values, groups, _) in zip(CASES, truth, strict=True):
        answer = found(case, estimator)
        errors.append(np.abs(answer.posterior.probabilities - values).sum(axis=1).mean() / 2)
        np.testing.assert_allclose(answer.group.sum(axis=1), 1, atol=1e-9)
        assert ((groups > 0) | (answer.group < 1e-9)).all()
    assert np.mean(errors) < mean
    assert np.max(errors) < largest


def larger_case(rng):
    """17 to 19 people who could be in half of 3 to 5 groups: more states than `Auto` enumerates."""
    n, g = int(rng.integers(17, 20)), int(rng.integers(3, 6))
    labels, counts = rng.permutation(np.arange(n) % g), np.zeros((g, 3), dtype=np.int64)
    np.add.at(counts, (labels, rng.integers(0, 3, n)), 1)
    weights = (rng.random((n, g + 1)) < 0.5).astype(np.float64)
    weights[np.arange(n), labels] = 1.0
    return weights, rng.dirichlet(np.full(3, 0.6), n), counts


def test_messages_along_possible_pairs_alone_are_belief_propagation(monkeypatch):
    cases = [larger_case(np.random.default_rng([9, number])) for number in range(20)]
    dense = [found(case, BeliefPropagation()) for case in cases]
    monkeypatch.setattr(membership_file, "DENSE_PAIRS", 0)
    for case, other in zip(cases, dense, strict=True):
        sparse, exact = found(case, BeliefPropagation()), found(case, Exact(2**23))
        np.testing.assert_allclose(sparse.posterior.probabilities, other.posterior.probabilities, atol=1e-7)
        np.testing.assert_allclose(sparse.group, other.group, atol=1e-7)
        error = np.abs(sparse.posterior.probabilities - exact.posterior.probabilities)
        assert error.sum(axis=1).mean() / 2 < 0.04
        assert (error.sum(axis=1) / 2).max() < 0.3
        (rule,) = set(found(case, Auto()).posterior.rule)
        assert rule in ("BeliefPropagation", "Exact")


def test_evidence_is_the_total_weight(truth):
    """Of people who draw a group and a value each: the total weight over the numbers of orders of equal places."""
    for (weights, prior, counts), (_, _, total) in zip(CASES, truth, strict=True):
        seen = observed(len(prior), counts)
        components = connected_components(lambda _, weights=weights: 3 * weights, seen)
        usable = weights * np.append(np.ones(len(counts)), seen.withheld > 0)
        orders = np.prod([factorial(c) for c in [*counts.ravel().tolist(), seen.withheld]])
        expected = total / orders / np.prod(usable.sum(axis=1))
        assert membership_evidence(components, prior, counts) == pytest.approx(np.log(expected), abs=1e-6)


def releases_of(defense, records=120, seed=2):
    history, prior, chain = exams(views=2, records=records, rng=np.random.default_rng(seed))
    return publish(history, defense, Adversary(prior, chain), rng=seed), prior


def compared(releases, prior, estimator=None):
    estimator = Auto() if estimator is None else estimator
    known = SnapshotAttack(Adversary(prior, estimator=estimator))(releases)
    unsure = SnapshotAttack(Adversary(prior, estimator=estimator, membership=UniformMembership()))(releases)
    return known, unsure


@pytest.mark.parametrize(
    "estimator", [Auto(), Exact(), BeliefPropagation(), Sinkhorn()], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize(
    "defense", [Mondrian(KAnonymity(4)), FullDomain(KAnonymity(3))], ids=lambda one: type(one).__name__
)
def test_without_overlap_it_is_certainty_to_the_last_bit(defense, estimator):
    releases, prior = releases_of(defense)
    assert all((release.unlabeled.fits.sum(axis=1) == 1).all() for release in releases)
    for known, unsure in zip(*compared(releases, prior, estimator), strict=True):
        np.testing.assert_array_equal(known.posterior.probabilities, unsure.posterior.probabilities)
        np.testing.assert_array_equal(known.posterior.status, unsure.posterior.status)
        np.testing.assert_array_equal(known.revised, unsure.revised)


SCHEMA = Schema({"age": Numeric(0, 99)}, "result", ("a", "b"), "id")


def release(ages, values, labels, time=0):
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(len(ages))], "age": ages, "result": list(values)})
    return Release(View(frame, SCHEMA, time), labels)


def test_a_withheld_record_that_fits_no_group_is_known_to_be_withheld():
    given = release([20, 21, 40, 41, 90], "abaab", [0, 0, 1, 1, -1])
    prior = GivenPrior(
        pd.DataFrame(
            np.random.default_rng(1).dirichlet([1, 1], 5), list(given.observation.people.respondents), ["a", "b"]
        )
    )
    known, unsure = (one.releases[0].posterior for one in compared([given], prior))
    np.testing.assert_array_equal(known.probabilities, unsure.probabilities)


def test_permuting_labels_among_people_who_fit_the_same_groups_changes_no_belief():
    releases, prior = releases_of(Mondrian(KAnonymity(4), strict=False), records=60)
    attack = SnapshotAttack(Adversary(prior, membership=UniformMembership()))
    rng, changed = np.random.default_rng(3), 0
    for given in releases:
        fits = given.unlabeled.fits
        _, kind = np.unique(fits, axis=0, return_inverse=True)
        for _ in range(40):
            order = np.arange(len(given.view))
            one = rng.choice(np.flatnonzero(np.bincount(kind.ravel())[kind.ravel()] > 1))
            rows = np.flatnonzero(kind.ravel() == kind.ravel()[one])
            order[rows] = rng.permutation(rows)
            frame = given.view.frame
            # A person takes the label and the value of another one, so that each group shows what it showed.
            swapped = frame.assign(
                **{given.view.schema.sensitive: frame[given.view.schema.sensitive].to_numpy()[order]}
            )
            other = Release(View(swapped, given.view.schema, given.time), given.grouping.labels[order])
            if not other.table.equals(given.table) or (other.group == given.group).all():
                continue
            changed += 1
            before, after = (attack([each]).releases[0] for each in (given, other))
            np.testing.assert_array_equal(before.posterior.probabilities, after.posterior.probabilities)
            assert (before.observation.group != after.observation.group).any()
            if changed % 5 == 0:
                break
    assert changed >= 4


def test_a_category_fits_the_label_that_is_published():
    tree = Hierarchy([("nurse", "health", "*"), ("doctor", "health", "*"), ("cook", "food", "*")])
    schema = Schema({"job": Categorical(("nurse", "doctor", "cook"), tree)}, "result", ("a", "b"), "id")
    frame = pd.DataFrame({"id": range(5), "job": ["nurse", "doctor", "cook", "nurse", "cook"], "result": list("ababa")})
    fits = Release(View(frame, schema, 0), [0, 0, 1, 2, 2]).unlabeled.fits
    # Group 0 shows health, group 1 cook, and group 2 *.
    np.testing.assert_array_equal(fits, [[1, 0, 1], [1, 0, 1], [0, 1, 1], [1, 0, 1], [0, 1, 1]])


def test_equal_groups_are_one_group():
    """Two groups of equal intervals tell of their members what one group of all of them tells."""
    ages, values = [20, 30, 20, 30, 20, 30], "aabbab"
    prior = GivenPrior(
        pd.DataFrame(np.random.default_rng(4).dirichlet([1, 1], 6), [f"p{i}" for i in range(6)], ["a", "b"])
    )
    apart = SnapshotAttack(Adversary(prior, membership=UniformMembership()))(
        [release(ages, values, [0, 0, 1, 1, 1, 1])]
    )
    joined = SnapshotAttack(Adversary(prior))([release(ages, values, [0] * 6)])
    np.testing.assert_array_equal(*(one.releases[0].posterior.probabilities for one in (apart, joined)))


def given_membership(rows, time=0):
    return GivenMembership(
        pd.DataFrame(
            [(f"p{i}", j, time, p) for i, row in enumerate(rows) for j, p in enumerate(row)],
            columns=membership_file.COLUMNS,
        )
    )


WEIGHTS = [[0.7, 0.3], [0.2, 0.5], [0.5, 0.4], [0.1, 0.9], [0.6, 0.1]]


def test_given_probabilities_equal_enumeration():
    given = release([30] * 5, "abbab", [0, 0, 1, 1, -1])
    prior = np.random.default_rng(5).dirichlet([1, 1], 5)
    known = GivenPrior(pd.DataFrame(prior, [f"p{i}" for i in range(5)], ["a", "b"]))
    weights = np.column_stack([WEIGHTS, 1 - np.sum(WEIGHTS, axis=1)])
    weights[0, 2] = weights[3, 2] = 0
    adversary = Adversary(known, membership=given_membership(WEIGHTS))
    values, groups, _ = enumerated(weights, prior, given.counts)
    np.testing.assert_allclose(
        SnapshotAttack(adversary)([given]).releases[0].posterior.probabilities, values, atol=1e-12
    )
    table = group_linkage(adversary, [given]).iloc[0]
    own = [0, 0, 1, 1]
    assert table["linkage_before"] == pytest.approx(np.mean([WEIGHTS[i][j] for i, j in enumerate(own)]))
    assert table["linkage_after"] == pytest.approx(groups[range(4), own].mean())
    assert (table["excluded"], table["records"]) == (0, 4)


def test_evaluation_reports_where_the_true_group_was_excluded():
    given = release([30] * 4, "abab", [0, 0, 1, 1])
    wrong = given_membership([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
    table = group_linkage(Adversary(UniformPrior(), membership=wrong), [given]).iloc[0]
    assert (table["excluded"], table["records"]) == (1, 4)
    with pytest.raises(ValueError, match="knows all groups"):
        group_linkage(Adversary(UniformPrior()), [given])


def test_known_values_are_read():
    """p0 is known to have b, which group 1 shows and group 0 does not: p0 is in group 1."""
    given = release([30, 20, 40, 31], "baba", [1, 0, 1, 0])
    records = CompromisedRecords(pd.DataFrame({"respondent": ["p0"], "value": ["b"], "time": [0], "confidence": [1.0]}))
    prior = np.array([[0.6, 0.4], [0.5, 0.5], [0.3, 0.7], [0.2, 0.8]])
    known = GivenPrior(pd.DataFrame(prior, [f"p{i}" for i in range(4)], ["a", "b"]))
    adversary = Adversary(known, None, records, cascade=RemoveKnown(), membership=UniformMembership())
    prior[0] = [0, 1]
    values, _, _ = enumerated(np.column_stack([given.unlabeled.fits, np.zeros(4)]), prior, given.counts)
    np.testing.assert_allclose(
        SnapshotAttack(adversary)([given]).releases[0].posterior.probabilities, values, atol=1e-12
    )
    apart = release([20, 21, 40, 41], "abab", [0, 0, 1, 1])
    for cascade in (RemoveKnown(), EvidenceCascade()):
        both = [
            Adversary(known, None, records_of("p1", "b"), cascade=cascade, membership=one)
            for one in (None, UniformMembership())
        ]
        one, other = (SnapshotAttack(each)([apart]).releases[0].posterior.probabilities for each in both)
        np.testing.assert_array_equal(one, other)
    only_a = release([20, 21, 40, 41], "aabb", [0, 0, 1, 1])
    with pytest.raises(ValueError, match="respondent 'p0' has 'b' at 0, and no group that may be theirs shows it"):
        SnapshotAttack(
            Adversary(known, None, records_of("p0", "b"), cascade=RemoveKnown(), membership=UniformMembership())
        )([only_a])


def records_of(respondent, value):
    return CompromisedRecords(
        pd.DataFrame({"respondent": [respondent], "value": [value], "time": [0], "confidence": [1.0]})
    )


def test_the_release_weighs_draws_of_the_membership():
    given = release([30] * 4, "abbb", [0, 0, 1, 1])
    prior = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    known = GivenPrior(pd.DataFrame(prior, [f"p{i}" for i in range(4)], ["a", "b"]))
    rows = [[[0.5, 0.5]] * 4, [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7]]]
    each = [enumerated(np.column_stack([one, np.zeros(4)]), prior, given.counts) for one in rows]
    weights = np.array([total for _, _, total in each])
    expected = sum(w * values for w, (values, _, _) in zip(weights / weights.sum(), each, strict=True))
    adversary = Averaged([Adversary(known, membership=given_membership(one)) for one in rows])
    np.testing.assert_allclose(
        SnapshotAttack(adversary)([given]).releases[0].posterior.probabilities, expected, atol=1e-10
    )


def test_contradicted_by_the_prior_is_a_status():
    """The prior gives b to none, and a group of which two more may be members shows it."""
    given = release([20, 30, 30, 40], "abaa", [0, 0, 1, 1])
    certain = GivenPrior(pd.DataFrame([[1.0, 0.0]] * 4, [f"p{i}" for i in range(4)], ["a", "b"]))
    posterior = SnapshotAttack(Adversary(certain, membership=UniformMembership()))([given]).releases[0].posterior
    assert (posterior.status & Status.CONTRADICTED > 0).all()
    np.testing.assert_allclose(posterior.probabilities.sum(axis=1), 1)


def test_too_many_pairs_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(membership_file, "MAX_PAIRS", 5)
    given = release([20, 30, 30, 40], "abab", [0, 0, 1, 1])
    with pytest.raises(TooLarge, match="the release at 0: 4 respondents could be in 2 groups that are linked"):
        SnapshotAttack(Adversary(UniformPrior(), membership=UniformMembership()))([given])


UNSURE = Adversary(UniformPrior(), membership=UniformMembership())


def test_releases_that_show_something_else_are_refused():
    given = release([20, 30, 30, 40], "abab", [0, 0, 1, 1])
    for grouping, found in (
        (Grouping([0, 0, 1, 1], bucketized=True), "exact quasi-identifiers"),
        (Grouping([0, 0, 1, 1], counterfeits=[[0, 1]]), "counterfeits"),
    ):
        with pytest.raises(ValueError, match=f"the release at 0 shows {found}"):
            SnapshotAttack(UNSURE)([Release(given.view, grouping)])
    distorted = Release(given.view, Grouping([0, 0, 1, 1], values=[1, 1, 0, 1]))
    with pytest.raises(ValueError, match="the release at 0 has distorted values"):
        SnapshotAttack(UNSURE)([distorted])
    SnapshotAttack(Adversary(UniformPrior(), distortion="ignored", membership=UniformMembership()))([distorted])
    table = PublishedTable(given.table, "result")
    with pytest.raises(TypeError, match="reads a membership of a Release, and this is a PublishedTable"):
        SnapshotAttack(UNSURE)([table])
    with pytest.raises(TypeError, match="reads a membership of a Release"):
        WithoutGroups(SnapshotAttack(UNSURE))([given])
    with pytest.raises(ValueError, match=r"Adversary\.posterior reads the group"):
        UNSURE.observe(Memory(), given.observation)


def test_an_estimator_without_such_a_law_is_refused():
    for estimator in (RandomWorlds(), Auto(beyond=RandomWorlds())):
        with pytest.raises(ValueError, match=r"does not read the part 'membership'.*Sinkhorn, .* and Auto read"):
            Adversary(UniformPrior(), estimator=estimator, membership=UniformMembership())
    with pytest.raises(TypeError, match="membership"):
        Adversary(UniformPrior(), membership=np.ones((3, 3)))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.0, 0.0], [1.0, 0.0]], "the probabilities of respondent 'p0' at 0 sum to 0"),
        ([[0.5, 0.5], [0.9, 0.3]], "the probabilities of respondent 'p1' at 0 sum to 1.2"),
        ([[-0.5, 0.5]], "row 0 is"),
    ],
)
def test_given_rows_are_probabilities(rows, message):
    with pytest.raises(ValueError, match=message):
        given_membership(rows)


def test_given_rows_fit_the_release():
    given = release([30] * 4, "abab", [0, 0, 1, 1])
    for rows, message in (
        ([[0.5, 0.5]] * 3, "no row of respondent 'p3' at 0"),
        ([[0.2, 0.2, 0.6]] * 4, "has the group 2 at 0"),
        ([[1.0, 0.0]] * 4, "no assignment to the groups at 0 is possible"),
        ([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5]], "no assignment to the groups at 0 is possible"),
    ):
        with pytest.raises(ValueError, match=message):
            SnapshotAttack(Adversary(UniformPrior(), membership=given_membership(rows)))([given])
    twice = given_membership([[0.5, 0.5]] * 4).frame
    with pytest.raises(ValueError, match="drop duplicates"):
        GivenMembership(pd.concat([twice, twice]))
    with pytest.raises(
        ValueError, match=r"no column 'group'; it has 'respondent', 'time', 'probability'\. Rename the column"
    ):
        GivenMembership(twice.drop(columns="group"))
    with pytest.raises(TypeError, match="DataFrame"):
        GivenMembership([1, 2])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.ones((4, 2)), "shape"),
        (np.full((4, 3), -1.0), "sum to -2"),
        (np.zeros((4, 3)), "the weights of respondent 'p0' at 0 sum to 0"),
        (np.full((4, 3), np.nan), "sum to nan"),
    ],
)
def test_weights_of_a_membership_of_ones_own_are_checked(result, message):
    given = release([30] * 4, "abab", [0, 0, 1, 1])
    with pytest.raises(ValueError, match=message):
        SnapshotAttack(Adversary(UniformPrior(), membership=lambda _: result))([given])


def test_beliefs_about_withheld_records_mix_the_prior():
    releases, prior = releases_of(JSReduce(3, 0.5, 0.6), records=60)
    assert any((one.group < 0).any() for one in releases)
    for one in compared(releases, prior)[1]:
        np.testing.assert_allclose(one.posterior.probabilities.sum(axis=1), 1, atol=1e-9)
        assert len(one.posterior.status) == len(one.observation.counts)


def test_more_pairs_than_a_matching_is_found_for(monkeypatch):
    """Counting alone: what no assignment contains is left to the estimator, which reports it."""
    monkeypatch.setattr(membership_file, "MATCHED_PAIRS", 0)
    given = release([30] * 4, "abab", [0, 0, 1, 1])
    rows = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]
    posterior = (
        SnapshotAttack(Adversary(UniformPrior(), membership=given_membership(rows)))([given]).releases[0].posterior
    )
    assert (posterior.status & Status.CONTRADICTED > 0).all()
    with pytest.raises(ValueError, match="4 respondents, as respondent 'p0', could be in 2 places"):
        SnapshotAttack(Adversary(UniformPrior(), membership=given_membership([[1.0, 0.0]] * 4)))([given])
    for case in CASES[:40]:
        np.testing.assert_allclose(found(case, Exact()).posterior.probabilities, enumerated(*case)[0], atol=1e-12)


def test_a_release_without_groups_tells_nothing():
    given = release([30, 40], "ab", [-1, -1])
    posterior = SnapshotAttack(UNSURE)([given]).releases[0].posterior
    np.testing.assert_array_equal(posterior.probabilities, 0.5)


def test_a_cascade_of_assignments_is_refused():
    claim = CompromisedRecords(pd.DataFrame({"respondent": ["A"], "time": [1], "value": ["a"], "confidence": [0.5]}))
    with pytest.raises(ValueError, match=r"PosteriorCascade.* weighs the assignments of one group"):
        Adversary(UniformPrior(), compromised=claim, cascade=PosteriorCascade(), membership=UniformMembership())
