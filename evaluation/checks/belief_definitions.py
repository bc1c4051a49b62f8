"""Definitions of the requirements on beliefs, written independently for the checker.

The kernel prior, the smoothing and the Jensen-Shannon divergence are written out here a second time, in plain Python, since the
checker must share no code with what it checks.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from foreknow.defenses import BTPrivacy, PosteriorBound
from foreknow.models import Categorical, Hierarchy, Numeric, Problem, View
from foreknow.models.arrays import FloatArray


def posterior_gains(part: PosteriorBound, problem: Problem, members: int, domain: Sequence[Hashable]) -> list[float]:
    """Level of a posterior bound for each group: the largest bounded posterior of a member, or gain over the group's share.

    The first ``members`` rows of the problem are people; those after them are counterfeits.
    """
    group, bounded = problem.group[:members].tolist(), len(domain)
    if part.sensitive_set is not None:
        classes = np.array(
            [[int(value in part.sensitive_set), int(value not in part.sensitive_set)] for value in domain]
        )
        problem, bounded = Problem(problem.prior @ classes, problem.group, problem.counts @ classes), 1
    posterior, shown = part.estimator(problem).probabilities.tolist(), problem.counts.tolist()
    gains = [-math.inf] * len(shown)
    for row, own in enumerate(group):
        if own >= 0:
            shares = [n / sum(shown[own]) if part.quantity == "gain" else 0.0 for n in shown[own]]
            beyond = (p - share for p, share in zip(posterior[row][:bounded], shares[:bounded], strict=True))
            gains[own] = max(gains[own], *beyond)
    return gains


def belief_divergences(part: BTPrivacy, problem: Problem, members: int, values: Sequence[Hashable]) -> list[float]:
    """Level of (B, t)-privacy for each group: the largest divergence of a member's prior and posterior, both smoothed.

    The prior of the problem is that of the kernel, or the given one where the requirement has no bandwidth. Its first ``members``
    rows are people. Cost: O(n m^2).
    """
    prior, posterior = problem.prior.tolist(), part.estimator(problem).probabilities.tolist()
    weights = [[_kernel(_value_distance(values, r, s, part.distance), part.smoothing) for s in values] for r in values]
    largest = [-math.inf] * len(problem.counts)
    for row, own in enumerate(problem.group[:members].tolist()):
        if own >= 0:
            before, after = _smoothed(prior[row], weights), _smoothed(posterior[row], weights)
            largest[own] = max(largest[own], _jensen_shannon(before, after, part.base))
    return largest


def kernel_prior(view: View, bandwidth: "float | Mapping[str, float]") -> FloatArray:
    """Kernel prior of a view: for each record, shares of the values, every record weighted by its kernel: shape ``(n, m)``.

    Cost: O(n N) for N distinct vectors of quasi-identifiers among the n records.
    """
    columns = {name: view.people.frame[name].tolist() for name in view.schema.quasi_identifiers}
    cells = {name: list(dict.fromkeys(column)) for name, column in columns.items()}
    number = {name: {cell: i for i, cell in enumerate(some)} for name, some in cells.items()}
    places = {name: np.array([number[name][cell] for cell in column]) for name, column in columns.items()}
    shares: dict[tuple[Any, ...], FloatArray] = {}
    records = list(zip(*columns.values(), strict=True))
    for vector in dict.fromkeys(records):
        weights = np.ones(len(view))
        for (name, kind), cell in zip(view.schema.quasi_identifiers.items(), vector, strict=True):
            size = bandwidth[name] if isinstance(bandwidth, Mapping) else bandwidth
            weights *= np.array([_kernel(_cell_distance(kind, cell, other), size) for other in cells[name]])[
                places[name]
            ]
        sums = np.array([weights[view.sensitive == s].sum() for s in range(len(view.schema.values))])
        shares[vector] = sums / sums.sum()
    return np.array([shares[vector] for vector in records])


def _kernel(distance: float, size: float) -> float:
    return 1 - (distance / size) ** 2 if distance < size else 0.0


def _cell_distance(kind: Numeric | Categorical, cell: Any, other: Any) -> float:
    """Distance of two cells of a quasi-identifier, from 0 to 1."""
    if isinstance(kind, Categorical):
        return float(cell != other) if kind.hierarchy is None else _common_height(kind.hierarchy, cell, other)
    low, high = kind.bounds
    return float(abs(cell - other) / (high - low)) if high > low else 0.0


def _value_distance(values: Sequence[Hashable], r: Hashable, s: Hashable, distance: "str | Hierarchy") -> float:
    """Distance of two sensitive values, from 0 to 1."""
    if isinstance(distance, Hierarchy):
        return _common_height(distance, r, s)
    return float(r != s) if distance == "equal" else abs(values.index(r) - values.index(s)) / max(len(values) - 1, 1)


def _common_height(hierarchy: Hierarchy, r: Hashable, s: Hashable) -> float:
    """Height of the lowest common label of two values, over the root's height."""
    first, second = (next(row for row in hierarchy.rows if row[0] == str(value)) for value in (r, s))
    return next(h for h in range(len(first)) if first[h] == second[h]) / (len(first) - 1)


def _smoothed(row: Sequence[float], weights: Sequence[Sequence[float]]) -> list[float]:
    means = [sum(w * p for w, p in zip(line, row, strict=True)) / sum(line) for line in weights]
    return [mean / sum(means) for mean in means]


def _jensen_shannon(before: Sequence[float], after: Sequence[float], base: float) -> float:
    """Mean of the relative entropies of two distributions to their mean."""
    mean = [(p + q) / 2 for p, q in zip(before, after, strict=True)]
    return sum(
        p * math.log(p / m, base) / 2 for row in (before, after) for p, m in zip(row, mean, strict=True) if p > 0
    )
