"""Risk and loss measures, data sets, comparisons of defenses, checks and plots."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.evaluation.checks.certificate import Certificate, certificate
    from foreknow.evaluation.checks.invariance import m_invariance
    from foreknow.evaluation.checks.verify import verify, verify_table
    from foreknow.evaluation.checks.verify_items import verify_items
    from foreknow.evaluation.columns import COLUMNS
    from foreknow.evaluation.datasets import DATASETS
    from foreknow.evaluation.datasets.adult import adult
    from foreknow.evaluation.datasets.exams import exams
    from foreknow.evaluation.datasets.households import households
    from foreknow.evaluation.datasets.pbc import pbc
    from foreknow.evaluation.datasets.random_items import adult_with_items, random_items, random_knowledge
    from foreknow.evaluation.experiment import Comparison, compare
    from foreknow.evaluation.knowledge_table import compare_knowledge
    from foreknow.evaluation.loss.divergence import kl_loss
    from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
    from foreknow.evaluation.loss.group_sizes import average_group_size, discernibility
    from foreknow.evaluation.loss.items_lost import items_lost
    from foreknow.evaluation.loss.queries import query_error, query_errors
    from foreknow.evaluation.loss.workload import Workload
    from foreknow.evaluation.measures import BELIEF_MEASURES, MEASURES, RELEASE_MEASURES
    from foreknow.evaluation.plots.belief_forest import belief_forest
    from foreknow.evaluation.plots.belief_plots import belief_over_time
    from foreknow.evaluation.plots.breach_plots import breach_curve, reliability_diagram
    from foreknow.evaluation.plots.convergence_plot import convergence_plot
    from foreknow.evaluation.plots.foreground_map import foreground_map
    from foreknow.evaluation.plots.gain_plot import gain_over_time
    from foreknow.evaluation.plots.group_sizes import group_sizes
    from foreknow.evaluation.plots.influence_plots import influence_map, influence_over_distance
    from foreknow.evaluation.plots.leak_plot import leak_plot
    from foreknow.evaluation.plots.reliability_plot import reliability_plot
    from foreknow.evaluation.plots.risk_utility import risk_utility_map
    from foreknow.evaluation.risk.across_draws import across_draws
    from foreknow.evaluation.risk.adversary_gain import adversary_gain, total_risk
    from foreknow.evaluation.risk.belief_accuracy import adversary_confidence, disclosures, log_score, success_rate
    from foreknow.evaluation.risk.breaches import breaches
    from foreknow.evaluation.risk.calibration import calibration
    from foreknow.evaluation.risk.consistency import consistency_test
    from foreknow.evaluation.risk.exposing_members import exposing_members
    from foreknow.evaluation.risk.global_errors import global_errors, global_probabilities
    from foreknow.evaluation.risk.greatest_differences import greatest_differences
    from foreknow.evaluation.risk.influence import influence_by_distance, influence_by_release
    from foreknow.evaluation.risk.information_flow import information_flow
    from foreknow.evaluation.risk.label_disclosure import label_disclosure
    from foreknow.evaluation.risk.record_linkage import record_linkage
    from foreknow.evaluation.risk.reliability_curve import reliability_curve
    from foreknow.evaluation.risk.respondent_risk import respondent_risk
    from foreknow.evaluation.risk.retroactive_leak import retroactive_leak
    from foreknow.evaluation.risk.risk_table import risk_table
    from foreknow.evaluation.risk.score_decomposition import brier_score, score_decomposition
    from foreknow.evaluation.worst_case_table import worst_case

__all__ = [
    "BELIEF_MEASURES",
    "COLUMNS",
    "DATASETS",
    "MEASURES",
    "RELEASE_MEASURES",
    "Certificate",
    "Comparison",
    "Workload",
    "across_draws",
    "adult",
    "adult_with_items",
    "adversary_confidence",
    "adversary_gain",
    "average_group_size",
    "belief_forest",
    "belief_over_time",
    "breach_curve",
    "breaches",
    "brier_score",
    "calibration",
    "certificate",
    "compare",
    "compare_knowledge",
    "consistency_test",
    "convergence_plot",
    "discernibility",
    "disclosures",
    "exams",
    "exposing_members",
    "foreground_map",
    "gain_over_time",
    "gcp",
    "global_errors",
    "global_probabilities",
    "greatest_differences",
    "group_sizes",
    "households",
    "influence_by_distance",
    "influence_by_release",
    "influence_map",
    "influence_over_distance",
    "information_flow",
    "items_lost",
    "kl_loss",
    "label_disclosure",
    "leak_plot",
    "log_score",
    "m_invariance",
    "pbc",
    "query_error",
    "query_errors",
    "random_items",
    "random_knowledge",
    "record_linkage",
    "reliability_curve",
    "reliability_diagram",
    "reliability_plot",
    "respondent_risk",
    "retroactive_leak",
    "risk_table",
    "risk_utility_map",
    "score_decomposition",
    "success_rate",
    "suppressed",
    "total_risk",
    "verify",
    "verify_items",
    "verify_table",
    "worst_case",
]

import_lazily(__name__)
