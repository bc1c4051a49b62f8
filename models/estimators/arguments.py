"""Checks of the settings of estimators, and of the problem that an estimator is called with."""

import inspect
from functools import partial
from typing import Any

from foreknow.models.problem import Problem
from foreknow.models.settings import MAX_FLOAT, check_kind, check_not_class, is_number, is_whole, shown

MAX_ITERATIONS = 2**63 - 1
"""Largest number of iterations that a compiled kernel counts."""

MAX_STATES_IN_MEMORY = 2**40
"""Largest limit of states; at 32 bytes each they take 32 TiB."""


def check_problem(estimator: object, problem: Any, reads_evidence: bool = False) -> None:
    """Raise an error unless an estimator can be called with a problem.

    Parameters
    ----------
    estimator : Estimator
    problem : object
    reads_evidence : bool
        True if the estimator uses `Problem.evidence`.

    Raises
    ------
    TypeError
        If ``problem`` is no `Problem`.
    ValueError
        If it has evidence and the estimator does not read evidence.
    """
    takes = "is a Problem; make one by release.observation.problem(prior) or Problem(prior, group, counts)"
    check_kind(type(estimator).__name__, "problem", problem, Problem, takes)
    if not reads_evidence:
        problem.refuse_evidence(estimator)


def check_is_estimator(owner: str, name: str, value: Any) -> None:
    """Raise TypeError unless a setting is an estimator: an object that can be called and has the flag ``exact``."""
    check_not_class(owner, name, value)
    if inspect.isroutine(value) or isinstance(value, partial):
        raise TypeError(
            f"{owner}: {name} is a plain function; an estimator is an object. Write {name}=PerGroup(function), where "
            "function(prior, counts) maps the prior (k, m) and the counts (m,) of one group to beliefs (k, m)."
        )
    if not (callable(value) and hasattr(value, "exact")):
        raise TypeError(
            f"{owner}: {name} is {shown(value)}; it is an estimator object, as Exact() or Auto(). An estimator of your own has "
            "__call__(problem) and exact: ClassVar[bool]."
        )


def check_state_limit(owner: str, limit: Any) -> None:
    """Raise ValueError unless a limit is a whole number of states from 1 to `MAX_STATES_IN_MEMORY`."""
    if not is_whole(limit) or limit > MAX_STATES_IN_MEMORY:
        raise ValueError(f"{owner}: limit is {limit!r}; it is a number of states, from 1 to 2^40 (32 bytes each).")


def check_positive(owner: str, name: str, value: Any, what: str) -> None:
    """Raise ValueError unless a setting is a positive finite number."""
    if not (is_number(value, 0, MAX_FLOAT) and value > 0):
        raise ValueError(f"{owner}: {name} is {value!r}; it is a positive finite number, {what}.")


def check_iteration(owner: str, tolerance: Any, iterations: Any) -> None:
    """Raise ValueError unless a tolerance is positive and finite and a number of iterations fits a kernel."""
    check_positive(owner, "tolerance", tolerance, "at which the iteration stops")
    if not is_whole(iterations) or iterations > MAX_ITERATIONS:
        raise ValueError(f"{owner}: iterations is {iterations!r}; it is a number of iterations, from 1 to 2^63 - 1.")
