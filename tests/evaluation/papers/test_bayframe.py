"""Experiments of BayFrame at a small size: settings of the frameworks, and rows against the measures that they are made of."""

import numpy as np
import pytest

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import BetaLikeness, JSimilarity, KAnonymity, TCloseness, publish
from foreknow.evaluation import adversary_gain, gcp, record_linkage, suppressed
from foreknow.evaluation.papers import bayframe
from foreknow.models import Adversary, EvidenceCascade, MarkovChain

CELL = {"seed": 1, "reading": "stated"}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Three views of 300 records, and attacks forward by seed 1."""
    monkeypatch.setattr(bayframe, "VIEWS", 3)
    monkeypatch.setattr(bayframe, "RECORDS", 300)
    monkeypatch.setattr(bayframe, "FORWARD", (1,))
    bayframe.bkseq.cache_clear()
    yield
    bayframe.bkseq.cache_clear()


def test_the_privacy_models_are_those_of_sections_6_3_1_to_6_3_4():
    close = TCloseness(0.5)
    assert bayframe.js_reduce(CELL).requirement == KAnonymity(3) & close & JSimilarity(0.6)
    assert bayframe.bkaa(CELL).requirement == KAnonymity(3) & BetaLikeness(5) & JSimilarity(0.6)
    assert bayframe.bkaa(CELL, 8).requirement == KAnonymity(8) & BetaLikeness(5) & JSimilarity(0.6)
    assert bayframe.bkaa(CELL, beta=None).requirement == KAnonymity(3) & JSimilarity(0.6) & close
    assert {(each.patience, each.judged) for each in (bayframe.js_reduce(CELL), bayframe.bkaa(CELL))} == {
        (None, "view")
    }


@pytest.mark.parametrize(("reading", "size", "base"), [("stated", 8, 2), ("size 16", 16, 2), ("nats", 8, np.e)])
def test_a_reading_changes_one_thing(reading, size, base):
    cell = CELL | {"reading": reading}
    assert (bayframe.mixed(cell).size, bayframe.bkaa(cell).base) == (size, pytest.approx(base))


def test_chains_are_mined_from_the_microdata():
    known = bayframe.bkseq(1)
    assert known.chains == {steps: MarkovChain.fit(known.history, steps) for steps in (1, 2)}


def test_rows_are_the_measures_of_the_releases():
    rows = bayframe.cascades(CELL, None)
    known = bayframe.bkseq(1)
    (framework, *_) = bayframe.cascading(CELL, bayframe.BETA, (0.1,), (1,))
    claims = bayframe.claimed(known, 0.1, CELL)
    assert (len(claims), set(claims.frame["confidence"])) == (90, {0.9})
    adversary = framework.adversary(known, claims)
    releases = publish(known.history, framework.defense, adversary, rng=1)
    joint = Adversary(known.prior, MarkovChain.fit(known.history), claims, cascade=EvidenceCascade())
    for attacker, attack in {"own": SequentialAttack(adversary), "joint": JointAttack(joint)}.items():
        own = rows.query(f"framework == 'BayFrame+Prior' and sigma > .05 and steps == 1 and attacker == '{attacker}'")
        beliefs = attack(releases)
        expected = {
            "gain": adversary_gain(beliefs, known.history, absolute=True)["gain"],
            "others": adversary_gain(beliefs, known.history, absolute=True, leaving_out=claims)["gain"],
            "signed": adversary_gain(beliefs, known.history)["gain"],
            "gcp": gcp(releases, width="table")["gcp_total"],
            "linkage": record_linkage(releases)["linkage_sum"],
            "suppressed": suppressed(releases)["suppressed"],
        }
        for name, values in list(expected.items())[: 6 if attacker == "own" else 3]:
            assert np.allclose(own[name], values, atol=6e-5 if name in ("gain", "others", "signed") else 0.06)


def test_frameworks_and_adversaries_of_each_figure():
    def found(rows):
        return set(rows[["framework", "attacker"]].itertuples(index=False, name=None))

    three = ("JS-reduce", "JS-reduce, Omega", "BayFrame, algorithm of JS-reduce", "BayFrame")
    forward = {("JS-reduce, Omega", "joint, forward"), ("BayFrame", "joint, forward")}
    assert found(bayframe.estimators(CELL, None)) == {(name, by) for name in three for by in ("own", "joint")} | forward
    attackers = (
        "BayFrame",
        "BayFrame+Compromised, prior",
        "BayFrame+Compromised, posterior",
        "joint",
        "joint, compromised",
    )
    assert found(bayframe.compromised(CELL, None)) == {(k, by) for k in ("k=3", "k=8") for by in attackers}
    of_figure_11 = {name for name, _ in found(bayframe.frameworks(CELL, None))}
    assert of_figure_11 == {"BayFrame+Prior", "BayFrame+Posterior", "JS-reduce+Prior", "JS-reduce+Prior, Omega"}
