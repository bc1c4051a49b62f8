"""PyMC programs compiled once: their checks, their samplers, and the cache of compiled programs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.problem import Problem, group_rows
from foreknow.models.settings import check_kind

if TYPE_CHECKING:
    import pymc as pm

    from foreknow.models.tables.people import Observation


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


def program_sampler(
    model: "pm.Model", names: Sequence[str], nuts_sampler: str, discrete: bool
) -> Callable[[CompiledProgram, ChainSettings, Sequence[int]], ProgramDraws]:
    """Sampler of a model with unknown numbers: ``sampler(program, settings, seeds) -> ProgramDraws``."""
    if nuts_sampler == "nutpie":
        return _nutpie(model, names)
    return _compound if discrete else _nuts(model)


def _nuts(model: "pm.Model") -> Callable[[CompiledProgram, ChainSettings, Sequence[int]], ProgramDraws]:
    """NUTS of PyMC. `pymc.sample` would compile the model at every call, which takes longer than sampling a small group."""
    import pymc as pm
    from pymc.blocking import DictToArrayBijection

    density_and_gradient = model.logp_dlogp_function(ravel_inputs=True)
    density_and_gradient.trust_input = True

    def log_density(point: dict[str, Any]) -> Any:
        return density_and_gradient([DictToArrayBijection.map(point).data], extra_vars={})[0]

    def chain(program: CompiledProgram, settings: ChainSettings, seed: int) -> tuple[list[dict[str, Any]], int]:
        point = program.start(seed, log_density)
        step = pm.NUTS(
            model=model,
            logp_dlogp_func=density_and_gradient,
            initial_point=point,
            rng=seed,
            target_accept=settings.target_accept,
        )
        draws, divergences = [], 0
        for iteration in range(settings.warmup + settings.draws):
            if iteration == settings.warmup:
                step.stop_tuning()
            point, stats = step.step(point)
            if iteration >= settings.warmup:
                draws.append(program.evaluate(point))
                divergences += int(stats[0]["diverging"])
        return draws, divergences

    def sample(program: CompiledProgram, settings: ChainSettings, seeds: Sequence[int]) -> ProgramDraws:
        chains, divergences = zip(*(chain(program, settings, seed) for seed in seeds), strict=True)
        return ProgramDraws(stacked(chains), sum(divergences))

    return sample


def _compound(program: CompiledProgram, settings: ChainSettings, seeds: Sequence[int]) -> ProgramDraws:
    """Step methods of PyMC's choice, for models with discrete variables."""
    import pymc as pm

    nuts = {"nuts": {"target_accept": settings.target_accept}} if program.model.continuous_value_vars else {}
    tree = pm.sample(
        settings.draws,
        tune=settings.warmup,
        chains=len(seeds),
        cores=1,
        random_seed=seeds[0],
        progressbar=False,
        quiet=True,
        compute_convergence_checks=False,
        nuts_sampler="pymc",
        idata_kwargs={"include_transformed": True},
        model=program.model,
        **nuts,
    )
    drawn = tree["posterior"]
    points = {each.name: drawn[each.name].values for each in program.model.value_vars}
    chains = [
        [program.evaluate({name: values[c, d] for name, values in points.items()}) for d in range(settings.draws)]
        for c in range(len(seeds))
    ]
    return ProgramDraws(stacked(chains), _divergences(tree))


def _nutpie(
    model: "pm.Model", names: Sequence[str]
) -> Callable[[CompiledProgram, ChainSettings, Sequence[int]], ProgramDraws]:
    import nutpie

    compiled = nutpie.compile_pymc_model(model, var_names=list(names), freeze_model=False)

    def sample(program: CompiledProgram, settings: ChainSettings, seeds: Sequence[int]) -> ProgramDraws:
        data = {name: variable.get_value() for name, variable in program_data(program.model).items()}
        tree = nutpie.sample(
            compiled.with_data(**data) if data else compiled,
            draws=settings.draws,
            tune=settings.warmup,
            chains=len(seeds),
            cores=1,
            seed=seeds[0],
            progress_bar=False,
            target_accept=settings.target_accept,
        )
        drawn = {name: np.asarray(tree["posterior"][name].values, dtype=np.float64) for name in names}
        return ProgramDraws(drawn, _divergences(tree))

    return sample


def _divergences(tree: Any) -> int:
    """Number of divergent draws, where a step method counts them."""
    diverging = tree["sample_stats"].get("diverging")
    return 0 if diverging is None else int(np.asarray(diverging.values).sum())


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


class Subproblem(NamedTuple):
    """Problem that is sampled by itself: its name in errors, and the rows and groups of the release that receive the posterior."""

    name: str
    problem: Problem
    rows: IntArray
    groups: IntArray

    @property
    def key(self) -> tuple[bytes, ...]:
        """Key of the problem; equal problems have equal keys, and a group of known members has its own."""
        problem = self.problem
        if problem.observation is not None:
            return (self.name.encode(),)
        evidence = b"" if problem.evidence is None else problem.evidence.tobytes()
        return problem.prior.tobytes(), problem.group.tobytes(), problem.counts.tobytes(), evidence


def subproblems_of(
    problem: Problem, per: Literal["group", "release"], seen: "Observation | None"
) -> Iterator[Subproblem]:
    """Groups of a release without the empty ones, or the whole release as one subproblem; with what is ``seen`` of each.

    Cost: O(n m), and with an observation O(g^2 m).
    """
    groups = np.flatnonzero(problem.sizes)
    if per == "release":
        if len(groups):
            yield Subproblem("the release", problem, np.flatnonzero(problem.group >= 0), groups)
        return
    order, starts = group_rows(problem.group, len(problem.counts))
    for j in groups:
        rows = order[starts[j] : starts[j + 1]]
        evidence = None if problem.evidence is None else problem.evidence[rows]
        alone = Problem(problem.prior[rows], np.zeros(len(rows), dtype=np.int64), problem.counts[[j]], evidence)
        yield Subproblem(
            f"group {j}", alone if seen is None else _with_members(alone, seen, rows, int(j)), rows, np.array([j])
        )


def _with_members(problem: Problem, seen: "Observation", rows: IntArray, j: int) -> Problem:
    """Problem of group j with what is seen of its members, under the number of the group in the release."""
    own = rows[rows < len(seen.people)]
    counts = np.where(np.arange(len(seen.counts))[:, None] == j, seen.counts, 0)
    return replace(problem, observation=replace(seen, people=seen.people[own], group=seen.group[own], counts=counts))


def reads_observation(build: Callable[..., Any]) -> bool:
    """Return whether a program has a second argument without default, which is an observation."""
    try:
        arguments = signature(build).parameters.values()
    except (TypeError, ValueError):  # Some callables of C have no signature.
        return False
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is Parameter.empty for each in arguments) > 1


def model_of(build: "Callable[..., pm.Model]", subproblem: Subproblem) -> "pm.Model":
    """Model of one subproblem, with a deterministic belief.

    Raises
    ------
    TooLarge
        If ``build`` raises `TooLarge`.
    """
    arguments = (
        (subproblem.problem, subproblem.problem.observation) if reads_observation(build) else (subproblem.problem,)
    )
    model = built_model("ProgramEstimator", build, arguments, subproblem.name)
    names = [variable.name for variable in model.deterministics]
    if "belief" not in names:
        raise ValueError(
            f"ProgramEstimator: the model of {subproblem.name} has no deterministic variable 'belief' "
            f"(it has {', '.join(names) or 'none'}); "
            'add pm.Deterministic("belief", rows, dims=("respondent", "value")).'
        )
    return model


def built_model(owner: str, build: "Callable[..., pm.Model]", arguments: Sequence[Any], name: str) -> "pm.Model":
    """Result of ``build(*arguments)``; its errors get the name of the arguments."""
    import pymc as pm

    try:
        model = build(*arguments)
    except TooLarge as error:
        raise TooLarge(f"{owner}: build refuses {name}: {error}") from error
    except Exception as error:
        raise _kind(error)(f"{owner}: build stops at {name}: {_described(error)}") from error
    check_kind(
        owner, f"the result of build for {name}", model, pm.Model, "is a pymc.Model; end build with `return model`"
    )
    return model


def _kind(error: Exception) -> type[Exception]:
    return TypeError if isinstance(error, TypeError) else ValueError


def _described(error: Exception) -> str:
    """Class of an error and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


@contextmanager
def errors_named_for(owner: str, name: str) -> Iterator[None]:
    """Add an owner and the name of a subproblem or of data to the errors of a model; `ZeroDensity` passes."""
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
