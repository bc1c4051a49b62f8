"""An independent checker: requirements recomputed from the published table alone.

It shares no code with what enforces them: it reads the published rows, not summaries, and writes each definition out
again, group by group, in plain Python.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from foreknow.defenses import (
    AllOf,
    AnyOf,
    DistinctDiversity,
    EntropyDiversity,
    JSimilarity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
)
from foreknow.models import Hierarchy, Release
from foreknow.models.arrays import FloatArray

SLACK = 1e-9


class Members(NamedTuple):
    """One group, as the checker sees it: its published values and, where they were given, its members' priors."""

    values: list[Hashable]
    priors: list[list[float]] | None


type Level = Callable[[Members], float]


def verify(release: Release, requirement: Requirement, prior: FloatArray | None = None) -> pd.DataFrame:
    """Whether each group of a release satisfies a requirement, recomputed from ``release.table``.

    Parameters
    ----------
    release : Release
        What was published.
    requirement : Requirement
        What it should satisfy.
    prior : float array, shape (n, m), optional
        For `JSimilarity`, which no published table can show: what is believed of the respondents.

    Returns
    -------
    DataFrame
        One row per group and conjunct: ``group``, ``requirement``, ``level``, ``bound``, ``holds``. A group is safe where
        all its rows hold.

    Raises
    ------
    ValueError
        If a prior is needed and not given, or is not one distribution per record.
    TypeError
        If the checker does not know the requirement.

    Notes
    -----
    The table distribution of t-closeness is that of the published table, without suppressed records. Cost: O(n + g m).
    """
    priors: dict[Hashable, list[list[float]]] = {}
    if prior is not None:
        _check_prior(prior, len(release.group), len(release.view.schema.values))
        for row, group in enumerate(release.group.tolist()):
            priors.setdefault(group, []).append(prior[row].tolist())
    schema = release.view.schema
    return verify_table(release.table, schema.sensitive, schema.values, requirement, priors or None)


def verify_table(
    table: pd.DataFrame,
    sensitive: str,
    values: Sequence[Hashable],
    requirement: Requirement,
    priors: Mapping[Hashable, list[list[float]]] | None = None,
) -> pd.DataFrame:
    """The same for a bare published table with a column ``group``.

    Parameters
    ----------
    table : DataFrame
        One row per published record, with the columns ``group`` and ``sensitive``.
    sensitive : str
        The column of the sensitive value.
    values : sequence
        The sensitive domain, in its order; only ordered distances depend on it.
    requirement : Requirement
        What every group should satisfy.
    priors : mapping of group to rows, optional
        What is believed of the members of each group.
    """
    everything = table[sensitive].tolist()
    groups: dict[Hashable, list[Hashable]] = {}
    for group, value in zip(table["group"].tolist(), everything, strict=True):
        groups.setdefault(group, []).append(value)
    parts = requirement.parts if isinstance(requirement, AllOf) else (requirement,)
    verdicts = []
    for part in parts:
        level = _level(part, everything, values)
        for group, members in groups.items():
            attained = level(Members(members, None if priors is None else priors[group]))
            verdicts.append((group, repr(part), attained, part.bound, _holds(part, attained)))
    return pd.DataFrame(verdicts, columns=["group", "requirement", "level", "bound", "holds"])


def _check_prior(prior: FloatArray, records: int, values: int) -> None:
    if prior.shape != (records, values):
        raise ValueError(f"the prior has shape {prior.shape}; the release has {records} records and {values} values.")
    for row, probabilities in enumerate(prior.tolist()):
        if not (min(probabilities) >= -1e-6 and abs(sum(probabilities) - 1) <= 1e-6):
            raise ValueError(f"row {row} of the prior is {probabilities}, which is no distribution; normalize it.")


def _holds(part: Requirement, level: float) -> bool:
    if isinstance(part, RecursiveDiversity):
        return level < part.bound
    if isinstance(part, TCloseness | JSimilarity):
        return level <= part.bound + SLACK
    return level >= part.bound - SLACK


def _level(part: Requirement, everything: Sequence[Hashable], values: Sequence[Hashable]) -> Level:
    """What a group attains, as a function of its members."""
    if isinstance(part, AllOf | AnyOf):
        inner = [(one, _level(one, everything, values)) for one in part.parts]
        return lambda group: float(sum(_holds(one, level(group)) for one, level in inner))
    if isinstance(part, KAnonymity):
        return lambda group: float(len(group.values))
    if isinstance(part, DistinctDiversity):
        return lambda group: float(len(set(group.values)))
    if isinstance(part, EntropyDiversity):
        return lambda group: math.exp(-sum(q * math.log(q) for q in _shares(group.values).values()))
    if isinstance(part, RecursiveDiversity):
        tail_from = int(part.l) - 1
        return lambda group: _recursive(sorted(Counter(group.values).values(), reverse=True), tail_from)
    if isinstance(part, TCloseness):
        whole, distance = _shares(everything), part.distance
        return lambda group: _transport(_shares(group.values), whole, values, distance)
    if isinstance(part, JSimilarity):
        base = part.base
        return lambda group: _divergence(group.priors, base)
    raise TypeError(f"the checker does not know {part!r}; it knows the requirements of foreknow.defenses.")


def _shares(members: Sequence[Hashable]) -> dict[Hashable, float]:
    return {value: count / len(members) for value, count in Counter(members).items()}


def _recursive(ranked: list[int], tail_from: int) -> float:
    tail = sum(ranked[tail_from:])
    return ranked[0] / tail if tail else math.inf


def _transport(
    group: dict[Hashable, float], whole: dict[Hashable, float], values: Sequence[Hashable], distance: "str | Hierarchy"
) -> float:
    """The earth mover's distance between two distributions."""
    excess = {value: group.get(value, 0.0) - whole.get(value, 0.0) for value in values}
    if distance == "equal":
        return sum(e for e in excess.values() if e > 0)
    if distance == "ordered":
        carried = total = 0.0
        for value in values[:-1]:
            carried += excess[value]
            total += abs(carried)
        return total / max(len(values) - 1, 1)
    assert isinstance(distance, Hierarchy)
    return _up_the_tree({str(value): e for value, e in excess.items()}, distance)


def _up_the_tree(excess: dict[str, float], hierarchy: Hierarchy) -> float:
    """What stays uneven below each node must be carried across it: half of the unevenness that its own children cancel."""
    tree, height, cost = hierarchy.tree, hierarchy.height, 0.0
    net: dict[object, float] = {(0, value): e for value, e in excess.items()}
    for level in range(1, height + 1):
        for node in [node for node in tree if node[0] == level]:
            children = [net.get(child, 0.0) for child in tree.successors(node)]
            net[node] = sum(children)
            cost += (sum(map(abs, children)) - abs(net[node])) / 2 * level / height
    return cost


def _divergence(rows: list[list[float]] | None, base: float) -> float:
    if rows is None:
        raise ValueError(
            "JSimilarity speaks of beliefs, which no published table shows; give the checker the prior as well."
        )
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return max(0.0, _entropy(mean, base) - sum(_entropy(row, base) for row in rows) / len(rows))


def _entropy(row: list[float], base: float) -> float:
    return -sum(p * math.log(p, base) for p in row if p > 0)
