"""Timed figures of the foreground attack and of the defense against it, on Adult: those of benchmarks/results.md."""

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from subjects import ADULT, HIERARCHIES, LOW, Figure, Work, check_adult, seeded

from foreknow.attacks import ForegroundAttack
from foreknow.defenses import Anatomy, ForegroundSafe
from foreknow.evaluation import adult
from foreknow.models import ExpectationMaximization, GibbsSampling, Release, SampleSize, UniformPrior, View
from foreknow.models.foreground.expectation import cells_under
from foreknow.models.foreground.fit import Fitting

ATTRIBUTES = ("age", "workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary-class")
"""Attributes in the paper's order; the first five by default."""

PRINTED = SampleSize(0.01, 0.9)


@cache
def census(attributes: int = 5) -> View:
    check_adult()
    names = ATTRIBUTES[:attributes]
    return adult(ADULT, sensitive="education", quasi_identifiers=names, hierarchies=HIERARCHIES)[0]


def attack(attributes: int, support: int, fit: Callable[[], Fitting]) -> Work:
    """Attack on Anatomy's groups of two; a function makes the fit, because a fit may hold a random generator."""
    view = census(attributes)
    release = Release(view, Anatomy(2, LOW, rng=seeded(1))(view, UniformPrior()(view.people), ()))
    return lambda: ForegroundAttack(sensitive_set=LOW, support=support, fit=fit())([release])


def safe(**settings: int) -> Work:
    view = census()
    prior = UniformPrior()(view.people)
    return lambda: ForegroundSafe(2, LOW, **settings)(view, prior, ())


def posteriors(having: int, people: int, groups: int) -> Work:
    """Posteriors in groups in which each record has its own probability."""
    row = np.arange(people * groups)
    size, starts, holders = np.ones_like(row), np.arange(groups + 1) * people, np.full(groups, having)
    probability = seeded(1).uniform(0.01, 0.5, len(row))
    return lambda: cells_under(row, size, starts, holders, probability, math.inf)


FOREGROUND_FIGURES: dict[str, Figure] = {
    **{
        f"Adult 45,222, {qi} QIs: foreground attack, ExpectationMaximization, {support:,} people": Figure(
            limit, partial(attack, qi, support, ExpectationMaximization)
        )
        for qi, limit in ((5, 10.0), (8, 60.0))
        for support in (PRINTED.records, 500)
    },
    f"Adult 45,222, 5 QIs: foreground attack, GibbsSampling, {PRINTED.records:,} people": Figure(
        None, partial(attack, 5, PRINTED.records, lambda: GibbsSampling(rng=3))
    ),
    "Adult 45,222, 5 QIs: ForegroundSafe(2)": Figure(None, partial(safe, support=PRINTED.records)),
    "Adult 45,222, 5 QIs: ForegroundSafe(2, support=500)": Figure(None, partial(safe, support=500)),
    "1,000 groups of 490,314 assignments each, 8 in 23: posteriors": Figure(1.0, partial(posteriors, 8, 23, 1000)),
    "1,000 groups of 140,364,532 assignments each, 5 in 113: posteriors": Figure(
        1.0, partial(posteriors, 5, 113, 1000)
    ),
    "one group of 10,000, 1,000 having x: posteriors": Figure(None, partial(posteriors, 1000, 10**4, 1)),
}
