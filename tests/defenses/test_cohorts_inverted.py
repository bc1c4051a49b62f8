"""Cohorts inverted: all values and ghosts of tiny histories are published, and equal outputs are one observation.

The beliefs are those of an adversary who knows the rule, all its random choices but the values of ghosts, and who leaves when.
"""

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack
from foreknow.defenses import Cohorts, publish
from foreknow.evaluation import bound
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    Enumeration,
    EvidenceCascade,
    GhostChain,
    GivenPrior,
    MarkovChain,
    Numeric,
    Presence,
    Release,
    Schema,
    View,
)

VALUES = "abe"
STICKY = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
ENDING = np.array([[0.7, 0.3, 0.0], [0.2, 0.4, 0.4], [0.0, 0.0, 1.0]])
SCHEMA = Schema({"age": Numeric(0, 9)}, "result", tuple(VALUES), "id")
PRIOR = GivenPrior(pd.DataFrame(np.tile([0.5, 0.5, 0.0], (5, 1)), index=list("ABCDE"), columns=list(VALUES)))


class Scripted(Cohorts):
    """Cohorts with given values of ghosts; their probability by the chain, and the number that was asked for."""

    script: Any = ()

    def __repr__(self):
        return "Scripted()"

    def _drawn(self, view, value, rng):
        rng.random(len(value))
        kind, chain = type(self), self.mechanism(view.schema).transitions.probabilities
        shown = np.array([*kind.script, *[0] * (kind.asked + len(value))])[kind.asked : kind.asked + len(value)]
        kind.asked += len(value)
        kind.weight *= chain[value, shown].prod()
        return shown


def published(views, adversary, made):
    """Releases of each script of ghosts, with its probability."""
    scripts = [()]
    while scripts:
        kind = type("Given", (Scripted,), {"script": scripts.pop(), "asked": 0, "weight": 1.0})
        releases = publish(views, kind(**made, rng=1), adversary, rng=1)
        if kind.asked > len(kind.script):
            scripts += itertools.product(range(len(VALUES)), repeat=kind.asked)
        elif kind.weight:
            yield releases, kind.weight


def histories(lists, chain, leave):
    """Values of all records, of positive probability, as a dict by respondent and release, and the probability."""
    each = []
    for who in sorted({who for listed in lists for who in listed}):
        times, paths = [t for t, listed in enumerate(lists) if who in listed], []
        ends = leave if times[-1] < len(lists) - 1 and leave.any() else np.ones(len(VALUES))
        for values in itertools.product(range(len(VALUES)), repeat=len(times)):
            weight = (0.5, 0.5, 0.0)[values[0]] * ends[values[-1]]
            for k, (t, later) in enumerate(itertools.pairwise(times)):
                weight *= np.linalg.matrix_power(chain, later - t)[values[k], values[k + 1]] * (1 - leave[values[k]])
            paths += [({(who, t): value for t, value in zip(times, values, strict=True)}, weight)] if weight else []
        each.append(paths)
    for chosen in itertools.product(*each):
        yield {key: value for path, _ in chosen for key, value in path.items()}, math.prod(one for _, one in chosen)


class Inverted(NamedTuple):
    """Outputs of a history with their weight, that of each value of each record, and the releases; and the adversary."""

    outcomes: list[tuple[float, dict, tuple]]
    knows: Adversary

    def excess(self, told=False, held=0):
        """Largest belief less its bound; with what the rule tells of terminal values, without views that were held back."""
        found = []
        for total, each, releases in self.outcomes:
            shown = releases[: len(releases) - held]
            upper = bound(shown, with_terminal_values(self.knows, shown) if told else self.knows).upper
            for t, release in enumerate(shown):
                for row in np.flatnonzero(release.group >= 0):
                    belief = each[release.view.people.respondents[row], t] / total
                    found.append((belief - upper[t][row]).max())
        return max(found)

    def error(self, attack):
        """Largest difference of a belief from that of a joint attack which knows what the rule tells of terminal values."""
        found = []
        for total, each, releases in self.outcomes:
            beliefs = tuple(attack(with_terminal_values(self.knows, releases), Enumeration())(releases))
            for t, release in enumerate(releases):
                for row in np.flatnonzero(release.group >= 0):
                    belief = each[release.view.people.respondents[row], t] / total
                    found.append(np.abs(belief - beliefs[t].posterior.probabilities[row]).max())
        return max(found)


def inverted(lists, chain=STICKY, leave=(0.0, 0.0, 0.0), **made):
    """All outputs of a history of these lists, the views that are held back as releases without records."""
    leave = np.array(leave)
    adversary = Adversary(PRIOR, MarkovChain(1, chain), gaps="power")
    made = {"a": 2, "size": 2, "wait": 0, "transitions": MarkovChain(1, chain)} | made
    rest = {"presence": Presence(leave)} if leave.any() else {}

    @cache
    def view_of(t, *values):
        columns = {"id": list(lists[t]), "age": 0, "result": [VALUES[value] for value in values]}
        return View(pd.DataFrame(columns), SCHEMA, t)

    outcomes = defaultdict(lambda: [0.0, defaultdict(lambda: np.zeros(len(VALUES))), ()])
    for of, weight in histories(lists, chain, leave):
        views = [view_of(t, *(of[who, t] for who in listed)) for t, listed in enumerate(lists)]
        for releases, drawn in published(views, adversary, made):
            outcome = outcomes[tuple(map(output, releases))]
            outcome[0] += weight * drawn
            outcome[2] = releases + tuple(Release(view, [-1] * len(view)) for view in views[len(releases) :])
            for record, value in of.items():
                outcome[1][record][value] += weight * drawn
    assert len(outcomes) > 1
    return Inverted(list(outcomes.values()), replace(adversary, mechanism=Cohorts(**made).mechanism(SCHEMA), **rest))


def output(release):
    """All that a release makes public, and the notes."""
    ghosts, group, _ = release.ghosts
    carried = () if ghosts is None else tuple(ghosts.respondents)
    return (
        tuple(release.group),
        release.counts.tobytes(),
        carried,
        tuple(group),
        tuple(map(str, release.grouping.notes)),
    )


def with_terminal_values(adversary, releases):
    """The adversary who takes a listed and withheld respondent whose place is carried on to have the terminal value."""
    known = CompromisedRecords.of_terminal_values(releases, ["e"])
    return adversary if known is None else replace(adversary, compromised=known, cascade=EvidenceCascade())


@pytest.mark.parametrize("departures", ["ghosts", "withdraw", "retire", "lag"])
@pytest.mark.parametrize("lists", [["ABC", "AB"], ["ABCD", "AB"], ["ABC", "D", "ABC"]])
def test_no_belief_of_who_knows_the_rule_passes_the_bound(departures, lists):
    """Those who leave, one or as a batch, and those who return together."""
    lists = [*lists, lists[-1][:1]] if departures == "lag" else lists
    assert inverted(lists, departures=departures).excess() < 1e-9


def test_last_records_that_are_withheld():
    """The bound is for who knows the lists of the views that were held back, as one who knows the rule does."""
    found = inverted(["ABC", "ABC", "AB"], leave=(0.1, 0.6, 0.0), ends=1)
    assert found.excess() < 1e-9
    assert found.excess(held=1) == pytest.approx(0.779 - 1 / 3, abs=1e-3)


def test_terminal_values_are_known_to_who_knows_the_rule():
    """C is listed and withheld beside a ghost, so that C's value is terminal; b alone leads to it."""
    found = inverted(["ABC", "ABC"], ENDING, terminal=("e",))
    assert found.excess(told=True) < 1e-9
    assert found.excess() == pytest.approx(1 - 5 / 11)
    assert found.error(JointAttack) < 1e-9


@pytest.mark.parametrize("lists", [["ABCD", "ABC"], pytest.param(["ABC", "ABC", "AB"], marks=pytest.mark.slow)])
def test_what_the_rule_tells_of_terminal_values_is_all_that_it_tells(lists):
    """The beliefs of who knows the rule are those of a joint attack with these compromised records, in cells that end as well."""
    found = inverted(lists, ENDING, terminal=("e",))
    assert found.excess(told=True) < 1e-9
    assert found.error(JointAttack) < 1e-9


def test_forward_beliefs_read_no_terminal_value_of_a_later_release():
    """The belief after the first release is the share of its cell, whatever the second one tells."""
    for _, _, releases in inverted(["ABC", "ABC"], ENDING, terminal=("e",)).outcomes:
        adversary = with_terminal_values(Adversary(PRIOR, MarkovChain(1, ENDING), mechanism=GhostChain()), releases)
        first, _ = JointAttack(adversary, Enumeration(), hindsight=False)(releases)
        np.testing.assert_allclose(
            first.posterior.probabilities, np.tile(releases[0].counts[0] / 3, (3, 1)), atol=1e-12
        )
