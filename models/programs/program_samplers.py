"""Samplers of a compiled program: NUTS of PyMC, step methods for discrete variables, and nutpie."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.programs.compiled_program import CompiledProgram, ProgramDraws, RunLength, program_data

if TYPE_CHECKING:
    import pymc as pm


def program_sampler(
    model: "pm.Model", nuts_sampler: str, discrete: bool
) -> Callable[[CompiledProgram, RunLength, Sequence[int]], ProgramDraws]:
    """Sampler of a model with unknown numbers: ``sampler(program, length, seeds) -> ProgramDraws``."""
    if nuts_sampler == "nutpie":
        return _nutpie(model)
    return _compound if discrete else _nuts(model)


def _nuts(model: "pm.Model") -> Callable[[CompiledProgram, RunLength, Sequence[int]], ProgramDraws]:
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

    def sample(program: CompiledProgram, length: RunLength, seeds: Sequence[int]) -> ProgramDraws:
        belief, divergences = zip(*(chain(program, length, seed) for seed in seeds), strict=True)
        return ProgramDraws(np.array(belief, dtype=np.float64), sum(divergences))

    return sample


def _compound(program: CompiledProgram, length: RunLength, seeds: Sequence[int]) -> ProgramDraws:
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


def _nutpie(model: "pm.Model") -> Callable[[CompiledProgram, RunLength, Sequence[int]], ProgramDraws]:
    import nutpie

    compiled = nutpie.compile_pymc_model(model, var_names=["belief"], freeze_model=False)

    def sample(program: CompiledProgram, length: RunLength, seeds: Sequence[int]) -> ProgramDraws:
        data = {name: variable.get_value() for name, variable in program_data(program.model).items()}
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


def _from_tree(tree: Any) -> ProgramDraws:
    """Draws of the belief, and their divergences where a step method counts them."""
    diverging = tree["sample_stats"].get("diverging")
    return ProgramDraws(
        np.asarray(tree["posterior"]["belief"].values, dtype=np.float64),
        0 if diverging is None else int(np.asarray(diverging.values).sum()),
    )
