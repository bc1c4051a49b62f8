"""Posterior of the global distribution by Gibbs sampling; small samples give wide credible intervals."""

from dataclasses import dataclass, field

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators import Exact
from foreknow.models.estimators.convergence import MAX_RHAT, MIN_DRAWS, mean_diagnostics
from foreknow.models.foreground.collapsed_gibbs import assignment_sweeps
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import expectation, has_closed_form
from foreknow.models.foreground.expectation_maximization import check_evidence
from foreknow.models.foreground.fit import Fit, FitStatus
from foreknow.models.problem import Estimator
from foreknow.models.settings import MAX_FLOAT, as_generator, check_array_size, is_number, is_whole

CONCENTRATIONS = np.geomspace(1, 10_000, 33)
"""Grid of an unknown concentration, of equal prior probability."""

INITIAL_CONCENTRATION = 10.0
"""Concentration of the first sweep of a chain that samples it."""

MIN_DRAWN_PROBABILITY = 1e-15
"""Smallest drawn probability; smaller ones are set to it, so that neither they nor their complements round to certainty."""


@equal_by_fields
@dataclass(frozen=True)
class GibbsSampling:
    """Draw from the posterior of the global distribution given the published groups.

    The prior of each signature's distribution is ``Dirichlet(concentration * shares)``, where the shares are the whole table's
    (`Evidence.rest`): the estimate of a signature with little support is near the table's shares, and that of one with large
    support near those of its own groups. Records of signature -1 have the table's shares, without uncertainty. A sweep redraws
    each group's values given those of all other groups, with the distributions integrated out
    (`foreknow.models.foreground.collapsed_gibbs`). Then a concentration and the distributions are drawn given all values.

    Parameters
    ----------
    concentration : float, optional
        Number of records' values that the table's shares weigh against a signature's own. By default it is sampled from
        `CONCENTRATIONS` in every sweep, so that intervals include its uncertainty.
    draws : int
        Number of sweeps that each chain keeps; at least 8.
    chains : int
        Number of chains, at least 2; each starts at a random permutation of every group's values.
    warmup : int, optional
        Number of sweeps that each chain discards first; by default a third of ``draws``.
    kept : int
        Number of draws, spread evenly over all chains, that the fit returns. The beliefs are computed for each.
    rng : numpy.random.Generator or int
        Random generator, or an integer seed. Each call continues where the last one stopped, so that two calls differ.

    Raises
    ------
    TypeError, ValueError
        If a setting is out of its range. When called, if a group shows a value to which `Evidence.rest` gives no probability.

    Notes
    -----
    The law of the groups is that of `ExpectationMaximization` under `Exact`, whatever the estimator. The estimator is used for
    the likelihood of the mean only. The shares come from the same table: they are no independent evidence, and the intervals do not
    include their error. Not checked: that the prior fits.

    Asymptotically unbiased. The probabilities are means of the distributions' conditional means given each sweep's values
    (Rao-Blackwell); effective sample sizes and R-hats are those of the draws. The status is `FitStatus.UNCONVERGED` where an R-hat
    is over `MAX_RHAT`. Groups that show many values once each carry little information on the assignment; their chains
    need some thousand sweeps. Draws under `MIN_DRAWN_PROBABILITY` are set to it.

    Integration over the distributions instead of draws that alternate with the values: J. Liu, JASA 89 (1994), 958. A posterior
    in place of Theorem 1 of the foreground-knowledge paper, as the answer to small samples, is our addition.

    Cost: chains * (draws + warmup) sweeps, each O(N c) per group for two values, N records of which c have the rarer one, O(n)
    for more values, and O(s m); 8 bytes for each of chains * draws * s * m numbers.

    Examples
    --------
    Three groups of two records of one signature show x and y, and so do thirty of another. Half of the records of both signatures
    have x; six records leave more uncertainty than sixty:

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
    rng: np.random.Generator | int = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", as_generator("GibbsSampling", self.rng))
        if self.concentration is not None and not (
            is_number(self.concentration, 0, MAX_FLOAT) and self.concentration > 0
        ):
            raise ValueError(
                f"GibbsSampling: concentration is {self.concentration!r}; it is a number of records, over 0, or None to sample it."
            )
        least = {"draws": MIN_DRAWS, "chains": 2, "kept": 1} | ({} if self.warmup is None else {"warmup": 0})
        if not all(is_whole(getattr(self, name), number) for name, number in least.items()):
            raise ValueError(
                f"GibbsSampling needs {MIN_DRAWS} draws or more, 2 chains or more, 1 kept or more and no negative warm-up, in "
                f"whole numbers; got draws={self.draws!r}, chains={self.chains!r}, kept={self.kept!r}, warmup={self.warmup!r}."
            )
        for name in least:
            object.__setattr__(self, name, int(getattr(self, name)))

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """Fit the global distribution of one attribute set: the posterior mean, and draws from the posterior."""
        check_evidence("GibbsSampling", evidence)
        _check_prior(evidence)
        shape = (evidence.signatures, len(evidence.rest))
        check_array_size("GibbsSampling", signatures=shape[0], values=shape[1], chains=self.chains, draws=self.draws)
        drawn, mean = np.zeros((*shape, self.chains, self.draws)), np.zeros(shape)
        for chain in range(self.chains):
            mean += self._chain(evidence, drawn[:, :, chain]) / self.chains
        ess, rhat = _diagnostics(drawn)
        total = self.chains * self.draws
        kept = np.linspace(0, total - 1, min(self.kept, total)).astype(np.int64)
        draws = np.moveaxis(drawn.reshape(*shape, total)[:, :, kept], 2, 0)
        status = FitStatus.UNCONVERGED if (rhat > MAX_RHAT).any() else FitStatus.FINE
        has_likelihood = has_closed_form(evidence, estimator) or isinstance(estimator, Exact)
        log_likelihood = expectation(evidence, estimator)(mean).log_likelihood if has_likelihood else float("nan")
        iterations = self.chains * (self._warmup + self.draws)
        return Fit(mean, status, log_likelihood, iterations, np.zeros((0, *shape)), draws, ess, rhat)

    @property
    def _warmup(self) -> int:
        return self.draws // 3 if self.warmup is None else self.warmup

    def _chain(self, evidence: Evidence, drawn: FloatArray) -> FloatArray:
        """Write one chain's draws into ``drawn``, shape ``(s, m, draws)``; return the mean of the conditional means."""
        rng = as_generator("GibbsSampling", self.rng)
        sweep, total = assignment_sweeps(evidence, rng), np.zeros(drawn.shape[:2])
        concentration = INITIAL_CONCENTRATION if self.concentration is None else self.concentration
        for turn in range(-self._warmup, self.draws):
            counts = sweep(concentration * evidence.rest)
            if self.concentration is None:
                concentration = _draw_concentration(counts, evidence.rest, rng)
            if turn >= 0:
                parameters = concentration * evidence.rest + counts
                drawn[:, :, turn] = _draw_distributions(parameters, rng)
                total += parameters / parameters.sum(axis=1, keepdims=True)
        return total / self.draws


def _draw_concentration(counts: IntArray, rest: FloatArray, rng: np.random.Generator) -> float:
    """Draw one of `CONCENTRATIONS` given all values, with the distributions integrated out (Dirichlet-multinomial)."""
    log_weights = -_log_rising_factorials(counts.sum(axis=1), 1.0)
    for value, share in enumerate(rest):
        log_weights += _log_rising_factorials(counts[:, value], float(share))
    weights = np.exp(log_weights - log_weights.max())
    return float(rng.choice(CONCENTRATIONS, p=weights / weights.sum()))


def _log_rising_factorials(counts: IntArray, share: float) -> FloatArray:
    """Logarithm of the product of the rising factorials of ``share * c``, one for each count, for each c of `CONCENTRATIONS`."""
    from scipy.special import gammaln

    numbers, times = np.unique(counts[counts > 0], return_counts=True)
    start = share * CONCENTRATIONS[:, None]
    return np.asarray((gammaln(start + numbers) - gammaln(start)) @ times)


def _draw_distributions(parameters: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw from the Dirichlet distribution of each row."""
    gammas = rng.standard_gamma(parameters)
    shares = gammas / np.maximum(gammas.sum(axis=1, keepdims=True), 1e-300)
    shares = np.where(parameters > 0, np.maximum(shares, MIN_DRAWN_PROBABILITY), 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@compiled
def _diagnostics(drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Effective sample size and R-hat of each probability, shapes ``(s, m)``."""
    ess, rhat = np.zeros(drawn.shape[:2]), np.zeros(drawn.shape[:2])
    for row in range(drawn.shape[0]):
        for value in range(drawn.shape[1]):
            ess[row, value], rhat[row, value] = mean_diagnostics(drawn[row, value])
    return ess, rhat


def _check_prior(evidence: Evidence) -> None:
    """Raise ValueError if a group shows a value to which the prior gives no probability."""
    excluded = (evidence.counts > 0) & (evidence.rest <= 0)
    if excluded.any():
        group, value = (int(axis[0]) for axis in np.nonzero(excluded))
        raise ValueError(
            f"group {group} shows value {value}, which evidence.rest gives no probability; the prior has its mean there. Give "
            "Evidence the shares of the whole table."
        )
