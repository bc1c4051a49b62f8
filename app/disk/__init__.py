"""Publication, attack, measures and check of tables larger than memory, from Parquet to Parquet, on DuckDB."""

from foreknow.app.disk.attack import attack_large
from foreknow.app.disk.begun_runs import AlreadyAttacked, AlreadyPublished
from foreknow.app.disk.engine import Engine
from foreknow.app.disk.large_table import LargeTable
from foreknow.app.disk.measures import LargeMeasures, measure_large
from foreknow.app.disk.publication import LargeRelease, LargeReleases, publish_large
from foreknow.app.disk.verification import verify_large

__all__ = [
    "AlreadyAttacked",
    "AlreadyPublished",
    "Engine",
    "LargeMeasures",
    "LargeRelease",
    "LargeReleases",
    "LargeTable",
    "attack_large",
    "measure_large",
    "publish_large",
    "verify_large",
]
