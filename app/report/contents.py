"""Contents of a report: tidy tables and sentences, computed from releases and the beliefs of two adversaries."""

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from foreknow.app.cli.adversary_knowledge import knowing_ghosts
from foreknow.app.exposure import TwoSides, exposed
from foreknow.app.report.adversaries import (
    INFORMED,
    LEARNED,
    Inference,
    Readers,
    Setting,
    cohort_setting,
    price_of_settings,
    readers_of_one_release,
    told_by_leaving,
)
from foreknow.app.report.respondents import (
    LEAST_CHANGE,
    MAX_PREFIX_RECORDS,
    Explorer,
    Pseudonyms,
    explorer,
    exposed_groups,
    exposed_people,
)
from foreknow.attacks import Influence, JointAttack, SequentialAttack
from foreknow.defenses import Cohorts, Defense
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.evaluation.risk.adversary_gain import hits, risk_table, sure_beliefs, with_right_share
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth, mean, numbered, true_values
from foreknow.evaluation.risk.breaches import within_group_auc
from foreknow.evaluation.risk.information_flow import influence_by_distance, retroactive_leak
from foreknow.evaluation.risk.reliability_curve import Bootstrap, reliability_curve
from foreknow.evaluation.risk.solver_calibration import SolverCalibration, solver_calibration
from foreknow.models import Adversary, Averaged, Beliefs, CompromisedRecords, History, PriorCascade, Release, TooLarge
from foreknow.models.arrays import FloatArray
from foreknow.models.joint import JointSolver


@dataclass(frozen=True)
class ReportSettings:
    """Settings of a report: the arguments of `foreknow.app.report.report.report` of these names, with their seed."""

    sure: float = 0.9
    level: float = 0.9
    draws: int = 200
    names: bool = False
    stricter: int = 3
    seed: int = 0
    details: str | None = None
    bound: float | None = None


class Headline(NamedTuple):
    """Risk of one adversary over all releases, in hindsight."""

    respondents: int  # number of respondents with a published record
    exposed: int  # number of them who are `exposed`
    known: int  # number of the others with a sure belief in their true value before any release
    # sure, right: number of records with a sure belief, and of those whose value of highest belief is the true one
    sure: int
    right: int
    # one row per measure: ``measure``, ``value``, ``low``, ``high``. ``exposed`` is the share of the respondents; ``confidence``
    # and ``success`` are means over the published records, and ``confidence_of_shares`` and ``success_of_shares`` the same of an
    # adversary who believes the shares of each group.
    table: pd.DataFrame
    people: pd.DataFrame  # `Exposure.people`; exposed respondents first, then by the belief and the prior
    # mean share of the true values in their groups, one for each release; NaN without a published record
    shares: tuple[float, ...]
    sides: TwoSides

    def value(self, measure: str) -> float:
        """Value of a measure."""
        return float(self.table.loc[self.table["measure"] == measure, "value"].iloc[0])


@dataclass(frozen=True, eq=False)
class ReportContents:
    """All that a report shows.

    Attributes
    ----------
    settings : ReportSettings
    inferences : dict of name to Inference
        The adversaries, the one who exposes more respondents first.
    headlines : dict of name to Headline
    forward : Beliefs
        Of the adversary of the details, about each release given the releases up to it.
    unpublished : int
        Number of respondents all of whose records are suppressed.
    readers : Readers
        See `readers_of_one_release`.
    leaving : DataFrame
        See `told_by_leaving`.
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
        See `reliability_curve`, with ``adversary``.
    redrawn : SolverCalibration or None
        See `redrawn_worlds`.
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
    tried : dict of str to Defense
        The defenses of these rows but the first, by ``setting``: stricter settings, and where respondents are exposed in several
        releases, `cohort_setting`.
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
    forward: Beliefs
    unpublished: int
    readers: Readers
    leaving: pd.DataFrame
    by_release: pd.DataFrame
    people: pd.DataFrame
    groups: pd.DataFrame
    explorer: Explorer
    leak: pd.DataFrame
    trials: pd.DataFrame
    by_distance: pd.DataFrame
    calibration: pd.DataFrame
    redrawn: SolverCalibration | None
    ranking: float
    attacks: pd.DataFrame
    utility: pd.DataFrame
    stricter: pd.DataFrame
    tried: dict[str, Defense]
    defense: Defense | None
    assumed: Defense | None
    notes: tuple[str, ...]

    @property
    def worst(self) -> str:
        """Name of the adversary who exposes more respondents; the informed one if both expose as many."""
        return next(iter(self.inferences))

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
    tried: Sequence[Setting] = (),
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
    tried : sequence of Setting
        Stricter settings of the defense, by `stricter_settings`.
    defense, assumed : Defense, optional
        The defense that made the groups, or one in its place.
    defender : Adversary or Averaged, optional
        The adversary that this defense assumes.
    notes : sequence of str
        Sentences about the input.
    step : callable
        Called before each measure of `MEASURES`, before each stricter setting and for the cohorts.
    """
    history = History([release.view for release in releases])
    rng = np.random.default_rng([settings.seed, 1])
    step()
    people, cells = len(history.respondents), sum(map(len, history)) * len(history.schema.values)
    bootstrap = Bootstrap(affordable_draws(settings.draws, people, 20), settings.level, rng)
    draws = affordable_draws(settings.draws, cells, 5)
    headlines = {one.name: headline(one, history, settings.sure, bootstrap) for one in inferences}
    inferences = sorted(inferences, key=lambda one: -headlines[one.name].exposed)
    by_name = {one.name: one for one in inferences}
    details = by_name[settings.details or inferences[0].name]
    step()
    forward = JointAttack(details.adversary, solver, hindsight=False)(releases)
    exposures, changed = headlines[details.name].people, assumed if defense is None else defense
    everyone = itertools.chain.from_iterable(release.view.people.respondents for release in releases)
    names = Pseudonyms.of([*exposures["respondent"], *everyone], settings.names)
    step()
    trials, by_distance = influence_trials(details, releases, names, rng)
    step()
    attack = JointAttack(details.adversary, solver)
    beliefs = (details.hindsight, details.sequential)
    shown = exposed_people(exposures, releases, attack, *beliefs, names, forward=forward)
    step()
    exposes = any(each.exposed for each in headlines.values())
    cohorts = None
    if exposes and tries_cohorts(releases, settings, changed):
        cohorts = cohort_setting(history, by_name[INFORMED].adversary, defender, settings.seed)
    tried = (*tried, *([] if cohorts is None else [cohorts]))
    made = ReportContents(
        settings=settings,
        inferences=by_name,
        headlines=headlines,
        forward=forward,
        unpublished=len(names.numbers) - len(exposures),
        readers=readers_of_one_release(inferences, releases, settings.sure),
        leaving=told_by_leaving(inferences, releases, history, solver, settings.sure),
        by_release=_with_adversary(
            {
                one.name: risk_table(one.hindsight, history, sure=settings.sure).assign(
                    confidence_of_shares=headlines[one.name].shares
                )
                for one in inferences
            }
        ),
        people=shown,
        groups=exposed_groups(details, history, settings.sure),
        explorer=explorer(details, forward, releases, names, rng),
        leak=retroactive_leak(forward, details.hindsight, history, sure=settings.sure),
        trials=trials,
        by_distance=by_distance,
        calibration=_with_adversary(
            {
                one.name: reliability_curve(one.hindsight, history, draws=draws, level=settings.level, rng=rng)
                for one in inferences
            }
        ),
        redrawn=redrawn_worlds(details, releases, solver, settings),
        ranking=ranking_within_groups(details, history),
        attacks=risk_of_attacks(
            history, inferences, {f"{details.title}, releases so far": forward} | dict(also or {}), settings.sure
        ),
        utility=utility_by_release(releases),
        stricter=price_of_settings(
            history,
            releases,
            inferences,
            tried,
            {INFORMED: lambda them: knowing_ghosts(by_name[INFORMED].knows, them), LEARNED: learned},
            defender=defender,
            solver=solver,
            sure=settings.sure,
            seed=settings.seed,
            step=step,
        ),
        tried={each.title: each.defense for each in tried if each.defense is not None},
        defense=defense,
        assumed=assumed,
        notes=(
            *notes,
            *notes_of(inferences, releases, {details.title: forward}),
            *size_notes(releases, settings.draws, bootstrap.draws, draws),
        ),
    )
    if cohorts is None:
        step()
    return made


def tries_cohorts(releases: Sequence[Release], settings: ReportSettings, changed: Defense | None) -> bool:
    """True if a report looks for cohorts where respondents are exposed: in several releases by another defense."""
    return len(releases) > 1 and settings.stricter > 0 and not isinstance(changed, Cohorts)


def _with_adversary(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The tables one below the other, with their names as first column ``adversary``."""
    return pd.concat(tables, names=["adversary"]).reset_index("adversary").reset_index(drop=True)


MEASURES = ("exposed", "confidence", "confidence_of_shares", "success", "success_of_shares")
"""Measures of `Headline.table`, in its order."""


def headline(one: Inference, history: History, sure: float, bootstrap: Bootstrap) -> Headline:
    """Risk of an adversary in hindsight.

    The interval of the share of exposed respondents is that of Clopper and Pearson (1934), which is not a point for no exposed
    respondent. Those of the means are percentile intervals of a bootstrap over respondents. Cost: O(n m), and O(N) per draw.
    """
    found = exposed(one.hindsight, history, sure, adversary=one.adversary)
    people, number, n = found.people, found.exposed, found.respondents
    order = np.lexsort((people["prior"], -people["belief"].round(9), ~people["exposed"]))
    people = people.iloc[order].reset_index(drop=True)
    sums, held, right = _sums(one, history, sure)
    low, high = scipy.stats.binomtest(number, n).proportion_ci(bootstrap.level, "exact") if n else (0.0, 1.0)
    rows = [("exposed", number / n if n else np.nan, float(low), float(high))]
    value = sums[:, 1:].sum(axis=0) / max(sums[:, 0].sum(), 1)
    drawn = [weights @ sums for weights in bootstrap.weights(len(sums))]
    totals = np.concatenate([np.zeros((0, sums.shape[1])), *drawn])
    lower, upper = bootstrap.interval(totals[:, 1:] / totals[:, :1])
    rows += list(zip(MEASURES[1:], value.tolist(), lower.tolist(), upper.tolist(), strict=True))
    table = pd.DataFrame(rows, columns=pd.Index(["measure", "value", "low", "high"]))
    shares = tuple(mean(measured.share) for measured in beliefs_and_truth("report", one.hindsight, history))
    assert found.sides is not None
    return Headline(n, number, found.known, held, right, table, people, shares, found.sides)


def _sums(one: Inference, history: History, sure: float) -> tuple[FloatArray, int, int]:
    """Sums over the records of each respondent: float array, shape ``(N, 5)``; numbers of sure and of sure and right beliefs.

    The columns are the number of records, and the sums of the belief in the true value, of its share of the group, and of the
    hits of the best guess by the belief and by the share.
    """
    numbers: dict[object, int] = {}
    owners, rows = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 5))]
    held = right = 0
    for release, measured in zip(one.hindsight, beliefs_and_truth("report", one.hindsight, history), strict=True):
        owners.append(numbered(numbers, release.observation.people.respondents[measured.rows]))
        successes = hits(measured), hits(measured, measured.shares)
        each = [np.ones(len(measured.true)), measured.confidence, measured.share, *successes]
        rows.append(np.column_stack(each))
        counted = sure_beliefs(measured, sure)
        held, right = held + counted["sure"], right + counted["right"]
    owner, table = np.concatenate(owners), np.concatenate(rows)
    sums = [np.bincount(owner, column, minlength=len(numbers)) for column in table.T]
    return np.column_stack(sums), held, right


MAX_BOOTSTRAP_WEIGHTS = 2**24
"""Bootstrap draws times beliefs, at most, of the intervals of calibration; further draws are left out."""

ATTACK_COLUMNS = ("gain", "success", "confidence", "log_score", "sure", "right", "right_share")
"""Measures of `ReportContents.attacks`."""


def affordable_draws(asked: int, size: int, least: int) -> int:
    """Number of bootstrap draws of some size: those asked for, or as many as `MAX_BOOTSTRAP_WEIGHTS` allows and at least some."""
    return min(asked, max(MAX_BOOTSTRAP_WEIGHTS // max(size, 1), least))


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


MAX_WORLDS, MAX_REDRAWN_RECORDS = 5, 10_000
"""Largest number of redrawn worlds, and of the records of all worlds together."""


def redrawn_worlds(
    one: Inference, releases: Sequence[Release], solver: JointSolver, settings: ReportSettings
) -> SolverCalibration | None:
    """Calibration of the solver in worlds redrawn from the adversary's law, in hindsight.

    None for more than `MAX_REDRAWN_RECORDS` records, for distorted values and ghosts, and where a world is too large for the
    solver. Cost: one attack for each world.
    """
    worlds = min(MAX_WORLDS, MAX_REDRAWN_RECORDS // sum(len(release.view) for release in releases))
    if not worlds or any(one.distorted or one.ghosts is not None for one in (each.observation for each in releases)):
        return None
    attack, rng = JointAttack(one.adversary, solver), np.random.default_rng([settings.seed, 3])
    try:
        return solver_calibration(attack, releases, worlds=worlds, sure=settings.sure, rng=rng)
    except TooLarge:
        return None


def risk_of_attacks(
    history: History, inferences: Sequence[Inference], also: Mapping[str, Beliefs], sure: float
) -> pd.DataFrame:
    """Risk over all releases of each attack: in hindsight and release by release for each adversary, and others."""
    beliefs: dict[str, Beliefs] = {}
    for one in inferences:
        beliefs[f"{one.title}, all releases in hindsight"] = one.hindsight
        beliefs[f"{one.title}, release by release"] = one.sequential
    risks = {name: risk_table(found, history, sure=sure) for name, found in {**beliefs, **also}.items()}
    rows = [
        {"attack": name, "published": int(risk["published"].sum())} | total_of_risk(risk)
        for name, risk in risks.items()
    ]
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


def notes_of(
    inferences: Sequence[Inference], releases: Sequence[Release], forward: Mapping[str, Beliefs]
) -> tuple[str, ...]:
    """Notes of the defense and of the adversaries, each once."""
    told = [f"At {release.time}: {note}" for release in releases for note in release.grouping.notes]
    given = [*((one.title, one.hindsight) for one in inferences), *forward.items()]
    told += [f"{title}: {note}" for title, beliefs in given for note in beliefs.notes]
    return tuple(dict.fromkeys(told))


def size_notes(releases: Sequence[Release], asked: int, of_means: int, of_calibration: int) -> tuple[str, ...]:
    """Sentences that name what is left out because there are many records.

    Parameters
    ----------
    releases : sequence of Release
    asked, of_means, of_calibration : int
        Number of bootstrap draws that the settings ask for, that the intervals of the means have, and those of calibration.
    """
    records, draws = sum(len(release.view) for release in releases), {"means": of_means, "calibration": of_calibration}
    fewer = [f"{number} for {name}" for name, number in draws.items() if number < asked]
    told = {
        f"There are over {MAX_PREFIX_RECORDS:,} records: the reasons do not name the later release that raised a belief most.": (
            len(releases) > 1 and records > MAX_PREFIX_RECORDS
        ),
        f"There are over {MAX_TRIAL_RECORDS:,} records: one record is made known, and not {TRIALS}.": (
            records > MAX_TRIAL_RECORDS
        ),
        f"To save time, intervals have fewer bootstrap draws than {asked}: {', '.join(fewer)}.": fewer,
    }
    return tuple(note for note, is_due in told.items() if is_due)


TRIALS = 6
"""Number of records that are tried."""

MAX_TRIAL_RECORDS = 50_000
"""Number of records in all, up to which `TRIALS` records are tried and a graph is made; beyond it, one is tried."""

LEAST_BITS = 0.002
"""Least change of a belief in the graph of influence, in bits (Jensen-Shannon divergence): about 50 % to 55 %."""

COLUMNS = ("person", "time", "respondents", "releases", "places", "largest")


def influence_trials(
    one: Inference, releases: Sequence[Release], names: Pseudonyms, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Influence of records drawn at random from the first release with a group.

    Each trial adds the true value of one published record to what the adversary knows, and makes the sequential attack again.

    Returns
    -------
    trials : DataFrame
        One row per record, in decreasing order of ``respondents``, the number of other respondents about whom a belief changes
        by at least `LEAST_CHANGE`. Further columns: ``person``; ``time``; ``releases`` and ``places``, the numbers of releases and
        of records of others reached; ``largest``, the largest change of a belief about another respondent.
    by_distance : DataFrame
        `influence_by_distance` of the record that reaches the most respondents; a step is to a group member, or to a later
        release. Empty for more than `MAX_TRIAL_RECORDS` records.
    """
    release = next((each for each in releases if each.groups), None)
    if release is None:
        return pd.DataFrame(columns=pd.Index(COLUMNS)), pd.DataFrame()
    small = sum(len(each.view) for each in releases) <= MAX_TRIAL_RECORDS
    rows = rng.permutation(np.flatnonzero(release.group >= 0))[: TRIALS if small else 1]
    adversary = replace(one.adversary, cascade=one.adversary.cascade or PriorCascade())
    found = [_trial(adversary, one.sequential, releases, release, row, names) for row in rows.tolist()]
    order = np.argsort([-each["respondents"] for each in found], kind="stable").tolist()
    trials = pd.DataFrame([found[place] for place in order], columns=pd.Index(COLUMNS))
    if not small:
        return trials, pd.DataFrame()
    claim = _claim(release, int(rows[order[0]]))
    return trials, influence_by_distance(Influence(adversary, LEAST_BITS)(releases, *claim, release.time))


def _trial(
    adversary: Adversary, without: Beliefs, releases: Sequence[Release], release: Release, row: int, names: Pseudonyms
) -> dict[str, Any]:
    """Reach of one record."""
    respondent, value = _claim(release, row)
    claim = pd.DataFrame({"respondent": [respondent], "value": [value], "time": [release.time], "confidence": [1.0]})
    if adversary.compromised is not None:
        frame = adversary.compromised.frame
        others = (frame["respondent"] != respondent) | (frame["time"] != release.time)
        claim = pd.concat([frame[others], claim], ignore_index=True)
    informed = SequentialAttack(replace(adversary, compromised=CompromisedRecords(claim)))(releases)
    reached: list[Hashable] = []
    touched, largest = 0, 0.0
    for before, after in zip(without, informed, strict=True):
        change = np.abs(after.posterior.probabilities - before.posterior.probabilities).max(axis=1)
        people = before.observation.people.respondents
        change[np.array([name == respondent for name in people], dtype=np.bool_)] = 0
        changed = people[change >= LEAST_CHANGE]
        reached += [*changed]
        touched += len(changed) > 0
        largest = max(largest, float(change.max(initial=0)))
    numbers = (len(set(reached)), touched, len(reached), largest)
    return dict(zip(COLUMNS, (names(respondent), release.time, *numbers), strict=True))


def _claim(release: Release, row: int) -> tuple[Hashable, Hashable]:
    """Respondent and true value of a record."""
    return release.view.people.respondents[row], release.view.schema.values[release.view.sensitive[row]]
