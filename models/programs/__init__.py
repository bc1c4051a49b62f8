"""Adversary models as PyMC programs, to be read, sampled and changed."""

from foreknow.models.programs.compromised import compromised_model
from foreknow.models.programs.foreground import foreground_model
from foreknow.models.programs.markov import markov_model
from foreknow.models.programs.permutation import permutation_model
from foreknow.models.programs.release import release_model

__all__ = ["compromised_model", "foreground_model", "markov_model", "permutation_model", "release_model"]
