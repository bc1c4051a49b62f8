"""One rule of exposure: by hand, against a loop over the records, and as SQL."""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.app import exposed
from foreknow.app.exposure import counted_sides, exposure_of_records, is_exposing
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.models import (
    Adversary,
    Averaged,
    Enumeration,
    History,
    MarkovChain,
    Numeric,
    Observation,
    People,
    Relations,
    Release,
    Schema,
    UniformPrior,
)

BELIEFS = st.sampled_from([0.0, 0.5, 0.89, 0.9, 0.95, 1.0])


@st.composite
def records(draw):
    """Records of up to four respondents at up to three releases, in the order of the releases."""
    places = [(time, person) for time in range(3) for person in "abcd" if draw(st.booleans())]
    belief, prior = (np.array([draw(BELIEFS) for _ in places], dtype=float) for _ in range(2))
    time, respondent = (np.array([place[k] for place in places], dtype=object) for k in range(2))
    return {"respondent": respondent, "time": time, "belief": belief, "prior": prior}


@given(records())
def test_equal_to_a_loop_over_the_records(found):
    people, exposing, sure_before = {}, {}, set()
    for person, time, belief, prior in zip(*found.values(), strict=True):
        people.setdefault(person, []).append((belief, time))
        if belief >= 0.9 and prior < 0.9:
            exposing.setdefault(person, []).append((belief, time))
        if prior >= 0.9:
            sure_before.add(person)
    made = exposure_of_records(found, 0.9)
    assert (made.respondents, made.exposed, made.known) == (
        len(people),
        len(exposing),
        len(sure_before - set(exposing)),
    )
    assert made.first == min((time for each in exposing.values() for _, time in each), default=None)
    for row in made.people.itertuples():
        belief, time = max(exposing.get(row.respondent, people[row.respondent]), key=lambda one: (one[0], -one[1]))
        assert (row.belief, row.time, row.exposed) == (belief, time, row.respondent in exposing)
    assert made.people["belief"].is_monotonic_decreasing
    assert set(made.at_risk["respondent"]) == set(exposing)


@given(records(), BELIEFS)
def test_the_same_rule_in_sql(found, sure):
    with duckdb.connect() as connection:
        connection.register("records", pd.DataFrame(found).astype({"belief": float, "prior": float}))
        rule = is_exposing(duckdb.ColumnExpression("belief"), duckdb.ColumnExpression("prior"), sure)
        told = connection.sql(f"SELECT {rule} FROM records").fetchall()
    assert [row for (row,) in told] == is_exposing(found["belief"], found["prior"], sure).tolist()


def test_sure_is_a_probability():
    with pytest.raises(ValueError, match="exposed: sure"):
        exposed(None, None, 1.5)


SCHEMA = Schema({"age": Numeric(0, 9)}, "result", ("a", "b"))
CHAIN = MarkovChain(1, np.array([[0.9, 0.1], [0.2, 0.8]]))


def published(values, groups):
    """A history and its releases: lists of the values and groups of p, q, r, ... at each release."""
    tables = [
        pd.DataFrame({"id": list("pqrst")[: len(each)], "week": t, "age": 1, "result": list(each)})
        for t, each in enumerate(values)
    ]
    history = History.read(pd.concat(tables), SCHEMA)
    return history, [Release(view, np.array(group)) for view, group in zip(history, groups, strict=True)]


class TestTwoSides:
    def test_by_hand(self):
        """Of four who stay together three have a: the belief in it is at most 3/4, that in b 1/4."""
        history, releases = published(["aaab", "abaa"], [[0] * 4] * 2)
        adversary = Adversary(UniformPrior(), CHAIN)
        beliefs = JointAttack(adversary)(releases)
        below, above = (exposed(beliefs, history, sure, adversary=adversary).sides for sure in (0.74, 0.76))
        assert (below.exposed, below.respondents) == (4, 4)
        assert below.at_most == 4
        assert (above.exposed, above.at_most, above.not_decided) == (0, 0, 0)

    def test_without_a_bound(self):
        """A group of two of whom one is told by the next release: the bound is 1."""
        history, releases = published(["ab", "ab"], [[0, 0], [0, 1]])
        adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((2, 2), 0.5)))
        beliefs = JointAttack(adversary.without("transitions"))(releases[:1])
        assert exposed(beliefs, History(history[:1]), adversary=adversary).sides.at_most == 0
        both = JointAttack(adversary)(releases)
        assert exposed(both, history, adversary=adversary).sides.at_most == 2
        history, releases = published(["ab", "ab"], [[0, 0], [0, -1]])
        withheld = exposed(JointAttack(adversary)(releases), history, adversary=adversary).sides
        assert (withheld.exposed, withheld.at_most) == (1, None)
        assert withheld.numbers.startswith("1 of 2 people is exposed; no upper side, as ")
        averaged = Averaged([adversary, replace(adversary, transitions=CHAIN)])
        assert "averages" in exposed(both, history, adversary=averaged).sides.cause

    def test_relations_are_charged_and_of_the_class(self):
        """Of p, q, r and s, s has b. It has b with 3/8, as r, if p and q are alike by a factor of 3; p and q with 1/8.

        The bound of b is an odds of 1/3 times 3, that of a 3 times 3.
        """
        history, releases = published(["aaab", "aaab"], [[0] * 4] * 2)
        pair = pytest.importorskip("networkx").Graph([history[0].people.respondents.tolist()[:2]])
        alone = Adversary(UniformPrior(), CHAIN)
        related = replace(alone, relations=Relations(pair, [[3.0, 1.0], [1.0, 3.0]]))
        cannot, can = (
            exposed(JointAttack(each)(releases), history, 0.8, adversary=each).sides for each in (alone, related)
        )
        assert (cannot.at_most, can.exposed, can.at_most) == (0, 2, 3)
        assert "not who leaves when, who is related to whom, how long" in cannot.cause
        assert "the same relations, all releases" in can.cause
        assert "not who leaves when, how long" in can.cause

    @given(st.integers(0, 10**6))
    def test_no_exact_belief_is_beyond_the_upper_side(self, seed):
        rng = np.random.default_rng(seed)
        values = ["".join(rng.choice(list("ab"), 5)) for _ in range(3)]
        groups = [[0, 0, 0, *rng.permutation([0, 1])] for _ in range(3)]
        history, releases = published(values, groups)
        adversary = Adversary(UniformPrior(), CHAIN)
        sure = float(rng.uniform(0.55, 0.95))
        found = exposed(JointAttack(adversary, Enumeration())(releases), history, sure)
        sides = exposed(SequentialAttack(adversary)(releases), history, sure, adversary=adversary).sides
        alike = counted_sides([one.observation for one in releases], sure)
        for upper in (sides, alike):
            assert upper.at_most is None or found.exposed <= upper.at_most

    def test_who_returns_has_no_upper_side_by_groups_alone(self):
        """A and B leave, ghosts carry on; A is back among 9 others, of whom 9 of 10 have c, which all with a have next."""
        schema = Schema({"age": Numeric(0, 9)}, "result", tuple("abcd"))
        names = {0: "AB", 1: "C", 2: "ADEFGHIJKL"}
        people = {
            t: People(np.array(list(each), dtype=object), np.zeros((len(each), 1)), schema, t)
            for t, each in names.items()
        }
        both, shown = replace(people[0], time=None), np.array([[1, 1, 0, 0]])
        seen = [
            Observation(people[0], [0, 0], shown, 0),
            Observation(people[1], [-1], shown, 1, ghosts=both, ghost_group=[0, 0]),
            Observation(people[2], [0] * 10, np.array([[0, 0, 9, 1]]), 2),
        ]
        # The chance that A had a: 9 of 10, as one of the ten has d, and is as likely A as any other.
        assert counted_sides(seen, sure=0.9).at_most in (None, 12)

    def test_groups_alone(self):
        """p, q and r stay together; s and t part, and one of them is alone with a."""
        _, releases = published(["aabab", "abaab"], [[0, 0, 0, 1, 1], [0, 0, 0, 1, 0]])
        sides = counted_sides([one.observation for one in releases])
        assert (sides.exposed, sides.respondents, sides.at_most) == (1, 5, 2)
