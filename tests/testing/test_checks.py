"""The test kit for extensions: it passes what the package offers, and names what is wrong with broken objects."""

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from foreknow.attacks import ATTACKS, SequentialAttack
from foreknow.defenses import (
    BKAA,
    DEFENSES,
    MASK,
    UHRA,
    Anatomy,
    ForegroundSafe,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
)
from foreknow.models import (
    ESTIMATORS,
    ClassFrequencies,
    Exact,
    Grouping,
    KernelPrior,
    Posterior,
    SwapChain,
    UniformPrior,
)
from foreknow.testing import check_attack, check_defense, check_estimator, check_prior, examples


def drawn():
    return np.random.default_rng(1)


DISTANCE = {"sinkhorn": 1e-7, "belief-propagation": 2e-7}
"""Distance of two answers of an estimator that stops at a tolerance."""

MADE = {
    "js-reduce": lambda: JSReduce(3, 0.5, 0.6),
    "bkaa": lambda: BKAA(3, 5, 0.6),
    "uhra": lambda: UHRA(3, 0.5, 0.6),
    "k-primacy": lambda: KPrimacy(3, 5, 0.6),
    "mondrian": lambda: Mondrian(KAnonymity(3)),
    "full-domain": lambda: FullDomain(KAnonymity(3)),
    "mask": lambda: MASK(3, 2, rng=drawn()),
    "anatomy": lambda: Anatomy(2, rng=drawn()),
    "injector": lambda: Injector(2, rng=drawn()),
    "foreground-safe": lambda: ForegroundSafe(2, ("c",), support=2, rng=drawn()),
    "m-invariance": lambda: MInvariance(2, rng=drawn()),
}


class TestOffered:
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_estimators(self, name):
        check_estimator(ESTIMATORS[name](), tolerance=DISTANCE.get(name, 1e-9))

    def test_a_sampling_estimator(self):
        check_estimator(SwapChain(rng=drawn()))

    @pytest.mark.parametrize("name", ATTACKS)
    def test_attacks(self, name):
        make = (lambda _: ATTACKS[name](support=1)) if name == "foreground" else ATTACKS[name]
        check_attack(make, hindsight=name == "retrospective")

    @pytest.mark.parametrize("name", DEFENSES)
    def test_defenses(self, name):
        check_defense(MADE[name])

    def test_priors(self):
        history = examples.history()
        fitted = (ClassFrequencies.fit(history, {"age": 3}, pseudo_count=1.0), KernelPrior.fit(history, 0.5))
        for prior in (UniformPrior(), examples.PriorByName(), *fitted):
            check_prior(prior)


@dataclasses.dataclass(frozen=True)
class Broken:
    """An estimator made of `Exact`, with one fault."""

    fault: str
    exact: ClassVar[bool] = True

    def __call__(self, problem):
        if self.fault == "modifies":
            problem.prior[:] = 1 / problem.prior.shape[1]
        posterior = Exact()(problem)
        belief = posterior.probabilities
        if self.fault == "not normalized":
            belief = belief * 2
        if self.fault == "order":
            belief = belief[::-1]
        if self.fault == "shares":
            inside = problem.group >= 0
            belief[inside] = (problem.counts / problem.counts.sum(axis=1, keepdims=True))[problem.group[inside]]
        return Posterior(belief, posterior.status)


class TestBroken:
    @pytest.mark.parametrize(
        ("fault", "message"),
        [
            ("not normalized", "does not sum to 1"),
            ("order", "is not the prior|does not show|depends on the order"),
            ("shares", "differs from the enumeration"),
            ("modifies", "was modified|read-only"),
        ],
    )
    def test_estimators(self, fault, message):
        with pytest.raises((AssertionError, ValueError), match=message):
            check_estimator(Broken(fault))

    def test_a_plain_function_is_no_estimator(self):
        with pytest.raises(AssertionError, match="it is no dataclass"):
            check_estimator(lambda problem: Exact()(problem))

    def test_an_attack_that_reads_the_truth(self):
        @dataclasses.dataclass(frozen=True)
        class Cheats:
            adversary: object

            def __call__(self, releases):
                releases = list(releases)
                assert all(len(release.view.frame) for release in releases)
                return SequentialAttack(self.adversary)(releases)

        with pytest.raises(AssertionError, match="reads more of a release than its observation"):
            check_attack(Cheats)

    def test_an_attack_with_hindsight_says_so(self):
        with pytest.raises(AssertionError, match="hindsight is False"):
            check_attack(ATTACKS["retrospective"])

    def test_a_defense_that_drops_records_silently(self):
        def careless(view, prior, past):
            return Grouping(np.where(np.arange(len(view)) < 3, -1, 0))

        with pytest.raises(AssertionError, match="no note says so"):
            check_defense(lambda: careless)

    def test_a_defense_that_reads_names(self):
        def by_name(view, prior, past):
            if len(view) == 1:
                raise ValueError("too small")
            return Grouping(np.argsort(np.argsort(view.people.respondents)) // 15)

        with pytest.raises(AssertionError, match="names of respondents"):
            check_defense(lambda: by_name)

    def test_a_prior_that_depends_on_the_others(self):
        def crowd(people):
            rows = np.full((len(people), len(people.schema.values)), 1.0)
            rows[:, 0] = len(people)
            return rows / rows.sum(axis=1, keepdims=True)

        with pytest.raises(AssertionError, match="depends on the other respondents"):
            check_prior(crowd)
