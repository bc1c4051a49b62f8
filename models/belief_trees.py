"""Beliefs in a DataTree: everything that restores them exactly, beside the arrays that ArviZ reads."""

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.arrays import FloatArray, ObjectArray
from foreknow.models.problem import Posterior
from foreknow.models.tables.attributes import Categorical, Numeric
from foreknow.models.tables.files.notation import Notation
from foreknow.models.tables.hierarchy import Hierarchy
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Schema

if TYPE_CHECKING:
    import xarray

GROUP = "foreknow"
"""Group of the tree that only `Beliefs.from_datatree` reads."""
STAGES = ("prior", "revised", "posterior")
CLASSES = (Schema, Numeric, Categorical, Hierarchy, People, Observation, Posterior)


def notation(*more: type) -> Notation:
    """Notation of beliefs, given the classes of `foreknow.models.beliefs`."""
    return Notation({each.__name__: each for each in (*CLASSES, *more)})


def stored(
    words: Notation,
    fields: Mapping[str, Any],
    respondents: Sequence[Hashable],
    placed: Sequence[Sequence[int]],
    drawn: bool,
) -> "xarray.Dataset":
    """Fields of beliefs as a Dataset: the arrays, each once, and the structure as JSON text.

    Beliefs of the stages are in the tree already, unless they are ``drawn``. They and the respondents of each release are
    references to the tree. Cost: O(size of the observations and statuses), and of all beliefs if drawn.
    """
    import xarray

    variables: dict[str, Any] = {}
    known: dict[int, Any] = {}
    kept: list[Any] = []  # Numbers of objects are reused after these are gone.

    def store(array: "np.ndarray[Any, Any]") -> Any:
        if id(array) not in known:
            kept.append(array)
            if array.dtype == object:
                return {"objects": words.text(array.tolist())}
            name = f"array_{len(variables)}"
            dims = [f"{name}_{axis}" for axis in range(array.ndim)]
            # An axis of length 0 is unlimited in a NetCDF file: the shape is kept in the structure.
            variables[name] = (dims, array if array.size else np.zeros((1,) * array.ndim, dtype=array.dtype))
            known[id(array)] = {"name": name, "empty": None if array.size else list(array.shape)}
        return known[id(array)]

    rows = [np.asarray(each, dtype=np.int64) for each in placed]
    for t, (release, row) in enumerate(zip(fields["releases"], rows, strict=True)):
        known[id(release.observation.people.respondents)] = {"respondents": t}
        store(row)
        for stage in () if drawn else STAGES:
            belief = release.beliefs(stage)
            if belief.dtype == np.float64:
                known[id(belief)] = {"stage": stage, "release": t}
    parts = {"respondents": list(respondents), "rows": rows, "fields": dict(fields)}
    text = json.dumps([[name, words.text(part, store)] for name, part in parts.items()])
    return xarray.Dataset({"structure": ((), text), **variables})


def restored(words: Notation, tree: "xarray.DataTree") -> dict[str, Any]:
    """Fields of beliefs from a tree.

    Raises
    ------
    ValueError
        If the tree has no group that `stored` made.
    """
    if GROUP not in tree.children:
        raise ValueError(
            f"the tree has the groups {', '.join(map(repr, tree.children)) or 'of nothing'} and no {GROUP!r}; it is one that "
            "Beliefs.to_datatree returns, whole."
        )
    kept = tree[GROUP]
    text = str(kept["structure"].item())
    found: dict[str, Any] = {}

    def array(reference: Mapping[str, Any]) -> "np.ndarray[Any, Any]":
        if "objects" in reference:
            return _objects(words.value(reference["objects"]))
        if "respondents" in reference:
            return _objects([found["respondents"][row] for row in found["rows"][reference["respondents"]]])
        if "stage" in reference:
            return _belief(tree, reference["stage"], reference["release"], found["rows"][reference["release"]])
        if reference["empty"] is not None:
            return np.zeros(reference["empty"], dtype=kept[reference["name"]].dtype)
        return np.array(kept[reference["name"]].values)

    # Respondents and rows come before the fields that refer to them.
    for name, part in json.loads(text):
        found[name] = words.value(part, array)
    fields: dict[str, Any] = found["fields"]
    return fields


def _belief(tree: "xarray.DataTree", stage: str, t: int, rows: Any) -> FloatArray:
    belief: Any = tree[stage]["belief"].to_numpy()
    return np.array(belief[0, 0, t][rows], dtype=np.float64)


def _objects(items: Sequence[Any]) -> ObjectArray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array
