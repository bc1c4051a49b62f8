"""UHRA against Algorithms 1 and 2 in plain Python, its lemma, its example and its promises."""

import itertools

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses import BKAA, DistinctDiversity, KAnonymity, TCloseness
from foreknow.defenses.algorithms.clustering import prior_clusters
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.defenses.requirements.summary import Summary, TableCounts
from foreknow.defenses.uhra import UHRA
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Categorical, Numeric, Release, Schema, View
from foreknow.models.notes import notes_of_blocks
from foreknow.models.tables.distance import points

settings_of = st.builds(
    dict, k=st.integers(1, 3), t=st.sampled_from([0.15, 0.3, 0.5, 1.0]), j=st.sampled_from([0.0, 0.3, 0.6, 1.0])
)


def on_the_grid(view):
    """The same view with domains of 0 to 8, so that sums of points are exact and equal distances are equal floats."""
    schema = Schema({"age": Numeric(0, 8), "weight": Numeric(0, 8)}, "result", view.schema.values)
    return View(view.frame, schema, view.time)


def algorithms(view, prior, k, t, j, least=1):
    """Algorithm 1: the refined groups of each cluster, before the check against the published table."""
    results, place, cluster = view.frame["result"].tolist(), points(view.people).tolist(), prior_clusters(prior, j)

    def satisfies(group):
        values = [results[i] for i in group]
        return len(group) >= k and oracle.close(values, results, t) and len(set(values)) >= least

    def far(i, group):
        centre = [sum(place[x][a] for x in group) / len(group) for a in range(2)]
        return sum((x - c) * (x - c) for x, c in zip(place[i], centre, strict=True))

    published = []
    for number in range(cluster.max() + 1):
        rows = np.flatnonzero(cluster == number)
        if len(rows) >= k:
            order = rows[nearest_point_order(view.people[rows])].tolist()
            groups, left = oracle.grow(order, satisfies)
            for i in left:
                near = sorted(range(len(groups)), key=lambda g, i=i: (far(i, groups[g]), g))
                for g in near:
                    if satisfies([*groups[g], i]):
                        groups[g].append(i)
                        break
            published += refined(groups, rows, far, satisfies)
    return oracle.partition(published)


def refined(groups, rows, far, satisfies):
    """Algorithm 2, step 2."""
    moved = True
    while moved:
        moved = False
        for i in rows:
            own = next((g for g, group in enumerate(groups) if i in group), None)
            if own is None or not satisfies([x for x in groups[own] if x != i]):
                continue
            near = sorted((far(i, group), g) for g, group in enumerate(groups) if g != own)
            for distance, g in near:
                if distance < far(i, groups[own]) - 1e-12 and satisfies([*groups[g], i]):
                    groups[own].remove(i)
                    groups[g].append(i)
                    moved = True
                    break
    return groups


class TestAlgorithms:
    @given(drawn=tables(most=16), settings=settings_of, least=st.integers(1, 2))
    def test_equals_them_to_the_letter(self, drawn, settings, least):
        view, prior = on_the_grid(drawn[0]), drawn[1]
        if settings["k"] > len(view):
            return
        also = None if least == 1 else DistinctDiversity(least)
        grouping = UHRA(**settings, also=also, judged="view")(view, prior)
        assert oracle.groups_of(grouping.labels) == algorithms(view, prior, **settings, least=least)

    def test_the_closest_group_by_ordered_distance(self):
        """Evaluated as a predicate, "equal" distance gives the same groups as the limits."""
        rng = np.random.default_rng(1)
        view = view_of([f"p{i}" for i in range(90)], rng.choice(list("abc"), 90), ages=rng.integers(0, 99, 90))
        prior = np.full((90, 3), 1 / 3)
        for t in (0.2, 0.4):
            asked = UHRA(3, t, 0.5, also=DistinctDiversity(1))(view, prior)
            assert asked.labels.tolist() == UHRA(3, t, 0.5)(view, prior).labels.tolist()
        ordered = Release(view, UHRA(3, 0.2, 0.5, distance="ordered")(view, prior))
        assert verify(ordered, TCloseness(0.2, "ordered") & KAnonymity(3))["holds"].all()


class TestPromises:
    @given(drawn=tables(most=20), settings=settings_of, least=st.integers(1, 2), repaired=st.booleans())
    def test_what_is_published_satisfies_and_no_two_of_a_group_differ_by_more(self, drawn, settings, least, repaired):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        defense = UHRA(**settings, also=DistinctDiversity(least), repaired=repaired)
        grouping = defense(view, prior)
        if (grouping.labels >= 0).any():
            assert verify(Release(view, grouping), defense.requirement)["holds"].all()
        for group in oracle.groups_of(grouping.labels):
            for a, b in itertools.combinations(group, 2):
                assert oracle.divergence([prior[a], prior[b]]) <= settings["j"] + oracle.SLACK
        said = sum(int(note.split()[0]) for note in grouping.notes if note.endswith("suppressed."))
        assert said == (grouping.labels < 0).sum()

    @given(drawn=tables(most=20), settings=settings_of)
    def test_lemma_2_holds_where_it_is_repaired(self, drawn, settings):
        """A cluster of at least k records that is t-close as a whole is published completely."""
        view, prior = drawn
        results = view.frame["result"].tolist()
        if settings["k"] > len(view):
            return
        cluster = prior_clusters(prior, settings["j"])
        labels = UHRA(**settings, repaired=True, judged="view")(view, prior).labels
        for number in range(cluster.max() + 1):
            rows = np.flatnonzero(cluster == number)
            if len(rows) >= settings["k"] and oracle.close([results[i] for i in rows], results, settings["t"]):
                assert (labels[rows] >= 0).all()

    def test_lemma_2_as_printed_says_nothing_of_suppression(self):
        """The cluster is the table, at distance 0. One record fits no pair: .667 of a exceeds .545 by more than .1."""
        view, prior = view_of("ABCDEFGHIJK", "abababababa", ages=range(20, 31)), np.full((11, 3), 1 / 3)
        grouping = UHRA(2, 0.1, 0.5)(view, prior)
        assert (grouping.labels < 0).sum() == 1
        assert "1 record fits no group of their cluster and is suppressed." in grouping.notes
        asked = UHRA(2, 0.1, 0.5, also=KAnonymity(2))(view, prior)
        assert asked.labels.tolist() == grouping.labels.tolist(), "a leftover that the limits keep out of every group"
        repaired = UHRA(2, 0.1, 0.5, repaired=True)(view, prior)
        assert (repaired.labels >= 0).all()
        assert repaired.notes == ()
        assert sorted(np.bincount(repaired.labels)) == [2, 2, 2, 5]

    def test_small_clusters_are_not_published(self):
        view = view_of("ABCDE", "aabab", ages=range(20, 25))
        prior = np.array([[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]])
        grouping = UHRA(3, 1.0, 0.5)(view, prior)
        assert grouping.labels.tolist() == [0, 0, 0, -1, -1]
        assert grouping.notes == ("2 records of clusters of fewer than 3 are suppressed.",)

    def test_a_limit_on_sweeps_is_reported(self):
        rng = np.random.default_rng(0)
        view = view_of([f"p{i}" for i in range(200)], rng.choice(list("abc"), 200), ages=rng.integers(0, 99, 200))
        grouping = UHRA(2, 0.2, 0.5, sweeps=1)(view, np.full((200, 3), 1 / 3))
        (moved,) = (note for note in grouping.notes if "moved" in note)
        assert moved == "records of a cluster of 200 still moved after 1 sweeps."
        assert notes_of_blocks([[moved], [moved]]) == [
            "in 2 of 2 blocks: records of clusters with a total size of 400 still moved after 1 sweeps."
        ]
        for sweeps in (0, 1000):
            assert not any(
                "sweeps" in note for note in UHRA(2, 0.2, 0.5, sweeps=sweeps)(view, np.full((200, 3), 1 / 3)).notes
            )

    def test_without_sweeps_it_grows_the_groups_of_bkaa(self):
        """One cluster, and a beta that never binds: BKAA is steps 1 and 2."""
        rng = np.random.default_rng(0)
        view = view_of([f"p{i}" for i in range(200)], rng.choice(list("abc"), 200), ages=rng.integers(0, 99, 200))
        prior = np.full((200, 3), 1 / 3)
        grown = BKAA(2, 1e9, 0.5, enhanced=False, also=TCloseness(0.2))(view, prior)
        assert UHRA(2, 0.2, 0.5, sweeps=0)(view, prior).labels.tolist() == grown.labels.tolist()


def test_table_1_becomes_table_2():
    """Example of the paper: 3-anonymous groups with similar priors. The paper gives no priors; two are assumed."""
    frame = pd.DataFrame(
        {
            "name": ["Cayla", "Ganya", "Elisa", "Dior", "Harriet", "Fiona"],
            "gender": ["F"] * 6,
            "age": [65, 66, 66, 66, 67, 65],
            "zip": [12040, 12041, 12041, 12041, 12041, 12041],
            "disease": ["Cancer-II", "Flu", "Depression", "GRED", "Alzheimer-I", "Diabetes-II"],
        }
    )
    identifiers = {"gender": Categorical(("F", "M")), "age": Numeric(), "zip": Numeric()}
    view = View(frame, Schema(identifiers, "disease", tuple(frame["disease"]), "name"))
    kinds = np.array([[3, 1, 3, 3, 1, 1], [1, 3, 1, 1, 3, 3]]) / 12
    grouping = UHRA(3, 0.5, 0.1)(view, kinds[[0, 1, 0, 0, 1, 1]])
    table = Release(view, grouping).table
    assert [set(part["disease"]) for _, part in table.groupby("group")] == [
        {"Depression", "GRED", "Cancer-II"},
        {"Alzheimer-I", "Flu", "Diabetes-II"},
    ]
    assert [set(part["age"].astype(str)) for _, part in table.groupby("group")] == [{"[65,66]"}, {"[65,67]"}]


class TestBinaryErratum:
    """Worked by hand: with 24.8 % of one value, t of .5 or more hardly binds."""

    def test_the_largest_distances_are_those_of_pure_groups(self):
        whole = TableCounts(("<=50K", ">50K"), np.array([752, 248]))
        counts = np.array([[i, 5 - i] for i in range(6)])
        groups = Summary(np.full(6, 5), counts, np.zeros((6, 2)), np.zeros(6), whole)
        level = TCloseness(0.5).level(groups)
        assert np.allclose([level[0], level[5]], [0.752, 0.248])
        assert TCloseness(0.5)(groups).tolist() == [False, False, True, True, True, True]
        assert TCloseness(0.76)(groups).all()

    def test_groups_shrink_as_t_is_loosened(self):
        """The opposite of the paper's Table 5: a group that grows until it satisfies stops no later under a looser t."""
        rng = np.random.default_rng(5)
        rich = rng.random(3000) < 0.248
        view = view_of(range(3000), np.where(rich, "b", "a").tolist(), ages=rng.integers(0, 99, 3000), domain="ab")
        prior, mean = np.full((3000, 2), 0.5), []
        for t in (0.1, 0.3, 0.5, 0.8):
            size = np.bincount(UHRA(5, t, 0.8)(view, prior).labels)
            assert size.min() >= 5
            mean.append(size.mean())
        assert mean == sorted(mean, reverse=True)
        assert mean[-1] == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"t": -1}, "TCloseness: t is -1"),
        ({"j": -0.1}, "UHRA: j is -0.1; it is a number of at least 0, a divergence"),
        ({"base": 1}, "UHRA: the logarithm's base is 1; it is a number above 1"),
        ({"judged": "later"}, "UHRA: judged is 'later'; it is one of 'published', 'view'"),
        ({"sweeps": -1}, "UHRA: sweeps is -1; it is a number of sweeps over all records, 0 or more"),
        ({"distance": "far"}, "TCloseness: distance is 'far'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        UHRA(**{"k": 2, "t": 0.5, "j": 0.5, **settings})


def test_more_than_there_are_is_refused():
    with pytest.raises(ValueError, match="k is 9 and the view at 1 has 2 records"):
        UHRA(9, 0.5, 0.5)(view_of("AB", "ab"), np.full((2, 3), 1 / 3))
