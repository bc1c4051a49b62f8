"""The posterior over the global distribution, by Gibbs sampling: small samples make wide intervals."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators import Exact
from foreknow.models.estimators.convergence import FEWEST_DRAWS, LARGEST_RHAT, mean_diagnostics
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import closed_form, expectation
from foreknow.models.foreground.fit import Fit, FitStatus
from foreknow.models.foreground.urns import dealing
from foreknow.models.problem import Estimator
from foreknow.models.settings import GREATEST_FLOAT, is_number, is_whole

CONCENTRATIONS = np.geomspace(1, 10_000, 33)
"""What an unknown concentration may be, each as likely as the others before anything is seen."""

FAINTEST = 1e-15
"""What stands for a fainter probability that is drawn, so that neither it nor its complement is rounded to certainty."""


@dataclass(frozen=True)
class GibbsSampling:
    """Draw from all global distributions that the published groups leave possible, each as often as it is likely.

    Before the groups are seen, the distribution of each signature is one of ``Dirichlet(concentration * shares)``, where the
    shares are the whole table's (`Evidence.rest`): a signature of few people is believed to be much as everybody, and one of many
    as its own groups say. People of signature -1 have the table's shares, for certain. A round deals each group's values
    anew among its people, given those of all other groups, while the distributions are summed over
    (`foreknow.models.foreground.urns`); then a concentration and the distributions are drawn, given who has what.

    Parameters
    ----------
    concentration : float, optional
        How many people's values the table's shares weigh against a signature's own. Left out, it is learned: how much
        signatures differ says it. It is then drawn from `CONCENTRATIONS` in every round, and intervals allow for that.
    draws : int
        How many rounds each chain keeps.
    chains : int
        How many chains, 2 or more; each starts where every group's values are shuffled.
    warmup : int, optional
        How many rounds each chain throws away first; as many as it keeps a third of, by default.
    kept : int
        How many draws, spread evenly over all chains, the fit hands on: everybody's posterior is computed for each.
    rng : numpy.random.Generator
        Where chance comes from; each call goes on from where the last one stopped, so that two calls differ.

    Raises
    ------
    TypeError, ValueError
        If a setting is out of its range; when called, if a group shows a value that `Evidence.rest` gives no probability.

    Notes
    -----
    The law of the groups is that of `ExpectationMaximization` under `Exact`, whatever the estimator, which is asked for the
    likelihood of the mean only. The shares are taken from the same table: they are not a second witness, and their own
    error is no part of the intervals. Not checked: that the prior fits.

    Unbiased in the long run. The probabilities are the means of the distributions' means given each round's values
    (Rao-Blackwell); effective sample sizes and R-hats are those of the draws. The status is `FitStatus.UNCONVERGED` where
    an R-hat is over `LARGEST_RHAT`: as groups that show many values, each once, say little of who has which, their chains
    need some thousand rounds. Draws under 1e-15 are set to that.

    Summing the distributions over instead of drawing them in turn with the values: J. Liu, JASA 89 (1994), 958. That the
    answer to too small samples is a posterior, rather than Theorem 1 of the foreground-knowledge paper, is ours.

    Cost: chains * (draws + warmup) rounds, each O(N c) per group for two values, N people of whom c have the rarer, O(n) for
    more, and O(s m); 8 bytes for each of chains * draws * s * m numbers.

    Examples
    --------
    Three groups of two people who match one signature show x and y, and so do thirty of another. Half of both have x; but
    six people leave more open than sixty:

    >>> import numpy as np
    >>> from foreknow.models import Auto
    >>> group = np.repeat(np.arange(33), 2)
    >>> evidence = Evidence(np.where(group < 3, 0, 1), group, np.ones((33, 2), dtype=int), np.array([0.5, 0.5]))
    >>> fit = GibbsSampling(10.0, rng=np.random.default_rng(1))(evidence, Auto())
    >>> fit.probabilities[:, 0]
    array([0.5, 0.5])
    >>> np.quantile(fit.draws[:, :, 0], [0.05, 0.95], axis=0).T.round(1)
    array([[0.3, 0.7],
           [0.4, 0.6]])
    """

    concentration: float | None = None
    draws: int = 500
    chains: int = 4
    warmup: int | None = None
    kept: int = 200
    rng: np.random.Generator = field(kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.rng, np.random.Generator):
            raise TypeError(f"GibbsSampling: rng is {self.rng!r}; it is a generator, as numpy.random.default_rng(1).")
        if self.concentration is not None and not (
            is_number(self.concentration, 0, GREATEST_FLOAT) and self.concentration > 0
        ):
            raise ValueError(
                f"GibbsSampling: concentration is {self.concentration!r}; it is a number of people, over 0, or None to learn it."
            )
        fewest = {"draws": FEWEST_DRAWS, "chains": 2, "kept": 1} | ({} if self.warmup is None else {"warmup": 0})
        if not all(is_whole(getattr(self, name), least) for name, least in fewest.items()):
            raise ValueError(
                f"GibbsSampling needs {FEWEST_DRAWS} draws or more, 2 chains or more, 1 kept or more and no negative warm-up, in "
                f"whole numbers; got draws={self.draws!r}, chains={self.chains!r}, kept={self.kept!r}, warmup={self.warmup!r}."
            )
        for name in fewest:
            object.__setattr__(self, name, int(getattr(self, name)))

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """The global distribution of one attribute set: the posterior's mean, and draws from it."""
        _check_prior(evidence)
        shape = (evidence.signatures, len(evidence.rest))
        drawn, mean = np.zeros((*shape, self.chains, self.draws)), np.zeros(shape)
        for chain in range(self.chains):
            mean += self._chain(evidence, drawn[:, :, chain]) / self.chains
        ess, rhat = _diagnosed(drawn)
        whole = self.chains * self.draws
        every = np.linspace(0, whole - 1, min(self.kept, whole)).astype(np.int64)
        draws = np.moveaxis(drawn.reshape(*shape, whole)[:, :, every], 2, 0)
        status = FitStatus.UNCONVERGED if (rhat > LARGEST_RHAT).any() else FitStatus.FINE
        known = closed_form(evidence, estimator) or isinstance(estimator, Exact)
        likelihood = expectation(evidence, estimator)(mean).log_likelihood if known else float("nan")
        none = np.zeros((0, *shape))
        return Fit(mean, status, likelihood, self.chains * (self._warmup + self.draws), none, draws, ess, rhat)

    @property
    def _warmup(self) -> int:
        return self.draws // 3 if self.warmup is None else self.warmup

    def _chain(self, evidence: Evidence, drawn: FloatArray) -> FloatArray:
        """One chain's draws into ``drawn``, shape ``(s, m, draws)``; and the mean of the distributions' means."""
        deal, total = dealing(evidence, self.rng), np.zeros(drawn.shape[:2])
        concentration = 10.0 if self.concentration is None else self.concentration
        for turn in range(-self._warmup, self.draws):
            counts = deal(concentration * evidence.rest)
            if self.concentration is None:
                concentration = _concentration(counts, evidence.rest, self.rng)
            if turn >= 0:
                parameters = concentration * evidence.rest + counts
                drawn[:, :, turn] = _distributions(parameters, self.rng)
                total += parameters / parameters.sum(axis=1, keepdims=True)
        return total / self.draws


def _concentration(counts: IntArray, rest: FloatArray, rng: np.random.Generator) -> float:
    """One of `CONCENTRATIONS`, drawn given who has what, the distributions summed over (Dirichlet-multinomial)."""
    weight = -_log_rising(counts.sum(axis=1), 1.0)
    for value, share in enumerate(rest):
        weight += _log_rising(counts[:, value], float(share))
    shares = np.exp(weight - weight.max())
    return float(rng.choice(CONCENTRATIONS, p=shares / shares.sum()))


def _log_rising(counts: IntArray, share: float) -> FloatArray:
    """For each of `CONCENTRATIONS`, the logarithm of the product of its rising factorials, one for each count."""
    numbers, times = np.unique(counts[counts > 0], return_counts=True)
    start = share * CONCENTRATIONS[:, None]
    return np.asarray((gammaln(start + numbers) - gammaln(start)) @ times)


def _distributions(parameters: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw from each row's Dirichlet distribution."""
    parts = rng.standard_gamma(parameters)
    shares = parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-300)
    shares = np.where(parameters > 0, np.maximum(shares, FAINTEST), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@compiled
def _diagnosed(drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The effective sample size and the R-hat of every probability, shapes ``(s, m)``."""
    ess, rhat = np.zeros(drawn.shape[:2]), np.zeros(drawn.shape[:2])
    for row in range(drawn.shape[0]):
        for value in range(drawn.shape[1]):
            ess[row, value], rhat[row, value] = mean_diagnostics(drawn[row, value])
    return ess, rhat


def _check_prior(evidence: Evidence) -> None:
    excluded = (evidence.counts > 0) & (evidence.rest <= 0)
    if excluded.any():
        group, value = (int(axis[0]) for axis in np.nonzero(excluded))
        raise ValueError(
            f"group {group} shows value {value}, which evidence.rest gives no probability; the prior is centred there. Give "
            "Evidence the shares of the whole table."
        )
