"""Settings of all tests: the path of the oracles, and the profile of Hypothesis."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# Numba compiles in the first examples, so no example may be held to a deadline.
settings.register_profile(
    "fixed", max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")

LONGEST = ("models/joint", "packaging", "models/programs", "models/estimators", "evaluation/cli")
"""Groups that start first, so that no worker is left with a long one at the end."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Each folder is a group of `--dist loadgroup`: two workers that run its tests in turns compile the same kernels twice."""
    for item in items:
        folder = item.path.parent.relative_to(Path(__file__).parent).as_posix()
        if folder != "." and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(folder))
    items.sort(key=_turn)


def _turn(item):
    mark = item.get_closest_marker("xdist_group")
    return LONGEST.index(mark.args[0]) if mark is not None and mark.args[0] in LONGEST else len(LONGEST)
