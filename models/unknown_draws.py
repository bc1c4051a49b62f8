"""Draws of the unknown numbers of a program, and their DataTree."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.tables.columns import coordinates

if TYPE_CHECKING:
    import xarray


@equal_by_fields
@dataclass(frozen=True, eq=False)
class UnknownDraws:
    """Draws of the free variables of a program for one group, or for a whole release.

    Attributes
    ----------
    group : int or None
        Number of the group in the release; None for the whole release.
    values : dict of str to float array, shape (chains, draws, ...)
        Draws by the name of the variable.
    dims : dict of str to tuple of str
        Names of the further axes of each variable.
    coords : dict of str to tuple
        Labels of the axes, where the program gives them.
    """

    group: int | None
    values: dict[str, FloatArray]
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, tuple[Hashable, ...]]


def unknowns_tree(releases: Mapping[Any, Sequence[UnknownDraws]]) -> "xarray.DataTree | None":
    """DataTree with a group ``posterior`` of the draws of some releases, by time; None without draws.

    Its dimensions are chain and draw, ``release`` unless the time is None, ``group`` where each group was sampled by itself, and
    those of the program. Labels are united; a number is NaN where a release or group has no such entry. Cost: O(draws).
    """
    import xarray

    drawn = {time: parts for time, parts in releases.items() if parts}
    if not drawn:
        return None
    found: dict[str, dict[Hashable, Hashable]] = {}
    for parts in drawn.values():
        for part in parts:
            for dim, labels in part.coords.items():
                found.setdefault(dim, {}).update(dict.fromkeys(labels))
    named = {dim: dict(zip(labels, coordinates(list(labels)), strict=True)) for dim, labels in found.items()}
    each = [_of_release(parts, named) for parts in drawn.values()]
    if None in drawn:
        return xarray.DataTree.from_dict({"posterior": each[0]})
    return xarray.DataTree.from_dict({"posterior": _joined(each, "release", list(coordinates(list(drawn))))})


def _of_release(parts: Sequence[UnknownDraws], named: Mapping[str, Mapping[Hashable, Any]]) -> "xarray.Dataset":
    """Draws of one release, with the coordinates of their labels."""
    import arviz_base

    each = []
    for part in parts:
        coords: Any = {dim: [named[dim][label] for label in labels] for dim, labels in part.coords.items()}
        dims: Any = {name: list(of) for name, of in part.dims.items()}
        # The attributes have the time at which they were made, and so differ between equal draws.
        drawn = arviz_base.dict_to_dataset(part.values, coords=coords, dims=dims).drop_attrs()
        each.append(drawn.reindex({dim: list(named[dim].values()) for dim in coords}))
    return each[0] if parts[0].group is None else _joined(each, "group", [part.group for part in parts])


def _joined(each: "Sequence[xarray.Dataset]", dim: str, labels: Sequence[Any]) -> "xarray.Dataset":
    """Datasets along a new dimension, which comes after chain and draw; their other labels are united."""
    import pandas as pd
    import xarray

    joined = xarray.concat(
        each, pd.Index(labels, name=dim), data_vars="all", coords="minimal", compat="override", join="outer"
    )
    return joined.transpose("chain", "draw", dim, ...)
