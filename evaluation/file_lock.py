"""Lock of a folder against a second run that writes into it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no locks of folders.
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Context manager that holds the lock of an existing folder; the system frees it when the process ends, however it does."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ValueError(
            f"{folder}: another run is writing into it; wait for its end, or name another folder."
        ) from None
    except OSError:
        pass  # A file system without locks, as some of networks.
    try:
        yield
    finally:
        os.close(handle)
