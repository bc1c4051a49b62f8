"""Claims of the papers, and the verdicts that the kept cells give: claims.toml says what each asks, and the query that decides."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from itertools import islice, product
from math import inf, nan
from typing import Any, Literal, NamedTuple

import pandas as pd

from foreknow.evaluation.papers.drawing import LEAST_SEEDS, Missing, answered, interval
from foreknow.evaluation.papers.stronger import CONTROL, JOINT, LEARNED, READ, UPPER
from foreknow.evaluation.scenario import check_near

HOLDS, IN_PART, FAILS, OPEN = "holds", "holds in part", "does not hold", "cannot be judged"


@dataclass(frozen=True)
class Reading:
    """Another form of a claim: a reading of what the paper leaves open or, if ``weaker``, less than the paper claims.

    Its query, and its bounds if they are others.
    """

    reading: str
    query: str
    at_least: float | None = None
    at_most: float | None = None
    weaker: bool = False
    words: Sequence[str] = ()  # of each axis, in a sweep


@dataclass(frozen=True)
class Further:
    """Largest mean signed gain that a claim allows the adversaries of `stronger`.

    ``table`` is the name of their experiment, ``defense`` that of the releases in it.
    """

    table: str
    defense: str
    at_most: float


@dataclass(frozen=True)
class Claim:
    """Claim of a paper.

    Parameters
    ----------
    number : int
    paper, place, figure : str
        Name of the paper, section, and figure or table.
    says : str
        The claim, in one sentence.
    kind : {"experiment", "theory"}
    main : bool
        False for run times, details, and confirmations of another claim.
    value : str
        The number that decides, in words.
    query : str
        SQL over the tables of the experiments; columns ``seed`` and ``value``.
    at_least, at_most : float, optional
        What the claim asks of the value.
    printed : str
        What the paper prints.
    tolerance : float
        Added to the bounds on both sides.
    tolerance_from : str
        Source of the tolerance, or of a bound that the paper does not give.
    strongest, not_applicable : str
        As ``query``, under the strongest adversary of the package that the experiment has (`Claim.stronger`); or the reason why
        there is none.
    further : Further, optional
        Where the releases are attacked by those who read presence or learn the law, and their beliefs are bounded.
    reads : str
        The reading that the claim has as it stands, if others are tried.
    reading : sequence of Reading
    missing : str
        Why an experiment cannot judge it, also if a query has a value.
    shown_by : sequence of str
        Of a theorem or an example: the tests that show it, or words.
    verdict : str
        What they show; with a form that holds after a colon.
    """

    number: int
    paper: str
    place: str
    says: str
    kind: Literal["experiment", "theory"]
    main: bool
    figure: str = ""
    value: str = ""
    query: str = ""
    at_least: float | None = None
    at_most: float | None = None
    printed: str = ""
    tolerance: float = 0.0
    tolerance_from: str = ""
    strongest: str = ""
    not_applicable: str = ""
    further: Further | None = None
    reads: str = ""
    reading: Sequence[Reading] = ()
    missing: str = ""
    shown_by: Sequence[str] = ()
    verdict: str = ""

    @property
    def stronger(self) -> str:
        """Name of the strongest adversary."""
        return "mined knowledge" if self.paper == "foreground" else "joint adversary"

    @property
    def asked(self) -> str:
        """The bounds in words."""
        low, high = self.at_least, self.at_most
        if low is not None and high is not None:
            return f"{low:g} to {high:g}"
        return f"at least {low:g}" if low is not None else f"at most {high:g}" if high is not None else ""


def read_claims(text: str) -> list[Claim]:
    """Claims of a text in TOML.

    ``{name}`` in a query stands for a text of ``[names]``, or of the ``values`` of its claim. A reading, and ``strongest``, have a
    query of their own or other values. A claim with ``sweep = ["axis", ...]`` has a reading for each combination of the entries of
    these axes, ``[axis.NAME]`` with the words of a reading and the text that ``{NAME}`` stands for; the first is the claim itself.

    Raises
    ------
    ValueError
        If a key or a claim is not as `Claim`, or a name is not given.
    """
    given = tomllib.loads(text)
    names, axes = given.get("names", {}), given.get("axis", {})
    found = [_claim(entry, names, axes) for entry in given.get("claim", [])]
    return sorted(found, key=lambda claim: claim.number)


def _claim(entry: dict[str, Any], names: Mapping[str, str], axes: Mapping[str, Mapping[str, str]]) -> Claim:
    where = f"claim {entry.get('number')}"
    _check_keys(where, entry, Claim, "sweep")
    query, chosen = entry.get("query", ""), entry.pop("sweep", [])
    values = {**names, **{axis: next(iter(axes[axis].values())) for axis in chosen}, **entry.pop("values", {})}

    def asked(other: str | Mapping[str, str]) -> str:
        form, own = (other, values) if isinstance(other, str) else (query, {**values, **other})
        try:
            for _ in own:  # a text may hold names
                form = form.format_map(own)
        except KeyError as missing:
            raise ValueError(
                f"{where}: a query has {{{missing.args[0]}}}, which neither `names` nor `values` has."
            ) from None
        return form

    readings = []
    for each in entry.get("reading", []):
        _check_keys(f"{where}, reading", each, Reading)
        other = each.pop("values", {})
        readings.append(Reading(**each | {"query": asked(each.get("query", other))}))
    for combination in islice(product(*(axes[axis].items() for axis in chosen)), 1, None):
        words, texts = zip(*combination, strict=True)
        query_of = asked(dict(zip(chosen, texts, strict=True)))
        readings.append(Reading(", ".join(filter(None, words)), query_of, words=words))
    other = {name: asked(entry[name]) for name in ("query", "strongest") if name in entry}
    if "further" in entry:
        _check_keys(f"{where}, further", entry["further"], Further)
        other["further"] = Further(**entry["further"])
    claim = Claim(**entry | other | {"reading": tuple(readings)})
    if not (claim.query or claim.missing or claim.verdict) or (claim.query and not claim.asked):
        raise ValueError(f"{where}: it has no query with a bound, no `missing`, and no verdict; give one.")
    return claim


def _check_keys(where: str, entry: Mapping[str, Any], kind: type, *more: str) -> None:
    for name in entry:
        check_near(where, "a key", name, [*(each.name for each in fields(kind)), "values", *more])


def all_claims() -> list[Claim]:
    """The claims of the five papers, in order of their numbers."""
    return read_claims(files("foreknow.evaluation.papers").joinpath("claims.toml").read_text(encoding="utf-8"))


class Decision(NamedTuple):
    """Decision of the cells on one value: the verdict, why it is open, mean, half width of the interval, number of seeds.

    ``ends`` are the least and the greatest value of a seed. ``tried`` has the decisions on the other readings, by their names.
    ``side`` is the verdict that the mean of too few seeds would give, empty where there are enough, or none.
    """

    verdict: str = ""
    why: str = ""
    mean: float = nan
    half: float = nan
    seeds: int = 0
    ends: tuple[float, float] = (nan, nan)
    tried: "Sequence[tuple[Reading, Decision]]" = ()
    side: str = ""


class Verdict(NamedTuple):
    """A claim, the decision under the adversary of the paper, and that under the strongest one, empty where there is none.

    ``further`` has those under further adversaries, by their names.
    """

    claim: Claim
    own: Decision
    strongest: Decision
    further: Mapping[str, Decision] = {}

    @property
    def short(self) -> str:
        """The verdict without the name of a reading."""
        return self.own.verdict.partition(":")[0]


def judged(claims: Iterable[Claim], tables: Mapping[str, pd.DataFrame]) -> list[Verdict]:
    """Verdicts of claims.

    A claim holds if the interval of its value over the seeds lies within its bounds, does not hold if it lies outside, and cannot
    be judged if it has a bound within, with fewer than `LEAST_SEEDS` seeds, or without cells. With enough seeds all readings are
    tried: a claim may hold under some of them, or in a weaker form.
    """
    found = []
    for claim in claims:
        if not claim.query:
            found.append(Verdict(claim, Decision(claim.verdict or OPEN, claim.missing), Decision()))
            continue
        bounds = (claim.at_least, claim.at_most)
        own = _decided(claim.query, bounds, claim.tolerance, tables)
        if claim.missing:
            own = own._replace(verdict=OPEN, why=claim.missing, side="")
        elif own.seeds >= LEAST_SEEDS:
            tried = []
            for each in claim.reading:
                others = bounds if each.at_least is each.at_most is None else (each.at_least, each.at_most)
                tried.append((each, _decided(each.query, others, claim.tolerance, tables)))
            own = _of_readings(claim, own._replace(tried=tried))
        strongest = _decided(claim.strongest, bounds, claim.tolerance, tables) if claim.strongest else Decision()
        found.append(Verdict(claim, own, strongest, _under_further(claim.further, tables) if claim.further else {}))
    return found


def _under_further(asked: Further, tables: Mapping[str, pd.DataFrame]) -> dict[str, Decision]:
    """Decisions under further adversaries.

    Of the gain with presence, what its control gains is subtracted, unless that is a loss. Two-sided: a claim
    holds against all who know no more than the first one where the upper bound keeps it, and does not hold where that adversary's
    own gain breaks it.
    """
    one = f"SELECT seed, {{}} AS value FROM {asked.table} WHERE defense = '{asked.defense}' GROUP BY seed"
    gain = "max(gain) FILTER (adversary = '{}')"
    forms = {
        "presence above its control": f"{gain.format(READ)} - greatest({gain.format(CONTROL)}, 0)",
        LEARNED: gain.format(LEARNED),
        "lower side": gain.format(JOINT),
        "upper side": gain.format(UPPER),
    }
    found = {name: _decided(one.format(form), (None, asked.at_most), 0.0, tables) for name, form in forms.items()}
    low, high = found.pop("lower side"), found.pop("upper side")
    sides = f"{low.mean:.2f} to {high.mean:.2f}"
    verdict = FAILS if low.verdict == FAILS else HOLDS if high.verdict == HOLDS else OPEN
    found["two-sided"] = high._replace(verdict=verdict, why=low.why if low.seeds < LEAST_SEEDS else sides, mean=nan)
    return found


def _of_readings(claim: Claim, own: Decision) -> Decision:
    """The decision on a claim by the readings under which it holds, else by the weaker forms that do."""
    holding = [each for each, decision in own.tried if decision.verdict == HOLDS]
    readings = [each.reading for each in holding if not each.weaker]
    if own.verdict == HOLDS:
        against: dict[str, list[str]] = {}
        for each, decision in own.tried:
            if decision.verdict != HOLDS and not each.weaker:
                against.setdefault(decision.verdict, []).append(each.reading)
        others = ". ".join(f"{verdict}: {'; '.join(names)}" for verdict, names in against.items())
        return own._replace(verdict=f"{HOLDS} under the reading: {claim.reads} ({others})") if others else own
    if readings:
        more = f", and {len(readings) - 1} more" if len(readings) > 1 else ""
        return own._replace(verdict=f"{HOLDS} under the reading: {readings[0]}{more}", why="")
    parts = "; ".join(each.reading for each in holding)
    return own._replace(verdict=f"{IN_PART}: {parts} (as it stands: {own.verdict})", why="") if holding else own


def _decided(
    query: str, bounds: tuple[float | None, float | None], tolerance: float, tables: Mapping[str, pd.DataFrame]
) -> Decision:
    """Decision of a query by its bounds."""
    try:
        values = answered(query, tables)["value"].astype(float).dropna()
    except Missing as missing:
        return Decision(OPEN, f"no cells of {missing}")
    mean, half = interval(values)
    ends = (float(values.min()), float(values.max()))
    found = Decision(OPEN, "the interval has the bound within", mean, half, len(values), ends)
    low = -inf if bounds[0] is None else bounds[0] - tolerance
    high = inf if bounds[1] is None else bounds[1] + tolerance
    if len(values) < LEAST_SEEDS:
        side = "" if values.empty else HOLDS if low <= mean <= high else FAILS
        few = f"{len(values)} of at least {LEAST_SEEDS} seeds"
        return found._replace(why=f"{few}, provisionally: {side}" if side else few, side=side)
    if low <= mean - half and mean + half <= high:
        return found._replace(verdict=HOLDS, why="")
    if mean + half < low or mean - half > high:
        return found._replace(verdict=FAILS, why="")
    return found
