"""Disclosure of labels, against the definitions in plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import FIGURE_1D, LINKING, beta, linkable, patients, view_of_items

from foreknow.attacks import LinkingAttack
from foreknow.evaluation import label_disclosure
from foreknow.models import ExternalKnowledge, Linking, Release


def test_figure_1():
    """Georgia: the flu with certainty; Texas: the flu or none. Both are at distance root 1/2 from the prior (1/2, 1/2, 0)."""
    table = label_disclosure(LinkingAttack(LINKING, prior="uniform")([Release(patients(), FIGURE_1D)]))
    assert table.to_dict("records") == [
        {
            "time": 1,
            "sure_share": 0.5,
            "highest_belief": 0.75,
            "labels": 1.0,
            "none": 0.25,
            "distance_from_prior": pytest.approx(math.sqrt(1 / 2)),
            "measured": 4,
            "suppressed": 0,
        }
    ]


def test_none_is_no_label():
    """Cleo is alone in her group and links to no label with certainty: the adversary is sure of no label."""
    row = label_disclosure(LinkingAttack(LINKING)([Release(patients(), [0, 0, 1, 0])])).iloc[0]
    assert (row["sure_share"], row["highest_belief"], row["labels"], row["none"]) == (0.75, 0.75, 0.75, 0.25)


def test_suppressed_respondents_are_left_out():
    row = label_disclosure(LinkingAttack(LINKING)([Release(patients(), [0, 0, -1, -1])])).iloc[0]
    assert (row["sure_share"], row["measured"], row["suppressed"]) == (1.0, 2, 2)


def test_means_without_published_records_are_nan():
    row = label_disclosure(LinkingAttack(LINKING)([Release(patients(), [-1] * 4)])).iloc[0]
    assert np.isnan(row[["sure_share", "highest_belief", "labels", "none", "distance_from_prior"]].astype(float)).all()
    assert (row["measured"], row["suppressed"]) == (0, 4)


def test_a_release_is_no_belief():
    with pytest.raises(TypeError, match=r"it takes what a LinkingAttack returns; attack a list of releases"):
        label_disclosure(Release(patients(), FIGURE_1D))


def test_a_row_per_release():
    releases = [Release(patients(1), FIGURE_1D), Release(patients(2), [0] * 4)]
    table = label_disclosure(LinkingAttack(LINKING)(releases), sure=0.75)
    assert table[["time", "sure_share"]].to_numpy().tolist() == [[1, 0.5], [2, 1.0]]


@given(linkable(), st.data())
def test_means_over_respondents_are_those_of_the_definition(case, data):
    sets, items_of = case
    labels = data.draw(
        st.lists(st.integers(-1, 2), min_size=len(sets), max_size=len(sets)).filter(lambda g: max(g) >= 0)
    )
    attack = LinkingAttack(Linking(ExternalKnowledge(items_of), "items"), prior="uniform")
    row = label_disclosure(attack([Release(view_of_items(sets), labels)]), sure=0.5).iloc[0]
    kept = [place for place in labels if place >= 0]
    of = {
        g: beta([items for items, place in zip(sets, labels, strict=True) if place == g], items_of) for g in set(kept)
    }
    alpha = dict.fromkeys(items_of, 1 / len(items_of)) | {None: 0}
    greatest = [max([b for label, b in of[g].items() if label is not None], default=0) for g in kept]
    distance = [math.dist([float(of[g].get(label, 0)) for label in alpha], alpha.values()) for g in kept]
    mean = len(kept)
    assert row["sure_share"] == pytest.approx(sum(b >= 0.5 for b in greatest) / mean)
    assert row["highest_belief"] == pytest.approx(float(sum(greatest) / mean))
    assert row["labels"] == pytest.approx(sum(len(set(of[g]) - {None}) for g in kept) / mean)
    assert row["none"] == pytest.approx(float(sum(of[g].get(None, 0) for g in kept) / mean))
    assert row["distance_from_prior"] == pytest.approx(sum(distance) / mean, abs=1e-9)
