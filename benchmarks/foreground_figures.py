"""Timings of the foreground attack and of the defense against it."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from foreground import LOW, PRINTED, census, generator, released
from subjects import Figure, check_adult

from foreknow.attacks import ForegroundAttack
from foreknow.defenses import Anatomy, ForegroundSafe
from foreknow.models import ExpectationMaximization, Fitting, GibbsSampling, UniformPrior
from foreknow.models.foreground.expectation import cells_under

PAPER_SUPPORT = PRINTED.records
"""Support of the paper, 3,993 records, at which few attribute sets remain."""


def attack(attributes: int, support: int, fit: Callable[[], Fitting]) -> Callable[[], object]:
    """Attack on Anatomy's groups of two; a function makes the fit, because a fit may hold a random generator."""
    check_adult()
    release = released(census(attributes), Anatomy(2, LOW, rng=generator(1)))
    return lambda: ForegroundAttack(sensitive_set=LOW, support=support, fit=fit())([release])


def safe(attributes: int, r: int, support: int) -> Callable[[], object]:
    check_adult()
    view = census(attributes)
    prior = UniformPrior()(view.people)
    return lambda: ForegroundSafe(r, LOW, support=support)(view, prior, ())


def posteriors(having: int, people: int, groups: int) -> Callable[[], object]:
    """Posteriors in groups in which each record has its own probability."""
    row = np.arange(people * groups)
    size, starts, holders = np.ones_like(row), np.arange(groups + 1) * people, np.full(groups, having)
    probability = generator(1).uniform(0.01, 0.5, len(row))
    return lambda: cells_under(row, size, starts, holders, probability, math.inf)


def gibbs() -> Fitting:
    """Gibbs sampling with a fixed seed."""
    return GibbsSampling(rng=3)


FITS: dict[str, Callable[[], Fitting]] = {
    "ExpectationMaximization": ExpectationMaximization,
    "GibbsSampling": gibbs,
}

FOREGROUND_FIGURES: dict[str, Figure] = {
    **{
        f"Adult 45,222, {qi} QIs: foreground attack, {name}, {support:,} people": Figure(
            None if fit is gibbs else limit, partial(attack, qi, support, fit)
        )
        for qi, limit in ((5, 10.0), (8, 60.0))
        for name, fit in FITS.items()
        for support in (PAPER_SUPPORT, 500)
        if fit is not gibbs or (qi == 5 and support == PAPER_SUPPORT)
    },
    "Adult 45,222, 5 QIs: ForegroundSafe(2)": Figure(None, partial(safe, 5, 2, PAPER_SUPPORT)),
    "Adult 45,222, 5 QIs: ForegroundSafe(2, support=500)": Figure(None, partial(safe, 5, 2, 500)),
    "1,000 groups of 490,314 assignments each, 8 in 23: posteriors": Figure(1.0, partial(posteriors, 8, 23, 1000)),
    "1,000 groups of 140,364,532 assignments each, 5 in 113: posteriors": Figure(
        1.0, partial(posteriors, 5, 113, 1000)
    ),
    "one group of 10,000, 1,000 having x: posteriors": Figure(None, partial(posteriors, 1000, 10**4, 1)),
}
