"""Integer noise on published counts: its law, and what an adversary who knows all others gains in spite of it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import as_generator, check_choice, check_flag, check_range, check_whole

type NoiseLaw = Literal["gaussian", "laplace"]
LAWS: tuple[NoiseLaw, ...] = ("gaussian", "laplace")

MAX_SCALE = 1e6
"""Largest scale of a noise: its table of probabilities has some tens of entries for each unit."""

TAIL = 38.0
"""Scales of a discrete Gaussian beyond which a probability is below 1e-313."""

NEARLY_NORMAL = 4.0
"""Scale over which sum and variance of the discrete Gaussian are those of the normal law, to ``exp(-2 pi^2 scale^2)``."""


@dataclass(frozen=True)
class Noise:
    """Law of independent integer noise that is added to each count.

    Parameters
    ----------
    law : {"gaussian", "laplace"}
        ``"gaussian"``: the discrete Gaussian, ``P(k) ~ exp(-k^2 / (2 scale^2))`` (Canonne, Kamath, Steinke 2020). ``"laplace"``:
        the discrete Laplace or two-sided geometric law, ``P(k) ~ exp(-|k| / scale)`` (Ghosh, Roughgarden, Sundararajan 2009).
    scale : float
        In records, over 0 and at most `MAX_SCALE`.
    clamped : bool
        True if a negative count is published as 0, and nothing else of it. By keyword.

    Examples
    --------
    >>> Noise("laplace", 2.0).log_probability([0, 1, -1]).round(3).tolist()
    [-1.407, -1.907, -1.907]
    """

    law: NoiseLaw
    scale: float
    clamped: bool = False

    def __post_init__(self) -> None:
        check_choice("Noise", "law", self.law, LAWS)
        check_range("Noise", "scale", self.scale, 0, MAX_SCALE, "in records", excluded=(0,))
        check_flag("Noise", "clamped", self.clamped)

    @property
    def variance(self) -> float:
        """Variance of the noise, before clamping."""
        if self.law == "laplace":
            return float(0.5 / np.sinh(min(0.5 / self.scale, 350.0)) ** 2)
        if self.scale > NEARLY_NORMAL:
            return float(self.scale**2)
        k = np.arange(-self._reach, self._reach + 1)
        return float((np.exp(self.log_probability(k)) * k**2).sum())

    @property
    def _reach(self) -> int:
        """Largest absolute noise of a discrete Gaussian that is read."""
        return int(np.ceil(TAIL * self.scale)) + 1

    def log_probability(self, noise: ArrayLike) -> FloatArray:
        """Logarithm of the probability of each integer: float array of the same shape."""
        k = np.abs(np.asarray(noise, dtype=np.float64))
        if self.law == "laplace":
            return np.asarray(np.log(np.tanh(0.5 / self.scale)) - k / self.scale)
        if self.scale > NEARLY_NORMAL:
            log_total = np.log(self.scale * np.sqrt(2 * np.pi))
        else:
            log_total = np.log1p(2 * np.exp(-((np.arange(1, self._reach + 1) / self.scale) ** 2) / 2).sum())
        return np.asarray(-((k / self.scale) ** 2) / 2 - log_total)

    def log_at_most(self, noise: ArrayLike) -> FloatArray:
        """Logarithm of the probability of noise up to each integer: float array of the same shape."""
        k = np.asarray(noise, dtype=np.int64)
        if self.law == "laplace":
            q = np.exp(-1 / self.scale)
            low = np.minimum(k, -1) / self.scale - np.log1p(q)
            high = np.log1p(-np.exp(-(np.maximum(k, 0) + 1) / self.scale) / (1 + q))
            return np.asarray(np.where(k < 0, low, high))
        reach = self._reach + int(np.abs(k).max(initial=0))
        sums = np.logaddexp.accumulate(self.log_probability(np.arange(-reach, reach + 1)))
        return np.asarray(np.minimum(sums[k + reach], 0.0))

    def log_likelihood(self, published: ArrayLike, most: int) -> FloatArray:
        """Logarithm of the probability of each published count, given that 0, 1, ..., ``most`` records are counted.

        Parameters
        ----------
        published : int array
        most : int

        Returns
        -------
        float array
            Of the shape of ``published``, with ``most + 1`` numbers more on a last axis. With ``clamped``, that of a 0 is the
            probability of all noises that leave 0 or less.
        """
        y = np.asarray(published, dtype=np.int64)[..., None]
        number = np.arange(most + 1)
        logs = self.log_probability(y - number)
        return np.where(y <= 0, self.log_at_most(-number), logs) if self.clamped else logs

    def draw(self, shape: "int | tuple[int, ...]", rng: "np.random.Generator | int") -> IntArray:
        """Noise by NumPy, for experiments: int array.

        It is not for release: floating-point arithmetic, and a generator that can be seeded, break the promise. `NoisyCounts` draws
        what is published by OpenDP.
        """
        generator = as_generator("Noise.draw", rng)
        if self.law == "laplace":
            p = -np.expm1(-1 / self.scale)
            return np.asarray(generator.geometric(p, shape) - generator.geometric(p, shape))
        k = np.arange(-self._reach, self._reach + 1)
        steps = np.cumsum(np.exp(self.log_probability(k)))
        return np.asarray(k[np.searchsorted(steps, generator.random(shape) * steps[-1])])

    def loss(self, changes: int) -> tuple[FloatArray, FloatArray]:
        """Law of the log likelihood ratio of what happened against a neighbour that differs by 1 in each of some counts.

        Parameters
        ----------
        changes : int
            Number c of counts that differ, each by 1. One path replaced: 2 for each release.

        Returns
        -------
        ratio, probability : float array
            Values in nats, ascending, and the probability of each. Exact to rounding: for a Laplace law a binomial number of
            signs; for a Gaussian one the sum of c noises, by a Fourier transform. Clamping is post-processing, and is not read.
        """
        check_whole("Noise.loss", "changes", changes, "counts that differ")
        c = int(changes)
        if self.law == "laplace":
            # Each count has the ratio 1 / scale or -1 / scale.
            from scipy.stats import binom

            k = np.arange(c + 1)
            return (2 * k - c) / self.scale, np.asarray(binom.pmf(k, c, 1 / (1 + np.exp(-1 / self.scale))))
        reach = int(np.ceil(12 * self.scale * np.sqrt(c))) + c + 1
        size = 1 << (2 * reach).bit_length()
        one = np.zeros(size)
        k = np.arange(-min(reach, self._reach), min(reach, self._reach) + 1)
        one[k % size] = np.exp(self.log_probability(k))
        summed = np.maximum(np.fft.irfft(np.fft.rfft(one).real ** c, size), 0.0)
        total = np.arange(-reach, reach + 1)
        found = summed[total % size]
        return (2 * total + c) / (2 * self.scale**2), np.asarray(found / found.sum())

    def belief(self, releases: int, prior: float) -> tuple[FloatArray, FloatArray]:
        """Belief in the true one of two values that stay, by an adversary who knows all others: values and probabilities.

        Parameters
        ----------
        releases : int
            Number T of releases.
        prior : float
            Probability of the true value before any release.
        """
        from scipy.special import expit, logit

        check_range("Noise.belief", "prior", prior, 0, 1, "a probability", excluded=(0,))
        ratio, probability = self.loss(2 * int(releases))
        return np.asarray(expit(logit(float(prior)) + ratio)), probability

    def gain(self, releases: int, prior: float = 0.5) -> float:
        """Mean gain over the prior of an adversary who knows all others, about one of two values that stay.

        ``(p - b) / (1 - b)`` for the belief p in the true value and its prior b, averaged over noise and over both values.

        At priors of one half it is the largest that any prior over m values and any law of paths has, about the value at any
        release. With f the law of the counts given the value v, and g that given another one, the mean gain is ``1 - sum over v of
        b_v E_v``, ``E_v = sum over counts of 1 / (b_v / g + (1 - b_v) / f)``. E is jointly concave in f and g, which are mixtures
        over paths, so that no E is below that of two paths, which differ in at most two counts of each release; and that of two
        paths is symmetric and convex in b, least at one half.
        """
        means = []
        for own in (prior, 1 - prior):
            belief, probability = self.belief(releases, own)
            means.append(own * ((belief * probability).sum() - own) / (1 - own))
        return float(sum(means))


def scale_of_gain(law: NoiseLaw, releases: int, gain: float) -> float:
    """Least scale at which the mean gain of `Noise.gain` is at most a bound, to a relative 1e-6.

    Parameters
    ----------
    law : {"gaussian", "laplace"}
    releases : int
        Number T of releases.
    gain : float
        Over 0 and below 1.

    Examples
    --------
    >>> round(scale_of_gain("gaussian", 24, 0.1), 1)
    10.4
    """
    from scipy.optimize import brentq

    check_range("scale_of_gain", "gain", gain, 0, 1, "a share of the possible gain", excluded=(0, 1))
    high = 1.0
    while Noise(law, high).gain(releases) > gain:
        if high >= MAX_SCALE:
            raise ValueError(f"scale_of_gain: a gain of {gain:g} needs a scale over {MAX_SCALE:g}; allow more gain.")
        high = min(2 * high, MAX_SCALE)
    low = high
    while Noise(law, low).gain(releases) <= gain:
        low /= 2
    root = brentq(lambda x: Noise(law, float(np.exp(x))).gain(releases) - gain, np.log(low), np.log(high), xtol=1e-7)
    return float(np.exp(root + 1e-7))
