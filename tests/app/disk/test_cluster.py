"""A cluster of processes, one of which is killed, makes the same bytes as one process."""

import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from large_history import bytes_of, parts_of, visits

from foreknow.app.disk import Engine, LargeTable, attack_large, publish_large
from foreknow.attacks import JointAttack
from foreknow.defenses import Anatomy, JSReduce
from foreknow.models import Adversary, GroupMessages, MarkovChain, UniformPrior
from foreknow.models.estimators import Omega

distributed = pytest.importorskip("distributed", reason="needs foreknow[distributed]")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())


def on_disk(tmp_path, **settings):
    visits(**settings).to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


@contextmanager
def worker_killed(folder, pattern, files):
    """Engine of two processes, one of which is killed once a folder has seen a number of files of a pattern."""
    seen, killed, ended = set(), [], threading.Event()

    def kill_in_the_middle():
        while len(seen) < files and not ended.is_set():
            seen.update(folder.rglob(pattern))
            time.sleep(0.002)
        if not ended.is_set():
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        try:
            yield Engine(scheduler=cluster.scheduler_address)
        finally:
            ended.set()
            killer.join()
    assert killed


def test_a_killed_worker_changes_no_byte(tmp_path):
    table, defense = on_disk(tmp_path, people=3000), JSReduce(3, 0.7, 0.6)
    publish_large(table, defense, tmp_path / "one", ADVERSARY, block=60, seed=7)
    with worker_killed(tmp_path / "many", "done/**/*.json", 5) as engine:
        published = publish_large(table, defense, tmp_path / "many", ADVERSARY, block=60, seed=7, engine=engine)
        attack_large(published, ADVERSARY, tmp_path / "beliefs", engine=engine)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "many")
    assert parts_of(tmp_path / "beliefs") == bytes_of(tmp_path / "one" / "private" / "beliefs")


def test_a_worker_killed_during_the_exchange_of_tilts_changes_no_byte(tmp_path):
    published = publish_large(on_disk(tmp_path, people=400), Anatomy(2), tmp_path / "out", block=50, seed=3)
    attack = JointAttack(ADVERSARY, GroupMessages())
    attack_large(published, attack, tmp_path / "one")
    with worker_killed(tmp_path / "many", "messages-*-0000[2-9].pickle", 3) as engine:
        attack_large(published, attack, tmp_path / "many", engine=engine)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "many")
