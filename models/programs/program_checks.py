"""Checks of a program's model and draws; each message names the group or the release."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.problem import Problem, are_probabilities, probability_rows
from foreknow.models.programs.compiled_program import CannotSample, ZeroDensity
from foreknow.models.programs.release_parts import Part
from foreknow.models.settings import shown

if TYPE_CHECKING:
    import pymc as pm

DIMS = ("respondent", "value")
"""Last two dimensions of a belief."""


def model_of(build: "Callable[[Problem], pm.Model]", part: Part) -> "pm.Model":
    """Model of one part, with a deterministic belief.

    Raises
    ------
    TooLarge
        If ``build`` raises `TooLarge`.
    TypeError
        If ``build`` raises TypeError, or returns no `pymc.Model`.
    ValueError
        If ``build`` raises another error, which is named, or the model has no deterministic ``belief``.
    """
    model = built_model("ProgramEstimator", build, part.problem, part.name)
    names = [variable.name for variable in model.deterministics]
    if "belief" not in names:
        raise ValueError(
            f"ProgramEstimator: the model of {part.name} has no deterministic variable 'belief' "
            f"(it has {', '.join(names) or 'none'}); "
            'add pm.Deterministic("belief", rows, dims=("respondent", "value")).'
        )
    return model


def built_model(owner: str, build: "Callable[[Any], pm.Model]", argument: Any, name: str) -> "pm.Model":
    """Result of ``build(argument)``; its errors get the name of the argument.

    Raises
    ------
    TooLarge, TypeError, ValueError
        As `model_of`.
    """
    import pymc as pm

    try:
        model = build(argument)
    except TooLarge as error:
        raise TooLarge(f"{owner}: build refuses {name}: {error}") from error
    except Exception as error:
        raise _kind(error)(f"{owner}: build stops at {name}: {_described(error)}") from error
    if not isinstance(model, pm.Model):
        raise TypeError(
            f"{owner}: build returned {shown(model)} for {name}; it returns a pymc.Model. End it with `return model`."
        )
    return model


def _kind(error: Exception) -> type[Exception]:
    return TypeError if isinstance(error, TypeError) else ValueError


def _described(error: Exception) -> str:
    """Class of an error and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


@contextmanager
def errors_named_for(owner: str, name: str) -> Iterator[None]:
    """Add an owner and the name of a part or of data to the errors of a model; `ZeroDensity` passes."""
    start = f"{owner}: {name}:"
    try:
        yield
    except ZeroDensity:
        raise
    except CannotSample as error:
        raise ValueError(f"{start} {error}") from error.__cause__
    except TooLarge as error:
        raise TooLarge(f"{start} {error}") from None
    except Exception as error:
        raise _kind(error)(f"{start} its model cannot be computed: {_described(error)}") from error


def check_shape(part: Part, model: "pm.Model", shape: tuple[int, ...]) -> None:
    """Raise ValueError unless a belief has the shape of the prior and its dims, if any."""
    expected = part.problem.prior.shape
    dims = model.named_vars_to_dims.get("belief")
    if shape not in (expected, (1, *expected)):
        raise ValueError(
            f"ProgramEstimator: the belief of {part.name} has shape {shape}; it must be {expected}, a row for each respondent of "
            "the problem and a column for each value."
        )
    if dims is not None and tuple(dims[-2:]) != DIMS:
        raise ValueError(
            f"ProgramEstimator: the belief of {part.name} has the dims {', '.join(map(str, dims))}; they end in respondent, value. "
            "Transpose or rename them."
        )


def check_rows(part: Part, belief: FloatArray) -> None:
    """Raise ValueError unless the rows of all draws are probabilities."""
    wrong = ~are_probabilities(belief).all(axis=2)
    if wrong.any():
        chain, draw = (int(axis[0]) for axis in np.nonzero(wrong))
        probability_rows(
            belief[chain, draw], f"ProgramEstimator: {part.name}, draw {draw} of chain {chain}: the belief in row"
        )
