"""Bounds on beliefs against enumeration: random worlds of 2 to 4 respondents, whose outcomes are drawn.

A row has the number of worlds and of beliefs, the largest belief less its bound, and the number of worlds in which a belief takes
more than .95 of the shift of log odds from the share that its bound allows.
"""

import sys
from pathlib import Path

import pandas as pd

from foreknow.evaluation import bound
from foreknow.evaluation.cells import Experiment

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from bounds_oracle import compared, random_world

WORLDS, OUTCOMES = 500, 3


def beliefs_and_bounds(_cell, rng):
    """Beliefs of some worlds beside their bounds."""
    found = pd.DataFrame([compared(random_world(rng), bound, OUTCOMES, rng) for _ in range(WORLDS)])
    reached = int((found["reached"] > 0.95).sum())
    row = {"worlds": WORLDS, "beliefs": found["beliefs"].sum(), "excess": found["excess"].max(), "reached": reached}
    return pd.DataFrame([row])


TINY_WORLDS = Experiment("tiny_worlds", beliefs_and_bounds, [{"part": part} for part in range(200)])
