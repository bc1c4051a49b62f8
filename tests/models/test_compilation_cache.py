"""Compiled code is discarded when a source file changes, and needs no writable folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from foreknow.models import compilation_cache

CALLEE = "from foreknow.models.compilation_cache import compiled\n\n@compiled\ndef number():\n    return {}\n"
CALLER = (
    "from foreknow.models.callee import number\nfrom foreknow.models.compilation_cache import compiled\n\n"
    "@compiled\ndef twice():\n    return 2 * number()\n"
)


@pytest.fixture
def package(tmp_path):
    """Package of two kernels in two files, one of which calls the other."""
    models = tmp_path / "foreknow" / "models"
    models.mkdir(parents=True)
    for folder in (models.parent, models):
        (folder / "__init__.py").touch()
    shutil.copy(compilation_cache.__file__, models / "compilation_cache.py")
    (models / "callee.py").write_text(CALLEE.format(1))
    (models / "caller.py").write_text(CALLER)
    return tmp_path


COUNT = "from foreknow.models.caller import twice\nprint(twice(), sum(twice.stats.cache_hits.values()))"


def called(package: Path, script: str = COUNT) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_CACHE"))}
    done = subprocess.run(
        [sys.executable, "-c", script], env=clean | {"PYTHONPATH": str(package)}, cwd=package,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_a_change_of_the_callee_s_file_reaches_the_caller(package):
    assert called(package) == ["2", "0"]
    assert called(package) == ["2", "1"]
    (package / "foreknow" / "models" / "callee.py").write_text(CALLEE.format(21))
    assert called(package) == ["42", "0"]
    assert called(package) == ["42", "1"]


def test_whether_machine_code_is_on_disk_without_compiling(package):
    """Not before the first call, nor after a change of a source file; a caller compiles what it calls."""
    names = (
        "from foreknow.models.caller import number, twice\nfrom foreknow.models.compilation_cache import is_on_disk\n"
    )
    asked, call = "print(is_on_disk(number), is_on_disk(twice))\n", "twice()\n"
    assert called(package, names + asked + asked) == ["False"] * 4
    assert called(package, names + call + asked) == ["True"] * 2
    assert called(package, names + asked) == ["True"] * 2
    (package / "foreknow" / "models" / "callee.py").write_text(CALLEE.format(3))
    assert called(package, names + asked) == ["False"] * 2


def test_a_cache_file_that_refers_to_a_module_which_is_gone(package):
    """The index of a kernel holds the types of its arguments, as a named tuple of another file."""
    models = package / "foreknow" / "models"
    pairs = "from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    a: int\n    b: int\n"
    (models / "callee.py").write_text(CALLEE.format(1) + pairs)
    kernel = "\n@compiled\ndef total(pair):\n    return pair.a + pair.b\n"
    for callee in ("callee", "moved"):
        (models / "caller.py").write_text(CALLER.replace("callee", callee) + kernel)
        script = f"from foreknow.models.{callee} import Pair\nfrom foreknow.models.caller import total\nprint(total(Pair(1, 2)))"
        assert called(package, script) == ["3"]
        if callee == "callee":
            (models / "callee.py").rename(models / "moved.py")


def test_without_a_writable_folder_functions_are_compiled_in_memory(monkeypatch):
    def refused(*_args, **_settings):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("numba.core.caching.tempfile.TemporaryFile", refused)

    @compilation_cache.compiled
    def total(row):
        return row.sum()

    assert total(np.arange(4)) == 6
    assert not compilation_cache.keeps_code(total)
    assert not compilation_cache.is_on_disk(total)


def test_the_digest_depends_on_names_and_contents_of_the_named_folders_only(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder / "deeper").mkdir(parents=True)
    (tmp_path / "one" / "deeper" / "a.py").write_text("1")
    seen = [compilation_cache.sources_digest(tmp_path, ("one",))]
    (tmp_path / "two" / "b.py").write_text("2")
    (tmp_path / "one" / "note.txt").write_text("3")
    assert compilation_cache.sources_digest(tmp_path, ("one",)) == seen[0]
    (tmp_path / "one" / "deeper" / "a.py").write_text("4")
    seen.append(compilation_cache.sources_digest(tmp_path, ("one",)))
    (tmp_path / "one" / "deeper" / "a.py").rename(tmp_path / "one" / "deeper" / "c.py")
    seen.append(compilation_cache.sources_digest(tmp_path, ("one",)))
    assert len(set(seen)) == 3


def test_kernels_of_the_package_are_stamped():
    from foreknow.models.estimators.assignments import log_weight_and_beliefs

    assert isinstance(log_weight_and_beliefs._cache, compilation_cache.PackageCache)
