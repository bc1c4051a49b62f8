"""Wrong input of `foreknow publish`: status 2, one sentence on standard error, and nothing written."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, records, run, write
from wrong_input import (
    NOISE,
    bytes_of,
    changed,
    check_refusal,
    check_refused_without_output,
    contents,
    emptied,
    forty,
    good,
    main,
    without,
)

from foreknow.app.cli.typed_commands import error_lines

pytestmark = pytest.mark.usefixtures("wide")


def publish(source, *more, roles=ROLES):
    return ["publish", source, *roles, *more]


def cell(column, value):
    return lambda table: table.assign(**{column: table[column].astype(object).where(table.index != 5, value)})


def listed(folder, column):
    table = records().assign(**{column: [[1, 2]] * 72})
    return publish(write(table, folder / "lists.parquet"))


def tree(folder, text):
    return f"town={bytes_of(folder, 'tree.csv', text.encode())}"


BAD_PUBLISH = {
    "missing column": (lambda d: publish(changed(d, without("age"))), "no column 'age'"),
    "missing time": (lambda d: publish(changed(d, without("week"))), "several records, and all records have one time"),
    "missing id": (lambda d: publish(good(d), "--id", "name"), "no column 'name'"),
    "missing file": (lambda d: publish(d / "none.csv"), "there is no file"),
    "a folder": (lambda d: publish(d), "a table is read from .csv, .tsv, .txt or .parquet"),
    "a folder with an ending": (lambda d: publish((d / "x.csv").mkdir() or d / "x.csv"), "there is no file"),
    "wrong ending": (lambda d: publish(bytes_of(d, "r.doc", b"id,week")), "ends in '.doc'"),
    "empty file": (lambda d: publish(bytes_of(d, "r.csv", b"")), "cannot be read as csv"),
    "only a header": (lambda d: publish(changed(d, lambda table: table.iloc[:0])), "no record"),
    "binary as csv": (lambda d: publish(bytes_of(d, "r.csv", b"\xff\xfe" + NOISE)), "cannot be read as csv"),
    "binary as parquet": (lambda d: publish(bytes_of(d, "r.parquet", NOISE)), "cannot be read as parquet"),
    "a row too long": (lambda d: publish(bytes_of(d, "r.csv", b"a,b\n1,2\n1,2,3\n")), "cannot be read as csv"),
    "no number": (lambda d: publish(changed(d, emptied("age"))), "'age' has 1 missing cell in 72 records: line 7; fill"),
    "infinite number": (lambda d: publish(changed(d, cell("age", "inf"))), "'age' has 1 infinite number"),
    "no category": (lambda d: publish(changed(d, emptied("town"))), "records, or --missing category for a category"),
    "no sensitive value": (lambda d: publish(changed(d, emptied("result"))), "'result' has 1 missing cell"),
    "no sensitive value at all": (lambda d: publish(changed(d, lambda t: t.assign(result=np.nan))), "'result' has 72 missing"),
    "no respondent": (lambda d: publish(changed(d, emptied("id"))), "'id' has 1 missing cell in 72 records: line 7"),
    "no time": (lambda d: publish(changed(d, emptied("week"))), "'week' has 1 missing cell in 72 records: line 7"),
    "twice in a view": (lambda d: publish(changed(d, lambda t: pd.concat([t, t.iloc[:1]]))), "1 record is a copy of another"),
    "id as quasi-identifier": (lambda d: publish(good(d), "--qi", "id"), "'id' has two roles"),
    "time as quasi-identifier": (lambda d: publish(good(d), "--qi", "week"), "'week' has two roles"),
    "sensitive as quasi-identifier": (lambda d: publish(good(d), "--qi", "result"), "'result' has two roles"),
    "a quasi-identifier twice": (lambda d: publish(good(d), "--qi", "age"), "'age' has two roles"),
    "id as time": (lambda d: publish(good(d), "--time", "id"), "'id' has two roles"),
    "a name foreknow writes": (
        lambda d: publish(changed(d, lambda t: t.rename(columns={"age": "group"})), "--qi", "group"), "foreknow writes itself",
    ),
    "lists as values": (lambda d: listed(d, "result"), "'result' holds lists"),
    "lists as times": (lambda d: listed(d, "week"), "'week' holds lists"),
    "markup in a name": (lambda d: publish(good(d), "--qi", "[/x]"), "no column '[/x]'"),
    "k larger than a view": (lambda d: publish(good(d), "-k", 25), "25 records"),
    "k larger than a view, mondrian": (lambda d: publish(good(d), "-k", 25, "--defense", "mondrian"), "25 records"),
    "k larger than patience": (lambda d: publish(good(d), "-k", 51, "--patience", 50), "patience is 50"),
    "too diverse": (lambda d: publish(good(d), "-l", 4, "--defense", "mondrian"), "does not satisfy"),
    "too diverse to relax": (lambda d: publish(good(d), "-l", 4, "--leftovers", "relax"), "fit no group"),
    "hierarchy of no column": (lambda d: publish(good(d), "--hierarchy", "job=x.csv"), "column named by --qi"),
    "hierarchy without a file": (lambda d: publish(good(d), "--hierarchy", "town"), "column named by --qi"),
    "hierarchy that is not there": (lambda d: publish(good(d), "--hierarchy", "town=none.csv"), "none.csv"),
    "hierarchy that misses a value": (lambda d: publish(good(d), "--hierarchy", tree(d, "Rome;*")), "no row for"),
    "hierarchy with two roots": (lambda d: publish(good(d), "--hierarchy", tree(d, "Rome;x\nParis;y")), "2 roots"),
    "hierarchy of nothing": (lambda d: publish(good(d), "--hierarchy", tree(d, "")), "at least one value"),
    "too long a memory": (lambda d: publish(good(d), "--order", 30), "choose a smaller order"),
    "names of times that sort otherwise": (
        lambda d: publish(changed(d, lambda t: t.assign(week=t["week"].map({1: "w2", 2: "w10", 3: "w11"})))),
        "'w10' comes before 'w2'",
    ),
    "a word among numbers": (lambda d: publish(changed(d, forty)), "other text in 1 of 72 cells: 'forty' (line 7); correct them"),
    "an option of the other defense": (
        lambda d: publish(good(d), "--defense", "mondrian", "--patience", 3), "mondrian does not read --patience",
    ),
    "a threshold of the other defense": (
        lambda d: publish(good(d), "--defense", "mondrian", "-j", 0.1), "mondrian does not read -j",
    ),
    "endless pseudo-count": (lambda d: publish(good(d), "--pseudo-count", "inf"), "pseudo_count is inf"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_PUBLISH)
def test_wrong_input(case, tmp_path, capsys, monkeypatch):
    arguments, words = BAD_PUBLISH[case]
    check_refused_without_output(arguments, words, tmp_path, capsys, monkeypatch)


@pytest.mark.parametrize("out", ["a file", "below a file", "a folder in the way", "over the records"])
def test_where_output_cannot_go(out, tmp_path, capsys, monkeypatch):
    (tmp_path / "public").mkdir()
    source = write(records(), tmp_path / "public" / "published.csv")
    bytes_of(tmp_path, "file", b"mine")
    (tmp_path / "taken" / "public" / "published.csv").mkdir(parents=True)
    bytes_of(tmp_path / "taken", "groups.csv", b"from before")
    where = {
        "a file": tmp_path / "file",
        "below a file": tmp_path / "file" / "folder",
        "a folder in the way": tmp_path / "taken",
        "over the records": tmp_path,
    }[out]
    before = contents(tmp_path)
    status, error = main(capsys, monkeypatch, *publish(source), "--out", where, "--overwrite")
    check_refusal(status, error, str(tmp_path / "file" if out == "below a file" else where))
    assert contents(tmp_path) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read and write everything")
def test_where_nothing_may_be_read_or_written(tmp_path, capsys, monkeypatch):
    source = Path(good(tmp_path))
    (tmp_path / "locked").mkdir(mode=0o500)
    check_refusal(*main(capsys, monkeypatch, *publish(source), "--out", tmp_path / "locked"), "locked")
    source.chmod(0)
    check_refusal(*main(capsys, monkeypatch, *publish(source), "--out", tmp_path / "out"), "good.csv")


class TestDefensesInWords:
    def test_one_sensitive_value_is_named_as_the_cause(self, tmp_path):
        source = write(records().assign(result="flu"), tmp_path / "r.csv")
        result = run("publish", source, *ROLES, "--out", tmp_path / "o", status=1)
        assert "'result' has 1 distinct value. Choose weaker thresholds or another --sensitive" in str(result.exception)

    def test_too_few_records_are_told_in_options(self, tmp_path):
        source = write(records(weeks=(1,)), tmp_path / "r.csv")
        result = run("publish", source, *ROLES, "--out", tmp_path / "o", "--defense", "mondrian", "-k", 500, status=1)
        (told,) = error_lines(result.exception)
        assert "mondrian -k 500 -l 2 needs 500 records, and 1 of 1 releases have fewer: the release at 1 has" in told
        assert "leave these releases out, or publish them suppressed with --infeasible suppress" in told
