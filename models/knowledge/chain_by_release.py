"""Markov chains that differ by release."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
from foreknow.models.knowledge.posterior_variable import (
    chain_dims,
    posterior_dataset,
    posterior_variable,
    variable_dims,
)
from foreknow.models.knowledge.sequences import GapRule, Sequences, sequences_for_order
from foreknow.models.settings import MAX_FLOAT, check_flag, check_kind, is_number, shown
from foreknow.models.tables.history import History


@equal_by_fields
@dataclass(frozen=True, eq=False)
class IncrementalChain:
    """Chain extracted from the history that is being published, up to each release: IE-BK^seq.

    Only a publisher has this knowledge, since it needs the original records (JS-reduce, section 5.1). A defender uses it, or
    compares a release with it, as an upper bound of what an adversary could mine from such data.

    Parameters
    ----------
    chains : tuple of MarkovChain
        Chains extracted from the first 1, 2, ..., t views.
    inclusive : bool
        True if the knowledge for a release includes the view that is then published. The paper's "at each time, based on V_i"
        permits this reading. But such knowledge contains the transitions that are to be guessed, and gains where nothing can
        be learned from the past (docs/findings.md).

    Raises
    ------
    TypeError
        If an element is not a `MarkovChain`, or ``inclusive`` is not True or False.
    ValueError
        If there is no chain, or the chains differ in their order or in their number of values.
    """

    chains: tuple[MarkovChain, ...]
    inclusive: bool = False

    def __post_init__(self) -> None:
        check_flag("IncrementalChain", "inclusive", self.inclusive)
        object.__setattr__(self, "chains", chain_tuple("IncrementalChain", self.chains))
        check_alike(self.chains)

    @classmethod
    def fit(
        cls,
        history: History,
        order: int = 1,
        pseudo_count: float = 0.0,
        as_printed: bool = False,
        inclusive: bool = False,
        gaps: GapRule = "ignore",
    ) -> "IncrementalChain":
        """Estimate a chain from the first 1, 2, ..., t views of a history; other parameters are those of `MarkovChain.fit`.

        While no transition has been seen, every value follows any other with probability 1/m.
        """
        check_kind(
            "IncrementalChain.fit", "history", history, History, "is a History; make one by History([view, ...])"
        )
        check_pseudo_count(pseudo_count)
        check_flag("IncrementalChain.fit", "as_printed", as_printed)
        # The whole history is checked here; its first views may hold fewer values than the order needs.
        sequences_for_order(history, order, None, gaps)
        order, m = int(order), len(history.schema.values)
        chains = []
        for views in range(1, len(history) + 1):
            seen = Sequences.from_source(History(history.views[:views]), gaps=gaps)
            if seen.longest < 2:
                chains.append(MarkovChain(order, np.full((m,) * (order + 1), 1.0 / m)))
            else:
                chains.append(chain_of_counts(seen, order, pseudo_count, as_printed))
        return cls(tuple(chains), inclusive)

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        variable: str = "transitions",
        values: Sequence[Hashable] | None = None,
        inclusive: bool = False,
    ) -> "IncrementalChain":
        """Posterior mean of the transitions given the first 1, 2, ..., t views, of a PyMC model sampled for each.

        Parameters
        ----------
        tree : DataTree or Dataset
            With the group ``posterior``. Posteriors of several runs are one by
            ``xarray.concat([run.posterior.to_dataset() for run in runs], "view")``, given equal numbers of draws.
        variable : str
            With the dimensions chain and draw, then ``view``, then those of `MarkovChain.from_posterior`.
        values : sequence, optional
            Sensitive domain, as for `MarkovChain.from_posterior`.
        inclusive : bool
            As for the constructor.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if numbers of the views do not increase.

        Warns
        -----
        UserWarning
            If draws diverged.
        """
        return cls(chains_along("IncrementalChain.from_posterior", tree, "view", variable, values), inclusive)

    def at(self, release: int) -> MarkovChain:
        """Chain extracted from the views before a release, or up to it if inclusive; from the first view for release 0."""
        check_release_number("IncrementalChain", release)
        last = int(release) if self.inclusive else int(release) - 1
        return self.chains[min(max(last, 0), len(self.chains) - 1)]

    def truncate(self, steps: int) -> "IncrementalChain":
        """Chains of order at most ``steps``, as `MarkovChain.truncate`."""
        return IncrementalChain(tuple(chain.truncate(steps) for chain in self.chains), self.inclusive)


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


def chains_along(
    owner: str, tree: Any, dimension: str, variable: str, values: Sequence[Hashable] | None
) -> tuple[MarkovChain, ...]:
    """Posterior mean of the chain at each coordinate of a dimension.

    Parameters
    ----------
    owner : str
        Function that reads, for messages.
    tree : DataTree or Dataset
    dimension : str
        Dimension over steps or views, in the order of time.
    variable : str
        With the dimensions chain and draw, ``dimension``, then those of `MarkovChain.from_posterior`.
    values : sequence, optional
        Sensitive domain, as for `MarkovChain.from_posterior`.

    Raises
    ------
    TypeError, ValueError
        As `MarkovChain.from_posterior`, or if the coordinate of the dimension consists of numbers that do not increase.
    """
    dims = chain_dims(variable_dims(owner, tree, variable))
    found = posterior_variable(owner, tree, variable, [(dimension, *dims)], values)
    check_increasing(owner, dimension, found.labels[0])
    return tuple(MarkovChain(len(dims) - 1, table) for table in found.mean)


def check_increasing(owner: str, dimension: str, labels: list[Any]) -> None:
    """Raise ValueError if numbers of a coordinate do not increase; labels of other kinds are not compared."""
    for before, after in pairwise(labels):
        if isinstance(before, int | float) and isinstance(after, int | float) and not before < after:
            raise ValueError(
                f"{owner}: the coordinate {dimension!r} has {after!r} after {before!r}; it is in the order of time. Sort it, as "
                f"tree.posterior.to_dataset().sortby({dimension!r})."
            )
