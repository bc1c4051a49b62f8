"""m-invariance: the same signature for each respondent over all releases."""

from foreknow.defenses.m_invariance.m_invariance import MInvariance

__all__ = ["MInvariance"]
