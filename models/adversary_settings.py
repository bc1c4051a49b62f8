"""Checks of the settings of an adversary: each object is of the right kind and in the right place."""

from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.knowledge.compromised_records import CompromisedRecords
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.personal_transitions import is_personal
from foreknow.models.settings import check_not_class, shown

SWAPPED = "Write Adversary(prior, transitions), the prior first."


def check_knowledge(prior: Any, transitions: Any, compromised: Any) -> None:
    """Raise TypeError unless the prior, the transitions and the compromised records are of their kinds.

    A prior is called with people; transitions have ``at(release)``, which returns a `MarkovChain`, or the methods of
    `PersonalTransitions`. Transitions and compromised records may be None.
    """
    for name, setting in (("prior", prior), ("transitions", transitions), ("compromised", compromised)):
        check_not_class("Adversary", name, setting)
    if not callable(prior):
        raise TypeError(f"Adversary: prior is {shown(prior)}; it maps people to probabilities. {_prior_from(prior)}")
    if transitions is not None and not _is_chain(transitions):
        raise TypeError(
            f"Adversary: transitions is {shown(transitions)}; it is a chain over the sensitive values. "
            f"{_chain_from(transitions)}"
        )
    if compromised is not None and not isinstance(compromised, CompromisedRecords):
        named = "An estimator is named: estimator=..." if callable(compromised) else ""
        raise TypeError(
            f"Adversary: compromised is {shown(compromised)}; it must be CompromisedRecords(frame). {named}".rstrip()
        )
    if transitions is not None:
        _check_first_chain(transitions)


def check_cascade(cascade: Any) -> None:
    """Raise TypeError unless a cascade has the methods ``revise`` and ``posterior``, or is None."""
    check_not_class("Adversary", "cascade", cascade)
    if cascade is not None and not (hasattr(cascade, "revise") and hasattr(cascade, "posterior")):
        raise TypeError(
            f"Adversary: cascade is {shown(cascade)}; it is an object: RemoveKnown(), PriorCascade(), PosteriorCascade() or "
            "EvidenceCascade()."
        )


def _prior_from(given: Any) -> str:
    """The way from an object of another kind to a prior."""
    if _is_tree(given):
        return "Use ClassFrequencies.from_posterior(tree, cuts), or RegressionPrior.from_posterior(tree, design)."
    if isinstance(given, pd.DataFrame):
        return "Use GivenPrior(frame), with one row per respondent and one column per value."
    if isinstance(given, np.ndarray | list | tuple):
        return "Use GivenPrior(pandas.DataFrame(array, index=respondents, columns=values))."
    return (
        SWAPPED
        if _is_chain(given)
        else "Use UniformPrior(), ClassFrequencies.fit(history, classes) or GivenPrior(frame)."
    )


def _chain_from(given: Any) -> str:
    """The way from an object of another kind to transitions."""
    if _is_tree(given):
        return "Use MarkovChain.from_posterior(tree), or TransitionsByClass.from_posterior(tree, cuts)."
    if isinstance(given, np.ndarray | list | tuple):
        return f"Use MarkovChain({max(np.ndim(given) - 1, 1) if isinstance(given, np.ndarray) else 1}, array)."
    return SWAPPED if callable(given) else "Use MarkovChain(1, probabilities), or MarkovChain.fit(history)."


def _is_tree(given: Any) -> bool:
    """Return whether an object is of xarray, as the result of `pymc.sample`; xarray is not imported for it."""
    return type(given).__module__.split(".")[0] == "xarray"


def _check_first_chain(transitions: Any) -> None:
    """Raise TypeError unless ``transitions.at(0)`` is a chain, or ``chains_at(0)`` is a tuple of chains."""
    if is_personal(transitions):
        _check_personal_chains(transitions)
        return
    try:
        chain = transitions.at(0)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise TypeError(
            f"Adversary: transitions is {shown(transitions)}, and its at(0) gives no chain ({error}). {_chain_from(None)}"
        ) from error
    if not isinstance(chain, MarkovChain):
        raise TypeError(
            f"Adversary: at(0) of the transitions is {shown(chain)}; it is a MarkovChain. {_chain_from(None)}"
        )


def _check_personal_chains(transitions: Any) -> None:
    """Raise TypeError unless ``chains_at(0)`` is a tuple of chains."""
    try:
        chains = transitions.chains_at(0)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise TypeError(
            f"Adversary: transitions is {shown(transitions)}, and its chains_at(0) gives no chains ({error}). Use "
            "TransitionsByClass(classes, chains)."
        ) from error
    if not isinstance(chains, tuple) or not chains or not all(isinstance(chain, MarkovChain) for chain in chains):
        raise TypeError(
            f"Adversary: chains_at(0) of the transitions is {shown(chains)}; it is a tuple of MarkovChain, one per class."
        )


def _is_chain(given: Any) -> bool:
    """Return whether an object has a method ``at`` or is `PersonalTransitions`; ``at`` of a pandas object is something else."""
    if is_personal(given):
        return True
    return callable(getattr(given, "at", None)) and not isinstance(given, pd.DataFrame | pd.Series)
