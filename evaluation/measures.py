"""The family of measures: tables with one row per release, by what they read, and the meaning of their columns."""

from collections.abc import Callable

import pandas as pd

from foreknow.evaluation.loss.divergence import kl_loss
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.evaluation.loss.group_sizes import average_group_size, discernibility
from foreknow.evaluation.loss.queries import query_error
from foreknow.evaluation.risk.adversary_gain import adversary_gain, total_risk
from foreknow.evaluation.risk.belief_accuracy import adversary_confidence, disclosures, log_score, success_rate
from foreknow.evaluation.risk.breaches import breaches
from foreknow.evaluation.risk.information_flow import information_flow
from foreknow.evaluation.risk.record_linkage import record_linkage
from foreknow.evaluation.risk.risk_table import risk_table
from foreknow.evaluation.risk.score_decomposition import brier_score

type Measure = Callable[..., pd.DataFrame]
"""A function that returns one row per release; options are keyword-only."""

BELIEF_MEASURES: dict[str, Measure] = {
    "adversary_confidence": adversary_confidence,
    "adversary_gain": adversary_gain,
    "breaches": breaches,
    "brier_score": brier_score,
    "disclosures": disclosures,
    "information_flow": information_flow,
    "log_score": log_score,
    "risk_table": risk_table,
    "success_rate": success_rate,
    "total_risk": total_risk,
}
"""Measures of ``(beliefs, history)``, with the option ``leaving_out``; ``breaches`` also takes ``sensitive_set`` and ``r``."""

RELEASE_MEASURES: dict[str, Measure] = {
    "average_group_size": average_group_size,
    "discernibility": discernibility,
    "gcp": gcp,
    "kl_loss": kl_loss,
    "query_error": query_error,
    "record_linkage": record_linkage,
    "suppressed": suppressed,
}
"""Measures of releases; ``query_error`` also takes a workload."""

MEASURES: dict[str, Measure] = BELIEF_MEASURES | RELEASE_MEASURES
"""All measures of any attack or any defense. Measures of the result of one attack or defense are not among them."""

COLUMNS: dict[str, str] = {
    "time": "time of the release",
    "records": "number of records of the view",
    "measured": "number of records that the measure averages or sums over",
    "published": "number of published records that are not left out",
    "suppressed": "number of suppressed records",
    "suppressed_share": "share of the records that are suppressed",
    "compromised": "number of published records left out by leaving_out",
    "certain": "number of published records in groups of one value",
    "gain": "mean of (p - f) / (1 - f), p being the belief in the true value and f its share of the group",
    "total_risk": "share of certain records, plus the gain of the others",
    "confidence": "mean belief in the true value",
    "success": "fraction of records whose value of highest belief is the true one",
    "log_score": "mean log2 of the belief in the true value, in bits",
    "brier_score": "mean sum over values of the squared difference of belief and truth",
    "miscalibration": "part of the Brier score that recalibration of the beliefs removes",
    "discrimination": "part of the uncertainty that recalibrated beliefs remove",
    "uncertainty": "Brier score of the overall frequency as the belief",
    "within_bins": "Brier score less that of the mean belief of each bin",
    "calibration_error": "mean over beliefs of the distance of their bin's mean from its observed frequency",
    "prior_vulnerability": "mean expected gain of the best guess before the release",
    "posterior_vulnerability": "mean expected gain of the best guess after the release",
    "leakage": "log2 of posterior over prior vulnerability, in bits",
    "realized_prior": "mean gain of the best guess before the release for the true value",
    "realized_posterior": "mean gain of the best guess after the release for the true value",
    "realized_leakage": "log2 of the realized posterior over the realized prior gain, in bits",
    "sure": "number of records with a belief of at least the threshold",
    "right": "number of sure records whose value of highest belief is the true one",
    "expected": "sum of the highest beliefs of the sure records",
    "breached": "fraction of holders with a belief over 1/r",
    "flagged": "fraction of non-holders with a belief over 1/r",
    "probability": "mean belief in the sensitive set of the holders",
    "breached_of_shares": "fraction of holders whose group shows the set with more than 1/r",
    "precision": "fraction of holders among the records in breach",
    "expected_precision": "mean belief in the set of the records in breach",
    "expected_precision_of_shares": "mean share of the set in the groups of the records in breach",
    "lift": "precision over the base rate",
    "base_rate": "fraction of holders",
    "brier": "mean squared difference of the belief in the set and the truth",
    "brier_of_shares": "the same of the group's share of the set",
    "auc": "area under the ROC curve of the belief in the set",
    "auc_of_shares": "area under the ROC curve of the group's share of the set",
    "auc_within": "area under the ROC curve within groups",
    "top_c_precision": "fraction of holders among the c likeliest of each group with c holders",
    "top_c_by_chance": "the same for records drawn at random",
    "mixed": "number of records in groups with holders and others",
    "holders": "number of records with a value of the sensitive set",
    "linkage": "mean probability of linking a record with its group",
    "linkage_sum": "sum of the probabilities of linking a record with its group",
    "linked": "number of records whose own group is among the nearest",
    "total": "sum of the certainty penalties",
    "normalized": "certainty penalty per record and quasi-identifier",
    "per_group": "mean over the groups of a record's certainty penalty",
    "penalized": "normalized certainty penalty with suppressed records as completely generalized",
    "identifiers": "divergence of the quasi-identifiers, in bits",
    "joint": "divergence of quasi-identifiers and sensitive values, in bits",
    "discernibility": "sum of squared group sizes, plus the number of records for each suppressed one",
    "discernibility_published": "sum of squared group sizes",
    "groups": "number of groups",
    "group_size": "mean number of records of a group, in multiples of k",
    "smallest": "number of records of the smallest group",
    "largest": "number of records of the largest group",
    "distorted": "number of records published with another value than their own",
    "counterfeits": "number of counterfeits",
    "query_mean": "mean relative error of the queries",
    "query_median": "median relative error of the queries",
    "queries": "number of queries with an error",
    "empty": "number of queries that count no record",
    "redrawn": "number of queries replaced when the workload was drawn",
}
"""Meaning of each column of the measures and of `Comparison.cost`: one name, one meaning."""
