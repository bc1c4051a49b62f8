"""Balancing and assignment of m-invariance: numbers of new records and counterfeits in each bucket."""

import numpy as np

from foreknow.models.arrays import BoolArray, IntArray


def balance(buckets: BoolArray, survivors: IntArray, fresh: IntArray) -> IntArray:
    """Balancing: number of new records of each value that each bucket takes in.

    A bucket is balanced if it has each value of its signature as often as its most frequent one. It takes in all records that it
    lacks while there are any; earlier buckets come first. A record taken in saves one counterfeit here and costs at most one
    among the remaining records (`eligibility_counterfeits`), so that no other choice needs fewer counterfeits.

    Parameters
    ----------
    buckets : bool array, shape (b, v)
        Signature of each bucket, a set of the v values.
    survivors : int array, shape (b, v)
        Number of records of each value in each bucket.
    fresh : int array, shape (v,)
        Number of new records of each value.

    Returns
    -------
    int array, shape (b, v)
    """
    lacking = np.where(buckets, survivors.max(axis=1, initial=0)[:, None] - survivors, 0)
    return allocate(lacking, fresh)


def allocate(wanted: IntArray, available: IntArray) -> IntArray:
    """Number of units that each row receives in each column, ``(b, v)``, of ``(v,)`` available ones; earlier rows come first."""
    before = np.cumsum(wanted, axis=0) - wanted
    return np.asarray(np.clip(available - before, 0, wanted))


def eligibility_counterfeits(
    rest: IntArray, frequency: IntArray, m: int, rng: np.random.Generator | None = None
) -> IntArray:
    """Least number of counterfeits of each value that makes the new records m-eligible: int array, shape ``(v,)``.

    Records are m-eligible if no value has more than one in m of them. No value is filled beyond the most frequent one, since
    more counterfeits would then be needed.

    Parameters
    ----------
    rest : int array, shape (v,)
        Number of new records of each value.
    frequency : int array, shape (v,)
        Number of records of each value in the view.
    m : int
        At most v.
    rng : numpy.random.Generator, optional
        Draws the value of each counterfeit in proportion to ``frequency`` among the values that are below the most frequent
        one, so that counterfeits resemble records. Without it, the values with the most new records are filled first; of
        equal ones, the values with the highest frequency.
    """
    needed = max(m * int(rest.max()) - int(rest.sum()), 0)
    if rng is not None:
        return _draw_values(rest.max() - rest, frequency, needed, rng)
    order = np.lexsort((-frequency, -rest))
    room = rest.max() - rest[order]
    counterfeits = np.zeros_like(rest)
    counterfeits[order] = np.clip(needed - (np.cumsum(room) - room), 0, room)
    return counterfeits


def _draw_values(room: IntArray, frequency: IntArray, needed: int, rng: np.random.Generator) -> IntArray:
    """Counts of a number of values drawn in proportion to frequency, none above its room; of frequency 0, drawn evenly."""
    drawn = np.zeros_like(room)
    while drawn.sum() < needed:
        below = drawn < room
        weight = frequency * below if (frequency * below).any() else below
        drawn = np.minimum(drawn + rng.multinomial(needed - drawn.sum(), weight / weight.sum()), room)
    return drawn


def assign(rest: IntArray, m: int) -> tuple[BoolArray, IntArray]:
    """Assignment: eligible records go to signatures, equally many of each value of a signature.

    Each step assigns a records of each of the b most frequent values. Here b, at least m, is the smallest number that leaves the
    others eligible for some ``a >= 1``, and a is the largest such number. A step always exists: let q be the integer part of the
    number of records over m. One record of each value with q records can be assigned, or of the m most frequent values.

    Parameters
    ----------
    rest : int array, shape (v,)
        Number of records of each value; m times the largest is at most the sum.
    m : int

    Returns
    -------
    signatures : bool array, shape (s, v)
        One for each step.
    records : int array, shape (s,)
        Number of records of each of its values.
    """
    left, signatures, records = rest.copy(), [], []
    while left.any():
        values, number = _assignment_step(left, m)
        left[values] -= number
        signatures.append(np.isin(np.arange(len(left)), values))
        records.append(number)
    return np.array(signatures, dtype=bool).reshape(-1, len(rest)), np.array(records, dtype=np.int64)


def _assignment_step(left: IntArray, m: int) -> tuple[IntArray, int]:
    """The b values of a step, and the number a of records of each.

    With counts sorted in descending order and b values of them taken a times, the rest is eligible if m times its largest count
    is at most its sum. That gives two bounds on a: from the count in place b, which is untouched, and, for b > m, from the
    largest count less a.
    """
    order = np.argsort(-left, kind="stable")
    counts, total = left[order], int(left.sum())
    b = np.arange(m, len(left) + 1)
    a = np.minimum(counts[m - 1 :], (total - m * np.append(counts[m:], 0)) // b)
    a[1:] = np.minimum(a[1:], (total - m * counts[0]) // (b[1:] - m))
    first = int(np.argmax(a >= 1))
    return order[: b[first]], int(a[first])
