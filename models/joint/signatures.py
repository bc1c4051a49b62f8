"""Rule of m-invariance: the law of the signatures of a history, release by release, and its factors in the joint law.

A signature is the set of values that a group shows. A respondent of the same value as when last published keeps the signature;
every other one has a signature at random among the records of the same value.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from foreknow.models.adversary import Adversary
from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.estimators.assignments import group_sums
from foreknow.models.joint.problem import JointProblem
from foreknow.models.knowledge.personal_transitions import chains_at, class_by_respondent, steps_between
from foreknow.models.mechanisms import SignatureLaw, normalized_rows, signature_law, signature_numbers
from foreknow.models.memory import Memory
from foreknow.models.problem import DOUBT
from foreknow.models.tables.people import Observation


class _Published(NamedTuple):
    """State of a respondent at the last publication: number of the release, belief, signature."""

    release: int
    belief: FloatArray
    signature: BoolArray


def read_signatures(
    adversary: Adversary, observations: Iterable[Observation]
) -> tuple[tuple[ReleaseBeliefs, ...], tuple[SignatureLaw, ...]]:
    """Beliefs about each release, and the law of its signatures, as estimated from it and the releases before."""
    memory, found, laws = Memory(), list[ReleaseBeliefs](), list[SignatureLaw]()
    last: dict[Hashable, _Published] = {}
    classes: list[dict[Hashable, int]] = []
    for number, seen in enumerate(observations):
        check_unique(seen)
        prior = adversary.prior_rows(seen.people)
        revised = adversary.revise(memory, seen.people, seen.time, prior=prior)
        assert adversary.known_transitions is not None
        classes.append(class_by_respondent(adversary.known_transitions, seen.people))
        laws.append(_weigh(adversary, revised, seen, last, classes))
        posterior = laws[-1].posterior.first(len(revised))
        found.append(ReleaseBeliefs(seen, prior, revised, posterior))
        memory = adversary.update_memory(memory, seen, posterior, prior=prior)
        shown = seen.counts > 0
        for row in np.flatnonzero(seen.group >= 0):
            published = _Published(number, posterior.probabilities[row], shown[seen.group[row]])
            last[seen.people.respondents[row]] = published
    adversary.check_claim_times([belief.observation.time for belief in found])
    return tuple(found), tuple(laws)


def _weigh(
    adversary: Adversary,
    revised: FloatArray,
    seen: Observation,
    last: dict[Hashable, _Published],
    classes: list[dict[Hashable, int]],
) -> SignatureLaw:
    """Law of one release."""
    transitions = adversary.known_transitions
    assert transitions is not None
    kept, dealt = np.zeros(revised.shape), np.ones(revised.shape)
    shown, products = seen.counts > 0, dict[tuple[tuple[int, int], ...], FloatArray]()
    for row, respondent in enumerate(seen.people.respondents):
        before = last.get(respondent)
        if before is not None and seen.group[row] >= 0:
            steps = steps_between(classes, respondent, before.release, len(classes) - 1, adversary.gaps)
            if steps not in products:
                tables = [chains_at(transitions, release)[own].probabilities for release, own in steps]
                products[steps] = reduce(np.matmul, tables)
            stays = stay_probabilities(before.belief, products[steps])
            dealt[row] = 1 - stays
            if np.array_equal(before.signature, shown[seen.group[row]]):
                kept[row] = stays
    estimate = partial(adversary.problem_posterior, observation=seen)
    return signature_law(seen.problem(revised), kept, dealt, estimate)


def stay_probabilities(
    belief: FloatArray,  # (m,): in the value before
    step: FloatArray,  # (m, m): transition probabilities from the value before, in rows, to the present one
) -> FloatArray:
    """Probability that a present value was the value before as well, for each present value: shape ``(m,)``."""
    ahead = belief @ step
    return np.divide(belief * step.diagonal(), ahead, out=np.zeros_like(ahead), where=ahead > 0)


def check_unique(seen: Observation) -> None:
    """Raise ValueError if a release is not of m-invariance: a group shows a value twice, or values are distorted."""
    attack = Wording("SignatureAttack", "The signature attack")
    rule = Advice(
        attack, " reads releases of m-invariance, whose groups show each value once and no value is distorted; "
    )
    other = Wording("Use SequentialAttack", "Use --attack sequential")
    way = Advice(other, " for releases of other defenses.")
    if seen.noise is not None:
        raise ValueError(
            f"the rule of m-invariance is not that of noisy counts, as those at {seen.time!r}; leave signatures out."
        )
    if (seen.counts > 1).any():
        group, value = np.argwhere(seen.counts > 1)[0]
        place = f"the group {group} of the release at {seen.time!r} shows {seen.people.schema.values[value]!r} "
        raise ValueError(Advice(rule, place, f"{seen.counts[group, value]} times. ", way))
    if seen.distorted:
        raise ValueError(
            Advice(rule, f"in the release at {seen.time!r} there are {seen.distorted} distorted ones. ", way)
        )


class SignatureRule(NamedTuple):
    """Factors of the rule in a joint problem: those of the first records of paths, and those of the steps of each chain."""

    # (p,): paths whose first record is published: those of respondents, and behind them those of counterfeits
    paths: IntArray
    # (p, m): share of the newly assigned records of each value that the first signature received; for a counterfeit, its law
    starts: FloatArray
    respondents: int  # number of the first of these that are respondents
    chain: IntArray  # (R,): chain of each record, among those with factors
    base: IntArray  # (K,): chain without factors of each chain
    # (K, m, m): factor of each step of each chain; 1 in the chains of steps from or to a record that is not published
    steps: FloatArray

    def prior(self, prior: FloatArray) -> FloatArray:
        """Prior of each path given its first signature; the law of a counterfeit replaces its prior."""
        weights = prior[self.paths] * self.starts
        weights[self.respondents :] = self.starts[self.respondents :]
        given = prior.copy()
        given[self.paths] = normalized_rows(weights)
        return given

    def log_evidence(self, prior: FloatArray) -> float:
        """Log-probability of the first signature of all respondents, by which `prior` is divided.

        The evidence of later signatures is in the steps. A probability of 0 counts as `foreknow.models.problem.DOUBT`.
        """
        own = slice(self.respondents)
        return float(np.log(np.maximum((prior[self.paths[own]] * self.starts[own]).sum(axis=1), DOUBT)).sum())

    def under(self, problem: JointProblem) -> JointProblem:
        """The problem of which the rule was made, with its factors."""
        tables = (problem.tables[0][self.base] * self.steps,)
        return replace(problem, prior=self.prior(problem.prior), chain=self.chain, tables=tables)


def signature_rule(problem: JointProblem, laws: Sequence[SignatureLaw]) -> SignatureRule:
    """Factors of the rule of the signatures in the problem of a history of m-invariant releases.

    A respondent of the same value as when last published keeps the signature S' (the set of values that the group shows); every
    other one has a signature S at random among the records of the same value. So a step from x' to x has the factor::

        P(S | S', x', x) = [x = x'] [S = S'] + [x != x'] r_S(x)

    and the first record of a path the factor r_S(x), the share of the newly assigned records of value x that S received. ``laws``
    has the shares of each release, and the distribution of the counterfeits of each group. Chains are of order 1.

    Exact for given shares. Groups of one release and one signature have the mean of their shares. A step from or to a record
    that is not published has no factor. Cost: O(R log R), and ``m^2`` numbers for each release, signature, and chain.
    """
    _, cell = np.unique(np.stack([problem.release, signature_numbers(problem.counts)]), axis=1, return_inverse=True)
    shares, cell = _by_group(problem, [law.shares for law in laws]), cell.reshape(-1)
    sizes = np.bincount(cell)
    received = group_sums(shares, cell, len(sizes)) / sizes[:, None]
    counterfeits = _by_group(problem, [law.counterfeits for law in laws])
    first = np.flatnonzero((problem.layout.previous < 0) & problem.constrained[problem.group])
    invented = problem.path[first] >= problem.respondents
    own, first = first[~invented], first[invented]
    paths = problem.path[np.concatenate([own, first])]
    starts = np.concatenate([received[cell[problem.group[own]]], counterfeits[problem.group[first]]])
    return SignatureRule(paths, starts, len(own), *_steps(problem, cell, received))


def _by_group(problem: JointProblem, parts: Sequence[FloatArray]) -> FloatArray:
    """Numbers of each group of each release; 1 in groups that publish nothing: ``(g, m)`` for each release to ``(G, m)``."""
    rows = np.ones(problem.counts.shape)
    for t, part in enumerate(parts):
        start = int(np.searchsorted(problem.release, t))
        rows[start : start + len(part)] = part
    return rows


def _steps(problem: JointProblem, cell: IntArray, received: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Chain of each record, and the chain without factors and the factors of each chain."""
    previous, group = problem.layout.previous, problem.group
    published, signature = problem.constrained[group], signature_numbers(problem.counts)[group]
    later = np.flatnonzero((previous >= 0) & published & published[previous])
    kept = signature[later] == signature[previous[later]]
    keys, number = np.unique(np.stack([problem.chain[later], cell[group[later]], kept]), axis=1, return_inverse=True)
    plain, values = len(problem.tables[0]), np.arange(problem.values)
    steps = np.repeat(received[keys[1]][:, None, :], problem.values, axis=1)
    steps[:, values, values] = keys[2][:, None]
    chain = problem.chain.copy()
    chain[later] = plain + number.reshape(-1)
    base = np.concatenate([np.arange(plain), keys[0]])
    return chain, base, np.concatenate([np.ones((plain, *steps.shape[1:])), steps])
