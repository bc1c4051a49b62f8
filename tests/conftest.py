"""Settings of all tests: the path of the oracles, and the profile of Hypothesis."""

import importlib.util
import os
import re
import sys
from collections import defaultdict
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))

# Numba compiles in the first examples, so no example may be held to a deadline.
settings.register_profile(
    "fixed", max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# A long search: tests without a number of examples of their own draw other ones at each run, `--hypothesis-profile=long`.
settings.register_profile("long", settings.get_profile("fixed"), max_examples=600, derandomize=False, print_blob=True)
# What `--quick` draws, also for a test with a larger number of its own.
settings.register_profile("quick", settings.get_profile("fixed"), max_examples=10)
settings.load_profile("fixed")


def pytest_addoption(parser):
    parser.addoption(
        "--quick",
        action="store_true",
        help="no slow tests, few cases of a test (`CASES`) and at most ten examples of a property",
    )


def pytest_ignore_collect(collection_path, config):
    """With `--quick`, a file whose tests are all slow is not imported: its objects take seconds."""
    quick = config.getoption("quick") and collection_path.suffix == ".py"
    return True if quick and ALL_SLOW.search(collection_path.read_text()) else None


ALL_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.M)
"""Line of a file whose tests are all slow."""

_default_rng = np.random.default_rng
_unseeded = count()


def _seeded_rng(seed=None):
    """Generator as `numpy.random.default_rng` makes it, but from a number of this test where none is given."""
    return _default_rng([20261122, next(_unseeded)] if seed is None else seed)


np.random.default_rng = _seeded_rng


@pytest.fixture(autouse=True)
def repeatable():
    """Draws from fresh entropy are the same in each run of a test, so that no test fails once in forty runs."""
    global _unseeded
    _unseeded = count()


@pytest.fixture(autouse=True)
def closed_figures():
    """Each test closes the figures that it made; pyplot keeps them otherwise."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def pytest_configure(config):
    """Check of the checkout; settings of `--quick`; and `public_objects` first in the second worker of a run of all tests.

    Both workers collect all tests, the first from test_axes and test_columns on: each compiles other kernels, which are on disk
    when the other needs them. An error is left to the tests that import the objects: here it would end the run without its cause.
    """
    found = Path(importlib.util.find_spec("foreknow.models").origin)
    if not found.is_relative_to(TESTS.parent):
        raise pytest.UsageError(
            f"foreknow is imported from {found.parents[1]}, another checkout, whose links `.venv` has; remove `.venv` and run "
            "`make .venv/installed` here."
        )
    if config.getoption("quick"):
        config.option.markexpr = "not slow"
        settings.load_profile("quick")
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" and [Path(each).name for each in config.args] == ["tests"]:
        with suppress(Exception):
            importlib.import_module("public_objects")


LONGEST = ("models/programs", "app/cli", "models/joint", "attacks", "defenses", "app/disk", "app/report", "docs")
"""Folders that start first, so that no worker is left with a long one at the end."""


def place(nodeid):
    """Folder of a test below `tests`, or its file if it stands beside this one."""
    folder, _, file = nodeid.partition("::")[0].removeprefix("tests/").rpartition("/")
    return folder or file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each folder runs on one worker: two workers that run its tests in turns compile the same kernels twice."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFolder(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return place(nodeid)

    config.option.loadscopereorder = False
    return ByFolder(config, log)


CASES = {"app": 1, "attacks": 1, "defenses": 1, "evaluation": 1, "models": 1, "testing": 2, "docs": 4}
"""Largest number of cases of a test that `--quick` runs, by folder; all of those of the package, which stand beside this file."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Thin out the cases for `--quick`, and put the longest folders first."""
    if config.getoption("quick"):
        config.hook.pytest_deselected(items=_thin_out(items))
    turns = {folder: turn for turn, folder in enumerate(LONGEST)}
    items.sort(key=lambda item: turns.get(place(item.nodeid), len(turns)))


def _thin_out(items):
    """Keep every k-th case of each test, from another one in each test, so that each member of a family is in some test."""
    tests = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            tests[item.nodeid.partition("[")[0]].append(item)
    kept = []
    for turn, cases in enumerate(tests.values()):
        step = -(-len(cases) // CASES.get(cases[0].path.relative_to(TESTS).parts[0], len(cases)))
        kept += cases[turn % step :: step]
        test = getattr(cases[0].obj, "__func__", cases[0].obj)
        if own := getattr(test, "_hypothesis_internal_use_settings", None):
            most = min(own.max_examples, settings().max_examples)
            test._hypothesis_internal_use_settings = settings(own, max_examples=most)
    left_out = set(items) - set(kept)
    items[:] = kept
    return list(left_out)
