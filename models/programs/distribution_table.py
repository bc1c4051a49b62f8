"""PyMC model of published groups whose priors follow from a table of unknown distributions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import Problem
from foreknow.models.programs.arguments import as_floats
from foreknow.models.programs.published_groups import add_published

if TYPE_CHECKING:
    import pymc as pm


class DistributionTable(NamedTuple):
    """Unknown distributions, and the prior of each respondent as ``(weights @ table + known)[row]``.

    Attributes
    ----------
    name, axis : str
        Name of the table and of its first axis in the model.
    weights : float array, shape (r, c)
        Rows are probabilities over the table's c rows, or zeros.
    row : int array, shape (n,)
        Row of ``weights`` of each respondent; the respondents of all releases, one release after another.
    known : float, or float array of shape (r, m)
        Known priors, in the rows where ``weights`` is zero; zeros in all other rows.
    """

    name: str
    axis: str
    weights: FloatArray
    row: IntArray
    known: "float | FloatArray" = 0.0


def published_groups_model(
    problems: Sequence[Problem], unknown: DistributionTable, concentration: "float | FloatArray"
) -> "pm.Model":
    """Return the model of `release_model`, for any table of unknown distributions."""
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor

    from foreknow.models.programs.log_permanent import LogPermanent

    values = problems[0].prior.shape[1]
    concentrations = _concentrations(concentration, (unknown.weights.shape[1], values), unknown.axis)
    group, counts = _concatenated(problems)
    permanent = LogPermanent(group, unknown.row)
    permanent.check_counts(counts)
    coords = {
        unknown.axis: range(len(concentrations)),
        "value": range(values),
        "group": [f"{t}:{j}" for t, problem in enumerate(problems) for j in range(len(problem.counts))],
    }
    with pm.Model(coords=coords) as model:
        # With the static shape, PyTensor 3 compiles the gradient of one row of two probabilities (IndexError without).
        fixed = pt.specify_shape(pm.Data("concentrations", concentrations), concentrations.shape)
        table = pm.Dirichlet(unknown.name, fixed, shape=concentrations.shape, dims=(unknown.axis, "value"))
        log_prior = pt.log(pm.Data("weights", unknown.weights) @ table + unknown.known)
        shown = pm.Data("counts", counts, dims=("group", "value"))
        add_published(permanent, log_prior, shown, counts.shape, dims=("group", "value"))
        _add_beliefs(permanent.belief(log_prior, shown), [len(problem.group) for problem in problems])
    return model


def _add_beliefs(belief: Any, sizes: list[int]) -> None:
    """Add the beliefs of all releases, shape ``(sum of sizes, m)``, to the model on the context stack."""
    import pymc as pm

    model = pm.modelcontext(None)
    if len(set(sizes)) == 1:
        model.add_coords({"release": range(len(sizes)), "respondent": range(sizes[0])})
        pm.Deterministic("belief", belief.reshape((len(sizes), sizes[0], -1)), dims=("release", "respondent", "value"))
        return
    ends = np.cumsum(sizes)
    for t, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        model.add_coord(f"respondent_{t}", range(size))
        pm.Deterministic(f"belief_{t}", belief[end - size : end], dims=(f"respondent_{t}", "value"))


def _concatenated(problems: Sequence[Problem]) -> tuple[IntArray, IntArray]:
    """Groups of all releases, numbered consecutively, and their counts."""
    before = np.cumsum([0, *(len(problem.counts) for problem in problems)])
    shifted = [np.where(p.group < 0, -1, p.group + shift) for p, shift in zip(problems, before, strict=False)]
    return np.concatenate(shifted), np.concatenate([problem.counts for problem in problems])


def _concentrations(concentration: "float | FloatArray", shape: tuple[int, int], axis: str) -> FloatArray:
    takes = f"it is one positive number, or one for each {axis} and value, as an array of shape {shape}"
    concentrations = as_floats("the model", "concentration", concentration, takes)
    if concentrations.ndim == 0:
        concentrations = np.full(shape, float(concentrations))
    if concentrations.shape != shape:
        raise ValueError(
            f"the concentrations have shape {concentrations.shape}; they are one number, or one per {axis} and value: {shape}."
        )
    if not (np.isfinite(concentrations) & (concentrations > 0)).all():
        raise ValueError(
            f"a concentration is {concentrations.min():g}; those of a Dirichlet distribution are positive and finite. Add a "
            "pseudo-count."
        )
    return concentrations
