"""A notice before the first attack or publication on a machine, which compiles kernels for up to a minute."""

from collections.abc import Callable
from typing import Any

from foreknow.app.cli.printing.terminal import notice
from foreknow.models.compilation_cache import is_on_disk, keeps_code
from foreknow.models.estimators.assignments import group_beliefs
from foreknow.models.joint.messages import sweep_over

SWEEP_OVER = ("group-messages", "max-entropy")
"""Joint solvers with the kernel `sweep_over`, as has the learning from releases."""

GROUP_BELIEFS = ("auto", "exact")
"""Estimators with the kernel `group_beliefs`."""


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
