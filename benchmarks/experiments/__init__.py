"""Experiments whose cells are kept in benchmarks/cells.

An experiment has a module of its own, so that a new one leaves the cells of others current, and a place in `EXPERIMENTS`.
`make cells` measures its cells; commit their files.
"""

from experiments.calibration import CALIBRATION, CORPUS_SIZE
from experiments.cohorts import COHORTS, COHORTS_PRESENCE, HIDDEN_DEPARTURES
from experiments.defenders import DEFENDERS
from experiments.defenses_and_adversaries import DEFENSES_AND_ADVERSARIES
from experiments.groups_or_noise import GROUPS_OR_NOISE
from experiments.groups_or_noise_attacks import GROUPS_OR_NOISE_ATTACKS
from experiments.groups_or_noise_more import MORE
from experiments.joint_solvers import JOINT_SOLVER_ACCURACY
from experiments.m_invariance import M_INVARIANCE
from experiments.parts_of_knowledge import PARTS
from experiments.presence import PRESENCE
from experiments.redrawn_worlds import REDRAWN_WORLDS
from experiments.rules import RULE_ERRORS
from experiments.tiny_worlds import TINY_WORLDS

EXPERIMENTS = (
    JOINT_SOLVER_ACCURACY,
    REDRAWN_WORLDS,
    DEFENSES_AND_ADVERSARIES,
    M_INVARIANCE,
    RULE_ERRORS,
    PRESENCE,
    DEFENDERS,
    COHORTS,
    COHORTS_PRESENCE,
    HIDDEN_DEPARTURES,
    CALIBRATION,
    CORPUS_SIZE,
    *PARTS,
    TINY_WORLDS,
    GROUPS_OR_NOISE,
    *MORE,
    GROUPS_OR_NOISE_ATTACKS,
)
