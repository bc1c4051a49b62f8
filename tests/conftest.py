"""Settings of all tests: the path of the oracles, and the profile of Hypothesis."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# Numba compiles in the first examples, so no example may be held to a deadline.
settings.register_profile(
    "fixed", max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")
