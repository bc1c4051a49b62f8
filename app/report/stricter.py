"""Stricter settings of a defense, their risk and their price."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import foreknow.defenses
from foreknow.app.exposure import exposed
from foreknow.attacks import JointAttack
from foreknow.defenses import Defense, Infeasible, publish
from foreknow.defenses.requirements.requirement import AllOf, AnyOf
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.models import Adversary, Averaged, Beliefs, History, Release
from foreknow.models.joint import JointSolver

FACTORS = (2, 4, 8)
"""Factors of the group size at each step."""

SIZES = {"k": "larger groups", "l": "more distinct values in each group", "m": "more distinct values in each group"}
"""Settings that a stricter step raises, and what the groups then have."""


class Setting(NamedTuple):
    """A defense that is tried: a sentence of its settings, and the defense."""

    title: str
    defense: Defense


def stricter_settings(defense: Defense, steps: int = 3) -> tuple[Setting, ...]:
    """Stricter settings of a defense: larger groups, or more distinct values where there is no group size.

    The group size k is multiplied by 2, 4 and 8. Without one, l or m is raised by 1, 2 and 3. The other settings stay. A
    defense without these settings has no stricter one.

    Examples
    --------
    >>> from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
    >>> [each.title for each in stricter_settings(Mondrian(KAnonymity(3) & DistinctDiversity(2)))]
    ['k = 6', 'k = 12', 'k = 24']
    """
    found, name = dict(_numbers(defense)), raised_setting(defense)
    if name is None:
        return ()
    settings = []
    for step in range(steps):
        value = found[name] * FACTORS[step] if name == "k" else found[name] + step + 1
        settings.append(Setting(f"{name} = {value}", _replaced(defense, name, value)))
    return tuple(settings)


def raised_setting(defense: Defense) -> str | None:
    """Name of the setting that a stricter step raises: the first of `SIZES` that the defense has, None if it has none.

    Examples
    --------
    >>> from foreknow.defenses import Anatomy
    >>> raised_setting(Anatomy(3))
    'l'
    """
    found = dict(_numbers(defense))
    return next((name for name in SIZES if name in found), None)


def read_defense(record: Any) -> Defense | None:
    """The defense of a record that `defense_record` made; None for anything else.

    Classes are looked up among the public names of `foreknow.defenses` and combinations of requirements alone.

    Examples
    --------
    >>> read_defense({"class": "Anatomy", "l": 3}).l
    3
    >>> read_defense({"class": "open", "file": "x"}) is None
    True
    """
    try:
        made = _made(record)
    except (KeyError, TypeError, ValueError):
        return None
    return made if type(made) in foreknow.defenses.DEFENSES.values() else None


class Measured(NamedTuple):
    """Beliefs of the adversaries about one publication."""

    releases: tuple[Release, ...]
    beliefs: dict[str, Beliefs]


def price_of_settings(
    history: History,
    current: Measured,
    settings: Sequence[Setting],
    adversaries: Callable[[tuple[Release, ...]], dict[str, Adversary]],
    *,
    defender: Adversary | Averaged | None,
    solver: JointSolver,
    sure: float,
    rng: np.random.Generator,
    step: Callable[[], None] = lambda: None,
) -> pd.DataFrame:
    """Risk and price of the present publication and of stricter settings; ``step`` is called before each setting.

    Returns
    -------
    DataFrame
        One row per setting, the present publication first. Columns ``setting``; ``exposed_informed`` and ``exposed_learned``,
        the numbers of exposed respondents; ``respondents``, the number of respondents with a published record; ``suppressed``,
        the share of suppressed records; ``gcp``, the normalized certainty penalty of the published records (0 exact, 1
        unspecific); ``group_size``, the mean number of records of a group; ``problem``, a text where nothing can be published.
    """
    rows = [{"setting": "as published"} | risk_and_price(current, history, sure)]
    for setting in settings:
        step()
        try:
            releases = publish(
                history, setting.defense, defender, current.releases[0].bucketized, infeasible="suppress", rng=rng
            )
        except Infeasible as error:
            rows.append({"setting": setting.title, "problem": str(error)})
            continue
        if not any(release.groups for release in releases):
            rows.append({"setting": setting.title, "problem": "All records would be suppressed."})
            continue
        beliefs = {name: JointAttack(one, solver)(releases) for name, one in adversaries(releases).items()}
        rows.append({"setting": setting.title} | risk_and_price(Measured(releases, beliefs), history, sure))
    return pd.DataFrame(rows)


def risk_and_price(measured: Measured, history: History, sure: float) -> dict[str, Any]:
    """Risk and price of one publication: the columns of `price_of_settings` but for ``setting``."""
    row: dict[str, Any] = {}
    for name, beliefs in measured.beliefs.items():
        found = exposed(beliefs, history, sure)
        row |= {"respondents": found.respondents, f"exposed_{name}": found.exposed}
    cost, width = suppressed(measured.releases), gcp(measured.releases)
    published = (cost["records"] - cost["suppressed"]).to_numpy()
    total = max(published.sum(), 1)
    row["suppressed"] = float(cost["suppressed"].sum() / max(cost["records"].sum(), 1))
    row["gcp"] = float(np.nansum(width["gcp"].to_numpy(dtype=float) * published) / total)
    row["group_size"] = float(published.sum() / max(sum(release.groups for release in measured.releases), 1))
    return row | {"problem": ""}


def _numbers(part: Any) -> Iterable[tuple[str, int]]:
    """Sizes of a defense and of the requirements in it, by name; those of the defense last, so that they count."""
    if isinstance(part, tuple):
        for each in part:
            yield from _numbers(each)
    elif is_dataclass(part) and not isinstance(part, type):
        for field in fields(part):
            yield from _numbers(getattr(part, field.name))
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name in SIZES and isinstance(value, int):
                yield field.name, value


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


def _made(record: Any) -> Any:
    if isinstance(record, list):
        return tuple(map(_made, record))
    if not isinstance(record, dict):
        return record
    name, rest = record["class"], {key: each for key, each in record.items() if key != "class"}
    if name == "dict":
        return {_made(key): _made(each) for key, each in rest["items"]}
    return _classes()[rest["name"]] if name == "type" else _classes()[name](**{key: _made(rest[key]) for key in rest})


def _classes() -> dict[str, type]:
    """Classes of which a defense is made, by their names."""
    public = [getattr(foreknow.defenses, name) for name in foreknow.defenses.__all__]
    return {each.__name__: each for each in (AllOf, AnyOf, *public) if isinstance(each, type)}
