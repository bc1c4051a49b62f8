"""Independent checker of m-invariance across releases."""

from collections import Counter
from collections.abc import Hashable, Iterable

import pandas as pd

from foreknow.evaluation.arguments import check_releases
from foreknow.models import Release
from foreknow.models.settings import check_whole

COLUMNS = ["time", "groups", "unique", "followed", "kept", "holds"]


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
    return pd.DataFrame(rows, columns=COLUMNS)


def _shown(release: Release) -> dict[int, Counter[Hashable]]:
    """Counts of the values that each group shows."""
    table, shown = release.table, dict[int, Counter[Hashable]]()
    for group, value in zip(table["group"].tolist(), table[release.view.schema.sensitive].tolist(), strict=True):
        shown.setdefault(group, Counter())[value] += 1
    return shown


def _published(release: Release) -> list[tuple[Hashable, int, Hashable]]:
    """Published respondents, each with the group and the true value."""
    schema = release.view.schema
    frame = release.view.frame
    records = zip(
        frame[schema.respondent].tolist(), release.group.tolist(), frame[schema.sensitive].tolist(), strict=True
    )
    return [(respondent, group, value) for respondent, group, value in records if group >= 0]
