"""Certificate of a publication: what was enforced, measured and assumed, as JSON that may lie beside the published tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.defenses import BTPrivacy, Defense, MInvariance, Requirement
from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.checks.assumptions import assumptions
from foreknow.evaluation.checks.enforced import (
    conjuncts,
    enforced_requirement,
    parameters_of,
    relaxes,
    unchecked_promises,
)
from foreknow.evaluation.checks.findings import FINDINGS, invariance_findings, release_findings
from foreknow.evaluation.checks.program import checksum, settings, versions
from foreknow.evaluation.program_version import program_version
from foreknow.models import Adversary, Averaged, Release
from foreknow.models.equality import equal_by_fields
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import check_flag, check_kind, counted
from foreknow.models.tables.arguments import as_list
from foreknow.models.tables.files.text_encodings import existing_file

CERTIFICATE = "certificate.json"
"""Name of the file of a certificate."""

FORMAT = 1
"""Version of the format of a certificate."""

PASSED, FAILED, RELAXED, NOT_VERIFIED = "passed", "failed", "relaxed", "not verified"
"""Verdicts of a certificate."""

SEEDS = {
    False: "128 bits of fresh entropy, kept by the publisher",
    True: "chosen by the publisher; one that is found by trial undoes the publication",
}
"""Statements on the seed, which is in no certificate."""


class ReleaseNumbers(NamedTuple):
    """Numbers of original records, of published groups and of suppressed records of a release."""

    time: Any
    records: int
    groups: int
    suppressed: int


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Certificate:
    """Statement on a publication, which depends on nothing but the published tables and the settings.

    Attributes
    ----------
    verdict : {"passed", "failed", "relaxed", "not verified"}
        Result of the independent check. ``"relaxed"``: some groups fail, and the defense was asked to relax for leftovers.
    enforced : dict
        ``defense`` and its settings; ``requirements``, each with ``name``, ``parameters`` and ``text``; ``unchecked``, promises
        that the checker has no definition of; ``seed``, how it was chosen, and not the seed.
    measured : dict
        ``releases``, each with ``time``, ``records``, ``groups``, ``suppressed`` and ``requirements``: ``requirement``, ``bound``,
        ``sense``, ``groups``, ``failing`` and ``worst``, the level reached, null for requirements on beliefs.
    assumed : dict
        ``adversary``, with kinds of its prior and transitions, and ``not_covered``.
    files : dict of str
        SHA-256 of each published file.
    """

    verdict: str
    enforced: Mapping[str, Any]
    measured: Mapping[str, Any]
    assumed: Mapping[str, Any]
    files: Mapping[str, str]

    @property
    def content(self) -> dict[str, Any]:
        """The certificate as JSON has it, with the versions of the programs."""
        return {
            "format": FORMAT,
            "program": program_version(),
            "versions": versions(),
            "verdict": self.verdict,
            "enforced": dict(self.enforced),
            "measured": dict(self.measured),
            "assumed": dict(self.assumed),
            "files": dict(self.files),
        }

    @property
    def failing(self) -> dict[str, int]:
        """Number of groups that fail each requirement, of those that some group fails."""
        numbers: dict[str, int] = {}
        for release in self.measured["releases"]:
            for row in release["requirements"]:
                numbers[row["requirement"]] = numbers.get(row["requirement"], 0) + row["failing"]
        return {name: number for name, number in numbers.items() if number}

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        if self.verdict == NOT_VERIFIED:
            return "Not verified."
        if self.verdict == PASSED:
            return "Verified: every published group satisfies the requirements."
        names = ", ".join(f"{name} ({counted(number, 'group')})" for name, number in self.failing.items())
        if self.verdict == RELAXED:
            return f"Verified, with relaxed thresholds: leftovers are in groups that do not satisfy {names}."
        return f"FAILED: published groups do not satisfy {names}; do not publish."

    def write(self, path: Path) -> None:
        """Write the certificate as JSON."""
        check_kind("Certificate.write", "path", path, Path, "is a Path, as Path('certificate.json')")
        path.write_text(json.dumps(self.content, indent=2, ensure_ascii=True, allow_nan=False) + "\n", encoding="utf-8")


def certificate(
    releases: Iterable[Release],
    defense: Defense,
    adversary: Adversary | Averaged | None = None,
    *,
    verified: bool = True,
    seeded: bool = False,
    files: Iterable["Path | str"] = (),
    progress: Progress = iter,
) -> Certificate:
    """Certificate of releases that a defense published, with the findings of the independent `verify`.

    Parameters
    ----------
    releases : iterable of Release
        In the order of time, as `publish` returned them.
    defense : Defense
    adversary : Adversary or Averaged, optional
        The adversary that the publisher assumed.
    verified : bool
        If False, nothing is recomputed, and the certificate says so.
    seeded : bool
        True if the publisher chose a seed.
    files : iterable of path
        Published files, whose checksums are kept by their names.
    progress : callable, optional
        Function of the sequence of releases that returns an iterable of the same length, as ``rich.progress.track``. One item is
        taken for each release that is verified.

    Returns
    -------
    Certificate

    Raises
    ------
    TypeError
        If an argument is of the wrong kind.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Nothing in it depends on the values within a group, on respondents or on their order: levels of requirements on beliefs are
    left out, since the knowledge may be learned from the records. Cost: that of `verify`, and one revision of beliefs for each
    release if a requirement is on beliefs.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity, Mondrian, publish
    >>> from foreknow.evaluation import exams
    >>> defense = Mondrian(KAnonymity(3))
    >>> found = certificate(publish(exams(1, 50, rng=1).history, defense), defense)
    >>> found.verdict, found.enforced["requirements"][0]["parameters"]
    ('passed', {'k': 3})
    """
    shown = tuple(check_releases("certificate", releases))
    if not callable(defense) or isinstance(defense, type):
        raise TypeError(f"certificate: defense is {defense!r}; it is a settings object, as Mondrian(KAnonymity(3)).")
    if adversary is not None:
        check_kind("certificate", "adversary", adversary, (Adversary, Averaged), "is the adversary given to publish")
    check_flag("certificate", "verified", verified)
    check_flag("certificate", "seeded", seeded)
    check_progress("certificate", progress, "the releases")
    found = published_findings(shown, defense, adversary, progress) if verified else None
    numbers = [ReleaseNumbers(one.time, len(one.group), one.groups, int((one.group < 0).sum())) for one in shown]
    return certificate_of(defense, adversary, numbers, found, bool(seeded), checksums_of(files))


def published_findings(
    releases: Sequence[Release], defense: Defense, adversary: Adversary | Averaged | None, progress: Progress = iter
) -> pd.DataFrame:
    """Findings on all promises of a defense that the checker has a definition of."""
    requirement = enforced_requirement(defense)
    found = [pd.DataFrame(columns=FINDINGS)]
    found += [] if requirement is None else [release_findings(releases, requirement, adversary, progress)]
    found += [invariance_findings(releases, defense)] if isinstance(defense, MInvariance) else []
    return pd.concat([table for table in found if len(table)] or found[:1], ignore_index=True)


def certificate_of(
    defense: Defense,
    adversary: Adversary | Averaged | None,
    numbers: Iterable[ReleaseNumbers],
    found: pd.DataFrame | None,
    seeded: bool,
    files: Mapping[str, str],
) -> Certificate:
    """Certificate from findings, as `release_findings` or `verify_large` return them; None for no verification."""
    requirement = enforced_requirement(defense)
    parts = () if requirement is None else conjuncts(requirement)
    by_text = {repr(part): part for part in parts}
    shown = None if found is None or found.empty else found
    releases = [
        {**one._asdict(), "time": str(one.time), "requirements": _rows(shown, one.time, by_text)} for one in numbers
    ]
    checked = set() if shown is None else set(shown["requirement"])
    unchecked = [f"{text} was not recomputed." for text in by_text if text not in checked]
    return Certificate(
        _verdict(defense, shown),
        {
            "defense": settings(defense),
            "requirements": [
                {"name": type(part).__name__, "parameters": parameters_of(part), "text": text}
                for text, part in by_text.items()
            ],
            "unchecked": [*unchecked, *unchecked_promises(defense)],
            "seed": SEEDS[seeded],
        },
        {"verified": shown is not None, "releases": releases},
        assumptions(adversary),
        dict(files),
    )


def checksums_of(files: Iterable["Path | str"]) -> dict[str, str]:
    """Checksums of files by their names."""
    takes = "is a list of paths"
    paths = []
    for each in [files] if isinstance(files, str | Path) else as_list("certificate", "files", files, takes):
        check_kind("certificate", "files", each, (str, Path), takes)
        paths.append(existing_file(each, "certificate takes the paths of the published files"))
    return {path.name: checksum(path) for path in paths}


def _verdict(defense: Defense, found: pd.DataFrame | None) -> str:
    if found is None:
        return NOT_VERIFIED
    if not (found["failing"] > 0).any():
        return PASSED
    return RELAXED if relaxes(defense) else FAILED


def _rows(found: pd.DataFrame | None, time: Any, parts: Mapping[str, Requirement]) -> list[dict[str, Any]]:
    """Findings on one release as JSON has them."""
    if found is None:
        return []
    rows = []
    for row in found[found["time"] == time].to_dict("records"):
        part = parts.get(row["requirement"])
        sense = "at least" if part is None else part.sense
        level = row["lowest"] if sense == "at least" else row["highest"]
        is_public = part is not None and not _reads_people(part) and np.isfinite(level)
        numbers = {"groups": int(row["groups"]), "failing": int(row["failing"])}
        about = {"requirement": row["requirement"], "bound": float(row["bound"]), "sense": sense}
        rows.append(about | numbers | {"worst": float(level) if is_public else None})
    return rows


def _reads_people(part: Requirement) -> bool:
    """True if the level of a requirement depends on beliefs, or on a prior that is fitted to the true values."""
    return part.weighs_beliefs or isinstance(part, BTPrivacy)
