"""Compute the tables of docs/estimators.md, in place, in minutes: ``python benchmarks/estimators.py [small|large|programs]``.

All estimators get the same random problems and are compared with `Exact`. A problem is a release of groups of one size. Each
respondent's prior is drawn from a symmetric Dirichlet distribution, whose concentration sets the sharpness of the knowledge,
and the true value from the prior: the knowledge is calibrated.
"""

import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pymc as pm
from rich.console import Console
from rich.progress import track
from run import machine

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

PAGE = Path(__file__).resolve().parents[1] / "docs" / "estimators.md"
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
        "SwapChain": SwapChain(rng=np.random.default_rng(3)),
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


def timed(estimator: Estimator, problem: Problem) -> tuple[Posterior, float]:
    """Posterior, and microseconds per group: the best of three runs after one that compiles."""
    answer = estimator(problem)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        estimator(problem)
        seconds.append(time.perf_counter() - start)
    return answer, min(seconds) / GROUPS * 1e6


def measure() -> pd.DataFrame:
    rows = []
    for name, concentration in track(
        list(SHARPNESS.items()), "measuring", console=Console(stderr=True), transient=True
    ):
        for size in SIZES:
            problem = random_problem(size, concentration, np.random.default_rng(2019))
            exact = Exact()(problem).probabilities
            shown = problem.counts[problem.group] > 0
            for name_of_estimator, estimator in estimators().items():
                answer, microseconds = timed(estimator, problem)
                error = np.abs(answer.probabilities - exact)
                rows.append(
                    {
                        "estimator": name_of_estimator,
                        "knowledge": name,
                        "size": size,
                        "mean": error[shown].mean(),
                        "largest": error.max(),
                        "microseconds": microseconds,
                        "unconverged": (answer.status & int(Status.UNCONVERGED) > 0).mean(),
                        "ess": np.nan if answer.ess is None else np.median(answer.ess[shown]),
                        "rhat": np.nan if answer.rhat is None else answer.rhat.max(),
                    }
                )
    return pd.DataFrame(rows)


def table(measured: pd.DataFrame, cell: Callable[[pd.Series], str], columns: list[tuple[str, int]]) -> list[str]:
    """Markdown table with a row per estimator and a column per knowledge and size."""
    cells = {(row["estimator"], row["knowledge"], row["size"]): cell(row) for _, row in measured.iterrows()}
    lines = ["| | " + " | ".join(f"{knowledge}, k = {size}" for knowledge, size in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for name in measured["estimator"].unique():
        lines.append(f"| `{name}` | " + " | ".join(cells[name, *column] for column in columns) + " |")
    return lines


def errors(row: pd.Series) -> str:
    return f"{row['mean']:.4f} ({row['largest']:.2f})"


def report(measured: pd.DataFrame) -> list[str]:
    approximate = measured[measured["estimator"] != "Exact"]
    chain = measured[measured["estimator"] == "SwapChain"]
    unconverged = measured[measured["unconverged"] > 0]
    lines = [f"{GROUPS} groups for each column, {VALUES} values; {machine()}.", ""]
    for name, concentration in SHARPNESS.items():
        largest = np.random.default_rng(1).dirichlet(np.full(VALUES, concentration), 10_000).max(axis=1).mean()
        lines += [
            f"**{name.capitalize()} knowledge** (priors from Dirichlet({concentration:g}); the mean of a respondent's largest "
            f"prior is {largest:.2f}). Mean error of a belief in a shown value; in brackets the largest error of a belief:",
            "",
            *table(approximate, errors, [(name, size) for size in SIZES]),
            "",
        ]
    return [
        *lines,
        "**Microseconds per group**, with the groups of a column in one release:",
        "",
        *table(
            measured,
            lambda row: f"{row['microseconds']:.3g}" if row["microseconds"] < 1000 else f"{row['microseconds']:,.0f}",
            [(name, size) for name in ("moderate", "sharp") for size in SIZES[1:]],
        ),
        "",
        "`SwapChain` has its default 4 x 250 draws. The median effective sample size of its beliefs is "
        f"{chain['ess'].min():.0f} to {chain['ess'].max():.0f}. The largest R-hat is "
        + ", ".join(f"{part['rhat'].max():.2f} ({name})" for name, part in chain.groupby("knowledge", sort=False))
        + ".",
        "",
        "Groups with status `UNCONVERGED`: "
        + (
            "; ".join(
                f"`{r.estimator}` {r.unconverged:.1%} of {r.knowledge}, k = {r.size}" for r in unconverged.itertuples()
            )
            or "none"
        )
        + ".",
    ]


LARGE_SIZES = (10, 30, 100, 300, 1_000, 10_000, 100_000)
MAX_EXACT_STATES = 2**24
"""Largest number of states of a large group for which `Exact` is the reference."""


def large() -> list[str]:
    """Largest error of a belief in one group of each size, and the error that `Auto` estimates."""
    lines = [
        f"One group of k members, priors as above; {machine()}. Errors are the largest of any belief, against `Exact`, or against "
        "`BeliefPropagation` (BP) where `Exact` would need more than 2^24 states; *estimated* is "
        "`Posterior.error`; seconds are of one run.",
        "",
        "| knowledge | values | k | reference | `Sinkhorn` | estimated | `BeliefPropagation` | s, `Sinkhorn` | "
        "s, `BeliefPropagation` | s, `Auto` | choice of `Auto` |",
        "|---" * 11 + "|",
    ]
    for knowledge, concentration in SHARPNESS.items():
        for values in (2, 3, 6):
            for k in LARGE_SIZES:
                lines.append(f"| {knowledge} | {values} | {k:,} | {large_row(values, k, concentration)} |")
    return lines


def large_row(values: int, k: int, concentration: float) -> str:
    rng = np.random.default_rng(2019)
    prior = np.maximum(rng.dirichlet(np.full(values, concentration), k), 1e-12)
    true = np.minimum((prior.cumsum(axis=1) < rng.random((k, 1))).sum(axis=1), values - 1)
    problem = Problem(prior, np.zeros(k, dtype=np.int64), np.bincount(true, minlength=values)[None])
    is_exact = float(np.prod(problem.counts + 1.0)) <= MAX_EXACT_STATES
    scaled, sinkhorn_seconds = once(Sinkhorn(), problem)
    propagated, propagation_seconds = once(BeliefPropagation(), problem)
    reference = Exact(MAX_EXACT_STATES)(problem).probabilities if is_exact else propagated.probabilities
    estimated = Auto(limit=1, pairs=1)(problem).error
    chosen, auto_seconds = once(Auto(), problem)
    assert estimated is not None
    assert chosen.rule is not None
    errors = [float(np.abs(answer.probabilities - reference).max()) for answer in (scaled, propagated)]
    return " | ".join(
        [
            "Exact" if is_exact else "BP",
            f"{errors[0]:.1e}",
            f"{estimated[0]:.1e}",
            f"{errors[1]:.1e}" if is_exact else "",
            *(f"{seconds:.2g}" for seconds in (sinkhorn_seconds, propagation_seconds, auto_seconds)),
            f"`{chosen.rule[0]}`",
        ]
    )


def once(estimator: Estimator, problem: Problem) -> tuple[Posterior, float]:
    """Posterior, and seconds of one run."""
    start = time.perf_counter()
    return estimator(problem), time.perf_counter() - start


PROGRAM_SIZES = (2, 3, 5)
PROGRAM_GROUPS = 5
POPULATION = 1e6
"""Concentration at which the priors of `release_model` are known to .001."""


def known_population(problem: Problem) -> pm.Model:
    """`release_model` with known priors: its belief is that of `Exact`."""
    return release_model(
        [problem], [np.arange(len(problem.prior))], concentration=POPULATION * problem.prior + 1 / POPULATION
    )


def programs() -> list[str]:
    """Errors and times of `ProgramEstimator` on the first groups of the moderate problems, beside estimators without a program."""
    lines = [
        f"{PROGRAM_GROUPS} groups for each size k, {VALUES} values, moderate knowledge; {machine()}, PyMC {version('pymc')}. "
        "*Own law* is the largest error against the law of the program, in brackets in standard errors; *Exact* the mean error of "
        "a belief in a shown value against `Exact`. Seconds are of the processor, for each group, after *compilation*, which is "
        "the time that the first group takes longer, for each size. Both samplers have 4 chains of 250 draws.",
        "",
        "| estimator | k | own law | *Exact* | seconds per group | compilation, s | median ess | largest R-hat | divergent |",
        "|---" * 9 + "|",
    ]
    for name, make, own, sizes in program_cases():
        for size in sizes:
            lines.append(f"| {name} | {size} | {program_row(make(), own, size)} |")
            print(lines[-1], file=sys.stderr)
    return lines


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


def program_row(estimator: Estimator, own: Estimator, size: int) -> str:
    whole = random_problem(size, SHARPNESS["moderate"], np.random.default_rng(2019))
    rows = slice(PROGRAM_GROUPS * size)
    problem = Problem(whole.prior[rows], whole.group[rows], whole.counts[:PROGRAM_GROUPS])
    first, again, answer = processor_seconds(estimator, problem)
    exact, law = Exact()(problem).probabilities, own(problem).probabilities
    shown = problem.counts[problem.group] > 0
    off = np.abs(answer.probabilities - law)
    error = np.zeros(off.shape) if answer.standard_error is None else answer.standard_error
    deviation = np.divide(off, error, out=np.zeros(off.shape), where=error > 1e-6).max()
    is_sampled = (error > 1e-6).any() and answer.ess is not None and answer.rhat is not None
    return " | ".join(
        [
            f"{off.max():.4f}" + (f" ({deviation:.1f})" if is_sampled else ""),
            f"{np.abs(answer.probabilities - exact)[shown].mean():.4f}",
            f"{again / PROGRAM_GROUPS:.2g}",
            f"{max(first - again / PROGRAM_GROUPS, 0):.1f}",
            f"{np.median(answer.ess[shown]):.0f}" if is_sampled else "",
            f"{answer.rhat.max():.3f}" if is_sampled else "",
            "" if answer.divergences is None else str(int(answer.divergences.sum())),
        ]
    )


def processor_seconds(estimator: Estimator, problem: Problem) -> tuple[float, float, Posterior]:
    """Seconds of the processor of a first call, with one group, and of a second one with all, and the second posterior."""
    first = problem.group == 0
    alone = Problem(problem.prior[first], problem.group[first], problem.counts[:1])
    seconds = []
    for each in (alone, problem):
        start = time.process_time()
        answer = estimator(each)
        seconds.append(time.process_time() - start)
    return seconds[0], seconds[1], answer


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "small": lambda: report(measure()),
    "large": large,
    "programs": programs,
}


def main() -> None:
    for name in sys.argv[1:] or SECTIONS:
        mark = f"<!-- measured: benchmarks/estimators.py {name} -->"
        before, _, rest = PAGE.read_text().partition(mark)
        _, _, after = rest.partition("<!-- end -->")
        lines = [mark, "", *SECTIONS[name](), "", "<!-- end -->"]
        PAGE.write_text(before + "\n".join(lines) + after)


if __name__ == "__main__":
    main()
