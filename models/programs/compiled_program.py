"""Compiled log-density and variables of a program, sampled again with the data of equal models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray

if TYPE_CHECKING:
    import pymc as pm

MAX_STARTS = 10
"""Number of random starting points of a chain that are tried until one has a positive density."""


class ChainSettings(NamedTuple):
    """Length of a chain, and the acceptance rate for which NUTS chooses its step size."""

    draws: int
    warmup: int
    target_accept: float


class ProgramDraws(NamedTuple):
    """Draws of variables, arrays of shape ``(chains, draws, ...)`` by name, and the number of divergent transitions."""

    values: dict[str, FloatArray]
    divergences: int


class ZeroDensity(Exception):  # noqa: N818 - the name says what is wrong
    """Signal that the density of a model is 0 at every starting point."""


class CannotSample(Exception):  # noqa: N818 - the name says what is wrong
    """Signal that a model cannot be sampled; the message says why."""


@dataclass(frozen=True, eq=False)
class CompiledProgram:
    """Functions of one model, compiled once, for all models that differ from it in their `pymc.Data` alone.

    Attributes
    ----------
    model : pymc.Model
        Its data are overwritten by `take_data`.
    computations : list of PyTensor variables
        Log-density and variables, as `computations_of` returns them.
    initial_point : callable
        Random starting point from a seed: the value of each free variable, on the unconstrained scale.
    log_density : callable
        Log-density at such a point.
    evaluate : callable
        Arrays of the variables by name, at such a point. Log-density and variables are computed without compilation: they are
        called once per draw, and compilation takes longer than 10^4 calls.
    sampler : callable, optional
        ``sampler(program, settings, seeds) -> ProgramDraws``; None where no variable is free.
    """

    model: "pm.Model"
    computations: list[Any]
    initial_point: Callable[[int], dict[str, Any]]
    log_density: Callable[[dict[str, Any]], Any]
    evaluate: Callable[[dict[str, Any]], dict[str, Any]]
    sampler: "Callable[[CompiledProgram, ChainSettings, Sequence[int]], ProgramDraws] | None"

    def accepts(self, other: "pm.Model", computations: list[Any]) -> bool:
        """Return whether another model has the same graph and data of the same shapes, so that `take_data` makes it this one."""
        from pytensor.graph.basic import equal_computations

        mine, others = _inputs(self.model), _inputs(other)
        if {name: _layout(each) for name, each in mine.items()} != {
            name: _layout(each) for name, each in others.items()
        }:
            return False
        if len(self.model.value_vars) != len(other.value_vars):
            return False
        pairs = [
            *zip(self.model.value_vars, other.value_vars, strict=True),
            *((mine[name], others[name]) for name in mine),
        ]
        return bool(equal_computations(self.computations, computations, *map(list, zip(*pairs, strict=True))))

    def take_data(self, other: "pm.Model") -> None:
        """Set the data of this model to those of another."""
        for name, variable in program_data(self.model).items():
            variable.set_value(other[name].get_value())

    def sample(self, settings: ChainSettings, seeds: Sequence[int]) -> ProgramDraws:
        """Draw the variables, with one chain for each seed; without unknown numbers there is one draw of one chain.

        Raises
        ------
        ZeroDensity
            If the density is 0 at `MAX_STARTS` starting points.
        CannotSample
            If the density is NaN or infinite there, or the sampler fails.
        """
        if self.sampler is None:
            return ProgramDraws(stacked([[self.evaluate(self.initial_point(seeds[0]))]]), 0)
        try:
            return self.sampler(self, settings, seeds)
        except RuntimeError as error:  # PyMC's SamplingError is one
            self.start(seeds[0], self.log_density)
            raise CannotSample(f"the sampler stopped: {str(error).splitlines()[0]}") from error

    def start(self, seed: int, log_density: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Return a starting point with a positive density; the errors are those of `sample`."""
        for attempt in range(MAX_STARTS):
            point = self.initial_point(seed + attempt)
            value = float(log_density(point))
            if np.isfinite(value):
                return point
            if value != -np.inf:
                raise CannotSample(
                    f"its log-density is {value} at a starting point. Check the parameters of its distributions."
                )
        raise ZeroDensity


def computations_of(model: "pm.Model", names: Sequence[str]) -> list[Any]:
    """Log-density and named variables of a model, as functions of its free values and its data."""
    return [model.logp(), *model.replace_rvs_by_values([model[name] for name in names])]


def stacked(chains: Sequence[Sequence[dict[str, Any]]]) -> dict[str, FloatArray]:
    """Arrays of shape ``(chains, draws, ...)`` by name, from the values of each draw of each chain."""
    return {
        name: np.array([[draw[name] for draw in chain] for chain in chains], dtype=np.float64) for name in chains[0][0]
    }


def program_data(model: "pm.Model") -> dict[str, Any]:
    """Data of a model by name."""
    return {variable.name: variable for variable in model.data_vars}


def _inputs(model: "pm.Model") -> dict[tuple[str, str], Any]:
    """Data and lengths of dimensions, by kind and name."""
    lengths = {name: length for name, length in model.dim_lengths.items() if hasattr(length, "get_value")}
    return {("data", name): each for name, each in program_data(model).items()} | {
        ("length", name): each for name, each in lengths.items()
    }


def _layout(variable: Any) -> tuple[Any, ...]:
    """Type and shape, and the number itself of a whole number, which may be the length of a dimension."""
    value = np.asarray(variable.get_value(borrow=True))
    return variable.type, value.shape, value.item() if value.ndim == 0 and value.dtype.kind in "iu" else None
