"""Beliefs as columns of Parquet: lists of the values with a positive probability, and of these probabilities."""

import numpy as np
import pyarrow as pa

from foreknow.models.arrays import FloatArray, IntArray


def belief_part(respondent: pa.ChunkedArray, group: IntArray, beliefs: FloatArray, release: int) -> pa.Table:
    """Beliefs about the published respondents of a block: ``respondent``, ``step``, ``values``, ``probabilities``.

    Values of probability 0 are left out. ``step`` is the number of the release. `LargeTable` limits m to 2^16. Cost: O(n m).
    """
    shown = np.flatnonzero(group >= 0)
    row, value = np.nonzero(beliefs[shown] > 0.0)
    starts = np.searchsorted(row, np.arange(len(shown) + 1)).astype(np.int32)
    return pa.table(
        {
            "respondent": respondent.take(pa.array(shown)),
            "step": pa.array(np.full(len(shown), release, dtype=np.int32)),
            "values": pa.ListArray.from_arrays(starts, pa.array(value.astype(np.uint16))),
            "probabilities": pa.ListArray.from_arrays(starts, pa.array(beliefs[shown[row], value])),
        }
    )


def dense_beliefs(block: pa.Table, m: int) -> tuple[FloatArray, IntArray]:
    """Beliefs of the rows that have some, shape ``(k, m)``, and the numbers of these rows, shape ``(k,)``. Cost: O(n + k m)."""
    values, probabilities = block["values"].combine_chunks(), block["probabilities"].combine_chunks()
    sizes = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    seen = np.flatnonzero(sizes > 0)
    beliefs = np.zeros((len(seen), m))
    beliefs[np.repeat(np.arange(len(seen)), sizes[seen]), values.flatten().to_numpy()] = (
        probabilities.flatten().to_numpy()
    )
    return beliefs, seen
