"""Dirichlet posterior over the rows of class frequencies."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.class_frequencies import (
    ClassFrequencies,
    class_counts,
    class_shape,
    with_classes,
)
from foreknow.models.knowledge.dirichlet_rows import (
    check_concentration,
    drawn_rows,
    matched_rows,
    positive_concentrations,
    row_intervals,
    row_means,
    row_standard_deviations,
)
from foreknow.models.knowledge.posterior_variable import VALUE, posterior_variable
from foreknow.models.settings import as_generator
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People


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
        check_concentration(concentration)
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

        Parameters
        ----------
        tree, cuts, variable, values
            As for `ClassFrequencies.from_posterior`.

        Raises
        ------
        TypeError, ValueError
            As `ClassFrequencies.from_posterior`, or if the draws of a class do not vary.

        Warns
        -----
        UserWarning
            If draws diverged.

        Notes
        -----
        A sampled posterior need not be Dirichlet. Each row has the mean and the total variance of its draws; correlations between
        rows and other moments are lost. `ClassFrequencies.from_posterior` and its draws lose none.
        """
        owner = "DirichletFrequencies.from_posterior"
        shape = class_shape(cuts)
        draws = posterior_variable(owner, tree, variable, [("class", VALUE), (*map(str, cuts), VALUE)], values).draws
        draws = np.stack([with_classes(owner, table, shape, 1) for table in draws])
        return cls(cuts, matched_rows(owner, draws))

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
