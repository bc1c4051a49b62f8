"""Experiments of BayFrame at a small size: settings of the frameworks, rows against their measures, and what reads them."""

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import BetaLikeness, JSimilarity, KAnonymity, TCloseness, publish
from foreknow.evaluation import adversary_gain, gcp, record_linkage, suppressed
from foreknow.evaluation.papers import bayframe
from foreknow.evaluation.papers.claims import all_claims
from foreknow.evaluation.papers.drawing import answered, draw, means
from foreknow.models import Adversary, EvidenceCascade, MarkovChain

CELL = {"seed": 2, "reading": "stated"}
CLAIMS = [claim for claim in all_claims() if claim.paper == "bayframe" and claim.query]


@pytest.fixture(scope="module")
def small():
    """Twenty views of 60 records, also in place of Adult."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bayframe, "VIEWS", 20)
        patch.setattr(bayframe, "RECORDS", 60)
        patch.setattr(bayframe, "adult_releases", bayframe.bkseq)
        bayframe.bkseq.cache_clear()
        yield
        bayframe.bkseq.cache_clear()


@pytest.fixture(scope="module")
def tables(small):
    """Rows of a cell of each experiment, also as those of the other readings."""
    found = {}
    for each in bayframe.EXPERIMENTS:
        rows = each.measure(CELL, None).assign(**CELL, seconds=1.0)
        found[each.name] = pd.concat([rows.assign(reading=name) for name in bayframe.READINGS])
    return found


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


def test_chains_are_mined_from_the_microdata(small):
    known = bayframe.bkseq(2)
    assert known.chains == {steps: MarkovChain.fit(known.history, steps) for steps in (1, 2)}


def test_rows_are_the_measures_of_the_releases(tables):
    known, rows = (
        bayframe.bkseq(2),
        tables["bayframe_cascades"].query("reading == 'stated' and steps == 1 and sigma > .05"),
    )
    (framework, *_) = bayframe.cascading(CELL, bayframe.BETA, (0.1,), (1,))
    claims = bayframe.claimed(known, 0.1, CELL)
    assert (len(claims), set(claims.frame["confidence"])) == (120, {0.9})
    adversary = framework.adversary(known, claims)
    releases = publish(known.history, framework.defense, adversary, rng=2)
    joint = Adversary(known.prior, MarkovChain.fit(known.history), claims, cascade=EvidenceCascade())
    for attacker, attack in {"own": SequentialAttack(adversary), "joint": JointAttack(joint)}.items():
        own = rows.query(f"framework == 'BayFrame+Prior' and attacker == '{attacker}'")
        beliefs = attack(releases)
        others = adversary_gain(beliefs, known.history, absolute=True, leaving_out=claims)["gain"]
        for name, values in {
            "gain": adversary_gain(beliefs, known.history, absolute=True)["gain"],
            "others": others,
            "signed": adversary_gain(beliefs, known.history)["gain"],
        }.items():
            assert np.allclose(own[name], values, atol=6e-5, equal_nan=True)
    own = rows.query("framework == 'BayFrame+Prior' and attacker == 'own'")
    assert np.allclose(own["gcp"], gcp(releases, width="table")["gcp_total"], atol=0.06)
    assert np.allclose(own["linkage"], record_linkage(releases)["linkage_sum"], atol=0.06)
    assert np.allclose(own["suppressed"], suppressed(releases)["suppressed"])


def test_frameworks_and_adversaries_of_each_experiment(tables):
    found = {
        name: set(rows[["framework", "attacker"]].itertuples(index=False, name=None))
        for name, rows in tables.items()
        if name != "bayframe_stronger"
    }
    four = ("JS-reduce", "JS-reduce, Omega", "BayFrame, algorithm of JS-reduce", "BayFrame")
    forward = {("JS-reduce, Omega", "joint, forward"), ("BayFrame", "joint, forward")}
    assert found["bayframe_estimators"] == {(name, by) for name in four for by in ("own", "joint")} | forward
    attackers = (
        "BayFrame",
        "BayFrame+Compromised, prior",
        "BayFrame+Compromised, posterior",
        "joint",
        "joint, compromised",
    )
    assert found["bayframe_compromised"] == {(k, by) for k in ("k=3", "k=8") for by in attackers}
    both = {"BayFrame+Prior", "BayFrame+Posterior"}
    assert {name for name, _ in found["bayframe_cascades"]} == {name for name, _ in found["bayframe_adult"]} == both
    of_figure_11 = {name for name, _ in found["bayframe_frameworks"]}
    assert of_figure_11 == both | {"JS-reduce+Prior", "JS-reduce+Prior, Omega"}


def test_every_figure_is_drawn_with_each_line(tables):
    for figure in bayframe.FIGURES:
        if figure.kind != "table":
            draw(figure, means(figure, tables)).canvas.draw()
    lines = {figure.name: len(set(means(figure, tables)["line"])) for figure in bayframe.FIGURES}
    assert lines == {
        "3a": 6,
        "3b": 6,
        "4a": 8,
        "4b": 8,
        "5a": 4,
        "5b": 4,
        "6": 4,
        "7a": 4,
        "7b": 4,
        "8": 4,
        "9a": 6,
        "9b": 6,
        "10": 3,
        "11a": 8,
        "11b": 8,
        "Section 6.3, further adversaries": 2,
    }


def test_a_map_has_no_point_of_a_release_without_records(tables):
    rows = tables["bayframe_adult"]
    emptied = rows.assign(**dict.fromkeys(["gain", "gcp", "linkage"], np.nan)).assign(gcp=0.0, linkage=0.0)
    mixed = tables | {"bayframe_adult": pd.concat([rows, emptied.assign(seed=3)])}
    for name in ("7a", "8"):
        (figure,) = (each for each in bayframe.FIGURES if each.name == name)
        pd.testing.assert_frame_equal(means(figure, mixed), means(figure, tables))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))
def test_every_query_of_a_claim_gives_one_row_per_seed(claim, tables):
    for query in filter(None, (claim.query, claim.strongest, *(each.query for each in claim.reading))):
        assert answered(query, tables)[["seed", "value"]].shape == (1, 2)
