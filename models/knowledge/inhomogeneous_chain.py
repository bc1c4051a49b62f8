"""Markov chains whose transition probabilities depend on the time step."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.markov_chain import (
    MarkovChain,
    chain_of_counts,
    chain_tuple,
    check_alike,
    check_pseudo_count,
    check_release_number,
)
from foreknow.models.knowledge.posterior_chains import chains_along
from foreknow.models.knowledge.posterior_variable import posterior_dataset
from foreknow.models.knowledge.sequences import GapRule, Sequences, sequences_for_order
from foreknow.models.settings import MAX_FLOAT, check_kind, is_number, shown
from foreknow.models.tables.history import History


@equal_by_fields
@dataclass(frozen=True, eq=False)
class InhomogeneousChain:
    """Markov chain with its own transition probabilities for each time step: sequential knowledge (`Transitions`).

    Parameters
    ----------
    chains : tuple of MarkovChain
        ``chains[r - 1]`` is the distribution of the values at release r, given earlier values; the first release is number 0.
    pooled : MarkovChain
        Chain of all later steps.

    Raises
    ------
    TypeError
        If a chain is not a `MarkovChain`.
    ValueError
        If the chains differ in their order or in their number of values.

    Notes
    -----
    Steps are matched with releases by number, not by time: release r of an attack, or of `publish`, corresponds to view r of
    the corpus.

    Examples
    --------
    Two respondents keep their value in the first step and change it in the second:

    >>> chain = InhomogeneousChain.fit([[0, 0, 1], [1, 1, 0]], shrinkage=0.0)
    >>> chain.at(1).probabilities.tolist(), chain.at(2).probabilities.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    >>> chain.pooled.probabilities.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    chains: tuple[MarkovChain, ...]
    pooled: MarkovChain

    def __post_init__(self) -> None:
        check_kind("InhomogeneousChain", "pooled", self.pooled, MarkovChain, "is a MarkovChain")
        object.__setattr__(self, "chains", chain_tuple("InhomogeneousChain", self.chains))
        check_alike((self.pooled, *self.chains))

    @classmethod
    def fit(
        cls,
        sequences: "History | Iterable[Sequence[int]]",
        order: int = 1,
        pseudo_count: float = 0.0,
        shrinkage: float = 1.0,
        values: int | None = None,
        gaps: GapRule = "ignore",
    ) -> "InhomogeneousChain":
        """Estimate transition probabilities for each step of a corpus, shrunk towards those of the whole corpus.

        A row of a step is ``(counts + shrinkage * pooled row) / (sum of counts + shrinkage)``, the posterior mean under a
        Dirichlet prior with the pooled row as its mean.

        Parameters
        ----------
        sequences : History, or iterable of sequences of int
            As for `MarkovChain.fit`, with the same start and the same distance between visits for all respondents.
        order, pseudo_count
            As for `MarkovChain.fit`, which computes the pooled chain.
        shrinkage : float
            Number of observations that the pooled row counts as. With 0, a row has the frequencies of the step, and is the pooled
            row where the step has no observation. Steps with fewer respondents need a larger number.
        values, gaps
            As for `MarkovChain.fit`.

        Raises
        ------
        ValueError
            If the shrinkage is negative or not finite, or as `MarkovChain.fit`.

        Notes
        -----
        Cost: O(t records order + t m^(order + 1)) for t views.
        """
        if not is_number(shrinkage, 0, MAX_FLOAT):
            raise ValueError(
                f"shrinkage is {shown(shrinkage)}; it counts observations of the pooled row, so it must be 0 or more."
            )
        check_pseudo_count(pseudo_count)
        counted = sequences_for_order(sequences, order, values, gaps)
        pooled = chain_of_counts(counted, order, pseudo_count)
        steps = range(1, int(counted.visit.max()) + 1)
        return cls(tuple(_shrunk(counted, step, pooled, shrinkage) for step in steps), pooled)

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        variable: str = "transitions",
        pooled: str | None = None,
        values: Sequence[Hashable] | None = None,
    ) -> "InhomogeneousChain":
        """Posterior mean of the transitions of each step of a sampled PyMC model.

        Parameters
        ----------
        tree : DataTree or Dataset
            With the group ``posterior``, as `pymc.sample` returns it.
        variable : str
            With the dimensions chain and draw, then ``step``, then those of `MarkovChain.from_posterior`. The first step leads to
            the second release.
        pooled : str, optional
            Variable of the chain of all later steps, with the dimensions of `MarkovChain.from_posterior`. By default these have
            the mean of the steps.
        values : sequence, optional
            Sensitive domain, as for `MarkovChain.from_posterior`.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if numbers of the steps do not increase.

        Warns
        -----
        UserWarning
            If draws diverged.

        Examples
        --------
        >>> import arviz
        >>> steps = np.array([[[[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]]]])
        >>> dims = {"transitions": ["step", "last", "value"]}
        >>> chain = InhomogeneousChain.from_posterior(arviz.from_dict({"posterior": {"transitions": steps}}, dims=dims))
        >>> chain.at(1).probabilities.tolist(), chain.at(3).probabilities.round(3).tolist()
        ([[0.8, 0.2], [0.5, 0.5]], [[0.7, 0.3], [0.3, 0.7]])
        """
        owner = "InhomogeneousChain.from_posterior"
        chains = chains_along(owner, tree, "step", variable, values)
        if pooled is None:
            later = MarkovChain(chains[0].order, np.mean([chain.probabilities for chain in chains], axis=0))
        else:
            later = MarkovChain.from_posterior(posterior_dataset(owner, tree), pooled, values)
        return cls(chains, later)

    def at(self, release: int) -> MarkovChain:
        """Chain of the step that ends at a release; the pooled chain for the first release and after the last step."""
        check_release_number("InhomogeneousChain", release)
        return self.chains[int(release) - 1] if 1 <= release <= len(self.chains) else self.pooled

    def truncate(self, steps: int) -> "InhomogeneousChain":
        """Chains of order at most ``steps``, as `MarkovChain.truncate`."""
        return InhomogeneousChain(tuple(chain.truncate(steps) for chain in self.chains), self.pooled.truncate(steps))


def _shrunk(counted: Sequences, step: int, pooled: MarkovChain, shrinkage: float) -> MarkovChain:
    """Chain of one step: its counts, shrunk towards the pooled rows."""
    tables: list[FloatArray] = []
    for length, row in enumerate(pooled.tables, start=1):
        counts = counted.followed(length, step)
        totals = counts.sum(axis=-1, keepdims=True) + shrinkage
        tables.append(np.divide(counts + shrinkage * row, totals, out=row.copy(), where=totals > 0))
    return MarkovChain(pooled.order, tables[-1], tuple(tables[:-1]))
