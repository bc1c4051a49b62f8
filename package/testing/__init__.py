"""Checks for estimators, attacks, defenses, requirements, priors and parts of knowledge, of foreknow or of another package.

Each ``check_*`` function raises AssertionError, with the name of the check that failed, and returns nothing otherwise. Call them
from a test::

    from foreknow.testing import check_estimator

    def test_mine():
        check_estimator(MyEstimator())
"""

from foreknow.testing.attack import check_attack
from foreknow.testing.defense import check_defense
from foreknow.testing.estimator import check_estimator
from foreknow.testing.knowledge import check_knowledge
from foreknow.testing.prior import check_prior
from foreknow.testing.requirement import check_requirement

__all__ = ["check_attack", "check_defense", "check_estimator", "check_knowledge", "check_prior", "check_requirement"]
