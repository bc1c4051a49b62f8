"""From an adversary's knowledge and a sequence of observations to a joint problem, and from its posterior to beliefs.

Parts: transition tables between consecutive records, channels of distorted values, and evidence of compromised records.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.adversary import Adversary, check_knows_ghosts
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.problem import JointPosterior, JointProblem, first_releases
from foreknow.models.knowledge.cascades import Cascade, PriorCascade
from foreknow.models.knowledge.compromised_records import Claims
from foreknow.models.knowledge.markov_chain import MarkovChain, check_alike, check_domain_size
from foreknow.models.knowledge.parts import Knowledge, Visits, evidence_of, weighed
from foreknow.models.knowledge.personal_transitions import PersonalTransitions, chains_at, classes_of
from foreknow.models.knowledge.presence import following_releases
from foreknow.models.knowledge.relations import Relations, first_meetings
from foreknow.models.mechanisms import emission_matrices
from foreknow.models.memory import Memory
from foreknow.models.problem import DOUBT, Posterior, group_rows
from foreknow.models.settings import as_list, check_kind
from foreknow.models.tables.people import Observation, check_one_domain


class Records(NamedTuple):
    """Records of all releases, sorted by release and group; those of counterfeits are not among them. Arrays of shape ``(R,)``.

    ``respondent`` numbers respondents in the order of first appearance. ``row`` is the row in the observation; -1 for a step of the
    chain without observation. ``group`` is that within the release; -1 for a record that is not published.
    """

    respondent: IntArray
    release: IntArray
    row: IntArray
    group: IntArray


@equal_by_fields
@dataclass(frozen=True, eq=False)
class JointHistory:
    """Joint problem of a history, with the record of each row of each release.

    Attributes
    ----------
    problem : JointProblem
        With all that the adversary knows after the last release.
    adversary : Adversary
    observations : tuple of Observation
        In the order of time, with ghosts as respondents behind those who are listed.
    listed : tuple of Observation
        As they were given.
    claimed : tuple of float array, shape (E, m), and int array, shape (R,)
        Evidence of the compromised records alone, and the row of each record.
    record : tuple of int array, shapes (n,)
        For each release, the record of each row; -1 for a row without record: a suppressed one of which nothing is claimed.
    before : tuple of int array, shapes (n,)
        For each release, the last record of each respondent before it; -1 where there is none.
    classes : int array, shape (R,)
        Class of the respondent at each record of the problem, for transitions by class; 0 otherwise.
    beside : tuple of tuple of int array, shape (b,), and float array, shape (b, m)
        For each release, rows of withheld respondents whose place a ghost carries on and of whom something is claimed, and the
        likelihood of each value. They have no record: the claim is evidence about the last published one.
    """

    problem: JointProblem
    adversary: Adversary
    observations: tuple[Observation, ...]
    listed: tuple[Observation, ...]
    record: tuple[IntArray, ...]
    before: tuple[IntArray, ...]
    classes: IntArray
    claimed: tuple[FloatArray, IntArray]
    beside: tuple[tuple[IntArray, FloatArray], ...]

    @property
    def learns_late(self) -> bool:
        """True if a later release gives evidence about an earlier record, so that `known_after` has less than the problem."""
        return bool(self.adversary.witnesses) or any(len(rows) for rows, _ in self.beside)

    def known_after(self, problem: JointProblem, releases: int) -> JointProblem:
        """Problem of the first releases with the evidence that these give; ``problem`` is that of the history, or one made of it.

        Cost: that of the evidence of each part about each release.
        """
        first = first_releases(problem, releases)
        evidence, row = _with_witnesses(self, len(first.path), releases)
        return replace(first, evidence=evidence, evidence_row=row)


def joint_history(adversary: Adversary, observations: Sequence[Observation]) -> JointHistory:
    """Joint problem of all releases under the knowledge of an adversary.

    Parameters
    ----------
    adversary : Adversary
        Its parts of knowledge and its gaps are used, and the likelihood of its cascade (`claim_evidence`); its estimator, revision
        and law of counterfeits are rules of release-by-release inference and are not, except for the channel of distorted values.
    observations : sequence of Observation
        In the order of time.

    Returns
    -------
    JointHistory

    Raises
    ------
    ValueError
        If the releases differ in their sensitive domain, the chain is over another domain, a group does not show the value of a
        compromised record, or there are ghosts and the adversary has no mechanism.

    Notes
    -----
    With ``gaps="ignore"`` a respondent's chain leads from one publication to the next; suppressed records drop out unless a
    compromised record is about them. Beside the ghosts of a respondent who is not published again such a record is a branch of the
    path, and is summed out. With ``gaps="power"`` the chain takes a step at every release. Counterfeits are paths of one record
    with a uniform prior. A ghost lengthens the path of the respondent whose place it carries on, by a step of the ghost chain. The
    ghosts of a respondent who is published again later are a path of their own, with the prior: what they tell of that respondent
    is lost, and the law is not exact. Cost: O(R log R) and the cost of the prior.
    """
    observations = tuple(as_list("joint_history", "observations", observations, "is a list of Observations"))
    check_kind("joint_history", "adversary", adversary, Adversary)
    for observation in observations:
        check_kind("joint_history", "an observation", observation, Observation)
    check_one_domain("joint law", observations)
    listed, observations = observations, _with_ghosts(adversary, observations)
    m = len(observations[0].people.schema.values) if observations else 0
    claims = [adversary.claims(observation.time, observation.people) for observation in listed]
    for claim, observation in zip(claims, observations, strict=True):
        if claim is not None and not (adversary.distortion == "counted" and observation.distorted):
            adversary.contradicted_groups(claim, observation)  # raises if asked to
    rows, ghost = _all_rows(observations, claims, _has_branches(adversary))
    claims, beside = _claims_beside_ghosts(adversary, rows, claims, m)
    records = _records(adversary, rows, claims)
    classes = _record_classes(adversary, observations, records)
    is_ghost = np.isin(records.respondent * len(observations) + records.release, ghost)
    steps = chain_steps(adversary, records.release, records.respondent, m, classes, is_ghost)
    group, counts, release = _groups(observations, records)
    prior = _priors(adversary, observations, records, steps.path, m)
    evidence, evidence_row = claim_evidence(claims, records.release, records.row, steps, prior, adversary.cascade)
    if adversary.relations is not None and isinstance(adversary.cascade, PriorCascade):
        _refuse_mixture(claims)
    emission, emission_row = channel_emissions(adversary, observations, release, counts)
    sizes = np.bincount(group, minlength=len(counts))
    count_logs, count_start = _count_logs(observations, sizes, release)
    # A counterfeit is a path of one record, behind the records of its group.
    invented = np.where(counts.any(axis=1), counts.sum(axis=1) - sizes, 0)
    fake = np.repeat(np.arange(len(counts)), invented)
    order = np.argsort(np.concatenate([group, fake]), kind="stable")
    place = np.argsort(order)
    arrays = {
        name: np.concatenate(pair)[order]
        for name, pair in {
            "path": (steps.path, len(prior) + np.arange(len(fake))),
            "group": (group, fake),
            "chain": (steps.chain, 0 * fake),
            "evidence_row": (evidence_row, 0 * fake - 1),
            "classes": (classes, 0 * fake),
        }.items()
    }
    classes = arrays.pop("classes")
    problem = JointProblem(
        np.vstack([prior, np.full((len(fake), m), 1.0 / max(m, 1))]),
        steps.tables,
        **arrays,
        counts=counts,
        release=release,
        evidence=evidence,
        emission=emission,
        emission_row=emission_row,
        count_logs=count_logs,
        count_start=count_start,
        largest_count=int(sizes.max(initial=0)),
        respondents=len(prior),
    )
    places = _places(rows, records, place, len(observations))
    if adversary.relations is not None:
        respondents = [observation.people.respondents for observation in listed]
        published = [observation.group >= 0 for observation in listed]
        problem = with_pairs(problem, adversary.relations, respondents, published, places[0])
    claimed = (problem.evidence, problem.evidence_row)
    history = JointHistory(problem, adversary, observations, listed, *places, classes, claimed, beside)
    if not history.learns_late:
        return history
    evidence, evidence_row = _with_witnesses(history, len(problem.path), len(observations))
    return replace(history, problem=replace(problem, evidence=evidence, evidence_row=evidence_row))


def _refuse_mixture(claims: list[Claims | None]) -> None:
    """Raise ValueError for a claim below 1: its mixture would need the probability of the value with all relations."""
    if any(claim is not None and len(claim.unsure.rows) for claim in claims):
        raise ValueError(
            "Relations: the mixture of PriorCascade is not known where respondents are related; give cascade=EvidenceCascade()."
        )


def with_pairs(
    problem: JointProblem,
    relations: Relations,
    respondents: Sequence[np.ndarray[Any, Any]],
    published: Sequence[np.ndarray[Any, Any]],
    record: Sequence[IntArray],
) -> JointProblem:
    """Problem with the pairs of related records: one for each edge, at its first common release. Cost: O(R + edges).

    Parameters
    ----------
    problem : JointProblem
    relations : Relations
    respondents : sequence of array, shapes (n,)
        Respondents who are listed in each release; those who have no relations may be left out.
    published : sequence of bool array, shapes (n,)
        Those who are published.
    record : sequence of int array, shapes (n,)
        Record of each published respondent.
    """
    if relations.tables.shape[1] != problem.values:
        raise ValueError(
            f"Relations: tables are of {relations.tables.shape[1]} values, and the domain has {problem.values}; give one row and "
            "column for each of schema.values, in its order."
        )
    found = first_meetings("Relations", relations.graph, respondents, published)
    number = {kind: k for k, kind in enumerate(relations.kinds)}
    pairs = [record[t][rows] for t, rows in zip(found.release[found.edge], found.rows, strict=True)]
    table = [number.get(found.kind[edge], 0) for edge in found.edge]
    return replace(
        problem, pairs=np.array(pairs).reshape(-1, 2), pair_table=np.array(table), pair_tables=relations.tables
    )


def _with_witnesses(history: JointHistory, records: int, releases: int) -> tuple[FloatArray, IntArray]:
    """Evidence of all parts about the first records, given the first releases alone, as `record_evidence`."""
    evidence, row = history.claimed
    seen = history.listed[:releases]
    following = following_releases([observation.people for observation in seen])
    visits = [Visits(seen[t].people, t, releases - 1, following[t]) for t in range(len(seen))]
    record = [own[: len(one.people)] for own, one in zip(history.record, seen, strict=False)]
    claimed = (evidence, row[:records])
    return record_evidence(history.adversary.witnesses, visits, record, claimed, _withheld_branches(history, visits))


def record_evidence(
    witnesses: Sequence[Knowledge],
    visits: Iterable[Visits],
    record: Iterable[IntArray],
    claimed: tuple[FloatArray, IntArray],
    more: Iterable[tuple[IntArray, FloatArray]] = (),
) -> tuple[FloatArray, IntArray]:
    """Evidence of all parts about R records, shape ``(E, m)``, and the row of each record; -1 for none.

    Parameters
    ----------
    witnesses : sequence of Knowledge
    visits : iterable of Visits
        Respondents of each release, with what is known of when they are listed again.
    record : iterable of int array, shapes (n,)
        Record of each of them; -1 for none.
    claimed : tuple of float array, shape (E, m), and int array, shape (R,)
        Evidence of the compromised records, and the row of each record; -1 for none.
    more : iterable of tuple of int array and float array
        Further factors: records, and a row for each.
    """
    evidence, row = claimed
    found = np.ones((len(row), evidence.shape[1]))
    for visit, own in zip(visits, record, strict=True):
        told, inside = evidence_of(witnesses, visit), np.flatnonzero(own >= 0)
        if told is not None and len(inside):
            found[own[inside]] = told[inside]
    for records, factors in more:
        found[records] *= factors
    known = np.flatnonzero(row >= 0)
    found[known] *= evidence[row[known]]
    some = np.flatnonzero((found != 1.0).any(axis=1))
    rows = np.full(len(row), -1, dtype=np.int64)
    rows[some] = np.arange(len(some))
    return found[some], rows


def _withheld_branches(history: JointHistory, visits: Sequence[Visits]) -> Iterator[tuple[IntArray, FloatArray]]:
    """Likelihood of the last published values by what the withheld records of a history tell (`branch_likelihoods`)."""
    seen, beside = history.listed[: len(visits)], history.beside[: len(visits)]
    nothing = not (history.adversary.gaps == "power" or any(len(rows) for rows, _ in beside))
    if nothing or history.adversary.known_transitions is None or all(each.ghosts is None for each in seen):
        return iter(())
    names = [each.people.respondents for each in seen]
    names += [each.people.respondents[:0] if each.ghosts is None else each.ghosts.respondents for each in seen]
    numbers, _ = pd.factorize(np.concatenate(names))
    own = np.split(numbers, np.cumsum([*map(len, names)])[:-1])
    record = [history.record[t][: len(each.people)] for t, each in enumerate(seen)]
    return branch_likelihoods(history.adversary, visits, own[: len(seen)], own[len(seen) :], record, beside)


def branch_likelihoods(
    adversary: Adversary,
    visits: Sequence[Visits],
    own: Sequence[IntArray],
    carried: Sequence[IntArray],
    record: Sequence[IntArray],
    beside: Sequence[tuple[IntArray, FloatArray]],
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Likelihood of the last published values by what the withheld records after them tell: records, and a row for each.

    A place that a ghost carries on has two branches after the last published record: the ghosts, which are records, and the values
    of the respondent who is listed and withheld, which are summed out here: those of whom something is claimed, and with
    ``gaps="power"`` all. That of a respondent who is published again is left out. Cost: O(R m^2).

    Parameters
    ----------
    adversary : Adversary
        With transitions.
    visits : sequence of Visits
        Respondents of each release.
    own, carried : sequence of int array
        Number of each of them, and of each respondent whose place a ghost carries on, among the respondents of all releases.
    record : sequence of int array
        Record of each of them; -1 for none.
    beside : sequence of tuple of int array and float array
        As in `JointHistory`.
    """
    transitions, by_steps = adversary.known_transitions, adversary.gaps == "power"
    assert transitions is not None
    told = [evidence_of(adversary.witnesses, visit) for visit in visits]
    people = max((int(numbers.max(initial=-1)) for numbers in (*own, *carried)), default=-1) + 1
    first, last = np.full(people, len(visits)), np.full(people, -1)
    for t in reversed(range(len(visits))):
        first[carried[t]] = t
    for t in range(len(visits)):
        last[own[t][record[t] >= 0]] = t
    message = np.ones((people, len(visits[0].people.schema.values)))
    ahead, then = np.zeros((2, people), dtype=np.int64)  # release and class of the record that the message is of
    for t in reversed(range(len(visits))):
        classes = classes_of(transitions, visits[t].people)
        factors = np.ones((len(classes), message.shape[1])) if told[t] is None else np.array(told[t])
        factors[beside[t][0]] *= beside[t][1]
        hidden = (t >= first[own[t]]) & (last[own[t]] < first[own[t]])
        if not by_steps:
            hidden &= np.isin(np.arange(len(classes)), beside[t][0])
        some = np.flatnonzero(hidden | ((record[t] >= 0) & (ahead[own[t]] > 0)))
        who = own[t][some]
        for step in range(int(ahead[who].max(initial=0)), t, -1):
            taken = (ahead[who] >= step) if by_steps else (ahead[who] == step)
            chosen = np.where(ahead[who] == step, then[who], classes[some])[taken]
            tables = np.stack([chain.tables[0] for chain in chains_at(transitions, step)])[chosen]
            message[who[taken]] = (tables @ message[who[taken]][:, :, None])[:, :, 0]
        ends = record[t][some] >= 0
        yield record[t][some[ends]], message[who[ends]]
        message[who[ends]], ahead[who], then[who] = 1.0, np.where(ends, 0, t), classes[some]
        message[who[~ends]] *= factors[some[~ends]]


def _with_ghosts(adversary: Adversary, observations: tuple[Observation, ...]) -> tuple[Observation, ...]:
    """Observations with ghosts as respondents; ValueError if there are some, and the adversary does not know their rule."""
    for seen in observations:
        check_knows_ghosts(adversary, seen.time, len(seen.ghosts or ()))
    return tuple(seen.with_ghosts for seen in observations)


def _has_branches(adversary: Adversary) -> bool:
    """True if what is claimed of a withheld record can be summed out: as a factor of the law, and along transitions."""
    return adversary.known_transitions is not None and not isinstance(adversary.cascade, PriorCascade)


def _all_rows(
    observations: tuple[Observation, ...], claims: list[Claims | None], branches: bool
) -> tuple[Records, IntArray]:
    """All rows of all observations, in their order; respondents are numbered in the order of first appearance.

    The ghosts of a respondent who has a record at their first release or later have a number of their own; with ``branches`` a
    claim beside the ghosts of a respondent who is not published again makes no record. Also the ghosts, as numbers ``respondent *
    releases + release``.
    """
    sizes = [len(observation.people) for observation in observations]
    if not sizes:
        return Records(*np.zeros((4, 0), dtype=np.int64)), np.zeros(0, dtype=np.int64)
    numbers, _ = pd.factorize(np.concatenate([observation.people.respondents for observation in observations]))
    row = np.concatenate([np.arange(size) for size in sizes])
    group = np.concatenate([observation.group for observation in observations])
    releases, release = len(sizes), np.repeat(np.arange(len(sizes)), sizes)
    number = numbers.astype(np.int64)
    is_ghost = row >= np.array([observation.listed for observation in observations])[release]
    if is_ghost.any():
        people = int(number.max()) + 1
        recorded = ~is_ghost & (group >= 0)
        first, last = np.full(people, releases), np.full(people, -1)
        np.minimum.at(first, number[is_ghost], release[is_ghost])
        np.maximum.at(last, number[recorded], release[recorded])
        leaves = branches & (last < first)
        for start, claim in zip(np.cumsum(sizes) - sizes, claims, strict=True):
            if claim is not None:
                own = start + claim.rows
                recorded[own[~leaves[number[own]] | (release[own] < first[number[own]])]] = True
        np.maximum.at(last, number[recorded], release[recorded])
        apart = is_ghost & (last >= first)[number]
        number[apart] += people
        # Rows of a respondent whose place is carried on are no records.
        group = np.where(~is_ghost & ~recorded & (release >= first[number % people]) & (group < 0), CARRIED, group)
    return Records(number, release, row, group), (number * releases + release)[is_ghost]


CARRIED = -2
"""Group of a row of a respondent whose place a ghost carries on: no record."""


def _claims_beside_ghosts(
    adversary: Adversary, rows: Records, claims: list[Claims | None], m: int
) -> tuple[list[Claims | None], tuple[tuple[IntArray, FloatArray], ...]]:
    """Claims about records, and those about rows that are none: rows and likelihoods for each release."""
    starts = np.searchsorted(rows.release, np.arange(len(claims)))
    about, beside = list(claims), [(np.zeros(0, dtype=np.int64), np.zeros((0, m)))] * len(claims)
    for t, claim in enumerate(claims):
        if claim is None:
            continue
        apart = rows.group[starts[t] + claim.rows] == CARRIED
        if apart.any():
            about[t], others = claim.of(~apart), claim.of(apart)
            own = np.unique(others.rows)
            told = [adversary.cascade.likelihood(others.of(others.rows == one), m) for one in own.tolist()]  # type: ignore[union-attr]
            beside[t] = own, np.array(told)
    return about, tuple(beside)


def _records(adversary: Adversary, rows: Records, claims: list[Claims | None]) -> Records:
    """Records that enter the law: published ones, claimed ones, and with ``gaps="power"`` those of hidden steps."""
    included, starts = rows.group >= 0, np.searchsorted(rows.release, np.arange(len(claims)))
    for start, claim in zip(starts, claims, strict=True):
        if claim is not None:
            included[start + claim.rows] = True
    number, chain = int(rows.respondent.max(initial=-1)) + 1, adversary.known_transitions
    if adversary.gaps == "power" and chain is not None:
        first = np.full(number, len(claims))
        np.minimum.at(first, rows.respondent[included], rows.release[included])
        included |= (first[rows.respondent] < rows.release) & (rows.group != CARRIED)
    records = Records(*(array[included] for array in rows))
    if adversary.gaps == "power" and chain is not None and chains_at(chain, 0)[0].order > 1:
        records = _with_hidden_steps(records, number, len(claims))
    # Unpublished records stand behind the groups of their release.
    within = np.where(records.group >= 0, records.group, np.iinfo(np.int64).max)
    order = np.lexsort((within, records.release))
    return Records(*(array[order] for array in records))


def _record_classes(adversary: Adversary, observations: tuple[Observation, ...], records: Records) -> IntArray:
    """Class of the respondent at each record; at a hidden step the class last seen. Zeros without transitions by class."""
    classes = np.zeros(len(records.release), dtype=np.int64)
    if not isinstance(adversary.known_transitions, PersonalTransitions):
        return classes
    for t, observation in enumerate(observations):
        at = np.flatnonzero((records.release == t) & (records.row >= 0))
        classes[at] = classes_of(adversary.known_transitions, observation.people)[records.row[at]]
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
    none = np.zeros((1, m), dtype=np.int64)
    shown = [seen.counts if seen.noise is None else 0 * seen.counts for seen in observations]
    parts = [np.vstack([counts, none[: int(one)]]) for counts, one in zip(shown, unpublished, strict=True)]
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    starts, last = np.cumsum(sizes) - sizes, sizes - unpublished
    group = starts[records.release] + np.where(records.group >= 0, records.group, last[records.release])
    return group, np.vstack([none[:0], *parts]), np.repeat(np.arange(len(parts)), sizes)


def _count_logs(
    observations: tuple[Observation, ...], sizes: IntArray, release: IntArray
) -> tuple[FloatArray, IntArray]:
    """Log-likelihoods of noisy counts, and where those of each group that has records begin; -1 for none."""
    m = observations[0].counts.shape[1] if observations else 0
    start, logs, used = np.full((len(release), m), -1), [np.zeros(0)], 0
    for t, seen in enumerate(observations):
        if seen.noise is None:
            continue
        own = np.flatnonzero(release == t)[: len(seen.counts)]
        some = sizes[own] > 0
        shown, most = seen.counts[some], int(sizes.max())
        # Of y less n alone, but for a clamped 0: n records have the likelihood for y that n + d have for y + d.
        largest = int(shown.max(initial=0))
        below = largest - shown
        parts = [seen.noise.log_likelihood(largest, int(below.max(initial=0)) + most)]
        if seen.noise.clamped:
            below[shown <= 0] = len(parts[0])
            parts.append(seen.noise.log_likelihood(0, most))
        start[own[some]] = used + below
        logs += parts
        used += sum(map(len, parts))
    return np.concatenate(logs), start


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
    rows: Records, records: Records, place: IntArray, releases: int
) -> tuple[tuple[IntArray, ...], tuple[IntArray, ...]]:
    """Record of each row of each release, and the last record of its respondent before; -1 for none."""
    record, before = np.full((2, len(rows.row)), -1)
    starts = np.searchsorted(rows.release, np.arange(releases + 1))
    seen = np.flatnonzero(records.row >= 0)
    record[starts[records.release[seen]] + records.row[seen]] = place[seen]
    key, own = records.respondent * releases + records.release, rows.respondent * releases + rows.release
    order = np.argsort(key)
    at = np.searchsorted(key[order], own) - 1
    found = np.flatnonzero(at >= 0)
    last = order[at[found]]
    met = records.respondent[last] == rows.respondent[found]
    before[found[met]] = place[last[met]]
    return tuple(np.split(record, starts[1:-1])[:releases]), tuple(np.split(before, starts[1:-1])[:releases])


class ChainSteps(NamedTuple):
    """Path of each record, the chain that leads to it from the previous one of its path, and the tables of each chain.

    Without transitions each record is a path of its own. The chain of the first record of a path is 0.
    """

    path: IntArray
    chain: IntArray
    tables: tuple[FloatArray, ...]


def chain_steps(
    adversary: Adversary,
    release: IntArray,
    respondent: IntArray,
    m: int,
    classes: IntArray | None = None,
    ghost: BoolArray | None = None,
) -> ChainSteps:
    """Steps of an adversary's chain along records that are sorted by release.

    ``classes``, shape ``(R,)``, is the class of the respondent at each record, for transitions by class; 0 by default. A step is
    by the class at the release to which it leads, and by the class of the earlier record where there is no record of it. ``ghost``,
    shape ``(R,)``, is True for ghosts, to which the chain of the mechanism leads, in one step.
    """
    chain = np.zeros(len(release), dtype=np.int64)
    if adversary.known_transitions is None or not len(release):
        return ChainSteps(np.arange(len(release)), chain, ())
    _, path = np.unique(respondent, return_inverse=True)
    by_path = np.lexsort((release, path))
    earlier, later = by_path[:-1], by_path[1:]
    continued = path[earlier] == path[later]
    earlier, later = earlier[continued], later[continued]
    by_steps = adversary.gaps == "power" and chains_at(adversary.known_transitions, 0)[0].order == 1
    start = release[earlier] if by_steps else release[later] - 1
    is_ghost = np.zeros(len(later), dtype=np.bool_) if ghost is None else ghost[later]
    start = np.where(is_ghost, release[later] - 1, start)
    classes = np.zeros(len(release), dtype=np.int64) if classes is None else classes
    through = np.where(release[later] - start > 1, classes[earlier], classes[later])
    kinds = np.stack([start, release[later], through, classes[later]], axis=1)
    codes = np.ravel_multi_index(tuple(kinds.T), kinds.max(axis=0, initial=0) + 1)
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    chains, distinct = _distinct_chains(adversary, kinds[first].tolist() or [[0, 1, 0, 0]], m)
    chain[later] = chains[number]
    mechanism = None if adversary.mechanism is None else adversary.mechanism.transitions
    if mechanism is not None and is_ghost.any():
        check_domain_size(mechanism, m)
        chain[later[is_ghost]] = len(distinct)
        distinct.append(mechanism)
    check_alike(distinct)
    tables = zip(*(each.tables for each in distinct), strict=True)
    return ChainSteps(path, chain, tuple(np.stack(table) for table in tables))


def _distinct_chains(adversary: Adversary, kinds: list[list[int]], m: int) -> tuple[IntArray, list[MarkovChain]]:
    """Chain of each kind of step, as numbers of distinct chains: start, end, and the classes before the end and at it."""
    assert adversary.known_transitions is not None
    at = [
        chains_at(adversary.known_transitions, release) for release in range(max(stop for _, stop, _, _ in kinds) + 1)
    ]
    numbers: dict[tuple[int, ...], int] = {}
    distinct: list[MarkovChain] = []
    chosen = []
    for start, stop, through, last in kinds:
        links = [at[release][last if release == stop else through] for release in range(start + 1, stop + 1)]
        key = tuple(map(id, links))
        if key not in numbers:
            numbers[key] = len(distinct)
            distinct.append(_product(links, m))
        chosen.append(numbers[key])
    return np.array(chosen, dtype=np.int64), distinct


def _product(links: list[MarkovChain], m: int) -> MarkovChain:
    """Chain over several steps of chains of order 1, or the only step."""
    for link in links:
        check_domain_size(link, m)
    if len(links) == 1:
        return links[0]
    table = np.linalg.multi_dot([link.probabilities for link in links])
    return MarkovChain(1, np.minimum(table, 1.0), substochastic=True)


def channel_emissions(
    adversary: Adversary, observations: Sequence[Observation], release: IntArray, counts: IntArray
) -> tuple[FloatArray, IntArray]:
    """Emissions of the groups of releases with distorted values, shape ``(C, m, m)``, and the row of each group; -1 for none.

    The channel of a release is estimated by the adversary's estimator from it and the releases before (`Adversary.channel`), not
    from later ones. Cost: that of the sequential attack up to the last release with distorted values; nothing without any.
    """
    m = counts.shape[1]
    row = np.full(len(counts), -1, dtype=np.int64)
    matrices, number = [np.zeros((0, m, m))], 0
    last = max((t for t, seen in enumerate(observations) if seen.distorted), default=-1)
    if last < 0 or adversary.distortion != "counted":
        return matrices[0], row
    memory = Memory()
    for t, observation in enumerate(observations[: last + 1]):
        revised = adversary.revise(memory, observation.people, observation.time)
        channel = adversary.channel(revised, observation)
        if channel is not None:
            groups = np.flatnonzero((release == t) & counts.any(axis=1))
            row[groups] = number + np.arange(len(groups))
            number += len(groups)
            matrices.append(emission_matrices(channel, counts[groups]))
        memory = adversary.update_memory(memory, observation, adversary.posterior(revised, observation))
    return np.concatenate(matrices), row


def claim_evidence(
    claims: Sequence[Claims | None],
    release: IntArray,
    row: IntArray,
    steps: ChainSteps,
    prior: FloatArray,
    cascade: Cascade | None = None,
) -> tuple[FloatArray, IntArray]:
    """Likelihood of each value of the records that claims are about, shape ``(E, m)``, and the row of each record; -1 for none.

    It is that of the cascade (`Cascade.likelihood`). Where this is None, a claim of confidence c in the value s makes the law of a
    path the mixture of the path given s, with weight c, and the path::

        evidence(x) = (1 - sum of c) + c_x / P(x),    P(x) = probability of x at this record by prior and transitions

    so that the probability of s before all releases becomes ``c + (1 - c) P(s)``: the law of total probability of BayFrame,
    Equation 5, normalized. ``release`` and ``row`` are those of each record, sorted by release; ``prior`` is of the first value of
    each path.

    Several claims about one respondent at different times are independent evidence: P is the law without any of them, and without
    the rule of m-invariance. A value of probability 0 has ``P = DOUBT``. Cost: O(R log R), and O(m^(d + 1)) for each record on the
    path of a claim up to it.
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
            about = Claims(*(column[claim.rows == line] for column in claim))
            likelihood = None if cascade is None else cascade.likelihood(about, m)
            if likelihood is None:
                share = np.bincount(about.values, weights=about.confidence, minlength=m)
                records = by_path.order[by_path.starts[steps.path[record]] : by_path.starts[steps.path[record] + 1]]
                reference = np.maximum(_unconditional(records[records <= record], steps, prior), DOUBT)
                likelihood = max(1 - share.sum(), 0.0) + share / reference
            evidence_row[record] = len(evidence)
            evidence.append(likelihood)
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


def release_beliefs(
    history: JointHistory, posterior: JointPosterior, hindsight: bool = True
) -> tuple[ReleaseBeliefs, ...]:
    """Beliefs about each release of a history.

    The posterior of a record is that of the joint law. The posterior of a suppressed record that is not in the law is the
    prediction of the chain from the belief about the last record of its respondent before, or the prior; beside a ghost, weighed by
    what is claimed of it, which is exact if the claim is sure.

    Parameters
    ----------
    history : JointHistory
    posterior : JointPosterior
        Of the problem of the history.
    hindsight : bool
        False if the posterior of each release is given the releases up to it: the revised prior is then the prediction from the
        beliefs after the releases before. True if it is given all releases: all of them are one observation, and the revised prior
        is the prediction of prior and transitions before any release.

    Notes
    -----
    For chains of order d over 1 predictions use the transitions after one value. Cost: O(n m^2) per release.
    """
    found = []
    unconditional = np.zeros((len(history.problem.prior), history.problem.values))
    witnesses, last = history.adversary.witnesses, len(history.observations) - 1
    listed = history.listed
    late = _LateEvidence(history) if history.learns_late and not hindsight else None
    following = following_releases([seen.people for seen in listed]) if witnesses else []
    for t, observation in enumerate(history.observations):
        prior = history.adversary.prior_rows(observation.people)
        before = history.before[t]
        some = len(before) > 0 and len(history.problem.path) > 0
        past = posterior.rows(np.maximum(before, 0)) if some else prior
        if some and late is not None:
            past = weighed(past, late.after(t)[np.maximum(before, 0)])
        predicted = _predicted(history, t, prior, past)
        if witnesses:
            now = Visits.of_now(listed[t].people, t)
            told = evidence_of(witnesses, now._replace(last=last, following=following[t]) if hindsight else now)
            if told is not None:
                predicted = weighed(predicted, np.vstack([told, np.ones((len(predicted) - len(told), told.shape[1]))]))
        law = prior
        if some:
            law = _predicted(history, t, prior, unconditional[history.problem.path[before]])
            inside = np.flatnonzero(history.record[t] >= 0)
            unconditional[history.problem.path[history.record[t][inside]]] = law[inside]
        revised = law if hindsight and some else predicted
        arrays = _posterior(history, posterior, t, predicted)
        n = observation.listed
        ghosts = None if listed[t].ghosts is None else revised[n:]
        own = revised[:n]
        of_law = own if law is revised else law[:n]
        found.append(ReleaseBeliefs(listed[t], prior[:n], own, arrays.first(n), ghosts, of_law))
    return tuple(found)


class _LateEvidence:
    """Evidence of later releases about the value of each record, as a multiple of what was known at its release."""

    def __init__(self, history: JointHistory) -> None:
        self._history = history
        self._at_once = np.ones((len(history.problem.path), history.problem.values))

    def after(self, t: int) -> FloatArray:
        """Factor of each value of each record by what release t tells, shape ``(R, m)``; to be called in the order of time."""
        records = len(self._at_once)
        evidence, row = _with_witnesses(self._history, records, t + 1)
        known = np.vstack([evidence, np.ones((1, self._at_once.shape[1]))])[row]
        factor = np.divide(known, self._at_once, out=np.zeros(known.shape), where=self._at_once > 0)
        own = self._history.record[t]
        self._at_once[own[own >= 0]] = known[own[own >= 0]]
        return factor


def _posterior(history: JointHistory, posterior: JointPosterior, t: int, predicted: FloatArray) -> Posterior:
    """Posterior of the rows of a release, with the diagnostics of a solver that samples."""
    inside = np.flatnonzero(history.record[t] >= 0)
    record = history.record[t][inside]
    # Releases without published records at the end of the history have no entry in the layout.
    first, number = int(np.searchsorted(posterior.problem.release, t)), len(history.observations[t].counts)
    arrays: dict[str, Any] = {}
    for name, default in (("standard_error", 0.0), ("ess", np.nan), ("rhat", np.nan)):
        numbers = getattr(posterior, name)
        if numbers is not None:
            arrays[name] = np.full(predicted.shape, default)
            arrays[name][inside] = posterior.rows(record, numbers)
    beliefs = predicted.copy()
    beside, told = history.beside[t]
    beliefs[beside] = weighed(beliefs[beside], told)
    beliefs[inside] = posterior.rows(record)
    rule = np.full(number, posterior.rule, dtype=object)
    return Posterior(beliefs, posterior.status[first : first + number], rule=rule, **arrays)


def _predicted(history: JointHistory, t: int, prior: FloatArray, belief: FloatArray) -> FloatArray:
    """Prediction of the chain for each row of a release from the belief about the last record before; the prior where none is."""
    transitions, before = history.adversary.known_transitions, history.before[t]
    seen = np.flatnonzero(before >= 0)
    revised = prior.copy()
    if transitions is None or not len(seen):
        return revised
    when: IntArray = history.problem.release[history.problem.group[before[seen]]]
    through, last = history.classes[before[seen]], classes_of(transitions, history.observations[t].people)[seen]
    for start in np.unique(when):
        some = when == start
        rows = seen[some]
        onward = belief[rows]
        for step in range(start + 1 if history.adversary.gaps == "power" else t, t + 1):
            onward = _stepped(onward, chains_at(transitions, step), (last if step == t else through)[some])
        totals = onward.sum(axis=1, keepdims=True)
        revised[rows] = np.divide(onward, totals, out=revised[rows], where=totals > 0)
    return revised


def _stepped(belief: FloatArray, chains: tuple[MarkovChain, ...], classes: IntArray) -> FloatArray:
    """Beliefs after one step of the chain of each row's class, by the transitions after one value."""
    if len(chains) == 1:
        return np.asarray(belief @ chains[0].tables[0])
    onward = np.zeros(belief.shape)
    for number in np.unique(classes):
        some = classes == number
        onward[some] = belief[some] @ chains[number].tables[0]
    return onward
