"""Wrong input of `foreknow attack`: status 2, one sentence on standard error, and nothing written."""

import pandas as pd
import pytest
from commands import ROLES, records, write
from wrong_input import NOISE, bytes_of, changed, check_refused_without_output, emptied, good, without

pytestmark = pytest.mark.usefixtures("wide")


def attack(folder, how=None, *more, groups=True):
    """The arguments of an attack on records published in groups of four, with a changed file of groups."""
    table = records()
    told = table[["id", "week"]].assign(group=table.groupby("week").cumcount() // 4)
    told = told if how is None else how(told)
    given = ["--groups", write(told, folder / "groups.csv")] if groups else []
    return ["attack", good(folder), *ROLES, *given, *more]


FOREGROUND = ["--attack", "foreground"]
BAD_ATTACK = {
    "no groups": (lambda d: attack(d, groups=False), "have no column 'group'"),
    "groups that are not there": (lambda d: [*attack(d, groups=False), "--groups", d / "none.csv"], "there is no file"),
    "a record without a group": (lambda d: attack(d, lambda told: told.iloc[:-1]), "has no group for respondent"),
    "an empty group": (lambda d: attack(d, emptied("group")), "has no group for respondent"),
    "a record with two": (lambda d: attack(d, lambda told: pd.concat([told, told.iloc[:1]])), "twice"),
    "no column of groups": (lambda d: attack(d, without("group")), "no column 'group'"),
    "no column of ids": (lambda d: attack(d, without("id")), "no column 'id'"),
    "ids of another kind": (lambda d: attack(d, lambda told: told.assign(id=range(72))), "has no group for respondent"),
    "a value that no record has": (lambda d: attack(d, lambda told: told.assign(published="zzz")), "'zzz'"),
    "groups in a binary file": (
        lambda d: [*attack(d, groups=False), "--groups", bytes_of(d, "g.parquet", NOISE)], "cannot be read as parquet",
    ),
    "the rule without its attack": (
        lambda d: attack(d, None, "--attack", "snapshot", "--signatures"), "snapshot does not read --signatures",
    ),
    "the rule and a chain of order 2": (
        lambda d: attack(d, None, "--signatures", "--order", 2), "--signatures needs --order 1.",
    ),
    "presence where it is not read": (
        lambda d: attack(d, None, "--attack", "retrospective", "--presence"),
        "--attack retrospective does not read --presence; leave it out, or choose joint or sequential.",
    ),
    "the rule of another defense": (lambda d: attack(d, None, "--signatures"), "whose groups show each value once"),
    "a corpus that is not there": (lambda d: attack(d, None, "--corpus", d / "none.csv"), "there is no file"),
    "an empty corpus": (lambda d: attack(d, None, "--corpus", changed(d, lambda t: t.iloc[:0])), "no record"),
    "a corpus without a column": (lambda d: attack(d, None, "--corpus", changed(d, without("age"))), "no column 'age'"),
    "a corpus where nothing is read": (
        lambda d: attack(d, None, *FOREGROUND, "--corpus", good(d)),
        "foreground does not read --corpus; leave it out, or choose --attack joint, sequential, snapshot, retrospective, "
        "signature",
    ),
    "a chain where nothing is known": (lambda d: attack(d, None, *FOREGROUND, "--order", 2), "does not read --order"),
    "a sensitive set of an adversary": (
        lambda d: attack(d, None, "--sensitive-set", "a"), "joint does not read --sensitive-set; leave it out, or choose --attack fore",  # noqa: E501
    ),
    "support of an adversary": (lambda d: attack(d, None, "--support", 3), "joint does not read --support"),
    "an attribute set of an adversary": (lambda d: attack(d, None, "--attribute-set", "age"), "does not read --attribute-set"),
    "a bound without a sensitive set": (lambda d: attack(d, None, *FOREGROUND, "-r", 3), "-r 3 is the bound"),
    "an endless bound": (lambda d: attack(d, None, *FOREGROUND, "--sensitive-set", "a", "-r", "inf"), "r is inf"),
    "a sensitive value outside the domain": (lambda d: attack(d, None, *FOREGROUND, "--sensitive-set", "z"), "holds 'z', which is not in the domain"),  # noqa: E501
    "every value in the sensitive set": (
        lambda d: attack(d, None, *FOREGROUND, "--sensitive-set", "a", "--sensitive-set", "b", "--sensitive-set", "c"), "holds all 3 values",  # noqa: E501
    ),
    "an attribute that is no column": (
        lambda d: attack(d, None, *FOREGROUND, "--attribute-set", "age,sex"),
        "'sex' is no quasi-identifier; there are age, town",
    ),
    "an attribute without a name": (
        lambda d: attack(d, None, *FOREGROUND, "--attribute-set", "age,"), "'' is no quasi-identifier",
    ),
    "a corpus and another source of knowledge": (
        lambda d: attack(d, None, "--corpus", good(d), "--knowledge", "learned"), "--corpus and --knowledge learned exclude",
    ),
    "knowledge where nothing is known": (
        lambda d: attack(d, None, *FOREGROUND, "--knowledge", "learned"), "foreground does not read --knowledge",
    ),
    "a solver of another attack": (
        lambda d: attack(d, None, "--attack", "sequential", "--solver", "auto"), "sequential does not read --solver; leave it out, or choose --attack joint",  # noqa: E501
    ),
    "a direction of another attack": (
        lambda d: attack(d, None, "--attack", "snapshot", "--forward"), "snapshot does not read --forward",
    ),
    "a history too large to enumerate": (lambda d: attack(d, None, "--solver", "enumeration"), "Choose --solver auto"),
    "a group too large to be exact": (lambda d: attack_one_large_group(d), "Choose --estimator auto"),
}  # fmt: skip


def attack_one_large_group(folder):
    """One group of 40 records with distinct quasi-identifiers and 20 values."""
    n = 40
    rows = pd.DataFrame({"id": range(n), "week": 1, "age": range(n), "town": "Rome", "group": 0})
    rows["result"] = [f"v{i % 20}" for i in range(n)]
    return ["attack", write(rows, folder / "large.csv"), *ROLES, "--classes", n, "--estimator", "exact"]


@pytest.mark.parametrize("case", BAD_ATTACK)
def test_wrong_input(case, tmp_path, capsys, monkeypatch):
    arguments, words = BAD_ATTACK[case]
    check_refused_without_output(arguments, words, tmp_path, capsys, monkeypatch)
