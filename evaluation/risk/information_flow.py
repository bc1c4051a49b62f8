"""Information flow: leakage of each release in bits, retroactive leaks, and the influence of one compromised record."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_beliefs, check_share, release_table
from foreknow.evaluation.risk.adversary_gain import RELATIVE_TIE
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth, mean
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import as_floats, check_choice, check_range

if TYPE_CHECKING:
    import networkx as nx


MAX_GAIN = 1e100
"""Largest absolute gain: sums of products with probabilities stay finite."""

COLUMNS = (
    "time", "prior_vulnerability", "posterior_vulnerability", "leakage", "realized_prior", "realized_posterior", "realized_leakage",
    "measured", "suppressed",
)  # fmt: skip


def information_flow(
    beliefs: Beliefs,
    history: History,
    *,
    gains: Any = None,
    before: Literal["prior", "revised"] = "prior",
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Prior and posterior vulnerability of each release, and leakage in bits, as expected by the adversary and as realized.

    The vulnerability of a distribution p is the expected gain of the best guess, ``max over guesses w of sum over values v of
    g(w, v) p(v)``, and that of a release the mean over its respondents. Leakage is ``log2(posterior / prior vulnerability)``.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack. Beliefs in hindsight give the leakage in hindsight.
    history : History
        The original records.
    gains : float array, shape (w, m), optional
        Gain of each of w guesses for each value of the sensitive domain. By default 1 for guessing the value and 0 otherwise
        (the identity matrix): Bayes vulnerability, whose leakage is the min-entropy leakage.
    before : {"prior", "revised"}
        Beliefs before the release: before any release, so that leakage is that of all releases together; or the revised prior,
        so that it is that of this release after earlier ones.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; as expected by the adversary ``prior_vulnerability``, ``posterior_vulnerability``
        and ``leakage``; as realized ``realized_prior`` and ``realized_posterior``, the mean gain of the best guess for the true
        value, and ``realized_leakage``; ``measured``, the number of respondents; ``suppressed``, which are left out; and
        ``compromised`` with ``leaving_out``. NaN where no record is published; a leakage also where a vulnerability is not over
        0.

    Notes
    -----
    M. Alvim et al., "The Science of Quantitative Information Flow", Springer 2020, chapters 2, 3 and 5. There the posterior
    vulnerability is a mean over all outputs of a channel; here it is that of the release that was published (dynamic). Over all
    releases that the values could have led to, its expectation under the adversary's own law is the one of the book.

    Expected and realized vulnerability agree in expectation if beliefs are calibrated. An overconfident adversary expects more
    than it realizes. Where guesses tie, the realized gain is their mean, so that with the identity ``realized_posterior`` is
    `success_rate`. Cost: O(n m w) per release.

    Examples
    --------
    The group of two shows both values once; a prior of .8 becomes 16/17:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, Numeric, Release, Schema, View
    >>> frame = pd.DataFrame({"id": ["A", "B"], "age": [20, 21], "result": ["ill", "well"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = pd.DataFrame({"ill": [0.8, 0.2], "well": [0.2, 0.8]}, index=["A", "B"])
    >>> beliefs = SnapshotAttack(Adversary(GivenPrior(prior)))([Release(view, [0, 0])])
    >>> flow = information_flow(beliefs, History([view]))
    >>> flow[["prior_vulnerability", "posterior_vulnerability", "leakage", "realized_posterior"]].round(3)
       prior_vulnerability  posterior_vulnerability  leakage  realized_posterior
    0                  0.8                    0.941    0.234                 1.0
    """
    check_choice("information_flow", "before", before, ("prior", "revised"))
    check_beliefs("information_flow", beliefs)
    given = None if gains is None else _as_gains(gains)
    measured = beliefs_and_truth("information_flow", beliefs, history, leaving_out)
    rows = (_flow(one, release.beliefs(before), given) for one, release in zip(measured, beliefs, strict=True))
    return release_table(rows, COLUMNS)


def _flow(release: BeliefsAndTruth, before: FloatArray, gains: FloatArray | None) -> dict[str, object]:
    m = release.belief.shape[1]
    if gains is not None and gains.shape[1] != m:
        raise ValueError(
            f"information_flow: gains has {gains.shape[1]} columns, and the sensitive domain {m} values; give the gain of each "
            "guess (row) for each value (column), in the order of the schema."
        )
    matrix = np.eye(m) if gains is None else gains
    expected_prior, realized_prior = _vulnerability(before[release.rows], release.true, matrix)
    expected, realized = _vulnerability(release.belief, release.true, matrix)
    return {
        "time": release.time,
        "prior_vulnerability": expected_prior,
        "posterior_vulnerability": expected,
        "leakage": _bits(expected, expected_prior),
        "realized_prior": realized_prior,
        "realized_posterior": realized,
        "realized_leakage": _bits(realized, realized_prior),
        "measured": len(release.true),
    } | release.excluded


def _vulnerability(belief: FloatArray, true: IntArray, gains: FloatArray) -> tuple[float, float]:
    """Mean expected gain of the best guess, and its mean gain for the true values; tied guesses are averaged."""
    expected = belief @ gains.T
    best = expected.max(axis=1, keepdims=True)
    tied = expected >= best - RELATIVE_TIE * np.maximum(np.abs(best), np.abs(gains).max())
    realized = (tied * gains[:, true].T).sum(axis=1) / tied.sum(axis=1)
    return mean(best[:, 0]), mean(realized)


def _bits(after: float, before: float) -> float:
    """Base-2 logarithm of a ratio; NaN unless both are over 0."""
    return math.log2(after) - math.log2(before) if after > 0 and before > 0 else math.nan


def _as_gains(gains: Any) -> FloatArray:
    takes = f"is a float array of shape (w, m): the gain of each guess for each value of the domain, finite and under {MAX_GAIN:g}"
    matrix = as_floats("information_flow", "gains", gains, takes)
    if matrix.ndim != 2 or not len(matrix) or not (np.abs(matrix) < MAX_GAIN).all():
        raise ValueError(f"information_flow: gains {takes}.")
    return matrix


LEAK_COLUMNS = (
    "time", "log_score_forward", "log_score_hindsight", "leak", "sure_forward", "sure_hindsight", "newly_sure", "newly_right",
    "total_variation", "measured", "suppressed",
)  # fmt: skip


def retroactive_leak(
    forward: Beliefs,
    hindsight: Beliefs,
    history: History,
    *,
    sure: float = 0.9,
    least: float = 2.0**-20,
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Retroactive leak: mean rise of the log2 probability of the true values of each release by later releases, in bits.

    Parameters
    ----------
    forward : Beliefs
        Beliefs about each release given the releases up to it, as of ``JointAttack(adversary, hindsight=False)``.
    hindsight : Beliefs
        Beliefs about the same releases given all of them, as of ``JointAttack(adversary)``.
    history : History
        The original records.
    sure : float
        Threshold from 0 to 1, as in `disclosures`.
    least : float
        Lower limit of a belief in a true value, over 0 and at most 1, as in `log_score`.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``log_score_forward`` and ``log_score_hindsight``, the `log_score` of each;
        ``leak``, their difference; ``sure_forward`` and ``sure_hindsight``, the share of respondents with a sure belief;
        ``newly_sure``, the share with a sure belief in hindsight only; ``newly_right``, the share newly sure whose value of
        highest belief is the true one; ``total_variation``, the mean of ``sum |hindsight - forward| / 2``; all NaN where no
        record is published; ``measured``; ``suppressed``; and ``compromised`` with ``leaving_out``.

    Notes
    -----
    The leak is negative where later releases mislead the adversary. If both beliefs are posteriors of one law, its expectation
    under that law is not negative. The last release has no later one: its leak is 0 if the forward and the hindsight rule agree
    there. Cost: O(n m) per release.
    """
    owner = "retroactive_leak"
    check_range(owner, "sure", sure, 0, 1, "the belief from which the adversary is sure")
    check_share(owner, "least", least)
    for beliefs in (forward, hindsight):
        check_beliefs(owner, beliefs)
    _check_same_releases(forward, hindsight)
    both = (beliefs_and_truth(owner, beliefs, history, leaving_out) for beliefs in (forward, hindsight))
    return release_table(_rows(zip(*both, strict=True), sure, least), LEAK_COLUMNS)


def _rows(
    both: "zip[tuple[BeliefsAndTruth, BeliefsAndTruth]]", sure: float, least: float
) -> Iterator[dict[str, object]]:
    for before, after in both:
        scores = [mean(np.log2(np.maximum(one.confidence, least))) for one in (before, after)]
        was, now = (one.belief.max(axis=1) >= sure for one in (before, after))
        right = after.belief.argmax(axis=1) == after.true
        yield {
            "time": before.time,
            "log_score_forward": scores[0],
            "log_score_hindsight": scores[1],
            "leak": scores[1] - scores[0],
            "sure_forward": mean(was),
            "sure_hindsight": mean(now),
            "newly_sure": mean(now & ~was),
            "newly_right": mean(now & ~was & right),
            "total_variation": mean(np.abs(after.belief - before.belief).sum(axis=1) / 2),
            "measured": len(before.true),
        } | before.excluded


def _check_same_releases(forward: Beliefs, hindsight: Beliefs) -> None:
    """Raise ValueError unless two beliefs are about the same releases."""
    same = forward.times == hindsight.times and all(
        np.array_equal(seen.people.respondents, again.people.respondents)
        and np.array_equal(seen.group, again.group)
        and np.array_equal(seen.counts, again.counts)
        for seen, again in ((one.observation, other.observation) for one, other in zip(forward, hindsight, strict=True))
    )
    if not same:
        raise ValueError(
            "retroactive_leak: forward and hindsight are about different releases; attack the same ones twice."
        )


def influence_by_distance(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    """Number of places that a compromised record reached at each distance, and the change of belief there.

    A place is a respondent at a release. The change of belief is a Jensen-Shannon divergence, in bits.

    Parameters
    ----------
    graph : networkx.DiGraph
        The result of `foreknow.attacks.Influence`.

    Returns
    -------
    DataFrame
        One row per distance in steps, 0 for the record itself. Columns ``distance``; ``places``; ``respondents``, the number of
        distinct ones; ``mean_bits``, ``max_bits`` and ``total_bits``, the mean, maximum and sum of the changes.
    """
    places = _places("influence_by_distance", graph).groupby("distance")
    table = _bits_of_places(places)
    table.insert(1, "respondents", places["respondent"].nunique())
    return table.reset_index()


def influence_by_release(graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    """Number of places that a compromised record reached in each release, and the change of belief there.

    Parameters
    ----------
    graph : networkx.DiGraph
        The result of `foreknow.attacks.Influence`.

    Returns
    -------
    DataFrame
        One row per release reached. Columns ``time``, and ``places``, ``mean_bits``, ``max_bits`` and ``total_bits`` as in
        `influence_by_distance`.
    """
    return _bits_of_places(
        _places("influence_by_release", graph).sort_values("release").groupby("time", sort=False)
    ).reset_index()


def _bits_of_places(places: Any) -> pd.DataFrame:
    bits = places["bits"]
    return pd.DataFrame(
        {"places": places.size(), "mean_bits": bits.mean(), "max_bits": bits.max(), "total_bits": bits.sum()}
    )


def _places(owner: str, graph: "nx.DiGraph[Any]") -> pd.DataFrame:
    """Places of a graph of influence, one row each."""
    try:
        rows = [{"respondent": respondent, "time": time, **data} for (respondent, time), data in graph.nodes(data=True)]
        return pd.DataFrame(rows)[["respondent", "time", "bits", "distance", "release"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise TypeError(
            f"{owner}: the {type(graph).__name__} is no graph of influence; it takes the directed graph that an Influence returns, "
            "as Influence(adversary)(releases, respondent, value, time)."
        ) from None
