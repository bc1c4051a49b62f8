"""Simulated histories with their exact knowledge."""

from typing import NamedTuple

from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.priors import Prior
from foreknow.models.tables.history import History


class Simulation(NamedTuple):
    """Simulated history, with the exact distributions that generated it.

    Attributes
    ----------
    history : History
        Original records.
    prior : Prior
        Distribution of the first value of each respondent: BK^sv, exact.
    transitions : MarkovChain
        Distribution of each value given the value before: BK^seq, exact.
    """

    history: History
    prior: Prior
    transitions: MarkovChain
