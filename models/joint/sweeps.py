"""Sweeps of block coordinate ascent over the groups whose messages have changed."""

from collections.abc import Callable

from foreknow.models.arrays import FloatArray, compiled
from foreknow.models.joint.group_visit import Scratch, visit
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.messages import Factors, Messages
from foreknow.models.progress import no_step

MAX_SCALINGS = 500
"""Largest number of rounds of scaling of a group for each visit."""

SCALED_TO = 0.9
"""Deviation to which a visit scales the tilts of a group, as a share of the tolerance: scaling further is undone by neighbours."""

FIRST_CHANGE = 1.0
"""Change of the messages to a group, in total variation, over which the first sweeps visit it."""

CHANGE_FACTOR = 3.0
"""Factor by which this threshold decreases once no group exceeds it."""


def thresholds(tolerance: float) -> list[float]:
    """Thresholds of the changes of messages: from `FIRST_CHANGE` down to the first one that is at most a tolerance."""
    found = [FIRST_CHANGE]
    while found[-1] > tolerance:
        found.append(found[-1] / CHANGE_FACTOR)
    return found


def fit_tilts(
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    gap: FloatArray,
    tolerance: float,
    max_visits: float,
    step: Callable[[], None] = no_step,
) -> int:
    """Fit the tilts of the first ``groups`` groups until all expected counts are within a tolerance; return the number of visits.

    Sweeps go forward and backward in time, and visit the groups whose messages have changed by more than a threshold since their
    last visit. The threshold decreases until every group meets the tolerance.

    Parameters
    ----------
    groups : int
    at, factors, messages, scratch, pending
        As for `visit`; the last three are overwritten. ``pending`` is infinite for groups that were never visited.
    gap : float array, shape (G,)
        Overwritten with the deviation of each group, as `visit` returns it.
    tolerance : float
    max_visits : float
        Number of visits at which the iteration stops; checked after each sweep.
    step : callable
        Called before the sweeps of each threshold. Most laws need those of `thresholds`, some need smaller ones.
    """
    visits, change = 0, FIRST_CHANGE
    while visits < max_visits and change >= tolerance * 1e-6:
        step()
        visits += sweep_over(
            groups, at, factors, messages, scratch, pending, change, tolerance * SCALED_TO, max_visits - visits
        )
        if change <= tolerance and measure_gaps(gap, groups, at, factors, messages, scratch, pending) <= tolerance:
            return visits
        change /= CHANGE_FACTOR
    measure_gaps(gap, groups, at, factors, messages, scratch, pending)
    return visits


@compiled
def sweep_over(
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    change: float,
    tolerance: float,
    max_visits: float,
) -> int:
    """Sweep until no group has messages that changed by more than ``change``; return the number of visits."""
    visits, made = 0, 1
    while made > 0 and visits < max_visits:
        made = _sweep(groups, at, factors, messages, scratch, pending, change, tolerance)
        visits += made
    return visits


@compiled
def _sweep(
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
    change: float,
    tolerance: float,
) -> int:
    """Visit the groups whose messages changed by more than ``change``, forward and then backward; return their number."""
    visits = 0
    records = at.group_starts[groups]
    for step in range(2 * groups):
        g = step if step < groups else 2 * groups - 1 - step
        if pending[g] > change:
            visit(g, records, at, factors, messages, scratch, pending, MAX_SCALINGS, tolerance)
            visits += 1
    return visits


@compiled
def measure_gaps(
    gap: FloatArray,
    groups: int,
    at: Layout,
    factors: Factors,
    messages: Messages,
    scratch: Scratch,
    pending: FloatArray,
) -> float:
    """Deviation of the counts of each of the first ``groups`` groups, written to ``gap``; return the largest."""
    largest = 0.0
    for g in range(groups):
        gap[g] = visit(g, at.group_starts[groups], at, factors, messages, scratch, pending, 0, 0.0)
        largest = max(largest, gap[g])
    return largest
