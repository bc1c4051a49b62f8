"""Error of views that cannot be published under a requirement, its checks, and the description of a failing group."""

from foreknow.defenses.requirements.combinations import AllOf
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import View
from foreknow.models.advice import VIEW, Advice


def shortfall(requirement: GroupPredicate, group: Summary) -> str:
    """Description of the parts that a group fails, each with its level, sense and bound, for error messages.

    ``group`` is a batch of length 1.
    """
    parts = requirement.predicates if isinstance(requirement, AllOf) else (requirement,)
    failing = [part for part in parts if not part(group)[0]]
    return ", ".join(f"{p!r} (is {p.level(group)[0]:.4g}, must be {p.sense} {p.bound:g})" for p in failing)


def check_size(letter: str, number: int, view: View) -> None:
    """Raise Infeasible if a view has fewer records than the least group size."""
    if number > len(view):
        raise Infeasible(
            Advice(
                f"{letter} is {number} and the ",
                VIEW,
                f" at {view.time!r} has {len(view)} records; lower {letter}, or publish more at once.",
            )
        )


def check_smallest(requirement: Requirement, view: View) -> None:
    """Raise Infeasible if a view has fewer records than a group that satisfies a requirement."""
    if requirement.smallest > len(view):
        raise Infeasible(
            Advice(
                f"{requirement!r} needs groups of {requirement.smallest} records, and the ",
                VIEW,
                f" at {view.time!r} has {len(view)}; lower the requirement, or publish more at once.",
            )
        )


class Infeasible(ValueError):  # noqa: N818 - the name says what is wrong
    """No publication of the view satisfies the settings of the defense."""
