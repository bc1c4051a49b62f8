"""Searches of small groups against all choices of items, by sets and fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foreknow.defenses import QSCloseness, QSDiversity
from foreknow.defenses.suppression.item_suppression import (
    SEARCH_ORDERS,
    item_search,
    label_bounds,
    label_workspace,
    path_workspace,
    record_reduced,
    set_cell,
    shortfall,
    shortfalls_after_removal,
)
from foreknow.models import ExternalKnowledge, Items, Linking
from foreknow.models.quasi_sensitive.links import links

SLACK = 1e-9


# The requirements in sets and fractions. A group is a list of item sets; knowledge is a dict of label to set of items.


def belief(group, knowledge, prevalence=None):
    """Mean probability of each label, and of None, over the records of a group."""
    found = dict.fromkeys([*knowledge, None], Fraction(0))
    for items in group:
        linked = [label for label, own in knowledge.items() if set(items) <= own]
        weights = {label: Fraction(prevalence[label] if prevalence else 1) for label in linked} or {None: Fraction(1)}
        for label, weight in weights.items():
            found[label] += weight / sum(weights.values()) / len(group)
    return found


def is_diverse(group, knowledge, c, l, as_printed=False, prevalence=None):  # noqa: E741
    p = sorted((share for share in belief(group, knowledge, prevalence).values() if share), reverse=True)
    right = p[0] + sum(p[l:]) if as_printed else sum(p[l - 1 :])
    return p[0] <= c * right if right else False


def is_close(group, knowledge, t, prior, prevalence=None):
    now = belief(group, knowledge, prevalence)
    return math.sqrt(sum((now[label] - prior[label]) ** 2 for label in now)) <= t + SLACK


def cost(group, chosen):
    """Equation 1 without its denominator, for chosen cells: pairs of record and item."""
    taken = [sum(record == i for record, _ in chosen) for i in range(len(group))]
    return sum(
        Fraction(1, w)
        for items, less in zip(group, taken, strict=True)
        for w in range(len(items), len(items) - less, -1)
    )


def without(group, chosen):
    return [[item for item in items if (i, item) not in chosen] for i, items in enumerate(group)]


def cheapest(group, satisfies):
    """Least cost of a satisfying set of cells, or None; all sets are tried, the cheapest first."""
    cells = [(i, item) for i, items in enumerate(group) for item in items]
    choices = [set(chosen) for size in range(len(cells) + 1) for chosen in itertools.combinations(cells, size)]
    priced = sorted(((cost(group, chosen), chosen) for chosen in choices), key=lambda pair: pair[0])
    return next((price for price, chosen in priced if satisfies(without(group, chosen))), None)


# The same for the package.


def workspace_of(group, knowledge, *parts, others=(), prevalence=None):
    """The workspace of a group, and the bounds of requirements given as functions of a linking."""
    linking = Linking(ExternalKnowledge(knowledge, prevalence), "items")
    items = Items.from_cells([*group, *others])
    found = links(items, linking.knowledge)
    bounds = label_bounds(tuple(part(linking) for part in parts), found)
    sizes = items.sizes[: len(group)]
    codes = items.codes[: sizes.sum()]
    known = linking.knowledge
    return label_workspace(known.bits(items.vocabulary), codes, sizes, known.all_labels, known.weights), bounds, items


def cells_of(group, items, best):
    codes = [
        (i, items.vocabulary[code])
        for i in range(len(group))
        for code in items.codes[items.starts[i] : items.starts[i + 1]]
    ]
    return {cell for cell, chosen in zip(codes, best, strict=True) if chosen}


ITEMS = "abcd"


@st.composite
def groups(draw, most=7):
    """A group of records and knowledge: (group, knowledge); some records link to no label, some have no item."""
    subset = st.sets(st.sampled_from(ITEMS)).map(sorted)
    group = draw(st.lists(subset, min_size=1, max_size=4).filter(lambda g: 1 <= sum(map(len, g)) <= most))
    goes = draw(st.lists(st.sets(st.sampled_from(ITEMS), min_size=1), min_size=2, max_size=5))
    return group, {f"L{j}": items for j, items in enumerate(goes)}


def prior_of(knowledge):
    return {label: Fraction(1, len(knowledge)) for label in knowledge} | {None: Fraction(0)}


def advanced(search, nodes, first=False):
    """Search advanced by a number of nodes."""
    search.advance(nodes, first)
    return search


def finished(work, bounds, search, step=10**6):
    found = item_search(work, bounds, search)
    while not found.finished:
        found.advance(step)
    return found


@pytest.mark.parametrize("search", SEARCH_ORDERS)
class TestEqualsExhaustiveSearch:
    def check(self, drawn, search, satisfies, *parts, step=10**6):
        group, knowledge = drawn
        work, bounds, items = workspace_of(group, knowledge, *parts)
        if shortfall(work, bounds) == 0:
            assert satisfies(group)
            return
        assert not satisfies(group)
        found, least = finished(work, bounds, search, step), cheapest(group, satisfies)
        assert (found.best is None) == (least is None)
        if least is not None:
            chosen = cells_of(group, items, found.best)
            assert satisfies(without(group, chosen))
            assert cost(group, chosen) == least
            assert found.lowest == pytest.approx(float(least), abs=1e-12)

    @given(drawn=groups(), c=st.sampled_from([Fraction(1, 2), 1, Fraction(3, 2), 3]), l=st.integers(1, 4))
    def test_diversity(self, search, drawn, c, l):  # noqa: E741
        self.check(drawn, search, lambda g: is_diverse(g, drawn[1], c, l), lambda k: QSDiversity(float(c), l, k))

    @given(drawn=groups(), c=st.sampled_from([Fraction(1, 2), Fraction(3, 4)]), l=st.integers(1, 3))
    def test_diversity_as_printed(self, search, drawn, c, l):  # noqa: E741
        self.check(
            drawn, search, lambda g: is_diverse(g, drawn[1], c, l, True), lambda k: QSDiversity(float(c), l, k, True)
        )

    @given(drawn=groups(), t=st.sampled_from([0, 0.1, 0.25, 0.4, 0.7]), step=st.sampled_from([1, 7, 1000]))
    def test_closeness(self, search, drawn, t, step):
        prior = prior_of(drawn[1])
        self.check(
            drawn, search, lambda g: is_close(g, drawn[1], t, prior), lambda k: QSCloseness(t, k, "uniform"), step=step
        )

    @given(drawn=groups(), t=st.sampled_from([0.3, 0.5]), l=st.integers(2, 3))
    def test_both(self, search, drawn, t, l):  # noqa: E741
        prior = prior_of(drawn[1])
        self.check(
            drawn,
            search,
            lambda g: is_diverse(g, drawn[1], 1, l) and is_close(g, drawn[1], t, prior),
            lambda k: QSDiversity(1, l, k),
            lambda k: QSCloseness(t, k, "uniform"),
        )


TWELVE = {
    "diversity": (12, None, 1, 6, False, None),
    "diversity as printed": (12, None, Fraction(1, 4), 3, True, None),
    "closeness": (12, None, 1, None, False, 0.25),
    "both": (12, None, 1, 5, False, 0.3),
    "with prevalence": (12, range(1, 13), 1, 5, False, 0.35),
    "over 64 labels": (70, None, 1, 30, False, None),
}
"""Number of labels, prevalences, c, l, as printed, and t."""


@pytest.mark.parametrize("kind", TWELVE)
def test_twelve_items(kind):
    """Three records of four items: the searches against all 4,096 choices."""
    labels, common, c, l, printed, t = TWELVE[kind]  # noqa: E741
    group, knowledge = random_group(0, records=3, labels=labels)
    prevalence = dict(zip(knowledge, common, strict=True)) if common else None
    total = sum(common) if common else labels
    prior = {label: Fraction(prevalence[label] if common else 1, total) for label in knowledge} | {None: Fraction(0)}
    parts = [lambda k: QSDiversity(float(c), l, k, printed)] if l else []
    parts += [lambda k: QSCloseness(t, k, "uniform")] if t else []

    def satisfies(group):
        diverse = l is None or is_diverse(group, knowledge, c, l, printed, prevalence)
        return diverse and (t is None or is_close(group, knowledge, t, prior, prevalence))

    least = cheapest(group, satisfies)
    assert least > 0
    for search in SEARCH_ORDERS:
        work, bounds, items = workspace_of(group, knowledge, *parts, prevalence=prevalence)
        found = finished(work, bounds, search)
        chosen = cells_of(group, items, found.best)
        assert satisfies(without(group, chosen))
        assert cost(group, chosen) == least


class TestIncremental:
    @given(drawn=groups(12), taken=st.lists(st.integers(0, 11)), common=st.booleans())
    def test_incremental_updates_equal_recomputation(self, drawn, taken, common):
        """Cells are removed and restored in any order; then every further removal is tried."""
        group, knowledge = drawn
        prevalence = {label: 1.0 + 2 * j for j, label in enumerate(knowledge)} if common else None
        parts = (lambda k: QSDiversity(1, 5, k), lambda k: QSCloseness(0.01, k))
        work, bounds, items = workspace_of(group, knowledge, *parts, prevalence=prevalence)
        cells = list(zip(work.owner.tolist(), [items.vocabulary[code] for code in work.item], strict=True))
        for cell in taken:
            set_cell(work, cell % len(cells), not work.removed[cell % len(cells)])
        gone = {cells[cell] for cell in np.flatnonzero(work.removed)}
        rest = np.flatnonzero(~work.removed)
        tried = shortfalls_after_removal(work, bounds, rest, shortfall(work, bounds))
        for chosen, level in [(gone, shortfall(work, bounds))] + [
            (gone | {cells[cell]}, level) for cell, level in zip(rest, tried, strict=True)
        ]:
            left = without(group, chosen)
            now = belief(left, knowledge, prevalence)
            if chosen == gone:
                assert work.belief == pytest.approx([float(p) for p in now.values()], abs=1e-12)
            before = links(Items.from_cells(group), ExternalKnowledge(knowledge, prevalence)).prior()
            assert level == pytest.approx(self.short(now, before), abs=1e-9)

    @staticmethod
    def short(now, before):
        p = sorted((share for share in now.values() if share), reverse=True)
        reached = max((l for l in range(1, len(p) + 1) if p[0] <= sum(p[l - 1 :])), default=0)  # noqa: E741
        distance = math.dist([float(share) for share in now.values()], before)
        return max(0.0, 1 - min(reached, 5) / 5) + (distance - 0.01 if distance > 0.01 + SLACK else 0.0)


def random_group(seed, records=4, size=4, labels=40):
    rng = np.random.default_rng(seed)
    vocabulary = [f"i{x}" for x in range(9)]
    knowledge = {f"L{j}": set(rng.choice(vocabulary, 5, replace=False).tolist()) for j in range(labels)}
    return [sorted(rng.choice(vocabulary, size, replace=False).tolist()) for _ in range(records)], knowledge


class TestLimits:
    def searched(self, seed, nodes, search="adaptive", l=12):  # noqa: E741
        work, bounds, _ = workspace_of(*random_group(seed), lambda k: QSDiversity(1, l, k))
        return advanced(item_search(work, bounds, search), nodes)

    @pytest.mark.parametrize("search", SEARCH_ORDERS)
    @pytest.mark.parametrize("seed", range(4))
    def test_more_nodes_never_cost_more_and_the_limit_is_kept(self, seed, search):
        costs = []
        for nodes in (0, 1, 5, 20, 50, 100, 300, 1000, 4000):
            found = self.searched(seed, nodes, search)
            assert found.examined <= nodes + (0 if search == "plain" else 16)
            again = self.searched(seed, nodes, search)
            assert (again.lowest, again.examined) == (found.lowest, found.examined)
            costs.append(found.lowest)
        assert costs == sorted(costs, reverse=True)
        assert costs[0] == math.inf
        assert costs[-1] < math.inf

    @pytest.mark.parametrize("l", [8, 12, 20])
    @pytest.mark.parametrize("nodes", [200, 500])
    def test_adaptive_costs_less_than_plain_after_equal_nodes(self, l, nodes):  # noqa: E741
        """The plain order may begin with the cheapest removal, so that it wins in few groups, but not in the sum."""
        both = [[self.searched(seed, nodes, how, l).lowest for how in ("adaptive", "plain")] for seed in range(60)]
        ours, plain = zip(*both, strict=True)
        assert sum(ours) < sum(plain)
        assert sum(one > other + 1e-12 for one, other in both) <= len(both) / 20

    def test_it_stops_at_its_first_solution(self):
        work, bounds, _ = workspace_of(*random_group(1), lambda k: QSDiversity(1, 12, k))
        first = advanced(item_search(work, bounds), 10**6, first=True)
        assert first.best is not None
        assert not first.finished
        best = first.lowest
        assert advanced(first, 10**6).lowest <= best

    def test_a_group_without_items(self):
        work, bounds, _ = workspace_of([[], []], {"L0": {"a"}, "L1": {"b"}}, lambda k: QSDiversity(1, 3, k))
        found = advanced(item_search(work, bounds), 1)
        assert found.finished
        assert found.best is None
        examined = found.examined
        assert advanced(found, 10).examined == examined


class TestChildren:
    def test_ties_of_the_gain_go_to_the_cheaper_child_then_to_the_earlier(self):
        """Worked by hand: no single removal helps; an item of the first record costs 1/2, of the second 1/3."""
        work, bounds, _ = workspace_of(
            [list("ab"), list("abc")], {"L": set("abc"), "M": {"z"}}, lambda k: QSDiversity(1, 2, k)
        )
        assert advanced(item_search(work, bounds), 1).children[:5].tolist() == [2, 3, 4, 0, 1]

    def test_the_most_expensive_cell_is_restored_first(self):
        """Either record without one item satisfies; the item of the second record costs 1/3, that of the first 1."""
        work, bounds, _ = workspace_of(
            [list("a"), list("bcd")], {"L": set("abcd"), "M": set("bc")}, lambda k: QSDiversity(3, 2, k)
        )
        set_cell(work, 0, True)
        set_cell(work, 3, True)
        path = path_workspace(4, 1.0)
        assert record_reduced(work, bounds, path) == pytest.approx(1 / 3)
        assert path.best.tolist() == [False, False, False, True]
        assert work.removed.tolist() == [True, False, False, True]


class TestPrinted:
    """The printed search against its text, in sets and fractions: tails in the order of the gain, nothing else."""

    @staticmethod
    def first_solution(group, knowledge, l, items, chosen=(), tail=None):  # noqa: E741
        """Cost of the first solution: the cheapest child that satisfies, of the first node in the order of visits that has one.

        Ties are in the order of the records and of ``items``, the vocabulary.
        """

        def reached(chosen):
            left = without(group, chosen)
            return max((one for one in range(1, l + 1) if is_diverse(left, knowledge, 1, one)), default=0)

        tail = [(i, item) for i, record in enumerate(group) for item in record] if tail is None else tail
        now, before = reached(chosen), cost(group, chosen)
        ordered = sorted(tail, key=lambda cell: (cell[0], items.index(cell[1])))
        children = [(cell, reached((*chosen, cell)), cost(group, (*chosen, cell))) for cell in ordered]
        solved = [price for _, level, price in children if level == l]
        if solved:
            return min(solved)
        children.sort(key=lambda child: ((now - child[1]) / (child[2] - before), child[2]))
        for place, (cell, _, _) in enumerate(children):
            rest = [other for other, _, _ in children[place + 1 :]]
            found = TestPrinted.first_solution(group, knowledge, l, items, (*chosen, cell), rest)
            if found is not None:
                return found
        return None

    @example(drawn=([["b"], ["a", "b"]], {"L0": {"a"}, "L1": {"a", "b"}}), l=2)
    @given(drawn=groups(), l=st.integers(1, 5))
    def test_the_first_solution(self, drawn, l):  # noqa: E741
        work, bounds, items = workspace_of(*drawn, lambda k: QSDiversity(1, l, k))
        if shortfall(work, bounds) == 0:
            return
        expected = self.first_solution(*drawn, l, list(items.vocabulary))
        found = advanced(item_search(work, bounds, "printed"), 10**6, first=True)
        assert found.lowest == pytest.approx(math.inf if expected is None else float(expected), abs=1e-12)

    @pytest.mark.parametrize("seed", range(4))
    def test_without_the_additions(self, seed):
        """The default's first solution restores items of the printed one."""
        printed, default = (
            advanced(
                item_search(*workspace_of(*random_group(seed), lambda k: QSDiversity(1, 20, k))[:2], how),
                10**6,
                first=True,
            )
            for how in ("printed", "adaptive")
        )
        assert printed.examined == default.examined
        assert not (default.best & ~printed.best).any()


@settings(max_examples=20)
@given(st.permutations(range(4)), st.integers(0, 5))
def test_the_order_of_records_does_not_matter_to_the_optimum(order, seed):
    group, knowledge = random_group(seed, size=3, labels=15)
    lowest = []
    for records in (group, [group[i] for i in order]):
        work, bounds, _ = workspace_of(records, knowledge, lambda k: QSDiversity(1, 9, k))
        lowest.append(finished(work, bounds, "adaptive").lowest)
    assert lowest[0] == pytest.approx(lowest[1], abs=1e-12)
