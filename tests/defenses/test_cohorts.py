"""Cohorts: cells, batches and ghosts against a simulator in plain Python, and the law of exchange to the bit."""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreknow.attacks import JointAttack
from foreknow.defenses import Cohorts, KAnonymity, Mondrian, publish
from foreknow.defenses.cohorts import DEPARTURES, ENDING, prior_classes
from foreknow.defenses.requirements.summary import DrawnPrior
from foreknow.evaluation import odds_shift
from foreknow.models import (
    Adversary,
    Enumeration,
    GhostChain,
    Grouping,
    MarkovChain,
    Numeric,
    People,
    Presence,
    Relations,
    Release,
    Schema,
    UniformPrior,
    View,
)

VALUES = ("a", "b", "c", "end")
SCHEMA = Schema({"age": Numeric(0, 99), "kind": Numeric(0, 1)}, "result", VALUES)
CHAIN = MarkovChain(1, np.array([[0.6, 0.3, 0.1, 0], [0.2, 0.5, 0.3, 0], [0.3, 0.3, 0.4, 0], [0.1, 0.1, 0.1, 0.7]]))


@dataclass(frozen=True)
class TwoKinds:
    """Prior by the second quasi-identifier."""

    def __call__(self, people: People) -> Any:
        rows = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
        return rows[people.quasi_identifiers[:, 1].astype(int)]


ADVERSARY = Adversary(TwoKinds(), CHAIN)


def view_of(time, listed, value, kinds=2):
    """A view of some respondents; the quasi-identifiers follow from the number of each."""
    columns = {
        "id": [f"p{i}" for i in listed],
        "age": [i * 7 % 90 for i in listed],
        "kind": [i % kinds for i in listed],
    }
    return View(pd.DataFrame(columns | {"result": [VALUES[value[i, time]] for i in listed]}), SCHEMA, time)


@st.composite
def histories(draw, most=26, terminal=0.0, gaps=True):
    """Lists of respondents at each release, with arrivals, departures and gaps; and values."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, releases = draw(st.integers(4, most)), draw(st.integers(2, 6))
    stay, back = draw(st.sampled_from([0.7, 0.9])), draw(st.sampled_from([0.0, 0.4])) if gaps else 0.0
    here = rng.random(n) < 0.8
    lists = []
    for _ in range(releases):
        if not here.any():
            here[rng.integers(n)] = True
        lists.append(np.flatnonzero(here).tolist())
        ever = np.isin(np.arange(n), [i for listed in lists for i in listed])
        here = np.where(here, rng.random(n) < stay, rng.random(n) < np.where(ever, back, 0.3))
    shares = [(1 - terminal) / 3] * 3 + [terminal]
    value = {(i, t): int(rng.choice(4, p=shares)) for i in range(n) for t in range(releases)}
    return lists, value


@st.composite
def defenses(draw, **fixed):
    a = draw(st.integers(2, 3))
    return {
        "a": a,
        "size": draw(st.sampled_from([a, 2 * a, 2 * a + 1, 4 * a])),
        "departures": draw(st.sampled_from(DEPARTURES)),
        "transitions": CHAIN,
        "ends": draw(st.integers(0, 1)),
        "wait": draw(st.integers(0, 2)),
        "priors": draw(st.sampled_from([0.0, 9.0])),
        "terminal": ("end",),
        "rng": draw(st.integers(0, 99)),
    } | fixed


def published(lists, value, made, adversary=ADVERSARY, kind=Cohorts, seed=1):
    """Releases; none if there are too few views for the lag."""
    defense = kind(**made)
    if len(lists) <= defense.lag:
        return (), defense
    views = [view_of(t, listed, value) for t, listed in enumerate(lists)]
    return publish(views, defense, adversary, rng=seed), defense


def places_of(release):
    """Group, published value and whether it is a ghost, of each respondent who has a place."""
    names = release.view.people.respondents
    found = {
        names[r]: (int(release.group[r]), int(release.view.sensitive[r]), False)
        for r in np.flatnonzero(release.group >= 0)
    }
    ghosts, group, value = release.ghosts
    for name, g, x in zip([] if ghosts is None else ghosts.respondents, group, value, strict=True):
        assert name not in found, "a ghost of a published respondent"
        found[name] = int(g), int(x), True
    return found


def stints_of(releases):
    """Roles of all places: for each (respondent, first release), the list of (release, group) and of published values."""
    roles, values, current = defaultdict(list), defaultdict(list), {}
    for t, release in enumerate(releases):
        now = places_of(release)
        for name in list(current):
            if name not in now:
                del current[name]
        for name, (g, x, _) in now.items():
            key = current.setdefault(name, (name, t))
            roles[key].append((t, g))
            values[key].append(x)
    return roles, values


class Simulator:
    """The rules of the page in plain Python, for one respondent and one cell at a time.

    It takes the cells and the batches from the releases, as both are drawn, and checks who may be in them.
    """

    def __init__(self, lists, value, made, defense):
        self.lists, self.value, self.a, self.size = lists, value, made["a"], made["size"]
        self.ends, self.wait, self.rule, self.lag = made["ends"], made["wait"], made["departures"], defense.lag
        self.equal = made.get("priors", 0.0) == 0
        self.cells, self.last, self.banned, self.waited = {}, {}, set(), Counter()

    def listed(self, i, t):
        return i in self.lists[t]

    def stays(self, i, t):
        """Listed now and in the next releases, without a terminal value."""
        return all(self.listed(i, u) for u in range(t, t + 1 + self.ends)) and VALUES[self.value[i, t]] != "end"

    def check(self, t, release):
        now = {int(name[1:]): place for name, place in places_of(release).items()}
        of_cell = defaultdict(set)
        for i, (g, _, _) in now.items():
            of_cell[g].add(i)
        new = [members for members in of_cell.values() if not members & set().union(*self.cells, set())]
        old = [members for members in of_cell.values() if members not in new]
        self._check_old(t, now, old)
        self._check_new(t, now, new)
        for i in self.lists[t]:
            self.waited[i] = 0 if i in now and not now[i][2] else self.waited[i] + 1
        self.waited = Counter({i: self.waited[i] for i in self.lists[t]})
        self.cells = [{i: now[i][2] for i in members} for members in of_cell.values()]
        self.last |= {i: t for i, (_, _, ghost) in now.items() if not ghost}

    def _check_old(self, t, now, old):
        """Cells lose batches, and nothing else happens to them."""
        for before in self.cells:
            after = [members for members in old if members & set(before)]
            gone = {i for i, ghost in before.items() if ghost or not self.stays(i, t)}
            if not after:
                ended = set(before)
            else:
                assert len(after) == 1, "a cell was split"
                assert after[0] <= set(before), "a place was filled again"
                ended = set(before) - after[0]
                assert len(after[0]) >= self.a
                assert all(now[i][2] == (i in gone) for i in after[0]), (
                    "a ghost of one who stays, or a leaver published"
                )
            c, left = len(before), len(gone)
            if self.rule == "ghosts":
                batch = min(left, c - self.a)
                assert len(ended) == (c if left == c else batch if batch >= self.a else 0)
                assert ended <= gone
            elif self.rule == "retire":
                assert len(ended) == (c if left else 0)
            else:
                batch = max(left, self.a)
                assert len(ended) == (0 if not left else c if batch > c - self.a else batch)
                assert gone <= ended
                soon = {i for i in before if not all(self.listed(i, u) for u in range(t, t + 1 + self.lag))} | gone
                assert self.rule != "lag" or not after or ended <= soon or soon <= ended, (
                    "one who stays is withdrawn first"
                )
            self.banned |= ended - gone

    def _check_new(self, t, now, new):
        """New cells are of respondents who may be published, and of one kind."""
        joined = set().union(*new, set())
        for members in new:
            assert not any(now[i][2] for i in members)
            assert self.a <= len(members) < 2 * self.size
            if len(members) < self.size:
                assert max(self.waited[i] for i in self.lists[t]) >= self.wait
            for i in members:
                assert self.stays(i, t)
                assert i not in self.banned, "one who was withdrawn is published again"
                if i in self.last:
                    assert any(not self.listed(i, u) for u in range(self.last[i], t)), "back without an absence"
            if self.equal and not any(i in self.last for i in members):
                assert len({i % 2 for i in members}) == 1, "priors differ in a cell"
        for kind in range(2 if self.equal else 0):
            pool = [i for i in self.lists[t] if i % 2 == kind and i not in self.last and self.stays(i, t)]
            pool = [i for i in pool if i not in now or i in joined]
            placed = [i for i in pool if i in joined]
            if not any(i in self.last for i in joined):
                late = any(self.waited[i] >= self.wait for i in pool)
                full = len(pool) >= self.size or (late and len(pool) >= self.a)
                assert len(placed) == (len(pool) if full else 0), "all of a class are placed, or none"


class TestRules:
    @settings(deadline=None)
    @given(history=histories(terminal=0.1), made=defenses())
    def test_cells_and_batches_are_those_of_a_simulator(self, history, made):
        releases, defense = published(*history, made)
        simulator = Simulator(*history, made, defense)
        for t, release in enumerate(releases):
            simulator.check(t, release)

    @settings(deadline=None)
    @given(history=histories(terminal=0.1), made=defenses())
    def test_every_atom_has_at_least_a_places(self, history, made):
        releases, _ = published(*history, made)
        roles, _ = stints_of(releases)
        atoms = Counter(map(tuple, roles.values()))
        assert all(size >= made["a"] for size in atoms.values())
        if made["departures"] != "ghosts":
            assert all(release.grouping.places is None for release in releases)

    @settings(deadline=None)
    @given(history=histories(terminal=0.2), made=defenses())
    def test_notes_count_every_record_that_is_withheld(self, history, made):
        for release in published(*history, made)[0]:
            notes = release.grouping.notes
            assert sum(note.of.get("records", 0) for note in notes) == (release.group < 0).sum()
            assert sum(note.of.get("ghosts", 0) for note in notes) == len(release.ghosts[1])

    @settings(deadline=None)
    @given(history=histories(terminal=0.2), made=defenses(ends=1))
    def test_nothing_terminal_and_no_last_record_is_published(self, history, made):
        """And their number is a total of the series: no note counts records of terminal values apart."""
        lists, value = history
        releases, defense = published(lists, value, made)
        ended = {i for t, listed in enumerate(lists[: len(releases)]) for i in listed if VALUES[value[i, t]] == "end"}
        assert defense.reached_terminal(releases) == len(ended)
        for t, release in enumerate(releases):
            told = sum(note.of["records"] for note in release.grouping.notes if note.kind == ENDING)
            assert told == len({*lists[t]} - {*lists[t + 1]})
            assert not release.counts[:, VALUES.index("end")].any(), "a ghost or a record has a terminal value"
            for name, (_, _, ghost) in places_of(release).items():
                assert ghost or int(name[1:]) in lists[t + 1]

    def test_histories_have_all_cases(self):
        """Batches, ghosts, returners, withdrawn people and small cells occur among the histories above."""
        rng, seen = np.random.default_rng(0), Counter()
        for _ in range(40):
            lists, value = [], {(i, t): int(rng.integers(3)) for i in range(26) for t in range(6)}
            here = rng.random(26) < 0.8
            for _ in range(6):
                lists.append(np.flatnonzero(here).tolist())
                here = np.where(here, rng.random(26) < 0.7, rng.random(26) < 0.4)
            for rule in ("ghosts", "withdraw"):
                made = {"a": 2, "size": 4, "departures": rule, "transitions": CHAIN, "rng": 1}
                releases, _ = published(lists, value, made)
                roles, _ = stints_of(releases)
                seen["ghosts"] += any(release.grouping.places is not None for release in releases)
                seen["returned"] += len({name for name, _ in roles}) < len(roles)
                seen["batches"] += len(set(map(tuple, roles.values()))) > len({g[0] for g in roles.values()})
                seen.update(note.kind for release in releases for note in release.grouping.notes)
        assert min(seen.values()) > 5
        assert len(seen) == 7, seen


class Scripted(Cohorts):
    """Cohorts whose ghosts have the values of a script, by time and respondent; the random numbers are drawn all the same."""

    script: Any = None

    def _drawn(self, view, value, rng):  # noqa: ARG002
        rng.random(len(value))
        return value

    def __call__(self, view, prior, past=(), *, coming=()):
        grouping = super().__call__(view, prior, past, coming=coming)
        if grouping.places is None:
            return grouping
        made = grouping.counterfeits.copy()
        made[:, 1] = [self.script[view.time, grouping.places.respondents[row]] for row in made[:, 2]]
        return replace(grouping, counterfeits=made)


class TestExchange:
    """Theorem 1's condition, and more: the values of a group are exchanged, and everything published is as it was, to the bit."""

    @settings(deadline=None)
    @given(history=histories(terminal=0.1), made=defenses(), pick=st.integers(0, 10**6), paths=st.booleans())
    def test_exchanged_values_publish_the_same(self, history, made, pick, paths):
        """The published paths of two of an atom, or the values of the members and ghosts of each group at each release.

        Departures, withheld records and the random numbers are the same.
        """
        lists, value = history
        releases, _ = published(lists, value, made)
        rng = np.random.default_rng(pick)
        shown = (exchanged_paths if paths else permuted)(releases, rng)
        other = dict(value)
        for t, release in enumerate(releases):
            for name, (_, _, ghost) in places_of(release).items():
                if not ghost:
                    other[int(name[1:]), t] = shown[t, name]
        script = type("Given", (Scripted,), {"script": shown, "__repr__": lambda _: "Given()"})
        again, _ = published(lists, other, made, kind=script)
        for first, second in zip(releases, again, strict=True):
            assert np.array_equal(first.group, second.group)
            assert np.array_equal(first.counts, second.counts)
            assert list(map(str, first.grouping.notes)) == list(map(str, second.grouping.notes))
            ghosts, group, _ = first.ghosts
            same_ghosts, same_group, _ = second.ghosts
            assert np.array_equal(group, same_group)
            if ghosts is not None:
                assert np.array_equal(ghosts.respondents, same_ghosts.respondents)
                assert np.array_equal(ghosts.quasi_identifiers, same_ghosts.quasi_identifiers)
            pd.testing.assert_frame_equal(first.table, second.table)


def exchanged_paths(releases, rng):
    """Published values by time and respondent, with those of two places of an atom exchanged; none where atoms are of one."""
    roles, values = stints_of(releases)
    atoms = defaultdict(list)
    for key, role in roles.items():
        atoms[tuple(role)].append(key)
    shown = {(t, key[0]): x for key, role in roles.items() for (t, _), x in zip(role, values[key], strict=True)}
    pairs = [members for members in atoms.values() if len(members) > 1]
    if pairs:
        members = pairs[rng.integers(len(pairs))]
        one, other = (members[i] for i in rng.permutation(len(members))[:2])
        for (t, _), x, y in zip(roles[one], values[one], values[other], strict=True):
            shown[t, one[0]], shown[t, other[0]] = y, x
    return shown


def permuted(releases, rng):
    """Published values by time and respondent, permuted within each group of each release."""
    shown = {}
    for t, release in enumerate(releases):
        places = places_of(release)
        for g in range(release.groups):
            names = [name for name, place in places.items() if place[0] == g]
            for name, i in zip(names, rng.permutation(len(names)), strict=True):
                shown[t, name] = places[names[i]][1]
    return shown


class TestPriors:
    @given(seed=st.integers(0, 10**6), most=st.sampled_from([0.0, 0.5, 2.0]), zeros=st.booleans())
    def test_any_two_of_a_class_are_within_the_distance(self, seed, most, zeros):
        rng = np.random.default_rng(seed)
        rows = np.repeat(rng.dirichlet(np.ones(3), 6), 2, axis=0)
        if zeros:
            rows[::3, 0] = rng.choice([0, 1e-300, 1e-14], 4)
        rows /= rows.sum(axis=1, keepdims=True)
        label = prior_classes(rows, most)
        for i, one in enumerate(rows):
            for j, other in enumerate(rows):
                both = (one > 0) == (other > 0)
                if label[i] == label[j]:
                    assert both.all()
                    ratio = np.log(one[one > 0]) - np.log(other[one > 0])
                    assert np.ptp(ratio) <= most + 1e-8
                if np.array_equal(one, other):
                    assert label[i] == label[j]

    def test_small_probabilities_are_not_zero(self):
        assert len(set(prior_classes(np.array([[1.0, 0.0], [1.0, 1e-15], [1.0, 1e-14]]), 0.0))) == 3

    def test_drawn_priors_are_equal_in_each_draw(self):
        draws = np.array([[[0.2, 0.8], [0.4, 0.6]], [[0.4, 0.6], [0.2, 0.8]]])
        prior = DrawnPrior.of(draws, np.ones(2) / 2, np.ones(2) / 2, "mean")
        assert len(set(prior_classes(np.asarray(prior), 0.0))) == 1
        assert len(set(prior_classes(prior, 0.0))) == 2


def flat(count, time=0, start=0):
    listed = range(start, start + count)
    return view_of(time, listed, {(i, time): i % 3 for i in listed}, kinds=1)


def release_of(defense, view, past=()):
    return Release(view, defense(view, np.full((len(view), 4), 0.25), past))


def test_a_series_of_other_quasi_identifiers_begins_anew():
    """An empty past that was kept for the same settings is not that of a series with another number of columns."""
    defense = Cohorts(2, transitions=CHAIN)
    release_of(defense, flat(8))
    frame = pd.DataFrame({"id": range(8), "age": 1, "height": 2, "weight": 3, "result": VALUES[0]})
    schema = Schema(dict.fromkeys(("age", "height", "weight"), Numeric()), "result", VALUES)
    views = [View(frame, schema, time) for time in (1, 2)]
    first = release_of(defense, views[0])
    assert release_of(defense, views[1], (first,)).groups == 1


class TestErrors:
    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"a": 1}, "a is 1"),
            ({"a": 5, "size": 9}, "at least 2 a"),
            ({"a": 5, "size": 4}, "at least 2 a"),
            ({"a": 5, "departures": "vanish"}, "departures is 'vanish'"),
            ({"a": 5, "priors": -1}, "priors is -1"),
            ({"a": 5, "ends": -1}, "ends is -1"),
            ({"a": 5, "transitions": MarkovChain(2, np.full((4, 4, 4), 0.25))}, "order 2"),
        ],
    )
    def test_settings(self, given, says):
        with pytest.raises(ValueError, match=says):
            Cohorts(**given)

    def test_terminal_values_are_in_the_domain(self):
        with pytest.raises(ValueError, match="holds 'dead', which is no sensitive value"):
            release_of(Cohorts(2, terminal=("dead",)), flat(8))
        with pytest.raises(ValueError, match="holds all sensitive values"):
            release_of(Cohorts(2, terminal=VALUES), flat(8))

    def test_people_to_come_are_needed(self):
        with pytest.raises(ValueError, match=r"those of 0 are given; give coming="):
            release_of(Cohorts(2, ends=1), flat(8))

    def test_no_chain(self):
        defense = Cohorts(2)
        past = (release_of(defense, flat(8)),)
        with pytest.raises(ValueError, match="there is no chain by which ghosts carry on their places"):
            release_of(defense, flat(7, 1), past)
        with pytest.raises(ValueError, match="there are no transitions"):
            defense.mechanism(SCHEMA)

    def test_a_chain_that_cannot_go_on_is_refused_whatever_the_values(self):
        chain = MarkovChain(1, np.array([[0, 0, 0, 1.0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]))
        defense = Cohorts(2, transitions=chain, terminal=("end",))
        for shift in range(3):
            first = view_of(0, range(8), {(i, 0): shift for i in range(8)}, kinds=1)
            with pytest.raises(ValueError, match="no next value after 'a'"):
                release_of(defense, flat(7, 1), (release_of(defense, first),))
        with pytest.raises(ValueError, match="over 2 values"):
            Cohorts(2, transitions=MarkovChain(1, np.eye(2))).mechanism(SCHEMA)

    def test_past_of_another_defense(self):
        defense = Cohorts(3)
        views = [flat(8, 0), flat(8, 1)]
        other = publish(views, Mondrian(KAnonymity(2)), ADVERSARY, rng=1)
        with pytest.raises(ValueError, match=r"the release at 0 is of another defense.*past=\(\)"):
            release_of(defense, flat(8, 2), other)
        mixed = Release(views[0], [0] * 4 + [1] * 4), Release(views[1], [0, 0, 1, 1] * 2)
        with pytest.raises(ValueError, match="the release at 1 is of another defense"):
            release_of(defense, flat(8, 2), mixed)
        distorted = (Release(views[0], Grouping([0] * 8, values=[0] * 8)),)
        with pytest.raises(ValueError, match="the release at 0 is of another defense"):
            release_of(defense, flat(8, 1), distorted)
        invented = (Release(views[0], Grouping([0] * 8, counterfeits=[(0, 1)])),)
        with pytest.raises(ValueError, match="other counterfeits"):
            release_of(defense, flat(8, 1), invented)

    def test_an_interrupted_series(self):
        defense = Cohorts(2, transitions=CHAIN)
        first = release_of(defense, flat(8))
        second = release_of(defense, flat(7, 1), (first,))
        assert second.grouping.places is not None
        with pytest.raises(ValueError, match="is not the first of its series; give all releases of the series"):
            release_of(defense, flat(7, 2), (second,))

    def test_another_domain(self):
        other = Schema({"age": Numeric(0, 99), "kind": Numeric(0, 1)}, "result", VALUES[:3])
        first = release_of(Cohorts(2), flat(8))
        second = View(flat(8, 1).frame, other, 1)
        with pytest.raises(ValueError, match="another sensitive domain"):
            Cohorts(2)(second, np.full((8, 3), 1 / 3), (first,))

    def test_priors_too_far_apart_are_withheld_and_counted(self):
        rows = np.array([[0.4, 0.2, 0.2, 0.2]] * 3 + [[0.2, 0.4, 0.2, 0.2]] * 3)
        apart = 2 * np.log(2)
        assert (Cohorts(4, 4, wait=0)(flat(6), rows).labels == -1).all()
        assert (Cohorts(4, 4, wait=0, priors=2 * apart)(flat(6), rows).labels == 0).all()
        assert (Cohorts(4, 4, wait=0, priors=1.9 * apart)(flat(6), rows).labels == -1).all()
        assert Cohorts(4, 4)(flat(6), rows).notes[0].startswith("6 records are suppressed")

    def test_relations_are_refused(self):
        relations = pytest.importorskip("networkx").Graph([("p0", "p1")])
        adversary = replace(ADVERSARY, relations=Relations(relations, np.ones((4, 4))))
        with pytest.raises(ValueError, match="relations"):
            publish([flat(8)], Cohorts(2), adversary)

    def test_an_adversary_whose_chain_forbids_what_ghosts_do(self):
        """Values never change for the adversary, and ghosts change theirs: a contradiction that names a group and the way out."""
        frozen = MarkovChain(1, np.eye(4))
        defense = Cohorts(4, 8, transitions=MarkovChain(1, np.full((4, 4), 0.25)), wait=0, rng=1)
        releases = publish([flat(8), flat(6, 1, 2)], defense, Adversary(UniformPrior()), rng=1)
        assert releases[1].ghost_counts.sum() == 2
        assert (releases[0].counts != releases[1].counts).any()
        knows = Adversary(UniformPrior(), frozen, mechanism=GhostChain())
        told = JointAttack(knows, Enumeration())(releases).notes
        assert len(told) == 1
        assert "excludes the values" in told[0]
        assert "pseudo-count" in told[0]
        aware = replace(knows, mechanism=defense.mechanism(SCHEMA))
        assert JointAttack(aware, Enumeration())(releases).notes == ()
        assert np.isinf(odds_shift(releases, aware)["epsilon"]).all()
        with pytest.raises(ValueError, match=r"2 ghosts.*give Adversary\(..., mechanism=GhostChain\(\)\)"):
            JointAttack(Adversary(UniformPrior(), frozen))(releases)

    def test_beliefs_are_needed(self):
        with pytest.raises(ValueError, match="no adversary is assumed"):
            publish([flat(8)], Cohorts(2))


class TestMechanism:
    def test_without_terminal_values_it_is_the_chain(self):
        chain = MarkovChain(1, np.full((4, 4), 0.25))
        assert Cohorts(2, transitions=chain).mechanism(SCHEMA) == GhostChain(chain)

    def test_terminal_values_are_left_out_as_by_those_who_stay(self):
        chain = MarkovChain(1, np.full((4, 4), 0.25))
        known = Cohorts(2, transitions=chain, terminal=("end",)).mechanism(SCHEMA).transitions.probabilities
        stayers = GhostChain.of_stayers(chain, Presence(np.array([0.0, 0.0, 0.0, 1.0]))).transitions.probabilities
        np.testing.assert_allclose(known[:3], stayers[:3])


@pytest.mark.parametrize(("a", "withdrawn"), [(2, {"p5"}), (3, {"p5", "p6"})])
def test_lag_withdraws_first_those_who_leave_next(a, withdrawn):
    """Of twelve p0 leaves, and a - 1 are withdrawn with it: p5, who is absent after one more release, then p6, after two."""
    listed = [range(12), range(1, 12), [1, 2, 3, 4, 6, 7, 8, 9, 10, 11], *[[1, 2, 3, 4, 5, 7, 8, 9, 10, 11]] * 2]
    value = {(i, t): i % 3 for i in range(12) for t in range(5)}
    views = [view_of(t, people, value, kinds=1) for t, people in enumerate(listed)]
    for seed in range(8):
        first, second = publish(views, Cohorts(a, 12, "lag", lag=3, rng=seed), ADVERSARY, rng=seed)
        assert (first.group == 0).all()
        assert set(second.view.people.respondents[second.group < 0]) == withdrawn


def test_series_are_told_apart():
    """Notes of the last call are not read for another past, or for another defense."""
    defense = Cohorts(2, transitions=CHAIN, rng=1)
    one, other = release_of(defense, flat(8)), release_of(defense, flat(8, 0, 4))
    for past in ((one,), (other,), (one,)):
        found = defense(flat(12, 1), np.full((12, 4), 0.25), past)
        kept = [i for i in range(12) if f"p{i}" in past[0].view.people.respondents]
        assert set(np.flatnonzero(found.labels == 0)) >= set(kept)


@pytest.mark.parametrize(("listed", "back"), [([1, 2, 3], False), ([], True)])
def test_who_was_withdrawn_is_never_published_again_and_who_left_may_be(listed, back):
    """The cell of four ends as some or all have left; all are absent, and come back with one prior."""
    defense, past = Cohorts(2, 4, "retire", wait=0), ()
    for time, people in enumerate([[0, 1, 2, 3], [*listed, 8, 9], [8, 9], [1, 2, 3, 8, 9]]):
        view = view_of(time, people, dict.fromkeys([(i, time) for i in people], 0), kinds=1)
        past = (*past, release_of(defense, view, past))
    names = past[-1].view.people.respondents[past[-1].group >= 0]
    assert set(names) == {"p8", "p9"} | ({"p1", "p2", "p3"} if back else set())
