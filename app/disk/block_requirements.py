"""Requirements that a block evaluates without the other records of its release."""

from foreknow.defenses import BTPrivacy, GroupPredicate, Requirement
from foreknow.defenses.requirements.requirement import Combination, MemberPredicate


def check_block_requirement(owner: str, requirement: Requirement) -> None:
    """Raise ValueError if a requirement, or a part of it, is fitted to all records of a view.

    A block knows the groups, the counts of the whole table and the priors of its records. A requirement that extends neither
    `GroupPredicate` nor weighs the prior given to the defense reads more of the view, as `BTPrivacy` with a bandwidth.
    """
    if isinstance(requirement, Combination):
        for part in requirement.parts:
            check_block_requirement(owner, part)
    elif isinstance(requirement, MemberPredicate) or not (
        isinstance(requirement, GroupPredicate) or requirement.weighs_beliefs
    ):
        instead = ", or give the prior to adversary= and take bandwidth=None" * isinstance(requirement, BTPrivacy)
        raise ValueError(
            f"{owner}: {requirement!r} is fitted to all records of a view, and from disk a block has its own alone; publish and "
            f"verify in memory{instead}."
        )
