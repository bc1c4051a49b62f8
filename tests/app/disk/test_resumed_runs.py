"""Runs that go on elsewhere or later: another time zone changes nothing, other versions and another order are refused."""

import os
import re
import subprocess
import sys
from functools import partial

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from large_history import bytes_of, visits

from foreknow.app.disk import LargeTable, attack_large, publish_large
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk import begun_runs as setting_checksums
from foreknow.app.disk import publication as publication_module
from foreknow.app.disk.begun_runs import AlreadyComplete
from foreknow.app.disk.published_block import _texts
from foreknow.attacks import SequentialAttack
from foreknow.defenses import Anatomy, KAnonymity, Mondrian
from foreknow.models import Adversary, UniformPrior

pytestmark = pytest.mark.slow

ADVERSARY = Adversary(UniformPrior())

ELSEWHERE = """
import sys
from foreknow.defenses import Anatomy
from foreknow.app.disk import LargeTable, publish_large

publish_large(LargeTable.infer(sys.argv[1], ["age"], time="week"), Anatomy(2), sys.argv[2], block=60, seed=3)
"""


def on_disk(tmp_path, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age"], time="week")


def interrupted(run, module, name, calls):
    """Run until a function of a module has been called a number of times."""
    function, left = getattr(module, name), iter(range(calls))

    def fails(*arguments):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return function(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, fails)
        with pytest.raises(KeyboardInterrupt):
            run()


def other_versions(patch):
    """Another version of DuckDB."""
    present = setting_checksums.versions()
    patch.setattr(setting_checksums, "versions", lambda: present | {"duckdb": "0.9"})
    return f"begun with duckdb {re.escape(present['duckdb'])}, and this is duckdb 0.9; an .* Install them, or name a folder"


def run_here(folder, out):
    publish_large(LargeTable.infer(folder / "visits.parquet", ["age"], time="week"), Anatomy(2), out, block=60, seed=3)


def run_in_tokyo(folder, out):
    command = [sys.executable, "-c", ELSEWHERE, str(folder / "visits.parquet"), str(out)]
    path = os.pathsep.join(filter(None, sys.path))
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": path, "TZ": "Asia/Tokyo"})


def run_with_connections_in_tokyo(folder, out):
    """As in a process of that zone, of which DuckDB takes the zone for each connection."""
    connect = duckdb.connect

    def connected(*arguments, **settings):
        connection = connect(*arguments, **settings)
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", connected)
        run_here(folder, out)


@pytest.mark.parametrize(
    "elsewhere", [run_with_connections_in_tokyo, pytest.param(run_in_tokyo, marks=pytest.mark.slow)]
)
def test_respondents_that_are_times_with_zone_are_the_same_in_all_zones(tmp_path, elsewhere):
    hours = pd.date_range("2000-01-01", periods=240, freq="h", tz="UTC")
    frame = visits(releases=2).assign(id=lambda rows: hours[[int(name[1:]) for name in rows["id"]]])
    frame.to_parquet(tmp_path / "visits.parquet")
    run_here(tmp_path, tmp_path / "here")
    elsewhere(tmp_path, tmp_path / "there")
    assert bytes_of(tmp_path / "here") == bytes_of(tmp_path / "there")
    (part, *_) = (tmp_path / "here/private/groups.parquet").rglob("part-*.parquet")
    assert pq.read_schema(part).field("id").type == pa.timestamp("us", "UTC")


def check_versions_on_resume(monkeypatch, run, owner, complete):
    """A run that was interrupted goes on with its own versions alone; a complete one has a state of its own."""
    with monkeypatch.context() as patch, pytest.raises(ValueError, match=f"{owner}: .*{other_versions(patch)}"):
        run()
    run()
    other_versions(monkeypatch)
    with pytest.raises(complete):
        run()


def test_a_publication_of_other_versions_is_not_gone_on_with(tmp_path, monkeypatch):
    run = partial(
        publish_large, on_disk(tmp_path, visits()), Mondrian(KAnonymity(4)), tmp_path / "out", block=40, seed=7
    )
    interrupted(run, publication_module, "publish_block", 3)
    check_versions_on_resume(monkeypatch, run, "publish_large", AlreadyComplete)


def test_an_attack_of_other_versions_is_not_gone_on_with(tmp_path, monkeypatch):
    published = publish_large(on_disk(tmp_path, visits()), Mondrian(KAnonymity(4)), tmp_path / "out", block=40)
    run = partial(attack_large, published, SequentialAttack(ADVERSARY), tmp_path / "beliefs")
    interrupted(run, attack_module, "write_part", 3)
    check_versions_on_resume(monkeypatch, run, "attack_large", AlreadyComplete)


def test_blocks_of_another_order_are_refused(tmp_path, monkeypatch):
    """Equal records in another order: blocks of both orders would hold a respondent twice and lose another one."""
    frame = visits(releases=1).assign(age=40)
    run = partial(publish_large, on_disk(tmp_path, frame), Mondrian(KAnonymity(4)), tmp_path / "out", block=40, seed=7)
    interrupted(run, publication_module, "publish_block", 3)
    order_of = publication_module.order_of
    with monkeypatch.context() as patch:
        patch.setattr(publication_module, "order_of", lambda job, _: order_of(job, 1))
        with pytest.raises(
            ValueError, match=r"part-00000\.parquet of an .* other records than block 0 of the release at 0"
        ):
            run()
    run()


def test_texts_of_published_cells_are_made_once_for_each_distinct_cell():
    made = []

    class Cell(int):
        def __str__(self):
            made.append(int(self))
            return f"cell {int(self)}"

    cells = pd.Series([Cell(number % 3) for number in range(300)], dtype=object)
    assert _texts(cells).to_pylist() == [f"cell {number % 3}" for number in range(300)]
    assert made == [0, 1, 2]
