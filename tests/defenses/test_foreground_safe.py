"""Defense against foreground knowledge: an attack with the same settings finds no breach in its groups."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ADULT
from strategies import mixed_tables, tables, view_of

from foreknow.attacks import ForegroundAttack
from foreknow.defenses import Anatomy, ForegroundSafe, Infeasible, PosteriorBound, summarize_groups, summarize_records
from foreknow.evaluation import adult
from foreknow.models import Auto, Categorical, ExpectationMaximization, GibbsSampling, Release, Schema, View

BELOW_SECONDARY = {"Preschool", "1st-4th", "5th-6th", "7th-8th"}
QUASI_IDENTIFIERS = ["age", "workclass", "marital-status", "occupation", "race"]


def uniform(view):
    m = len(view.schema.values)
    return np.full((len(view), m), 1 / m)


def defended(view, defense):
    return Release(view, defense(view, uniform(view)))


def attack_of(defense):
    return ForegroundAttack(defense.attribute_sets, defense.sensitive_set, fit=defense.fit, support=defense.support)


def believed(release, attack):
    """Belief of the attack in the sensitive set, for each respondent."""
    values = release.view.schema.values
    (beliefs,) = attack([release]).releases
    return beliefs.posterior.probabilities[:, [values.index(value) for value in attack.sensitive_set]].sum(axis=1)


def holders(view, sensitive_set):
    return view.frame[view.schema.sensitive].isin(list(sensitive_set)).to_numpy()


def check_promise(release, defense):
    """Assert that no belief is over 1/r, by the attack and by counting, and that groups of at least r hold all records."""
    holds = holders(release.view, defense.sensitive_set)
    assert (release.group >= 0).all()
    assert np.bincount(release.group).min() >= defense.r
    assert (np.bincount(release.group, holds) * defense.r <= np.bincount(release.group)).all()
    assert believed(release, attack_of(defense)).max() <= 1 / defense.r + 1e-9


DEFENSES = st.builds(
    ForegroundSafe,
    st.integers(1, 4),
    st.sampled_from([{"a"}, {"b", "c"}]),
    st.just("all"),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([ExpectationMaximization(starts=1), ExpectationMaximization()]),
    st.just(30),
    st.booleans(),
)


class TestPromise:
    @settings(deadline=None)
    @given(drawn=st.one_of(tables(most=20, ages=4), mixed_tables(most=20)), defense=DEFENSES)
    def test_an_attack_finds_no_breach(self, drawn, defense):
        view, _ = drawn
        if defense.r > len(view):
            return
        if holders(view, defense.sensitive_set).sum() * defense.r > len(view):
            with pytest.raises(Infeasible, match="one of the sensitive set is the value"):
                defended(view, defense)
            return
        try:
            release = defended(view, defense)
        except Infeasible:
            # One group, mined from the shares, gives no information: only other starting points may find a breach.
            assert defense.fit != ExpectationMaximization(starts=1)
            return
        assert release.bucketized == defense.bucketized
        check_promise(release, defense)

    @settings(deadline=None, max_examples=20)
    @given(drawn=tables(most=20, ages=3))
    def test_every_group_satisfies_the_bound_on_posteriors(self, drawn):
        view, _ = drawn
        defense = ForegroundSafe(2, {"a"}, support=2)
        try:
            release = defended(view, defense)
        except (Infeasible, ValueError):
            return
        bound = PosteriorBound(1 / 2, Auto(), {"a"}, "belief")
        groups = summarize_groups(summarize_records(view, uniform(view), members=True), release.group)
        for learned in attack_of(defense).mine(release.observation):
            having = learned.prior[:, 0]
            prior = np.column_stack([having, (1 - having) / 2, (1 - having) / 2])
            assert bound.bind(view, prior)(groups).all()

    @pytest.mark.slow
    @pytest.mark.parametrize(("r", "support"), [(2, 300), (4, 300), (10, 500)])
    def test_on_adult(self, r, support):
        if not (ADULT / "adult.data").is_file():
            pytest.skip(f"UCI Adult is not at {ADULT}")
        (whole,) = adult(ADULT, sensitive="education", quasi_identifiers=QUASI_IDENTIFIERS)
        view = View(whole.frame.iloc[::9].reset_index(drop=True), whole.schema)
        defense = ForegroundSafe(r, BELOW_SECONDARY, support=support)
        release = defended(view, defense)
        check_promise(release, defense)
        undefended = defended(view, Anatomy(r, tuple(BELOW_SECONDARY)))
        breached = believed(undefended, attack_of(defense)) > 1 / r + 1e-9
        assert breached[holders(view, BELOW_SECONDARY)].mean() > 0.5


SEXES = Schema({"sex": Categorical(("f", "m"))}, "result", tuple("abc"))


def of_sexes(sexes, results):
    return View(pd.DataFrame({"id": range(len(sexes)), "sex": list(sexes), "result": list(results)}), SEXES)


class TestGroups:
    def test_those_who_match_the_same_signature_are_enough_for_each_other(self):
        """One woman in four is ill, one man in two: groups of two are of one sex, and the mined probabilities are true."""
        view = of_sexes("ffffffffmmmm", "aabbbbbbaabb")
        defense = ForegroundSafe(2, {"a"}, support=1)
        release = defended(view, defense)
        ill = release.counts[:, 0] > 0
        assert sorted(np.bincount(release.group)[ill]) == [2, 2, 2, 2]
        assert all(len(set(view.frame["sex"][release.group == group])) == 1 for group in np.flatnonzero(ill))
        (learned,) = attack_of(defense).mine(release.observation)
        assert learned.probabilities[:, 0] == pytest.approx([1 / 4, 1 / 2])

    def test_who_is_too_many_for_its_own_is_hidden_among_others(self):
        """Both men are ill. Two groups of a man and a woman disclose them, because no woman of the other groups is ill.

        A fit of one start misses it: in a single group it is most probable that both men are ill; several starts find it.
        """
        view = of_sexes("ffffffffffmm", "bbbbbbbbbbaa")
        with pytest.raises(Infeasible, match="gives a member a belief in the sensitive set over 1/r"):
            defended(view, ForegroundSafe(2, {"a"}, support=1))
        pairs = Release(view, [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 1])
        defense = ForegroundSafe(2, {"a"}, support=1, fit=ExpectationMaximization(starts=1))
        assert believed(pairs, attack_of(defense))[-2:] == pytest.approx([1, 1], abs=1e-3)
        release = defended(view, defense)
        check_promise(release, defense)
        assert "Attack 1 " not in release.grouping.notes[0]

    def test_the_rest_are_neighbours(self):
        view = view_of("ABCDEFGH", "abbbbbbb", [1, 1, 30, 31, 50, 51, 90, 91])
        labels = defended(view, ForegroundSafe(2, {"a"}, deterministic=True)).group
        assert labels[:2].tolist() == [0, 0]
        assert all(labels[first] == labels[first + 1] for first in (2, 4, 6))

    @pytest.mark.parametrize("sexes", ["fffmmmm", "ffffmmm"])
    def test_who_is_left_over_joins_its_like(self, sexes):
        """One respondent of each sex is ill. The record that groups of three leave joins the group of its sex."""
        view = of_sexes(sexes, ["b" if i and sexes[i] == sexes[i - 1] else "a" for i in range(7)])
        labels = defended(view, ForegroundSafe(3, {"a"}, support=1)).group
        assert len({*zip(labels.tolist(), sexes, strict=True)}) == len(set(labels.tolist())) == 2

    def test_no_record_has_a_value_of_the_set(self):
        release = defended(view_of("ABCDE", "bbccb"), ForegroundSafe(2, {"a"}, support=1))
        assert sorted(np.bincount(release.group)) == [2, 3]
        assert release.grouping.notes == ()

    @given(drawn=tables(most=16, ages=4), data=st.data())
    @settings(deadline=None, max_examples=20)
    def test_only_who_is_in_the_set_matters(self, drawn, data):
        """Values within the set, values outside it, and the order of the set do not matter."""
        view, prior = drawn
        names = {"a": data.draw(st.sampled_from("ab")), "b": data.draw(st.sampled_from("ab")), "c": "c"}
        other = View(view.frame.assign(result=view.frame["result"].map(names)), view.schema, view.time)
        outcomes = []
        for table, sensitive in ((view, ("a", "b")), (other, ("b", "a"))):
            try:
                outcomes.append(ForegroundSafe(2, sensitive, support=2)(table, prior).labels.tolist())
            except (Infeasible, ValueError) as problem:
                outcomes.append(type(problem))
        assert outcomes[0] == outcomes[1]

    @pytest.mark.slow
    def test_chance_decides_between_equals(self):
        """Each of five healthy women joins the ill one equally often; without chance, the next on the curve does."""
        view = of_sexes("ffffff", "abbbbb")
        defense = ForegroundSafe(2, {"a"}, support=1, rng=np.random.default_rng(1))
        draws, partners = 200, np.zeros(6)
        for _ in range(draws):
            labels = defense(view, uniform(view)).labels
            partners += labels == labels[0]
        # Five standard deviations of a count of draws with probability 1/5.
        assert np.abs(partners[1:] - draws / 5).max() <= 5 * np.sqrt(draws * 0.2 * 0.8)
        fixed = replace(defense, rng=None, deterministic=True)
        assert np.array_equal(*(fixed(view, uniform(view)).labels for _ in range(2)))


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (lambda: ForegroundSafe(0, {"a"}), ValueError, "ForegroundSafe: r is 0; it is a number of records, 1 or more"),
        (lambda: ForegroundSafe(2.5, {"a"}), ValueError, r"ForegroundSafe: r is 2\.5"),
        (lambda: ForegroundSafe(2, set()), ValueError, "ForegroundSafe: sensitive_set is set..; it is a set"),
        (
            lambda: ForegroundSafe(2, "a"),
            TypeError,
            "ForegroundSafe: sensitive_set is 'a'; it is a set of values",
        ),
        (lambda: ForegroundSafe(2, None), TypeError, "ForegroundSafe: sensitive_set is None; it is a set of values"),
        (lambda: ForegroundSafe(2, {"a"}, "age"), TypeError, "attribute_sets is 'age'; it is 'all'"),
        (lambda: ForegroundSafe(2, {"a"}, support=0), ValueError, "ForegroundSafe: support is 0"),
        (
            lambda: ForegroundSafe(2, {"a"}, rounds=0),
            ValueError,
            "ForegroundSafe: rounds is 0; it is a number of attacks",
        ),
        (
            lambda: ForegroundSafe(2, {"a"}, fit=GibbsSampling),
            TypeError,
            "ForegroundSafe: fit is the class GibbsSampling",
        ),
        (lambda: ForegroundSafe(2, {"a"}, rng="1"), TypeError, "ForegroundSafe: rng is '1'; it is a generator"),
    ],
)
def test_bad_settings_are_one_clear_error(asked, error, message):
    with pytest.raises(error, match=message):
        asked()


@pytest.mark.parametrize(
    ("defense", "error", "message"),
    [
        (ForegroundSafe(5, {"a"}), ValueError, "r is 5 and the view at 1 has 4 records; lower r"),
        (
            ForegroundSafe(3, {"a"}),
            Infeasible,
            r"2 of the 4 records .* a share of 0\.5; .*1/r = 0\.3333 may share one\. The largest r .* is 2\.",
        ),
        (
            ForegroundSafe(2, {"x"}),
            ValueError,
            "ForegroundSafe: the sensitive set holds 'x', which is not in the domain",
        ),
        (ForegroundSafe(2, {"a", "b", "c"}), ValueError, "ForegroundSafe: the sensitive set holds all 3 values"),
        (ForegroundSafe(2, {"a"}, [["sex"]]), ValueError, "'sex' is no quasi-identifier"),
        pytest.param(
            ForegroundSafe(2, {"a"}, support=1, fit=GibbsSampling(rng=np.random.default_rng(1))),
            ValueError,
            r"GibbsSampling.*is random.*ExpectationMaximization\(\)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_cannot_be_published_is_one_clear_error(defense, error, message):
    with pytest.raises(error, match=message):
        defended(view_of("ABCD", "abca"), defense)


def test_too_few_rounds_are_said():
    view = of_sexes("ffffffffffmm", "bbbbbbbbbbaa")
    with pytest.raises(
        Infeasible, match=r"after 1 attacks there are 2 groups of the view at .* 1/r = 0\.5; .* Raise rounds, lower r"
    ):
        defended(view, ForegroundSafe(2, {"a"}, support=1, rounds=1))
