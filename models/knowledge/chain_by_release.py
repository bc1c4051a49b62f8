"""Markov chains with transition probabilities of their own for each release."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.markov_chain import (
    MarkovChain,
    chain_of_counts,
    check_alike,
    check_pseudo_count,
    shrunk_chain,
)
from foreknow.models.knowledge.posterior_variable import TABLE, posterior_dataset, posterior_variable
from foreknow.models.knowledge.sequences import GapRule, Sequences, sequences_for_order
from foreknow.models.settings import MAX_FLOAT, as_list, check_flag, check_kind, is_number, is_whole, shown
from foreknow.models.tables.history import History


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ChainByRelease:
    """Markov chain with its own transition probabilities for each release: sequential knowledge (`Transitions`).

    `fit` estimates them from the steps of a corpus, for a law that changes with time. `extracted` estimates them from the views
    before each release, for a publisher who learns while publishing.

    Parameters
    ----------
    chains : tuple of MarkovChain
        ``chains[r]`` is the distribution of the values at release r, given earlier values. The first release is number 0, and no
        transition leads to it.
    later : MarkovChain, optional
        Chain of the releases after these. By default the last of them.

    Raises
    ------
    TypeError
        If a chain is not a `MarkovChain`.
    ValueError
        If there is no chain, or the chains differ in their order or in their number of values.

    Notes
    -----
    Releases are matched by number, not by time: release r of an attack, or of `publish`, corresponds to view r of the corpus.

    Examples
    --------
    Two respondents keep their value in the first step and change it in the second:

    >>> chain = ChainByRelease.fit([[0, 0, 1], [1, 1, 0]], shrinkage=0.0)
    >>> chain.at(1).probabilities.tolist(), chain.at(2).probabilities.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    >>> chain.at(3).probabilities.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    chains: tuple[MarkovChain, ...]
    later: MarkovChain | None = None

    def __post_init__(self) -> None:
        chains = tuple(as_list("ChainByRelease", "chains", self.chains, "is a tuple of MarkovChain, one per release"))
        every = chains if self.later is None else (*chains, self.later)
        for number, chain in enumerate(every):
            check_kind("ChainByRelease", f"chain {number}", chain, MarkovChain, "is a MarkovChain")
        check_alike(every)
        object.__setattr__(self, "chains", chains)

    @classmethod
    def fit(
        cls,
        sequences: "History | Iterable[Sequence[int]]",
        order: int = 1,
        pseudo_count: float = 0.0,
        shrinkage: float = 1.0,
        values: int | None = None,
        gaps: GapRule = "ignore",
    ) -> "ChainByRelease":
        """Estimate transition probabilities for each step of a corpus, shrunk towards those of the whole corpus.

        A row of a step is ``(counts + shrinkage * pooled row) / (sum of counts + shrinkage)``, the posterior mean under a
        Dirichlet prior with the pooled row as its mean. Releases after those of the corpus have the pooled chain.

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
        steps = (counted.ending_in(counted.visit == step) for step in range(1, int(counted.visit.max()) + 1))
        return cls((pooled, *(shrunk_chain(step, pooled, 0.0, shrinkage) for step in steps)), pooled)

    @classmethod
    def extracted(
        cls,
        history: History,
        order: int = 1,
        pseudo_count: float = 0.0,
        as_printed: bool = False,
        inclusive: bool = False,
        gaps: GapRule = "ignore",
    ) -> "ChainByRelease":
        """Estimate the chain of each release from the views before it: IE-BK^seq of JS-reduce, section 5.1.

        Only a publisher has this knowledge, since it needs the original records. A defender uses it, or compares a release with
        it, as an upper bound of what an adversary could mine from such data.

        Parameters
        ----------
        history : History
            The history that is being published. While no transition has been seen, every value follows any other with probability
            1/m.
        order, pseudo_count, as_printed
            As for `MarkovChain.fit`.
        inclusive : bool
            True if the knowledge for a release includes the view that is then published. The paper's "at each time, based on V_i"
            permits this reading. But such knowledge contains the transitions that are to be guessed, and gains where nothing can
            be learned from the past (docs/findings.md).
        gaps
            As for `MarkovChain.fit`.
        """
        owner = "ChainByRelease.extracted"
        check_kind(owner, "history", history, History, "is a History; make one by History([view, ...])")
        check_pseudo_count(pseudo_count)
        check_flag(owner, "as_printed", as_printed)
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
        return cls.of_views(chains, inclusive)

    @classmethod
    def of_views(cls, chains: Sequence[MarkovChain], inclusive: bool = False) -> "ChainByRelease":
        """Chain of each release from chains extracted from the first 1, 2, ..., t views; ``inclusive`` as for `extracted`."""
        check_flag("ChainByRelease", "inclusive", inclusive)
        return cls((*chains,) if inclusive else (*chains[:1], *chains))

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        variable: str = "transitions",
        later: str | None = None,
        values: Sequence[Hashable] | None = None,
        inclusive: bool = False,
    ) -> "ChainByRelease":
        """Posterior mean of the transitions of each release, of a sampled PyMC model.

        Parameters
        ----------
        tree : DataTree or Dataset
            As for `MarkovChain.from_posterior`. Posteriors of several runs are one by
            ``xarray.concat([run.posterior.to_dataset() for run in runs], "view")``, given equal numbers of draws.
        variable : str
            With the dimensions chain and draw, then ``step`` or ``view``, then those of `MarkovChain.from_posterior`. The first
            step leads to the second release. The chain of view v is given the views up to v, as that of `extracted`.
        later : str, optional
            Variable of the chain of all later steps, without the dimension ``step``. By default these have the mean of the steps.
        values, inclusive
            As for `MarkovChain.from_posterior` and `extracted`.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior`, or if numbers of the steps or views do not increase.

        Examples
        --------
        >>> import arviz
        >>> steps = np.array([[[[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]]]])
        >>> dims = {"transitions": ["step", "last", "value"]}
        >>> chain = ChainByRelease.from_posterior(arviz.from_dict({"posterior": {"transitions": steps}}, dims=dims))
        >>> chain.at(1).probabilities.tolist(), chain.at(3).probabilities.round(3).tolist()
        ([[0.8, 0.2], [0.5, 0.5]], [[0.7, 0.3], [0.3, 0.7]])
        """
        found = posterior_variable(tree, variable, [("step", *TABLE), ("view", *TABLE)], values)
        for before, after in pairwise(found.labels[0]):
            if isinstance(before, int | float) and isinstance(after, int | float) and not before < after:
                raise ValueError(
                    f"from_posterior: the coordinate {found.dims[0]!r} has {after!r} after {before!r}; it is in the order of time. "
                    f"Sort it, as tree.posterior.to_dataset().sortby({found.dims[0]!r})."
                )
        order = found.mean.ndim - 2
        chains = [MarkovChain(order, table) for table in found.mean]
        if found.dims[0] == "view":
            return cls.of_views(chains, inclusive)
        mean = (
            found.mean.mean(axis=0)
            if later is None
            else posterior_variable(posterior_dataset(tree), later, [TABLE], values).mean
        )
        pooled = MarkovChain(mean.ndim - 1, mean)
        return cls((pooled, *chains), pooled)

    def at(self, release: int) -> MarkovChain:
        """Chain that leads to the values at a release; ``release`` is its number, 0 for the first."""
        if not is_whole(release, 0):
            raise ValueError(f"release is {shown(release)}; it is the number of a release, 0 for the first.")
        return self.chains[int(release)] if release < len(self.chains) else self.later or self.chains[-1]

    def truncate(self, steps: int) -> "ChainByRelease":
        """Chains of order at most ``steps``, as `MarkovChain.truncate`."""
        later = None if self.later is None else self.later.truncate(steps)
        return ChainByRelease(tuple(chain.truncate(steps) for chain in self.chains), later)
