"""Settings of a report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReportSettings:
    """Settings of a report.

    Attributes
    ----------
    sure : float
        Belief from which an adversary is sure.
    level : float
        Probability of an interval.
    draws : int
        Number of bootstrap draws.
    names : bool
        If True, the page has the identifiers of respondents, otherwise pseudonyms.
    stricter : int
        Number of stricter settings that are tried, from 0 to 3.
    seed : int
        Seed of the bootstrap, of samples, and of trial publications.
    details : {"informed", "learned"} or None
        The adversary of the tables of respondents and groups, the explorer, the leak, and the influence. None: the one who
        exposes more respondents, the informed one if both expose as many.
    """

    sure: float = 0.9
    level: float = 0.9
    draws: int = 200
    names: bool = False
    stricter: int = 3
    seed: int = 0
    details: str | None = None
