"""Tables read from files: encodings, missing cells, exact integers, and the pandas metadata of Parquet."""

import codecs
import csv
import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from foreknow.models.tables import table_files
from foreknow.models.tables.table_files import MAX_COLUMNS, read_table

BIG = 2**53 + 1
TEXT = "id,town\n1,Zürich\n2,Roma\n"


def csv_of(folder, content, encoding="utf-8"):
    path = folder / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def parquet_of(folder, **columns):
    path = folder / "t.parquet"
    pq.write_table(pa.table(columns), path)
    return path


class TestEncoding:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le"])
    def test_every_encoding_gives_the_same_table(self, encoding, tmp_path):
        table = read_table(csv_of(tmp_path, TEXT, encoding), encoding=encoding)
        assert table.to_dict("list") == {"id": [1, 2], "town": ["Zürich", "Roma"]}

    def test_a_byte_order_mark_is_skipped(self, tmp_path):
        table = read_table(csv_of(tmp_path, codecs.BOM_UTF8 + TEXT.encode()))
        assert list(table.columns) == ["id", "town"]

    @pytest.mark.parametrize(
        ("encoding", "message"),
        [
            (
                "latin-1",
                r"t\.csv cannot be read as csv: byte 11 \(0xfc, in line 2\) is not utf-8; with encoding='cp1252', .*'Zürich'",
            ),
            ("utf-16", r"byte 0 \(0xff, in line 1\) is not utf-8; .*utf-16"),
            ("utf-16-be", r"byte 23 \(0xfc, in line 2\) is not utf-8; .*utf-16"),
        ],
    )
    def test_another_encoding_is_one_clear_error(self, encoding, message, tmp_path):
        with pytest.raises(ValueError, match=message):
            read_table(csv_of(tmp_path, TEXT, encoding))

    def test_utf_16_without_a_mark(self, tmp_path):
        with pytest.raises(ValueError, match=r"it holds NUL characters, as UTF-16 does .*utf-16"):
            read_table(csv_of(tmp_path, "id,town\n1,Rome\n", "utf-16-le"))

    @pytest.mark.parametrize("block", [1000, 2**24], ids=["in blocks", "at once"])
    def test_a_wrong_byte_far_below_is_found(self, tmp_path, monkeypatch, block):
        monkeypatch.setattr(table_files, "BLOCK_BYTES", block)
        content = b"id,town\n" + b"1,Rome\n" * 100_000 + b"2,\xe9vian\n"
        with pytest.raises(ValueError, match=r"byte 700010 \(0xe9, in line 100002\)"):
            read_table(csv_of(tmp_path, content))

    @pytest.mark.parametrize("encoding", ["klingon", "hex"])
    def test_an_encoding_that_is_none(self, encoding, tmp_path):
        with pytest.raises(
            ValueError, match=f"^encoding is '{encoding}', and Python has no encoding of text by this name"
        ):
            read_table(csv_of(tmp_path, TEXT), encoding=encoding)

    def test_an_encoding_that_is_another(self, tmp_path):
        with pytest.raises(ValueError, match=r"cannot be read as csv: .*utf-16"):
            read_table(csv_of(tmp_path, TEXT), encoding="utf-16")


class TestMissing:
    CONTENT = "id,disease,dose\nNA,None,1\nnull,NA,\n,nan,3\n"

    def test_only_the_empty_cell(self, tmp_path):
        table = read_table(csv_of(tmp_path, self.CONTENT), ["id"])
        assert table["id"].tolist()[:2] == ["NA", "null"]
        assert table["disease"].tolist() == ["None", "NA", "nan"]
        assert table.isna().to_numpy().tolist() == [[False, False, False], [False, False, True], [True, False, False]]

    def test_what_is_named(self, tmp_path):
        table = read_table(csv_of(tmp_path, self.CONTENT), ["id"], missing=("", "NA"))
        assert table.isna().to_numpy().tolist() == [[True, False, False], [False, True, True], [True, False, False]]

    def test_what_is_named_in_parquet(self, tmp_path):
        path = parquet_of(tmp_path, disease=["None", "NA", ""], dose=[1, 2, 3], items=[["NA"], ["x"], ["y"]])
        assert read_table(path)["disease"].tolist() == ["None", "NA", ""]
        assert read_table(path, missing=("", "NA"))["disease"].isna().tolist() == [False, True, False]


class TestWholeNumbers:
    """float64 does not represent every integer beyond 2**53."""

    @pytest.mark.parametrize(
        "numbers", [[BIG, BIG + 2], [BIG, -BIG], [2**63 + 1, 3], [10**30 + 1, 7], [10**2000 + 1, 7]]
    )
    @pytest.mark.parametrize("gap", [False, True])
    def test_csv(self, numbers, gap, tmp_path):
        lines = [*map(str, numbers), *([""] if gap else [])]
        table = read_table(csv_of(tmp_path, "a,b\n" + "".join(f"{line},x\n" for line in lines)))
        assert [int(cell) for cell in table["a"].dropna()] == numbers
        assert table["a"].isna().sum() == gap

    @pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.int8(), pa.int32()])
    def test_parquet(self, kind, tmp_path):
        number = {8: 100, 32: 2**31 - 1}.get(kind.bit_width, BIG)
        path = parquet_of(tmp_path, a=pa.array([number, None], kind), b=pa.array([number, 1], kind))
        table = read_table(path)
        assert (table["a"].tolist()[0], table["b"].tolist()) == (number, [number, 1])
        assert table["a"].isna().tolist() == [False, True]

    def test_fractions_and_large_floats_stay_floats(self, tmp_path):
        table = read_table(csv_of(tmp_path, f"a,b,c\n1.5,1e300,0.1\n{BIG},3,\n"))
        assert table.dtypes.tolist() == [np.float64] * 3
        assert table["c"].tolist()[0] == 0.1


class TestShape:
    """Files that pandas alone misreads, renames or reads for minutes."""

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "it is empty"),
            ("\n\n", "it is empty"),
            ("a,b\n1,2,3\n4,5,6\n", "names 2 columns, and the next has 3 cells"),
            ("a,b\n1,2\n4,5,6\n", "line 3 has 3 cells, and the table 2 columns; put cells that hold commas in quotes"),
            ('a,b\n1,2\n3,"4\n', "a quote is opened in line 3 and never closed"),
            ("a,b,a\n1,2,3\n", "the column 'a' appears twice"),
            ('"a;b"\n1\n', "its only column is 'a;b'; name the character between its cells, as separator=';'"),
            ("," * MAX_COLUMNS + "\n1\n", "16,385 columns, and at most 16,384 are read"),
            ("a,b\n" + "," * 10**6 + "\n", "the next has 1000001 cells"),
            ("a,b\n1,2\n" + "," * 10**6 + "\n", "line 3 has 1000001 cells"),
            ('"' * (2 * 10**6) + "\n1\n", "has over 131,072 characters"),
            ('a,b\n"' + "x,y\n" * 10**5, "has over 131,072 characters; close the quote"),
            ("a,b\n1," + "9" * 10**6 + "\n", "has over 131,072 characters"),
        ],
        ids=range(13),
    )
    def test_is_refused_in_words(self, content, message, tmp_path, monkeypatch):
        calls = []
        real = pd.read_csv
        monkeypatch.setattr(table_files, "LONGEST_CELL", 131_072)
        monkeypatch.setattr(pd, "read_csv", lambda *args, **options: calls.append(1) or real(*args, **options))
        with pytest.raises(ValueError, match=r"t\.csv cannot be read as csv: .*" + message):
            read_table(csv_of(tmp_path, content))
        assert len(calls) == ("in line 3" in message or "line 3 has" in message)

    def test_the_limit_of_cells_is_that_of_other_readers_again(self, tmp_path):
        """Also while a file is read, and where it is not read to its end."""
        before, lines = (
            csv.field_size_limit(),
            table_files.csv_records(csv_of(tmp_path, "a,b\n1,2\n3,4\n"), "utf-8", ","),
        )
        assert next(lines) == (1, ["a", "b"])
        assert csv.field_size_limit() == before

    def test_columns_of_parquet(self, tmp_path):
        path = parquet_of(tmp_path, **{f"c{i}": [1] for i in range(MAX_COLUMNS + 1)})
        with pytest.raises(ValueError, match="16,385 columns"):
            read_table(path)

    def test_blank_lines_and_short_lines(self, tmp_path):
        table = read_table(csv_of(tmp_path, "a,b\r\n\r\n1,x\r\n\r\n2\r\n"))
        assert table["a"].tolist() == [1, 2]
        assert table["b"].isna().tolist() == [False, True]


class TestParquet:
    def test_types_that_pandas_has_no_plain_column_for(self, tmp_path):
        day = datetime.date(2026, 1, 1)
        path = parquet_of(
            tmp_path,
            coded=pa.array(["a", None, "b"]).dictionary_encode(),
            numbers=pa.array([3, 1, 3]).dictionary_encode(),
            flag=[True, None, False],
            day=[day, day, day],
            money=[Decimal("1.25"), Decimal("3.00"), None],
        )
        table = read_table(path)
        assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in table.dtypes)
        assert table["coded"].tolist()[::2] == ["a", "b"]
        assert table["numbers"].tolist() == [3, 1, 3]
        assert table["flag"].tolist()[::2] == [True, False]
        assert table["day"].tolist() == [day] * 3
        assert table["money"].tolist()[:2] == [1.25, 3.0]
        assert table.isna().sum().tolist() == [1, 0, 1, 0, 1]

    @pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "category", "float64"])
    def test_columns_that_pandas_backs_otherwise(self, dtype, tmp_path):
        pd.DataFrame({"a": pd.Series([3, 1, 2]).astype(dtype)}).to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert table["a"].tolist() == [3, 1, 2]
        assert isinstance(table["a"].dtype, np.dtype)

    def test_what_pandas_carries_is_left_aside(self, tmp_path):
        frame = pd.DataFrame({"a": [1, 2]}).rename_axis(columns="secret")
        frame.attrs["owner"] = "me"
        frame.to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert (table.attrs, table.columns.name, table.index.name) == ({}, None, None)

    @pytest.mark.parametrize("index", [pd.RangeIndex(3, 5, name="age"), pd.Index([7, 3], name="age"), ["x", "y"]])
    def test_a_named_index_is_a_column(self, index, tmp_path):
        pd.DataFrame({"a": [1, 2]}, index=index).to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert table["a"].tolist() == [1, 2]
        if isinstance(index, pd.Index):
            assert table["age"].tolist() == index.tolist()

    def test_an_index_named_like_a_column(self, tmp_path):
        pd.DataFrame({"age": [5, 6]}).rename_axis("age").to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert table["age"].tolist() == [5, 6]
        assert list(table.groupby("age").groups) == [5, 6]
