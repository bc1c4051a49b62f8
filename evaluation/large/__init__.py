"""Publication, attack, measures and check of tables larger than memory, from Parquet to Parquet, on DuckDB."""

from foreknow.evaluation.large.attack import attack_large
from foreknow.evaluation.large.begun_attack import AlreadyAttacked
from foreknow.evaluation.large.begun_publication import AlreadyPublished
from foreknow.evaluation.large.engine import Engine
from foreknow.evaluation.large.measures import LargeMeasures, measure_large
from foreknow.evaluation.large.publication import LargeRelease, LargeReleases, publish_large
from foreknow.evaluation.large.source import LargeTable
from foreknow.evaluation.large.verification import verify_large

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
