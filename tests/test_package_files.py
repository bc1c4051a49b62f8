"""Files about the package: citation, version; and the checkout that tests import."""

import os
import subprocess
import sys
import tomllib

import pytest
import yaml
from places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_citation_has_the_version_the_license_and_the_authors_of_the_package():
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]
    assert [each["name"] for each in CITATION["authors"]] == [each["name"] for each in PROJECT["authors"]]


def test_the_citation_has_the_fields_that_the_format_requires():
    """Required fields of the Citation File Format 1.2.0."""
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert CITATION["type"] in ("software", "dataset")


def test_reports_reach_the_authors_of_a_clone():
    """A clone has no page of a repository; its history has the addresses of the authors."""
    security, conduct = ((ROOT / name).read_text(encoding="utf-8") for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"))
    assert "git shortlog -sne" in security
    assert "(SECURITY.md#how-to-report)" in conduct
    assert "Security page" not in security + conduct


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "RELEASING.md", "CHANGELOG.md", "LICENSE"])
def test_the_files_of_a_project(name):
    assert (ROOT / name).stat().st_size > 500


def test_a_run_of_tests_that_would_import_another_checkout_stops_and_names_it(tmp_path):
    (tmp_path / "foreknow" / "models").mkdir(parents=True)
    for folder in ("foreknow", "foreknow/models"):
        (tmp_path / folder / "__init__.py").touch()
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/test_package_files.py"]
    options = {"env": os.environ | {"PYTHONPATH": str(tmp_path)}, "capture_output": True, "text": True}
    ended = subprocess.run(collect, cwd=ROOT, check=False, **options)
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"foreknow is imported from {tmp_path / 'foreknow'}, another checkout" in ended.stderr + ended.stdout
