"""Folders of publications written by hand, and every way in which they differ from their listings."""

import hashlib
import json
from pathlib import Path

import pytest

from foreknow.app.publication import Difference, Listing, differences, listing_of, read_json

SUM = hashlib.sha256(b"a").hexdigest()


@pytest.fixture
def folder(tmp_path):
    """A publication with one public and one private file beside the manifest and the certificate."""
    for name in ("public/published.csv", "private/groups.csv"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("a")
    manifest = {"sha256": {"groups.csv": SUM, "../public/published.csv": SUM, "../public/certificate.json": ""}}
    (tmp_path / "public/certificate.json").write_text(json.dumps({"files": {"published.csv": SUM}}))
    certificate = (tmp_path / "public/certificate.json").read_bytes()
    manifest["sha256"]["../public/certificate.json"] = hashlib.sha256(certificate).hexdigest()
    (tmp_path / "private/manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def found(folder):
    return differences(folder, listing_of(folder))


def test_nothing_differs(folder):
    assert listing_of(folder).path == folder / "private/manifest.json"
    assert listing_of(folder / "public") == Listing(folder / "public/certificate.json", {"published.csv": SUM})
    assert found(folder) == found(folder / "public") == []


def test_each_difference_is_named(folder):
    (folder / "private/groups.csv").write_text("b")
    (folder / "public/published.csv").unlink()
    (folder / "public/part").mkdir()
    for extra in ("public/part/notes.txt", "private/key.txt"):
        (folder / extra).write_text("a")
    assert found(folder) == [
        Difference("private/groups.csv", "changed"),
        Difference("public/published.csv", "missing"),
        Difference("private/key.txt", "extra"),
        Difference("public/part/notes.txt", "extra"),
    ]
    assert found(folder / "public") == [Difference("published.csv", "missing"), Difference("part/notes.txt", "extra")]


def test_parts_of_tables_are_searched(folder):
    (folder / "release/1").mkdir(parents=True)
    (folder / "release/1/part-0.parquet").write_text("a")
    assert found(folder) == [Difference("release/1/part-0.parquet", "extra")]


@pytest.mark.parametrize(
    "name",
    ["notes.txt", "other/notes.txt", "private/new/key.csv", "private/.key.csv", "private/done/0/x", "public/.hidden/x"],
)
def test_a_file_in_any_place_is_extra(folder, name, monkeypatch):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("a")
    assert found(folder) == [Difference(name, "extra")]
    monkeypatch.chdir(folder / "public")
    for place in (Path(".."), Path("../public/..")):
        assert found(place) == [Difference(name, "extra")]


def test_files_of_runs_that_last_are_not_extra(folder):
    for name in ("private/foreknow-a-1-2-ab1_cdef/part.parquet", ".foreknow-host.a-17-31-ab1_cdef/files/levels.csv"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("a")
    assert found(folder) == []
    (folder / "private/foreknow-other").write_text("a")
    assert found(folder) == [Difference("private/foreknow-other", "extra")]


def test_a_link_to_another_place(folder):
    (folder / "private/groups.csv").unlink()
    elsewhere = folder.parent / "elsewhere.csv"
    elsewhere.write_text("b")
    (folder / "private/groups.csv").symlink_to(elsewhere)
    assert found(folder) == [Difference("private/groups.csv", "changed")]
    elsewhere.write_text("a")
    assert found(folder) == []


def test_links_to_folders(folder):
    """The private folder may lie elsewhere; a link to a folder without a listed file is extra."""
    elsewhere = folder.parent / "elsewhere"
    (folder / "private").rename(elsewhere)
    (folder / "private").symlink_to(elsewhere)
    assert found(folder) == []
    (folder / "public/more").symlink_to(elsewhere)
    assert found(folder) == [Difference("public/more", "extra")]


def test_a_folder_in_the_place_of_a_file(folder):
    (folder / "private/groups.csv").unlink()
    (folder / "private/groups.csv").mkdir()
    assert found(folder) == [Difference("private/groups.csv", "unreadable")]


def test_what_is_no_publication(folder):
    (folder / "private/manifest.json").unlink()
    with pytest.raises(ValueError, match=r"is no publication: it has neither private/manifest\.json nor certificate"):
        listing_of(folder)
    (folder / "private/begun.json").write_text("{}")
    with pytest.raises(ValueError, match="holds a publication that is not complete"):
        listing_of(folder)


@pytest.mark.parametrize("sums", [None, [], "a"])
def test_a_manifest_without_checksums(folder, sums):
    (folder / "private/manifest.json").write_text(json.dumps({"sha256": sums}))
    with pytest.raises(ValueError, match="has no checksums; it is not a file that foreknow wrote"):
        listing_of(folder)


@pytest.mark.parametrize("content", [b"[1]", b"{", b"\xff", None])
def test_what_is_no_object(tmp_path, content):
    path = tmp_path / "manifest.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        ValueError, match="is not a file that foreknow wrote; run the command again, into another folder"
    ):
        read_json(path)
