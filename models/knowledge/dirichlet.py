"""Dirichlet posteriors over the rows of class frequencies and of transition tables."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.class_frequencies import ClassFrequencies, class_counts, class_shape, with_classes
from foreknow.models.knowledge.markov_chain import MarkovChain, chain_of_tables
from foreknow.models.knowledge.posterior_variable import TABLE, VALUE, posterior_variable
from foreknow.models.knowledge.sequences import GapRule, sequences_for_order
from foreknow.models.problem import probability_rows
from foreknow.models.settings import (
    as_floats,
    as_generator,
    check_kind,
    check_positive,
    check_range,
    check_shape,
    check_whole,
)
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People

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
    check_range("credible intervals", "mass", mass, 0, 1, "a probability, as 0.95", excluded=(0, 1))
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


def matched_rows(draws: FloatArray) -> FloatArray:
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
            f"the {len(draws)} draws of row {row} have a total variance of {spread[row]:.3g}; those of a Dirichlet row of "
            f"this mean are between 0 and {wide[row]:.3g}. Give all draws of the posterior; for one draw, take MarkovChain or "
            "ClassFrequencies."
        )
    return np.asarray(rows * (wide / spread - 1)[..., None])


def check_concentration(owner: str, concentration: float) -> None:
    """Raise ValueError unless a concentration is positive and finite."""
    what = "1 for a uniform distribution, less where rows are expected to be sharp"
    check_positive(owner, "concentration", concentration, what)


def positive_concentrations(concentrations: FloatArray, row: str) -> FloatArray:
    """Concentrations as floats; raises ValueError, naming the row, unless all are positive and finite."""
    takes = "is a float array of positive numbers"
    concentrations = np.atleast_1d(as_floats("Dirichlet", "concentrations", concentrations, takes))
    wrong = ~(np.isfinite(concentrations) & (concentrations > 0))
    if wrong.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise ValueError(
            f"the concentration of value {where[-1]} in {row} {where[:-1]} is {concentrations[where]:g}; a Dirichlet "
            "distribution has positive ones. Add a concentration to the counts."
        )
    return concentrations


def row_concentrations(owner: str, name: str, concentration: Any, shape: tuple[int, ...]) -> FloatArray:
    """Concentration of each number of some rows of a shape, from one for all of them or one for each."""
    if np.ndim(concentration) == 0:
        check_positive(owner, name, concentration, "1 for uniform rows")
        return np.full(shape, float(concentration))
    concentrations = positive_concentrations(concentration, "row")
    check_shape(f"{owner}: {name}", concentrations, shape, "or is one number for all")
    return concentrations


@equal_by_fields
@dataclass(frozen=True, eq=False)
class DirichletFrequencies:
    """Dirichlet posterior of the value frequencies in every class of a corpus.

    The frequencies of each class are ``Dirichlet(a)``, independent of the other classes, where a are the concentration of the
    prior plus the counts. It is a `Prior`, and can replace `ClassFrequencies` anywhere.

    Parameters
    ----------
    cuts : mapping of str to tuple of float
        Cuts of each attribute into classes, as in `ClassFrequencies`.
    concentrations : float array, shape (c_1, ..., c_a, m)
        Concentrations a of every class, all positive.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If the shape does not fit the cuts, or a concentration is not a positive number.

    Notes
    -----
    As a prior it returns the posterior mean, which is the exact predictive distribution of the value of one respondent. For
    several respondents of one class it is an approximation, since they share the same unknown frequencies. `release_model`
    has their joint distribution. For the effect of the uncertainty of the frequencies, give an adversary several draws of
    `sample`, one at a time.

    Examples
    --------
    Four respondents in one class, of whom three have flu:

    >>> import numpy as np
    >>> knowledge = DirichletFrequencies({}, np.array([1.0 + 3, 1.0 + 1]))
    >>> knowledge.mean.probabilities.round(3)
    array([0.667, 0.333])
    >>> knowledge.standard_deviation.round(3)
    array([0.178, 0.178])
    >>> [end.round(3).tolist() for end in knowledge.interval(mass=0.5)]
    [[0.546, 0.194], [0.806, 0.454]]
    """

    cuts: Mapping[str, tuple[float, ...]]
    concentrations: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "concentrations", positive_concentrations(self.concentrations, "class"))
        _ = self.mean  # raises if the shape does not fit the cuts

    @classmethod
    def fit(
        cls, history: History, classes: Mapping[str, int | None], concentration: float = 1.0
    ) -> "DirichletFrequencies":
        """Count every record of a history in its class.

        Parameters
        ----------
        history : History
            Corpus with true values.
        classes : mapping of str to int or None
            Attributes that define classes, as for `ClassFrequencies.fit`.
        concentration : float
            Concentration of the symmetric Dirichlet prior; 1 is uniform over all frequencies.

        Raises
        ------
        TypeError, ValueError
            If the concentration is not a positive number, or as `ClassFrequencies.fit`.
        """
        check_concentration("DirichletFrequencies.fit", concentration)
        cuts, counts = class_counts("DirichletFrequencies.fit", history, classes)
        return cls(cuts, counts + concentration)

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        cuts: Mapping[str, tuple[float, ...]],
        variable: str = "frequencies",
        values: Sequence[Hashable] | None = None,
    ) -> "DirichletFrequencies":
        """Dirichlet rows with the mean and the variance of the draws of a sampled PyMC model.

        The parameters, errors and warnings are those of `ClassFrequencies.from_posterior`. Draws of a class that do not vary are an
        error.

        Notes
        -----
        A sampled posterior need not be Dirichlet. Each row has the mean and the total variance of its draws; correlations between
        rows and other moments are lost. `ClassFrequencies.from_posterior` and its draws lose none.
        """
        shape = class_shape(cuts)
        draws = posterior_variable(tree, variable, [("class", VALUE), (*map(str, cuts), VALUE)], values).draws
        return cls(cuts, matched_rows(np.stack([with_classes(table, shape, 1) for table in draws])))

    def __call__(self, people: People) -> FloatArray:
        """Posterior mean of the class of each respondent: float array, shape ``(n, m)``."""
        return self.mean(people)

    @property
    def mean(self) -> ClassFrequencies:
        """Posterior mean, ``a_s / sum_v a_v``: equal to `ClassFrequencies.fit` with the concentration as pseudo-count."""
        return ClassFrequencies(self.cuts, row_means(self.concentrations))

    @property
    def standard_deviation(self) -> FloatArray:
        """Posterior standard deviation of every frequency: float array, shape ``(c_1, ..., c_a, m)``."""
        return row_standard_deviations(self.concentrations)

    def interval(self, mass: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each frequency: two float arrays, shape ``(c_1, ..., c_a, m)``.

        The interval has probability ``mass`` and equal tails under the marginal ``Beta(a_s, sum_v a_v - a_s)``. It is not a joint
        region for the frequencies of a class.

        Raises
        ------
        ValueError
            If the mass does not lie between 0 and 1.
        """
        return row_intervals(self.concentrations, mass)

    def sample(self, *, rng: "np.random.Generator | int") -> ClassFrequencies:
        """One draw of the frequencies from the posterior, independent for each class."""
        draws = as_generator("DirichletFrequencies.sample", rng)
        return ClassFrequencies(self.cuts, drawn_rows(self.concentrations, draws))


@equal_by_fields
@dataclass(frozen=True, eq=False)
class DirichletChain:
    """Dirichlet posterior of the transition probabilities between the values of a corpus.

    The distribution of the next value after each sequence is ``Dirichlet(a)``, independent of the others, where a are the
    concentration of the prior plus the counts. It is sequential knowledge (`Transitions`), and can replace a `MarkovChain`
    anywhere.

    Parameters
    ----------
    concentrations : tuple of float array, of shapes (m, m), ..., (m,) * (order + 1)
        Concentrations a after sequences of 1, 2, ..., order values, oldest first; all positive.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If there is no table, a shape is wrong, or a concentration is not a positive number.

    Notes
    -----
    An adversary uses the posterior mean, which is the exact predictive distribution of one step. Over several steps, and for
    several respondents, it is an approximation, since all of them share the same unknown rows. `release_model` has the joint
    distribution. For the effect of the uncertainty of the rows, give an adversary several draws of `sample`, one at a time.

    The tables for shorter sequences, used for respondents of whom fewer values are known, are separate posteriors from the
    same corpus; no draw or row of one is derived from another.

    Examples
    --------
    >>> knowledge = DirichletChain.fit([[0, 0, 1], [0, 1, 1]])
    >>> knowledge.concentrations[0]
    array([[2., 3.],
           [1., 2.]])
    >>> knowledge.at(0).probabilities.round(2)
    array([[0.4 , 0.6 ],
           [0.33, 0.67]])
    """

    concentrations: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        takes = "is a tuple of arrays, for sequences of 1, 2, ..., order values, as (array,)"
        check_kind("DirichletChain", "concentrations", self.concentrations, (tuple, list), takes)
        tables = tuple(positive_concentrations(table, "the sequence") for table in self.concentrations)
        m = tables[-1].shape[-1] if tables and tables[-1].ndim else 0
        shapes = [table.shape for table in tables]
        if not m or shapes != [(m,) * (length + 1) for length in range(1, len(tables) + 1)]:
            raise ValueError(
                f"a Dirichlet chain needs a table for sequences of 1, 2, ..., order values, of shapes (m, m), (m, m, m), ...; "
                f"got {shapes}."
            )
        object.__setattr__(self, "concentrations", tables)

    @classmethod
    def fit(
        cls,
        sequences: "History | Iterable[Sequence[int]]",
        order: int = 1,
        concentration: float = 1.0,
        values: int | None = None,
        gaps: GapRule = "ignore",
    ) -> "DirichletChain":
        """Count each value after each sequence of values of a corpus.

        Parameters
        ----------
        sequences : History, or iterable of sequences of int
            Values of each respondent in the order of time, as positions in the sensitive domain.
        order : int
            Length of the longest sequence counted.
        concentration : float
            Concentration of the symmetric Dirichlet prior of every row; 1 is uniform.
        values : int, optional
            Size m of the sensitive domain. By default that of the history, or the largest value plus one.
        gaps : {"ignore", "power"}
            As for `MarkovChain.fit`. `markov_model` also compares values on both sides of a gap.

        Raises
        ------
        TypeError, ValueError
            If the concentration is not a positive number, or as `MarkovChain.fit`.

        Notes
        -----
        Cost: O(records * order + m^(order + 1)).
        """
        check_concentration("DirichletChain.fit", concentration)
        counted = sequences_for_order(sequences, order, values, gaps)
        return cls(tuple(counted.followed(length) + concentration for length in range(1, int(order) + 1)))

    @classmethod
    def from_posterior(
        cls, tree: Any, variable: str = "transitions", values: Sequence[Hashable] | None = None
    ) -> "DirichletChain":
        """Dirichlet rows with the mean and the variance of the draws of a sampled PyMC model.

        The parameters, errors and warnings are those of `MarkovChain.from_posterior`. Draws of a row that do not vary are an error.

        Notes
        -----
        A sampled posterior need not be Dirichlet. Each row has the mean and the total variance of its draws; correlations between
        rows and other moments are lost. `MarkovChain.from_posterior` and its draws lose none. Concentrations are needed where an
        attack continues to learn, as `DataAugmentationAttack`. Tables for shorter sequences are those of the draws averaged over
        the oldest value.
        """
        draws = posterior_variable(tree, variable, [TABLE], values).draws
        tables = [matched_rows(draws)]
        while draws.ndim > 3:
            draws = draws.mean(axis=1)
            tables.insert(0, matched_rows(draws))
        return cls(tuple(tables))

    @property
    def order(self) -> int:
        """Number of past values that the next value depends on."""
        return len(self.concentrations)

    @property
    def values(self) -> int:
        """Size m of the sensitive domain."""
        return int(self.concentrations[0].shape[-1])

    def at(self, release: int) -> MarkovChain:  # noqa: ARG002 - the interface of `Transitions`
        """The posterior mean, for every release."""
        return self.mean

    def truncate(self, steps: int) -> "DirichletChain":
        """Posterior of a chain of order at most ``steps``, as `MarkovChain.truncate`."""
        check_whole("DirichletChain.truncate", "steps", steps, "past values")
        return DirichletChain(self.concentrations[: int(steps)])

    @property
    def mean(self) -> MarkovChain:
        """Posterior mean: equal to `MarkovChain.fit` with the concentration as pseudo-count."""
        return chain_of_tables([row_means(table) for table in self.concentrations])

    @property
    def standard_deviation(self) -> FloatArray:
        """Posterior standard deviation of every transition of the longest table: float array, shape ``(m,) * (order + 1)``."""
        return row_standard_deviations(self.concentrations[-1])

    def interval(self, mass: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each transition of the longest table: two float arrays, shape ``(m,) * (order + 1)``.

        The interval has probability ``mass`` and equal tails under the marginal ``Beta(a_s, sum_v a_v - a_s)``. It is not a joint
        region for a row. Intervals for shorter sequences are ``truncate(steps).interval(mass)``.

        Raises
        ------
        ValueError
            If the mass does not lie between 0 and 1.
        """
        return row_intervals(self.concentrations[-1], mass)

    def sample(self, *, rng: "np.random.Generator | int") -> MarkovChain:
        """One draw of a chain from the posterior, independent for each row of each table."""
        draws = as_generator("DirichletChain.sample", rng)
        return chain_of_tables([drawn_rows(table, draws) for table in self.concentrations])
