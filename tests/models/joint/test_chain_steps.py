"""Chains over several steps."""

import numpy as np
import pytest

from foreknow.models import MarkovChain
from foreknow.models.joint.chain_steps import _product


def test_steps_of_a_chain_whose_rows_sum_to_less_than_one():
    step = np.array([[0.5, 0.3], [0.2, 0.6]])
    chain = MarkovChain(1, step, substochastic=True)
    assert _product([chain, chain, chain], 2).probabilities == pytest.approx(step @ step @ step)
