"""Publication, attack, measures and check of tables larger than memory, from Parquet to Parquet, on DuckDB."""

from foreknow.app.disk.attack import attack_large
from foreknow.app.disk.bounds import bound_large, role_anonymity_large
from foreknow.app.disk.engine import Engine
from foreknow.app.disk.large_table import LargeTable
from foreknow.app.disk.measures import measure_large
from foreknow.app.disk.publication import publish_large
from foreknow.app.disk.verification import verify_large

__all__ = [
    "Engine",
    "LargeTable",
    "attack_large",
    "bound_large",
    "measure_large",
    "publish_large",
    "role_anonymity_large",
    "verify_large",
]
