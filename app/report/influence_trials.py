"""Influence of compromised records: trials with single records that become known."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.report.adversaries import Inference
from foreknow.app.report.pseudonyms import Pseudonyms
from foreknow.attacks import Influence, SequentialAttack
from foreknow.evaluation.risk.information_flow import influence_by_distance
from foreknow.models import Adversary, Beliefs, CompromisedRecords, PriorCascade, Release

TRIALS = 6
"""Number of records that are tried."""

MAX_TRIAL_RECORDS = 50_000
"""Number of records in all, up to which `TRIALS` records are tried and a graph is made; beyond it, one is tried."""

LEAST_CHANGE = 0.05
"""Least change of a belief that counts."""

LEAST_BITS = 0.002
"""Least change of a belief in the graph of influence, in bits (Jensen-Shannon divergence): about 50 % to 55 %."""

COLUMNS = ("person", "time", "respondents", "releases", "places", "largest")


def influence_trials(
    one: Inference, releases: Sequence[Release], names: Pseudonyms, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Influence of records drawn at random from the first release with a group.

    Each trial adds the true value of one published record to what the adversary knows, and makes the sequential attack again.

    Returns
    -------
    trials : DataFrame
        One row per record, in decreasing order of ``respondents``, the number of other respondents about whom a belief changes
        by at least `LEAST_CHANGE`. Further columns: ``person``; ``time``; ``releases`` and ``places``, the numbers of releases and
        of records of others reached; ``largest``, the largest change of a belief about another respondent.
    by_distance : DataFrame
        `influence_by_distance` of the record that reaches the most respondents; a step is to a group member, or to a later
        release. Empty for more than `MAX_TRIAL_RECORDS` records.
    """
    release = next((each for each in releases if each.groups), None)
    if release is None:
        return pd.DataFrame(columns=pd.Index(COLUMNS)), pd.DataFrame()
    small = sum(len(each.view) for each in releases) <= MAX_TRIAL_RECORDS
    rows = rng.permutation(np.flatnonzero(release.group >= 0))[: TRIALS if small else 1]
    adversary = replace(one.adversary, cascade=one.adversary.cascade or PriorCascade())
    found = [_trial(adversary, one.sequential, releases, release, row, names) for row in rows.tolist()]
    order = sorted(range(len(found)), key=lambda place: -found[place]["respondents"])
    trials = pd.DataFrame([found[place] for place in order], columns=pd.Index(COLUMNS))
    if not small:
        return trials, pd.DataFrame()
    claim = _claim(release, int(rows[order[0]]))
    return trials, influence_by_distance(Influence(adversary, LEAST_BITS)(releases, *claim, release.time))


def _trial(
    adversary: Adversary, without: Beliefs, releases: Sequence[Release], release: Release, row: int, names: Pseudonyms
) -> dict[str, Any]:
    """Reach of one record."""
    respondent, value = _claim(release, row)
    claim = {"respondent": [respondent], "value": [value], "time": [release.time], "confidence": [1.0]}
    known = CompromisedRecords(pd.DataFrame(claim))
    informed = SequentialAttack(replace(adversary, compromised=known))(releases)
    reached: set[Hashable] = set()
    touched = places = 0
    largest = 0.0
    for before, after in zip(without, informed, strict=True):
        change = np.abs(after.posterior.probabilities - before.posterior.probabilities).max(axis=1)
        people = before.observation.people.respondents
        change[np.array([name == respondent for name in people], dtype=np.bool_)] = 0
        some = np.flatnonzero(change >= LEAST_CHANGE)
        reached |= set(people[some])
        touched += len(some) > 0
        places += len(some)
        largest = max(largest, float(change.max(initial=0)))
    numbers = (len(reached), touched, places, largest)
    return dict(zip(COLUMNS, (names(respondent), release.time, *numbers), strict=True))


def _claim(release: Release, row: int) -> tuple[Hashable, Hashable]:
    """Respondent and true value of a record."""
    return release.view.people.respondents[row], release.view.schema.values[release.view.sensitive[row]]
