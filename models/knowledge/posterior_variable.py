"""Variables of a sampled posterior, read by name and checked, and single draws of all of them."""

import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import as_list, check_kind, check_whole, shown
from foreknow.models.tables.columns import coordinate, lookalike

if TYPE_CHECKING:
    import xarray

SAMPLES = ("chain", "draw")
"""Dimensions of the draws."""

VALUE = "value"
"""Dimension of the sensitive values."""

TABLE = ("*",)
"""Dimensions of a transition table: ``last, value``, or ``value_1, ..., value_d, value``."""


class PosteriorVariable(NamedTuple):
    """A variable of a posterior."""

    mean: FloatArray  # mean over all draws of all chains, one axis per dimension
    draws: FloatArray  # all draws, chain after chain, on the first axis
    dims: tuple[str, ...]  # dimensions of the mean
    labels: tuple[list[Any], ...]  # coordinate of each dimension; positions where it has none


def posterior_variable(
    tree: Any, variable: str, orders: Sequence[tuple[str, ...]], values: Sequence[Hashable] | None = None
) -> PosteriorVariable:
    """Read a variable of a posterior by its name and the names of its dimensions: the reader of every ``from_posterior``.

    Parameters
    ----------
    tree : DataTree or Dataset
    variable : str
    orders : sequence of tuple of str
        Dimensions that the variable may have besides chain and draw; the first tuple of the same names is their order. `TABLE`
        stands for those of a transition table.
    values : sequence, optional
        Sensitive domain. Every dimension over values, those with the coordinate of ``value``, is sorted in its order.

    Raises
    ------
    TypeError, ValueError
        As `posterior_dataset`; if the variable is missing, has other dimensions, is no number or NaN; or if a coordinate has
        other values than the domain.

    Warns
    -----
    UserWarning
        If draws diverged.

    Notes
    -----
    A coordinate of the positions 0 to m - 1, as that of `release_model`, is taken in the order of the domain. Cost: that of the
    mean over all draws.
    """
    dataset = posterior_dataset(tree)
    check_kind("from_posterior", "variable", variable, str, "is the name of a variable of the posterior")
    names = [str(name) for name in dataset.data_vars]
    if variable not in names:
        raise ValueError(f"the posterior has no variable {variable!r}; it has {_listed(names)}.")
    array = _ordered(dataset[variable], orders)
    if array.dtype.kind not in "biuf" or not np.isfinite(array.to_numpy()).all():
        raise ValueError(
            f"{variable!r} has draws that are not finite numbers ({array.dtype}); check the model, sample again."
        )
    if VALUE in array.dims:
        array = _sorted(array, values)
    warn_of_divergences(tree)
    dims = tuple(str(name) for name in array.dims[2:])
    draws = array.to_numpy().astype(np.float64)
    draws = draws.reshape(-1, *draws.shape[2:])
    return PosteriorVariable(draws.mean(axis=0), draws, dims, tuple(_labels(array, name) for name in dims))


def posterior_dataset(tree: Any) -> "xarray.Dataset":
    """Posterior of a DataTree, or a Dataset itself; it has draws.

    Raises
    ------
    TypeError
        If ``tree`` is no DataTree and no Dataset.
    ValueError
        If it has no group ``posterior``, or no draws.
    """
    import xarray

    takes = "is a DataTree with the group posterior, as pymc.sample returns, or the Dataset of a posterior"
    check_kind("from_posterior", "tree", tree, (xarray.DataTree, xarray.Dataset), takes)
    found = tree.children.get("posterior", tree) if isinstance(tree, xarray.DataTree) else tree
    dataset: xarray.Dataset = found.to_dataset() if isinstance(found, xarray.DataTree) else found
    if not math.prod(dataset.sizes.get(name, 0) for name in SAMPLES):
        raise ValueError(
            f"the posterior has no draws: its dimensions are {_listed(dataset.dims)}. A posterior has the dimensions chain and "
            "draw; in a tree it is the group 'posterior', as pymc.sample returns it."
        )
    return dataset


def divergences(tree: Any) -> int:
    """Number of draws of a DataTree in which NUTS diverged; 0 where the tree has no sampler statistics.

    Examples
    --------
    >>> import arviz
    >>> divergences(arviz.from_dict({"sample_stats": {"diverging": np.array([[False, True, True]])}}))
    2
    """
    import xarray

    statistics = tree.children.get("sample_stats") if isinstance(tree, xarray.DataTree) else None
    return 0 if statistics is None or "diverging" not in statistics else int(statistics["diverging"].sum())


def warn_of_divergences(tree: Any, callers: int = 2) -> None:
    """Warn (UserWarning) if draws diverged; ``callers`` is the number of functions between this one and the user."""
    number = divergences(tree)
    if number:
        warnings.warn(
            f"NUTS diverged in {number} draws, so that the posterior may be biased. Sample again with a higher "
            "target_accept, or change the model.",
            UserWarning,
            stacklevel=callers + 2,
        )


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

    dataset = posterior_dataset(tree)
    check_whole("posterior_draws", "number", number, "draws")
    chains, draws = dataset.sizes["chain"], dataset.sizes["draw"]
    if number > chains * draws:
        raise ValueError(
            f"posterior_draws: number is {number}, and the posterior has {chains * draws} draws; ask for at most these."
        )
    warn_of_divergences(tree, callers=1)
    chosen = equidistant_draws(int(number), chains * draws)
    one = (dataset.isel(chain=[place // draws], draw=[place % draws]) for place in chosen.tolist())
    return tuple(xarray.DataTree.from_dict({"posterior": each}) for each in one)


def equidistant_draws(number: int, total: int) -> IntArray:
    """Positions of ``number`` of ``total`` draws: draw ``floor((i + 1/2) total / number)`` for each i."""
    return ((np.arange(number) + 0.5) * total / number).astype(np.int64)


def _ordered(array: "xarray.DataArray", orders: Sequence[tuple[str, ...]]) -> "xarray.DataArray":
    """Array with chain and draw first, then the dimensions in the order of one of some tuples."""
    dims = [str(name) for name in array.dims]
    rest = sorted(name for name in dims if name not in SAMPLES)
    past = tuple(f"value_{place + 1}" for place in range(sum(name.startswith("value_") for name in rest))) or ("last",)
    full = [tuple(n for name in order for n in ((*past, VALUE) if name in TABLE else (name,))) for order in orders]
    found = next((order for order in full if sorted(order) == rest), None)
    if found is None or not set(SAMPLES) <= set(dims):
        expected = " or ".join(f"({', '.join((*SAMPLES, *order))})" for order in full)
        raise ValueError(
            f"{array.name!r} has the dimensions ({', '.join(dims)}); it needs {expected}. Rename them, as "
            "tree.posterior.to_dataset().rename(...)."
        )
    return array.transpose(*SAMPLES, *found)


def _labels(array: "xarray.DataArray", name: str) -> list[Any]:
    return array[name].to_numpy().tolist() if name in array.coords else list(range(array.sizes[name]))


def _sorted(array: "xarray.DataArray", values: Sequence[Hashable] | None) -> "xarray.DataArray":
    """Array with every dimension over values in the order of the domain; in that of ``value`` without one."""
    domain = _labels(array, VALUE) if values is None else _as_coordinate(values)
    for name in (str(each) for each in array.dims if each in (VALUE, "last") or str(each).startswith("value_")):
        labels = _labels(array, name)
        if labels in (domain, list(range(len(domain)))):
            continue
        if sorted(map(repr, labels)) != sorted(map(repr, domain)):
            odd = next((label for label in [*labels, *domain] if (label in labels) != (label in domain)), labels)
            raise ValueError(
                f"the coordinate {name!r} of {array.name!r} has {len(labels)} values and the domain {len(domain)}; they "
                f"differ in {shown(odd)}. Give values= in the order of the schema, and sample with its values."
                f"{lookalike(odd, [*labels, *domain])}"
            )
        array = array.isel({name: [labels.index(label) for label in domain]})
    return array


def _as_coordinate(values: Any) -> list[Any]:
    """Domain as a coordinate of xarray holds it."""
    import xarray

    takes = "is the sensitive domain, as schema.values"
    labels = [coordinate(value) for value in as_list("from_posterior", "values", values, takes)]
    return list(
        xarray.DataArray(np.zeros(len(labels)), dims="value", coords={"value": labels})["value"].values.tolist()
    )


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(repr(str(name)) for name in names) or "nothing"
