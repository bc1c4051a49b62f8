"""Upper bounds on beliefs: roles, atoms, and the shift of log odds between members of an atom.

The role of a place is the sequence of its published groups; an atom is a set of places of equal role. If exchanging the paths of
two members of an atom changes an adversary's law by a factor of at most exp(epsilon), then after all releases::

    odds(belief of a member in a value) <= exp(epsilon) odds(share of the value in the atom)

The proof and its conditions are in docs/methods/cohorts.md. Of noisy counts it is the noise that bounds beliefs::

    odds(belief in a value) <= exp(epsilon) odds(law of the value without the counts)
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses.noisy_counts import DELTA, Promise
from foreknow.evaluation.arguments import check_history
from foreknow.models import (
    Adversary,
    History,
    MarkovChain,
    MaxEntropy,
    NoisyRelease,
    Observation,
    Presence,
    Release,
    joint_history,
)
from foreknow.models.adversary import check_knows_ghosts, check_reads
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, ObjectArray, compiled, object_array
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.building import release_beliefs
from foreknow.models.joint.problem import solved
from foreknow.models.knowledge.markov_chain import check_domain_size
from foreknow.models.knowledge.parts import Visits, evidence_of
from foreknow.models.knowledge.personal_transitions import chains_at, classes_of
from foreknow.models.knowledge.presence import following_releases
from foreknow.models.settings import as_floats, as_list, check_flag, check_kind, check_range, check_whole
from foreknow.models.tables.people import check_one_domain

type Published = Release | NoisyRelease | Observation
"""What bounds read of one time."""

READS = ("prior", "transitions", "compromised", "presence", "relations", "mechanism", "own")
"""Parts of knowledge of which bounds take account."""

TERMS = (
    "from_priors",
    "from_transitions",
    "from_ghosts",
    "from_leaving",
    "from_last_record",
    "from_compromised",
    "from_relations",
    "from_returns",
)
"""Sources of a shift of log odds, columns of `odds_shift`."""

MAX_KINDS = 200
"""Largest number of kinds of an atom whose pairs are compared one by one; beyond, each is compared with one of them."""


def role_anonymity(releases: Iterable[Published]) -> pd.DataFrame:
    """Number of places with the same published groups as each respondent's, after each release and after all.

    A place is a respondent's series of records, carried on by ghosts. Who is published again after ghosts begins a new place.

    Parameters
    ----------
    releases : iterable of Release, NoisyRelease or Observation
        In the order of time.

    Returns
    -------
    DataFrame
        One row per published record of a respondent or a ghost. Columns ``respondent``; ``time``; ``ghost``, True if an invented
        record carries on the respondent's place; ``cell``, the number of records of the group, counterfeits included;
        ``atom``, the number of places of equal role up to this release; ``atom_all``, that of equal role over all releases.

    Notes
    -----
    Not published is a role as well. Atoms only split as releases are added. Counterfeits that carry on no place are in no atom.
    Membership and groups alone are read. The groups of noisy counts are their cells; noise bounds beliefs there, and not the atom.
    Cost: one sort of the records of each release, O(n log n).

    Examples
    --------
    >>> from foreknow.models import Schema, View
    >>> frame = pd.DataFrame({"id": [1, 2, 3], "age": [31, 45, 50], "result": ["b", "a", "a"]})
    >>> schema = Schema.infer(frame, ["age"])
    >>> first, second = View(frame, schema, 1), View(frame, schema, 2)
    >>> role_anonymity([Release(first, [0, 0, 0]), Release(second, [0, 0, 1])])["atom"].tolist()
    [3, 3, 3, 2, 2, 1]
    """
    observations = _observations("role_anonymity", releases)
    rows = _Rows.of(observations)
    atom, label = rows.atoms()
    return pd.DataFrame(
        {
            "respondent": rows.respondents,
            "time": object_array([observations[t].time for t in rows.release.tolist()]),
            "ghost": rows.ghost,
            "cell": rows.group_sizes(observations),
            "atom": atom,
            "atom_all": np.bincount(label)[label[rows.place]] if len(label) else atom,
        }
    ).infer_objects()


def odds_shift(
    releases: Iterable[Published], adversary: Adversary, hindsight: bool = True, delta: float = 0.0
) -> pd.DataFrame:
    """Largest change of an adversary's law by exchanging the path of each respondent with that of another member of the atom.

    Parameters
    ----------
    releases : iterable of Release, NoisyRelease or Observation
        In the order of time.
    adversary : Adversary
        Its parts are read as `JointAttack` reads them; see Notes.
    hindsight : bool
        True for atoms and laws of all releases; False for those up to each release.
    delta : float
        As in `bound`: probability of paths that may be set aside in an atom.

    Returns
    -------
    DataFrame
        One row per place, or with ``hindsight=False`` one per published record. Columns ``respondent``; ``time``, that of the
        first record of the place, or of the record; ``atom``, the number of places of the atom; a column for each source, in nats:
        ``from_priors``; ``from_transitions``; ``from_ghosts``, steps of ghosts; ``from_leaving``, presence and parts of one's own
        at records before the last; ``from_last_record``, the same at the last record; ``from_compromised``; ``from_relations``;
        ``from_returns``; ``epsilon``, that of all sources together, at most their sum; and ``delta``, the probability of the paths
        that are set aside. Epsilon is 0 for an atom of one, and infinite if a path that is not set aside is possible for one of
        two alone. Of noisy counts: ``respondent``; ``time``; ``releases``, the number of those that count a record of the
        respondent; ``epsilon``, by which they shift the log odds of any set of values from those of the law without them; and
        ``delta``, the chance that they shift them further (`bound`).

    Raises
    ------
    TypeError, ValueError
        As `bound`.

    Notes
    -----
    ``epsilon`` is the largest, over the other members, of the range of the log ratio of the two laws over all paths through values
    that the groups show: exact, by dynamic programming in max-plus and min-plus algebra. For an atom of more than `MAX_KINDS`
    different laws it is the sum of the ranges of both against a third one, an upper bound. A source's column is the sum over
    releases of the range of its own log ratio, the largest over the other members.

    Records that are listed and withheld after the last published one are steps of the chain with ``gaps="power"``: what leaving
    after them tells is evidence about the last published value. With ``gaps="ignore"`` they are not read.

    Relations are charged by the range of the log table for each end of a pair in the atom. A respondent whose place ghosts carry
    on, and who is published at another place, makes both places dependent: each is charged by the range of the log of the
    transitions in between, at the worst value of the other.

    Cost: O(n) and, for each pair of different laws in an atom, O(t m^2).
    """
    observations = _known("odds_shift", releases, adversary, hindsight, delta)
    if any(seen.noise for seen in observations):
        shifts = _noise_shifts("odds_shift", adversary, observations, hindsight, delta)
        shifts = shifts[shifts.pop("counted")]
        return (shifts.drop_duplicates("respondent") if hindsight else shifts).reset_index(drop=True).infer_objects()
    known = _knowledge(adversary, observations, hindsight, delta)
    tables = [_shift_table(shifts, None if hindsight else t) for shifts, t in islice(known, 1 if hindsight else None)]
    names = ("respondent", "time", "atom", *TERMS, "epsilon", "delta")
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=pd.Index(names))


def bound(
    releases: Iterable[Published], adversary: Adversary, hindsight: bool = True, delta: float = 0.0
) -> "BeliefBounds":
    """Upper bound on each respondent's belief in each value at each release, by an adversary of this knowledge.

    Parameters
    ----------
    releases : iterable of Release, NoisyRelease or Observation
        In the order of time.
    adversary : Adversary
        Its parts are read as `JointAttack` reads them.
    hindsight : bool
        True for beliefs given all releases; False for beliefs given the releases up to each.
    delta : float
        Largest probability, below 1, of paths that are set aside in an atom; 0 for none. Of counts with Gaussian noise, the chance
        that one belief is over its bound; 0 for 1e-6.

    Returns
    -------
    BeliefBounds

    Raises
    ------
    TypeError
        If the releases are not `Release` or `Observation` objects, or the adversary is no `Adversary`.
    ValueError
        If values are distorted, as the published multisets are then not those of the true values; if the transitions are of an
        order over 1; if the adversary has a part that bounds do not read, as ``membership``, or relations where counts are noisy;
        if some counts are noisy and others are not, or have another noise; or as `joint_history` does.

    Notes
    -----
    For members K of a respondent's atom whose exchange with the respondent changes the law by a factor of at most exp(e)::

        belief <= f(min(1, n_s / |K|)),    f(u) = exp(e) u / (1 - u + exp(e) u)

    where n_s is the number of the value s in the group. The bound is the smallest over sets K, from the most similar member to the
    whole atom. Where the group is one atom, the share is the published one. Members whose value at a release is known are taken
    out of the group there.

    Members with other possible paths than the respondent are not in K, unless ``delta`` allows it. Let B be the event that a
    member of the atom has a path that is not possible for all members. If ``P(B) <= delta``, by the sum over members, K is taken
    from all of them, e is that of the common paths, and ``belief <= bound + P(B | releases)``, of which the mean over releases is
    P(B). All terms of the laws of paths are read: priors, transitions, steps of ghosts, presence, compromised records; relations
    multiply the probability by exp of their shift. An atom with a place of a respondent who returned is treated as at 0, as its
    law depends on the counts.

    No attack is made; the bound holds for exact beliefs under the joint law, whatever the solver, of adversaries who read nothing
    in the choice of the groups: that they were made by a rule which looks at values, or at coming releases, is not taken account
    of.

    Where counts are noisy, the bound is ``f(b)``, for the law b of the value without the counts: prior, chain, presence and
    compromised records. Proof: a path of the respondent replaced by another moves one record between two counts in each of n
    releases, so that under a Laplace law of scale b' the counts y have ``P(y | x_i, others) <= exp(e) P(y | x_i', others)``, ``e =
    2 n / b'``. Respondents are independent without the counts, so that others have one law for all x_i, and its mean keeps the
    inequality; so do the means over the paths x_i in an event S and outside. Bayes' rule gives ``odds(S | y) <= exp(e) odds(S)``,
    for any prior and chain. A Gaussian law has no pure epsilon: e is that at ``delta`` of `Promise.epsilon_delta`, and the belief
    in S passes the bound with a probability of at most delta over the noise and values of the adversary's own law. The chance is
    that of one belief, not of all together; where values do not follow the law, beliefs may pass the bound more often.

    `JointAttack` is not exact where a respondent is published again after ghosts, and may pass the bound. Cost: as
    `odds_shift`, and O(n m) for each release; with ``hindsight=False`` once for each prefix.
    """
    observations = _known("bound", releases, adversary, hindsight, delta)
    if any(seen.noise for seen in observations):
        noise_shifts = _noise_shifts("bound", adversary, observations, hindsight, delta)
        return _noise_bounds(noise_shifts, adversary, observations, hindsight)
    upper, aside = [], 0.0
    for shifts, t in _knowledge(adversary, observations, hindsight, delta):
        upper.append(shifts.upper(t))
        aside = max(aside, float(shifts.aside.max(initial=0.0)))
    return BeliefBounds(observations, tuple(upper), aside)


def expected_gain_bound(a: ArrayLike, c: ArrayLike) -> FloatArray:
    """Bound on the expected gain over the share, for atoms of a members in groups of c: ``(c - a) / (a (c - 1))``.

    For laws that are equal in the whole group, and atoms that were formed without looking at values, this is the expected gain of
    an adversary who is told the multiset of every atom; a calibrated adversary does not gain more in expectation. The gain is
    ``(belief in the true value - share) / (1 - share)``. It bounds a mean: it is no number of people, and a single respondent's
    gain may be 1.

    Parameters
    ----------
    a : array_like
        Number of members of an atom, from 1 to c.
    c : array_like
        Number of members of its group.

    Returns
    -------
    float array
        Of the broadcast shape; 0 where a = c.

    Raises
    ------
    ValueError
        If a number is below 1, or an atom is larger than its group.

    Examples
    --------
    >>> expected_gain_bound([1, 5, 20], 20).round(3).tolist()
    [1.0, 0.158, 0.0]
    """
    takes = "is a number of members, or an array of them"
    atom, group = (as_floats("expected_gain_bound", name, x, takes) for name, x in (("a", a), ("c", c)))
    atom, group = np.broadcast_arrays(atom, group)
    wrong = ~((atom >= 1) & (group >= atom))
    if wrong.any():
        raise ValueError(
            f"expected_gain_bound: an atom has {atom[wrong][0]:g} members and its group {group[wrong][0]:g}; an atom is a part of "
            "a group, of at least 1 member."
        )
    return np.asarray((group - atom) / (atom * np.maximum(group - 1, 1)))


def leaving_shift(
    transitions: MarkovChain, presence: Presence, ends: int = 0, terminal: Sequence[int] = ()
) -> pd.DataFrame:
    """Shift of log odds that remains between a respondent who left and one who stayed, from the chain and the hazards alone.

    Parameters
    ----------
    transitions : MarkovChain
        Chain A of the adversary, of order 1.
    presence : Presence
        Chances h of leaving after each value, of one class; pauses are not read.
    ends : int
        Number k of records before a departure that are withheld.
    terminal : sequence of int
        Codes of values that a cell never shows.

    Returns
    -------
    DataFrame
        One row for each chain of ghosts. Columns ``mechanism``: ``own`` for A, ``stayers`` for `GhostChain.of_stayers`, both
        without steps into terminal values; ``leaving_step``, the range over values v of ``log(e_k(v) / (1 - h(v)))`` with ``e_k =
        ((1 - h) A)^k h``; ``ghost_step`` and ``last_ghost``, the shift by each ghost, and that by the last one besides. After g
        ghosts the shift is at most ``leaving_step + g ghost_step + last_ghost``, by each chain the sum of its own row.
        Infinite if a value excludes leaving, or staying.

    Raises
    ------
    TypeError, ValueError
        If the chain is of another order or another number of values, the chances are by class, or all values are terminal.

    Notes
    -----
    Two members who both left add. A stayer is one who is listed in all releases. With ghosts of the own chain the range of
    ``log(1 - h)`` is paid at each ghost; with those of who stay ``Z(v) = sum over w of A(v, w) (1 - h(w))`` takes its place, and
    the range of ``log(1 - h)`` is paid once, at the last. Terminal values divide the own chain's steps by the chance S(v) of none,
    whose range is then paid at each ghost as well. `odds_shift` has the exact shift after publication, at most this one
    (docs/methods/cohorts.md). Cost: O(k m^2).

    Examples
    --------
    >>> chain = MarkovChain(1, np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> leaving_shift(chain, Presence(np.array([0.1, 0.3])), ends=1).round(2).to_dict("records")[0]
    {'mechanism': 'own', 'leaving_step': 0.77, 'ghost_step': 0.25, 'last_ghost': 0.0}
    """
    check_kind("leaving_shift", "transitions", transitions, MarkovChain, "is a MarkovChain of order 1")
    check_kind("leaving_shift", "presence", presence, Presence, "is Presence(leave)")
    check_whole("leaving_shift", "ends", ends, "records", least=0)
    chain, h = transitions.probabilities, presence.leave
    if chain.ndim != 2 or h.shape != chain.shape[:1]:
        raise ValueError(
            f"leaving_shift: transitions have shape {chain.shape} and chances {h.shape}; give a chain of order 1 over "
            "m values, and one chance for each, as Presence(leave) of one class."
        )
    shown = ~np.isin(np.arange(len(h)), np.asarray(terminal, dtype=np.int64))
    if not shown.any():
        raise ValueError("leaving_shift: all values are terminal; a cell shows some other value.")
    evidence = h
    for _ in range(ends):
        evidence = (1 - h) * (chain @ evidence)
    with np.errstate(divide="ignore", invalid="ignore"):
        leaving, staying = np.log(evidence)[shown], np.log(1 - h)[shown]
        some, kept = (
            np.log(chain[np.ix_(shown, shown)] @ weights) for weights in (np.ones(shown.sum()), (1 - h)[shown])
        )
        step = _log_width(leaving - staying)
    rows = [
        ("own", step, _log_width(staying) + _log_width(some), 0.0),
        ("stayers", step, _log_width(kept), _log_width(staying)),
    ]
    return pd.DataFrame(rows, columns=pd.Index(["mechanism", "leaving_step", "ghost_step", "last_ghost"]))


def _log_width(logs: FloatArray) -> float:
    """Largest less smallest number; infinite if one is."""
    return float(np.ptp(logs)) if np.isfinite(logs).all() else float("inf")


@equal_by_fields
@dataclass(frozen=True, eq=False, repr=False)
class BeliefBounds:
    """Upper bounds on the beliefs about each release, in the order of an attack's `Beliefs`.

    Attributes
    ----------
    observations : tuple of Observation
        Releases, in the order of time.
    upper : tuple of float array, shapes (n, m)
        For each release, the bound on the belief of each respondent of the view in each value; 1 for records that are not
        published, whose values the releases do not bound.
    delta : float
        Largest mean excess of one belief over its bound, over releases of the adversary's own law: 0, but for paths that were set
        aside, and for noise of a Gaussian law, of which it is also the chance of an excess.
    """

    observations: tuple[Observation, ...]
    upper: tuple[FloatArray, ...]
    delta: float = 0.0

    def __repr__(self) -> str:
        return f"BeliefBounds({len(self.upper)} releases)"

    def frame(self, history: History | None = None) -> pd.DataFrame:
        """Table of bounds, respondents by releases; NaN where a respondent has no published record.

        Parameters
        ----------
        history : History, optional
            The original records. With it the bound is that on the belief in the true value, otherwise the largest one over values.

        Returns
        -------
        DataFrame
            Indexed by respondent, in the order of first appearance; one column per time.

        Raises
        ------
        TypeError, ValueError
            If the history is none, or its views have other respondents.
        """
        columns = []
        for t, (seen, upper) in enumerate(zip(self.observations, self.upper, strict=True)):
            shown = seen.group >= 0
            largest = upper.max(axis=1) if history is None else upper[np.arange(len(upper)), self._true(history, t)]
            index = pd.Index(seen.people.respondents[shown], name=seen.people.schema.respondent, tupleize_cols=False)
            columns.append(pd.Series(largest[shown], index=index, name=seen.time))
        return pd.concat(columns, axis=1) if columns else pd.DataFrame()

    def _true(self, history: History, t: int) -> IntArray:
        """True codes of the respondents of a release."""
        check_history("BeliefBounds.frame", history)
        names = self.observations[t].people.respondents
        if t >= len(history) or not np.array_equal(history[t].people.respondents, names):
            raise ValueError(
                f"BeliefBounds.frame: view {t} of the history has other respondents than release {t}; give the history that was "
                "published."
            )
        return np.asarray(history[t].sensitive)


def _noise_shifts(
    owner: str, adversary: Adversary, observations: tuple[Observation, ...], hindsight: bool, delta: float
) -> pd.DataFrame:
    """Shifts of log odds by noisy counts, a row for each row of each release; ValueError if they are not known."""
    noise = observations[0].noise
    other = next((seen for seen in observations if seen.noise is None or seen.noise != noise), None)
    if noise is None or other is not None:
        time = observations[0].time if other is None else other.time
        raise ValueError(
            f"{owner}: the counts of the release at {time!r} do not have the noise of the others; bound each series on its own."
        )
    if adversary.relations is not None:
        raise ValueError(
            f"{owner}: related respondents are not independent, and noise on one path does not bound beliefs about them; give "
            "adversary.without('relations'). Promise.household has the epsilon of a household."
        )
    columns = ("respondent", "time", "counted")
    parts = [
        (seen.people.respondents, object_array([seen.time] * len(seen.people)), seen.group >= 0)
        for seen in observations
    ]
    rows = pd.DataFrame(dict(zip(columns, map(np.concatenate, zip(*parts, strict=True)), strict=True)))
    counted = rows["counted"].groupby(pd.factorize(rows["respondent"])[0])
    rows["releases"] = counted.transform("sum") if hindsight else counted.cumsum()
    promises = [Promise(noise, n, delta or DELTA) for n in range(1, len(observations) + 1)]
    pure = noise.law == "laplace"
    epsilon = np.array([0.0, *(one.epsilon if pure else one.epsilon_delta for one in promises)])
    return rows.assign(epsilon=epsilon[rows["releases"]], delta=0.0 if pure else promises[0].delta)


def _noise_bounds(
    shifts: pd.DataFrame, adversary: Adversary, observations: tuple[Observation, ...], hindsight: bool
) -> BeliefBounds:
    """Bounds by shifts of the law without the counts, in which respondents are independent and `MaxEntropy` is exact."""
    history = joint_history(adversary, observations)
    free = replace(history.problem, count_start=np.full_like(history.problem.count_start, -1))
    posterior = solved(MaxEntropy(), free, hindsight, history.known_after if history.learns_late else None)
    upper, start = [], 0
    for one in release_beliefs(history, posterior, hindsight):
        law = one.posterior.probabilities
        kept = np.exp(-shifts["epsilon"].to_numpy()[start : start + len(law), None])
        odds = np.divide(law, law + (1 - law) * kept, out=np.zeros_like(law), where=law > 0)
        upper.append(np.minimum(odds * (1 + ROUNDING), 1.0))
        start += len(law)
    return BeliefBounds(observations, tuple(upper), float(shifts["delta"].max()))


ROUNDING = 1e-9
"""Relative rounding error of a law."""


def _observations(owner: str, releases: Iterable[Published]) -> tuple[Observation, ...]:
    """Observations of releases; TypeError unless each is a `Release`, a `NoisyRelease` or an `Observation`."""
    takes = "takes several Release, NoisyRelease or Observation objects; put a single one into a list"
    found = []
    for each in as_list(owner, "releases", releases, takes):
        check_kind(
            owner, "one of the releases", each, (Release, NoisyRelease, Observation), "is a Release, or an Observation"
        )
        found.append(each if isinstance(each, Observation) else each.observation)
    return tuple(found)


def _known(
    owner: str, releases: Iterable[Published], adversary: Adversary, hindsight: bool, delta: float
) -> tuple[Observation, ...]:
    """Observations of releases on which an adversary's beliefs are bounded; TypeError or ValueError if they cannot be."""
    check_flag(owner, "hindsight", hindsight)
    check_range(owner, "delta", delta, 0, 1, "a probability", excluded=(1,))
    check_kind(owner, "adversary", adversary, Adversary, "is an Adversary, as Adversary(UniformPrior())")
    check_reads(owner, adversary, READS)
    observations = _observations(owner, releases)
    order = 1 if adversary.transitions is None else chains_at(adversary.transitions, 0)[0].order
    if order > 1:
        raise ValueError(
            f"{owner}: transitions are of order {order}; bounds are for chains of order 1. Truncate the chain."
        )
    for seen in observations:
        if seen.distorted:
            raise ValueError(
                f"{owner}: {seen.distorted} values are distorted in the release at {seen.time!r}; the published multisets are "
                "then not those of the true values, and there is no bound."
            )
    return observations


class _Rows(NamedTuple):
    """Published records and ghosts of all releases, in the order of the releases; arrays of shape ``(R,)``.

    ``row`` is that in `Observation.with_ghosts`, ``starts`` has the first record of each release and R, ``places`` the number of
    places.
    """

    respondents: ObjectArray
    release: IntArray
    row: IntArray
    group: IntArray
    ghost: BoolArray
    place: IntArray
    starts: IntArray
    places: int

    @classmethod
    def of(cls, observations: Sequence[Observation], one_place: bool = True) -> "_Rows":
        """Records of observations; ``one_place`` is False if each record is a place of its own."""
        seen = [each.with_ghosts for each in observations]
        rows = [np.flatnonzero(each.group >= 0) for each in seen]
        empty = np.zeros(0, dtype=np.int64)
        release = np.repeat(np.arange(len(seen)), [len(each) for each in rows])
        row = np.concatenate([empty, *rows])
        group = np.concatenate([empty, *(each.group[r] for each, r in zip(seen, rows, strict=True))])
        listed = np.array([each.listed for each in seen], dtype=np.int64)
        ghost = row >= listed[release]
        names = np.concatenate(
            [empty.astype(object), *(each.people.respondents[r] for each, r in zip(seen, rows, strict=True))]
        )
        starts = np.searchsorted(release, np.arange(len(seen) + 1))
        place = _places(pd.factorize(names)[0], release, ghost) if one_place else np.arange(len(row))
        return cls(names, release, row, group, ghost, place, starts, int(place.max(initial=-1)) + 1)

    def at(self, t: int) -> slice:
        """Records of release t."""
        return slice(int(self.starts[t]), int(self.starts[t + 1]))

    def group_sizes(self, observations: Sequence[Observation]) -> IntArray:
        """Number of published records of the group of each record."""
        found = [np.zeros(0, dtype=np.int64)]
        for t, seen in enumerate(observations):
            own = self.group[self.at(t)]
            found.append((np.bincount(own) if seen.noise else seen.counts.sum(axis=1))[own])
        return np.concatenate(found)

    def atoms(self) -> tuple[IntArray, IntArray]:
        """Size of the atom of each record up to its release, shape ``(R,)``, and the label of each place after all releases.

        Places that a release does not publish keep their label, which no other place can get any more.
        """
        label, size, number = np.zeros(self.places, dtype=np.int64), np.zeros(len(self.row), dtype=np.int64), 1
        for t in range(len(self.starts) - 1):
            at = self.at(t)
            own = _joined(label[self.place[at]], self.group[at])
            size[at] = np.bincount(own)[own] if len(own) else own
            label[self.place[at]] = number + own
            number += len(own)
        return size, label


def _places(number: IntArray, release: IntArray, ghost: BoolArray) -> IntArray:
    """Number of the place of each record: a new one where a respondent's record follows one of a ghost."""
    order = np.lexsort((~ghost, release, number))
    begins = np.diff(number[order], prepend=-1) != 0
    begins[1:] |= ghost[order][:-1] & ~ghost[order][1:]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(begins) - 1
    return place


def _joined(*columns: IntArray) -> IntArray:
    """Number of each combination of entries, 0, 1, ...; entries are at least -1."""
    label = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        pairs = label * (int(column.max(initial=0)) + 2) + column + 1
        label = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return label


class _Distinct:
    """Distinct arrays of one shape, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self.arrays: list[FloatArray] = []
        self._number: dict[bytes, int] = {}

    def of(self, array: FloatArray) -> int:
        """Number of an array."""
        key = array.tobytes()
        if key not in self._number:
            self._number[key] = len(self.arrays)
            self.arrays.append(array)
        return self._number[key]

    def rows(self, rows: FloatArray) -> IntArray:
        """Number of each row."""
        if not len(rows):
            return np.zeros(0, dtype=np.int64)
        rows = np.ascontiguousarray(rows)
        keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(-1)
        _, first, own = np.unique(keys, return_index=True, return_inverse=True)
        return np.array([self.of(rows[one]) for one in first.tolist()], dtype=np.int64)[own.reshape(-1)]

    def stacked(self) -> FloatArray:
        """All arrays, in the order of their numbers."""
        return np.array(self.arrays)

    def by_content(self) -> tuple["_Distinct", IntArray]:
        """The arrays in the order of their bytes, and the new number of each; at -1, for none, it is -1."""
        made, number = _Distinct(), np.full(len(self.arrays) + 1, -1)
        for _, old in sorted(self._number.items()):
            number[old] = made.of(self.arrays[old])
        return made, number


class _Laws(NamedTuple):
    """Laws of the paths of all places, as kernels read them.

    Logarithms of distinct ``vectors``, shape ``(V, m)``, of ``kernels``, ``(K, m, m)``, and of the row sums of these, ``tails``,
    with zeros for no kernel as the last row. Numbers of them: of each record the ``kernel`` from the record before (-1 for the
    first one), the ``evidence`` of presence and parts of one's own, and that of ``claims``; of each place its ``prior``, and the
    ``tail`` by which withheld records after the last one multiply its evidence. ``last`` is True for the last record of a
    respondent at a place, ``charge`` has what relations and returns add, shape ``(places, 2)``, ``returns`` is True for places of
    who returned. The group of record r shows the values ``showing[shown[r]]``; ``ghost`` is that of the records.
    """

    vectors: FloatArray
    kernels: FloatArray
    tails: FloatArray
    kernel: IntArray
    evidence: IntArray
    claims: IntArray
    prior: IntArray
    tail: IntArray
    last: BoolArray
    charge: FloatArray
    returns: BoolArray
    showing: BoolArray
    shown: IntArray
    ghost: BoolArray


class _LawBuilder:
    """One pass over the releases, in which the chain of each respondent is carried from record to record."""

    def __init__(self, adversary: Adversary, observations: tuple[Observation, ...], rows: _Rows) -> None:
        self.adversary, self.observations, self.rows = adversary, observations, rows
        check_one_domain("joint law", observations)
        for each in observations:
            check_knows_ghosts(adversary, each.time, len(each.ghosts or ()))
        told = adversary.compromised is not None or adversary.relations is not None
        self.history = joint_history(adversary, observations) if told else None
        self.chain = adversary.known_transitions
        self.by_steps = adversary.gaps == "power" and self.chain is not None
        self.seen = [each.with_ghosts for each in observations]
        sizes = [len(each.people) for each in self.seen]
        numbers = pd.factorize(np.concatenate([each.people.respondents for each in self.seen]))[0]
        self.numbers = np.split(numbers, np.cumsum(sizes)[:-1])
        self.m = observations[0].counts.shape[1]
        self.following = following_releases([each.people for each in observations]) if adversary.witnesses else []
        self.vectors, self.kernels = _Distinct(), _Distinct()
        self.nothing = self.vectors.of(np.ones(self.m))
        people, records = int(numbers.max(initial=-1)) + 1, len(rows.row)
        self.pending = np.full(people, -1)  # kernel since the last published record of each respondent
        self.own_place = np.full(people, -1)  # place of that record
        self.own_class = np.zeros(people, dtype=np.int64)
        self.met = np.zeros(people, dtype=np.bool_)  # in the law
        self.kernel, self.evidence, self.claims = np.full((3, records), -1)
        self.prior, self.tail, self.last = np.full((3, rows.places), -1)
        self.charge = np.zeros((rows.places, 2))
        self.returns = np.zeros(rows.places, dtype=np.bool_)
        self.until = np.full(people, -1)  # last release that lists each respondent
        for t, number in enumerate(self.numbers):
            self.until[number[: observations[t].listed]] = t

    def laws(self) -> _Laws:
        for t in range(len(self.observations)):
            self._release(t)
        self._relations()
        last = np.zeros(len(self.kernel), dtype=np.bool_)
        last[self.last[self.last >= 0]] = True
        # The kind that stands for an atom of many must not depend on who else is read: batches from disk read a part.
        vectors, vector = self.vectors.by_content()
        kernels, kernel = self.kernels.by_content()
        matrices = kernels.stacked().reshape(-1, self.m, self.m)
        groups = np.cumsum([0, *(len(seen.counts) for seen in self.seen)])
        with np.errstate(divide="ignore"):
            return _Laws(
                np.log(vectors.stacked()),
                np.log(matrices),
                np.vstack([np.log(matrices.sum(axis=2)), np.zeros(self.m)]),
                kernel[self.kernel],
                vector[self.evidence],
                vector[self.claims],
                vector[self.prior],
                kernel[self.tail],
                last,
                self.charge,
                self.returns,
                np.concatenate([seen.counts > 0 for seen in self.seen]),
                groups[self.rows.release] + self.rows.group,
                self.rows.ghost,
            )

    def _release(self, t: int) -> None:
        seen, number = self.seen[t], self.numbers[t]
        ghost = np.arange(len(number)) >= seen.listed
        told, claimed = self._told(t), self._claimed(t)
        step, classes = self._steps(t)
        at = self.rows.at(t)
        records, row = np.arange(at.start, at.stop), self.rows.row[at]
        self.evidence[at], self.claims[at] = told[row], claimed[row]
        prior = self.vectors.rows(self.adversary.prior_rows(seen.people))
        shown = ~ghost & (seen.group >= 0)
        if self.by_steps:
            self._absent(t, number[~ghost])
        hidden = np.flatnonzero(~ghost & ~shown & ((self.by_steps & self.met[number]) | (claimed != self.nothing)))
        self._withheld(hidden, number, step, prior, told, claimed)
        real = shown[row]
        self._published(records[real], row[real], number, step, prior)
        self._ghosts(records[~real], row[~real], step, prior)
        self.own_class[number[~ghost]] = classes[~ghost]
        self.met[number[shown]] = True

    def _told(self, t: int) -> IntArray:
        """Evidence of presence and parts of one's own about each row: numbers of vectors."""
        found = np.full(len(self.seen[t].people), self.nothing)
        witnesses, people = self.adversary.witnesses, self.observations[t].people
        if witnesses:
            visits = Visits(people, t, len(self.observations) - 1, self.following[t])
            told = evidence_of(witnesses, visits)
            if told is not None:
                found[: len(people)] = self.vectors.rows(told)
        return found

    def _claimed(self, t: int) -> IntArray:
        """Evidence of compromised records about each row: numbers of vectors."""
        found = np.full(len(self.seen[t].people), self.nothing)
        if self.history is None:
            return found
        (evidence, row), record = self.history.claimed, self.history.record[t]
        some = np.flatnonzero(record >= 0)
        some = some[row[record[some]] >= 0]
        found[some] = self.vectors.rows(evidence[row[record[some]]])
        beside, told = self.history.beside[t]
        found[beside] = self.vectors.rows(told)
        return found

    def _steps(self, t: int) -> tuple[IntArray, IntArray]:
        """Kernel of the chain's step to each row, and its class."""
        people = self.seen[t].people
        if self.chain is None:
            none = np.full(len(people), -1)
            return none, none
        classes = classes_of(self.chain, people)
        return self._chains(t)[classes], classes

    def _chains(self, t: int) -> IntArray:
        """Kernel of each class at a release."""
        assert self.chain is not None
        chains = chains_at(self.chain, t)
        for chain in chains:
            check_domain_size(chain, self.m)
        return np.array([self.kernels.of(np.ascontiguousarray(one.probabilities)) for one in chains])

    def _then(self, before: IntArray, step: IntArray, *evidence: IntArray) -> IntArray:
        """Kernels followed by a step, and by evidence about the value that it leads to; -1 before for none."""
        if not len(before):
            return before
        kind = _joined(before, step, *evidence)
        first = np.unique(kind, return_index=True)[1]
        found = []
        for one in first.tolist():
            matrix = self.kernels.arrays[step[one]]
            matrix = matrix if before[one] < 0 else self.kernels.arrays[before[one]] @ matrix
            for vector in evidence:
                matrix = matrix * self.vectors.arrays[vector[one]]
            found.append(self.kernels.of(matrix))
        return np.array(found, dtype=np.int64)[kind]

    def _absent(self, t: int, listed: IntArray) -> None:
        """A step of the chain of those who are in the law and listed later only, by the class last seen."""
        away = self.met & (self.until > t)
        away[listed] = False
        some = np.flatnonzero(away)
        self.pending[some] = self._then(self.pending[some], self._chains(t)[self.own_class[some]])

    def _withheld(
        self, rows: IntArray, number: IntArray, step: IntArray, prior: IntArray, told: IntArray, claimed: IntArray
    ) -> None:
        """A step to records that are listed and not published, and their evidence."""
        who = number[rows]
        begins = ~self.met[who] if self.chain is not None else np.ones(len(who), dtype=np.bool_)
        later = np.flatnonzero(~begins)
        pending = self._then(self.pending[who[later]], step[rows[later]], told[rows[later]], claimed[rows[later]])
        self.pending[who[later]] = pending
        with_place = self.own_place[who[later]] >= 0
        self.tail[self.own_place[who[later]][with_place]] = pending[with_place]
        if self.chain is None:
            return
        # A claim before the first publication: a kernel whose rows are all the law of that value.
        for one in rows[begins].tolist():
            law = self.vectors.arrays[prior[one]] * self.vectors.arrays[told[one]] * self.vectors.arrays[claimed[one]]
            self.pending[number[one]] = self.kernels.of(np.tile(law, (self.m, 1)))
            self.met[number[one]] = True

    def _published(self, records: IntArray, rows: IntArray, number: IntArray, step: IntArray, prior: IntArray) -> None:
        """Records of respondents: the first one of a place has a prior, a later one a kernel from the one before."""
        who, place = number[rows], self.rows.place[records]
        if self.chain is None:
            self.prior[place], self.last[place] = prior[rows], records
            return
        before = self.own_place[who]
        arrived = (before < 0) & (self.pending[who] < 0)
        self.prior[place[arrived]] = prior[rows[arrived]]
        known = np.flatnonzero(~arrived)
        kernel = np.full(len(records), -1)
        kernel[known] = self._then(self.pending[who[known]], step[rows[known]])
        for one in np.flatnonzero((before < 0) & ~arrived).tolist():
            self.prior[place[one]] = self.vectors.of(self.kernels.arrays[kernel[one]][0].copy())
        stays = (before == place) & ~arrived
        self.kernel[records[stays]] = kernel[stays]
        for one in np.flatnonzero((before >= 0) & (before != place)).tolist():
            self._returned(int(before[one]), int(place[one]), int(records[one]), self.kernels.arrays[kernel[one]])
        self.tail[before[before >= 0]] = -1
        self.own_place[who], self.pending[who], self.last[place] = place, -1, records

    def _returned(self, before: int, place: int, record: int, kernel: FloatArray) -> None:
        """Charge both places of a respondent with their dependence; the prior of the new one is the prediction of the old one."""
        self.returns[[before, place]] = True
        last = int(self.last[before])
        share = self._counts(last)
        values, onward = np.flatnonzero(share), np.flatnonzero(self._counts(record))
        predicted = share @ kernel
        self.prior[place] = self.vectors.of(predicted / predicted.sum() if predicted.sum() else np.ones(self.m))
        onward = onward[predicted[onward] > 0]
        if not len(onward):
            # The releases refute the knowledge, and nothing is bounded.
            self.charge[[before, place], 1] = np.inf
            return
        between = kernel[np.ix_(values, onward)]
        self.charge[before, 1] += max(_range(column, np.ones(len(column))) for column in between.T)
        self.charge[place, 1] += max(_range(line, predicted[onward]) for line in between)

    def _counts(self, record: int) -> FloatArray:
        """Published counts of the group of a record."""
        rows = self.rows
        counts = self.observations[int(rows.release[record])].counts[rows.group[record]]
        return np.asarray(counts, dtype=np.float64)

    def _ghosts(self, records: IntArray, rows: IntArray, step: IntArray, prior: IntArray) -> None:
        """Steps of ghosts from the record before, by the chain of the mechanism, or the adversary's own."""
        place = self.rows.place[records]
        mechanism = None if self.adversary.mechanism is None else self.adversary.mechanism.transitions
        begins = self.prior[place] < 0
        self.prior[place[begins]] = prior[rows[begins]]
        later = np.flatnonzero(~begins)
        if mechanism is not None:
            check_domain_size(mechanism, self.m)
        if self.chain is not None:
            own = (
                step[rows[later]]
                if mechanism is None
                else self.kernels.of(np.ascontiguousarray(mechanism.probabilities))
            )
            self.kernel[records[later]] = own

    def _relations(self) -> None:
        """Range of the log table for each end of a pair of related records."""
        if self.history is None:
            return
        problem: Any = self.history.problem
        place = np.full(len(problem.path), -1)
        for t, record in enumerate(self.history.record):
            at = self.rows.at(t)
            place[record[self.rows.row[at]]] = self.rows.place[at]
        logs = np.log(problem.pair_tables)
        ranges = (logs.max(axis=1) - logs.min(axis=1)).max(axis=1)
        for end in problem.pairs.T:
            np.add.at(self.charge[:, 0], place[end], ranges[problem.pair_table])


def _range(one: FloatArray, other: FloatArray) -> float:
    """Range of the log ratio of two laws over their entries: 0 if at most one is possible, infinite if their supports differ."""
    both = (one > 0) & (other > 0)
    if ((one > 0) != (other > 0)).any():
        return np.inf
    ratio = np.log(one[both]) - np.log(other[both])
    return float(ratio.max() - ratio.min()) if len(ratio) else 0.0


class _Shifts(NamedTuple):
    """Members of atoms by kind: those of one law. A cell is a kind within an atom.

    ``terms`` has the largest shift of a cell's places by each source, shape ``(cells, 8)``, ``largest`` that of all, ``(cells,)``,
    ``aside`` the probability of the paths of the atom that are set aside.
    """

    observations: tuple[Observation, ...]
    rows: _Rows
    known: IntArray  # value of each record that is known from elsewhere; -1 if it is not
    atom: IntArray  # size of the atom of each place
    cell: IntArray  # of each place
    profiles: "_Profiles"
    terms: FloatArray
    largest: FloatArray
    aside: FloatArray

    def upper(self, t: int) -> FloatArray:
        """Bounds at release t, shape ``(n, m)``."""
        seen, at = self.observations[t], self.rows.at(t)
        cell, group, known = self.cell[self.rows.place[at]], self.rows.group[at], self.known[at]
        row, m = self.rows.row[at], seen.counts.shape[1]
        rest = seen.counts.copy()
        sure = np.flatnonzero(known >= 0)
        np.subtract.at(rest, (group[sure], known[sure]), 1)
        out = np.zeros(len(self.largest), dtype=np.bool_)
        out[cell[sure]] = True
        distinct, first, own = np.unique(cell, return_index=True, return_inverse=True)
        found = _bounds(distinct, rest[group[first]], out, self.profiles)
        upper = np.ones((len(seen.people), m))
        listed = np.flatnonzero(row < len(seen.people))
        upper[row[listed]] = found[own.reshape(-1)[listed]]
        some = sure[row[sure] < len(seen.people)]
        upper[row[some]] = np.eye(m)[known[some]]
        return upper


def _knowledge(
    adversary: Adversary, observations: tuple[Observation, ...], hindsight: bool, delta: float
) -> Iterator[tuple[_Shifts, int]]:
    """Shifts that hold for the beliefs about each release, and its number."""
    everything = _shifts(adversary, observations, delta) if hindsight and observations else None
    for t in range(len(observations)):
        if everything is None:
            first = observations[: t + 1]
            yield _shifts(_related_among(adversary, first), first, delta), t
        else:
            yield everything, t


def _related_among(adversary: Adversary, observations: tuple[Observation, ...]) -> Adversary:
    """The adversary with relations of those alone who are listed in some releases."""
    if adversary.relations is None:
        return adversary
    listed = {name for seen in observations for name in seen.people.respondents.tolist()}
    graph = adversary.relations.graph.subgraph([node for node in adversary.relations.graph if node in listed])
    return replace(adversary, relations=replace(adversary.relations, graph=graph))


def _shift_table(shifts: _Shifts, t: int | None) -> pd.DataFrame:
    """Rows of `odds_shift`: of each place, or of the records of release t."""
    rows = shifts.rows
    at = np.unique(rows.place, return_index=True)[1] if t is None else np.arange(len(rows.row))[rows.at(t)]
    cell = shifts.cell[rows.place[at]]
    columns: dict[str, Any] = {
        "respondent": rows.respondents[at],
        "time": object_array([shifts.observations[r].time for r in rows.release[at].tolist()]),
        "atom": shifts.atom[rows.place[at]],
    }
    columns |= {name: shifts.terms[cell, k] for k, name in enumerate(TERMS)}
    return pd.DataFrame(columns | {"epsilon": shifts.largest[cell], "delta": shifts.aside[cell]}).infer_objects()


def _shifts(adversary: Adversary, observations: tuple[Observation, ...], delta: float) -> _Shifts:
    """Shifts between the members of each atom over all the given releases."""
    rows = _Rows.of(observations, one_place=adversary.known_transitions is not None)
    builder = _LawBuilder(adversary, observations, rows)
    laws = builder.laws()
    label = _joined(rows.atoms()[1])
    kind = label
    for t in range(len(observations)):
        at = rows.at(t)
        place = rows.place[at]
        columns = (
            laws.kernel[at],
            laws.evidence[at],
            laws.claims[at],
            laws.last[at].astype(np.int64),
            0 + rows.ghost[at],
        )
        old, new = kind[place], kind.copy()
        new[place] = int(kind.max(initial=0)) + 1 + _joined(old, *columns)
        kind = new
    charges = np.unique(laws.charge.view(np.complex128), return_inverse=True)[1].reshape(-1)
    cell = _joined(label, kind, laws.prior, laws.tail, charges)
    tables = _compared(rows, laws, label, cell, delta)
    # Claims that allow one value alone.
    possible = laws.vectors > -np.inf
    known = np.where((possible.sum(axis=1) == 1) & (possible.shape[1] > 1), possible.argmax(axis=1), -1)[laws.claims]
    return _Shifts(observations, rows, known, np.bincount(label)[label], cell, *tables)


class _Profiles(NamedTuple):
    """Shifts between each cell and the others of its atom.

    Those of cell c are at ``start[c]`` to ``stop[c]`` of ``other``, the cells in the order of the shift, of ``size``, the number of
    their places, and of ``epsilon``, to which ``added[c]`` is added; for the cell itself the shift is ``own[c]``.
    """

    start: IntArray
    stop: IntArray
    added: FloatArray
    own: FloatArray
    other: IntArray
    size: IntArray
    epsilon: FloatArray


def _compared(
    rows: _Rows, laws: _Laws, label: IntArray, cell: IntArray, delta: float
) -> tuple[_Profiles, FloatArray, FloatArray, FloatArray]:
    """Profiles of all cells, and ``terms``, ``largest`` and ``aside`` of `_Shifts`."""
    cells = int(cell.max(initial=-1)) + 1
    _, some_place, size = np.unique(cell, return_index=True, return_counts=True)
    by_place = np.argsort(rows.place, kind="stable")
    first = np.searchsorted(rows.place[by_place], np.arange(rows.places + 1))
    # Cells are sorted by atom, as `_joined` keeps the order of its first column.
    cuts = np.flatnonzero(np.diff(label[some_place], prepend=-1, append=-2))
    kinds = np.diff(cuts)
    compared = np.where(kinds > MAX_KINDS, kinds, kinds**2).sum()
    terms, (largest, aside) = np.zeros((cells, len(TERMS))), np.zeros((2, cells))
    start, stop, other = (np.zeros(length, dtype=np.int64) for length in (cells, cells, compared))
    added, own, epsilon = np.zeros(cells), np.zeros(cells), np.zeros(compared)
    profiles = _Profiles(start, stop, added, own, other, size, epsilon)
    _fill(profiles, terms, largest, laws, cuts, some_place, by_place, first, MAX_KINDS)
    infinite = label[some_place[np.isinf(largest) & (delta > 0)]]
    for atom in np.setdiff1d(infinite, label[laws.returns]).tolist():
        a, b = cuts[atom : atom + 2].tolist()
        charge = laws.charge[some_place[a:b]]
        with np.errstate(invalid="ignore"):  # impossible laws have no probability
            common, outside = _common_paths(_paths(laws, some_place[a:b], by_place, first))
            probability = float((size[a:b] * np.exp(charge[:, 0]) * outside).sum())
        if probability <= delta:
            aside[a:b] = probability
            _fill_atom(profiles, terms, largest, charge, a, int(start[a]), *_compare(common, MAX_KINDS))
    return profiles._replace(size=size[other]), terms, largest, aside


@compiled
def _fill(
    profiles: _Profiles, terms: FloatArray, largest: FloatArray, laws: _Laws, cuts: IntArray, some_place: IntArray,
    by_place: IntArray, first: IntArray, most: int,
) -> None:  # fmt: skip
    """Compare the cells of each atom, and write their profiles."""
    used = 0
    for number in range(len(cuts) - 1):
        places = some_place[cuts[number] : cuts[number + 1]]
        if len(places) > 1:
            rows_of, parts = _compare(_paths(laws, places, by_place, first), most)
        else:
            rows_of, parts = np.zeros((1, 1)), np.zeros((1, 1, terms.shape[1]))
        used = _fill_atom(profiles, terms, largest, laws.charge[places], cuts[number], used, rows_of, parts)


@compiled
def _fill_atom(
    profiles: _Profiles, terms: FloatArray, largest: FloatArray, charge: FloatArray, a: int, used: int,
    rows_of: FloatArray, parts: FloatArray,
) -> int:  # fmt: skip
    """Write the profiles of an atom's cells, a and later, from ``used`` to the end that is returned; ``size`` is by cell."""
    u = len(charge)
    charges = charge[:, 0] + charge[:, 1]
    for i in range(u):
        c = a + i
        # Against a third kind, the shift of a pair is at most the sum of both shifts.
        row = i if len(rows_of) == u else 0
        profiles.added[c] = charges[i] + (0.0 if row == i else rows_of[0, i])
        each = rows_of[row] + charges
        if row or i == 0:
            order = np.argsort(each, kind="mergesort")
            profiles.other[used : used + u], profiles.epsilon[used : used + u] = a + order, each[order]
            used += u
        profiles.start[c], profiles.stop[c], profiles.own[c] = used - u, used, 2 * charges[i]
        largest[c], terms[c] = 0.0, 0.0
        several = profiles.size[c] > 1
        for j in range(u):
            if j == i and not several:
                continue
            shift = profiles.own[c] if j == i else profiles.added[c] + each[j]
            largest[c] = max(largest[c], shift)
            for k in range(terms.shape[1]):
                part = 0.0 if j == i else parts[row, j, k] + (0.0 if row == i else parts[0, i, k])
                if k >= RELATED:
                    part += charge[i, k - RELATED] + charge[j, k - RELATED]
                terms[c, k] = max(terms[c, k], part)
    return used


class _Paths(NamedTuple):
    """Laws of the paths of u kinds of an atom, through q records: ``nodes`` has log factors of single values, by source."""

    nodes: FloatArray  # evidence, claims and prior, shape (u, q, 3, m)
    kernels: FloatArray
    kernel: IntArray
    ghost: BoolArray
    last: BoolArray
    shown: BoolArray


@compiled
def _paths(laws: _Laws, places: IntArray, by_place: IntArray, first: IntArray) -> _Paths:
    """Laws of the paths of some places of an atom."""
    u, q, m = len(places), first[places[0] + 1] - first[places[0]], laws.vectors.shape[1]
    nodes, shown = np.zeros((u, q, 3, m)), np.empty((q, m), dtype=np.bool_)
    kernel, ghost, last = np.empty((u, q), dtype=np.int64), np.empty((u, q), np.bool_), np.empty((u, q), np.bool_)
    for i, place in enumerate(places):
        nodes[i, 0, 2] = laws.vectors[laws.prior[place]]
        for r in range(q):
            record = by_place[first[place] + r]
            kernel[i, r], ghost[i, r], last[i, r] = laws.kernel[record], laws.ghost[record], laws.last[record]
            nodes[i, r, 0], nodes[i, r, 1] = laws.vectors[laws.evidence[record]], laws.vectors[laws.claims[record]]
            if last[i, r]:
                nodes[i, r, 0] += laws.tails[laws.tail[place]]
            shown[r] = laws.showing[laws.shown[record]]
    return _Paths(nodes, laws.kernels, kernel, ghost, last, shown)


def _common_paths(paths: _Paths) -> tuple[_Paths, FloatArray]:
    """Paths without those that are impossible for some kind, and the probability of these by the law of each kind."""
    nodes, kernels, kernel = paths[:3]
    struck = np.isneginf(nodes).any(axis=(0, 2))
    weight = np.exp(nodes.sum(axis=2))
    outside, inside = weight[:, 0] * struck[0], weight[:, 0] * ~struck[0]
    steps, number = [np.zeros((0, *kernels.shape[1:]))], np.full_like(kernel, -1)
    for r in range(1, kernel.shape[1]):
        used, own = np.unique(kernel[:, r], return_inverse=True)
        number[:, r] = sum(map(len, steps)) + own
        steps.append(np.where(np.isneginf(kernels[used]).any(axis=0), -np.inf, kernels[used]))
        every, kept = np.exp(kernels[used])[own], np.exp(steps[-1])[own]
        # Sums of positive terms, as small probabilities are differences of large ones.
        lost = outside[:, None] @ every + inside[:, None] @ (every - kept)
        stay = (inside[:, None] @ kept)[:, 0]
        outside, inside = (lost[:, 0] + stay * struck[r]) * weight[:, r], stay * ~struck[r] * weight[:, r]
        total = (inside + outside).sum(axis=1, keepdims=True)
        inside, outside = inside / total, outside / total
    nodes = np.where(struck[:, None], -np.inf, nodes)
    common = paths._replace(nodes=nodes, kernels=np.concatenate(steps), kernel=number)
    return common, outside.sum(axis=1) / (inside + outside).sum(axis=1)


PRIORS, TRANSITIONS, GHOST_STEPS, LEAVING, LAST_RECORD, COMPROMISED, RELATED = range(7)
"""Columns of terms; the last two are charges."""


@compiled
def _compare(paths: _Paths, most: int) -> tuple[FloatArray, FloatArray]:
    """Ranges of log ratios of path laws, of all and by source: of each two kinds; if over ``most``, of the first and each."""
    nodes, kernels, kernel, ghost, last, shown = paths
    u, q, _, m = nodes.shape
    rows = u if u <= most else 1
    epsilon, terms = np.zeros((rows, u)), np.zeros((rows, u, len(TERMS)))
    highest, lowest = np.empty((2, m)), np.empty((2, m))
    only = np.zeros((2, 2, m), dtype=np.bool_)
    both = np.zeros((2, m), dtype=np.bool_)
    for i in range(len(epsilon)):
        for j in range(i + 1, u):
            if (kernel[i] == kernel[j]).all() and (nodes[i] == nodes[j]).all():
                continue
            # Paths that are possible under both laws, with the extremes of the log ratio, and those possible under one alone.
            for r in range(q):
                now, then = r % 2, (r + 1) % 2
                both[now], only[now], highest[now], lowest[now] = False, False, -np.inf, np.inf
                for w in range(m):
                    if not shown[r, w]:
                        continue
                    a0, b0 = nodes[i, r, :, w].sum(), nodes[j, r, :, w].sum()
                    for v in range(m if r else 1):
                        x, y = a0, b0
                        if r:
                            x += kernels[kernel[i, r], v, w]
                            y += kernels[kernel[j, r], v, w]
                        from_both = both[then, v] if r else True
                        first, second = x > -np.inf, y > -np.inf
                        if from_both and first and second:
                            both[now, w] = True
                            highest[now, w] = max(highest[now, w], (highest[then, v] if r else 0.0) + x - y)
                            lowest[now, w] = min(lowest[now, w], (lowest[then, v] if r else 0.0) + x - y)
                        if first and ((from_both and not second) or (r and only[then, 0, v])):
                            only[now, 0, w] = True
                        if second and ((from_both and not first) or (r and only[then, 1, v])):
                            only[now, 1, w] = True
            end = (q - 1) % 2
            shift = np.inf
            if not only[end].any():
                shift = max(highest[end].max() - lowest[end].min(), 0.0) if both[end].any() else 0.0
            epsilon[i, j] = shift
            for r in range(q):
                kind = LAST_RECORD if last[i, r] or last[j, r] else LEAVING
                terms[i, j, kind] += _spread(nodes[i, r, 0], nodes[j, r, 0], shown[r])
                terms[i, j, COMPROMISED] += _spread(nodes[i, r, 1], nodes[j, r, 1], shown[r])
                if r == 0:
                    terms[i, j, PRIORS] += _spread(nodes[i, r, 2], nodes[j, r, 2], shown[r])
                elif kernel[i, r] != kernel[j, r]:
                    high, low = -np.inf, np.inf
                    for v in range(m):
                        if not shown[r - 1, v]:
                            continue
                        for w in range(m):
                            x, y = kernels[kernel[i, r], v, w], kernels[kernel[j, r], v, w]
                            if shown[r, w] and (x > -np.inf or y > -np.inf):
                                high, low = max(high, x - y), min(low, x - y)
                    step = GHOST_STEPS if ghost[i, r] or ghost[j, r] else TRANSITIONS
                    terms[i, j, step] += _difference(high, low)
            if j < len(epsilon):
                epsilon[j, i] = epsilon[i, j]
                terms[j, i] = terms[i, j]
    return epsilon, terms


@compiled
def _spread(one: FloatArray, other: FloatArray, shown: BoolArray) -> float:
    """Range of the difference of two logarithms over the values shown and possible under one of both."""
    high, low = -np.inf, np.inf
    for w in range(len(shown)):
        if shown[w] and (one[w] > -np.inf or other[w] > -np.inf):
            high, low = max(high, one[w] - other[w]), min(low, one[w] - other[w])
    return _difference(high, low)


@compiled
def _difference(high: float, low: float) -> float:
    """Length of a range of log ratios, from -inf to inf if it is empty; infinite if a ratio is."""
    if low > high:
        return 0.0
    return high - low if high < np.inf and low > -np.inf else np.inf


@compiled
def _bounds(cells: IntArray, rest: IntArray, out: BoolArray, profiles: _Profiles) -> FloatArray:
    """Smallest bound over nested sets of members, for each of some cells and each value, shape ``(c, m)``.

    ``rest`` has the counts of the group of each cell, without members who are known; these are ``out``.
    """
    found = np.ones(rest.shape)
    for row in range(len(cells)):
        cell = cells[row]
        for s in range(rest.shape[1]):
            members, count, epsilon = 1, max(rest[row, s], 0), 0.0
            if count == 0:
                found[row, s] = 0.0
                continue
            for k in range(profiles.start[cell], profiles.stop[cell]):
                other = profiles.other[k]
                more = profiles.size[k] - (1 if other == cell else 0)
                if more == 0 or out[other]:
                    continue
                shift = profiles.own[cell] if other == cell else profiles.added[cell] + profiles.epsilon[k]
                members, epsilon = members + more, max(epsilon, shift)
                if epsilon == np.inf:
                    break
                if count < members:
                    # In logarithms, as exp(epsilon) may be over the largest float.
                    odds = np.log(count) - np.log(members - count) + epsilon
                    found[row, s] = min(found[row, s], 1 / (1 + np.exp(-odds)))
    return found
