"""Calibration of beliefs: reliability curve by isotonic regression, consistency test, bootstrap over respondents."""

from collections.abc import Collection, Hashable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy

from foreknow.evaluation.arguments import check_share
from foreknow.evaluation.risk.beliefs_and_truth import Forecasts, LeftOut, forecasts
from foreknow.evaluation.risk.breaches import BELIEF_DECIMALS
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import as_generator, check_choice, check_whole, is_number, is_whole

ROWS_AT = 20
"""Number of equal parts of 0 to 1, each of which has a row at its first belief, so that the numbers of beliefs give a histogram."""


def reliability_curve(
    beliefs: Beliefs,
    history: History,
    *,
    sensitive_set: Collection[Hashable] | None = None,
    leaving_out: LeftOut = None,
    draws: int = 200,
    level: float = 0.9,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Observed frequency as a rising function of the belief, by isotonic regression (CORP; Dimitriadis, Gneiting, Jordan 2021).

    Beliefs are calibrated if the curve is the diagonal.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack; its releases are pooled.
    history : History
        The original records.
    sensitive_set : collection of values, optional
        Sensitive set: the beliefs are then that a respondent has one of its values. By default, the beliefs in each value.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.
    draws : int
        Number of bootstrap draws of the band; 0 for none.
    level : float
        Probability of an interval, over 0 and under 1.
    rng : numpy.random.Generator or int, optional
        Random generator of the draws, or a seed. By default fresh entropy.

    Returns
    -------
    DataFrame
        One row per end of a block of beliefs with one observed frequency, and for the first belief of each twentieth of 0 to 1,
        in rising order; the curve is linear between them. Columns ``believed``; ``observed``; ``beliefs``, the number of
        beliefs from this row's to the next row's, the latter excluded, which sum to all beliefs; with ``draws``,
        ``observed_low`` and ``observed_high``, pointwise intervals.

    Notes
    -----
    The records of a respondent in several releases are not independent, so the bootstrap draws respondents with all their
    records (a cluster bootstrap; Davison, Hinkley 1997). Members of a group are dependent too, which it ignores: intervals of
    few large groups are approximate. Beliefs with draws of uncertain knowledge (`Averaged`) are those of the mixture; for the
    curve of each draw, call it with each of ``beliefs.draws.beliefs``. The band is pointwise; where beliefs are all distinct, the
    bootstrap of isotonic regression is approximate (its error falls with the cube root of the number of beliefs); where all or
    none of the beliefs are right, it is too narrow. Beliefs that agree to nine decimals are one. Cost: O(c log c) for c
    beliefs, and O(c) per draw.

    Examples
    --------
    Two groups of two; the adversary believes 0.8 where 3 of 4 are right:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, Numeric, Omega, Release, Schema, View
    >>> frame = pd.DataFrame({"id": list("ABCD"), "age": [20, 21, 22, 23], "result": ["ill", "well", "well", "ill"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = pd.DataFrame({"ill": [0.8, 0.2, 0.2, 0.8], "well": [0.2, 0.8, 0.8, 0.2]}, index=list("ABCD"))
    >>> beliefs = SnapshotAttack(Adversary(GivenPrior(prior), estimator=Omega()))([Release(view, [0, 0, 1, 1])])
    >>> reliability_curve(beliefs, History([view]), draws=0)
       believed  observed  beliefs
    0       0.2       0.0        4
    1       0.8       1.0        4
    """
    bootstrap = as_bootstrap("reliability_curve", draws, level, rng)
    distinct = distinct_beliefs(forecasts("reliability_curve", beliefs, history, sensitive_set, leaving_out))
    tallies = distinct.tallies()
    observed = recalibrated(tallies)
    part = np.minimum((tallies.belief * ROWS_AT).astype(np.int64), ROWS_AT - 1)
    ends = _block_ends(observed) | (np.diff(part, prepend=-1) != 0)
    number = np.add.reduceat(tallies.total, np.flatnonzero(ends)) if ends.any() else np.zeros(0)
    table = pd.DataFrame(
        {"believed": tallies.belief[ends], "observed": observed[ends], "beliefs": number.astype(np.int64)}
    )
    if not bootstrap.draws:
        return table
    low, high = bootstrap.interval(_drawn_curves(distinct, tallies.belief[ends], bootstrap))
    return table.assign(observed_low=low, observed_high=high)


def _block_ends(observed: FloatArray) -> BoolArray:
    """Mask of the first and the last belief of each block of equal observed frequencies: shape ``(u,)``."""
    changes = np.diff(observed) != 0
    edge = np.ones(min(len(observed), 1), dtype=np.bool_)
    return np.asarray(np.concatenate([edge, changes]) | np.concatenate([changes, edge]))


class Tallies(NamedTuple):
    """Weighted numbers of events and of non-events at each distinct belief."""

    belief: FloatArray  # (u,): distinct beliefs, rising. Beliefs that agree to nine decimals are one.
    # events, others (u,): weight of the forecasts with that belief whose outcome is True, and of the others
    events: FloatArray
    others: FloatArray

    @property
    def total(self) -> FloatArray:
        """Weight of the forecasts of each belief: shape ``(u,)``."""
        return np.asarray(self.events + self.others)

    def merged(self, place: IntArray) -> "Tallies":
        """Tallies of sets of beliefs, with the mean belief of each; ``place`` is the set of each. Weights must be positive."""
        mean = np.bincount(place, self.total * self.belief) / np.bincount(place, self.total)
        return Tallies(mean, np.bincount(place, self.events), np.bincount(place, self.others))

    def occupied(self) -> "Tallies":
        """Tallies of the beliefs with a positive weight."""
        kept = self.total > 0
        return Tallies(self.belief[kept], self.events[kept], self.others[kept])


class DistinctBeliefs(NamedTuple):
    """Distinct beliefs of forecasts, which give tallies under any weights of the respondents."""

    found: Forecasts  # the c forecasts
    belief: FloatArray  # (u,): distinct beliefs, rising
    place: IntArray  # (c,): position of the belief of each forecast among the distinct ones

    def tallies(self, weights: FloatArray | None = None) -> Tallies:
        """Tallies under weights of the respondents, shape ``(N,)``; by default 1 each. Cost: O(c)."""
        each = np.ones(len(self.place)) if weights is None else weights[self.found.respondent]
        events = np.bincount(self.place, each * self.found.outcome, minlength=len(self.belief))
        others = np.bincount(self.place, each * ~self.found.outcome, minlength=len(self.belief))
        return Tallies(self.belief, events, others)


class Bootstrap(NamedTuple):
    """Settings of a bootstrap, checked.

    Attributes
    ----------
    draws : int
        Number of draws; 0 for none.
    level : float
        Probability that an interval should have.
    rng : numpy.random.Generator
    """

    draws: int
    level: float
    rng: np.random.Generator

    def weights(self, respondents: int) -> Iterator[FloatArray]:
        """Weights of the respondents, in batches of shape ``(b, N)`` that have ``draws`` rows in all.

        A row is the number of times that each of N respondents is drawn, with replacement, in N draws: a multinomial
        distribution. Cost: O(N) per draw; at most `WEIGHTS_PER_BATCH` weights at a time, or one row.
        """
        if not respondents:
            return
        batch = max(WEIGHTS_PER_BATCH // respondents, 1)
        shares = np.full(respondents, 1 / respondents)
        for start in range(0, self.draws, batch):
            size = min(batch, self.draws - start)
            yield self.rng.multinomial(respondents, shares, size=size).astype(np.float64)

    def interval(self, drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Percentile interval of each column of ``drawn``, shape ``(draws, c)``; NaN draws are left out.

        A column without a number has the interval NaN to NaN.
        """
        ends = np.full((2, drawn.shape[1]), np.nan)
        known = ~np.isnan(drawn).all(axis=0) if len(drawn) else np.zeros(drawn.shape[1], dtype=np.bool_)
        if known.any():
            tail = (1 - self.level) / 2
            ends[:, known] = np.nanquantile(drawn[:, known], [tail, 1 - tail], axis=0)
        return ends[0], ends[1]

    def reflected(self, estimate: FloatArray, drawn: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Estimate of each column less its bootstrap bias, and its basic interval, all at least 0: three of shape ``(c,)``.

        The interval reflects the percentile interval at the estimate, ``2 estimate - high`` to ``2 estimate - low``, so that it
        allows for the bias of an estimate that is fitted to the records.
        """
        low, high = self.interval(drawn)
        known = ~np.isnan(low)
        mean = np.full(len(estimate), np.nan)
        if known.any():
            mean[known] = np.nanmean(drawn[:, known], axis=0)
        corrected, least, most = (np.maximum(2 * estimate - drawn_value, 0) for drawn_value in (mean, high, low))
        return corrected, least, most


def _drawn_curves(distinct: DistinctBeliefs, places: FloatArray, bootstrap: Bootstrap) -> FloatArray:
    """Curve of each draw at some beliefs: float array, shape ``(draws, len(places))``."""
    drawn = [
        _curve(distinct.tallies(weights).occupied(), places)
        for batch in bootstrap.weights(distinct.found.respondents)
        for weights in batch
    ]
    return np.array(drawn).reshape(len(drawn), len(places))


def _curve(tallies: Tallies, places: FloatArray) -> FloatArray:
    return np.interp(places, tallies.belief, recalibrated(tallies))


type Dependence = Literal["respondents", "records"]

MEASURES = ("miscalibration", "calibration_error")
"""Terms of a decomposition that are 0 for calibrated beliefs, apart from chance."""


type Score = Literal["brier", "log"]
type Decomposition = Literal["isotonic", "bins"]


def consistency_test(
    beliefs: Beliefs,
    history: History,
    *,
    dependence: Dependence = "respondents",
    score: Score = "brier",
    decomposition: Decomposition = "isotonic",
    bins: int = 10,
    sensitive_set: Collection[Hashable] | None = None,
    least: float = 2.0**-20,
    leaving_out: LeftOut = None,
    draws: int = 200,
    level: float = 0.9,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Miscalibration beside its distribution for a calibrated adversary, by draws of the true values from the beliefs.

    Miscalibration is fitted to the records, so that it is over 0 for calibrated beliefs too. This is the test of whether it is
    larger than chance explains (consistency resampling; Broecker, Smith 2007).

    Parameters
    ----------
    beliefs, history
        As in `score_decomposition`.
    dependence : {"respondents", "records"}
        Draws of the values. ``"records"``: independent. ``"respondents"``: by one uniform number for all records of a
        respondent, so that equal beliefs in several releases have equal values.
    score, decomposition, bins, sensitive_set, least, leaving_out
        As in `score_decomposition`.
    draws : int
        Number of draws of the values of all records, at least 1.
    level : float
        Probability of ``high``, over 0 and under 1.
    rng : numpy.random.Generator or int, optional
        Random generator of the draws, or a seed. By default fresh entropy.

    Returns
    -------
    DataFrame
        One row for ``miscalibration`` and one for ``calibration_error``. Columns ``term``; ``amount``, that of the true values;
        ``calibrated``, the mean over the draws; ``calibrated_high``, their quantile of probability ``level``; ``p_value``, the
        share of the draws, counting the true values as one, that reach the amount. NaN where no record is published.

    Notes
    -----
    With independent records, the test is exact apart from the draws. The values of a respondent in several releases are
    dependent, which beliefs about single records do not tell: ``"records"`` then draws too small miscalibrations, and
    ``"respondents"`` mostly too large ones, where beliefs move little. Draws do not keep the multisets of the groups. In a group,
    values repel each other, so that both draws are cautious there. Cost: O(c log c) for c forecasts, and O(c) per draw.

    Examples
    --------
    Beliefs of .8 of which half are right:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, Numeric, Omega, Release, Schema, View
    >>> names = [f"p{number}" for number in range(40)]
    >>> results = ["ill", "well", "well", "ill"] * 10
    >>> frame = pd.DataFrame({"id": names, "age": 30, "result": results})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = pd.DataFrame({"ill": [0.8, 0.8, 0.2, 0.2] * 10, "well": [0.2, 0.2, 0.8, 0.8] * 10}, index=names)
    >>> beliefs = SnapshotAttack(Adversary(GivenPrior(prior), estimator=Omega()))([Release(view, np.zeros(40, int))])
    >>> table = consistency_test(beliefs, History([view]), rng=1)
    >>> table.round(3)
                    term  amount  calibrated  calibrated_high  p_value
    0     miscalibration    0.18       0.008             0.02    0.005
    1  calibration_error    0.30       0.048             0.10    0.005
    """
    owner = "consistency_test"
    check_choice(owner, "dependence", dependence, ("respondents", "records"))
    check_choice(owner, "score", score, ("brier", "log"))
    check_choice(owner, "decomposition", decomposition, ("isotonic", "bins"))
    check_whole(owner, "draws", draws, "draws")
    parts, settings = check_bins(owner, bins), as_bootstrap(owner, draws, level, rng)
    check_share(owner, "least", least, 0.5)
    found = forecasts(owner, beliefs, history, sensitive_set, leaving_out)
    distinct = distinct_beliefs(found)

    def measured(outcome: BoolArray) -> list[float]:
        tallies = distinct._replace(found=found._replace(outcome=outcome)).tallies()
        by_name = decomposed(tallies, score, decomposition, parts, least)
        return [by_name["miscalibration"] * found.per_record, by_name["calibration_error"]]

    value = np.array(measured(found.outcome))
    drawn = np.array([measured(drawn_outcomes(found, dependence, settings.rng)) for _ in range(settings.draws)])
    reached = (1 + (drawn >= value - 1e-12).sum(axis=0)) / (1 + settings.draws)
    return pd.DataFrame(
        {
            "term": MEASURES,
            "amount": value,
            "calibrated": drawn.mean(axis=0),
            "calibrated_high": np.quantile(drawn, settings.level, axis=0),
            "p_value": np.where(np.isnan(value), np.nan, reached),
        }
    )


def drawn_outcomes(found: Forecasts, dependence: Dependence, rng: np.random.Generator) -> BoolArray:
    """Outcomes of all forecasts for values that are drawn from the beliefs about each record: shape ``(c,)``."""
    belief = found.belief.reshape(-1, found.per_record)
    of_record = found.respondent.reshape(-1, found.per_record)[:, 0]
    uniform = rng.random(found.respondents)[of_record] if dependence == "respondents" else rng.random(len(belief))
    if found.per_record == 1:
        return np.asarray(uniform < found.belief)
    value = (uniform[:, None] >= belief.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return np.asarray(value[:, None] == np.arange(found.per_record)).ravel()


MAX_BINS = 2**31
"""Largest number of bins: a number that `float` and `int64` hold exactly."""


def check_bins(owner: str, bins: Any) -> int:
    """Return a number of bins of 0 to 1; raises ValueError unless it is from 1 to `MAX_BINS`."""
    if not (is_whole(bins) and bins <= MAX_BINS):
        raise ValueError(f"{owner}: bins is {bins!r}; it is a number of parts of 0 to 1, from 1 to {MAX_BINS}.")
    return int(bins)


TERMS = ("score", "miscalibration", "discrimination", "uncertainty", "within_bins", "calibration_error")
"""Terms of a decomposition."""


def distinct_beliefs(found: Forecasts) -> DistinctBeliefs:
    """Return the distinct beliefs of forecasts; those that agree to nine decimals are one. Cost: O(c log c)."""
    belief, place = np.unique(np.clip(np.round(found.belief, BELIEF_DECIMALS), 0, 1), return_inverse=True)
    return DistinctBeliefs(found, belief, place)


def recalibrated(tallies: Tallies) -> FloatArray:
    """Isotonic regression of the outcomes on the beliefs, by pooling adjacent violators: shape ``(u,)``.

    All weights must be positive. The result minimizes the mean of every proper score among rising functions of the belief.
    Exact. Cost: O(u).
    """
    if not len(tallies.belief):
        return np.zeros(0)
    total = tallies.total
    return np.asarray(np.clip(scipy.optimize.isotonic_regression(tallies.events / total, weights=total).x, 0, 1))


def decomposed(
    tallies: Tallies, score: Score, decomposition: Decomposition, bins: int, least: float
) -> dict[str, float]:
    """Terms of the decomposition of the mean score of a forecast, by name; NaN without a forecast.

    The score is ``miscalibration - discrimination + uncertainty + within_bins``; see `score_decomposition`.
    """
    tallies = tallies.occupied()
    if not len(tallies.belief):
        return dict.fromkeys(TERMS, float("nan"))
    number = np.minimum((tallies.belief * bins).astype(np.int64), bins - 1)
    binned = tallies.merged(np.unique(number, return_inverse=True)[1])
    coarse = tallies if decomposition == "isotonic" else binned
    observed = recalibrated(coarse) if decomposition == "isotonic" else coarse.events / coarse.total
    overall = np.full(len(coarse.belief), coarse.events.sum() / coarse.total.sum())
    loss, reached, ignorant = (
        mean_loss(coarse._replace(belief=belief), score, least) for belief in (coarse.belief, observed, overall)
    )
    fine = mean_loss(tallies, score, least)
    error = np.abs(binned.events - binned.total * binned.belief).sum() / binned.total.sum()
    terms = (fine, loss - reached, ignorant - reached, ignorant, fine - loss, float(error))
    return dict(zip(TERMS, terms, strict=True))


def mean_loss(tallies: Tallies, score: Score, least: float) -> float:
    """Mean loss of a forecast: squared error, or minus log2 of the probability of the outcome, at least ``least``."""
    p = tallies.belief
    if score == "brier":
        losses = tallies.events * (1 - p) ** 2 + tallies.others * p**2
    else:
        losses = -tallies.events * np.log2(np.maximum(p, least)) - tallies.others * np.log2(np.maximum(1 - p, least))
    return float(losses.sum() / tallies.total.sum())


MAX_DRAWS = 100_000
"""Largest number of bootstrap draws."""

WEIGHTS_PER_BATCH = 2**22
"""Number of weights that are drawn at a time."""


def as_bootstrap(owner: str, draws: Any, level: Any, rng: Any) -> Bootstrap:
    """Return the settings of a bootstrap."""
    if not (is_whole(draws, 0) and draws <= MAX_DRAWS):
        raise ValueError(f"{owner}: draws is {draws!r}; it is a number of bootstrap draws, from 0 to {MAX_DRAWS}.")
    if not (is_number(level, 0, 1) and 0 < level < 1):
        raise ValueError(f"{owner}: level is {level!r}; it is the probability of an interval, over 0 and under 1.")
    return Bootstrap(int(draws), float(level), as_generator(owner, rng, optional=True))
