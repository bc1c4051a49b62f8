"""Test kit for extensions: objects of the package pass, and broken ones fail with the name of the check."""

import dataclasses
from typing import ClassVar

import numpy as np
import pytest
from strategies import view_of

from foreknow.attacks import ATTACKS, SequentialAttack
from foreknow.defenses import (
    GroupPredicate,
    KAnonymity,
    Mondrian,
    TCloseness,
)
from foreknow.models import (
    ClassFrequencies,
    Exact,
    Grouping,
    Hierarchy,
    KernelPrior,
    Posterior,
    SwapChain,
    UniformPrior,
)
from foreknow.testing import check_attack, check_defense, check_estimator, check_prior, check_requirement, examples


def drawn():
    return np.random.default_rng(1)


class TestOffered:
    """Estimators, attacks, defenses and requirements are passed to the kit by their own conformance tests."""

    def test_a_sampling_estimator(self):
        check_estimator(SwapChain(rng=drawn()))

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
            check_attack(ATTACKS["joint"])

    def test_a_defense_that_drops_records_silently(self):
        def careless(view, prior, past):
            return Grouping(np.where(np.arange(len(view)) < 3, -1, 0))

        with pytest.raises(AssertionError, match="no note has their number"):
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

    def test_a_defense_that_weighs_beliefs_in_silence(self):
        def by_prior(view, prior, past):
            if len(view) == 1:
                raise ValueError("too small")
            return Grouping((prior[:, 0] > np.median(prior[:, 0])).astype(int))

        with pytest.raises(AssertionError, match="has no reads = READS"):
            check_defense(lambda: by_prior)

    def test_a_defense_that_can_be_changed(self):
        @dataclasses.dataclass
        class Settings:
            def __call__(self, view, *_):
                return Grouping(np.zeros(len(view), int))

        with pytest.raises(AssertionError, match="the dataclass is not frozen"):
            check_defense(Settings)

    def test_a_defense_that_publishes_fewer_records_than_it_says(self):
        @dataclasses.dataclass(frozen=True)
        class Optimist:
            smallest: int = 5

            def __call__(self, view, *_):
                return Grouping(np.zeros(len(view), int))

        with pytest.raises(AssertionError, match="is published, and smallest is 5"):
            check_defense(Optimist)

    def test_a_broken_promise(self):
        with pytest.raises(AssertionError, match=r"a group does not satisfy KAnonymity\(k=4\)"):
            check_defense(lambda: Mondrian(KAnonymity(3)), promises=KAnonymity(4))
        with pytest.raises(AssertionError, match="a group does not satisfy Share"):
            check_defense(lambda: Mondrian(KAnonymity(3)), promises=Share(0.1))

    def test_an_attack_that_depends_on_the_order_of_records(self):
        @dataclasses.dataclass(frozen=True)
        class First:
            adversary: object

            def __call__(self, releases):
                beliefs = SequentialAttack(self.adversary)(releases)
                for each in beliefs:
                    each.revised[0] = each.prior[0] = [1, 0, 0]
                return beliefs

        with pytest.raises(AssertionError, match=r"changes a belief|is not the prior"):
            check_attack(First)

    def test_an_error_of_another_type_names_the_check(self):
        @dataclasses.dataclass(frozen=True)
        class Fails:
            exact: ClassVar[bool] = False

            def __call__(self, problem):
                return problem.prior[99]

        with pytest.raises(AssertionError, match="fails 'is a function': it raises IndexError"):
            check_estimator(Fails())


@dataclasses.dataclass(frozen=True)
class Share(GroupPredicate):
    """A requirement of another package: every value has at most a share p of a group. With one fault, if it has one."""

    p: float
    fault: str = ""

    sense: ClassVar[str] = "at most"
    reads_prior: ClassVar[bool] = False

    @property
    def smallest(self):
        return {"smallest": 4, "smallest of 0": 0}.get(self.fault, 1)

    @property
    def bound(self):
        return int(self.p + 1) if self.fault == "bound" else float(self.p)

    def __repr__(self):
        return "Share()" if self.fault == "repr" else f"Share(p={self.p}, fault={self.fault!r})"

    def bind(self, _, prior):
        if self.fault == "bind":
            prior[:] = 1 / prior.shape[1]
        return Share(self.p, self.fault) if self.fault == "rebound" else self

    def level(self, summary):
        level = (summary.counts / summary.size[:, None]).max(axis=1)
        if self.fault == "batch":
            level = level + (len(level) > 1) / 8
        if self.fault == "prior":
            level = level + 1e-3 * summary.prior[:, 0]
        if self.fault == "members":
            level = level + 1e-3 * np.diff(summary.members.starts)
        return level

    def __call__(self, summary):
        holds = super().__call__(summary)
        return ~holds if self.fault == "call" else holds


class TestRequirement:
    def test_one_of_another_package(self):
        check_requirement(Share(0.5))

    def test_a_view_of_another_schema(self):
        hierarchy = Hierarchy([("a", "x", "*"), ("b", "x", "*"), ("d", "y", "*")])
        with pytest.raises(AssertionError, match="it raises"):
            check_requirement(TCloseness(0.5, hierarchy))
        check_requirement(TCloseness(0.5, hierarchy), view=view_of("ABCDEFGH", "abdabdaa", domain="abd"))

    @pytest.mark.parametrize(
        ("fault", "message"),
        [
            ("bound", "its bound is 1, no float"),
            ("smallest of 0", "smallest is 0"),
            ("repr", r"its repr Share\(\) does not name p, fault"),
            ("bind", "binding modified the prior|read-only"),
            ("rebound", "a predicate that is bound again is another object"),
            ("batch", "depends on the batch"),
            ("call", "do not compare the levels"),
            ("prior", "reads more than reads_prior=False"),
            ("members", "reads more than reads_prior=False and reads_members=False"),
            ("smallest", "satisfies, and smallest is 4"),
        ],
    )
    def test_faults(self, fault, message):
        with pytest.raises(AssertionError, match=message):
            check_requirement(Share(0.7, fault))

    def test_a_false_claim_of_monotonicity(self):
        @dataclasses.dataclass(frozen=True)
        class Distinct(GroupPredicate):
            most: float
            sense: ClassVar[str] = "at most"
            is_monotone: ClassVar[bool] = True

            @property
            def bound(self):
                return float(self.most)

            def level(self, summary):
                return (summary.counts > 0).sum(axis=1).astype(float)

        with pytest.raises(AssertionError, match="is_monotone is True, and a union of satisfying groups fails"):
            check_requirement(Distinct(2))

    def test_a_class_and_a_function(self):
        for wrong in (KAnonymity, len):
            with pytest.raises(AssertionError, match="extends no Requirement"):
                check_requirement(wrong)
