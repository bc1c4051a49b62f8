"""Posterior of the global distribution by collapsed Gibbs sampling; small samples give wide credible intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators import Exact
from foreknow.models.estimators.assignments import drawn_place
from foreknow.models.estimators.convergence import MAX_RHAT
from foreknow.models.estimators.swap_chain import check_chains, summarize_chains
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import expectation, has_closed_form, multiply
from foreknow.models.foreground.fit import Fit, FitStatus
from foreknow.models.problem import Estimator, group_rows
from foreknow.models.settings import as_generator, check_array_size, check_kind, check_positive, check_whole

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
    (`foreknow.models.foreground.gibbs_sampling`). Then a concentration and the distributions are drawn given all values.

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
        if self.concentration is not None:
            check_positive("GibbsSampling", "concentration", self.concentration, "or None to sample it")
        check_chains("GibbsSampling", self.draws, self.chains, self.warmup)
        check_whole("GibbsSampling", "kept", self.kept, "draws")
        for name in ("draws", "chains", "kept", "warmup"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else int(value))

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """Fit the global distribution of one attribute set: the posterior mean, and draws from the posterior."""
        check_kind("GibbsSampling", "evidence", evidence, Evidence)
        _check_prior(evidence)
        shape = (evidence.signatures, len(evidence.rest))
        check_array_size("GibbsSampling", signatures=shape[0], values=shape[1], chains=self.chains, draws=self.draws)
        drawn, mean = np.zeros((*shape, self.chains, self.draws)), np.zeros(shape)
        for chain in range(self.chains):
            mean += self._chain(evidence, drawn[:, :, chain]) / self.chains
        _, _, ess, rhat = summarize_chains(drawn)
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


def _check_prior(evidence: Evidence) -> None:
    """Raise ValueError if a group shows a value to which the prior gives no probability."""
    excluded = (evidence.counts > 0) & (evidence.rest <= 0)
    if excluded.any():
        group, value = (int(axis[0]) for axis in np.nonzero(excluded))
        raise ValueError(
            f"group {group} shows value {value}, which evidence.rest gives no probability; the prior has its mean there. Give "
            "Evidence the shares of the whole table."
        )


type Sweep = Callable[[FloatArray], IntArray]
"""One more sweep under the values' pseudo-counts, shape ``(m,)``; returns the signatures' counts of values, ``(s, m)``."""

LOG_ODDS_MARGIN = 10.0
"""Margin of the bounds between which the tilting factor is searched, in log-odds."""


class Counts(NamedTuple):
    """Dirichlet-multinomial state of s signatures and of the rest behind them.

    Attributes
    ----------
    pseudo_counts : float array, shape (rows, m)
    weight : float array, shape (rows,)
        Amount that a record adds to its row: 1, and 0 for the rest.
    counts : int array, shape (rows, m)
        Number of records of each row with each value. Kernels update it in place.
    """

    pseudo_counts: FloatArray
    weight: FloatArray
    counts: IntArray


def assignment_sweeps(evidence: Evidence, rng: np.random.Generator) -> Sweep:
    """Start a Markov chain over the assignments of all groups, from a random permutation of each group's values.

    For two values, a sweep draws each group from its law given all others, of any size. For more values it is a sweep of
    exchanges: each record is paired with another of its group, chosen uniformly, and the two values are redrawn between them.
    Groups of one value are counted once.

    Pseudo-counts and the rest's probabilities must be positive for values that groups show; this is not checked.

    Cost of a sweep: for two values O(N c) per group, N records of which c have the rarer one; for more, O(n).
    """
    weight = (np.arange(evidence.rows) < evidence.signatures).astype(np.float64)
    counts, sweep = _by_cells(evidence, rng) if evidence.counts.shape[1] == 2 else _by_exchanges(evidence, rng)

    def swept(pseudo_counts: FloatArray) -> IntArray:
        table = evidence.table(np.tile(pseudo_counts, (evidence.signatures, 1)))
        sweep(Counts(table, weight, counts))
        return counts[: evidence.signatures]

    return swept


def _by_cells(evidence: Evidence, rng: np.random.Generator) -> tuple[IntArray, Callable[[Counts], None]]:
    """Counts of the start, and the sweep for two values."""
    # Equal groups are repeated: each is drawn on its own.
    cells = evidence.cells
    kind = np.repeat(np.arange(len(cells.multiplicity)), cells.multiplicity)
    lengths, holders = np.diff(cells.starts)[kind], cells.holders[kind]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    cell = np.arange(starts[-1]) + np.repeat(cells.starts[kind] - starts[:-1], lengths)
    row, size = cells.row[cell], cells.size[cell]
    drawn = np.zeros(len(size), dtype=np.int64)
    for j, c in enumerate(holders):
        drawn[starts[j] : starts[j + 1]] = rng.multivariate_hypergeometric(size[starts[j] : starts[j + 1]], c)
    counts = cells.decided.copy()
    np.add.at(counts, row, np.column_stack([drawn, size - drawn]))
    return counts, lambda state: _sweep_cells(state, row, size, starts, holders, drawn, rng)


def _by_exchanges(evidence: Evidence, rng: np.random.Generator) -> tuple[IntArray, Callable[[Counts], None]]:
    """Counts of the start, and the sweep for more than two values."""
    mixed = np.append(evidence.mixed, False)
    order, starts = group_rows(np.where(mixed[evidence.group], evidence.group, -1), len(evidence.counts))
    value = np.append(evidence.counts.argmax(axis=1), 0)[evidence.group]
    undecided = order[starts[0] :]
    permuted = undecided[np.lexsort((rng.random(len(undecided)), evidence.group[undecided]))]
    shown = evidence.counts[evidence.mixed]
    value[permuted] = np.repeat(np.tile(np.arange(shown.shape[1]), len(shown)), shown.ravel())
    counts = np.zeros((evidence.rows, shown.shape[1]), dtype=np.int64)
    np.add.at(counts, (evidence.row[evidence.published], value[evidence.published]), 1)
    return counts, lambda state: _sweep_pairs(state, evidence.row, order, starts, value, rng)


@compiled
def _weight_of(state: Counts, row: int, value: int) -> float:
    """Unnormalized predictive probability of a value: its pseudo-count plus its count."""
    return float(state.pseudo_counts[row, value] + state.weight[row] * state.counts[row, value])


@compiled
def _add_group(state: Counts, row: IntArray, size: IntArray, drawn: IntArray, sign: int) -> None:
    """Add the values of a group's records to the counts, or subtract them, for two values."""
    for i in range(len(size)):
        state.counts[row[i], 0] += sign * drawn[i]
        state.counts[row[i], 1] += sign * (size[i] - drawn[i])


@compiled
def _sweep_cells(
    state: Counts,
    row: IntArray,
    size: IntArray,
    starts: IntArray,
    holders: IntArray,
    drawn: IntArray,
    rng: np.random.Generator,
) -> None:
    """Redraw two values in every group; ``drawn`` is the number of each cell's records that have the first."""
    for j in range(len(holders)):
        begin, end = starts[j], starts[j + 1]
        rows, sizes, numbers = row[begin:end], size[begin:end], drawn[begin:end]
        _add_group(state, rows, sizes, numbers, -1)
        rare = 1 if 2 * holders[j] > sizes.sum() else 0
        c = sizes.sum() - holders[j] if rare == 1 else holders[j]
        if c == 1:
            _draw_one_holder(state, rows, sizes, rare, numbers, rng)
        else:
            _draw_holders(state, rows, sizes, rare, c, numbers, rng)
        if rare == 1:
            numbers[:] = sizes - numbers
        _add_group(state, rows, sizes, numbers, 1)


@compiled
def _draw_one_holder(
    state: Counts, rows: IntArray, size: IntArray, rare: int, numbers: IntArray, rng: np.random.Generator
) -> None:
    """Draw the cell of the one record with the rarer value, into ``numbers``."""
    weight = np.zeros(len(rows))
    for i in range(len(rows)):
        others = _weight_of(state, rows[i], 1 - rare) + (size[i] - 1) * state.weight[rows[i]]
        weight[i] = size[i] * _weight_of(state, rows[i], rare) / others
    numbers[:] = 0
    numbers[drawn_place(weight, rng)] = 1


@compiled
def _draw_holders(
    state: Counts, rows: IntArray, size: IntArray, rare: int, c: int, numbers: IntArray, rng: np.random.Generator
) -> None:
    """Draw the number of each cell's records with the rarer value, c in all, into ``numbers``.

    The weights of the numbers 0, 1, ... of a cell are the coefficients of a polynomial, as in `cell_expectations`. Cells are
    drawn from the last to the first, given the total that the cells before them have.
    """
    k = len(rows)
    weights, before = np.full((k, c + 1), -np.inf), np.zeros((k + 1, c + 1))
    for i in range(k):
        _log_weights(state, rows[i], size[i], rare, weights[i])
    shift = _log_factor(weights, size, c)
    before[0, 0] = 1.0
    for i in range(k):
        _tilt_weights(weights[i], shift)
        multiply(before[i], weights[i], size[i], before[i + 1])
        before[i + 1] /= before[i + 1].max()
    for i in range(k - 1, -1, -1):
        # Cell i has 0, 1, ... of the c records that are left, and the cells before it the others.
        most = min(size[i], c)
        numbers[i] = drawn_place(weights[i, : most + 1] * before[i, c - most : c + 1][::-1], rng)
        c -= numbers[i]


@compiled
def _log_weights(state: Counts, row: int, size: int, rare: int, weights: FloatArray) -> None:
    """Write the log-weights of 0, 1, ... of a cell's records having a value into ``weights``, as far as it reaches."""
    first, second, added = _weight_of(state, row, rare), _weight_of(state, row, 1 - rare), state.weight[row]
    weights[0] = 0.0
    for b in range(1, min(size, len(weights) - 1) + 1):
        odds = (first + (b - 1) * added) / (second + (size - b) * added)
        weights[b] = weights[b - 1] + math.log(odds * (size - b + 1) / b)


@compiled
def _tilt_weights(weights: FloatArray, shift: float) -> float:
    """Replace log-weights of 0, 1, ... by weights times powers of ``exp(shift)``; return the mean number."""
    for b in range(len(weights)):
        weights[b] += shift * b
    weights[:] = np.exp(weights - weights.max())
    return float((weights * np.arange(len(weights))).sum() / weights.sum())


@compiled
def _log_factor(weights: FloatArray, size: IntArray, c: int) -> float:
    """Logarithm of the tilting factor under which about c records are expected to have the value, by bisection.

    No conditional probability depends on it; without it, weights could underflow. Small pseudo-counts make weights that are
    large at both ends; they exceed those of a single peak by no more than a power of the number of records.
    """
    low, high = np.inf, -np.inf
    for i in range(len(weights)):
        for b in range(1, min(size[i], c) + 1):
            low, high = min(low, weights[i, b - 1] - weights[i, b]), max(high, weights[i, b - 1] - weights[i, b])
    low, high = low - LOG_ODDS_MARGIN, high + LOG_ODDS_MARGIN
    while (high - low) ** 2 * c > 1.0:
        shift, mean = (low + high) / 2, 0.0
        for i in range(len(weights)):
            mean += _tilt_weights(weights[i].copy(), shift)
        low, high = (low, shift) if mean > c else (shift, high)
    return (low + high) / 2


@compiled
def _sweep_pairs(
    state: Counts, row: IntArray, order: IntArray, starts: IntArray, value: IntArray, rng: np.random.Generator
) -> None:
    """Pair each record with another of its group, uniformly, and redraw the values of both."""
    for j in range(len(starts) - 1):
        k = starts[j + 1] - starts[j]
        for one in range(k):
            other = (one + 1 + int(rng.random() * (k - 1))) % k
            _redraw_pair(state, row, order[starts[j] + one], order[starts[j] + other], value, rng)


@compiled
def _redraw_pair(state: Counts, row: IntArray, i: int, h: int, value: IntArray, rng: np.random.Generator) -> None:
    """Redraw the values of records i and h between them, given all others."""
    a, b, p, q = value[i], value[h], row[i], row[h]
    if a == b or p == q:
        return
    state.counts[p, a] -= 1
    state.counts[q, b] -= 1
    stay = _weight_of(state, p, a) * _weight_of(state, q, b)
    move = _weight_of(state, p, b) * _weight_of(state, q, a)
    if rng.random() * (stay + move) >= stay:
        a, b = b, a
    value[i], value[h] = a, b
    state.counts[p, a] += 1
    state.counts[q, b] += 1
