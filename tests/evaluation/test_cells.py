"""Cells: keys, stale code, order and number of workers, kills, and comparison with kept rows."""

import errno
import importlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import killed_runs
import measured_cells
import numpy as np
import pandas as pd
import pytest
from killed_runs import measured_rows
from measured_cells import DRAWN, SUMS

from foreknow.evaluation import cells
from foreknow.evaluation.cells import Experiment, code_fingerprint, pack, read, recompute, run
from foreknow.models.tables.atomic_file import locked


def keys(experiment, folder):
    """Names of the files of a run, in the order of the cells."""
    return list(run([experiment], folder)["key"].unique())


# --- keys -------------------------------------------------------------------------------------------------------------


def test_the_key_depends_on_the_description_the_data_and_the_revision_alone(tmp_path):
    one = replace(DRAWN, cells=[{"scale": 1, "seed": 2}])
    turned = replace(DRAWN, cells=[{"seed": 2, "scale": 1}])
    others = [
        replace(one, data="another"),
        replace(one, revision=2),
        replace(one, name="other"),
        replace(one, cells=[{"scale": 1.0, "seed": 2}]),
        replace(one, data=lambda cell: f"of {cell['seed']}"),
    ]
    found = [keys(each, tmp_path / str(number)) for number, each in enumerate([one, turned, *others])]
    assert found[0] == found[1]
    assert len({key for (key,) in found}) == len(found) - 1


def test_a_revision_or_other_data_keep_the_draws(tmp_path):
    first, second = run([DRAWN], tmp_path / "1"), run([replace(DRAWN, revision=2, data="b")], tmp_path / "2")
    assert first["draw"].equals(second["draw"])
    assert first["draw"].nunique() == len(first)


def test_rows_have_the_description_and_the_cost(tmp_path):
    table = run([DRAWN, SUMS], tmp_path)
    assert list(table["experiment"].unique()) == ["drawn", "sums"]
    assert list(table.drop_duplicates("key")["seed"].dropna()) == [*range(6), *range(6)]
    assert len(table) == 12 * 200 + 4
    assert not table["stale"].any()
    assert (table["seconds"] >= 0).all()
    assert set(json.loads(table["versions"][0])) > {"python", "numpy"}
    if sys.platform == "linux":
        assert (table["peak_mib"] > 10).all()
    assert table.loc[table["experiment"] == "sums", "draw"].isna().all()


# --- stale cells ------------------------------------------------------------------------------------------------------


@pytest.fixture
def own_modules(tmp_path, monkeypatch):
    """Module `cells_entry` with a measure, and a package, one module of which it reads."""
    folder = tmp_path / "modules"
    (folder / "cells_pack").mkdir(parents=True)
    files = {
        "cells_entry.py": "import pandas as pd\nfrom cells_pack import double\n\n\ndef measure(cell, rng):\n"
        "    '''Measure.'''\n    return pd.DataFrame({'twice': [double(cell['x'])]})\n",
        "cells_pack/__init__.py": "from .used import double\nfrom .other import triple\n",
        "cells_pack/used.py": "FACTOR = 2\n'''Factor.'''\n\n\ndef double(x):\n    return FACTOR * x\n",
        "cells_pack/other.py": "def triple(x):\n    return 3 * x\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(folder)
    entry = importlib.import_module("cells_entry")
    yield folder, Experiment("own", entry.measure, [{"x": 1}, {"x": 2}])
    for name in [name for name in sys.modules if name.startswith("cells_")]:
        del sys.modules[name]


CHANGES = {
    "comment": ("cells_pack/used.py", "FACTOR = 2", "FACTOR = 2  # twice", False),
    "docstring": ("cells_entry.py", "Measure.", "Measure a cell.", False),
    "text": ("cells_pack/used.py", "'''Factor.'''", "", False),
    "unread module": ("cells_pack/other.py", "3 * x", "4 * x", False),
    "read module": ("cells_pack/used.py", "FACTOR * x", "x * FACTOR", True),
    "measure": ("cells_entry.py", "'twice'", "'two times'", True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_cells_of_other_code_are_stale_and_kept(own_modules, tmp_path, change):
    folder, experiment = own_modules
    name, before, after, is_stale = CHANGES[change]
    kept = run([experiment], tmp_path / "cells")
    path = folder / name
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    table = read([experiment], tmp_path / "cells")
    assert table["stale"].tolist() == [is_stale] * 2
    assert table.drop(columns="stale").equals(kept.drop(columns="stale"))
    again = run([experiment], tmp_path / "cells")
    assert not again["stale"].any()
    assert again["seconds"].equals(kept["seconds"]) != is_stale


def test_cells_that_no_experiment_has_are_stale_and_last(tmp_path):
    run([SUMS], tmp_path)
    table = run([replace(SUMS, revision=2, cells=SUMS.cells[:1])], tmp_path)
    assert table["stale"].tolist() == [False, True, True, True, True]
    assert table["revision"].tolist() == [2, 1, 1, 1, 1]
    assert len(read([], tmp_path)) == 5
    assert len(read([SUMS], tmp_path / "none")) == 0


def test_the_fingerprint_covers_the_solvers_that_a_module_reads(monkeypatch):
    """Names of lazy packages lead to their modules."""
    monkeypatch.syspath_prepend(Path(measured_cells.__file__).parents[1])
    measure = importlib.import_module("experiments").EXPERIMENTS[0].measure
    before, plain = code_fingerprint(measure), Path.read_text
    for end, changes in (("joint/group_messages.py", True), ("foreground/fit.py", False), ("cells.py", False)):

        def with_a_statement(path, *given, end=end, **named):
            return plain(path, *given, **named) + "\nADDED = 1\n" * path.as_posix().endswith(end)

        monkeypatch.setattr(Path, "read_text", with_a_statement)
        assert (code_fingerprint(measure) != before) == changes, end


# --- order and workers ------------------------------------------------------------------------------------------------


def test_rows_depend_neither_on_the_order_nor_on_the_number_of_workers(tmp_path):
    turned = [replace(each, cells=each.cells[::-1]) for each in (SUMS, DRAWN)]
    run([DRAWN, SUMS], tmp_path / "1")
    run(turned, tmp_path / "2", workers=2)
    one, two = measured_rows(tmp_path / "1"), measured_rows(tmp_path / "2")
    assert len(one) == 16
    assert one == two


def test_progress_takes_one_item_for_each_missing_cell(tmp_path):
    shown = []
    run([DRAWN], tmp_path, progress=lambda steps: shown.append(len(steps)) or iter(steps))
    next(tmp_path.glob("*/*.parquet")).unlink()
    run([DRAWN], tmp_path, progress=lambda steps: shown.append(len(steps)) or iter(steps))
    assert shown == [12, 1]


# --- kills ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="signals and forks are of POSIX")
@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_a_killed_run_resumes_to_the_same_rows(tmp_path, kills):
    command = [sys.executable, killed_runs.__file__, "cells", str(tmp_path), str(tmp_path), str(kills)]
    found = os.pathsep.join(filter(None, sys.path))
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": found})
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout.splitlines()[-1])["killed"] == kills


def test_files_of_killed_runs_are_removed_after_an_hour(tmp_path):
    (tmp_path / "sums").mkdir()
    for name, age in (("old", cells.ABANDONED_AFTER + 60), ("new", 0)):
        path = tmp_path / "sums" / f".{name}.parquet.0.writing"
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    run([SUMS], tmp_path)
    assert [path.name for path in (tmp_path / "sums").glob(".*")] == [".new.parquet.0.writing"]


def test_a_full_disk_leaves_no_torn_file(tmp_path, monkeypatch):
    def full(self, path, **options):
        Path(path).write_bytes(b"PAR1")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    run([replace(SUMS, cells=SUMS.cells[:1])], tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(pd.DataFrame, "to_parquet", full)
        with pytest.raises(OSError, match="No space left"):
            run([SUMS], tmp_path)
    assert len(list(tmp_path.rglob("*.*"))) == 1
    assert len(run([SUMS], tmp_path)) == 4


# --- one file of many cells -------------------------------------------------------------------------------------------


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_packed_cells_have_the_same_rows(tmp_path):
    mixed = Experiment("mixed", measured_cells.mixed, [{"k": 3}, {"k": "none"}, {"k": None, "large": 2**60 + 1}])
    experiments = [DRAWN, SUMS, mixed]
    before = run(experiments, tmp_path)
    pack(experiments, tmp_path)
    assert files(tmp_path) == ["drawn.parquet", "mixed.parquet", "sums.parquet"]
    pd.testing.assert_frame_equal(read(experiments, tmp_path), before)
    pack(experiments, tmp_path)
    pd.testing.assert_frame_equal(run(experiments, tmp_path), before)
    found = recompute(experiments, tmp_path, 60, np.random.default_rng(1))
    assert found["difference"].tolist() == [""] * 19


def test_a_kill_while_cells_are_packed_loses_none(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    before = run([SUMS], tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            pack([SUMS], tmp_path)
    assert len(files(tmp_path)) >= 5
    pd.testing.assert_frame_equal(read([SUMS], tmp_path), before)
    pack([SUMS], tmp_path)
    assert files(tmp_path) == ["sums.parquet"]


def test_measured_cells_replace_the_packed_ones(own_modules, tmp_path):
    folder, experiment = own_modules
    more = replace(experiment, cells=[*experiment.cells, {"x": 3}])
    kept = tmp_path / "cells"
    run([more], kept)
    pack([more], kept)
    path = folder / "cells_pack" / "used.py"
    path.write_text(path.read_text().replace("FACTOR = 2", "FACTOR = 5"))
    sys.modules["cells_pack.used"].FACTOR = 5
    assert read([experiment], kept)["stale"].all()
    for _ in range(2):
        table = run([experiment], kept)
        assert table[["x", "twice", "stale"]].to_numpy().tolist() == [[1, 5, False], [2, 10, False], [3, 6, True]]
        pack([experiment], kept)
    assert files(kept) == ["own.parquet"]


# --- cells measured again ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("added", "is_different"), [(1e-12, False), (1e-6, True), (np.nan, True)])
def test_a_cell_that_differs_is_named(tmp_path, added, is_different):
    run([DRAWN], tmp_path)
    path = sorted(tmp_path.glob("*/*.parquet"))[5]
    table = pd.read_parquet(path)
    table.loc[7, "draw"] += added
    table.to_parquet(path, index=False)
    found = recompute([DRAWN], tmp_path, 60, np.random.default_rng(1))
    assert len(found) == 12
    different = found[found["difference"] != ""]
    assert different["key"].tolist() == [path.stem] * is_different
    assert different["cell"].str.startswith('drawn {"scale":').all()
    assert different["difference"].str.contains("draw").all()


def timed(cell, rng):
    return pd.DataFrame({"draw": [rng.random()], "work_seconds": [time.perf_counter()]})


def test_measured_times_may_differ(tmp_path):
    experiment = Experiment("timed", timed, [{"seed": 1}])
    run([experiment], tmp_path)
    assert recompute([experiment], tmp_path, 60, np.random.default_rng(1))["difference"].tolist() == [""]


def test_only_fast_cells_are_measured_again_within_the_time(tmp_path):
    run([DRAWN, SUMS], tmp_path)
    assert len(recompute([DRAWN, SUMS], tmp_path, 0, np.random.default_rng(1))) == 1
    assert len(recompute([DRAWN, SUMS], tmp_path, 60, np.random.default_rng(1), fast=-1.0)) == 0
    assert len(recompute([SUMS], tmp_path, 60, np.random.default_rng(1))) == 4


# --- wrong input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_packed", [False, True])
def test_cells_of_other_data_are_refused(tmp_path, is_packed):
    run([replace(SUMS, data="one"), DRAWN], tmp_path)
    if is_packed:
        pack([SUMS, DRAWN], tmp_path)
    with pytest.raises(
        ValueError, match="cells of the experiment sums of other data, with the fingerprint 'one' for 'other'"
    ):
        run([replace(SUMS, data="other"), DRAWN], tmp_path)


CHANGED_FILES = {
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "empty": lambda path: path.write_bytes(b""),
    "foreign": lambda path: pd.DataFrame({"x": [1]}).to_parquet(path),
    "of another experiment": lambda path: pd.read_parquet(path).assign(experiment="drawn").to_parquet(path),
    "without code": lambda path: pd.read_parquet(path).drop(columns="code").to_parquet(path),
}


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("change", CHANGED_FILES)
def test_a_file_that_is_not_of_cells_is_named(tmp_path, change, is_packed):
    run([SUMS, DRAWN], tmp_path)
    if is_packed:
        pack([SUMS], tmp_path)
    path = tmp_path / "sums.parquet" if is_packed else next(tmp_path.glob("sums/*"))
    CHANGED_FILES[change](path)
    for each in (run, read) if is_packed else (run, read, pack):
        with pytest.raises(ValueError, match="no file of kept cells") as error:
            each([SUMS, DRAWN], tmp_path)
        assert path.name in str(error.value)
    path.unlink()
    assert not run([SUMS, DRAWN], tmp_path)["stale"].any()


@pytest.mark.skipif(os.name == "nt", reason="folders have no locks")
def test_a_second_run_in_the_folder_is_refused(tmp_path):
    with locked(tmp_path):
        for each in (run, pack):
            with pytest.raises(ValueError, match="another run is writing into it"):
                each([SUMS], tmp_path)
    assert len(run([SUMS], tmp_path)) == 4


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        ({"x": np.int64(1)}, ValueError, "'x' of a cell is np.int64"),
        ({"x": [1]}, ValueError, r"'x' of a cell is \[1\]"),
        ({"x": float("nan")}, ValueError, "'x' of a cell is nan"),
        ({1: "x"}, ValueError, "1 of a cell is 'x'"),
        ([1], TypeError, "a cell is .* is a mapping of names"),
    ],
)
def test_a_cell_is_a_mapping_of_names_to_scalars(cell, error, message):
    with pytest.raises(error, match=message):
        Experiment("x", measured_cells.drawn, [cell])


def test_cells_of_equal_keys_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r'two cells are \{"a":1,"b":2\}, of one key'):
        Experiment("x", measured_cells.drawn, [{"a": 1, "b": 2}, {"b": 2, "a": 1}])
    with pytest.raises(ValueError, match="two cells are sums"):
        run([SUMS, SUMS], tmp_path)


@pytest.mark.parametrize(("name", "measure"), [("two words", measured_cells.drawn), ("x", max)])
def test_a_name_is_an_identifier_and_a_measure_a_function(name, measure):
    with pytest.raises(ValueError, match="an identifier and a function"):
        Experiment(name, measure, [{}])


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("measure", "error", "message"),
    [
        (measured_cells.number, TypeError, r"cell x \{\"scale\":0\}: its measure is 3; it returns a DataFrame"),
        (measured_cells.nothing, ValueError, r"cell x \{\"scale\":0\}: its measure gave \(0, 1\)"),
        (measured_cells.repeated, ValueError, "each name once"),
        (measured_cells.failing, ZeroDivisionError, r"in the cell x \{\"scale\":0\}"),
    ],
)
def test_a_wrong_measure_is_named_with_its_cell(tmp_path, measure, error, message, workers):
    with pytest.raises(error, match=message):
        run([Experiment("x", measure, [{"scale": 0}])], tmp_path, workers=workers)
    assert list(tmp_path.glob("*/*.parquet")) == []
