"""Posterior of the law given the releases: against enumeration with the law integrated out, NUTS, and simulated laws."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pymc as pm
import pytest
from scipy.stats import chisquare

from foreknow.attacks import JointAttack
from foreknow.evaluation import exams
from foreknow.models import (
    Adversary,
    MarkovChain,
    Numeric,
    Observation,
    PathSampler,
    SampledKnowledge,
    Schema,
    UniformPrior,
    history_model,
    joint_history,
    markov_model,
)
from foreknow.models.joint.sampled_knowledge import LawCells, collapsed_log_probability, count_cells
from foreknow.models.tables.people import People

SCHEMA = Schema({"age": Numeric(0, 99)}, "value", ("a", "b", "c"))
M = 3


def observed(who, values, group, time, ages=None, extra=()):
    """Observation of respondents, with values in groups, -1 for suppressed; ``extra`` has (group, value) of counterfeits."""
    who, values, group = np.asarray(who), np.asarray(values), np.asarray(group)
    ages = np.full(len(who), 30.0) if ages is None else np.asarray(ages, dtype=float)[who]
    counts = np.zeros((group.max(initial=-1) + 1, M), dtype=np.int64)
    np.add.at(counts, (group[group >= 0], values[group >= 0]), 1)
    for g, value in extra:
        counts[g, value] += 1
    return Observation(People(who.astype(object), ages[:, None], SCHEMA), group, counts, time)


def simulated(rng, prior, table, people, releases, size, fixed=False):
    """Values of shape (releases, people), and observations in groups of a size, drawn anew at each release unless fixed."""
    values = [rng.choice(M, size=people, p=prior)]
    for _ in range(1, releases):
        values.append((table[values[-1]].cumsum(axis=1)[:, :-1] <= rng.random(people)[:, None]).sum(axis=1))
    groups = [rng.permutation(people) // size for _ in range(releases)]
    rows = [observed(range(people), v, groups[0 if fixed else t], t) for t, v in enumerate(values)]
    return np.array(values), rows


# --- the posterior by enumeration, with the law integrated out --------------------------------------------------------


def orders(counts):
    return sorted(set(itertools.permutations(np.repeat(np.arange(M), counts).tolist())))


def log_dirichlet_multinomial(counts, alpha):
    added = math.lgamma(len(counts) * alpha) - math.lgamma(len(counts) * alpha + sum(counts))
    return added + sum(math.lgamma(alpha + n) - math.lgamma(alpha) for n in counts)


def enumerated(observations, alpha, order=1, power=False, age_of_class=None, ages=None):
    """Posterior means of the rows of the law by (kind, past), and beliefs by (release, respondent)."""
    cells = [(t, g) for t, o in enumerate(observations) for g in range(len(o.counts))]
    members = {
        (t, g): [observations[t].people.respondents[i] for i in np.flatnonzero(observations[t].group == g)]
        for t, g in cells
    }
    total, means, beliefs = 0.0, defaultdict(lambda: np.zeros(M)), defaultdict(lambda: np.zeros(M))
    for parts in itertools.product(*(orders(observations[t].counts[g]) for t, g in cells)):
        paths = defaultdict(dict)
        for (t, g), values in zip(cells, parts, strict=True):
            for person, value in zip(
                members[t, g], values, strict=False
            ):  # counterfeits are behind, of a constant factor
                paths[person][t] = value
        hidden = [(p, t) for p, seen in paths.items() for t in range(min(seen), max(seen)) if power and t not in seen]
        for filled in itertools.product(range(M), repeat=len(hidden)):
            whole = {p: dict(seen) for p, seen in paths.items()}
            for (p, t), value in zip(hidden, filled, strict=True):
                whole[p][t] = value
            counts = defaultdict(lambda: np.zeros(M))
            for p, seen in whole.items():
                values = [seen[t] for t in sorted(seen)]
                counts["first", 0 if ages is None else int(ages[p] >= age_of_class)][values[0]] += 1
                for i in range(1, len(values)):
                    counts["step", tuple(values[max(i - order, 0) : i])][values[i]] += 1
            weight = math.exp(sum(log_dirichlet_multinomial(row, alpha) for row in counts.values()))
            total += weight
            for key, row in counts.items():
                means[key] += weight * (row + alpha) / (row.sum() + M * alpha)
                means[key, "weight"] += weight
            for p, seen in paths.items():
                for t, value in seen.items():
                    beliefs[t, p][value] += weight
    rows = {
        key: (means[key] + (total - means[key, "weight"]) / M) / total
        for key in [*means]
        if not isinstance(key[1], str)
    }
    return rows, {key: row / total for key, row in beliefs.items()}


RNG = np.random.default_rng(7)
VALUES, ANEW = simulated(RNG, np.full(M, 1 / M), 0.7 * np.eye(M) + 0.1, 4, 3, 2)
_, MEETING = simulated(RNG, np.full(M, 1 / M), 0.7 * np.eye(M) + 0.1, 4, 3, 2, fixed=True)
_, LONGER = simulated(RNG, np.full(M, 1 / M), 0.7 * np.eye(M) + 0.1, 4, 4, 2)
AGES = [20, 20, 70, 70]
ABSENT = [
    observed([0, 1, 2, 3], [0, 1, 1, 2], [0, 0, 1, 1], 0),
    observed([0, 1], [0, 1], [0, 0], 1),
    observed([1, 3], [1, 1], [0, 0], 2),
    observed([0, 1, 2, 3], [1, 0, 2, 1], [0, 1, 0, 1], 3),
]
COUNTERFEITS = [
    observed([0, 1, 2], [0, 1, 1], [0, 0, 0], 0),
    observed([0, 1, 2], [0, 2, 1], [0, 0, 1], 1, extra=[(1, 2)]),
    observed([0, 1, 2], [0, 1, 1], [0, 1, 1], 2),
]
CASES = {
    "groups drawn anew": (ANEW, {"pseudo_count": 0.5}, {}),
    "people who meet again": (MEETING, {"pseudo_count": 0.5}, {}),
    "gaps as powers": (ABSENT, {"pseudo_count": 1.0, "gaps": "power"}, {"power": True}),
    "gaps ignored": (ABSENT, {"pseudo_count": 1.0}, {}),
    "order 2": (LONGER, {"pseudo_count": 1.0, "order": 2}, {"order": 2}),
    "classes": (
        [observed(range(4), v, o.group, o.time, AGES) for v, o in zip(VALUES, ANEW, strict=True)],
        {"pseudo_count": 0.5, "classes": {"age": 2}},
        {"age_of_class": 49.5, "ages": AGES},
    ),
    "counterfeits": (COUNTERFEITS, {"pseudo_count": 0.5}, {}),
    "one release": (ANEW[:1], {"pseudo_count": 0.5}, {}),
}


def sampler(rng=1, sweeps=600, chains=4, **options):
    return PathSampler(rng=rng, **{"sweeps": sweeps, "chains": chains, "anneal": 20, "warmup": 50, **options})


def row_of(found, kind, past, order):
    """Posterior mean of a row of the law, its name in the summary without the value, and its draws."""
    if kind == "first":
        row, name, before, at = found.prior.probabilities.reshape(-1, M)[past], "frequencies", [past], (past,)
    else:
        name = "transitions" if len(past) == order else f"transitions_{len(past)}"
        row, before, at = found.transitions.tables[len(past) - 1][past], [SCHEMA.values[s] for s in past], past
    return row, f"{name}[{', '.join(map(str, before))}", found.draws["posterior"][name].values[(..., *at, slice(None))]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior_means_are_those_of_enumeration(case):
    """Within five Monte Carlo standard errors, of which 0.002 is a lower bound."""
    releases, options, exact = CASES[case]
    found = SampledKnowledge.fit(releases, sampler=sampler(), **options)
    rows, beliefs = enumerated(releases, options["pseudo_count"], **exact)
    table = found.summary()
    for (kind, past), expected in rows.items():
        row, name, draws = row_of(found, kind, past, options.get("order", 1))
        errors = [table.loc[f"{name}, {value}]", "mcse_mean"] for value in SCHEMA.values]
        errors = np.maximum(5 * np.array(errors), 0.002)
        assert (np.abs(row - expected) <= errors).all()
        assert (np.abs(draws.mean(axis=(0, 1)) - expected) <= errors).all()
    history = joint_history(Adversary(found.prior, found.transitions, gaps=options.get("gaps", "ignore")), releases)
    for (t, person), expected in beliefs.items():
        record = [history.record[t][releases[t].people.rows(person)[0]]]
        error = np.maximum(5 * found.posterior.rows(record, found.posterior.standard_error)[0], 5e-3)
        assert (np.abs(found.posterior.rows(record)[0] - expected) <= error).all()


def test_beliefs_of_the_joint_attack_integrate_out_the_law():
    found = SampledKnowledge.fit(ANEW, sampler=sampler(2), pseudo_count=0.5)
    attack = JointAttack(Adversary(found.prior, found.transitions), solver=found)
    beliefs = attack([_Release(o) for o in ANEW])
    _, expected = enumerated(ANEW, 0.5)
    for (t, person), row in expected.items():
        assert np.allclose(beliefs.posterior(t).loc[person], row, atol=0.06)
    assert any("unknown law" in note for note in beliefs.notes)


def test_known_values_give_the_dirichlet_posterior():
    values, _ = simulated(np.random.default_rng(3), np.array([0.5, 0.3, 0.2]), 0.7 * np.eye(M) + 0.1, 60, 5, 2)
    releases = [observed(range(60), row, np.arange(60), t) for t, row in enumerate(values)]
    found = SampledKnowledge.fit(releases, sampler=sampler(sweeps=1000, anneal=0, warmup=0), pseudo_count=0.5)
    first = np.bincount(values[0], minlength=M) + 0.5
    concentrations = np.full((M, M), 0.5)
    np.add.at(concentrations, (values[:-1], values[1:]), 1)
    mean = concentrations / concentrations.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.transitions.probabilities, mean, atol=1e-9)
    np.testing.assert_allclose(found.prior.probabilities, first / first.sum(), atol=1e-9)
    draws = found.draws["posterior"]["transitions"].values.reshape(-1, M, M)
    sd = np.sqrt(mean * (1 - mean) / (concentrations.sum(axis=1, keepdims=True) + 1))
    assert np.allclose(draws.mean(axis=0), mean, atol=5 * sd.max() / np.sqrt(len(draws)))
    assert np.allclose(draws.std(axis=0), sd, rtol=0.08)
    assert np.ptp(found.posterior.log_density) == pytest.approx(0, abs=1e-9)
    assert found.notes == ()


# --- counts and evidence ----------------------------------------------------------------------------------------------


def test_steps_between_two_records_are_drawn_given_both_ends():
    table = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    cells = LawCells(np.array([-1, 0]), np.array([0, -1]), np.array([1, 3]), np.array([0, 1, 1 + M]))
    ahead = np.stack([np.linalg.matrix_power(table, k) for k in range(4)])
    rng, total = np.random.default_rng(1), np.zeros((1 + M, M))
    for _ in range(20_000):
        total += count_cells(np.array([0, 2]), cells, ahead, rng)
    expected = np.zeros((M, M))
    for x, y in itertools.product(range(M), repeat=2):
        weight = table[0, x] * table[x, y] * table[y, 2] / ahead[3][0, 2]
        for step in ((0, x), (x, y), (y, 2)):
            expected[step] += weight
    assert np.allclose(total[1:] / 20_000, expected, atol=5 * np.sqrt(expected.max() / 20_000))
    assert total[0].tolist() == [20_000, 0, 0]


def test_collapsed_probability_is_that_of_a_polya_urn():
    rng, counts, log = np.random.default_rng(2), np.zeros((2, M)), 0.0
    for row, value in zip(rng.integers(2, size=30), rng.integers(M, size=30), strict=True):
        log += np.log((counts[row, value] + 0.3) / (counts[row].sum() + M * 0.3))
        counts[row, value] += 1
    assert collapsed_log_probability(counts, 0.3) == pytest.approx(log, abs=1e-9)


# --- ArviZ ------------------------------------------------------------------------------------------------------------


def chain_of(order):
    return Adversary(UniformPrior(), MarkovChain(order, np.full((M,) * (order + 1), 1 / M)))


def test_draws_have_the_names_of_the_programs():
    found = SampledKnowledge.fit(ANEW, sampler=sampler(sweeps=20, anneal=0)).draws
    model = history_model(joint_history(chain_of(1), ANEW))
    for name in ("frequencies", "transitions"):
        assert found["posterior"][name].dims == ("chain", "draw", *model.named_vars_to_dims[name])
        for axis in model.named_vars_to_dims[name]:
            assert tuple(found["posterior"][axis].values) == tuple(model.coords[axis])
    assert found["sample_stats"]["lp"].dims == ("chain", "draw")
    found = SampledKnowledge.fit(LONGER, order=2, sampler=sampler(sweeps=20, anneal=0)).draws
    model = markov_model([[0, 1, 2, 0]], order=2, values=M)
    assert found["posterior"]["transitions"].dims == ("chain", "draw", *model.named_vars_to_dims["transitions"])
    assert found["posterior"]["transitions_1"].dims == ("chain", "draw", "value_2", "value")


def test_summary_has_intervals_and_diagnostics():
    found = SampledKnowledge.fit(ANEW, sampler=sampler(sweeps=200))
    table = found.summary(0.8)
    assert len(table) == M + M * M
    assert {"mean", "eti80_lb", "eti80_ub", "ess_bulk", "r_hat"} <= set(table.columns)
    draws = found.draws["posterior"]["transitions"].values[..., 0, 0]
    assert table.loc["transitions[a, a]", "eti80_lb"] == pytest.approx(np.quantile(draws, 0.1), abs=0.01)
    assert float(found.rhat["posterior"]["transitions"].max()) == pytest.approx(table["r_hat"].max(), abs=0.2)


def test_the_same_seed_gives_the_same_draws():
    one, two = (SampledKnowledge.fit(ANEW, sampler=sampler(5, sweeps=40)) for _ in range(2))
    other = SampledKnowledge.fit(ANEW, sampler=sampler(6, sweeps=40))
    np.testing.assert_array_equal(one.draws["posterior"]["transitions"], two.draws["posterior"]["transitions"])
    assert not np.array_equal(one.draws["posterior"]["transitions"], other.draws["posterior"]["transitions"])


# --- limits of the data -----------------------------------------------------------------------------------------------


def test_one_release_has_a_prior_and_no_transitions():
    found = SampledKnowledge.fit(ANEW[:1], sampler=sampler(sweeps=40))
    assert found.transitions is None
    assert "transitions" not in found.draws["posterior"]
    assert "no transitions" in found.notes[0]
    JointAttack(Adversary(found.prior), solver=found)([_Release(ANEW[0])])


def test_values_without_transitions_are_named():
    releases = [observed(range(4), [0, 0, 1, 1], [0, 0, 1, 1], t) for t in range(2)]
    found = SampledKnowledge.fit(releases, sampler=sampler(sweeps=40))
    assert "'c'" in found.notes[0]


def test_chains_that_disagree_are_noted():
    _, releases = simulated(np.random.default_rng(5), np.full(M, 1 / M), 0.9 * np.eye(M) + 1 / 30, 60, 4, 10)
    found = SampledKnowledge.fit(releases, sampler=PathSampler(sweeps=20, warmup=0, anneal=0, redraws=0, rng=1))
    assert any("R-hat over 1.05" in note for note in found.notes)
    found = SampledKnowledge.fit(releases, sampler=PathSampler(sweeps=20, warmup=0, anneal=0, chains=1, rng=1))
    assert any("One chain" in note for note in found.notes)


# --- wrong arguments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (ValueError, "concentration", {"pseudo_count": 0}),
        (ValueError, "concentration", {"pseudo_count": -1}),
        (ValueError, "gaps", {"gaps": "closed"}),
        (ValueError, "order is 0; it is a number of past values", {"order": 0}),
        (TypeError, "classes", {"classes": 3}),
        (ValueError, "no release", {"releases": []}),
        (ValueError, "nothing to learn", {"releases": [observed([0, 1], [0, 0], [-1, -1], 0)]}),
        (ValueError, "2\\^31", {"sampler": PathSampler(sweeps=10**6, chains=10**6, rng=1)}),
    ],
)
def test_wrong_arguments(error, message, options):
    with pytest.raises(error, match=message):
        SampledKnowledge.fit(**{"releases": ANEW, "sampler": sampler(sweeps=20), **options})


def test_zero_draws():
    with pytest.raises(ValueError, match="sweeps is 0"):
        PathSampler(sweeps=0, rng=1)


def test_wrong_use_as_a_solver():
    found = SampledKnowledge.fit(ANEW, sampler=sampler(sweeps=20))
    problem = joint_history(chain_of(1), ANEW).problem
    with pytest.raises(ValueError, match="other releases"):
        found(joint_history(chain_of(1), LONGER).problem)
    with pytest.raises(ValueError, match="other releases"):
        found(joint_history(Adversary(UniformPrior()), ANEW).problem)
    with pytest.raises(ValueError, match="hindsight=True"):
        found.forward(problem)


class _Release:
    """A release as an attack reads it."""

    def __init__(self, observation):
        self.observation = observation


# --- slow: calibration, bias, and another sampler ---------------------------------------------------------------------


@pytest.mark.slow
def test_simulation_based_calibration():
    """Ranks of the true law among its draws are uniform if law, history and draws come from one joint distribution."""
    rng, ranks = np.random.default_rng(8), []
    for seed in range(200):
        prior, table = rng.dirichlet(np.ones(M)), rng.dirichlet(np.ones(M), size=M)
        _, releases = simulated(rng, prior, table, 9, 4, 3)
        found = SampledKnowledge.fit(releases, sampler=sampler(seed, sweeps=420, chains=1), pseudo_count=1.0).draws[
            "posterior"
        ]
        thinned = {name: found[name].values[0, ::20] for name in ("frequencies", "transitions")}
        ranks.append(
            [
                (thinned["frequencies"][:, 0, 0] < prior[0]).sum(),
                (thinned["transitions"][:, 0, 0] < table[0, 0]).sum(),
                (thinned["transitions"][:, 1, 2] < table[1, 2]).sum(),
                (np.trace(thinned["transitions"], axis1=1, axis2=2) < np.trace(table)).sum(),
            ]
        )
    for column in np.transpose(ranks):  # 21 draws, 22 ranks, 11 bins of two ranks
        assert chisquare(np.bincount(column // 2, minlength=11)).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 10])
def test_staying_is_not_underestimated(size):
    """On the exams in random groups, the chain is learned nearly as well as from the values, and the true staying is covered."""
    history, _, transitions = exams(12, 1000, rng=2012)
    rng, releases = np.random.default_rng(size), []
    for view in history:
        group = rng.permutation(len(view.people)) // size
        counts = np.zeros((group.max() + 1, len(history.schema.values)), dtype=np.int64)
        np.add.at(counts, (group, view.sensitive), 1)
        releases.append(Observation(view.people, group, counts, view.time))
    found = SampledKnowledge.fit(releases, sampler=PathSampler(sweeps=200, rng=1))
    steps = MarkovChain.fit(history, pseudo_count=0.1).probabilities
    weight = np.zeros(len(steps))
    for before, after in itertools.pairwise(history):
        weight += np.bincount(
            before.sensitive[np.isin(before.people.respondents, after.people.respondents)], minlength=len(steps)
        )
    weight /= weight.sum()
    draws = found.draws["posterior"]["transitions"].values.reshape(-1, *steps.shape)
    staying = np.diagonal(draws, axis1=1, axis2=2) @ weight
    assert np.quantile(staying, 0.005) < np.diag(transitions.probabilities) @ weight < np.quantile(staying, 0.995)

    def error(table):
        return weight @ np.abs(table - transitions.probabilities).sum(axis=1) / 2

    assert error(found.transitions.probabilities) < 1.5 * error(steps)


@pytest.mark.slow
def test_posterior_is_that_of_nuts():
    found = SampledKnowledge.fit(ANEW, sampler=sampler(9, sweeps=2000), pseudo_count=1.0)
    with history_model(joint_history(chain_of(1), ANEW)):
        trace = pm.sample(
            1500,
            tune=500,
            chains=2,
            cores=1,
            random_seed=1,
            progressbar=False,
            nuts_sampler="pymc",
            compute_convergence_checks=False,
        )
    for name in ("frequencies", "transitions"):
        ours, theirs = found.draws["posterior"][name], trace.posterior[name]
        assert np.allclose(ours.mean(["chain", "draw"]), theirs.mean(["chain", "draw"]), atol=0.03)
        assert np.allclose(ours.std(["chain", "draw"]), theirs.std(["chain", "draw"]), atol=0.02)
    belief = trace.posterior["belief"].mean(["chain", "draw"]).to_numpy()
    assert np.allclose(found.posterior.rows(np.arange(len(belief))), belief, atol=0.04)
