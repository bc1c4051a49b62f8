"""How many new records of each value join which signature, so that every signature shows its values equally often."""

import numpy as np

from foreknow.models.arrays import BoolArray, IntArray


def balance(buckets: BoolArray, survivors: IntArray, fresh: IntArray) -> IntArray:
    """Number of new records of each value that a bucket takes in, to show each value as often as its most frequent one.

    All that are lacking, while there are any; the first buckets are served first. A record taken in saves a counterfeit
    here, and costs at most one among those that are left (`padding`), so that nothing else needs fewer counterfeits.

    Parameters
    ----------
    buckets : bool array, shape (b, v)
        The signatures, a set of the v values each.
    survivors : int array, shape (b, v)
        How often each value occurs in each bucket.
    fresh : int array, shape (v,)
        How many new records there are of each value.

    Returns
    -------
    int array, shape (b, v)
    """
    lacking = np.where(buckets, survivors.max(axis=1, initial=0)[:, None] - survivors, 0)
    return served(lacking, fresh)


def served(wanted: IntArray, there: IntArray) -> IntArray:
    """Each row's share of what it wants, ``(b, v)``, where there is only so much of each column; the first come first."""
    before = np.cumsum(wanted, axis=0) - wanted
    return np.asarray(np.clip(there - before, 0, wanted))


def padding(rest: IntArray, frequent: IntArray, m: int, rng: np.random.Generator | None = None) -> IntArray:
    """The fewest counterfeits of each value that make new records eligible: int array, shape ``(v,)``.

    No value is padded beyond the most frequent one, for then more counterfeits would be needed.

    Parameters
    ----------
    rest : int array, shape (v,)
        How many new records there are of each value.
    frequent : int array, shape (v,)
        How often values occur: of those that equally many new records have, the more frequent ones are padded.
    m : int
        At most v.
    rng : numpy.random.Generator, optional
        Draws the value of each counterfeit in proportion to ``frequent``, among the values that have room, so that counterfeits
        look like records. Without it the values with the most new records are padded first.
    """
    needed = max(m * int(rest.max()) - int(rest.sum()), 0)
    if rng is not None:
        return _drawn(rest.max() - rest, frequent, needed, rng)
    order = np.lexsort((-frequent, -rest))
    room = rest.max() - rest[order]
    padded = np.zeros_like(rest)
    padded[order] = np.clip(needed - (np.cumsum(room) - room), 0, room)
    return padded


def _drawn(room: IntArray, frequent: IntArray, needed: int, rng: np.random.Generator) -> IntArray:
    """Draw a number of values in proportion to how frequent they are, none more often than it has room; the rest evenly."""
    drawn = np.zeros_like(room)
    while drawn.sum() < needed:
        open_ = drawn < room
        weight = frequent * open_ if (frequent * open_).any() else open_
        drawn = np.minimum(drawn + rng.multinomial(needed - drawn.sum(), weight / weight.sum()), room)
    return drawn


def assign(rest: IntArray, m: int) -> tuple[BoolArray, IntArray]:
    """Eligible records dealt out to signatures, equally many of each of a signature's values.

    In each step a records of each of the b most frequent values are dealt: b, from m on, is the smallest number that leaves
    the others eligible for some ``a >= 1``, and a the largest. There is one: with q the whole part of the number of records
    over m, dealing one record of each value that has q of them does, or of the m most frequent.

    Parameters
    ----------
    rest : int array, shape (v,)
        How many records there are of each value; m times the most is at most all.
    m : int

    Returns
    -------
    signatures : bool array, shape (s, v)
        One per step.
    records : int array, shape (s,)
        How many of each of its values.
    """
    left, signatures, records = rest.copy(), [], []
    while left.any():
        values, dealt = _step(left, m)
        left[values] -= dealt
        signatures.append(np.isin(np.arange(len(left)), values))
        records.append(dealt)
    return np.array(signatures, dtype=bool).reshape(-1, len(rest)), np.array(records, dtype=np.int64)


def _step(left: IntArray, m: int) -> tuple[IntArray, int]:
    order = np.argsort(-left, kind="stable")
    sorted_down, total = left[order], int(left.sum())
    b = np.arange(m, len(left) + 1)
    most = np.minimum(sorted_down[m - 1 :], (total - m * np.append(sorted_down[m:], 0)) // b)
    most[1:] = np.minimum(most[1:], (total - m * sorted_down[0]) // (b[1:] - m))
    first = int(np.argmax(most >= 1))
    return order[: b[first]], int(most[first])
