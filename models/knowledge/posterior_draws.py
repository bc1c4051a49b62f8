"""Single draws of a sampled posterior, as trees."""

from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.knowledge.posterior_variable import posterior_dataset, warn_of_divergences
from foreknow.models.settings import check_whole

if TYPE_CHECKING:
    import xarray


def posterior_draws(tree: Any, number: int) -> "tuple[xarray.DataTree, ...]":
    """Return draws of a posterior as trees of one draw each, equidistant over the draws of all chains.

    All variables of one draw stay together: knowledge made from one tree holds jointly.

    Parameters
    ----------
    tree : DataTree or Dataset
        With the group ``posterior``, as `pymc.sample` returns it.
    number : int
        Number of trees, at most the number of draws of all chains.

    Returns
    -------
    tuple of DataTree
        Each has the group ``posterior`` with one chain and one draw, in the order of the chains.

    Raises
    ------
    TypeError
        If ``tree`` is no DataTree and no Dataset.
    ValueError
        If it has no posterior, or fewer draws than ``number``; or ``number`` is no whole number of at least 1.

    Warns
    -----
    UserWarning
        If draws diverged. The trees do not say which.

    Notes
    -----
    Tree i holds the draw ``floor((i + 1/2) draws / number)`` of all draws, numbered chain by chain. The trees are views of
    the given one. A mean over them estimates the posterior mean; draws of one chain are correlated. Cost: O(number) trees.

    Examples
    --------
    >>> import arviz
    >>> tree = arviz.from_dict({"posterior": {"x": np.arange(6.0).reshape(2, 3)}})
    >>> [draw.posterior["x"].item() for draw in posterior_draws(tree, 3)]
    [1.0, 3.0, 5.0]
    """
    import xarray

    dataset = posterior_dataset("posterior_draws", tree)
    check_whole("posterior_draws", "number", number, "draws")
    chains, draws = dataset.sizes["chain"], dataset.sizes["draw"]
    if number > chains * draws:
        raise ValueError(
            f"posterior_draws: number is {number}, and the posterior has {chains * draws} draws; ask for at most these."
        )
    warn_of_divergences("posterior_draws", tree, callers=1)
    chosen = ((np.arange(int(number)) + 0.5) * (chains * draws) / int(number)).astype(np.int64)
    one = (dataset.isel(chain=[place // draws], draw=[place % draws]) for place in chosen.tolist())
    return tuple(xarray.DataTree.from_dict({"posterior": each}) for each in one)
