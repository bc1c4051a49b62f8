"""Third-party package of docs/reference/packages.md: built, installed in a temporary folder, tested, and used by commands."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import zipfile

import pytest
from commands import ROLES, read, records, run, write
from places import ROOT

PAGE = (ROOT / "docs" / "reference" / "packages.md").read_text(encoding="utf-8").split("**A complete package**")[1]
FILES = dict(re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL))
"""The files of the page by name."""


def shell(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The source folder of the package, and an environment in which its wheel is installed."""
    folder = tmp_path_factory.mktemp("extension")
    source, site = folder / "source", folder / "site"
    source.mkdir()
    for name, text in FILES.items():
        (source / name).write_text(text, encoding="utf-8")
    # Without isolation nothing is downloaded.
    isolated = not list(importlib.metadata.distributions(name="setuptools"))
    shell(
        sys.executable, "-m", "build", "--wheel", *([] if isolated else ["--no-isolation"]), "--outdir", folder, source
    )
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return source, {**os.environ, "PYTHONPATH": path}


def test_the_page_has_the_files():
    assert list(FILES) == ["pyproject.toml", "neighbours.py", "test_neighbours.py"]


@pytest.mark.slow
def test_its_own_tests_pass(package):
    source, environment = package
    shown = shell(sys.executable, "-m", "pytest", "-q", "test_neighbours.py", cwd=source, env=environment)
    assert "2 passed" in shown


def test_the_command_line_uses_its_names(package, tmp_path, monkeypatch):
    """In this process: the metadata of the package are found where its modules are."""
    monkeypatch.syspath_prepend(str(package[0].parent / "site"))
    source, out = write(records(), tmp_path / "records.csv"), tmp_path / "out"
    run("publish", source, *ROLES, "--out", out, "--defense", "neighbours", "-k", 4)
    groups = read(out / "private" / "groups.csv")
    assert groups.groupby(["week", "group"]).size().ge(4).all()
    assert "Neighbours(k=4)" in json.dumps(json.loads((out / "public" / "release.json").read_text()))
    beliefs = tmp_path / "beliefs"
    run(
        "attack",
        source,
        *ROLES,
        "--groups",
        out / "private" / "groups.csv",
        "--estimator",
        "group-shares",
        "--out",
        beliefs,
    )
    assert len(read(beliefs / "beliefs.csv")) == len(records())
