"""What an attack gained and a release lost; data sets; experiments; plots; the command line."""

from foreknow.evaluation.adult import adult
from foreknow.evaluation.cost import gcp, suppressed
from foreknow.evaluation.exams import exams
from foreknow.evaluation.experiment import Comparison, compare
from foreknow.evaluation.influence import influence_by_distance, influence_by_release
from foreknow.evaluation.influence_plots import influence_map, influence_over_distance
from foreknow.evaluation.pbc import pbc
from foreknow.evaluation.plots import belief_over_time, gain_over_time, group_sizes
from foreknow.evaluation.risk import (
    adversary_confidence,
    adversary_gain,
    calibration,
    disclosures,
    log_score,
    success_rate,
)
from foreknow.evaluation.verify import verify, verify_table

__all__ = [
    "Comparison",
    "adult",
    "adversary_confidence",
    "adversary_gain",
    "belief_over_time",
    "calibration",
    "compare",
    "disclosures",
    "exams",
    "gain_over_time",
    "gcp",
    "group_sizes",
    "influence_by_distance",
    "influence_by_release",
    "influence_map",
    "influence_over_distance",
    "log_score",
    "pbc",
    "success_rate",
    "suppressed",
    "verify",
    "verify_table",
]
