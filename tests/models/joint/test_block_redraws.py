"""Block redraws leave the joint law as it is: assignments drawn from the enumerated law have this law after the move."""

import joint_oracle
import numpy as np
import pytest
from scipy import stats

from foreknow.models import JointProblem
from foreknow.models.joint.block_redraws import block_buffers, redraw_block
from foreknow.models.joint.joint_draws import values_beside
from foreknow.models.joint.path_factors import path_factors

DRAWS, MOVES = 1000, 2


def redrawn(problem, own, seed):
    """Own values after a few block redraws."""
    state, buffers, rng = own.copy(), block_buffers(problem.order), np.random.default_rng(seed)
    beside, factors = values_beside(problem.layout, state), path_factors(problem)
    for _ in range(MOVES):
        redraw_block(factors, state, np.zeros(0, dtype=np.int64), beside, problem.order, buffers, rng)
    assert (beside == values_beside(problem.layout, state)).all()
    return state


@pytest.mark.parametrize("seed", [317, 417, 443, 478, 691, 823])
def test_the_law_stays(seed):
    """Orders 0 to 2, some groups without multiset, claims, gaps; each history has zeros in its chain, its prior or its claims."""
    arrays = joint_oracle.random_arrays(np.random.default_rng([23, seed]))
    problem, (values, weight) = JointProblem(**arrays), joint_oracle.joint_law(arrays)
    law, rng = weight / weight.sum(), np.random.default_rng(seed)
    places = {tuple(own): place for place, own in enumerate(values)}
    starts = rng.choice(len(law), size=DRAWS, p=law)
    found = np.array([places[tuple(redrawn(problem, values[start], draw))] for draw, start in enumerate(starts)])
    # Each value of this test would fail once in 10,000 seeds; assignments expected fewer than 5 times are one cell.
    often = law * DRAWS >= 5
    cells = np.append(np.bincount(found, minlength=len(law))[often], (~often[found]).sum())
    expected = np.append(law[often], law[~often].sum()) * DRAWS
    kept = expected > 0
    assert cells[~kept].sum() == 0
    assert stats.chisquare(cells[kept], expected[kept]).pvalue > 1e-4
    assert (found != starts).mean() > 0.3
