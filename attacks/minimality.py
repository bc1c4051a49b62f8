"""Minimality attack: inference from the fact that a publisher merged two classes."""

from math import comb

from foreknow.models.settings import check_array_size, check_whole, is_whole


def merge_credibility(first: int, second: int, holders: int, l: int) -> tuple[float, float]:  # noqa: E741
    """Posterior probability that a member of each of two merged classes is sensitive, given that they were merged.

    The adversary knows the members of each class and that the publisher merges two classes only if one of them has more than one
    sensitive record in l. Worlds in which neither class violates this rule are excluded. With s sensitive records, i of them in the
    first class of a records, the second having b, a world has the weight ``C(a, i) C(b, s - i)``, and members are sensitive with
    probabilities ``i / a`` and ``(s - i) / b``.

    Parameters
    ----------
    first, second : int
        Number of records of each class.
    holders : int
        Number of sensitive records of both classes.
    l : int
        A class may have one sensitive record in l.

    Returns
    -------
    tuple of float
        Credibility for a member of the first and of the second class.

    Raises
    ------
    ValueError
        If a class has no record, if there are more sensitive records than records, or if neither class can violate the rule.

    Notes
    -----
    Wong, Fu, Wang, Pei, VLDB 2007, for two classes; a reconstruction. m-confidentiality requires a credibility of at most 1/m.
    Exact. Cost: O(first).

    Examples
    --------
    Two of six records are sensitive, one in three. Only if both are in the first class does a class violate the rule.

    >>> merge_credibility(2, 4, 2, 2)
    (1.0, 0.0)
    """
    for name, number in (("first", first), ("second", second), ("l", l)):
        check_whole("merge_credibility", name, number, "records")
    if not is_whole(holders, 0) or holders > first + second:
        raise ValueError(
            f"merge_credibility: {holders} records of {first + second} are sensitive; it is 0 to all of them."
        )
    first, second, holders, l = int(first), int(second), int(holders), int(l)  # noqa: E741
    fewest, most = max(0, holders - second), min(first, holders)
    check_array_size("merge_credibility", numbers_of_holders_in_the_first_class=most - fewest + 1)
    possible = range(fewest, most + 1)
    kept = [i for i in possible if i * l > first or (holders - i) * l > second]
    if not kept:
        raise ValueError(
            f"merge_credibility: with {holders} sensitive records, classes of {first} and {second} never violate one in "
            f"{l}; a defense that merges only where it must leaves them apart."
        )
    weights = [comb(first, i) * comb(second, holders - i) for i in kept]
    expected = sum(weight * i for weight, i in zip(weights, kept, strict=True)) / sum(weights)
    return expected / first, (holders - expected) / second
