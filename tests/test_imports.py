"""Modules that are not imported until they are needed: the packages and the help of the command start fast."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "arviz",
    "jinja2",
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "pandas",
    "pyarrow",
    "pymc",
    "scipy",
    "vl_convert",
}
"""Packages that take most of the time of an import."""

STARTS = {
    "models": ("import foreknow.models, foreknow.evaluation", set()),
    "help": ("run('--help')", set()),
    "version": ("run('--version')", set()),
    "completion": ("complete('foreknow pub')", set()),
    "tables": (
        "from foreknow.models import Cleaning, Grouping, History, PublishedTable, Release, Schema, View",
        {"numpy", "pandas", "pyarrow"},
    ),
    "publish --help": ("run('publish', '--help')", {"numba", "numpy", "pandas", "pyarrow", "scipy"}),
    "report --help": ("run('report', '--help')", {"numba", "numpy", "pandas", "pyarrow", "scipy"}),
}
"""Statements, one after the other in one process, and the heavy packages that may have been imported after each."""

PROGRAM = """
import contextlib, io, json, os, sys

def run(*arguments):
    from foreknow.app.cli.command_line import app
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        app(arguments, standalone_mode=False)
    assert shown.getvalue()

def complete(words):
    from foreknow.app.cli.command_line import app
    os.environ |= {"_FOREKNOW_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "1"}
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        app([], prog_name="foreknow")
    del os.environ["_FOREKNOW_COMPLETE"]
    assert "publish" in shown.getvalue()

found = {}
for name, statement in json.loads(sys.argv[1]).items():
    exec(statement)
    found[name] = [len(sys.modules), sorted({each.partition(".")[0] for each in sys.modules})]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def imported():
    """Number of modules, and packages, after each statement."""
    statements = json.dumps({name: statement for name, (statement, _) in STARTS.items()})
    ended = subprocess.run([sys.executable, "-c", PROGRAM, statements], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", STARTS)
def test_heavy_packages_wait(imported, name):
    earlier = [STARTS[each][1] for each in list(STARTS)[: list(STARTS).index(name) + 1]]
    _, packages = imported[name]
    assert HEAVY & set(packages) <= set().union(*earlier)


def test_names_of_models_need_no_sparse_graphs():
    program = "import sys; from foreknow.models import *; sys.exit('scipy.sparse' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
