"""Third-party packages of the documentation: built, installed in a temporary folder, tested, and used by commands."""

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

PAGES = {"neighbours": "reference/packages.md", "sceptic": "how-to/your-attack.md"}
"""The page of each package, by the name of the package."""

FILES = {
    name: dict(
        re.findall(
            r"`(\w+\.(?:py|toml))`[^`\n]*:\n\n```\w+\n(.*?)```",
            (ROOT / "docs" / page).read_text(encoding="utf-8"),
            re.DOTALL,
        )
    )
    for name, page in PAGES.items()
}
"""The files of each package by name."""


def shell(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=PAGES)
def package(tmp_path_factory, request):
    """The source folder of the package, and an environment in which its wheel is installed."""
    folder = tmp_path_factory.mktemp(request.param)
    source, site = folder / "source", folder / "site"
    source.mkdir()
    for name, text in FILES[request.param].items():
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


@pytest.mark.parametrize("name", PAGES)
def test_the_page_has_the_files(name):
    assert sorted(FILES[name]) == sorted([f"{name}.py", "pyproject.toml", f"test_{name}.py"])


@pytest.mark.slow
def test_its_own_tests_pass(package):
    source, environment = package
    (tests,) = source.glob("test_*.py")
    shown = shell(sys.executable, "-m", "pytest", "-q", tests.name, cwd=source, env=environment)
    assert f"{tests.read_text().count('def test_')} passed" in shown


@pytest.mark.parametrize("package", ["sceptic"], indirect=True)
def test_the_command_line_attacks(package, tmp_path, monkeypatch):
    """By the attack of the package, and by that of foreknow whose beliefs it trusts."""
    monkeypatch.syspath_prepend(str(package[0].parent / "site"))
    source = write(records(), tmp_path / "records.csv")
    run("publish", source, *ROLES, "--out", tmp_path / "out", "--defense", "mondrian", "-k", 3)
    found = {}
    for name in ("sceptic", "snapshot"):
        options = ["--groups", tmp_path / "out" / "private" / "groups.csv", "--attack", name, "--out", tmp_path / name]
        run("attack", source, *ROLES, *options)
        found[name] = read(tmp_path / name / "beliefs.csv")
    values = found["snapshot"].columns[-3:]
    trusted, own = (found[name][values].to_numpy() for name in ("snapshot", "sceptic"))
    assert 0 < abs(own - trusted).max() <= 0.2
    refused = run("attack", source, *ROLES, *options[:2], "--attack", "sceptic", "--presence", status=1)
    assert "Sceptic" in str(refused.exception)


@pytest.mark.parametrize("package", ["neighbours"], indirect=True)
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
