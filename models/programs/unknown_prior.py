"""PyMC programs with an unknown prior: Dirichlet tables, global distributions, and regression on quasi-identifiers."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.knowledge.dirichlet import row_concentrations
from foreknow.models.knowledge.regression_prior import RegressionDesign
from foreknow.models.problem import Problem, probability_rows
from foreknow.models.programs.published_groups import add_published
from foreknow.models.settings import check_positive
from foreknow.models.tables.columns import coordinate
from foreknow.models.tables.history import History

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
    values = {problem.prior.shape[1] for problem in problems}
    if len(values) != 1 or not min(values):
        raise ValueError(
            f"there are no problems, or the problems have {sorted(values)} values; release_model needs one for each release, of "
            "one sensitive domain."
        )
    if any(problem.evidence is not None for problem in problems):
        raise ValueError(
            "a problem has evidence (pseudo-counts of compromised records), and release_model cannot read it. Use "
            "permutation_model, or compromised_model."
        )
    if (classes is None) == (past is None):
        raise ValueError(
            f"{'neither' if classes is None else 'both'} of classes and past are given; release_model needs one: classes, if "
            "frequencies are unknown, or past, if transitions are."
        )
    unknown = _frequencies(problems, classes, concentration) if past is None else _transitions(problems, past)
    return published_groups_model(problems, unknown, concentration)


class DistributionTable(NamedTuple):
    """Unknown distributions, and the prior of each respondent as ``(weights @ table + known)[row]``."""

    # name, axis: name of the table and of its first axis in the model
    name: str
    axis: str
    weights: FloatArray  # (r, c): rows are probabilities over the table's c rows, or zeros
    # (n,): row of ``weights`` of each respondent; the respondents of all releases, one release after another
    row: IntArray
    # 0 or (r, m): known priors, in the rows where ``weights`` is zero; zeros in all other rows
    known: "float | FloatArray" = 0.0


def _transitions(problems: Sequence[Problem], past: Any) -> DistributionTable:
    beliefs = [np.asarray(rows, dtype=np.float64) for rows in past]
    _check_shapes(beliefs, problems, "past", problems[0].prior.shape[1:])
    beliefs = [probability_rows(rows, f"past of release {t}, row") for t, rows in enumerate(beliefs)]
    weights, row = np.unique(np.concatenate(beliefs), axis=0, return_inverse=True)
    return DistributionTable("transitions", "last", weights, row)


def _frequencies(problems: Sequence[Problem], classes: Any, concentration: Any) -> DistributionTable:
    codes = [np.asarray(each) for each in classes]
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
            f"{what} have the shapes {shapes}, and the problems need {wanted}: one array each, a row per respondent."
        )


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
    check_positive("foreground_model", "concentration", concentration, "a number of respondents; the default is 10")
    s, m = evidence.signatures, len(evidence.rest)
    if s == 0 or not (evidence.rest > 0).all():
        raise ValueError(
            f"foreground_model has {s} signatures and the rest's distribution {np.round(evidence.rest, 6).tolist()}; it needs a "
            "signature, and a positive probability for every value. Leave out values that no group shows."
        )
    weights, known = np.eye(evidence.rows, s), evidence.table(np.zeros((s, m)))
    problem = Problem(known[np.full(len(evidence.group), s)], evidence.group, evidence.counts)
    table = DistributionTable("global_distribution", "signature", weights, evidence.row, known)
    return published_groups_model([problem], table, np.tile(float(concentration) * evidence.rest, (s, 1)))


INTERCEPT_SCALE = 2.5
"""Prior standard deviation of the intercepts: frequencies from 1 to 99 percent are usual."""


def prior_model(history: History, attributes: Iterable[str] | None = None, scale: float = 1.0) -> "pm.Model":
    """Return the law of the sensitive values of a corpus given quasi-identifiers, as a shrunk logistic regression.

    With the design row x of a record (`RegressionDesign`: standardized numbers, one centered column per
    categorical value)::

        value ~ Categorical(softmax(intercept + x @ coefficients))
        coefficients[column] = scale[attribute of column] * normal, summing to 0 over the values

    The scale of each attribute is learned: attributes that tell nothing of the value are shrunk to coefficients of 0.

    Parameters
    ----------
    history : History
        Corpus with true values; every record of every view counts.
    attributes : iterable of str, optional
        Quasi-identifiers; all by default.
    scale : float
        Standard deviation of the half-normal prior of each attribute's scale.

    Returns
    -------
    pymc.Model
        With the variables

        - ``intercept``, dims ``value``;
        - ``scale``, dims ``attribute``;
        - ``standardized``, dims ``feature, value``: the coefficients without their scale;
        - ``coefficients``, dims ``feature, value``;
        - ``recorded``, observed, dims ``record``: the value of each record as a position in the domain, one log-likelihood each,
          so that `pymc.compute_log_likelihood` and ArviZ's ``loo`` and ``compare`` work.

        The recorded values are `pymc.Data`, ``values``.

    Notes
    -----
    Records are taken as independent. Several of one respondent are not: the posterior is then too narrow, and LOO leaves out a
    record, not a respondent. Give a history of one view, as ``History([history[0]])``, or judge by held-out respondents.

    For few records and many attributes this prior is sharper than `ClassFrequencies`, which has a row for each cell. It is linear
    in the logarithms: it has no interactions, and a number has a monotone effect on the ratio of two values.

    Cost of a density: O(u f m + r m) for r records of u distinct design rows. The sampler is the caller's choice, as
    ``pymc.sample(nuts_sampler=...)``; ``target_accept=0.95`` avoids divergences where an attribute tells nothing.

    The posterior is knowledge by ``RegressionPrior.from_posterior(trace, RegressionDesign.fit(history, attributes))``.

    References
    ----------
    A. Gelman, A. Jakulin, M. Pittau, Y. Su, "A weakly informative default prior distribution for logistic and other regression
    models", Annals of Applied Statistics 2 (2008). A learned normal scale replaces their fixed Cauchy one.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Schema, View
    >>> frame = pd.DataFrame({"id": range(3), "age": [20, 40, 50], "result": ["a", "b", "b"]})
    >>> model = prior_model(History([View(frame, Schema({"age": Numeric()}, "result", ("a", "b")), 1)]))
    >>> model.free_RVs, model.observed_RVs, model.deterministics
    ([intercept, scale, standardized], [recorded], [coefficients])
    """
    import pymc as pm

    check_positive("prior_model", "scale", scale, "1 for coefficients of some units")
    design = RegressionDesign.fit(history, attributes)
    values = history.schema.values
    if not design.attributes or len(values) < 2:
        raise ValueError(
            f"prior_model: there are {len(design.attributes)} attributes and {len(values)} values; it needs one attribute and two "
            "values. Use ClassFrequencies.fit(history, {}) for frequencies alone."
        )
    rows = np.concatenate([design(view.people) for view in history])
    distinct, row_of = np.unique(rows, axis=0, return_inverse=True)
    recorded = np.concatenate([view.sensitive for view in history])
    coords = {
        "value": [coordinate(value) for value in values],
        "attribute": design.attributes,
        "feature": design.features,
        "record": range(len(recorded)),
    }
    with pm.Model(coords=coords) as model:
        intercept = pm.ZeroSumNormal("intercept", INTERCEPT_SCALE, dims="value")
        scales = pm.HalfNormal("scale", float(scale), dims="attribute")
        standardized = pm.ZeroSumNormal("standardized", 1.0, dims=("feature", "value"))
        by_feature = scales[design.attribute_of][:, None] * standardized
        coefficients = pm.Deterministic("coefficients", by_feature, dims=("feature", "value"))
        logits = intercept + distinct @ coefficients
        codes = pm.Data("values", recorded, dims="record")
        pm.Categorical("recorded", logit_p=logits[row_of.reshape(-1)], observed=codes, dims="record")
    return model


def published_groups_model(
    problems: Sequence[Problem], unknown: DistributionTable, concentration: "float | FloatArray"
) -> "pm.Model":
    """Return the model of `release_model`, for any table of unknown distributions."""
    import pymc as pm
    import pytensor.tensor

    from foreknow.models.programs.log_permanent import LogPermanent

    pt: Any = pytensor.tensor

    values = problems[0].prior.shape[1]
    shape = (unknown.weights.shape[1], values)
    concentrations = row_concentrations("release_model", "concentration", concentration, shape)
    # Groups of all releases, numbered consecutively.
    before = np.cumsum([0, *(len(problem.counts) for problem in problems)])
    shifted = [np.where(p.group < 0, -1, p.group + shift) for p, shift in zip(problems, before, strict=False)]
    group, counts = np.concatenate(shifted), np.concatenate([problem.counts for problem in problems])
    permanent = LogPermanent(group, unknown.row)
    permanent.check_counts(counts)
    coords = {
        unknown.axis: range(len(concentrations)),
        "value": range(values),
        "group": [f"{t}:{j}" for t, problem in enumerate(problems) for j in range(len(problem.counts))],
    }
    with pm.Model(coords=coords) as model:
        # With the static shape, PyTensor 3 compiles the gradient of one row of two probabilities (IndexError without).
        fixed = pt.specify_shape(pm.Data("concentrations", concentrations), concentrations.shape)
        table = pm.Dirichlet(unknown.name, fixed, shape=concentrations.shape, dims=(unknown.axis, "value"))
        log_prior = pt.log(pm.Data("weights", unknown.weights) @ table + unknown.known)
        shown = pm.Data("counts", counts, dims=("group", "value"))
        add_published(permanent, log_prior, shown, counts.shape, dims=("group", "value"))
        _add_beliefs(permanent.belief(log_prior, shown), [len(problem.group) for problem in problems])
    return model


def _add_beliefs(belief: Any, sizes: list[int]) -> None:
    """Add the beliefs of all releases, shape ``(sum of sizes, m)``, to the model on the context stack."""
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
