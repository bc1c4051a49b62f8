"""Respondents on the page of a report: names, the most exposed ones and groups with the reasons, and the explorer."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.terminal import visible
from foreknow.app.exposure import is_exposing
from foreknow.app.report.adversaries import Inference
from foreknow.attacks import JointAttack
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth
from foreknow.evaluation.risk.respondent_risk import member_contributions
from foreknow.models import Adversary, Auto, Beliefs, History, People, Release
from foreknow.models.arrays import IntArray, object_array
from foreknow.models.joint.group_graph import GroupGraph, threads_of
from foreknow.models.progress import Progress

PEOPLE, GROUPS = 10, 10
"""Numbers of rows of the two tables."""

MATES = 3
"""Number of group members named as a reason."""

LEAST_CHANGE = 0.05
"""Least change of a belief that is given as a reason."""

MAX_PREFIX_RECORDS = 20_000
"""Number of records up to which the law of each prefix of the releases is computed, to find the later release that exposed."""

PEOPLE_COLUMNS = (
    "respondent", "person", "time", "value", "prior", "share", "members", "records", "forward", "belief", "low", "high", "exposed",
    "together", "earlier", "later", "mates", "reason",
)  # fmt: skip
"""Columns of `exposed_people`."""


class _Place(NamedTuple):
    """A record whose exposure is explained: number of its release, its row, and the code of the value."""

    respondent: Hashable
    t: int
    row: int
    code: int

    def belief(self, beliefs: Beliefs) -> float:
        """Belief in the value."""
        return float(beliefs.releases[self.t].posterior.probabilities[self.row, self.code])


@dataclass(frozen=True, eq=False)
class Pseudonyms:
    """Names of the respondents of a report.

    Attributes
    ----------
    numbers : dict of respondent to int
        Number of each respondent, from 1 on, in the order of exposure: it says nothing of the identifier.
    shown : bool
        If True, names are the identifiers.
    """

    numbers: dict[Hashable, int]
    shown: bool = False

    @classmethod
    def of(cls, respondents: Iterable[Hashable], shown: bool) -> "Pseudonyms":
        """Names of respondents in the order of exposure."""
        return cls({name: number for number, name in enumerate(dict.fromkeys(respondents), 1)}, shown)

    def __call__(self, respondent: Hashable) -> str:
        """Name of a respondent on the page."""
        return label(respondent) if self.shown else f"Person {self.numbers[respondent]}"


def exposed_people(
    people: pd.DataFrame,
    releases: Sequence[Release],
    attack: JointAttack,
    hindsight: Beliefs,
    sequential: Beliefs,
    names: Pseudonyms,
    *,
    forward: Beliefs | None = None,
    most: int = PEOPLE,
    progress: Progress = iter,
) -> pd.DataFrame:
    """Most exposed respondents, with the reasons.

    Parameters
    ----------
    people : DataFrame
        `Headline.people`; its first rows are shown.
    releases : sequence of Release
    attack : JointAttack
        Attack of the adversary; it is made with prefixes of the releases.
    hindsight, sequential : Beliefs
        Of this attack with all releases, and of the sequential one of the same adversary.
    names : Pseudonyms
    forward : Beliefs, optional
        Beliefs given the releases up to each one; by default those in hindsight given each prefix that ends with a row's release,
        and ``sequential`` for more than `MAX_PREFIX_RECORDS` records.
    most : int
        Largest number of rows.
    progress : Progress
        Called with the numbers of releases of the prefixes whose joint law is computed, if any is, and with the rows.

    Returns
    -------
    DataFrame
        At most ``most`` rows. Columns ``respondent`` (the identifier), ``person`` (the name on the page), ``time``, ``value``,
        ``prior``, ``share``, ``members``, ``records`` (the number of published records of the group, invented ones included),
        ``forward`` (the belief given the releases up to that one), ``belief`` (in hindsight), ``low`` and ``high``, ``together``
        (True if ``forward`` is of the sequential attack, so that ``belief`` differs by all releases read together, and not by later
        ones alone), ``earlier`` (True if an earlier release has a record of the respondent), ``later`` (the later release that
        raised the belief most, or None), ``mates`` (the names of the group members whose earlier releases raised it), ``reason``.

    Notes
    -----
    The later release is found by the joint law of each prefix of the releases, for at most `MAX_PREFIX_RECORDS` records. Group
    members are those of `foreknow.evaluation.exposing_members`, with the beliefs of the sequential attack. Cost: one attack for
    each prefix that is read, and for each release one problem of the copies of the groups of its rows.
    """
    shown = people.head(most)
    codes = {value: code for code, value in enumerate(releases[0].view.schema.values)}
    times, row_of = [release.time for release in releases], [rows_of(one.observation.people) for one in hindsight]
    places = []
    for owner, time, value in zip(*(shown[name].tolist() for name in ("respondent", "time", "value")), strict=True):
        t = times.index(time)
        places.append(_Place(owner, t, row_of[t][owner], codes[value]))
    every = len(releases) == 1 or sum(len(release.view) for release in releases) <= MAX_PREFIX_RECORDS
    by_prefix: list[list[float]] = [[] for _ in places]
    if every:
        by_prefix = _beliefs_by_prefix(places, releases, attack, hindsight, progress)
    together = forward is None and not every
    so_far = sequential if together else forward
    rows: list[dict[Hashable, Any]] = []
    told = zip(places, by_prefix, _told(places, releases, hindsight, sequential), strict=True)
    for record, (place, beliefs, known) in zip(progress(shown.to_dict("records")), told, strict=True):
        later = _raising(beliefs)
        row = record | {
            "person": names(place.respondent),
            "forward": beliefs[0] if so_far is None else place.belief(so_far),
            "together": together,
            "later": None if later is None else times[place.t + later],
            **known,
            "mates": tuple(map(names, known["mates"])),
        }
        rows.append(row | {"reason": reason(row)})
    return pd.DataFrame({name: object_array([row[name] for row in rows]) for name in PEOPLE_COLUMNS}, dtype=object)


def _told(
    places: Sequence[_Place], releases: Sequence[Release], hindsight: Beliefs, sequential: Beliefs
) -> list[dict[str, Any]]:
    """Columns ``records``, ``earlier`` and ``mates`` (the respondents) of each place, those of one release at once."""
    first: dict[Hashable, int] = {}
    for t, release in enumerate(releases):
        for respondent in release.view.people.respondents[release.group >= 0].tolist():
            first.setdefault(respondent, t)
    found: dict[_Place, dict[str, Any]] = {}
    for t, seen in enumerate(one.observation for one in hindsight):
        some = [place for place in places if place.t == t]
        rows, codes = [place.row for place in some], [place.code for place in some]
        for place, each in zip(some, member_contributions(sequential.releases[t], rows, codes, Auto()), strict=True):
            raising = each.members[:MATES][each.contribution[:MATES] >= LEAST_CHANGE]
            found[place] = {
                "records": int(seen.counts[seen.group[place.row]].sum()),
                "earlier": first.get(place.respondent, t) < t,
                "mates": seen.people.respondents[raising].tolist(),
            }
    return [found[place] for place in places]


def _beliefs_by_prefix(
    places: Sequence[_Place],
    releases: Sequence[Release],
    attack: JointAttack,
    hindsight: Beliefs,
    progress: Progress,
) -> list[list[float]]:
    """Beliefs about each place given the releases up to each one from its own on."""
    found: list[list[float]] = [[] for _ in places]
    adversary = attack.adversary
    assert isinstance(adversary, Adversary)
    times, told = [release.time for release in releases], adversary.compromised

    def by(t: int) -> dict[int, float]:
        """Beliefs given the first t releases, by the numbers of the places."""
        some = [number for number, place in enumerate(places) if place.t < t]
        if not some:
            return {}
        known = None if told is None else replace(told, frame=told.frame[told.frame["time"].isin(times[:t])])
        prefix = replace(attack, adversary=replace(adversary, compromised=known), hindsight=True)
        beliefs = hindsight if t == len(releases) else prefix(releases[:t])
        return {number: places[number].belief(beliefs) for number in some}

    lengths = range(1, len(releases) + 1)
    # Another solver may have a random state, which threads would share.
    threads = threads_of() if isinstance(attack.solver, GroupGraph) else 1
    # The longest first, so that no thread is left with it alone.
    order = lengths if threads == 1 else lengths[::-1]
    with ThreadPoolExecutor(threads) as pool:
        solved = (pool.map if threads > 1 else map)(by, order)
        of_prefix = dict(zip(progress(order), solved, strict=True))
    for length in lengths:
        for number, belief in of_prefix[length].items():
            found[number].append(belief)
    return found


def _raising(beliefs: Sequence[float]) -> int | None:
    """Number of the prefix, after the first, that raised a belief most; None where later releases hardly raised it."""
    rises = np.diff(beliefs)
    if not len(rises) or rises.max() < LEAST_CHANGE or beliefs[-1] - beliefs[0] < LEAST_CHANGE:
        return None
    return 1 + int(rises.argmax())


def rows_of(people: People) -> dict[Hashable, int]:
    """Row of each respondent."""
    return {respondent: row for row, respondent in enumerate(people.respondents.tolist())}


def reason(row: Mapping[Any, Any]) -> str:
    """Reason of an exposure, in a few sentences."""
    records, share = int(row["records"]), float(row["share"])
    value, invented = label(row["value"]), records - int(row["members"])
    if records == 1:
        return f"The group has this one record and shows {value}: the published table alone discloses it."
    some = f", {invented} of them invented" if invented else ""
    if share == 1:
        return (
            f"All {records} records of the group{some} have the value {value}: the published table alone discloses it."
        )
    group = f"The group shows {value} for {round(share * records)} of {records} records ({percent(share)}){some}."
    said = [text for text in (_at_that_time(row), _in_hindsight(row)) if text]
    little = f"Knowledge and other releases change little: the belief is {percent(row['belief'])}."
    return " ".join([group, *(said or [little])])


def _at_that_time(row: Mapping[Any, Any]) -> str:
    """Sentence on the difference between the share of the group and the belief given the releases so far, if it is large."""
    change = row["forward"] - row["share"]
    if abs(change) < LEAST_CHANGE:
        return ""
    verb = "raised" if change > 0 else "lowered"
    when = "Release by release" if row["together"] else "At that time"
    return f"{when}, {_knowledge(row['mates'], row['earlier'])} {verb} the belief to {percent(row['forward'])}."


def _knowledge(mates: Sequence[str], earlier: bool) -> str:
    """Knowledge besides the group: of the named members, and of the person if an earlier release has a record.

    >>> _knowledge((), False), _knowledge((), True)
    ('the prior', 'the prior and earlier releases')
    """
    if not mates:
        return "the prior and earlier releases" if earlier else "the prior"
    told = f"what earlier releases told of {_listed(mates)}"
    return f"{told} and of this person" if earlier else f"the prior and {told}"


def _in_hindsight(row: Mapping[Any, Any]) -> str:
    """Sentence on the change of the belief by later releases, or by all together, if it is large, or changes a number told."""
    change, told = row["belief"] - row["forward"], percent(row["belief"])
    above = "" if row["later"] is None or change < 0 else f", above all the one at {label(row['later'])},"
    cause = "All releases read together" if row["together"] else f"Then later releases{above}"
    if abs(change) >= LEAST_CHANGE:
        return f"{cause} {'raised' if change > 0 else 'lowered'} it to {told}."
    return f"In hindsight, it is {told}." if _at_that_time(row) and told != percent(row["forward"]) else ""


def percent(share: float) -> str:
    """A share as a percentage: whole, with one decimal below 10 % and above 99 %, and never rounded to 0 or 100 %.

    >>> [percent(share) for share in (0.0, 0.0001, 0.052, 0.5, 0.987, 0.9953, 0.9999, 1.0)]
    ['0%', '<0.1%', '5.2%', '50%', '99%', '99.5%', '>99.9%', '100%']
    """
    if np.isnan(share):
        return "–"
    if share <= 0 or share >= 1 - 1e-12:
        return "0%" if share <= 0 else "100%"
    if share < 0.0005 or share > 0.9995:
        return "<0.1%" if share < 0.5 else ">99.9%"
    text = f"{100 * share:.0f}" if 0.1 <= share < 0.99 else f"{100 * share:.1f}"
    return f"{text}%"


def exposed_groups(one: Inference, history: History, sure: float) -> pd.DataFrame:
    """Groups with the largest numbers of exposed members, in hindsight.

    Returns
    -------
    DataFrame
        At most `GROUPS` rows. Columns ``time``; ``group``, its number in the published table; ``members``; ``records``, the
        number of published records, invented ones included; ``exposed``, the number of members whose record `is_exposing`;
        ``values``, the number of distinct values that it shows; ``largest``, the largest share of a value; ``confidence``, the
        mean belief in the true values.
    """
    tables = []
    for measured, release in zip(beliefs_and_truth("report", one.hindsight, history), one.hindsight, strict=True):
        counts = release.observation.counts
        g = len(counts)
        exposing = is_exposing(measured.confidence, release.prior[measured.rows, measured.true], sure)
        members = np.bincount(measured.group, minlength=g)
        confidence = np.bincount(measured.group, measured.confidence, minlength=g)
        table = pd.DataFrame(
            {
                "group": np.arange(g),
                "members": members,
                "records": counts.sum(axis=1),
                "exposed": np.bincount(measured.group, exposing, minlength=g).astype(np.int64),
                "values": (counts > 0).sum(axis=1),
                "largest": counts.max(axis=1, initial=0) / np.maximum(counts.sum(axis=1), 1),
                "confidence": confidence / np.maximum(members, 1),
            }
        )
        table = table.sort_values(["exposed", "confidence"], ascending=False, kind="stable").head(GROUPS)
        table.insert(0, "time", object_array([release.observation.time] * len(table)))
        tables.append(table)
    pooled = pd.concat(tables, ignore_index=True)
    order = ["exposed", "confidence"]
    return pooled.sort_values(order, ascending=False, kind="stable").head(GROUPS).reset_index(drop=True)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


MAX_LABEL = 60
"""Characters of a label that are shown; a cell may have any length."""


def label(cell: Any) -> str:
    """A value, a time or an identifier as text of at most `MAX_LABEL` characters."""
    text = visible(str(cell))
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 1]}…"


MAX_PEOPLE = 5_000
"""Largest number of respondents of the explorer."""

MAX_ENTRIES = 180_000
"""Number of their pairs of a record and a value, at most; it bounds the size of the page, by 15 bytes each."""

SCALE = 1000
"""Beliefs are rounded to thousandths."""

LEAST_SHOWN = 0.01
"""Least belief in a value that the group does not show, to be in the data."""


class Explorer(NamedTuple):
    """Data of the belief explorer."""

    # times, values: labels
    times: tuple[str, ...]
    values: tuple[str, ...]
    # for each respondent ``[name, records]``; a record is ``[t, size, own, entries]``: the number of the release, the number of
    # records of the group (0 if suppressed), the code of the true value, and for each value ``[code, count, forward, hindsight]``,
    # beliefs in thousandths
    people: list[list[Any]]
    respondents: tuple[Hashable, ...]  # their identifiers, in the same order
    # most_exposed, sampled, total: numbers of respondents chosen by exposure and at random, and of all respondents
    most_exposed: int
    sampled: int
    total: int


def explorer(
    one: Inference, forward: Beliefs, releases: Sequence[Release], names: Pseudonyms, rng: np.random.Generator
) -> Explorer:
    """Beliefs about all respondents if they fit, otherwise about the most exposed ones and a random sample of the others.

    ``names`` has all respondents in the order of exposure. Cost: O(n) for n records in all.
    """
    everyone = list(names.numbers)
    number = np.zeros(len(everyone), dtype=np.int64)
    places, shown = [], []
    for t, release in enumerate(releases):
        so_far, hindsight = (each.releases[t].posterior.probabilities for each in (forward, one.hindsight))
        counts = np.vstack([release.counts, np.zeros((1, so_far.shape[1]), dtype=np.int64)])[release.group]
        # The values that the group shows, and those with a belief of `LEAST_SHOWN`.
        shown.append((counts > 0) | (so_far >= LEAST_SHOWN) | (hindsight >= LEAST_SHOWN))
        places.append(np.array([names.numbers[name] - 1 for name in release.view.people.respondents], dtype=np.int64))
        number[places[t]] += shown[t].sum(axis=1)
    chosen = _chosen(number, rng)
    is_chosen = np.zeros(len(everyone), dtype=np.bool_)
    is_chosen[chosen] = True
    people: dict[int, list[Any]] = {place: [names(everyone[place]), []] for place in chosen.tolist()}
    for t, release in enumerate(releases):
        for row in np.flatnonzero(is_chosen[places[t]]).tolist():
            people[int(places[t][row])][1].append(
                _record((forward, one.hindsight), t, release, row, np.flatnonzero(shown[t][row]))
            )
    values = releases[0].view.schema.values
    gaps = np.flatnonzero(chosen != np.arange(len(chosen)))
    first = int(gaps[0]) if len(gaps) else len(chosen)
    return Explorer(
        tuple(label(release.time) for release in releases),
        tuple(map(label, values)),
        list(people.values()),
        tuple(everyone[place] for place in people),
        first,
        len(chosen) - first,
        len(everyone),
    )


def _chosen(number: IntArray, rng: np.random.Generator) -> IntArray:
    """Places of the chosen respondents: rising."""
    if len(number) <= MAX_PEOPLE and number.sum() <= MAX_ENTRIES:
        return np.arange(len(number))
    first = min(int(np.searchsorted(np.cumsum(number), MAX_ENTRIES // 2)), MAX_PEOPLE // 2)
    others = first + rng.permutation(len(number) - first)
    sampled = min(int(np.searchsorted(np.cumsum(number[others]), MAX_ENTRIES // 2)), MAX_PEOPLE // 2)
    return np.concatenate([np.arange(first), np.sort(others[:sampled])])


def _record(both: tuple[Beliefs, Beliefs], t: int, release: Release, row: int, shown: IntArray) -> list[Any]:
    """One record: number of the release, size of the group, code of the true value, and an entry for each value shown."""
    group = int(release.group[row])
    counts = release.counts[group] if group >= 0 else np.zeros(len(release.view.schema.values), dtype=np.int64)
    forward, hindsight = (each.releases[t].posterior.probabilities[row] for each in both)
    entries = [
        [code, int(counts[code]), round(float(forward[code]) * SCALE), round(float(hindsight[code]) * SCALE)]
        for code in shown.tolist()
    ]
    return [t, int(counts.sum()), int(release.view.sensitive[row]), entries]
