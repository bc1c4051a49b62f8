"""Independent posterior draws of a program's variables, for many data sets, compiled once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.programs.compiled_program import CompiledProgram, RunLength
from foreknow.models.programs.program_cache import compiled_program
from foreknow.models.programs.simulation_calibration import PosteriorDraws
from foreknow.models.settings import check_not_class, check_range, check_whole, shown

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True, eq=False)
class ProgramPosterior:
    """Posterior of a PyMC program as a function of data, for `calibration_ranks`.

    ``ProgramPosterior(build, ["transitions"])(data, rng)`` samples ``build(data)`` by one chain of NUTS.

    Parameters
    ----------
    build : callable
        ``build(data) -> pymc.Model``, as ``lambda sequences: markov_model(sequences, values=3)``.
    variables : iterable of str
        Names of free or deterministic variables to draw.
    draws : int
        Number of draws that are returned.
    thinning : int
        Number of iterations for each draw: draws are nearly independent if it exceeds the autocorrelation time.
    warmup : int
        Number of iterations that are discarded first, in which NUTS adapts.
    target_accept : float
        Acceptance rate for which NUTS chooses its step size.

    Raises
    ------
    TypeError
        If ``build`` cannot be called, or ``variables`` are no names. When called, if ``build`` returns no `pymc.Model`.
    ValueError
        If a number is out of its range. When called, if the model lacks a variable, or has nothing unknown.

    Notes
    -----
    Models that differ in their `pymc.Data` alone, with equal shapes, share one compilation, as in `ProgramEstimator`. All
    programs of foreknow keep the arrays that depend on values in `pymc.Data`. Cost: a compilation takes 1 to 20 seconds, each
    call ``warmup + draws * thinning`` trajectories of NUTS.

    Examples
    --------
    Is `markov_model` calibrated? Ten sequences of two values, with rows from its prior::

        def simulate(rng):
            rows = rng.dirichlet([1, 1], size=2)
            sequences = np.zeros((10, 6), dtype=int)
            for t in range(1, 6):
                sequences[:, t] = rng.random(10) < rows[sequences[:, t - 1], 1]
            return {"transitions": rows}, sequences

        posterior = ProgramPosterior(lambda sequences: markov_model(sequences, values=2), ["transitions"])
        ranks = calibration_ranks(simulate, posterior, rng=1)
        ranks.uniformity()
    """

    build: "Callable[[Any], pm.Model]"
    variables: Iterable[str]
    draws: int = 63
    thinning: int = 5
    warmup: int = 300
    target_accept: float = 0.9
    _programs: "list[_Program]" = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        owner = "ProgramPosterior"
        check_not_class(owner, "build", self.build)
        if not callable(self.build):
            raise TypeError(f"{owner}: build is {shown(self.build)}; it is a function from data to a pymc.Model.")
        is_names = isinstance(self.variables, Iterable) and not isinstance(self.variables, str | bytes)
        names = tuple(self.variables) if is_names else ()
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError(
                f'{owner}: variables is {shown(self.variables)}; it is a list of names, as ["transitions"].'
            )
        object.__setattr__(self, "variables", names)
        for name in ("draws", "thinning", "warmup"):
            check_whole(owner, name, getattr(self, name), "iterations" if name == "warmup" else name)
        check_range(owner, "target_accept", self.target_accept, 0.01, 0.999, "an acceptance rate")

    def __call__(self, data: Any, rng: np.random.Generator) -> PosteriorDraws:
        """Draws of the variables: arrays of shape ``(draws, ...)``, and the number of divergent transitions."""
        found = self._program(self.build(data))
        length = RunLength(int(self.draws) * int(self.thinning), int(self.warmup), float(self.target_accept))
        sampled, divergences = found.program.sample(length, [int(rng.integers(2**30))])
        rows = sampled[0, :: int(self.thinning)]
        ends = np.cumsum([int(np.prod(shape)) for shape in found.shapes.values()])[:-1]
        parts = np.split(rows, ends, axis=1)
        named = zip(found.shapes.items(), parts, strict=True)
        return PosteriorDraws({name: part.reshape(-1, *shape) for (name, shape), part in named}, divergences)

    def _program(self, model: Any) -> "_Program":
        """Compiled program with the data of a model."""
        import pymc as pm

        if not isinstance(model, pm.Model):
            raise TypeError(f"ProgramPosterior: build returned {shown(model)}; it returns a pymc.Model.")
        missing = [name for name in self.variables if name not in model.named_vars]
        if missing or not model.free_RVs:
            raise ValueError(
                f"ProgramPosterior: the model has no variable {missing[0]!r} (it has {', '.join(model.named_vars)})."
                if missing
                else "ProgramPosterior: the model has no free variable; there is nothing to draw."
            )
        variables = model.replace_rvs_by_values([model[name] for name in self.variables])
        computations = _computations(model, variables)
        for found in self._programs:
            if found.program.accepts(model, computations):
                found.program.take_data(model)
                return found
        program = compiled_program(model, computations, "pymc")
        self._programs.append(_Program(program, dict(zip(self.variables, _shapes(program, variables), strict=True))))
        return self._programs[-1]


class _Program(NamedTuple):
    """Compiled program, and the shape of each of its variables by name."""

    program: CompiledProgram
    shapes: dict[str, tuple[int, ...]]


def _computations(model: "pm.Model", variables: list[Any]) -> list[Any]:
    """Log-density of a model, and one row of all variables."""
    import pytensor.tensor

    pt: Any = pytensor.tensor
    return [model.logp(), pt.concatenate([each.flatten().astype("float64") for each in variables])]


def _shapes(program: CompiledProgram, variables: list[Any]) -> list[tuple[int, ...]]:
    from pytensor.compile.mode import Mode

    mode = Mode(linker="py", optimizer="None")
    evaluate = program.model.compile_fn(variables, inputs=program.model.value_vars, mode=mode, on_unused_input="ignore")
    return [np.shape(value) for value in evaluate(program.initial_point(0))]
