"""Requirements that each defense is held to, promises that are not recomputed, and facts about a run."""

import importlib.metadata
import platform

import numpy as np
import pandas as pd
import pytest

from foreknow.defenses import (
    MASK,
    UHRA,
    Anatomy,
    Cohorts,
    FrequencyDiversity,
    Injector,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    TCloseness,
)
from foreknow.evaluation.checks.certificate import (
    NOT_COVERED,
    WITHOUT_ADVERSARY,
    assumptions,
    enforced_requirement,
    parameters_of,
    unchecked_promises,
)
from foreknow.evaluation.checks.program import PACKAGES, settings, versions
from foreknow.models import Adversary, Averaged, CompromisedRecords, PriorCascade, UniformPrior

SET = "The bound on the sensitive set."
PRIORS = "The priors of any two members of a group diverge by at most 0.6."


@pytest.mark.parametrize(
    ("defense", "requirement", "unchecked"),
    [
        (Mondrian(KAnonymity(3) & TCloseness(0.4)), KAnonymity(3) & TCloseness(0.4), []),
        (MASK(3, 2), KAnonymity(3) & FrequencyDiversity(2), []),
        (MASK(3, 2, sensitive_set=("a", "b")), KAnonymity(3), [SET]),
        (Anatomy(2), FrequencyDiversity(2), []),
        (Anatomy(2, sensitive_set=("a",), bound="each"), KAnonymity(2), [SET]),
        (MInvariance(3), FrequencyDiversity(3), []),
        (UHRA(3, 0.7, 0.6), UHRA(3, 0.7, 0.6).requirement, [PRIORS]),
        (KPrimacy(2, 3, 0.6), KPrimacy(2, 3, 0.6).requirement, [PRIORS]),
        (
            Injector(4),
            FrequencyDiversity(4),
            ["Each record has at least 4 possible values under the negative rules of the view."],
        ),
        (Cohorts(5), KAnonymity(5), ["Members of a group stay together until they leave, at least 5 at once."]),
        (lambda *_: None, None, ["The defense states no requirement, and no threshold is given."]),
    ],
    ids=lambda each: repr(each)[:20],
)
def test_what_the_checker_holds_a_defense_to(defense, requirement, unchecked):
    assert enforced_requirement(defense) == requirement
    assert unchecked_promises(defense) == unchecked


def test_parameters_are_numbers_and_texts():
    assert parameters_of(TCloseness(0.4)) == {"t": 0.4, "distance": "equal"}
    assert parameters_of(KAnonymity(2) & TCloseness(0.4))["parts"] == repr((KAnonymity(2), TCloseness(0.4)))


def test_settings_are_all_but_the_generator():
    expected = "Anatomy(l=2, sensitive_set=None, bound='together', bucketized=True, deterministic=False)"
    assert settings(Anatomy(2, rng=np.random.default_rng(1))) == expected
    assert settings(MASK(3, 2)) == "MASK(k=3, l=2, sensitive_set=None, grouped=Mondrian, bucketized=False)"
    assert settings(repr) == "<built-in function repr>"


def test_versions_of_what_computes():
    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    assert versions() == {"python": platform.python_version()} | packages


def test_a_package_without_metadata_is_unknown(monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert versions()["numpy"] == "unknown"


def test_assumptions_name_the_adversary():
    claim = pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [1], "confidence": [1.0]})
    one = Adversary(UniformPrior(), compromised=CompromisedRecords(claim), cascade=PriorCascade())
    told = assumptions(one)
    assert told["adversary"]["compromised_records"] is True
    assert assumptions(Adversary(UniformPrior()))["adversary"]["compromised_records"] is False
    assert told["adversary"]["draws"] == 1
    assert told["adversary"]["transitions"] is None
    assert told["adversary"]["order"] is None
    assert told["not_covered"] == list(NOT_COVERED)
    assert assumptions(Averaged((one, one)))["adversary"]["draws"] == 2
    assert assumptions(None) == {"adversary": None, "not_covered": [*WITHOUT_ADVERSARY, *NOT_COVERED]}
