"""What is given away by two classes having been merged: the minimality attack on a defense that merges only where it must."""

from math import comb

from foreknow.models.settings import check_whole


def merge_credibility(first: int, second: int, sensitive: int, l: int) -> tuple[float, float]:  # noqa: E741
    """How sure one can be that a member of each of two merged classes is sensitive, knowing that they had to be merged.

    Somebody who knows who is in each class, sees ``sensitive`` of the merged values in the sensitive set, and knows that
    the defense merges only classes of which one on its own has more than one in l sensitive records, keeps the worlds in
    which that is so. With i of the s sensitive records in the first class of a, the second having b, a world weighs
    ``C(a, i) C(b, s - i)``, the ways to choose them; members are sensitive with probability ``i / a`` and ``(s - i) / b``.

    Parameters
    ----------
    first, second : int
        How many records each class has.
    sensitive : int
        How many of the records of both are sensitive.
    l : int
        One in l records of a class may be sensitive.

    Returns
    -------
    tuple of float
        The credibility for a member of the first and of the second class.

    Raises
    ------
    ValueError
        If a class has no record, more are sensitive than there are, or neither class can have been violating.

    Notes
    -----
    Wong, Fu, Wang, Pei, VLDB 2007, for two classes and with no further tie-break of it: a reconstruction. m-confidentiality
    asks it to be at most 1/m. Exact. Cost: O(first).

    Examples
    --------
    Two of six are sensitive, one in three; but only both of the first class make it violating.

    >>> merge_credibility(2, 4, 2, 2)
    (1.0, 0.0)
    """
    for name, number in (("first", first), ("second", second), ("l", l)):
        check_whole("merge_credibility", name, number, "records")
    if not 0 <= sensitive <= first + second:
        raise ValueError(
            f"merge_credibility: {sensitive} records of {first + second} are sensitive; it is 0 to all of them."
        )
    possible = range(max(0, sensitive - second), min(first, sensitive) + 1)
    kept = [i for i in possible if i * l > first or (sensitive - i) * l > second]
    if not kept:
        raise ValueError(
            f"merge_credibility: with {sensitive} sensitive records, classes of {first} and {second} never violate one in "
            f"{l}; a defense that merges only where it must leaves them apart."
        )
    weights = [comb(first, i) * comb(second, sensitive - i) for i in kept]
    expected = sum(weight * i for weight, i in zip(weights, kept, strict=True)) / sum(weights)
    return expected / first, (sensitive - expected) / second
