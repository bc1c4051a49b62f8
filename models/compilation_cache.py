"""Machine code on disk, valid for one state of all sources that it can depend on.

Numba keeps compiled code beside a function's file and discards it when that file changes. A kernel that calls a kernel of
another file then keeps the callee's former code. Here the stamp covers every source file that a kernel can reach: a file in
``models`` imports from ``models`` only, a file of another folder from that folder and ``models``, and ``evaluation`` from all.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

ROOT = Path(__file__).resolve().parents[1]
"""The folder that holds the four packages."""

REACHED = {"models": ("models",), "attacks": ("models", "attacks"), "defenses": ("models", "defenses")}
"""Folders whose sources a kernel of each folder can depend on; a kernel elsewhere can depend on all four."""

ALL = ("models", "attacks", "defenses", "evaluation")


def sources_digest(root: Path, folders: tuple[str, ...]) -> bytes:
    """SHA-256 of the names and contents of all Python files of some folders, in the order of their names.

    Cost: one read of every file, 20 ms for this package.
    """
    digest = sha256()
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.digest()


@cache
def _stamp(folder: str) -> bytes:
    return sources_digest(ROOT, REACHED.get(folder, ALL))


def _folder(file: str) -> str:
    path = Path(file).resolve()
    return path.relative_to(ROOT).parts[0] if path.is_relative_to(ROOT) else ""


def _stamped(locator: type[Any]) -> type[Any]:
    """A place for compiled code, as Numba's own, whose stamp covers all sources of the package that the code can reach."""

    class Stamped(locator):  # type: ignore[misc]
        def get_source_stamp(self) -> tuple[bytes, Any]:
            return _stamp(_folder(self._py_file)), super().get_source_stamp()

    return Stamped


class _Places(CompileResultCacheImpl):
    _locator_classes = [_stamped(place) for place in CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class PackageCache(FunctionCache):
    """Numba's cache of one function's machine code, with a stamp of all sources that the function can reach."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        # An index names the modules of argument types. Those of an earlier layout cannot be imported, so that an index of other
        # sources must be refused before it is read: Numba does so where the version at its head differs.
        stamp = _stamp(_folder(function.__code__.co_filename)).hex()
        self._cache_file._version = f"{numba.__version__} {stamp}"


def compiled[F: Callable[..., Any]](function: F) -> F:
    """Compile a function with Numba and keep its machine code on disk, or in memory only where no folder can be written.

    The folder is ``NUMBA_CACHE_DIR``, ``__pycache__`` beside the file or the user's cache, the first of them that is writable.
    """
    dispatcher: Any = numba.njit(function)
    _keep(dispatcher, function)
    return cast(F, dispatcher)


def compiled_callback(function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function of C types to machine code with an ``address``, kept as that of `compiled` functions.

    Parameters
    ----------
    function : callable
        In the subset of Python that Numba compiles.
    signature : numba signature
        C types of its arguments and result.
    """
    callback = CFunc(function, cast(Any, normalize_signature)(signature), locals={}, options={})
    _keep(callback, function)
    callback.compile()
    return callback


def _keep(code: Any, function: Callable[..., Any]) -> None:
    # Without a writable folder (a read-only installation and no home) Numba raises; then nothing is kept.
    with suppress(RuntimeError):
        code._cache = cast(Any, PackageCache)(function)
