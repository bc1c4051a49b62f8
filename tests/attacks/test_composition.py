"""Composition attack: sets and products by hand, contradictions, and its settings."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import CompositionAttack
from foreknow.models import Grouping, Release, Status

PEOPLE = "ABCDEFGH"


@st.composite
def histories(draw):
    """One to four releases in up to three groups, some records suppressed; values need not be constant."""
    releases = []
    for time in range(1, draw(st.integers(1, 4)) + 1):
        ids = draw(st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=8, unique=True))
        results = draw(st.lists(st.sampled_from("abc"), min_size=len(ids), max_size=len(ids)))
        labels = draw(st.lists(st.integers(-1, 2), min_size=len(ids), max_size=len(ids)))
        releases.append(Release(view_of(ids, results, time=time), labels))
    return releases


def records(release):
    """Respondent, group and the group's values as a list of text, record by record; None outside all groups."""
    frame = release.view.frame
    for name, label in zip(frame["id"], release.group, strict=True):
        yield name, label, None if label < 0 else frame["result"][release.group == label].tolist()


class TestDefinition:
    @given(releases=histories())
    def test_intersections_of_sets(self, releases):
        """Candidate values of each respondent as a set, which begins again where it would be empty."""
        candidates, contradicted = {}, 0
        beliefs = CompositionAttack()(releases)
        for release, found in zip(releases, beliefs, strict=True):
            again = set()
            for row, (name, label, values) in enumerate(records(release)):
                known = candidates.get(name, set("abc"))
                assert found.revised[row].tolist() == [float(v in known) / len(known) for v in "abc"]
                if values is not None:
                    common = known & set(values)
                    again |= set() if common else {int(label)}
                    contradicted += not common
                    candidates[name] = known = common or set(values)
                expected = [float(v in known) / len(known) for v in "abc"]
                assert found.posterior.probabilities[row] == pytest.approx(expected)
            assert set(np.flatnonzero(found.posterior.status == Status.CONTRADICTED)) == again
        told = sum(int(note.split(" of ")[1].split()[0]) for note in beliefs.notes)
        assert told == contradicted

    @pytest.mark.parametrize("prior", ["uniform", "table"])
    @given(releases=histories())
    def test_products_of_shares(self, prior, releases):
        """Whole fractions: the prior of the first release, times the share over the prior of each release."""
        weights = {}
        for release, found in zip(releases, CompositionAttack("product", prior)(releases), strict=True):
            shown = [value for _, label, values in records(release) if label >= 0 for value in values[:1]]
            published = release.view.frame["result"][release.group >= 0].tolist()
            p = {v: Fraction(1, 3) for v in "abc"}
            if prior == "table" and shown:
                p = {v: Fraction(published.count(v), len(published)) for v in "abc"}
            for row, (name, _, values) in enumerate(records(release)):
                known = weights.get(name, p)
                if values is not None:
                    factor = {v: Fraction(values.count(v), len(values)) / p[v] if p[v] else 0 for v in "abc"}
                    new = {v: known[v] * factor[v] for v in "abc"}
                    new = new if sum(new.values()) else {v: p[v] * factor[v] for v in "abc"}
                    known = weights[name] = {v: w / sum(new.values()) for v, w in new.items()}
                expected = [float(known[v]) for v in "abc"]
                assert found.posterior.probabilities[row] == pytest.approx(expected)

    @pytest.mark.parametrize("seed", range(5))
    def test_the_product_is_bayes_rule_for_independent_groups(self, seed):
        """One respondent with a constant value, in groups whose other members are drawn from the table's distribution."""
        rng, p = np.random.default_rng(seed), np.array([0.5, 0.3, 0.2])
        shown = rng.multinomial(4, p, size=3) + np.eye(3, dtype=int)[rng.integers(3)]
        bayes = np.array(
            [p[s] * math.prod(multinomial(row - np.eye(3, dtype=int)[s], p) for row in shown) for s in range(3)]
        )
        factors = np.prod(shown / 5 / p, axis=0) * p
        np.testing.assert_allclose(factors / factors.sum(), bayes / bayes.sum())


def multinomial(counts, p):
    """Probability of counts of draws; 0 where a count is negative."""
    if (counts < 0).any():
        return 0.0
    ways = math.factorial(counts.sum()) / math.prod(map(math.factorial, counts))
    return ways * math.prod(p**counts)


def test_two_hospitals():
    """Worked by hand: {a, b} and {a, c} leave a; {a, b} and {a, b} leave two."""
    one = Release(view_of("ABCD", "abab", time=1), [0, 0, 1, 1])
    two = Release(view_of("ABCD", "abab", time=2), [0, 1, 1, 0])
    three = Release(view_of("AECD", "acab", time=3), [0, 0, 1, 1])
    beliefs = CompositionAttack()([one, two, three])
    assert beliefs.posterior(2).loc["A"].tolist() == [0.5, 0.5, 0.0]
    assert beliefs.posterior(3).loc["A"].tolist() == [1.0, 0.0, 0.0]
    assert beliefs.notes == ()


def test_a_value_that_changed_is_reported():
    one, two = Release(view_of("AB", "ab", time=1), [0, 0]), Release(view_of("AB", "cb", time=2), [0, 1])
    beliefs = CompositionAttack()([one, two])
    assert beliefs.posterior(2).loc["A"].tolist() == [0.0, 0.0, 1.0]
    assert beliefs.releases[1].posterior.status.tolist() == [Status.CONTRADICTED, Status.FINE]
    assert "at 2: no value is in all groups of 1 respondent, so" in beliefs.notes[0]


def test_distorted_values_are_noted():
    view = view_of("ABCD", "abab")
    release = Release(view, Grouping(np.array([0, 0, 1, 1]), values=np.array([0, 2, 0, 1])))
    assert "1 values are distorted" in CompositionAttack()([release]).notes[0]


def test_other_domains_are_refused():
    one, two = Release(view_of("AB", "ab", time=1), [0, 0]), Release(view_of("AB", "ab", time=2, domain="abcd"), [0, 0])
    with pytest.raises(ValueError, match="CompositionAttack: the sensitive domain at 2 is not that at 1"):
        CompositionAttack()([one, two])


@pytest.mark.parametrize("name", ["rule", "prior"])
@pytest.mark.parametrize("wrong", [None, 1, "both", ["product"]])
def test_wrong_settings(name, wrong):
    with pytest.raises(ValueError, match=f"CompositionAttack: {name} is .*; it is one of"):
        CompositionAttack(**{name: wrong})
