"""Checker of releases that show items: values worked by hand, agreement with the defenses, and broken releases."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.defenses import KAnonymity, QSCloseness, QSDiversity, TCloseness, summarize_groups, summarize_records
from foreknow.evaluation import verify, verify_items
from foreknow.evaluation.checks.verify import verify_table
from foreknow.models import ExternalKnowledge, ItemRelease, Linking, Numeric, Release, Schema, View

FLU = {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
LINKING = Linking(ExternalKnowledge(FLU), "symptoms")
DIVERSE = QSDiversity(1, 2, LINKING)
PATIENTS = pd.DataFrame(
    {
        "id": range(4),
        "age": [22, 25, 30, 35],
        "symptoms": [
            *("cough, headache, sore throat", "cough, headache"),
            *("headache, vomiting", "headache, sore throat"),
        ],
        "result": list("abab"),
    }
)
VIEW = View(PATIENTS, Schema({"age": Numeric()}, "result", ("a", "b")))
TWO = Release(VIEW, [0, 0, 1, 1])


def shown(release, linking=LINKING, removed=None):
    """The release with its items; ``removed`` has one truth value per item, record after record."""
    items = linking.items_of(release.view)
    return ItemRelease(release, linking, items if removed is None else items.without(np.array(removed)))


def levels(release, asked, **also):
    return verify_items(release, asked, **also)["level"].tolist()


class TestByHand:
    """Figure 1: (flu, hepatitis B, none) is (1, 0, 0) in the first group and (1/2, 0, 1/2) in the second."""

    def test_diversity(self):
        assert levels(shown(TWO), DIVERSE) == [math.inf, 1]
        assert levels(shown(TWO), QSDiversity(1, 1, LINKING)) == [1, 1 / 2]
        assert levels(shown(TWO), QSDiversity(1, 1, LINKING, as_printed=True)) == [1, 1 / 2]
        assert verify_items(shown(TWO), DIVERSE)["holds"].tolist() == [False, True]

    def test_closeness_to_the_prior_of_the_original_items(self):
        """Three records link to the flu, one to none; the uniform prior is (1/2, 1/2, 0)."""
        found = levels(shown(TWO), QSCloseness(0.4, LINKING))
        assert found == pytest.approx([math.sqrt(2) / 4] * 2)
        assert levels(shown(TWO), QSCloseness(0.4, LINKING, "fractional")) == pytest.approx(found)
        assert levels(shown(TWO), QSCloseness(0.4, LINKING, "uniform")) == pytest.approx([math.sqrt(1 / 2)] * 2)

    def test_levels_are_of_the_published_items_and_the_prior_of_all(self):
        """The first patient shows no item, the third no headache: (3/4, 1/4, 0), then (1/2, 1/2, 0)."""
        left = shown(TWO, removed=[True] * 3 + [False] * 2 + [True, False] + [False] * 2)
        assert left.table["symptoms"].tolist() == ["", "cough, headache", "headache, sore throat", "vomiting"]
        assert levels(left, DIVERSE) == pytest.approx([3, 1])
        alpha = (3 / 4, 0, 1 / 4)
        expected = [math.dist((3 / 4, 1 / 4, 0), alpha), math.dist((1 / 2, 1 / 2, 0), alpha)]
        assert levels(left, QSCloseness(0.4, LINKING)) == pytest.approx(expected)

    def test_a_given_prior(self):
        prior = {"flu": 0.5, "hepatitis B": 0.25, "none": 0.25}
        expected = [math.dist((1, 0, 0), (0.5, 0.25, 0.25)), math.dist((1 / 2, 0, 1 / 2), (0.5, 0.25, 0.25))]
        assert levels(shown(TWO), QSCloseness(0.4, LINKING), label_prior=prior) == pytest.approx(expected)

    def test_common_labels_are_likelier(self):
        common = Linking(ExternalKnowledge(FLU, {"flu": 3, "hepatitis B": 1}), "symptoms")
        nothing = shown(TWO, common, [True] * 9)
        assert levels(nothing, QSDiversity(1, 2, common)) == pytest.approx([3, 3])
        assert levels(nothing, QSCloseness(1, common, "uniform")) == pytest.approx([0, 0])

    def test_beside_what_is_not_about_items(self):
        asked = KAnonymity(2) & (DIVERSE | TCloseness(0))
        found = verify_items(shown(TWO), asked)
        assert found["level"].tolist() == [2, 2, 1, 2]
        assert found["holds"].all()
        assert not verify_items(shown(TWO), KAnonymity(3) & DIVERSE)["holds"].iloc[:2].any()

    def test_suppressed_records_count_only_before(self):
        found = verify_items(shown(Release(VIEW, [-1, 0, 0, 0])), QSCloseness(0.4, LINKING))
        assert found["level"].tolist() == pytest.approx([math.dist((2 / 3, 1 / 3), (3 / 4, 1 / 4))])

    def test_items_that_are_no_text(self):
        frame = PATIENTS.assign(symptoms=pd.Series([{1, 2}, [3], None, ()], dtype=object))
        numbers = Linking(ExternalKnowledge({"L": [1, 2], "M": [2, 3]}), "symptoms", separator=";")
        release = shown(Release(View(frame, VIEW.schema), [0, 0, 1, 1]), numbers)
        assert levels(release, QSDiversity(1, 2, numbers)) == pytest.approx([1, 1])
        assert levels(release, QSCloseness(1, numbers)) == pytest.approx([0, 0])


class TestAgreement:
    @given(
        data=st.data(),
        asked=st.sampled_from(["diversity", "printed", "counted", "fractional", "uniform"]),
        number=st.integers(1, 4),
    )
    def test_level_by_level(self, data, asked, number):
        """Levels computed from the public table equal those of the requirement, for any grouping."""
        some = st.lists(st.sampled_from(["u", "v", "w", "x"]), max_size=3)
        frame = pd.DataFrame({"id": range(8), "age": 1, "result": "a"})
        frame["symptoms"] = pd.Series(data.draw(st.lists(some, min_size=8, max_size=8)), dtype=object)
        names = data.draw(st.lists(some.filter(bool), min_size=1, max_size=4))
        prevalence = data.draw(st.sampled_from([None, dict.fromkeys(range(4), 2), {0: 1, 1: 5, 2: 0.5, 3: 3}]))
        linking = Linking(ExternalKnowledge(dict(enumerate(names)), prevalence), "symptoms")
        view = View(frame, Schema({"age": Numeric()}, "result", ("a",)))
        release = Release(view, np.array(data.draw(st.lists(st.integers(-1, 2), min_size=8, max_size=8))))
        if asked in ("diversity", "printed"):
            requirement = QSDiversity(number / 2, number, linking, asked == "printed")
        else:
            requirement = QSCloseness(number / 5, linking, asked)
        found = verify_items(shown(release, linking), requirement)
        records = summarize_records(view, np.ones((8, 1)), members=True)
        groups = summarize_groups(records, release.group)
        given = requirement.bind(view, np.ones((8, 1)))
        np.testing.assert_allclose(found["level"], given.level(groups), atol=1e-9)
        np.testing.assert_array_equal(found["holds"], given(groups))


class TestRefusals:
    def test_a_release_without_items(self):
        with pytest.raises(TypeError, match=r"QSDiversity.* is about items.*use verify_items with an ItemRelease"):
            verify(TWO, KAnonymity(2) & DIVERSE)
        with pytest.raises(TypeError, match="use verify_items"):
            verify_table(TWO.table, "result", "ab", QSCloseness(1, LINKING))
        with pytest.raises(TypeError, match=r"verify: release is .*; verify_items takes an ItemRelease"):
            verify(shown(TWO), KAnonymity(2))

    def test_a_release_of_another_kind(self):
        with pytest.raises(
            TypeError, match=r"verify_items: release is .*; it is an ItemRelease, as ItemRelease\(release"
        ):
            verify_items(TWO, DIVERSE)

    def test_items_of_another_column(self):
        other = QSDiversity(1, 2, Linking(ExternalKnowledge(FLU), "result"))
        with pytest.raises(
            ValueError, match="items of 'result', and those of 'symptoms' are published; ask about these"
        ):
            verify_items(shown(TWO), other)

    @pytest.mark.parametrize("prior", [{"flu": 0.5}, {"flu": 1.5, "none": -0.5}, {"flu": math.nan}, {}])
    def test_a_prior_that_is_no_distribution(self, prior):
        with pytest.raises(ValueError, match=r"label_prior is .* Normalize it"):
            verify_items(shown(TWO), QSCloseness(1, LINKING), label_prior=prior)


class TestBrokenReleases:
    """A release that satisfied, changed in one place."""

    def test_an_item_put_back(self):
        removed = [True] * 5 + [False] * 4
        sound = shown(TWO, removed=removed)
        assert verify_items(sound, DIVERSE)["holds"].all()
        for place in range(5):
            back = [one and other != place for other, one in enumerate(removed)]
            assert verify_items(shown(TWO, removed=back), DIVERSE)["holds"].tolist() == [False, True]

    def test_a_record_put_into_another_group(self):
        assert verify_items(shown(Release(VIEW, [0, 1, 0, 1])), DIVERSE)["holds"].tolist() == [True, False]
