"""Experiments whose cells are kept, and from which the documentation has its numbers.

An experiment has a module of its own, so that a new one leaves the cells of others current, and a place in `EXPERIMENTS`.
`make cells` measures its cells, and writes the tables of the documentation (`pages`); commit both.
"""

import os

from experiments.calibration import CALIBRATION, CORPUS_SIZE
from experiments.cascades import PANEL, SMALL
from experiments.cohorts import COHORTS, COHORTS_PRESENCE, HIDDEN_DEPARTURES
from experiments.defenders import DEFENDERS
from experiments.groups_or_noise import AGAIN, GROUPS_OR_NOISE
from experiments.groups_or_noise_attacks import BY_VALUE, GROUPS_OR_NOISE_ATTACKS
from experiments.groups_or_noise_more import MORE
from experiments.joint_solvers import JOINT_SOLVER_ACCURACY
from experiments.knowledge_of_pbc import KNOWLEDGE_OF_PBC
from experiments.known_rule import INSIDERS_OF_BUCKETS, KNOWN_RULE
from experiments.learned_law import LEARNED_LAW
from experiments.m_invariance import M_INVARIANCE
from experiments.parts_of_knowledge import PARTS
from experiments.presence import PRESENCE, THRESHOLDS
from experiments.purchases import PURCHASES
from experiments.redrawn_worlds import REDRAWN_WORLDS
from experiments.revisions import COUNTED_TWICE, NOTHING_TO_LEARN, REVISIONS
from experiments.rules import RULE_ERRORS
from experiments.tiny_worlds import TINY_WORLDS
from experiments.uncertain_law import UNCERTAIN_LAW
from experiments.without_knowledge import WITHOUT_KNOWLEDGE
from foreknow.evaluation.papers.figures import ADULT, FOLDER_OF_ADULT

EXPERIMENTS = (
    JOINT_SOLVER_ACCURACY,
    REDRAWN_WORLDS,
    M_INVARIANCE,
    RULE_ERRORS,
    SMALL,
    PANEL,
    PRESENCE,
    THRESHOLDS,
    DEFENDERS,
    COHORTS,
    COHORTS_PRESENCE,
    HIDDEN_DEPARTURES,
    CALIBRATION,
    CORPUS_SIZE,
    *PARTS,
    LEARNED_LAW,
    KNOWLEDGE_OF_PBC,
    PURCHASES,
    UNCERTAIN_LAW,
    WITHOUT_KNOWLEDGE,
    KNOWN_RULE,
    INSIDERS_OF_BUCKETS,
    COUNTED_TWICE,
    NOTHING_TO_LEARN,
    REVISIONS,
    TINY_WORLDS,
    GROUPS_OR_NOISE,
    AGAIN,
    *MORE,
    GROUPS_OR_NOISE_ATTACKS,
    BY_VALUE,
)


def measurable():
    """Experiments whose data is here: those on Adult need the environment variable `FOLDER_OF_ADULT`."""
    return [each for each in EXPERIMENTS if each.data != ADULT or FOLDER_OF_ADULT in os.environ]
