"""What columns mean."""

import numpy as np
import pandas as pd
import pytest

from foreknow.models import Categorical, Numeric, Schema


def test_infer_reads_the_domains_off_a_table():
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


def test_open_ends_are_taken_from_codes():
    schema = Schema({"age": Numeric(high=99), "town": Categorical(("a", "b"))}, "result", ("x",))
    assert schema.spanning(np.array([[20.0, 0], [30, 1]])).bounds.tolist() == [[20, 99], [0, 1]]
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
        (lambda: Schema({"age": Numeric()}, "result", ()), "the sensitive attribute 'result' needs at least one value"),
        (lambda: Schema({"age": Numeric()}, "result", ("x", "x")), "'result' lists 'x' twice"),
        (lambda: Schema({"age": Numeric()}, "age", ("x",)), "the column 'age' has two roles"),
        (lambda: Schema({"id": Numeric()}, "result", ("x",)), "the column 'id' has two roles"),
    ],
)
def test_bad_schemas_are_one_clear_error(build, match):
    with pytest.raises(ValueError, match=match):
        build()


@pytest.mark.parametrize("ends", [{"low": np.nan}, {"high": np.inf}])
def test_an_end_of_a_domain_is_a_number(ends):
    with pytest.raises(ValueError, match=r"an end of the domain is (nan|inf)"):
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
