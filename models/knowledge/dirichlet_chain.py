"""Dirichlet posterior over the rows of transition tables."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.dirichlet_rows import (
    check_concentration,
    drawn_rows,
    matched_rows,
    positive_concentrations,
    row_intervals,
    row_means,
    row_standard_deviations,
)
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.posterior_variable import chain_dims, posterior_variable, variable_dims
from foreknow.models.knowledge.sequences import GapRule, check_chain_order, sequences_for_order
from foreknow.models.settings import as_generator, check_kind
from foreknow.models.tables.history import History


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
        check_concentration(concentration)
        counted = sequences_for_order(sequences, order, values, gaps)
        return cls(tuple(counted.followed(length) + concentration for length in range(1, int(order) + 1)))

    @classmethod
    def from_posterior(
        cls, tree: Any, variable: str = "transitions", values: Sequence[Hashable] | None = None
    ) -> "DirichletChain":
        """Dirichlet rows with the mean and the variance of the draws of a sampled PyMC model.

        Parameters
        ----------
        tree, variable, values
            As for `MarkovChain.from_posterior`.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if the draws of a row do not vary.

        Warns
        -----
        UserWarning
            If draws diverged.

        Notes
        -----
        A sampled posterior need not be Dirichlet. Each row has the mean and the total variance of its draws; correlations between
        rows and other moments are lost. `MarkovChain.from_posterior` and its draws lose none. Concentrations are needed where an
        attack continues to learn, as `DataAugmentationAttack`. Tables for shorter sequences are those of the draws averaged over
        the oldest value.
        """
        owner = "DirichletChain.from_posterior"
        orders = [chain_dims(variable_dims(owner, tree, variable))]
        draws = posterior_variable(owner, tree, variable, orders, values).draws
        tables = [matched_rows(owner, draws)]
        while draws.ndim > 3:
            draws = draws.mean(axis=1)
            tables.insert(0, matched_rows(owner, draws))
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
        check_chain_order(steps)
        return DirichletChain(self.concentrations[: int(steps)])

    @property
    def mean(self) -> MarkovChain:
        """Posterior mean: equal to `MarkovChain.fit` with the concentration as pseudo-count."""
        return _chain([row_means(table) for table in self.concentrations])

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
        return _chain([drawn_rows(table, draws) for table in self.concentrations])


def _chain(tables: list[FloatArray]) -> MarkovChain:
    return MarkovChain(len(tables), tables[-1], tuple(tables[:-1]))
