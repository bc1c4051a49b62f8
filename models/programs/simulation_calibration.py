"""Simulation-based calibration: posterior draws of a program, ranks of simulated truths among them, tests of uniformity."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.programs.compiled_program import (
    MAX_STARTS,
    ChainSettings,
    ProgramCache,
    ZeroDensity,
    built_model,
    errors_named_for,
)
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import as_generator, check_kind, check_range, check_whole, shown

if TYPE_CHECKING:
    import pymc as pm
    from xarray import DataTree


type Values = Mapping[str, Any]
"""Arrays by the names of variables."""

type Quantity = Callable[[dict[str, FloatArray], Any], float]
"""Test quantity: from the values of all variables, and the data, to a number."""


class PosteriorDraws(NamedTuple):
    """Draws of the variables of a program.

    Attributes
    ----------
    values : mapping of str to float array, shape (draws, ...)
        Draws of each variable, by name.
    divergences : int
        Number of divergent transitions among them.
    """

    values: Values
    divergences: int = 0


@equal_by_fields
@dataclass(frozen=True, eq=False)
class CalibrationRanks:
    """Ranks of simulated truths among posterior draws, on the scale from 0 to 1.

    Attributes
    ----------
    quantiles : dict of str to float array, shapes (simulations, ...)
        For each variable or test quantity, ``(number of smaller draws + U (number of equal draws + 1)) / (draws + 1)`` with U
        uniform on [0, 1]. For a calibrated posterior and independent draws these are uniform on [0, 1].
    divergences : int array, shape (simulations,)
        Number of divergent transitions of each simulation's posterior.
    """

    quantiles: dict[str, FloatArray]
    divergences: IntArray

    def uniformity(self) -> pd.DataFrame:
        """Tests of the uniformity of each entry's quantiles.

        Returns
        -------
        pandas.DataFrame
            A row for each entry of each variable: ``quantity``, as ``transitions[0, 1]``; ``mean_quantile``, over .5
            where the posterior is too low; ``location`` and ``dispersion``, p-values; ``adjusted``, the smaller of both, times the
            number of all p-values, at most 1 (Bonferroni). If no ``adjusted`` of a calibrated program is under x, this is
            right with a probability of at least 1 - x.

        Notes
        -----
        ``location`` is the exact Kolmogorov-Smirnov test of the quantiles u, ``dispersion`` that of ``|2 u - 1|``, which is
        uniform too. A posterior that is too narrow or too wide moves the latter to one side. Cost: O(entries * simulations
        log(simulations)).
        """
        from scipy import stats

        rows = [
            (f"{name}[{', '.join(map(str, entry))}]" if entry else name, each[(slice(None), *entry)])
            for name, each in self.quantiles.items()
            for entry in np.ndindex(each.shape[1:])
        ]
        location = np.array([stats.kstest(of, "uniform").pvalue for _, of in rows])
        dispersion = np.array([stats.kstest(np.abs(2 * of - 1), "uniform").pvalue for _, of in rows])
        return pd.DataFrame(
            {
                "quantity": [name for name, _ in rows],
                "mean_quantile": [of.mean() for _, of in rows],
                "location": location,
                "dispersion": dispersion,
                "adjusted": np.minimum(1.0, 2 * len(rows) * np.minimum(location, dispersion)),
            }
        )

    def to_datatree(self) -> "DataTree":
        """Quantiles as the group ``prior_sbc`` of a DataTree, which ``arviz_plots.plot_ecdf_pit`` draws."""
        import arviz as az

        tree: DataTree = az.from_dict({"prior_sbc": {name: each[None] for name, each in self.quantiles.items()}})
        return tree


def calibration_ranks(
    simulate: "Callable[[np.random.Generator], tuple[Values, Any]]",
    posterior: "Callable[[Any, np.random.Generator], PosteriorDraws | Values]",
    simulations: int = 100,
    quantities: "Mapping[str, Quantity] | None" = None,
    *,
    progress: Progress = iter,
    rng: "np.random.Generator | int",
) -> CalibrationRanks:
    """Ranks of true values among posterior draws, over simulated truths and data (simulation-based calibration).

    Each simulation draws the unknown quantities from the prior and data given them, and samples the posterior of the data. If
    prior, likelihood and sampler are those of the simulator, the rank of each true value among the draws is uniform.

    Parameters
    ----------
    simulate : callable
        ``simulate(rng) -> (truth, data)``. ``truth`` maps names to numbers or arrays; it is drawn from the prior. ``data`` is
        anything. Write it without the program: a second statement of the same law is what finds errors in the program.
    posterior : callable
        ``posterior(data, rng) -> draws``: for each name of the truth, independent posterior draws of shape ``(draws, ...)``. It
        returns `PosteriorDraws` or a mapping. `ProgramPosterior` makes one of a PyMC program.
    simulations : int
        Number of simulations. With 100, one entry with half or twice the right standard deviation is found at the
        level .001; more entries share the level.
    quantities : mapping of str to callable, optional
        Test quantities beside the variables: ``quantity(values, data) -> float``, with the values of all variables in the truth, or
        in one draw, and of no other quantity. Those that read the data find errors that no single variable shows, as the
        log-likelihood.
    progress : callable
        Function of the numbers of the simulations that returns an iterable of the same length, as ``rich.progress.track``. One item
        is taken before each simulation.
    rng : numpy.random.Generator or int
        Random generator, or an integer seed that makes one.

    Returns
    -------
    CalibrationRanks
        ``ranks.uniformity()["adjusted"].min()`` is a p-value of "the program is calibrated";
        ``arviz_plots.plot_ecdf_pit(ranks.to_datatree())`` is the picture.

    Notes
    -----
    The test is exact for independent draws. Draws of a Markov chain are thinned until their autocorrelation is small; otherwise
    the ranks are too often near 0 and 1, which looks like a posterior that is too narrow. That all ranks are uniform does not
    say that the posterior is right: a posterior equal to the prior is calibrated too, except under quantities that read the data.

    References
    ----------
    S. Talts et al., "Validating Bayesian Inference Algorithms with Simulation-Based Calibration", arXiv:1804.06788 (2018).
    M. Modrák et al., "Simulation-Based Calibration Checking for Bayesian Computation: The Choice of Test Quantities Shapes
    Sensitivity", Bayesian Analysis 20 (2025).

    Examples
    --------
    The probability of success of five trials, with a uniform prior; first with its posterior, then with a prior that is too
    narrow:

    >>> def simulate(rng):
    ...     probability = rng.random()
    ...     return {"probability": probability}, rng.binomial(5, probability)
    >>> def posterior(a):
    ...     return lambda successes, rng: {"probability": rng.beta(a + successes, a + 5 - successes, 99)}
    >>> ranks = calibration_ranks(simulate, posterior(1), simulations=200, rng=1)
    >>> bool(ranks.uniformity()["adjusted"].min() > 0.05)
    True
    >>> ranks = calibration_ranks(simulate, posterior(5), simulations=200, rng=1)
    >>> bool(ranks.uniformity()["adjusted"].min() < 0.001)
    True
    """
    owner = "calibration_ranks"
    check_whole(owner, "simulations", simulations, "simulations")
    check_progress(owner, progress, "the numbers of the simulations")
    generator, chosen = as_generator(owner, rng), dict(quantities or {})
    quantiles: dict[str, list[FloatArray]] = {}
    divergences, numbers = [], range(int(simulations))
    for number, _ in zip(numbers, progress(numbers), strict=True):
        given, data = simulate(generator)
        truth = {name: _finite(f"the truth of {name!r}", value) for name, value in given.items()}
        if shared := truth.keys() & chosen.keys():
            raise ValueError(
                f"{owner}: {min(shared)!r} is a variable of the truth and a quantity. Rename the quantity."
            )
        answer = posterior(data, generator)
        values, divergent = answer if isinstance(answer, PosteriorDraws) else (answer, 0)
        draws = {name: _draws(name, values, value) for name, value in truth.items()}
        ranked = {name: (draws[name], value) for name, value in truth.items()}
        for name, function in chosen.items():
            each = ({key: of[d] for key, of in draws.items()} for d in range(min(map(len, draws.values()))))
            of_draws = [function(one, data) for one in each]
            what = f"the quantity {name!r}"
            ranked[name] = _finite(what, of_draws), _finite(what, function(dict(truth), data))
        for name, (drawn, value) in ranked.items():
            if number and (name not in quantiles or quantiles[name][0].shape != value.shape):
                raise ValueError(
                    f"{owner}: the truth of simulation {number} has {name!r} of shape {value.shape}, and that of simulation 0 has "
                    "not; all truths have the same names and shapes."
                )
            quantiles.setdefault(name, []).append(_quantile(value, drawn, generator))
        divergences.append(int(divergent))
    return CalibrationRanks({name: np.array(each) for name, each in quantiles.items()}, np.array(divergences))


def _draws(name: str, values: Values, truth: FloatArray) -> FloatArray:
    """Draws of a variable of the truth, checked."""
    if name not in values:
        raise ValueError(
            f"calibration_ranks: the posterior has no draws of {name!r} (it has {', '.join(map(str, values)) or 'none'}); it needs "
            "those of every variable in the truth."
        )
    draws = _finite(f"draws of {name!r}", values[name])
    if draws.shape[1:] != truth.shape or not draws.ndim or not len(draws):
        raise ValueError(
            f"calibration_ranks: draws of {name!r} have shape {draws.shape}, and the truth {truth.shape}; the draws have one axis "
            "more, the first, of at least one draw."
        )
    return draws


def _finite(name: str, value: Any) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"calibration_ranks: a number is not finite in {name}. Check the simulator and the program.")
    return array


def _quantile(truth: FloatArray, draws: FloatArray, rng: np.random.Generator) -> FloatArray:
    smaller, equal = (draws < truth).sum(axis=0), (draws == truth).sum(axis=0)
    return np.asarray((smaller + rng.random(truth.shape) * (equal + 1)) / (len(draws) + 1))


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
        check_kind(owner, "build", self.build, Callable, "is a function from data to a pymc.Model")
        names = () if isinstance(self.variables, str) else tuple(self.variables)
        if not names:
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
        model = built_model("ProgramPosterior", self.build, (data,), "the data")
        missing = [name for name in self.variables if name not in model.named_vars]
        if missing:
            raise ValueError(
                f"ProgramPosterior: the model has no variable {missing[0]!r} (it has {', '.join(model.named_vars)})."
            )
        if not model.free_RVs:
            raise ValueError("ProgramPosterior: the model has no free variable; there is nothing to draw.")
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
