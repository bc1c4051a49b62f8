"""Virtual environments, one for each program, created once under build/."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[2] / "build" / "peers"


class Unavailable(Exception):  # noqa: N818 - the name says what is wrong
    """Raised if a program cannot be installed or run here."""


class Program(NamedTuple):
    """A program to compare: packages to install, Python versions, and calls."""

    name: str
    packages: tuple[str, ...]
    pythons: tuple[str, ...]
    calls: tuple[str, ...]


def python_of(program: Program) -> str:
    """Interpreter of the environment of a program, installed on first use; for foreknow, the running interpreter."""
    if not program.packages:
        return sys.executable
    place = FOLDER / "environments" / "-".join(package.replace("==", "-") for package in program.packages)
    python = place / "bin" / "python"
    if not (place / "installed").exists():
        shutil.rmtree(place, ignore_errors=True)
        output_of([interpreter(program), "-m", "venv", str(place)])
        output_of([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *program.packages])
        (place / "installed").touch()
    return str(python)


def runner(program: Program) -> list[str]:
    """Command that calls a program in its environment; the folder and the call follow."""
    return [python_of(program), str(Path(__file__).parent / "runners.py"), program.name]


def interpreter(program: Program) -> str:
    """Interpreter of a version that a program supports: the running one, or one found on the path."""
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


def output_of(command: list[str], limit: float | None = None) -> str:
    """Output of a command; raises `Unavailable` with its last line if it fails or takes more than ``limit`` seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"more than {limit:g} s") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()[-1]
        raise Unavailable(last[:200].replace("|", "/"))
    return done.stdout
