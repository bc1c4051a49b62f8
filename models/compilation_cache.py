"""Machine code of compiled kernels on disk, valid for one state of all source files that it can depend on.

Numba keeps compiled code beside the file of a function and discards it when that file changes. A kernel that calls a kernel of
another file then keeps the former code of the callee. Here the stamp covers every source file that a kernel can import: a file
in ``models`` imports from ``models`` only, a file of another folder from that folder and ``models``, and ``evaluation`` from all
four.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numba
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

PACKAGES_FOLDER = Path(__file__).resolve().parents[1]
"""Folder that holds the four packages."""

IMPORTABLE = {"models": ("models",), "attacks": ("models", "attacks"), "defenses": ("models", "defenses")}
"""Folders from which a kernel of each folder can import; a kernel of another folder can import from all four."""

ALL_FOLDERS = ("models", "attacks", "defenses", "evaluation", "app")


def sources_digest(root: Path, folders: tuple[str, ...]) -> bytes:
    """SHA-256 of the names and contents of all Python files of some folders, sorted by name.

    Cost: one read of every file, 20 ms for this package.
    """
    digest = sha256()
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.digest()


@cache
def sources_stamp(folder: str) -> bytes:
    """Digest of all source files from which the files of a folder can import."""
    return sources_digest(PACKAGES_FOLDER, IMPORTABLE.get(folder, ALL_FOLDERS))


class PackageCache(FunctionCache):
    """Cache of the machine code of one function, with a stamp of all source files that the function can import.

    The stamp is part of the version of the cache file, which Numba compares before it reads the rest. A file that refers to a
    module which no longer exists could not be read.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        cast(Any, super()).__init__(function)
        file, path = cast(Any, self)._cache_file, Path(function.__code__.co_filename).resolve()
        folder = path.relative_to(PACKAGES_FOLDER).parts[0] if path.is_relative_to(PACKAGES_FOLDER) else ""
        file._version = (file._version, sources_stamp(folder))


def compiled[F: Callable[..., Any]](function: F) -> F:
    """Compile a function with Numba and keep its machine code on disk, or in memory only where no folder can be written.

    The function releases Python's global lock, so that several threads can run it. A division by zero gives infinity or NaN, as in
    NumPy, and no error: the check would cost more than the division.

    The folder is the first writable one of ``NUMBA_CACHE_DIR``, ``__pycache__`` beside the file, and the cache of the user.
    """
    dispatcher: Any = numba.njit(function, nogil=True, error_model="numpy")
    _keep(dispatcher, function)
    return cast(F, dispatcher)


def inlined[F: Callable[..., Any]](function: F) -> F:
    """Compile a function as `compiled` does, and put its machine code into that of each kernel that calls it.

    A call of another kernel counts the references to all arrays that it is given, which costs more than a short move.
    """
    dispatcher: Any = numba.njit(function, nogil=True, error_model="numpy", forceinline=True)
    _keep(dispatcher, function)
    return cast(F, dispatcher)


def compiled_callback(function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function of C types to machine code with an ``address``, cached as for `compiled`.

    Parameters
    ----------
    function : callable
        Written in the subset of Python that Numba compiles.
    signature : numba signature
        C types of the arguments and of the result.
    """
    callback = CFunc(function, cast(Any, normalize_signature)(signature), locals={}, options={})
    _keep(callback, function)
    callback.compile()
    return callback


def keeps_code(kernel: Callable[..., Any]) -> bool:
    """Return whether the machine code of a kernel is kept on disk; False where no folder can be written."""
    return isinstance(cast(Any, kernel)._cache, PackageCache)


def is_on_disk(kernel: Callable[..., Any]) -> bool:
    """Return whether machine code of a kernel is on disk, for this state of the sources and this processor.

    Nothing is compiled. Cost: one read of the kernel's index file.

    Parameters
    ----------
    kernel : callable
        What `compiled` returned.
    """
    dispatcher = cast(Any, kernel)
    if not keeps_code(kernel):
        return False
    processor = dispatcher.targetctx.codegen().magic_tuple()
    return any(key[1] == processor for key in dispatcher._cache._cache_file._load_index())


def _keep(code: Any, function: Callable[..., Any]) -> None:
    # Numba raises where no folder is writable (a read-only installation and no home); then nothing is cached.
    with suppress(RuntimeError):
        code._cache = cast(Any, PackageCache)(function)
