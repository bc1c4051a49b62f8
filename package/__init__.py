"""Measure what an adversary with background knowledge can infer from a sequence of anonymized releases.

foreknow.models
    Tables, background knowledge, posterior estimators, adversaries, PyMC programs.
foreknow.attacks
    Attacks on published releases: ``attack(releases) -> Beliefs``.
foreknow.defenses
    Grouping algorithms and requirements: ``defense(view, prior, past) -> Grouping``, and `publish`.
foreknow.evaluation
    Risk and loss measures, independent checkers, data sets, experiments, plots.
foreknow.app
    The command line, the report, tables larger than memory.
foreknow.testing
    Checks for estimators, attacks, defenses, requirements and priors of your own.

Each package loads when it is first used: ``import foreknow`` alone is fast.

Examples
--------
>>> import foreknow
>>> foreknow.defenses.KAnonymity(3) & foreknow.defenses.TCloseness(0.5)
KAnonymity(k=3) & TCloseness(t=0.5)
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foreknow import app, attacks, defenses, evaluation, models, testing

__all__ = ["__version__", "app", "attacks", "defenses", "evaluation", "models", "testing"]

__version__ = version("foreknow")


def __getattr__(name: str) -> Any:
    """Import a package of foreknow at its first use."""
    if name in __all__:
        return import_module(f"foreknow.{name}")
    raise AttributeError(f"module 'foreknow' has no attribute {name!r}; it has {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return __all__
