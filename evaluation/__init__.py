"""What an attack gained and a release lost; data sets; experiments; plots; the command line."""

from foreknow.evaluation.adult import adult
from foreknow.evaluation.breach_plots import breach_curve, reliability_diagram
from foreknow.evaluation.breaches import breaches
from foreknow.evaluation.class_sizes import average_class_size, discernibility
from foreknow.evaluation.cost import gcp, suppressed
from foreknow.evaluation.divergence import kl_loss
from foreknow.evaluation.exams import exams
from foreknow.evaluation.experiment import Comparison, compare
from foreknow.evaluation.foreground_map import foreground_map
from foreknow.evaluation.global_errors import global_errors, global_probabilities
from foreknow.evaluation.greatest_differences import greatest_differences
from foreknow.evaluation.influence import influence_by_distance, influence_by_release
from foreknow.evaluation.influence_plots import influence_map, influence_over_distance
from foreknow.evaluation.invariance import m_invariance
from foreknow.evaluation.items_lost import items_lost
from foreknow.evaluation.linkage import record_linkage
from foreknow.evaluation.linked import linked
from foreknow.evaluation.pbc import pbc
from foreknow.evaluation.plots import belief_over_time, gain_over_time, group_sizes
from foreknow.evaluation.queries import query_error, query_errors
from foreknow.evaluation.random_items import adult_with_items, random_items, random_knowledge
from foreknow.evaluation.risk import (
    adversary_confidence,
    adversary_gain,
    calibration,
    disclosures,
    log_score,
    success_rate,
)
from foreknow.evaluation.risk_utility import risk_utility_map
from foreknow.evaluation.total_risk import total_risk
from foreknow.evaluation.verify import verify, verify_table
from foreknow.evaluation.verify_items import verify_items
from foreknow.evaluation.workload import Workload

__all__ = [
    "Comparison",
    "Workload",
    "adult",
    "adult_with_items",
    "adversary_confidence",
    "adversary_gain",
    "average_class_size",
    "belief_over_time",
    "breach_curve",
    "breaches",
    "calibration",
    "compare",
    "discernibility",
    "disclosures",
    "exams",
    "foreground_map",
    "gain_over_time",
    "gcp",
    "global_errors",
    "global_probabilities",
    "greatest_differences",
    "group_sizes",
    "influence_by_distance",
    "influence_by_release",
    "influence_map",
    "influence_over_distance",
    "items_lost",
    "kl_loss",
    "linked",
    "log_score",
    "m_invariance",
    "pbc",
    "query_error",
    "query_errors",
    "random_items",
    "random_knowledge",
    "record_linkage",
    "reliability_diagram",
    "risk_utility_map",
    "success_rate",
    "suppressed",
    "total_risk",
    "verify",
    "verify_items",
    "verify_table",
]
