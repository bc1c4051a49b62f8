"""Notes of an attack on counterfeits, approximated groups and estimates that did not converge."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import view_of

from foreknow.attacks import SequentialAttack, SignatureAttack, SnapshotAttack
from foreknow.models import Adversary, Auto, Grouping, MarkovChain, Release, SwapChain, UniformPrior

CHAIN = MarkovChain(1, np.full((3, 3), 1 / 3))
PLAIN = Release(view_of("ABCD", "abca"), np.array([0, 0, 1, 1]))
INVENTED = Release(view_of("ABC", "abc"), Grouping(np.array([0, 0, 1]), counterfeits=np.array([[1, 0], [1, 1]])))


@pytest.mark.parametrize("attack", [SequentialAttack, SnapshotAttack])
def test_counterfeits_are_noted_by_attacks_that_read_no_signatures(attack):
    (note,) = attack(Adversary(UniformPrior(), CHAIN))([INVENTED]).notes
    assert note.startswith("2 published records are counterfeits.")
    assert "where the prior is wrong, beliefs are overconfident" in note
    assert "SignatureAttack (--attack signature) does" in note
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


def test_groups_that_did_not_converge_are_counted():
    adversary = Adversary(lambda _: np.array([[0.8, 0.1, 0.1]] * 2 + [[0.1, 0.1, 0.8]] * 2))
    hasty = replace(adversary, estimator=SwapChain(draws=8, chains=2, rng=np.random.default_rng(1)))
    release = Release(view_of("ABCD", "abca"), np.zeros(4, dtype=int))
    (note,) = SnapshotAttack(hasty)([release]).notes
    assert note == "the beliefs in 1 of 1 groups did not converge (status UNCONVERGED)."
