"""Exposed respondents: the one rule by which attack, report and compare judge a publication, in memory and on disk.

The rule has two sides: those whom an attack exposed, and those whom no adversary of its class is proved not to expose. The verdict
compares both with the share of respondents that the publisher lets be exposed.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth
from foreknow.evaluation.risk.bounds import bound
from foreknow.evaluation.risk.respondent_risk import Records, record_risk, worst_records
from foreknow.models import Adversary, Averaged, Beliefs, GhostChain, History, MarkovChain, Observation, UniformPrior
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_kind, check_range


class Verdict(StrEnum):
    """Verdict on a publication, relative to a bound on the share of exposed respondents."""

    WITHIN = "within"
    NOT_DECIDED = "not decided"
    OVER = "over"

    def of(self, bound: float | None) -> str:
        """The verdict and the bound in words; None is the default, by which no one may be exposed.

        Examples
        --------
        >>> Verdict.OVER.of(0.02), Verdict.NOT_DECIDED.of(None)
        ('Over your bound of 2%', 'Not decided for the default bound of 0%')
        """
        told = "the default bound of 0%" if bound is None else f"your bound of {100 * bound:.4g}%"
        return f"{self.capitalize()}{' for' * (self is Verdict.NOT_DECIDED)} {told}"


class TwoSides(NamedTuple):
    """Number of respondents whom an attack exposed, and of those whom adversaries of its class may expose at most.

    Attributes
    ----------
    exposed, respondents : int
        Number of exposed respondents, and of all with a published record.
    at_most : int or None
        Number of those who are exposed, or whose bound on the belief in the true value is sure at a record where the prior is not.
        None without a bound: it holds for none of them, or does not apply.
    cause : str
        Reason for which there is no bound, or the class of adversaries in one line.
    found_by : str
        Source of ``exposed``, in words, if no attack was made.
    """

    exposed: int
    respondents: int
    at_most: int | None
    cause: str = ""
    found_by: str = ""

    @classmethod
    def bounded(
        cls,
        exposed: int,
        respondents: int,
        at_most: int,
        unknown: int,
        sure: float,
        of: str,
        found_by: str = "",
        page: str = "cohorts",
    ) -> "TwoSides":
        """Both sides by a bound for a class of adversaries; without an upper one if it decides for none of the ``unknown``.

        These are the respondents with a record whose value is not known before the releases. ``page`` has the proof.
        """
        if exposed < at_most == unknown:
            return cls(exposed, respondents, None, WITHOUT_BOUND.format(sure=sure, page=page), found_by)
        return cls(exposed, respondents, at_most, of, found_by)

    @property
    def not_decided(self) -> int | None:
        """Number of respondents between the two sides; None without a bound."""
        return None if self.at_most is None else self.at_most - self.exposed

    @property
    def content(self) -> dict[str, Any]:
        """Both sides as JSON has them."""
        return {"at_most": self.at_most, "not_decided": self.not_decided, "bound": self.cause}

    def verdict(self, bound: float | None = None) -> Verdict:
        """Over if a larger share is exposed than the bound, within if at most that share can be, else not decided.

        Parameters
        ----------
        bound : float, optional
            Share of the respondents that may be exposed, 0 to 1; by default 0.

        Examples
        --------
        >>> [str(TwoSides(12, 300, 40).verdict(bound)) for bound in (0.03, 0.1, 0.2)]
        ['over', 'not decided', 'within']
        """
        share, most = self.exposed / max(self.respondents, 1), bound or 0.0
        if share > most:
            return Verdict.OVER
        proved = self.at_most is not None and self.at_most / max(self.respondents, 1) <= most
        return Verdict.WITHIN if proved else Verdict.NOT_DECIDED

    def sentence(self, bound: float | None = None) -> str:
        """The verdict and both sides in words, without the class of adversaries.

        Examples
        --------
        >>> TwoSides(1, 700, 9, "a class").sentence(0.02)
        'Within your bound of 2%: 1 of 700 people is exposed, at most 9 by an adversary of this class.'
        """
        numbers = self.numbers
        return f"{self.verdict(bound).of(bound)}: {numbers[0].lower()}{numbers[1:]}"

    @property
    def numbers(self) -> str:
        """Both sides in words.

        Examples
        --------
        >>> TwoSides(0, 312, None, "no atom has two members").numbers
        'None of 312 people is exposed; no upper side, as no atom has two members.'
        """
        number = f"{self.exposed:,}" if self.exposed else "None"
        told = f"{number} of {self.respondents:,} people {'are' if self.exposed > 1 else 'is'} exposed{self.found_by}"
        if self.at_most is not None:
            return f"{told}, at most {self.at_most:,} by an adversary of this class."
        return f"{told}; no upper side, as {self.cause}." if self.cause else f"{told}."

    @property
    def adversaries(self) -> list[str]:
        """The class of adversaries as a sentence; none without a bound."""
        return [] if self.at_most is None else [f"The class: {self.cause}."]


def worst_sides(sides: Sequence[TwoSides]) -> TwoSides:
    """The larger of each side of several attacks: no bound if one of them has none.

    Examples
    --------
    >>> worst_sides([TwoSides(5, 9, 7, "x"), TwoSides(2, 9, 8, "y"), TwoSides(2, 9, 8, "z")])[:4]
    (5, 9, 8, 'y')
    """
    upper = max(sides, key=lambda each: each.respondents + 1 if each.at_most is None else each.at_most)
    return upper._replace(exposed=max(each.exposed for each in sides))


class Exposure(NamedTuple):
    """Exposed respondents of one attack.

    Attributes
    ----------
    sure : float
        Belief from which an adversary is sure.
    respondents : int
        Number of respondents with a published record.
    exposed : int
        Number of them with a record that `is_exposing`.
    known : int
        Number of the others with a sure belief before any release.
    first : object
        Time of the first release with an exposing record; None if no respondent is exposed.
    people : DataFrame
        One row per respondent, in decreasing order of the belief: `respondent_risk` of the exposing record of highest belief,
        or of the record of highest belief where none is exposing, with ``exposed``. Empty where the respondents are on disk.
    to : str
        The adversary or the attack, in words.
    upper : TwoSides or None
        Both sides of the verdict; None where no bound was computed.
    """

    sure: float
    respondents: int
    exposed: int
    known: int
    first: Any
    people: pd.DataFrame
    to: str = "the attack"
    upper: TwoSides | None = None

    @property
    def sides(self) -> TwoSides:
        """Both sides of the verdict; without an upper one where no bound was computed."""
        return self.upper or TwoSides(self.exposed, self.respondents, None)

    @property
    def share(self) -> float:
        """Share of the respondents that is exposed."""
        return self.exposed / self.respondents if self.respondents else 0.0

    @property
    def at_risk(self) -> pd.DataFrame:
        """Rows of the exposed respondents."""
        return self.people[self.people["exposed"]].reset_index(drop=True)


def is_exposing(belief: Any, prior: Any, sure: float) -> Any:
    """True where a belief in a value is sure, and the belief in the same value before any release was not.

    Parameters
    ----------
    belief, prior : float array, or DuckDB expression
        Beliefs in one value of each record after all releases, and before any. In hindsight, or as the attack has them.
    sure : float
        Belief from which an adversary is sure.

    Examples
    --------
    >>> import numpy as np
    >>> is_exposing(np.array([0.95, 0.95, 0.5]), np.array([0.2, 0.92, 0.2]), 0.9)
    array([ True, False, False])
    >>> from duckdb import ColumnExpression, sql
    >>> records = sql("FROM (VALUES (0.95::DOUBLE, 0.2::DOUBLE), (0.95, 0.92)) AS records(belief, prior)")
    >>> records.filter(is_exposing(ColumnExpression("belief"), ColumnExpression("prior"), 0.9)).fetchall()
    [(0.95, 0.2)]
    """
    return (belief >= sure) & ~is_known(prior, sure)


def is_known(prior: Any, sure: float) -> Any:
    """True where an adversary is sure of the value of a record before any release; shapes as `is_exposing`."""
    return prior >= sure


def exposed(
    beliefs: Beliefs,
    history: History,
    sure: float = 0.9,
    *,
    to: str = "the attack",
    adversary: Adversary | Averaged | None = None,
    hindsight: bool = True,
) -> Exposure:
    """Respondents who are exposed by the beliefs in their true values.

    A respondent is exposed if, at some release, the belief in the true value is sure, and the belief in that value before any
    release was not. A sure prior at one release does not excuse what another release discloses.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack.
    history : History
        The original records.
    sure : float
        Belief from which an adversary is sure, 0 to 1.
    to : str
        The adversary or the attack, in words.
    adversary : Adversary or Averaged, optional
        The adversary of the attack, for the upper side of the verdict.
    hindsight : bool
        If True, the upper side is for beliefs given all releases, otherwise for those given the releases up to each.

    Raises
    ------
    TypeError, ValueError
        As `respondent_risk`; if ``sure`` is not from 0 to 1.

    Notes
    -----
    The upper side is that of `foreknow.evaluation.bound`, and holds for exact beliefs; a respondent who is exposed by an
    approximation is counted on both sides. Cost: O(n log n) for n records in all, and that of `bound`.

    Examples
    --------
    >>> from foreknow.attacks import SequentialAttack
    >>> from foreknow.models import Adversary, History, Numeric, Release, Schema, UniformPrior
    >>> frame = pd.DataFrame({"id": list("abcd"), "week": 1, "age": [3, 4, 7, 8], "result": ["ill", "ill", "well", "ill"]})
    >>> history = History.read(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> found = exposed(SequentialAttack(Adversary(UniformPrior()))([Release(history[0], [0, 0, 1, 1])]), history)
    >>> found.exposed, found.respondents, found.at_risk["respondent"].tolist()
    (2, 4, ['a', 'b'])
    """
    check_range("exposed", "sure", sure, 0, 1, "the belief from which an adversary is sure")
    takes = (Adversary, Averaged, type(None))
    check_kind("exposed", "adversary", adversary, takes, "is an Adversary, or Averaged")
    records = record_risk("exposed", beliefs, history)
    found = exposure_of_records(records, sure, to)
    if adversary is None:
        return found
    upper = _upper(beliefs, history, adversary, hindsight)
    return found._replace(upper=_two_sides(found, records, upper, adversary, hindsight))


def exposure_of_records(records: Records, sure: float, to: str = "the attack") -> Exposure:
    """Exposed respondents by columns ``respondent``, ``time``, ``belief`` and ``prior`` of records, in the order of releases."""
    exposing = is_exposing(records["belief"], records["prior"], sure)
    people = worst_records(records | {"exposed": exposing})
    known = {*records["respondent"][is_known(records["prior"], sure)]} - {*records["respondent"][exposing]}
    first = records["time"][exposing.argmax()] if exposing.any() else None
    return Exposure(sure, len(people), int(people["exposed"].sum()), len(known), first, people, to)


OF_AVERAGED = "the bound is for one law, and the adversary averages over several"
WITHOUT_BOUND = "for each of them the bound is a belief of {sure:g} or more (docs/methods/{page}.md)"
"""Reasons for which there is no bound."""


def counted_sides(observations: Sequence[Observation], sure: float = 0.9) -> TwoSides:
    """The verdict with two sides of released groups alone, without the records.

    Exposed are those in a group that shows one value. The upper side is for adversaries to whom the members of an atom are alike
    before the releases. Returners have no bound. Cost: that of `bound`.

    Parameters
    ----------
    observations : sequence of Observation
        In the order of time.
    sure : float
        Belief from which an adversary is sure.
    """
    published = [np.flatnonzero(seen.group >= 0) for seen in observations]
    names = [seen.people.respondents[rows] for seen, rows in zip(observations, published, strict=True)]
    shown = [
        (seen.counts > 0).sum(axis=1)[seen.group[rows]] for seen, rows in zip(observations, published, strict=True)
    ]
    everyone, shown_alone = {*chain.from_iterable(names)}, set()
    for each, values in zip(names, shown, strict=True):
        shown_alone |= {*each[values == 1]}
    try:
        bounds = bound(observations, alike(observations[0].counts.shape[1]))
    except ValueError as error:
        return TwoSides(len(shown_alone), len(everyone), None, str(error).rstrip("."), COUNTED)
    open_to = set(shown_alone)
    for each, rows, upper in zip(names, published, bounds.upper, strict=True):
        open_to |= {*each[upper[rows].max(axis=1) >= sure]}
    return TwoSides.bounded(len(shown_alone), len(everyone), len(open_to), len(everyone), sure, ALIKE, COUNTED)


def alike(m: int) -> Adversary:
    """Adversary of the class of `counted_sides`, for a domain of m values."""
    # Of all chains, the one that never moves tells most of who returns; that of members who stay cancels, whichever it is.
    return Adversary(UniformPrior(), MarkovChain(1, np.eye(m)), mechanism=GhostChain())


COUNTED = " by groups of one value"
"""Source of the lower side without an attack."""

ALIKE = (
    "a wider one than that of an attack: people who are together in all groups are alike beforehand, whatever transitions are "
    "known, which ghosts follow as well, all releases read together, whatever is computed; not who leaves when, who is related to "
    "whom, how long records wait, nor how groups and withheld records were chosen (docs/methods/cohorts.md)"
)
"""The class of adversaries of `counted_sides`."""

NAMES = {
    "transitions": "the same transitions",
    "compromised": "the same compromised records",
    "presence": "who leaves when",
    "relations": "the same relations",
    "mechanism": "the rule of the ghosts",
}
"""Parts of knowledge beside the prior, in words."""


def adversary_class(adversary: Adversary, hindsight: bool = True, delta: float | None = None) -> str:
    """The class of adversaries for whom a bound holds, in one line; ``delta`` is the chance to pass that of noisy counts.

    Examples
    --------
    >>> from foreknow.models import UniformPrior
    >>> adversary_class(Adversary(UniformPrior()))
    'the same prior of first published records, all releases read together, whatever is computed; not who leaves when, who is \
related to whom, how long records wait, nor how groups and withheld records were chosen (docs/methods/cohorts.md)'
    """
    known = [
        "the same prior of first published records",
        *(NAMES.get(name, f"the part {name!r}") for name in adversary.parts if name != "prior"),
    ]
    if delta is not None:
        chance = (
            f"; each belief by itself passes its bound with a chance of at most {delta:g}, one of n with at most n times that, "
            "where values follow this law"
            if delta
            else ""
        )
        read = "all releases" if hindsight else "the releases up to each"
        others = "any values of others known, whatever is computed"
        return f"{', '.join(known)}, {read} read together, {others}{chance} (docs/methods/noise.md)"
    silent = "" if adversary.presence is not None else "who leaves when, "
    silent += "" if adversary.relations is not None else "who is related to whom, "
    read = "all releases" if hindsight else "the releases up to each"
    return f"{', '.join(known)}, {read} read together, whatever is computed; not {silent}{CHOSEN}"


CHOSEN = "how long records wait, nor how groups and withheld records were chosen (docs/methods/cohorts.md)"
"""Knowledge that no bound reads by itself: the steps of the chain before a first record, and a rule that looks at values.

The rule of terminal values is read where it is given as compromised records.
"""


class _Upper(NamedTuple):
    """Bound on the belief in the true value of each published record, and the chance to pass it where counts are noisy."""

    each: FloatArray
    delta: float | None


def _upper(beliefs: Beliefs, history: History, adversary: Adversary | Averaged, hindsight: bool) -> _Upper | ValueError:
    """Bound of the records in the order of the releases; an error without one."""
    if isinstance(adversary, Averaged):
        return ValueError(OF_AVERAGED)
    try:
        bounds = bound([one.observation for one in beliefs], adversary, hindsight)
    except ValueError as error:
        return error
    measured = beliefs_and_truth("exposed", beliefs, history)
    each = [upper[one.rows, one.true] for upper, one in zip(bounds.upper, measured, strict=True)]
    noisy = any(one.observation.noise is not None for one in beliefs)
    return _Upper(np.concatenate([np.zeros(0), *each]), bounds.delta if noisy else None)


def _two_sides(
    found: Exposure, records: Records, upper: _Upper | ValueError, adversary: Adversary | Averaged, hindsight: bool
) -> TwoSides:
    if isinstance(upper, ValueError):
        return TwoSides(found.exposed, found.respondents, None, str(upper).rstrip("."))
    assert isinstance(adversary, Adversary)
    names, unknown = records["respondent"], ~is_known(records["prior"], found.sure)
    exposing = is_exposing(np.maximum(records["belief"], upper.each), records["prior"], found.sure)
    numbers = found.exposed, found.respondents, len({*names[exposing]}), len({*names[unknown]})
    page = "cohorts" if upper.delta is None else "noise"
    return TwoSides.bounded(*numbers, found.sure, adversary_class(adversary, hindsight, upper.delta), page=page)
