"""Full-domain generalization: one generalization level of each attribute for the whole table."""

from foreknow.defenses.full_domain.full_domain import FullDomain

__all__ = ["FullDomain"]
