"""Timed figures of PyMC programs on real data: four chains of NUTS to an R-hat under 1.01, in at most two minutes."""

import logging
import warnings
from collections.abc import Callable

from programs import PROGRAMS, largest_rhat, with_pymc
from subjects import Figure

MAX_RHAT = 1.01


def sampled(name: str) -> Callable[[], object]:
    """Sample a program by PyMC's NUTS; raises RuntimeError if an R-hat exceeds `MAX_RHAT`."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    program = PROGRAMS[name]
    model = program.build()

    def work() -> object:
        trace = with_pymc(model, program).trace
        found = largest_rhat(trace, program.variables)
        if found > MAX_RHAT:
            raise RuntimeError(f"the largest R-hat is {found:.4f}.")
        return trace

    return work


PROGRAM_FIGURES: dict[str, Figure] = {
    f"{name}: 4 chains of 1,000 draws, compiled and sampled": Figure(120.0, lambda name=name: sampled(name))
    for name in PROGRAMS
}
