"""Fixtures for the tests of the commands: wide consoles, both kinds of files, and a published release."""

from pathlib import Path

import pytest
from commands import ROLES, records, run, write
from rich.console import Console

from foreknow.app.cli import terminal


@pytest.fixture
def wide(monkeypatch):
    """Consoles wide enough for tables without wrapped lines."""
    monkeypatch.setattr(terminal, "console", Console(width=250))
    monkeypatch.setattr(terminal, "error_console", Console(width=250, stderr=True))


@pytest.fixture(params=["csv", "parquet"])
def kind(request):
    return request.param


@pytest.fixture
def published(tmp_path, kind):
    """Records, and the output of ``publish`` with default settings."""
    source = write(records(), tmp_path / f"records.{kind}")
    result = run("publish", source, *ROLES, "--out", tmp_path / "out", "-j", 1.2)
    return Path(source), tmp_path / "out", result
