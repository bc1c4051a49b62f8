"""Comparison of knowledge by the attack that it makes: log score of each adversary's beliefs, with intervals."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from foreknow.attacks import Attack, JointAttack
from foreknow.evaluation.arguments import check_releases, check_share
from foreknow.evaluation.risk.beliefs_and_truth import LeftOut, beliefs_and_truth, numbered
from foreknow.evaluation.risk.reliability_curve import as_bootstrap
from foreknow.models import Adversary, Averaged, Beliefs, History, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import check_kind

COLUMNS = ("log_score", "low", "high", "difference", "difference_low", "difference_high")


def compare_knowledge(
    releases: Iterable[Release],
    adversaries: Mapping[str, Adversary | Averaged],
    attack: Callable[[Any], Attack] = JointAttack,
    *,
    leaving_out: LeftOut = None,
    least: float = 2.0**-20,
    draws: int = 1000,
    level: float = 0.95,
    progress: Progress = iter,
    rng: "np.random.Generator | int | None" = None,
) -> pd.DataFrame:
    """Log score of one attack with the knowledge of each of several adversaries, best first.

    The score of knowledge on held-out records, as LOO, says how well it predicts values that are not published. This score says
    what it adds to the releases: knowledge of what every group shows is worth nothing.

    Parameters
    ----------
    releases : iterable of Release
        Publication, with the original records in ``release.view``.
    adversaries : mapping of str to Adversary or Averaged
        Knowledge by name. It must not have been learned from the published respondents.
    attack : callable
        Function from an adversary to an attack: `JointAttack` (the default), `SequentialAttack`, or
        ``lambda adversary: JointAttack(adversary, hindsight=False)``.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.
    least : float
        See `log_score`.
    draws : int
        Number of bootstrap draws of respondents; 0 for no intervals.
    level : float
        Probability of the intervals.
    progress : callable
        Function of the names of the adversaries that returns an iterable of the same length, as ``rich.progress.track``. One item
        is taken before each attack.
    rng : numpy.random.Generator or int, optional
        Random generator of the bootstrap, or a seed. By default fresh entropy.

    Returns
    -------
    DataFrame
        Columns ``adversary``, the name; ``log_score``, the mean base-2 logarithm of the belief in the true value over the published
        records of all releases; its interval ``low`` and ``high``; ``difference``, the log score less that of the first row;
        ``difference_low`` and ``difference_high``; and ``measured``, the number of records. Intervals are NaN without draws.

    Notes
    -----
    Intervals are percentiles over draws of respondents, all records of one together. A difference is paired: both scores are of
    the same respondents in each draw. That of the first row is 0. They say how sure the ranking is for other respondents of the
    same releases; the corpus from which knowledge was learned stays as it is. Cost: that of the attacks, and O(draws *
    respondents) per adversary.

    Examples
    --------
    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import GivenPrior, Numeric, Schema, UniformPrior, View
    >>> frame = pd.DataFrame({"id": ["A", "B"], "age": [20, 21], "result": ["ill", "well"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")), 1)
    >>> prior = GivenPrior(pd.DataFrame({"ill": [0.8, 0.2], "well": [0.2, 0.8]}, index=["A", "B"]))
    >>> known = {"nothing": Adversary(UniformPrior()), "prior": Adversary(prior)}
    >>> table = compare_knowledge([Release(view, [0, 0])], known, SnapshotAttack, rng=1)
    >>> table[["adversary", "log_score", "difference", "measured"]].round(3)
      adversary  log_score  difference  measured
    0     prior     -0.087       0.000         2
    1   nothing     -1.000      -0.913         2
    """
    owner = "compare_knowledge"
    listed = check_releases(owner, releases)
    takes = 'is a mapping of names to an Adversary or an Averaged, as {"mean": adversary}'
    check_kind(owner, "adversaries", adversaries, Mapping, takes)
    for name, adversary in adversaries.items():
        check_kind(owner, f"adversaries[{name!r}]", adversary, (Adversary, Averaged), "is an Adversary or an Averaged")
    check_share(owner, "least", least)
    if not listed or not adversaries:
        raise ValueError(f"{owner}: {'adversaries' if listed else 'releases'} is empty; give at least one.")
    check_progress(owner, progress, "the names")
    bootstrap = as_bootstrap(owner, draws, level, rng)
    history = History([release.view for release in listed])
    totals, records = [], np.zeros(0)
    for name, _ in zip(adversaries, progress(list(adversaries)), strict=True):
        total, records = _by_respondent(owner, attack(adversaries[name])(listed), history, leaving_out, least)
        totals.append(total)
    if not records.sum():
        raise ValueError(f"{owner}: no record is published in {len(listed)} releases; there is nothing to score.")
    each = np.array(totals)
    scores = each.sum(axis=1) / records.sum()
    by_draw = np.concatenate(
        [
            np.zeros((0, len(each))),
            *(weights @ each.T / (weights @ records)[:, None] for weights in bootstrap.weights(len(records))),
        ]
    )
    low, high = bootstrap.interval(by_draw)
    best = int(scores.argmax())
    difference_low, difference_high = bootstrap.interval(by_draw - by_draw[:, [best]])
    columns = (scores, low, high, scores - scores[best], difference_low, difference_high)
    table = pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
    table.insert(0, "adversary", list(adversaries))
    table["measured"] = int(records.sum())
    return table.sort_values("log_score", ascending=False, kind="stable", ignore_index=True)


def _by_respondent(
    owner: str, beliefs: Beliefs, history: History, leaving_out: LeftOut, least: float
) -> tuple[FloatArray, FloatArray]:
    """Sum of the logarithms, and number of records, of each respondent: two of shape ``(N,)``."""
    numbers: dict[Hashable, int] = {}
    logs, respondent = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for one, release in zip(beliefs_and_truth(owner, beliefs, history, leaving_out), beliefs, strict=True):
        logs.append(np.log2(np.maximum(one.confidence, least)))
        respondent.append(numbered(numbers, release.observation.people.respondents[one.rows]))
    who = np.concatenate(respondent)
    return (
        np.bincount(who, np.concatenate(logs), minlength=len(numbers)),
        np.bincount(who, minlength=len(numbers)).astype(np.float64),
    )
