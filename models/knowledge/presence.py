"""Chances of leaving and returning after each value, read as evidence of single records."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.knowledge.class_frequencies import class_codes, class_cuts, class_shape, increasing_cuts
from foreknow.models.knowledge.parts import Knowledge, Visits
from foreknow.models.problem import DOUBT, ROW_SUM_TOLERANCE, rows_of_counts
from foreknow.models.settings import MAX_FLOAT, as_floats, as_generator, check_kind, check_range, check_whole
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Presence(Knowledge):
    """Chances of leaving for good and of pausing after each value, so that being listed or not is evidence of the value.

    After a release a respondent who has the value v leaves for good with the chance ``leave[v]``, is absent for at least one
    release with ``pause[v]``, and is listed again at the next one otherwise. From the second release of a pause on, a respondent
    returns with the chance ``back`` at each. The likelihood of v at a record is then, with g the number of releases after it::

        listed next               1 - leave(v) - pause(v)
        absent next, back later   pause(v)
        not listed again, g > 0   leave(v) + pause(v) (1 - back)^(g - 1)
        at the last release       1

    Parameters
    ----------
    leave : float array, shape (m,) or (c_1, ..., c_a, m)
        Chance of leaving for good after each value, in the order of the schema; for each class, if there are ``cuts``.
    pause : float array of the same shape, optional
        Chance of being absent next, and of returning later. Without it, pauses say nothing of the value: the likelihood of a
        record before one is ``1 - leave``.
    back : float, optional
        Chance of returning at each release after the first one of a pause, over 0; required with ``pause``.
    cuts : mapping of str to tuple of float, optional
        Cuts of quasi-identifiers into classes, as for `ClassFrequencies`.

    Raises
    ------
    TypeError, ValueError
        If chances are no numbers from 0 to 1, leave + pause is over 1, shapes differ, or ``pause`` is given without ``back``.

    Notes
    -----
    Respondents whom a defense withholds are listed: an observation has them among its people, outside all groups, so that the
    adversary tells a withheld record from an absent respondent. A reader of published records alone cannot. What leaving after
    a withheld record tells is read of that record alone, unless the chain takes a step at it (``gaps="power"``).

    How long a pause lasts is taken to be independent of the value, and its probability is no part of the evidence by which draws of
    an `Averaged` adversary are weighed; forward in time, those weights are of the multisets alone. Arrivals tell nothing: the prior
    is that of newcomers. None of the five papers reads presence. Cost: O(n m) per release.

    Examples
    --------
    Half of those with the second value leave, and none with the first one:

    >>> Presence([0.0, 0.5]).leave.tolist()
    [0.0, 0.5]
    """

    leave: FloatArray
    pause: FloatArray | None = None
    back: float | None = None
    cuts: Mapping[str, tuple[float, ...]] | None = None

    name = "presence"

    def __post_init__(self) -> None:
        cuts = increasing_cuts(self.cuts or {})
        takes = "is a float array of shape (m,), a chance for each value, or with cuts (c_1, ..., c_a, m)"
        leave = as_floats("Presence", "leave", self.leave, takes)
        pause = np.zeros(leave.shape) if self.pause is None else as_floats("Presence", "pause", self.pause, takes)
        shape = class_shape(cuts)
        if leave.ndim != len(shape) + 1 or leave.shape[:-1] != shape or pause.shape != leave.shape:
            raise ValueError(
                f"Presence: the cuts make classes {shape}, leave has shape {leave.shape} and pause {pause.shape}; both have one "
                "chance for each class and value."
            )
        for name, chances in (("leave", leave), ("pause", pause), ("leave + pause", leave + pause)):
            wrong = ~((chances >= 0) & (chances <= 1 + ROW_SUM_TOLERANCE))
            if wrong.any():
                where = ", ".join(map(str, np.argwhere(wrong)[0]))
                raise ValueError(f"Presence: {name} is {chances[wrong][0]:g} at [{where}]; chances are from 0 to 1.")
        if self.back is not None:
            check_range("Presence", "back", self.back, 0, 1, "a chance per release")
        if self.pause is not None and not self.back:
            raise ValueError(
                "Presence: there are chances of a pause and none of coming back; give back, the chance of returning at a release."
            )
        set_fields(self, leave=leave, pause=None if self.pause is None else pause, cuts=cuts)

    @classmethod
    def fit(
        cls, history: History, classes: Mapping[str, int | None] | None = None, pseudo_count: float = 0.0
    ) -> "Presence":
        """Estimate the chances from a history with true values.

        Parameters
        ----------
        history : History
        classes : mapping of str to int or None, optional
            Attributes that define classes, as for `ClassFrequencies.fit`. One class by default.
        pseudo_count : float
            Number added to the departures, the pauses and the stays of each value (concentration of a symmetric Dirichlet prior).

        Raises
        ------
        ValueError
            If a value of a class has no record before the last release and ``pseudo_count`` is 0.

        Notes
        -----
        A record at the last release tells nothing. Where no respondent returns after a pause, ``pause`` and ``back`` are None, and
        the chances of leaving are relative frequencies. Otherwise those who are not listed again have left or pause still: the
        chances are those of highest likelihood, by expectation-maximization, with ``back`` estimated first, as if they were equal
        for all values.
        """
        cuts, counts, back = _counts("Presence.fit", history, classes, pseudo_count)
        _check_seen(counts, cuts, history.schema.values)
        return cls._of_outcomes(counts / counts.sum(axis=0), back, cuts)

    @classmethod
    def _of_outcomes(cls, chances: FloatArray, back: float | None, cuts: Mapping[str, tuple[float, ...]]) -> "Presence":
        return cls(chances[LEAVES], None if back is None else chances[PAUSES], back, cuts)

    @classmethod
    def draws(
        cls,
        history: History,
        number: int,
        classes: Mapping[str, int | None] | None = None,
        pseudo_count: float = 0.5,
        rng: np.random.Generator | int | None = None,
    ) -> "tuple[Presence, ...]":
        """Draws of the chances from their posterior given a history with true values, for an `Averaged` adversary.

        Parameters
        ----------
        history : History
        number : int
            Number of draws.
        classes
            As for `fit`.
        pseudo_count : float
            Concentration of the Dirichlet prior of leaving, pausing and staying after each value; over 0.
        rng : numpy.random.Generator or int, optional
            Source of randomness.

        Notes
        -----
        Exact without pauses. Otherwise draws are from the Dirichlet law of the expected numbers of departures and pauses among
        those who are not listed again, and ``back`` is its estimate, as in `fit`: somewhat too narrow.
        """
        check_whole("Presence.draws", "number", number, "draws")
        check_range("Presence.draws", "pseudo_count", pseudo_count, 0, MAX_FLOAT, "added to counts", excluded=(0,))
        cuts, counts, back = _counts("Presence.draws", history, classes, pseudo_count)
        generator = as_generator("Presence.draws", rng, optional=True)
        drawn = generator.standard_gamma(counts, size=(int(number), *counts.shape))
        drawn /= drawn.sum(axis=1, keepdims=True)
        return tuple(cls._of_outcomes(one, back, cuts) for one in drawn)

    def terminal[V](self, values: Sequence[V], over: float = 0.5) -> tuple[V, ...]:
        """Values after which more respondents leave for good than a share, in each class; those of the largest chance first.

        Parameters
        ----------
        values : sequence
            Sensitive values of the schema, in its order.
        over : float
            Chance of leaving that each class exceeds. Such values may be declared ``terminal`` for `foreknow.defenses.Cohorts`.

        Raises
        ------
        ValueError
            If there is another number of values, or ``over`` is no chance.

        Examples
        --------
        >>> Presence([0.6, 0.1, 0.9]).terminal(["ill", "well", "dead"])
        ('dead', 'ill')
        """
        check_range("Presence.terminal", "over", over, 0, 1, "a chance of leaving")
        least = self.leave.reshape(-1, self.leave.shape[-1]).min(axis=0)
        if len(values) != len(least):
            raise ValueError(f"Presence.terminal: there are chances for {len(least)} values, and {len(values)} values.")
        return tuple(values[v] for v in np.argsort(-least, kind="stable") if least[v] > over)

    def evidence(self, visits: Visits) -> FloatArray | None:
        """Likelihood of each value of the respondents of a release, shape ``(n, m)``, by when each is listed again."""
        after = visits.last - visits.release
        if not after:
            return None
        m = self.leave.shape[-1]
        if m != len(visits.people.schema.values):
            raise ValueError(
                f"Presence: there are chances for {m} values, and the domain has {len(visits.people.schema.values)}."
            )
        leave = self.leave.reshape(-1, m)
        chances = np.stack([leave, 1 - leave, 1 - leave])
        if self.pause is not None and self.back is not None:
            pause = self.pause.reshape(-1, m)
            chances = np.stack(
                [leave + pause * (1 - self.back) ** (after - 1), pause, np.maximum(1 - leave - pause, 0.0)]
            )
        own = class_codes(self.cuts or {}, visits.people)
        return np.asarray(chances[_outcome(visits.following, visits.release), own])


LEAVES, PAUSES, STAYS = range(3)
"""What a respondent does after a release, as far as the later ones show it."""

ROUNDS, CONVERGED = 1000, 1e-10
"""Largest number of rounds of expectation-maximization of chances, and the change at which it stops."""


def _outcome(following: IntArray, release: IntArray | int) -> IntArray:
    """`LEAVES`, `PAUSES` or `STAYS` of each respondent of a release, by the next release that lists them, -1 for none."""
    return np.where(following < 0, LEAVES, np.where(following > release + 1, PAUSES, STAYS))


class Outcomes(NamedTuple):
    """Departure, pause (where there are any) or stay of the respondent of each record, in the order of chances.

    Attributes
    ----------
    kinds : int array, shape (E, 2)
        Outcome of each kind of record, as a row of the chances, and for those who are not listed again the number of releases after
        it, as they may pause still.
    row : int array, shape (R,)
        Kind of each record; -1 at the last release.
    numbers : float array, shape (E,)
        Number of records of each kind.
    back : float or None
        Chance of coming back at each release after the first one of a pause; None without pauses.
    """

    kinds: IntArray
    row: IntArray
    numbers: FloatArray
    back: float | None

    @classmethod
    def of(cls, following: Sequence[IntArray]) -> "Outcomes":
        """Of the respondents of all releases, one after the other; ``following`` is that of `following_releases`."""
        release = np.repeat(np.arange(len(following)), [len(each) for each in following])
        later = np.concatenate([np.zeros(0, dtype=np.int64), *following])
        return cls.of_counts(release, later, len(following) - 1, np.ones(len(later)))

    @classmethod
    def of_counts(cls, release: IntArray, later: IntArray, last: int, number: FloatArray) -> "Outcomes":
        """Of records by release and next release that lists the respondent, each of which stands for a ``number`` of records."""
        outcome, length = _outcome(later, release), np.where(later < 0, last - release, 0)
        known = np.flatnonzero(release < last)
        paused = np.flatnonzero((outcome == PAUSES) & (release < last))
        returns, absent = float(number[paused].sum()), float(((later - release - 1) * number)[paused].sum())
        if not len(paused):
            outcome, length = np.where(outcome == STAYS, 1, outcome), 0 * length
        kinds, own = np.unique(np.stack([outcome, length], axis=1)[known], axis=0, return_inverse=True)
        row = np.full(len(later), -1, dtype=np.int64)
        row[known] = own.reshape(-1)
        numbers = np.bincount(own.reshape(-1), weights=number[known], minlength=len(kinds))
        found = cls(kinds.astype(np.int64), row, numbers, returns / absent if absent else None)
        return found._with_back(returns, absent) if absent else found

    def _with_back(self, returns: float, absent: float) -> "Outcomes":
        """With the chance of coming back of highest likelihood if the chances of all values are equal."""
        found, chances = self, self.start(1)
        numbers = self.numbers[:, None]
        gone, waited = self.kinds[:, 0] == LEAVES, np.maximum(self.kinds[:, 1] - 1, 0)
        for _ in range(ROUNDS):
            still = found.shares(chances)[PAUSES][gone, 0] * numbers[gone, 0]
            counts = found.counts(numbers, chances)
            back = returns / (absent + float((still * waited[gone]).sum()))
            assert found.back is not None
            change = abs(back - found.back)
            found, chances = found._replace(back=back), counts / counts.sum(axis=0)
            if change < CONVERGED:
                break
        return found

    def start(self, m: int) -> FloatArray:
        """Shares of the outcomes, after each of m values, shape ``(o, m)``."""
        counts = np.bincount(self.kinds[:, 0], self.numbers, minlength=2 if self.back is None else 3) + 1.0
        return np.tile((counts / counts.sum())[:, None], (1, m))

    def evidence(self, chances: FloatArray) -> FloatArray:
        """Likelihood of each value of each kind of record, shape ``(E, m)``."""
        return np.maximum(self._parts(chances).sum(axis=0), DOUBT)

    def shares(self, chances: FloatArray) -> FloatArray:
        """Probability of each outcome of each kind of record given its value, shape ``(o, E, m)``."""
        parts = self._parts(chances)
        return np.asarray(parts / np.maximum(parts.sum(axis=0), 1e-300))

    def counts(self, numbers: FloatArray, chances: FloatArray) -> FloatArray:
        """Expected number of each outcome after each value, shape ``(o, m)``, from that of each kind, shape ``(E, m)``."""
        return np.asarray((self.shares(chances) * numbers).sum(axis=1))

    def _parts(self, chances: FloatArray) -> FloatArray:
        outcome, length = self.kinds.T
        parts = np.zeros((len(chances), *np.shape(self.kinds[:, 0]), chances.shape[1]))
        parts[outcome, np.arange(len(outcome))] = chances[outcome]
        if self.back is not None:
            gone = outcome == LEAVES
            parts[PAUSES, gone] = chances[PAUSES] * ((1 - self.back) ** (length[gone] - 1))[:, None]
        return parts

    def knowledge(self, chances: FloatArray) -> Presence:
        """The chances as knowledge."""
        return Presence(chances[LEAVES], None if self.back is None else chances[PAUSES], self.back)


def _counts(
    owner: str, history: History, classes: Mapping[str, int | None] | None, pseudo_count: float
) -> tuple[dict[str, tuple[float, ...]], FloatArray, float | None]:
    """Cuts into classes; expected numbers of outcomes and pseudo-counts, shape ``(o, c_1, ..., c_a, m)``; chance of return."""
    check_kind(owner, "history", history, History)
    check_range(owner, "pseudo_count", pseudo_count, 0, MAX_FLOAT, "added to counts")
    cuts = class_cuts(owner, history.schema, classes or {})
    shape = (*class_shape(cuts), len(history.schema.values))
    views = list(history)
    outcomes = Outcomes.of(following_releases([view.people for view in views]))
    cell = np.concatenate([class_codes(cuts, view.people) * shape[-1] + view.sensitive for view in views])
    counts = _expected(outcomes, cell, np.ones(len(cell)), int(np.prod(shape, dtype=np.int64)), pseudo_count)
    return cuts, counts.reshape(len(counts), *shape), outcomes.back


def presence_of_followed(followed: IntArray, last: int, values: Sequence[Hashable], pseudo_count: float) -> Presence:
    """Chances that `Presence.fit` estimates in one class, from numbers of records.

    Parameters
    ----------
    followed : int array, shape (k, 4)
        Value, release, next release that lists the respondent (-1 for none), and the number of such records.
    last : int
        Number of the last release.
    values : sequence
        Sensitive values of the schema.
    pseudo_count : float
    """
    value, release, following, number = followed.T
    outcomes = Outcomes.of_counts(release, following, last, number.astype(np.float64))
    counts = _expected(outcomes, value, number.astype(np.float64), len(values), pseudo_count)
    _check_seen(counts, {}, values)
    return outcomes.knowledge(counts / counts.sum(axis=0))


def _expected(outcomes: Outcomes, cell: IntArray, number: FloatArray, cells: int, pseudo_count: float) -> FloatArray:
    """Expected numbers of outcomes and pseudo-counts in each cell, by expectation-maximization: shape ``(o, cells)``.

    ``cell`` is the class and value of each record, which stands for a ``number`` of records.
    """
    numbers, known = np.zeros((len(outcomes.kinds), cells)), outcomes.row >= 0
    np.add.at(numbers, (outcomes.row[known], cell[known]), number[known])
    chances = outcomes.start(cells)
    for _ in range(ROUNDS):
        counts = outcomes.counts(numbers, chances) + pseudo_count
        after = rows_of_counts(counts.T, 0.0, chances.T).T
        change, chances = float(np.abs(after - chances).max(initial=0.0)), after
        if outcomes.back is None or change < CONVERGED:
            break
    return counts


def _check_seen(counts: FloatArray, cuts: Mapping[str, tuple[float, ...]], values: Sequence[Hashable]) -> None:
    """Raise ValueError if a value of a class has no record before the last release, and no pseudo-count."""
    totals = counts.sum(axis=0)
    if not totals.all():
        at = tuple(np.argwhere(totals == 0)[0])
        where = f" in class {at[:-1]}" if cuts else ""
        raise ValueError(
            f"Presence.fit: no record before the last release has the value {values[at[-1]]!r}{where}; give a pseudo_count over 0."
        )


def following_releases(people: Sequence[People]) -> list[IntArray]:
    """For each release, the number of the next release that lists each of its respondents; -1 for none. Cost: O(records)."""
    found: list[IntArray] = []
    later: dict[Hashable, int] = {}
    for number in range(len(people) - 1, -1, -1):
        respondents = people[number].respondents.tolist()
        found.append(np.array([later.get(respondent, -1) for respondent in respondents], dtype=np.int64))
        later.update(dict.fromkeys(respondents, number))
    return found[::-1]
