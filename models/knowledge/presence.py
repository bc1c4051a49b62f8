"""What leaving and returning tell: hazards of each value, read as evidence of single records."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.knowledge.class_frequencies import class_codes, class_cuts, class_shape, increasing_cuts
from foreknow.models.knowledge.parts import Knowledge, Visits
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
    adversary tells a withheld record from an absent respondent. Whoever sees published records alone cannot. A record that is not
    published has evidence only if it is in the law, as with ``gaps="power"``.

    How long a pause lasts is taken to be independent of the value. Arrivals tell nothing: the prior is that of newcomers. None of
    the five papers reads presence. Cost: O(n m) per release.

    Examples
    --------
    Half of those with the second value leave, nobody with the first one:

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
            wrong = ~((chances >= 0) & (chances <= 1))
            if wrong.any():
                where = ", ".join(map(str, np.argwhere(wrong)[0]))
                raise ValueError(f"Presence: {name} is {chances[wrong][0]:g} at [{where}]; chances are from 0 to 1.")
        if self.back is not None:
            check_range("Presence", "back", self.back, 0, 1, "a chance per release")
        if self.pause is not None and not self.back:
            raise ValueError(
                "Presence: there are chances of a pause and none of coming back; give back, the chance of returning at each release."
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
        A record at the last release tells nothing. Where nobody returns after a pause, ``pause`` and ``back`` are None. A respondent who is absent at the end, and would have returned later, counts as
        one who left: chances of leaving are too high where pauses are longer than the history after them.
        """
        cuts, counts, back = _outcomes("Presence.fit", history, classes, pseudo_count)
        totals = counts.sum(axis=0)
        if not totals.all():
            at = tuple(np.argwhere(totals == 0)[0])
            where = f" in class {at[:-1]}" if cuts else ""
            raise ValueError(
                f"Presence.fit: no record before the last release has the value {history.schema.values[at[-1]]!r}{where}; give a "
                "pseudo_count over 0."
            )
        chances = counts / totals
        return cls(chances[0], chances[1] if len(chances) == 3 else None, back, cuts)

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
        history, classes
            As for `fit`.
        number : int
            Number of draws.
        pseudo_count : float
            Concentration of the Dirichlet prior of leaving, pausing and staying after each value; over 0.
        rng : numpy.random.Generator or int, optional
            Source of randomness.

        Notes
        -----
        Exact draws for leave and pause; ``back`` is its estimate, as in `fit`.
        """
        check_whole("Presence.draws", "number", number, "draws")
        check_range("Presence.draws", "pseudo_count", pseudo_count, 0, MAX_FLOAT, "added to counts", excluded=(0,))
        cuts, counts, back = _outcomes("Presence.draws", history, classes, pseudo_count)
        generator = as_generator("Presence.draws", rng, optional=True)
        drawn = generator.standard_gamma(counts, size=(int(number), *counts.shape))
        drawn /= drawn.sum(axis=1, keepdims=True)
        return tuple(cls(one[0], one[1] if len(one) == 3 else None, back, cuts) for one in drawn)

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
        pause = None if self.pause is None or self.back is None else self.pause.reshape(-1, m)
        chances = np.stack([leave, 1 - leave, 1 - leave])
        if pause is not None and self.back is not None:
            chances = np.stack([leave + pause * (1 - self.back) ** (after - 1), pause, 1 - leave - pause])
        own = class_codes(self.cuts or {}, visits.people)
        return np.asarray(chances[_outcome(visits.following, visits.release), own])


def _outcomes(
    owner: str, history: History, classes: Mapping[str, int | None] | None, pseudo_count: float
) -> tuple[dict[str, tuple[float, ...]], FloatArray, float | None]:
    """Cuts into classes; counts of leaving, pausing and staying, shape ``(3, c_1, ..., c_a, m)``; chance of coming back.

    Without a pause in the history the counts are of leaving and staying alone, and the chance is None.
    """
    check_kind(owner, "history", history, History)
    check_range(owner, "pseudo_count", pseudo_count, 0, MAX_FLOAT, "added to counts")
    cuts = class_cuts(owner, history.schema, classes or {})
    shape = class_shape(cuts)
    counts = np.zeros((3, int(np.prod(shape, dtype=np.int64)), len(history.schema.values)))
    views = list(history)
    following, absent = following_releases([view.people for view in views]), 0
    for t, view in enumerate(views[:-1]):
        outcome = _outcome(following[t], t)
        np.add.at(counts, (outcome, class_codes(cuts, view.people), view.sensitive), 1.0)
        absent += int((following[t] - t - 1)[outcome == PAUSES].sum())
    pauses = counts[PAUSES].sum()
    kept = counts if pauses else counts[[LEAVES, STAYS]]
    return cuts, kept.reshape(len(kept), *shape, -1) + pseudo_count, float(pauses / absent) if pauses else None


LEAVES, PAUSES, STAYS = range(3)
"""What a respondent does after a release, as the later ones show it."""


def _outcome(following: IntArray, release: int) -> IntArray:
    """`LEAVES`, `PAUSES` or `STAYS` of each respondent of a release, by the next release that lists them, -1 for none."""
    return np.where(following < 0, LEAVES, np.where(following > release + 1, PAUSES, STAYS))


def following_releases(people: "list[People]") -> list[IntArray]:
    """For each release, the number of the next release that lists each of its respondents; -1 for none. Cost: O(records)."""
    found: list[IntArray] = []
    later: dict[Hashable, int] = {}
    for number in range(len(people) - 1, -1, -1):
        respondents = people[number].respondents.tolist()
        found.append(np.array([later.get(respondent, -1) for respondent in respondents], dtype=np.int64))
        later.update(dict.fromkeys(respondents, number))
    return found[::-1]
