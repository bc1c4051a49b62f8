"""Draws of an unknown law as results: beliefs of the mixture, a DataTree for ArviZ, and notes on data and chains."""

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.convergence import MAX_RHAT, mean_diagnostics
from foreknow.models.joint.chain_diagnostics import chain_diagnostics
from foreknow.models.joint.expected_counts import ChainLaw, with_law
from foreknow.models.joint.law_chains import LawDraws, UnknownLaw
from foreknow.models.joint.law_counts import LawCells
from foreknow.models.joint.path_sampler import BATCHES, SampledPosterior
from foreknow.models.joint.posterior import belief_starts
from foreknow.models.problem import UNCONVERGED

if TYPE_CHECKING:
    import xarray

FEW_VALUES = 1.0
"""Mean number of values drawn from a row of the law under which the pseudo-counts determine it."""


def mixed_beliefs(drawn: LawDraws, unknown: UnknownLaw, law: ChainLaw) -> SampledPosterior:
    """Beliefs of all records with their diagnostics, from counts of values by batch."""
    problem = unknown.problem
    prior, tables = with_law(problem, law, unknown.classes, unknown.powers)
    at_mean = replace(problem, prior=prior, tables=tables if law.tables else problem.tables)
    found = chain_diagnostics(drawn.values, belief_starts(problem), drawn.rows.shape[1] // BATCHES)
    status = np.zeros(len(problem.counts), dtype=np.int64)
    of_belief = np.repeat(problem.group, np.diff(belief_starts(problem)))
    status[of_belief[found.rhat > MAX_RHAT]] |= UNCONVERGED
    return SampledPosterior(
        at_mean,
        found.belief,
        status,
        np.zeros(len(problem.counts)),
        drawn.rows.shape[1],
        found.standard_error,
        found.ess,
        found.rhat,
        "PathSampler, unknown law",
        log_density=drawn.log_probability,
    )


def draws_tree(drawn: LawDraws, cells: LawCells, domain: list[Hashable]) -> "xarray.DataTree":
    """Draws with names, dimensions and coordinates."""
    import arviz_base

    parts = np.split(drawn.rows, cells.row_starts[1:-1], axis=2)
    order, m = len(parts) - 1, len(domain)
    variables: dict[str, Any] = {"frequencies": parts[0]}
    dims: dict[str, list[str]] = {"frequencies": ["class", "value"]}
    for length, part in enumerate(parts[1:], start=1):
        name = "transitions" if length == order else f"transitions_{length}"
        before = ["last"] if order == 1 else [f"value_{place}" for place in range(order - length + 1, order + 1)]
        variables[name] = part.reshape(*part.shape[:2], *(m,) * (length + 1))
        dims[name] = [*before, "value"]
    coords: dict[str, Any] = dict.fromkeys((axis for axes in dims.values() for axis in axes), domain)
    coords["class"] = range(parts[0].shape[2])
    groups = {"posterior": variables, "sample_stats": {"lp": drawn.log_probability}}
    return arviz_base.from_dict(groups, coords=coords, dims=dims)


def draws_notes(drawn: LawDraws, cells: LawCells, domain: list[Hashable]) -> tuple[str, ...]:
    """Limits of the data and of the chains, as sentences."""
    return (*_values_without_steps(drawn, cells, domain), *_convergence(drawn))


def _values_without_steps(drawn: LawDraws, cells: LawCells, domain: list[Hashable]) -> list[str]:
    if len(cells.row_starts) == 2:
        return ["No respondent has two published records; the prior is sampled, and no transitions."]
    first = int(cells.row_starts[1])
    few = np.flatnonzero(drawn.totals[first : first + len(domain)] < FEW_VALUES)
    if not len(few):
        return []
    listed = ", ".join(repr(domain[s]) for s in few)
    return [
        f"Fewer than {FEW_VALUES:g} transition is drawn from {listed} on average; the pseudo-counts determine these rows."
    ]


def _convergence(drawn: LawDraws) -> list[str]:
    chains = len(drawn.log_probability)
    notes = []
    if chains == 1:
        notes.append(
            "One chain was drawn. R-hat compares its halves, and does not show that it is stuck; draw several chains."
        )
    rhat = law_rhat(drawn.rows)
    apart = int((rhat > MAX_RHAT).sum())
    if apart:
        notes.append(
            f"{apart:,} of {rhat.size:,} probabilities of the law have an R-hat over {MAX_RHAT}, up to {rhat.max():.2f}: the "
            "chains disagree. Draw more sweeps."
        )
    return notes


def law_rhat(rows: FloatArray) -> FloatArray:
    """R-hat of each probability (`mean_diagnostics`): float array, shape ``(rows, m)``."""
    numbers = np.ascontiguousarray(rows.transpose(2, 3, 0, 1)).reshape(-1, *rows.shape[:2])
    return np.array([mean_diagnostics(each)[1] for each in numbers]).reshape(rows.shape[2:])
