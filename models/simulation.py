"""A history whose laws are known, because they made it."""

from typing import NamedTuple

from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.priors import Prior
from foreknow.models.tables.history import History


class Simulation(NamedTuple):
    """A simulated history, with the exact knowledge behind it.

    Attributes
    ----------
    history : History
        The original records.
    prior : Prior
        The law by which a respondent's first value was drawn: BK^sv, exact.
    transitions : MarkovChain
        The law by which each value followed the one before: BK^seq, exact.
    """

    history: History
    prior: Prior
    transitions: MarkovChain
