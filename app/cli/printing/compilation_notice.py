"""A notice before the first attack or publication on a machine, which compiles kernels for up to a minute."""

from collections.abc import Callable
from typing import Any

from foreknow.app.cli.printing.terminal import notice
from foreknow.defenses import BKAA, MASK, UHRA, Defense, Injector, KPrimacy, Mondrian
from foreknow.defenses.algorithms.nearest_point import build_tree
from foreknow.defenses.injector import bucketize
from foreknow.defenses.mondrian import cut_parts
from foreknow.models.arrays import is_on_disk, keeps_code
from foreknow.models.estimators.assignments import group_beliefs
from foreknow.models.joint.group_visit import sweep_over

SWEEP_OVER = ("group-messages", "max-entropy")
"""Joint solvers with the kernel `sweep_over`, as has the learning from releases."""

GROUP_BELIEFS = ("auto", "exact")
"""Estimators with the kernel `group_beliefs`."""

PUBLICATIONS: dict[tuple[type, ...], Callable[..., Any]] = {
    (Mondrian, MASK): cut_parts,
    (BKAA, UHRA, KPrimacy): build_tree,
    (Injector,): bucketize,
}
"""A kernel of the defenses that compile for more than some seconds."""


def notice_compilation(solver: str | None = None, estimator: str = "auto", learns: bool = True) -> None:
    """Print a notice if an attack will compile its kernels.

    Parameters
    ----------
    solver, estimator : str
        Their names on the command line; no solver without a joint attack.
    learns : bool
        True if an adversary learns from the releases.
    """
    if learns or solver in SWEEP_OVER:
        notice_if_compiled(sweep_over)
    elif estimator in GROUP_BELIEFS:
        notice_if_compiled(group_beliefs)


def notice_publication(defense: Defense) -> None:
    """Print a notice if a publication will compile its kernels; those of the other defenses take two seconds or none."""
    for kinds, kernel in PUBLICATIONS.items():
        if isinstance(defense, kinds):
            notice_if_compiled(kernel, "some 20 seconds")


def notice_if_compiled(kernel: Callable[..., Any], duration: str = "about a minute") -> None:
    """Print a notice if a kernel will be compiled when it is called, with the time that all kernels beside it take."""
    if is_on_disk(kernel):
        return
    later = (
        "later runs take seconds"
        if keeps_code(kernel)
        else "no folder is writable to keep them, name one in NUMBA_CACHE_DIR"
    )
    notice(f"Compiling kernels once, {duration}; {later}.")
