"""Joint solvers on noisy counts: against sums over all worlds, limits of much and little noise, and calibration."""

import itertools

import joint_oracle
import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import JointAttack
from foreknow.defenses import NoisyCounts, publish
from foreknow.evaluation import disclosures, log_score
from foreknow.models import (
    Adversary,
    Averaged,
    CompromisedRecords,
    Enumeration,
    EvidenceCascade,
    GivenPrior,
    GroupGraph,
    GroupMessages,
    History,
    JointAuto,
    MarkovChain,
    MaxEntropy,
    Noise,
    NoisyRelease,
    NoisyTable,
    Numeric,
    PathSampler,
    SampledKnowledge,
    Schema,
    View,
)
from foreknow.models.joint import JointProblem
from foreknow.models.joint.max_entropy import joint_log_evidence
from foreknow.models.joint.problem import first_releases
from foreknow.models.tables.noisy_release import Cells

LAWS = ("gaussian", "laplace")


def problem_of(arrays):
    """Problem of arrays of `joint_oracle.noisy`, with likelihoods by the package."""
    given = {key: value for key, value in arrays.items() if key not in ("noisy", "noise")}
    if not arrays["noisy"]:
        return JointProblem(**given)
    most = int(np.bincount(arrays["group"]).max())
    logs = Noise(*arrays["noise"]).log_likelihood(np.array(list(arrays["noisy"].values())), most)
    return JointProblem(**given, **joint_oracle.likelihoods(logs, list(arrays["noisy"]), len(arrays["counts"])))


def rows_of(posterior):
    return posterior.rows(np.arange(len(posterior.problem.path)))


def enumerated(arrays):
    """Beliefs by the oracle, and the logarithm of the probability of all counts."""
    values, weight = joint_oracle.joint_law(arrays)
    return joint_oracle.shares(values, weight, arrays["counts"].shape[1]), np.log(weight.sum())


def with_evidence(rng, arrays):
    """Likelihoods of each value of each record, as of who is listed next."""
    records, m = len(arrays["group"]), arrays["counts"].shape[1]
    return arrays | {"evidence": rng.uniform(0.05, 1, (records, m)), "evidence_row": np.arange(records)}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("clamped", [False, True])
class TestEnumeration:
    def test_is_the_sum_over_all_worlds(self, law, clamped):
        """Chains of any order, exact counts beside noisy ones, groups without counts, counterfeits, evidence, relations."""
        rng = np.random.default_rng([36, clamped])
        for scale in np.repeat([0.3, 1.0, 3.0, 20.0], 12):
            arrays = joint_oracle.random_noisy(rng, Noise(law, scale, clamped), share=0.8)
            arrays = with_evidence(rng, arrays) if rng.random() < 0.5 else arrays
            related = rng.random() < 0.5
            arrays = joint_oracle.related(rng, arrays) if related else arrays
            expected, log_evidence = enumerated(arrays)
            for solver in (Enumeration(), JointAuto()):
                posterior = solver(problem_of(arrays))
                np.testing.assert_allclose(rows_of(posterior), expected, atol=1e-9)
                assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-9)
            if not related:
                assert joint_log_evidence(posterior) == pytest.approx(log_evidence, abs=1e-9)

    def test_forward_is_that_of_the_releases_so_far(self, law, clamped):
        rng = np.random.default_rng([37, clamped])
        for _ in range(8):
            arrays = joint_oracle.random_noisy(rng, Noise(law, 1.0, clamped), share=0.8)
            problem = problem_of(arrays)
            found, when = rows_of(Enumeration().forward(problem)), problem.release[problem.group]
            for t in np.unique(when):
                groups = int((arrays["release"] <= t).sum())
                prefix = arrays | {
                    "counts": arrays["counts"][:groups],
                    "release": arrays["release"][:groups],
                    "emission_row": arrays["emission_row"][:groups],
                    "noisy": {g: shown for g, shown in arrays["noisy"].items() if g < groups},
                }
                for name in ("path", "group", "chain", "evidence_row"):
                    prefix[name] = arrays[name][when <= t]
                expected = enumerated(prefix)[0]
                np.testing.assert_allclose(found[when == t], expected[when[when <= t] == t], atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [0.8, 2.0])
@pytest.mark.parametrize("histories", [4, pytest.param(75, marks=pytest.mark.slow)])
def test_sampler_is_within_its_error(law, scale, histories):
    """Five standard errors and .01, for orders 0 and 1, with relations and evidence, clamped or not; forward too."""
    rng = np.random.default_rng(38)
    for number in range(histories):
        noise = Noise(law, scale, clamped=bool(number % 2))
        arrays = joint_oracle.random_noisy(rng, noise, most=4_000, orders=(0, 1))
        arrays = joint_oracle.related(rng, arrays) if number % 4 > 1 else with_evidence(rng, arrays)
        problem, solver = problem_of(arrays), PathSampler(400, rng=number)
        posterior = solver(problem)
        error = posterior.rows(np.arange(len(problem.path)), posterior.standard_error)
        assert (np.abs(rows_of(posterior) - enumerated(arrays)[0]) <= 5 * error + 0.01).all()
        if number == 1:
            found, expected = solver.forward(problem), Enumeration().forward(problem)
            error = found.rows(np.arange(len(problem.path)), found.standard_error)
            assert (np.abs(rows_of(found) - rows_of(expected)) <= 5 * error + 0.01).all()


TOLERANCE = {0.3: 0.035, 0.5: 0.035, 1.0: 0.02, 2.0: 0.008, 4.0: 0.004, 8.0: 0.002}
"""Largest mean total variation of the beliefs of `MaxEntropy` from those of enumeration, by the scale of the noise."""


class TestMaxEntropy:
    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize(("scale", "most"), TOLERANCE.items())
    @pytest.mark.parametrize("histories", [30, pytest.param(300, marks=pytest.mark.slow)])
    def test_distance_from_enumeration(self, law, scale, most, histories):
        """Mean over random histories; that of 30 has an error of about a fifth."""
        rng, distance = np.random.default_rng(39), []
        for number in range(histories):
            noise = Noise(law, scale, clamped=number % 3 == 0)
            arrays = joint_oracle.random_noisy(rng, noise, most=4_000)
            found = MaxEntropy()(problem_of(arrays))
            assert not found.status.any()
            distance.append(np.abs(rows_of(found) - enumerated(arrays)[0]).sum(axis=1).mean() / 2)
        assert np.mean(distance) <= (most if histories == 300 else 1.3 * most)

    def test_is_exact_in_cells_of_one(self):
        rng = np.random.default_rng(40)
        for scale in (0.3, 2.0):
            arrays = joint_oracle.random_noisy(rng, Noise("laplace", scale), orders=(1, 2))
            alone = np.arange(len(arrays["group"]))
            truth = np.eye(arrays["counts"].shape[1], dtype=int)[
                rng.integers(arrays["counts"].shape[1], size=len(alone))
            ]
            arrays |= {"counts": truth, "release": arrays["release"][arrays["group"]], "group": alone}
            arrays = joint_oracle.noisy(
                rng, arrays | {"emission_row": np.full(len(alone), -1)}, Noise("laplace", scale)
            )
            found = rows_of(MaxEntropy(1e-10)(problem_of(arrays)))
            np.testing.assert_allclose(found, rows_of(Enumeration()(problem_of(arrays))), atol=1e-8)

    def test_other_solvers_hand_noisy_cells_to_it(self):
        problem = problem_of(joint_oracle.random_noisy(np.random.default_rng(41), Noise("gaussian", 2.0)))
        expected = MaxEntropy()(problem)
        for solver in (GroupGraph(), GroupMessages(), JointAuto(1, MaxEntropy())):
            np.testing.assert_allclose(rows_of(solver(problem)), rows_of(expected), atol=1e-12)
        forward = rows_of(MaxEntropy().forward(problem))
        np.testing.assert_allclose(rows_of(GroupGraph().forward(problem)), forward, atol=1e-12)
        last = problem.release[problem.group] == problem.releases - 1
        np.testing.assert_allclose(forward[last], rows_of(expected)[last], atol=0.02)

    def test_evidence_is_refused_where_it_is_unknown(self):
        problem = problem_of(joint_oracle.random_noisy(np.random.default_rng(41), Noise("gaussian", 2.0)))
        for solver in (MaxEntropy(), GroupGraph(), JointAuto(1)):
            with pytest.raises(
                ValueError, match=r"the counts are noisy, and their probability is known of Enumeration"
            ):
                joint_log_evidence(solver(problem))


class TestLimits:
    @pytest.mark.parametrize("law", LAWS)
    def test_without_noise_counts_are_exact(self, law):
        rng = np.random.default_rng(42)
        for number in range(12):
            exact = joint_oracle.random_arrays(rng)
            while joint_oracle.number_of_assignments(exact | {"counts": 0 * exact["counts"]}) > 20_000:
                exact = joint_oracle.random_arrays(rng)
            # Invented records and evidence of weight 0 are those of the random history.
            arrays = joint_oracle.noisy(rng, exact, Noise(law, 0.02))
            if joint_oracle.joint_beliefs(exact) is not None:
                found = rows_of(Enumeration()(problem_of(arrays)))
                np.testing.assert_allclose(found, joint_oracle.joint_beliefs(exact), atol=1e-9)
            if law == "gaussian" and number < 6 and not MaxEntropy(1e-6)(JointProblem(**exact)).status.any():
                found, expected = (MaxEntropy(1e-6)(each) for each in (problem_of(arrays), JointProblem(**exact)))
                np.testing.assert_allclose(rows_of(found), rows_of(expected), atol=0.01)

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("solver", [Enumeration(), MaxEntropy()], ids=lambda solver: type(solver).__name__)
    def test_much_noise_leaves_the_prior_carried_by_the_chain(self, law, solver):
        rng = np.random.default_rng(43)
        for _ in range(5):
            arrays = joint_oracle.random_noisy(rng, Noise(law, 3e4))
            expected = enumerated(arrays | {"noisy": {}})[0]
            np.testing.assert_allclose(rows_of(solver(problem_of(arrays))), expected, atol=1e-3)

    @pytest.mark.parametrize("solver", [Enumeration(), MaxEntropy(1e-8)], ids=lambda solver: type(solver).__name__)
    def test_cells_that_share_no_respondent_factorize(self, solver):
        """Two histories side by side: the beliefs are those of each alone."""
        rng = np.random.default_rng(44)
        noise = Noise("gaussian", 1.0)
        parts = [
            joint_oracle.noisy(rng, joint_oracle.cohorts(rng, 3, 3, 2, "closed", groups=1), noise) for _ in range(2)
        ]
        problems = [problem_of(part) for part in parts]
        order = np.argsort(np.concatenate([part["group"] for part in parts]), kind="stable")
        both = JointProblem(
            np.vstack([part["prior"] for part in parts]),
            (np.concatenate([part["tables"][0] for part in parts]),),
            np.concatenate([parts[0]["path"], parts[1]["path"] + 3])[order],
            np.concatenate([2 * parts[0]["group"], 2 * parts[1]["group"] + 1])[order_of(parts)],
            np.repeat([0, 1], 9)[order_of(parts)],
            np.zeros((6, 2), int),
            np.repeat(np.arange(3), 2),
            count_logs=np.concatenate([problem.count_logs for problem in problems]),
            count_start=np.concatenate(
                [problems[0].count_start, problems[1].count_start + len(problems[0].count_logs)]
            )[[0, 3, 1, 4, 2, 5]],
        )
        expected = np.vstack([rows_of(solver(problem)) for problem in problems])[order_of(parts)]
        np.testing.assert_allclose(rows_of(solver(both)), expected, atol=1e-6)


def order_of(parts):
    """Records of two histories of groups 0, 1, ... each, by release and history."""
    return np.argsort(np.concatenate([2 * parts[0]["group"], 2 * parts[1]["group"] + 1]), kind="stable")


class TestAttack:
    """From releases to beliefs: what `joint_history` makes of noisy counts."""

    PRIOR, CHAIN = np.array([0.7, 0.3]), np.array([[0.8, 0.2], [0.3, 0.7]])
    CELLS = Cells(np.array([[-np.inf], [22.0]]), np.array([[22.0], [np.inf]]))

    def releases(self, noise, counts):
        """A to C are in the first cell, D and E in the second; B is not in the second view, at time 3."""
        history = history_of(("ABCDE", "abaab"), ("ACDE", "aaab"), ("ABCDE", "bbaab"), domain="ab")
        return [
            NoisyRelease(View(view.frame, view.schema, time), NoisyTable(self.CELLS, shown, noise))
            for view, shown, time in zip(history, counts, (1, 2, 3), strict=True)
        ]

    @pytest.mark.parametrize("noise", [Noise("laplace", 1.5), Noise("gaussian", 1.0, clamped=True)], ids=str)
    def test_hidden_steps_and_claims(self, noise):
        """The chain takes a step at each release, B's second one unseen; a claim is .8 sure that D has b at time 2."""
        counts = np.array([[[2, 1], [0, 3]], [[1, 0], [2, 0]], [[0, 2], [1, 1]]])
        claim = pd.DataFrame([("D", "b", 2, 0.8)], columns=["respondent", "value", "time", "confidence"])
        adversary = Adversary(
            GivenPrior(pd.DataFrame([self.PRIOR] * 5, index=list("ABCDE"), columns=list("ab"))),
            MarkovChain(1, self.CHAIN),
            gaps="power",
            compromised=CompromisedRecords(claim),
            cascade=EvidenceCascade(),
        )
        found = JointAttack(adversary, Enumeration())(self.releases(noise, counts))
        courses = list(itertools.product((0, 1), repeat=3))
        weight = np.array([self.PRIOR[x] * self.CHAIN[x, y] * self.CHAIN[y, z] for x, y, z in courses])
        belief, triple = np.zeros((5, 3, 2)), (noise.law, noise.scale, noise.clamped)
        for world in itertools.product(range(8), repeat=5):
            values = np.array([courses[each] for each in world])
            total = weight[list(world)].prod()
            # A claim of confidence c about one of m values: the likelihood c of it, and 1 - c spread over the others.
            total *= 0.8 if values[3, 1] else 0.2
            for t, (cell, members) in itertools.product(range(3), enumerate(((0, 1, 2), (3, 4)))):
                here = [i for i in members if (i, t) != (1, 1)]
                number = np.bincount(values[here, t], minlength=2)
                total *= joint_oracle.noise_probability(triple, counts[t, cell], number).prod()
            for i, t in itertools.product(range(5), range(3)):
                belief[i, t, values[i, t]] += total
        belief /= belief.sum(axis=2, keepdims=True)
        for t in range(3):
            rows = found.releases[t].posterior.probabilities
            people = [0, 2, 3, 4] if t == 1 else range(5)
            np.testing.assert_allclose(rows, belief[people, t], atol=1e-9)

    def test_draws_of_an_averaged_adversary_are_weighed_by_enumeration(self):
        """Two chains: the weights are the probabilities of the counts under each."""
        prior = GivenPrior(pd.DataFrame([self.PRIOR] * 5, index=list("ABCDE"), columns=list("ab")))
        each = [Adversary(prior, MarkovChain(1, table)) for table in (self.CHAIN, np.full((2, 2), 0.5))]
        releases = self.releases(
            Noise("laplace", 0.5), np.array([[[2, 1], [1, 1]], [[2, 0], [1, 1]], [[1, 2], [1, 1]]])
        )
        parts = [JointAttack(one, Enumeration())(releases) for one in each]
        both = JointAttack(Averaged(each), Enumeration())(releases)
        mixed = [one.posterior(1).to_numpy() for one in (*parts, both)]
        share = (mixed[2] - mixed[1])[0, 0] / (mixed[0] - mixed[1])[0, 0]
        np.testing.assert_allclose(mixed[2], share * mixed[0] + (1 - share) * mixed[1], atol=1e-12)
        assert 0.5 < share < 1
        with pytest.raises(ValueError, match="the counts are noisy"):
            JointAttack(Averaged(each))(releases)

    @pytest.mark.parametrize("law", LAWS)
    @pytest.mark.parametrize("n", [2_500, pytest.param(10_000, marks=pytest.mark.slow)])
    def test_calibrated_on_respondents_of_its_own_law(self, law, n):
        """Respondents whose paths are drawn from the law: the sampler is right as often as it says, `MaxEntropy` no less often.

        Beliefs about one respondent are dependent: at most ``releases`` times the variance of independent ones.
        """
        releases, m = 4, 3
        rng, domain = np.random.default_rng(45), tuple("abc")
        prior = rng.dirichlet(np.full(m, 0.4), n)
        table = 0.85 * np.eye(m) + 0.15 * rng.dirichlet(np.ones(m), m)
        value, views = np.array([rng.choice(m, p=row) for row in prior]), []
        for t in range(releases):
            value = value if t == 0 else np.array([rng.choice(m, p=table[v]) for v in value])
            frame = pd.DataFrame({"id": np.arange(n), "age": np.arange(n), "result": np.array(domain)[value]})
            views.append(View(frame, Schema({"age": Numeric(0, n)}, "result", domain), t))
        defense = NoisyCounts(Cells.equal_counts(views[0].people, n // 20), releases, rho=4.0, noise=law, rng=1)
        published, history = publish(views, defense), History(views)
        adversary = Adversary(GivenPrior(pd.DataFrame(prior, columns=list(domain))), MarkovChain(1, table))
        for solver in (PathSampler(100, chains=2, rng=1), MaxEntropy()):
            beliefs = JointAttack(adversary, solver)(published)
            rows = np.vstack([release.posterior.probabilities for release in beliefs])
            true = np.concatenate([view.sensitive for view in views])
            sure, highest = disclosures(beliefs, history).sum(), rows.max(axis=1)[rows.max(axis=1) >= 0.9]
            assert sure["sure"] == len(highest) > 0.3 * n
            z = (sure["right"] - sure["expected"]) / np.sqrt(releases * (highest * (1 - highest)).sum())
            score = np.log2(rows[np.arange(len(true)), true])
            assert log_score(beliefs, history)["log_score"].mean() == pytest.approx(score.mean(), abs=1e-9)
            entropy = (rows * np.log2(np.maximum(rows, 1e-300))).sum(axis=1)
            of_score = (score - entropy).mean() / np.sqrt(releases * ((score - entropy) ** 2).mean() / len(score))
            if isinstance(solver, PathSampler):
                assert abs(z) < 3
                assert abs(of_score) < 3
            else:
                assert z > -3
                assert of_score > -3


def test_first_releases_keep_their_noisy_counts():
    problem = problem_of(joint_oracle.random_noisy(np.random.default_rng(46), Noise("laplace", 2.0)))
    one = first_releases(problem, 1)
    assert one.count_start.tolist() == problem.count_start[: len(one.counts)].tolist()


class TestRefused:
    def problem(self, **other):
        given = {"count_logs": np.log(np.full(6, 0.2)), "count_start": [[0, 3]]}
        return JointProblem(np.full((2, 2), 0.5), (), [0, 1], [0, 0], [0, 0], [[0, 0]], [0], **(given | other))

    @pytest.mark.parametrize(
        ("other", "message"),
        [
            ({"count_logs": np.zeros(5)}, "have 5 numbers"),
            ({"count_start": [[0, 4]]}, "have 6 numbers"),
            ({"count_start": [[0, -1]]}, "each value of a noisy group has one"),
            ({"largest_count": 1}, "from 0 to 1"),
            ({"count_logs": np.full(6, -np.inf)}, "they are finite"),
            ({"count_start": [[0, 3, 3]]}, r"count_start .* shape \(1, 3\)"),
            ({"emission": np.eye(2)[None], "emission_row": [0]}, "a multiset or distorted values beside them"),
        ],
    )
    def test_likelihoods(self, other, message):
        with pytest.raises(ValueError, match=message):
            self.problem(**other)

    def test_what_the_sampler_does_not_read(self):
        with pytest.raises(ValueError, match=r"PathSampler.draws does not read noisy counts; MaxEntropy"):
            PathSampler(rng=1).draws(self.problem(), 3)
        exact = joint_oracle.random_noisy(np.random.default_rng(47), Noise("laplace", 2.0), share=0.5, orders=(1,))
        assert exact["counts"].any()
        with pytest.raises(ValueError, match="exact counts beside noisy ones; it takes order 1"):
            PathSampler(rng=1)(problem_of(exact))
        second = joint_oracle.random_noisy(np.random.default_rng(48), Noise("laplace", 2.0), orders=(2,))
        with pytest.raises(ValueError, match="a history of noisy counts has chains of order 2"):
            PathSampler(rng=1)(problem_of(second))

    def test_sampled_knowledge(self):
        releases = publish(history_of(("AB", "ab"), ("AB", "ba")), NoisyCounts(1, 2, gain=0.2, rng=1))
        with pytest.raises(ValueError, match=r"SampledKnowledge.fit does not read noisy counts; LearnedKnowledge"):
            SampledKnowledge.fit(releases, sampler=PathSampler(rng=1))
