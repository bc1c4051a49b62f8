"""PyMC program of the joint law: its likelihood and beliefs against enumeration, and its posterior against Enumeration."""

import re

import joint_oracle
import numpy as np
import pymc as pm
import pytensor
import pytest
from places import ROOT

from foreknow.models import Adversary, Enumeration, MarkovChain, Noise, UniformPrior, history_model
from foreknow.models.estimators import TooLarge
from foreknow.models.joint import JointProblem
from foreknow.models.joint.building import joint_history
from foreknow.models.programs import history_model as package_function
from foreknow.models.programs.history_model import _arrangements

PAGE = ROOT / "docs" / "methods" / "noise.md"


def program_arrays(rng, emission=False):
    """A random history of at most one chain of order 1, without zeros in its knowledge, with few assignments."""
    while True:
        arrays = joint_oracle.random_arrays(rng, emission)
        if len(arrays["tables"]) > 1 or joint_oracle.number_of_assignments(arrays) > 2_000:
            continue
        arrays["tables"] = tuple(table[:1] for table in arrays["tables"])
        arrays["chain"] = np.zeros_like(arrays["chain"])
        if all((rows > 0).all() for rows in (arrays["prior"], *arrays["tables"], arrays["evidence"])):
            return arrays


def classes_of(rng, arrays):
    """A class for each respondent, and the arrays with one prior for each class."""
    respondents = arrays["respondents"]
    classes = rng.integers(2, size=respondents)
    frequencies = rng.dirichlet(np.ones(arrays["counts"].shape[1]), size=int(classes.max(initial=0)) + 1)
    prior = arrays["prior"].copy()
    prior[:respondents] = frequencies[classes]
    return classes, frequencies, arrays | {"prior": prior}


def evaluated(model, frequencies, transitions):
    """Log-probability of what is published, and the beliefs, at some frequencies and transitions."""
    given = {model["frequencies"]: frequencies}
    if "transitions" in model.named_vars:
        given[model["transitions"]] = transitions
    function = pytensor.function([*given], [model["published"], model["belief"]], mode="FAST_COMPILE")
    return function(*given.values())


class TestOracle:
    @pytest.mark.parametrize("seed", range(12))
    def test_likelihood_and_beliefs_are_sums_over_assignments(self, seed):
        rng = np.random.default_rng([21, seed])
        classes, frequencies, arrays = classes_of(rng, program_arrays(rng, emission=seed % 2 == 1))
        model = history_model(JointProblem(**arrays), classes)
        transitions = arrays["tables"][0][0] if arrays["tables"] else None
        log_probability, belief = evaluated(model, frequencies, transitions)
        values, weight = joint_oracle.joint_law(arrays)
        assert log_probability.sum() == pytest.approx(np.log(weight.sum()), abs=1e-10)
        assert np.allclose(belief, joint_oracle.shares(values, weight, arrays["counts"].shape[1]), atol=1e-12)
        found = Enumeration()(JointProblem(**arrays))
        assert np.allclose(belief, found.rows(np.arange(len(arrays["path"]))), atol=1e-12)

    @pytest.mark.slow
    def test_density_has_the_dirichlet_laws(self):
        rng = np.random.default_rng(3)
        classes, frequencies, arrays = classes_of(rng, program_arrays(rng))
        while not arrays["tables"]:
            classes, frequencies, arrays = classes_of(rng, program_arrays(rng))
        m = arrays["counts"].shape[1]
        model = history_model(JointProblem(**arrays), classes, 2.0, 3.0)
        point = {
            model["frequencies"]: frequencies,
            model["transitions"]: arrays["tables"][0][0],
        }
        terms = pytensor.function(
            [*point],
            [pm.logp(pm.Dirichlet.dist(np.full(m, a)), rv).sum() for a, rv in zip((2.0, 3.0), point, strict=True)],
            mode="FAST_COMPILE",
        )(*point.values())
        unconstrained = model.initial_point()
        for name, rv in (("frequencies", model["frequencies"]), ("transitions", model["transitions"])):
            transform = model.rvs_to_transforms[rv]
            unconstrained[f"{name}_simplex__"] = transform.forward(point[rv], *rv.owner.inputs).eval()
        total = model.compile_logp(jacobian=False)(unconstrained)
        expected = sum(float(term) for term in terms) + np.log(joint_oracle.joint_law(arrays)[1].sum())
        assert total == pytest.approx(expected, abs=1e-8)

    @pytest.mark.parametrize("counts", [[0], [3], [1, 1, 1], [2, 0, 1], [2, 2]])
    def test_arrangements(self, counts):
        assert sorted(_arrangements(counts)) == joint_oracle.arrangements(counts)


class TestNoisyCounts:
    @pytest.mark.parametrize("seed", range(6))
    def test_likelihood_and_beliefs_are_sums_over_assignments(self, seed):
        """Exact counts beside noisy ones, and clamped ones."""
        rng, noise = np.random.default_rng([22, seed]), Noise("laplace" if seed % 2 else "gaussian", 1.5, seed > 3)
        while True:
            classes, frequencies, arrays = classes_of(rng, program_arrays(rng))
            noisy = joint_oracle.noisy(rng, arrays, noise, 0.7)
            if noisy["noisy"] and joint_oracle.number_of_assignments(noisy) <= 2_000:
                break
        given = {key: value for key, value in noisy.items() if key not in ("noisy", "noise")}
        logs = noise.log_likelihood(np.array(list(noisy["noisy"].values())), int(np.bincount(noisy["group"]).max()))
        model = history_model(
            JointProblem(**given, **joint_oracle.likelihoods(logs, list(noisy["noisy"]), len(noisy["counts"]))), classes
        )
        transitions = arrays["tables"][0][0] if arrays["tables"] else None
        log_probability, belief = evaluated(model, frequencies, transitions)
        values, weight = joint_oracle.joint_law(noisy)
        assert log_probability.sum() == pytest.approx(np.log(weight.sum()), abs=1e-9)
        assert np.allclose(belief, joint_oracle.shares(values, weight, noisy["counts"].shape[1]), atol=1e-9)

    def test_the_program_of_the_page_states_the_same_history(self):
        """Six people in two cells over two releases: the sum over the 4,096 worlds of docs/methods/noise.md is enumeration's."""
        (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        assert code.count("\n") <= 30
        exec(compile(code, PAGE.name, "exec"), page := {})
        frequencies, transitions, cell, scale, shown, model = (
            page[name] for name in ("frequencies", "transitions", "cell", "scale", "published", "model")
        )
        density, weight, belief = model.compile_logp(), 0.0, np.zeros((12, 2))
        for world in np.ndindex(*[2] * 12):
            here = np.exp(density({"first": np.array(world[:6]), "second": np.array(world[6:])}))
            weight += here
            belief[np.arange(12), world] += here
        problem = JointProblem(
            np.tile(frequencies, (6, 1)),
            (transitions[None],),
            np.tile(np.arange(6), 2),
            np.concatenate([cell, cell + 2]),
            np.zeros(12, dtype=int),
            np.zeros((4, 2), dtype=int),
            [0, 0, 1, 1],
            count_logs=Noise("laplace", scale).log_likelihood(shown.ravel(), 4).ravel(),
            count_start=np.arange(0, 40, 5).reshape(4, 2),
        )
        found = Enumeration()(problem)
        assert np.allclose(found.rows(np.arange(12)), belief / weight, atol=1e-9)
        constant = 8 * float(Noise("laplace", scale).log_probability(0))
        assert found.log_evidence == pytest.approx(np.log(weight) + constant, abs=1e-9)
        log_probability, rows = evaluated(history_model(problem), frequencies[None], transitions)
        assert np.allclose(rows, belief / weight, atol=1e-9)
        assert log_probability.sum() == pytest.approx(found.log_evidence, abs=1e-9)


class TestPosterior:
    def cohort(self):
        """Three respondents over two releases, one of whom is absent from the second."""
        return {
            "prior": np.array([[0.5, 0.3, 0.2]] * 3),
            "tables": (np.array([[[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]]]),),
            "path": np.array([0, 1, 2, 0, 1]),
            "group": np.array([0, 0, 0, 1, 1]),
            "chain": np.zeros(5, dtype=int),
            "counts": np.array([[2, 1, 0], [1, 0, 1]]),
            "release": np.array([0, 1]),
        }

    def test_known_knowledge_gives_the_beliefs_of_enumeration(self):
        """Concentrations of 1e6 leave a standard deviation of 5e-4 to each probability, and so about that to a belief."""
        arrays = self.cohort()
        problem = JointProblem(**arrays)
        model = history_model(problem, None, 1e6 * arrays["prior"][:1], 1e6 * arrays["tables"][0][0])
        with model:
            trace = pm.sample(
                150,
                tune=200,
                chains=1,
                cores=1,
                random_seed=1,
                progressbar=False,
                nuts_sampler="pymc",
                compute_convergence_checks=False,
            )
        found = trace.posterior["belief"].to_numpy()[0]
        expected = Enumeration()(problem).rows(np.arange(5))
        assert np.allclose(found.mean(axis=0), expected, atol=1e-3)

    @pytest.mark.slow
    def test_unknown_knowledge_is_learned(self):
        """Mean belief by draws from the prior, weighted by the likelihood: importance sampling without PyMC."""
        arrays = self.cohort()
        with history_model(JointProblem(**arrays)):
            trace = pm.sample(
                600,
                tune=400,
                chains=1,
                cores=1,
                random_seed=2,
                progressbar=False,
                nuts_sampler="pymc",
                compute_convergence_checks=False,
            )
        rng, total, weights = np.random.default_rng(4), 0.0, 0.0
        for _ in range(4_000):
            drawn = arrays | {
                "prior": np.repeat(rng.dirichlet(np.ones(3), size=1), 3, axis=0),
                "tables": (rng.dirichlet(np.ones(3), size=(1, 3)),),
            }
            values, weight = joint_oracle.joint_law(drawn)
            total = total + np.array([np.bincount(column, weights=weight, minlength=3) for column in values.T])
            weights += weight.sum()
        found = trace.posterior["belief"].to_numpy()[0].mean(axis=0)
        # Both are means of beliefs in [0, 1] over some hundred effective draws or more: six standard errors of .5 / sqrt(1,000).
        assert np.allclose(found, total / weights, atol=0.1)


@pytest.mark.slow  # each is compiled by PyMC and sampled by NUTS
class TestTwoValues:
    @pytest.mark.parametrize("tables", [(), (np.array([[[0.7, 0.3], [0.4, 0.6]]]),)])
    def test_one_class_is_sampled(self, tables):
        """Two respondents in one group, one of each value; then one respondent alone with the first value.

        Without transitions, the uniform density of the share is multiplied by 2 f (1 - f), of which f is Beta(2, 2): the mean is
        1/2 and the standard deviation .22, six standard errors of 300 draws of a tenth of that efficiency .25.
        """
        records = 3 if tables else 2
        problem = JointProblem(
            np.full((2, 2), 0.5), tables, [0, 1, 0][:records], [0, 0, 1][:records], [0] * records,
            [[1, 1], [1, 0]][: records - 1], [0, 1][: records - 1],
        )  # fmt: skip
        with history_model(problem) as model:
            trace = pm.sample(
                300,
                tune=200,
                chains=1,
                cores=1,
                random_seed=3,
                progressbar=False,
                nuts_sampler="pymc",
                compute_convergence_checks=False,
            )
        assert model.named_vars_to_dims["frequencies"] == ("class", "value")
        found = trace.posterior["frequencies"]
        assert found.sizes["value"] == 2
        np.testing.assert_allclose(found.mean(("chain", "draw")), 0.5, atol=0.25)
        np.testing.assert_allclose(trace.posterior["belief"].sum("value"), 1)


class TestChecks:
    def test_is_public(self):
        assert package_function is history_model

    def test_history_names_the_values(self):
        from strategies import view_of

        from foreknow.models import Release

        releases = [Release(view_of("AB", "ab", time=t, domain="ab"), np.zeros(2, int)).observation for t in (1, 2)]
        chain = MarkovChain(1, np.full((2, 2), 0.5))
        model = history_model(joint_history(Adversary(UniformPrior(), chain), releases))
        assert model.coords["value"] == model.coords["last"] == ("a", "b")
        assert [rv.name for rv in model.free_RVs] == ["frequencies", "transitions"]

    def test_without_transitions(self):
        model = history_model(JointProblem(np.full((2, 2), 0.5), (), [0, 1], [0, 0], [0, 0], [[1, 1]], [0]))
        assert [rv.name for rv in model.free_RVs] == ["frequencies"]

    def problem(self, order=1, chains=1):
        tables = tuple(np.full((chains, *(2,) * (length + 1)), 0.5) for length in range(1, order + 1))
        return JointProblem(np.full((2, 2), 0.5), tables, [0, 1, 0, 1], [0, 0, 1, 1], [0] * 4, [[1, 1], [1, 1]], [0, 1])

    @pytest.mark.parametrize(("order", "chains"), [(2, 1), (1, 2)])
    def test_one_chain_of_order_one(self, order, chains):
        with pytest.raises(ValueError, match=r"one chain of order 1. Use transitions\.truncate\(1\)"):
            history_model(self.problem(order, chains))

    def test_no_records(self):
        empty = np.zeros(0, dtype=int)
        with pytest.raises(ValueError, match="no records"):
            history_model(JointProblem(np.zeros((0, 2)), (), empty, empty, empty, np.zeros((0, 2), int), empty))

    @pytest.mark.parametrize("classes", [[0], [0, -1], [0, 9], [[0, 0]], [0.5, 0.5]])
    def test_classes(self, classes):
        with pytest.raises(ValueError, match="history_model: classes "):
            history_model(self.problem(), classes)

    @pytest.mark.parametrize("name", ["frequency_concentration", "transition_concentration"])
    @pytest.mark.parametrize("value", [0, -1.0, np.nan, [1.0, 1.0, 1.0], np.ones((3, 3)), np.zeros((2, 2))])
    def test_concentrations(self, name, value):
        with pytest.raises(ValueError, match="concentration"):
            history_model(self.problem(), **{name: value})

    @pytest.mark.slow
    def test_too_many_assignments(self):
        m, k = 12, 12
        problem = JointProblem(np.full((k, m), 1 / m), (), range(k), [0] * k, [0] * k, [[1] * m], [0])
        with pytest.raises(TooLarge, match="PathSampler"):
            history_model(problem)

    def test_impossible_evidence(self):
        arguments = {"evidence": [[0.0, 1.0]], "evidence_row": [0, 0]}
        problem = JointProblem(np.full((2, 2), 0.5), (), [0, 1], [0, 0], [0, 0], [[1, 1]], [0], **arguments)
        with pytest.raises(ValueError, match=r"rules out every assignment of groups \[0\]"):
            history_model(problem)
