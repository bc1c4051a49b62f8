"""Evidence of compromised records in the joint law."""

from collections.abc import Sequence

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.group_rows import group_rows
from foreknow.models.joint.chain_steps import ChainSteps
from foreknow.models.knowledge.compromised_records import Claims
from foreknow.models.problem import DOUBT


def claim_evidence(
    claims: Sequence[Claims | None], release: IntArray, row: IntArray, steps: ChainSteps, prior: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Likelihood of each value of the records that claims are about.

    A claim of confidence c in the value s makes the law of a path the mixture of the path given s, with weight c, and the path::

        evidence(x) = (1 - sum of c) + c_x / P(x),    P(x) = probability of x at this record by prior and transitions

    so that the probability of s before all releases becomes ``c + (1 - c) P(s)``: the law of total probability of BayFrame,
    Equation 5, normalized.

    Parameters
    ----------
    claims : sequence of Claims or None
        Claims of each release.
    release, row : int array, shape (R,)
        Release and row of each record, sorted by release.
    steps : ChainSteps
    prior : float array, shape (N, m)
        Distribution of the first value of each path.

    Returns
    -------
    evidence : float array, shape (E, m)
    evidence_row : int array, shape (R,)
        Row of each record, -1 for none.

    Notes
    -----
    Several claims about one respondent at different times are independent evidence: P is the law without any of them. A value of
    probability 0 has ``P = DOUBT``. Cost: O(R log R), and O(m^(d + 1)) for each record on the path of a claim up to it.
    """
    m = prior.shape[1]
    evidence_row = np.full(len(release), -1, dtype=np.int64)
    cuts = np.searchsorted(release, np.arange(len(claims) + 1))
    by_path = group_rows(steps.path, len(prior))
    evidence: list[FloatArray] = []
    for t, claim in enumerate(claims):
        if claim is None or not len(claim.rows):
            continue
        record_of = {int(row[r]): r for r in range(cuts[t], cuts[t + 1])}
        for line in np.unique(claim.rows).tolist():
            record = record_of[line]
            about = claim.rows == line
            share = np.bincount(claim.values[about], weights=claim.confidence[about], minlength=m)
            records = by_path.order[by_path.starts[steps.path[record]] : by_path.starts[steps.path[record] + 1]]
            reference = np.maximum(_unconditional(records[records <= record], steps, prior), DOUBT)
            evidence_row[record] = len(evidence)
            evidence.append(max(1 - share.sum(), 0.0) + share / reference)
    return np.array(evidence).reshape(len(evidence), m), evidence_row


def _unconditional(records: IntArray, steps: ChainSteps, prior: FloatArray) -> FloatArray:
    """Distribution of the value of the last of some first records of a path, by prior and transitions: shape ``(m,)``."""
    joint = prior[steps.path[records[0]]]
    m = len(joint)
    for r in records[1:]:
        known = joint.ndim
        joint = joint[..., None] * steps.tables[known - 1][steps.chain[r]]
        if joint.ndim > len(steps.tables):
            joint = joint.sum(axis=0)
    return np.asarray(joint.reshape(-1, m).sum(axis=0))
