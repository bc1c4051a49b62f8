"""Samplers of a compiled program: NUTS of PyMC, step methods for discrete variables, and nutpie."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.programs.compiled_program import (
    ChainSettings,
    CompiledProgram,
    ProgramDraws,
    program_data,
    stacked,
)

if TYPE_CHECKING:
    import pymc as pm


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
