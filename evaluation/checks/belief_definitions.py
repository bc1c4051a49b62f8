"""What requirements on beliefs say, written out again for the checker: a kernel prior, a divergence, each member's gain."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from foreknow.defenses import BTPrivacy, PosteriorBound
from foreknow.models import Categorical, Hierarchy, Numeric, Problem, Release, View
from foreknow.models.arrays import FloatArray


def gained_over_the_share(part: PosteriorBound, release: Release, prior: FloatArray) -> list[float]:
    """Per group of a release: a member's largest posterior of a value or of the set, or the most it is over the group's share."""
    problem, domain = release.observation.problem(prior), release.view.schema.values
    bounded = len(domain)
    if part.sensitive is not None:
        classes = np.array([[int(value in part.sensitive), int(value not in part.sensitive)] for value in domain])
        problem, bounded = Problem(problem.prior @ classes, problem.group, problem.counts @ classes), 1
    posterior, shown = part.estimator(problem).probabilities.tolist(), problem.counts.tolist()
    gained = [-math.inf] * release.groups
    for row, group in enumerate(release.group.tolist()):
        if group >= 0:
            known = [n / sum(shown[group]) if part.of == "gain" else 0.0 for n in shown[group]]
            beyond = (p - share for p, share in zip(posterior[row][:bounded], known[:bounded], strict=True))
            gained[group] = max(gained[group], *beyond)
    return gained


def beliefs_moved(part: BTPrivacy, release: Release) -> list[float]:
    """Per group of a release: the largest divergence of a member's kernel prior and posterior, both smoothed.

    Cost: O(n N) for N distinct vectors of quasi-identifiers among the n records, and O(n m^2).
    """
    prior = kernel_prior(release.view, part.bandwidth)
    posterior = part.estimator(release.observation.problem(prior)).probabilities.tolist()
    values, distance = release.view.schema.values, part.distance
    weights = [[_kernel(_between(values, r, s, distance), part.smoothing) for s in values] for r in values]
    moved = [-math.inf] * release.groups
    for row, group in enumerate(release.group.tolist()):
        if group >= 0:
            before, after = _smoothed(prior[row].tolist(), weights), _smoothed(posterior[row], weights)
            moved[group] = max(moved[group], _moved(before, after, part.base))
    return moved


def kernel_prior(view: View, bandwidth: "float | Mapping[str, float]") -> FloatArray:
    """For each record of a view, the shares of the values among all its records, each weighted by its kernel with that one."""
    columns = {name: view.people.frame[name].tolist() for name in view.schema.quasi_identifiers}
    cells = {name: list(dict.fromkeys(column)) for name, column in columns.items()}
    number = {name: {cell: i for i, cell in enumerate(some)} for name, some in cells.items()}
    places = {name: np.array([number[name][cell] for cell in column]) for name, column in columns.items()}
    shares: dict[tuple[Any, ...], FloatArray] = {}
    everybody = list(zip(*columns.values(), strict=True))
    for person in dict.fromkeys(everybody):
        weights = np.ones(len(view))
        for (name, kind), cell in zip(view.schema.quasi_identifiers.items(), person, strict=True):
            size = bandwidth[name] if isinstance(bandwidth, Mapping) else bandwidth
            weights *= np.array([_kernel(_apart(kind, cell, other), size) for other in cells[name]])[places[name]]
        sums = np.array([weights[view.sensitive == s].sum() for s in range(len(view.schema.values))])
        shares[person] = sums / sums.sum()
    return np.array([shares[person] for person in everybody])


def _kernel(distance: float, size: float) -> float:
    return 1 - (distance / size) ** 2 if distance < size else 0.0


def _apart(kind: Numeric | Categorical, cell: Any, other: Any) -> float:
    """How far two cells of a quasi-identifier lie apart."""
    if isinstance(kind, Categorical):
        return float(cell != other) if kind.hierarchy is None else _common(kind.hierarchy, cell, other)
    low, high = kind.bounds
    return float(abs(cell - other) / (high - low)) if high > low else 0.0


def _between(values: Sequence[Hashable], r: Hashable, s: Hashable, distance: "str | Hierarchy") -> float:
    """How far two sensitive values lie apart."""
    if isinstance(distance, Hierarchy):
        return _common(distance, r, s)
    return float(r != s) if distance == "equal" else abs(values.index(r) - values.index(s)) / max(len(values) - 1, 1)


def _common(hierarchy: Hierarchy, r: Hashable, s: Hashable) -> float:
    """The height of the lowest label that two values share, over the root's."""
    first, second = (next(row for row in hierarchy.rows if row[0] == str(value)) for value in (r, s))
    return next(h for h in range(len(first)) if first[h] == second[h]) / (len(first) - 1)


def _smoothed(row: Sequence[float], weights: Sequence[Sequence[float]]) -> list[float]:
    means = [sum(w * p for w, p in zip(line, row, strict=True)) / sum(line) for line in weights]
    return [mean / sum(means) for mean in means]


def _moved(before: Sequence[float], after: Sequence[float], base: float) -> float:
    """Half the relative entropy of each to the mean of both."""
    mean = [(p + q) / 2 for p, q in zip(before, after, strict=True)]
    return sum(
        p * math.log(p / m, base) / 2 for row in (before, after) for p, m in zip(row, mean, strict=True) if p > 0
    )
