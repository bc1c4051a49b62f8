"""Parts of a release that a program is sampled for: each group, or the whole release."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import Problem


class Part(NamedTuple):
    """Problem that is sampled by itself.

    Attributes
    ----------
    name : str
        Name of the part in error messages.
    problem : Problem
    rows, groups : int array
        Rows and groups of the release that receive the posterior.
    """

    name: str
    problem: Problem
    rows: IntArray
    groups: IntArray

    @property
    def key(self) -> tuple[bytes, ...]:
        """Key of the problem; equal problems have equal keys."""
        problem = self.problem
        evidence = b"" if problem.evidence is None else problem.evidence.tobytes()
        return problem.prior.tobytes(), problem.group.tobytes(), problem.counts.tobytes(), evidence


def parts_of(problem: Problem, per: Literal["group", "release"]) -> Iterator[Part]:
    """Groups of a release without the empty ones, or the whole release as one part. Cost: O(n m)."""
    groups = np.flatnonzero(problem.sizes)
    if per == "group":
        yield from _groups(problem, groups)
    elif len(groups):
        yield Part("the release", problem, np.flatnonzero(problem.group >= 0), groups)


def _groups(problem: Problem, groups: IntArray) -> Iterator[Part]:
    """Problem of each group, with this group alone and no other respondents."""
    order, starts = group_rows(problem.group, len(problem.counts))
    for j in groups:
        rows = order[starts[j] : starts[j + 1]]
        evidence = None if problem.evidence is None else problem.evidence[rows]
        alone = Problem(problem.prior[rows], np.zeros(len(rows), dtype=np.int64), problem.counts[[j]], evidence)
        yield Part(f"group {j}", alone, rows, np.array([j]))
