"""Cohorts: cells whose members stay together, leave in batches, and are carried on by ghosts."""

import weakref
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.publish import READS
from foreknow.defenses.requirements.summary import DrawnPrior, prior_of
from foreknow.models import GhostChain, Grouping, MarkovChain, People, Release, Schema, View
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

DIGITS = 9
"""Decimals of the logarithms of revised priors by which these are equal: the rest are rounding errors."""

GHOSTS = "{ghosts:,} {ghosts:ghost carries|ghosts carry} on {ghosts:the place|the places} of respondents who left."
WAITING = "{records:,} {records:record is|records are} suppressed: there are too few people of the same revised prior for a cell."
RETURNED = "{records:,} {records:record is|records are} suppressed: the respondent is back, and a ghost carries on the old place."
WITHDRAWN = "{records:,} {records:record is|records are} suppressed: departed or terminal, or withdrawn with such ones."
ENDING = "{records:,} {records:record is|records are} suppressed, the last {ends} before a departure."


@equal_by_fields
@dataclass(frozen=True)
class Cohorts:
    """Cells of respondents of equal prior who are always published together and leave in batches.

    The joint law is symmetric in the members of an atom, those of a cell who leave in one batch. If ghosts follow the chain of
    an adversary who does not read presence, that adversary believes of none of them more than the atom's share
    (`foreknow.evaluation.bound`), whatever is known of transitions, forward and in hindsight: without terminal values and without
    respondents who return, with equal priors, and as long as the seed is secret.

    Parameters
    ----------
    a : int
        Least number of members of an atom, 2 or more.
    size : int, optional
        Least number of members of a cell: a, or 2 a or more; 4 a by default. The cells of a class share its members evenly.
    departures : {"ghosts", "withdraw", "lag", "retire"}
        What hides that a member has left. ``"ghosts"``: invented records carry on the place by a step of ``transitions`` each,
        until a places of the cell have left, which then end together. ``"withdraw"``: as many others of the cell, drawn at random,
        are withdrawn for good at once. ``"lag"``: publication is delayed by ``lag`` releases, and those who leave within it go
        with the first of them; where they are fewer than a, others are drawn as before. ``"retire"``: the whole cell ends.
    transitions : MarkovChain, optional
        Chain of the ghosts, of order 1; the adversary's own, or that of those who stay (`GhostChain.of_stayers`).
    priors : float
        Largest difference between the revised priors of a cell's members in Hilbert's projective metric, in nats. 0 for equal ones.
    ends : int
        Number of records before a departure that are withheld; the ghost begins there. The defense then knows the people of that
        many releases to come, and as many releases at the end are held back.
    terminal : sequence of values, optional
        Values that end a course: who has one counts as departed. They are not hidden: a listed respondent who is withheld beside a
        ghost has one, which is evidence of the value before. Their number is told once for the series (`reached_terminal`).
    wait : int
        Number of releases for which respondents wait for a cell of ``size``; those left then form a smaller one, of at least a.
        Fewer than a of one revised prior wait on.
    lag : int
        Number of releases to come whose people the defense is handed; at least ``ends``, and 1 or more for ``"lag"``.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices and of the ghosts.

    Raises
    ------
    ValueError
        If size is neither a nor at least 2 a: the last a - 1 places of a cell could then never leave. When called, if ``past``
        begins with ghosts or has groups that this defense does not make (first releases without ghosts that are left out are not
        detected), ``coming`` is shorter than ``lag``, a terminal value is not in the domain, or ghosts are needed and there are no
        ``transitions``, or some that cannot go on from each value that is not terminal.

    Notes
    -----
    True values enter in three places alone: the multisets of the cells, the first step of a ghost, and terminal values. All else is
    a function of who is listed, of quasi-identifiers, of revised priors, which are functions of public releases, and of random
    choices.

    Members of a cell arrive together and are near along a Hilbert curve within a class of equal revised prior. A place, once a
    ghost's, is never a respondent's again, and places are not filled again. Who returns after an absence is placed as an arrival,
    by the revised prior, after the own ghost has ended; until then, and while the prior fits no cell, the record is suppressed.
    Who was withdrawn is never published again. Where a cell has fewer than 2 a places left, they end when all have left. No ghost
    has a terminal value (`mechanism`). With ``"lag"`` a cell is not held back until a have left: that is as safe, and withholds
    at least as much on all panels measured (docs/methods/cohorts.md).

    What breaks it: presence, read by the adversary (``ends`` bounds it), returners, quasi-identifiers that tell more than the
    prior says, transitions that differ between members, relations, and leaked values (docs/reference/defenses.md). Cost:
    O(N log N) for the N respondents of the series; the releases before the last are not read again.

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
    ignores: ClassVar[tuple[str, ...]] = ()

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
        object.__setattr__(self, "terminal", tuple(dict.fromkeys(terminal)))
        object.__setattr__(self, "lag", lag)
        object.__setattr__(self, "rng", stored_generator("Cohorts", self.rng))

    @property
    def smallest(self) -> int:
        """Least number of records of a view that can be published."""
        return 1

    def mechanism(self, schema: Schema) -> GhostChain:
        """Rule of the ghosts, which is public: the part ``mechanism`` of an adversary.

        It is ``transitions``, given that the next value is not terminal.

        Parameters
        ----------
        schema : Schema
            Meaning of the values.

        Raises
        ------
        ValueError
            If there are no transitions, they are over another domain, or there is a value from which they cannot go on.
        """
        if self.transitions is None:
            raise ValueError("Cohorts: there are no transitions, by which ghosts would be drawn; give transitions=.")
        check_domain_size(self.transitions, len(schema.values))
        ends = np.isin(np.arange(len(schema.values)), self._terminal_codes(schema))
        weights = np.where(ends, 0.0, self.transitions.probabilities)
        totals = weights.sum(axis=1)
        stuck = np.flatnonzero(~ends & (totals <= 0))
        if len(stuck):
            raise ValueError(
                f"Cohorts: the chain has no next value after {schema.values[stuck[0]]!r}, from which a ghost may have to go on; "
                "give transitions with a pseudo_count, or declare the value terminal=."
            )
        if not ends.any() and np.allclose(totals, 1.0, rtol=0, atol=1e-12):
            return GhostChain(self.transitions)
        # No ghost has a terminal value; the chain stays there, so that its rows are distributions.
        weights[ends], totals[ends] = np.eye(len(ends))[ends], 1.0
        return GhostChain(MarkovChain(1, weights / totals[:, None]))

    def reached_terminal(self, releases: Iterable[Release]) -> int:
        """Number of respondents with a terminal value in some release: the one number that is published for a series.

        Parameters
        ----------
        releases : iterable of Release

        Notes
        -----
        The public files tell this total alone. The notes of a release, which its publisher sees, count such records with those of
        others who depart. A total of a longer series, less this one, tells the number of those in between.
        """
        found: set[Hashable] = set()
        for view in (release.view for release in releases):
            terminal = np.isin(view.sensitive, self._terminal_codes(view.schema))
            found.update(view.people.respondents[terminal].tolist())
        return len(found)

    def __call__(
        self, view: View, prior: FloatArray, past: tuple[Release, ...] = (), *, coming: tuple[People, ...] = ()
    ) -> Grouping:
        """Group a view after the releases so far; ``coming`` has the people of the next ``lag`` views."""
        return self.after_course(self._course(view, past), view, prior, coming=coming)

    def after_course(
        self, course: "Course", view: View, prior: FloatArray, *, coming: tuple[People, ...] = ()
    ) -> Grouping:
        """Group a view as a call does, given the course of the respondents in place of the releases before.

        Parameters
        ----------
        course : Course
            ``Course.empty(d)`` for d quasi-identifiers before the first release, and then that of `with_release`.
        view : View
        prior : float array, shape (n, m)
            The revised prior of the assumed adversary.
        coming : tuple of People
            Those of the next ``lag`` views.

        Returns
        -------
        Grouping

        Raises
        ------
        ValueError
            As a call.

        Notes
        -----
        Releases need not be kept: memory is O(N d) for the N respondents of the series.
        """
        self._check_coming(view, coming)
        rng = as_generator("Cohorts", self.rng, optional=True)
        prior = prior_of(view, prior)
        stays, ending = self._staying(view, coming)
        seen = course.listing(view.people)
        at = seen.respondents.get_indexer(_index(view.people))
        row = np.full(len(seen.respondents), -1)
        row[at] = np.arange(len(view))
        place = np.flatnonzero(seen.cell >= 0)
        member = (row[place] >= 0) & ~seen.ghost[place]
        member[member] = stays[row[place[member]]]
        kept = self._kept(seen.cell[place], ~member, self._leaving(seen.respondents[place], coming), rng)
        labels = np.full(len(view), -1, dtype=np.int64)
        labels[row[place[kept & member]]] = seen.cell[place[kept & member]]
        ghosts = place[kept & ~member]
        carried_on = np.isin(at, ghosts)
        returned = seen.published[at] & seen.absent[at] & ~seen.withdrawn[at]
        unplaced = stays & (labels < 0)
        free = unplaced & (~seen.published[at] | returned) & ~carried_on
        first = int(seen.cell.max(initial=-1)) + 1
        labels = np.maximum(labels, self._cells(view, prior, free, seen.waited[at] >= self.wait, first))
        waiting, back = free & (labels < 0), unplaced & carried_on
        # Records of terminal values are counted with others: those before a departure whatever their values.
        number = {
            GHOSTS: len(ghosts),
            WAITING: int(waiting.sum()),
            RETURNED: int(back.sum()),
            WITHDRAWN: int(((labels < 0) & ~waiting & ~back & ~ending).sum()),
            ENDING: int(ending.sum()),
        }
        notes = tuple(
            Note(kind, **({"ghosts": n} if kind == GHOSTS else {"records": n, "ends": str(self.ends)}))
            for kind, n in number.items()
            if n
        )
        if not len(ghosts):
            return Grouping(labels, notes=notes)
        drawn = self._drawn(view, seen.value[ghosts], rng)
        counterfeits = np.column_stack([seen.cell[ghosts], drawn, np.arange(len(ghosts))])
        places = People(seen.respondents.to_numpy()[ghosts], seen.codes[ghosts], view.schema)
        return Grouping(labels, counterfeits=counterfeits, notes=notes, places=places)

    def _check_coming(self, view: View, coming: tuple[People, ...]) -> None:
        """Raise ValueError unless the people of the next ``lag`` views are given."""
        if len(coming) < self.lag:
            raise ValueError(
                f"Cohorts: the people of the next {self.lag} views after {view.time!r} decide who is withheld, and those of "
                f"{len(coming)} are given; give coming=, as publish does, or lower ends and lag."
            )

    def _terminal_codes(self, schema: Schema) -> list[int]:
        """Codes of the terminal values; ValueError for a value out of the domain, or if no other is left."""
        unknown = [value for value in self.terminal if value not in schema.values]
        if unknown or set(self.terminal) >= set(schema.values):
            found = f"holds {unknown[0]!r}, which is no sensitive value" if unknown else "holds all sensitive values"
            raise ValueError(
                f"Cohorts: terminal {found}; it holds some of {schema.values}, those after which respondents leave."
            )
        return [schema.values.index(value) for value in self.terminal]

    def _staying(self, view: View, coming: tuple[People, ...]) -> tuple[BoolArray, BoolArray]:
        """Records that may be published, and those before a departure, whatever their values: bool arrays."""
        own, ending = _index(view.people), np.zeros(len(view), dtype=np.bool_)
        for people in coming[: self.ends]:
            ending |= _index(people).get_indexer(own) < 0
        return ~ending & ~np.isin(view.sensitive, self._terminal_codes(view.schema)), ending

    def _kept(self, cell: IntArray, gone: BoolArray, leaving: IntArray, rng: np.random.Generator) -> BoolArray:
        """Places that are carried on, given the cell of each and who is gone: bool array, shape ``(p,)``."""
        order = np.lexsort((rng.random(len(gone)), leaving, ~gone, cell))
        starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(cell)))
        left = np.add.reduceat(gone[order].astype(np.int64), starts)
        rank = np.arange(len(cell)) - np.repeat(starts, sizes)
        kept = np.ones(len(gone), dtype=np.bool_)
        kept[order] = rank >= np.repeat(self._ended(sizes, left), sizes)
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

    def _leaving(self, respondents: "pd.Index[Any]", coming: tuple[People, ...]) -> IntArray:
        """Number of coming releases before the first absence of each respondent, by which those of a batch are chosen."""
        found, here = np.zeros(len(respondents), dtype=np.int64), np.ones(len(respondents), dtype=np.bool_)
        if self.departures == "lag":
            for people in coming:
                here &= _index(people).get_indexer(respondents) >= 0
                found += here
        return found

    def _cells(self, view: View, prior: FloatArray, free: BoolArray, late: BoolArray, first: int) -> IntArray:
        """New cells among free respondents, numbered from ``first``; -1 for those who are in none: int array, shape ``(n,)``."""
        label = np.full(len(view), -1, dtype=np.int64)
        rows = np.flatnonzero(free)
        kind = prior_classes(prior.rows(rows) if isinstance(prior, DrawnPrior) else prior[rows], self.priors)
        order = np.argsort(kind, kind="stable")
        for members in np.split(rows[order], np.flatnonzero(np.diff(kind[order])) + 1):
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
            raise ValueError(
                f"Cohorts: respondents have left the view at {view.time!r}, and there is no chain by which ghosts carry on their "
                "places; give transitions=, as MarkovChain.fit(corpus), or departures='withdraw'."
            )
        chain = self.mechanism(view.schema).transitions
        assert chain is not None
        rows = np.cumsum(chain.probabilities[value], axis=1)
        drawn = (rng.random(len(value)) * rows[:, -1])[:, None] >= rows
        return np.asarray(drawn.sum(axis=1))

    def with_release(self, course: "Course", release: Release) -> "Course":
        """Course of the respondents after one more release of this defense.

        Parameters
        ----------
        course : Course
            Before the release.
        release : Release

        Returns
        -------
        Course

        Raises
        ------
        ValueError
            If the release is of another defense.
        """
        codes = self._terminal_codes(release.view.schema)
        return course.after(release, self.ends, np.isin(release.view.sensitive, codes), self.a)

    def _course(self, view: View, past: tuple[Release, ...]) -> "Course":
        """Courses of the respondents of the past; those of all but the last release are kept from the last call."""
        if past and past[0].ghosts[0] is not None:
            raise ValueError(
                f"Cohorts: the first of the releases before {view.time!r} has ghosts, so that it is not the first of its series; "
                "give all releases of the series."
            )
        rule = self.ends, self.terminal, self.a
        known, course = _LATEST.get(rule, ((), Course.empty(0)))
        others = any(one() is not other for one, other in zip(known, past, strict=False))
        if not known or len(known) > len(past) or others:
            known, course = (), Course.empty(len(view.schema.quasi_identifiers))
        for release in past[len(known) :]:
            if release.view.schema.values != view.schema.values:
                raise ValueError(
                    f"Cohorts: the release at {release.time!r} has another sensitive domain than the view at {view.time!r}; begin "
                    "a series of its own, with past=()."
                )
            course = self.with_release(course, release)
        _LATEST.clear()
        _LATEST[rule] = tuple(map(weakref.ref, past)), course
        return course


class Course(NamedTuple):
    """Courses of all respondents of a series of releases: arrays of shape ``(N,)``, in the order of first appearance.

    A respondent has at most one place, as a member of a cell or by a ghost.
    """

    respondents: "pd.Index[Any]"
    cell: IntArray  # of the place, the group of the last release; -1 for none
    value: IntArray  # published last at the place
    ghost: BoolArray  # the place is carried on
    codes: FloatArray  # quasi-identifiers of the last published record, shape (N, d)
    published: BoolArray  # in some release
    absent: BoolArray  # not listed in some release after the last one that published the respondent
    withdrawn: BoolArray  # the place ended though the respondent stayed
    standing: IntArray  # number of releases since the place ended that list the respondent without a gap
    waited: IntArray  # number of the last releases that list the respondent without publishing

    @classmethod
    def empty(cls, d: int) -> "Course":
        """Before any release."""
        no, none = np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64)
        index = pd.Index([], dtype=object)
        return cls(index, none, none, no, np.zeros((0, d)), no, no, no, none, none)

    def listing(self, people: People) -> "Course":
        """With some people among the respondents."""
        own = _index(people)
        new = own[self.respondents.get_indexer(own) < 0]
        more = len(new)
        if not more:
            return self
        arrays = [np.concatenate([each, np.zeros((more, *each.shape[1:]), dtype=each.dtype)]) for each in self[1:]]
        arrays[0][len(self.respondents) :] = -1
        both = np.concatenate([self.respondents.to_numpy(), new.to_numpy()])
        return Course(pd.Index(both, dtype=object, tupleize_cols=False), *arrays)

    def after(self, release: Release, ends: int, terminal: BoolArray, a: int) -> "Course":
        """After one more release, of which the records with a terminal value are given."""
        old = self.listing(release.view.people)
        at = old.respondents.get_indexer(_index(release.view.people))
        n, kept = len(old.respondents), release.group >= 0
        people, group, value = release.ghosts
        carried = old.respondents.get_indexer(_index(people)) if people is not None else at[:0]
        listed, shown, ghost, stays = np.zeros((4, n), dtype=np.bool_)
        listed[at], shown[at], ghost[carried], stays[at] = True, kept, True, ~terminal
        cell, values, codes = np.full(n, -1), old.value.copy(), old.codes.copy()
        cell[at], cell[carried] = release.group, group
        values[at[kept]], values[carried] = release.view.sensitive[kept], value
        codes[at[kept]] = release.view.people.quasi_identifiers[kept]
        _check_same_cells(release, np.where(old.ghost & shown, -1, old.cell), cell, a)
        ended = (old.cell >= 0) & ~old.ghost & stays & ~shown & ~ghost
        standing = np.where(ended, 1, np.where(listed & (old.standing > 0), old.standing + 1, 0))
        return Course(
            old.respondents,
            cell,
            values,
            ghost,
            codes,
            old.published | shown,
            (old.absent | ~listed) & ~shown,
            old.withdrawn | (standing > ends),
            standing,
            np.where(listed & ~shown, old.waited + 1, 0),
        )


_LATEST: dict[Any, tuple[tuple["weakref.ref[Release]", ...], Course]] = {}
"""Course of the past of the last call, so that a series of releases is read once."""


def _check_same_cells(release: Release, before: IntArray, cell: IntArray, a: int) -> None:
    """Raise ValueError unless each group has at least a places: new ones, or those of one group of the release before."""
    place = np.flatnonzero(cell >= 0)
    low, high = np.full(release.groups, np.iinfo(np.int64).max), np.full(release.groups, -2)
    np.minimum.at(low, cell[place], before[place])
    np.maximum.at(high, cell[place], before[place])
    size = np.bincount(cell[place], minlength=release.groups)
    distorted = release.grouping.values is not None
    if distorted or (low != high).any() or (size < a).any() or (size != release.counts.sum(axis=1)).any():
        raise ValueError(
            f"Cohorts: the release at {release.time!r} is of another defense, or of Cohorts with other settings: a group has at "
            f"least a = {a} places, without distorted values or other counterfeits, which are new or were one group before. Begin "
            "a series of its own, with past=()."
        )


def _index(people: People) -> "pd.Index[Any]":
    """Respondents as an index."""
    return pd.Index(people.respondents, dtype=object, tupleize_cols=False)


def prior_classes(prior: FloatArray, most: float) -> IntArray:
    """Classes of rows that differ by at most ``most`` in Hilbert's projective metric: int array, shape ``(n,)``.

    Each row joins the first class whose leader is within half of it, leaders in the order of the sorted rows, so that any two rows
    of a class are within ``most``. Rows of different supports are never in one class. Rows whose logarithms agree in `DIGITS`
    decimals are equal. With a `DrawnPrior`, rows are of one class if they are in each draw. Cost: O(n m log n), and O(u^2 m) for u
    distinct rows if ``most`` is over 0.
    """
    if isinstance(prior, DrawnPrior):
        drawn = np.column_stack([prior_classes(np.asarray(draw), most) for draw in prior.draws])
        return np.asarray(np.unique(drawn, axis=0, return_inverse=True)[1].reshape(-1))
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(prior))
    distinct, inverse = np.unique(np.round(logs, DIGITS), axis=0, return_inverse=True)
    label = np.full(len(distinct), -1, dtype=np.int64)
    if most == 0:
        return np.asarray(inverse.reshape(-1))
    number = 0
    for row in range(len(distinct)):
        if label[row] < 0:
            rest = np.flatnonzero(label < 0)
            near = projective_distance(distinct[rest], distinct[row]) <= most / 2
            label[rest[near]] = number
            number += 1
    return np.asarray(label[inverse.reshape(-1)])


def projective_distance(logs: FloatArray, other: FloatArray) -> FloatArray:
    """Hilbert's projective metric of rows to another one, given their logarithms; infinite for different supports.

    It is the largest log ratio less the smallest. Source: Bushell (1973). Shape ``(n,)``. Cost: O(n m).
    """
    some = np.isfinite(other)
    alike = (np.isfinite(logs) == some).all(axis=1)
    distance = np.full(len(logs), np.inf)
    ratio = logs[alike][:, some] - other[some]
    distance[alike] = ratio.max(axis=1) - ratio.min(axis=1)
    return distance
