"""The array types, and the letters that name their axes everywhere in foreknow.

n records of a release, m values of the sensitive domain, g groups, t releases, d quasi-identifiers.
"""

from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
from numpy.typing import NDArray

type FloatArray = NDArray[np.float64]
type IntArray = NDArray[np.int64]
type BoolArray = NDArray[np.bool_]
type ObjectArray = NDArray[np.object_]


def compiled[F: Callable[..., Any]](function: F) -> F:
    """Compile a function of arrays with Numba; the machine code is kept on disk beside the file."""
    return cast(F, numba.njit(cache=True)(function))
