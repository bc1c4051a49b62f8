"""Speeds of four jobs beside those of an earlier commit: ``python benchmarks/paired.py``.

Two processes, one with the present files and one with those of `COMMIT`, do a job in turn: A B A B, and are started anew several
times. The ratio is that of the least processor times, so that neither a loaded machine nor a drift of five per cent an issue can
hide a slower job.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

COMMIT = "fb50bca"
MOST = 1.05
"""Largest ratio to `COMMIT`."""
LAUNCHES, ROUNDS = 4, 10  # a process keeps its places in memory, which alone cost or save a tenth
STEADY = {
    "OPENBLAS_NUM_THREADS": "1",  # a thread that waits for work counts as processor time
    # Memory given back and taken again costs page faults in one process and none in the next, by chance: a tenth of a job.
    **dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), str(10**9)),
}
FOLDERS = ("models", "attacks", "defenses", "evaluation")
JOBS = ("publish with JSReduce", "publish with Mondrian", "Omega attack", "exact sequential attack")


class Pair(NamedTuple):
    """Least processor seconds of a job now, and at `COMMIT`."""

    job: str
    now: float
    then: float

    @property
    def ratio(self) -> float:
        """Processor time now over that at `COMMIT`."""
        return self.now / self.then


def jobs() -> Iterable[Callable[[], object]]:
    """Work of each of `JOBS`, by names that both commits have."""
    import numpy as np

    from foreknow.attacks import SequentialAttack
    from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, Mondrian, publish
    from foreknow.evaluation import exams
    from foreknow.models import Adversary, Exact, Omega

    history, prior, transitions = exams(views=6, records=2000, rng=np.random.default_rng(1))
    omega, exact = (Adversary(prior, transitions, estimator=estimator) for estimator in (Omega(), Exact()))
    mondrian = Mondrian(KAnonymity(3) & DistinctDiversity(2))
    releases = publish(history, mondrian)
    return (
        lambda: publish(history, JSReduce(k=5, t=0.5, j=0.6), omega),
        lambda: publish(history, mondrian),
        lambda: SequentialAttack(omega)(releases),
        lambda: SequentialAttack(exact)(releases),
    )


def serve() -> None:
    """Do the job named by each line of the input, and print its processor seconds."""
    of_job = dict(zip(JOBS, jobs(), strict=True))
    for line in sys.stdin:
        start = time.process_time()
        of_job[line.strip()]()
        print(json.dumps(time.process_time() - start), flush=True)


@contextmanager
def earlier() -> Iterator[Path]:
    """Folder with the package of `COMMIT`: its four folders, as `foreknow`."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        archive, package = root / "files.tar", root / "path" / "foreknow"
        subprocess.run(["git", "archive", COMMIT, "-o", archive, *FOLDERS], cwd=Path(__file__).parents[1], check=True)
        shutil.unpack_archive(archive, root / "files", filter="data")
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        for name in FOLDERS:
            (package / name).symlink_to(root / "files" / name)
        yield package.parent


def seconds(server: "subprocess.Popen[str]", job: str) -> float:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(job + "\n")
    server.stdin.flush()
    return float(json.loads(server.stdout.readline()))


def measured(wanted: Iterable[str] = JOBS) -> list[Pair]:
    """Measure jobs by both commits in turn, after a run that compiles; raises CalledProcessError without `COMMIT`."""
    jobs = tuple(wanted)
    with earlier() as path:
        alone = os.environ | STEADY
        settings = alone | {"PYTHONPATH": str(path), "NUMBA_CACHE_DIR": str(path / "numba")}
        launches = [_least(jobs, (alone, settings)) for _ in range(LAUNCHES)]
        return [Pair(job, *map(min, zip(*times, strict=True))) for job, *times in zip(jobs, *launches, strict=True)]


def _least(jobs: Iterable[str], environments: Iterable[dict[str, str]]) -> list[list[float]]:
    """Least seconds of each job in a process of each environment."""
    command = [sys.executable, __file__, "--serve"]
    servers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        for environment in environments
    ]
    try:
        rounds = ([[seconds(server, job) for server in servers] for _ in range(1 + ROUNDS)] for job in jobs)
        return [[min(times) for times in zip(*found[1:], strict=True)] for found in rounds]
    finally:
        for server in servers:
            server.communicate()


def table(pairs: Iterable[Pair]) -> list[str]:
    rows = [f"| {job} | {now:.4f} | {then:.4f} | {now / then:.3f} | {MOST} |" for job, now, then in pairs]
    return [f"| job | seconds | at {COMMIT} | ratio | at most |", "|---|---|---|---|---|", *rows]


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        print("\n".join(table(measured(sys.argv[1:] or JOBS))))
