"""Jensen-Shannon divergence against its definition in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import divergence
from strategies import distributions

from foreknow.models.problem import jensen_shannon


@given(data=st.data(), m=st.integers(1, 5))
def test_is_the_definition_row_by_row(data, m):
    first, second = (np.array([data.draw(distributions(m)) for _ in range(3)]) for _ in range(2))
    expected = [divergence([p.tolist(), q.tolist()], 2.0) for p, q in zip(first, second, strict=True)]
    assert jensen_shannon(first, second) == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(jensen_shannon(first, second), jensen_shannon(second, first))
    assert (jensen_shannon(first, first) == 0).all()


def test_by_hand():
    """Certainties of different values: 1 bit. Of (1, 0) and (1/2, 1/2): h(1/4) - 1/2."""
    assert jensen_shannon(np.eye(2), np.eye(2)[::-1]).tolist() == [1, 1]
    assert jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]))[0] == pytest.approx(0.311278, abs=5e-7)
