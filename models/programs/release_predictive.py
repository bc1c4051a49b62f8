"""Predictive checks of programs: simulated multisets of groups against the published ones."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import IntArray
from foreknow.models.problem import Problem

type Statistic = Callable[[IntArray], float]
"""Test statistic of the multisets of all groups: from counts, shape ``(g, m)``, to a number."""

PREDICTIVE_GROUPS = ("posterior_predictive", "prior_predictive")
"""Groups of a DataTree in which simulated multisets are searched, in this order."""


def distinct_values(counts: IntArray) -> float:
    """Mean number of distinct values of a group."""
    return float((counts > 0).sum(axis=1).mean())


def largest_share(counts: IntArray) -> float:
    """Mean share of the most frequent value of a group."""
    return float((counts.max(axis=1) / counts.sum(axis=1)).mean())


def release_predictive(
    draws: Any,
    problems: "Problem | Sequence[Problem]",
    statistics: "Mapping[str, Statistic] | None" = None,
    variable: str | None = None,
) -> pd.DataFrame:
    """Test statistics of the published multisets beside those of simulated ones, and their tail probabilities.

    Parameters
    ----------
    draws : xarray.DataTree, or int array of shape (..., g, m)
        What `pymc.sample_posterior_predictive` or `pymc.sample_prior_predictive` returns for a program with an observed variable
        of multisets, as `release_model`; or simulated counts of all groups, with any leading axes.
    problems : Problem, or sequence of Problem
        The releases of the program, in its order.
    statistics : mapping of str to callable, optional
        Test statistics: from counts, shape ``(g, m)``, to a number. By default `distinct_values` and `largest_share`. Groups
        without respondents are left out.
    variable : str, optional
        Name of the simulated multisets in a DataTree. By default ``published``, the name of `release_model` and `observe_groups`,
        or else the only variable that ends in the shape ``(g, m)``.

    Returns
    -------
    pandas.DataFrame
        One row for each statistic: ``statistic``; ``published_statistic``; ``simulated_mean`` and ``simulated_deviation``, the mean
        and standard deviation over the draws; ``tail``, the smaller of the fractions of draws that are at least, and at most, as
        large as the published one. A small tail says that the program does not explain this feature of the release.

    Notes
    -----
    Posterior predictive tails use the data twice and are too near to 1/2 (Meng, Annals of Statistics 22, 1994). Prior predictive
    tails do not. Cost: O(draws g m) for each statistic.

    Examples
    --------
    Two groups that show one value each, where the program draws two values half of the time:

    >>> published = Problem(np.full((4, 2), 0.5), np.array([0, 0, 1, 1]), np.array([[2, 0], [0, 2]]))
    >>> simulated = np.array([[[2, 0], [1, 1]], [[1, 1], [0, 2]], [[2, 0], [2, 0]], [[1, 1], [1, 1]]])
    >>> release_predictive(simulated, published)[["statistic", "published_statistic", "simulated_mean", "tail"]]
             statistic  published_statistic  simulated_mean  tail
    0  distinct_values                  1.0            1.50  0.25
    1    largest_share                  1.0            0.75  0.25
    """
    listed = [problems] if isinstance(problems, Problem) else list(problems)
    if len({problem.counts.shape[1] for problem in listed}) != 1:
        raise ValueError(
            "release_predictive: problems are of no or several sensitive domains; give one problem per release of one."
        )
    counts = np.concatenate([problem.counts for problem in listed])
    simulated = np.asarray(_multisets(draws, counts.shape, variable) if hasattr(draws, "children") else draws)
    if simulated.ndim < 3 or simulated.shape[-2:] != counts.shape:
        raise ValueError(
            f"release_predictive: draws have shape {simulated.shape}; it ends in {counts.shape}, the groups and values of the "
            "problems, after one axis of draws or more."
        )
    simulated, present = simulated.reshape(-1, *counts.shape).astype(np.int64), counts.sum(axis=1) > 0
    chosen = {"distinct_values": distinct_values, "largest_share": largest_share} if statistics is None else statistics
    rows = []
    for name, function in chosen.items():
        shown = float(function(counts[present]))
        values = np.array([function(each) for each in simulated[:, present]], dtype=np.float64)
        tail = min((values >= shown).mean(), (values <= shown).mean())
        rows.append((str(name), shown, float(values.mean()), float(values.std()), float(tail)))
    return pd.DataFrame(
        rows, columns=["statistic", "published_statistic", "simulated_mean", "simulated_deviation", "tail"]
    )


def _multisets(tree: Any, shape: tuple[int, ...], variable: str | None) -> Any:
    """Simulated multisets of a DataTree: those of the named variable, of ``published``, or of the only one of their shape."""
    found: Mapping[Any, Any] = next(
        (tree[group].data_vars for group in PREDICTIVE_GROUPS if group in tree.children), {}
    )
    name = variable if variable is not None else "published"
    if name in found:
        return found[name].values
    fitting = [each for each in found if found[each].ndim > len(shape) and found[each].shape[-2:] == shape]
    if variable is None and len(fitting) == 1:
        return found[fitting[0]].values
    if not found:
        raise ValueError(
            "release_predictive: draws have neither posterior_predictive nor prior_predictive with a variable; call "
            "pymc.sample_posterior_predictive(trace, model=model) first."
        )
    listed = f"those of this shape are {', '.join(map(repr, fitting))}" if fitting else "none has this shape"
    raise ValueError(
        f"release_predictive: draws have no variable {name!r}. It has the shape (..., {shape[0]}, {shape[1]}) of the problems; "
        f"of the variables {', '.join(map(repr, found))}, {listed}. Name one by variable=."
    )
