"""Minimal nodes of a lattice, against evaluation of every node."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.defenses.full_domain import minimal_nodes

shapes = st.lists(st.integers(0, 3), min_size=1, max_size=4)


def below(low, high):
    return all(a <= b for a, b in zip(low, high, strict=True))


def by_hand(heights, satisfying):
    """Satisfying nodes without another satisfying node below."""
    return sorted(n for n in satisfying if not any(below(other, n) and other != n for other in satisfying))


@given(heights=shapes, data=st.data())
def test_any_set_of_nodes(heights, data):
    nodes = list(itertools.product(*(range(height + 1) for height in heights)))
    satisfying = data.draw(st.sets(st.sampled_from(nodes)))
    assert minimal_nodes(heights, satisfying.__contains__, monotone=False) == by_hand(heights, satisfying)


@given(heights=shapes, data=st.data())
def test_a_set_that_is_closed_upwards_asking_fewer(heights, data):
    """No node is evaluated that lies above a satisfying node or below a failing node evaluated before."""
    nodes = list(itertools.product(*(range(height + 1) for height in heights)))
    seeds = data.draw(st.sets(st.sampled_from(nodes), max_size=4))
    satisfying = {node for node in nodes if any(below(seed, node) for seed in seeds)}
    asked = []

    def holds(node):
        assert not any(below(other, node) if other in satisfying else below(node, other) for other in asked)
        asked.append(node)
        return node in satisfying

    assert minimal_nodes(heights, holds, monotone=True) == by_hand(heights, seeds)


def test_subsets_come_first_and_prune():
    """The first attribute alone must be at level 2: no node with a lower level of it is evaluated. So must the second."""
    asked = []

    def holds(node):
        asked.append(node)
        return node[0] >= 2 and node[1] >= 1

    assert minimal_nodes([3, 2], holds, monotone=True) == [(2, 1)]
    assert asked == [(3, 2), (0, 2), (1, 2), (2, 2), (3, 0), (3, 1), (2, 1)]


def test_one_node():
    assert minimal_nodes([0, 0], lambda _: True, monotone=True) == [(0, 0)]
    assert minimal_nodes([0, 0], lambda _: False, monotone=True) == []


@pytest.mark.parametrize("monotone", [True, False])
def test_answers_are_plain_numbers(monotone):
    (node,) = minimal_nodes([2], lambda node: bool(np.all(np.array(node) >= 1)), monotone=monotone)
    assert node == (1,)
    assert isinstance(node[0], int)
