"""Folders that workers share: paths are absolute, files of tasks lie beside the publication, names never collide."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from large_history import bytes_of, visits

from foreknow.app.disk import Engine, LargeTable, attack_large, measure_large, publish_large, verify_large
from foreknow.app.disk import (
    engine as engine_module,
)
from foreknow.app.disk.publication import LargeReleases
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import JSReduce
from foreknow.models import Adversary, GroupMessages, MarkovChain, Omega, UniformPrior
from foreknow.models.tables.atomic_file import atomic_file, remove_torn

pytestmark = pytest.mark.slow

ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())
DEFENSE = JSReduce(3, 0.7, 0.6)


def all_steps(engine):
    """Publish, verify, attack and measure, with relative paths."""
    table = LargeTable.infer("visits.parquet", ["age", "sex", "place"], time="week")
    publish_large(table, DEFENSE, "out", ADVERSARY, block=60, seed=7, engine=engine)
    published, risks = LargeReleases("out"), []
    verdicts = verify_large(published, DEFENSE.requirement, ADVERSARY, engine=engine)
    for attack in (SequentialAttack(ADVERSARY), JointAttack(ADVERSARY, GroupMessages())):
        name = type(attack).__name__
        attack_large(published, attack, name, engine=engine)
        risks.append(measure_large(published, name, ADVERSARY, engine=engine).risk)
    return [verdicts, *risks]


def paths_in(task):
    """Paths in a task or function, and in the tasks, jobs and settings in it."""
    if isinstance(task, Path):
        return [task]
    if isinstance(task, partial):
        return paths_in([*task.args, *task.keywords.values()])
    return [path for part in task for path in paths_in(part)] if isinstance(task, tuple | list) else []


def test_tasks_of_a_cluster_name_absolute_paths_in_folders_that_it_shares(tmp_path, monkeypatch):
    (tmp_path / "shared").mkdir()
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path / "shared")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "own"))
    visits(people=120, releases=2).to_parquet("visits.parquet")
    found = []

    def in_turn(_scheduler, _within, function, tasks):
        for task in tasks:
            found.extend(paths_in((function, task)))
            yield function(task)

    monkeypatch.setattr(engine_module, "_map_on_cluster", in_turn)
    all_steps(Engine(scheduler="tcp://10.0.0.1:8786"))
    assert len({path.name for path in found}) > 5
    assert all(path.is_absolute() and path.is_relative_to(tmp_path / "shared") for path in found)
    assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == [
        "JointAttack", "SequentialAttack", "out", "visits.parquet",
    ]  # fmt: skip
    private = (tmp_path / "shared" / "out" / "private").iterdir()
    assert {path.name for path in private} == {"begun.json", "beliefs", "done", "groups.parquet", "manifest.json"}


@pytest.mark.filterwarnings("default")
def test_workers_that_were_started_elsewhere(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs foreknow[distributed]")
    for name in ("one", "many", "elsewhere"):
        (tmp_path / name).mkdir()
        visits(people=120, releases=2).to_parquet(tmp_path / name / "visits.parquet")
    monkeypatch.chdir(tmp_path / "one")
    expected = all_steps(Engine())
    monkeypatch.chdir(tmp_path / "elsewhere")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        monkeypatch.chdir(tmp_path / "many")
        found = all_steps(Engine(scheduler=cluster.scheduler_address))
    assert all(one.equals(other) for one, other in zip(found, expected, strict=True))
    for name in ("out", "SequentialAttack", "JointAttack"):
        assert bytes_of(tmp_path / "many" / name) == bytes_of(tmp_path / "one" / name)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["visits.parquet"]


def test_two_machines_write_a_part_under_different_names(tmp_path):
    path, names = tmp_path / "part-00000.json", []
    for machine in ("first", "second"):
        with atomic_file(path) as scratch:
            scratch.write_text(machine)
            names.append(scratch.name)
    assert len(set(names)) == 2
    assert path.read_text() == "second"


@pytest.mark.parametrize(
    "name", ["part-00003.parquet", "part-00003.json", "begun.json", "manifest.json", "release.json"]
)
def test_files_that_a_killed_run_left_are_removed(tmp_path, name):
    with atomic_file(tmp_path / name) as scratch:
        scratch.touch()
    scratch.touch()
    (tmp_path / f".{name}").touch()
    remove_torn(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {name, f".{name}"}


def test_what_a_killed_worker_was_writing_is_not_in_the_result(tmp_path):
    class OneKilled(Engine):
        def map(self, function, tasks):
            for result in super().map(function, tasks):
                for part in list((tmp_path / "killed" / self.scratch.name).rglob("part-*")):
                    part.with_name(f".{part.name}.0.writing").write_bytes(b"PAR1")
                yield result

    visits(people=120, releases=2).to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    for name in ("out", "risk"):
        (tmp_path / "scratch" / name).mkdir(parents=True)
    for folder, engine in (("whole", Engine), ("killed", OneKilled)):
        out, risk = (engine(scratch=tmp_path / "scratch" / name) for name in ("out", "risk"))
        published = publish_large(table, DEFENSE, tmp_path / folder / "out", ADVERSARY, block=60, seed=7, engine=out)
        attack_large(published, SequentialAttack(ADVERSARY), tmp_path / folder / "risk", engine=risk)
    assert bytes_of(tmp_path / "whole") == bytes_of(tmp_path / "killed")
