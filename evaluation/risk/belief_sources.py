"""Sources of a belief: the change of its log odds by each release that is added, and by each part of the knowledge."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.attacks import Attack
from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.risk.respondent_risk import code_of, row_of
from foreknow.models import Adversary, Averaged, NoisyRelease, Observation, Release
from foreknow.models.beliefs import check_respondent
from foreknow.models.settings import shown

MIN_BELIEF = 1e-12
"""Probability by which beliefs are kept from 0 and 1, so that log odds and their changes are finite."""


class _Seen(NamedTuple):
    """A release of which an attack reads the observation."""

    observation: Observation


def belief_sources(
    attack: Attack,
    releases: Sequence[Release | NoisyRelease],
    respondent: Hashable,
    *,
    time: Any = None,
    value: Hashable | None = None,
) -> pd.DataFrame:
    """Change of the log odds of one belief by each release added, and by each part of the adversary's knowledge.

    Releases are added in the order of time. One that is not added yet shows who is listed, and no group. A part is taken away by
    `Adversary.without`, with all releases kept.

    Parameters
    ----------
    attack : Attack
        With an adversary, as `JointAttack` and `SequentialAttack`.
    releases : sequence of Release or NoisyRelease
        In the order of time.
    respondent : hashable
        The respondent.
    time : optional
        Time of the release that the belief is about; by default the last one that lists the respondent.
    value : hashable, optional
        Value that the belief is about; by default the most probable one at that time, given all releases.

    Returns
    -------
    DataFrame
        Columns ``source``: ``"start"`` (before any group is seen), ``"release"`` or ``"part"``; ``name``: the time of the release,
        or the name of the part; ``belief``: with the releases up to that one, or without the part; ``log_odds`` of it, base 2;
        ``change``: that by the release, or by the part, positive where it raises the belief. NaN for a part without which the
        attack refuses the adversary. ``attrs`` has ``respondent``, ``time`` and ``value``.

    Notes
    -----
    The start is the prior, with what presence tells. The changes of the start (from even odds) and of the releases add up to the
    log odds of the belief. They depend on the order: evidence that two releases share is counted at the earlier one. The changes of
    the parts do not add up: two parts may say the same, or something only together. Beliefs are kept `MIN_BELIEF` from 0 and 1.
    Cost: t + 1 attacks on all t releases, and one for each part.

    Examples
    --------
    Two members of one group, twice. Without transitions the second release alone would tell as much, from the prior:

    >>> from foreknow.attacks import JointAttack
    >>> from foreknow.models import GivenPrior, History, MarkovChain, Numeric, Schema
    >>> frame = pd.DataFrame({"id": ["A", "B"], "age": [20, 21], "result": ["ill", "well"]})
    >>> schema = Schema({"age": Numeric()}, "result", ("ill", "well"))
    >>> history = History.read(pd.concat([frame.assign(week=week) for week in (1, 2)]), schema, time="week")
    >>> prior = GivenPrior(pd.DataFrame({"ill": [0.8, 0.2], "well": [0.2, 0.8]}, index=["A", "B"]))
    >>> attack = JointAttack(Adversary(prior, MarkovChain(1, np.array([[0.9, 0.1], [0.1, 0.9]]))))
    >>> table = belief_sources(attack, [Release(view, [0, 0]) for view in history], "A")
    >>> table.round(2)[["source", "name", "belief", "change"]]
        source         name  belief  change
    0    start                 0.80    2.00
    1  release            1    0.85    0.54
    2  release            2    0.93    1.20
    3     part  transitions    0.94   -0.26
    """
    owner = "belief_sources"
    seen = [release.observation for release in check_releases(owner, releases, Release, NoisyRelease)]
    adversary = getattr(attack, "adversary", None)
    takes = "is an attack with an adversary, as JointAttack(adversary)"
    if not isinstance(adversary, Adversary | Averaged) or not callable(attack):
        raise TypeError(f"{owner}: attack is {shown(attack)}; it {takes}.")
    lists = [one for one in seen if len(one.people.rows(respondent))]
    check_respondent(lists, respondent, [_Seen(one) for one in seen])
    at = lists[-1].time if time is None else time
    if at in [one.time for one in seen] and at not in [one.time for one in lists]:
        raise ValueError(
            f"{owner}: respondent {respondent!r} is not in the release at {at!r}; it is in those at "
            f"{', '.join(repr(one.time) for one in lists)}."
        )
    whole = attack([_Seen(one) for one in seen]).at(at)  # type: ignore[misc]
    row = row_of(owner, whole.observation, respondent)
    code = code_of(owner, whole, row, value)

    def belief(of: Attack, shown: int) -> float:
        kept = [_Seen(one if t < shown else _listed(one)) for t, one in enumerate(seen)]
        return float(of(kept).at(at).posterior.probabilities[row, code])  # type: ignore[arg-type]

    beliefs = np.array([belief(attack, shown) for shown in range(len(seen) + 1)])
    odds = _log_odds(beliefs)
    rows = [("start", "", beliefs[0], odds[0], odds[0])]
    rows += [("release", one.time, beliefs[t + 1], odds[t + 1], odds[t + 1] - odds[t]) for t, one in enumerate(seen)]
    for name, other in _without_each(attack):
        one = np.nan if other is None else belief(other, len(seen))
        rows.append(("part", name, one, _log_odds(one), odds[-1] - _log_odds(one)))
    table = pd.DataFrame(rows, columns=["source", "name", "belief", "log_odds", "change"])
    table.attrs = {"respondent": respondent, "time": at, "value": whole.observation.people.schema.values[code]}
    return table


def _listed(seen: Observation) -> Observation:
    """A release that shows who is listed, and no group."""
    nobody = np.full(len(seen.group), -1)
    return replace(seen, group=nobody, counts=seen.counts[:0], distorted=0, vanished=0, noise=None)


def _log_odds(belief: Any) -> Any:
    """Base-2 log odds of a belief, which is kept within `MIN_BELIEF` of 0 and 1."""
    kept = np.clip(belief, MIN_BELIEF, 1 - MIN_BELIEF)
    return np.log2(kept) - np.log2(1 - kept)


def _without_each(attack: Any) -> Iterator[tuple[str, Attack | None]]:
    """Each part of the knowledge but the prior, and the attack without it; None if it refuses."""
    adversary = attack.adversary
    draws = adversary.adversaries if isinstance(adversary, Averaged) else (adversary,)
    for name in [name for name in draws[0].parts if name != "prior"]:
        less = tuple(one.without(name) for one in draws)
        other = replace(adversary, adversaries=less) if isinstance(adversary, Averaged) else less[0]
        try:
            yield name, replace(attack, adversary=other)
        except ValueError:
            yield name, None
