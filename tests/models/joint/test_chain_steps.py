"""Chains over several steps, and claims about records on them."""

import joint_oracle
import numpy as np
import pytest

from foreknow.models import MarkovChain
from foreknow.models.joint.building import ChainSteps, _product, claim_evidence
from foreknow.models.knowledge.compromised_records import Claims


def test_steps_of_a_chain_whose_rows_sum_to_less_than_one():
    step = np.array([[0.5, 0.3], [0.2, 0.6]])
    chain = MarkovChain(1, step, substochastic=True)
    product = _product([chain, chain, chain], 2)
    assert product.probabilities == pytest.approx(step @ step @ step)
    assert product.order == 1


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_claim_compares_with_the_law_without_claims(order):
    """A claim about the last of four records divides by the probability of its value under prior and chain, by enumeration."""
    rng, m = np.random.default_rng(order), 2
    tables = tuple(rng.dirichlet(np.ones(m), (1, *(m,) * length)) for length in range(1, order + 1))
    prior, release = rng.dirichlet(np.ones(m), 1), np.arange(4)
    steps = ChainSteps(np.zeros(4, int), np.zeros(4, int), tables)
    claims = [None, None, None, Claims(np.array([0]), np.array([1]), np.array([0.6]))]
    evidence, row = claim_evidence(claims, release, np.zeros(4, int), steps, prior)
    alone = {"prior": prior, "tables": tables, "path": np.zeros(4, int), "group": release, "chain": np.zeros(4, int)}
    law = joint_oracle.joint_beliefs(alone | {"counts": np.zeros((4, m), int), "release": release})[3]
    assert row.tolist() == [-1, -1, -1, 0]
    assert evidence[0] == pytest.approx(0.4 + np.array([0.0, 0.6]) / law)
