"""Compiled programs that an estimator keeps between calls."""

from typing import TYPE_CHECKING, Any

from foreknow.models.programs.compiled_program import CompiledProgram, compiled_program, computations_of

if TYPE_CHECKING:
    import pymc as pm

MAX_PROGRAMS = 16
"""Largest number of compiled programs that are kept; the one used longest ago is dropped."""


class ProgramCache:
    """Compiled programs by their graphs. A copy is empty, because compiled functions cannot be copied."""

    def __init__(self) -> None:
        self._programs: list[CompiledProgram] = []

    def __reduce__(self) -> "tuple[type[ProgramCache], tuple[Any, ...]]":
        """Return how a copy is made."""
        return ProgramCache, ()

    def program(self, model: "pm.Model", nuts_sampler: str) -> CompiledProgram:
        """Return a compiled program with the data of a model: a kept one, or a new one.

        Cost: building the graph of the density (some 30 ms), and comparing it with those of the programs kept (2 ms each).
        """
        computations = computations_of(model)
        found = next((each for each in self._programs if each.accepts(model, computations)), None)
        if found is None:
            found = compiled_program(model, computations, nuts_sampler)
        else:
            found.take_data(model)
            self._programs.remove(found)
        self._programs = [found, *self._programs][:MAX_PROGRAMS]
        return found
