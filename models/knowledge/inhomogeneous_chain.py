"""Markov chains whose transition probabilities depend on the time step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.knowledge.markov_chain import MarkovChain, check_alike
from foreknow.models.knowledge.sequences import GapRule, Sequences
from foreknow.models.tables.history import History


@dataclass(frozen=True, eq=False)
class InhomogeneousChain:
    """A Markov chain with transition probabilities of its own for each time step: sequential knowledge (`Transitions`).

    Parameters
    ----------
    chains : tuple of MarkovChain
        ``chains[r - 1]`` is the distribution of the values at release r, given those before it; the first release is
        number 0.
    pooled : MarkovChain
        The chain of all later steps.

    Raises
    ------
    ValueError
        If the chains differ in their order or their values.

    Notes
    -----
    Steps are matched with releases by their number, not by their time: release r of an attack, or of `publish`, must be view
    r of the corpus.

    Examples
    --------
    Everybody keeps the value in the first step and changes it in the second:

    >>> chain = InhomogeneousChain.fit([[0, 0, 1], [1, 1, 0]], shrinkage=0.0)
    >>> chain.at(1).probabilities.tolist(), chain.at(2).probabilities.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    >>> chain.pooled.probabilities.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    chains: tuple[MarkovChain, ...]
    pooled: MarkovChain

    def __post_init__(self) -> None:
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
        """Mine a corpus step by step, each step's rows shrunk to those of the whole corpus.

        A row of a step is ``(counts + shrinkage * pooled row) / (sum of counts + shrinkage)``, the posterior mean under a
        Dirichlet prior around the pooled row.

        Parameters
        ----------
        sequences : History, or iterable of sequences of int
            As for `MarkovChain.fit`, with the same start and the same distance between visits for everybody.
        order, pseudo_count, values, gaps
            As for `MarkovChain.fit`, which gives the pooled chain.
        shrinkage : float
            The number of observations that the pooled row is worth. With 0, a row is the step's own frequencies, and the
            pooled row where the step has none. The fewer people each step has, the more is needed.

        Raises
        ------
        ValueError
            If the shrinkage is negative, or as `MarkovChain.fit` does.

        Notes
        -----
        Cost: O(t records order + t m^(order + 1)) for t views.
        """
        if not (np.isfinite(shrinkage) and shrinkage >= 0):
            raise ValueError(
                f"shrinkage is {shrinkage}; it counts observations of the pooled row, so it must be 0 or more."
            )
        source = sequences if isinstance(sequences, History) else [list(sequence) for sequence in sequences]
        pooled = MarkovChain.fit(source, order, pseudo_count, values=values, gaps=gaps)
        counted = Sequences.of(source, values, gaps)
        steps = range(1, int(counted.visit.max()) + 1)
        return cls(tuple(_shrunk(counted, step, pooled, shrinkage) for step in steps), pooled)

    def at(self, release: int) -> MarkovChain:
        """The chain of the step that ends at that release; the pooled one for the first release and beyond the last step."""
        return self.chains[release - 1] if 1 <= release <= len(self.chains) else self.pooled

    def truncate(self, steps: int) -> "InhomogeneousChain":
        """The chains of order at most ``steps``, as `MarkovChain.truncate`."""
        return InhomogeneousChain(tuple(chain.truncate(steps) for chain in self.chains), self.pooled.truncate(steps))


def _shrunk(counted: Sequences, step: int, pooled: MarkovChain, shrinkage: float) -> MarkovChain:
    """The chain of one step."""
    tables: list[FloatArray] = []
    for length, row in enumerate(pooled.tables, start=1):
        counts = counted.followed(length, step)
        totals = counts.sum(axis=-1, keepdims=True) + shrinkage
        tables.append(np.divide(counts + shrinkage * row, totals, out=row.copy(), where=totals > 0))
    return MarkovChain(pooled.order, tables[-1], tuple(tables[:-1]))
