"""Text encodings of files: checks, and messages for bytes that cannot be decoded."""

from os import PathLike
from pathlib import Path

NAME_ENCODING = "name its encoding, as encoding='latin-1' or encoding='utf-16', or save the file as UTF-8."
"""The way out of a wrong encoding, for messages."""


def existing_file(path: "str | PathLike[str]", way_out: str) -> Path:
    """Return the path of a file that exists; raise FileNotFoundError otherwise.

    Parameters
    ----------
    path : str or path
    way_out : str
        The end of the message: "name a hierarchy file".
    """
    try:
        path = Path(path)
        exists = path.is_file()
    except OSError:  # A name that is too long.
        exists = False
    if not exists:
        raise FileNotFoundError(f"there is no file {str(path)[:200]}; {way_out}.")
    return Path(path)


def check_encoding(encoding: str) -> None:
    """Raise ValueError unless Python has a text encoding of this name."""
    try:
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding is {encoding!r}, and Python has no encoding of text by this name; name another, as encoding='latin-1'."
        ) from None


def undecodable(path: Path, encoding: str) -> str:
    """Return a clause that names the first byte of a file that is not in an encoding."""
    data = path.read_bytes()
    try:
        data.decode(encoding)
        position = 0
    except UnicodeError as error:
        position = getattr(error, "start", 0)
    line = data.count(b"\n", 0, position) + 1
    byte = f"0x{data[position]:02x}, " if position < len(data) else ""
    return f"byte {position} ({byte}in line {line}) is not {encoding}; {NAME_ENCODING}"
