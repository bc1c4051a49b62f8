"""Contents of a report: tidy tables and sentences, computed from releases and the beliefs of two adversaries."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.app.report.adversaries import LEARNED, Inference
from foreknow.app.report.explorer import Explorer, explorer
from foreknow.app.report.exposure import exposed_groups, exposed_people
from foreknow.app.report.headline import Headline, headline
from foreknow.app.report.influence_trials import influence_trials
from foreknow.app.report.pseudonyms import Pseudonyms
from foreknow.app.report.report_settings import ReportSettings
from foreknow.app.report.size_notes import size_notes
from foreknow.app.report.stricter import Measured, price_of_settings, stricter_settings
from foreknow.app.report.tables import (
    bootstrap_of_means,
    calibration_draws,
    calibration_of_each,
    notes_of,
    ranking_within_groups,
    risk_by_release,
    risk_of_attacks,
    utility_by_release,
)
from foreknow.defenses import Defense
from foreknow.evaluation.risk.information_flow import retroactive_leak
from foreknow.models import Adversary, Averaged, Beliefs, History, JointSolver, Release


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
        The defense that made the groups; None if it is not known.
    assumed : Defense or None
        The defense whose settings are made stricter in place of one that is not known.
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
    assumed: Defense | None
    notes: tuple[str, ...]

    @property
    def worst(self) -> str:
        """Name of the adversary who exposes more respondents; the informed one if both expose as many."""
        return _worst(self.headlines)

    @property
    def changed(self) -> Defense | None:
        """The defense whose settings are made stricter: the one that made the groups, or the assumed one."""
        return self.assumed if self.defense is None else self.defense

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
    assumed: Defense | None = None,
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
    defense, assumed : Defense, optional
        The defense that made the groups, or one in its place. The settings of the one that is given are made stricter.
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
    bootstrap, draws = bootstrap_of_means(settings, len(history.respondents), rng), calibration_draws(history, settings)
    headlines = {one.name: headline(one, history, settings.sure, bootstrap) for one in inferences}
    inferences = sorted(inferences, key=lambda one: -headlines[one.name].exposed)
    by_name = {one.name: one for one in inferences}
    details = by_name[settings.details or _worst(headlines)]
    people = headlines[details.name].people
    names = Pseudonyms.of([*people["respondent"], *_respondents(releases)], settings.names)
    step()
    trials, by_distance = influence_trials(details, releases, names, rng)
    step()
    shown = exposed_people(details, people, releases, solver, names)
    step()
    return ReportContents(
        settings=settings,
        inferences=by_name,
        headlines=headlines,
        unpublished=len(names.numbers) - len(people),
        by_release=risk_by_release(inferences, headlines, history, settings.sure),
        people=shown,
        groups=exposed_groups(details, history, settings.sure),
        explorer=explorer(details, releases, names, rng),
        leak=retroactive_leak(details.forward, details.hindsight, history, sure=settings.sure),
        trials=trials,
        by_distance=by_distance,
        calibration=calibration_of_each(inferences, history, settings, rng),
        ranking=ranking_within_groups(details, history),
        attacks=risk_of_attacks(history, inferences, also or {}, settings.sure),
        utility=utility_by_release(releases),
        stricter=_stricter(
            history,
            releases,
            inferences,
            settings,
            solver,
            learned,
            assumed if defense is None else defense,
            defender,
            step,
        ),
        defense=defense,
        assumed=assumed,
        notes=(*notes, *notes_of(inferences, releases), *size_notes(releases, settings.draws, bootstrap.draws, draws)),
    )


def _stricter(
    history: History,
    releases: Sequence[Release],
    inferences: Sequence[Inference],
    settings: ReportSettings,
    solver: JointSolver,
    learned: Callable[[tuple[Release, ...]], Adversary],
    defense: Defense | None,
    defender: Adversary | Averaged | None,
    step: Callable[[], None],
) -> pd.DataFrame:
    """Risk and price of the present publication and of stricter settings, under the same two adversaries."""
    informed = next(one for one in inferences if one.name != LEARNED)
    return price_of_settings(
        history,
        Measured(tuple(releases), {one.name: one.hindsight for one in inferences}),
        () if defense is None else stricter_settings(defense, settings.stricter),
        lambda published: {informed.name: informed.adversary, LEARNED: learned(published)},
        defender=defender,
        solver=solver,
        sure=settings.sure,
        rng=np.random.default_rng([settings.seed, 2]),
        step=step,
    )


def _worst(headlines: dict[str, Headline]) -> str:
    return max(headlines, key=lambda name: headlines[name].exposed)


def _respondents(releases: Sequence[Release]) -> Iterable[Hashable]:
    for release in releases:
        yield from release.view.people.respondents
