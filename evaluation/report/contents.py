"""Contents of a report: tidy tables and sentences, computed from releases and the beliefs of two adversaries."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foreknow.defenses import Defense
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.evaluation.report.adversaries import LEARNED, Inference
from foreknow.evaluation.report.explorer import Explorer, explorer
from foreknow.evaluation.report.exposure import exposed_groups, exposed_people
from foreknow.evaluation.report.headline import Headline, headline
from foreknow.evaluation.report.influence_trials import influence_trials
from foreknow.evaluation.report.pseudonyms import Pseudonyms
from foreknow.evaluation.report.size_notes import size_notes
from foreknow.evaluation.report.stricter import Measured, price_of_settings, stricter_settings
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth
from foreknow.evaluation.risk.calibration import calibration
from foreknow.evaluation.risk.forecasts import true_values
from foreknow.evaluation.risk.ranking import within_group_auc
from foreknow.evaluation.risk.respondent_bootstrap import Bootstrap
from foreknow.evaluation.risk.retroactive_leak import retroactive_leak
from foreknow.evaluation.risk.risk_table import risk_table
from foreknow.evaluation.risk.worst_attacks import with_right_share
from foreknow.models import Adversary, Averaged, Beliefs, History, JointSolver, Release

MAX_BOOTSTRAP_WEIGHTS = 2**24
"""Bootstrap draws times beliefs, at most, of the intervals of calibration; further draws are left out."""


ATTACK_COLUMNS = ("gain", "success", "confidence", "log_score", "sure", "right", "right_share")
"""Measures of `ReportContents.attacks`."""


@dataclass(frozen=True)
class ReportSettings:
    """Settings of a report.

    Attributes
    ----------
    sure : float
        Belief from which an adversary is sure.
    level : float
        Probability of an interval.
    draws : int
        Number of bootstrap draws.
    names : bool
        If True, the page has the identifiers of respondents, otherwise pseudonyms.
    stricter : int
        Number of stricter settings that are tried, from 0 to 3.
    seed : int
        Seed of the bootstrap, of samples, and of trial publications.
    details : {"informed", "learned"} or None
        The adversary of the tables of respondents and groups, the explorer, the leak, and the influence. None: the one who
        exposes more respondents, the informed one if both expose as many.
    """

    sure: float = 0.9
    level: float = 0.9
    draws: int = 200
    names: bool = False
    stricter: int = 3
    seed: int = 0
    details: str | None = None


@dataclass(frozen=True, eq=False)
class ReportContents:
    """All that a report shows.

    Attributes
    ----------
    settings : ReportSettings
    inferences : dict of name to Inference
        The adversaries, the one who exposes more respondents first.
    headlines : dict of name to Headline
    unpublished : int
        Number of respondents all of whose records are suppressed.
    by_release : DataFrame
        `risk_table` of each adversary, with ``adversary``, and ``confidence_of_shares``.
    people, groups : DataFrame
        See `exposed_people` and `exposed_groups`.
    explorer : Explorer
    leak : DataFrame
        See `retroactive_leak`.
    trials, by_distance : DataFrame
        See `influence_trials`.
    calibration : DataFrame
        See `calibration`, with ``adversary``.
    ranking : float
        Area under the ROC curve within groups, over all values and releases (`ranking_within_groups`).
    attacks : DataFrame
        One row per attack that was made: ``attack``, ``gain``, ``success``, ``confidence``, ``log_score``, ``sure``, ``right`` over
        all releases, and ``right_share``, the share of the published records with a sure and right belief.
    utility : DataFrame
        One row per release: the columns of `suppressed`; ``groups``, ``smallest`` and ``group_size``, the number of groups and
        their smallest and mean size; ``gcp``, the normalized certainty penalty.
    stricter : DataFrame
        See `price_of_settings`.
    defense : Defense or None
        The defense whose settings are made stricter.
    notes : tuple of str
        Sentences that qualify the numbers.
    """

    settings: ReportSettings
    inferences: dict[str, Inference]
    headlines: dict[str, Headline]
    unpublished: int
    by_release: pd.DataFrame
    people: pd.DataFrame
    groups: pd.DataFrame
    explorer: Explorer
    leak: pd.DataFrame
    trials: pd.DataFrame
    by_distance: pd.DataFrame
    calibration: pd.DataFrame
    ranking: float
    attacks: pd.DataFrame
    utility: pd.DataFrame
    stricter: pd.DataFrame
    defense: Defense | None
    notes: tuple[str, ...]

    @property
    def worst(self) -> str:
        """Name of the adversary who exposes more respondents; the informed one if both expose as many."""
        return _worst(self.headlines)

    @property
    def details(self) -> Inference:
        """The adversary of the tables of respondents and groups."""
        return self.inferences[self.settings.details or self.worst]


def report_contents(
    releases: Sequence[Release],
    inferences: Sequence[Inference],
    settings: ReportSettings,
    *,
    solver: JointSolver,
    learned: Callable[[tuple[Release, ...]], Adversary],
    also: Mapping[str, Beliefs] | None = None,
    defense: Defense | None = None,
    defender: Adversary | Averaged | None = None,
    notes: Sequence[str] = (),
    step: Callable[[], None] = lambda: None,
) -> ReportContents:
    """Compute the contents of a report.

    Parameters
    ----------
    releases : sequence of Release
    inferences : sequence of Inference
        The informed adversary and the one who learned from the releases.
    settings : ReportSettings
    solver : JointSolver
    learned : callable
        From releases to the adversary who learned from them, for stricter settings.
    also : mapping of name to Beliefs, optional
        Beliefs of further attacks.
    defense : Defense, optional
        The defense whose settings are made stricter.
    defender : Adversary or Averaged, optional
        The adversary that this defense assumes.
    notes : sequence of str
        Sentences about the input.
    step : callable
        Called before each measure of `MEASURES` and before each stricter setting.
    """
    history = History([release.view for release in releases])
    rng = np.random.default_rng([settings.seed, 1])
    step()
    bootstrap, draws = _bootstrap(settings, len(history.respondents), rng), _calibration_draws(history, settings)
    headlines = {one.name: headline(one, history, settings.sure, bootstrap) for one in inferences}
    inferences = sorted(inferences, key=lambda one: -headlines[one.name].exposed)
    by_name = {one.name: one for one in inferences}
    details = by_name[settings.details or _worst(headlines)]
    people = headlines[details.name].people
    names = Pseudonyms.of([*people["respondent"], *_respondents(releases)], settings.names)
    step()
    trials, by_distance = influence_trials(details, releases, names, rng)
    tried = () if defense is None else stricter_settings(defense, settings.stricter)
    informed = next(one for one in inferences if one.name != LEARNED)
    step()
    shown = exposed_people(details, people, releases, solver, names)
    step()
    current = Measured(tuple(releases), {one.name: one.hindsight for one in inferences})
    return ReportContents(
        settings=settings,
        inferences=by_name,
        headlines=headlines,
        unpublished=len(names.numbers) - len(people),
        by_release=_by_release(inferences, headlines, history, settings.sure),
        people=shown,
        groups=exposed_groups(details, history, settings.sure),
        explorer=explorer(details, releases, names, rng),
        leak=retroactive_leak(details.forward, details.hindsight, history, sure=settings.sure),
        trials=trials,
        by_distance=by_distance,
        calibration=_calibration(inferences, history, settings, rng),
        ranking=ranking_within_groups(details, history),
        attacks=_attacks(history, inferences, also or {}, settings.sure),
        utility=_utility(releases),
        stricter=price_of_settings(
            history,
            current,
            tried,
            lambda published: {informed.name: informed.adversary, LEARNED: learned(published)},
            defender=defender,
            solver=solver,
            sure=settings.sure,
            rng=np.random.default_rng([settings.seed, 2]),
            step=step,
        ),
        defense=defense,
        notes=(*notes, *_notes(inferences, releases), *size_notes(releases, settings.draws, bootstrap.draws, draws)),
    )


def _worst(headlines: dict[str, Headline]) -> str:
    return max(headlines, key=lambda name: headlines[name].exposed)


def _respondents(releases: Sequence[Release]) -> Iterable[Hashable]:
    for release in releases:
        yield from release.view.people.respondents


def _bootstrap(settings: ReportSettings, size: int, rng: np.random.Generator) -> Bootstrap:
    """A bootstrap with as many draws as `MAX_BOOTSTRAP_WEIGHTS` allows, and at least 20."""
    draws = min(settings.draws, max(MAX_BOOTSTRAP_WEIGHTS // max(size, 1), 20))
    return Bootstrap(draws, settings.level, rng)


def _by_release(
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


def _calibration_draws(history: History, settings: ReportSettings) -> int:
    """Number of bootstrap draws of the intervals of calibration: as many as `MAX_BOOTSTRAP_WEIGHTS` allows, and at least 5."""
    size = sum(map(len, history)) * len(history.schema.values)
    return min(settings.draws, max(MAX_BOOTSTRAP_WEIGHTS // max(size, 1), 5))


def _calibration(
    inferences: Sequence[Inference], history: History, settings: ReportSettings, rng: np.random.Generator
) -> pd.DataFrame:
    """Calibration of each adversary in ten bins."""
    draws = _calibration_draws(history, settings)
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


def _attacks(
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


def _utility(releases: Sequence[Release]) -> pd.DataFrame:
    """Records, groups and generalization of each release."""
    table = suppressed(releases)
    sizes = [release.counts.sum(axis=1) for release in releases]
    table["groups"] = [release.groups for release in releases]
    table["smallest"] = [int(size.min()) if len(size) else 0 for size in sizes]
    table["group_size"] = [float(size.mean()) if len(size) else np.nan for size in sizes]
    table["gcp"] = gcp(releases)["gcp"].to_numpy()
    return table


def _notes(inferences: Sequence[Inference], releases: Sequence[Release]) -> tuple[str, ...]:
    """Notes of the defense and of the adversaries, each once."""
    said: dict[str, Any] = {}
    for release in releases:
        said |= {f"At {release.time}: {note}": None for note in release.grouping.notes}
    for one in inferences:
        for note in (*one.hindsight.notes, *one.forward.notes):
            said[f"{one.title}: {note}"] = None
    return tuple(said)
