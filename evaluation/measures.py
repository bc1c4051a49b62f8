"""The family of measures: tables with one row per release, by what they read."""

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
