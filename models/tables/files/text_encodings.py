"""Text encodings of files: checks, and messages for bytes that cannot be decoded."""

import codecs
import re
from os import PathLike
from pathlib import Path

from foreknow.models.advice import Advice, Setting, Wording

LATIN, UTF16, WINDOWS = (Setting("encoding", name) for name in ("latin-1", "utf-16", "cp1252"))

NAME_ENCODING = Advice("name its encoding, as ", LATIN, " or ", UTF16, ", or save the file as UTF-8.")
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


def text_codec(encoding: str) -> str:
    """The codec of an encoding that skips a byte order mark of UTF-8."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def check_encoding(encoding: str) -> None:
    """Raise ValueError unless Python has a text encoding of this name."""
    try:
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            Advice(
                Wording("encoding", "--encoding"),
                f" is {encoding!r}, and Python has no encoding of text by this name; name another, as ",
                LATIN,
                ".",
            )
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
    where = f"byte {position} ({byte}in line {line}) is not {encoding}; "
    return Advice(where, _likely(data, position) or NAME_ENCODING)


def likely_encoding(path: Path) -> str:
    """The likely encoding of a file: UTF-8 if it can be read so, UTF-16 by its first bytes, else that of Windows."""
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252" if path.suffix.lower() != ".parquet" else "utf-8"
    return "utf-8"


def _likely(data: bytes, position: int) -> str:
    """The word around a byte as the likely encoding reads it: UTF-16 by its mark, else that of Windows."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Advice("its first bytes are those of UTF-16; name ", UTF16, ", or save the file as UTF-8.")
    if b"\0" in data[:100]:
        return ""
    try:
        before = data[max(0, position - 20) : position].decode("cp1252")
        after = data[position : position + 20].decode("cp1252")
    except UnicodeError:
        return ""
    word = re.split(r"\W", before)[-1] + re.split(r"\W", after)[0]
    if not word.isalpha():
        return ""
    likely = f", that of Excel on Windows, it reads {word!r}. Name it if that is right, or another as "
    return Advice("with ", WINDOWS, likely, LATIN, ", or save the file as UTF-8.")
