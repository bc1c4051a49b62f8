"""Notes on the beliefs of an attack: what they leave out or approximate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from foreknow.models import Adversary, JointPosterior, MaxEntropy, Mixed, Observation, Status
from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.joint import JointSolver
from foreknow.models.joint.group_graph import GroupGraph
from foreknow.models.joint.group_messages import GroupMessages
from foreknow.models.mechanisms import signature_numbers
from foreknow.models.notes import Note


def belief_notes(
    adversary: Adversary,
    releases: Sequence[ReleaseBeliefs],  # in the order of time
    signatures: bool = False,  # True if the attack reads the sets of values that groups show (`SignatureAttack`)
) -> tuple[Note, ...]:
    """Sentences that name what the beliefs of an attack leave out or approximate.

    Return a tuple of Note: on the rules of `Mixed`, on repeated evidence (`overconfident`), the law of counterfeits or the rule of
    m-invariance (`kept_signatures`), contradicted groups, groups approximated by the law of large numbers, and estimates that did
    not converge. Cost: O(n) per release.
    """
    return (
        *_mixture(adversary, releases),
        *overconfident(adversary, [one.observation for one in releases]),
        *([] if signatures else _unread_rule(_counterfeit_law(adversary), releases)),
        *_contradicted(tuple(releases)),
        *_approximated(releases),
        *unconverged(releases),
    )


def _mixture(adversary: Adversary, releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    """Note on the size at which `Mixed` changes its rule, on which its beliefs depend, and the share of records under the first."""
    rule = adversary.estimator
    if not isinstance(rule, Mixed):
        return []
    sizes = np.concatenate([np.zeros(0), *(one.observation.counts.sum(axis=1) for one in releases)])
    kind = "groups of at most {size:,} members have {small}, with {share:.0%} of the records; larger ones have {large}."
    share = float(sizes[sizes <= rule.size].sum() / max(sizes.sum(), 1))
    return [Note(kind, size=rule.size, share=share, small=repr(rule.small), large=repr(rule.large))]


def _counterfeit_law(adversary: Adversary) -> str:
    return (
        "Their law is estimated from the prior's expectation of each value; where the prior is wrong, beliefs are overconfident."
        if adversary.counterfeits == "estimated"
        else "They are treated as respondents with a uniform prior; no defense draws them so."
    )


def _unread_rule(law: str, releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    """Note on releases with counterfeits, of whose law it says ``law``, or with kept sets of values, and who reads the rule."""
    observations = [one.observation for one in releases if one.observation.noise is None]
    number = sum(int(one.counts.sum() - (one.with_ghosts.group >= 0).sum()) for one in observations)
    if number:
        return [
            Note("{counterfeits:,} published records are counterfeits. {law} " + UNREAD, counterfeits=number, law=law)
        ]
    found = kept_signatures(observations)
    kind = (
        "the releases are consistent with m-invariance: each group shows each value once, and {kept:,} of {followed:,} respondents "
        "whose group has other members than before show the same set of values again ({expected:,.0f} expected by chance). "
    )
    return [Note(kind + UNREAD, **found._asdict())] if found.is_evidence else []


UNREAD = (
    "m-invariance keeps the set of values of a respondent's groups; this attack does not read that set. JointAttack and "
    "LearnedAttack with signatures=True (--signatures), and SignatureAttack (--attack signature), do."
)

MIN_KEPT_SHARE = 0.1
"""Share of the respondents whom a rule must have kept in their set of values, beside those in it by chance, to be noted."""

MAX_CHANCE = 1e-3
"""Largest probability of the kept sets under a smaller share, by Hoeffding's bound, at which m-invariance is noted."""


class KeptSignatures(NamedTuple):
    """Number of respondents among other members than before, and of those of them whose group shows the same set of values.

    ``expected`` is the number of kept sets where groups are drawn at random by value. All are 0 for releases that cannot be of
    m-invariance: a group shows a value twice or one value only, or values are distorted.
    """

    followed: int
    kept: int
    expected: float

    @property
    def is_evidence(self) -> bool:
        """True if chance and a rule that keeps `MIN_KEPT_SHARE` have a probability of at most `MAX_CHANCE` (Hoeffding 1963)."""
        if not self.followed:
            return False
        kept, chance = self.kept / self.followed, min(self.expected / self.followed, 1.0)
        least = chance + MIN_KEPT_SHARE * (1 - chance)
        distance = rel_entr(kept, least) + rel_entr(1 - kept, 1 - least)
        return bool(kept > least and self.followed * distance >= -np.log(MAX_CHANCE))


def kept_signatures(
    observations: Iterable[Observation],  # in the order of time
) -> KeptSignatures:
    """Evidence that releases keep the set of values of a respondent's groups, as m-invariance does, from the groups alone.

    A respondent is followed who was published before, in a set S' of which the present group shows a value, and who shares the
    group with no member who was last published in the same group as the respondent: a set that the same members show again is kept
    under any defense. One respondent of each group is followed, the first, as the members of a group show one set. Under groups
    that are drawn at random by value, the present set is S' with at most the mean over the values s in S', weighted by their
    probability, of the share that the groups of S' have among those that show s. The weights are taken as equal.

    Exact counts; the chance is approximate. Histories without respondents who return among others tell nothing, nor does a domain
    in which all groups show one set. Cost: O(n + g m log g) in all releases.
    """
    seen, none = list(observations), KeptSignatures(0, 0, 0.0)
    if len({each.people.schema.values for each in seen}) != 1 or any(each.distorted for each in seen):
        return none
    counts = np.concatenate([each.counts for each in seen])
    if (counts > 1).any() or (counts.sum(axis=1) < 2).any():
        return none
    signature, shown = signature_numbers(counts), counts > 0
    followed, kept, expected, groups = 0, 0, 0.0, 0
    for each, (before, group) in zip(seen, _groups_before(seen), strict=True):
        _, pair, members = np.unique(before * len(counts) + group, return_inverse=True, return_counts=True)
        same_value = (shown[before] & shown[group]).any(axis=1)
        apart = np.flatnonzero((before >= 0) & (members[pair] == 1) & same_value)
        first = apart[np.unique(group[apart], return_index=True)[1]]
        last, now = signature[before[first]], signature[group[first]]
        of_set = np.bincount(signature[groups : groups + len(each.counts)], minlength=len(counts))[last]
        of_value = each.counts.sum(axis=0)
        chance = np.divide(of_set[:, None], of_value, out=np.zeros((len(first), len(of_value))), where=of_value > 0)
        expected += float(np.mean(chance, axis=1, where=shown[before[first]]).sum())
        followed, kept = followed + len(first), kept + int((last == now).sum())
        groups += len(each.counts)
    return KeptSignatures(followed, kept, expected)


def _groups_before(observations: Sequence[Observation]) -> Iterator[tuple[IntArray, IntArray]]:
    """Group at the previous publication, -1 for none, and the present one, of the published records of each release.

    Groups are numbered over all releases.
    """
    if not observations:
        return
    numbers = pd.factorize(np.concatenate([each.people.respondents for each in observations]))[0]
    ends = np.cumsum([len(each.group) for each in observations])
    last, groups = np.full(int(numbers.max(initial=-1)) + 1, -1), 0
    for each, own in zip(observations, np.split(numbers, ends[:-1]), strict=True):
        published = each.group >= 0
        who, group = own[published], each.group[published] + groups
        yield last[who], group
        last[who] = group
        groups += len(each.counts)


def _approximated(releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    errors = np.hstack([np.zeros(0), *(one.posterior.error for one in releases if one.posterior.error is not None)])
    return approximation_notes(int((errors > 0).sum()), float(np.max(errors, where=errors > 0, initial=0.0)))


def approximation_notes(groups: int, largest: float) -> list[Note]:
    """Note on the number of groups that `Auto` approximates by `Sinkhorn`, with the largest estimated error; empty for none."""
    kind = (
        "{groups:,} groups are too large for an exact posterior; the law of large numbers (Sinkhorn) is used, with an estimated "
        "error of at most {largest:.1e} in a probability."
    )
    return [Note(kind, groups=groups, largest=largest)] if groups else []


def unconverged(releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    """Number of groups whose beliefs did not converge, and of divergent draws, as a note; nothing if all converged."""
    number = sum(int((one.posterior.status & Status.UNCONVERGED > 0).sum()) for one in releases)
    if not number:
        return []
    groups = sum(len(one.observation.counts) for one in releases)
    counts = [one.posterior.divergences for one in releases if one.posterior.divergences is not None]
    divergent = sum(int((count > 0).sum()) for count in counts)
    which = ", {divergent:,} of them with {draws:,} divergent draws" if divergent else ""
    kind = "the beliefs in {number:,} of {groups:,} groups did not converge (status UNCONVERGED" + which + ")."
    numbers = {"divergent": divergent, "draws": sum(int(count.sum()) for count in counts)} if divergent else {}
    return [Note(kind, number=number, groups=groups, **numbers)]


MIN_REPORTED_SHARE = 0.25
"""Smallest share of repeated pairs at which the notes of an attack report repeated evidence.

Measured on 3,000 simulated accounts, 6 releases by JSReduce, with a share of the ages redrawn each month. At a share of .27 the
sequential attack is wrong in 5.0 % to 5.4 % of its sure beliefs and expects 3.8 % to 4.2 %; at .74 it is wrong in 7 % to 8 % and
expects 5 %; at .01 both agree."""


def repeated_pairs(
    observations: Iterable[Observation],  # in the order of time
) -> float:
    """Share of the pairs of group members that shared a group at their previous publication.

    A pair is two members of one group of one release, both published before; pairs are summed over all releases. A pair is
    repeated if the previous publication of both was in one group of one release. The share is 1 for a closed cohort with constant
    groups, and about (k - 1) / (n - 1) for groups of k drawn anew from n respondents.

    Return a float: from 0 to 1; 0 if there is no pair. Exact. Cost: O(n) per release, because pairs are counted by sizes of
    groups and of their intersections with earlier groups.
    """
    seen = list(observations)
    total = sum(len(each.counts) for each in seen)
    repeated = pairs = 0
    for before, group in _groups_before(seen):
        again = before >= 0
        pairs += _pairs(group[again])
        repeated += _pairs(before[again] * total + group[again])
    return repeated / pairs if pairs else 0.0


def overconfident(adversary: Adversary, observations: Iterable[Observation]) -> tuple[Note, ...]:
    """Note on repeated evidence if `repeated_pairs` is at least `MIN_REPORTED_SHARE`; empty otherwise.

    Without transitions no evidence is carried from release to release, so that none is repeated.
    """
    return overconfidence_notes(0.0 if adversary.transitions is None else repeated_pairs(observations))


def overconfidence_notes(share: float) -> tuple[Note, ...]:
    """Note on repeated evidence by the share of repeated pairs, as `overconfident`."""
    kind = (
        "{share:.0%} of the pairs of people in a group shared one before. Where the same people stay together, this attack counts "
        "the evidence of a release again at the next one and tends to be overconfident; JointAttack (--attack joint) does so only "
        "on cycles of groups."
    )
    return (Note(kind, share=share),) if share >= MIN_REPORTED_SHARE else ()


def _pairs(parts: IntArray) -> int:
    """Number of pairs of equal elements."""
    sizes = np.unique(parts, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def joint_notes(
    adversary: Adversary,
    posterior: JointPosterior,
    solver: JointSolver,  # the solver of the posterior
    releases: tuple[ReleaseBeliefs, ...],  # in the order of time
    signatures: bool,  # True if the rule of m-invariance is in the law
) -> tuple[str, ...]:
    """Sentences that name what the beliefs of the joint attack leave out or approximate.

    Return a tuple of str: on an approximate solver, contradicted groups, groups that did not converge, counterfeits or the rule of
    m-invariance, distorted values, and respondents who are back after ghosts. The joint law counts evidence once, so that repeated
    pairs need no note. Cost: O(R).
    """
    return (
        *_solver(posterior, solver),
        *_contradicted(releases),
        *unconverged(releases),
        *_gap(posterior),
        *(_read_rule(posterior) if signatures else _unread_rule(UNIFORM, releases)),
        *_distorted(adversary, releases),
        *_returned(releases),
    )


def _returned(releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    carried: set[Any] = set()
    back: set[Any] = set()
    for seen in (one.observation for one in releases):
        back |= carried & set(seen.people.respondents[seen.group >= 0])
        carried |= set() if seen.ghosts is None else set(seen.ghosts.respondents)
    return returned_notes(len(back))


def returned_notes(people: int) -> list[Note]:
    """Note on the number of respondents who are published again after ghosts; empty for none."""
    kind = (
        "{people:,} {people:respondent is|respondents are} published again after ghosts, whose evidence is left out: these beliefs "
        "are approximate, tend to be overconfident, and may pass a proved bound."
    )
    return [Note(kind, people=people)] if people else []


def _solver(posterior: JointPosterior, solver: JointSolver) -> list[Note]:
    if solver.exact or not len(posterior.problem.path):
        return []
    rule = posterior.rule or type(solver).__name__
    if isinstance(posterior.approximation, GroupGraph):
        return graph_notes(graph_shares(posterior.status[posterior.problem.group], posterior.approximation.limit))
    if notes := law_notes(posterior.approximation, rule):
        return notes
    if posterior.standard_error is not None:
        kind = "the joint law is sampled ({rule}): beliefs have a Monte Carlo standard error of at most {largest:.2g}."
        return [Note(kind, rule=rule, largest=_largest(posterior))]
    return []


def graph_shares(
    status: IntArray,  # of the group of each record
    limit: int,  # of the arrangements of a block
) -> dict[str, float]:
    """Shares of the records by how good `GroupGraph` is for them: ``exact``, ``cycles`` and ``tilted``, beside the ``limit``.

    Empty without records.
    """
    if not len(status):
        return {}
    tilted = status & Status.TILTED > 0
    cycles = (status & Status.CYCLES > 0) & ~tilted
    return {
        "exact": float((status == 0).mean()),
        "cycles": float(cycles.mean()),
        "tilted": float(tilted.mean()),
        "limit": limit,
    }


def graph_notes(
    shares: Mapping[str, float],  # those of `graph_shares`
) -> list[Note]:
    """Note on the shares of records by how good `GroupGraph` is for them; empty if all are exact."""
    kind = (
        "the joint law is approximated on the graph of groups: {exact:.0%} of the records have exact beliefs, {cycles:.0%} are "
        "reached by groups whose members part and meet again, and {tilted:.0%} are in groups whose counts are too costly to "
        "keep exactly (limit {limit:,})."
    )
    return [Note(kind, **shares)] if shares.get("exact", 1.0) < 1.0 else []


def law_notes(solver: JointSolver | None, rule: str) -> list[Note]:
    """Note on the approximation of the joint law by `MaxEntropy` or `GroupMessages`; empty for other solvers."""
    if isinstance(solver, MaxEntropy):
        kind = (
            "the joint law is approximated ({rule}): groups meet their published counts in expectation, and beliefs of group "
            "members are coupled by these counts only."
        )
        return [Note(kind, rule=rule)]
    if isinstance(solver, GroupMessages):
        kind = (
            "the joint law is approximated ({rule}): each group has its exact counts, where its members are independent given the "
            "other groups. It understates what the releases disclose, most where the same respondents meet again: on simulated "
            "exams by Mondrian, JSReduce and BKAA it found 97%, 88% and 74% of the sure beliefs that GroupGraph (--solver "
            "group-graph) finds."
        )
        return [Note(kind, rule=rule)]
    return []


def _largest(posterior: JointPosterior) -> float:
    assert posterior.standard_error is not None
    return float(posterior.standard_error[np.isfinite(posterior.standard_error)].max(initial=0.0))


def _contradicted(releases: tuple[ReleaseBeliefs, ...]) -> list[Note]:
    """The number of groups whose published values the knowledge excludes, with the first of them and its respondents."""
    groups: list[BoolArray] = [one.posterior.status & Status.CONTRADICTED > 0 for one in releases]
    number = sum(int(found.sum()) for found in groups)
    if not number:
        return []
    first = next(t for t, found in enumerate(groups) if found.any())
    seen, group = releases[first].observation, int(groups[first].argmax())
    members = seen.people.respondents[seen.group == group]
    example = (
        f"group {group} at {seen.time!r}, of {', '.join(map(repr, members[:3]))}{', ...' if len(members) > 3 else ''}"
    )
    kind = (
        "the adversary's knowledge excludes the values of {number:,} groups, given the other releases (status CONTRADICTED). "
        "The first is {example}. Zeros in priors, transitions or other parts of the knowledge are the usual reason; a "
        "pseudo-count, or a small factor in their place, avoids them."
    )
    return [Note(kind, number=number, example=example)]


def _gap(posterior: JointPosterior) -> list[Note]:
    largest = float(posterior.gap[posterior.status & Status.UNCONVERGED > 0].max(initial=0.0))
    kind = "the expected counts of these groups differ from the published ones by up to {largest:.1%} of their records."
    return [Note(kind, largest=largest)] if largest else []


UNIFORM = "They are treated as respondents with a uniform prior."


def _read_rule(posterior: JointPosterior) -> list[str]:
    """Note on the rule of m-invariance, and on the cycles of groups that it makes."""
    law = (
        "the rule of m-invariance is in the law. The shares of its signatures and the law of its counterfeits are estimated "
        "forward, release by release."
    )
    if isinstance(posterior.approximation, GroupGraph) and (posterior.status & Status.CYCLES > 0).any():
        law += " On cycles of groups beliefs under it are overconfident; GroupMessages (--solver group-messages) errs to caution."
    return [law]


def _distorted(adversary: Adversary, releases: tuple[ReleaseBeliefs, ...]) -> list[Note]:
    times = [repr(one.observation.time) for one in releases if one.observation.distorted]
    if not times:
        return []
    shown = ", ".join(times[:3]) + (", ..." if len(times) > 3 else "")
    law = (
        "Their law is estimated forward, release by release, from the number of distorted records"
        if adversary.distortion == "counted"
        else "Published values are read as true ones, so that beliefs are overconfident"
    )
    kind = "{distorted} of {releases} releases have distorted values ({times}). {law}."
    return [Note(kind, distorted=len(times), releases=len(releases), times=shown, law=law)]
