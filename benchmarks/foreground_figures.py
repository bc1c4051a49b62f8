"""Timed figures: the foreground-knowledge attack and the defense against it."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from foreground import LOW, PRINTED, census, draw, released
from subjects import Figure, check_adult

from foreknow.attacks import ForegroundAttack
from foreknow.defenses import Anatomy, ForegroundSafe
from foreknow.models import ExpectationMaximization, Fitting, GibbsSampling, Newton, UniformPrior
from foreknow.models.foreground.expectation import in_cells

EVERY_SET = PRINTED.records
"""The support of the paper: 3,993 respondents."""


def attack(attributes: int, support: int, fit: Callable[[], Fitting]) -> Callable[[], object]:
    """Attack on Anatomy's groups of two, over all attribute sets with support; ``fit`` makes the fitting, which may hold a generator."""
    check_adult()
    release = released(census(attributes), Anatomy(2, LOW, rng=draw(1)))
    return lambda: ForegroundAttack(sensitive=LOW, support=support, fit=fit())([release])


def safe(attributes: int, r: int, support: int) -> Callable[[], object]:
    check_adult()
    view = census(attributes)
    prior = UniformPrior()(view.people)
    return lambda: ForegroundSafe(r, LOW, support=support)(view, prior, ())


def worlds(having: int, people: int, groups: int) -> Callable[[], object]:
    """Groups in which each member has a different probability."""
    whose = np.arange(people * groups)
    size, starts, holding = np.ones_like(whose), np.arange(groups + 1) * people, np.full(groups, having)
    probability = draw(1).uniform(0.01, 0.5, len(whose))
    return lambda: in_cells(whose, size, starts, holding, probability, math.inf)


def gibbs() -> Fitting:
    """Gibbs sampling with the same draws in every run."""
    return GibbsSampling(rng=draw(3))


FITS: dict[str, Callable[[], Fitting]] = {
    "ExpectationMaximization": ExpectationMaximization,
    "Newton": Newton,
    "GibbsSampling": gibbs,
}

FOREGROUND_FIGURES: dict[str, Figure] = {
    **{
        f"Adult 45,222, {qi} QIs: foreground attack, {name}, {support:,} people": Figure(
            None if fit is gibbs else limit, partial(attack, qi, support, fit)
        )
        for qi, limit in ((5, 10.0), (8, 60.0))
        for name, fit in FITS.items()
        for support in (EVERY_SET, 500)
        if fit is not gibbs or (qi == 5 and support == EVERY_SET)
    },
    "Adult 45,222, 5 QIs: ForegroundSafe(2)": Figure(None, partial(safe, 5, 2, EVERY_SET)),
    "Adult 45,222, 5 QIs: ForegroundSafe(2, support=500)": Figure(None, partial(safe, 5, 2, 500)),
    "1,000 groups of 490,314 worlds each, 8 in 23: the probability of each member": Figure(
        1.0, partial(worlds, 8, 23, 1000)
    ),
    "1,000 groups of 140,364,532 worlds each, 5 in 113: the probability of each member": Figure(
        1.0, partial(worlds, 5, 113, 1000)
    ),
    "one group of 10,000, 1,000 having x: the probability of each member": Figure(
        None, partial(worlds, 1000, 10**4, 1)
    ),
}
