"""Array types, and the letters that name their axes in all of foreknow.

n records of a release, m values of the sensitive domain, g groups, t releases, d quasi-identifiers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.models.compilation_cache import compiled, inlined

__all__ = ["BoolArray", "FloatArray", "IntArray", "ObjectArray", "compiled", "inlined", "object_array"]

type FloatArray = NDArray[np.float64]
type IntArray = NDArray[np.int64]
type BoolArray = NDArray[np.bool_]
type ObjectArray = NDArray[np.object_]


def object_array(items: Sequence[Any]) -> ObjectArray:
    """Array of items, one each: an item that is a tuple or a list stays one."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


# Numba is imported by the first module that compiles a kernel: tables have none.
import_lazily(__name__, dict.fromkeys(("compiled", "inlined"), "foreknow.models.compilation_cache"))
