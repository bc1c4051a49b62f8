"""Each fault of a sampled posterior is one clear error, for every type of knowledge that is made from one."""

import dataclasses
import re
from collections.abc import Callable

import arviz as az
import numpy as np
import pandas as pd
import pytest
from strategies import history_of

import foreknow.models
from foreknow.models import (
    Averaged,
    ChainByRelease,
    ClassFrequencies,
    CompromisedRecords,
    DirichletChain,
    DirichletFrequencies,
    GivenMembership,
    GivenPrior,
    KernelPrior,
    MarkovChain,
    PriorByTime,
    RegressionDesign,
    RegressionPrior,
    TransitionsByClass,
    UniformMembership,
    UniformPrior,
)
from foreknow.models.foreground.fit import Fit

RNG = np.random.default_rng(3)
VALUES = ("a", "b", "c")
HISTORY = history_of(("ABC", "abc"), ("ABC", "bca"))
PEOPLE = HISTORY[0].people
DESIGN = RegressionDesign.fit(HISTORY)
CLAIMS = pd.DataFrame({"respondent": ["A", "B"], "value": ["a", "b"], "time": [1, 1]})
DRAWS = (2, 3)


@dataclasses.dataclass(frozen=True)
class Case:
    """Knowledge of a type: dimensions of its variable, and the call of its ``from_posterior``."""

    variable: str
    dims: tuple[str, ...]
    make: Callable
    coords: dict = dataclasses.field(default_factory=dict)
    others: tuple[str, ...] = ()

    def dataset(self):
        """Posterior of the variable, with rows that are distributions, and of another one."""
        coords = {name: list(VALUES) for name in self.dims if name in ("value", "last", "value_1", "value_2")}
        coords |= self.coords
        sizes = [len(coords.get(name, range(3))) for name in self.dims]
        draws = RNG.dirichlet(np.ones(sizes[-1]), (*DRAWS, *sizes[:-1]))
        others = {name: RNG.normal(size=(*DRAWS, 3)) for name in self.others}
        dims = {self.variable: list(self.dims)} | {name: ["value"] for name in self.others}
        tree = az.from_dict({"posterior": {self.variable: draws, **others}}, dims=dims, coords=coords)
        return tree.posterior.to_dataset()


def by_time(tree, values=None):
    return PriorByTime.from_posterior(tree, lambda one: ClassFrequencies.from_posterior(one, {}, values=values))


CASES = {
    MarkovChain: Case("transitions", ("last", "value"), MarkovChain.from_posterior),
    ChainByRelease: Case("transitions", ("step", "value_1", "value_2", "value"), ChainByRelease.from_posterior),
    DirichletChain: Case("transitions", ("last", "value"), DirichletChain.from_posterior),
    TransitionsByClass: Case(
        "transitions",
        ("class", "last", "value"),
        lambda tree, **options: TransitionsByClass.from_posterior(tree, lambda people: people, **options),
    ),
    ClassFrequencies: Case(
        "frequencies", ("value",), lambda tree, **options: ClassFrequencies.from_posterior(tree, {}, **options)
    ),
    DirichletFrequencies: Case(
        "frequencies", ("value",), lambda tree, **options: DirichletFrequencies.from_posterior(tree, {}, **options)
    ),
    PriorByTime: Case("frequencies", ("time", "value"), by_time, {"time": [1, 2]}),
    GivenPrior: Case("belief", ("respondent", "value"), GivenPrior.from_posterior),
    KernelPrior: Case(
        "belief",
        ("respondent", "value"),
        lambda tree, **options: KernelPrior.from_posterior(tree, PEOPLE, 0.5, **options),
    ),
    RegressionPrior: Case(
        "coefficients",
        ("feature", "value"),
        lambda tree, **options: RegressionPrior.from_posterior(tree, DESIGN, **options),
        {"feature": list(DESIGN.features)},
        ("intercept",),
    ),
    CompromisedRecords: Case(
        "right",
        ("claim",),
        lambda tree: CompromisedRecords.from_posterior(tree, CLAIMS, "right"),
        {"claim": ["A at 1", "B at 1"]},
    ),
    Fit: Case("global_distribution", ("signature", "value"), Fit.from_posterior),
}
"""Every type with ``from_posterior`` but `Averaged`, whose function makes adversaries of these."""

NAMES_VALUES = {kind: case for kind, case in CASES.items() if kind not in (CompromisedRecords, Fit)}
"""Types whose ``from_posterior`` takes the sensitive domain."""

HAS_ROWS = {kind: case for kind, case in CASES.items() if kind not in (CompromisedRecords, RegressionPrior)}
"""Types whose variable has rows that are distributions."""


def over(cases):
    return pytest.mark.parametrize("case", cases.values(), ids=[kind.__name__ for kind in cases])


def refuses(case, posterior, error, message, **options):
    with pytest.raises(error, match=re.escape(message)):
        case.make(posterior, **options)


def test_every_type_with_from_posterior_is_here():
    public = [getattr(foreknow.models, name) for name in foreknow.models.__all__]
    found = {each for each in public if isinstance(each, type) and hasattr(each, "from_posterior")}
    assert found == {*CASES, Averaged} - {Fit}  # Fit has no public name


def test_every_prior_and_every_chain_has_from_posterior():
    public = [getattr(foreknow.models, name) for name in foreknow.models.__all__]
    settings = [each for each in public if dataclasses.is_dataclass(each)]
    own = [each for each in settings if each.__module__.startswith("foreknow.models.knowledge.")]
    knowledge = {each for each in own if {"__call__", "at", "chains_at"} & set(vars(each))}
    assert knowledge - {*CASES} == {UniformPrior, RegressionDesign, UniformMembership, GivenMembership}


@over(CASES)
class TestFaults:
    def test_without_a_fault_it_is_made_from_a_tree_and_from_a_dataset(self, case):
        dataset = case.dataset()
        case.make(dataset)
        case.make(az.from_dict({"posterior": {"x": np.zeros(DRAWS)}}).assign({"posterior": _node(dataset)}))

    @pytest.mark.parametrize("tree", [None, np.zeros(3), "posterior"])
    def test_something_else_than_a_tree(self, case, tree):
        refuses(case, tree, TypeError, "it is a DataTree with the group posterior")

    def test_a_tree_without_posterior(self, case):
        refuses(
            case, az.from_dict({"prior": {"x": np.zeros(DRAWS)}}), ValueError, "no draws: its dimensions are nothing"
        )

    def test_without_the_variable(self, case):
        posterior = case.dataset().rename({case.variable: "unknown"})
        refuses(case, posterior, ValueError, f"the posterior has no variable {case.variable!r}; it has")

    @pytest.mark.parametrize("place", [0, -1])
    def test_with_another_dimension(self, case, place):
        dataset, odd = case.dataset(), case.dims[place]
        posterior = dataset.drop_vars(odd, errors="ignore").rename({odd: "odd"})
        with pytest.raises(ValueError, match=r"has the dimensions .*odd.*(it needs|is missing)"):
            case.make(posterior)

    def test_with_one_dimension_too_many(self, case):
        posterior = case.dataset().expand_dims({"odd": 2}, axis=-1)
        refuses(case, posterior, ValueError, "has the dimensions (chain, draw, ")

    @pytest.mark.parametrize("number", [np.nan, np.inf])
    def test_with_a_draw_that_is_no_number(self, case, number):
        posterior = case.dataset()
        posterior[case.variable][1, 2, ..., 0] = number
        refuses(case, posterior, ValueError, f"{case.variable!r} has draws that are not finite numbers")

    @pytest.mark.parametrize("dimension", ["chain", "draw"])
    def test_without_draws(self, case, dimension):
        refuses(case, case.dataset().isel({dimension: []}), ValueError, "has no draws: its dimensions")

    def test_without_the_dimension_of_chains(self, case):
        refuses(case, case.dataset().isel(chain=0, drop=True), ValueError, "no draws: its dimensions are")

    def test_with_divergent_draws_is_a_warning(self, case):
        tree = az.from_dict({"sample_stats": {"diverging": np.eye(*DRAWS, dtype=bool)}})
        with pytest.warns(UserWarning, match="NUTS diverged in 2 draws") as caught:
            case.make(tree.assign({"posterior": _node(case.dataset())}))
        assert len(caught) == 1


def _node(dataset):
    import xarray

    return xarray.DataTree(dataset)


@over(NAMES_VALUES)
class TestValues:
    def test_other_values_than_those_of_the_schema(self, case):
        refuses(case, case.dataset(), ValueError, "they differ in 'c'", values=("a", "b", "z"))
        refuses(case, case.dataset(), ValueError, "has 3 values and the domain 2", values=("a", "b"))

    def test_the_order_of_the_values_does_not_matter(self, case):
        dataset = case.dataset()
        over_values = [name for name in case.dims if name in ("value", "last", "value_1", "value_2")]
        turned = dataset.isel({name: [2, 0, 1] for name in over_values})
        one, other = (_numbers(case.make(each, values=VALUES)) for each in (dataset, turned))
        assert one == pytest.approx(other)


@over(HAS_ROWS)
def test_rows_that_are_no_distribution(case):
    posterior = case.dataset()
    posterior[case.variable] = posterior[case.variable] * 2
    with pytest.raises(ValueError, match=r"distribution|sum to 1"):
        case.make(posterior)


def _numbers(knowledge):
    """Probabilities of a prior for some people, or of all chains at some releases."""
    if isinstance(knowledge, ClassFrequencies):
        return knowledge.probabilities.ravel()
    if isinstance(knowledge, TransitionsByClass):
        return np.concatenate([chain.probabilities.ravel() for chain in knowledge.chains])
    if isinstance(knowledge, GivenPrior):
        return knowledge.frame.to_numpy().ravel()
    if callable(knowledge):
        return knowledge(PEOPLE).ravel()
    return np.concatenate([knowledge.at(release).probabilities.ravel() for release in range(5)])
