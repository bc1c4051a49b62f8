"""An independent checker of m-invariance across releases, apart from what enforces it."""

from collections import Counter
from collections.abc import Hashable, Iterable

import pandas as pd

from foreknow.evaluation.arguments import check_releases
from foreknow.models import Release

COLUMNS = ["time", "groups", "unique", "followed", "kept", "holds"]


def m_invariance(releases: Iterable[Release], m: int) -> pd.DataFrame:
    """Whether releases are m-invariant (Xiao, Tao, SIGMOD 2007), recomputed from the published tables.

    A group is m-unique if it shows at least m values and none of them twice. Its signature is the set of its values. A
    respondent is followed who was published before, the last time with the same sensitive value as now: the signature must
    be the same as then. Suppressed records are not looked at, and change nothing.

    Parameters
    ----------
    releases : iterable of Release
        In the order of time.
    m : int
        1 or more.

    Returns
    -------
    DataFrame
        One row per release: ``time``; ``groups``, how many there are; ``unique``, how many of them are m-unique;
        ``followed``, how many respondents are; ``kept``, how many of them have their old signature; ``holds``, whether all
        groups are unique and all respondents who are followed have kept theirs.

    Notes
    -----
    Who is in which group, and with which value, is read from the releases, for no published table tells. Cost: O(n) per
    release.
    """
    if m < 1:
        raise ValueError(f"m is {m}; it is a number of values, 1 or more.")
    last: dict[Hashable, tuple[Hashable, frozenset[Hashable]]] = {}
    rows = []
    for release in check_releases("m_invariance", releases):
        shown = _shown(release)
        unique = sum(len(values) >= m and set(values.values()) == {1} for values in shown.values())
        now = {who: (value, frozenset(shown[group])) for who, group, value in _published(release)}
        followed = [who for who in now if who in last and last[who][0] == now[who][0]]
        kept = sum(last[who] == now[who] for who in followed)
        holds = unique == len(shown) and kept == len(followed)
        rows.append((release.time, len(shown), unique, len(followed), kept, holds))
        last |= now
    return pd.DataFrame(rows, columns=COLUMNS)


def _shown(release: Release) -> dict[int, Counter[Hashable]]:
    """The values each group shows, and how often."""
    table, shown = release.table, dict[int, Counter[Hashable]]()
    for group, value in zip(table["group"].tolist(), table[release.view.schema.sensitive].tolist(), strict=True):
        shown.setdefault(group, Counter())[value] += 1
    return shown


def _published(release: Release) -> list[tuple[Hashable, int, Hashable]]:
    """Published respondents with their groups and true values."""
    schema = release.view.schema
    frame = release.view.frame
    everybody = zip(
        frame[schema.respondent].tolist(), release.group.tolist(), frame[schema.sensitive].tolist(), strict=True
    )
    return [(who, group, value) for who, group, value in everybody if group >= 0]
