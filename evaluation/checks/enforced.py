"""Requirements that a defense enforces on each published group, as the independent checker knows them."""

from dataclasses import fields, is_dataclass
from typing import Any

from foreknow.defenses import (
    MASK,
    UHRA,
    AllOf,
    Anatomy,
    Defense,
    FrequencyDiversity,
    Injector,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Requirement,
)

RELAXING = ("relax",)
"""Rules for leftovers by which some groups do not satisfy the requirement."""


def enforced_requirement(defense: Defense) -> Requirement | None:
    """Requirement of every group that a defense publishes; None for a defense that states none."""
    requirement = getattr(defense, "requirement", None)
    if isinstance(requirement, Requirement):
        return requirement
    if isinstance(defense, MASK):
        # With a sensitive set, no requirement of the checker has the bound of the set.
        return (
            KAnonymity(defense.k) & FrequencyDiversity(defense.l)
            if defense.sensitive_set is None
            else KAnonymity(defense.k)
        )
    if isinstance(defense, Anatomy):
        return FrequencyDiversity(defense.l) if defense.sensitive_set is None else KAnonymity(defense.l)
    if isinstance(defense, Injector):
        return FrequencyDiversity(defense.l)
    return FrequencyDiversity(defense.m) if isinstance(defense, MInvariance) else None


def unchecked_promises(defense: Defense) -> list[str]:
    """Promises of a defense that `enforced_requirement` does not express, as sentences."""
    said = []
    if isinstance(defense, UHRA | KPrimacy):
        said.append(f"The priors of any two members of a group diverge by at most {defense.j:g}.")
    if isinstance(defense, Injector):
        said.append(f"Each record has at least {defense.l} possible values under the negative rules of the view.")
    if getattr(defense, "sensitive_set", None) is not None:
        said.append("The bound on the sensitive set.")
    if not said and enforced_requirement(defense) is None:
        said.append("All promises of this defense: it states no requirement.")
    return said


def relaxes(defense: Defense) -> bool:
    """True if a defense publishes leftovers in groups that do not satisfy its requirement."""
    return getattr(defense, "leftovers", None) in RELAXING


def conjuncts(requirement: Requirement) -> tuple[Requirement, ...]:
    """Requirements that must all hold."""
    return requirement.parts if isinstance(requirement, AllOf) else (requirement,)


def parameters_of(requirement: Requirement) -> dict[str, Any]:
    """Settings of a requirement by name: numbers and texts as they are, anything else as text."""
    if not is_dataclass(requirement):
        return {}
    given = {each.name: getattr(requirement, each.name) for each in fields(requirement) if each.init}
    return {name: value if isinstance(value, int | float | str) else repr(value) for name, value in given.items()}
