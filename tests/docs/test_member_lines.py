"""The line of code of each page of a member: it runs as written, on the example of the pictures."""

import re
import sys

import numpy as np
import pandas as pd
import pymc
import pytest
from places import ROOT

from foreknow import attacks, defenses, evaluation, models
from foreknow.attacks import JointAttack
from foreknow.defenses import KAnonymity, Mondrian, publish, publish_items
from foreknow.models import Adversary, Problem

sys.path.insert(0, str(ROOT / "docs"))
sys.path.insert(0, str(ROOT / "docs" / "pictures"))
from example import Example, example, with_symptoms
from site_extensions.member_sections import member_sections

pytestmark = pytest.mark.slow

LINES = {
    name: found[1]
    for name, section in member_sections().items()
    if (found := re.search(r"^```python\n(.*?)\n```$", section.text, re.MULTILINE | re.DOTALL))
}
LARGE = ("Enumeration", "history_model")
"""Members that sum over joint assignments: they get eight people."""


def names(shown: Example) -> dict[str, object]:
    """Names that the lines use: all public ones, and the example."""
    adversary = Adversary(shown.prior, shown.chain)
    releases = publish(shown.history, Mondrian(KAnonymity(2)), rng=1)
    view, linking = with_symptoms(shown.history[0])
    suppression = defenses.ItemSuppression(defenses.QSDiversity(1.0, 2, linking))
    public = {
        name: getattr(module, name) for module in (models, attacks, defenses, evaluation) for name in module.__all__
    }
    return public | {
        "np": np,
        "pd": pd,
        "pymc": pymc,
        "history": shown.history,
        "prior": shown.prior,
        "chain": shown.chain,
        "adversary": adversary,
        "releases": releases,
        "observations": [release.observation for release in releases],
        "beliefs": JointAttack(adversary)(releases),
        "problem": releases[0].observation.problem(np.full((len(view), 4), 0.25)),
        "view": view,
        "linking": linking,
        "result": publish_items(view, Mondrian(KAnonymity(6)), suppression, rng=1),
        "respondent": 2,
        "value": shown.history[1].frame["diagnosis"][1],
        "time": 2,
        "program": lambda problem: problem,
        "problem_of_one_group": Problem(np.full((3, 3), 1 / 3), np.zeros(3, dtype=int), np.array([[1, 1, 1]])),
        "evidence": models.Evidence(
            np.array([0, 0, 1, 1]), np.zeros(4, dtype=int), np.array([[2, 2]]), np.array([0.5, 0.5])
        ),
        "claims": pd.DataFrame({"respondent": [1], "value": ["flu"], "time": [1]}),
    }


def test_each_member_has_a_line() -> None:
    assert sorted(LINES) == sorted(member_sections())


@pytest.fixture(scope="module")
def large() -> dict[str, object]:
    return names(example())


@pytest.fixture(scope="module")
def small() -> dict[str, object]:
    return names(example(people=8, views=3, seed=3))


@pytest.mark.parametrize("name", sorted(LINES))
def test_the_line_runs(name: str, large: dict[str, object], small: dict[str, object]) -> None:
    exec(compile(LINES[name], name, "exec"), dict(small if name in LARGE else large))
