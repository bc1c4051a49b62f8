"""Full-domain generalization, against recoding every cell by hand at every level vector."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA
from strategies import distributions, tables

from foreknow.defenses import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    GroupPredicate,
    Infeasible,
    JSimilarity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    any_of,
    summarize_groups,
    summarize_records,
)
from foreknow.defenses.full_domain import FullDomain
from foreknow.evaluation import adult
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Categorical, Hierarchy, Numeric, Release, Schema, View

CITY = Hierarchy([("rome", "south", "*"), ("bari", "south", "*"), ("turin", "north", "*"), ("milan", "north", "*")])
WIDTHS = {"age": (2, 4)}


@dataclass(frozen=True)
class NeighboursApart(GroupPredicate):
    """Predicate on the members that a union may violate: the sum of the row numbers is even."""

    @property
    def bound(self):
        return 1.0

    @property
    def reads_members(self):
        return True

    def level(self, summary):
        sums = np.bincount(summary.members.group, summary.members.records, minlength=len(summary))
        return (sums % 2 == 0).astype(float)


@st.composite
def mixed(draw, most=12):
    """A small table with a number, a categorical attribute with a hierarchy and one without: (view, prior)."""
    n = draw(st.integers(2, most))
    columns = {
        "age": st.sampled_from([0, 1, 2, 3, 5, 8]),
        "city": st.sampled_from(CITY.leaves),
        "sex": st.sampled_from("fm"),
        "result": st.sampled_from("abc"),
    }
    frame = pd.DataFrame({name: draw(st.lists(cell, min_size=n, max_size=n)) for name, cell in columns.items()})
    kinds = {"age": Numeric(0, 8), "city": Categorical(CITY.leaves, CITY), "sex": Categorical(("f", "m"))}
    view = View(frame.assign(id=range(n)), Schema(kinds, "result", ("a", "b", "c")), 1)
    rows = draw(st.lists(distributions(3), min_size=1, max_size=3))
    return view, np.array([rows[i % len(rows)] for i in range(n)])


def recoded(record, node):
    """Cells of a record at a level vector: age exact, in intervals of 2 or 4, or in one; labels by the tree."""
    age, city, sex = node
    row = next(row for row in CITY.rows if row[0] == record["city"])
    ages = [record["age"], record["age"] // 2, record["age"] // 4, "*"]
    return ages[age], row[city], [record["sex"], "*"][sex]


def groups_at(view, node):
    groups = defaultdict(list)
    for row, record in enumerate(view.frame.to_dict("records")):
        groups[recoded(record, node)].append(row)
    return list(groups.values())


NODES = list(itertools.product(range(4), range(3), range(2)))


def satisfying(view, prior, requirement):
    """Nodes all of whose groups satisfy, one group at a time, and their groups."""
    records, verdicts, found = summarize_records(view, prior, requirement.reads_members), {}, {}
    for node in NODES:
        groups = groups_at(view, node)
        for rows in map(tuple, groups):
            if rows not in verdicts:
                alone = np.where(np.isin(np.arange(len(view)), rows), 0, -1)
                verdicts[rows] = requirement(summarize_groups(records, alone))[0]
        if all(verdicts[tuple(rows)] for rows in groups):
            found[node] = groups
    return found


REQUIREMENTS = {
    "k": KAnonymity(2),
    "k, l": KAnonymity(2) & DistinctDiversity(2),
    "t": TCloseness(0.3),
    "frequency": FrequencyDiversity(1.8),
    "recursive": RecursiveDiversity(2.5, 2),
    "j": JSimilarity(0.2),
    "either": any_of(DistinctDiversity(2), TCloseness(0.4)),
    "members": NeighboursApart(),
}


@pytest.mark.parametrize("name", REQUIREMENTS)
@settings(max_examples=15)
@given(drawn=mixed())
def test_every_level_vector_by_hand(name, drawn):
    """Satisfying vector of least discernibility; ties go to the lowest height, then to the first vector. With its groups."""
    view, prior = drawn
    requirement, found = REQUIREMENTS[name], satisfying(drawn[0], drawn[1], REQUIREMENTS[name])
    minimal = [n for n in found if not any(o != n and all(a <= b for a, b in zip(o, n, strict=True)) for o in found)]
    losses = {
        "discernibility": lambda n: (sum(len(rows) ** 2 for rows in found[n]), sum(n), n),
        "height": lambda n: (sum(n), sum(len(rows) ** 2 for rows in found[n]), n),
        "classes": lambda n: (-len(found[n]), sum(n), n),
    }
    for choose, loss in losses.items():
        defense = FullDomain(requirement, WIDTHS, choose)
        if requirement.smallest > len(view):
            continue
        if not found:
            with pytest.raises(Infeasible, match="no levels of generalization of the view at 1 satisfy"):
                defense(view, prior, ())
            continue
        best = min(minimal, key=loss)
        grouping = defense(view, prior, ())
        assert {tuple(rows) for rows in found[best]} == {
            tuple(np.flatnonzero(grouping.labels == label).tolist()) for label in set(grouping.labels.tolist())
        }
        if name not in ("j", "members"):
            assert verify(Release(view, grouping), requirement)["holds"].all()


@given(drawn=mixed(), data=st.data())
def test_unions_of_groups_satisfy_monotone_requirements(drawn, data):
    view, prior = drawn
    kinds = [
        *(KAnonymity(2), DistinctDiversity(2), EntropyDiversity(1.7), RecursiveDiversity(1.5, 2)),
        *(TCloseness(0.25), TCloseness(0.2, "ordered"), FrequencyDiversity(1.5), BetaLikeness(0.8)),
    ]
    assert all(kind.is_monotone for kind in kinds)
    labels = np.array([data.draw(st.integers(0, 1)) for _ in range(len(view))])
    if len(set(labels)) < 2:
        return
    records = summarize_records(view, prior)
    parts, union = summarize_groups(records, labels), summarize_groups(records, 0 * labels)
    for kind in kinds:
        if kind(parts).all():
            assert kind(union)[0]


def test_conjunctions_of_monotone_requirements_are_monotone():
    assert (KAnonymity(2) & TCloseness(0.5)).is_monotone
    assert not (KAnonymity(2) & JSimilarity(0.5)).is_monotone
    assert not (KAnonymity(2) | DistinctDiversity(2)).is_monotone
    assert not NeighboursApart().is_monotone


def pairs(labels):
    """Return whether records 0 and 1, 2 and 3, and 4 and 5 are the groups."""
    return len(set(labels[::2])) == 3 and np.array_equal(labels[::2], labels[1::2])


class TestIncognito:
    """The patients of LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, figures 1 to 3; k is 2."""

    ZIP = Hierarchy([("53715", "5371*", "537**"), ("53703", "5370*", "537**"), ("53706", "5370*", "537**")])
    FRAME = pd.DataFrame(
        {
            "birth": ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"],
            "sex": ["male", "female", "male", "male", "female", "female"],
            "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
            "id": range(6),
            "result": list("abcdef"),
        }
    )

    def grouping(self, *names, choose="discernibility"):
        kinds = {
            "birth": Categorical(("1/21/76", "2/28/76", "4/13/86")),
            "sex": Categorical(("female", "male")),
            "zip": Categorical(self.ZIP.leaves, self.ZIP),
        }
        view = View(self.FRAME, Schema({name: kinds[name] for name in names}, "result", tuple("abcdef")))
        return FullDomain(KAnonymity(2), choose=choose)(view, np.full((6, 6), 1 / 6), ())

    def test_sex_and_zip(self):
        """Minimal are (S1, Z0), with three groups of two, and (S0, Z2), with two of three."""
        assert self.grouping("sex", "zip").notes == ("sex at level 1 of 1, zip as it is.",)
        assert pairs(self.grouping("sex", "zip").labels)

    def test_birth_and_sex(self):
        """Both (B1, S0) and (B0, S1) are minimal; the second has the smaller groups."""
        assert self.grouping("birth", "sex").notes == ("birth as it is, sex at level 1 of 1.",)

    def test_all_three(self):
        """(B1, S1, Z0) and (B0, S1, Z2) have groups of two, the first is lower; (B1, S0, Z2) has groups of three."""
        assert self.grouping("birth", "sex", "zip").notes == (
            "birth at level 1 of 1, sex at level 1 of 1, zip as it is.",
        )
        for choose in ("height", "classes"):
            assert pairs(self.grouping("birth", "sex", "zip", choose=choose).labels)


class TestNumbers:
    def view(self, ages, low=None, high=None):
        frame = pd.DataFrame({"id": range(len(ages)), "age": ages, "result": ["a"] * len(ages)})
        return View(frame, Schema({"age": Numeric(low, high)}, "result", ("a",)))

    def labels(self, view, k=2, widths=None):
        return FullDomain(KAnonymity(k), widths)(view, np.ones((len(view), 1)), ())

    def test_intervals_are_counted_from_the_low_end_of_the_domain(self):
        """In fives from 17: 17 to 21, 22 to 26, ..."""
        grouping = self.labels(self.view([17, 21, 22, 26], 17, 90), widths={"age": [5, 10, 20]})
        assert grouping.labels.tolist() == [0, 0, 1, 1]
        assert grouping.notes == ("age in intervals of 5.",)

    def test_one_interval_is_the_last_resort(self):
        grouping = self.labels(self.view([0, 99], 0, 99), widths={"age": [5]})
        assert grouping.notes == ("age in one interval.",)
        assert grouping.labels.tolist() == [0, 0]

    def test_values_stay_where_they_may(self):
        assert self.labels(self.view([1, 1, 7, 7])).notes == ("age as it is.",)

    def test_by_default_twice_the_least_difference_and_doubled(self):
        assert self.labels(self.view([0, 3, 12, 15])).notes == ("age in intervals of 6.",)
        assert self.labels(self.view([0, 6, 18, 21])).notes == ("age in intervals of 12.",)

    def test_by_default_no_finer_than_one_in_64(self):
        """Twice .5, doubled until it is 1000 / 64 at least: 16."""
        assert self.labels(self.view([0, 0.5, 1000, 992.5])).notes == ("age in intervals of 16.",)

    def test_rounding_moves_no_record(self):
        """In binary, .3 is less than three times .1, and .7 over .1 is below 7."""
        grouping = self.labels(self.view([0.3, 0.35, 0.7, 0.75], 0, 1), widths={"age": [0.1, 0.2]})
        assert grouping.labels.tolist() == [0, 0, 1, 1]
        assert grouping.notes == ("age in intervals of 0.1.",)

    def test_one_value(self):
        assert self.labels(self.view([4, 4])).labels.tolist() == [0, 0]


class TestErrors:
    @pytest.mark.parametrize(
        ("widths", "match"),
        [
            ({"age": (5, 12)}, "the widths of 'age' are .*each a whole multiple of the one before"),
            ({"age": (10, 5)}, "each a whole multiple"),
            ({"age": (5, 5)}, "each a whole multiple"),
            ({"age": (0, 5)}, r"the widths of 'age' are \(0, 5\); they are above 0"),
            ({"age": (math.nan,)}, "they are above 0"),
        ],
    )
    def test_widths(self, widths, match):
        with pytest.raises(ValueError, match=match):
            FullDomain(KAnonymity(2), widths)

    def test_choose(self):
        with pytest.raises(ValueError, match="choose is 'best'; it is one of 'discernibility', 'height', 'classes'"):
            FullDomain(KAnonymity(2), choose="best")

    @pytest.mark.parametrize(
        ("name", "match"),
        [
            ("city", "widths are given for 'city', which is categorical; its hierarchy has its levels"),
            ("weight", "widths are given for 'weight', which is no quasi-identifier"),
        ],
    )
    def test_widths_of_what_is_no_number(self, name, match):
        frame = pd.DataFrame({"id": [1, 2], "age": [1, 2], "city": ["rome", "bari"], "result": ["a", "a"]})
        schema = Schema({"age": Numeric(), "city": Categorical(CITY.leaves, CITY)}, "result", ("a",))
        with pytest.raises(ValueError, match=match):
            FullDomain(KAnonymity(2), {name: (5,)})(View(frame, schema), np.ones((2, 1)), ())

    @given(drawn=tables(most=6))
    def test_more_records_than_there_are(self, drawn):
        view, prior = drawn
        with pytest.raises(ValueError, match=f"needs groups of 7 records, and the view at 1 has {len(view)};"):
            FullDomain(KAnonymity(7))(view, prior, ())

    def test_not_even_one_group_satisfies(self):
        frame = pd.DataFrame({"id": [1, 2, 3], "age": [1, 2, 3], "result": ["a", "a", "a"]})
        view = View(frame, Schema({"age": Numeric()}, "result", ("a", "b")))
        with pytest.raises(
            Infeasible,
            match=r"even all records as one group do not satisfy DistinctDiversity\(l=2\) \(is 1, must be at least 2\)",
        ):
            FullDomain(DistinctDiversity(2))(view, np.full((3, 2), 0.5), ())


def test_adult():
    """The groups are 5-anonymous, and at every vector one level lower some group has fewer than 5 records."""
    if not (DATA / "adult" / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {DATA / 'adult'}")
    names = ["age", "education", "marital-status", "sex"]
    (view,) = adult(DATA / "adult", quasi_identifiers=names, hierarchies=DATA / "adult-hierarchies")
    grouping = FullDomain(KAnonymity(5), {"age": (5, 10, 20)})(view, np.full((len(view), 14), 1 / 14), ())
    assert grouping.notes[0].startswith("age in "), "it is not at level 0"
    assert min(Counter(grouping.labels.tolist()).values()) >= 5
    (note,) = grouping.notes
    ages = [1, 5, 10, 20, 74]
    words = note.rstrip(".").split(", ")
    levels = [0 if "as it is" in word else int(word.split("level ")[1].split()[0]) for word in words[1:]]
    levels.insert(0, next((h for h, width in enumerate(ages) if words[0] == f"age in intervals of {width}"), 4))

    def smallest(node):
        """Smallest number of records that agree in all recoded columns."""
        columns = [(view.frame["age"] - 17) // ages[node[0]]]
        for name, level in zip(names[1:], node[1:], strict=True):
            tree = view.schema.quasi_identifiers[name].tree
            columns.append(view.frame[name].map({row[0]: row[level] for row in tree.rows}))
        return view.frame.groupby(columns).size().min()

    assert smallest(levels) >= 5
    for a in np.flatnonzero(levels):
        assert smallest([level - (place == a) for place, level in enumerate(levels)]) < 5
