"""PyMC model of BayFrame as printed, with one parameter per assignment, for groups with few assignments."""

from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.assignments import SUM_TOLERANCE
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.problem import Problem
from foreknow.models.settings import MAX_FLOAT, is_number

if TYPE_CHECKING:
    import pymc as pm

MAX_MEMBERS = 7
"""Largest number of members of the group; they have 5,040 assignments."""


def permutation_model(problem: Problem, concentration: "float | Callable[[], Any]" = 1.0) -> "pm.Model":
    """Return BayFrame's law of one group's assignments: a Dirichlet distribution over them, and one draw from it.

    The k! assignments of the published values to the k members have the probabilities ``shares ~ Dirichlet(a)``. One
    assignment is drawn, and the draw is observed: it is the one with the largest sum of priors. The parameter of an assignment
    is the concentration plus the evidence (pseudo-counts) of its pairs. A constant model has no evidence, a cascaded
    model has evidence, and in a hierarchical model the concentration is unknown too.

    Parameters
    ----------
    problem : Problem
        With one group, of 1 to 7 members; respondents of group -1 are left out. Its evidence is read.
    concentration : float, or function without arguments
        A number, or a function that adds a random variable to the model and returns it:
        ``lambda: pm.Gamma("concentration", 10, 5)``.

    Returns
    -------
    pymc.Model
        With the variables

        - ``shares``, dim ``assignment``: the probability of each assignment. Its coordinate has the published value
          of each member, in their order: ``"1 0 2"``. Published values are numbered from 0 in the order of the
          sensitive domain; equal ones are distinguished, as printed;
        - ``drawn``, observed, dim ``assignment``: 1 at the best assignment (of several, the first in the order of
          the coordinate), 0 elsewhere;
        - ``belief``, dims ``respondent, value``: the sum of the shares of all assignments in which the respondent has the
          value. Respondents are rows of the problem.

        The arrays that depend on the problem are `pymc.Data`: ``holds``, ``evidence`` and ``best``.

    Raises
    ------
    TooLarge
        If the group has more than 7 members.

    Notes
    -----
    Amiri et al., Transactions on Data Privacy 12 (2019), section 4.3.1 (the draw) and Definition 6 (the evidence). The
    hierarchical form is ours. With a number as concentration and a unique best assignment, the posterior mean of ``belief`` is
    `DirichletMultinomial` with ``ties="first"``, in closed form at any group size. This program shows the model, can be
    changed, and tests the closed form. Cost of a density: O(k!).

    NUTS samples it well up to 5 members (120 shares). Where an unknown concentration may be close to 0, as with an exponential
    prior, shares and concentration form a funnel that NUTS explores badly from 4 members on; R-hat shows it.

    Examples
    --------
    >>> import numpy as np
    >>> prior = np.array([[0.7, 0.3], [0.5, 0.5]])
    >>> model = permutation_model(Problem(prior, np.array([0, 0]), np.array([[1, 1]])))
    >>> model.coords["assignment"], model.free_RVs
    (('0 1', '1 0'), [shares])
    """
    import pymc as pm

    if len(problem.counts) != 1 or not problem.sizes[0]:
        raise ValueError(
            f"the problem has {len(problem.counts)} groups, with {problem.sizes.tolist()} respondents; permutation_model lists "
            "the assignments of one. Make a problem of each group, or use DirichletMultinomial, which takes them all."
        )
    if (size := int(problem.sizes[0])) > MAX_MEMBERS:
        raise TooLarge(
            f"the group has {size} respondents, and permutation_model lists the {size}! assignments of at most {MAX_MEMBERS}. "
            "DirichletMultinomial has the closed form, for groups of any size."
        )
    if not callable(concentration) and not (is_number(concentration, 0, MAX_FLOAT) and concentration > 0):
        raise ValueError(
            f"the concentration is {concentration!r}; it is a positive number, or a function that adds a random variable to "
            'the model, as lambda: pm.Gamma("concentration", 10, 5).'
        )
    rows, values = np.flatnonzero(problem.group == 0), problem.prior.shape[1]
    published = np.repeat(np.arange(values), problem.counts[0])
    assignments = np.array(list(permutations(range(len(rows)))), dtype=np.int64)
    assigned = published[assignments]
    coords = {
        "assignment": [" ".join(map(str, assignment)) for assignment in assignments],
        "respondent": rows,
        "value": range(values),
    }
    pseudo_counts = np.zeros(len(assigned))
    if problem.evidence is not None:
        pseudo_counts = problem.evidence[rows, assigned].sum(axis=1)
    with pm.Model(coords=coords) as model:
        holds = pm.Data(
            "holds", assigned == np.arange(values)[:, None, None], dims=("value", "assignment", "respondent")
        )
        evidence = pm.Data("evidence", pseudo_counts, dims="assignment")
        best = pm.Data("best", _best(problem.prior[rows], assigned), dims="assignment")
        concentration = concentration() if callable(concentration) else float(concentration)
        shares = pm.Dirichlet("shares", concentration + evidence, dims="assignment")
        pm.Multinomial("drawn", n=1, p=shares, observed=best, dims="assignment")
        pm.Deterministic("belief", (shares @ holds).T, dims=("respondent", "value"))
    return model


def _best(prior: FloatArray, assigned: IntArray) -> IntArray:
    """1 at the first assignment with the largest sum of priors, 0 elsewhere: int array, shape ``(k!,)``."""
    sums = prior[np.arange(len(prior)), assigned].sum(axis=1)
    best = int(np.argmax(sums >= sums.max() - SUM_TOLERANCE * len(prior)))
    return np.asarray(np.arange(len(assigned)) == best, dtype=np.int64)
