"""Compiled log-density and belief of a program, sampled again with the data of equal models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.exact import TooLarge

if TYPE_CHECKING:
    import pymc as pm

MAX_PARAMETERS = 2**14
"""Largest number of unknown numbers of a model, on the unconstrained scale."""

MAX_STARTS = 10
"""Number of random starting points of a chain that are tried until one has a positive density."""


class RunLength(NamedTuple):
    """Length of a chain, and the acceptance rate for which NUTS chooses its step size."""

    draws: int
    warmup: int
    target_accept: float


class BeliefDraws(NamedTuple):
    """Draws of a program's belief, shape ``(chains, draws, ...)``, and the number of divergent transitions among them."""

    belief: FloatArray
    divergences: int


class Impossible(Exception):  # noqa: N818 - the name says what is wrong
    """Signal that the density of a model is 0 at every starting point."""


class Unusable(Exception):  # noqa: N818 - the name says what is wrong
    """Signal that a model cannot be sampled; the message says why."""


@dataclass(frozen=True, eq=False)
class CompiledProgram:
    """Functions of one model, compiled once, for all models that differ from it in their `pymc.Data` alone.

    Attributes
    ----------
    model : pymc.Model
        Its data are overwritten by `take_data`.
    computations : list of PyTensor variables
        Log-density and belief, as `computations_of` returns them.
    initial_point : callable
        Random starting point from a seed: the value of each free variable, on the unconstrained scale.
    log_density, belief : callable
        Log-density and belief at such a point, without compilation: the belief is called once per draw, and compilation
        takes longer than 10^4 calls.
    sampler : callable, optional
        ``sampler(program, length, seeds) -> BeliefDraws``; None where no variable is free.
    """

    model: "pm.Model"
    computations: list[Any]
    initial_point: Callable[[int], dict[str, Any]]
    log_density: Callable[[dict[str, Any]], Any]
    belief: Callable[[dict[str, Any]], Any]
    sampler: "Callable[[CompiledProgram, RunLength, Sequence[int]], BeliefDraws] | None"

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
        for name, variable in _data(self.model).items():
            variable.set_value(other[name].get_value())

    def sample(self, length: RunLength, seeds: Sequence[int]) -> BeliefDraws:
        """Draw the belief, with one chain for each seed; a belief without unknown numbers is one draw of one chain.

        Raises
        ------
        Impossible
            If the density is 0 at `MAX_STARTS` starting points.
        Unusable
            If the density is NaN or infinite there, or the sampler fails.
        """
        if self.sampler is None:
            return BeliefDraws(np.array(self.belief(self.initial_point(seeds[0])), dtype=np.float64)[None, None], 0)
        try:
            return self.sampler(self, length, seeds)
        except RuntimeError as error:  # PyMC's SamplingError is one
            self.start(seeds[0], self.log_density)
            raise Unusable(f"the sampler stopped: {str(error).splitlines()[0]}") from error

    def start(self, seed: int, log_density: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Return a starting point with a positive density; the errors are those of `sample`."""
        for attempt in range(MAX_STARTS):
            point = self.initial_point(seed + attempt)
            value = float(log_density(point))
            if np.isfinite(value):
                return point
            if value != -np.inf:
                raise Unusable(
                    f"its log-density is {value} at a starting point. Check the parameters of its distributions."
                )
        raise Impossible


def compiled_program(model: "pm.Model", computations: list[Any], nuts_sampler: str) -> CompiledProgram:
    """Return the compiled functions of a model.

    Raises
    ------
    TooLarge
        If the model has more than `MAX_PARAMETERS` unknown numbers.
    Unusable
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
    log_density, belief = (
        model.compile_fn(
            computation, inputs=model.value_vars, mode=Mode(linker="py", optimizer="None"), on_unused_input="ignore"
        )
        for computation in computations
    )
    if discrete and nuts_sampler != "pymc":
        raise Unusable(
            f"nuts_sampler={nuts_sampler!r} samples continuous variables, and {', '.join(discrete)} is discrete. Use "
            "nuts_sampler='pymc', which adds a step method for it."
        )
    sampler = _sampler(model, nuts_sampler, bool(discrete)) if unknown else None
    return CompiledProgram(model, computations, initial_point, log_density, belief, sampler)


def computations_of(model: "pm.Model") -> list[Any]:
    """Log-density and belief of a model, as functions of its free values and its data."""
    return [model.logp(), *model.replace_rvs_by_values([model["belief"]])]


def _data(model: "pm.Model") -> dict[str, Any]:
    return {variable.name: variable for variable in model.data_vars}


def _inputs(model: "pm.Model") -> dict[tuple[str, str], Any]:
    """Data and lengths of dimensions, by kind and name."""
    lengths = {name: length for name, length in model.dim_lengths.items() if hasattr(length, "get_value")}
    return {("data", name): each for name, each in _data(model).items()} | {
        ("length", name): each for name, each in lengths.items()
    }


def _layout(variable: Any) -> tuple[Any, ...]:
    """Type and shape, and the number itself of a whole number, which may be the length of a dimension."""
    value = np.asarray(variable.get_value(borrow=True))
    return variable.type, value.shape, value.item() if value.ndim == 0 and value.dtype.kind in "iu" else None


def _sampler(
    model: "pm.Model", nuts_sampler: str, discrete: bool
) -> Callable[[CompiledProgram, RunLength, Sequence[int]], BeliefDraws]:
    if nuts_sampler == "nutpie":
        return _nutpie(model)
    return _compound if discrete else _nuts(model)


def _nuts(model: "pm.Model") -> Callable[[CompiledProgram, RunLength, Sequence[int]], BeliefDraws]:
    """NUTS of PyMC. `pymc.sample` would compile the model at every call, which takes longer than sampling a small group."""
    import pymc as pm
    from pymc.blocking import DictToArrayBijection

    density_and_gradient = model.logp_dlogp_function(ravel_inputs=True)
    density_and_gradient.trust_input = True

    def log_density(point: dict[str, Any]) -> Any:
        return density_and_gradient([DictToArrayBijection.map(point).data], extra_vars={})[0]

    def chain(program: CompiledProgram, length: RunLength, seed: int) -> tuple[list[Any], int]:
        point = program.start(seed, log_density)
        step = pm.NUTS(
            model=model,
            logp_dlogp_func=density_and_gradient,
            initial_point=point,
            rng=seed,
            target_accept=length.target_accept,
        )
        belief, divergences = [], 0
        for iteration in range(length.warmup + length.draws):
            if iteration == length.warmup:
                step.stop_tuning()
            point, stats = step.step(point)
            if iteration >= length.warmup:
                belief.append(program.belief(point))
                divergences += int(stats[0]["diverging"])
        return belief, divergences

    def sample(program: CompiledProgram, length: RunLength, seeds: Sequence[int]) -> BeliefDraws:
        belief, divergences = zip(*(chain(program, length, seed) for seed in seeds), strict=True)
        return BeliefDraws(np.array(belief, dtype=np.float64), sum(divergences))

    return sample


def _compound(program: CompiledProgram, length: RunLength, seeds: Sequence[int]) -> BeliefDraws:
    """Step methods of PyMC's choice, for models with discrete variables."""
    import pymc as pm

    nuts = {"nuts": {"target_accept": length.target_accept}} if program.model.continuous_value_vars else {}
    tree = pm.sample(
        length.draws,
        tune=length.warmup,
        chains=len(seeds),
        cores=1,
        random_seed=seeds[0],
        progressbar=False,
        quiet=True,
        compute_convergence_checks=False,
        nuts_sampler="pymc",
        model=program.model,
        **nuts,
    )
    return _from_tree(tree)


def _nutpie(model: "pm.Model") -> Callable[[CompiledProgram, RunLength, Sequence[int]], BeliefDraws]:
    import nutpie

    compiled = nutpie.compile_pymc_model(model, var_names=["belief"], freeze_model=False)

    def sample(program: CompiledProgram, length: RunLength, seeds: Sequence[int]) -> BeliefDraws:
        data = {name: variable.get_value() for name, variable in _data(program.model).items()}
        tree = nutpie.sample(
            compiled.with_data(**data) if data else compiled,
            draws=length.draws,
            tune=length.warmup,
            chains=len(seeds),
            cores=1,
            seed=seeds[0],
            progress_bar=False,
            target_accept=length.target_accept,
        )
        return _from_tree(tree)

    return sample


def _from_tree(tree: Any) -> BeliefDraws:
    """Draws of the belief, and their divergences where a step method counts them."""
    diverging = tree["sample_stats"].get("diverging")
    return BeliefDraws(
        np.asarray(tree["posterior"]["belief"].values, dtype=np.float64),
        0 if diverging is None else int(np.asarray(diverging.values).sum()),
    )
