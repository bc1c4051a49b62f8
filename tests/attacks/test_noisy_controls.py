"""The control of an attack on noisy counts, and the adversary who learns from them alone."""

import numpy as np
import pytest
from noisy_histories import noisy_history, noisy_release
from strategies import history_of

from foreknow.attacks import JointAttack, LearnedAttack, SnapshotAttack, WithoutGroups
from foreknow.models import Adversary, ClassFrequencies, Enumeration, MarkovChain, Noise, UniformPrior

PRIOR, CHAIN = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.2, 0.8]])
ATTACK = JointAttack(Adversary(ClassFrequencies({}, PRIOR), MarkovChain(1, CHAIN)), Enumeration())


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_the_control_knows_one_histogram(law):
    """Of two cells: their counts summed, with noise of twice the variance."""
    noise = Noise(law, 2.0)
    _, releases = noisy_history(np.random.default_rng(2), noise, PRIOR, CHAIN, people=5)
    control = WithoutGroups(ATTACK)(releases)
    merged = Noise("gaussian", float(np.sqrt(2 * noise.variance)))
    whole = ATTACK([noisy_release(one.view, merged, one.counts.sum(axis=0, keepdims=True)) for one in releases])
    for one, other, release in zip(control, whole, releases, strict=True):
        assert one.posterior.probabilities == pytest.approx(other.posterior.probabilities, abs=1e-6)
        assert one.observation == release.observation
        assert len(one.posterior.status) == len(release.counts)


def test_the_control_of_one_cell_is_the_attack():
    _, releases = noisy_history(np.random.default_rng(2), Noise("laplace", 2.0), PRIOR, CHAIN, people=5, cuts=())
    for one, other in zip(WithoutGroups(ATTACK)(releases), ATTACK(releases), strict=True):
        assert one.posterior.probabilities.tolist() == other.posterior.probabilities.tolist()


def test_what_a_control_refuses():
    _, releases = noisy_history(np.random.default_rng(2), Noise("laplace", 2.0, clamped=True), PRIOR, CHAIN)
    with pytest.raises(ValueError, match=r"published as 0.*baseline='law'"):
        WithoutGroups(ATTACK)(releases)
    (view,) = history_of(("AB", "ab"), domain="ab")
    with pytest.raises(ValueError, match="SnapshotAttack does not read noisy counts"):
        WithoutGroups(SnapshotAttack(Adversary(UniformPrior())))([noisy_release(view, Noise("laplace", 2.0), [[1, 1]])])


def test_the_learned_attack_reads_noise():
    history, releases = noisy_history(
        np.random.default_rng(5), Noise("gaussian", 2.0), PRIOR, CHAIN, people=200, releases=6, cuts=(1, 3, 5, 7)
    )
    beliefs = LearnedAttack()(releases)
    assert len(beliefs) == len(history)
    assert beliefs.notes[0].startswith("Prior and transitions were learned from the releases alone")
    with pytest.raises(ValueError, match="noisy"):
        LearnedAttack(signatures=True)(releases)
