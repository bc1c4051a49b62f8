"""Compute the tables of docs/estimators.md, in place, in minutes: ``python benchmarks/estimators.py [small|large|programs]``.

All estimators get the same random problems and are compared with `Exact`. A problem is a release of groups of one size. Each
respondent's prior is drawn from a symmetric Dirichlet distribution, whose concentration sets the sharpness of the knowledge,
and the true value from the prior: the knowledge is calibrated.
"""

import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import version

import numpy as np
import pandas as pd
import pymc as pm
from rich.console import Console
from rich.progress import track
from subjects import seeded, timed
from tables import DOCS, Row, fill, machine, markdown

from foreknow.models import (
    Auto,
    BeliefPropagation,
    ConfidenceSum,
    DirichletMultinomial,
    Estimator,
    Exact,
    Mixed,
    Omega,
    Posterior,
    Problem,
    ProgramEstimator,
    RandomWorlds,
    Sinkhorn,
    Status,
    SwapChain,
    permutation_model,
    release_model,
)

SIZES = (2, 3, 5, 8, 12, 20)
SHARPNESS = {"diffuse": 10.0, "moderate": 1.0, "sharp": 0.1}
VALUES = 6
GROUPS = 200


def estimators() -> dict[str, Estimator]:
    return {
        "RandomWorlds": RandomWorlds(),
        "ConfidenceSum": ConfidenceSum(),
        "DirichletMultinomial": DirichletMultinomial(),
        "Omega": Omega(),
        "Mixed": Mixed(),
        "Sinkhorn": Sinkhorn(),
        "BeliefPropagation": BeliefPropagation(),
        "SwapChain": SwapChain(rng=seeded(3)),
        "Exact": Exact(),
    }


def random_problem(size: int, concentration: float, rng: np.random.Generator) -> Problem:
    prior = rng.dirichlet(np.full(VALUES, concentration), size * GROUPS)
    prior = np.maximum(prior, 1e-12)
    prior /= prior.sum(axis=1, keepdims=True)
    group = np.repeat(np.arange(GROUPS), size)
    true = np.minimum((prior.cumsum(axis=1) < rng.random((len(prior), 1))).sum(axis=1), VALUES - 1)
    counts = np.bincount(group * VALUES + true, minlength=GROUPS * VALUES).reshape(GROUPS, VALUES)
    return Problem(prior, group, counts)


def clocked(estimator: Estimator, problem: Problem) -> tuple[Posterior, float]:
    return timed(partial(estimator, problem), time.perf_counter)


def measure() -> pd.DataFrame:
    """Errors against `Exact`, and microseconds per group: the best of three runs after one that compiles."""
    rows = []
    cases = list(itertools.product(SHARPNESS.items(), SIZES))
    for (knowledge, concentration), size in track(cases, "measuring", console=Console(stderr=True), transient=True):
        problem = random_problem(size, concentration, seeded(2019))
        exact = Exact()(problem).probabilities
        shown = problem.counts[problem.group] > 0
        for name, estimator in estimators().items():
            answer = estimator(problem)
            error = np.abs(answer.probabilities - exact)
            rows.append(
                {
                    "estimator": name,
                    "knowledge": knowledge,
                    "size": size,
                    "mean": error[shown].mean(),
                    "largest": error.max(),
                    "microseconds": min(clocked(estimator, problem)[1] for _ in range(3)) / GROUPS * 1e6,
                    "unconverged": (answer.status & int(Status.UNCONVERGED) > 0).mean(),
                    "ess": np.nan if answer.ess is None else np.median(answer.ess[shown]),
                    "rhat": np.nan if answer.rhat is None else answer.rhat.max(),
                }
            )
    return pd.DataFrame(rows)


def table(
    measured: pd.DataFrame, cell: Callable[[pd.Series], str], columns: Iterable[tuple[str, int]]
) -> Iterator[Row]:
    """Markdown table with a row per estimator and a column per knowledge and size."""
    for name, rows in measured.groupby("estimator", sort=False):
        cells = {(row["knowledge"], row["size"]): cell(row) for _, row in rows.iterrows()}
        yield {"": f"`{name}`"} | {f"{knowledge}, k = {size}": cells[knowledge, size] for knowledge, size in columns}


def small() -> Iterator[Row | str]:
    """Errors and times of all estimators on groups of up to 20."""
    measured = measure()
    chain, unconverged = measured[measured["estimator"] == "SwapChain"], measured[measured["unconverged"] > 0]
    yield f"{GROUPS} groups for each column, {VALUES} values; {machine()}."
    for name, concentration in SHARPNESS.items():
        largest = seeded(1).dirichlet(np.full(VALUES, concentration), 10_000).max(axis=1).mean()
        yield (
            f"\n**{name.capitalize()} knowledge** (priors from Dirichlet({concentration:g}); the mean of a respondent's largest "
            f"prior is {largest:.2f}). Mean error of a belief in a shown value; in brackets the largest error of a belief:"
        )
        approximate = measured[measured["estimator"] != "Exact"]
        yield from table(
            approximate, lambda r: f"{r['mean']:.4f} ({r['largest']:.2f})", [(name, size) for size in SIZES]
        )
    yield "\n**Microseconds per group**, with the groups of a column in one release:"
    columns = [(name, size) for name in ("moderate", "sharp") for size in SIZES[1:]]
    yield from table(measured, lambda row: f"{row['microseconds']:,.3g}", columns)
    rhat = ", ".join(f"{part['rhat'].max():.2f} ({name})" for name, part in chain.groupby("knowledge", sort=False))
    yield (
        "\n`SwapChain` has its default 4 x 250 draws. The median effective sample size of its beliefs is "
        f"{chain['ess'].min():.0f} to {chain['ess'].max():.0f}. The largest R-hat is {rhat}."
    )
    failed = (f"`{r.estimator}` {r.unconverged:.1%} of {r.knowledge}, k = {r.size}" for r in unconverged.itertuples())
    yield f"\nGroups with status `UNCONVERGED`: {'; '.join(failed) or 'none'}."


LARGE_SIZES = (10, 30, 100, 300, 1_000, 10_000, 100_000)
MAX_EXACT_STATES = 2**24
"""Largest number of states of a large group for which `Exact` is the reference."""


def large() -> Iterator[Row | str]:
    """Largest error of a belief in one group of each size, and the error that `Auto` estimates."""
    yield (
        f"One group of k members, priors as above; {machine()}. Errors are the largest of any belief, against `Exact`, or against "
        "`BeliefPropagation` (BP) where `Exact` would need more than 2^24 states; *estimated* is "
        "`Posterior.error`; seconds are of one run."
    )
    for (knowledge, concentration), values, k in itertools.product(SHARPNESS.items(), (2, 3, 6), LARGE_SIZES):
        yield {"knowledge": knowledge, "values": values, "k": f"{k:,}"} | large_row(values, k, concentration)


def large_row(values: int, k: int, concentration: float) -> Row:
    rng = seeded(2019)
    prior = np.maximum(rng.dirichlet(np.full(values, concentration), k), 1e-12)
    true = np.minimum((prior.cumsum(axis=1) < rng.random((k, 1))).sum(axis=1), values - 1)
    problem = Problem(prior, np.zeros(k, dtype=np.int64), np.bincount(true, minlength=values)[None])
    is_exact = float(np.prod(problem.counts + 1.0)) <= MAX_EXACT_STATES
    scaled, propagated, chosen = (clocked(rule, problem) for rule in (Sinkhorn(), BeliefPropagation(), Auto()))
    reference = Exact(MAX_EXACT_STATES)(problem) if is_exact else propagated[0]
    errors = [np.abs(answer.probabilities - reference.probabilities).max() for answer, _ in (scaled, propagated)]
    estimated = Auto(limit=1, pairs=1)(problem).error
    assert estimated is not None
    assert chosen[0].rule is not None
    return {
        "reference": "Exact" if is_exact else "BP",
        "`Sinkhorn`": f"{errors[0]:.1e}",
        "estimated": f"{estimated[0]:.1e}",
        "`BeliefPropagation`": f"{errors[1]:.1e}" if is_exact else "",
        "s, `Sinkhorn`": f"{scaled[1]:.2g}",
        "s, `BeliefPropagation`": f"{propagated[1]:.2g}",
        "s, `Auto`": f"{chosen[1]:.2g}",
        "choice of `Auto`": f"`{chosen[0].rule[0]}`",
    }


PROGRAM_SIZES = (2, 3, 5)
PROGRAM_GROUPS = 5
POPULATION = 1e6
"""Concentration at which the priors of `release_model` are known to .001."""


def known_population(problem: Problem) -> pm.Model:
    """`release_model` with known priors: its belief is that of `Exact`."""
    return release_model(
        [problem], [np.arange(len(problem.prior))], concentration=POPULATION * problem.prior + 1 / POPULATION
    )


def programs() -> Iterator[Row | str]:
    """Errors and times of `ProgramEstimator` on the first groups of the moderate problems, beside estimators without a program."""
    yield (
        f"{PROGRAM_GROUPS} groups for each size k, {VALUES} values, moderate knowledge; {machine()}, PyMC {version('pymc')}. "
        "*Own law* is the largest error against the law of the program, in brackets in standard errors; *Exact* the mean error of "
        "a belief in a shown value against `Exact`. Seconds are of the processor, for each group, after *compilation*, which is "
        "the time that the first group takes longer, for each size. Both samplers have 4 chains of 250 draws."
    )
    for name, make, own, sizes in program_cases():
        for size in sizes:
            yield {"estimator": name, "k": size} | program_row(make(), own, size)


def program_cases() -> list[tuple[str, Callable[[], Estimator], Estimator, tuple[int, ...]]]:
    """Name, estimator, the estimator of its law without Monte Carlo error, and sizes of groups."""
    settings = {"draws": 250, "rng": 3}
    return [
        (
            "`permutation_model`",
            lambda: ProgramEstimator(permutation_model, **settings),
            DirichletMultinomial(ties="first"),
            PROGRAM_SIZES,
        ),
        (
            "`release_model`, known priors",
            lambda: ProgramEstimator(known_population, **settings),
            Exact(),
            PROGRAM_SIZES[:2],
        ),
        ("`SwapChain`", lambda: SwapChain(rng=3), Exact(), PROGRAM_SIZES),
        ("`Omega`", Omega, Omega(), PROGRAM_SIZES),
        ("`Exact`", Exact, Exact(), PROGRAM_SIZES),
    ]


def program_row(estimator: Estimator, own: Estimator, size: int) -> Row:
    whole, seconds = random_problem(size, SHARPNESS["moderate"], seeded(2019)), []
    for groups in (1, PROGRAM_GROUPS):
        rows = slice(groups * size)
        problem = Problem(whole.prior[rows], whole.group[rows], whole.counts[:groups])
        answer, spent = timed(partial(estimator, problem))
        seconds.append(spent)
    exact, law = Exact()(problem).probabilities, own(problem).probabilities
    shown = problem.counts[problem.group] > 0
    off = np.abs(answer.probabilities - law)
    error = np.zeros(off.shape) if answer.standard_error is None else answer.standard_error
    deviation = np.divide(off, error, out=np.zeros(off.shape), where=error > 1e-6).max()
    is_sampled = (error > 1e-6).any() and answer.ess is not None and answer.rhat is not None
    each = seconds[1] / PROGRAM_GROUPS
    return {
        "own law": f"{off.max():.4f}" + (f" ({deviation:.1f})" if is_sampled else ""),
        "*Exact*": f"{np.abs(answer.probabilities - exact)[shown].mean():.4f}",
        "seconds per group": f"{each:.2g}",
        "compilation, s": f"{max(seconds[0] - each, 0):.1f}",
        "median ess": f"{np.median(answer.ess[shown]):.0f}" if is_sampled else "",
        "largest R-hat": f"{answer.rhat.max():.3f}" if is_sampled else "",
        "divergent": "" if answer.divergences is None else str(int(answer.divergences.sum())),
    }


if __name__ == "__main__":
    for section in (small, large, programs):
        if len(sys.argv) < 2 or section.__name__ in sys.argv[1:]:
            fill(DOCS / "estimators.md", f"benchmarks/estimators.py {section.__name__}", markdown(section()))
