"""Rows of Dirichlet concentrations: checks, means, standard deviations, credible intervals and draws."""

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.problem import probability_rows
from foreknow.models.settings import MAX_FLOAT, as_floats, is_number, shown

MIN_RELATIVE_VARIANCE = 1e-12
"""Total variance of the draws of a row, relative to the largest of its mean, below which they are equal but for rounding."""


def row_means(concentrations: FloatArray) -> FloatArray:
    """Mean of each row, of the shape of the concentrations."""
    return np.asarray(concentrations / concentrations.sum(axis=-1, keepdims=True))


def row_standard_deviations(concentrations: FloatArray) -> FloatArray:
    """Standard deviation of each probability, of the shape of the concentrations."""
    mean = row_means(concentrations)
    return np.asarray(np.sqrt(mean * (1 - mean) / (concentrations.sum(axis=-1, keepdims=True) + 1)))


def row_intervals(concentrations: FloatArray, mass: float) -> tuple[FloatArray, FloatArray]:
    """Ends of the central credible interval of each probability; raises ValueError unless the mass is between 0 and 1."""
    if not (is_number(mass, 0, 1) and 0 < mass < 1):
        raise ValueError(f"the mass of the interval is {shown(mass)}; it is a probability between 0 and 1, as 0.95.")
    from scipy.stats import beta  # imported here, as the import is slow and only intervals need it

    others = concentrations.sum(axis=-1, keepdims=True) - concentrations
    only = others <= 0  # a domain of one value
    tails = (beta.ppf(tail, concentrations, np.where(only, 1.0, others)) for tail in ((1 - mass) / 2, (1 + mass) / 2))
    low, high = (np.where(only, 1.0, end) for end in tails)
    return low, high


def drawn_rows(concentrations: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw of every row, as gamma variates divided by their sum.

    Logarithms of the variates are drawn, since variates of small concentrations are below the smallest float. If G has the
    distribution ``Gamma(a + 1)`` and E the standard exponential distribution, ``G exp(-E / a)`` has ``Gamma(a)``.
    """
    logs = (
        np.log(rng.standard_gamma(concentrations + 1)) - rng.standard_exponential(concentrations.shape) / concentrations
    )
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def matched_rows(owner: str, draws: FloatArray) -> FloatArray:
    """Concentrations of the Dirichlet rows with the mean and the total variance of some draws: of the shape of one draw.

    A row with the mean p has ``a = s p`` with ``s + 1 = sum_v p_v (1 - p_v) / sum_v var_v``. Draws of a Dirichlet distribution
    give its concentrations as their number grows.

    Raises
    ------
    ValueError
        If a row is no distribution, or its draws do not vary, or vary more than those of any Dirichlet distribution.
    """
    mean = draws.mean(axis=0)
    rows = probability_rows(mean.reshape(-1, mean.shape[-1]), "the mean of row").reshape(mean.shape)
    spread = draws.var(axis=0, ddof=1).sum(axis=-1) if len(draws) > 1 else np.zeros(mean.shape[:-1])
    wide = (rows * (1 - rows)).sum(axis=-1)
    wrong = np.asarray(~((spread > MIN_RELATIVE_VARIANCE * wide) & (spread < wide)))
    if wrong.any():
        row = tuple(int(place) for place in np.unravel_index(int(wrong.argmax()), wrong.shape))
        raise ValueError(
            f"{owner}: the {len(draws)} draws of row {row} have a total variance of {spread[row]:.3g}; those of a Dirichlet row of "
            f"this mean are between 0 and {wide[row]:.3g}. Give all draws of the posterior; for one draw, take MarkovChain or "
            "ClassFrequencies."
        )
    return np.asarray(rows * (wide / spread - 1)[..., None])


def check_concentration(concentration: float) -> None:
    """Raise ValueError unless a concentration is positive and finite."""
    if not (is_number(concentration, 0, MAX_FLOAT) and concentration > 0):
        raise ValueError(
            f"concentration is {shown(concentration)}; that of a Dirichlet distribution is a positive number: 1 for a uniform one, "
            "less where rows are expected to be sharp."
        )


def positive_concentrations(concentrations: FloatArray, row: str) -> FloatArray:
    """Concentrations as floats; raises ValueError, naming the row, unless all are positive and finite."""
    concentrations = as_floats("Dirichlet", "concentrations", concentrations, "is a float array of positive numbers")
    if not concentrations.ndim:
        raise ValueError(
            f"Dirichlet: concentrations is {concentrations:g}; it is an array, with one number for each value."
        )
    wrong = ~(np.isfinite(concentrations) & (concentrations > 0))
    if wrong.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise ValueError(
            f"the concentration of value {where[-1]} in {row} {where[:-1]} is {concentrations[where]:g}; a Dirichlet "
            "distribution has positive ones. Add a concentration to the counts."
        )
    return concentrations
