"""Statement about the probability of a sensitive value among respondents with some quasi-identifiers."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foreknow.models import Categorical, Numeric, People
from foreknow.models.arrays import BoolArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import check_kind, check_range, is_number, shown
from foreknow.models.tables.columns.lookalikes import lookalike
from foreknow.models.tables.columns.plain_columns import is_hashable


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ConditionalProbability:
    """Statement P(value | given) = p, or an interval of p: a linear constraint on beliefs (Privacy-MaxEnt).

    Parameters
    ----------
    value : object
        A value of the sensitive domain.
    given : mapping of str to a condition
        Condition of each quasi-identifier that the statement names, as ``{"sex": "f", "age": (20, 29)}``. Of a numeric attribute
        it is a number, or a pair with the lowest and the highest number; of a categorical attribute a value, or a collection of
        values. An empty mapping is about all respondents.
    low : float
        The probability, or the lowest one if ``high`` is given.
    high : float, optional
        The highest probability.

    Raises
    ------
    TypeError, ValueError
        If ``given`` is no mapping of names, a probability is not from 0 to 1, or ``low`` is above ``high``. When used with a
        release, if an attribute, a value or a condition does not fit its schema.

    Examples
    --------
    >>> rare = ConditionalProbability("breast cancer", {"sex": "m"}, 0, 0.01)
    >>> rare
    ConditionalProbability(P('breast cancer' | sex='m') from 0 to 0.01)
    """

    value: Hashable
    given: Mapping[str, Any]
    low: float
    high: float | None = field(default=None)

    def __post_init__(self) -> None:
        owner = "ConditionalProbability"
        if not is_hashable(self.value):
            raise TypeError(f"{owner}: value is {shown(self.value)}; it is a value of the sensitive domain.")
        takes = "maps names of quasi-identifiers to conditions, as {'sex': 'f', 'age': (20, 29)}"
        check_kind(owner, "given", self.given, Mapping, takes)
        for name in self.given:
            check_kind(owner, "a name in given", name, str, "is the name of a quasi-identifier")
        object.__setattr__(self, "given", dict(self.given))
        check_range(owner, "low", self.low, 0, 1, "a probability")
        if self.high is not None:
            check_range(owner, "high", self.high, 0, 1, "a probability")
            if self.low > self.high:
                raise ValueError(f"{owner}: low is {self.low!r} and high {self.high!r}; low must not be above high.")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={condition!r}" for name, condition in self.given.items())
        is_exact = self.high is None or self.high == self.low
        share = f"= {self.low:g}" if is_exact else f"from {self.low:g} to {self.high:g}"
        return f"ConditionalProbability(P({self.value!r}{f' | {given}' if given else ''}) {share})"

    @property
    def interval(self) -> tuple[float, float]:
        """Lowest and highest probability."""
        return float(self.low), float(self.low if self.high is None else self.high)

    def position(self, people: People) -> int:
        """Position of the value in the sensitive domain of some respondents.

        Raises
        ------
        ValueError
            If the domain does not contain it.
        """
        check_kind("ConditionalProbability", "people", people, People, "is People, as view.people")
        values = people.schema.values
        if self.value not in values:
            raise ValueError(
                f"{self!r}: the value is not in the sensitive domain, {', '.join(map(str, values[:8]))}"
                f"{', ...' if len(values) > 8 else ''}.{lookalike(self.value, values)}"
            )
        return values.index(self.value)

    def matches(self, people: People) -> BoolArray:
        """Respondents that the statement is about: bool array, shape ``(n,)``. Cost: O(n) for each condition.

        Raises
        ------
        ValueError
            If an attribute is no quasi-identifier, or its condition does not fit it.
        """
        check_kind("ConditionalProbability", "people", people, People, "is People, as view.people")
        kinds = people.schema.quasi_identifiers
        found = np.ones(len(people), dtype=np.bool_)
        for name, condition in self.given.items():
            if name not in kinds:
                raise ValueError(f"{self!r}: {name!r} is no quasi-identifier; there are {', '.join(map(str, kinds))}.")
            codes = people.quasi_identifiers[:, list(kinds).index(name)]
            kind = kinds[name]
            if isinstance(kind, Numeric):
                low, high = self._bounds(name, condition)
                found &= (low <= codes) & (codes <= high)
            else:
                found &= np.isin(codes, self._positions(name, kind, condition))
        return found

    def _bounds(self, name: str, condition: Any) -> tuple[float, float]:
        ends = condition if isinstance(condition, tuple | list) else (condition, condition)
        if len(ends) != 2 or not all(is_number(end, -np.inf) for end in ends) or ends[0] > ends[1]:
            raise ValueError(
                f"{self!r}: the condition of {name!r} is {shown(condition)}; of a numeric attribute it is a number, or a pair of "
                "increasing numbers."
            )
        return float(ends[0]), float(ends[1])

    def _positions(self, name: str, kind: Categorical, condition: Any) -> list[int]:
        """Positions of the values of a condition in the attribute's domain."""
        is_value = is_hashable(condition) and condition in kind.values
        is_several = isinstance(condition, Collection) and not isinstance(condition, str | bytes)
        values = [condition] if is_value or not is_several else list(condition)
        for value in values:
            if not (is_hashable(value) and value in kind.values):
                raise ValueError(
                    f"{self!r}: the condition of {name!r} names {shown(value)}; it must be {kind.domain}."
                    f"{lookalike(value, kind.values)}"
                )
        return [kind.values.index(value) for value in values]
