"""Adversary models as PyMC programs: functions that return a ``pymc.Model``, to be read, sampled and changed.

Each file is named for what its model treats as unknown. PyMC is imported when a model is made, not before.

- ``unknown_prior``: the priors of respondents, from class frequencies or transitions;
- ``unknown_global_distribution``: the distributions of signatures (foreground knowledge);
- ``unknown_transitions``: the transitions of a Markov chain;
- ``hierarchical_transitions``: the transitions of each class of respondents, partially pooled;
- ``prior_regression``: the prior, as a regression on quasi-identifiers;
- ``unknown_reliability``: the reliability of a source of compromised records;
- ``unknown_assignment``: the assignment of one group, as BayFrame prints it;
- ``history_model``: class frequencies and transitions, for all releases of a small history together.

``program_estimator`` makes an estimator of a program: `ProgramEstimator`. ``published_groups`` makes a program learn from the
release: `observe_groups`. ``release_predictive`` compares
simulated multisets with the published ones. ``simulation_calibration`` tests a program by simulation: `calibration_ranks`, of the
draws that ``program_posterior`` makes. The other files hold what several share:

- ``release_parts``, ``program_checks`` and ``part_summary``: the groups that a program is sampled for, checks of its model and
  draws, and their summary;
- ``compiled_program``, ``program_samplers`` and ``program_cache``: compiled programs, sampled again with the data of equal models;
- ``distribution_table``: a model of published groups whose priors follow from a table of unknown distributions;
- ``missing_visits``: counts and stretches of sequences with missing values;
- ``log_permanent`` and ``group_weights``: the log-probability of published multisets as a PyTensor operation, and its kernel.
"""

from foreknow.models.programs.history_model import history_model
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
