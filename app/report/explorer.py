"""Data of the belief explorer: beliefs about chosen respondents over time, in a compact form."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from foreknow.app.report.adversaries import Inference
from foreknow.app.report.pseudonyms import Pseudonyms, label
from foreknow.models import Release
from foreknow.models.arrays import BoolArray, FloatArray, IntArray

MAX_PEOPLE = 5_000
"""Largest number of respondents of the explorer."""

MAX_ENTRIES = 180_000
"""Number of their pairs of a record and a value, at most; it bounds the size of the page, by 15 bytes each."""

SCALE = 1000
"""Beliefs are rounded to thousandths."""

LEAST_SHOWN = 0.01
"""Least belief in a value that the group does not show, to be in the data."""


class Explorer(NamedTuple):
    """Data of the belief explorer.

    Attributes
    ----------
    times, values : tuple of str
        Labels.
    people : list
        For each respondent ``[name, records]``; a record is ``[t, size, own, entries]``: the number of the release, the number
        of records of the group (0 if suppressed), the code of the true value, and for each value ``[code, count, forward,
        hindsight]``, beliefs in thousandths.
    respondents : tuple
        Their identifiers, in the same order.
    most_exposed, sampled, total : int
        Numbers of respondents chosen by exposure and at random, and of all respondents.
    """

    times: tuple[str, ...]
    values: tuple[str, ...]
    people: list[list[Any]]
    respondents: tuple[Hashable, ...]
    most_exposed: int
    sampled: int
    total: int


def explorer(one: Inference, releases: Sequence[Release], names: Pseudonyms, rng: np.random.Generator) -> Explorer:
    """Beliefs about all respondents if they fit, otherwise about the most exposed ones and a random sample of the others.

    ``names`` has all respondents in the order of exposure. Cost: O(n) for n records in all.
    """
    everyone = list(names.numbers)
    number = _entries_of(one, releases, names)
    chosen = _chosen(number, rng)
    is_chosen = np.zeros(len(everyone), dtype=np.bool_)
    is_chosen[chosen] = True
    people: dict[int, list[Any]] = {place: [names(everyone[place]), []] for place in chosen.tolist()}
    for t, release in enumerate(releases):
        forward, hindsight = (each.releases[t].posterior.probabilities for each in (one.forward, one.hindsight))
        respondents = release.view.people.respondents
        place = np.array([names.numbers[name] - 1 for name in respondents], dtype=np.int64)
        for row in np.flatnonzero(is_chosen[place]).tolist():
            people[int(place[row])][1].append(_record(t, release, row, forward[row], hindsight[row]))
    values = releases[0].view.schema.values
    first = _number_by_exposure(chosen)
    return Explorer(
        tuple(label(release.time) for release in releases),
        tuple(map(label, values)),
        list(people.values()),
        tuple(everyone[place] for place in people),
        first,
        len(chosen) - first,
        len(everyone),
    )


def _entries_of(one: Inference, releases: Sequence[Release], names: Pseudonyms) -> IntArray:
    """Number of pairs of a record and a value of each respondent, in the order of exposure."""
    number = np.zeros(len(names.numbers), dtype=np.int64)
    for t, release in enumerate(releases):
        forward, hindsight = (each.releases[t].posterior.probabilities for each in (one.forward, one.hindsight))
        counts = np.vstack([release.counts, np.zeros((1, forward.shape[1]), dtype=np.int64)])[release.group]
        place = np.array([names.numbers[name] - 1 for name in release.view.people.respondents], dtype=np.int64)
        number[place] += _shown(counts, forward, hindsight).sum(axis=1)
    return number


def _shown(counts: IntArray, forward: FloatArray, hindsight: FloatArray) -> BoolArray:
    """Mask of the values that are in the data: those that the group shows, and those with a belief of `LEAST_SHOWN`."""
    return np.asarray((counts > 0) | (forward >= LEAST_SHOWN) | (hindsight >= LEAST_SHOWN))


def _chosen(number: IntArray, rng: np.random.Generator) -> IntArray:
    """Places of the chosen respondents: rising."""
    if len(number) <= MAX_PEOPLE and number.sum() <= MAX_ENTRIES:
        return np.arange(len(number))
    first = min(int(np.searchsorted(np.cumsum(number), MAX_ENTRIES // 2)), MAX_PEOPLE // 2)
    others = first + rng.permutation(len(number) - first)
    sampled = min(int(np.searchsorted(np.cumsum(number[others]), MAX_ENTRIES // 2)), MAX_PEOPLE // 2)
    return np.concatenate([np.arange(first), np.sort(others[:sampled])])


def _number_by_exposure(chosen: IntArray) -> int:
    """Number of chosen respondents before the first gap."""
    gaps = np.flatnonzero(chosen != np.arange(len(chosen)))
    return int(gaps[0]) if len(gaps) else len(chosen)


def _record(t: int, release: Release, row: int, forward: Any, hindsight: Any) -> list[Any]:
    """One record: number of the release, size of the group, code of the true value, and an entry for each value."""
    group = int(release.group[row])
    counts = release.counts[group] if group >= 0 else np.zeros(len(forward), dtype=np.int64)
    shown = np.flatnonzero(_shown(counts, forward, hindsight))
    entries = [
        [code, int(counts[code]), round(float(forward[code]) * SCALE), round(float(hindsight[code]) * SCALE)]
        for code in shown.tolist()
    ]
    return [t, int(counts.sum()), int(release.view.sensitive[row]), entries]
