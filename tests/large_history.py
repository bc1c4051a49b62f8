"""Small histories on disk, and the same releases in memory."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from foreknow.models import Grouping, Release, View


def visits(people=240, releases=3, seed=1, values=4):
    """A long table in which respondents come and go, with three quasi-identifiers and string identifiers."""
    rng = np.random.default_rng(seed)
    age, sex, place = rng.integers(18, 90, people), rng.choice(["f", "m"], people), rng.integers(0, 50, people)
    frames = []
    for week in range(releases):
        here = np.flatnonzero(rng.random(people) < 0.8)
        result = rng.choice([f"v{s}" for s in range(values)], len(here))
        columns = {"id": [f"p{i}" for i in here], "age": age[here], "sex": sex[here], "place": place[here]}
        frames.append(pd.DataFrame(columns | {"week": week, "result": result}))
    return pd.concat(frames, ignore_index=True)


def in_memory(published, frame):
    """Releases of a folder, made of the original records and the groups that were published."""
    releases = []
    for number, one in enumerate(published.releases):
        parts = sorted((published.folder / "private" / "groups.parquet" / f"release-{number:04d}").glob("*.parquet"))
        key = pd.concat([pq.read_table(part).to_pandas() for part in parts]).set_index(published.schema.respondent)[
            "group"
        ]
        view = View(frame[frame["week"] == one.time], published.schema, one.time)
        releases.append(Release(view, Grouping(key.loc[view.people.respondents].to_numpy())))
    return releases


def beliefs_of(folder, release, m):
    """Beliefs of a release on disk by respondent, as dense rows."""
    found = {}
    for part in sorted((folder / f"release-{release:04d}").glob("*.parquet")):
        for row in pq.read_table(part).to_pylist():
            dense = np.zeros(m)
            dense[row["values"]] = row["probabilities"]
            found[row["respondent"]] = dense
    return found


def bytes_of(folder):
    """Content of all files of a folder, by name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def parts_of(folder):
    """Content of all Parquet files of a folder, by name."""
    return {name: content for name, content in bytes_of(folder).items() if name.endswith(".parquet")}
