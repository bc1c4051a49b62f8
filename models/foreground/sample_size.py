"""How many records must match a signature before its frequencies are trusted."""

import math
from dataclasses import dataclass

from foreknow.models.settings import is_number

FINEST = 1e-6
"""The smallest error that may be asked for: it takes more people than there are."""


@dataclass(frozen=True)
class SampleSize:
    """The fewest records of which a share is within ``epsilon`` of the truth, but for a chance of ``sigma`` at most.

    ``records >= ln(2 / sigma) / (2 epsilon^2)`` (Hoeffding's bound; foreground knowledge, Theorem 1).

    Parameters
    ----------
    epsilon : float
        The largest error, as a difference of probabilities; from `FINEST` to 1.
    sigma : float
        The largest probability of a larger error; from over 0 to 2. The paper calls it confidence: its .9 lets nine
        samples in ten miss.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    The bound is for a random sample whose values are seen. A signature's records are no random sample, and what is seen of
    their values is a group's: the number says nothing of either (`GibbsSampling` does).

    Examples
    --------
    >>> SampleSize(0.01, 0.9).records
    3993
    """

    epsilon: float = 0.01
    sigma: float = 0.9

    def __post_init__(self) -> None:
        if not is_number(self.epsilon, FINEST, 1):
            raise ValueError(
                f"SampleSize: epsilon is {self.epsilon!r}; it is a difference of probabilities, from {FINEST:g} to 1."
            )
        if not (is_number(self.sigma, 0, 2) and self.sigma > 0):
            raise ValueError(
                f"SampleSize: sigma is {self.sigma!r}; it is a probability, over 0 (above 2 it asks nothing)."
            )

    @property
    def records(self) -> int:
        """The fewest records, 1 or more."""
        return max(math.ceil((math.log(2) - math.log(self.sigma)) / (2 * self.epsilon**2)), 1)
