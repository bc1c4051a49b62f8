"""BayFrame's model as printed, one parameter per assignment: a PyMC program for groups small enough to list them."""

import math
from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.dirichlet_multinomial import TIE
from foreknow.models.problem import Problem

if TYPE_CHECKING:
    import pymc as pm

MOST_ASSIGNMENTS = 5040
"""How many assignments are listed: those of 7 people."""


def permutation_model(problem: Problem, concentration: "float | Callable[[], Any]" = 1.0) -> "pm.Model":
    """Return BayFrame's law of one group's assignments: a Dirichlet distribution over them, and one draw from it.

    All k! assignments of the published values to the k respondents share probability by ``shares ~ Dirichlet(a)``. One
    of them is drawn, and it was the one whose priors have the largest sum. The parameter of an assignment is the
    concentration plus the evidence (pseudo-counts) of the pairs it contains. A constant model has no evidence, a cascaded
    one has, and in a hierarchical one the concentration is itself unknown.

    Parameters
    ----------
    problem : Problem
        With one group, of at most 7 respondents; respondents of group -1 are left out. Its evidence is read.
    concentration : float, or function without arguments
        A number, or what adds a random variable to the model: ``lambda: pm.Gamma("concentration", 10, 5)``.

    Returns
    -------
    pymc.Model
        With the variables

        - ``shares``, dim ``assignment``: the probability of each assignment. Its coordinate says which published value
          each respondent has, in their order: ``"1 0 2"``. Published values are numbered from 0 in the order of the
          sensitive domain; equal ones are told apart, as printed;
        - ``drawn``, observed, dim ``assignment``: 1 at the best assignment (where several are, the first in the order of
          the coordinate), 0 elsewhere;
        - ``belief``, dims ``respondent, value``: the sum of the shares of all assignments in which the respondent, by its
          row in the problem, has the value.

    Raises
    ------
    ValueError
        If the problem has not exactly one group with somebody in it, or too many assignments; or the concentration is not
        positive and finite.

    Notes
    -----
    Amiri et al., Transactions on Data Privacy 12 (2019), section 4.3.1 (the draw) and Definition 6 (the evidence). The
    hierarchical form is ours. With a number as concentration the posterior mean of ``belief`` is known in closed form at
    any group size: `DirichletMultinomial` with ``ties="first"`` has it, where the best assignment is unique. This program
    is there to be read, changed, and held against it. Cost of a density: O(k!).

    NUTS does well up to 5 respondents (120 shares). Where an unknown concentration may come near 0, as with an exponential
    prior, shares and concentration make a funnel that it explores badly from 4 on; R-hat tells.

    Examples
    --------
    >>> import numpy as np
    >>> prior = np.array([[0.7, 0.3], [0.5, 0.5]])
    >>> model = permutation_model(Problem(prior, np.array([0, 0]), np.array([[1, 1]])))
    >>> model.coords["assignment"], model.free_RVs
    (('0 1', '1 0'), [shares])
    """
    import pymc as pm
    import pytensor.tensor as pt

    _check(problem, concentration)
    rows = np.flatnonzero(problem.group == 0)
    values = problem.prior.shape[1]
    published = np.repeat(np.arange(values), problem.counts[0])
    assignments = np.array(list(permutations(range(len(rows)))), dtype=np.int64)
    given = published[assignments]
    coords = {
        "assignment": [" ".join(map(str, assignment)) for assignment in assignments],
        "respondent": rows,
        "value": range(values),
    }
    with pm.Model(coords=coords) as model:
        concentration = concentration() if callable(concentration) else concentration
        shares = pm.Dirichlet("shares", concentration + _evidence(problem, rows, given), dims="assignment")
        pm.Multinomial("drawn", n=1, p=shares, observed=_best(problem.prior[rows], given), dims="assignment")
        pm.Deterministic(
            "belief", pt.stack([shares @ (given == s) for s in range(values)], axis=1), dims=("respondent", "value")
        )
    return model


def _best(prior: FloatArray, given: IntArray) -> IntArray:
    """1 at the first assignment with the largest sum of priors, 0 elsewhere: int array, shape ``(k!,)``."""
    sums = prior[np.arange(len(prior)), given].sum(axis=1)
    best = int(np.argmax(sums >= sums.max() - TIE * len(prior)))
    return np.asarray(np.arange(len(given)) == best, dtype=np.int64)


def _evidence(problem: Problem, rows: IntArray, given: IntArray) -> FloatArray:
    """The pseudo-counts of the pairs in each assignment: float array, shape ``(k!,)``."""
    if problem.evidence is None:
        return np.zeros(len(given))
    return np.asarray(problem.evidence[rows, given].sum(axis=1))


def _check(problem: Problem, concentration: "float | Callable[[], Any]") -> None:
    if len(problem.counts) != 1 or not problem.sizes[0]:
        raise ValueError(
            f"the problem has {len(problem.counts)} groups, with {problem.sizes.tolist()} respondents; permutation_model lists "
            "the assignments of one. Make a problem of each group, or use DirichletMultinomial, which takes them all."
        )
    if math.factorial(size := int(problem.sizes[0])) > MOST_ASSIGNMENTS:
        raise ValueError(
            f"the group has {size} respondents and {size}! = {float(math.factorial(size)):.3g} assignments; permutation_model "
            f"lists at most {MOST_ASSIGNMENTS}. DirichletMultinomial has the closed form, for groups of any size."
        )
    if not callable(concentration) and not (np.isfinite(concentration) and concentration > 0):
        raise ValueError(
            f"the concentration is {concentration}; it is a positive number, or a function that adds a random variable to "
            'the model, as lambda: pm.Gamma("concentration", 10, 5).'
        )
