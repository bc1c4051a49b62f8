"""Adult against counts of the literature and of the raw lines, and two small files."""

from collections import Counter

import numpy as np
import pytest
from places import DATA

from foreknow.evaluation.datasets.adult import adult, adult_history
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


@pytest.fixture(scope="module")
def history(folder):
    """Views of 300, 310, 320 and 330 records: 20 are deleted, 30 inserted and 200 updated before each after the first."""
    return adult_history(folder, 4, 300, 20, 30, 200, rng=3)


class TestHistory:
    def test_records_leave_come_and_are_updated(self, history):
        present = [set(view.people.respondents) for view in history]
        assert [len(view) for view in history] == [len(people) for people in present] == [300, 310, 320, 330]
        for t in (1, 2, 3):
            assert len(present[t - 1] - present[t]) == 20
            assert len(present[t] - set.union(*present[:t])) == len(present[t] - present[t - 1]) == 30

    def test_identifiers_are_those_of_the_table_and_so_are_first_occupations(self, history, folder):
        table, seen = adult(folder)[0].frame, set()
        for view in history:
            own = table.loc[view.frame["id"]].reset_index(drop=True)
            for name in ("age", "sex", "education"):
                assert view.frame[name].tolist() == own[name].tolist()
            new = ~view.frame["id"].isin(seen)
            assert (view.frame["occupation"] == own["occupation"])[new].all()
            seen |= set(view.frame["id"])
        assert list(history.schema.quasi_identifiers) == ["age", "sex", "education"]

    def test_an_update_draws_from_all_occupations(self, history):
        """Of 600 updates 1 in 14 draws the occupation that there was: binomial, within five standard deviations."""
        changed, drawn = 0, []
        for before, after in zip(history, history.views[1:], strict=False):
            both = before.frame.merge(after.frame, on="id")
            new = both.loc[both["occupation_x"] != both["occupation_y"], "occupation_y"]
            assert len(new) <= 200
            changed, drawn = changed + len(new), [*drawn, *new]
        assert abs(changed - 600 * 13 / 14) < 5 * np.sqrt(600 * 13) / 14
        counts = np.array([drawn.count(value) for value in history.schema.values])
        assert (np.abs(counts - changed / 14) < 5 * np.sqrt(changed / 14)).all()

    def test_the_paper_s_numbers_are_the_defaults(self, folder):
        history = adult_history(folder, rng=1)
        assert [len(view) for view in history] == [4000] * 24
        assert len(history.respondents) == 13_200

    def test_a_seed_repeats_it_and_numbers_may_be_0(self, small):
        one, two = (adult_history(small, 3, 2, 0, 0, 0, rng=1) for _ in range(2))
        assert one == two
        assert [sorted(view.frame["id"]) for view in one] == [[0, 1]] * 3

    @pytest.mark.parametrize("numbers", [(2, 2, 2, 0, 1), (2, 1, 0, 2, 0), (1, 3, 0, 0, 0), (3, 2, 1, 0, 1)])
    def test_more_records_than_there_are_are_refused(self, small, numbers):
        with pytest.raises(ValueError, match="lower deleted, updated or inserted"):
            adult_history(small, *numbers, rng=1)

    @pytest.mark.parametrize("setting", [{"views": 0}, {"records": 1.5}, {"deleted": -1}])
    def test_numbers_are_whole(self, small, setting):
        with pytest.raises(ValueError, match=f"{next(iter(setting))} is"):
            adult_history(small, **setting, rng=1)
