"""What somebody sees who knows little: releases as a PyMC model in which the background knowledge itself is unknown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import Problem, probability_rows

if TYPE_CHECKING:
    import pymc as pm


class Unknown(NamedTuple):
    """A table of unknown distributions, and how everybody's prior follows from it: ``(weights @ table + known)[row]``.

    Attributes
    ----------
    name, axis : str
        What the table and its first axis are called.
    weights : float array, shape (r, c)
        Rows are probabilities over the table's c rows, or zeros.
    row : int array, shape (n,)
        Which row of weights is each respondent's, those of all releases one after another.
    known : float, or float array of shape (r, m)
        Priors that do not follow from the table, in rows of weights that are zeros; zeros in all others.
    """

    name: str
    axis: str
    weights: FloatArray
    row: IntArray
    known: "float | FloatArray" = 0.0


def release_model(
    problems: Sequence[Problem],
    classes: Sequence[IntArray] | None = None,
    past: Sequence[FloatArray] | None = None,
    concentration: "float | FloatArray" = 1.0,
) -> "pm.Model":
    """Return the joint law of what an adversary sees, when what he knows beforehand is itself unknown.

    Everybody's value is drawn from the own prior row, and each group's values are published without saying whose they
    are. The prior rows follow from a table of unknown distributions, each ``Dirichlet(concentration)``: the frequencies in
    a respondent's class, ``prior[i] = frequencies[classes[i]]``, or what follows the last value, which is believed in
    with the probabilities ``past[i]``, ``prior[i] = past[i] @ transitions``. All releases inform one table.

    Parameters
    ----------
    problems : sequence of Problem
        One per release, as ``release.observation.problem(prior)`` or, of an attack's beliefs,
        ``step.observation.problem(step.revised)`` gives it; all with the same m values. Groups and counts are read. **The
        prior is not**: the model has its own. Respondents of group -1 do not matter.
    classes : sequence of int array, shapes (n,)
        Per release, everybody's class, 0 to c - 1.
    past : sequence of float array, shapes (n, m)
        Per release, the belief in everybody's last value; for somebody without one, what is believed of such people. Exactly
        one of ``classes`` and ``past`` is given.
    concentration : float, or float array of shape (c, m) or (m, m)
        Of every row, or of each: knowledge that was counted in a corpus is ``DirichletFrequencies.concentrations``
        (reshaped to a row per class) or ``DirichletChain.concentrations[0]``.

    Returns
    -------
    pymc.Model
        With the variables

        - ``frequencies``, dims ``class, value``, or ``transitions``, dims ``last, value``;
        - ``published``, observed, dims ``group, value``: the multisets. A group's coordinate is ``"release:group"``. Its
          log-probability has one entry per group, so that `pymc.compute_log_likelihood` and ArviZ's ``loo`` and
          ``compare`` work; draws of it are multisets that the model's own people could have had;
        - ``belief``, dims ``release, respondent, value``: the exact posterior of everybody, given the table. Its mean over
          the draws is the belief of somebody who does not know the table. **A respondent is a row of the release's problem**,
          so that the same coordinate is somebody else in another release; values are positions in the domain. Where releases
          have different numbers of respondents there is one per release, ``belief_0``, with dims ``respondent_0, value``, and
          so on.

    Raises
    ------
    ValueError
        If not exactly one of classes and past is given, one per problem and row per respondent; if the problems differ in
        their values, or have evidence; if a class is negative or has no concentration; or a concentration is not positive.
    TooLarge
        If a group has too many states for the exact posterior.

    Notes
    -----
    Exact: nobody's value is sampled, they are summed over by `LogPermanent`. Given the table, groups and releases are
    independent. Between releases that holds for ``classes`` where respondents differ, or values are drawn anew; and for
    ``past`` as far as beliefs in last values are all that an earlier release says, the approximation of every
    `SequentialAttack`. The unknown people are the published ones: the table learns from the very groups it is held
    against.

    Cost of a density and its gradient: that of `Exact` for all groups, plus O(r c m). The draws of ``belief`` are n m
    numbers each; `pymc.sample(var_names=[...])` leaves them out.

    The random-assignment model is that of T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in
    Data Anonymization", ICDE 2009; that its prior is unknown is ours.

    Examples
    --------
    >>> import numpy as np
    >>> uniform = np.full((4, 2), 0.5)
    >>> release = Problem(uniform, np.array([0, 0, 1, 1]), np.array([[2, 0], [1, 1]]))
    >>> model = release_model([release], classes=[np.array([0, 0, 0, 1])])
    >>> model.free_RVs, model.observed_RVs, model.deterministics
    ([frequencies], [published], [belief])
    """
    _check(problems)
    unknown = _unknown(problems, classes, past, concentration)
    return model_of(problems, unknown, concentration)


def model_of(problems: Sequence[Problem], unknown: Unknown, concentration: "float | FloatArray") -> "pm.Model":
    """The model of `release_model`, of any table of unknown distributions."""
    import pymc as pm
    import pytensor.tensor as pt

    from foreknow.models.programs.log_permanent import LogPermanent

    values = problems[0].prior.shape[1]
    concentrations = _concentrations(concentration, (unknown.weights.shape[1], values), unknown.axis)
    group, counts = _side_by_side(problems)
    permanent = LogPermanent(group, unknown.row)
    coords = {
        unknown.axis: range(len(concentrations)),
        "value": range(values),
        "group": [f"{t}:{j}" for t, problem in enumerate(problems) for j in range(len(problem.counts))],
    }

    def log_probability(value: Any, log_prior: Any) -> Any:
        return permanent(log_prior, value)

    def multisets(log_prior: Any, size: Any) -> Any:  # noqa: ARG001 - there is one release of each time
        inside = np.flatnonzero(group >= 0)
        drawn = pm.Categorical.dist(p=pt.exp(log_prior)[unknown.row[inside]])
        return pt.zeros(counts.shape, dtype="int64")[group[inside], drawn].inc(1)

    with pm.Model(coords=coords) as model:
        table = pm.Dirichlet(unknown.name, concentrations, dims=(unknown.axis, "value"))
        log_prior = pt.log(pt.as_tensor(unknown.weights) @ table + unknown.known)
        pm.CustomDist(
            "published",
            log_prior,
            dist=multisets,
            logp=log_probability,
            signature="(r,m)->(g,m)",
            observed=counts,
            dims=("group", "value"),
        )
        _add_beliefs(permanent.belief(log_prior, counts), [len(problem.group) for problem in problems])
    return model


def _add_beliefs(belief: Any, sizes: list[int]) -> None:
    """Name the beliefs of all releases, shape ``(sum of sizes, m)``, in the model at work."""
    import pymc as pm

    model = pm.modelcontext(None)
    if len(set(sizes)) == 1:
        model.add_coords({"release": range(len(sizes)), "respondent": range(sizes[0])})
        pm.Deterministic("belief", belief.reshape((len(sizes), sizes[0], -1)), dims=("release", "respondent", "value"))
        return
    ends = np.cumsum(sizes)
    for t, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        model.add_coord(f"respondent_{t}", range(size))
        pm.Deterministic(f"belief_{t}", belief[end - size : end], dims=(f"respondent_{t}", "value"))


def _side_by_side(problems: Sequence[Problem]) -> tuple[IntArray, IntArray]:
    """The groups of all releases, numbered one after another, and their counts."""
    before = np.cumsum([0, *(len(problem.counts) for problem in problems)])
    shifted = [np.where(p.group < 0, -1, p.group + shift) for p, shift in zip(problems, before, strict=False)]
    return np.concatenate(shifted), np.concatenate([problem.counts for problem in problems])


def _check(problems: Sequence[Problem]) -> None:
    if isinstance(problems, Problem) or not all(isinstance(problem, Problem) for problem in problems):
        raise TypeError(
            "release_model needs a sequence of problems, one per release; an observation makes one: "
            "release.observation.problem(prior), with any prior, which is not read."
        )
    if not problems:
        raise ValueError("there are no problems; release_model needs one for each release, at least one.")
    values = [problem.prior.shape[1] for problem in problems]
    if len(set(values)) > 1:
        raise ValueError(f"the problems have {values} values; all releases must be of one sensitive domain.")
    if any(problem.evidence is not None for problem in problems):
        raise ValueError(
            "a problem has evidence (pseudo-counts of compromised records), and release_model cannot read it. Use "
            "permutation_model, or compromised_model."
        )


def _unknown(
    problems: Sequence[Problem],
    classes: Sequence[IntArray] | None,
    past: Sequence[FloatArray] | None,
    concentration: "float | FloatArray",
) -> Unknown:
    if (classes is None) == (past is None):
        raise ValueError(
            f"{'neither' if classes is None else 'both'} of classes and past are given; release_model needs one: classes, if "
            "frequencies are unknown, or past, if transitions are."
        )
    if past is not None:
        m = problems[0].prior.shape[1]
        believed = [probability_rows(rows, f"past of release {t}, row") for t, rows in enumerate(past)]
        _check_rows(believed, problems, "past", (m,))
        weights, row = np.unique(np.concatenate(believed), axis=0, return_inverse=True)
        return Unknown("transitions", "last", weights, row)
    assert classes is not None
    codes = [np.asarray(of_release) for of_release in classes]
    _check_rows(codes, problems, "classes", ())
    everybody = np.concatenate(codes)
    known = len(concentration) if isinstance(concentration, np.ndarray) and concentration.ndim else np.inf
    if not np.issubdtype(everybody.dtype, np.integer) or not (everybody.min() >= 0 and everybody.max() < known):
        raise ValueError(
            f"the classes are {everybody.dtype} from {everybody.min()} to {everybody.max()}; they must be whole numbers from 0 on, "
            "each with a row of concentrations where these are an array."
        )
    return Unknown("frequencies", "class", np.eye(int(min(known, everybody.max() + 1))), everybody)


def _check_rows(
    given: "Sequence[FloatArray | IntArray]", problems: Sequence[Problem], what: str, last: tuple[int, ...]
) -> None:
    """Raise ValueError unless there is one array per problem, with a row per respondent."""
    shapes, wanted = [array.shape for array in given], [(len(problem.group), *last) for problem in problems]
    if shapes != wanted:
        raise ValueError(
            f"{what} have the shapes {shapes}, and the problems need {wanted}: one array per release, a row per respondent."
        )


def _concentrations(concentration: "float | FloatArray", shape: tuple[int, int], axis: str) -> FloatArray:
    concentrations = np.asarray(concentration, dtype=np.float64)
    if concentrations.ndim == 0:
        concentrations = np.full(shape, float(concentrations))
    if concentrations.shape != shape:
        raise ValueError(
            f"the concentrations have shape {concentrations.shape}; they are one number, or one per {axis} and value: {shape}."
        )
    if not (np.isfinite(concentrations) & (concentrations > 0)).all():
        raise ValueError(
            f"a concentration is {concentrations.min():g}; those of a Dirichlet distribution are positive and finite. Add a "
            "pseudo-count."
        )
    return concentrations
