"""PyMC model of foreground knowledge: published groups under an unknown global distribution of an attribute set."""

from typing import TYPE_CHECKING

import numpy as np

from foreknow.models.estimators.arguments import check_positive
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.problem import Problem
from foreknow.models.programs.distribution_table import DistributionTable, published_groups_model
from foreknow.models.settings import check_kind

if TYPE_CHECKING:
    import pymc as pm


def foreground_model(evidence: Evidence, concentration: float = 10.0) -> "pm.Model":
    """Return the joint law of the signatures' distributions and the published groups.

    Each respondent's value is drawn from the distribution of the respondent's signature, and each group publishes the multiset
    of its values. The distributions are unknown, each ``Dirichlet(concentration * evidence.rest)``: centred at the whole
    table's frequencies, as in `GibbsSampling` with a given concentration. Respondents of signature -1 have the distribution
    ``evidence.rest``.

    Parameters
    ----------
    evidence : Evidence
        Groups and signatures of one attribute set.
    concentration : float
        Weight of the whole table's frequencies, as a number of respondents of the signature.

    Returns
    -------
    pymc.Model
        With the variables

        - ``global_distribution``, dims ``signature, value``;
        - ``published``, observed, dims ``group, value``: the multisets;
        - ``belief``, dims ``release, respondent, value``: the exact posterior of each respondent, given the global
          distribution. There is one release; respondents are the evidence's rows.

    Raises
    ------
    TypeError
        If ``evidence`` is no `Evidence`.
    ValueError
        If no respondent has a signature, ``evidence.rest`` gives a value probability 0, or the concentration is not positive
        and finite.
    TooLarge
        If a group has too many states for the exact posterior.

    Notes
    -----
    The model is that of `release_model` with one class for each signature; exactness and cost are the same. An unknown
    concentration, or a distribution shared by signatures, can be added by the reader.

    R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, arXiv:0905.1755, Definitions 1 to 3. The prior on the distributions, and so their
    posterior, is ours.

    Examples
    --------
    The groups of their Example 2:

    >>> group, counts = np.repeat([0, 1, 2], 2), np.array([[1, 1], [1, 1], [0, 2]])
    >>> model = foreground_model(Evidence(np.array([0, 1, 0, 0, 1, 1]), group, counts, np.array([1 / 3, 2 / 3])))
    >>> model.free_RVs, model.observed_RVs, model.deterministics
    ([global_distribution], [published], [belief])
    """
    takes = "is an Evidence; make one by Evidence(signature, group, counts, rest)"
    check_kind("foreground_model", "evidence", evidence, Evidence, takes)
    check_positive("foreground_model", "concentration", concentration, "a number of respondents; the default is 10")
    s, m = evidence.signatures, len(evidence.rest)
    if s == 0 or not (evidence.rest > 0).all():
        raise ValueError(
            f"foreground_model has {s} signatures and the rest's distribution {np.round(evidence.rest, 6).tolist()}; it needs a "
            "signature, and a positive probability for every value. Leave out values that no group shows."
        )
    weights, known = np.vstack([np.eye(s), np.zeros(s)]), np.vstack([np.zeros((s, m)), evidence.rest])
    problem = Problem(known[np.full(len(evidence.group), s)], evidence.group, evidence.counts)
    table = DistributionTable("global_distribution", "signature", weights, evidence.row, known)
    return published_groups_model([problem], table, np.tile(float(concentration) * evidence.rest, (s, 1)))
