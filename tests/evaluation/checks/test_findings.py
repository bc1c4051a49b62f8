"""Findings over several releases: priors revised from the earlier ones, and failing groups counted by hand."""

import numpy as np
import pandas as pd
import pytest
from oracle import divergence
from strategies import view_of

from foreknow.defenses import JSimilarity, KAnonymity, MInvariance
from foreknow.evaluation.checks.certificate import FINDINGS, invariance_findings, release_findings
from foreknow.models import Adversary, Averaged, MarkovChain, Omega, Release, UniformPrior

CHANGE = np.array([[0.9, 0.1], [0.3, 0.7]])
ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, CHANGE), estimator=Omega())
FIRST = Release(view_of("ABCD", "abbb", time=1, domain="ab"), [0, 0, 1, 1])
SECOND = Release(view_of("ACBD", "abab", time=2, domain="ab"), [0, 0, 1, 1])


def test_priors_are_those_after_the_releases_before():
    """A and B share a and b, C and D are sure of b; the second release groups A with C and B with D."""
    rows = release_findings([FIRST, SECOND], KAnonymity(2) & JSimilarity(0.3), ADVERSARY).to_dict("records")
    uncertain, sure = np.array([0.5, 0.5]) @ CHANGE, CHANGE[1]
    level = divergence([uncertain.tolist(), sure.tolist()])
    assert [row["time"] for row in rows] == [1, 1, 2, 2]
    assert [row["groups"] for row in rows] == [2] * 4
    assert [row["failing"] for row in rows] == [0] * 4
    ends = [(row["lowest"], row["highest"]) for row in rows]
    assert ends == [(2, 2), (0, 0), (2, 2), pytest.approx((level, level))]
    (failing,) = release_findings([FIRST, SECOND], JSimilarity(level / 2), ADVERSARY).iloc[1:].to_dict("records")
    assert (failing["bound"], failing["failing"]) == (level / 2, 2)


@pytest.mark.parametrize("adversary", [None, Averaged((ADVERSARY, ADVERSARY))])
def test_beliefs_are_left_out_without_one_adversary(adversary):
    found = release_findings([FIRST, SECOND], KAnonymity(3) & JSimilarity(0.3), adversary)
    assert found["requirement"].tolist() == ["KAnonymity(k=3)"] * 2
    assert found["failing"].tolist() == [2, 2]


def test_a_release_without_groups_has_no_levels():
    (row,) = release_findings([Release(FIRST.view, [-1] * 4)], KAnonymity(2), None).to_dict("records")
    assert (row["groups"], row["failing"]) == (0, 0)
    assert np.isnan([row["lowest"], row["highest"]]).all()


def test_failing_groups_of_m_invariance():
    """Of the second release's three groups two show a value twice; in the third, a signature changes from {a, b}."""
    first = Release(view_of("ABCD", "abab", time=1, domain="abc"), [0, 0, 1, 1])
    broken = Release(view_of("EFGHIJ", "aabbac", time=2, domain="abc"), [0, 0, 1, 1, 2, 2])
    changed = Release(view_of("AEBF", "acab", time=3, domain="abc"), [0, 0, 1, 1])
    found = invariance_findings([first, broken, changed], MInvariance(2))
    expected = [(1, 2, 0), (2, 3, 2), (3, 2, 1)]
    name = "MInvariance(m=2)"
    rows = [(time, name, 2.0, groups, failing, np.nan, np.nan) for time, groups, failing in expected]
    pd.testing.assert_frame_equal(found, pd.DataFrame(rows, columns=FINDINGS))
