"""Cohorts: cells whose members stay together, leave in batches, and are carried on by ghosts."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.publish import READS
from foreknow.defenses.requirements.requirement import Infeasible
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, MarkovChain, People, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.markov_chain import check_domain_size
from foreknow.models.notes import Note
from foreknow.models.settings import (
    MAX_FLOAT,
    as_generator,
    as_list,
    check_choice,
    check_kind,
    check_range,
    check_whole,
    stored_generator,
)

type Departures = Literal["ghosts", "withdraw", "lag", "retire"]
DEPARTURES: tuple[Departures, ...] = ("ghosts", "withdraw", "lag", "retire")

SAME_PRIOR = 1e-9
"""Largest difference in Hilbert's projective metric that counts as none: rounding errors."""

GHOSTS = "{number:,} {number:ghost carries|ghosts carry} on {number:the place|the places} of respondents who left."
WAITING = "{number:,} {number:respondent waits|respondents wait} for a cell of people of the same revised prior."
WITHDRAWN = (
    "{number:,} {number:respondent was|respondents were} withdrawn with others who left, and {number:is|are} not published "
    "again."
)
ENDING = "{number:,} {number:record is|records are} withheld, the last {ends} before a departure."
TERMINAL = "{number:,} {number:record has|records have} a terminal value and {number:counts|count} as departed."


@equal_by_fields
@dataclass(frozen=True)
class Cohorts:
    """Cells of respondents of equal prior who are always published together and leave in batches.

    The joint law is symmetric in the members of an atom, those of a cell who leave in one batch. If ghosts follow the chain of
    an adversary who does not read presence, that adversary believes of none of them more than the atom's share
    (`foreknow.evaluation.bound`), whatever is known of transitions, forward and in hindsight.

    Parameters
    ----------
    a : int
        Least number of members of an atom, 2 or more.
    size : int, optional
        Least number of members of a cell: a, or 2 a or more; 4 a by default. The cells of a class share its members evenly.
    departures : {"ghosts", "withdraw", "lag", "retire"}
        What hides that a member has left. ``"ghosts"``: invented records carry on the place by a step of ``transitions`` each,
        until a places of the cell have left, which then end together. ``"withdraw"``: as many others of the cell, drawn at random,
        are withdrawn for good at once. ``"lag"``: as before, first those who leave within ``lag`` releases. ``"retire"``: the
        whole cell ends.
    transitions : MarkovChain, optional
        Chain of the ghosts, of order 1; the adversary's own, or that of those who stay (`GhostChain.of_stayers`).
    priors : float
        Largest difference between the revised priors of a cell's members in Hilbert's projective metric, in nats. 0 for equal ones.
    ends : int
        Number of records before a departure that are withheld; the ghost begins there. The defense then knows the people of that
        many releases to come, and as many releases at the end are held back.
    terminal : sequence of values, optional
        Values that end a course: who has one counts as departed.
    wait : int
        Number of releases for which respondents wait for a cell of ``size``; those left then form a smaller one, of at least a.
    lag : int
        Number of releases to come whose people the defense is handed; at least ``ends``, and 1 or more for ``"lag"``.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices and of the ghosts.

    Raises
    ------
    ValueError
        If size is neither a nor at least 2 a: the last a - 1 places of a cell could then never leave. When called, if
        ``past`` is of another defense, or the chain cannot continue from a value.
    Infeasible
        When called, if ghosts are needed and there are no ``transitions``.

    Notes
    -----
    True values enter in three places alone: the multisets of the cells, the first step of a ghost, and terminal values. All else is
    a function of who is listed, of quasi-identifiers, of revised priors, which are functions of public releases, and of random
    choices.

    Members of a cell arrive together and are near along a Hilbert curve within a class of equal revised prior. Who returns after an
    absence is placed as an arrival, by the revised prior; while that fits no cell, the record is withheld. A place, once a ghost's,
    is never a respondent's again. Where a cell has fewer than 2 a places left, they end when all have left.

    What breaks it: presence, read by the adversary (`ends` bounds it), returners, quasi-identifiers that tell more than the prior
    says, relations between members, and leaked values (docs/methods/cohorts.md). Cost: O(n log n) and a scan of the past.

    Examples
    --------
    >>> Cohorts(5)
    Cohorts(a=5, size=20, departures='ghosts', transitions=None, priors=0.0, ends=0, terminal=(), wait=1, lag=0, rng=None)
    """

    a: int
    size: int = None  # type: ignore[assignment]
    departures: Departures = "ghosts"
    transitions: MarkovChain | None = None
    priors: float = 0.0
    ends: int = 0
    terminal: tuple[Any, ...] = ()
    wait: int = 1
    lag: int = 0
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    reads: ClassVar[tuple[str, ...]] = READS

    def __post_init__(self) -> None:
        check_whole("Cohorts", "a", self.a, "members of an atom", least=2)
        object.__setattr__(self, "size", 4 * int(self.a) if self.size is None else self.size)
        check_whole("Cohorts", "size", self.size, "members of a cell")
        if self.size != self.a and self.size < 2 * self.a:
            raise ValueError(
                f"Cohorts: size is {self.size} and a is {self.a}; a cell has a members, or at least 2 a: after a batch of a has "
                "left, fewer than a members would remain."
            )
        check_choice("Cohorts", "departures", self.departures, DEPARTURES)
        takes = "is a MarkovChain of order 1, by which ghosts are drawn"
        check_kind("Cohorts", "transitions", self.transitions, (MarkovChain, type(None)), takes)
        if self.transitions is not None and self.transitions.order != 1:
            raise ValueError(
                f"Cohorts: transitions are of order {self.transitions.order}; ghosts need a chain of order 1."
            )
        check_range("Cohorts", "priors", self.priors, 0, MAX_FLOAT, "in nats")
        for name in ("ends", "wait", "lag"):
            check_whole("Cohorts", name, getattr(self, name), "releases", least=0)
        terminal = as_list("Cohorts", "terminal", self.terminal, "is a tuple of sensitive values")
        lag = max(int(self.lag), int(self.ends), int(self.departures == "lag"))
        object.__setattr__(self, "terminal", tuple(terminal))
        object.__setattr__(self, "lag", lag)
        object.__setattr__(self, "rng", stored_generator("Cohorts", self.rng))

    @property
    def smallest(self) -> int:
        """Least number of records of a view that can be published."""
        return 1

    def __call__(
        self, view: View, prior: FloatArray, past: tuple[Release, ...] = (), *, coming: tuple[People, ...] = ()
    ) -> Grouping:
        """Group a view after the releases so far; ``coming`` has the people of the next ``lag`` views."""
        rng = as_generator("Cohorts", self.rng, optional=True)
        rows = prior_of(view, prior)
        stays, ending, terminal = self._staying(view, coming)
        places = _places(past, view)
        kept = self._kept(places, stays, coming, rng)
        member = kept & (places.row >= 0) & ~places.ghost
        member[member] = stays[places.row[member]]
        labels = np.full(len(view), -1, dtype=np.int64)
        labels[places.row[member]] = places.cell[member]
        out = _Known.of(view, past)
        free = stays & (labels < 0) & (~out.published | out.was_absent)
        first = int(places.cell.max(initial=-1)) + 1
        cells = self._cells(view, rows, free, out.waited >= self.wait, first)
        labels = np.where(cells >= 0, cells, labels)
        ghosts = np.flatnonzero(kept & ~member)
        number = {
            GHOSTS: len(ghosts),
            WAITING: int((free & (labels < 0)).sum()),
            WITHDRAWN: int((stays & (labels < 0) & ~free).sum()),
            ENDING: int(ending.sum()),
            TERMINAL: int(terminal.sum()),
        }
        notes = tuple(Note(kind, number=n, ends=str(self.ends)) for kind, n in number.items() if n)
        if not len(ghosts):
            return Grouping(labels, notes=notes)
        value = self._drawn(view, places.value[ghosts], rng)
        counterfeits = np.column_stack([places.cell[ghosts], value, np.arange(len(ghosts))])
        return Grouping(labels, counterfeits=counterfeits, notes=notes, places=places.people(ghosts, view))

    def _staying(self, view: View, coming: tuple[People, ...]) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Records that may be published, those withheld before a departure, and those of a terminal value: bool arrays."""
        codes = [view.schema.values.index(value) for value in self.terminal]
        terminal = np.isin(view.sensitive, codes)
        stays = ~terminal
        for people in coming[: self.ends]:
            stays &= pd.Index(people.respondents).get_indexer(pd.Index(view.people.respondents)) >= 0
        return stays, ~stays & ~terminal, terminal

    def _kept(
        self, places: "_Places", stays: BoolArray, coming: tuple[People, ...], rng: np.random.Generator
    ) -> BoolArray:
        """Places that are carried on: bool array, shape ``(p,)``."""
        gone = places.ghost | (places.row < 0)
        gone[~gone] = ~stays[places.row[~gone]]
        order = np.lexsort((rng.random(len(gone)), self._leaving(places, coming), ~gone, places.cell))
        cell = places.cell[order]
        starts = np.flatnonzero(np.diff(cell, prepend=-1))
        sizes = np.diff(np.append(starts, len(cell)))
        left = np.add.reduceat(gone[order].astype(np.int64), starts) if len(starts) else sizes
        ended = self._ended(sizes, left)
        rank = np.arange(len(cell)) - np.repeat(starts, sizes)
        kept = np.ones(len(gone), dtype=np.bool_)
        kept[order] = rank >= np.repeat(ended, sizes)
        return kept

    def _ended(self, sizes: IntArray, left: IntArray) -> IntArray:
        """Number of places of each cell that end, of which ``left`` have left: int array."""
        most = sizes - self.a
        if self.departures == "ghosts":
            batch = np.minimum(left, most)
            return np.where(left == sizes, sizes, np.where(batch >= self.a, batch, 0))
        if self.departures == "retire":
            return np.where(left > 0, sizes, 0)
        batch = np.maximum(left, self.a)
        return np.where(left == 0, 0, np.where(batch > most, sizes, batch))

    def _leaving(self, places: "_Places", coming: tuple[People, ...]) -> IntArray:
        """Number of coming releases that list the respondent of each place, where those who leave first are withdrawn first."""
        found = np.zeros(len(places.respondent), dtype=np.int64)
        if self.departures == "lag":
            for people in coming:
                found += pd.Index(people.respondents).get_indexer(pd.Index(places.respondent)) >= 0
        return found

    def _cells(self, view: View, prior: FloatArray, free: BoolArray, late: BoolArray, first: int) -> IntArray:
        """New cells among free respondents, numbered from ``first``; -1 for those who are in none: int array, shape ``(n,)``."""
        label = np.full(len(view), -1, dtype=np.int64)
        rows = np.flatnonzero(free)
        kind = prior_classes(prior[rows], self.priors)
        for number in range(int(kind.max(initial=-1)) + 1):
            members = rows[kind == number]
            cells = len(members) // self.size
            if not cells and late[members].any() and len(members) >= self.a:
                cells = 1
            if cells:
                near = members[hilbert_order(view.people[members])]
                label[near] = first + np.arange(len(near)) * cells // len(near)
                first += cells
        return label

    def _drawn(self, view: View, value: IntArray, rng: np.random.Generator) -> IntArray:
        """Value of each ghost, by a step of the chain from the value before."""
        if self.transitions is None:
            raise Infeasible.of_view(
                "Cohorts: respondents have left the ",
                view.time,
                ", and there is no chain by which ghosts carry on their places; give transitions=, as MarkovChain.fit(corpus), or "
                "departures='withdraw'.",
            )
        check_domain_size(self.transitions, len(view.schema.values))
        rows = np.cumsum(self.transitions.probabilities[value], axis=1)
        if (stuck := rows[:, -1] <= 0).any():
            raise ValueError(
                f"Cohorts: the chain has no next value after {view.schema.values[value[stuck.argmax()]]!r}, from which a ghost is "
                "to go on; give transitions with a pseudo_count, or declare the value terminal=."
            )
        drawn = (rng.random(len(value)) * rows[:, -1])[:, None] >= rows
        return np.asarray(drawn.sum(axis=1))


class _Places(NamedTuple):
    """Places of the cells of the last release: members and ghosts. Arrays of shape ``(p,)``."""

    respondent: Any
    cell: IntArray
    value: IntArray
    ghost: BoolArray
    row: IntArray  # of the respondent in the view; -1 if not listed
    quasi_identifiers: FloatArray

    def people(self, some: IntArray, view: View) -> People:
        """People of some places."""
        return People(self.respondent[some], self.quasi_identifiers[some], view.schema, None)


def _places(past: tuple[Release, ...], view: View) -> _Places:
    """Places of the last release, with their rows in the view; ValueError if it is of another defense."""
    if not past:
        none = np.zeros(0, dtype=np.int64)
        return _Places(np.zeros(0, dtype=object), none, none, none > 0, none, np.zeros((0, 0)))
    last = past[-1]
    if last.grouping.values is not None or last.view.schema.values != view.schema.values:
        raise ValueError(
            f"Cohorts: the release at {last.time!r} has distorted values or another sensitive domain, and is of another defense; "
            "begin a series of its own, with past=()."
        )
    kept = last.group >= 0
    ghosts, group, value = last.ghosts
    people = last.view.people[kept]
    people = people if ghosts is None else people.and_then(ghosts)
    number = int(kept.sum())
    return _Places(
        people.respondents,
        np.concatenate([last.group[kept], group]),
        np.concatenate([last.view.sensitive[kept], value]),
        np.arange(len(people)) >= number,
        pd.Index(view.people.respondents).get_indexer(pd.Index(people.respondents)).astype(np.int64),
        people.quasi_identifiers,
    )


class _Known(NamedTuple):
    """What the past says of the respondents of a view. Arrays of shape ``(n,)``."""

    published: BoolArray  # in some release
    was_absent: BoolArray  # not listed in some release after the last one that published the respondent
    waited: IntArray  # number of the last releases that list the respondent without publishing

    @classmethod
    def of(cls, view: View, past: tuple[Release, ...]) -> "_Known":
        n = len(view)
        published, absent = np.zeros((2, n), dtype=np.bool_)
        waited, waits = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.bool_)
        own = pd.Index(view.people.respondents)
        for release in reversed(past):
            row = pd.Index(release.view.people.respondents).get_indexer(own)
            listed = row >= 0
            shown = listed & (release.group[row] >= 0)
            waits &= listed & ~shown
            waited += waits
            absent |= ~published & ~listed
            published |= shown
        return cls(published, absent & published, waited)


def prior_classes(prior: FloatArray, most: float) -> IntArray:
    """Classes of rows that differ by at most ``most`` in Hilbert's projective metric: int array, shape ``(n,)``.

    Each row joins the first class whose leader is within half of it, leaders in the order of the sorted rows, so that any two rows
    of a class are within ``most``. Rows of different supports are never in one class. Cost: O(u^2 m) for u distinct rows.
    """
    distinct, inverse = np.unique(np.round(prior, 12), axis=0, return_inverse=True)
    label = np.full(len(distinct), -1, dtype=np.int64)
    number = 0
    for row in range(len(distinct)):
        if label[row] >= 0:
            continue
        near = (label < 0) & (projective_distance(distinct, distinct[row]) <= most / 2 + SAME_PRIOR)
        label[near] = number
        number += 1
    return np.asarray(label[inverse.reshape(-1)])


def projective_distance(rows: FloatArray, other: FloatArray) -> FloatArray:
    """Hilbert's projective metric of rows to another one: max log ratio less min log ratio, infinite for different supports.

    Source: Bushell (1973). Shape ``(n,)``. Cost: O(n m).
    """
    both = (rows > 0) & (other > 0)
    apart = ((rows > 0) != (other > 0)).any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(rows) - np.log(other)
    distance = np.where(both, ratio, -np.inf).max(axis=1) - np.where(both, ratio, np.inf).min(axis=1)
    return np.asarray(np.where(apart, np.inf, distance))
