"""Attack by linking: the paper's figure 1, the definition, and independence of hidden data."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import FIGURE_1D, KNOWLEDGE, LINKING, beta, linkable, patients, view_of_items

from foreknow.attacks import LinkingAttack
from foreknow.attacks.linking import LabelBeliefs
from foreknow.defenses import DistinctDiversity, KAnonymity
from foreknow.evaluation import label_disclosure, verify
from foreknow.models import ExternalKnowledge, ItemRelease, Items, Linking, Release, View

ATTACK = LinkingAttack(LINKING)
UNIFORM = LinkingAttack(LINKING, prior="uniform")


def test_a_k_anonymous_and_l_diverse_release_discloses_the_flu():
    """Figure 1: the adversary knows that the patient is 22, male and from Georgia, and finds the first group: only the flu."""
    release = Release(patients(), FIGURE_1D)
    assert verify(release, KAnonymity(2) & DistinctDiversity(2))["holds"].all()
    public = release.table
    victims = public[(public["Gender"] == "M") & (public["State"] == "GA") & (public["Age"] == "[22,25]")]
    assert victims["group"].unique().tolist() == [0]
    beliefs = ATTACK([release])
    assert beliefs.posterior(1).to_dict("index") == {0: {"Flu": 1.0, "none": 0.0}, 1: {"Flu": 0.5, "none": 0.5}}
    assert beliefs.certain().to_dict("records") == [
        {"time": 1, "respondent": name, "group": 0, "label": "Flu", "belief": 1.0} for name in ("Ann", "Bea")
    ]


def test_one_person():
    """Hepatitis B has a prior belief but no column: no record of the release links to it."""
    found = UNIFORM([Release(patients(), FIGURE_1D)]).of("Cleo")
    assert found.index.tolist() == [(1, "prior"), (1, "posterior")]
    assert found.to_dict("list") == {"Flu": [0.5, 0.5], "none": [0.0, 0.5]}


def test_the_prior_is_computed_from_published_items():
    """Two of the three published records link to the flu."""
    beliefs = ATTACK([Release(patients(), [0, -1, 1, 1])])
    assert beliefs.prior(1).round(12).to_dict() == {"Flu": round(2 / 3, 12), "Hepatitis B": 0, "none": round(1 / 3, 12)}


def test_a_prior_from_elsewhere():
    """The alpha of QS t-closeness, of the original table."""
    prior = LINKING(patients()).prior()
    beliefs = LinkingAttack(LINKING, prior)([Release(patients(), [0, -1, 1, 1])])
    assert beliefs.prior(1).to_dict() == {"Flu": 0.75, "Hepatitis B": 0, "none": 0.25}


def test_the_belief_about_a_suppressed_respondent_is_the_prior():
    beliefs = UNIFORM([Release(patients(), [0, 0, -1, -1])])
    assert beliefs.of("Dora").to_dict("list") == {"Flu": [0.5, 0.5], "Hepatitis B": [0.5, 0.5]}
    assert beliefs.certain()["respondent"].tolist() == ["Ann", "Bea"]


def test_each_release_is_taken_alone():
    """At time 1 Ann has the flu with certainty; at 2, in one group of all, with 3/4: three of four records link to it."""
    views = [patients(time) for time in (1, 2)]
    beliefs = ATTACK([Release(views[0], FIGURE_1D), Release(views[1], [0] * 4)])
    assert beliefs.of("Ann")["Flu"].tolist() == [0.75, 1.0, 0.75, 0.75]
    assert beliefs.times == (1, 2)


def test_removed_items_are_not_read():
    """Without the headache, row 3 links to hepatitis B; without items, to all labels."""
    release, items = Release(patients(), FIGURE_1D), LINKING.items_of(patients())
    code = items.vocabulary.index("Headache")
    shown = items.without(items.codes == code)
    assert ATTACK([ItemRelease(release, LINKING, shown)]).of("Cleo").loc[(1, "posterior")].tolist() == [0.5, 0.5]
    nothing = ItemRelease(release, LINKING, items.without(np.ones(len(items.codes), dtype=bool)))
    assert ATTACK([nothing]).posterior(1).to_numpy().tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_a_belief_below_the_threshold_by_rounding_counts():
    """Ten records that link to ten labels each: ten times .1, which is less than 1 in floating point."""
    assert np.cumsum([0.1] * 10)[-1] < 1
    attack = LinkingAttack(Linking(ExternalKnowledge(dict.fromkeys(range(10), "a")), "items"))
    beliefs = attack([Release(view_of_items(["a"] * 10), [0] * 10)])
    assert len(beliefs.certain(0.1)) == 10
    assert label_disclosure(beliefs, 0.1)["sure_share"].tolist() == [1.0]


@given(linkable(), st.data())
def test_beliefs_are_those_of_the_definition(case, data):
    sets, items_of = case
    labels = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=len(sets), max_size=len(sets))))
    release = Release(view_of_items(sets), labels)
    attack = LinkingAttack(Linking(ExternalKnowledge(items_of), "items"))
    found = attack([release]).posterior(1)
    for g in range(release.groups):
        wanted = beta([sets[i] for i in np.flatnonzero(release.group == g)], items_of)
        row = {label: belief for label, belief in found.loc[g].items() if belief > 0}
        assert row == pytest.approx(
            {"none" if label is None else label: float(b) for label, b in wanted.items()}, abs=1e-12
        )


@given(linkable(), st.randoms(use_true_random=False))
def test_the_assignment_of_items_within_a_group_changes_no_belief(case, random):
    sets, items_of = case
    labels = np.arange(len(sets)) % 2
    permuted = list(sets)
    for g in (0, 1):
        permuted[g::2] = random.sample(sets[g::2], len(sets[g::2]))
    attack = LinkingAttack(Linking(ExternalKnowledge(items_of), "items"))
    one, two = (attack([Release(view_of_items(chosen), labels)]).at(1) for chosen in (sets, permuted))
    assert one.posterior == pytest.approx(two.posterior, abs=1e-12)
    assert one.prior == pytest.approx(two.prior, abs=1e-12)


def test_the_sensitive_attribute_is_not_read():
    """Beliefs do not change with its values, nor with items of the view that are not published."""
    view = patients()
    frame = view.frame.assign(Symptoms=view.frame["Symptoms"].iloc[::-1].tolist())
    other = View(frame, view.schema, view.time)
    shown = LINKING.items_of(view)
    one, two = (ATTACK([ItemRelease(Release(v, FIGURE_1D), LINKING, shown)]).at(1) for v in (view, other))
    assert one.posterior.tolist() == two.posterior.tolist()
    assert not any(isinstance(getattr(one.observation, f.name), View) for f in dataclasses.fields(one.observation))


def test_labels_that_are_tuples_name_columns():
    linking = Linking(ExternalKnowledge({("x", 1): "a", ("y", 2): "a, b"}), "items")
    beliefs = LinkingAttack(linking)([Release(view_of_items(["a"]), [0])])
    assert beliefs.posterior(1).columns.tolist() == [("x", 1), ("y", 2)]
    assert beliefs.certain(0.5)["label"].tolist() == [("x", 1)]


def test_nothing_released_and_nothing_shown():
    assert len(ATTACK([])) == 0
    assert list(ATTACK([]).certain().columns) == ["time", "respondent", "group", "label", "belief"]
    beliefs = ATTACK([Release(patients(), [-1] * 4)])
    assert beliefs.posterior(1).shape == (0, 0)
    assert beliefs.of("Ann").loc[(1, "posterior")].tolist() == [0.5, 0.5]


def test_an_unknown_respondent_or_time_is_named():
    beliefs = ATTACK([Release(patients(), FIGURE_1D)])
    with pytest.raises(ValueError, match="'Zoe' is in no release; the times of the releases are 1"):
        beliefs.of("Zoe")
    with pytest.raises(ValueError, match="no release at 2; there are 1"):
        beliefs.posterior(2)


def test_times_increase():
    with pytest.raises(ValueError, match="times must increase"):
        ATTACK([Release(patients(1), FIGURE_1D), Release(patients(1), FIGURE_1D)])


@pytest.mark.parametrize(
    "prior", ["count", [0.5, 0.5], [0.5, 0.5, 0.5], [1.5, -0.5, 0.0], [np.nan, 0.5, 0.5], [[0.5, 0.5, 0.0]]]
)
def test_a_prior_is_a_reading_or_a_distribution(prior):
    with pytest.raises((TypeError, ValueError), match=r"LinkingAttack: prior .*'counted', 'fractional', 'uniform'"):
        LinkingAttack(LINKING, prior)


def test_linking_is_no_knowledge():
    with pytest.raises(TypeError, match=r"linking is ExternalKnowledge.*; it is a Linking"):
        LinkingAttack(KNOWLEDGE)


def test_another_type_than_a_release_is_refused():
    with pytest.raises(TypeError, match="one of the releases is a DataFrame; it is an ItemRelease"):
        ATTACK([pd.DataFrame()])


def test_one_release_is_no_list():
    for release in (shown := Release(patients(), FIGURE_1D), ItemRelease(shown, LINKING, LINKING.items_of(patients()))):
        with pytest.raises(TypeError, match="it is a list of ItemReleases"):
            ATTACK(release)


def test_a_release_without_the_column_is_refused():
    with pytest.raises(ValueError, match="no column 'Symptoms'"):
        ATTACK([Release(view_of_items(["a"]), [0])])


def test_the_items_of_another_column_are_read_where_they_are_published():
    """The attack reads the items that an ItemRelease shows, from any column."""
    view = view_of_items(["Coughing", "Headache"])
    own = Linking(ExternalKnowledge({"x": "a"}), "items")
    beliefs = ATTACK([ItemRelease(Release(view, [0, 0]), own, Items.from_cells(view.frame["items"]))])
    assert isinstance(beliefs, LabelBeliefs)
    assert beliefs.posterior(1).to_dict("list") == {"Flu": [1.0]}
