"""Full-domain generalization from disk: the groups and the published rows of the same table in memory."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from large_history import bytes_of, in_memory, visits

from foreknow.app.disk import Engine, LargeTable, attack_large, publish_large, verify_large
from foreknow.attacks import SequentialAttack
from foreknow.defenses import (
    DistinctDiversity,
    FullDomain,
    Infeasible,
    JSimilarity,
    KAnonymity,
    TCloseness,
    publish,
)
from foreknow.models import Adversary, MarkovChain, Omega, UniformPrior


def on_disk(tmp_path, frame, name="visits.parquet"):
    frame.to_parquet(tmp_path / name)
    return LargeTable.infer(tmp_path / name, ["age", "sex", "place"], time="week")


def partition(group):
    return {frozenset(np.flatnonzero(group == g).tolist()) for g in np.unique(group)}


@pytest.mark.parametrize(
    "defense",
    [
        FullDomain(KAnonymity(3), widths={"age": (5, 10, 20), "place": (10,)}),
        FullDomain(DistinctDiversity(2) & TCloseness(0.4), choose="height"),
    ],
    ids=["k-anonymity", "closeness"],
)
def test_the_groups_and_rows_are_those_in_memory(tmp_path, defense):
    frame = visits(people=300, releases=2)
    table = on_disk(tmp_path, frame)
    published = publish_large(table, defense, tmp_path / "out", block=40)
    views = [release.view for release in in_memory(published, frame)]
    expected = publish(views, defense)
    columns = [*table.schema.quasi_identifiers, "result"]
    for number, (found, release) in enumerate(zip(in_memory(published, frame), expected, strict=True)):
        assert published.releases[number].notes == release.grouping.notes
        assert partition(found.group) == partition(release.group)
        parts = sorted((tmp_path / "out" / "public" / "published.parquet" / f"release-{number:04d}").glob("*.parquet"))
        assert len(parts) > 1
        rows = pd.concat([pq.read_table(part).to_pandas() for part in parts])[columns]
        assert sorted(rows.values.tolist()) == sorted(release.table[columns].astype(str).values.tolist())
    assert verify_large(published, defense.requirement)["failing"].sum() == 0


def test_beliefs_and_bytes(tmp_path):
    frame, made = visits(people=300, releases=2), []
    for number, memory in enumerate((1, 3)):
        table = on_disk(tmp_path, frame.sample(frac=1, random_state=number), f"visits-{number}.parquet")
        engine, out = Engine(memory), tmp_path / f"out-{number}"
        published = publish_large(table, FullDomain(KAnonymity(5)), out, block=40, seed=1, engine=engine)
        made.append({name: part for name, part in bytes_of(out).items() if name.endswith("parquet")})
    assert made[0] == made[1]
    adversary = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())
    folder = attack_large(published, SequentialAttack(adversary), tmp_path / "beliefs")
    assert len(list(folder.rglob("part-*.parquet"))) == len(list((out / "public").rglob("part-*.parquet")))


def test_what_cannot_be_published_from_disk_is_named(tmp_path):
    table = on_disk(tmp_path, visits())
    with pytest.raises(ValueError, match="reads beliefs or single members"):
        publish_large(table, FullDomain(JSimilarity(0.5)), tmp_path / "j")
    with pytest.raises(Infeasible, match="needs groups of 1000 records"):
        publish_large(table, FullDomain(KAnonymity(1000)), tmp_path / "k")
    with pytest.raises(Infeasible, match="no levels of generalization"):
        publish_large(table, FullDomain(TCloseness(0.0) & DistinctDiversity(5)), tmp_path / "t")
