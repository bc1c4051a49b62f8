"""Cheapest settings of `Cohorts` for a bound on the gain: a screen by membership alone, then publication on trial."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from foreknow.defenses import Cohorts, Infeasible, publish
from foreknow.defenses.cohorts import DEPARTURES, Departures, prior_classes
from foreknow.evaluation.arguments import check_history
from foreknow.evaluation.loss.generalization_loss import price, suppressed
from foreknow.evaluation.risk.bounds import expected_gain_bound, role_anonymity
from foreknow.models import Adversary, Averaged, History, MarkovChain, Release, UniformPrior
from foreknow.models.arrays import IntArray
from foreknow.models.settings import as_list, check_choice, check_kind, check_range, check_whole

CANDIDATES = tuple(
    (a, size) for a in (2, 5, 10, 20, 30) for size in (20, 30, 40, 60, 100, 200) if size == a or size >= 2 * a
)
"""Pairs (a, size) by default. In cells below 20 the shares alone tell much, which the bound does not count."""

COLUMNS = ("a", "size", "departures", "gain_bound", "ghosts", "withheld", "waiting", "price", "meets")


def recommend(
    history: History,
    gain: float = 0.05,
    adversary: Adversary | Averaged | None = None,
    defense: Cohorts | None = None,
    *,
    departures: Sequence[Departures] | None = None,
    candidates: Iterable[tuple[int, int]] | None = None,
    trials: int = 4,
    rng: int = 0,
) -> pd.DataFrame:
    """Price of `Cohorts` on a history by its settings: those that keep the expected gain in bounds first, the cheapest on top.

    Parameters
    ----------
    history : History
        The records to publish. Their values decide on terminal values and, through the releases, on revised priors alone.
    gain : float
        Bound on the expected gain of `expected_gain_bound`, from 0 to 1.
    adversary : Adversary or Averaged, optional
        The adversary whom the publisher assumes, whose prior makes the classes of respondents. A uniform prior by default.
    defense : Cohorts, optional
        Has the settings that are not varied: ``priors``, ``ends``, ``terminal``, ``wait``, ``lag``, and ``transitions``, by
        default those of the adversary, or a chain by which all values are equally likely: who is published does not depend on
        it but through revised priors.
    departures : sequence of str, optional
        Ways to hide departures that are tried; all four by default.
    candidates : iterable of (int, int), optional
        Pairs (a, size); `CANDIDATES` by default.
    trials : int
        Number of pairs that are published on trial, those of lowest price by the screen.
    rng : int
        Seed of the trials.

    Returns
    -------
    DataFrame
        One row per trial. Columns ``a``; ``size``; ``departures``; ``gain_bound``, the mean over the published records of
        respondents of ``(c - a) / (a (c - 1))`` by the cells c and final atoms a of the trial; ``ghosts``, ``withheld`` and
        ``waiting``, shares as in Notes; ``price``, their sum; ``meets``, whether ``gain_bound`` is at most ``gain``. Rows that
        meet it come first, then those of lower price.

    Raises
    ------
    TypeError, ValueError
        If a setting is out of its range, or there is no pair.
    Infeasible
        If every trial leaves out all records.

    Notes
    -----
    The bound is on the mean gain over the cell's share of a calibrated adversary to whom all members of a cell have equal laws, and
    who does not read presence. It is no bound on one person's gain, nor on what the share tells.

    Screen: cells of people who arrive with one prior, the releases in which they are last listed and the rule of batches
    give the bound and the price of each pair with ghosts, roughly: absences, revised priors and terminal values are not read. It is
    the price of batches over the releases that there are. Pairs whose bound is over ``gain`` are left out. That of
    a full cell, ``(size - a) / (a (size - 1))``, would leave out too many: a cell shrinks, and those who stay are one large atom.
    Trial: `publish`. ``ghosts`` is a share of the published records, ``waiting`` the share of the listed records of respondents
    who are in no cell yet, ``withheld`` that of the other records left out, over all releases; views that ``lag``
    holds back at the end are not counted. Without a pair that passes the
    screen, those of the lowest bounds are tried. Cost: one publication for each trial.

    Examples
    --------
    >>> from foreknow.evaluation import exams
    >>> table = recommend(exams(2, 200, rng=1).history, 0.05, departures=["ghosts"], candidates=[(20, 20), (5, 20)])
    >>> table[["a", "size", "gain_bound", "meets"]].round(3).to_dict("records")[0]
    {'a': 5, 'size': 20, 'gain_bound': 0.003, 'meets': True}
    """
    check_history("recommend", history)
    check_range("recommend", "gain", gain, 0, 1, "a bound on the expected gain")
    check_whole("recommend", "trials", trials, "pairs (a, size)")
    check_kind("recommend", "defense", defense, (Cohorts, type(None)), "is Cohorts(a), whose other settings are kept")
    hidden = DEPARTURES if departures is None else as_list("recommend", "departures", departures, "is a list of names")
    for each in hidden:
        check_choice("recommend", "departures", each, DEPARTURES)
    known = Adversary(UniformPrior()) if adversary is None else adversary
    base = _with_chain(Cohorts(2) if defense is None else defense, known, len(history.schema.values))
    given = CANDIDATES if candidates is None else as_list("recommend", "candidates", candidates, "has pairs (a, size)")
    pairs = [replace(base, a=a, size=size) for a, size in given]
    tried = [
        replace(each, departures=one, lag=0 if defense is None else defense.lag, rng=rng)
        for each in _screened(pairs, history, gain, known)[:trials]
        for one in hidden
    ]
    rows = [_row(each, publish(history, each, known, infeasible="suppress", rng=rng)) for each in tried]
    found = pd.DataFrame(rows, columns=pd.Index(COLUMNS[:-1])).dropna(subset=["gain_bound"])
    if found.empty:
        raise Infeasible(
            f"recommend: no record is published by any of {len(tried)} settings tried; give smaller sizes in candidates=, or a "
            "defense with priors over 0."
        )
    found["meets"] = found["gain_bound"] <= gain + 1e-12
    return found.sort_values(["meets", "price"], ascending=[False, True], kind="stable", ignore_index=True)


def _with_chain(defense: Cohorts, adversary: Adversary | Averaged, values: int) -> Cohorts:
    if defense.transitions is not None:
        return defense
    own = getattr(adversary, "transitions", None)
    if not isinstance(own, MarkovChain) or own.order != 1:
        own = MarkovChain(1, np.full((values, values), 1 / values))
    return replace(defense, transitions=own)


def _screened(
    pairs: Sequence[Cohorts], history: History, gain: float, adversary: Adversary | Averaged
) -> list[Cohorts]:
    """Pairs whose foreseen bound is at most the gain, by the foreseen price; without one, by the bound."""
    if not pairs:
        raise ValueError("recommend: there are no candidates; give pairs (a, size), as [(5, 20)].")
    arrivals = arrivals_of(history, adversary, pairs[0].priors)
    found = [foreseen(each, arrivals, len(history)) for each in pairs]
    passed = [k for k, (bound, _) in enumerate(found) if bound <= gain]
    order = sorted(passed, key=lambda k: found[k][1]) or sorted(range(len(pairs)), key=lambda k: found[k][0])
    return [pairs[k] for k in order]


type Arrivals = list[tuple[IntArray, IntArray]]
"""Of the people of each prior, the release in which each arrives, and that from which on the respondent is gone."""


def arrivals_of(history: History, adversary: Adversary | Averaged, priors: float) -> Arrivals:
    """People of each prior at their arrival. Absences before the last record are not read."""
    one = adversary.adversaries[0] if isinstance(adversary, Averaged) else adversary
    come: dict[object, int] = {}
    gone: dict[object, int] = {}
    rows = []
    for t, view in enumerate(history):
        names = view.people.respondents.tolist()
        new = [row for row, name in enumerate(names) if come.setdefault(name, t) == t]
        rows.append(one.prior_rows(view.people)[new])
        gone |= dict.fromkeys(names, t + 1)
    kind = prior_classes(np.concatenate(rows), priors)
    first, last = np.array([*come.values()]), np.array([gone[name] for name in come])
    return [(first[kind == each], last[kind == each]) for each in np.unique(kind).tolist()]


def foreseen(defense: Cohorts, arrivals: Arrivals, releases: int) -> tuple[float, float]:
    """Bound on the expected gain and price of cells with ghosts, from membership alone.

    Members of a cell are drawn from people of one prior who wait for one, by the rule of `Cohorts`. Returns the mean of
    `expected_gain_bound` over respondents' records, infinite without one, and the share of ghosts among the published records plus
    that of waiting records. Cost: O(N t) for N people and t releases.
    """
    a, rng = defense.a, np.random.default_rng(0)
    cells: list[tuple[int, IntArray]] = []
    waiting = 0
    for come, gone in arrivals:
        free = np.ones(len(come), dtype=np.bool_)
        for t in range(releases):
            pool = np.flatnonzero(free & (come <= t) & (gone > t))
            late = len(pool) >= a and bool((come[pool] + defense.wait <= t).any())
            number = len(pool) // defense.size or int(late)
            if number:
                cells += [(t, np.sort(gone[each])) for each in np.array_split(rng.permutation(pool), number)]
                free[pool] = False
            else:
                waiting += len(pool)
    listed = sum(int((gone - come).sum()) for come, gone in arrivals)
    if not cells:
        return np.inf, 1.0
    starts, sizes = np.array([start for start, _ in cells]), np.array([len(gone) for _, gone in cells])
    place = np.arange(sizes.max())
    leaves = np.full(
        (len(cells), len(place)), releases
    )  # a place that a cell does not have leaves never, and is never ended
    for row, (_, gone) in zip(leaves, cells, strict=True):
        row[: len(gone)] = gone
    inside = place < sizes[:, None]
    atom, ended, over = np.zeros(leaves.shape, dtype=np.int64), np.zeros(len(cells), dtype=np.int64), []
    ghosts = 0
    for t in range(releases):
        left = (leaves <= t).sum(axis=1)
        batch = np.minimum(left, sizes - a) - ended
        now = np.where(left == sizes, sizes, np.where(batch >= a, ended + batch, ended))
        ends = (place >= ended[:, None]) & (place < now[:, None])
        atom = np.where(ends, (now - ended)[:, None], atom)
        ended, ghosts = now, ghosts + int((left - now)[starts <= t].sum())
        over.append(now)
    atom = np.where(inside & (atom == 0), (sizes - ended)[:, None], atom)
    gains = [np.zeros(0)]
    for t, before in enumerate(over):
        real = inside & (leaves > t) & (starts <= t)[:, None]
        cell = np.broadcast_to((sizes - before)[:, None], real.shape)[real]
        gains.append(expected_gain_bound(atom[real], cell))
    records = np.concatenate(gains)
    return float(records.mean()), ghosts / (len(records) + ghosts) + waiting / listed


def _row(defense: Cohorts, releases: Sequence[Release]) -> dict[str, object]:
    table = role_anonymity(releases)
    own = table[~table["ghost"].astype(bool)] if len(table) else table
    waiting, ever, cost = 0, set[object](), suppressed(releases)
    for release in releases:
        people, kept = release.view.people.respondents, release.group >= 0
        ever |= set(people[kept].tolist())
        waiting += sum(one not in ever for one in people[~kept].tolist())
    (withheld, ghosts), waits = price(cost), waiting / max(int(cost["records"].sum()), 1)
    shares = {"ghosts": ghosts, "withheld": withheld - waits, "waiting": waits}
    bound = float(expected_gain_bound(own["atom_all"], own["cell"]).mean()) if len(own) else np.nan
    settings: dict[str, object] = {
        "a": defense.a,
        "size": defense.size,
        "departures": defense.departures,
        "gain_bound": bound,
    }
    return settings | shares | {"price": sum(shares.values())}
