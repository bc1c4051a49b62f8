"""Processes of an engine: their threads, their order, and what is said of one that was killed."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from commands import ROLES, records, run, write
from engine_tasks import killed, threads_of_products, waits_from_the_second_on

from foreknow.app.cli.typed_commands import line_in_options
from foreknow.app.disk import Engine, LargeTable
from foreknow.app.disk import engine as engine_module
from foreknow.app.disk.large_table import columns_of_file

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_uses_one_thread(workers):
    found = list(Engine(workers=workers).map(threads_of_products, range(2)))
    assert all(found)
    assert {number for threads in found for number in threads} == {1}


def test_the_threads_of_the_program_are_left_as_they_are():
    before = threads_of_products(None)
    for _ in Engine().map(threads_of_products, range(2)):
        assert threads_of_products(None) == before


def test_a_table_is_read_on_one_thread_and_with_the_least_memory(tmp_path, monkeypatch):
    """The settings of each connection of DuckDB: by default it takes all cores and most of the memory."""
    connect, made = duckdb.connect, []

    def connected(*arguments, **settings):
        connection = connect(*arguments, **settings)
        made.append(connection.sql("SELECT current_setting('threads'), current_setting('memory_limit')").fetchall()[0])
        return connection

    monkeypatch.setattr(duckdb, "connect", connected)
    source = Path(write(records(people=20, present=20), tmp_path / "r.parquet"))
    assert "age" in columns_of_file(source)
    LargeTable.infer(source, ["age"])
    assert made == [(1, "256.0 MiB")] * 2


def test_too_little_memory_names_the_setting_and_the_option():
    with (
        pytest.raises(MemoryError, match=r"its half of what Engine\(memory=\), or --memory of the command, allows"),
        Engine(memory=0.5).connection() as connection,
    ):
        connection.execute("SET memory_limit = '10MB'; SELECT list(range) FROM range(10_000_000)").fetchall()


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
def test_a_killed_process_is_told_in_one_sentence():
    with pytest.raises(ChildProcessError, match=r"one of 2 processes was killed.*memory runs out.*run it again"):
        list(Engine(workers=2).map(killed, range(4)))
    assert list(Engine(workers=2).map(abs, range(4))) == [0, 1, 2, 3]


@pytest.mark.filterwarnings("default")
def test_a_cluster_whose_workers_are_killed_is_told_in_one_sentence(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs foreknow[distributed]")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        pytest.raises(ChildProcessError, match=r"workers of tcp.* were killed.*run it again"),
    ):
        list(Engine(scheduler=cluster.scheduler_address).map(killed, [1]))


@pytest.mark.filterwarnings("default")
def test_a_task_of_a_cluster_uses_one_thread():
    """Also with workers for which nothing else limits the threads, as those of a cluster in this process."""
    distributed = pytest.importorskip("distributed", reason="needs foreknow[distributed]")
    settings = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster:
        (found,) = Engine(scheduler=cluster.scheduler_address).map(threads_of_products, [None])
    assert found
    assert set(found) == {1}


@pytest.mark.filterwarnings("default")
def test_results_of_a_cluster_come_one_by_one(tmp_path):
    """The second task waits for a file that is made when the first result has come."""
    distributed = pytest.importorskip("distributed", reason="needs foreknow[distributed]")
    shown = []

    def progress(results, number):
        for result in results:
            shown.append((result, number))
            (tmp_path / "seen").touch()
            yield result

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        engine = Engine(scheduler=cluster.scheduler_address, progress=progress)
        found = list(engine.map(waits_from_the_second_on, [(tmp_path / "seen", number) for number in range(3)]))
    assert found == [False, True, True]
    assert [number for _, number in shown] == [3, 3, 3]


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
def test_the_command_ends_with_status_2_and_goes_on(tmp_path):
    """A program that runs the command, and kills its first child while it publishes."""
    source = write(records(people=60, present=50), tmp_path / "r.parquet")
    arguments = ["publish", source, *ROLES, "--from-disk", "--block", "20", "--defense", "mondrian"]
    arguments = list(map(str, [*arguments, "--workers", "2", "--out", tmp_path / "out"]))
    program = [sys.executable, "-c", KILLS, *arguments]
    made = subprocess.run(
        program,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "1000"},
    )
    assert made.returncode == 2, made.stderr
    assert "one of 2 processes was killed, as systems do when memory runs out." in made.stderr
    assert "Traceback" not in made.stderr
    assert made.stderr.rstrip().endswith("goes on after the last whole block.")
    run(*arguments)


KILLS = """
import os, signal, sys
from foreknow.app.cli import command_line
from foreknow.app.disk import publication

def publish_block(task):
    os.kill(os.getpid(), signal.SIGKILL)

publication.publish_block = publish_block
sys.argv = ["foreknow", *sys.argv[1:]]
command_line.main()
"""


def test_a_scheduler_without_workers_is_told_and_given_up(monkeypatch):
    """A message first, and then an error with the command that starts a worker."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(engine_module, "SOON", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.warns(UserWarning, match=r"has no workers yet; dask worker \S+ starts some\. Waiting 0.3 s"),
        pytest.raises(
            ValueError, match=r"has no workers after 0.3 s; dask worker .* longer: workers_within=3.0"
        ) as error,
    ):
        list(Engine(scheduler=cluster.scheduler_address, workers_within=0.3).map(abs, [1]))
    assert line_in_options(error.value.args[0]).endswith("To wait longer: --workers-within 3.0.")
