"""Timed figures: imports and help texts, each in a fresh process; seconds are those of the processor."""

import resource
import subprocess
import sys
from collections.abc import Callable

from subjects import Figure

COMMAND = "import sys; from foreknow.app.cli.command_line import main; sys.argv = ['foreknow', *{}]; main()"


def spent(program: str) -> Callable[[], float]:
    """Processor time of a Python process that runs a program."""

    def work() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return work


START_FIGURES: dict[str, Figure] = {
    "start: import foreknow.models": Figure(0.5, lambda: spent("import foreknow.models"), own_clock=True),
    "start: View and History": Figure(None, lambda: spent("from foreknow.models import View, History"), own_clock=True),
    "start: all names of foreknow.models": Figure(None, lambda: spent("from foreknow.models import *"), own_clock=True),
    "start: foreknow --help": Figure(1.0, lambda: spent(COMMAND.format(["--help"])), own_clock=True),
    "start: foreknow publish --help": Figure(
        None, lambda: spent(COMMAND.format(["publish", "--help"])), own_clock=True
    ),
}
