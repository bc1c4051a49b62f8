"""Runs of publications and of attacks in processes that are killed at random moments; a program, whose last line is JSON.

Its process opens no database and starts no thread, so that each run is a fork of it, with all imports done.
"""

import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import measured_cells
import numpy as np
import pyarrow.parquet as pq
from commands import ROLES
from large_history import bytes_of

from foreknow.app.cli import command_line
from foreknow.app.disk import LargeTable, attack_large, publish_large
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.ledger import Ledger
from foreknow.app.publication import differences, listing_of
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import JSReduce, Mondrian
from foreknow.evaluation.cells import OF_RUN, run
from foreknow.models import Adversary, GroupMessages, MarkovChain, Omega, UniformPrior

ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())


def publish_from_disk(source, folder):
    table = LargeTable.infer(source, ["age", "sex", "place"], time="week")
    publish_large(table, JSReduce(3, 0.7, 0.6), folder, ADVERSARY, block=40, seed=7)


def attack_from_disk(source, folder):
    attack_large(LargeReleases(source), SequentialAttack(ADVERSARY), folder)


def joint_attack_from_disk(source, folder):
    attack_large(LargeReleases(source), JointAttack(ADVERSARY, GroupMessages()), folder)


def publish_in_memory(source, folder):
    arguments = ["publish", str(source), *ROLES, "--defense", Mondrian.__name__.lower(), "--out", str(folder)]
    command_line.app(arguments, standalone_mode=False)


def command_from_disk(source, folder):
    """Run `foreknow publish --from-disk` in a folder; the output is named relative to it, as its settings are."""
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    roles = ["--qi", "age", "--qi", "place", "--sensitive", "result", "--seed", "7"]
    disk = ["--from-disk", "--block", "60", "--defense", Mondrian.__name__.lower(), "--out", "out"]
    command_line.app(["publish", str(source), *roles, *disk], standalone_mode=False)


def measure_cells(_source, folder):
    run([measured_cells.DRAWN], folder)


def attempt(target, source, folder, delay=None):
    """Run in a fork, and kill it after a delay; return True if it was killed before its end."""
    process = os.fork()
    if not process:
        status = 1
        try:
            target(source, folder)
            status = 0
        finally:
            os._exit(status)
    if delay is not None:
        time.sleep(delay)
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status)
    assert killed or os.WEXITSTATUS(status) == 0, (target, folder)
    return killed


def timed(target, source, folder):
    """Seconds of a whole run: the second one, which finds its kernels compiled."""
    attempt(target, source, folder.with_name("first"))
    start = time.monotonic()
    attempt(target, source, folder)
    return time.monotonic() - start


def from_disk(target, manifest, source, work, kills, rng):
    """Kill runs from disk until there were enough, and resume each; the files must be those of the whole run.

    The file ``manifest`` is the last that a run writes.
    """
    longest = timed(target, source, work / "whole")
    whole, killed, runs = bytes_of(work / "whole"), 0, 0
    while killed < kills:
        folder = work / f"out-{runs}"
        runs += 1
        while killed < kills and attempt(target, source, folder, rng.uniform(0, longest)):
            killed += 1
            if (folder / manifest).exists():
                break
        if not (folder / manifest).exists():
            attempt(target, source, folder)
        assert bytes_of(folder) == whole, folder
    return {"killed": killed, "runs": runs, "seconds of a whole run": round(longest, 2)}


def publications(source, work, kills, rng):
    """Publications from disk that are killed."""
    return from_disk(publish_from_disk, "private/manifest.json", source, work, kills, rng)


def commands(source, work, kills, rng):
    """Runs of `foreknow publish --from-disk` that are killed, also while they verify and certify."""
    return from_disk(command_from_disk, "out/public/certificate.json", source, work, kills, rng)


def attacks(source, work, kills, rng):
    """Sequential and joint attacks on a publication from disk that are killed."""
    attempt(publish_from_disk, source, work / "published")
    found = {}
    for target in (attack_from_disk, joint_attack_from_disk):
        (work / target.__name__).mkdir()
        arguments = (target, "manifest.json", work / "published", work / target.__name__, kills, rng)
        found[target.__name__] = from_disk(*arguments)
    return found


def in_memory(source, work, kills, rng):
    """Kill runs in memory; the folder must be whole or absent, and the next run removes what is left beside it."""
    longest, whole = timed(publish_in_memory, source, work / "whole"), 0
    for number in range(kills):
        folder = work / f"out-{number}"
        attempt(publish_in_memory, source, folder, rng.uniform(0, 1.2 * longest))
        whole += folder.exists()
        assert not folder.exists() or differences(folder, listing_of(folder)) == [], folder
    attempt(publish_in_memory, source, work / "last")
    assert [path.name for path in work.iterdir() if path.name.startswith(".")] == []
    return {"runs": kills, "whole": whole, "absent": kills - whole, "seconds of a whole run": round(longest, 2)}


def measured_rows(folder):
    """Tables of all kept cells by their names, without the columns of the run; an error if a file is torn."""
    return {path.name: pq.read_table(path).drop_columns([*OF_RUN]) for path in folder.glob("*/*.parquet")}


def cells(source, work, kills, rng):
    """Kill runs of cells until there were enough, and resume each; the rows must be those of the whole run."""
    longest = timed(measure_cells, source, work / "whole")
    whole, killed, runs, begun = measured_rows(work / "whole"), 0, 0, 0
    assert len(whole) == len(measured_cells.DRAWN.cells)
    while killed < kills:
        folder = work / f"out-{runs}"
        runs += 1
        while killed < kills and attempt(measure_cells, source, folder, rng.uniform(0, longest)):
            killed += 1
            found = measured_rows(folder)
            begun += 0 < len(found) < len(whole)
            assert all(table.equals(whole[name]) for name, table in found.items()), folder
            if len(found) == len(whole):
                break
        attempt(measure_cells, source, folder)
        assert measured_rows(folder) == whole, folder
    return {
        "killed": killed,
        "runs": runs,
        "killed between two cells": begun,
        "seconds of a whole run": round(longest, 2),
    }


RESPONDENTS = [f"respondent {number}" for number in range(20_000)]


def spend_and_publish(ledger, folder):
    """Spend and publish ten releases; a file of its own tells how far each came, before and after its block ends."""
    for _ in range(10):
        time = len(list(folder.glob("spent-*")))
        with ledger.spend({f"{os.getpid()}-{time}": RESPONDENTS}, 1e-6):
            (folder / f"spent-{os.getpid()}-{time}").touch()
        (folder / f"published-{os.getpid()}-{time}").touch()


def ledgers(_source, work, kills, rng):
    """Kill publications at random moments; the ledger holds each spend that returned, and at most one more of each kill."""
    ledger = Ledger.create(work / "ledger.parquet", "rho", 1.0, {})
    attempt(spend_and_publish, ledger, work)
    start = time.monotonic()
    attempt(spend_and_publish, ledger, work)
    longest, killed, runs = time.monotonic() - start, 0, 2
    while killed < kills:
        killed += attempt(spend_and_publish, ledger, work, rng.uniform(0, longest))
        runs += 1
        state = dict(zip(ledger.releases["time"], ledger.releases["state"], strict=True))
        told = {
            name: {path.name.removeprefix(f"{name}-") for path in work.glob(f"{name}-*")}
            for name in ("spent", "published")
        }
        assert told["spent"] <= set(state)
        assert len(set(state) - told["spent"]) <= killed
        assert told["published"] <= {time for time, each in state.items() if each == "published"} <= told["spent"]
        spent = ledger.spent()
        assert len(spent) == len(RESPONDENTS)
        assert (spent["releases"] == len(state)).all()
        assert np.allclose(spent["amount"], 1e-6 * len(state))
    attempt(spend_and_publish, ledger, work)
    begun = sum(each == "begun" for each in ledger.releases["state"])
    return {"killed": killed, "runs": runs, "begun": begun, "seconds of a whole run": round(longest, 2)}


WAYS = {
    "ledger": ledgers,
    "disk": publications,
    "cells": cells,
    "command": commands,
    "memory": in_memory,
    "attack": attacks,
}

if __name__ == "__main__":
    # Threads of libraries that wait for work hold no lock that a fork needs.
    warnings.simplefilter("ignore", DeprecationWarning)
    way, source, work, kills = sys.argv[1:]
    found = WAYS[way](Path(source), Path(work), int(kills), random.Random(16))
    print(json.dumps(found))
