"""Joint problem of a history: its checks, and the law that `joint_history` builds, against the law of the documents."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from foreknow.models import (
    Adversary,
    ChainByRelease,
    CompromisedRecords,
    MarkovChain,
    Numeric,
    Observation,
    PriorByTime,
    PriorCascade,
    Schema,
    Status,
    UniformPrior,
    View,
)
from foreknow.models.joint.building import joint_history
from foreknow.models.joint.enumeration import Enumeration
from foreknow.models.joint.problem import JointProblem

# --- the law of the documents, respondent by respondent ---------------------------------------------------------------


class PriorTable:
    """Prior of each respondent at one time, by a table."""

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, people):
        return np.array([self.rows[name] for name in people.respondents])


def sequence_law(case, name, times):
    """All sequences of values of one respondent at some releases, and their probabilities: the law without any release."""
    law = []
    for values in itertools.product(range(case["m"]), repeat=len(times)):
        p = case["prior"][times[0]][name][values[0]]
        for j in range(1, len(times)):
            known = min(j, case["order"])
            p *= case["chains"][times[j]].tables[known - 1][(*values[j - known : j], values[j])]
        law.append((values, p))
    return law


def paths_of(case, name):
    """Releases of each independent sequence of a respondent: one, or one for each release without transitions."""
    releases = range(len(case["groups"]))
    published = [t for t in releases if case["groups"][t].get(name, -1) >= 0]
    claimed = [t for t in releases if (name, t) in case["claims"]]
    seen = sorted({*published, *claimed})
    if not case["chains"]:
        return [[t] for t in seen]
    if case["gaps"] == "power" and seen:
        return [list(range(seen[0], len(case["groups"])))]
    return [seen] if seen else []


def weighted_sequences(case, name, times):
    """Sequences and their weights after the claims about the respondent, each a mixture of two laws."""
    law = sequence_law(case, name, times)
    for t in times:
        if (name, t) in case["claims"]:
            s, confidence = case["claims"][name, t]
            place = times.index(t)
            without = sequence_law(case, name, times)
            probability = sum(p for values, p in without if values[place] == s)
            law = [
                (values, p * ((1 - confidence) + confidence * (values[place] == s) / probability)) for values, p in law
            ]
    return law


def documents_beliefs(case):
    """Belief about each respondent at each release by enumeration: dict of (name, release) to shape ``(m,)``."""
    m, releases = case["m"], range(len(case["groups"]))
    sequences = {
        (name, tuple(times)): weighted_sequences(case, name, list(times))
        for name in case["names"]
        for times in paths_of(case, name)
    }
    for t in releases:
        for g, counts in enumerate(case["counts"][t]):
            members = [name for name in case["names"] if case["groups"][t].get(name, -1) == g]
            for extra in range(sum(counts) - len(members)):
                sequences[f"counterfeit {extra} of {g}", (t,)] = [((s,), 1 / m) for s in range(m)]
    members = {
        (t, g): [
            (key, key[1].index(t))
            for key in sequences
            if t in key[1] and (case["groups"][t].get(key[0], -1) == g or str(key[0]).endswith(f" of {g}"))
        ]
        for t in releases
        for g in range(len(case["counts"][t]))
    }
    options = []
    for (t, g), inside in members.items():
        shown = [s for s, count in enumerate(case["counts"][t][g]) for _ in range(count)]
        assert len(shown) == len(inside)
        options.append([tuple(zip(inside, each, strict=True)) for each in sorted(set(itertools.permutations(shown)))])
    totals = {(key[0], t): np.zeros(m) for key in sequences for t in key[1]}
    for joint in itertools.product(*options):
        given = {key: {} for key in sequences}
        for (key, place), s in itertools.chain.from_iterable(joint):
            given[key][place] = s
        allowed = {
            key: [(v, w) for v, w in law if all(v[place] == s for place, s in given[key].items())]
            for key, law in sequences.items()
        }
        weight = {key: sum(w for _, w in law) for key, law in allowed.items()}
        for key, law in allowed.items():
            others = np.prod([weight[other] for other in sequences if other != key])
            for values, w in law:
                for place, t in enumerate(key[1]):
                    totals[key[0], t][values[place]] += w * others
    return {key: total / total.sum() if total.sum() > 0 else None for key, total in totals.items()}


# --- random histories as documents ------------------------------------------------------------------------------------


def random_case(rng):
    m, order, releases = int(rng.integers(2, 4)), int(rng.integers(0, 3)), int(rng.integers(2, 4))
    names = [f"p{i}" for i in range(rng.integers(2, 5))]
    gaps, changing = rng.choice(["ignore", "power"]), rng.random() < 0.5

    def rows(*shape):
        drawn = rng.dirichlet(np.ones(m), size=shape)
        drawn[rng.random(drawn.shape) < 0.15] = 0
        drawn[..., 0] += drawn.sum(axis=-1) == 0
        return drawn / drawn.sum(axis=-1, keepdims=True)

    def chain():
        return MarkovChain(order, rows(*(m,) * order), tuple(rows(*(m,) * k) for k in range(1, order)))

    pooled = chain() if order else None
    listed = tuple(chain() for _ in range(rng.integers(0, releases))) if order and changing else ()
    transitions = ChainByRelease((pooled, *listed), pooled) if listed else pooled
    case = {
        "m": m,
        "order": order,
        "gaps": str(gaps),
        "names": names,
        "prior": [dict(zip(names, rows(len(names)), strict=True)) for _ in range(releases)],
        "transitions": transitions,
        "chains": [(listed[t - 1] if 0 < t <= len(listed) else pooled) for t in range(releases)] if order else [],
        "groups": [],
        "counts": [],
        "claims": {},
    }
    truth = {}
    for t in range(releases):
        for name in names:
            past = truth.setdefault(name, []) if order else []
            known = min(len(past), order)
            law = case["chains"][t].tables[known - 1][tuple(past[-known:])] if known else case["prior"][t][name]
            past.append(int(rng.choice(m, p=law)))
            truth[name] = past
        present = [name for name in rng.permutation(names).tolist() if rng.random() < 0.85]
        number = int(rng.integers(1, 3))
        group = {name: int(rng.integers(-1 if rng.random() < 0.3 else 0, number)) for name in present}
        counts = np.zeros((number, m), dtype=int)
        for name, g in group.items():
            if g >= 0:
                counts[g, truth[name][-1]] += 1
        if rng.random() < 0.2:
            counts[rng.integers(number), rng.integers(m)] += 1
        for name in present:
            s = truth[name][-1]
            if rng.random() < 0.15 and case["prior"][t][name][s] > 0:
                case["claims"][name, t] = (s, float(rng.choice([0.3, 0.9, 1.0])))
        case["groups"].append(group)
        case["counts"].append(counts)
    # A claim is about a value that is possible at its release.
    for name, t in list(case["claims"]):
        times = next(times for times in paths_of(case, name) if t in times)
        s = case["claims"][name, t][0]
        if not sum(p for values, p in sequence_law(case, name, times) if values[times.index(t)] == s) > 1e-6:
            del case["claims"][name, t]
    return case


def observations_of(case):
    domain = tuple("abc"[: case["m"]])
    schema = Schema({"age": Numeric(0, 99)}, "result", domain)
    observed = []
    for t, (group, counts) in enumerate(zip(case["groups"], case["counts"], strict=True)):
        people = list(group)
        frame = pd.DataFrame({"id": people, "age": 30, "result": ["a"] * len(people)})
        view = View(frame.astype({"id": object}), schema, time=10 + t)
        observed.append(Observation(view.people, np.array(list(group.values()), dtype=int), counts, time=10 + t))
    return observed


def adversary_of(case):
    claims = [
        {"respondent": name, "value": "abc"[s], "time": 10 + t, "confidence": confidence}
        for (name, t), (s, confidence) in case["claims"].items()
    ]
    return Adversary(
        PriorByTime({10 + t: PriorTable(rows) for t, rows in enumerate(case["prior"])}),
        case["transitions"],
        compromised=CompromisedRecords(pd.DataFrame(claims)) if claims else None,
        cascade=PriorCascade() if claims else None,
        gaps=case["gaps"],
    )


def cases(seed, number):
    rng, drawn = np.random.default_rng([15, seed]), []
    while len(drawn) < number:
        case = random_case(rng)
        if any(case["groups"]) and all(case["groups"]):
            drawn.append(case)
    return drawn


class TestLawOfTheDocuments:
    @pytest.mark.parametrize("seed", range(12))
    def test_joint_history_has_it(self, seed):
        for case in cases(seed, 10):
            expected = documents_beliefs(case)
            history = joint_history(adversary_of(case), observations_of(case))
            posterior = Enumeration()(history.problem)
            beliefs = posterior.rows(np.arange(len(history.problem.path)))
            # Knowledge with gaps ignored may rule out values drawn with a step at every release.
            assert posterior.status.any() == any(belief is None for belief in expected.values())
            for t, group in enumerate(case["groups"] if not posterior.status.any() else []):
                for row, name in enumerate(group):
                    record = history.record[t][row]
                    assert (record >= 0) == ((name, t) in expected), (name, t)
                    if record >= 0:
                        assert np.allclose(beliefs[record], expected[name, t], rtol=0, atol=1e-12)

    def test_random_cases_have_all_features(self):
        drawn = [case for seed in range(12) for case in cases(seed, 10)]
        possible = [all(b is not None for b in documents_beliefs(case).values()) for case in drawn]
        assert np.mean(possible) > 0.7
        assert {case["order"] for case in drawn} == {0, 1, 2}
        assert {case["gaps"] for case in drawn} == {"ignore", "power"}
        assert sum(bool(case["claims"]) for case in drawn) > 20
        assert sum(isinstance(case["transitions"], ChainByRelease) for case in drawn) > 20
        assert sum(-1 in group.values() for case in drawn for group in case["groups"]) > 20
        inside = [sum(g >= 0 for g in group.values()) for case in drawn for group in case["groups"]]
        shown = [int(np.sum(counts)) for case in drawn for counts in case["counts"]]
        assert sum(np.array(shown) > np.array(inside)) > 20

    @pytest.mark.parametrize("seed", range(4))
    def test_last_record_before_each_release(self, seed):
        for case in cases(seed, 10):
            history = joint_history(adversary_of(case), observations_of(case))
            last = {}
            for t, group in enumerate(case["groups"]):
                assert history.before[t].tolist() == [last.get(name, -1) for name in group]
                for row, name in enumerate(group):
                    if history.record[t][row] >= 0:
                        last[name] = history.record[t][row]
                # Steps without a row are records too.
                problem = history.problem
                for name in case["names"]:
                    if name in last and name not in group:
                        same = problem.path == problem.path[last[name]]
                        here = np.flatnonzero(same & (problem.release[problem.group] == t))
                        last[name] = int(here[0]) if len(here) else last[name]

    def test_counterfeits_are_behind_the_respondents(self):
        for case in cases(3, 10):
            problem = joint_history(adversary_of(case), observations_of(case)).problem
            invented = sum(
                int(np.sum(counts)) - sum(g >= 0 for g in group.values())
                for group, counts in zip(case["groups"], case["counts"], strict=True)
            )
            assert len(problem.prior) - problem.respondents == invented


class TestJointHistoryChecks:
    schema = Schema({"age": Numeric(0, 99)}, "result", ("a", "b"))

    def observation(self, ids="AB", group=(0, 0), counts=((1, 1),), time=1, schema=schema):
        frame = pd.DataFrame({"id": list(ids), "age": 30, "result": [schema.values[0]] * len(ids)})
        return Observation(View(frame, schema, time).people, np.array(group), np.array(counts), time)

    def adversary(self, contradicted="raise", **options):
        claims = pd.DataFrame({"respondent": ["A"], "value": ["b"], "time": [1], "confidence": [1.0]})
        return Adversary(
            UniformPrior(), compromised=CompromisedRecords(claims, contradicted), cascade=PriorCascade(), **options
        )

    def test_domains_differ(self):
        other = Schema({"age": Numeric(0, 99)}, "result", ("b", "a"))
        with pytest.raises(ValueError, match="the sensitive domain at 2 is not that at 1"):
            joint_history(Adversary(UniformPrior()), [self.observation(), self.observation(time=2, schema=other)])

    def test_chain_over_another_domain(self):
        chain = MarkovChain(1, np.full((3, 3), 1 / 3))
        with pytest.raises(ValueError, match="transitions are over 3 values, and the sensitive domain has 2"):
            joint_history(Adversary(UniformPrior(), chain), [self.observation(), self.observation(time=2)])

    def test_order_of_the_chain_changes(self):
        class Changing:
            def at(self, release):
                return MarkovChain(1 + release % 2, np.full((2,) * (2 + release % 2), 0.5))

        releases = [self.observation(time=t) for t in (1, 2, 3)]
        with pytest.raises(ValueError, match=r"the chains are of order 1 over 2 values, of order 2"):
            joint_history(Adversary(UniformPrior(), Changing()), releases)

    def test_claimed_value_is_not_shown(self):
        with pytest.raises(
            ValueError, match="respondent 'A' has 'b' at 1, and the group 0 published then does not show it"
        ):
            joint_history(self.adversary(), [self.observation(counts=((2, 0),))])

    def test_claimed_value_is_not_shown_and_reported(self):
        history = joint_history(self.adversary("report"), [self.observation(counts=((2, 0),))])
        posterior = Enumeration()(history.problem)
        assert posterior.status.tolist() == [Status.CONTRADICTED]
        assert posterior.rows(history.record[0]).tolist() == [[1, 0], [1, 0]]

    def test_a_claimed_value_may_be_one_that_was_distorted(self):
        """Of two published values one is distorted: the claimed value need not be shown, unless distortion is ignored."""
        release = replace(self.observation(counts=((2, 0),)), distorted=1, vanished=1)
        beliefs = Enumeration()(joint_history(self.adversary(), [release]).problem).rows(np.arange(2))
        assert beliefs[0] == pytest.approx([0, 1])
        with pytest.raises(ValueError, match="does not show it"):
            joint_history(self.adversary(distortion="ignored"), [release])

    def test_claim_about_a_suppressed_record(self):
        history = joint_history(self.adversary(), [self.observation("AB", (-1, 0), ((1, 0),))])
        assert Enumeration()(history.problem).rows(history.record[0]).tolist() == [[0, 1], [1, 0]]

    def test_no_releases(self):
        assert len(joint_history(Adversary(UniformPrior()), []).problem.path) == 0

    def test_claim_about_an_impossible_value_is_reported(self):
        """A value of probability 0 by the prior: knowledge that contradicts itself."""
        prior = PriorTable({"A": [1.0, 0.0], "B": [0.5, 0.5]})
        claims = CompromisedRecords(
            pd.DataFrame({"respondent": ["A"], "value": ["b"], "time": [1], "confidence": [1.0]})
        )
        adversary = Adversary(prior, compromised=claims, cascade=PriorCascade())
        posterior = Enumeration()(joint_history(adversary, [self.observation()]).problem)
        assert posterior.status.tolist() == [Status.CONTRADICTED]
        assert np.allclose(posterior.rows(np.arange(2)).sum(axis=1), 1)


# --- checks of the arrays ---------------------------------------------------------------------------------------------

HALF = np.full((1, 2, 2), 0.5)


def arguments(**changed):
    right = {
        "prior": np.array([[0.5, 0.5], [0.9, 0.1]]),
        "tables": (HALF,),
        "path": [0, 1, 0, 1],
        "group": [0, 0, 1, 1],
        "chain": [0, 0, 0, 0],
        "counts": [[1, 1], [2, 0]],
        "release": [0, 1],
    }
    return right | changed


class TestJointProblemChecks:
    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"counts": [[1, 1], [1, 0]]}, "group 1 has 2 records and counts that sum to 1;"),
            ({"prior": [[0.5, 0.5], [0.5, 0.4]]}, "the prior of path 1"),
            ({"prior": [[0.5, 0.5], [np.nan, 1]]}, "the prior of path 1"),
        ],
    )
    def test_value_errors(self, changed, message):
        with pytest.raises(ValueError, match=message):
            JointProblem(**arguments(**changed))

    def test_a_channel_of_a_group_that_publishes_nothing_is_not_used(self):
        silent = arguments(counts=[[1, 1], [0, 0]], emission=HALF, emission_row=[-1, 0])
        without = Enumeration()(JointProblem(**silent | {"emission_row": [-1, -1]})).rows(np.arange(4))
        assert Enumeration()(JointProblem(**silent)).rows(np.arange(4)) == pytest.approx(without)

    def test_too_many_states(self):
        """One path of 65,600 records with 32^3 states each."""
        m, length = 32, 65_600
        tables = tuple(np.full((1, *(m,) * (known + 1)), 1 / m) for known in (1, 2, 3))
        nothing, one_each = np.zeros(length, dtype=int), np.arange(length)
        counts = np.zeros((length, m), dtype=int)
        with pytest.raises(ValueError, match=r"have 2.15e\+09 states over sequences of 3 values.*truncate\(1\)"):
            JointProblem(np.full((1, m), 1 / m), tables, nothing, one_each, nothing, counts, one_each)

    def test_arrays_in_any_order_are_kept_in_one(self):
        """Kernels are compiled for each order of an array."""
        two = np.asfortranarray(np.full((2, 2), 0.5))
        cube = np.asfortranarray(np.full((2, 2, 2), 0.5))
        counts = np.asfortranarray([[1, 1], [2, 0]])
        problem = JointProblem(**arguments(prior=two, tables=(cube,), counts=counts, evidence=two, emission=cube))
        kept = (problem.prior, problem.counts, problem.evidence, problem.emission, *problem.tables)
        assert all(array.flags.c_contiguous for array in kept)

    def test_substochastic_rows_are_accepted(self):
        assert JointProblem(**arguments(tables=(0.5 * HALF,))).order == 1
