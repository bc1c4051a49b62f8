"""Markov chains extracted from the history before each release."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from foreknow.models.knowledge.sequences import GapRule, Sequences, sequences_for_order
from foreknow.models.settings import check_flag, check_kind
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
