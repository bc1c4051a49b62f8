"""Joint solvers agree with 50-digit arithmetic, on knowledge with numbers near 1e-300, zeros and ones."""

import numpy as np
import pytest
from fifty_digits import joint_shares, of_fifty_digits, tilted_paths, worst_error
from joint_oracle import joint_law, random_arrays

from foreknow.models import Enumeration, MaxEntropy, Status
from foreknow.models.joint import JointProblem

RELATIVE = 1e-9


def sharpened(rows, power):
    """Rows of probabilities to a power, scaled to 1: the smallest come near 1e-300, and zeros stay."""
    if not rows.size:
        return rows
    rows = np.where(rows > 0, np.maximum(rows**power, 1e-300), 0.0)
    return rows / rows.sum(axis=-1, keepdims=True)


def hard_arrays(seed, power):
    """A random history of few people whose prior, chains and channels are sharpened."""
    rng = np.random.default_rng([16, seed])
    arrays = random_arrays(rng, emission=seed % 2 == 0)
    arrays["prior"], arrays["emission"] = sharpened(arrays["prior"], power), sharpened(arrays["emission"], power)
    arrays["tables"] = tuple(sharpened(table, power) for table in arrays["tables"])
    return arrays


def cohort(k, releases, chain, prior):
    """A closed cohort: the same k respondents form the only group of each release, and show each value once."""
    ones = np.ones((releases, k), dtype=int)
    return {
        "prior": np.array(prior, dtype=float),
        "tables": (np.array([chain], dtype=float),),
        "path": np.tile(np.arange(k), releases),
        "group": np.repeat(np.arange(releases), k),
        "chain": np.zeros(k * releases, dtype=int),
        "counts": ones,
        "release": np.arange(releases),
        "evidence": np.zeros((0, k)),
        "emission": np.zeros((0, k, k)),
    }


STAYS = np.array([[1 - 1e-12, 1e-12, 1e-290], [1e-200, 1, 1e-100], [1e-9, 1e-290, 1]])
STAYS /= STAYS.sum(axis=1, keepdims=True)
ALIKE = np.full((3, 3), 1 / 3) + 1e-14 * np.array([[1, -1, 0], [0, 1, -1], [-1, 0, 1]])
COHORTS = {
    "nearly equal": cohort(3, 3, STAYS, ALIKE),
    "wildly different": cohort(3, 3, STAYS, [[1, 1e-300, 0], [1e-160, 1, 1e-200], [0.2, 0.3, 0.5]]),
    "zeros and ones": cohort(3, 4, [[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]], [[0.5, 0.5, 0]] * 2 + [[0, 0.1, 0.9]]),
}


@pytest.mark.parametrize("seed", range(24))
def test_enumeration_agrees_with_fifty_digits(seed):
    arrays = hard_arrays(seed, power=(1, 20, 200)[seed % 3])
    wanted = joint_shares(*joint_law(of_fifty_digits(arrays)), arrays["counts"].shape[1])
    posterior = Enumeration()(JointProblem(**arrays))
    found = posterior.rows(np.arange(len(arrays["path"])))
    if wanted is None:
        assert (posterior.status & Status.CONTRADICTED).any()
    else:
        assert worst_error(found, wanted) <= RELATIVE


@pytest.mark.parametrize("name", COHORTS)
def test_enumeration_of_closed_cohorts_agrees_with_fifty_digits(name):
    arrays = COHORTS[name]
    posterior = Enumeration()(JointProblem(**arrays))
    wanted = joint_shares(*joint_law(of_fifty_digits(arrays)), 3)
    assert not posterior.status.any()
    assert worst_error(posterior.rows(np.arange(len(arrays["path"]))), wanted) <= RELATIVE


SOFT = np.array([[0.9, 0.1 - 1e-9, 1e-9], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]])
PRIORS = {
    "nearly equal": ALIKE,
    "wildly different": np.array([[1, 1e-30, 1e-2], [1e-2, 1, 1e-1], [0.2, 0.3, 0.5]]),
}


@pytest.mark.parametrize("name", PRIORS)
def test_the_fixed_point_of_max_entropy_agrees_with_fifty_digits(name):
    prior = PRIORS[name] / PRIORS[name].sum(axis=1, keepdims=True)
    arrays = cohort(3, 3, SOFT, prior)
    posterior = MaxEntropy(tolerance=1e-14, rounds=100_000)(JointProblem(**arrays))
    wanted = tilted_paths(of_fifty_digits(arrays))
    # The tolerance of MaxEntropy is a share of records, so that smaller beliefs have its absolute precision.
    assert worst_error(posterior.rows(np.arange(len(arrays["path"]))), wanted, smallest=1e-4) <= RELATIVE
