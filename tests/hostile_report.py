"""A report whose respondents, values, times and notes are markup."""

from functools import cache

import numpy as np
import pandas as pd

from foreknow.app import report
from foreknow.models import Adversary, Enumeration, History, MarkovChain, Numeric, Release, Schema, UniformPrior

SCRIPT = "<script>alert(1)</script>"
ATTRIBUTE = '"><img src=x onerror=alert(1)>'
HOSTILE = Adversary(UniformPrior(), MarkovChain(1, np.array([[0.9, 0.1], [0.1, 0.9]])))


@cache
def hostile(names=True):
    """A report of two respondents, who share a group at the first release and are alone at the second."""
    cells = (SCRIPT, ATTRIBUTE)
    rows = [(cell, time, cell) for time in ("1 </script>", "2 </script>") for cell in cells]
    frame = pd.DataFrame(rows, columns=["id", "week", "result"]).assign(age=1)
    history = History.read(frame, Schema({"age": Numeric(0, 9)}, "result", (ATTRIBUTE, SCRIPT)))
    releases = [Release(history[0], [0, 0]), Release(history[1], [0, 1])]
    notes = [f"a note {SCRIPT}"]
    return report(
        releases,
        HOSTILE,
        lambda _: HOSTILE,
        solver=Enumeration(),
        stricter=0,
        draws=20,
        names=names,
        notes=notes,
        rng=1,
    )
