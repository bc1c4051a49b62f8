"""The wheel, built from a copy of the tree and installed where the tree is not."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from places import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PLACES = {"package": "foreknow"} | {
    folder: f"foreknow/{folder}" for folder in ("models", "attacks", "defenses", "evaluation", "app")
}
"""The folders at the root that are packages, and where a wheel has them."""


def sources():
    """The path in a wheel of each Python file of the tree."""
    for folder, place in PLACES.items():
        for path in (ROOT / folder).rglob("*.py"):
            yield Path(place, path.relative_to(ROOT / folder))


MODULES = {".".join((path.parent if path.stem == "__init__" else path.with_suffix("")).parts) for path in sources()}
"""Every module of the tree, by the name it is imported by."""

TEMPLATES = "app/report/templates"
"""Package of the templates, style sheet and script of the report, which are package data."""


class Installed(NamedTuple):
    """A wheel, and an environment that holds it and the dependencies of this one."""

    wheel: Path
    environment: Path
    elsewhere: Path

    def run(self, *command):
        """Run a program of the environment, outside the tree."""
        scripts = self.environment / ("Scripts" if os.name == "nt" else "bin")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        done = subprocess.run(
            [scripts / command[0], *map(str, command[1:])],
            cwd=self.elsewhere, env=clean, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def shell(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def copied_sources(place):
    """Copy what is built of the tree into a folder."""
    source = place / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for folder in PLACES:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return source


def build(source, out, *kinds):
    """Build a wheel, an sdist, or by default an sdist and the wheel of it."""
    # Without isolation nothing is downloaded; what pyproject.toml asks for to build may already be here.
    here = int(importlib.metadata.version("setuptools").split(".")[0]) >= 77 if _has("setuptools") else False
    shell(sys.executable, "-m", "build", *kinds, *(["--no-isolation"] if here else []), "--outdir", out, source)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    place = tmp_path_factory.mktemp("packaging")
    environment = place / "environment"
    build(copied_sources(place), place, "--wheel")
    (wheel,) = place.glob("*.whl")
    venv.create(environment, with_pip=False)
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    shell(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    # The dependencies come after the environment's own folder, and the editable install does not come with them: a path
    # added by a .pth file is searched, but the .pth files in it are not read.
    (packages,) = environment.glob("Lib/site-packages" if os.name == "nt" else "lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    return Installed(wheel, environment, elsewhere)


def _has(distribution):
    return bool(list(importlib.metadata.distributions(name=distribution)))


def test_the_listed_packages_are_the_folders_with_modules():
    """Listed by hand, because automatic discovery with the mapping of folders builds an empty wheel."""
    files = set(sources())
    folders = {".".join(path.parent.parts) for path in files}
    listed = SETTINGS["tool"]["setuptools"]["packages"]
    assert set(listed) == folders
    assert len(set(listed)) == len(listed)
    mapping = SETTINGS["tool"]["setuptools"]["package-dir"]
    assert mapping == {place.replace("/", "."): folder for folder, place in PLACES.items()}
    assert all((path.parent / "__init__.py") in files for path in files)


def test_the_wheel_holds_every_module_and_nothing_else(installed):
    names = set(zipfile.ZipFile(installed.wheel).namelist())
    files = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    assert {name for name in files if name.endswith(".py")} == {path.as_posix() for path in sources()}
    typed = {name.replace(".", "/") + "/py.typed" for name in SETTINGS["tool"]["setuptools"]["packages"]}
    page = {
        f"foreknow/{path.relative_to(ROOT).as_posix()}"
        for kind in ("html", "css", "js")
        for path in (ROOT / TEMPLATES).glob(f"*.{kind}")
    }
    claims = {"foreknow/evaluation/papers/claims.toml"}
    assert {name for name in files if not name.endswith(".py")} == typed | page | claims
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_the_wheel_of_the_sdist_is_that_of_the_tree(installed, tmp_path):
    """The sdist has every module, and what pyproject.toml names; without kinds, build makes the wheel from the sdist."""
    build(copied_sources(tmp_path), tmp_path / "dist")
    ((archive,), (wheel,)) = ((tmp_path / "dist").glob("*.tar.gz"), (tmp_path / "dist").glob("*.whl"))
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    modules = {path.relative_to(ROOT).as_posix() for folder in PLACES for path in (ROOT / folder).rglob("*.py")}
    assert {"pyproject.toml", "README.md", "LICENSE"} | modules <= held
    assert files_of(wheel) == files_of(installed.wheel)


def files_of(wheel):
    """Name and content of each file of a wheel but for the list of checksums, whose order is not fixed."""
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist() if not name.endswith("RECORD")}


@pytest.mark.slow
def test_every_module_is_imported_from_the_wheel(installed):
    script = (
        "import importlib, pkgutil, foreknow\n"
        "found = [module.name for module in pkgutil.walk_packages(foreknow.__path__, 'foreknow.')]\n"
        "for name in ['foreknow', *found]:\n"
        "    print(name, importlib.import_module(name).__file__, sep='\\t')"
    )
    lines = installed.run("python", "-W", "error::SyntaxWarning", "-c", script).splitlines()
    found = dict(line.split("\t") for line in lines)
    assert set(found) == MODULES
    assert all(Path(file).is_relative_to(installed.environment) for file in found.values())


@pytest.mark.slow
def test_what_the_packages_offer_is_there(installed):
    script = (
        "import importlib\n"
        f"for name in {[place.replace('/', '.') for place in PLACES.values()]!r}:\n"
        "    package = importlib.import_module(name)\n"
        "    assert len(set(package.__all__)) == len(package.__all__) > 0\n"
        "    assert all(hasattr(package, offered) for offered in package.__all__), name"
    )
    installed.run("python", "-c", script)


def test_the_tree_s_own_folders_are_not_imported_by_accident(installed):
    """``import models`` works from the root, and then every class exists twice; from elsewhere it must not."""
    script = (
        f"import importlib.util\nprint([name for name in {[*PLACES]!r} if importlib.util.find_spec(name) is not None])"
    )
    assert installed.run("python", "-c", script).strip() == "[]"


@pytest.mark.slow
def test_the_package_names_its_version_and_its_parts(installed):
    shown = installed.run("python", "-c", "import foreknow; print(foreknow.__version__); help(foreknow)")
    version, shown = shown.split("\n", 1)
    assert version == SETTINGS["project"]["version"]
    contents = shown.split("PACKAGE CONTENTS")[1]
    assert all(f"{part} (package)" in contents for part in ("models", "attacks", "defenses", "evaluation", "app"))
    lazily = "import foreknow; print(foreknow.models.Adversary.__module__, foreknow.defenses.KAnonymity(3))"
    assert installed.run("python", "-c", lazily).strip() == "foreknow.models.adversary KAnonymity(k=3)"


def test_its_metadata(installed):
    script = (
        "from importlib.metadata import distribution\n"
        "found = distribution('foreknow')\n"
        "print(found.version, found.locate_file(''), found.metadata['Requires-Python'], sep='\\t')\n"
        "print(*sorted(found.requires), sep='\\t')"
    )
    first, second = installed.run("python", "-c", script).splitlines()
    version, place, python = first.split("\t")
    assert version == SETTINGS["project"]["version"]
    assert Path(place).is_relative_to(installed.environment)
    assert python == SETTINGS["project"]["requires-python"]
    needed = {requirement for requirement in second.split("\t") if "extra" not in requirement}
    assert needed == set(SETTINGS["project"]["dependencies"])


@pytest.mark.slow
def test_the_demo_runs_from_the_wheel(installed):
    """The command that was installed, with nothing compiled yet, far from the tree."""
    printed = installed.run("foreknow", "demo", "--out", "demo")
    assert (installed.elsewhere / "demo" / "summary.csv").exists()
    pictures = installed.elsewhere / "demo" / "pictures"
    for name in ("gain.png", "belief.png", "groups.png"):
        assert (pictures / name).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert (pictures / name).stat().st_size > 10_000
    assert "demo" in printed
