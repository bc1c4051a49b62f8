"""Variables and single draws of a sampled posterior, read by name and checked."""

import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.beliefs import coordinate
from foreknow.models.settings import check_kind, check_whole, shown
from foreknow.models.tables.arguments import as_list
from foreknow.models.tables.columns.lookalikes import lookalike

if TYPE_CHECKING:
    import xarray


SAMPLES = ("chain", "draw")
"""Dimensions of the draws."""

VALUE = "value"
"""Dimension of the sensitive values."""


class PosteriorVariable(NamedTuple):
    """A variable of a posterior.

    Attributes
    ----------
    mean : float array
        Mean over all draws of all chains, one axis per dimension.
    draws : float array
        All draws, chain after chain, on the first axis.
    dims : tuple of str
        Dimensions of the mean.
    labels : tuple of list
        Coordinate of each dimension; positions where it has none.
    """

    mean: FloatArray
    draws: FloatArray
    dims: tuple[str, ...]
    labels: tuple[list[Any], ...]


def posterior_dataset(owner: str, tree: Any) -> "xarray.Dataset":
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
    check_kind(owner, "tree", tree, (xarray.DataTree, xarray.Dataset), takes)
    dataset: xarray.Dataset = tree
    if isinstance(tree, xarray.DataTree):
        found = tree.children.get("posterior", tree)
        dataset = found.to_dataset()
        if found is tree and not set(SAMPLES) <= set(map(str, dataset.dims)):
            raise ValueError(
                f"{owner}: the tree has no group 'posterior'; it has {_listed(tree.children)}. Give the result of pymc.sample."
            )
    missing = [name for name in SAMPLES if name not in dataset.dims]
    if missing:
        raise ValueError(
            f"{owner}: the posterior has the dimensions {_listed(dataset.dims)}; {missing[0]!r} is missing. A posterior has the "
            "dimensions chain and draw, as pymc.sample returns it."
        )
    if not math.prod(dataset.sizes[name] for name in SAMPLES):
        raise ValueError(f"{owner}: the posterior has no draws; sample at least one.")
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


def warn_of_divergences(owner: str, tree: Any, callers: int = 2) -> None:
    """Warn (UserWarning) if draws diverged; ``callers`` is the number of functions between this one and the user."""
    number = divergences(tree)
    if number:
        warnings.warn(
            f"{owner}: NUTS diverged in {number} draws, so that the posterior may be biased. Sample again with a higher "
            "target_accept, or change the model.",
            UserWarning,
            stacklevel=callers + 2,
        )


def posterior_variable(
    owner: str,
    tree: Any,
    variable: str,
    orders: Iterable[tuple[str, ...]] | None = None,
    values: Sequence[Hashable] | None = None,
) -> PosteriorVariable:
    """Read a variable of a posterior by its name and the names of its dimensions.

    Parameters
    ----------
    owner : str
        Function that reads, for messages.
    tree : DataTree or Dataset
    variable : str
    orders : iterable of tuple of str, optional
        Dimensions that the variable may have besides chain and draw; the first tuple of the same names is their order.
        None for dimensions in their own order.
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
    dataset = posterior_dataset(owner, tree)
    check_kind(owner, "variable", variable, str, "is the name of a variable of the posterior")
    names = [str(name) for name in dataset.data_vars]
    if variable not in names:
        raise ValueError(
            f"{owner}: the posterior has no variable {variable!r}; it has {_listed(names)}.{_similar(variable, names)}"
        )
    array = _ordered(owner, dataset[variable], None if orders is None else list(orders))
    if array.dtype.kind not in "biuf" or not np.isfinite(array.to_numpy()).all():
        kind = "a NaN or infinite draw" if array.dtype.kind in "biuf" else f"draws of the type {array.dtype}"
        raise ValueError(
            f"{owner}: {variable!r} has {kind}; every draw is a finite number. Check the model, sample again."
        )
    if VALUE in array.dims:
        array = _sorted(owner, array, values)
    warn_of_divergences(owner, tree)
    dims = tuple(str(name) for name in array.dims[2:])
    draws = array.to_numpy().astype(np.float64)
    draws = draws.reshape(-1, *draws.shape[2:])
    return PosteriorVariable(draws.mean(axis=0), draws, dims, tuple(_labels(array, name) for name in dims))


def chain_dims(tree_dims: Iterable[str]) -> tuple[str, ...]:
    """Dimensions of a transition table: ``(last, value)``, or ``(value_1, ..., value_d, value)``."""
    order = sum(name.startswith("value_") for name in tree_dims)
    return ("last", VALUE) if not order else (*(f"value_{place}" for place in range(1, order + 1)), VALUE)


def variable_dims(owner: str, tree: Any, variable: str) -> tuple[str, ...]:
    """Names of the dimensions of a variable besides chain and draw; empty if the variable is missing."""
    dataset = posterior_dataset(owner, tree)
    found = dataset[variable].dims if isinstance(variable, str) and variable in dataset else ()
    return tuple(str(name) for name in found if name not in SAMPLES)


def _ordered(owner: str, array: "xarray.DataArray", orders: list[tuple[str, ...]] | None) -> "xarray.DataArray":
    dims = [str(name) for name in array.dims]
    rest = tuple(name for name in dims if name not in SAMPLES)
    wanted = [rest] if orders is None else [order for order in orders if sorted(order) == sorted(rest)]
    if not wanted or not set(SAMPLES) <= set(dims):
        expected = " or ".join(f"({', '.join((*SAMPLES, *order))})" for order in orders or [rest])
        raise ValueError(
            f"{owner}: {array.name!r} has the dimensions ({', '.join(dims)}); it needs {expected}. Rename them, as "
            "tree.posterior.to_dataset().rename(...)."
        )
    return array.transpose(*SAMPLES, *wanted[0])


def _labels(array: "xarray.DataArray", name: str) -> list[Any]:
    return array[name].to_numpy().tolist() if name in array.coords else list(range(array.sizes[name]))


def _sorted(owner: str, array: "xarray.DataArray", values: Sequence[Hashable] | None) -> "xarray.DataArray":
    """Array with every dimension over values in the order of the domain; in that of ``value`` without one."""
    own = _labels(array, VALUE)
    domain = own if values is None else _as_coordinate(owner, values)
    over_values = [str(name) for name in array.dims if name in (VALUE, "last") or str(name).startswith("value_")]
    for name in over_values:
        labels = _labels(array, name)
        positions = labels == list(range(len(domain)))
        if not positions and sorted(map(repr, labels)) != sorted(map(repr, domain)):
            odd = next((label for label in [*labels, *domain] if (label in labels) != (label in domain)), labels)
            raise ValueError(
                f"{owner}: the coordinate {name!r} of {array.name!r} has {len(labels)} values and the domain {len(domain)}; they "
                f"differ in {shown(odd)}. Give values= in the order of the schema, and sample with its values."
                f"{lookalike(odd, [*labels, *domain])}"
            )
        if labels != domain and not positions:
            array = array.isel({name: [labels.index(label) for label in domain]})
    return array


def _as_coordinate(owner: str, values: Any) -> list[Any]:
    """Domain as a coordinate of xarray holds it."""
    import xarray

    takes = "is the sensitive domain, as schema.values"
    check_kind(owner, "values", values, (Sequence, np.ndarray), takes)
    labels = [coordinate(value) for value in as_list(owner, "values", values, takes)]
    try:
        return list(
            xarray.DataArray(np.zeros(len(labels)), dims="value", coords={"value": labels})["value"].values.tolist()
        )
    except (TypeError, ValueError):
        raise TypeError(f"{owner}: values is {shown(values)}; it {takes}.") from None


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(repr(str(name)) for name in names) or "nothing"


def _similar(name: str, names: list[str]) -> str:
    """Sentence that names a variable of a similar name."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


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
