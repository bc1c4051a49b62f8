"""Number of values that each record of a bucket may have, by perfect matchings."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreknow.models.arrays import BoolArray, IntArray


def matching_diversity(forbidden: ArrayLike, values: ArrayLike) -> IntArray:
    """Number of distinct values that each record of a bucket may have.

    A record may have a value if some assignment of the bucket's values to its records gives it that value and gives no record
    a forbidden one. Such an assignment is a perfect matching of records and copies of values. A bucket is l-diverse in this
    sense if each record may have at least l values.

    Parameters
    ----------
    forbidden : bool array, shape (k, m)
        True where a value is ruled out for a record of the bucket.
    values : int array, shape (k,)
        The sensitive codes that the bucket shows, in any order.

    Returns
    -------
    int array, shape (k,)
        All 0 if no assignment is possible.

    Raises
    ------
    TypeError
        If an array does not hold numbers, or codes are not integers.
    ValueError
        If there is not one value for each record, or a value has no column in ``forbidden``.

    Notes
    -----
    T. Li, N. Li, ICDE 2008. Exact, and computed by definition: one maximum matching (Hopcroft and Karp, by NetworkX) for each
    record and each value that it may have. Cost: O(k^2) matchings of O(k^2.5) each. Compiled kernels use
    `foreknow.models.estimators.assignments.support.possible_pairs`, which answers for all pairs at once.

    Examples
    --------
    In the first bucket, record 0 cannot have value 0, so that record 1 has it. In the second, either of the others may.

    >>> matching_diversity([[True, False], [False, False]], [0, 1]).tolist()
    [1, 1]
    >>> matching_diversity([[True, False, False], [False, False, False], [False, False, False]], [1, 0, 2]).tolist()
    [2, 3, 3]
    """
    denied, shown = _checked_bucket(forbidden, values)
    allowed = ~denied[:, shown]
    possible = [
        {int(shown[copy]) for copy in np.flatnonzero(allowed[record]) if _completes(allowed, record, int(copy))}
        for record in range(len(shown))
    ]
    return np.array([len(codes) for codes in possible], dtype=np.int64)


def _checked_bucket(forbidden: ArrayLike, values: ArrayLike) -> tuple[BoolArray, IntArray]:
    """The arguments of `matching_diversity` as arrays."""
    denied = _as_array("forbidden", forbidden, "a bool array, one row for each record and one column for each value")
    shown = _as_array("values", values, "an int array, one sensitive code for each record")
    if denied.dtype.kind not in "biuf":
        raise TypeError(f"matching_diversity: forbidden has dtype {denied.dtype}; it is a bool array of shape (k, m).")
    if shown.dtype.kind not in "iu" and shown.size:
        raise TypeError(
            f"matching_diversity: values has dtype {shown.dtype}; it is an int array of sensitive codes, as view.sensitive."
        )
    if denied.ndim != 2 or shown.shape != denied.shape[:1]:
        raise ValueError(
            f"matching_diversity: values has shape {shown.shape} and forbidden has shape {denied.shape}; give one value and one "
            "row for each record of the bucket."
        )
    if shown.size and not (shown.min() >= 0 and shown.max() < denied.shape[1]):
        wrong = shown.min() if shown.min() < 0 else shown.max()
        raise ValueError(
            f"matching_diversity: a value of the bucket has code {wrong}, and forbidden has columns 0 to {denied.shape[1] - 1}; "
            "give one column for each value of the domain."
        )
    return denied.astype(bool), shown.astype(np.int64)


def _as_array(name: str, given: ArrayLike, takes: str) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except (TypeError, ValueError, OverflowError) as wrong:
        raise TypeError(f"matching_diversity: {name} is a {type(given).__name__}; it is {takes}.") from wrong


def _completes(allowed: BoolArray, record: int, copy: int) -> bool:
    """Return whether all other records can be matched with all other copies."""
    import networkx as nx

    rest = np.delete(np.delete(allowed, record, axis=0), copy, axis=1)
    graph = nx.Graph()
    records = [("record", i) for i in range(len(rest))]
    graph.add_nodes_from(records)
    graph.add_nodes_from(("copy", j) for j in range(len(rest)))
    graph.add_edges_from((("record", int(i)), ("copy", int(j))) for i, j in np.argwhere(rest))
    return len(nx.bipartite.hopcroft_karp_matching(graph, records)) == 2 * len(rest)
