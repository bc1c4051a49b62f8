"""One layout of a publication: the files, columns and modes in memory and from disk, which the same commands read."""

import json

import pandas as pd
import pytest
from commands import ROLES, records, run, write

from foreknow.models.tables.table_files import read_table


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The records, and the folders of one publication in memory and one from disk."""
    folder = tmp_path_factory.mktemp("layouts")
    source = write(records(weeks=(1, 2)), folder / "r.parquet")
    common = ["publish", source, *ROLES, "--defense", "mondrian", "-k", 3, "-l", 2, "--seed", 1]
    run(*common, "--out", folder / "memory")
    run(*common, "--from-disk", "--out", folder / "disk")
    return source, folder / "memory", folder / "disk"


def test_names_and_columns_are_the_same(published):
    _, *folders = published
    names = [{path.name for part in ("public", "private") for path in (out / part).iterdir()} for out in folders]
    assert names[0] <= names[1]
    assert names[1] - names[0] == {"begun.json", "done"}
    for table in ("public/published.parquet", "private/groups.parquet"):
        in_memory, on_disk = (read_table(out / table) for out in folders)
        assert list(in_memory.columns) == [name for name in on_disk.columns if not name.startswith("_")]
        assert len(in_memory) == len(on_disk)
    told = [json.loads((out / "public" / "release.json").read_text()) for out in folders]
    assert [each.pop("sha256").keys() for each in told]
    assert told[0] == told[1]


def test_private_files_are_for_their_owner_alone(published):
    for out in published[1:]:
        assert (out / "private").stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in (out / "private").rglob("*") if path.is_file()} == {0o600}
        assert {path.stat().st_mode & 0o777 for path in (out / "public").rglob("*") if path.is_file()} == {0o644}


@pytest.mark.parametrize("place", ["", "public"])
def test_one_check_reads_both(published, place):
    for out in published[1:]:
        assert (
            "Checked, each release alone: every group satisfies the requirements." in run("check", out / place).stdout
        )


def test_one_attack_reads_both(published, tmp_path):
    """The groups of one block are those in memory but for ties, so that each key has its own number of groups."""
    source, *folders = published
    for number, out in enumerate(folders):
        run(
            "attack",
            source,
            *ROLES,
            "--knowledge",
            "records",
            "--attack",
            "snapshot",
            "--groups",
            out,
            "--out",
            tmp_path / f"{number}",
        )
        beliefs = pd.read_parquet(tmp_path / f"{number}" / "beliefs.parquet")
        key = read_table(out / "private" / "groups.parquet").set_index(["id", "week"])["group"]
        own = beliefs.set_index(["id", "week"])["group"]
        pairs = pd.DataFrame({"key": key, "own": own}).dropna().groupby("week")
        assert len(own) == len(key)
        assert all(len(part.drop_duplicates()) == part["key"].nunique() == part["own"].nunique() for _, part in pairs)
    table = folders[1] / "public" / "published.parquet"
    told = run("attack", table, "--published", "--qi", "age", "--qi", "town", "--sensitive", "result")
    assert "records are in groups" in told.stdout
