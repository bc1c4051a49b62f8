"""Independent checker of requirements, from the published table.

It shares no code with the enforcement of requirements, except the estimator of a requirement on beliefs. It reads the published
rows instead of summaries, and takes levels from `definitions`, where each definition is written a second time.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses import Requirement
from foreknow.defenses.requirements.requirement import AllOf
from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.checks.definitions import CheckedTable, Group, ShownItems, holds, level_of
from foreknow.models import ItemRelease, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import as_floats, check_kind, check_whole, is_number, shown


def verify(release: Release, requirement: Requirement, prior: ArrayLike | None = None) -> pd.DataFrame:
    """Verdict on each group of a release, with the level of the requirement recomputed from the published table.

    Parameters
    ----------
    release : Release
    requirement : Requirement
        The requirement to check, not bound to a view.
    prior : float array or DataFrame, shape (n, m), optional
        Prior of the respondents, in the view's order, as ``beliefs.revised(time)`` gives it. `JSimilarity` and
        `PosteriorBound` need it, since the published table does not show it.

    Returns
    -------
    DataFrame
        One row for each group and conjunct: ``group``, ``requirement``, ``level``, ``bound``, ``holds``. A group satisfies
        the requirement if all of its rows hold.

    Raises
    ------
    ValueError
        If a prior is needed and not given, or is not one distribution for each record.
    TypeError
        If an argument is of the wrong kind, the checker has no definition of the requirement, or it is on items, which
        `verify_items` checks.

    Notes
    -----
    A counterfeit counts as a record of its group, as in the published table. The table distribution of t-closeness and
    beta-likeness is that of the published table, without suppressed records. Exact, up to a tolerance of 1e-9. Cost:
    O(n + g m).

    Posteriors are those of the requirement's own estimator, computed for the whole release at once. The kernel prior of
    `BTPrivacy` is fitted to the true values of ``release.view`` at a cost of O(n N) for N distinct vectors of
    quasi-identifiers: it is meant for checks on small tables.
    """
    check_kind(
        "verify", "release", release, Release, "is one Release, as publish makes it; verify_items takes an ItemRelease"
    )
    return verdicts(release, requirement, prior, None)


def verdicts(
    release: Release, requirement: Requirement, prior: ArrayLike | None, items: ShownItems | None
) -> pd.DataFrame:
    """Result of `verify`, for a release with or without published items."""
    check_kind("verify", "requirement", requirement, Requirement)
    priors: dict[Hashable, list[FloatArray]] = {}
    rows = None if prior is None else _rows(release, prior)
    for row, group in zip(rows if rows is not None else (), release.group.tolist(), strict=False):
        priors.setdefault(group, []).append(row)
    schema, table = release.view.schema, release.table
    published = CheckedTable(table[schema.sensitive].tolist(), schema.values, release, rows, items)
    return _levels(table["group"].tolist(), published, requirement, priors or None)


def verify_table(
    table: pd.DataFrame,
    sensitive: str,
    values: Iterable[Hashable],
    requirement: Requirement,
    priors: Mapping[Hashable, ArrayLike] | None = None,
) -> pd.DataFrame:
    """Verdict on each group of a published table, given without its view.

    Parameters
    ----------
    table : DataFrame
        One row for each published record, with a column ``group`` and the column ``sensitive``.
    sensitive : str
        Column of the sensitive value.
    values : iterable
        The sensitive domain, in its order; only ordered distances depend on the order.
    requirement : Requirement
        The requirement to check, not bound to a view.
    priors : mapping of group to rows, optional
        Prior rows of the members of each group.

    Returns
    -------
    DataFrame
        As `verify` returns.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, a column is missing, a group has no priors, or as `verify`.
    """
    check_kind("verify_table", "table", table, pd.DataFrame, "is a DataFrame, one row for each published record")
    check_kind("verify", "requirement", requirement, Requirement)
    missing = [name for name in ("group", sensitive) if name not in table.columns]
    if missing:
        raise ValueError(
            f"verify_table: the table has no column {missing[0]!r}; rename the column, or give another name."
        )
    if priors is not None:
        check_kind("verify_table", "priors", priors, Mapping, "is a mapping of each group to its members' prior rows")
        unknown = [group for group in dict.fromkeys(table["group"].tolist()) if group not in priors]
        if unknown:
            raise ValueError(
                f"verify_table: priors has no rows for group {unknown[0]!r}; give the rows of every group."
            )
    if not np.iterable(values):
        raise TypeError(f"verify_table: values is {shown(values)}; it is the sensitive domain, as a list in its order.")
    published = CheckedTable(table[sensitive].tolist(), tuple(values), None, None)
    return _levels(table["group"].tolist(), published, requirement, priors)


def _levels(
    labels: list[Hashable],
    published: CheckedTable,
    requirement: Requirement,
    priors: Mapping[Hashable, ArrayLike] | None,
) -> pd.DataFrame:
    shown: dict[Hashable, list[Hashable]] = {}
    for label, value in zip(labels, published.shown, strict=True):
        shown.setdefault(label, []).append(value)
    groups = [Group(label, values, priors[label] if priors else None) for label, values in shown.items()]
    rows = []
    for part in requirement.parts if isinstance(requirement, AllOf) else (requirement,):
        level = level_of(part, published)
        for group in groups:
            attained = level(group)
            rows.append((group.name, repr(part), attained, part.bound, holds(part, attained)))
    return pd.DataFrame(rows, columns=["group", "requirement", "level", "bound", "holds"])


def _rows(release: Release, prior: ArrayLike) -> FloatArray:
    """Prior as an array; the labels of a DataFrame must equal the release's respondents and values, in that order."""
    if isinstance(prior, pd.DataFrame):
        people, values = release.view.people.respondents.tolist(), list(release.view.schema.values)
        if prior.index.tolist() != people or prior.columns.tolist() != values:
            raise ValueError(
                "the prior's rows or columns are not the release's respondents or values, in the view's order; reindex it, or give "
                "an array."
            )
    takes = "is an array of numbers, as beliefs.revised(time) or a prior object called with release.view.people gives"
    rows = as_floats("verify", "prior", prior, takes)
    shape = (len(release.group), len(release.view.schema.values))
    if rows.shape != shape:
        raise ValueError(
            f"the prior has shape {rows.shape}; the release has {shape[0]} records and {shape[1]} values; give one row for each "
            "record and one column for each value."
        )
    for row, probabilities in enumerate(rows.tolist()):
        if not (min(probabilities) >= -1e-6 and abs(sum(probabilities) - 1) <= 1e-6):
            raise ValueError(f"row {row} of the prior is {probabilities}, which is no distribution; normalize it.")
    return rows


PROBABILITY_TOLERANCE = 1e-6
"""Largest difference of the sum of a prior from 1."""


def verify_items(
    release: ItemRelease,
    requirement: Requirement,
    label_prior: Mapping[Hashable, float] | None = None,
    prior: ArrayLike | None = None,
) -> pd.DataFrame:
    """Verify a requirement for each group of a release that shows items, recomputed from the published table.

    Parameters
    ----------
    release : ItemRelease
        Its items are read from its table.
    requirement : Requirement
        Parts that are not about labels are checked as in `verify`.
    label_prior : mapping of label to float, optional
        Prior belief in each label, and in ``"none"``: the alpha of `QSCloseness`. It is of the items before any was removed, which
        no public table shows. By default it is computed from the column of the release's view, as the requirement's
        ``prior`` reads it; ``"uniform"`` needs neither.
    prior : float array or DataFrame, shape (n, m), optional
        As in `verify`.

    Returns
    -------
    DataFrame
        As in `verify`.

    Raises
    ------
    ValueError
        If the requirement is about another column of items, ``label_prior`` is no distribution, or as `verify` raises.
    TypeError
        If the release or the prior is of another type, or the checker has no definition of the requirement.

    Notes
    -----
    Items are compared by their texts, as a table shows them. Suppressed records, and counterfeits, which have no items, are not
    counted. Cost: O(e) for each item of a record and e labels: seconds for 3,000 records and 3,000 labels.
    """
    check_kind("verify_items", "release", release, ItemRelease)
    if label_prior is not None:
        _check_label_prior(label_prior)
    linking = release.linking
    shown = ShownItems(
        release.table, linking.items, linking.separator, release.release.view.frame[linking.items].tolist(), label_prior
    )
    return verdicts(release.release, requirement, prior, shown)


def _check_label_prior(label_prior: Mapping[Hashable, float]) -> None:
    """Raise an error unless the prior is a distribution over labels."""
    takes = "is a mapping of each label, and 'none', to its probability; together they sum to 1"
    check_kind("verify_items", "label_prior", label_prior, Mapping, takes)
    numbers = list(label_prior.values())
    in_range = all(is_number(p, 0, 1 + PROBABILITY_TOLERANCE) for p in numbers)
    if not in_range or abs(sum(numbers) - 1) > PROBABILITY_TOLERANCE:
        raise ValueError(f"verify_items: label_prior is {shown(label_prior)}; it {takes}. Normalize it.")


def m_invariance(releases: Iterable[Release], m: int) -> pd.DataFrame:
    """Verdict on the m-invariance of each release, recomputed from the published tables.

    A group is m-unique if it shows at least m values, each at most once. Its signature is the set of its values. A respondent
    is followed if a previous release published a record of the respondent, the last one with the same sensitive value as now;
    the signature must then equal the previous one. Suppressed records are ignored.

    Parameters
    ----------
    releases : iterable of Release
        In the order of time.
    m : int
        At least 1.

    Returns
    -------
    DataFrame
        One row for each release: ``time``; ``groups``, the number of groups; ``unique``, the number of m-unique groups;
        ``followed``, the number of respondents followed; ``kept``, the number of these with the previous signature;
        ``holds``, True if all groups are m-unique and all followed respondents have kept their signatures.

    Raises
    ------
    TypeError, ValueError
        If m is not a whole number of at least 1, or releases are not several Releases.

    Notes
    -----
    Groups and values of respondents are read from the releases, since no published table shows them. Cost: O(n) for each
    release.

    References
    ----------
    X. Xiao, Y. Tao, "m-Invariance: Towards Privacy Preserving Re-publication of Dynamic Datasets", SIGMOD 2007.
    """
    check_whole("m_invariance", "m", m, "values")
    last: dict[Hashable, tuple[Hashable, frozenset[Hashable]]] = {}
    rows = []
    for release in check_releases("m_invariance", releases):
        shown = _shown(release)
        unique = sum(len(values) >= m and set(values.values()) == {1} for values in shown.values())
        now = {respondent: (value, frozenset(shown[group])) for respondent, group, value in _published(release)}
        followed = [one for one in now if one in last and last[one][0] == now[one][0]]
        kept = sum(last[one] == now[one] for one in followed)
        holds = unique == len(shown) and kept == len(followed)
        rows.append((release.time, len(shown), unique, len(followed), kept, holds))
        last |= now
    return pd.DataFrame(rows, columns=["time", "groups", "unique", "followed", "kept", "holds"])


def _shown(release: Release) -> dict[int, Counter[Hashable]]:
    """Counts of the values that each group shows."""
    table, shown = release.table, dict[int, Counter[Hashable]]()
    for group, value in zip(table["group"].tolist(), table[release.view.schema.sensitive].tolist(), strict=True):
        shown.setdefault(group, Counter())[value] += 1
    return shown


def _published(release: Release) -> list[tuple[Hashable, int, Hashable]]:
    """Published respondents, each with the group and the true value."""
    schema, frame = release.view.schema, release.view.frame
    records = zip(
        frame[schema.respondent].tolist(), release.group.tolist(), frame[schema.sensitive].tolist(), strict=True
    )
    return [(respondent, group, value) for respondent, group, value in records if group >= 0]
