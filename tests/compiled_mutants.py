"""Mutation testing with compiled kernels, a program: each mutant in a copy of the package, with tests in a process of its own.

It is for the kernels of `PathSampler`, whose tests compare long chains with enumeration and would take hours as plain Python. A
mutant is killed if a test fails, or the tests take three times as long as without it.

    pip install cosmic-ray
    python tests/compiled_mutants.py RESULTS.jsonl --each 40

The program goes on where a file of results ends.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from mutation import ROOT, outcomes, record, sample, summary

FOLDERS = ("models", "attacks", "defenses", "evaluation", "app")
TESTS = ("block_redraws", "path_starts", "path_sampler", "path_sampler_histories", "solver_progress")
FAMILY, SLOWER = "PathSampler", 3


class Copy:
    """A copy of the package and of its tests in a folder."""

    def __init__(self, folder):
        self.folder = folder
        for name in (*FOLDERS, "package", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        layout = folder / "layout" / "foreknow"
        layout.mkdir(parents=True)
        for path in [folder / name for name in FOLDERS] + list((folder / "package").iterdir()):
            (layout / path.name).symlink_to(path)

    def fails(self, seconds=None):
        """Return what failed: the line of a test, or "time" after some seconds; None if all tests pass."""
        own = {"PYTHONPATH": str(self.folder / "layout"), "NUMBA_CACHE_DIR": str(self.folder / "kernels")}
        tests = [f"tests/models/joint/test_{name}.py" for name in TESTS]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-n0",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            *tests,
        ]
        try:
            found = subprocess.run(
                command,
                cwd=self.folder,
                env=os.environ | own,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "time"
        lines = [line for line in found.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return (lines or [f"status {found.returncode}"])[0] if found.returncode else None

    def killer(self, mutant, seconds):
        """The failure with a mutant in place of its file."""
        path = self.folder / mutant.path
        original = path.read_text(encoding="utf-8")
        path.write_text(mutant.source(original), encoding="utf-8")
        try:
            return self.fails(seconds)
        finally:
            path.write_text(original, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="file with a line of JSON per mutant")
    parser.add_argument("--each", type=int, default=40, help="largest number of mutants")
    parser.add_argument("--seed", type=int, default=17)
    settings = parser.parse_args()
    known = outcomes(settings.results)
    with TemporaryDirectory() as folder:
        copy, start = Copy(Path(folder)), time.monotonic()
        if failed := copy.fails():
            raise RuntimeError(f"without a mutant: {failed}")
        seconds = SLOWER * (time.monotonic() - start)
        for mutant in sample([FAMILY], settings.each, settings.seed):
            if mutant not in known:
                killer = copy.killer(mutant, seconds)
                state = "killed" if killer else "survived"
                record(settings.results, {**mutant._asdict(), "state": state, "killer": killer, "tests": len(TESTS)})
    print(*summary(outcomes(settings.results)), sep="\n")


if __name__ == "__main__":
    main()
