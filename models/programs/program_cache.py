"""Compilation of programs, and the compiled programs that are kept between calls."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.estimators.exact import TooLarge
from foreknow.models.programs.compiled_program import CannotSample, CompiledProgram, computations_of
from foreknow.models.programs.program_samplers import program_sampler

if TYPE_CHECKING:
    import pymc as pm

MAX_PARAMETERS = 2**14
"""Largest number of unknown numbers of a model, on the unconstrained scale."""

MAX_PROGRAMS = 16
"""Largest number of compiled programs that are kept; the one used longest ago is dropped."""


class ProgramCache:
    """Compiled programs by their graphs. A copy is empty, because compiled functions cannot be copied."""

    def __init__(self) -> None:
        self._programs: list[CompiledProgram] = []

    def __reduce__(self) -> "tuple[type[ProgramCache], tuple[Any, ...]]":
        """Return how a copy is made."""
        return ProgramCache, ()

    def program(self, model: "pm.Model", names: Sequence[str], nuts_sampler: str = "pymc") -> CompiledProgram:
        """Return a compiled program with the data of a model, for the named variables: a kept one, or a new one.

        Cost: building the graph of the density (some 30 ms), and comparing it with those of the programs kept (2 ms each).
        """
        computations = computations_of(model, names)
        found = next((each for each in self._programs if each.accepts(model, computations)), None)
        if found is None:
            found = compiled_program(model, names, nuts_sampler)
        else:
            found.take_data(model)
            self._programs.remove(found)
        self._programs = [found, *self._programs][:MAX_PROGRAMS]
        return found


def compiled_program(model: "pm.Model", names: Sequence[str], nuts_sampler: str) -> CompiledProgram:
    """Return the compiled functions of a model and its named variables.

    Raises
    ------
    TooLarge
        If the model has more than `MAX_PARAMETERS` unknown numbers.
    CannotSample
        If ``nuts_sampler`` is ``"nutpie"`` and a free variable is discrete.
    """
    from pymc.initial_point import make_initial_point_fn
    from pytensor.compile.mode import Mode

    discrete = [variable.name for variable in model.discrete_value_vars]
    jittered = {each for each in model.free_RVs if model.rvs_to_values[each] in model.continuous_value_vars}
    initial_point = make_initial_point_fn(model=model, jitter_rvs=jittered, return_transformed=True)
    unknown = sum(np.size(value) for value in initial_point(0).values())
    if unknown > MAX_PARAMETERS:
        raise TooLarge(
            f"its model has {unknown:,} unknown numbers, more than {MAX_PARAMETERS:,}. Publish smaller groups, or write a "
            "smaller program."
        )
    computations = computations_of(model, names)
    log_density, variables = (
        model.compile_fn(
            each, inputs=model.value_vars, mode=Mode(linker="py", optimizer="None"), on_unused_input="ignore"
        )
        for each in (computations[0], computations[1:])
    )
    if discrete and nuts_sampler != "pymc":
        raise CannotSample(
            f"nuts_sampler={nuts_sampler!r} samples continuous variables, and {', '.join(discrete)} is discrete. Use "
            "nuts_sampler='pymc', which adds a step method for it."
        )
    sampler = program_sampler(model, names, nuts_sampler, bool(discrete)) if unknown else None

    def evaluate(point: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(names, variables(point), strict=True))

    return CompiledProgram(model, computations, initial_point, log_density, evaluate, sampler)
