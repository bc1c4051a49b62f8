"""Thinned posterior draws of a program's variables, for many data sets, compiled once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.equality import equal_by_fields
from foreknow.models.programs.compiled_program import (
    MAX_STARTS,
    ChainSettings,
    ProgramCache,
    ZeroDensity,
    built_model,
    errors_named_for,
)
from foreknow.models.programs.simulation_calibration import PosteriorDraws
from foreknow.models.settings import as_generator, check_not_class, check_range, check_whole, shown

if TYPE_CHECKING:
    import pymc as pm


@equal_by_fields
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
        If ``build`` cannot be called, or ``variables`` are no names. When called, if ``rng`` is neither a generator nor an
        integer, or ``build`` raises TypeError or returns no `pymc.Model`.
    ValueError
        If a number is out of its range. When called, if the model lacks a variable, or has nothing unknown; if its density is 0,
        NaN or infinite at the starting points, or the sampler fails; or if ``build`` raises any error but `TooLarge` and
        TypeError.
    TooLarge
        When called, if ``build`` raises `TooLarge`, or the model has more than `MAX_PARAMETERS` unknown numbers.

    Notes
    -----
    Models that differ in their `pymc.Data` alone, with equal shapes, share one compilation, as in `ProgramEstimator`. All
    programs of foreknow keep the arrays that depend on values in `pymc.Data`. Cost: a compilation takes 1 to 20 seconds, each
    call ``warmup + draws * thinning`` trajectories of NUTS. Models with discrete variables go through `pymc.sample`, which compiles
    them at every call.

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
    _programs: ProgramCache = field(init=False, repr=False, default_factory=ProgramCache)

    def __post_init__(self) -> None:
        owner = "ProgramPosterior"
        check_not_class(owner, "build", self.build)
        if not callable(self.build):
            raise TypeError(f"{owner}: build is {shown(self.build)}; it is a function from data to a pymc.Model.")
        is_names = np.iterable(self.variables) and not isinstance(self.variables, str | bytes)
        names = tuple(self.variables) if is_names else ()
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError(
                f'{owner}: variables is {shown(self.variables)}; it is a list of names, as ["transitions"].'
            )
        object.__setattr__(self, "variables", names)
        for name in ("draws", "thinning", "warmup"):
            check_whole(owner, name, getattr(self, name), "iterations" if name == "warmup" else name)
        check_range(owner, "target_accept", self.target_accept, 0.01, 0.999, "an acceptance rate")

    def __call__(self, data: Any, rng: "np.random.Generator | int") -> PosteriorDraws:
        """Draws of the variables: arrays of shape ``(draws, ...)``, and the number of divergent transitions."""
        seed = int(as_generator("ProgramPosterior", rng).integers(2**30))
        model = built_model("ProgramPosterior", self.build, data, "the data")
        self._check_variables(model)
        settings = ChainSettings(int(self.draws) * int(self.thinning), int(self.warmup), float(self.target_accept))
        try:
            with errors_named_for("ProgramPosterior", "the data"):
                program = self._programs.program(model, tuple(self.variables))
                drawn = program.sample(settings, [seed])
        except ZeroDensity:
            raise ValueError(
                f"ProgramPosterior: the density of the model is 0 at {MAX_STARTS} starting points, so that there is nothing to "
                "draw. Check that the program can produce the data, or give its variables an initval."
            ) from None
        step = int(self.thinning)
        return PosteriorDraws({name: each[0, ::step] for name, each in drawn.values.items()}, drawn.divergences)

    def _check_variables(self, model: "pm.Model") -> None:
        missing = [name for name in self.variables if name not in model.named_vars]
        if missing:
            raise ValueError(
                f"ProgramPosterior: the model has no variable {missing[0]!r} (it has {', '.join(model.named_vars)})."
            )
        if not model.free_RVs:
            raise ValueError("ProgramPosterior: the model has no free variable; there is nothing to draw.")
