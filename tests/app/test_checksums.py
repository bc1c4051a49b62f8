"""Checksums identify the files of one publication; the public ones reveal nothing private."""

import hashlib
import json

import numpy as np
import pytest

from foreknow.app.publication import check_key, sums_below, write_manifest, write_release
from foreknow.defenses import MASK, Anatomy, DistinctDiversity, JSReduce
from foreknow.evaluation.checks.program import checksum, settings

FILES = {"public/published.csv": "a", "private/groups.csv": "b", "records.csv": "c"}


@pytest.fixture
def published(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    table, key, records = (tmp_path / name for name in FILES)
    sums = {table.name: checksum(table)}
    write_release(table.parent, sums, [3], Anatomy(2, rng=np.random.default_rng(987654321)), {})
    sums = sums_below(key.parent, key.parent) | sums_below(table.parent, key.parent)
    write_manifest(key.parent, {str(records): checksum(records)}, sums)
    return table, key, records


def test_a_checksum_is_sha_256(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    assert checksum(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_what_the_public_reads(published):
    table, key, records = published
    told = json.loads((table.parent / "release.json").read_text())
    assert set(told) == {"program", "defense", "settings", "times", "columns", "sha256"}
    assert told["times"] == ["3"]
    assert told["sha256"] == {"published.csv": hashlib.sha256(b"a").hexdigest()}
    text = (table.parent / "release.json").read_text()
    assert [
        hidden for hidden in ("rng", "Generator", "987654321", checksum(key), checksum(records)) if hidden in text
    ] == []


def test_the_files_of_one_run_belong_together(published):
    _, key, records = published
    assert check_key(key, records)
    assert (key.parent / "manifest.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["public/published.csv", "public/release.json", "private/groups.csv"])
def test_a_file_of_another_run(published, tmp_path, name):
    """The state after a crash between two renames."""
    (tmp_path / name).write_text("of another run")
    with pytest.raises(ValueError, match=f"{name.split('/')[1]} is not the file that was written with .*manifest.json"):
        check_key(published[1], published[2])


def test_records_that_changed(published):
    published[2].write_text("changed")
    with pytest.raises(ValueError, match=r"records\.csv is not the file that .*groups\.csv was made from"):
        check_key(published[1], published[2])


def test_the_public_files_may_have_gone(published):
    table, key, records = published
    table.unlink()
    (table.parent / "release.json").unlink()
    assert check_key(key, records)


def test_a_key_that_nothing_lists(published, tmp_path):
    _, key, records = published
    (key.parent / "other.csv").write_text("mine")
    assert not check_key(key.parent / "other.csv", records)
    (tmp_path / "alone.csv").write_text("mine")
    assert not check_key(tmp_path / "alone.csv", records)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"sha256": {}}', "\udcff"])
def test_a_file_that_foreknow_did_not_write(published, content):
    _, key, records = published
    (key.parent / "manifest.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=r"manifest\.json .*is not a file that foreknow wrote"):
        check_key(key, records)


@pytest.mark.parametrize(
    ("defense", "words"),
    [
        (Anatomy(3, rng=np.random.default_rng(1)), "Anatomy(l=3"),
        (MASK(3, 2, rng=np.random.default_rng(1)), "grouped=Mondrian"),
        (JSReduce(3, 0.5, 0.6, also=DistinctDiversity(2)), "also=DistinctDiversity(l=2)"),
    ],
)
def test_settings_leave_the_generator_out(defense, words):
    assert words in settings(defense)
    assert "rng" not in settings(defense)
    assert "Generator" not in settings(defense)
