"""The same bytes where DuckDB has less memory than its sorts and joins need, and spills to its temporary folder."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from large_history import bytes_of

from foreknow.app.disk import Engine, LargeTable, attack_large, publish_large
from foreknow.app.disk import engine as engine_module
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.models import Adversary, MarkovChain, Omega, UniformPrior
from foreknow.models.tables import atomic_file

RECORDS = 300_000
"""Records of each of two releases, of which a sort takes more than `LIMIT`."""

LIMIT = 100_000_000
"""Memory limit of DuckDB in bytes: at 80 MB the row groups that it writes do not fit."""

ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())


class WatchedFolder(TemporaryDirectory):
    """Temporary folder that notes at its end whether a file was made in it."""

    used: list[bool]

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.changed = Path(self.name).stat().st_mtime_ns

    def __exit__(self, *error):
        self.used.append(Path(self.name).stat().st_mtime_ns != self.changed)
        super().__exit__(*error)


def table_of(folder):
    rng, number = np.random.default_rng(1), np.arange(2 * RECORDS)
    columns = {
        "id": pa.array(number % RECORDS * 7919 % RECORDS + 10**14).cast(pa.string()),
        "age": rng.integers(18, 90, 2 * RECORDS),
        "place": rng.integers(0, 50, 2 * RECORDS),
        "week": number // RECORDS,
        "result": pa.array(list("abcd")).take(pa.array(rng.integers(0, 4, 2 * RECORDS))),
    }
    pq.write_table(pa.table(columns), folder / "visits.parquet")
    return LargeTable.infer(folder / "visits.parquet", ["age", "place"], time="week")


@pytest.mark.slow
@pytest.mark.skipif("sys.platform == 'win32'", reason="times of folders are coarse")
def test_the_same_bytes_where_memory_is_short(tmp_path, monkeypatch):
    table, used = table_of(tmp_path), {}
    for name, memory in (("ample", 2 * 2**30), ("short", 2 * LIMIT)):
        monkeypatch.setattr(engine_module, "GIB", memory)
        monkeypatch.setattr(atomic_file, "TemporaryDirectory", WatchedFolder)
        WatchedFolder.used, engine = [], Engine(memory=1)
        published = publish_large(
            table, Mondrian(KAnonymity(5)), tmp_path / f"{name}-out", ADVERSARY, block=50_000, seed=1, engine=engine
        )
        attack_large(published, ADVERSARY, tmp_path / f"{name}-beliefs", engine=engine)
        used[name] = WatchedFolder.used
    assert used == {"ample": [False, False], "short": [True, True]}
    for folder in ("out", "beliefs"):
        assert bytes_of(tmp_path / f"ample-{folder}") == bytes_of(tmp_path / f"short-{folder}")
