"""Risk and loss measures, data sets, comparisons of defenses, checks and plots."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.evaluation.checks.certificate import certificate as certificate
    from foreknow.evaluation.checks.verify import verify as verify
    from foreknow.evaluation.checks.verify import verify_items as verify_items
    from foreknow.evaluation.measures import COLUMNS as COLUMNS
    from foreknow.evaluation.datasets.adult import adult as adult
    from foreknow.evaluation.datasets.exams import exams as exams
    from foreknow.evaluation.datasets.households import households as households
    from foreknow.evaluation.datasets.pbc import pbc as pbc
    from foreknow.evaluation.datasets.random_items import (
        adult_with_items as adult_with_items,
        random_items as random_items,
        random_knowledge as random_knowledge,
    )
    from foreknow.evaluation.experiment import (
        Comparison as Comparison,
        compare as compare,
    )
    from foreknow.evaluation.knowledge_table import compare_knowledge as compare_knowledge
    from foreknow.evaluation.loss.generalization_loss import kl_loss as kl_loss
    from foreknow.evaluation.loss.generalization_loss import (
        gcp as gcp,
        suppressed as suppressed,
    )
    from foreknow.evaluation.loss.generalization_loss import (
        average_group_size as average_group_size,
        discernibility as discernibility,
    )
    from foreknow.evaluation.loss.generalization_loss import items_lost as items_lost
    from foreknow.evaluation.loss.queries import query_error as query_error
    from foreknow.evaluation.loss.queries import Workload as Workload
    from foreknow.evaluation.plots.belief_plots import belief_forest as belief_forest
    from foreknow.evaluation.plots.belief_plots import belief_over_time as belief_over_time
    from foreknow.evaluation.plots.breach_plots import (
        breach_curve as breach_curve,
    )
    from foreknow.evaluation.plots.gain_plot import convergence_plot as convergence_plot
    from foreknow.evaluation.plots.foreground_map import foreground_map as foreground_map
    from foreknow.evaluation.plots.gain_plot import gain_over_time as gain_over_time
    from foreknow.evaluation.plots.influence_plots import (
        influence_map as influence_map,
        influence_over_distance as influence_over_distance,
    )
    from foreknow.evaluation.plots.gain_plot import leak_plot as leak_plot
    from foreknow.evaluation.plots.breach_plots import reliability_plot as reliability_plot
    from foreknow.evaluation.plots.risk_utility import risk_utility_map as risk_utility_map
    from foreknow.evaluation.risk.respondent_risk import across_draws as across_draws
    from foreknow.evaluation.risk.adversary_gain import (
        adversary_gain as adversary_gain,
        total_risk as total_risk,
    )
    from foreknow.evaluation.risk.adversary_gain import (
        adversary_confidence as adversary_confidence,
        disclosures as disclosures,
        log_score as log_score,
        success_rate as success_rate,
    )
    from foreknow.evaluation.risk.breaches import breaches as breaches
    from foreknow.evaluation.risk.reliability_curve import consistency_test as consistency_test
    from foreknow.evaluation.risk.respondent_risk import exposing_members as exposing_members
    from foreknow.evaluation.risk.global_errors import global_probabilities as global_probabilities
    from foreknow.evaluation.risk.global_errors import greatest_differences as greatest_differences
    from foreknow.evaluation.risk.information_flow import (
        influence_by_distance as influence_by_distance,
        influence_by_release as influence_by_release,
    )
    from foreknow.evaluation.risk.information_flow import information_flow as information_flow
    from foreknow.evaluation.risk.label_disclosure import label_disclosure as label_disclosure
    from foreknow.evaluation.risk.record_linkage import record_linkage as record_linkage
    from foreknow.evaluation.risk.reliability_curve import reliability_curve as reliability_curve
    from foreknow.evaluation.risk.respondent_risk import respondent_risk as respondent_risk
    from foreknow.evaluation.risk.information_flow import retroactive_leak as retroactive_leak
    from foreknow.evaluation.risk.adversary_gain import risk_table as risk_table
    from foreknow.evaluation.risk.score_decomposition import (
        brier_score as brier_score,
        score_decomposition as score_decomposition,
    )
    from foreknow.evaluation.experiment import worst_case as worst_case

PLACES = {
    "COLUMNS": "foreknow.evaluation.measures",
    "Comparison": "foreknow.evaluation.experiment",
    "Workload": "foreknow.evaluation.loss.queries",
    "across_draws": "foreknow.evaluation.risk.respondent_risk",
    "adult": "foreknow.evaluation.datasets.adult",
    "adult_with_items": "foreknow.evaluation.datasets.random_items",
    "adversary_confidence": "foreknow.evaluation.risk.adversary_gain",
    "adversary_gain": "foreknow.evaluation.risk.adversary_gain",
    "average_group_size": "foreknow.evaluation.loss.generalization_loss",
    "belief_forest": "foreknow.evaluation.plots.belief_plots",
    "belief_over_time": "foreknow.evaluation.plots.belief_plots",
    "breach_curve": "foreknow.evaluation.plots.breach_plots",
    "breaches": "foreknow.evaluation.risk.breaches",
    "brier_score": "foreknow.evaluation.risk.score_decomposition",
    "certificate": "foreknow.evaluation.checks.certificate",
    "compare": "foreknow.evaluation.experiment",
    "compare_knowledge": "foreknow.evaluation.knowledge_table",
    "consistency_test": "foreknow.evaluation.risk.reliability_curve",
    "convergence_plot": "foreknow.evaluation.plots.gain_plot",
    "discernibility": "foreknow.evaluation.loss.generalization_loss",
    "disclosures": "foreknow.evaluation.risk.adversary_gain",
    "exams": "foreknow.evaluation.datasets.exams",
    "exposing_members": "foreknow.evaluation.risk.respondent_risk",
    "foreground_map": "foreknow.evaluation.plots.foreground_map",
    "gain_over_time": "foreknow.evaluation.plots.gain_plot",
    "gcp": "foreknow.evaluation.loss.generalization_loss",
    "global_probabilities": "foreknow.evaluation.risk.global_errors",
    "greatest_differences": "foreknow.evaluation.risk.global_errors",
    "households": "foreknow.evaluation.datasets.households",
    "influence_by_distance": "foreknow.evaluation.risk.information_flow",
    "influence_by_release": "foreknow.evaluation.risk.information_flow",
    "influence_map": "foreknow.evaluation.plots.influence_plots",
    "influence_over_distance": "foreknow.evaluation.plots.influence_plots",
    "information_flow": "foreknow.evaluation.risk.information_flow",
    "items_lost": "foreknow.evaluation.loss.generalization_loss",
    "kl_loss": "foreknow.evaluation.loss.generalization_loss",
    "label_disclosure": "foreknow.evaluation.risk.label_disclosure",
    "leak_plot": "foreknow.evaluation.plots.gain_plot",
    "log_score": "foreknow.evaluation.risk.adversary_gain",
    "pbc": "foreknow.evaluation.datasets.pbc",
    "query_error": "foreknow.evaluation.loss.queries",
    "random_items": "foreknow.evaluation.datasets.random_items",
    "random_knowledge": "foreknow.evaluation.datasets.random_items",
    "record_linkage": "foreknow.evaluation.risk.record_linkage",
    "reliability_curve": "foreknow.evaluation.risk.reliability_curve",
    "reliability_plot": "foreknow.evaluation.plots.breach_plots",
    "respondent_risk": "foreknow.evaluation.risk.respondent_risk",
    "retroactive_leak": "foreknow.evaluation.risk.information_flow",
    "risk_table": "foreknow.evaluation.risk.adversary_gain",
    "risk_utility_map": "foreknow.evaluation.plots.risk_utility",
    "score_decomposition": "foreknow.evaluation.risk.score_decomposition",
    "success_rate": "foreknow.evaluation.risk.adversary_gain",
    "suppressed": "foreknow.evaluation.loss.generalization_loss",
    "total_risk": "foreknow.evaluation.risk.adversary_gain",
    "verify": "foreknow.evaluation.checks.verify",
    "verify_items": "foreknow.evaluation.checks.verify",
    "worst_case": "foreknow.evaluation.experiment",
}
"""Module of each public name."""

__all__ = list(PLACES)

import_lazily(__name__, PLACES)
