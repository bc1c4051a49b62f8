"""PyMC model of releases in which the adversary's prior is unknown: class frequencies or transitions have a distribution."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import Problem, probability_rows
from foreknow.models.programs.arguments import as_arrays, as_floats
from foreknow.models.programs.distribution_table import DistributionTable, published_groups_model

if TYPE_CHECKING:
    import pymc as pm


def release_model(
    problems: Sequence[Problem],
    classes: Sequence[IntArray] | None = None,
    past: Sequence[FloatArray] | None = None,
    concentration: "float | FloatArray" = 1.0,
) -> "pm.Model":
    """Return the joint law of an adversary's unknown prior knowledge and the published groups.

    Each respondent's value is drawn from the respondent's prior row, and each group publishes the multiset of its values. The
    prior rows follow from a table of unknown distributions, each ``Dirichlet(concentration)``. The table has either the
    frequencies of each class, ``prior[i] = frequencies[classes[i]]``, or the transitions from the last value, which is
    believed with the probabilities ``past[i]``, ``prior[i] = past[i] @ transitions``. All releases have the same table.

    Parameters
    ----------
    problems : sequence of Problem
        One per release, as ``release.observation.problem(prior)`` or, for the beliefs of an attack,
        ``step.observation.problem(step.revised)`` gives it; all with the same m values. Groups and counts are read. **The
        prior is not**: the model has its own. Respondents of group -1 have no effect.
    classes : sequence of int array, shapes (n,)
        Class of each respondent in each release, 0 to c - 1.
    past : sequence of float array, shapes (n, m)
        Belief in each respondent's last value, for each release; for a respondent without one, the belief in the value of such
        respondents. Exactly one of ``classes`` and ``past`` is given.
    concentration : float, or float array of shape (c, m) or (m, m)
        Of all rows, or of each. Knowledge counted in a corpus is ``DirichletFrequencies.concentrations`` (reshaped to a row
        per class) or ``DirichletChain.concentrations[0]``.

    Returns
    -------
    pymc.Model
        With the variables

        - ``frequencies``, dims ``class, value``, or ``transitions``, dims ``last, value``;
        - ``published``, observed, dims ``group, value``: the multisets. A group's coordinate is ``"release:group"``. Its
          log-probability has one entry per group, so that `pymc.compute_log_likelihood` and ArviZ's ``loo`` and
          ``compare`` work; its draws are multisets of values drawn for the group's members;
        - ``belief``, dims ``release, respondent, value``: the exact posterior of each respondent, given the table. Its mean
          over the draws is the belief of an adversary who does not know the table. **A respondent is a row of the release's
          problem**, so that one coordinate means different respondents in different releases; values are positions in the
          domain. Where releases have different numbers of respondents there is one per release, ``belief_0``, with dims
          ``respondent_0, value``, and so on.

        The arrays ``counts``, ``weights`` and ``concentrations`` are `pymc.Data`.

    Raises
    ------
    TypeError
        If ``problems`` is no sequence of `Problem`, or classes, past or concentration are no numbers.
    ValueError
        Unless exactly one of classes and past is given, with one array per problem and one row per respondent. If the problems
        differ in their values, or have evidence; if a class is negative or has no concentration; or a concentration is not
        positive.
    TooLarge
        If a group has too many states for the exact posterior.

    Notes
    -----
    Exact: values are not sampled but summed over by `LogPermanent`. Given the table, groups and releases are independent. For
    ``classes`` this holds between releases if respondents differ or values are drawn anew. For ``past`` it holds as far as
    beliefs in last values contain all information of earlier releases, which is the approximation of `SequentialAttack`. The
    table is learned from the same groups that it explains.

    Cost of a density and its gradient: that of `Exact` for all groups, plus O(r c m). The draws of ``belief`` are n m
    numbers each; `pymc.sample(var_names=[...])` leaves them out.

    The random-assignment model is that of T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in
    Data Anonymization", ICDE 2009. The unknown prior is ours.

    Examples
    --------
    >>> import numpy as np
    >>> uniform = np.full((4, 2), 0.5)
    >>> release = Problem(uniform, np.array([0, 0, 1, 1]), np.array([[2, 0], [1, 1]]))
    >>> model = release_model([release], classes=[np.array([0, 0, 0, 1])])
    >>> model.free_RVs, model.observed_RVs, model.deterministics
    ([frequencies], [published], [belief])
    """
    _check_problems(problems)
    if (classes is None) == (past is None):
        raise ValueError(
            f"{'neither' if classes is None else 'both'} of classes and past are given; release_model needs one: classes, if "
            "frequencies are unknown, or past, if transitions are."
        )
    unknown = _frequencies(problems, classes, concentration) if past is None else _transitions(problems, past)
    return published_groups_model(problems, unknown, concentration)


def _check_problems(problems: Any) -> None:
    if not isinstance(problems, Sequence) or not all(isinstance(problem, Problem) for problem in problems):
        raise TypeError(
            f"release_model: problems is a {type(problems).__name__}; it is a sequence of Problem, one per release. An observation "
            "makes one: release.observation.problem(prior), with any prior, which is not read."
        )
    if not problems:
        raise ValueError("there are no problems; release_model needs one for each release, at least one.")
    values = [problem.prior.shape[1] for problem in problems]
    if len(set(values)) > 1 or not values[0]:
        raise ValueError(f"the problems have {values} values; all releases must be of one sensitive domain.")
    if any(problem.evidence is not None for problem in problems):
        raise ValueError(
            "a problem has evidence (pseudo-counts of compromised records), and release_model cannot read it. Use "
            "permutation_model, or compromised_model."
        )


def _transitions(problems: Sequence[Problem], past: Any) -> DistributionTable:
    m = problems[0].prior.shape[1]
    takes = "it is one array of probabilities (n, m) per release"
    beliefs = [
        as_floats("release_model", "past", rows, takes) for rows in as_arrays("release_model", "past", past, takes)
    ]
    _check_shapes(beliefs, problems, "past", (m,))
    beliefs = [probability_rows(rows, f"past of release {t}, row") for t, rows in enumerate(beliefs)]
    weights, row = np.unique(np.concatenate(beliefs), axis=0, return_inverse=True)
    return DistributionTable("transitions", "last", weights, row)


def _frequencies(problems: Sequence[Problem], classes: Any, concentration: Any) -> DistributionTable:
    codes = as_arrays("release_model", "classes", classes, "it is one array of class numbers (n,) per release")
    _check_shapes(codes, problems, "classes", ())
    row = np.concatenate(codes)
    known = len(concentration) if isinstance(concentration, np.ndarray) and concentration.ndim else np.inf
    if not np.issubdtype(row.dtype, np.integer) or not (row.min(initial=0) >= 0 and row.max(initial=-1) < known):
        ends = f" from {row.min()} to {row.max()}" if row.dtype.kind in "iuf" and row.size else ""
        raise ValueError(
            f"the classes are {row.dtype}{ends}; they must be whole numbers from 0 on, each with a row of concentrations where "
            "these are an array."
        )
    return DistributionTable("frequencies", "class", np.eye(int(min(known, row.max(initial=-1) + 1))), row)


def _check_shapes(arrays: Sequence[Any], problems: Sequence[Problem], what: str, last: tuple[int, ...]) -> None:
    """Raise ValueError unless there is one array per problem, with a row per respondent."""
    shapes, wanted = [array.shape for array in arrays], [(len(problem.group), *last) for problem in problems]
    if shapes != wanted:
        raise ValueError(
            f"{what} have the shapes {shapes}, and the problems need {wanted}: one array per release, a row per respondent."
        )
