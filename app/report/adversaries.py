"""The two adversaries of a report, their beliefs, and the risk and price of a publication and of stricter ones under them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.adversary_knowledge import DEFAULT_LEARNING, knowing_terminal
from foreknow.app.cli.defense_choices import defense_text, seeded_generator, thresholds, usual_patience
from foreknow.app.exposure import TwoSides, Verdict, exposed, worst_sides
from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack, WithoutGroups
from foreknow.defenses import Cohorts, Defense, Infeasible, NoisyCounts, publish
from foreknow.defenses.cohorts import Departures
from foreknow.evaluation import Workload, compare, query_error, recommend
from foreknow.evaluation.checks.program import settings
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.loss.generalization_loss import gcp, price, suppressed
from foreknow.evaluation.risk.adversary_gain import adversary_gain, risk_table
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    History,
    MarkovChain,
    NoisyRelease,
    Presence,
    Release,
    UniformMembership,
)
from foreknow.models.joint import JointSolver
from foreknow.models.knowledge.membership import connected_components
from foreknow.models.progress import no_step

INFORMED, LEARNED = "informed", "learned"
"""Names of the adversaries: one who knows the rates of the original records, and one who has read the releases alone."""

TITLES = {
    INFORMED: "Informed adversary",
    LEARNED: "Adversary without prior knowledge",
}
"""Titles of the adversaries on the page."""

SHORT_TITLES = {INFORMED: "Informed", LEARNED: "Without prior knowledge"}
"""Titles of the adversaries in legends and headings of columns."""


@dataclass(frozen=True, eq=False)
class Inference:
    """Beliefs of one adversary about all releases, under the joint law.

    Attributes
    ----------
    name : {"informed", "learned"}
    adversary : Adversary
    hindsight : Beliefs
        Beliefs about each release given all releases.
    sequential : Beliefs
        Beliefs of the sequential attack of the same adversary, whose revised priors tell what was known of each group member.
    beforehand : Adversary, optional
        The adversary without what the rule of terminal values tells in these releases; by default the same.
    """

    name: str
    adversary: Adversary
    hindsight: Beliefs
    sequential: Beliefs
    beforehand: Adversary | None = None

    @property
    def knows(self) -> Adversary:
        """The adversary before these releases."""
        return self.beforehand or self.adversary

    @property
    def title(self) -> str:
        """Title of the adversary on the page."""
        return TITLES[self.name]


def inference(
    name: str,
    adversary: Adversary,
    releases: Sequence[Release],
    solver: JointSolver,
    step: Callable[[], None] = no_step,
    beforehand: Adversary | None = None,
) -> Inference:
    """Beliefs of an adversary in hindsight and release by release; ``step`` is called before each attack."""
    made = []
    for attack in (JointAttack(adversary, solver), SequentialAttack(adversary)):
        step()
        made.append(attack(releases))
    hindsight, sequential = made
    return Inference(name, adversary, hindsight, sequential, beforehand)


BY_GROUP, BY_QUASI_IDENTIFIERS = "knows the group", "knows the quasi-identifiers"
"""Two readers of one release: one who knows each person's group, and one who finds it by what the groups show."""

MAX_READER_PAIRS = 2**17
"""Largest number of pairs of a person and a value of a group that are linked in one release; beyond it the release is left out."""


class Readers(NamedTuple):
    """Risk of releases read one at a time, with and without knowledge of the groups."""

    # one row per adversary and reader: ``adversary``, ``reader``; ``exposed`` and ``respondents``; ``sure`` and ``right``, the
    # numbers of records with a sure belief, and of those with a right one; ``gain``, the mean over the releases
    table: pd.DataFrame
    # read, left_out: number of releases that were read, and of those that show exact quasi-identifiers, counterfeits or distorted
    # values, or are too large
    read: int
    left_out: int
    overlap: bool  # True if some quasi-identifiers fit several groups of a release that was read


def readers_of_one_release(inferences: Sequence[Inference], releases: Sequence[Release], sure: float) -> Readers:
    """Risk of each release alone to the two readers, with the prior and the parts of one's own of each adversary.

    Cost: that of two snapshot attacks for each adversary; for the reader without groups O(n v) per iteration where v values of
    groups are linked.
    """
    overlaps = [(release, _overlaps(release)) for release in releases]
    chosen = [release for release, overlap in overlaps if overlap is not None]
    rows = []
    for one in inferences if chosen else ():
        known, history = Adversary(one.adversary.prior, own=one.adversary.own), History([each.view for each in chosen])
        readers = {BY_GROUP: known, BY_QUASI_IDENTIFIERS: replace(known, membership=UniformMembership())}
        for reader, adversary in readers.items():
            rows.append(
                {"adversary": one.name, "reader": reader} | _totals(SnapshotAttack(adversary)(chosen), history, sure)
            )
    table = pd.DataFrame(rows, columns=pd.Index(["adversary", "reader", *TOTALS]))
    return Readers(table, len(chosen), len(releases) - len(chosen), any(o for _, o in overlaps))


TOTALS = ("exposed", "respondents", "sure", "right", "gain")


def _totals(beliefs: Beliefs, history: History, sure: float) -> dict[str, Any]:
    """Exposed people and all people, sure beliefs and right ones, and the mean gain: the columns `TOTALS`."""
    found, risk = exposed(beliefs, history, sure), risk_table(beliefs, history, sure=sure)
    all_of_them = {"exposed": found.exposed, "respondents": found.respondents} | total_of_risk(risk)
    return {name: all_of_them[name] for name in TOTALS}


ALL_TOLD, WITHOUT_LEAVING, LEAVING_ALONE = "groups and leaving", "groups, leaving not read", "leaving, without groups"
"""What the beliefs of an adversary who reads presence are compared with, on the same releases."""


def told_by_leaving(
    inferences: Sequence[Inference], releases: Sequence[Release], history: History, solver: JointSolver, sure: float
) -> pd.DataFrame:
    """Risk by what groups and departures tell together, the groups alone, and departures with the totals of the releases alone.

    Returns
    -------
    DataFrame
        One row per adversary who reads presence and per one of three readings: ``adversary``, ``reads``, and `TOTALS`. Empty where
        no adversary reads presence.

    Notes
    -----
    Cost: that of two joint attacks for each adversary who reads presence.
    """
    rows = []
    for one in inferences:
        if one.adversary.presence is None:
            continue
        attack = JointAttack(one.adversary, solver)
        beliefs = {
            ALL_TOLD: one.hindsight,
            WITHOUT_LEAVING: replace(attack, adversary=one.adversary.without("presence"))(releases),
            LEAVING_ALONE: WithoutGroups(attack)(releases),
        }
        rows += [
            {"adversary": one.name, "reads": name} | _totals(each, history, sure) for name, each in beliefs.items()
        ]
    return pd.DataFrame(rows, columns=pd.Index(["adversary", "reads", *TOTALS]))


def _overlaps(release: Release) -> bool | None:
    """True if quasi-identifiers fit several groups that are linked; None for a release that is not read."""
    sizes = len(release.view) * release.groups
    if release.bucketized or release.grouping.counterfeits is not None or release.observation.distorted:
        return None
    if not release.groups or sizes > MAX_READER_PAIRS * 32:
        return None
    components = connected_components(UniformMembership(), release.unlabeled)
    pairs = [
        len(component.rows) * int(np.minimum(component.places, release.counts.shape[1]).sum())
        for component in components
    ]
    linked = [number for number, component in zip(pairs, components, strict=True) if len(component.groups) > 1]
    return (
        None
        if max(linked, default=0) > MAX_READER_PAIRS
        else any(len(np.concatenate(component.groups)) > 1 for component in components)
    )


FACTORS = (2, 4, 8)
"""Factors of the group size at each step."""

SIZES = {"k": "larger groups", "l": "more distinct values in each group", "m": "more distinct values in each group"}
"""Settings that a stricter step raises, and what the groups then have."""


type Trial = Callable[[Any, Any], tuple[Beliefs, Adversary | Averaged | None]]
"""An attack on trial: from releases, groups or noisy counts, and their defense to beliefs and the adversary, None without one."""


class Setting(NamedTuple):
    """A defense that is tried: a sentence of its settings, and the defense, or why it cannot be made."""

    title: str
    defense: Defense | None
    problem: str = ""


def stricter_settings(
    defense: Defense, steps: int = 3, history: History | None = None, seed: int | None = None
) -> tuple[Setting, ...]:
    """Stricter settings of a defense: larger groups, or more distinct values where there is no group size.

    The group size k is multiplied by 2, 4 and 8, and the patience follows it if it is the usual one. Without one, l or m is raised
    by 1, 2 and 3. Those of `Cohorts` are batches and cells of twice the size, and given a history, a further terminal value: that
    of the largest chance of leaving, if it is over .5; none where releases are held back, as a trial would have fewer releases.
    The other settings stay. Defenses that draw do so from ``seed``, as `foreknow publish` does. A defense without these settings
    has no stricter one, and none equals the present one. ``defense`` is None for a setting that the defense refuses.

    Examples
    --------
    >>> from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
    >>> [each.title for each in stricter_settings(Mondrian(KAnonymity(3) & DistinctDiversity(2)))]
    ['k = 6', 'k = 12', 'k = 24']
    """
    name = raised_setting(defense)
    if isinstance(defense, Cohorts):
        found = _stricter_cohorts(drawing(defense, seed), history)
    else:
        sizes = [] if name is None else stricter_sizes(name, int(thresholds(defense)[name]))
        found = [_stricter(defense, str(name), value, seed) for value in sizes]
    others = [each for each in found if each.defense is None or settings(each.defense) != settings(defense)]
    return tuple(others[:steps])


def _stricter(defense: Any, name: str, value: int, seed: int | None) -> Setting:
    title, patience = f"{name} = {value}", getattr(defense, "patience", None)
    try:
        if name == "k" and patience is not None and patience == usual_patience(defense.k):
            defense = replace(defense, patience=usual_patience(value))
        return Setting(title, drawing(_replaced(defense, name, value), seed))
    except ValueError as error:
        return Setting(title, None, cannot_be_made(error))


def drawing(defense: Any, seed: int | None) -> Any:
    """A defense that draws from a seed as `foreknow publish` does with it, if it draws."""
    draws = is_dataclass(defense) and any(field.name == "rng" for field in fields(defense))
    if not draws or getattr(defense, "deterministic", False):
        return defense
    return replace(defense, rng=seeded_generator(seed))


def cannot_be_made(error: Exception | str) -> str:
    """Reason for which a setting has no numbers, as tables of settings have it."""
    return f"cannot be made: {error}"


def _stricter_cohorts(defense: Cohorts, history: History | None) -> list[Setting]:
    if defense.lag:
        return []
    larger = replace(defense, a=2 * defense.a, size=2 * defense.size)
    found = [Setting(f"a = {larger.a}, size = {larger.size}", larger)]
    if history is None:
        return found
    values, presence = history.schema.values, Presence.fit(history, pseudo_count=DEFAULT_LEARNING.pseudo_count)
    others = [value for value in presence.terminal(values) if value not in defense.terminal]
    if others and len(values) > len(defense.terminal) + 1:
        found.append(Setting(f"terminal = {others[0]}", replace(defense, terminal=(*defense.terminal, others[0]))))
    return found


def stricter_sizes(name: str, size: int) -> list[int]:
    """Sizes at each step: a group size is multiplied, a number of values raised."""
    return [size * factor if name == "k" else size + step for step, factor in enumerate(FACTORS, 1)]


LARGEST_GAIN = 0.05
"""Bound on the expected gain over the share that the tried cohorts keep."""

WITHOUT_LAG: tuple[Departures, ...] = ("ghosts", "withdraw", "retire")
"""Ways to hide departures that publish each release, so that trials are of the same releases as the publication."""


def cohort_setting(
    history: History, informed: Adversary, defender: Adversary | Averaged | None, seed: int
) -> Setting | None:
    """Cohorts of the lowest price that keep the expected gain within `LARGEST_GAIN`, by `foreknow.evaluation.recommend`.

    None where the informed adversary has no chain of order 1, by which ghosts are drawn, where no record can be published so,
    and where no settings keep the bound. Cost: six publications.
    """
    chain = informed.transitions
    if not isinstance(chain, MarkovChain) or chain.order != 1:
        return None
    base = Cohorts(2, transitions=chain)
    try:
        found = recommend(history, LARGEST_GAIN, defender, base, departures=WITHOUT_LAG, trials=2, rng=seed)
    except Infeasible:
        return None
    best = found.iloc[0]
    if not best["meets"]:
        return None
    chosen = replace(base, a=int(best["a"]), size=int(best["size"]), departures=best["departures"])
    return Setting(defense_text(chosen), drawing(chosen, seed))


def raised_setting(defense: Defense) -> str | None:
    """Name of the setting that a stricter step raises: the first of `SIZES` that the defense has, None if it has none.

    Examples
    --------
    >>> from foreknow.defenses import Anatomy
    >>> raised_setting(Anatomy(3))
    'l'
    """
    found = thresholds(defense)
    return next((name for name in SIZES if isinstance(found.get(name), int)), None)


INFEASIBLE: Literal["suppress"] = "suppress"
"""Treatment of a release that cannot be published, in a trial."""


def price_of_settings(
    history: History,
    releases: Sequence[Release],
    inferences: Sequence[Inference],
    settings: Sequence[Setting],
    adversaries: Mapping[str, Callable[[tuple[Release, ...]], Adversary]],
    *,
    defender: Adversary | Averaged | None,
    solver: JointSolver,
    sure: float,
    seed: int,
    step: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Risk and price of a publication, by the beliefs of each adversary, and of stricter settings; ``step`` is called before each.

    Each setting is published as `foreknow publish` does with the seed.

    Returns
    -------
    DataFrame
        One row per setting, the present publication first. Columns ``setting``; ``exposed_informed`` and ``exposed_learned``,
        the numbers of exposed respondents; ``at_most_informed`` and ``at_most_learned``, the upper sides of the verdict, None
        without a bound; ``respondents``, the number of respondents with a published record; ``suppressed``,
        the share of suppressed records; ``most_suppressed`` and ``most_suppressed_at``, the largest share of a release, and the
        time of it as text; ``invented``, the share of the published records that are counterfeits;
        ``gcp``, the normalized certainty penalty of the published records (0 exact, 1
        unspecific); ``group_size``, the mean number of records of a group; ``problem``, a text where nothing can be published.
    """

    def attack(name: str, tried: tuple[Release, ...], defense: Defense) -> tuple[Beliefs, Adversary]:
        adversary = knowing_terminal(adversaries[name](tried), tried, defense)
        return JointAttack(adversary, solver)(tried), adversary

    attacks = {name: partial(attack, name) for name in adversaries}
    beliefs, known = {one.name: one.hindsight for one in inferences}, {one.name: one.adversary for one in inferences}
    rows = [{"setting": "as published"} | risk_and_price(releases, beliefs, history, sure, known)]
    bucketized = releases[0].bucketized
    for setting in settings:
        step()
        if setting.defense is None:
            rows.append({"setting": setting.title, "problem": setting.problem})
            continue
        row = trial(
            history,
            setting.defense,
            attacks,
            sure,
            defender=defender,
            bucketized=bucketized,
            rng=seeded_generator(seed, 1),
        )
        rows.append({"setting": setting.title} | row)
    return pd.DataFrame(rows)


def trial(
    history: History,
    defense: Any,
    attacks: Mapping[str, Trial],
    sure: float | Mapping[str, float],
    *,
    workload: Workload | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Risk and price of a defense on trial: `risk_and_price`, or ``problem`` alone where nothing can be published.

    `foreknow.evaluation.compare` with one defense; ``options`` are those of it, which noisy counts do not read. ``sure`` may be one
    number for each attack.
    """
    adversaries: dict[str, Adversary | Averaged | None] = {}
    if isinstance(defense, NoisyCounts):
        noisy, told = publish(history, defense), {}
        for name, attack in attacks.items():
            told[name], adversaries[name] = attack(noisy, defense)
        return risk_and_price(noisy, told, history, sure, adversaries, workload=workload)

    def attacked(name: str, releases: tuple[Release, ...]) -> Beliefs:
        if not any(release.groups for release in releases):
            raise Infeasible("all records would be suppressed.")
        beliefs, adversaries[name] = attacks[name](releases, defense)
        return beliefs

    checked = {name: partial(attacked, name) for name in attacks}
    try:
        found = compare(history, {"": defense}, checked, infeasible=INFEASIBLE, **options)
    except Infeasible as error:
        return {"problem": str(error)}
    beliefs = {name: found.beliefs["", name] for name in attacks}
    return risk_and_price(found.releases[""], beliefs, history, sure, adversaries, workload=workload)


def risk_and_price(
    releases: Sequence[Any],
    beliefs: Mapping[str, Beliefs],
    history: History,
    sure: float | Mapping[str, float],
    adversaries: Mapping[str, Adversary | Averaged | None],
    *,
    workload: Workload | None = None,
) -> dict[str, Any]:
    """Risk and price of one publication: the columns of `price_of_settings` but for ``setting``.

    Also ``exact``, True if all quasi-identifiers are exact, or counts noisy; and ``values``, the least number of sensitive values
    that a group shows. With a workload ``query_error``, the mean over the releases of the median relative error of its queries,
    and ``gain``, the largest mean gain over the law. Noisy counts of fixed cells have no ``gcp`` and no ``most_suppressed``.
    """
    row: dict[str, Any] = {}
    for name, each in beliefs.items():
        least = sure[name] if isinstance(sure, Mapping) else sure
        found = exposed(each, history, least, adversary=adversaries[name])
        row |= {"respondents": found.respondents, f"exposed_{name}": found.exposed}
        row[f"at_most_{name}"] = None if found.sides is None else found.sides.at_most
    if workload is not None:
        row["query_error"] = float(query_error(releases, workload)["query_median"].mean())
        row["gain"] = max((_gain_over_law(each, history) for each in beliefs.values()), default=np.nan)
    if isinstance(releases[0], NoisyRelease):
        sizes = [len(one.view) / len(one.made.cells) for one in releases]
        row |= {"suppressed": 0.0, "invented": 0.0, "gcp": np.nan, "group_size": float(np.mean(sizes))}
        return row | {"exact": True, "problem": ""}
    cost, width = suppressed(releases), gcp(releases)
    published = (cost["records"] - cost["suppressed"]).to_numpy()
    total = max(published.sum(), 1)
    row["suppressed"], row["invented"] = price(cost)
    row["most_suppressed"] = float(cost["suppressed_share"].max())
    row["most_suppressed_at"] = str(cost["time"].tolist()[int(cost["suppressed_share"].argmax())])
    row["gcp"] = float(np.nansum(width["gcp"].to_numpy(dtype=float) * published) / total)
    row["group_size"] = float(published.sum() / max(sum(release.groups for release in releases), 1))
    shown = [int((release.counts > 0).sum(axis=1).min()) for release in releases if release.groups]
    return row | {
        "exact": all(release.bucketized for release in releases),
        "values": min(shown, default=0),
        "problem": "",
    }


type Row = Mapping[Any, Any]
"""A row of `price_of_settings`, or one of `risk_and_price` with the same names."""


def sides_of_row(row: Row) -> TwoSides:
    """The larger of each side of all adversaries."""
    names = [str(key).removeprefix("exposed_") for key in row if str(key).startswith("exposed_")]
    upper = {name: None if pd.isna(row[f"at_most_{name}"]) else int(row[f"at_most_{name}"]) for name in names}
    return worst_sides([TwoSides(int(row[f"exposed_{name}"]), int(row["respondents"]), upper[name]) for name in names])


def detail_lost(row: Row) -> float:
    """Share of the detail that is lost, all of it for a suppressed record, plus the share of the published that is invented."""
    return float(row["suppressed"] + (1 - row["suppressed"]) * row["gcp"] + row["invented"])


def compared_by(rows: Sequence[Row]) -> Literal["query_error", "lost"]:
    """The price of settings: the error of queries where one is exact or adds noise and all have it, otherwise `detail_lost`."""
    has_error = all(pd.notna(row.get("query_error")) for row in rows)
    return "query_error" if has_error and any(row.get("exact") for row in rows) else "lost"


def best_setting(rows: Sequence[Row], bound: float | None) -> Row | None:
    """The setting to publish: that of least price among those within the bound, or else among those not decided.

    The price is that of `compared_by`, then the number of exposed respondents. None where all settings are over the bound.
    """
    for verdict in (Verdict.WITHIN, Verdict.NOT_DECIDED):
        if own := [row for row in rows if sides_of_row(row).verdict(bound) is verdict]:
            by_query = compared_by(own) == "query_error"
            return min(
                own,
                key=lambda row: (row["query_error"] if by_query else detail_lost(row), sides_of_row(row).exposed),
            )
    return None


def _gain_over_law(beliefs: Beliefs, history: History) -> float:
    """Mean gain over the law of all records; NaN for an attack that keeps none."""
    if any(one.law is None for one in beliefs):
        return np.nan
    table = adversary_gain(beliefs, history, baseline="law")
    return float(np.average(table["gain"].fillna(0), weights=np.maximum(table["measured"], 1e-9)))


def _replaced(part: Any, name: str, new: int) -> Any:
    """A defense or requirement with each setting of a name replaced."""
    if isinstance(part, tuple):
        return tuple(_replaced(each, name, new) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name == name and isinstance(value, int):
            changed[field.name] = new
        elif field.init and (isinstance(value, tuple) or is_dataclass(value)):
            changed[field.name] = _replaced(value, name, new)
    return replace(part, **changed)
