"""Small histories on disk, and the same releases in memory."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from foreknow.app.disk import LargeTable
from foreknow.defenses import publish
from foreknow.models import Adversary, Grouping, History, MarkovChain, Release, UniformPrior, View

CHAIN = MarkovChain(1, 0.6 * np.eye(3) + 0.4 / 3)
KNOWN = Adversary(UniformPrior(), CHAIN)
"""Knowledge about the records of `panel`."""


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


def panel(people=120, releases=5, seed=1, leave=0.15, back=0.1):
    """A long table, in random order, in which respondents leave and return."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, people), rng.choice(["f", "m"], people)
    here, frames = np.ones(people, dtype=bool), []
    for week in range(releases):
        here = np.where(here, rng.random(people) >= leave, rng.random(people) < back)
        here[0] = True
        who = np.flatnonzero(here)
        columns = {"id": 7 * who, "age": age[who], "sex": sex[who], "week": week}
        frames.append(pd.DataFrame(columns | {"result": rng.choice(["u", "v", "w"], len(who))}))
    return pd.concat(frames).sample(frac=1, random_state=seed).reset_index(drop=True)


def on_disk(folder, frame):
    folder.mkdir(exist_ok=True)
    frame.to_parquet(folder / "visits.parquet", row_group_size=50)
    return LargeTable.infer(folder / "visits.parquet", ["age", "sex"], time="week")


def published_in_memory(table, frame, defense, adversary, seed):
    """Releases of `publish`, with the generators that `publish_large` documents."""
    own, orders = (np.random.default_rng([seed, stream]) for stream in (0, 1))
    return publish(History.read(frame, table.schema, "week"), defense(rng=own), adversary, rng=orders)
