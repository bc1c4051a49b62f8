"""A certificate says what verify finds, and depends on nothing that the published tables do not show."""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreknow.defenses import (
    MASK,
    UHRA,
    Anatomy,
    BTPrivacy,
    DistinctDiversity,
    GroupPredicate,
    JSimilarity,
    JSReduce,
    KAnonymity,
    MInvariance,
    Mondrian,
    Requirement,
    TCloseness,
    publish,
)
from foreknow.evaluation import certificate, exams, verify
from foreknow.evaluation.checks.certificate import NOT_COVERED
from foreknow.models import Adversary, Grouping, History, Omega, Release, UniformPrior, View

SIMULATED = exams(views=2, records=60, rng=5)
HISTORY = SIMULATED.history
ADVERSARY = Adversary(UniformPrior(), SIMULATED.transitions, estimator=Omega())


def permuted(history, groups, rng):
    """The same history with the true values permuted within the groups of each view."""
    views = []
    for view, labels in zip(history, groups, strict=True):
        frame = view.frame.copy()
        values = frame[view.schema.sensitive].to_numpy(copy=True)
        for group in np.unique(labels):
            values[labels == group] = rng.permutation(values[labels == group])
        views.append(View(frame.assign(**{view.schema.sensitive: values}), view.schema, view.time))
    return History(views)


def test_what_was_enforced_measured_and_assumed():
    defense = JSReduce(3, 0.7, 0.6, patience=20)
    releases = publish(HISTORY, defense, ADVERSARY)
    found = certificate(releases, defense, ADVERSARY)
    assert found.verdict == "passed"
    assert found.content["format"] == 1
    assert [one["parameters"] for one in found.enforced["requirements"]] == [
        {"k": 3},
        {"t": 0.7, "distance": "equal"},
        {"j": 0.6, "base": 2.0},
    ]
    assert found.enforced["unchecked"] == []
    assert found.enforced["seed"] == "128 bits of fresh entropy, kept by the publisher"
    assert found.measured["verified"] is True
    for release, stated in zip(releases, found.measured["releases"], strict=True):
        levels = verify(release, KAnonymity(3) & TCloseness(0.7)).groupby("requirement")["level"]
        rows = {row["requirement"]: row for row in stated["requirements"]}
        assert rows["KAnonymity(k=3)"]["worst"] == levels.min()["KAnonymity(k=3)"]
        closeness = next(row for name, row in rows.items() if name.startswith("TCloseness"))
        assert closeness["worst"] == pytest.approx(levels.max()[closeness["requirement"]])
        beliefs = next(row for name, row in rows.items() if name.startswith("JSimilarity"))
        assert (beliefs["failing"], beliefs["worst"]) == (0, None)
        assert stated["records"] == 60
        assert stated["suppressed"] == (release.group < 0).sum()
    assert found.assumed["adversary"]["order"] == 1
    assert set(NOT_COVERED) <= set(found.assumed["not_covered"])


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_it_does_not_depend_on_who_has_which_value(seed):
    rng = np.random.default_rng(seed)
    releases = publish(HISTORY, Mondrian(KAnonymity(4)), rng=rng)
    groups = [release.group for release in releases]
    others = [
        Release(view, release.grouping) for view, release in zip(permuted(HISTORY, groups, rng), releases, strict=True)
    ]
    for defense, adversary in ((JSReduce(3, 0.5, 0.6), ADVERSARY), (Mondrian(KAnonymity(4)), None)):
        one, other = (certificate(some, defense, adversary).content for some in (releases, others))
        assert one == other


@pytest.mark.parametrize("defense", [Anatomy(2), MInvariance(2), MASK(3, 2), UHRA(3, 0.7, 0.6)], ids=repr)
def test_every_defense_has_what_the_checker_knows(defense):
    releases = publish(HISTORY, defense, ADVERSARY)
    found = certificate(releases, defense, ADVERSARY)
    assert found.verdict == "passed"
    assert all(release["requirements"] for release in found.measured["releases"])
    assert bool(found.enforced["unchecked"]) == isinstance(defense, UHRA)


def test_failing_relaxed_and_not_verified():
    releases = publish(HISTORY, Mondrian(KAnonymity(2)))
    failed = certificate(releases, Mondrian(KAnonymity(50)))
    assert failed.verdict == "failed"
    groups = sum(release.groups for release in releases)
    assert failed.failing == {"KAnonymity(k=50)": groups}
    assert (
        failed.sentence
        == f"FAILED: published groups do not satisfy KAnonymity(k=50) ({groups} groups); do not publish."
    )
    relaxed = certificate(releases, JSReduce(50, 0.5, 0.6, leftovers="relax"), ADVERSARY)
    assert relaxed.verdict == "relaxed"
    unverified = certificate(releases, Mondrian(KAnonymity(2)), verified=False)
    assert unverified.verdict == "not verified"
    assert unverified.enforced["unchecked"] == ["KAnonymity(k=2) was not recomputed: no verification was asked for."]
    assert unverified.sentence == "Not checked. KAnonymity(k=2) was not recomputed: no verification was asked for."
    assert unverified.measured["verified"] is False
    assert [release["requirements"] for release in unverified.measured["releases"]] == [[], []]


@dataclass(frozen=True)
class Blocks:
    """Groups of k records in the order of the rows, which state no requirement."""

    k: int
    m: int = 2

    def __call__(self, view, *_):
        return Grouping(np.arange(len(view)) // self.k)


@dataclass(frozen=True)
class Judged(Blocks):
    """The same groups, with a requirement."""

    requirement: Requirement | None = None


class OwnRule(GroupPredicate):
    """A requirement that the checker has no definition of."""

    sense, bound = "at least", 1.0

    def level(self, summary):
        return summary.size.astype(float)

    def __repr__(self):
        return "OwnRule()"


class TestPromises:
    """Promises that a defense was asked for and does not state are verified."""

    def test_they_are_verified(self):
        releases = publish(HISTORY, Blocks(5))
        found = certificate(releases, Blocks(5), promises=KAnonymity(5))
        assert (found.verdict, found.enforced["unchecked"]) == ("passed", ["m = 2: no published table shows it."])
        assert found.enforced["requirements"] == [
            {"name": "KAnonymity", "parameters": {"k": 5}, "text": "KAnonymity(k=5)"}
        ]
        assert found.measured["releases"][0]["requirements"][0]["worst"] == 5
        assert certificate(releases, Blocks(5), promises=KAnonymity(6)).verdict == "failed"

    def test_beside_a_requirement_each_counts_once(self):
        defense = Judged(5, requirement=KAnonymity(3))
        found = certificate(publish(HISTORY, defense), defense, promises=KAnonymity(3) & DistinctDiversity(1))
        texts = [one["text"] for one in found.enforced["requirements"]]
        assert texts == ["KAnonymity(k=3)", "DistinctDiversity(l=1)"]

    def test_without_any_the_reason_is_told(self):
        found = certificate(publish(HISTORY, Mondrian(KAnonymity(5))), lambda *_: None)
        assert found.sentence == "Not checked. The defense states no requirement, and no threshold is given."

    def test_a_requirement_of_your_own_is_named(self):
        defense = Judged(5, requirement=OwnRule() & KAnonymity(3))
        found = certificate(publish(HISTORY, defense), defense)
        assert found.verdict == "passed"
        assert "OwnRule() was not recomputed: the checker has no definition of it." in found.enforced["unchecked"]
        assert found.failing == {}
        alone = certificate(publish(HISTORY, defense), Judged(5, requirement=OwnRule()))
        assert alone.sentence.startswith("Not checked. OwnRule() was not recomputed: the checker has no definition")

    def test_beliefs_need_an_adversary(self):
        defense = Judged(5, requirement=JSimilarity(0.6))
        found = certificate(publish(HISTORY, defense, ADVERSARY), defense)
        assert "it is on beliefs, and no adversary is assumed" in found.sentence

    def test_of_another_kind(self):
        with pytest.raises(TypeError, match="promises is 3"):
            certificate([], Blocks(5), promises=3)


def test_one_failing_group_fails():
    view = View(HISTORY[0].frame.head(5), HISTORY[0].schema)
    found = certificate([Release(view, [0, 0, 0, 0, 1])], Mondrian(KAnonymity(2)))
    assert found.verdict == "failed"
    assert found.sentence == "FAILED: published groups do not satisfy KAnonymity(k=2) (1 group); do not publish."


def test_a_level_of_a_kernel_prior_is_not_told():
    """The prior of (B, t)-privacy is fitted to the true values."""
    releases = publish(HISTORY, Mondrian(KAnonymity(4)))
    rows = certificate(releases, Mondrian(BTPrivacy(1.0, 0.5))).measured["releases"][0]["requirements"]
    assert [row["worst"] for row in rows] == [None]


def test_files_and_seed(tmp_path):
    (tmp_path / "published.csv").write_text("a")
    defense = Anatomy(2, rng=np.random.default_rng(987654321))
    found = certificate(publish(HISTORY, defense), defense, seeded=True, files=[tmp_path / "published.csv"])
    assert found.files == {"published.csv": hashlib.sha256(b"a").hexdigest()}
    found.write(tmp_path / "certificate.json")
    text = (tmp_path / "certificate.json").read_text()
    assert json.loads(text) == found.content
    assert "987654321" not in text
    assert "given by the publisher" in found.enforced["seed"]
    for wrong in (Mondrian, 3):
        with pytest.raises(TypeError, match=r"certificate: defense is .*; it is a settings object, as Mondrian"):
            certificate([], wrong)
    with pytest.raises(TypeError, match=r"certificate: files is 3; it is a list of paths\."):
        certificate([], defense, files=3)
