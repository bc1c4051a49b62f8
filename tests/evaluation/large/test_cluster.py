"""A cluster of processes, one of which is killed, makes the same bytes as one process."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from large_history import bytes_of, visits

from foreknow.defenses import JSReduce
from foreknow.evaluation.large import Engine, LargeTable, attack_large, publish_large
from foreknow.models import Adversary, MarkovChain, UniformPrior
from foreknow.models.estimators import Omega

distributed = pytest.importorskip("distributed", reason="needs foreknow[distributed]")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_killed_worker_changes_no_byte(tmp_path):
    visits(people=3000).to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    adversary = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())
    defense, made, killed = JSReduce(3, 0.7, 0.6), [], []

    def kill_in_the_middle(cluster, folder):
        while len(list(folder.rglob("done/**/*.json"))) < 5:
            time.sleep(0.01)
        killed.append(next(iter(cluster.workers.values())).pid)
        os.kill(killed[0], signal.SIGKILL)

    publish_large(table, defense, tmp_path / "one", adversary, block=60, seed=7)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        killer = threading.Thread(target=kill_in_the_middle, args=(cluster, tmp_path / "many"))
        killer.start()
        engine = Engine(scheduler=cluster.scheduler_address)
        published = publish_large(table, defense, tmp_path / "many", adversary, block=60, seed=7, engine=engine)
        killer.join()
        attack_large(published, adversary, tmp_path / "beliefs", engine=engine)
    for folder in ("one", "many"):
        made.append(bytes_of(tmp_path / folder))
    assert killed
    assert made[0] == made[1]
    assert made[0].keys() == made[1].keys()
    beliefs = bytes_of(tmp_path / "beliefs")
    del beliefs["manifest.json"]
    assert beliefs == bytes_of(tmp_path / "one" / "private" / "beliefs")
