"""Joint problem of an adversary's knowledge and a sequence of observations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.adversary import Adversary
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.chain_steps import chain_steps
from foreknow.models.joint.channels import channel_emissions
from foreknow.models.joint.claims import claim_evidence
from foreknow.models.joint.problem import JointProblem
from foreknow.models.knowledge.compromised_records import Claims
from foreknow.models.knowledge.personal_transitions import chains_at, classes_of, is_personal
from foreknow.models.settings import check_kind
from foreknow.models.tables.observation import Observation


class Records(NamedTuple):
    """Records of all releases, sorted by release and group; those of counterfeits are not among them.

    Attributes
    ----------
    respondent : int array, shape (R,)
        Number of the respondent, in the order of first appearance.
    release, row : int array, shape (R,)
        Release, and row in its observation; -1 for a step of the chain without observation.
    group : int array, shape (R,)
        Group within the release; -1 for a record that is not published.
    """

    respondent: IntArray
    release: IntArray
    row: IntArray
    group: IntArray


class JointArrays(NamedTuple):
    """Arrays of a `JointProblem` that have one row for each path or record."""

    prior: FloatArray
    path: IntArray
    group: IntArray
    chain: IntArray
    evidence_row: IntArray


@equal_by_fields
@dataclass(frozen=True, eq=False)
class JointHistory:
    """Joint problem of a history, with the record of each row of each release.

    Attributes
    ----------
    problem : JointProblem
    adversary : Adversary
    observations : tuple of Observation
        In the order of time.
    record : tuple of int array, shapes (n,)
        For each release, the record of each row; -1 for a row without record: a suppressed one of which nothing is claimed.
    before : tuple of int array, shapes (n,)
        For each release, the last record of each respondent before it; -1 where there is none.
    classes : int array, shape (R,)
        Class of the respondent at each record of the problem, for transitions by class; 0 otherwise.
    """

    problem: JointProblem
    adversary: Adversary
    observations: tuple[Observation, ...]
    record: tuple[IntArray, ...]
    before: tuple[IntArray, ...]
    classes: IntArray


def joint_history(adversary: Adversary, observations: Sequence[Observation]) -> JointHistory:
    """Joint problem of all releases under the knowledge of an adversary.

    Parameters
    ----------
    adversary : Adversary
        Its prior, transitions, gaps and compromised records are used; its estimator, cascade, revision and law of counterfeits are
        rules of release-by-release inference and are not, except for the channel of distorted values.
    observations : sequence of Observation
        In the order of time.

    Returns
    -------
    JointHistory

    Raises
    ------
    ValueError
        If the releases differ in their sensitive domain, the chain is over another domain, or a group does not show the value of a
        compromised record.

    Notes
    -----
    With ``gaps="ignore"`` a respondent's chain leads from one publication to the next; suppressed records drop out unless a
    compromised record is about them. With ``gaps="power"`` it takes a step at every release. Counterfeits are paths of one record
    with a uniform prior. Cost: O(R log R) and the cost of the prior.
    """
    check_kind("joint_history", "adversary", adversary, Adversary, "is an Adversary; make one by Adversary(prior)")
    takes = "is a sequence of Observation, as [release.observation for release in releases]"
    check_kind("joint_history", "observations", observations, (list, tuple), takes)
    observations = tuple(observations)
    for number, observation in enumerate(observations):
        check_kind("joint_history", f"observation {number}", observation, Observation, "is an Observation")
    m = check_one_domain(observations)
    claims = [_checked_claims(adversary, observation) for observation in observations]
    claimed = [np.zeros(0, dtype=np.int64) if claim is None else np.unique(claim.rows) for claim in claims]
    who = _respondents(observations)
    records = _records(adversary, observations, who, claimed)
    classes = _record_classes(adversary, observations, records)
    steps = chain_steps(adversary, records.release, records.respondent, m, classes)
    group, counts, release = _groups(observations, records)
    prior = _priors(adversary, observations, records, steps.path, m)
    evidence, evidence_row = claim_evidence(claims, records.release, records.row, steps, prior)
    emission, emission_row = channel_emissions(adversary, observations, release, counts)
    published = JointArrays(prior, steps.path, group, steps.chain, evidence_row)
    arrays, place = _with_counterfeits(published, counts)
    problem = JointProblem(
        **arrays._asdict(),
        tables=steps.tables,
        counts=counts,
        release=release,
        evidence=evidence,
        emission=emission,
        emission_row=emission_row,
        respondents=len(prior),
    )
    classes_of_records = np.zeros(len(problem.path), dtype=np.int64)
    classes_of_records[place[: len(classes)]] = classes
    places = _places(observations, who, records, place)
    return JointHistory(problem, adversary, observations, *places, classes_of_records)


def _with_counterfeits(arrays: JointArrays, counts: IntArray) -> tuple[JointArrays, IntArray]:
    """Arrays with a path of one record for each counterfeit, sorted by group, and the new place of each given record."""
    invented = counts.sum(axis=1) - np.bincount(arrays.group, minlength=len(counts))
    invented[~counts.any(axis=1)] = 0
    group, paths, m = np.repeat(np.arange(len(counts)), invented), len(arrays.prior), counts.shape[1]
    numbers = paths + np.arange(len(group))
    nothing = np.zeros(len(group), dtype=np.int64)
    order = np.argsort(np.concatenate([arrays.group, group]), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    extended = JointArrays(
        np.vstack([arrays.prior, np.full((len(group), m), 1.0 / max(m, 1))]),
        np.concatenate([arrays.path, numbers])[order],
        np.concatenate([arrays.group, group])[order],
        np.concatenate([arrays.chain, nothing])[order],
        np.concatenate([arrays.evidence_row, nothing - 1])[order],
    )
    return extended, place


def _checked_claims(adversary: Adversary, observation: Observation) -> Claims | None:
    """Compromised records of a release; raises ValueError where a group does not show a claimed value, if asked to."""
    claims = adversary.claims(observation.time, observation.people)
    if claims is not None and not (adversary.distortion == "counted" and observation.distorted):
        adversary.contradicted_groups(claims, observation)
    return claims


def check_one_domain(observations: tuple[Observation, ...]) -> int:
    """Number of sensitive values of all releases; raise ValueError if their domains differ."""
    domains = [observation.people.schema.values for observation in observations]
    for observation, domain in zip(observations, domains, strict=True):
        if domain != domains[0]:
            raise ValueError(
                f"the release at {observation.time!r} has other sensitive values than the one at {observations[0].time!r}; the "
                "joint law needs one domain. Read all releases with one Schema."
            )
    return len(domains[0]) if domains else 0


def _respondents(observations: tuple[Observation, ...]) -> list[IntArray]:
    """Number of the respondent of each row of each release, in the order of first appearance."""
    if not observations:
        return []
    everyone = np.concatenate([observation.people.respondents for observation in observations])
    numbers, _ = pd.factorize(everyone)
    return np.split(numbers.astype(np.int64), np.cumsum([len(observation.people) for observation in observations])[:-1])


def _records(
    adversary: Adversary, observations: tuple[Observation, ...], who: list[IntArray], claimed: list[IntArray]
) -> Records:
    """Records that enter the law: published ones, claimed ones, and with ``gaps="power"`` those of hidden steps."""
    number = int(max((rows.max(initial=-1) for rows in who), default=-1)) + 1
    nothing = np.zeros(0, dtype=np.int64)
    first, seen = np.full(number, len(observations)), [Records(nothing, nothing, nothing, nothing)]
    for t, (observation, rows) in enumerate(zip(observations, who, strict=True)):
        included = observation.group >= 0
        included[claimed[t]] = True
        np.minimum.at(first, rows[included], t)
        if adversary.gaps == "power" and adversary.transitions is not None:
            included |= first[rows] < t
        kept = np.flatnonzero(included)
        seen.append(Records(rows[kept], np.full(len(kept), t), kept, observation.group[kept]))
    records = Records(*(np.concatenate(parts) for parts in zip(*seen, strict=True)))
    if (
        adversary.gaps == "power"
        and adversary.transitions is not None
        and chains_at(adversary.transitions, 0)[0].order > 1
    ):
        records = _with_hidden_steps(records, number, len(observations))
    # Unpublished records stand behind the groups of their release.
    within = np.where(records.group >= 0, records.group, np.iinfo(np.int64).max)
    order = np.lexsort((within, records.release))
    return Records(*(array[order] for array in records))


def _record_classes(adversary: Adversary, observations: tuple[Observation, ...], records: Records) -> IntArray:
    """Class of the respondent at each record; at a hidden step the class last seen. Zeros without transitions by class."""
    classes = np.zeros(len(records.release), dtype=np.int64)
    if adversary.transitions is None or not is_personal(adversary.transitions):
        return classes
    for t, observation in enumerate(observations):
        at = np.flatnonzero((records.release == t) & (records.row >= 0))
        classes[at] = classes_of(adversary.transitions, observation.people)[records.row[at]]
    order = np.lexsort((records.release, records.respondent))
    # The first record of a respondent is no hidden step.
    seen = np.maximum.accumulate(np.where(records.row[order] >= 0, np.arange(len(order)), 0))
    classes[order] = classes[order][seen]
    return classes


def _with_hidden_steps(records: Records, respondents: int, releases: int) -> Records:
    """Records with one more for each release between the first and the last of a respondent in which it has none."""
    first, last = np.full(respondents, releases), np.full(respondents, -1)
    np.minimum.at(first, records.respondent, records.release)
    np.maximum.at(last, records.respondent, records.release)
    length = np.maximum(last - first + 1, 0)
    person = np.repeat(np.arange(respondents), length)
    when = np.arange(len(person)) - np.repeat(np.cumsum(length) - length, length) + first[person]
    missing = ~np.isin(person * releases + when, records.respondent * releases + records.release)
    none = np.full(int(missing.sum()), -1)
    hidden = Records(person[missing], when[missing], none, none)
    return Records(*(np.concatenate(pair) for pair in zip(records, hidden, strict=True)))


def _groups(observations: tuple[Observation, ...], records: Records) -> tuple[IntArray, IntArray, IntArray]:
    """Number of each record's group over all releases, and the counts and the release of each group.

    Unpublished records of a release are one group without counts behind the others.
    """
    m = observations[0].counts.shape[1] if observations else 0
    unpublished = np.bincount(records.release[records.group < 0], minlength=len(observations)) > 0
    parts, release, starts = [np.zeros((0, m), dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [0]
    for t, observation in enumerate(observations):
        groups = len(observation.counts) + int(unpublished[t])
        parts.append(np.vstack([observation.counts, np.zeros((groups - len(observation.counts), m), dtype=np.int64)]))
        release.append(np.full(groups, t))
        starts.append(starts[-1] + groups)
    last = np.array([len(observation.counts) for observation in observations], dtype=np.int64)
    start = np.array(starts, dtype=np.int64)[records.release]
    group = start + np.where(records.group >= 0, records.group, last[records.release] if len(last) else 0)
    return group, np.vstack(parts), np.concatenate(release).astype(np.int64)


def _priors(
    adversary: Adversary, observations: tuple[Observation, ...], records: Records, path: IntArray, m: int
) -> FloatArray:
    """Prior of the first value of each path, at the time of its first record."""
    prior = np.zeros((int(path.max(initial=-1)) + 1, m))
    _, first = np.unique(path, return_index=True)
    for t, observation in enumerate(observations):
        starting = first[records.release[first] == t]
        if len(starting):
            prior[path[starting]] = adversary.prior_rows(observation.people)[records.row[starting]]
    return prior


def _places(
    observations: tuple[Observation, ...], who: list[IntArray], records: Records, place: IntArray
) -> tuple[tuple[IntArray, ...], tuple[IntArray, ...]]:
    """Record of each row of each release, and the last record of its respondent before."""
    last = np.full(int(max((rows.max(initial=-1) for rows in who), default=-1)) + 1, -1)
    cuts = np.searchsorted(records.release, np.arange(len(observations) + 1))
    record, before = [], []
    for t, rows in enumerate(who):
        part = slice(cuts[t], cuts[t + 1])
        published = records.row[part] >= 0
        at = np.full(len(rows), -1)
        at[records.row[part][published]] = place[part][published]
        record.append(at)
        before.append(last[rows])
        last[records.respondent[part]] = place[part]
    return tuple(record), tuple(before)
