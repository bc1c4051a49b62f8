"""External knowledge: reading labels and their items, and the bit sets of labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from patients import DISEASES, linkable

from foreknow.models import ExternalKnowledge, Items, links

FLU = ("cough", "headache")


def test_from_a_mapping():
    known = ExternalKnowledge({" flu ": "cough, headache", ("cold", 2): ["cough"], 7: {"itch"}})
    assert known.items_of == {"flu": FLU, ("cold", 2): ("cough",), 7: ("itch",)}
    assert known.labels == ("flu", ("cold", 2), 7)
    assert known.vocabulary == ("cough", "headache", "itch")
    assert len(known) == 3


def test_from_a_row_per_label():
    cells = ["cough, headache", ["itch", "cough"], {"fever"}]
    table = pd.DataFrame({"label": ["flu", "cold", "malaria"], "items": cells})
    assert ExternalKnowledge.read(table).items_of == {"flu": FLU, "cold": ("itch", "cough"), "malaria": ("fever",)}


def test_from_a_row_per_label_and_item():
    table = pd.DataFrame({"disease": ["flu", "cold", " flu"], "symptom": ["cough", "cough", "headache"]})
    known = ExternalKnowledge.read(table, label="disease", items="symptom")
    assert known.items_of == {"flu": FLU, "cold": ("cough",)}


def test_a_row_that_is_repeated_counts_once():
    table = pd.DataFrame({"label": ["flu", "flu"], "items": ["cough", "cough"]})
    assert ExternalKnowledge.read(table).items_of == {"flu": ("cough",)}


def test_from_a_file_everything_is_text(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("label,items\n007,1;02\n8,3\n")
    assert ExternalKnowledge.read(path, separator=";").items_of == {"007": ("1", "02"), "8": ("3",)}


@given(linkable())
def test_a_file_of_either_form_reads_back(case):
    _, items_of = case
    named = {f"label {label}": tuple(sorted(items)) for label, items in items_of.items()}
    wide = pd.DataFrame({"label": list(named), "items": [";".join(items) for items in named.values()]})
    long = pd.DataFrame([(label, item) for label, items in named.items() for item in items], columns=["label", "items"])
    for table in (wide, long):
        assert ExternalKnowledge.read(table, separator=";").items_of == named


@given(linkable())
def test_the_sets_of_labels_are_those_that_name_the_item(case):
    _, items_of = case
    known, vocabulary = ExternalKnowledge(items_of), tuple("abcdefghz")
    bits = known.bits(vocabulary)
    assert bits.shape == (len(vocabulary), -(-len(items_of) // 64))
    for item, row in zip(vocabulary, bits.tolist(), strict=True):
        members = {64 * word + bit for word, value in enumerate(row) for bit in range(64) if value >> bit & 1}
        assert members == {label for label, items in items_of.items() if item in items}
    assert sum(int(word) << 64 * place for place, word in enumerate(known.all_labels)) == 2 ** len(items_of) - 1


def test_prevalence():
    given_ = pd.Series({"Hepatitis B": 1, "Flu": 3.5, "Plague": 0})
    assert ExternalKnowledge(DISEASES, given_).weights.tolist() == [1.0, 1 / 3.5]
    assert ExternalKnowledge(DISEASES).weights.tolist() == [1.0, 1.0]


def test_labels_are_stripped_of_blanks_wherever_they_stand():
    known = ExternalKnowledge({" Flu ": "cough", "Cold": "itch"}, {"Flu": 2, " Cold ": 1})
    assert known.weights.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(("flu", "share"), [(1e308, 0.5), (1e-320, 1e-308)])
def test_however_large_or_small_prevalences_are_beliefs_sum_to_1(flu, share):
    known = ExternalKnowledge({"Flu": "cough", "Cold": "cough, itch"}, {"Flu": flu, "Cold": 1e308})
    (found,) = links(Items.from_cells(["cough"]), known).probabilities([0])
    assert found == pytest.approx([share, 1 - share, 0])
    (found,) = links(
        Items.from_cells(["cough"]), ExternalKnowledge({"Flu": "cough", "Cold": "itch"}, known.prevalence)
    ).probabilities([0])
    assert found.tolist() == [1, 0, 0]


@pytest.mark.parametrize("given_", [[1, 2, 3], 3, "often"])
def test_prevalences_are_given_by_label(given_):
    with pytest.raises(TypeError, match=r"prevalence is .*; it maps each label to its frequency"):
        ExternalKnowledge(DISEASES, given_)


@pytest.mark.parametrize("number", [0, -1, float("nan"), float("inf"), "often", None])
def test_a_prevalence_is_a_positive_number(number):
    with pytest.raises(ValueError, match="the prevalence of 'Flu' is"):
        ExternalKnowledge(DISEASES, {"Hepatitis B": 1, "Flu": number})


@pytest.mark.parametrize(
    ("items_of", "message"),
    [
        ({}, "there is no label"),
        ({"flu": []}, "the label 'flu' has no item"),
        ({"flu": ["cough"], "cold": " , "}, "the label 'cold' has no item"),
        ({"": ["cough"]}, "a label is ''; without surrounding blanks"),
        ({" ": ["cough"]}, "a label is ' '; without surrounding blanks"),
        ({None: ["cough"]}, "a label is None"),
        ({np.nan: ["cough"]}, "a label is nan"),
        ({"none": ["cough"]}, "a label is 'none'.*Rename it"),
        ({"flu": ["cough"], "flu ": ["fever"]}, "a label is 'flu '; .* a name of its own"),
    ],
)
def test_labels_without_a_meaning_are_refused(items_of, message):
    with pytest.raises(ValueError, match=message):
        ExternalKnowledge(items_of)


@pytest.mark.parametrize("given_", [[("flu", ["cough"])], pd.DataFrame({"label": ["flu"], "items": ["cough"]})])
def test_a_table_is_to_be_read(given_):
    with pytest.raises(TypeError, match=r"it maps each label to its items; ExternalKnowledge\.read reads a table"):
        ExternalKnowledge(given_)


def test_items_that_are_no_collection_are_of_their_label():
    with pytest.raises(TypeError, match="the label 'flu' has the items 3"):
        ExternalKnowledge({"flu": 3})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("flu", "cough, fever"), ("flu", "itch")], "'flu' has 2 rows .* row 0 lists 2 items"),
        ([("cold", "itch"), (None, "cough")], "row 1 of the external knowledge has no label"),
        ([("cold", "itch"), (" ", "cough")], "row 1 of the external knowledge has no label"),
        ([("cold", "itch"), ("flu", None)], "row 1 of the external knowledge has no item"),
        ([("cold", "itch"), ("flu", "")], "row 1 of the external knowledge has no item"),
        ([], "there is no label"),
    ],
)
def test_a_table_that_says_nothing_or_too_much_is_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        ExternalKnowledge.read(pd.DataFrame(rows, columns=["label", "items"]))


def test_a_table_without_the_column_is_refused():
    with pytest.raises(ValueError, match=r"no column 'items'.*'symptoms'"):
        ExternalKnowledge.read(pd.DataFrame({"label": ["flu"], "symptoms": ["cough"]}))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        ExternalKnowledge.read(tmp_path / "nowhere.csv")


def test_items_with_a_number_in_a_cell_of_a_table_are_refused():
    with pytest.raises(TypeError, match="row 0 of the external knowledge has the items 3"):
        ExternalKnowledge.read(pd.DataFrame({"label": ["flu"], "items": [3]}))


def test_a_label_that_is_a_list_is_one_clear_error():
    rows = pd.DataFrame({"label": [["flu"]], "items": ["cough"]})
    with pytest.raises(ValueError, match=r"row 0 of the external knowledge has the label \['flu'\]; a label is one"):
        ExternalKnowledge.read(rows)
