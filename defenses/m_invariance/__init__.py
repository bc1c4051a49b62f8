"""m-invariance: every respondent stays in groups of the same signature over all releases."""

from foreknow.defenses.m_invariance.m_invariance import MInvariance

__all__ = ["MInvariance"]
