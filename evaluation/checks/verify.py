"""An independent checker: requirements recomputed from the published table alone, where it can show them.

It shares no code with what enforces them, but for the estimator that a requirement on beliefs names: it reads the published rows,
not summaries, and asks `definitions`, which has each definition written out again.
"""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses import AllOf, Requirement
from foreknow.evaluation.checks.definitions import Group, Published, attained, holds
from foreknow.evaluation.checks.label_definitions import ShownItems
from foreknow.models import ItemRelease, Release
from foreknow.models.arrays import FloatArray


def verify(release: Release, requirement: Requirement, prior: ArrayLike | None = None) -> pd.DataFrame:
    """Whether each group of a release satisfies a requirement, recomputed from what is published.

    Parameters
    ----------
    release : Release
        What was published.
    requirement : Requirement
        What it should satisfy.
    prior : float array or DataFrame, shape (n, m), optional
        What is believed of the respondents, in the view's order, as ``beliefs.revised(time)`` has it: for `JSimilarity`
        and `PosteriorBound`, which no published table can show.

    Returns
    -------
    DataFrame
        One row per group and conjunct: ``group``, ``requirement``, ``level``, ``bound``, ``holds``. A group is safe where
        all its rows hold.

    Raises
    ------
    ValueError
        If a prior is needed and not given, or is not one distribution per record.
    TypeError
        If the checker does not know the requirement, or it is about items, which `verify_items` checks.

    Notes
    -----
    A counterfeit counts as a record of its group, as it does for whoever reads the table. The table distribution of
    t-closeness and beta-likeness is that of the published table, without suppressed records. Cost:
    O(n + g m).

    Beliefs are of the people of the release, and posteriors are the requirement's own estimator's, of the whole release at
    once. The kernel prior of `BTPrivacy` is made of the true values of ``release.view``, O(n N) for N distinct vectors of
    quasi-identifiers: for checking, not for large tables.
    """
    if not isinstance(release, Release):
        way = "use verify_items" if isinstance(release, ItemRelease) else "ask it of each"
        raise TypeError(f"verify takes one Release, and got {type(release).__name__}; {way}.")
    return verdicts(release, requirement, prior, None)


def verdicts(
    release: Release, requirement: Requirement, prior: ArrayLike | None, items: ShownItems | None
) -> pd.DataFrame:
    """What `verify` returns, of a release that shows items or none."""
    priors: dict[Hashable, list[list[float]]] = {}
    rows = None if prior is None else _rows(release, prior)
    if rows is not None:
        _check_prior(rows, len(release.group), len(release.view.schema.values))
        for row, group in enumerate(release.group.tolist()):
            priors.setdefault(group, []).append(rows[row].tolist())
    schema, table = release.view.schema, release.table
    published = Published(table[schema.sensitive].tolist(), schema.values, release, rows, items)
    return _verdicts(table["group"].tolist(), published, requirement, priors or None)


def verify_table(
    table: pd.DataFrame,
    sensitive: str,
    values: Sequence[Hashable],
    requirement: Requirement,
    priors: Mapping[Hashable, list[list[float]]] | None = None,
) -> pd.DataFrame:
    """The same for a bare published table with a column ``group``.

    Parameters
    ----------
    table : DataFrame
        One row per published record, with the columns ``group`` and ``sensitive``.
    sensitive : str
        The column of the sensitive value.
    values : sequence
        The sensitive domain, in its order; only ordered distances depend on it.
    requirement : Requirement
        What every group should satisfy.
    priors : mapping of group to rows, optional
        What is believed of the members of each group.
    """
    published = Published(table[sensitive].tolist(), values, None, None)
    return _verdicts(table["group"].tolist(), published, requirement, priors)


def _verdicts(
    labels: list[Hashable],
    published: Published,
    requirement: Requirement,
    priors: Mapping[Hashable, list[list[float]]] | None,
) -> pd.DataFrame:
    shown: dict[Hashable, list[Hashable]] = {}
    for label, value in zip(labels, published.everything, strict=True):
        shown.setdefault(label, []).append(value)
    groups = [Group(label, values, priors[label] if priors else None) for label, values in shown.items()]
    verdicts = []
    for part in requirement.parts if isinstance(requirement, AllOf) else (requirement,):
        level = attained(part, published)
        for group in groups:
            found = level(group)
            verdicts.append((group.name, repr(part), found, part.bound, holds(part, found)))
    return pd.DataFrame(verdicts, columns=["group", "requirement", "level", "bound", "holds"])


def _rows(release: Release, prior: ArrayLike) -> FloatArray:
    """A prior as an array; a frame must be labelled as the release's people and values are, in that order."""
    if isinstance(prior, pd.DataFrame):
        people, values = release.view.people.respondents.tolist(), list(release.view.schema.values)
        if prior.index.tolist() != people or prior.columns.tolist() != values:
            raise ValueError(
                "the prior's rows or columns are not the release's people or values, in the view's order; reindex it, or give an "
                "array."
            )
    return np.asarray(prior, dtype=np.float64)


def _check_prior(prior: FloatArray, records: int, values: int) -> None:
    if prior.shape != (records, values):
        raise ValueError(f"the prior has shape {prior.shape}; the release has {records} records and {values} values.")
    for row, probabilities in enumerate(prior.tolist()):
        if not (min(probabilities) >= -1e-6 and abs(sum(probabilities) - 1) <= 1e-6):
            raise ValueError(f"row {row} of the prior is {probabilities}, which is no distribution; normalize it.")
