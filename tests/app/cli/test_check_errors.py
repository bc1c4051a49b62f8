"""Wrong input of `foreknow check`: status 2 and one sentence on standard error."""

import pandas as pd
import pytest
from commands import write
from wrong_input import NOISE, bytes_of, check_refusal, emptied, main, without

pytestmark = pytest.mark.usefixtures("wide")


def check(folder, how, *more):
    table = pd.DataFrame({"week": [1, 1, 2, 2], "group": [0, 0, 0, 0], "age": "*", "result": list("abab")})
    return ["check", write(how(table), folder / "published.csv"), "--sensitive", "result", *more]


BAD_CHECK = {
    "no group": (lambda d: check(d, emptied("group", 1)), "'group' has 1 missing cell in 4 records: line 3"),
    "no value": (lambda d: check(d, emptied("result", 2)), "'result' has 1 missing cell in 4 records: line 4"),
    "no time": (lambda d: check(d, emptied("week", 3)), "'week' has 1 missing cell in 4 records: line 5"),
    "no record": (lambda d: check(d, lambda table: table.iloc[:0]), "no record"),
    "no column of groups": (lambda d: check(d, without("group")), "no column 'group'"),
    "no column of values": (lambda d: check(d, without("result")), "no column 'result'"),
    "no column of times": (lambda d: check(d, lambda table: table, "--time", "year"), "no column 'year'"),
    "group as value": (lambda d: check(d, lambda table: table, "--group", "result"), "two roles"),
    "group as time": (lambda d: check(d, lambda table: table, "--time", "group"), "two roles"),
    "no file": (lambda d: ["check", d / "none.csv", "--sensitive", "x"], "there is no file"),
    "no folder": (lambda d: ["check", d / "release"], "there is no file or folder"),
    "a binary file": (lambda d: ["check", bytes_of(d, "x.csv", NOISE), "--sensitive", "x"], "cannot be read"),
}


@pytest.mark.parametrize("case", BAD_CHECK)
def test_wrong_input(case, tmp_path, capsys, monkeypatch):
    arguments, words = BAD_CHECK[case]
    check_refusal(*main(capsys, monkeypatch, *arguments(tmp_path)), words)
