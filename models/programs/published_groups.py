"""Likelihood of published groups in a PyMC program: each group publishes the multiset of the values of its members."""

from typing import Any

import numpy as np

from foreknow.models.problem import Problem


def observe_groups(problem: Problem, prior: Any) -> Any:
    """Condition the model on the published multisets, and return the posterior of each respondent given its unknown quantities.

    Adds an observed variable ``published`` to the model on the context stack. Each member's value is drawn from the member's
    prior row, and each group publishes the multiset of its values (`LogPermanent`)::

        p(published | unknown) = product over groups of the sum over assignments of the product of priors

    A program learns its unknown quantities from the release by this variable only. Without it, they keep their prior distribution.

    Parameters
    ----------
    problem : Problem
        Groups and counts are read. Its prior is not: a program computes one from it.
    prior : PyTensor matrix, shape (n, m)
        Prior of each respondent, as a function of the unknown quantities; rows are probabilities.

    Returns
    -------
    PyTensor matrix, shape (n, m)
        Exact posterior of each respondent, given the unknown quantities; the prior outside all groups. A program makes it its
        ``belief``.

    Raises
    ------
    TooLarge
        If a group has too many states for the exact posterior (`Exact`).

    Notes
    -----
    Exact. The counts are the `pymc.Data` ``counts``. ``published`` has one log-probability for each group, and its draws are
    multisets, for `release_predictive`. Not checked: that the rows are probabilities. Where a prior is 0 its gradient is 0. Cost of
    a density and its gradient: that of `Exact` for all groups.

    Examples
    --------
    An adversary who learns from the release how far to trust the knowledge:

    >>> import pymc as pm
    >>> problem = Problem(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 0]), np.array([[0, 2]]))
    >>> with pm.Model() as model:
    ...     trust = pm.Uniform("trust")
    ...     rows = trust * pm.Data("knowledge", problem.prior) + (1 - trust) / 2
    ...     belief = pm.Deterministic("belief", observe_groups(problem, rows))
    >>> model.free_RVs, model.observed_RVs
    ([trust], [published])
    """
    import pymc as pm
    import pytensor.tensor
    from pytensor.tensor import as_tensor

    from foreknow.models.programs.log_permanent import LogPermanent

    pt: Any = pytensor.tensor

    if pm.Model.get_context(error_if_none=False) is None:
        raise TypeError("observe_groups: there is no model to add to; call it within `with pymc.Model() as model:`.")
    rows = as_tensor(prior, ndim=2, dtype="float64")
    for axis, length, kind in zip(("rows", "columns"), problem.prior.shape, ("respondents", "values"), strict=True):
        found = rows.type.shape[axis == "columns"]
        if found not in (None, length):
            raise ValueError(
                f"observe_groups: prior has {found} {axis}, and the problem {length} {kind}; one for each."
            )
    permanent = LogPermanent(problem.group)
    permanent.check_counts(problem.counts)
    positive = rows > 0
    log_prior = pt.switch(positive, pt.log(pt.switch(positive, rows, 1.0)), -np.inf)
    counts = pm.Data("counts", problem.counts)
    add_published(permanent, log_prior, counts, problem.counts.shape)
    return permanent.belief(log_prior, counts)


def add_published(permanent: Any, log_prior: Any, counts: Any, shape: tuple[int, int], **settings: Any) -> None:
    """Add the observed multisets ``published``, of shape ``(g, m)``, to the model on the context stack.

    ``permanent`` is the `LogPermanent` of the groups, and ``counts`` the published ones.
    """
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor

    group, row = np.array(permanent.group, dtype=np.int64), np.array(permanent.row, dtype=np.int64)
    members = np.flatnonzero(group >= 0)

    def multisets(log_prior: Any, size: Any) -> Any:  # noqa: ARG001 - each release is observed once
        drawn = pm.Categorical.dist(p=pt.exp(log_prior)[row[members]])
        return pt.zeros(shape, dtype="int64")[group[members], drawn].inc(1)

    pm.CustomDist(
        "published",
        log_prior,
        dist=multisets,
        logp=lambda value, log_prior: permanent(log_prior, value),
        signature="(r,m)->(g,m)",
        observed=counts,
        **settings,
    )
