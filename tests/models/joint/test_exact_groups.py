"""Groups with exact counts whose respondents make no cycle, and counts of tilted groups: beliefs and steps by enumeration."""

import joint_oracle
import numpy as np
import pytest

from foreknow.models.joint import JointProblem
from foreknow.models.joint.group_messages import exact_groups, pass_along, tilted_messages
from foreknow.models.joint.messages import first_messages, scratch_of, tilted_counts
from foreknow.models.joint.problem import belief_starts

GROUPS = [(0, [0, 1]), (0, [2, 3]), (1, [1, 2]), (1, [0]), (1, [3]), (2, [0, 4, 5]), (2, [3])]
"""Release and members of each group. No two groups are joined by two sequences of respondents."""

SILENT = (3, 4, 6)
"""Groups that publish nothing."""

M, CHAINS = 3, 2


def arrays(order, rng):
    """A history in the groups above with random laws and claims, and multisets drawn without regard to them."""
    path = np.concatenate([members for _, members in GROUPS])
    group = np.repeat(np.arange(len(GROUPS)), [len(members) for _, members in GROUPS])
    counts = [
        np.zeros(M, int) if g in SILENT else rng.multinomial(len(members), np.full(M, 1 / M))
        for g, (_, members) in enumerate(GROUPS)
    ]
    return {
        "prior": rng.dirichlet(np.ones(M), path.max() + 1),
        "tables": tuple(rng.dirichlet(np.ones(M), (CHAINS, *(M,) * length)) for length in range(1, order + 1)),
        "path": path,
        "group": group,
        "chain": rng.integers(CHAINS, size=len(path)),
        "counts": np.array(counts),
        "release": np.array([release for release, _ in GROUPS]),
        "evidence": rng.random((2, M)) + 0.1,
        "evidence_row": np.where(np.arange(len(path)) == 2, 0, np.where(np.arange(len(path)) == 9, 1, -1)),
    }


def steps_of(given, values, weight):
    """Expected number of each transition by enumeration, in the order of the rows of all tables."""
    order, path, chain = len(given["tables"]), given["path"], given["chain"]
    tables = [np.zeros((CHAINS, *(M,) * (length + 1))) for length in range(1, order + 1)]
    for i in np.unique(path):
        records = np.flatnonzero(path == i)
        for j in range(1, len(records)):
            known = min(j, order)
            last = tuple(values[:, before] for before in records[j - known : j + 1])
            np.add.at(tables[known - 1], (chain[records[j]], *last), weight / weight.sum())
    return np.concatenate([table.reshape(-1, M) for table in tables])


@pytest.mark.parametrize("order", [1, 2])
def test_sweeps_end_in_exact_beliefs_and_steps(order):
    given = arrays(order, np.random.default_rng([31, order]))
    problem = JointProblem(**given)
    at = problem.layout
    messages = tilted_messages(problem, first_messages(problem))
    for _ in range(40):
        law, messages = exact_groups(problem, at, messages, 0.0)
    values, weight = joint_oracle.joint_law(given)
    np.testing.assert_allclose(
        law.posterior.rows(np.arange(len(given["path"]))), joint_oracle.shares(values, weight, M), atol=1e-6
    )
    np.testing.assert_allclose(law.steps, steps_of(given, values, weight), atol=1e-6)


def test_groups_whose_members_changed_less_than_the_threshold_keep_their_messages():
    problem = JointProblem(**arrays(1, np.random.default_rng(32)))
    start = tilted_messages(problem, first_messages(problem))
    _, (_, likelihoods, visited) = exact_groups(problem, problem.layout, start, 1.0)
    np.testing.assert_array_equal(likelihoods, start.likelihoods)
    assert not visited.any()


def test_a_group_is_updated_until_it_has_converged():
    """The group of a single release: the weights of its members never change, and its messages converge by damped steps."""
    rng = np.random.default_rng(34)
    problem = JointProblem(
        *(rng.dirichlet(np.ones(2), 3), (), np.arange(3), np.zeros(3, int), np.zeros(3, int)),
        *(np.array([[2, 1]]), np.zeros(1, int)),
    )
    messages, made = tilted_messages(problem, first_messages(problem)), []
    for _ in range(20):
        law, messages = exact_groups(problem, problem.layout, messages, 1e-3)
        made.append(law.posterior.rows(np.arange(3)))
    assert np.abs(made[-1] - joint_oracle.joint_beliefs(enumerated(problem))).max() < 1e-3
    assert np.abs(made[0] - made[-1]).max() > 1e-3
    np.testing.assert_array_equal(made[-2], made[-1])


def enumerated(problem):
    return {name: getattr(problem, name) for name in ("prior", "tables", "path", "group", "chain", "counts", "release")}


@pytest.mark.parametrize("order", [1, 2])
def test_counts_of_tilted_groups(order):
    """The tilted law is that of independent paths, each value weighted by the tilt of its group."""
    rng = np.random.default_rng([33, order])
    given = arrays(order, rng)
    given["counts"][:] = 0
    silent = JointProblem(**given)
    tilts = rng.random((len(GROUPS), M)) + 0.1
    at, starts, scratch = silent.layout, belief_starts(silent), scratch_of(silent)
    messages = first_messages(silent)._replace(tilt=tilts.ravel())
    pass_along(at, messages, tilts[given["group"]].ravel(), starts, scratch)
    wanted = np.array([5, 0, 2])
    found = tilted_counts(wanted, M, at, messages, scratch)
    tilted = np.zeros((len(given["path"]), M))
    for i in np.unique(given["path"]):
        records = np.flatnonzero(given["path"] == i)
        tilted[records] = path_beliefs(given, records, tilts[given["group"][records]])
    expected = np.zeros((len(GROUPS), M))
    np.add.at(expected, given["group"], tilted)
    np.testing.assert_allclose(found, expected[wanted], atol=1e-12)


def path_beliefs(given, records, tilts):
    """Beliefs about the records of one path by enumeration of its values, each weighted by a tilt."""
    alone = {name: given[name][records] for name in ("chain", "evidence_row")}
    alone |= {"path": np.zeros(len(records), int), "group": np.arange(len(records)), "release": np.arange(len(records))}
    alone |= {"prior": given["prior"][given["path"][records[:1]]], "counts": np.zeros((len(records), M), int)}
    values, weight = joint_oracle.joint_law({**alone, "tables": given["tables"], "evidence": given["evidence"]})
    weight = weight * np.prod(tilts[np.arange(len(records)), values], axis=1)
    return joint_oracle.shares(values, weight, M)
