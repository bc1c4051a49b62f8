"""The advice of the commands, followed to its end: each printed command is run literally until nothing new is proposed."""

import shlex
from pathlib import Path

import numpy as np
import pytest
from commands import proposed, records, run
from messy import messy_visits

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("wide")]

MOST_STEPS = 6
"""Largest number of rounds of publish, check, attack and report until nothing new is proposed."""

PLACEHOLDERS = {"COLUMN", "FILE", "FORMAT", "RECORDS"}


def followed(first):
    """Every command that is proposed from one on, in the order in which they are run; each ends with status 0 or 1.

    A command is new if no earlier one is equal but for its outputs. Fails for a placeholder, and for a status of 2.
    """
    waiting, done, told = [first], [], []
    while waiting:
        command = waiting.pop(0)
        name = without_outputs(command)
        if name in done:
            continue
        done.append(name)
        assert not PLACEHOLDERS & set(command), (command, told[-1:])
        result = run(*command, status=None)
        told.append(f"$ foreknow {shlex.join(command)}\n{result.output}exit {result.exit_code} {result.exception!r}\n")
        assert isinstance(result.exception, SystemExit | None), "\n".join(told[-3:])
        assert result.exit_code in (0, 1), "\n".join(told[-3:])
        # A seed that a trial has drawn is not found by trying all.
        assert "--seed is for experiments" not in result.output
        assert sum(each[0] == "publish" for each in done) <= MOST_STEPS, "\n".join(told)
        waiting += proposed(result.stdout)
    return done, told


def without_outputs(command):
    """The words of a command without those of --out and --seed."""
    words = iter(command)
    return [next(words, "") and word if word in ("--out", "--seed") else word for word in words]


def stays(people, values, rng):
    """Records over four weeks, of values that stay with a chance of .8."""
    table = records(weeks=(1, 2, 3, 4), people=people, present=people, seed=int(rng.integers(1000)))
    names = [f"v{number}" for number in range(values)]
    for _, rows in table.sort_values("week").groupby("id"):
        value = rng.choice(names)
        for row in rows.index:
            value = value if rng.random() < 0.8 else rng.choice(names)
            table.loc[row, "result"] = value
    return table


def hospital(rng):
    """Latin-1 and semicolons, spellings, units, missing cells and copies."""
    table = messy_visits(mixed_times=False).head(1000)
    table.to_csv("visits.csv", index=False, sep=";", encoding="cp1252")


def with_parquet(table):
    table.to_parquet("visits.parquet", index=False)


FILES = {
    "small": lambda _: records().to_csv("visits.csv", index=False),
    "values that stay": lambda rng: stays(120, 5, rng).to_csv("visits.csv", index=False),
    "two values": lambda rng: stays(100, 2, rng).to_csv("visits.csv", index=False),
    "twenty values": lambda rng: stays(150, 20, rng).to_csv("visits.csv", index=False),
    "one release": lambda rng: (
        stays(100, 5, rng).query("week == 1").drop(columns="week").to_csv("visits.csv", index=False)
    ),
    "parquet": lambda rng: with_parquet(stays(100, 4, rng)),
    "hospital": hospital,
    "semicolons": lambda rng: stays(100, 4, rng).to_csv("visits.csv", index=False, sep=";", decimal=","),
    "names with spaces": lambda rng: (
        stays(90, 4, rng)
        .rename(columns={"id": "patient id", "result": "main diagnosis", "town": "home town"})
        .to_csv("visits.csv", index=False)
    ),
    "missing cells": lambda rng: (
        stays(100, 4, rng)
        .assign(age=lambda table: table["age"].where(rng.random(len(table)) > 0.02))
        .to_csv("visits.csv", index=False)
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_advice_leads_to_its_end(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FILES[name](np.random.default_rng(1))
    (file,) = [each.name for each in Path.cwd().iterdir()]
    done, told = followed(["describe", file])
    assert {"describe", "publish", "check", "attack", "report"} <= {each[0] for each in done}, "\n".join(told)
