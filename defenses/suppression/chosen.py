"""Which items of a group are left out when its search ends, whether it found a solution or not."""

from collections.abc import Iterator

from foreknow.defenses.requirements.label_levels import diversity_ratio, label_distance
from foreknow.defenses.requirements.qs_diversity import QSDiversity
from foreknow.defenses.requirements.requirement import ROUNDING, Infeasible
from foreknow.defenses.suppression.claims import LabelRequirement
from foreknow.defenses.suppression.item_search import ItemSearch
from foreknow.defenses.suppression.label_state import LabelState, set_removed, shortfall
from foreknow.models.arrays import BoolArray, FloatArray


def chosen(search: ItemSearch, whose: str, parts: tuple[LabelRequirement, ...]) -> BoolArray:
    """The cells of the best solution, shape ``(s,)``; all cells where there is none and that satisfies.

    The search is spent. ``whose`` names the group in messages; ``parts`` are what it was searched for.

    Raises
    ------
    Infeasible
        If there is no solution, and not even the removal of everything satisfies.
    """
    if search.best is not None:
        return search.best
    state = search.state
    everything = state.removed | True
    set_removed(state, everything)
    if shortfall(state, search.claims) == 0.0:
        return everything
    set_removed(state, ~everything)
    tried = (
        f"no choice of its {len(everything)} items to leave out helps. Ask for less, or make larger groups."
        if search.finished
        else f"neither does leaving out all of its items help, nor any of the {search.examined} choices examined. Allow more "
        "seconds or nodes, ask for less, or make larger groups."
    )
    raise Infeasible(f"ItemSuppression: {whose} does not satisfy {_failed(state, search, parts)}, and {tried}")


def _failed(state: LabelState, search: ItemSearch, parts: tuple[LabelRequirement, ...]) -> str:
    """Which parts of what is asked a group fails, in words: each with its level and what that must be."""
    priors = iter(search.claims.prior)
    levels = [(part, _level(part, state, priors)) for part in parts]
    failed = [(part, level) for part, level in levels if not level <= part.bound + ROUNDING]
    return ", ".join(f"{part!r} (is {level:.4g}, must be {part.sense} {part.bound:g})" for part, level in failed)


def _level(part: LabelRequirement, state: LabelState, priors: Iterator[FloatArray]) -> float:
    if isinstance(part, QSDiversity):
        return float(diversity_ratio(state.belief, int(part.l), part.as_printed))
    return float(label_distance(state.belief, next(priors)))
