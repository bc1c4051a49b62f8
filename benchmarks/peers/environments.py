"""An environment of its own for each program, made once under build/."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[2] / "build" / "peers"


class Unavailable(Exception):  # noqa: N818 - the name says what is wrong
    """A program cannot be installed or run here."""


class Program(NamedTuple):
    """Somebody's program: what to install, which Pythons it takes, what runs it, and the calls to make."""

    name: str
    packages: tuple[str, ...]
    pythons: tuple[str, ...]
    runner: str
    calls: tuple[str, ...]


def python_of(program: Program) -> str:
    """The interpreter that has a program, which is installed on first use; foreknow's is this one."""
    if not program.packages:
        return sys.executable
    place = FOLDER / "environments" / "-".join(package.replace("==", "-") for package in program.packages)
    python = place / "bin" / "python"
    if not (place / "installed").exists():
        shutil.rmtree(place, ignore_errors=True)
        said([interpreter(program), "-m", "venv", str(place)])
        said([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *program.packages])
        (place / "installed").touch()
    return str(python)


def interpreter(program: Program) -> str:
    """A Python of one of the versions that a program takes: this one, or one by its name on the path."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if here in program.pythons:
        return sys.executable
    for version in program.pythons:
        found = shutil.which(f"python{version}")
        if (
            found
            and subprocess.run([found, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode
            == 0
        ):
            return found
    raise Unavailable(f"it takes Python {' or '.join(program.pythons)}, and none is here")


def said(command: list[str], limit: float | None = None) -> str:
    """What a command prints; `Unavailable` with its last words if it fails or takes more than ``limit`` seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"more than {limit:g} s") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()[-1]
        raise Unavailable(last[:200].replace("|", "/"))
    return done.stdout
