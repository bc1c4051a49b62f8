"""Records for the command line, and the command as a function."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from foreknow.app.cli import command_line

TOWNS = {"Rome": "Italy", "Milan": "Italy", "Turin": "Italy", "Paris": "France", "Lyon": "France"}
ROLES = ["--qi", "age", "--qi", "town", "--sensitive", "result"]


def records(weeks=(3, 1, 2), people=30, present=24, seed=1):
    """Records in random order, with weeks out of order and text ids; ages and towns are constant, results often stay."""
    rng = np.random.default_rng(seed)
    ages, towns = rng.integers(20, 60, people), rng.choice(list(TOWNS), people)
    results, rows = rng.choice(list("abc"), people), []
    for week in weeks:
        results = np.where(rng.random(people) < 0.7, results, rng.choice(list("abc"), people))
        rows += [(f"p{i:02d}", week, ages[i], towns[i], results[i]) for i in rng.permutation(people)[:present]]
    return pd.DataFrame(rows, columns=["id", "week", "age", "town", "result"])


def write(table, path):
    table.to_parquet(path, index=False) if path.suffix == ".parquet" else table.to_csv(path, index=False)
    return str(path)


def read(path):
    return pd.read_parquet(path) if Path(path).suffix == ".parquet" else pd.read_csv(path)


def run(*arguments, status=0):
    result = CliRunner().invoke(command_line.app, [str(a) for a in arguments])
    assert status is None or result.exit_code == status, (result.output, result.exception)
    return result


def proposed(text):
    """The arguments of each command that a text proposes, as a shell reads them."""
    joined = re.sub(r"\\\s*\n", " ", text)
    return [shlex.split(line)[1:] for line in joined.splitlines() if re.match(" {2,3}foreknow ", line)]
