"""Order of the records in the file, and numbers of the groups: neither discloses a choice of `publish`."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from foreknow.defenses import (
    BKAA,
    UHRA,
    DistinctDiversity,
    FullDomain,
    JSReduce,
    KAnonymity,
    KPrimacy,
    Mondrian,
    hilbert_order,
    publish,
)
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.models import Adversary, Categorical, Numeric, Release, Schema, UniformPrior, View

NOBODY = Adversary(UniformPrior())
SCHEMA = Schema({"age": Numeric(0, 9)}, "result", ("a", "b"))
PEOPLE = pd.DataFrame({"id": list("ABCDE"), "age": [3, 3, 3, 4, 3], "result": list("aabba")})
"""Four people are alike but for their names and values; so every rule has ties to break."""

DIVERSE = DistinctDiversity(2)
DEFENSES = {
    "js-reduce": JSReduce(2, 1, 1, also=DIVERSE),
    "js-reduce, relaxed": JSReduce(2, 0.1, 1, leftovers="relax"),
    "js-reduce, counterfeit": JSReduce(2, 0.2, 1, leftovers="counterfeit"),
    "bkaa": BKAA(2, 9, 1, also=DIVERSE),
    "bkaa, patient": BKAA(2, 1, 1, patience=2),
    "uhra": UHRA(2, 1, 1, also=DIVERSE),
    "k-primacy": KPrimacy(2, 1, 1),
    "mondrian, relaxed": Mondrian(KAnonymity(2), strict=False),
    "full-domain": FullDomain(KAnonymity(1)),
}


class FixedOrder(np.random.Generator):
    """Random generator with a fixed first permutation, of the records; later ones are of the groups."""

    def __init__(self, records, groups):
        super().__init__(np.random.PCG64(0))
        self.orders = iter([records, groups])

    def permutation(self, n):
        order = [place for place in next(self.orders) if place < n]
        assert sorted(order) == list(range(n))
        return np.array(order)


def law(defense, frame):
    """Frequency of each outcome (members and values of the groups) over all draws of `publish`."""
    outcomes = Counter()
    for records, groups in itertools.product(itertools.permutations(range(5)), itertools.permutations(range(3))):
        (release,) = publish([View(frame, SCHEMA, 1)], defense, NOBODY, rng=FixedOrder(records, groups))
        membership = sorted(zip(release.view.frame["id"], release.group.tolist(), strict=True))
        outcomes[tuple(membership), release.table.to_csv()] += 1
    return outcomes


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFENSES)
def test_the_law_of_what_is_published_does_not_depend_on_the_file(name):
    """Over all orders that can be drawn, for three orders of the file."""
    expected = law(DEFENSES[name], PEOPLE)
    for order in ([4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        assert law(DEFENSES[name], PEOPLE.iloc[order]) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFENSES)
def test_all_orders_of_group_numbers_are_as_likely(name):
    numbered = Counter()
    for (membership, _), times in law(DEFENSES[name], PEOPLE).items():
        groups = [
            tuple(who for who, group in membership if group == g) for g in range(max(g for _, g in membership) + 1)
        ]
        numbered[frozenset(groups), tuple(groups)] += times
    for groups in {groups for groups, _ in numbered}:
        times = [numbered[groups, order] for order in itertools.permutations(sorted(groups))]
        assert len(set(times)) == 1


def crowd(people=399):
    """Records of ten ages and two towns: about twenty are equal."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "id": rng.permutation(people),
            "age": rng.integers(0, 10, people),
            "town": rng.choice(["Como", "Rome"], people),
            "result": rng.choice(list("abcd"), people),
        }
    )
    schema = Schema({"age": Numeric(0, 9), "town": Categorical(("Como", "Rome"))}, "result", tuple("abcd"))
    return View(frame, schema, 1)


def guessed(release, order):
    """Group of each respondent, guessed from all quasi-identifiers, the rule and the order of the file.

    The published groups are sorted by the positions of the records that fit them, and cut from the order by their sizes.
    """
    codes, groups = release.view.people.quasi_identifiers, release.group
    low = np.array([codes[groups == g].min(axis=0) for g in range(release.groups)])
    high = np.array([codes[groups == g].max(axis=0) for g in range(release.groups)])
    fits = ((codes[order][None] >= low[:, None]) & (codes[order][None] <= high[:, None])).all(axis=2)
    first, last = fits.argmax(axis=1), len(order) - fits[:, ::-1].argmax(axis=1)
    ranked = np.lexsort((last, first))
    guess = np.empty(len(codes), dtype=int)
    guess[order] = np.repeat(ranked, np.bincount(groups)[ranked])
    return guess


RULES = [(JSReduce(3, 1, 1), hilbert_order), (BKAA(3, 999, 1, enhanced=False), nearest_point_order)]


@pytest.mark.parametrize(("defense", "order"), RULES)
def test_the_order_of_the_file_discloses_no_group(defense, order):
    """About twenty records are equal, in seven groups: a random guess is right for one in seven.

    Without `publish`, groups are runs of the order: numbers and sizes disclose all groups, and boxes alone most of them.
    """
    view = crowd()
    prior = np.full((len(view), 4), 0.25)
    direct = Release(view, defense(view, prior, ()))
    cut = np.empty(len(view), dtype=int)
    cut[order(view.people)] = np.repeat(np.arange(direct.groups), np.bincount(direct.group))
    assert (cut == direct.group).all()
    (release,) = publish([view], defense, NOBODY, rng=np.random.default_rng(2))
    assert (guessed(direct, order(view.people)) == direct.group).mean() > 0.75
    assert (guessed(release, order(view.people)) == release.group).mean() < 0.25


def test_ties_are_broken_alike_at_every_release():
    """Twelve equal records are in the same pairs at each of four releases."""
    frame = pd.DataFrame({"id": range(12), "age": 3, "result": list("ab") * 6})
    views = [View(frame.iloc[::step], SCHEMA, time) for time, step in enumerate([1, -1, 1, -1])]
    releases = publish(views, JSReduce(2, 1, 1), NOBODY)
    pairs = [
        {frozenset(rows["id"]) for _, rows in release.view.frame[["id"]].groupby(release.group)} for release in releases
    ]
    assert len(pairs[0]) == 6
    assert all(later == pairs[0] for later in pairs)
