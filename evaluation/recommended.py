"""Cheapest settings of `Cohorts` for a bound on the gain: a screen by membership alone, then publication on trial."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from foreknow.defenses import Cohorts, publish
from foreknow.defenses.cohorts import DEPARTURES, Departures
from foreknow.evaluation.arguments import check_history
from foreknow.evaluation.risk.bounds import expected_gain_bound, role_anonymity
from foreknow.models import Adversary, Averaged, History, MarkovChain, Release, UniformPrior
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
        If a setting is out of its range, there is no pair, or every trial leaves out all records.

    Notes
    -----
    The bound is on the mean gain over the cell's share of a calibrated adversary to whom all members of a cell have equal laws, and
    who does not read presence. It is no bound on one person's gain, nor on what the share tells.

    Screen: pairs whose bound at full cells passes ``gain`` are left out; the others are ordered by the share of ghosts over the
    life of a cell (`ghost_share`) and the share of respondents who arrive in a release with too few for a cell.
    Trial: `publish`. ``ghosts`` is a share of the published records, ``waiting`` the share of the listed records of respondents
    who are in no cell yet, ``withheld`` that of the other records left out, over all releases; views that ``lag``
    holds back at the end are not counted. Without a pair that passes the
    screen, those of the lowest bounds are tried. Cost: one publication for each trial.

    Examples
    --------
    >>> from foreknow.evaluation import exams
    >>> table = recommend(exams(2, 200, rng=1).history, 0.05, departures=["ghosts"], candidates=[(20, 20), (5, 20)])
    >>> table[["a", "size", "departures", "meets"]].to_dict("records")
    [{'a': 20, 'size': 20, 'departures': 'ghosts', 'meets': True}]
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
        for each in _screened(pairs, history, gain)[:trials]
        for one in hidden
    ]
    rows = [_row(each, publish(history, each, known, infeasible="suppress", rng=rng)) for each in tried]
    found = pd.DataFrame(rows, columns=pd.Index(COLUMNS[:-1])).dropna(subset=["gain_bound"])
    if found.empty:
        raise ValueError(
            f"recommend: no record is published by any of {len(tried)} settings tried; give smaller sizes in candidates=, or a "
            "defense with priors over 0."
        )
    found["meets"] = found["gain_bound"] <= gain + 1e-12
    return found.sort_values(["meets", "price"], ascending=[False, True], kind="stable", ignore_index=True)


def ghost_share(a: int, size: int) -> float:
    """Share of ghosts among the records of a cell over its life, if its members leave at a constant rate in batches of a.

    Places end by the rule of `Cohorts`. The share does not depend on the rate: the time from one departure to the next is that of
    as many members as are left. Cost: O(size).
    """
    ghosts = records = 0.0
    ended = 0
    for left in range(size):
        if left - ended >= a and size - left >= a:
            ended = left
        ghosts += (left - ended) / (size - left)
        records += (size - ended) / (size - left)
    return ghosts / records


def _with_chain(defense: Cohorts, adversary: Adversary | Averaged, values: int) -> Cohorts:
    """The defense with a chain of ghosts."""
    if defense.transitions is not None:
        return defense
    own = getattr(adversary, "transitions", None)
    if not isinstance(own, MarkovChain) or own.order != 1:
        own = MarkovChain(1, np.full((values, values), 1 / values))
    return replace(defense, transitions=own)


def _screened(pairs: Sequence[Cohorts], history: History, gain: float) -> list[Cohorts]:
    """Pairs whose bound at full cells is at most the gain, by a price from membership; without one, by the bound."""
    if not pairs:
        raise ValueError("recommend: there are no candidates; give pairs (a, size), as [(5, 20)].")
    bounds = [float(expected_gain_bound(each.a, each.size)) for each in pairs]
    seen: set[object] = set()
    arrivals = []
    for view in history:
        new = set(view.people.respondents.tolist()) - seen
        arrivals.append(len(new))
        seen |= new
    few = [sum(n for n in arrivals if n < each.size) / max(len(seen), 1) for each in pairs]
    price = [ghost_share(each.a, each.size) + share for each, share in zip(pairs, few, strict=True)]
    passed = [k for k, low in enumerate(bounds) if low <= gain]
    order = sorted(passed, key=price.__getitem__) or sorted(range(len(pairs)), key=bounds.__getitem__)
    return [pairs[k] for k in order]


def _row(defense: Cohorts, releases: Sequence[Release]) -> dict[str, object]:
    """Row of a trial."""
    table = role_anonymity(releases)
    own = table[~table["ghost"].astype(bool)] if len(table) else table
    listed, shown, waiting = 0, 0, 0
    ever: set[object] = set()
    for release in releases:
        people, kept = release.view.people.respondents, release.group >= 0
        ever |= set(people[kept].tolist())
        listed, shown = listed + len(people), shown + int(kept.sum())
        waiting += sum(one not in ever for one in people[~kept].tolist())
    ghosts = sum(int(release.ghost_counts.sum()) for release in releases)
    shares = {
        "ghosts": ghosts / max(shown + ghosts, 1),
        "withheld": (listed - shown - waiting) / max(listed, 1),
        "waiting": waiting / max(listed, 1),
    }
    bound = float(expected_gain_bound(own["atom_all"], own["cell"]).mean()) if len(own) else np.nan
    settings: dict[str, object] = {
        "a": defense.a,
        "size": defense.size,
        "departures": defense.departures,
        "gain_bound": bound,
    }
    return settings | shares | {"price": sum(shares.values())}
