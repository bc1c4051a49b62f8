"""Conformance of every command: no file runs in a spreadsheet, nothing that is printed commands a terminal."""

import csv
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from commands import ROLES, records, run, write

from foreknow.app.cli import command_line
from foreknow.app.cli.files.written_tables import FORMULA_STARTS

pytestmark = pytest.mark.slow

HOSTILE = "=cmd|'/C calc'!A0\x1b[2J\x1b]0;owned\x07\u202etxt"
"""Value that a spreadsheet would run, that would clear a terminal, and that turns the direction of a line."""

SCRIPT = "<script>alert(1)</script>"
"""Value that a page would run."""

TRAIT = f"=1+1\x1b[2J{SCRIPT}"
"""Name of a column that a spreadsheet, a terminal or a page would run."""

COMMANDING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def source(tmp_path):
    """Records whose respondents, towns and values are hostile, beside others."""
    table = records().replace({"result": {"a": HOSTILE}, "town": {"Rome": HOSTILE}})
    table["id"] = [
        f"{start}{name}{HOSTILE[-24:]}" for start, name in zip("=+-@" * len(table), table["id"], strict=False)
    ]
    names = dict(zip(records()["id"], table["id"], strict=True))
    return write(table.assign(id=records()["id"].map(names)), tmp_path / "r.csv")


def check_output(result):
    assert not COMMANDING.search(result.output.replace("\r", "")), COMMANDING.search(result.output)


def check_files(folder):
    """Every cell of every CSV file under a folder; returns the number of apostrophes that were needed."""
    quoted = 0
    for path in folder.rglob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            for cell in (cell for row in csv.reader(file) for cell in row):
                assert not cell.startswith(FORMULA_STARTS) or is_number(cell), (path, cell)
                quoted += cell.startswith(tuple(f"'{start}" for start in FORMULA_STARTS))
    return quoted


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_every_command(source, tmp_path):
    """The key is read back with the names as they are in the records, although its cells have apostrophes."""
    out = tmp_path / "out"
    groups = ["--groups", out / "private" / "groups.csv"]
    check_output(run("describe", source))
    check_output(run("publish", source, *ROLES, "--out", out, "--defense", "mask"))
    attack = run(
        "attack", source, *ROLES, *groups, "--out", out / "attack", "--estimator", "omega", "--attack", "sequential"
    )
    check_output(attack)
    assert "not checked" not in attack.stderr
    public = out / "public" / "published.csv"
    published = ["--sensitive", "result", "--time", "week", "-k", 2]
    checked = run("check", public, *published, "--out", out / "levels", status=None)
    check_output(checked)
    assert check_files(out) > 100
    told = pd.read_csv(out / "attack" / "beliefs.csv")
    assert f"'{HOSTILE}" in told.columns


def test_every_command_from_disk(source, tmp_path):
    """Towns, results, respondents and the name of a column command a terminal; the parts hold them as they are."""
    trait = TRAIT.replace(SCRIPT, HOSTILE)
    table = pd.read_csv(source).rename(columns={"age": trait}).assign(week=1)
    out, roles = tmp_path / "out", ["--qi", trait, "--qi", "town", "--sensitive", "result", "--time", "week"]
    source = write(table.drop_duplicates("id"), tmp_path / "r.parquet")
    disk = ["--from-disk", "--block", 8]
    check_output(run("publish", source, *roles, *disk, "-k", 2, "-l", 1, "-t", 0.9, "--out", out))
    attack = ["attack", source, *roles, "--from-disk", "--groups", out, "--sure", 0.6]
    check_output(run(*attack, "--out", tmp_path / "risk"))
    check_output(run(*attack, "--attack", "sequential", "--json"))
    check_output(run("check", out))
    check_output(run("check", out, "-k", 99, "--out", tmp_path / "levels", status=1))
    check_files(tmp_path / "levels")
    parts = pd.concat(pd.read_parquet(part) for part in sorted((out / "public").rglob("part-*")))
    assert HOSTILE in set(parts["result"])
    assert trait in parts.columns


@pytest.fixture
def named(source, tmp_path):
    """Records with a hostile column and values that are markup, and the options of their roles."""
    table = pd.read_csv(source).rename(columns={"age": TRAIT})
    table["result"] = table["result"].replace({"b": SCRIPT})
    table["id"] = table["id"] + SCRIPT
    return write(table, tmp_path / "named.csv"), ["--qi", TRAIT, "--qi", "town", "--sensitive", "result"]


class Elements(HTMLParser):
    """Names of the elements of a page, and the attributes that are programs."""

    def __init__(self, html):
        super().__init__()
        self.names, self.programs = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.programs += [name for name, _ in attrs if name.startswith("on")]


def test_compare(named, tmp_path):
    source, roles = named
    options = ["--defense", "mondrian", "--defense", "anatomy", "--seed", 1]
    check_output(run("compare", source, *roles, *options, "--out", tmp_path / "out"))
    check_output(run("compare", source, *roles, *options, "--json"))
    check_files(tmp_path / "out")
    assert "\x1b" not in (tmp_path / "out" / "settings.json").read_text()


@pytest.mark.parametrize("names", [[], ["--names"]])
def test_report(named, tmp_path, names):
    """The page has the three scripts of its template, and names the hostile respondent and column as text."""
    source, roles = named
    page = tmp_path / "out" / "report.html"
    check_output(run("report", source, *roles, "--stricter", 1, "--seed", 1, "--out", page, *names))
    html = page.read_text(encoding="utf-8")
    elements = Elements(html)
    assert elements.names.count("script") == 3
    assert not elements.programs
    assert "<script>alert" not in html
    assert "alert(1)" in html
    assert not COMMANDING.search(html.replace("\r", "")), COMMANDING.search(html)


def test_simulate(tmp_path, monkeypatch):
    """The name of the file is the only text of the user; it is printed with escape codes."""
    monkeypatch.chdir(tmp_path)
    check_output(run("simulate", "exams", "--releases", 2, "--records", 9, "--out", "=v\x1b[2J.csv"))
    check_files(tmp_path)
    assert "\x1b" not in (tmp_path / "=v\x1b[2J.settings.json").read_text()


def test_json_has_escape_codes_alone(source, tmp_path):
    result = run("publish", source, *ROLES, "--out", tmp_path / "out", "--defense", "mondrian", "--json")
    json.loads(result.stdout)
    check_output(result)


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "none\x1b[2J.csv", "--sensitive", "result"),
        ("publish", "{source}", "--qi", f"a{HOSTILE}", "--sensitive", "result", "--out", "o"),
        ("publish", "{source}", "--qi", "age", "--sensitive", "id", "--out", "o"),
        ("publish", "{source}", "--qi", f"a{HOSTILE}", "--sensitive", "result", "--out", "o", "--from-disk"),
        ("publish", "{source}", "--qi", "town", "--sensitive", "result", "--time", "id", "--out", "o", "--from-disk"),
        ("attack", "{source}", *ROLES, "--from-disk", "--groups", "none\x1b[2J"),
        ("attack", "{source}", *ROLES, "--attack", "x\x1b[2J"),
        ("attack", "{source}", *ROLES, "--groups", "{source}"),
        ("compare", "{source}", *ROLES, "--defense", "x\x1b[2J"),
        ("compare", "{source}", *ROLES, "--sweep", "k=\x1b[2J"),
        ("compare", "{source}", "--qi", f"a{HOSTILE}", "--sensitive", "result", "--defense", "mondrian"),
        ("report", "{source}", *ROLES, "--out", "x\x1b[2J.txt"),
        ("report", "none\x1b[2J.csv", *ROLES, "--out", "x.html"),
        ("report", "{source}", "--qi", f"a{HOSTILE}", "--sensitive", "result", "--out", "x.html"),
        ("simulate", "x\x1b[2J", "--out", "v.csv"),
        ("simulate", "exams", "--out", "x\x1b[2J.txt"),
    ],
)
def test_errors(source, capsys, monkeypatch, arguments):
    monkeypatch.setattr("sys.argv", ["foreknow", *(str(each).format(source=source) for each in arguments)])
    with pytest.raises(SystemExit):
        command_line.main()
    shown = capsys.readouterr()
    assert shown.err
    assert not COMMANDING.search(shown.out + shown.err)
