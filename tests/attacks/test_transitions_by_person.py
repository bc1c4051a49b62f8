"""Transitions that depend on the person, in every attack with an adversary and every joint solver.

One chain for all classes is that chain; classes that never meet are attacked as if alone; and enumeration of all paths.
"""

import numpy as np
import pytest
from strategies import view_of

from foreknow.attacks import ATTACKS, JointAttack
from foreknow.attacks.adversary_attack import AdversaryAttack
from foreknow.models import (
    JOINT_SOLVERS,
    Adversary,
    ChainByRelease,
    Exact,
    MarkovChain,
    Release,
    TransitionsByClass,
    joint_history,
)

RNG = np.random.default_rng(11)
CHAINS = [MarkovChain(1, RNG.dirichlet(np.ones(3), 3)) for _ in range(3)]
PRIOR = RNG.dirichlet(np.ones(3), 8)
IDS = "ABCDEFGH"

SETTINGS = {"max-entropy": {"tolerance": 1e-10}, "path-sampler": {"rng": 1}}
SAMPLES = {"path-sampler"}


def solver(name):
    return JOINT_SOLVERS[name](**SETTINGS.get(name, {}))


JOINT = {
    f"joint, {name}, {'hindsight' if hindsight else 'forward'}": lambda adversary, name=name, hindsight=hindsight: (
        JointAttack(adversary, solver(name), hindsight=hindsight)
    )
    for name in JOINT_SOLVERS
    for hindsight in ((True, False) if name not in SAMPLES else (True,))
}
OTHERS = {name: make for name, make in ATTACKS.items() if issubclass(make, AdversaryAttack) and name != "joint"}
TAKES_TRANSITIONS = JOINT | OTHERS


def prior(people):
    return PRIOR[[IDS.index(name) for name in people.respondents]]


def by_half(people):
    """Class of a respondent: the first half of the alphabet, or the second."""
    return (people.quasi_identifiers[:, 0] >= 24).astype(np.int64)


def releases_of(*groups, only=IDS):
    """A release for each mapping from a group's respondents to their values, of some respondents."""
    found = []
    for time, of_release in enumerate(groups, 1):
        kept = {ids: values for ids, values in of_release.items() if ids[0] in only}
        ids, values = "".join(kept), "".join(kept.values())
        label = [number for number, one in enumerate(kept) for _ in one]
        found.append(Release(view_of(ids, values, [20 + IDS.index(i) for i in ids], time), label))
    return found


APART = (
    {"AB": "ab", "CD": "bc", "EFG": "aab", "H": "c"},
    {"AC": "ab", "BD": "cb", "EH": "bc", "FG": "ab"},
    {"AB": "bb", "D": "a", "EFGH": "abcc"},
)
"""Groups without members of both halves."""

SIGNED = ({"AE": "ab", "BF": "bc"}, {"AE": "ba", "BF": "bc"}, {"AE": "ab", "BF": "cb"})
"""Groups of m-invariance."""


def assert_close(ours, theirs, rows=slice(None)):
    """Assert that beliefs of a release are equal, but for the error of a sampler in the posterior; ``rows`` are those of ours."""
    error = 1e-6
    if ours.posterior.standard_error is not None:
        error = 1e-9 + 5 * np.hypot(ours.posterior.standard_error[rows], theirs.posterior.standard_error)
    assert (np.abs(ours.posterior.probabilities[rows] - theirs.posterior.probabilities) <= error).all()
    assert (np.abs(ours.revised[rows] - theirs.revised) <= 1e-6).all()


def attacked(name, transitions, gaps, groups, only=IDS):
    adversary = Adversary(prior, transitions, estimator=Exact(), gaps=gaps)
    return TAKES_TRANSITIONS[name](adversary)(releases_of(*groups, only=only))


@pytest.mark.parametrize("name", TAKES_TRANSITIONS)
def test_one_chain_for_all_classes_is_that_chain(name):
    groups = SIGNED if name == "signature" else APART
    personal = TransitionsByClass(by_half, (CHAINS[0], CHAINS[0]))
    both = (attacked(name, each, "power", groups) for each in (personal, CHAINS[0]))
    for ours, theirs in zip(*both, strict=True):
        assert_close(ours, theirs)


@pytest.mark.parametrize("gaps", ["ignore", "power"])
@pytest.mark.parametrize("name", [name for name in TAKES_TRANSITIONS if name != "signature"])
def test_classes_that_never_meet_are_attacked_as_if_alone(name, gaps):
    """The shares of signatures are those of all respondents: test_transitions_by_class has classes of values of their own."""
    together = attacked(name, TransitionsByClass(by_half, tuple(CHAINS[:2])), gaps, APART)
    for half, chain in (("ABCD", CHAINS[0]), ("EFGH", CHAINS[1])):
        for ours, theirs in zip(together, attacked(name, chain, gaps, APART, half), strict=True):
            place = {respondent: row for row, respondent in enumerate(ours.observation.people.respondents)}
            assert_close(ours, theirs, [place[respondent] for respondent in theirs.observation.people.respondents])


@pytest.mark.parametrize("name", ["auto", "path-sampler"])
def test_solvers_of_the_exact_law_agree_with_enumeration_where_classes_meet(name):
    """`Enumeration` equals the sum over all paths by test_transitions_by_class."""
    later = ChainByRelease((CHAINS[1], CHAINS[2], CHAINS[0]), CHAINS[1])
    personal = TransitionsByClass(by_half, (CHAINS[1], later))
    groups = ({"ABE": "abc", "CDF": "bca"}, {"AEF": "bca", "BCD": "aab"}, {"AF": "cb", "BE": "ab", "CD": "ac"})
    found, wanted = (attacked(f"joint, {each}, hindsight", personal, "power", groups) for each in (name, "enumeration"))
    for ours, theirs in zip(found, wanted, strict=True):
        error = 1e-9 if ours.posterior.standard_error is None else 1e-9 + 5 * ours.posterior.standard_error
        assert (np.abs(ours.posterior.probabilities - theirs.posterior.probabilities) <= error).all()


@pytest.mark.parametrize("only", ["ABC", "EFGH", IDS[:7]])
def test_a_missed_release_has_the_class_last_seen(only):
    """All but the last respondent, H, miss the second of three releases; with chains of order 2 it is a hidden step for them."""
    chains = tuple(MarkovChain(2, RNG.dirichlet(np.ones(3), (3, 3))) for _ in range(2))
    full = {only: "".join("abc"[number % 3] for number in range(len(only)))}
    observations = [each.observation for each in releases_of(full, {"H": "a"}, full, only=only + "H")]
    history = joint_history(Adversary(prior, TransitionsByClass(by_half, chains), gaps="power"), observations)
    of_respondent = [history.classes[history.problem.path == path].tolist() for path in range(len(only))]
    assert sorted(of_respondent) == sorted([int(name >= "E")] * 3 for name in only)
