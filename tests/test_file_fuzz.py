"""Every reader of files answers, or raises one clear error, whatever bytes it is given.

Half of the examples of the profile for each reader: 30, or 300 in each run with ``--hypothesis-profile=long``.
"""

import csv
import io
import json
import re
import string
import traceback
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import history_of
from typer.testing import CliRunner

from foreknow.app.cli import command_line
from foreknow.app.cli.files.release_files import read_statements
from foreknow.app.disk import LargeTable, attack_large, measure_large, publish_large
from foreknow.app.disk.publication import LargeReleases
from foreknow.attacks import SnapshotAttack
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.models import (
    Adversary,
    Beliefs,
    Categorical,
    ExternalKnowledge,
    Hierarchy,
    History,
    Numeric,
    RandomWorlds,
    Release,
    Schema,
    UniformPrior,
)
from foreknow.models.tables.table_files import read_table

pytestmark = pytest.mark.slow

few = settings(max_examples=settings().max_examples // 2)
EXPECTED = (TypeError, ValueError)
"""Errors of a wrong file; ``Infeasible`` and ``TooLarge`` are ValueErrors."""

HISTORY = history_of(("ABC", "abc"), ("AB", "ba"))
RELEASE = Release(HISTORY[0], [0, 0, 1])
BELIEFS = SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds()))([RELEASE])
SCHEMA = Schema({"age": Numeric(0, 99), "sex": Categorical(("f", "m"))}, "result", ("a", "b"))
CSV = b"id,week,age,sex,result\np1,1,20,f,a\np2,1,31,m,b\np1,2,20,f,b\n"
TOML = b'sensitive = "result"\nqi = ["age", "sex"]\n[publish]\nk = 2\ndefense = "mondrian"\n'
TREE = b"20;20-29;*\n31;30-39;*\n22;20-29;*\n"
STATEMENTS = b"value,low,high,age,sex\na,.2,.4,20..29,f\nb,0,,,m\n"
KNOWLEDGE = b'label,items\nflu,"cough, fever"\ncold,cough\n'
TOKENS = (
    *(b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"=", b"[", b"]"),
    *(b"{", b"}", b"nan", b"NaN", b"inf", b"-1", b"1e999", b"9" * 400, b"0x1p3", b"null", b"true", b"..", b"\\", b"\xc3\xa9"),
    *(b"\xe9", b"p1,1", b"2024-01-01", b"1/2/2024", b"id", b"week", b"*", b"=1+1", b"\x1b[31m", b" ", b"1,5", b"[[", b"publish"),
    *(b"attack", b"a" * 300),
)  # fmt: skip


def large_table(path):
    return LargeTable.infer(path, ["age", "sex"], time="week")


def publication(folder):
    """Publication from disk in a folder."""
    pd.read_csv(io.BytesIO(CSV)).to_parquet(folder / "t.parquet")
    return publish_large(large_table(folder / "t.parquet"), Mondrian(KAnonymity(1)), folder / "published", seed=1)


def write_manifest(path):
    with TemporaryDirectory() as folder:
        manifest = publication(Path(folder)).folder / "private" / "manifest.json"
        path.write_bytes(manifest.read_bytes())


def read_manifest(path):
    """Releases of a folder that has a manifest alone."""
    (path.parent / "private").mkdir(exist_ok=True)
    (path.parent / "private" / path.name).write_bytes(path.read_bytes())
    return LargeReleases(path.parent)


@cache
def attacked():
    """Publication, its adversary and the files of an attack on it, by name."""
    with TemporaryDirectory() as name:
        published, adversary = publication(Path(name)), Adversary(UniformPrior(), estimator=RandomWorlds())
        folder = attack_large(published, adversary, Path(name, "beliefs"))
        read = [
            {path.relative_to(one): path.read_bytes() for path in one.rglob("*.*") if path.is_file()}
            for one in (published.folder, folder)
        ]
    return adversary, *read


def measured_with(name):
    """Writer of a file of an attack, and reader that measures the attack with such a file."""

    def write(path):
        path.write_bytes(attacked()[2][Path(name)])

    def read(path):
        adversary, published, beliefs = attacked()
        with TemporaryDirectory() as folder:
            for place, files in (("published", published), ("beliefs", beliefs | {Path(name): path.read_bytes()})):
                for file, content in files.items():
                    Path(folder, place, file).parent.mkdir(parents=True, exist_ok=True)
                    Path(folder, place, file).write_bytes(content)
            return measure_large(LargeReleases(Path(folder, "published")), Path(folder, "beliefs"), adversary)

    return Path(name).name, write, read


def saved(tmp_path_factory, name, write):
    path = tmp_path_factory.mktemp("seed") / name
    write(path)
    return path.read_bytes()


@st.composite
def damaged(draw, content):
    """Bytes of a good file, with parts cut, repeated, replaced by tokens or by random bytes."""
    content = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        end = min(len(content), at + draw(st.sampled_from([0, 1, 2, 8, 64, len(content)])))
        kind = draw(st.integers(0, 3))
        part = {
            0: b"",
            1: draw(st.sampled_from(TOKENS)),
            2: bytes(content[at:end]) * 2,
            3: draw(st.binary(min_size=1, max_size=4)),
        }[kind]
        content[at:end] = part
    return bytes(content)


def check(read, path):
    """Call a reader; only one clear error may leave it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read(path)
        except EXPECTED as error:
            check_message(error)
            return None


def check_message(error):
    """A message of the package itself, of at least three words, raised where no assertion failed."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert len(str(error).split()) >= 3, (error, last)
    assert "foreknow" in last.filename or "/models/" in last.filename or "/evaluation/" in last.filename, (error, last)


TEXTS = {
    "csv": (CSV, "t.csv", lambda path: History.read(path, SCHEMA)),
    "hierarchy": (TREE, "tree.csv", Hierarchy.read),
    "knowledge": (KNOWLEDGE, "known.csv", ExternalKnowledge.read),
    "statements": (STATEMENTS, "statements.csv", lambda path: read_statements(path, SCHEMA)),
}
BINARIES = {
    "parquet": ("t.parquet", lambda path: pd.read_csv(io.BytesIO(CSV)).to_parquet(path), lambda path: History.read(path, SCHEMA)),
    "history": ("history.parquet", HISTORY.save, History.load),
    "release": ("release.parquet", RELEASE.save, Release.load),
    "beliefs": ("beliefs.nc", BELIEFS.save, Beliefs.load),
    "large": (
        "t.parquet",
        lambda path: pd.read_csv(io.BytesIO(CSV)).to_parquet(path),
        large_table,
    ),
    "publication": ("manifest.json", write_manifest, read_manifest),
    "attack": measured_with("manifest.json"),
    "part of an attack": measured_with("release-0000/part-00000.parquet"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzzed")


@pytest.mark.parametrize("kind", TEXTS)
@few
@given(data=st.data())
def test_text_files_are_read_or_refused(kind, data, folder):
    content, name, read = TEXTS[kind]
    (folder / name).write_bytes(data.draw(damaged(content)))
    check(read, folder / name)


# h5netcdf leaves a file object that cannot be closed behind, if the file is no HDF5 file.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", BINARIES)
@few
@given(data=st.data())
def test_binary_files_are_read_or_refused(kind, data, folder, tmp_path_factory):
    name, write, read = BINARIES[kind]
    if kind not in SEEDS:
        SEEDS[kind] = saved(tmp_path_factory, name, write)
    (folder / name).write_bytes(data.draw(damaged(SEEDS[kind])))
    check(read, folder / name)


SEEDS = {}


@pytest.mark.parametrize("name", ["options.toml", "options.json"])
@few
@given(data=st.data())
def test_files_of_options_are_read_or_refused(name, data, folder):
    options = {"command": "describe", "options": {"separator": ",", "encoding": "utf-8"}}
    content = TOML if name.endswith("toml") else json.dumps(options).encode()
    (folder / name).write_bytes(data.draw(damaged(content)))
    (folder / "records.csv").write_bytes(CSV)
    call = ["describe", str(folder / "records.csv"), "--config", str(folder / name)]
    result = CliRunner().invoke(command_line.app, call)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        assert isinstance(result.exception, EXPECTED), result.exc_info
        check_message(result.exception)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\n"), max_size=6)


@few
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=5), separator=st.sampled_from(",;\t|"))
def test_texts_of_a_csv_file_are_those_written(rows, separator, folder):
    written = io.StringIO()
    csv.writer(written, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("x", "y"), *rows])
    (folder / "texts.csv").write_text(written.getvalue(), encoding="utf-8", newline="")
    table = read_table(folder / "texts.csv", text=("x", "y"), separator=separator)
    assert table.fillna("").to_numpy().tolist() == [list(row) for row in rows]


names = st.text(string.ascii_letters + string.digits + " -éß*", min_size=1, max_size=4).map(str.strip).filter(bool)


@few
@given(rows=st.lists(st.tuples(names, names), min_size=1, max_size=6, unique_by=lambda row: row[0]))
def test_values_of_a_hierarchy_are_the_first_labels(rows, folder):
    lines = [f"{value};{parent}+;root" for value, parent in rows]
    (folder / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    hierarchy = check(Hierarchy.read, folder / "rows.csv")
    if hierarchy is not None:
        assert set(hierarchy.leaves) == {value for value, _ in rows}


def test_a_whole_number_beyond_every_float_is_a_time(tmp_path):
    """Found by the long search: OverflowError."""
    (tmp_path / "t.csv").write_bytes(CSV.replace(b"p1,2,", b"p1,%d," % 10**400))
    assert History.read(tmp_path / "t.csv", SCHEMA).times == (1, 10**400)


@pytest.mark.parametrize("name", [b"ag\xff", b"agf"])
@pytest.mark.parametrize("kind", ["parquet", "history", "release", "large"])
def test_a_column_with_another_name_is_refused_in_a_sentence(kind, name, tmp_path):
    """Found by the long search: errors of PyArrow and of DuckDB left `Release.load` and `LargeTable.infer`."""
    file, write, read = BINARIES[kind]
    write(tmp_path / file)
    (tmp_path / file).write_bytes((tmp_path / file).read_bytes().replace(b"age", name))
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the message is checked
        read(tmp_path / file)
    check_message(raised.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", BINARIES)
def test_a_file_with_a_damaged_middle_is_refused_in_a_sentence(kind, tmp_path):
    name, write, read = BINARIES[kind]
    write(tmp_path / name)
    content = bytearray((tmp_path / name).read_bytes())
    content[len(content) // 3 :] = b"\x00" * (len(content) - len(content) // 3)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"{re.escape(name)}|is not a publication from disk"):
        read(tmp_path / name)
