"""Noisy counts: histograms of the sensitive attribute in fixed cells, with integer noise, and what the noise promises."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from foreknow.defenses.publish import READS
from foreknow.models import MarkovChain, NoisyRelease, NoisyTable, View
from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.noise import LAWS, MAX_SCALE, Noise, NoiseLaw, scale_of_gain
from foreknow.models.settings import as_generator, check_choice, check_kind, check_range, check_whole, stored_generator
from foreknow.models.tables.noisy_release import Cells

type Processing = Literal["none", "nonnegative", "totals"]
PROCESSING: tuple[Processing, ...] = ("none", "nonnegative", "totals")

DELTA = 1e-6
"""Delta of the epsilon that is printed for a Gaussian law."""

PRIORS = (0.5, 0.1, 0.01)
"""Priors for which the belief at the 99.9 % quantile is told with a promise."""

SEEDED = "The noise was drawn by NumPy from a generator that can be seeded: for experiments, not for release."


@equal_by_fields
@dataclass(frozen=True)
class NoisyCounts:
    """Counts of the sensitive values in fixed cells of quasi-identifiers, each with independent integer noise.

    Its promise is differential privacy of a respondent's whole path, where membership is public: see `promise`.

    Parameters
    ----------
    cells : int or Cells
        Number of cells, cut by equal counts of the respondents of the first view, without reading values; or given ones. No cell is
        left out for being small.
    releases : int
        Number T of releases of the series, over which the promise is made. A later view is refused.
    epsilon : float, optional
        Pure epsilon of a whole path, for a Laplace law: the scale is ``2 T / epsilon``. One of this and the next two is given.
    rho : float, optional
        Rho of zero-concentrated differential privacy of a whole path: the scale is ``sqrt(T / rho)``.
    gain : float, optional
        Largest mean gain, over the noise, of an adversary who knows all others (`Noise.gain`). Recommended.
    noise : {"gaussian", "laplace"}, optional
        Law of the noise: by default Laplace with ``epsilon``, otherwise Gaussian.
    processing : {"none", "nonnegative", "totals"}
        What is published beside the noisy counts: nothing; these with negative ones set to 0; or whole numbers, none negative, that
        sum to the number of respondents in each cell, which is public. It costs nothing of the promise.
    clamped : bool
        True to publish negative counts as 0, and not the noisy counts themselves. The adversary's likelihood is then censored.
    rng : numpy.random.Generator or int, optional
        Draws the noise by NumPy, for experiments alone. By default it is drawn by OpenDP, which takes no seed.

    Raises
    ------
    ModuleNotFoundError
        When called without ``rng``, if OpenDP is not installed.
    TypeError, ValueError
        If not one of ``epsilon``, ``rho`` and ``gain`` is given, or ``epsilon`` for a Gaussian law, which has no pure one. When
        called, if the series has more views than ``releases``, or the releases before have another noise.

    Notes
    -----
    Sources: Canonne, Kamath, Steinke (2020), the discrete Gaussian; Ghosh, Roughgarden, Sundararajan (2009), the discrete Laplace
    law; Bun, Steinke (2016), rho. None of the five papers has it. A view has at most one record of each respondent, so that a
    path replaced moves one record between two counts at each release: L1 distance 2 T, squared L2 distance 2 T. Related
    respondents, as of a household, add up (`Promise.household`). Cost: O(n C d), and about 15 microseconds for each count of a
    release by OpenDP.

    Examples
    --------
    >>> NoisyCounts(16, 24, gain=0.1).scale.__round__(1)
    10.4
    """

    cells: int | Cells
    releases: int
    epsilon: float | None = field(default=None, kw_only=True)
    rho: float | None = field(default=None, kw_only=True)
    gain: float | None = field(default=None, kw_only=True)
    noise: NoiseLaw | None = field(default=None, kw_only=True)
    processing: Processing = field(default="none", kw_only=True)
    clamped: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    reads: ClassVar[tuple[str, ...]] = ()
    ignores: ClassVar[tuple[str, ...]] = READS

    def __post_init__(self) -> None:
        if not isinstance(self.cells, Cells):
            check_whole("NoisyCounts", "cells", self.cells, "cells, or Cells")
        check_whole("NoisyCounts", "releases", self.releases, "releases that the series has at most")
        given = [name for name in ("epsilon", "rho", "gain") if getattr(self, name) is not None]
        if len(given) != 1:
            found = "none is given" if not given else f"{' and '.join(given)} are given"
            raise ValueError(
                f"NoisyCounts: one of epsilon, rho and gain sets the noise, and {found}; give gain=0.1 for a mean gain of at most "
                "a tenth."
            )
        for name, most in (("epsilon", MAX_SCALE), ("rho", MAX_SCALE), ("gain", 1)):
            if getattr(self, name) is not None:
                check_range("NoisyCounts", name, getattr(self, name), 0, most, excluded=(0, most))
        if self.noise is None:
            object.__setattr__(self, "noise", "gaussian" if self.epsilon is None else "laplace")
        check_choice("NoisyCounts", "noise", self.noise, LAWS)
        if self.epsilon is not None and self.noise == "gaussian":
            raise ValueError("NoisyCounts: a Gaussian law has no pure epsilon; give rho= or gain=, or noise='laplace'.")
        check_choice("NoisyCounts", "processing", self.processing, PROCESSING)
        object.__setattr__(self, "rng", stored_generator("NoisyCounts", self.rng))
        _ = self.law  # refuses a scale out of range

    @property
    def smallest(self) -> int:
        """Least number of records of a view that can be published."""
        return 1

    @cached_property
    def scale(self) -> float:
        """Scale of the noise, in records."""
        releases = int(self.releases)
        if self.epsilon is not None:
            return 2 * releases / float(self.epsilon)
        if self.rho is not None:
            return float(np.sqrt(releases / self.rho))
        return scale_of_gain(self.noise, releases, float(self.gain))  # type: ignore[arg-type]

    @property
    def law(self) -> Noise:
        """Law of the noise."""
        assert self.noise is not None
        return Noise(self.noise, self.scale, self.clamped)

    @property
    def promise(self) -> "Promise":
        """Promise of the noise to each respondent."""
        return Promise(self.law, int(self.releases))

    def __call__(self, view: View, prior: FloatArray, past: tuple[NoisyRelease, ...] = ()) -> NoisyTable:  # noqa: ARG002
        """Noisy counts of a view; the cells are those of the releases before."""
        law, cells = self.law, self._cells(view, past)
        m, cell = len(view.schema.values), cells.of(view.people)
        counts = np.bincount(cell * m + view.sensitive, minlength=len(cells) * m).reshape(len(cells), m)
        if self.rng is None:
            noisy = noisy_by_opendp(counts, law)
        else:
            noisy = counts + law.draw(counts.shape, as_generator("NoisyCounts", self.rng))
        if self.clamped:
            noisy = np.maximum(noisy, 0)
        processed = None if self.processing == "none" else np.maximum(noisy, 0).astype(np.float64)
        if self.processing == "totals":
            processed = with_totals(noisy, np.bincount(cell, minlength=len(cells)))
        notes = () if self.rng is None else (SEEDED,)
        return NoisyTable(cells, noisy, law, processed, self.rng is None, notes)

    def _cells(self, view: View, past: tuple[NoisyRelease, ...]) -> Cells:
        """Cells of the series; ValueError if the releases before are not of this defense, or as many as it may make."""
        if len(past) >= self.releases:
            raise ValueError(
                f"NoisyCounts: {len(past)} views are published, and the noise was set for {self.releases}; that at {view.time!r} "
                "would pass the promise. Set releases= to the length of the whole series before the first one."
            )
        cells = self.cells if isinstance(self.cells, Cells) else None
        if past:
            if not isinstance(past[0], NoisyRelease) or any(not self._has_noise_of(one) for one in past):
                raise ValueError(
                    f"NoisyCounts: a release before {view.time!r} is of another defense or noise; begin a series of its own."
                )
            cells = past[0].made.cells
        return Cells.equal_counts(view.people, int(self.cells)) if cells is None else cells  # type: ignore[arg-type]

    def _has_noise_of(self, release: NoisyRelease) -> bool:
        """True if a release has this noise; a scale of `scale_of_gain` may differ by rounding where SciPy is of another version."""
        noise = release.made.noise
        return bool(np.isclose(noise.scale, self.scale, rtol=1e-9)) and replace(noise, scale=self.scale) == self.law


def opendp() -> Any:
    """The prelude of OpenDP; raise ModuleNotFoundError, with what to install, if it cannot be imported."""
    try:
        import opendp.prelude as dp
    except ImportError:
        experiment = Wording("give rng=, which draws the same law by NumPy", "add --for-experiment")
        text = "NoisyCounts draws its noise by OpenDP, which is not installed: pip install 'foreknow[dp]'. For an experiment "
        raise ModuleNotFoundError(Advice(text, experiment, ".")) from None
    dp.enable_features("contrib")
    return dp


def noisy_by_opendp(counts: IntArray, law: Noise) -> IntArray:
    """Counts with noise by OpenDP, whose generator cannot be seeded: int array of the same shape.

    Raises
    ------
    ModuleNotFoundError
        If OpenDP is not installed.
    """
    dp = opendp()
    domain = dp.vector_domain(dp.atom_domain(T=int))
    # A distance of integers would round the root of 2 up, and double rho.
    metric = dp.l1_distance(T=int) if law.law == "laplace" else dp.l2_distance(T=float)
    make = dp.m.make_laplace if law.law == "laplace" else dp.m.make_gaussian
    measurement = make(domain, metric, law.scale)
    distance, promised = (2, 2 / law.scale) if law.law == "laplace" else (np.sqrt(2.0), 1 / law.scale**2)
    if float(measurement.map(distance)) > promised * (1 + 1e-9):
        raise RuntimeError(f"OpenDP promises less of {law} than foreknow does; nothing is drawn.")
    return np.array(measurement(counts.reshape(-1).tolist()), dtype=np.int64).reshape(counts.shape)


def with_totals(noisy: IntArray, totals: IntArray) -> FloatArray:
    """Whole numbers nearest to noisy counts among those that are not negative and sum to the total of each row.

    The projection on the simplex in the Euclidean norm (Held, Wolfe, Crowder 1974), rounded by the largest remainders.
    """
    c, m = noisy.shape
    rows = np.sort(noisy.astype(np.float64), axis=1)[:, ::-1]
    shifts = (np.cumsum(rows, axis=1) - totals[:, None]) / np.arange(1, m + 1)
    last = (rows > shifts).sum(axis=1) - 1
    exact = np.maximum(noisy - shifts[np.arange(c), np.maximum(last, 0), None], 0.0)
    exact[totals == 0] = 0.0
    whole = np.floor(exact + 1e-9)
    left = totals - whole.sum(axis=1)
    rank = np.argsort(np.argsort(-(exact - whole), axis=1, kind="stable"), axis=1)
    return np.asarray(whole + (rank < left[:, None]))


@dataclass(frozen=True)
class Promise:
    """Promise of a noise on the counts of a number of releases to a respondent whose whole path is replaced.

    Membership is public; each respondent has at most one record in a release, which is counted in one cell.

    Parameters
    ----------
    noise : Noise
    releases : int
        Number T of releases in which a respondent is at most.
    delta : float
        Of ``epsilon_delta``.

    Examples
    --------
    >>> promise = Promise(Noise("gaussian", 9.7), 24)
    >>> round(promise.rho, 3), round(promise.epsilon_delta, 1), round(promise.gain, 3)
    (0.255, 4.0, 0.114)
    """

    noise: Noise
    releases: int
    delta: float = DELTA

    def __post_init__(self) -> None:
        check_kind("Promise", "noise", self.noise, Noise, "is a Noise, as Noise('gaussian', 10.0)")
        check_whole("Promise", "releases", self.releases, "releases")
        check_range("Promise", "delta", self.delta, 0, 1, "a probability", excluded=(0, 1))

    @property
    def epsilon(self) -> float:
        """Epsilon of pure differential privacy at user level: ``2 T / b``; infinite for a Gaussian law."""
        return 2 * self.releases / self.noise.scale if self.noise.law == "laplace" else float("inf")

    @property
    def rho(self) -> float:
        """Rho of zero-concentrated differential privacy at user level: ``T / scale^2``, for both laws.

        Of a Laplace law each count has a pure epsilon of 1/b, and so a rho of 1/(2 b^2) (Bun, Steinke 2016, Proposition 1.4).
        """
        return self.releases / self.noise.scale**2

    @property
    def epsilon_delta(self) -> float:
        """Epsilon at ``delta`` that follows from rho: ``rho + 2 sqrt(rho ln 1/delta)`` (Bun, Steinke 2016), at most ``epsilon``."""
        return min(self.rho + 2 * float(np.sqrt(self.rho * np.log(1 / self.delta))), self.epsilon)

    @property
    def epsilon_event(self) -> float:
        """Epsilon of one release, at ``delta`` for a Gaussian law. Never to be read alone: see `temporal_leakage`."""
        return Promise(self.noise, 1, self.delta).epsilon_delta

    @property
    def gain(self) -> float:
        """Mean gain of an adversary who knows all others (`Noise.gain`), at priors of one half."""
        return self.noise.gain(self.releases)

    def quantile(self, prior: float, level: float = 0.999) -> float:
        """Quantile, over noise, of the belief of that adversary in the true value, of a prior probability."""
        belief, probability = self.noise.belief(self.releases, prior)
        at = np.searchsorted(np.cumsum(probability), level)
        return float(belief[min(int(at), len(belief) - 1)])

    def household(self, members: int) -> "tuple[float, float]":
        """Epsilon and rho for a household whose members' paths are all replaced: ``h epsilon`` and ``h^2 rho``."""
        check_whole("Promise.household", "members", members, "members")
        return members * self.epsilon, members**2 * self.rho

    def frame(self, transitions: MarkovChain | None = None) -> pd.DataFrame:
        """Table of all forms of the promise, with the belief at the 99.9 % quantile for priors of .5, .1 and .01.

        With ``transitions`` the epsilon of one release stands beside what all releases give away of one (`temporal_leakage`), which
        for a Gaussian law takes the epsilon at ``delta`` as if it were pure.
        """
        rows: list[tuple[str, Any]] = [
            ("law of the noise", self.noise.law),
            ("scale, in records", self.noise.scale),
            ("epsilon of a whole path", self.epsilon),
            (f"epsilon of a whole path at delta {self.delta:g}", self.epsilon_delta),
            ("rho of a whole path", self.rho),
            ("mean gain of an adversary who knows all others", self.gain),
        ]
        rows += [(f"belief reached in 1 of 1,000 cases, prior {p:g}", self.quantile(p)) for p in PRIORS]
        if transitions is not None:
            leak = temporal_leakage(transitions, self.epsilon_event, self.releases)
            pure = self.noise.law == "laplace"
            rows += [
                ("epsilon of one release alone" + ("" if pure else f" at delta {self.delta:g}"), self.epsilon_event),
                ("epsilon of one release given all" + ("" if pure else ", if it were pure"), leak.max()),
            ]
        return pd.DataFrame(rows, columns=pd.Index(["promise", "value"]))


def temporal_leakage(transitions: MarkovChain, epsilon: float, releases: int) -> FloatArray:
    """Epsilon about the value at each release that T releases of ``epsilon`` each amount to, for values that follow a chain.

    Parameters
    ----------
    transitions : MarkovChain
        Of order 1. The stationary law is that of the reversed steps.
    epsilon : float
        Of one release.
    releases : int
        Number T of releases.

    Returns
    -------
    float array, shape (T,)
        ``B_t + F_t - epsilon``: leakage from the releases up to t, and from t on. Source: Cao, Yoshikawa, Xiao, Xiong,
        "Quantifying differential privacy under temporal correlations" (ICDE 2017), Theorem 4. Cost: O(T m^4 log m).

    Examples
    --------
    >>> chain = MarkovChain(1, np.eye(6) * 0.94 + 0.01)
    >>> float(temporal_leakage(chain, 0.1, 24).max().round(2))
    1.78
    """
    check_kind("temporal_leakage", "transitions", transitions, MarkovChain, "is a MarkovChain of order 1")
    check_range("temporal_leakage", "epsilon", epsilon, 0, MAX_SCALE, "in nats")
    check_whole("temporal_leakage", "releases", releases, "releases")
    if transitions.order != 1:
        raise ValueError(f"temporal_leakage: transitions are of order {transitions.order}; give a chain of order 1.")
    onward = np.asarray(transitions.probabilities)
    law = _stationary(onward)
    with np.errstate(invalid="ignore", divide="ignore"):
        back = np.where(law[:, None] > 0, onward.T * law / law[:, None], onward)
    # Backward leakage runs along P(before | now), forward leakage along P(next | now).
    found = [[float(epsilon)], [float(epsilon)]]
    for leaks, steps in zip(found, (back, onward), strict=True):
        for _ in range(int(releases) - 1):
            leaks.append(_carried(steps, leaks[-1]) + float(epsilon))
    return np.asarray(found[0]) + np.asarray(found[1])[::-1] - float(epsilon)


def _stationary(steps: FloatArray) -> FloatArray:
    """Stationary distribution of a chain: the mean of the laws of many steps."""
    law = np.full(len(steps), 1 / len(steps))
    mixed = (np.eye(len(steps)) + steps) / 2
    return np.asarray(law @ np.linalg.matrix_power(mixed, 2**20))


def _carried(steps: FloatArray, leak: float) -> float:
    """Largest log ratio that a leakage about a value amounts to about the next one, over all pairs of rows.

    ``max log (q e^a + 1 - q) / (d e^a + 1 - d)``, for the sums q and d of two rows over a set of values: values sorted by the
    ratio of the rows, as the best set holds those of the largest ratios.
    """
    most = 0.0
    for q in steps:
        for d in steps:
            with np.errstate(divide="ignore", invalid="ignore"):
                order = np.argsort(-np.where(d > 0, q / d, np.where(q > 0, np.inf, 0.0)))
                inside = np.minimum([np.cumsum(q[order]), np.cumsum(d[order])], 1.0)
                over, under = np.logaddexp(np.log(inside) + leak, np.log1p(-inside))
            most = max(most, float((over - under).max()))
    return most
