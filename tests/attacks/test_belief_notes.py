"""Notes of an attack on counterfeits, approximated groups and estimates that did not converge."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import view_of

from foreknow.attacks import JointAttack, SequentialAttack, SignatureAttack, SnapshotAttack
from foreknow.models import (
    Adversary,
    Auto,
    Enumeration,
    Grouping,
    JointAuto,
    MarkovChain,
    MaxEntropy,
    Mixed,
    PathSampler,
    Release,
    SwapChain,
    UniformPrior,
)
from foreknow.models.notes import Note, notes_of_draws
from foreknow.testing import examples

CHAIN = MarkovChain(1, np.full((3, 3), 1 / 3))
PLAIN = Release(view_of("ABCD", "abca"), np.array([0, 0, 1, 1]))
INVENTED = Release(view_of("ABC", "abc"), Grouping(np.array([0, 0, 1]), counterfeits=np.array([[1, 0], [1, 1]])))


@pytest.mark.parametrize("attack", [SequentialAttack, SnapshotAttack])
def test_counterfeits_are_noted_by_attacks_that_read_no_signatures(attack):
    (note,) = attack(Adversary(UniformPrior(), CHAIN))([INVENTED]).notes
    assert note.startswith("2 published records are counterfeits.")
    assert "where the prior is wrong, beliefs are overconfident" in note
    assert "SignatureAttack (--attack signature), do" in note
    (naive,) = attack(Adversary(UniformPrior(), CHAIN, counterfeits="uniform"))([INVENTED]).notes
    assert "a uniform prior" in naive
    assert SignatureAttack(Adversary(UniformPrior(), CHAIN))([INVENTED]).notes == ()


def test_nothing_is_said_of_small_groups_without_counterfeits():
    assert SequentialAttack(Adversary(UniformPrior(), CHAIN))([PLAIN]).notes == ()


def test_groups_by_the_law_of_large_numbers_are_counted_with_the_largest_error():
    people = 40
    view = view_of([f"p{i}" for i in range(people)], "abc" * 13 + "a")
    release = Release(view, np.zeros(people, dtype=int))
    rows = np.random.default_rng(1).dirichlet(np.ones(3), people)
    adversary = Adversary(lambda _: rows, CHAIN, estimator=Auto(limit=1, pairs=1))
    beliefs = SequentialAttack(adversary)([release])
    error = beliefs.at(release.time).posterior.error.max()
    assert error > 0
    (note,) = beliefs.notes
    assert note.startswith("1 groups are too large for an exact posterior")
    assert f"{error:.1e}" in note


def test_the_size_from_which_mixed_has_another_rule_is_told():
    """Groups of three and one: three quarters of the records are in groups of more than two."""
    release = Release(view_of("ABCD", "abca"), np.array([0, 0, 0, 1]))
    (note,) = SequentialAttack(Adversary(UniformPrior(), CHAIN, estimator=Mixed(size=2)))([release]).notes
    assert note.startswith("groups of at most 2 members have DirichletMultinomial(")
    assert note.endswith("with 25% of the records; larger ones have Omega().")


def test_groups_that_did_not_converge_are_counted():
    adversary = Adversary(lambda _: np.array([[0.8, 0.1, 0.1]] * 2 + [[0.1, 0.1, 0.8]] * 2))
    hasty = replace(adversary, estimator=SwapChain(draws=8, chains=2, rng=np.random.default_rng(1)))
    release = Release(view_of("ABCD", "abca"), np.zeros(4, dtype=int))
    (note,) = SnapshotAttack(hasty)([release]).notes
    assert note == "the beliefs in 1 of 1 groups did not converge (status UNCONVERGED)."


class TestJointAttack:
    PAIR = (("AB", "ab"), ("AB", "ab"))

    def notes(self, releases, solver=None, chain=CHAIN, **settings):
        return JointAttack(Adversary(UniformPrior(), chain, **settings), solver or Enumeration())(releases).notes

    def test_an_exact_solver_needs_no_note(self):
        assert self.notes([PLAIN]) == ()

    def test_an_approximate_solver_is_named(self):
        (note,) = self.notes([PLAIN], MaxEntropy())
        assert note.startswith("the joint law is approximated (MaxEntropy)")
        (some,) = self.notes([PLAIN], JointAuto(limit=1, otherwise=MaxEntropy()))
        assert "2 groups" in some
        assert self.notes([PLAIN], JointAuto()) == ()

    def test_a_sampler_has_its_standard_error(self):
        (note, *_) = self.notes([PLAIN], PathSampler(sweeps=50, rng=1))
        assert "is sampled (PathSampler)" in note

    def test_the_law_of_counterfeits_is_named(self):
        (note,) = self.notes([INVENTED])
        assert note.startswith(
            "2 published records are counterfeits. They are treated as respondents with a uniform prior."
        )
        assert "SignatureAttack" in note
        attack = JointAttack(Adversary(UniformPrior(), CHAIN), Enumeration(), signatures=True)
        (note,) = attack([INVENTED]).notes
        assert note.startswith("the rule of m-invariance is in the law.")

    def test_a_contradicted_group_is_named_with_its_respondents(self):
        """A and B show the values a and b, then c and c, and values never change."""
        releases = [Release(view_of("AB", values, time=t), [0, 0]) for t, values in ((1, "ab"), (2, "cc"))]
        notes = self.notes(releases, MaxEntropy(), MarkovChain(1, np.eye(3)))
        (note,) = (note for note in notes if "CONTRADICTED" in note)
        assert "'A', 'B'" in note

    def test_releases_with_distorted_values_are_named(self):
        releases, _ = examples.distorted_releases()
        adversary = examples.adversary()
        (note,) = (note for note in JointAttack(adversary)(releases).notes if "distorted" in note)
        assert note.startswith("3 of 3 releases have distorted values (1, 2, 3)")
        (both,) = notes_of_draws([[note], [Note(note.kind, **note.of | {"distorted": 2})]])
        assert both.startswith("under 2 of 2 draws: 2 to 3 of 3 releases have distorted values (1, 2, 3)")

    def test_unconverged_groups_have_their_gap(self):
        rows = [np.array([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6]])]
        release = Release(view_of("ABCD", "abca"), np.zeros(4, dtype=int))
        adversary = Adversary(lambda _: rows[0], CHAIN)
        notes = JointAttack(adversary, MaxEntropy(tolerance=1e-12, rounds=1))([release]).notes
        assert any("did not converge" in note for note in notes) == any("expected counts of these" in n for n in notes)
