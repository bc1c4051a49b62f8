"""Adult against counts of the literature and of the raw lines, and two small files."""

from collections import Counter

import pytest
from places import DATA

from foreknow.evaluation.datasets.adult import adult
from foreknow.models import Categorical, Numeric

PERSON = "39, State-gov, 7, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 0, 0, 40, Cuba, "


@pytest.fixture(scope="module")
def folder():
    if not (DATA / "adult" / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {DATA / 'adult'}")
    return DATA / "adult"


@pytest.fixture(scope="module")
def view(folder):
    return adult(folder, hierarchies=DATA / "adult-hierarchies")[0]


@pytest.fixture
def small(tmp_path):
    """Two files in Adult's format: two records that are whole, and one that is not."""
    (tmp_path / "adult.data").write_text(f"{PERSON}<=50K\n{PERSON.replace('State-gov', '?')}>50K\n\n")
    (tmp_path / "adult.test").write_text(f"|1x3 Cross validator\n{PERSON.replace('39', '17')}>50K.\n\n")
    return tmp_path


def test_rows_are_the_raw_lines_without_a_question_mark(folder, view):
    lines = [line for name in ("adult.data", "adult.test") for line in (folder / name).read_text().splitlines()]
    cells = [line.rstrip(".").split(", ") for line in lines if line.count(", ") == 14 and "?" not in line]
    assert view.frame.drop(columns="id").astype(str).to_numpy().tolist() == cells
    assert view.frame["id"].tolist() == list(range(45_222))


def test_known_counts(view):
    education = Counter(view.frame["education"])
    assert len(view) == 45_222
    assert education["HS-grad"] == 14_783
    assert [education[name] for name in ("Preschool", "1st-4th", "5th-6th", "7th-8th")] == [72, 222, 449, 823]
    assert Counter(view.frame["salary-class"]) == {"<=50K": 34_014, ">50K": 11_208}
    assert (view.frame["age"].min(), view.frame["age"].max()) == (17, 90)


def test_occupation_is_sensitive_by_default(view):
    assert view.schema.sensitive == "occupation"
    assert len(view.schema.values) == 14
    names = ["age", "workclass", "education", "marital-status", "race", "sex"]
    assert list(view.schema.quasi_identifiers) == names
    assert view.schema.quasi_identifiers["age"] == Numeric(17, 90)


def test_hierarchies_are_attached_where_there_is_a_file(view):
    education = view.schema.quasi_identifiers["education"]
    assert isinstance(education, Categorical)
    assert len(education.values) == 16
    assert education.tree.generalize(["Preschool", "1st-4th"]) == "Primary School"
    assert education.tree.generalize(["Preschool", "Masters"]) == "*"


def test_without_hierarchies_values_are_sorted(folder):
    (view,) = adult(folder)
    assert view.schema.quasi_identifiers["race"].hierarchy is None
    assert list(view.schema.quasi_identifiers["race"].values) == sorted(view.frame["race"].unique())


def test_an_unknown_workclass_and_the_full_stops_are_gone(small):
    (view,) = adult(small, sensitive="salary-class", quasi_identifiers=["age", "native-country"])
    assert view.frame["age"].tolist() == [39, 17]
    assert view.frame["salary-class"].tolist() == ["<=50K", ">50K"]
    assert view.frame["native-country"].tolist() == ["Cuba", "Cuba"]


def test_the_sensitive_attribute_is_no_quasi_identifier(small):
    names = list(adult(small, sensitive="education").schema.quasi_identifiers)
    assert names == ["age", "workclass", "marital-status", "race", "sex"]


def test_a_hierarchy_without_a_value_is_refused(small):
    (small / "adult_hierarchy_race.csv").write_text("Black;*\n")
    with pytest.raises(ValueError, match="White"):
        adult(small, hierarchies=small)


def test_an_attribute_without_a_file_has_no_hierarchy(small):
    assert adult(small, hierarchies=small).schema.quasi_identifiers["race"].hierarchy is None


@pytest.mark.parametrize("name", ["adult.data", "adult.test"])
def test_a_missing_file_is_named(small, name):
    (small / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"{name}.*\n?.*UCI Machine Learning Repository"):
        adult(small)


def test_a_missing_folder_of_hierarchies_is_named(small):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        adult(small, hierarchies=small / "nowhere")


@pytest.mark.parametrize("settings", [{"sensitive": "job"}, {"quasi_identifiers": ["age", "job"]}])
def test_an_unknown_column_is_named_with_those_there_are(small, settings):
    with pytest.raises(ValueError, match=r"'job'.*'hours-per-week'"):
        adult(small, **settings)
