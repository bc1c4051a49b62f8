"""Output files are written completely, or the folder is as before."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from foreknow.app.atomic_output import atomic_output, check_output
from foreknow.app.cli.files.written_tables import write_table


def tree(folder):
    """Every file and folder below a folder, with the contents of the files."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def write(scratch, names="ab"):
    for name in names:
        (scratch / name).write_text(f"new {name}")


def test_files_appear_when_the_block_ends(tmp_path):
    out = tmp_path / "some" / "folder"
    with atomic_output(out) as scratch:
        write(scratch)
        assert scratch.parent.parent == out.parent  # the same file system, so moving is one step
        assert not out.exists()
    assert tree(tmp_path) == {"some": None, "some/folder": None, "some/folder/a": b"new a", "some/folder/b": b"new b"}


def test_a_string_names_a_folder(tmp_path):
    with atomic_output(str(tmp_path / "out")) as scratch:
        write(scratch)
    assert tree(tmp_path / "out") == {"a": b"new a", "b": b"new b"}


def test_files_of_the_same_name_are_replaced_and_others_stay(tmp_path):
    (tmp_path / "a").write_text("old a")
    (tmp_path / "c").write_text("old c")
    with atomic_output(tmp_path, overwrite=True) as scratch:
        write(scratch)
        assert (tmp_path / "a").read_text() == "old a"
    assert tree(tmp_path) == {"a": b"new a", "b": b"new b", "c": b"old c"}


def fail(out, error, names="ab"):
    with atomic_output(out) as scratch:
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


def test_an_error_keeps_files_of_another_process(tmp_path):
    def beside():
        with atomic_output(tmp_path / "new" / "out"):
            (tmp_path / "new" / "theirs").write_text("not ours")
            raise ValueError("halfway")

    with pytest.raises(ValueError, match="halfway"):
        beside()
    assert tree(tmp_path) == {"new": None, "new/theirs": b"not ours"}


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="name another folder"), atomic_output(tmp_path / "file") as scratch:
        write(scratch)
    with (
        pytest.raises(ValueError, match="is a file, and the output is a folder"),
        atomic_output(tmp_path / "file" / "below") as scratch,
    ):
        write(scratch)
    assert tree(tmp_path) == {"file": b"mine"}


def test_where_one_cannot_be_moved_none_is(tmp_path):
    """If the second file cannot be moved, the first is not replaced either."""
    (tmp_path / "a").write_text("old a")
    (tmp_path / "b").mkdir()
    before = tree(tmp_path)
    with pytest.raises(ValueError, match="is a folder"), atomic_output(tmp_path, overwrite=True) as scratch:
        write(scratch)
    assert tree(tmp_path) == before


def test_what_was_read_is_not_written_over(tmp_path):
    (tmp_path / "b").write_text("the records")
    (tmp_path / "link").symlink_to(tmp_path)
    before = tree(tmp_path)
    for keep in ([tmp_path / "b"], [tmp_path / "link" / "b"], [tmp_path / "elsewhere" / ".." / "b"]):
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        with pytest.raises(ValueError, match="would be written over"), atomic_output(tmp_path, keep) as scratch:
            write(scratch)
        (tmp_path / "elsewhere").rmdir()
        assert tree(tmp_path) == before
    with atomic_output(tmp_path, [tmp_path / "b"]) as scratch:
        write(scratch, "a")
    assert (tmp_path / "a").read_text() == "new a"


@pytest.mark.parametrize("ending", ["csv", "parquet", "PARQUET"])
def test_tables_are_written_by_their_ending(tmp_path, ending):
    table = pd.DataFrame({"id": ["x", "y"], "week": [1, 2], "p": [0.1, 1 / 3]}, index=[7, 8])
    path = tmp_path / f"t.{ending}"
    write_table(table, path)
    read = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    pd.testing.assert_frame_equal(read, table.reset_index(drop=True), check_dtype=False)


class TestOverwriting:
    def test_what_is_there_stays_unless_asked(self, tmp_path):
        (tmp_path / "b").write_text("old b")
        before = tree(tmp_path)
        with pytest.raises(ValueError, match=r"b is already there; .*--overwrite"), atomic_output(tmp_path) as scratch:
            write(scratch)
        assert tree(tmp_path) == before

    def test_a_link_to_nowhere_is_there_too(self, tmp_path):
        (tmp_path / "a").symlink_to(tmp_path / "nowhere")
        with pytest.raises(ValueError, match="a is already there"):
            check_output(tmp_path, ["a"])

    def test_it_can_be_asked_before_anything_runs(self, tmp_path):
        (tmp_path / "public").mkdir()
        (tmp_path / "public" / "b").write_text("old b")
        check_output(tmp_path, ["a", "public/a"])
        check_output(tmp_path, ["public/b"], overwrite=True)
        with pytest.raises(ValueError, match="b is already there"):
            check_output(tmp_path, ["a", "public/b"])


@pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")
class TestModes:
    def test_folders_keep_their_modes(self, tmp_path):
        with atomic_output(tmp_path / "out") as scratch:
            (scratch / "public").mkdir(mode=0o755)
            (scratch / "private").mkdir(mode=0o700)
            write(scratch / "private")
            write(scratch / "public")
        assert (tmp_path / "out" / "private").stat().st_mode & 0o777 == 0o700
        assert {name for name in tree(tmp_path / "out") if "/" in name} == {
            "private/a", "private/b", "public/a", "public/b",
        }  # fmt: skip

    @pytest.mark.parametrize("ending", ["csv", "parquet"])
    def test_a_private_file_is_so_from_its_creation(self, tmp_path, ending, monkeypatch):
        """The writer opens an empty file that is already private."""
        path, seen = tmp_path / f"t.{ending}", []
        for owner, name in [(pd.DataFrame, "to_csv"), (pq, "write_table")]:
            real = getattr(owner, name)

            def watched(*args, real=real, **options):
                seen.append((path.stat().st_mode & 0o777, path.stat().st_size))
                return real(*args, **options)

            monkeypatch.setattr(owner, name, watched)
        write_table(pd.DataFrame({"a": [1]}), path, private=True)
        assert seen == [(0o600, 0)]
        assert path.stat().st_mode & 0o777 == 0o600


class TestKilledRuns:
    """A scratch folder is removed if its process is dead or it is old."""

    def scratch(self, folder, machine, process, age=0.0, end="abcd_123"):
        path = folder / f".foreknow-{machine}-{process}-{end}"
        path.mkdir()
        (path / "half.csv").write_text("half")
        os.utime(path, (time.time() - age, time.time() - age))
        return path

    def dead(self):
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        return process.pid

    @pytest.mark.skipif(os.name == "nt", reason="there a process cannot be asked")
    def test_of_a_process_that_is_dead(self, tmp_path):
        with atomic_output(tmp_path) as scratch:
            machine = scratch.parent.name.split("-")[1]
            write(scratch)
        gone = self.scratch(tmp_path, machine, self.dead())
        mine = self.scratch(tmp_path, machine, os.getpid())
        theirs = self.scratch(tmp_path, "elsewhere", self.dead())
        # An earlier process had the number of this one, and started in the first second of the system.
        earlier = self.scratch(tmp_path, machine, f"{os.getpid()}-1", end="abcd_126")
        with (
            pytest.warns(UserWarning, match="which a run that was killed has left, is removed"),
            atomic_output(tmp_path, overwrite=True) as scratch,
        ):
            write(scratch)
        assert [path.exists() for path in (gone, mine, theirs)] == [False, True, True]
        assert earlier.exists() == (not Path("/proc/self/stat").exists())

    @pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without a signal")
    def test_a_command_that_is_terminated_removes_its_own(self, tmp_path):
        code = (
            "import sys, time\n"
            "from pathlib import Path\n"
            "from foreknow.app.cli import command_line\n"
            "from foreknow.models.tables.atomic_file import scratch_folder\n"
            "def app():\n"
            "    with scratch_folder(Path(sys.argv[1])) as folder:\n"
            "        (folder / 'half').touch()\n"
            "        print('begun', flush=True)\n"
            "        time.sleep(60)\n"
            "command_line.app = app\n"
            "command_line.main()\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"begun\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.terminate()
        assert process.wait() == 143
        process.stdout.close()
        assert not list(tmp_path.iterdir())

    def test_of_the_day_before_yesterday(self, tmp_path):
        old = self.scratch(tmp_path, "elsewhere", 7, age=49 * 3600)
        with pytest.warns(UserWarning, match=old.name), atomic_output(tmp_path) as scratch:
            write(scratch)
        assert not old.exists()

    def test_nothing_else_is_removed(self, tmp_path):
        others = [
            self.scratch(tmp_path, "elsewhere", "x", age=1e6),
            self.scratch(tmp_path, "elsewhere", 7, age=1e6, end="abcd"),
            self.scratch(tmp_path, "else/where".replace("/", "_"), 7, age=1e6),
        ]
        (tmp_path / ".foreknow-elsewhere-7-abcd_124").write_text("a file")
        kept = tmp_path / "theirs"
        kept.mkdir()
        (tmp_path / ".foreknow-elsewhere-7-abcd_125").symlink_to(kept)
        before = tree(tmp_path)
        with atomic_output(tmp_path) as scratch:
            write(scratch, "")
        assert tree(tmp_path) == before
        assert all(path.exists() for path in others)

    def test_a_killed_run_is_cleaned_up_by_the_next(self, tmp_path):
        """A real process is killed while it writes."""
        code = (
            "import os, signal, sys\n"
            "from foreknow.app.atomic_output import atomic_output\n"
            "with atomic_output(sys.argv[1]) as scratch:\n"
            "    (scratch / 'half').write_text('secret')\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=False)
        assert b"secret" in tree(tmp_path).values()
        with pytest.warns(UserWarning, match="is removed"), atomic_output(tmp_path / "out") as scratch:
            write(scratch)
        assert tree(tmp_path / "out") == {"a": b"new a", "b": b"new b"}


class TestPlainColumns:
    """Parquet files hold cells only, no metadata of pandas."""

    def test_what_the_bytes_say(self, tmp_path):
        everything = pd.DataFrame({"disease": pd.Categorical(["flu", "lupus", "flu"]), "age": [1, 2, 3]})
        everything = everything.rename_axis(columns="hidden-axis").set_index(pd.Index([7, 8, 9], name="hidden-index"))
        everything.attrs["owner"] = "hidden-owner"
        shown = everything[everything["disease"] != "lupus"]
        assert "lupus" in shown["disease"].cat.categories
        write_table(shown, tmp_path / "t.parquet")
        data = (tmp_path / "t.parquet").read_bytes()
        assert [word for word in (b"lupus", b"hidden", b"pandas") if word in data] == []
        assert pd.read_parquet(tmp_path / "t.parquet").to_dict("list") == {"disease": ["flu", "flu"], "age": [1, 3]}

    def test_values_of_several_types_are_one_clear_error(self, tmp_path):
        with pytest.raises(ValueError, match="the column 'a' cannot be written as parquet"):
            write_table(pd.DataFrame({"a": pd.Series([1, "x"], dtype=object)}), tmp_path / "t.parquet")

    @pytest.mark.parametrize("dtype", ["Int64", "string", "category", "datetime64[s]", "str", "boolean"])
    def test_columns_of_every_kind(self, dtype, tmp_path):
        values = {"datetime64[s]": ["2026-01-01"], "boolean": [True]}.get(dtype, [5] if dtype == "Int64" else ["a"])
        column = pd.Series([*values, *values]).astype(dtype)
        write_table(pd.DataFrame({"a": column}), tmp_path / "t.parquet")
        assert pq.read_table(tmp_path / "t.parquet")["a"].to_pylist() == column.tolist()
