"""Several chains of a sampled posterior, along a named dimension."""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.posterior_variable import chain_dims, posterior_variable, variable_dims


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
