"""Findings of the independent checker on releases, one row for each release and requirement."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.defenses import MInvariance, Requirement
from foreknow.defenses.publish import AssumedAdversary
from foreknow.evaluation.checks.enforced import conjuncts
from foreknow.evaluation.checks.invariance import m_invariance
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Adversary, Averaged, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.progress import Progress

FINDINGS = ["time", "requirement", "bound", "groups", "failing", "lowest", "highest"]
"""Columns of findings."""


def release_findings(
    releases: Sequence[Release],
    requirement: Requirement,
    adversary: Adversary | Averaged | None,
    progress: Progress = iter,
) -> pd.DataFrame:
    """Findings of `verify` on each release: number of groups, number of failing ones, smallest and largest level.

    Requirements on beliefs are recomputed under the prior that the adversary revised from the earlier releases. They are left
    out without an adversary, and for an `Averaged` one, whose requirements hold on average over its draws. One item of ``progress``
    is taken for each release.

    Returns
    -------
    DataFrame
        One row for each release and conjunct, with the columns `FINDINGS`.
    """
    parts = [part for part in conjuncts(requirement) if isinstance(adversary, Adversary) or not part.weighs_beliefs]
    assumed = AssumedAdversary(adversary if any(part.weighs_beliefs for part in parts) else None)
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
