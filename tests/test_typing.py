"""Type checks of a user's file and of the developer's tutorial, by mypy and Pyright, against the installation of `make`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

USERS = """
from collections.abc import Iterable, Sequence
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import pandas as pd

import foreknow
from foreknow.attacks import Attack, SequentialAttack
from foreknow.defenses import Defense, GroupPredicate, KAnonymity, Mondrian, TCloseness, publish
from foreknow.evaluation import Comparison, adversary_gain, compare
from foreknow.models import (
    Adversary, Beliefs, Grouping, History, Numeric, Release, Schema, UniformPrior, View
)

FloatArray = NDArray[np.float64]


class Alone:
    def __call__(self, view: View, prior: FloatArray, past: Sequence[Release]) -> Grouping:
        return Grouping(np.arange(len(view)))


class Nothing:
    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        return Beliefs(())


schema = Schema({"age": Numeric(0, 99)}, sensitive="result", values=("a", "b"), respondent="id")
history = History.read(pd.DataFrame(), schema, time="week")
releases = publish(history, Mondrian(KAnonymity(3)))
assert_type(releases, tuple[Release, ...])
beliefs = SequentialAttack(Adversary(UniformPrior()))(releases)
assert_type(beliefs, Beliefs)
assert_type(adversary_gain(beliefs, history), pd.DataFrame)
assert_type(foreknow.__version__, str)
own: tuple[Defense, Attack] = (Alone(), Nothing())
assert_type(compare(history, {"own": own[0]}, {"own": own[1]}), Comparison)
assert_type(KAnonymity(3) & TCloseness(0.8), GroupPredicate)
assert_type(Beliefs.load("beliefs.nc"), Beliefs)
assert_type(Release.load("release.parquet").view, View)
foreknow.models.Adversary
KAnonymity("3")
"""
"""Right but for the last line."""

TUTORIAL = Path(__file__).parents[1] / "docs/tutorials/developer.md"


@pytest.fixture
def users(tmp_path):
    (tmp_path / "users.py").write_text(USERS, encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", TUTORIAL.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    (tmp_path / "tutorial.py").write_text("\n".join(blocks), encoding="utf-8")
    return tmp_path


def ran(folder, *command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr.strip() or done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.slow
def test_mypy(users):
    out = ran(users, "mypy", "--strict", "--cache-dir", str(users / "cache"), "users.py", "tutorial.py")
    errors = [line for line in out.splitlines() if ": error:" in line]
    assert len(errors) == 1, out
    assert errors[0].startswith(f"users.py:{len(USERS.splitlines())}")
    assert "arg-type" in errors[0]


@pytest.mark.slow
def test_pyright(users):
    settings = {"typeCheckingMode": "standard", "include": ["users.py", "tutorial.py"]}
    (users / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    out = ran(users, "basedpyright", "--outputjson", "--pythonpath", sys.executable, "--level", "error")
    errors = json.loads(out)["generalDiagnostics"]
    assert [error["rule"] for error in errors] == ["reportArgumentType"], errors
    assert errors[0]["range"]["start"]["line"] == len(USERS.splitlines()) - 1
