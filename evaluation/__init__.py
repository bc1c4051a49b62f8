"""Risk and loss measures, data sets, comparisons of defenses, checks and plots."""

from typing import TYPE_CHECKING

from foreknow.models.lazy_names import import_lazily

if TYPE_CHECKING:
    from foreknow.evaluation.cascade_table import compare_cascades as compare_cascades
    from foreknow.evaluation.checks.certificate import certificate as certificate
    from foreknow.evaluation.checks.verify import (
        verify as verify,
        verify_items as verify_items,
    )
    from foreknow.evaluation.datasets.adult import (
        adult as adult,
        adult_history as adult_history,
    )
    from foreknow.evaluation.datasets.exams import exams as exams
    from foreknow.evaluation.datasets.households import households as households
    from foreknow.evaluation.datasets.pbc import pbc as pbc
    from foreknow.evaluation.datasets.simulated_families import simulated_families as simulated_families
    from foreknow.evaluation.datasets.random_items import (
        adult_with_items as adult_with_items,
        random_items as random_items,
        random_knowledge as random_knowledge,
    )
    from foreknow.evaluation.experiment import (
        Comparison as Comparison,
        compare as compare,
        worst_case as worst_case,
    )
    from foreknow.evaluation.knowledge_table import compare_knowledge as compare_knowledge
    from foreknow.evaluation.loss.generalization_loss import (
        average_group_size as average_group_size,
        discernibility as discernibility,
        gcp as gcp,
        items_lost as items_lost,
        kl_loss as kl_loss,
        suppressed as suppressed,
    )
    from foreknow.evaluation.loss.queries import (
        Workload as Workload,
        query_error as query_error,
    )
    from foreknow.evaluation.loss.smoothed_counts import smoothed_counts as smoothed_counts
    from foreknow.evaluation.measures import COLUMNS as COLUMNS
    from foreknow.evaluation.plots.belief_plots import (
        belief_forest as belief_forest,
        belief_over_time as belief_over_time,
    )
    from foreknow.evaluation.plots.breach_plots import (
        breach_curve as breach_curve,
        reliability_plot as reliability_plot,
    )
    from foreknow.evaluation.plots.foreground_map import foreground_map as foreground_map
    from foreknow.evaluation.plots.gain_plot import (
        convergence_plot as convergence_plot,
        gain_over_time as gain_over_time,
        leak_plot as leak_plot,
    )
    from foreknow.evaluation.plots.influence_plots import (
        belief_sources_plot as belief_sources_plot,
        influence_map as influence_map,
        influence_over_distance as influence_over_distance,
    )
    from foreknow.evaluation.plots.risk_utility import risk_utility_map as risk_utility_map
    from foreknow.evaluation.recommended import recommend as recommend
    from foreknow.evaluation.risk.adversary_gain import (
        adversary_confidence as adversary_confidence,
        adversary_gain as adversary_gain,
        disclosures as disclosures,
        log_score as log_score,
        risk_table as risk_table,
        success_rate as success_rate,
        total_risk as total_risk,
    )
    from foreknow.evaluation.risk.belief_sources import belief_sources as belief_sources
    from foreknow.evaluation.risk.bounds import (
        BeliefBounds as BeliefBounds,
        bound as bound,
        expected_gain_bound as expected_gain_bound,
        leaving_shift as leaving_shift,
        odds_shift as odds_shift,
        role_anonymity as role_anonymity,
    )
    from foreknow.evaluation.risk.breaches import breaches as breaches
    from foreknow.evaluation.risk.global_errors import (
        global_probabilities as global_probabilities,
        greatest_differences as greatest_differences,
    )
    from foreknow.evaluation.risk.information_flow import (
        influence_by_distance as influence_by_distance,
        influence_by_release as influence_by_release,
        information_flow as information_flow,
        retroactive_leak as retroactive_leak,
    )
    from foreknow.evaluation.risk.label_disclosure import label_disclosure as label_disclosure
    from foreknow.evaluation.risk.record_linkage import (
        group_linkage as group_linkage,
        record_linkage as record_linkage,
    )
    from foreknow.evaluation.risk.reliability_curve import (
        consistency_test as consistency_test,
        reliability_curve as reliability_curve,
    )
    from foreknow.evaluation.risk.respondent_risk import (
        across_draws as across_draws,
        exposing_members as exposing_members,
        respondent_risk as respondent_risk,
    )
    from foreknow.evaluation.risk.score_decomposition import (
        brier_score as brier_score,
        score_decomposition as score_decomposition,
    )
    from foreknow.evaluation.risk.solver_calibration import (
        SolverCalibration as SolverCalibration,
        solver_calibration as solver_calibration,
    )
    from foreknow.evaluation.scenario import (
        SCENARIOS as SCENARIOS,
        Scenario as Scenario,
    )

NAMES = {
    "cascade_table": "compare_cascades",
    "checks.certificate": "certificate",
    "checks.verify": "verify verify_items",
    "datasets.adult": "adult adult_history",
    "datasets.exams": "exams",
    "datasets.households": "households",
    "datasets.pbc": "pbc",
    "datasets.simulated_families": "simulated_families",
    "datasets.random_items": "adult_with_items random_items random_knowledge",
    "experiment": "Comparison compare worst_case",
    "knowledge_table": "compare_knowledge",
    "loss.generalization_loss": "average_group_size discernibility gcp items_lost kl_loss suppressed",
    "loss.queries": "Workload query_error",
    "loss.smoothed_counts": "smoothed_counts",
    "measures": "COLUMNS",
    "plots.belief_plots": "belief_forest belief_over_time",
    "plots.breach_plots": "breach_curve reliability_plot",
    "plots.foreground_map": "foreground_map",
    "plots.gain_plot": "convergence_plot gain_over_time leak_plot",
    "plots.influence_plots": "belief_sources_plot influence_map influence_over_distance",
    "plots.risk_utility": "risk_utility_map",
    "recommended": "recommend",
    "risk.adversary_gain": "adversary_confidence adversary_gain disclosures log_score risk_table success_rate total_risk",
    "risk.belief_sources": "belief_sources",
    "risk.bounds": "BeliefBounds bound expected_gain_bound leaving_shift odds_shift role_anonymity",
    "risk.breaches": "breaches",
    "risk.global_errors": "global_probabilities greatest_differences",
    "risk.information_flow": "influence_by_distance influence_by_release information_flow retroactive_leak",
    "risk.label_disclosure": "label_disclosure",
    "risk.record_linkage": "group_linkage record_linkage",
    "risk.reliability_curve": "consistency_test reliability_curve",
    "risk.respondent_risk": "across_draws exposing_members respondent_risk",
    "risk.score_decomposition": "brier_score score_decomposition",
    "risk.solver_calibration": "SolverCalibration solver_calibration",
    "scenario": "SCENARIOS Scenario",
}
"""Public names of each module."""

PLACES = {name: f"foreknow.evaluation.{module}" for module, names in NAMES.items() for name in names.split()}
"""Module of each public name."""

__all__ = list(PLACES)

import_lazily(__name__, PLACES)
