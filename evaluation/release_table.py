"""Tables with one row per release."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd


def release_table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Table of one row per release, with the same columns where there is no release."""
    listed = list(rows)
    return pd.DataFrame(listed) if listed else pd.DataFrame(columns=pd.Index(columns))
