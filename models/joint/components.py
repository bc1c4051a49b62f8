"""Connected components of a joint problem, and the problem of some of its records."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.group_rows import group_rows
from foreknow.models.joint.problem import JointProblem


class Components(NamedTuple):
    """Records of each connected component: those of component c are ``order[starts[c]:starts[c + 1]]``, ascending.

    Paths of one component are connected by groups that publish a multiset. Groups that publish none connect nothing. The joint
    law is the product of the laws of the components.

    Attributes
    ----------
    order : int array, shape (R,)
    starts : int array, shape (C + 1,)
    """

    order: IntArray
    starts: IntArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def records(self, component: int) -> IntArray:
        """Records of a component, ascending."""
        return self.order[self.starts[component] : self.starts[component + 1]]


def components(problem: JointProblem) -> Components:
    """Connected components of a problem, numbered by their first record. Cost: O(R log R)."""
    paths, groups = len(problem.prior), len(problem.counts)
    tied = problem.constrained[problem.group]
    ends = (problem.path[tied], paths + problem.group[tied])
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(int(tied.sum()), dtype=np.int8), ends), shape=(paths + groups, paths + groups))
    _, label = connected_components(graph, directed=False)
    of_record = label[problem.path]
    _, first, number = np.unique(of_record, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return Components(*group_rows(place[number], len(first)))


def sub_problem(problem: JointProblem, records: IntArray) -> JointProblem:
    """Problem of some records alone.

    Parameters
    ----------
    problem : JointProblem
    records : int array, shape (r,)
        Ascending, without repetition: all records of some components. Of a group without counts, a part of the records is enough.

    Returns
    -------
    JointProblem
        Its records, paths and groups are in the order of the problem, numbered anew. Releases keep their numbers, and records
        keep their possible values.

    Raises
    ------
    ValueError
        If the records hold only a part of a group that publishes a multiset.

    Notes
    -----
    Not checked: that the records hold the whole of each path. Cost: O(r log r + N + G).
    """
    records = np.asarray(records, dtype=np.int64)
    paths, path = np.unique(problem.path[records], return_inverse=True)
    groups, group = np.unique(problem.group[records], return_inverse=True)
    return replace(
        problem,
        prior=problem.prior[paths],
        path=path,
        group=group,
        chain=problem.chain[records],
        counts=problem.counts[groups],
        release=problem.release[groups],
        evidence_row=problem.evidence_row[records],
        emission_row=problem.emission_row[groups],
        respondents=int((paths < problem.respondents).sum()),
    )
