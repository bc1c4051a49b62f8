"""Tiny worlds in which all values of all respondents are enumerated, for bounds on beliefs; apart from the package's own laws.

A world has a few respondents with prior, chain, chances of leaving, records that are published or withheld, ghosts, and groups.
The law of a published path is the sum over the values of all records of the respondent, each multiplied by what follows it; the
belief after an outcome (the multisets of all groups) is the share of the weight of the worlds that give it.
"""

import itertools
import math
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from foreknow.models import (
    Adversary,
    Categorical,
    CompromisedRecords,
    EvidenceCascade,
    GhostChain,
    GivenPrior,
    MarkovChain,
    Observation,
    People,
    Presence,
    Relations,
    Schema,
    TransitionsByClass,
)

ABSENT, WITHHELD, PUBLISHED = range(3)


class World(NamedTuple):
    """Settings of a world of n respondents, T releases and m values."""

    prior: np.ndarray  # (n, m)
    chains: np.ndarray  # (2, m, m), of two classes
    own_class: np.ndarray  # (n,)
    ghost_chain: np.ndarray | None  # (m, m); None for that of the class
    state: np.ndarray  # (n, T) of ABSENT, WITHHELD, PUBLISHED
    ghost: np.ndarray  # (n, T) bool
    group: np.ndarray  # (n, T), that of the record or the ghost; -1 for none
    leave: np.ndarray | None  # (m,)
    pause: np.ndarray | None  # (m,)
    back: float | None
    claim: tuple | None  # respondent, release, value, confidence
    pair: tuple | None  # two respondents, table
    power: bool

    def first(self, releases):
        """The world of the first releases, with what they tell of presence."""
        claim = self.claim if self.claim is None or self.claim[1] < releases else None
        cut = {name: getattr(self, name)[:, :releases] for name in ("state", "ghost", "group")}
        return self._replace(claim=claim, **cut)


def _told(world, who, t, values):
    """Likelihood of each value at a listed record, by what the later releases list."""
    if world.leave is None:
        return np.ones(values)
    last, listed = world.state.shape[1] - 1, world.state[who] != ABSENT
    if t == last:
        return np.ones(values)
    pause = np.zeros(values) if world.pause is None else world.pause
    later = np.flatnonzero(listed[t + 1 :]) + t + 1
    if not len(later):
        stays_away = pause if world.pause is None else pause * (1 - world.back) ** (last - t - 1)
        return world.leave + stays_away
    if later[0] == t + 1 or world.pause is None:
        return 1 - world.leave - (pause if later[0] == t + 1 else 0)
    return pause


def paths(world, who):
    """Published paths of a respondent with positive weight: list of (dict of release to value, weight)."""
    m = world.prior.shape[1]
    listed = np.flatnonzero(world.state[who] != ABSENT)
    chain = world.chains[world.own_class[who]]
    known = np.flatnonzero(
        (world.state[who] == PUBLISHED) | [_claimed(world, who, t) for t in range(len(world.state[who]))]
    )
    if not len(known):
        return [({}, 1.0)]
    listed = listed[listed >= known[0]] if world.power else known
    found = {}
    ghosts = np.flatnonzero(world.ghost[who])
    for real in itertools.product(range(m), repeat=len(listed)):
        weight = world.prior[who, real[0]]
        for k, (t, value) in enumerate(zip(listed, real, strict=True)):
            if k:
                steps = t - listed[k - 1] if world.power else 1
                weight *= np.linalg.matrix_power(chain, steps)[real[k - 1], value]
            weight *= _told(world, who, t, m)[value]
            if _claimed(world, who, t):
                _, _, said, confidence = world.claim
                weight *= confidence if value == said else (1 - confidence) / (m - 1)
        if not weight:
            continue
        of = dict(zip(listed.tolist(), real, strict=True))
        for invented in itertools.product(range(m), repeat=len(ghosts)):
            shown = {t: value for t, value in of.items() if world.state[who][t] == PUBLISHED}
            full = weight
            for t, value in zip(ghosts, invented, strict=True):
                before = shown[max(each for each in shown if each < t)]
                full *= (chain if world.ghost_chain is None else world.ghost_chain)[before, value]
                shown[t] = value
            if full:
                key = tuple(sorted(shown.items()))
                found[key] = found.get(key, 0.0) + full
    return [(dict(key), weight) for key, weight in found.items()]


def _claimed(world, who, t):
    return world.claim is not None and world.claim[:2] == (who, t)


def _worlds(world):
    """Outcome, path of each respondent, and weight of all combinations of paths."""
    n, m = world.prior.shape
    releases = world.state.shape[1]
    groups = [
        (t, np.flatnonzero(world.group[:, t] == g).tolist())
        for t in range(releases)
        for g in np.unique(world.group[:, t][world.group[:, t] >= 0])
    ]
    both = None
    if world.pair is not None:
        i, j, table = world.pair
        common = np.flatnonzero((world.state[i] == PUBLISHED) & (world.state[j] == PUBLISHED))
        both = common[0] if len(common) else None
    for chosen in itertools.product(*(paths(world, who) for who in range(n))):
        weight = math.prod(one for _, one in chosen)
        if both is not None:
            weight *= table[chosen[i][0][both], chosen[j][0][both]]
        shown = [[chosen[who][0][t] for who in members] for t, members in groups]
        key = tuple(tuple(values.count(value) for value in range(m)) for values in shown)
        yield key, [path for path, _ in chosen], weight


def outcomes(world):
    """Weight of each outcome, and the weight of each value at each respondent's record: dict of outcome to (weight, (n, T, m))."""
    (n, m), releases = world.prior.shape, world.state.shape[1]
    found = {}
    for key, chosen, weight in _worlds(world):
        total, each = found.setdefault(key, [0.0, np.zeros((n, releases, m))])
        found[key][0] = total + weight
        for who, path in enumerate(chosen):
            for t, value in path.items():
                each[who, t, value] += weight
    return {key: (total, each) for key, (total, each) in found.items() if total > 0}


def apart(world):
    """Weight, in each outcome, of a path in each respondent's atom that is impossible for a member; and the sum of probabilities.

    A dict of outcome to ``(n,)``, and ``(n,)``, the sum over members of their paths by their own laws, without relations. For
    worlds in which each respondent has one place.
    """
    atoms = [np.flatnonzero((world.group == row).all(axis=1)) for row in world.group]
    laws = [{tuple(sorted(path.items())): w for path, w in paths(world, who)} for who in range(len(atoms))]
    common = [set.intersection(*(set(laws[who]) for who in members)) for members in atoms]
    lost = [sum(w for path, w in law.items() if path not in some) for law, some in zip(laws, common, strict=True)]
    lost = np.array([each / sum(law.values()) if law else np.nan for each, law in zip(lost, laws, strict=True)])
    found = {}
    for key, chosen, weight in _worlds(world):
        outside = np.array([tuple(sorted(path.items())) not in common[who] for who, path in enumerate(chosen)])
        found[key] = found.get(key, 0.0) + weight * np.array([outside[members].any() for members in atoms])
    return found, np.array([lost[members].sum() for members in atoms])


def observations(world, outcome, releases=None):
    """Observations of an outcome: respondents are numbers, groups those of the world."""
    n, m = world.prior.shape
    schema = Schema({"class": Categorical((0, 1))}, "value", tuple(range(m)), "id")
    names, codes = np.arange(n).astype(object), world.own_class[:, None].astype(float)
    counts, found = iter(outcome), []
    for t in range(world.state.shape[1] if releases is None else releases):
        numbers = np.unique(world.group[:, t][world.group[:, t] >= 0])
        shown = np.array([next(counts) for _ in numbers], dtype=np.int64).reshape(-1, m)
        listed = np.flatnonzero(world.state[:, t] != ABSENT)
        real = world.state[listed, t] == PUBLISHED
        group = np.where(real, np.searchsorted(numbers, world.group[listed, t]), -1)
        ghosts = np.flatnonzero(world.ghost[:, t])
        rest = {} if not len(ghosts) else {
            "ghosts": People(names[ghosts], codes[ghosts], schema),
            "ghost_group": np.searchsorted(numbers, world.group[ghosts, t]),
        }  # fmt: skip
        found.append(Observation(People(names[listed], codes[listed], schema, t), group, shown, t, **rest))
    return found


def adversary(world):
    """Adversary whose knowledge is the law of a world."""
    m = world.prior.shape[1]
    frame = pd.DataFrame(world.prior, index=pd.Index(range(len(world.prior))), columns=range(m))
    chains = tuple(MarkovChain(1, table) for table in world.chains)
    rest = {}
    if world.leave is not None:
        rest["presence"] = Presence(world.leave, world.pause, world.back)
    if world.claim is not None:
        who, t, value, confidence = world.claim
        row = {"respondent": [who], "value": [value], "time": [t], "confidence": [confidence]}
        rest |= {"compromised": CompromisedRecords(pd.DataFrame(row), "report"), "cascade": EvidenceCascade()}
    if world.pair is not None:
        i, j, table = world.pair
        rest["relations"] = Relations(nx.Graph([(i, j)]), table)
    mechanism = GhostChain() if world.ghost_chain is None else GhostChain(MarkovChain(1, world.ghost_chain))
    return Adversary(
        GivenPrior(frame),
        TransitionsByClass({"class": (0.5,)}, chains),
        gaps="power" if world.power else "ignore",
        mechanism=mechanism,
        **rest,
    )


def random_world(rng):
    """A random world of 2 to 4 respondents, 2 to 4 releases and 2 or 3 values, small enough to be enumerated."""
    n, releases, m = [(2, 4, 2), (3, 3, 2), (4, 2, 2), (2, 3, 3), (3, 2, 3), (4, 3, 2), (3, 4, 2), (2, 2, 3)][
        rng.integers(8)
    ]
    spread = rng.choice([0.3, 1.0, 5.0])
    prior = rng.dirichlet(np.full(m, spread), n)
    if rng.random() < 0.6:
        prior[:] = prior[0]
    elif rng.random() < 0.1:
        prior[rng.integers(n)] = np.eye(m)[rng.integers(m)]
    chains = rng.dirichlet(np.full(m, spread), (2, m))
    if rng.random() < 0.7:
        chains[1] = chains[0]
    elif rng.random() < 0.2:
        chains[1] = np.eye(m)
    ghost_chain = rng.dirichlet(np.full(m, spread), m) if rng.random() < 0.4 else None
    hazard = rng.random() < 0.5
    leave = rng.uniform(0, rng.choice([0.3, 0.9]), m) if hazard else None
    if hazard and rng.random() < 0.1:
        leave[rng.integers(m)] = 1.0
    pause = rng.uniform(0, 0.5, m) * (1 - leave) if hazard and rng.random() < 0.4 else None
    power = bool(rng.random() < 0.7)
    state, ghost = _memberships(rng, n, releases, power)
    group = _groups(rng, (state == PUBLISHED) | ghost)
    claim = None
    if rng.random() < 0.15:
        who = rng.integers(n)
        times = np.flatnonzero(state[who] == PUBLISHED)
        t = times[rng.integers(len(times))]
        claim = (int(who), int(t), int(rng.integers(m)), float(rng.choice([0.5, 0.9, 1.0])))
    pair = None
    if rng.random() < 0.15:
        table = np.exp(rng.normal(size=(m, m)))
        ends = rng.choice(n, 2, replace=False)
        pair = (int(ends[0]), int(ends[1]), table + table.T)
    own_class = rng.integers(2, size=n)
    back = None if pause is None else 0.5
    return World(prior, chains, own_class, ghost_chain, state, ghost, group, leave, pause, back, claim, pair, power)


def floored_world(rng):
    """A random world in which some members have a small probability of paths that are impossible for others, one place each."""
    one, floor = random_world(rng), float(rng.choice([1e-9, 1e-4, 0.01, 0.1]))
    n, m = one.prior.shape
    rare = int(rng.integers(m))
    some = np.arange(n) == rng.integers(n)
    prior, chains, ghost_chain = one.prior.copy(), one.chains.copy(), one.ghost_chain
    if rng.random() < 0.5:
        prior[:] = _rare(prior[:1], rare, floor)
        prior[some] = _rare(prior[:1], rare, 0.0)
    if rng.random() < 0.5:
        chains[1] = chains[0] = _rare(chains[0], rare, floor)
        before = int(rng.integers(m))
        chains[1, before] = _rare(chains[1, [before]], rare, 0.0)
    if rng.random() < 0.3:
        ghost_chain = _rare(chains[0], rare, float(rng.choice([0.0, floor])))
    leave = one.leave
    if leave is not None and rng.random() < 0.3:
        leave = np.where(np.arange(m) == rare, 0.0, leave)
    state = np.where(np.maximum.accumulate(one.ghost, axis=1) & ~one.ghost, ABSENT, one.state)
    group = np.where((state == PUBLISHED) | one.ghost, one.group, -1)
    claim = None if one.claim is None or state[one.claim[:2]] == ABSENT else one.claim
    laws = {"prior": prior, "chains": chains, "ghost_chain": ghost_chain, "leave": leave}
    return one._replace(state=state, group=group, claim=claim, **laws)


def _rare(laws, value, probability):
    """Laws of which a value has some probability."""
    laws = np.where(np.arange(laws.shape[1]) == value, 0.0, laws + 0.01)
    laws *= (1 - probability) / laws.sum(axis=1, keepdims=True)
    laws[:, value] = probability
    return laws


def odd_world(rng):
    """A random world whose records are published, withheld and absent in any order, with ghosts anywhere, and any record known."""
    one = random_world(rng)
    n, releases = one.state.shape
    shown = rng.random(releases) < 0.8
    state, ghost = np.zeros((n, releases), dtype=int), np.zeros((n, releases), dtype=bool)
    for who in range(n):
        if rng.random() < 0.4:
            shown = rng.random(releases) < 0.7
        state[who] = np.where(shown, PUBLISHED, rng.choice([ABSENT, WITHHELD], releases))
        start, end = np.sort(rng.integers(1, releases + 1, 2))
        ghost[who, start:end] = shown[start:end] & shown[:start].any()
        state[who] = np.where(ghost[who], rng.choice([ABSENT, WITHHELD], releases), state[who])
    claim, (who, t) = None, (int(rng.integers(n)), int(rng.integers(releases)))
    if state[who, t] != ABSENT and rng.random() < 0.7:
        claim = who, t, int(rng.integers(one.prior.shape[1])), float(rng.choice([0.5, 0.9, 1.0]))
    pair = one.pair if (state != ABSENT).any(axis=1).all() else None
    group = _groups(rng, (state == PUBLISHED) | ghost)
    return one._replace(state=state, ghost=ghost, group=group, claim=claim, pair=pair)


def _memberships(rng, n, releases, power):
    """States of all records, and ghosts: who leaves, with how many records withheld before, who pauses and who returns."""
    state, ghost = np.full((n, releases), PUBLISHED), np.zeros((n, releases), dtype=bool)
    withheld = rng.integers(3) if power else 0
    for who in range(n):
        kind = rng.choice(
            ["stays", "leaves", "late", "gap", "returns", "suppressed"], p=[0.35, 0.35, 0.05, 0.1, 0.1, 0.05]
        )
        if kind == "leaves":
            end = rng.integers(1, releases)  # first release that does not list the respondent
            start = max(1, end - withheld)
            state[who, end:], state[who, start:end] = ABSENT, WITHHELD
            if rng.random() < 0.8:
                ghost[who, start : rng.integers(start, releases) + 1] = True
                if rng.random() < 0.7:
                    ghost[who, start:] = True
        elif kind == "late":
            state[who, 0] = ABSENT
        elif kind in ("gap", "returns") and releases > 2:
            end = rng.integers(2, releases)
            state[who, 1:end] = ABSENT
            ghost[who, 1:end] = kind == "returns"
        elif kind == "suppressed" and releases > 2:
            state[who, rng.integers(1, releases - 1)] = WITHHELD
    return state, ghost


def _groups(rng, shown):
    """Groups of each release: one of all, two cells that are sometimes published as one group, or drawn anew."""
    n, releases = shown.shape
    kind = rng.choice(["one", "cells", "drawn"], p=[0.5, 0.3, 0.2])
    cell = rng.integers(2, size=n)
    group = np.zeros((n, releases), dtype=int)
    for t in range(releases):
        if kind == "drawn":
            group[:, t] = rng.integers(2, size=n)
        elif kind == "cells" and rng.random() < 0.6:
            group[:, t] = cell
    return np.where(shown, group, -1)


def log_odds(probability):
    """Logarithm of the odds of probabilities."""
    with np.errstate(divide="ignore"):
        return np.log(probability) - np.log1p(-np.asarray(probability))


class Compared(NamedTuple):
    """Beliefs of a world beside their bounds: number, the largest excess, and the largest part of the shift that is reached."""

    beliefs: int
    excess: float
    reached: float


def compared(world, bound, most, rng, hindsight=True):
    """Bounds of some outcomes of a world, ``most`` of them drawn, beside the beliefs by enumeration.

    A shift is the log odds of a bound less those of the published share; those over .05 are read for the part that is reached.
    """
    found, knows = outcomes(world), adversary(world)
    keys = list(found)
    chosen = rng.choice(len(keys), min(most, len(keys)), replace=False) if keys else []
    beliefs, excess, reached = 0, -np.inf, 0.0
    prefixes = [outcomes(world.first(t + 1)) for t in range(world.state.shape[1])] if not hindsight else []
    for key in (keys[k] for k in chosen):
        seen = observations(world, key)
        bounds, used = bound(seen, knows, hindsight), 0
        for t, release in enumerate(seen):
            used += len(release.counts)
            total, each = found[key] if hindsight else prefixes[t][key[:used]]
            rows = np.flatnonzero(release.group >= 0)
            belief, upper = each[release.people.respondents[rows].astype(int), t] / total, bounds.upper[t][rows]
            if not len(rows):
                continue
            beliefs += belief.size
            assert not np.isnan(upper).any()
            excess = max(excess, (belief - upper).max())
            share = (release.counts / release.counts.sum(axis=1, keepdims=True))[release.group[rows]]
            some = (share > 0) & (share < 1) & (upper < 1 - 1e-9) & (belief > 0)
            shift = log_odds(upper[some]) - log_odds(share[some])
            part = (log_odds(belief[some]) - log_odds(share[some]))[shift > 0.05] / shift[shift > 0.05]
            reached = max(reached, part.max(initial=0.0))
    return Compared(beliefs, excess, reached)


def shift_of_laws(world, one, other, shown):
    """Range of the log ratio of the laws of two published paths over values that are shown; infinite if the supports differ.

    ``shown`` has the values of each release of a place.
    """
    laws = []
    for who in (one, other):
        laws.append(
            {
                tuple(sorted(path.items())): weight
                for path, weight in paths(world, who)
                if all(value in shown[t] for t, value in path.items())
            }
        )
    if set(laws[0]) != set(laws[1]):
        return np.inf
    ratio = [np.log(laws[0][path] / laws[1][path]) for path in laws[0]]
    return max(ratio, default=0.0) - min(ratio, default=0.0)
