"""Checksums of outputs on fixed seeds: a net under changes of the code that may change no result.

``python tests/net.py [TEXT]`` computes those whose name contains TEXT, compares them with tests/net.csv and prints the names
that differ; exit status 1. ``--write`` rewrites their rows. ``--dump DIR`` writes each output as a text file, so that the
outputs of two versions can be compared by ``diff -r``. Only public names of the package and the command line are used.
"""

import contextlib
import csv
import dataclasses
import enum
import hashlib
import io
import json
import math
import os
import re
import shlex
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

os.environ |= {"COLUMNS": "160", "NO_COLOR": "1", "MPLBACKEND": "Agg"}
sys.path.insert(0, str(Path(__file__).parent))

import net_commands
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import xarray as xr
from net_objects import cases

TABLE = Path(__file__).with_name("net.csv")
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{6,}(?:[eE][-+]?\d+)?|(?<![\w.])-?\d(?:\.\d+)?[eE]-\d+")
"""Floats as text, with more digits than are compared."""
VOLATILE = (
    (re.compile(r"^Compiling kernels once.*\n?", re.MULTILINE), ""),
    (re.compile(r"(?<![\w.])(?=\d*[a-f])[0-9a-f]{16,64}\b"), "<checksum>"),
    (re.compile(r"0x[0-9a-f]+"), "<address>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(\+00:00|Z)?"), "<moment>"),
    (re.compile(r'("(?:python|version|program|platform|numpy|pandas|scipy|numba|duckdb|pyarrow)": )"[^"]*"'), r'\1"<version>"'),
    (re.compile(r'("seconds": )[\d.e-]+'), r"\1<amount>"),
    (re.compile(r"\b\d+(\.\d+)? (s|seconds|ms|MiB|GB)\b"), "<amount>"),
)  # fmt: skip


def number(value):
    """A float with seven digits, none after the ninth decimal; the offsets keep sums in another order off the ties."""
    value = float(value)
    return f"{round(value * (1 + 3e-10) + 3e-10, 9) + 0.0:.7g}" if np.isfinite(value) else str(value)


def plain(words):
    """Text without what differs from run to run, and with rounded numbers."""
    for pattern, by in VOLATILE:
        words = pattern.sub(by, words)
    words = "\n".join(without_seconds(words.splitlines()))
    return NUMBER.sub(lambda found: number(found[0]), words)


def without_seconds(rows):
    """Lines without the column ``seconds`` of a printed table, where it is the last, and of a CSV file."""
    place, is_last = None, False
    for row in rows:
        cells = row.split(",")
        if row.split()[-1:] == ["seconds"]:
            is_last = True
        elif "seconds" in cells:
            place = cells.index("seconds")
        elif is_last and row:
            row = row.rsplit(None, 1)[0]
        elif place is not None:
            row = ",".join([*cells[:place], "", *cells[place + 1 :]])
        is_last &= bool(row)
        yield row


def lines(value):
    """Lines of text that say a value: rows of a table, elements of an array, fields of an object."""
    if isinstance(value, str):
        yield from plain(value).splitlines()
    elif isinstance(value, enum.Enum):
        yield str(value.value)
    elif isinstance(value, bool | np.bool_ | int | np.integer | None):
        yield str(value)
    elif isinstance(value, float | np.floating):
        yield number(value)
    elif isinstance(value, pd.DataFrame):
        yield " | ".join(map(str, [*value.index.names, *value.columns]))
        cells = value.reset_index().astype(object).to_numpy()
        yield from (" | ".join(" ".join(lines(cell)) for cell in row) for row in cells)
    elif isinstance(value, pd.Series | pd.Index):
        yield from lines(value.to_frame())
    elif isinstance(value, np.ndarray):
        yield str(value.shape)
        value = np.atleast_1d(value)
        rows = value.reshape(len(value), math.prod(value.shape[1:]))
        yield from (" ".join(" ".join(lines(cell)) for cell in row) for row in rows.tolist())
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (f"{key}: {line}" for line in lines(each))
    elif isinstance(value, set | frozenset):
        yield from sorted(" ".join(lines(each)) for each in value)
    elif isinstance(value, xr.DataTree):
        for path, node in sorted((node.path, node) for node in value.subtree):
            for name, array in sorted({**node.variables}.items()):
                yield from (f"{path}/{name}: {line}" for line in lines(array.to_numpy()))
    elif isinstance(value, nx.Graph):
        yield from lines({str(key): data for key, data in value.nodes.items()})
        yield from lines({f"{edge[0]} -> {edge[1]}": data for edge, data in value.edges.items()})
    elif hasattr(value, "figure"):
        yield from picture(value.figure)
    elif hasattr(value, "times") and hasattr(value, "posterior"):
        yield from beliefs(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for each in dataclasses.fields(value):
            if not each.name.startswith("_") and each.name != "problem":
                yield from (f"{each.name}: {line}" for line in lines(getattr(value, each.name)))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from lines(each)
    elif isinstance(value, np.random.Generator) or callable(value):
        yield type(value).__name__
    else:
        yield from plain(repr(value)).splitlines()


def beliefs(found):
    """Beliefs at each release, and the notes."""
    for each in found:
        for stage in ("prior", "revised", "posterior"):
            if hasattr(found, stage):
                yield from (f"{stage}: {line}" for line in lines(getattr(found, stage)(each.observation.time)))
        yield from (f"posterior: {line}" for line in lines(getattr(each.posterior, "status", None)))
    yield from (f"note: {line}" for line in lines([str(note) for note in getattr(found, "notes", ())]))


def picture(figure):
    """Size and checksum of the pixels of a figure."""
    import matplotlib.pyplot as plt
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())
    plt.close(figure)
    yield f"{pixels.shape} {hashlib.blake2b(pixels.tobytes(), digest_size=6).hexdigest()}"


def output(make):
    """Text of a value that a function makes, or of the error that it raises."""
    try:
        return "\n".join(lines(make())) + "\n"
    except Exception as error:
        return "\n".join(lines(f"{type(error).__name__}: {error}")) + "\n"


@cache
def program():
    """The function that the console command calls."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    module, name = project["scripts"]["foreknow"].split(":")
    return getattr(import_module(module), name)


def command(words):
    """Exit status, standard output and standard error of a command, in the current folder, and the files that it writes."""
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*") if path.is_file()}
    out, err, status = io.StringIO(), io.StringIO(), 0
    kept, sys.argv = sys.argv, ["foreknow", *shlex.split(words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            program()()
    except SystemExit as end:
        status = end.code
    except BaseException as error:
        status = f"{type(error).__name__}: {error}"
    finally:
        sys.argv = kept
    after = sorted(path for path in Path().rglob("*") if path.is_file() and before.get(path) != path.stat().st_mtime_ns)
    told = [
        "$ foreknow " + words,
        f"status {status}",
        *lines(out.getvalue()),
        "-- standard error",
        *lines(err.getvalue()),
    ]
    for path in after:
        told += [f"-- {path} {path.stat().st_mode & 0o777:o}", *content(path)]
    return "\n".join(told) + "\n"


def content(path):
    """Lines of a file: a table, text, or the pixels of a picture."""
    if path.suffix == ".parquet":
        return lines(pq.read_table(path).to_pandas())
    if path.suffix == ".png":
        from matplotlib.image import imread

        return [hashlib.blake2b(imread(path).tobytes(), digest_size=6).hexdigest()]
    if path.suffix == ".json":
        return lines(json.dumps(json.loads(path.read_text()), indent=1))
    try:
        return lines(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        return [f"{path.stat().st_size} bytes"]


def outputs(part):
    """Pairs of a name and a text, of those whose name contains a part."""
    for name, make in cases().items():
        if part in name:
            yield name, output(make)
    for session, (files, commands) in net_commands.sessions().items():
        names = [f"command/{session}/{words}" for words in commands]
        last = max((place for place, name in enumerate(names) if part in name), default=-1)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            files()
            for name, words in zip(names[: last + 1], commands, strict=False):
                told = command(words)
                if part in name:
                    yield name, told


def main(arguments):
    """Compare, or write with ``--write``; the exit status."""
    write = "--write" in arguments
    dump = Path(arguments[arguments.index("--dump") + 1]).absolute() if "--dump" in arguments else None
    plain_words = [each for each in arguments if not each.startswith("--") and each != str(dump)]
    part = next((each for each in plain_words if dump is None or Path(each).absolute() != dump), "")
    known = dict(csv.reader(TABLE.open())) if TABLE.exists() else {}
    warnings.simplefilter("ignore")
    found = {}
    for name, told in outputs(part):
        found[name] = hashlib.blake2b(told.encode(), digest_size=6).hexdigest()
        if dump:
            dump.mkdir(parents=True, exist_ok=True)
            file = re.sub(r"[^\w.=-]+", "_", name)[:120]
            (dump / f"{file}-{hashlib.blake2b(name.encode(), digest_size=2).hexdigest()}.txt").write_text(told)
        if known.get(name) != found[name]:
            print(f"{'differs' if name in known else 'new'}: {name}", flush=True)
    gone = [name for name in known if part in name and name not in found]
    if write:
        kept = {name: known[name] for name in known if part not in name} | found
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(sorted(kept.items()))
        return 0
    print(*(f"gone: {name}" for name in gone), sep="\n", end="\n" if gone else "")
    differ = [name for name in found if known.get(name) != found[name]] + gone
    print(f"{len(found)} outputs, {len(differ)} differ")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
