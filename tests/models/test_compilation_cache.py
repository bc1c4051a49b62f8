"""Compiled code never outlives the sources that it was made of, and needs no writable folder."""

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
    """A package of two kernels in two files, one of which calls the other."""
    models = tmp_path / "foreknow" / "models"
    models.mkdir(parents=True)
    (tmp_path / "foreknow" / "__init__.py").touch()
    shutil.copy(compilation_cache.__file__, models / "compilation_cache.py")
    (models / "callee.py").write_text(CALLEE.format(1))
    (models / "caller.py").write_text(CALLER)
    return tmp_path


def called(package: Path) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_CACHE"))}
    script = "from foreknow.models.caller import twice\nprint(twice(), sum(twice.stats.cache_hits.values()))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=clean | {"PYTHONPATH": str(package)}, cwd=package,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_change_of_the_callee_s_file_reaches_the_caller(package):
    assert called(package) == ["2", "0"]
    assert called(package) == ["2", "1"]
    (package / "foreknow" / "models" / "callee.py").write_text(CALLEE.format(21))
    assert called(package) == ["42", "0"]
    assert called(package) == ["42", "1"]


def test_code_compiled_for_a_type_whose_module_moved_is_compiled_again(package):
    """The index on disk names the module of the argument's type."""
    models = package / "foreknow" / "models"
    pair = "from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    first: int\n    second: int\n"
    (models / "before.py").write_text(pair)
    kernel = (
        "from foreknow.models.compilation_cache import compiled\nfrom foreknow.models.{} import Pair\n\n"
        "@compiled\ndef product(pair):\n    return pair.first * pair.second\n\ndef twice():\n    return product(Pair(2, 3))\n\n"
        "twice.stats = product.stats\n"
    )
    (models / "caller.py").write_text(kernel.format("before"))
    assert called(package)[0] == "6"
    (models / "before.py").rename(models / "afterwards.py")
    (models / "caller.py").write_text(kernel.format("afterwards"))
    assert called(package) == ["6", "0"]


def test_without_a_writable_folder_functions_are_compiled_in_memory(monkeypatch):
    def refused(*_args, **_settings):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("numba.core.caching.tempfile.TemporaryFile", refused)

    @compilation_cache.compiled
    def total(row):
        return row.sum()

    assert total(np.arange(4)) == 6


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
