"""Adversary models as PyMC programs: functions that return a ``pymc.Model``, to be read, sampled and changed.

Each file is named for what its model treats as unknown; ``history_model`` has class frequencies and transitions, for all releases
of a small history together. `ProgramEstimator` makes an estimator of a program, `observe_groups` makes a program learn from the
release, `release_predictive` compares simulated multisets with the published ones, and `calibration_ranks` tests a program by
simulation. PyMC is imported when a model is made, not before.
"""

from foreknow.models.programs.history_model import HistoryRecords, history_model
from foreknow.models.programs.program_estimator import ProgramEstimator
from foreknow.models.programs.published_groups import observe_groups
from foreknow.models.programs.release_predictive import release_predictive
from foreknow.models.programs.simulation_calibration import (
    CalibrationRanks,
    PosteriorDraws,
    ProgramPosterior,
    calibration_ranks,
)
from foreknow.models.programs.unknown_assignment import permutation_model
from foreknow.models.programs.unknown_prior import foreground_model, prior_model, release_model
from foreknow.models.programs.unknown_reliability import compromised_model
from foreknow.models.programs.unknown_transitions import hierarchical_markov_model, markov_model

__all__ = [
    "CalibrationRanks",
    "HistoryRecords",
    "PosteriorDraws",
    "ProgramEstimator",
    "ProgramPosterior",
    "calibration_ranks",
    "compromised_model",
    "foreground_model",
    "hierarchical_markov_model",
    "history_model",
    "markov_model",
    "observe_groups",
    "permutation_model",
    "prior_model",
    "release_model",
    "release_predictive",
]
