"""Insider who knows the rule, the groups and one respondent's value: certain of many values without chance, of none with it."""

import importlib.util
import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from places import ROOT
from strategies import view_of

from foreknow.defenses import Anatomy, Injector, MInvariance
from foreknow.models import Release

SPEC = importlib.util.spec_from_file_location("known_rule", ROOT / "experiments" / "known_rule.py")
attack = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(attack)

BUCKETIZERS = [Anatomy, MInvariance]


def shares(kind, people, values, **chance):
    """Claims of twenty insiders of each of five tables about other groups, and the share that is right."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        view = attack.crowd(people, values, rng)
        prior = np.full((people, len(values)), 1 / len(values))
        release = Release(view, kind(2, **(chance or {"rng": rng}))(view, prior, ()))
        found.append(attack.claims(release, kind is MInvariance, rng.choice(people, 20, replace=False)))
    return np.concatenate(found)


@pytest.mark.parametrize("kind", BUCKETIZERS)
class TestAtAnySize:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("people", "values", "least"), [(600, "ab", 0.25), (6000, "ab", 0.25), (600, "abcdef", 0.05)]
    )
    def test_without_chance_an_insider_is_certain_and_right_of_many(self, kind, people, values, least):
        claimed, right = shares(kind, people, values, deterministic=True).T
        assert (claimed == right).all(), "the rule is true, so no claim is wrong"
        assert right.mean() > least
        assert right.max() > 2 * least

    @pytest.mark.parametrize("values", ["ab", "abcdef"])
    def test_with_chance_next_to_nothing_is_left_to_claim(self, kind, values):
        """The rule contradicts most releases at once; of the few remaining claims half are right, as by chance."""
        claimed, right = shares(kind, 600, values).T
        assert claimed.mean() < 0.01
        assert right.mean() <= 0.005


class FixedOrder(np.random.Generator):
    """Random generator with a fixed permutation of the records."""

    def __init__(self, order):
        super().__init__(np.random.PCG64(0))
        self.order = order

    def permutation(self, n):  # noqa: ARG002 - as NumPy has it
        return np.array(self.order)


def surest_of_another_group(results, defenses):
    """Largest belief of an insider in a value of a respondent of another group; all tables of these values are equally likely.

    The maximum is over all releases of the defenses, all known respondents, and all respondents of other groups.
    """
    n = len(results)
    views = [view_of("ABCDEF"[:n], world) for world in sorted(set(itertools.permutations(results)))]
    seen = defaultdict(Counter)
    for view in views:
        values, prior = view.sensitive.tolist(), np.full((n, 3), 1 / 3)
        for defense in defenses:
            release = Release(view, defense(view, prior, ()))
            seen[tuple(release.group.tolist()), release.counts.tobytes()][tuple(values)] += 1
    most = Fraction(0)
    for (group, _), worlds in seen.items():
        for known, other in itertools.permutations(range(n), 2):
            if group[known] != group[other]:
                beliefs = defaultdict(Counter)
                for world, weight in worlds.items():
                    beliefs[world[known]][world[other]] += weight
                most = max(most, *(Fraction(max(left.values()), left.total()) for left in beliefs.values()))
    return most


@pytest.mark.parametrize("kind", [Anatomy, Injector, MInvariance])
@pytest.mark.parametrize("results", ["aabb", "aabc", "abbc"])
def test_with_chance_an_insider_learns_nothing_of_other_groups(kind, results):
    """Over all orders that can be drawn: one in two at most, which is what a group of two shows. Without chance: certainty."""
    orders = itertools.permutations(range(len(results)))
    assert surest_of_another_group(results, [kind(2, rng=FixedOrder(order)) for order in orders]) == Fraction(1, 2)
    assert surest_of_another_group(results, [kind(2, deterministic=True)]) == 1
