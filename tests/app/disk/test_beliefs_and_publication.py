"""Refusals from disk, permissions of private files, and missing parts."""

import dataclasses
import json
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from large_history import bytes_of, in_memory, visits

from foreknow.app.disk import LargeTable, attack_large, measure_large, publish_large, verify_large
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk import publication as publication_module
from foreknow.app.disk import published_block as settling_module
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.published_block import check_block_requirement
from foreknow.app.publication import differences, listing_of
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import BTPrivacy, JSReduce, KAnonymity, Mondrian, PosteriorBound, TCloseness
from foreknow.models import (
    Adversary,
    GroupMessages,
    History,
    KernelPrior,
    MarkovChain,
    Omega,
    PriorByTime,
    UniformPrior,
    View,
)

CHAIN = MarkovChain(1, 0.6 * np.eye(4) + 0.1)
ADVERSARY = Adversary(UniformPrior(), CHAIN, estimator=Omega())


def on_disk(tmp_path, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


def published_visits(tmp_path, k=4, name="out", **settings):
    table = on_disk(tmp_path, visits(people=120, releases=2))
    return publish_large(table, Mondrian(KAnonymity(k)), tmp_path / name, block=40, seed=1, **settings)


@dataclasses.dataclass(frozen=True)
class Halfway:
    """A prior of a user, made of another one."""

    other: Callable[..., object]

    def __call__(self, people):
        return self.other(people) / 2 + 1 / 8


@pytest.mark.parametrize(
    "wrapped",
    [lambda one: one, lambda one: PriorByTime({0: UniformPrior(), 1: one}), lambda one: Halfway(PriorByTime({0: one}))],
    ids=["alone", "by time", "in another prior"],
)
def test_a_kernel_prior_without_the_own_record_is_refused_from_disk(tmp_path, wrapped):
    frame = visits(people=40, releases=2)
    table = on_disk(tmp_path, frame)
    history = History.read(frame, table.schema, "week")
    adversary = Adversary(wrapped(KernelPrior.fit(history, 0.3, leave_one_out=True)), CHAIN, estimator=Omega())
    published = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out")
    words = "adversary is .*; from disk it has .* a prior that does not read respondents, .* use"
    with pytest.raises(ValueError, match=f"attack_large: .*{words} SequentialAttack"):
        attack_large(published, adversary, tmp_path / "beliefs")
    with pytest.raises(ValueError, match=f"measure_large: {words} SequentialAttack"):
        measure_large(published, tmp_path / "beliefs", adversary)
    with pytest.raises(ValueError, match=f"publish_large: {words} publish"):
        publish_large(table, JSReduce(3, 0.5, 0.6), tmp_path / "j", adversary)


def test_a_kernel_prior_of_all_records_is_that_in_memory(tmp_path):
    frame = visits(people=40, releases=1)
    table = on_disk(tmp_path, frame)
    adversary = Adversary(KernelPrior.fit(History.read(frame, table.schema, "week"), 0.3), estimator=Omega())
    published = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out")
    found = measure_large(published, attack_large(published, adversary, tmp_path / "beliefs"), adversary)
    (release,) = in_memory(published, frame)
    rows = SequentialAttack(adversary)([release]).releases[0].posterior.probabilities
    true = rows[np.arange(len(rows)), release.view.sensitive]
    np.testing.assert_allclose(found.risk["confidence"], true.mean(), atol=1e-12)


def test_beliefs_about_another_publication_are_refused(tmp_path):
    loose, strict = published_visits(tmp_path, 4, "loose"), published_visits(tmp_path, 9, "strict")
    for attack in (SequentialAttack(ADVERSARY), JointAttack(ADVERSARY, GroupMessages())):
        beliefs = attack_large(loose, attack, tmp_path / type(attack).__name__)
        with pytest.raises(
            ValueError, match=r"beliefs of .* are about another publication than .*strict; name the folder"
        ):
            measure_large(strict, beliefs, ADVERSARY)
        before = measure_large(loose, beliefs, ADVERSARY)
        shutil.copytree(loose.folder, moved := tmp_path / "moved")
        assert measure_large(LargeReleases(moved), beliefs, ADVERSARY).risk.equals(before.risk)
        shutil.rmtree(moved)


@pytest.mark.parametrize(
    "requirement",
    [
        BTPrivacy(0.3, 0.2),
        KAnonymity(3) & BTPrivacy.skyline([(0.2, 0.9), (None, 0.6)]),
        KAnonymity(9) | BTPrivacy(0.3, 0.2),
    ],
    ids=["alone", "skyline", "either"],
)
def test_a_requirement_that_fits_a_prior_to_the_view_is_refused(tmp_path, requirement):
    words = (
        r"BTPrivacy\(.* is fitted to all records of a view.* in memory, or give the prior to adversary= and take band"
    )
    with pytest.raises(ValueError, match=f"publish_large: {words}"):
        publish_large(on_disk(tmp_path, visits(people=40)), Mondrian(requirement), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match=f"verify_large: {words}"):
        verify_large(published_visits(tmp_path), requirement)


def test_requirements_on_the_records_of_a_view_are_refused_and_those_on_priors_and_counts_are_not(tmp_path):
    for one in (
        KAnonymity(3) & TCloseness(0.4),
        BTPrivacy(None, 0.2),
        PosteriorBound(0.3),
        JSReduce(3, 0.5, 0.6).requirement,
    ):
        check_block_requirement("publish_large", one)
    frame = visits(people=40, releases=1)
    schema = on_disk(tmp_path, frame).schema
    view = View(frame, schema)
    prior = np.full((len(view), 4), 0.25)
    for one in (PosteriorBound(0.3).bind(view, prior), (KAnonymity(2) & BTPrivacy(None, 0.2)).bind(view, prior)):
        with pytest.raises(ValueError, match=r"is fitted to all records of a view.* verify in memory\."):
            check_block_requirement("publish_large", one)


def mode(path):
    return path.stat().st_mode & 0o777


def test_what_is_private_is_for_its_owner_alone_in_folders_that_exist(tmp_path):
    for folder in (tmp_path / "out" / "private", tmp_path / "beliefs", tmp_path / "joint"):
        folder.mkdir(parents=True)
        folder.chmod(0o755)
    published = published_visits(tmp_path)
    attack_large(published, JointAttack(ADVERSARY, GroupMessages()), tmp_path / "joint")
    beliefs = attack_large(published, ADVERSARY, tmp_path / "beliefs")
    measure_large(published, beliefs, ADVERSARY, sure=0.3, at_risk=tmp_path / "risk.parquet")
    assert [mode(tmp_path / name) for name in ("out/private", "beliefs", "joint")] == [0o700] * 3
    assert mode(tmp_path / "risk.parquet") == 0o600


def test_parts_of_a_publication_that_are_missing_are_named(tmp_path):
    published = published_visits(tmp_path, adversary=ADVERSARY)
    beliefs = attack_large(published, ADVERSARY, tmp_path / "beliefs")
    part, record = (
        published.folder / name / "release-0001" / "part-00001.parquet"
        for name in ("public/published.parquet", "private/groups.parquet")
    )
    shutil.copy(part, further := part.with_name("part-00009.parquet"))
    with pytest.raises(
        ValueError, match=r"verify_large: public/published.parquet/release-0001/part-00009\.parquet of .* is extra"
    ):
        verify_large(published, KAnonymity(2))
    further.unlink()
    content = part.read_bytes()
    part.unlink()
    with pytest.raises(
        ValueError,
        match=r"verify_large: public/published.parquet/release-0001/part-00001\.parquet of .* is missing; rest",
    ):
        verify_large(published, KAnonymity(2))
    part.write_bytes(content)
    (published.folder / "private" / "beliefs" / "release-0000" / "part-00000.parquet").unlink()
    verify_large(published, KAnonymity(2))
    with pytest.raises(ValueError, match=r"verify_large: private/beliefs/release-0000/part-00000\.parquet"):
        verify_large(published, JSReduce(3, 0.5, 0.6).requirement, ADVERSARY)
    record.unlink()
    for name, run in [
        ("verify", lambda: verify_large(published, KAnonymity(2))),
        ("attack", lambda: attack_large(published, ADVERSARY, tmp_path / "again")),
        ("measure", lambda: measure_large(published, beliefs, ADVERSARY)),
    ]:
        with pytest.raises(
            ValueError, match=rf"{name}_large: private/groups.parquet/release-0001/part-00001\.parquet of .* is miss"
        ):
            run()


@pytest.mark.parametrize("folder", ["public/published.parquet", "private/groups.parquet", "private/beliefs"])
def test_parts_of_a_publication_that_were_changed_are_named(tmp_path, folder):
    """Another part, as whole as the one that was published, is no less a change than a damaged one."""
    published = published_visits(tmp_path, adversary=ADVERSARY)
    beliefs = attack_large(published, ADVERSARY, tmp_path / "beliefs")
    part = published.folder / folder / "release-0001" / "part-00001.parquet"
    shutil.copy(part.with_name("part-00000.parquet"), part)
    runs = {
        "verify": lambda: verify_large(published, JSReduce(3, 0.5, 0.6).requirement, ADVERSARY),
        "attack": lambda: attack_large(published, ADVERSARY, tmp_path / "again"),
        "measure": lambda: measure_large(published, beliefs, ADVERSARY),
    }
    for name in runs if folder == "private/groups.parquet" else ["verify"]:
        with pytest.raises(
            ValueError, match=rf"{name}_large: {folder}/release-0001/part-00001\.parquet of .* is changed"
        ):
            runs[name]()
    assert not (tmp_path / "again").exists()


def stopped(monkeypatch, module, name, run, calls):
    """Run until the given number of calls of a function, then stop as by Ctrl-C."""
    whole, made = getattr(module, name), []

    def counting(*arguments, **settings):
        made.append(1)
        if len(made) == calls:
            raise KeyboardInterrupt
        return whole(*arguments, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(module, name, counting)
        with pytest.raises(KeyboardInterrupt):
            run()


@pytest.mark.parametrize("lost", ["public/published.parquet", "private/groups.parquet", "private/beliefs"])
def test_a_block_whose_part_was_lost_is_published_again(tmp_path, monkeypatch, lost):
    whole = published_visits(tmp_path, name="whole", adversary=ADVERSARY)

    def run():
        return published_visits(tmp_path, adversary=ADVERSARY)

    stopped(monkeypatch, publication_module, "publish_block", run, 3)
    (tmp_path / "out" / lost / "release-0000" / "part-00000.parquet").unlink()
    published = run()
    assert differences(published.folder, listing_of(published.folder)) == []
    assert bytes_of(published.folder) == bytes_of(whole.folder)


def test_a_block_whose_part_was_lost_during_further_passes_is_published_again(tmp_path, monkeypatch):
    """A block that a pass changed lists what it suppresses after each pass."""
    visits(people=600, releases=1, seed=4, values=5).to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    adversary = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(5) + 0.08), estimator=Omega())

    def run(name="out"):
        return publish_large(table, JSReduce(3, 0.4, 0.6, patience=12), tmp_path / name, adversary, block=60, seed=1)

    whole = run("whole").folder
    done = [json.loads(path.read_text()) for path in (whole / "private" / "done").rglob("*.json")]
    assert any(len(one["left_out"]) > 1 for one in done)
    stopped(monkeypatch, settling_module, "settle_block", run, 5)
    (tmp_path / "out" / "public" / "published.parquet" / "release-0000" / "part-00001.parquet").unlink()
    assert bytes_of(run().folder) == bytes_of(whole)


def test_a_block_whose_beliefs_were_lost_is_attacked_again(tmp_path, monkeypatch):
    published = published_visits(tmp_path)
    whole = attack_large(published, ADVERSARY, tmp_path / "whole")

    def run():
        return attack_large(published, ADVERSARY, tmp_path / "beliefs")

    stopped(monkeypatch, attack_module, "attack_block", run, 3)
    (tmp_path / "beliefs" / "release-0000" / "part-00000.parquet").unlink()
    assert bytes_of(run()) == bytes_of(whole)


def test_the_numbers_of_doubtful_groups_are_whole_where_nothing_is_published(tmp_path):
    published = published_visits(tmp_path, k=500)
    assert [one.groups for one in published.releases] == [0, 0]
    for number, attack in enumerate(
        (
            SequentialAttack(ADVERSARY),
            JointAttack(ADVERSARY, GroupMessages()),
            JointAttack(ADVERSARY, GroupMessages(), hindsight=False),
        )
    ):
        text = (attack_large(published, attack, tmp_path / f"{number}") / "manifest.json").read_text()
        assert str(json.loads(text)["doubtful_groups"]) == "[0, 0]"
