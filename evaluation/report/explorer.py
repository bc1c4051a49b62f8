"""Data of the belief explorer: beliefs about chosen respondents over time, in a compact form."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from foreknow.evaluation.report.adversaries import Inference
from foreknow.evaluation.report.pseudonyms import Pseudonyms, label
from foreknow.models import Release
from foreknow.models.arrays import IntArray

MAX_PEOPLE = 5_000
"""Largest number of respondents of the explorer."""

MAX_RECORDS = 24_000
"""Number of their records, at most; it bounds the size of the page."""

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
    number = _records_of(releases, names)
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


def _records_of(releases: Sequence[Release], names: Pseudonyms) -> IntArray:
    """Number of records of each respondent, in the order of exposure."""
    number = np.zeros(len(names.numbers), dtype=np.int64)
    for release in releases:
        for name in release.view.people.respondents:
            number[names.numbers[name] - 1] += 1
    return number


def _chosen(number: IntArray, rng: np.random.Generator) -> IntArray:
    """Places of the chosen respondents: rising."""
    if len(number) <= MAX_PEOPLE and number.sum() <= MAX_RECORDS:
        return np.arange(len(number))
    first = min(int(np.searchsorted(np.cumsum(number), MAX_RECORDS // 2)), MAX_PEOPLE // 2)
    others = first + rng.permutation(len(number) - first)
    sampled = min(int(np.searchsorted(np.cumsum(number[others]), MAX_RECORDS // 2)), MAX_PEOPLE // 2)
    return np.concatenate([np.arange(first), np.sort(others[:sampled])])


def _number_by_exposure(chosen: IntArray) -> int:
    """Number of chosen respondents before the first gap."""
    gaps = np.flatnonzero(chosen != np.arange(len(chosen)))
    return int(gaps[0]) if len(gaps) else len(chosen)


def _record(t: int, release: Release, row: int, forward: Any, hindsight: Any) -> list[Any]:
    """One record: number of the release, size of the group, code of the true value, and an entry for each value."""
    group = int(release.group[row])
    counts = release.counts[group] if group >= 0 else np.zeros(len(forward), dtype=np.int64)
    shown = np.flatnonzero((counts > 0) | (forward >= LEAST_SHOWN) | (hindsight >= LEAST_SHOWN))
    entries = [
        [code, int(counts[code]), round(float(forward[code]) * SCALE), round(float(hindsight[code]) * SCALE)]
        for code in shown.tolist()
    ]
    return [t, int(counts.sum()), int(release.view.sensitive[row]), entries]
