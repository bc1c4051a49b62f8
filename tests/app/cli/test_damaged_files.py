"""Damaged files: each is read, or refused in one sentence; none ends in a traceback."""

import io

import numpy as np
import pytest
from commands import records, run

from foreknow.app.cli.typed_commands import MAX_MESSAGE_LENGTH, error_lines

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("wide")]

FILES = 200
"""Number of files; 2,000 of other seeds were tried."""

CELLS = ["", "inf", "1e999", "-0", "٣", "9" * 400, "2024-13-45", "=1+1", "NaN", "True", "1_000", "0x1F", "1,5", "\x07"]

TABLE = records(people=40, present=40).assign(name=lambda rows: np.where(rows.index % 7 == 0, 'Müller, "A"', "x"))


def flipped(data, rng):
    """Other bytes."""
    for _ in range(int(rng.integers(1, 20))):
        data[rng.integers(len(data))] = rng.integers(256)
    return data


def inserted(byte):
    def insert(data, rng):
        for _ in range(int(rng.integers(1, 9))):
            data.insert(int(rng.integers(len(data))), byte)
        return data

    return insert


def repeated(data, rng):
    """A piece of the file again, elsewhere."""
    start, end = sorted(rng.integers(len(data), size=2).tolist())
    place = int(rng.integers(len(data)))
    return data[:place] + data[start:end] + data[place:]


def with_long_cell(data, rng):
    place = int(rng.integers(len(data)))
    return data[:place] + b"x" * int(rng.integers(1, 300_000)) + data[place:]


def other_header(data, rng):
    place = int(rng.integers(data.find(b"\n")))
    data[place : place + int(rng.integers(1, 9))] = rng.integers(
        0, 256, int(rng.integers(0, 9)), dtype=np.uint8
    ).tobytes()
    return data


def other_cells(_, rng):
    table = TABLE.astype(object)
    for _ in range(9):
        table.iloc[int(rng.integers(len(table))), int(rng.integers(table.shape[1]))] = rng.choice(CELLS)
    return table.to_csv(index=False).encode()


def without_columns(_, rng):
    names = rng.choice(TABLE.columns, int(rng.integers(1, 5)), replace=False)
    return TABLE.drop(columns=list(names)).to_csv(index=False).encode()


def parquet(_, rng):
    file = io.BytesIO()
    TABLE.to_parquet(file, index=False)
    return flipped(bytearray(file.getvalue()), rng)


DAMAGES = [
    flipped, inserted(ord('"')), inserted(0), repeated, with_long_cell, other_header, other_cells, without_columns, parquet,
    lambda data, _: b"\xef\xbb\xbf" + data,
    lambda data, rng: data.replace(b"\n", b"\r\n", int(rng.integers(1, 50))).replace(b"\n", b"\r", int(rng.integers(20))),
    lambda data, rng: b"," * int(rng.integers(1, 20_000)) + b"\n" + data,
    lambda data, rng: data[: int(rng.integers(len(data)))],
    lambda data, rng: data[: int(rng.integers(60))],
    lambda _, rng: rng.integers(0, 256, int(rng.integers(3000)), dtype=np.uint8).tobytes(),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(FILES))
def test_a_damaged_file(seed, tmp_path):
    rng = np.random.default_rng(seed)
    text = TABLE.to_csv(index=False, sep=rng.choice([",", ";", "\t"]), quoting=int(rng.integers(3)))
    damage = DAMAGES[seed % len(DAMAGES)]
    data = damage(bytearray(text.encode(rng.choice(["utf-8", "latin-1", "utf-16", "utf-8-sig"]))), rng)
    path = tmp_path / ("visits.parquet" if damage is parquet else "visits.csv")
    path.write_bytes(data)
    roles = ["--qi", "age", "--qi", "town", "--sensitive", "result", "--defense", "mondrian"]
    for command in (["describe", path], ["publish", path, *roles, "--out", tmp_path / "out"]):
        error = run(*command, status=None).exception
        if error is not None and not isinstance(error, SystemExit):
            assert isinstance(error, ValueError | OSError), error  # those that the program tells in one sentence
            assert all("\n" not in line for line in error_lines(error))
            assert max(map(len, error_lines(error))) < MAX_MESSAGE_LENGTH + 10


@pytest.mark.parametrize("characters", [140_000, 2**24 + 1])
def test_a_huge_cell(characters, tmp_path):
    """A long text is read; a quote that is never closed is told, with its line."""
    path = tmp_path / "visits.csv"
    TABLE.assign(name=["x" * characters, *["y"] * (len(TABLE) - 1)]).to_csv(path, index=False)
    told = run("describe", path, status=None)
    if characters < 2**24:
        assert told.exit_code == 0
    else:
        assert "a cell of the record in line 2 has over" in str(told.exception)
