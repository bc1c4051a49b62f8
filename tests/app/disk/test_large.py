"""Tables on disk: the same groups, beliefs and verdicts as in memory, whatever the workers and the memory."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from large_history import beliefs_of, bytes_of, in_memory, parts_of, visits

from foreknow.app.disk import (
    Engine,
    LargeTable,
    attack_large,
    measure_large,
    publish_large,
    published_block,
    verify_large,
)
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk import publication as publication_module
from foreknow.app.disk.begun_runs import AlreadyComplete
from foreknow.app.disk.knowledge import learn_from_disk
from foreknow.app.disk.parts import block_ranges
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.sorted_records import curve_index
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import (
    BKAA,
    Anatomy,
    BTPrivacy,
    DistinctDiversity,
    FullDomain,
    JSimilarity,
    JSReduce,
    KAnonymity,
    MInvariance,
    Mondrian,
    PosteriorBound,
    TCloseness,
    publish,
)
from foreknow.defenses.algorithms.hilbert import hilbert_words
from foreknow.defenses.requirements.requirement import AnyOf
from foreknow.evaluation import verify
from foreknow.models import Adversary, GivenPrior, GroupMessages, MarkovChain, PriorByTime, Schema, UniformPrior
from foreknow.models.estimators import Auto, Exact, Omega, Sinkhorn

CHAIN = MarkovChain(1, 0.6 * np.eye(4) + 0.1)


def on_disk(tmp_path, frame, name="visits.parquet"):
    frame.to_parquet(tmp_path / name)
    return LargeTable.infer(tmp_path / name, ["age", "sex", "place"], time="week")


@pytest.mark.parametrize("gaps", ["ignore", "power"])
@pytest.mark.parametrize(
    "estimator", [Omega(), Sinkhorn(), Exact(), Auto()], ids=["omega", "sinkhorn", "exact", "auto"]
)
def test_the_attack_is_that_in_memory(tmp_path, estimator, gaps):
    frame = visits()
    adversary = Adversary(UniformPrior(), CHAIN, estimator=estimator, gaps=gaps)
    published = publish_large(on_disk(tmp_path, frame), Mondrian(KAnonymity(4)), tmp_path / "out", block=50)
    folder = attack_large(published, adversary, tmp_path / "beliefs")
    releases = in_memory(published, frame)
    beliefs = SequentialAttack(adversary)(releases)
    for number, release in enumerate(releases):
        found = beliefs_of(folder, number, 4)
        assert set(found) == set(release.view.people.respondents[release.group >= 0])
        expected = beliefs.releases[number].posterior.probabilities
        rows = np.array([found[who] for who in release.view.people.respondents])
        np.testing.assert_allclose(rows, expected, atol=1e-12)


def test_the_publisher_assumes_what_the_adversary_believes(tmp_path):
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    published = publish_large(
        on_disk(tmp_path, visits()), JSReduce(3, 0.7, 0.6, patience=20), tmp_path / "out", adversary, block=60
    )
    assert sum(one.suppressed for one in published.releases) > 0
    attack_large(published, adversary, tmp_path / "beliefs")
    assumed = bytes_of(tmp_path / "out" / "private" / "beliefs")
    assert json.loads((tmp_path / "beliefs" / "manifest.json").read_text())["doubtful_groups"] == [0, 0, 0]
    assert assumed == parts_of(tmp_path / "beliefs")


def test_groups_of_one_block_are_those_of_publish(tmp_path):
    frame = visits(people=400, releases=1).drop_duplicates(["age", "sex", "place"])
    table = on_disk(tmp_path, frame)
    published = publish_large(table, Mondrian(KAnonymity(4) & DistinctDiversity(2)), tmp_path / "out")
    view = in_memory(published, frame)[0].view
    (expected,) = publish([view], Mondrian(KAnonymity(4) & DistinctDiversity(2)))
    (found,) = in_memory(published, frame)
    assert partition(found.group) == partition(expected.group)
    columns = [*table.schema.quasi_identifiers, "result"]
    rows = [pq.read_table(part).to_pandas() for part in (tmp_path / "out" / "public").rglob("part-*.parquet")]
    assert sorted(pd.concat(rows)[columns].values.tolist()) == sorted(expected.table[columns].values.tolist())


def partition(group):
    return {frozenset(np.flatnonzero(group == g).tolist()) for g in np.unique(group)}


@pytest.mark.parametrize(
    "defense",
    [JSReduce(3, 0.7, 0.6, patience=20), BKAA(3, 3, 0.6, patience=20), Anatomy(2)],
    ids=["js-reduce", "bkaa", "anatomy"],
)
def test_the_same_bytes_whatever_the_memory_and_the_order_of_the_file(tmp_path, defense):
    frame = visits()
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    made = []
    for number, engine in enumerate([Engine(memory=1), Engine(memory=3)]):
        shuffled = frame.sample(frac=1, random_state=number)
        table = on_disk(tmp_path, shuffled, f"visits-{number}.parquet")
        publish_large(table, defense, tmp_path / f"out-{number}", adversary, block=40, seed=7, engine=engine)
        made.append(
            {name: part for name, part in bytes_of(tmp_path / f"out-{number}").items() if name.endswith("parquet")}
        )
    assert made[0] == made[1]
    assert len(made[0]) == 3 * 3 * 4


@pytest.mark.slow
def test_the_same_bytes_with_two_processes(tmp_path):
    table, made = on_disk(tmp_path, visits()), []
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    for workers in (1, 2):
        engine, out = Engine(1, workers), tmp_path / f"out-{workers}"
        published = publish_large(table, JSReduce(3, 0.7, 0.6), out, adversary, block=40, seed=7, engine=engine)
        attack_large(published, adversary, tmp_path / f"beliefs-{workers}", engine=engine)
        made.append((bytes_of(out), bytes_of(tmp_path / f"beliefs-{workers}")))
    assert made[0] == made[1]


def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    table = on_disk(tmp_path, visits())
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    arguments = (table, JSReduce(3, 0.7, 0.6), tmp_path / "out", adversary)
    publish_block, calls = publication_module.publish_block, []

    def fails(task):
        calls.append(task)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return publish_block(task)

    monkeypatch.setattr(publication_module, "publish_block", fails)
    with pytest.raises(KeyboardInterrupt):
        publish_large(*arguments, block=40, seed=7)
    with pytest.raises(ValueError, match="is not a publication from disk"):
        LargeReleases(tmp_path / "out")
    monkeypatch.undo()
    for changed, words in (({"block": 41, "seed": 7}, "block"), ({"block": 40, "seed": 8}, "seed")):
        with pytest.raises(ValueError, match=f"holds something else: a run with another {words}; name a"):
            publish_large(*arguments, **changed)
    other = Adversary(UniformPrior(), estimator=Omega())
    with pytest.raises(ValueError, match="with another defense and another adversary"):
        publish_large(table, JSReduce(4, 0.7, 0.6), tmp_path / "out", other, block=40, seed=7)
    publish_large(*arguments, block=40, seed=7)
    publish_large(*arguments[:2], tmp_path / "whole", adversary, block=40, seed=7)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")
    with pytest.raises(ValueError, match="holds the result of this run"):
        publish_large(*arguments, block=40, seed=7)


def test_an_interrupted_attack_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    published = publish_large(on_disk(tmp_path, visits()), Mondrian(KAnonymity(4)), tmp_path / "out", block=40, seed=7)
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    write_part, written = attack_module.write_part, []

    def fails(path, part):
        written.append(path)
        if len(written) == 6:
            raise KeyboardInterrupt
        write_part(path, part)

    monkeypatch.setattr(attack_module, "write_part", fails)
    with pytest.raises(KeyboardInterrupt):
        attack_large(published, adversary, tmp_path / "beliefs")
    with pytest.raises(ValueError, match="has not ended; run it again"):
        measure_large(published, tmp_path / "beliefs", adversary)
    other = Adversary(UniformPrior(), CHAIN, estimator=Sinkhorn())
    with pytest.raises(ValueError, match="holds something else: a run with another attack"):
        attack_large(published, other, tmp_path / "beliefs")
    attack_large(published, adversary, tmp_path / "beliefs")
    assert len(written) == 1 + len({*written}) == 1 + len(parts_of(tmp_path / "beliefs"))
    attack_large(published, adversary, tmp_path / "whole")
    assert bytes_of(tmp_path / "beliefs") == bytes_of(tmp_path / "whole")
    with pytest.raises(AlreadyComplete, match="holds the result of this run"):
        attack_large(published, adversary, tmp_path / "beliefs")
    with pytest.raises(ValueError, match=r"visits\.parquet(, which)? is a file"):
        attack_large(published, adversary, tmp_path / "visits.parquet")


def test_an_adversary_that_cannot_be_written_begins_anew(tmp_path):
    published = publish_large(on_disk(tmp_path, visits()), Mondrian(KAnonymity(4)), tmp_path / "out")
    adversary = Adversary(lambda people: np.full((len(people), 4), 0.25), estimator=Omega())
    attack_large(published, adversary, tmp_path / "beliefs")
    with pytest.raises(ValueError, match="holds something else: a run with another"):
        attack_large(published, adversary, tmp_path / "beliefs")


@pytest.mark.parametrize(
    "strict",
    [
        KAnonymity(5) & TCloseness(0.3) & JSimilarity(0.1),
        PosteriorBound(0.2) & BTPrivacy(None, 0.05),
        AnyOf((KAnonymity(9), JSimilarity(0.05))),
    ],
    ids=["J-similarity", "posteriors", "any"],
)
def test_verdicts_are_those_in_memory(tmp_path, strict):
    frame = visits()
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    defense = JSReduce(3, 0.5, 0.6, patience=20)
    published = publish_large(on_disk(tmp_path, frame), defense, tmp_path / "out", adversary, block=60)
    found = verify_large(published, strict, adversary)
    releases = in_memory(published, frame)
    beliefs = SequentialAttack(adversary)(releases)
    for release in releases:
        expected = verify(release, strict, beliefs.revised(release.time)).groupby("requirement", sort=False)
        rows = found[found["time"] == release.time].set_index("requirement")
        failing = expected["holds"].agg(lambda holds: int((~holds).sum()))
        assert rows["failing"].to_dict() == failing.to_dict()
        np.testing.assert_allclose(rows["lowest"], expected["level"].min(), atol=1e-9)
        np.testing.assert_allclose(rows["highest"], expected["level"].max(), atol=1e-9)
    assert found["failing"].sum() > 0


@pytest.mark.parametrize("bound", [PosteriorBound(0.3), BTPrivacy(None, 0.3)], ids=["posterior", "BT"])
def test_requirements_on_the_beliefs_about_members(tmp_path, bound):
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    table = on_disk(tmp_path, visits())
    published = publish_large(table, Mondrian(KAnonymity(3) & bound), tmp_path / "out", adversary, block=60)
    assert not verify_large(published, KAnonymity(3) & bound, adversary)["failing"].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "defense", [JSReduce(3, 0.5, 0.6, patience=20), BKAA(3, 1, 0.6, leftovers="suppress", patience=20)]
)
def test_groups_satisfy_in_the_table_that_all_blocks_publish(tmp_path, monkeypatch, defense):
    table, adversary = on_disk(tmp_path, visits(people=600)), Adversary(UniformPrior(), CHAIN, estimator=Omega())
    failing = []
    settle = publication_module.settled_blocks
    for name, passes in (("alone", lambda _tasks, made, _engine: made), ("settled", settle)):
        monkeypatch.setattr(publication_module, "settled_blocks", passes)
        published = publish_large(table, defense, tmp_path / name, adversary, block=30, seed=1)
        failing.append(verify_large(published, defense.requirement, adversary)["failing"].sum())
        attack_large(published, adversary, tmp_path / f"beliefs-{name}")
        assert parts_of(tmp_path / f"beliefs-{name}") == bytes_of(tmp_path / name / "private" / "beliefs")
    assert failing[0] > 0
    assert failing[1] == 0


@pytest.mark.slow
def test_an_interrupted_pass_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    table, adversary = on_disk(tmp_path, visits(people=600, releases=1)), Adversary(UniformPrior(), CHAIN)
    arguments = (table, JSReduce(3, 0.5, 0.6, patience=20))
    publish_large(*arguments, tmp_path / "whole", adversary, block=30, seed=1)
    write, written = published_block.write_json, []

    def fails_after_the_parts(path, content):
        if len(content.get("left_out", ())) > 1:
            written.append(path)
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(published_block, "write_json", fails_after_the_parts)
    with pytest.raises(KeyboardInterrupt):
        publish_large(*arguments, tmp_path / "out", adversary, block=30, seed=1)
    monkeypatch.undo()
    publish_large(*arguments, tmp_path / "out", adversary, block=30, seed=1)
    assert written
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_a_block_that_cannot_be_published_is_suppressed(tmp_path):
    frame = visits(people=300, releases=2)
    frame.loc[frame["age"] < 80, "result"] = "v0"
    published = publish_large(
        on_disk(tmp_path, frame), Mondrian(DistinctDiversity(2)), tmp_path / "out", block=30, seed=1
    )
    assert any("of these blocks are suppressed" in note for one in published.releases for note in one.notes)
    found = verify_large(published, DistinctDiversity(2))
    assert found["failing"].sum() == 0
    assert found["groups"].tolist() == [one.groups for one in published.releases]
    folder = attack_large(published, Adversary(UniformPrior(), CHAIN, estimator=Omega()), tmp_path / "beliefs")
    assert len(beliefs_of(folder, 1, 4)) == published.releases[1].records - published.releases[1].suppressed


def test_the_release_holds_nothing_of_the_publisher(tmp_path):
    published = publish_large(on_disk(tmp_path, visits()), Mondrian(KAnonymity(4)), tmp_path / "out", block=50)
    for part in (published.folder / "public").rglob("part-*.parquet"):
        table = pq.read_table(part)
        assert table.column_names == ["week", "group", "age", "sex", "place", "result"]
        assert table.schema.metadata is None
        order = table.select(["group", "result"]).to_pandas()
        assert order.equals(order.sort_values(["group", "result"]).reset_index(drop=True))
    assert (published.folder / "private").stat().st_mode & 0o077 == 0


@given(st.integers(1, 5000), st.integers(1, 700))
def test_blocks_cover_all_ranks_in_even_sizes(records, block):
    ranges = block_ranges(records, block)
    assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])]
    assert ranges[-1][1] == records
    sizes = [stop - start for start, stop in ranges]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) < 2 * block
    assert min(sizes) >= min(block, records)


def test_the_key_is_the_hilbert_index():
    points = np.random.default_rng(3).integers(0, 2**12, (200, 5))
    bounds = np.tile([0.0, 2**12 - 1], (5, 1))
    assert (
        curve_index(points.astype(float), bounds).tolist() == hilbert_words(points.astype(np.uint64), 12)[:, 0].tolist()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["O'Neil [a*b]?", "both \"quotes'"])
def test_names_of_folders_with_characters_of_queries(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    table, adversary = on_disk(folder, visits()), Adversary(UniformPrior(), CHAIN, estimator=Omega())
    for defense in (JSReduce(3, 0.7, 0.6), FullDomain(KAnonymity(4))):
        out = folder / type(defense).__name__
        assumed = adversary if isinstance(defense, JSReduce) else None
        published = publish_large(table, defense, out, assumed, block=60, engine=Engine(scratch=folder))
        verify_large(published, KAnonymity(3), engine=Engine(scratch=folder))
        for attack in (SequentialAttack(adversary), JointAttack(adversary, GroupMessages())):
            beliefs = out / type(attack).__name__
            attack_large(published, attack, beliefs, engine=Engine(scratch=folder))
            measure_large(
                published, beliefs, adversary, at_risk=beliefs / "at-risk's.parquet", engine=Engine(scratch=folder)
            )
    learn_from_disk(
        LargeTable.infer(folder / "visits.parquet", ["age"], time="week"), {}, 0.1, "ignore", Engine(scratch=folder)
    )


def test_bad_input_is_named(tmp_path):
    frame = visits()
    missing = frame.astype(object)
    missing.loc[3, "age"] = None
    for wrong, message in (
        (missing, "'age' of respondent 'p3'|'age' of respondent"),
        (pd.concat([frame, frame[:1]]), "appears twice in the release at 0"),
    ):
        wrong.to_parquet(tmp_path / "wrong.parquet")
        table = LargeTable.infer(tmp_path / "wrong.parquet", ["age", "sex", "place"], time="week")
        with pytest.raises(ValueError, match=message):
            publish_large(table, Mondrian(KAnonymity(4)), tmp_path / message[:3])
    table = on_disk(tmp_path, frame)
    with pytest.raises(ValueError, match="in memory"):
        publish_large(table, MInvariance(2), tmp_path / "m")
    with pytest.raises(ValueError, match="changes values, which are not published from disk"):
        publish_large(table, BKAA(3, 5, 0.6, leftovers="counterfeit"), tmp_path / "b", Adversary(UniformPrior()))
    with pytest.raises(ValueError, match="give adversary="):
        publish_large(table, JSReduce(3, 0.5, 0.6), tmp_path / "j")
    chain = MarkovChain(2, np.full((4, 4, 4), 0.25))
    with pytest.raises(ValueError, match="order 1"):
        publish_large(table, JSReduce(3, 0.5, 0.6), tmp_path / "o", Adversary(UniformPrior(), chain))
    given = GivenPrior(pd.DataFrame(0.25, [0, 1], ["v0", "v1", "v2", "v3"]))
    for prior in (given, PriorByTime({0: UniformPrior(), 1: given})):
        with pytest.raises(ValueError, match="a prior that does not read respondents, as GivenPrior"):
            publish_large(table, JSReduce(3, 0.5, 0.6), tmp_path / "g", Adversary(prior, CHAIN))
    with pytest.raises(ValueError, match="no column 'height'; it has"):
        LargeTable.infer(tmp_path / "visits.parquet", ["height"], time="week")
    with pytest.raises(FileNotFoundError):
        LargeTable.infer(tmp_path / "none.parquet", ["age"])
    schema = Schema(dict(table.schema.quasi_identifiers), "result", ("v0", "v1"))
    outside = LargeTable(tmp_path / "visits.parquet", schema, "week")
    with pytest.raises(ValueError, match="'result' of respondent"):
        publish_large(outside, Mondrian(KAnonymity(4)), tmp_path / "v")
