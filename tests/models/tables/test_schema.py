"""Schemas: domains, codes, and their inference from tables."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from foreknow.defenses import TCloseness
from foreknow.evaluation import verify
from foreknow.models import Categorical, Numeric, Release, Schema, View
from foreknow.models.tables.columns import plain_column


def test_infer_takes_the_domains_from_a_table():
    frame = pd.DataFrame(
        {
            "who": [1, 2, 3],
            "age": [3.5, 1, 2],
            "town": ["b", "a", None],
            "ill": ["y", "x", "y"],
            "ok": [True, False, True],
        }
    )
    schema = Schema.infer(frame, ["age", "town", "ok"], "ill", "who")
    assert schema.quasi_identifiers == {
        "age": Numeric(), "town": Categorical(("a", "b")), "ok": Categorical((False, True))
    }  # fmt: skip
    assert schema.values == ("x", "y")
    with pytest.raises(ValueError, match=r"no column 'zip'; it has 'who', 'age'.* Rename the column, or name another"):
        Schema.infer(frame, ["zip"], "ill", "who")


def test_infer_sorts_what_cannot_be_compared_as_text():
    frame = pd.DataFrame({"id": [1, 2], "age": [1, 2], "result": ["b", 10]}, dtype=object)
    assert Schema.infer(frame, ["age"]).values == (10, "b")


def test_omitted_bounds_are_taken_from_codes():
    schema = Schema({"age": Numeric(high=99), "town": Categorical(("a", "b"))}, "result", ("x",))
    assert schema.with_bounds_from(np.array([[20.0, 0], [30, 1]])).bounds.tolist() == [[20, 99], [0, 1]]
    with pytest.raises(ValueError, match="no low or no high"):
        _ = Numeric().bounds


def test_codes_are_positions_and_nan_outside():
    schema = Schema({"age": Numeric()}, "result", ("x", "y"))
    assert np.array_equal(schema.codes(pd.Series(["y", "x", "z", None])), [1, 0, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(Numeric().codes(pd.Series(["3", "x"])), [3, np.nan], equal_nan=True)


def test_it_is_a_value():
    first, second = (Schema({"age": Numeric()}, "result", ["x", "y"]) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: Numeric(3, 1), "low is 3 and high 1; low must not be above high"),
        (lambda: Schema({}, "result", ("x",)), "at least one quasi-identifier"),
        (lambda: Schema({"age": Numeric()}, "result", ()), "the sensitive attribute 'result' has no value"),
        (
            lambda: Schema({"age": Numeric()}, "result", ("x", "x")),
            "'result' lists 'x' and 'x', which are indistinguishable",
        ),
        (lambda: Schema({"age": Numeric()}, "age", ("x",)), "the column 'age' has two roles"),
        (lambda: Schema({"id": Numeric()}, "result", ("x",)), "the column 'id' has two roles"),
    ],
)
def test_bad_schemas_are_one_clear_error(build, match):
    with pytest.raises(ValueError, match=match):
        build()


@pytest.mark.parametrize("ends", [{"low": np.nan}, {"high": np.inf}])
def test_an_end_of_a_domain_is_a_number(ends):
    with pytest.raises(ValueError, match=r"Numeric: (low|high) is (nan|inf); a bound of the domain is a number"):
        Numeric(**ends)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Numeric(), "a number from -2**53 to 2**53"),
        (Numeric(low=0), "a number from 0 to 2**53"),
        (Numeric(high=9.5), "a number from -2**53 to 9.5"),
        (Numeric(0, 9), "a number from 0 to 9"),
    ],
)
def test_the_domain_of_a_number_in_words(kind, words):
    assert kind.domain == words


class TestOrderedCategories:
    """The domain keeps the order of an ordered pandas Categorical, for the sensitive attribute and quasi-identifiers."""

    def frame(self, scale, ordered=True):
        results = ["low", "low", "mid", "mid", "high", "high"]
        kind = pd.CategoricalDtype(scale, ordered=ordered)
        frame = pd.DataFrame({"id": range(6), "age": range(6), "result": results})
        return frame.assign(result=frame["result"].astype(kind), town=frame["result"].astype(kind))

    def test_infer_keeps_it(self):
        schema = Schema.infer(self.frame(["low", "mid", "high"]), ["town", "age"])
        assert schema.values == ("low", "mid", "high")
        assert schema.quasi_identifiers["town"] == Categorical(("low", "mid", "high"))

    def test_unused_categories_keep_their_rank(self):
        assert Schema.infer(self.frame(["low", "none", "mid", "high"]), ["town"]).values == (
            "low",
            "none",
            "mid",
            "high",
        )

    def test_an_ordered_dictionary_of_arrow_is_the_same(self):
        codes = pa.array([0, 0, 1, 1, 2, 2], type=pa.int8())
        cells = pa.DictionaryArray.from_arrays(codes, pa.array(["low", "mid", "high"]), ordered=True)
        frame = self.frame(["low", "mid", "high"]).assign(
            result=pd.arrays.ArrowExtensionArray(pa.chunked_array([cells]))
        )
        assert Schema.infer(frame, ["age"]).values == ("low", "mid", "high")

    def test_unordered_ones_are_sorted_and_the_unused_dropped(self):
        assert Schema.infer(self.frame(["low", "none", "mid", "high"], ordered=False), ["town"]).values == (
            "high",
            "low",
            "mid",
        )

    @pytest.mark.parametrize(
        ("scale", "distances"),
        [
            (["low", "mid", "high"], [1 / 2, 1 / 3, 1 / 2]),
            (["low", "none", "mid", "high"], [5 / 9, 1 / 3, 4 / 9]),
        ],
    )
    def test_ordered_closeness_by_hand(self, scale, distances):
        """Three groups of one value each; the level is the sum of absolute cumulative differences over m - 1.

        low, mid, high: (2/3 + 1/3) / 2, (1/3 + 1/3) / 2, (1/3 + 2/3) / 2. With an unused category between low and mid:
        (2/3 + 2/3 + 1/3) / 3, (1/3 + 1/3 + 1/3) / 3, (1/3 + 1/3 + 2/3) / 3. Sorted as text, high, low, mid, the first is 1/3.
        """
        frame = self.frame(scale)
        view = View(frame, Schema.infer(frame, ["age"]))
        found = verify(Release(view, [0, 0, 1, 1, 2, 2]), TCloseness(1, distance="ordered"))
        assert np.allclose(found["level"], distances)


class TestWholeNumbers:
    """float64 represents every integer up to 2**53; a numeric quasi-identifier beyond is refused."""

    @pytest.mark.parametrize("dtype", ["int64", "object", "str", "Int64", "int64[pyarrow]", "uint64"])
    def test_codes_are_exact_or_infinite(self, dtype):
        cells = pd.Series([2**53 - 1, 2**53, 2**53 + 1], dtype=object).astype(dtype)
        assert Numeric().codes(plain_column(cells, "the table")).tolist() == [2.0**53 - 1, 2.0**53, np.inf]

    def test_below_zero(self):
        assert Numeric().codes(pd.Series([-(2**53), -(2**53) - 1])).tolist() == [-(2.0**53), np.inf]

    @pytest.mark.parametrize("cell", [np.inf, -np.inf, "inf", "1_0", "x", 1j, pd.Timestamp(0), "1e400", None])
    def test_what_is_no_finite_number_is_nan(self, cell):
        assert np.isnan(Numeric().codes(pd.Series([cell], dtype=object))).all()

    @pytest.mark.parametrize("end", [2.0**54, -(2**60), "3", np.inf, True + 1j])
    def test_an_end_beyond_is_refused(self, end):
        with pytest.raises(
            ValueError, match=r"Numeric: high is .*; a bound of the domain is a number from -2\*\*53 to 2\*\*53"
        ):
            Numeric(high=end)


@pytest.mark.parametrize(
    ("build", "kind", "match"),
    [
        (lambda f: Schema.infer(f, "age"), TypeError, r"quasi_identifiers is 'age'; it is a list of columns, as"),
        (lambda f: Schema.infer(f.to_dict(), ["age"]), TypeError, "the table is a dict; it is a DataFrame"),
        (lambda f: Schema.infer(f.assign(town=None), ["town"]), ValueError, "the column 'town' of the table has no value"),
        (lambda f: Schema.infer(f.assign(town=["1", 1]), ["town"]), ValueError, "column 'town' .* lists '1' and 1, which"),
        (lambda f: Schema.infer(f.assign(result=["1", 1]), ["age"]), ValueError, "column 'result' .* lists '1' and 1, which"),
        (lambda f: Schema.infer(f.rename(columns={"age": 5}), ["5"]), ValueError, "no column '5'; .* '5' is text, and 5 a number"),
    ],
)  # fmt: skip
def test_bad_tables_are_one_clear_error(build, kind, match):
    frame = pd.DataFrame({"id": [1, 2], "age": [1, 2], "result": ["x", "y"]})
    with pytest.raises(kind, match=match):
        build(frame)


def test_numpy_values_are_python_values():
    kind = Categorical(np.array(["f", "m"]))
    schema = Schema({"sex": kind, "age": Numeric(np.int64(0), np.float64(9))}, "result", np.array([3, 1]))
    assert repr(kind.values) == "('f', 'm')"
    assert repr(schema.values) == "(3, 1)"
    assert repr(schema.quasi_identifiers["age"]) == "Numeric(low=0, high=9.0)"


@pytest.mark.parametrize(
    ("build", "kind", "match"),
    [
        (lambda: Schema({"age": float}, values=("x",)), TypeError, "'age' is the class float; it is a Numeric"),
        (lambda: Schema(["age"]), TypeError, "quasi_identifiers is ..age..; it maps each column to its type"),
        (lambda: Categorical((1, True)), ValueError, "lists 1 and True, which are indistinguishable"),
        (lambda: Categorical(("a", None)), ValueError, "lists None; a value is one text"),
        (lambda: Categorical((["a"],)), ValueError, r"lists \['a'\]; a value is one text"),
    ],
)  # fmt: skip
def test_bad_domains_are_one_clear_error(build, kind, match):
    with pytest.raises(kind, match=match):
        build()
