"""Certificate of a publication: what was enforced, measured and assumed, as JSON that may lie beside the published tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.defenses import (
    DEFENSES,
    MASK,
    UHRA,
    Anatomy,
    BTPrivacy,
    Cohorts,
    Defense,
    FrequencyDiversity,
    Injector,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Requirement,
    all_of,
)
from foreknow.defenses.publish import AssumedAdversary, Forecast, believer_of
from foreknow.defenses.requirements.requirement import AllOf
from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.checks.definitions import is_defined
from foreknow.evaluation.checks.program import checksum, settings, versions
from foreknow.evaluation.checks.verify import m_invariance, verify
from foreknow.models import Adversary, Averaged, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.personal_transitions import chains_at
from foreknow.models.program_version import program_version
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import as_list, check_flag, check_kind, counted, is_number
from foreknow.models.tables.table_files import existing_file

CERTIFICATE = "certificate.json"
"""Name of the file of a certificate."""

FORMAT = 1
"""Version of the format of a certificate."""

PASSED, FAILED, RELAXED, NOT_VERIFIED, PROMISED = "passed", "failed", "relaxed", "not verified", "promised"
"""Verdicts of a certificate."""

SEEDS = {
    False: "128 bits of fresh entropy, kept by the publisher",
    True: "given by the publisher, who keeps it; a short one is found by trial, and undoes the publication",
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
    verdict : {"passed", "failed", "relaxed", "not verified", "promised"}
        Result of the independent check. ``"relaxed"``: some groups fail, and the defense was asked to relax for leftovers.
        ``"promised"``: noisy counts, whose promise is that of the law of the noise.
    enforced : dict
        ``defense`` and its settings; ``requirements``, each with ``name``, ``parameters`` and ``text``; ``unchecked``, promises
        that were not recomputed, with the reason; ``seed``, how it was chosen, and not the seed.
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
            return f"Not checked. {' '.join(self.enforced['unchecked'])}"
        if self.verdict == PROMISED:
            return "The promise is that of the law of the noise; foreknow check recomputes it from the settings."
        if self.verdict == PASSED:
            return "Checked, each release alone: every published group satisfies the requirements."
        names = ", ".join(f"{name} ({counted(number, 'group')})" for name, number in self.failing.items())
        if self.verdict == RELAXED:
            return f"Checked, each release alone, with relaxed thresholds: leftovers are in groups that do not satisfy {names}."
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
    believes: Forecast | None = None,
    promises: Requirement | None = None,
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
    believes : JointAttack, optional
        The attack that formed the prior given to the defense, in place of ``adversary``.
    promises : Requirement, optional
        Requirement of every group that a defense was asked for and does not state in a field ``requirement``.

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
    left out, since the knowledge may be learned from the records. A requirement that the checker has no definition of, as one of
    your own, is named under ``unchecked``. Cost: that of `verify`, and one revision of beliefs for each release if a requirement
    is on beliefs.

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
    if promises is not None:
        check_kind("certificate", "promises", promises, Requirement)
    believer = believer_of("certificate", adversary, believes)
    found = published_findings(shown, defense, believer, promises, progress) if verified else None
    numbers = [ReleaseNumbers(one.time, len(one.group), one.groups, int((one.group < 0).sum())) for one in shown]
    return certificate_of(defense, believer, numbers, found, bool(seeded), checksums_of(files), promises)


def published_findings(
    releases: Sequence[Release],
    defense: Defense,
    believer: Adversary | Averaged | Forecast | None,
    promises: Requirement | None,
    progress: Progress,
) -> pd.DataFrame:
    """Findings on all promises of a defense that the checker has a definition of."""
    requirement = enforced_requirement(defense, promises)
    found = [pd.DataFrame(columns=FINDINGS)]
    found += [] if requirement is None else [release_findings(releases, requirement, believer, progress)]
    found += [invariance_findings(releases, defense)] if isinstance(defense, MInvariance) else []
    return pd.concat([table for table in found if len(table)] or found[:1], ignore_index=True)


def certificate_of(
    defense: Defense,
    believer: Adversary | Averaged | Forecast | None,
    numbers: Iterable[ReleaseNumbers],
    found: pd.DataFrame | None,
    seeded: bool,
    files: Mapping[str, str],
    promises: Requirement | None = None,
) -> Certificate:
    """Certificate from findings, as `release_findings` or `verify_large` return them; None for no verification."""
    requirement = enforced_requirement(defense, promises)
    by_text = {repr(part): part for part in (() if requirement is None else conjuncts(requirement))}
    shown = None if found is None or found.empty else found
    releases = [
        {**one._asdict(), "time": str(one.time), "requirements": _rows(shown, one.time, by_text)} for one in numbers
    ]
    checked = set() if shown is None else set(shown["requirement"])
    unchecked = [
        f"{text} was not recomputed: {_reason(part, believer, found)}."
        for text, part in by_text.items()
        if text not in checked
    ]
    return Certificate(
        _verdict(defense, shown),
        {
            "defense": settings(defense, public=True),
            "requirements": [
                {"name": type(part).__name__, "parameters": parameters_of(part), "text": text}
                for text, part in by_text.items()
            ],
            "unchecked": [*unchecked, *unchecked_promises(defense, promises)],
            "seed": SEEDS[seeded],
        },
        {"verified": shown is not None, "releases": releases},
        assumptions(believer),
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


def _reason(part: Requirement, believer: Adversary | Averaged | Forecast | None, found: pd.DataFrame | None) -> str:
    """Reason for which a requirement is not among the findings."""
    if found is None:
        return "no verification was asked for"
    if not is_defined(part):
        return "the checker has no definition of it"
    if part.weighs_beliefs and believer is None:
        return "it is on beliefs, and no adversary is assumed"
    return "it holds on average over the draws of the adversary" if part.weighs_beliefs else "nothing is published"


def _verdict(defense: Defense, found: pd.DataFrame | None) -> str:
    if found is None:
        return NOT_VERIFIED
    if not (found["failing"] > 0).any():
        return PASSED
    return RELAXED if getattr(defense, "leftovers", None) == "relax" else FAILED


def _rows(found: pd.DataFrame | None, time: Any, parts: Mapping[str, Requirement]) -> list[dict[str, Any]]:
    """Findings on one release as JSON has them."""
    if found is None:
        return []
    rows = []
    for row in found[found["time"] == time].to_dict("records"):
        part = parts.get(row["requirement"])
        sense = "at least" if part is None else part.sense
        level = row["lowest"] if sense == "at least" else row["highest"]
        # The level depends on beliefs, or on a prior that is fitted to the true values.
        reads_people = part is not None and (part.weighs_beliefs or isinstance(part, BTPrivacy))
        is_public = part is not None and not reads_people and np.isfinite(level)
        rows.append(
            {
                "requirement": row["requirement"],
                "bound": float(row["bound"]),
                "sense": sense,
                "groups": int(row["groups"]),
                "failing": int(row["failing"]),
                "worst": float(level) if is_public else None,
            }
        )
    return rows


NOT_COVERED = (
    "Adversaries who know more, or other things, than the assumed one.",
    "Other publications about the same respondents, by this or another publisher.",
    "Presence in the table: the adversary is assumed to know who is in each group.",
    "The records that the publisher keeps, and the private files of this publication.",
)
"""Limits of every certificate."""

WITHOUT_ADVERSARY = (
    "Inference of any kind: no adversary is assumed, and the requirements are on the published values of each release alone.",
    "Inference from several releases together.",
)
"""Limits of a certificate of a publication without an assumed adversary."""


def assumptions(believer: Adversary | Averaged | Forecast | None) -> dict[str, Any]:
    """Assumed adversary: kinds of the prior and the transitions, order, estimator, rules; and the limits.

    It holds names of kinds and settings, and no probability: those may be learned from the records.
    """
    if believer is None:
        return {"adversary": None, "not_covered": [*WITHOUT_ADVERSARY, *NOT_COVERED]}
    adversary = believer if isinstance(believer, Adversary | Averaged) else believer.adversary
    one = adversary.adversaries[0] if isinstance(adversary, Averaged) else adversary
    transitions = one.transitions
    return {
        "adversary": {
            "knows": "who is in each group, and the prior and the transitions below",
            "infers": "release by release" if adversary is believer else repr(believer).partition("(")[0],
            "draws": len(adversary.adversaries) if isinstance(adversary, Averaged) else 1,
            "prior": type(one.prior).__name__,
            "classes": list(map(str, getattr(one.prior, "cuts", ()))),
            "transitions": None if transitions is None else type(transitions).__name__,
            "order": None if transitions is None else chains_at(transitions, 0)[0].order,
            "estimator": repr(one.estimator),
            "revision": one.revision,
            "gaps": one.gaps,
            "compromised_records": one.compromised is not None,
            "other_parts": sorted(set(one.parts) - {"prior", "transitions", "compromised", "program"}),
        },
        "not_covered": list(NOT_COVERED),
    }


def enforced_requirement(defense: Defense, promises: Requirement | None = None) -> Requirement | None:
    """Requirement of every group that a defense publishes, and its other ``promises``; None for a defense that states none."""
    stated = [each for each in (_stated_requirement(defense), promises) if each is not None]
    parts = {repr(part): part for each in stated for part in conjuncts(each)}
    return all_of(*parts.values()) if parts else None


def _stated_requirement(defense: Defense) -> Requirement | None:
    """Requirement of every group that the settings of a defense state."""
    requirement = getattr(defense, "requirement", None)
    if isinstance(requirement, Requirement):
        return requirement
    if isinstance(defense, MASK):
        # With a sensitive set, no requirement of the checker has the bound of the set.
        return (
            KAnonymity(defense.k) & FrequencyDiversity(defense.l)
            if defense.sensitive_set is None
            else KAnonymity(defense.k)
        )
    if isinstance(defense, Anatomy | Injector):
        return FrequencyDiversity(defense.l) if defense.sensitive_set is None else KAnonymity(defense.l)
    if isinstance(defense, Cohorts):
        return KAnonymity(defense.a)
    return FrequencyDiversity(defense.m) if isinstance(defense, MInvariance) else None


def unchecked_promises(defense: Defense, promises: Requirement | None = None) -> list[str]:
    """Promises of a defense that `enforced_requirement` does not express, as sentences."""
    said = []
    if isinstance(defense, UHRA | KPrimacy):
        said.append(f"The priors of any two members of a group diverge by at most {defense.j:g}.")
    if isinstance(defense, Injector) and defense.sensitive_set is None:
        said.append(f"Each record has at least {defense.l} possible values under the negative rules of the view.")
    if isinstance(defense, Cohorts):
        said.append(f"Members of a group stay together until they leave, at least {defense.a} at once.")
    if getattr(defense, "sensitive_set", None) is not None:
        said.append("The bound on the sensitive set.")
    if type(defense) not in DEFENSES.values():
        own = {name: getattr(defense, name, None) for name in ("j", "m")}
        said += [
            f"{name} = {value:g}: no published table shows it." for name, value in own.items() if is_number(value, 0)
        ]
    if not said and enforced_requirement(defense, promises) is None:
        said.append("The defense states no requirement, and no threshold is given.")
    return said


def conjuncts(requirement: Requirement) -> tuple[Requirement, ...]:
    """Requirements that must all hold."""
    return requirement.parts if isinstance(requirement, AllOf) else (requirement,)


def parameters_of(requirement: Requirement) -> dict[str, Any]:
    """Settings of a requirement by name: numbers and texts as they are, anything else as text."""
    if not is_dataclass(requirement):
        return {}
    given = {each.name: getattr(requirement, each.name) for each in fields(requirement) if each.init}
    return {name: value if isinstance(value, int | float | str) else repr(value) for name, value in given.items()}


FINDINGS = ["time", "requirement", "bound", "groups", "failing", "lowest", "highest"]
"""Columns of findings."""


def release_findings(
    releases: Sequence[Release],
    requirement: Requirement,
    believer: Adversary | Averaged | Forecast | None,
    progress: Progress = iter,
) -> pd.DataFrame:
    """Findings of `verify` on each release: number of groups, number of failing ones, smallest and largest level.

    Requirements on beliefs are recomputed under the prior that the adversary formed from the earlier releases. They are left
    out without an adversary, and for an `Averaged` one, whose requirements hold on average over its draws; so are those that the
    checker has no definition of. One item of ``progress`` is taken for each release.

    Returns
    -------
    DataFrame
        One row for each release and conjunct, with the columns `FINDINGS`.
    """
    is_one = believer is not None and not isinstance(believer, Averaged)
    parts = [part for part in conjuncts(requirement) if is_defined(part) and (is_one or not part.weighs_beliefs)]
    assumed = AssumedAdversary(believer if any(part.weighs_beliefs for part in parts) else None)
    rows = []
    for number, (release, _) in enumerate(zip(releases, progress(releases), strict=True)):
        if number:
            assumed.observe(releases[number - 1].observation)
        prior = assumed.prior(release.view)
        rows += [_finding(release, part, prior if part.weighs_beliefs else None) for part in parts]
    return pd.DataFrame(rows, columns=FINDINGS)


def invariance_findings(releases: Sequence[Release], defense: MInvariance) -> pd.DataFrame:
    """Findings of `m_invariance`, with as many failing groups as are not m-unique, or one for signatures that changed."""
    found = m_invariance(releases, defense.m)
    failing = (found["groups"] - found["unique"]).where(
        found["groups"] != found["unique"], (~found["holds"]).astype(int)
    )
    name = f"MInvariance(m={defense.m})"
    rows = [
        (time, name, float(defense.m), groups, fails, np.nan, np.nan)
        for time, groups, fails in zip(found["time"], found["groups"], failing, strict=True)
    ]
    return pd.DataFrame(rows, columns=FINDINGS)


def _finding(release: Release, part: Requirement, prior: FloatArray | None) -> tuple[Any, ...]:
    found = verify(release, part, prior)
    levels = found["level"]
    ends = (np.nan, np.nan) if found.empty else (float(levels.min()), float(levels.max()))
    return release.time, repr(part), part.bound, release.groups, int((~found["holds"]).sum()), *ends
