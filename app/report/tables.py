"""Tables of a report: risk of each release and attack, calibration, ranking, utility, and notes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.report.adversaries import Inference
from foreknow.app.report.headline import Headline
from foreknow.app.report.report_settings import ReportSettings
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.evaluation.risk.adversary_gain import risk_table, with_right_share
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth, true_values
from foreknow.evaluation.risk.breaches import within_group_auc
from foreknow.evaluation.risk.reliability_curve import Bootstrap, calibration
from foreknow.models import Beliefs, History, Release

MAX_BOOTSTRAP_WEIGHTS = 2**24
"""Bootstrap draws times beliefs, at most, of the intervals of calibration; further draws are left out."""

ATTACK_COLUMNS = ("gain", "success", "confidence", "log_score", "sure", "right", "right_share")
"""Measures of `ReportContents.attacks`."""


def bootstrap_of_means(settings: ReportSettings, size: int, rng: np.random.Generator) -> Bootstrap:
    """A bootstrap with as many draws as `MAX_BOOTSTRAP_WEIGHTS` allows, and at least 20."""
    draws = min(settings.draws, max(MAX_BOOTSTRAP_WEIGHTS // max(size, 1), 20))
    return Bootstrap(draws, settings.level, rng)


def risk_by_release(
    inferences: Sequence[Inference], headlines: dict[str, Headline], history: History, sure: float
) -> pd.DataFrame:
    """Risk at each release, one row per adversary and release, with the mean share of the true values in their groups."""
    tables = []
    for one in inferences:
        table = risk_table(one.hindsight, history, sure=sure)
        table.insert(0, "adversary", one.name)
        table["confidence_of_shares"] = headlines[one.name].shares
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def calibration_draws(history: History, settings: ReportSettings) -> int:
    """Number of bootstrap draws of the intervals of calibration: as many as `MAX_BOOTSTRAP_WEIGHTS` allows, and at least 5."""
    size = sum(map(len, history)) * len(history.schema.values)
    return min(settings.draws, max(MAX_BOOTSTRAP_WEIGHTS // max(size, 1), 5))


def calibration_of_each(
    inferences: Sequence[Inference], history: History, settings: ReportSettings, rng: np.random.Generator
) -> pd.DataFrame:
    """Calibration of each adversary in ten bins."""
    draws = calibration_draws(history, settings)
    tables = []
    for one in inferences:
        table = calibration(one.hindsight, history, draws=draws, level=settings.level, rng=rng)
        table.insert(0, "adversary", one.name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def ranking_within_groups(one: Inference, history: History) -> float:
    """Fraction of the pairs of a group, one with a value and one without, in which the former has the higher belief in it.

    Over all values and releases, in hindsight; ties count one half; NaN without a pair.
    """
    beliefs, holds, groups = [np.zeros(0)], [np.zeros(0, dtype=np.bool_)], [np.zeros(0, dtype=np.int64)]
    first = 0
    for measured in beliefs_and_truth("report", one.hindsight, history):
        m = measured.belief.shape[1]
        beliefs.append(measured.belief.ravel())
        holds.append(true_values(measured).ravel())
        groups.append((first + measured.group[:, None] * m + np.arange(m)).ravel())
        first += (int(measured.group.max(initial=-1)) + 1) * m
    return within_group_auc(np.concatenate(beliefs), np.concatenate(holds), np.concatenate(groups))


def risk_of_attacks(
    history: History, inferences: Sequence[Inference], also: Mapping[str, Beliefs], sure: float
) -> pd.DataFrame:
    """Risk over all releases of each attack: in hindsight, forward and release by release for each adversary, and others."""
    beliefs: dict[str, Beliefs] = {}
    for one in inferences:
        beliefs[f"{one.title}, all releases in hindsight"] = one.hindsight
        beliefs[f"{one.title}, releases so far"] = one.forward
        beliefs[f"{one.title}, release by release"] = one.sequential
    rows = []
    for name, found in {**beliefs, **also}.items():
        risk = risk_table(found, history, sure=sure)
        rows.append({"attack": name, "published": int(risk["published"].sum())} | total_of_risk(risk))
    return with_right_share(pd.DataFrame(rows))[["attack", *ATTACK_COLUMNS]]


def utility_by_release(releases: Sequence[Release]) -> pd.DataFrame:
    """Records, groups and generalization of each release."""
    table = suppressed(releases)
    sizes = [release.counts.sum(axis=1) for release in releases]
    table["groups"] = [release.groups for release in releases]
    table["smallest"] = [int(size.min()) if len(size) else 0 for size in sizes]
    table["group_size"] = [float(size.mean()) if len(size) else np.nan for size in sizes]
    table["gcp"] = gcp(releases)["gcp"].to_numpy()
    return table


def notes_of(inferences: Sequence[Inference], releases: Sequence[Release]) -> tuple[str, ...]:
    """Notes of the defense and of the adversaries, each once."""
    said: dict[str, Any] = {}
    for release in releases:
        said |= {f"At {release.time}: {note}": None for note in release.grouping.notes}
    for one in inferences:
        for note in (*one.hindsight.notes, *one.forward.notes):
            said[f"{one.title}: {note}"] = None
    return tuple(said)
