"""Claims of the papers, and the verdicts that the kept cells give: claims.toml says what each asks, and the query that decides."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from importlib.resources import files
from math import inf, nan
from typing import Any, Literal, NamedTuple

import pandas as pd

from foreknow.evaluation.papers.drawing import Missing, answered, interval

LEAST_SEEDS = 3
"""Smallest number of seeds from which a verdict is given."""

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be judged"


@dataclass(frozen=True)
class Reading:
    """Another reading of what a paper leaves open: its name, its query, and its bounds if they are others."""

    reading: str
    query: str
    at_least: float | None = None
    at_most: float | None = None


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
        Added to the bounds on both sides; ``tolerance_from`` says where it comes from.
    strongest : str
        As ``query``, under the strongest adversary of the package.
    reading : sequence of Reading
    missing : str
        Why an experiment cannot judge it.
    shown_by, verdict : str
        Of a theorem or an example: the test that shows it, and what it shows.
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
    reading: Sequence[Reading] = ()
    missing: str = ""
    shown_by: str = ""
    verdict: str = ""

    @property
    def asked(self) -> str:
        """The bounds in words."""
        low, high = self.at_least, self.at_most
        if low is not None and high is not None:
            return f"{low:g} to {high:g}"
        return f"at least {low:g}" if low is not None else f"at most {high:g}" if high is not None else ""


def read_claims(text: str) -> list[Claim]:
    """Claims of a text in TOML. Raise ValueError for a key or a claim that is not as `Claim`."""
    found = []
    for entry in tomllib.loads(text).get("claim", []):
        where = f"claim {entry.get('number')}"
        _check_keys(where, entry, Claim)
        for each in entry.get("reading", []):
            _check_keys(f"{where}, reading", each, Reading)
        claim = Claim(**entry | {"reading": tuple(Reading(**each) for each in entry.get("reading", []))})
        decided = [claim.query, claim.missing] if claim.kind == "experiment" else [claim.verdict]
        if not any(decided) or (claim.query and not claim.asked):
            raise ValueError(f"{where}: it has no query with a bound, no `missing`, and no verdict; give one.")
        found.append(claim)
    return sorted(found, key=lambda claim: claim.number)


def _check_keys(where: str, entry: Mapping[str, Any], kind: type) -> None:
    names = [each.name for each in fields(kind)]
    for name in entry:
        if name not in names:
            near = get_close_matches(name, names, 1)
            raise ValueError(f"{where}: there is no key {name!r}{f'; {near[0]!r} is near' if near else ''}.")


def all_claims() -> list[Claim]:
    """The claims of the five papers, in order of their numbers."""
    return read_claims(files("foreknow.evaluation.papers").joinpath("claims.toml").read_text(encoding="utf-8"))


class Decision(NamedTuple):
    """Decision of the cells on one value: the verdict, why it is open, mean, half width of the interval, number of seeds."""

    verdict: str = ""
    why: str = ""
    mean: float = nan
    half: float = nan
    seeds: int = 0


class Verdict(NamedTuple):
    """A claim, the decision under the adversary of the paper, and that under the strongest one, empty where there is none."""

    claim: Claim
    own: Decision
    strongest: Decision

    @property
    def short(self) -> str:
        """The verdict without the name of a reading."""
        return self.own.verdict.partition(":")[0]


def judged(claims: Iterable[Claim], tables: Mapping[str, pd.DataFrame]) -> list[Verdict]:
    """Verdicts of claims.

    A claim holds if the interval of its value over the seeds lies within its bounds, does not hold if it lies outside, and cannot
    be judged if it has a bound within, with fewer than `LEAST_SEEDS` seeds, or without cells. One that does not hold may hold under
    another reading.
    """
    found = []
    for claim in claims:
        if not claim.query:
            found.append(Verdict(claim, Decision(claim.verdict or OPEN, claim.missing), Decision()))
            continue
        bounds = (claim.at_least, claim.at_most)
        own = _decided(claim.query, bounds, claim.tolerance, tables)
        for each in claim.reading if own.verdict == FAILS else ():
            others = bounds if each.at_least is each.at_most is None else (each.at_least, each.at_most)
            if _decided(each.query, others, claim.tolerance, tables).verdict == HOLDS:
                own = own._replace(verdict=f"{HOLDS} under the reading: {each.reading}")
                break
        strongest = _decided(claim.strongest, bounds, claim.tolerance, tables) if claim.strongest else Decision()
        found.append(Verdict(claim, own, strongest))
    return found


def _decided(
    query: str, bounds: tuple[float | None, float | None], tolerance: float, tables: Mapping[str, pd.DataFrame]
) -> Decision:
    """Decision of a query by its bounds."""
    try:
        values = answered(query, tables)["value"].astype(float).dropna()
    except Missing as missing:
        return Decision(OPEN, f"no cells of {missing}")
    mean, half = interval(values)
    found = Decision(OPEN, "the interval has the bound within", mean, half, len(values))
    if len(values) < LEAST_SEEDS:
        return found._replace(why=f"{len(values)} of at least {LEAST_SEEDS} seeds")
    low = -inf if bounds[0] is None else bounds[0] - tolerance
    high = inf if bounds[1] is None else bounds[1] + tolerance
    if low <= mean - half and mean + half <= high:
        return found._replace(verdict=HOLDS, why="")
    if mean + half < low or mean - half > high:
        return found._replace(verdict=FAILS, why="")
    return found
