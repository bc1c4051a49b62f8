"""Version of the program, in its output and in its files."""

import importlib.metadata


def program_version() -> str:
    """Name and version of the program."""
    try:
        return f"foreknow {importlib.metadata.version('foreknow')}"
    except importlib.metadata.PackageNotFoundError:
        return "foreknow"
