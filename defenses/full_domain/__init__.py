"""Full-domain generalization: each attribute is generalized to one level for the whole table."""

from foreknow.defenses.full_domain.full_domain import FullDomain

__all__ = ["FullDomain"]
