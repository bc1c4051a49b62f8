"""Knowledge learned from releases: against counts of known values, posteriors by enumeration, and simulated laws."""

import itertools

import numpy as np
import pandas as pd
import pytest
from strategies import view_of

from foreknow.models import (
    Adversary,
    ClassFrequencies,
    LearnedKnowledge,
    MaxEntropy,
    Numeric,
    Observation,
    Release,
    Schema,
    View,
)
from foreknow.models.tables.people import People

SCHEMA = Schema({"age": Numeric(0, 99)}, "value", ("a", "b", "c"))
PRIOR = np.array([0.5, 0.3, 0.2])
TRUE = np.array([[0.9, 0.08, 0.02], [0.05, 0.9, 0.05], [0.2, 0.0, 0.8]])


def people_of(number, ages=None):
    ages = np.full(number, 30.0) if ages is None else np.asarray(ages, dtype=float)
    return People(np.arange(number).astype(object), ages[:, None], SCHEMA)


def drawn(rows, rng):
    return (rows.cumsum(axis=1)[:, :-1] <= rng.random(len(rows))[:, None]).sum(axis=1)


def simulated(people, releases, size, rng):
    """Values of shape ``(releases, people)``, and observations in groups of a size drawn anew at each release."""
    values, observations = [drawn(np.tile(PRIOR, (people, 1)), rng)], []
    for t in range(releases):
        if t:
            values.append(drawn(TRUE[values[-1]], rng))
        group = (np.arange(people) // size)[rng.permutation(people)]
        observations.append(observed(values[-1], group, t))
    return np.array(values), observations


def observed(values, group, time, people=None):
    """Observation of values, with -1 for respondents who are not published."""
    values, group = np.asarray(values), np.asarray(group)
    counts = np.zeros((group.max() + 1, 3), dtype=np.int64)
    np.add.at(counts, (group[group >= 0], values[group >= 0]), 1)
    return Observation(people_of(len(values)) if people is None else people, group, counts, time)


def known_values(values):
    """Observations of groups of one member."""
    return [observed(row, np.arange(len(row)), t) for t, row in enumerate(values)]


def counted(values, steps=1):
    """Number of transitions between the values ``steps`` releases apart."""
    pairs = np.zeros((3, 3))
    for row in range(len(values) - steps):
        np.add.at(pairs, (values[row], values[row + steps]), 1)
    return pairs


def weighted_error(found, values):
    weight = counted(values).sum(axis=1)
    return (weight * np.abs(found - TRUE).sum(axis=1) / 2).sum() / weight.sum()


# --- oracles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pseudo_count", [0.0, 0.5])
def test_known_values_give_their_relative_frequencies(pseudo_count):
    values, _ = simulated(40, 5, 2, np.random.default_rng(1))
    learned = LearnedKnowledge.fit(known_values(values), pseudo_count=pseudo_count)
    pairs = counted(values) + pseudo_count
    first = np.bincount(values[0], minlength=3) + pseudo_count
    np.testing.assert_allclose(learned.transitions.probabilities, pairs / pairs.sum(axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(learned.prior.probabilities, first / first.sum(), atol=1e-9)
    assert learned.converged
    assert learned.notes == ()


def test_known_values_give_the_log_likelihood_as_objective():
    values, _ = simulated(30, 4, 2, np.random.default_rng(2))
    learned = LearnedKnowledge.fit(known_values(values), pseudo_count=0.0, tolerance=0.0, rounds=3, counts="expected")
    pairs, first = counted(values), np.bincount(values[0], minlength=3)
    chain, prior = pairs / pairs.sum(axis=1, keepdims=True), first / first.sum()
    seen = pairs > 0
    expected = (pairs[seen] * np.log(chain[seen])).sum() + (first * np.log(prior)).sum()
    assert learned.trace[-1].objective == pytest.approx(expected, abs=1e-6)


def test_chain_of_order_2_from_known_values():
    values, _ = simulated(60, 6, 2, np.random.default_rng(3))
    learned = LearnedKnowledge.fit(known_values(values), order=2, pseudo_count=1.0)
    triples, pairs = np.ones((3, 3, 3)), np.ones((3, 3))
    for path in values.T:
        pairs[path[0], path[1]] += 1
        for start in range(len(path) - 2):
            triples[tuple(path[start : start + 3])] += 1
    np.testing.assert_allclose(learned.transitions.tables[0], pairs / pairs.sum(axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(
        learned.transitions.probabilities, triples / triples.sum(axis=2, keepdims=True), atol=1e-9
    )


def test_class_frequencies_from_known_values():
    ages = [10, 20, 60, 70, 80]
    people, values = people_of(5, ages), [0, 0, 1, 1, 2]
    learned = LearnedKnowledge.fit([observed(values, np.arange(5), 0, people)], classes={"age": 2}, pseudo_count=0.0)
    np.testing.assert_allclose(learned.prior(people)[[0, 2]], [[1, 0, 0], [0, 2 / 3, 1 / 3]], atol=1e-9)


def log_likelihood_over_a_gap(chain, values):
    """Log-likelihood of pairs of values two releases apart, by sums over the value between."""
    total = 0.0
    for before, after in zip(*values, strict=True):
        total += np.log(sum(chain[before, s] * chain[s, after] for s in range(3)))
    return total


def test_missing_releases_are_summed_over_with_gaps_power():
    rng = np.random.default_rng(4)
    values, _ = simulated(400, 3, 2, rng)
    hidden = np.full(400, -1)
    releases = [
        observed(values[0], np.arange(400), 0),
        Observation(people_of(400), hidden, np.zeros((0, 3), int), 1),
        observed(values[2], np.arange(400), 2),
    ]
    absent = [releases[0], Observation(people_of(1), [-1], np.zeros((0, 3), int), 1), releases[2]]
    options = {"gaps": "power", "pseudo_count": 0.0, "tolerance": 1e-7, "rounds": 4000}
    learned = LearnedKnowledge.fit(releases, **options)
    best = log_likelihood_over_a_gap(learned.transitions.probabilities, values[[0, 2]])
    assert best >= log_likelihood_over_a_gap(TRUE, values[[0, 2]])
    for row, (up, down) in itertools.product(range(3), itertools.permutations(range(3), 2)):
        moved = learned.transitions.probabilities.copy()
        step = min(0.01, moved[row, down])
        moved[row, up] += step
        moved[row, down] -= step
        assert log_likelihood_over_a_gap(moved, values[[0, 2]]) <= best + 1e-3
    np.testing.assert_allclose(
        LearnedKnowledge.fit(absent, **options).transitions.probabilities,
        learned.transitions.probabilities,
        atol=1e-3,
    )


def test_gaps_are_ignored_by_default():
    values, _ = simulated(50, 3, 2, np.random.default_rng(5))
    releases = known_values(values)
    hidden = Observation(people_of(50), np.full(50, -1), np.zeros((0, 3), int), 1)
    learned = LearnedKnowledge.fit([releases[0], hidden, releases[2]], pseudo_count=1.0)
    pairs = counted(values, steps=2) + 1
    np.testing.assert_allclose(learned.transitions.probabilities, pairs / pairs.sum(axis=1, keepdims=True), atol=1e-9)


# --- properties -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("pseudo_count", [0.0, 0.5])
def test_objective_does_not_decrease(size, pseudo_count):
    _, releases = simulated(60, 4, size, np.random.default_rng(size))
    solver = MaxEntropy(tolerance=1e-6, rounds=5000)
    learned = LearnedKnowledge.fit(
        releases,
        pseudo_count=pseudo_count,
        solver=solver,
        counts="expected",
        tolerance=1e-6,
        rounds=40,
        classes={"age": 2},
    )
    # The solver of a round is as loose as the change of the round before: only late rounds have a precise objective.
    precise = [step.objective for step in learned.trace if step.change < 1e-4]
    assert len(precise) >= 3
    assert (np.diff(precise) > -1e-4).all()


@pytest.mark.slow
def test_error_falls_with_the_number_of_people():
    errors = []
    for people in (40, 400, 4000):
        runs = [simulated(people, 6, 2, np.random.default_rng(seed)) for seed in range(2)]
        found = [LearnedKnowledge.fit(releases).transitions.probabilities for _, releases in runs]
        errors.append(np.mean([weighted_error(table, values) for table, (values, _) in zip(found, runs, strict=True)]))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4, 8])
def test_exact_counts_learn_as_much_as_known_values(size):
    """The error is near that of the relative frequencies of the true values; that of expected counts grows with the groups."""
    values, releases = simulated(800, 6, size, np.random.default_rng(size))
    exact, expected = (LearnedKnowledge.fit(releases, counts=counts) for counts in ("exact", "expected"))
    pairs = counted(values)
    known = weighted_error(pairs / pairs.sum(axis=1, keepdims=True), values)
    assert exact.converged
    assert weighted_error(exact.transitions.probabilities, values) < 2.5 * known + 0.005
    assert weighted_error(expected.transitions.probabilities, values) > 0.03


def test_the_same_groups_at_each_release_teach_as_much_as_known_values():
    """Groups that never change are chains of arrangements, without a cycle; messages of single members were off by .08."""
    values, _ = simulated(300, 6, 3, np.random.default_rng(11))
    releases = [observed(row, np.arange(300) // 3, t) for t, row in enumerate(values)]
    pairs = counted(values)
    known = weighted_error(pairs / pairs.sum(axis=1, keepdims=True), values)
    learned = LearnedKnowledge.fit(releases)
    assert learned.converged
    assert weighted_error(learned.transitions.probabilities, values) < 2.5 * known + 0.005


@pytest.mark.parametrize("presence", [False, True])
def test_a_part_of_a_large_history_is_enough(presence):
    # Groups of three who stay together: each is a component, of four records.
    values, _ = simulated(6000, 4, 2, np.random.default_rng(3))
    observations = [observed(row, np.arange(6000) // 3, t) for t, row in enumerate(values)]
    everything, part = (
        LearnedKnowledge.fit(observations, records=records, presence=presence) for records in (None, 12_000)
    )
    assert "learned from 12,000 of the 24,000 records" in part.notes[-1]
    assert not everything.notes
    assert weighted_error(part.transitions.probabilities, values) < 0.03
    assert np.abs(part.transitions.probabilities - everything.transitions.probabilities).max() < 0.06
    assert LearnedKnowledge.fit(observations, records=24_000, presence=presence) == everything


def test_a_part_has_the_frequencies_of_its_respondents():
    values, _ = simulated(300, 3, 2, np.random.default_rng(2))
    values[:, 150:] = values[:, :150]
    law = LearnedKnowledge.fit(known_values(values), pseudo_count=0.0, records=450)
    shares = law.prior.probabilities.ravel() * 150
    assert shares == pytest.approx(shares.round(), abs=1e-9)


def test_a_connected_history_is_never_in_parts():
    _, observations = simulated(60, 4, 3, np.random.default_rng(4))
    assert LearnedKnowledge.fit(observations, records=10) == LearnedKnowledge.fit(observations)


def test_order_of_rows_and_names_do_not_matter():
    rng = np.random.default_rng(6)
    _, releases = simulated(40, 3, 2, rng)
    order = rng.permutation(40)
    shuffled = [Observation(o.people[order], o.group[order], o.counts, o.time) for o in releases]
    first, second = LearnedKnowledge.fit(releases), LearnedKnowledge.fit(shuffled)
    np.testing.assert_allclose(first.transitions.probabilities, second.transitions.probabilities, atol=1e-2)


def test_releases_and_observations_give_the_same_law():
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "age": 30, "value": list("abca")})
    releases = [
        Release(View(frame, Schema(SCHEMA.quasi_identifiers, "value", SCHEMA.values, "id"), t), [0, 0, 1, 1])
        for t in (1, 2)
    ]
    ours = LearnedKnowledge.fit(releases).transitions.probabilities
    theirs = LearnedKnowledge.fit([release.observation for release in releases]).transitions.probabilities
    np.testing.assert_array_equal(ours, theirs)


def test_knowledge_serves_an_adversary():
    _, releases = simulated(20, 3, 2, np.random.default_rng(7))
    learned = LearnedKnowledge.fit(releases)
    adversary = Adversary(learned.prior, learned.transitions)
    assert isinstance(learned.prior, ClassFrequencies)
    np.testing.assert_allclose(adversary.prior_rows(releases[0].people).sum(axis=1), 1)
    np.testing.assert_allclose(learned.transitions.probabilities.sum(axis=1), 1)


# --- limits of the data -----------------------------------------------------------------------------------------------


def test_one_release_teaches_a_prior_and_no_transitions():
    _, releases = simulated(20, 1, 2, np.random.default_rng(8))
    learned = LearnedKnowledge.fit(releases, pseudo_count=0.0)
    assert learned.transitions is None
    assert "no transitions" in learned.notes[0]
    shown = releases[0].counts.sum(axis=0)
    np.testing.assert_allclose(learned.prior.probabilities, shown / shown.sum(), atol=1e-2)


def test_respondents_seen_once_teach_a_prior_and_no_transitions():
    _, (first, second) = simulated(20, 2, 2, np.random.default_rng(9))
    others = People(np.arange(20, 40).astype(object), second.people.quasi_identifiers, SCHEMA)
    learned = LearnedKnowledge.fit([first, Observation(others, second.group, second.counts, 1)], pseudo_count=0.0)
    assert learned.transitions is None
    shown = first.counts.sum(axis=0) + second.counts.sum(axis=0)
    np.testing.assert_allclose(learned.prior.probabilities, shown / shown.sum(), atol=1e-2)


def test_values_without_transitions_are_named():
    releases = [observed([0, 0, 1, 1], [0, 0, 1, 1], t) for t in range(2)]
    learned = LearnedKnowledge.fit(releases)
    assert "'c'" in learned.notes[0]
    assert "'a'" not in learned.notes[0]
    np.testing.assert_allclose(learned.transitions.probabilities[2], 1 / 3)


def test_too_few_rounds_are_noted():
    _, releases = simulated(40, 3, 4, np.random.default_rng(10))
    learned = LearnedKnowledge.fit(releases, rounds=1)
    assert not learned.converged
    assert learned.rounds == 1
    assert "over the tolerance" in learned.notes[-1]


@pytest.mark.slow
def test_rounds_with_exact_counts_that_do_not_converge_are_not_kept():
    _, releases = simulated(60, 4, 4, np.random.default_rng(12))
    expected = LearnedKnowledge.fit(releases, counts="expected", tolerance=1e-2)
    stopped = LearnedKnowledge.fit(releases, tolerance=1e-9, rounds=expected.rounds + 1)
    assert not stopped.converged
    assert "expected counts" in stopped.notes[-1]
    np.testing.assert_allclose(stopped.transitions.probabilities, expected.transitions.probabilities, atol=0.05)


def test_counterfeits_and_suppressed_records_enter_no_count():
    values = np.array([[0, 0, 1, 1], [0, 1, 1, 2]])
    people = people_of(4)
    first = Observation(people, [0, 1, 2, 3], [[1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0]], 0)
    second = Observation(people, [0, 1, 2, -1], [[1, 0, 0], [0, 1, 0], [0, 1, 0]], 1)
    learned = LearnedKnowledge.fit([first, second], pseudo_count=1.0)
    np.testing.assert_allclose(learned.transitions.probabilities.sum(axis=1), 1)
    assert learned.transitions.probabilities[1, 2] == pytest.approx(1 / 4, abs=1e-6)
    assert values[1, 3] == 2


# --- wrong arguments --------------------------------------------------------------------------------------------------

RELEASES = known_values(np.array([[0, 1, 2], [0, 1, 2]]))


@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (ValueError, "pseudo_count", {"pseudo_count": -1}),
        (ValueError, "gaps", {"gaps": "closed"}),
        (ValueError, "order is 0; it is a number of past values", {"order": 0}),
        (ValueError, "tolerance", {"tolerance": -1}),
        (ValueError, "rounds", {"rounds": 0}),
        (TypeError, "classes", {"classes": 3}),
        (ValueError, "no quasi-identifier", {"classes": {"height": 3}}),
        (TypeError, "one of the releases is 3; it is a release", {"releases": [3]}),
        (ValueError, "no release", {"releases": []}),
        (
            ValueError,
            "nothing to learn",
            {"releases": [Observation(people_of(2), [-1, -1], np.zeros((0, 3), int), 0)]},
        ),
    ],
)
def test_wrong_arguments(error, message, options):
    with pytest.raises(error, match=message):
        LearnedKnowledge.fit(**{"releases": RELEASES, **options})


def test_releases_of_different_domains_are_refused():
    releases = [
        Release(view_of("AB", "ab", time=time, domain=domain), [0, 0]) for time, domain in ((1, "ab"), (2, "abc"))
    ]
    with pytest.raises(ValueError, match="one domain"):
        LearnedKnowledge.fit(releases)
