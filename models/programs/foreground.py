"""What published groups teach of the population, as a PyMC model: the global distribution of an attribute set is unknown."""

from typing import TYPE_CHECKING

import numpy as np

from foreknow.models.foreground.evidence import Evidence
from foreknow.models.problem import Problem
from foreknow.models.programs.release import Unknown, model_of

if TYPE_CHECKING:
    import pymc as pm


def foreground_model(evidence: Evidence, concentration: float = 10.0) -> "pm.Model":
    """Return the law that foreground knowledge is learned under: signatures' distributions, and the groups they make likely.

    Everybody's value is drawn from the distribution of the own signature, and each group's values are published without
    saying whose they are. The distributions are unknown, each ``Dirichlet(concentration * evidence.rest)``: the whole
    table's shares, as `GibbsSampling` with a given concentration has it. People of signature -1 have ``evidence.rest``.

    Parameters
    ----------
    evidence : Evidence
        The groups, and who matches which signature of one attribute set.
    concentration : float
        How many people's values the table's shares weigh against a signature's own.

    Returns
    -------
    pymc.Model
        With the variables

        - ``global_distribution``, dims ``signature, value``;
        - ``published``, observed, dims ``group, value``: the multisets;
        - ``belief``, dims ``release, respondent, value``: the exact posterior of everybody, given the global distribution.
          There is one release; respondents are the evidence's rows.

    Raises
    ------
    ValueError
        If nobody has a signature, ``evidence.rest`` gives a value no probability, or the concentration is not positive.
    TooLarge
        If a group has too many states for the exact posterior.

    Notes
    -----
    It is `release_model` with a class for each signature, and says the same of what is exact, and of its cost. A
    concentration to be learned, or signatures that share what their values have in common, are for the reader to add.

    R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, arXiv:0905.1755, Definitions 1 to 3; that the distribution has a posterior is
    ours.

    Examples
    --------
    The groups of their Example 2:

    >>> group, counts = np.repeat([0, 1, 2], 2), np.array([[1, 1], [1, 1], [0, 2]])
    >>> model = foreground_model(Evidence(np.array([0, 1, 0, 0, 1, 1]), group, counts, np.array([1 / 3, 2 / 3])))
    >>> model.free_RVs, model.observed_RVs, model.deterministics
    ([global_distribution], [published], [belief])
    """
    s, m = evidence.signatures, len(evidence.rest)
    if s == 0 or not (evidence.rest > 0).all():
        raise ValueError(
            f"foreground_model has {s} signatures and the rest's distribution {np.round(evidence.rest, 6).tolist()}; it needs a "
            "signature, and a probability over 0 for every value. Leave out values that no group shows."
        )
    weights, known = np.vstack([np.eye(s), np.zeros(s)]), np.vstack([np.zeros((s, m)), evidence.rest])
    problem = Problem(known[np.full(len(evidence.group), s)], evidence.group, evidence.counts)
    unknown = Unknown("global_distribution", "signature", weights, evidence.row, known)
    return model_of([problem], unknown, np.tile(concentration * evidence.rest, (s, 1)))
