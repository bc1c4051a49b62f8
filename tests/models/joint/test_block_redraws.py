"""Redraws of blocks and runs leave the joint law as it is: assignments drawn from the enumerated law have it after the move."""

import itertools

import joint_oracle
import numpy as np
import pytest
from scipy import stats

from foreknow.models.joint import JointProblem
from foreknow.models.joint.joint_draws import values_beside
from foreknow.models.joint.path_factors import path_factors
from foreknow.models.joint.redraws import block_buffers, redraw_block, redraw_runs, run_buffers

DRAWS, MOVES = 1000, 2


def law_of_states(arrays):
    """Own and published values of all states, and their law; no published values without distorted ones."""
    problem, (values, weight) = JointProblem(**arrays), joint_oracle.joint_law(arrays)
    distorted = np.flatnonzero(problem.emission_row >= 0)
    options = [joint_oracle.arrangements(problem.counts[g].tolist()) for g in distorted]
    found = {}
    for own, total in zip(values[weight > 0], weight[weight > 0], strict=True):
        each = {}
        for chosen in itertools.product(*options):
            published, product = own.copy(), 1.0
            for g, shown in zip(distorted, chosen, strict=True):
                members = problem.group == g
                published[members] = shown
                product *= problem.emission[problem.emission_row[g]][own[members], shown].prod()
            each[tuple(own), tuple(published) if len(distorted) else ()] = product
        found |= {state: total * product / sum(each.values()) for state, product in each.items()}
    law = np.array(list(found.values()))
    return problem, list(found), law / law.sum()


def redrawn(problem, state, seed, runs=False):
    """Own and published values after a few block redraws, or redraws of runs."""
    own, published = (np.array(part, dtype=np.int64) for part in state)
    beside, factors, buffers = values_beside(problem.layout, own), path_factors(problem), block_buffers(problem.order)
    rng, is_distorted = np.random.default_rng(seed), problem.emission_row[problem.group] >= 0
    for _ in range(0 if runs else MOVES):
        redraw_block(factors, own, published, beside, problem.order, buffers, rng)
    if runs:
        redraw_runs(factors, own, published, beside, 1.0, run_buffers(problem.releases), rng)
    assert (beside == values_beside(problem.layout, own)).all()
    # Outside of groups with distorted values no move reads the published values.
    return tuple(own), tuple(np.where(is_distorted, published, own)) if len(published) else ()


def check_law(problem, states, law, seed, least, runs):
    """The moves change the state in at least a share of the draws, and its law by chance at most."""
    rng, places = np.random.default_rng(seed), {state: place for place, state in enumerate(states)}
    starts = rng.choice(len(law), size=DRAWS, p=law)
    found = np.array([places[redrawn(problem, states[start], draw, runs)] for draw, start in enumerate(starts)])
    # Each value of this test would fail once in 10,000 seeds; assignments expected fewer than 5 times are one cell.
    often = law * DRAWS >= 5
    cells = np.append(np.bincount(found, minlength=len(law))[often], (~often[found]).sum())
    expected = np.append(law[often], law[~often].sum()) * DRAWS
    kept = expected > 0
    assert cells[~kept].sum() == 0
    assert stats.chisquare(cells[kept], expected[kept]).pvalue > 1e-4
    assert (found != starts).mean() > least


@pytest.mark.parametrize(
    ("seed", "distorted"),
    [(seed, False) for seed in (317, 417, 443, 478, 691, 823)] + [(seed, True) for seed in (177, 216, 224, 235)],
)
def test_the_law_stays(seed, distorted):
    """Orders 0 to 2, groups without multiset, claims, gaps, distorted values; each history has zeros in its factors."""
    problem, states, law = law_of_states(joint_oracle.random_arrays(np.random.default_rng([23, seed]), distorted))
    assert (problem.emission_row >= 0).any() == distorted
    check_law(problem, states, law, seed, 0.1 if distorted else 0.3, runs=False)


@pytest.mark.parametrize("sides", ["000 000 000", "0000 0000 0000", "00000 00011 00000", "0000 0001 0000 0000"])
def test_redraws_of_runs_keep_the_law(sides):
    """Groups of up to five (their numbers at each release), runs of one to three releases that part and meet again, and a claim."""
    rng, sides = np.random.default_rng(len(sides)), [list(map(int, each)) for each in sides.split()]
    groups = [(t, side) for t, each in enumerate(sides) for side in sorted(set(each))]
    members = [[i for i, side in enumerate(sides[t]) if side == g] for t, g in groups]
    records = sum(map(len, members))
    arrays = {
        "prior": rng.dirichlet([2.0, 2.0, 2.0], len(sides[0])),
        "tables": (rng.dirichlet([1.0, 1.0, 1.0], (1, 3)),),
        "path": np.concatenate(members),
        "group": np.repeat(np.arange(len(groups)), list(map(len, members))),
        "chain": np.zeros(records, dtype=int),
        "counts": np.array([np.bincount(np.arange(len(each)) % 3, minlength=3) for each in members]),
        "release": np.array([t for t, _ in groups]),
        "evidence": np.array([[1.0, 0.5, 0.2]]),
        "evidence_row": np.where(np.arange(records) == 4, 0, -1),
    }
    problem, states, law = law_of_states(arrays)
    check_law(problem, states, law, len(states), 0.3, runs=True)
