"""Output is there whole, or as if nothing had been begun."""

import pandas as pd
import pytest

from foreknow.evaluation.whole_files import whole_files, write_table


def tree(folder):
    """Every file and folder below one, with what the files hold."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def write(scratch, names="ab"):
    for name in names:
        (scratch / name).write_text(f"new {name}")


def test_files_appear_when_the_block_ends(tmp_path):
    out = tmp_path / "some" / "folder"
    with whole_files(out) as scratch:
        write(scratch)
        assert scratch.parent == out  # the same file system, so moving is one step
        assert [path for path in out.iterdir() if path.is_file()] == []
    assert tree(tmp_path) == {"some": None, "some/folder": None, "some/folder/a": b"new a", "some/folder/b": b"new b"}


def test_a_string_names_a_folder(tmp_path):
    with whole_files(str(tmp_path / "out")) as scratch:
        write(scratch)
    assert tree(tmp_path / "out") == {"a": b"new a", "b": b"new b"}


def test_files_of_the_same_name_are_replaced_and_others_stay(tmp_path):
    (tmp_path / "a").write_text("old a")
    (tmp_path / "c").write_text("old c")
    with whole_files(tmp_path) as scratch:
        write(scratch)
        assert (tmp_path / "a").read_text() == "old a"
    assert tree(tmp_path) == {"a": b"new a", "b": b"new b", "c": b"old c"}


def fail(out, error, names="ab"):
    with whole_files(out) as scratch:
        write(scratch, names)
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_error_leaves_everything_as_it_was(tmp_path, error):
    (tmp_path / "a").write_text("old a")
    before = tree(tmp_path)
    with pytest.raises(error):
        fail(tmp_path, error)
    assert tree(tmp_path) == before


def test_an_error_leaves_no_folder_that_was_made(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="halfway"):
        fail(tmp_path / "there" / "new" / "newer", ValueError("halfway"))
    assert tree(tmp_path) == {"there": None}


def test_an_error_keeps_what_somebody_else_put_there(tmp_path):
    def beside():
        with whole_files(tmp_path / "new") as scratch:
            (scratch.parent / "theirs").write_text("not ours")
            raise ValueError("halfway")

    with pytest.raises(ValueError, match="halfway"):
        beside()
    assert tree(tmp_path) == {"new": None, "new/theirs": b"not ours"}


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="name a folder"), whole_files(tmp_path / "file") as scratch:
        write(scratch)
    with pytest.raises(OSError, match="file"), whole_files(tmp_path / "file" / "below") as scratch:
        write(scratch)
    assert tree(tmp_path) == {"file": b"mine"}


def test_where_one_cannot_be_moved_none_is(tmp_path):
    """A folder stands in the second file's place; the first, which could be replaced, is not."""
    (tmp_path / "a").write_text("old a")
    (tmp_path / "b").mkdir()
    before = tree(tmp_path)
    with pytest.raises(ValueError, match="is a folder"), whole_files(tmp_path) as scratch:
        write(scratch)
    assert tree(tmp_path) == before


def test_what_was_read_is_not_written_over(tmp_path):
    (tmp_path / "b").write_text("the records")
    (tmp_path / "link").symlink_to(tmp_path)
    before = tree(tmp_path)
    for keep in ([tmp_path / "b"], [tmp_path / "link" / "b"], [tmp_path / "elsewhere" / ".." / "b"]):
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        with pytest.raises(ValueError, match="would be written over"), whole_files(tmp_path, keep) as scratch:
            write(scratch)
        (tmp_path / "elsewhere").rmdir()
        assert tree(tmp_path) == before
    with whole_files(tmp_path, [tmp_path / "b"]) as scratch:
        write(scratch, "a")
    assert (tmp_path / "a").read_text() == "new a"


@pytest.mark.parametrize("ending", ["csv", "parquet", "PARQUET"])
def test_tables_are_written_by_their_ending(tmp_path, ending):
    table = pd.DataFrame({"id": ["x", "y"], "week": [1, 2], "p": [0.1, 1 / 3]}, index=[7, 8])
    path = tmp_path / f"t.{ending}"
    write_table(table, path)
    read = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    pd.testing.assert_frame_equal(read, table.reset_index(drop=True), check_dtype=False)
