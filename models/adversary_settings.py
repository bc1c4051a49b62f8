"""Checks of the settings of an adversary: objects of the right kind, in the right place."""

from typing import Any

import pandas as pd

from foreknow.models.estimators import ESTIMATORS


def check_knowledge(prior: Any, transitions: Any) -> None:
    """Raise TypeError unless a prior maps people to probabilities, and transitions are chains or None."""
    swapped = "write Adversary(prior, transitions), the prior first."
    _check_no_class("prior", prior)
    _check_no_class("transitions", transitions)
    if not callable(prior):
        kind = type(prior).__name__
        way_out = (
            swapped if _is_chain(prior) else "give a Prior, as UniformPrior(), ClassFrequencies or GivenPrior(frame)."
        )
        raise TypeError(f"prior is of type {kind}, which gives no prior of people; {way_out}")
    if transitions is not None and not _is_chain(transitions):
        kind = type(transitions).__name__
        way_out = swapped if callable(transitions) else "give a chain, as MarkovChain(1, probabilities)."
        raise TypeError(f"transitions is of type {kind}, which holds no chain; {way_out}")


def check_rules(estimator: Any, cascade: Any) -> None:
    """Raise TypeError unless an estimator can be called, and a cascade revises and weighs or is None."""
    _check_no_class("estimator", estimator)
    _check_no_class("cascade", cascade)
    if not callable(estimator):
        named = {_letters(name): type(rule()).__name__ for name, rule in ESTIMATORS.items()}
        meant = named.get(_letters(str(estimator)))
        way_out = (
            f"write estimator={meant}()." if meant else f"one of {', '.join(named.values())}, as estimator=Exact()."
        )
        raise TypeError(f"estimator is {estimator!r}; an estimator is an object: {way_out}")
    if cascade is not None and not hasattr(cascade, "revise"):
        raise TypeError(
            f"cascade is {cascade!r}; it is an object: RemoveKnown(), PriorCascade(), PosteriorCascade() or EvidenceCascade()."
        )


def _check_no_class(name: str, setting: Any) -> None:
    if isinstance(setting, type):
        kind = setting.__name__
        raise TypeError(f"{name} is the class {kind}; write {name}={kind}(...), an object of it.")


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.lower()))


def _is_chain(given: Any) -> bool:
    """Whether something answers ``at(release)``; a DataFrame's ``at`` is something else."""
    return callable(getattr(given, "at", None)) and not isinstance(given, pd.DataFrame)
