"""Knowledge revision cycle, and the conformance test of every defense."""

import dataclasses
import inspect
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from strategies import history_of, mixed_tables, tables, view_of

from foreknow.attacks import SequentialAttack
from foreknow.defenses import (
    BKAA,
    DEFENSES,
    MASK,
    UHRA,
    Anatomy,
    BetaLikeness,
    BTPrivacy,
    Cohorts,
    DistinctDiversity,
    ForegroundSafe,
    FrequencyDiversity,
    FullDomain,
    Infeasible,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    PosteriorBound,
    QSCloseness,
    QSDiversity,
    TCloseness,
    publish,
)
from foreknow.evaluation.checks.verify import verify, verify_items
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    ExpectationMaximization,
    ExternalKnowledge,
    Grouping,
    ItemRelease,
    Linking,
    MarkovChain,
    Memory,
    Omega,
    Release,
    RemoveKnown,
    UniformPrior,
    View,
)
from foreknow.testing import check_defense

HISTORY = history_of(("ABCD", "abca"), ("ABCE", "bbac"), ("ADEF", "caab"))
CHAIN = MarkovChain(1, np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]))
ADVERSARY = Adversary(UniformPrior(), CHAIN, estimator=Omega())


class Spy:
    """Defense that groups the first two and the last two respondents by name, and records its arguments."""

    def __init__(self, diary):
        self.diary = diary

    def __call__(self, view, prior, past):
        by_name = np.argsort(view.people.respondents)
        self.diary.append(("group", view.time, prior[by_name], past))
        return Grouping((np.argsort(by_name) >= 2).astype(int))


@dataclasses.dataclass(frozen=True)
class Watched(Adversary):
    """Adversary that records each of its steps."""

    diary: list = dataclasses.field(default_factory=list)

    def revise(self, memory, people, time=None, **computed):
        self.diary.append(("revise", memory.releases))
        return super().revise(memory, people, time, **computed)

    def posterior(self, revised, observation):
        self.diary.append(("posterior", observation.time))
        return super().posterior(revised, observation)

    def update_memory(self, memory, observation, posterior, **computed):
        self.diary.append(("update_memory", observation.time))
        return super().update_memory(memory, observation, posterior, **computed)


class TestCycle:
    def test_revise_group_publish_observe(self):
        diary = []
        publish(HISTORY, Spy(diary), Watched(UniformPrior(), CHAIN, estimator=Omega(), diary=diary))
        assert [(what, when) for what, when, *_ in diary] == [
            *[("revise", 0), ("group", 1), ("posterior", 1), ("update_memory", 1)],
            *[("revise", 1), ("group", 2), ("posterior", 2), ("update_memory", 2)],
            *[("revise", 2), ("group", 3)],
        ]

    def test_the_defense_receives_the_beliefs_of_the_adversary_at_that_time(self):
        diary = []
        releases = publish(HISTORY, Spy(diary), ADVERSARY)
        beliefs = SequentialAttack(ADVERSARY)(releases)
        for time, (_, when, prior, past) in zip(HISTORY.times, diary, strict=True):
            assert when == time
            assert np.allclose(prior, beliefs.revised(time))
            assert isinstance(past, tuple)
            assert [release.time for release in past] == list(range(1, time))
            assert all(earlier is later for earlier, later in zip(past, releases, strict=False))

    def test_by_hand(self):
        """{A, B} show a and b, each with probability 1/2: the next prior of A is the mean of the rows of a and b."""
        diary = []
        publish(HISTORY, Spy(diary), ADVERSARY)
        assert np.allclose(diary[0][2], 1 / 3)
        assert np.allclose(diary[1][2][0], (CHAIN.probabilities[0] + CHAIN.probabilities[1]) / 2)
        assert np.allclose(diary[1][2][3], 1 / 3), "E is new"

    def test_the_form_is_the_defense_s_unless_it_is_said(self):
        defense = Anatomy(2)
        view = view_of("ABCD", "abca")
        for form, expected in [(None, True), (False, False), (True, True)]:
            (release,) = publish([view], defense, bucketized=form)
            assert release.bucketized == expected
        (release,) = publish([view], Mondrian(KAnonymity(2)), bucketized=True)
        assert set(release.table["age"]) == set(view.frame["age"])

    def test_without_an_adversary_priors_are_uniform_and_nothing_is_learned(self):
        diary = []
        publish(HISTORY, Spy(diary))
        assert all(np.allclose(prior, 1 / 3) for _, _, prior, _ in diary)
        assert [len(past) for *_, past in diary] == [0, 1, 2]

    def test_releases_are_of_the_views_in_order(self):
        releases = publish(iter(HISTORY.views), Spy([]))
        assert [release.view for release in releases] == list(HISTORY.views)
        assert all(release.group.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0]) for release in releases)
        assert publish([], Spy([])) == ()

    def test_views_out_of_the_order_of_time_are_one_clear_error(self):
        with pytest.raises(ValueError, match="time"):
            publish(HISTORY.views[::-1], Spy([]), ADVERSARY)

    @pytest.mark.parametrize("name", [name for name, kind in DEFENSES.items() if kind is not Cohorts])
    def test_views_that_are_too_small_are_all_named_before_anything_is_grouped(self, name):
        """The first view is large enough: nothing may be grouped before the error."""
        large = view_of("ABCDEFGHIJ", "aaabbbbccc", time=0)
        many = {
            "js-reduce": JSReduce(5, 1, 1),
            "bkaa": BKAA(5, 5, 1),
            "uhra": UHRA(5, 1, 1),
            "k-primacy": KPrimacy(5, 5, 1),
            "mondrian": Mondrian(KAnonymity(5)),
            "full-domain": FullDomain(KAnonymity(5)),
            "mask": MASK(5, 2),
            "anatomy": Anatomy(5),
            "injector": Injector(5),
            "foreground-safe": ForegroundSafe(5, ("a",), support=2),
            "m-invariance": MInvariance(5),
        }[name]
        views = [large, view_of("ABCDE", "abcab", time=1), view_of("ABCD", "abca", time=2), view_of("A", "a", time=3)]

        class Counted:
            smallest, calls = many.smallest, 0

            def __call__(self, *given):
                Counted.calls += 1
                return many(*given)

        with pytest.raises(
            Infeasible, match=r"needs 5 records, and 2 of 4 views .* view at 2 has 4, at 3 has 1"
        ) as raised:
            publish(views, Counted(), ADVERSARY)
        assert Counted.calls == 0
        assert "infeasible='suppress'" in str(raised.value)

    def test_a_view_that_cannot_be_published_stops_everything(self):
        with pytest.raises(Infeasible, match="the view at 1 as one group does not satisfy"):
            publish(HISTORY, Mondrian(FrequencyDiversity(3)))

    @pytest.mark.parametrize(
        ("defense", "suppressed", "reason"),
        [
            (Mondrian(FrequencyDiversity(3)), [4, 4, 4], "does not satisfy"),
            (Anatomy(2), [0, 0, 0], None),
            (JSReduce(5, 1, 1), [4, 4, 4], "k is 5 and the view at 2 has 4 records"),
            (Injector(3), [4, 4, 4], "is the value of 2 of the 4 records"),
        ],
    )
    def test_or_is_published_suppressed_and_the_history_goes_on(self, defense, suppressed, reason):
        releases = publish(HISTORY, defense, ADVERSARY, infeasible="suppress")
        assert [int((release.group < 0).sum()) for release in releases] == suppressed
        assert [release.time for release in releases] == [1, 2, 3]
        for release, left in zip(releases, suppressed, strict=True):
            assert len(release.table) == len(release.view) - left
            if left:
                assert set(release.table) == {"group", "age", "result"}
                assert "4 records are suppressed: " in release.grouping.notes[0]
        if reason:
            assert reason in releases[1].grouping.notes[0]
        beliefs = SequentialAttack(ADVERSARY)(releases)
        assert np.allclose(beliefs.posterior(3).sum(axis=1), 1)

    def test_only_the_view_that_fails_is_suppressed(self):
        """The second view has two records; what is published of the third depends on the first alone."""
        views = [HISTORY[0], view_of("AB", "ab", time=2), HISTORY[2]]
        diary = []

        def watched(view, prior, past):
            diary.append((view.time, prior[np.argsort(view.people.respondents)]))
            return JSReduce(3, 1, 1)(view, prior, past)

        releases = publish(views, watched, ADVERSARY, infeasible="suppress", rng=np.random.default_rng(1))
        assert [(release.group < 0).all() for release in releases] == [False, True, False]
        seen = SequentialAttack(ADVERSARY)(releases)
        assert np.allclose(diary[2][1], seen.revised(3))

    def test_other_errors_are_not_suppressed(self):
        def wrong(view, prior, past):
            raise ValueError("not of the view")

        with pytest.raises(ValueError, match="not of the view"):
            publish(HISTORY, wrong, infeasible="suppress")
        with pytest.raises(ValueError, match="infeasible is 'skip'; it is one of 'raise', 'suppress'"):
            publish(HISTORY, Anatomy(2), infeasible="skip")
        with pytest.raises(TypeError, match="publish: rng is '1'; it is a generator"):
            publish(HISTORY, Anatomy(2), rng="1")

    @pytest.mark.parametrize(
        "defense",
        [
            JSReduce(2, 1, 1),
            BKAA(2, 2, 1),
            UHRA(2, 1, 1),
            KPrimacy(2, 1, 1),
            Mondrian(KAnonymity(2) & PosteriorBound(0.1)),
        ],
    )
    def test_a_defense_that_weighs_beliefs_needs_an_adversary(self, defense):
        with pytest.raises(ValueError, match="no adversary is assumed"):
            publish(HISTORY, defense)

    def test_a_seed_publishes_what_its_generator_does(self):
        one, other = (publish(HISTORY, Mondrian(KAnonymity(2)), rng=rng) for rng in (5, np.random.default_rng(5)))
        assert all(np.array_equal(a.group, b.group) for a, b in zip(one, other, strict=True))

    def test_progress_gets_one_item_for_each_view(self):
        seen = []

        def track(views):
            for view in views:
                yield view
                seen.append(view.time)

        publish(HISTORY, Anatomy(2), progress=track)
        assert seen == [1, 2, 3]

    def test_a_label_too_few_is_said(self):
        def careless(view, prior, past):
            return Grouping(np.zeros(3, int))

        with pytest.raises(ValueError, match="the grouping has 3 labels and the view at 1 has 4 records"):
            publish(HISTORY, careless)

    def test_the_defender_s_own_adversary_learns_as_little_as_promised(self):
        """Every group of a release by JS-reduce is J-similar under the revised prior of the attack."""
        defense = JSReduce(2, 1.0, 0.2, patience=4)
        releases = publish(HISTORY, defense, ADVERSARY)
        memory = Memory()
        for release in releases:
            prior = ADVERSARY.revise(memory, release.view.people)
            assert verify(release, defense.requirement, prior=prior)["holds"].all()
            _, memory = ADVERSARY.observe(memory, release.observation)


ONE_START = ExpectationMaximization(starts=1)
"""A fit that is quick on tables of a few records."""

SETTINGS = {
    "js-reduce": JSReduce(2, 0.6, 0.6),
    "js-reduce, patient": JSReduce(2, 0.6, 0.6, patience=4),
    "js-reduce, relaxed": JSReduce(2, 0.6, 0.6, leftovers="relax"),
    "js-reduce, counterfeit": JSReduce(2, 0.6, 0.6, leftovers="counterfeit"),
    "bkaa": BKAA(2, 2, 0.6),
    "bkaa, patient": BKAA(2, 2, 0.6, enhanced=False, patience=4),
    "mondrian": Mondrian(KAnonymity(2)),
    "mondrian, relaxed": Mondrian(KAnonymity(2), strict=False),
    "anatomy": Anatomy(2, deterministic=True),
    "anatomy, of a set": Anatomy(2, ("a",), deterministic=True),
    "anatomy, by chance": lambda: Anatomy(2, rng=np.random.default_rng(1)),
    "mask": lambda: MASK(2, 2, rng=np.random.default_rng(1)),
    "mask, of a set": lambda: MASK(2, 2, ("a",), rng=np.random.default_rng(1)),
    "foreground-safe": ForegroundSafe(2, ("a",), support=2, fit=ONE_START, deterministic=True),
    "foreground-safe, by chance": lambda: ForegroundSafe(
        2, ("a",), support=2, fit=ONE_START, rng=np.random.default_rng(1)
    ),
    "cohorts": lambda: Cohorts(2, 2, wait=0, transitions=CHAIN, rng=np.random.default_rng(1)),
    "full-domain": FullDomain(KAnonymity(2)),
    "injector": Injector(2, deterministic=True),
    "injector, by chance": lambda: Injector(2, rng=np.random.default_rng(1)),
    "m-invariance": MInvariance(2, deterministic=True),
    "m-invariance, by chance": lambda: MInvariance(2, rng=np.random.default_rng(1)),
    "k-primacy": KPrimacy(2, 1, 0.6),
    "uhra": UHRA(2, 0.6, 0.6),
    "uhra, repaired": UHRA(2, 0.6, 0.6, repaired=True),
}
"""Every defense with settings that two records can satisfy. A new defense adds its row.

One that draws is made anew for every call, by a function, so that it draws the same.
"""


TWO = KAnonymity(2) & FrequencyDiversity(2)
PROMISED = {
    **{name: SETTINGS[name].requirement for name in ("js-reduce", "js-reduce, patient", "js-reduce, counterfeit")},
    **{
        name: SETTINGS[name].requirement
        for name in ("bkaa", "bkaa, patient", "mondrian", "mondrian, relaxed", "full-domain")
    },
    **dict.fromkeys(["anatomy", "anatomy, by chance", "mask", "m-invariance", "m-invariance, by chance"], TWO),
    **dict.fromkeys(["anatomy, of a set", "cohorts", "foreground-safe", "foreground-safe, by chance"], KAnonymity(2)),
    **dict.fromkeys(["mask, of a set", "js-reduce, relaxed"], KAnonymity(2)),
    **dict.fromkeys(["injector", "injector, by chance"], TWO & DistinctDiversity(2)),
    "k-primacy": KAnonymity(2) & BetaLikeness(1),
    **dict.fromkeys(["uhra", "uhra, repaired"], KAnonymity(2) & TCloseness(0.6)),
}
"""What everything that is published satisfies; a new defense adds its row."""


def defense_of(name):
    settings = SETTINGS[name]
    return settings() if inspect.isfunction(settings) else settings


def group(name, view, prior):
    """Grouping by the defense; tables that it cannot publish are left out."""
    try:
        return defense_of(name)(view, prior, ())
    except Infeasible:
        reject()


def test_every_defense_is_here():
    assert {type(defense_of(name)) for name in SETTINGS} == set(DEFENSES.values())


@pytest.mark.parametrize("name", SETTINGS)
class TestConformance:
    def test_passes_the_kit(self, name):
        check_defense(lambda: defense_of(name), promises=PROMISED[name])

    @given(drawn=st.one_of(tables(most=20), mixed_tables()))
    def test_publishes_what_it_promises_and_says_what_it_left_out(self, name, drawn):
        view, prior = drawn
        grouping = group(name, view, prior)
        assert isinstance(grouping, Grouping)
        assert grouping.labels.shape == (len(view),)
        release = Release(view, grouping)
        invented = 0 if grouping.counterfeits is None else len(grouping.counterfeits)
        assert release.counts.sum() == (release.group >= 0).sum() + invented
        if (grouping.labels < 0).any():
            assert any("suppressed" in note for note in grouping.notes)
        if invented == 0 or name.startswith("m-invariance"):
            assert verify(release, PROMISED[name], prior)["holds"].all()

    @given(drawn=tables(most=12))
    @settings(max_examples=25)
    def test_is_a_function(self, name, drawn):
        view, prior = drawn
        before = (prior.copy(), view.people.quasi_identifiers.copy(), view.sensitive.copy())
        first, second = (group(name, view, prior) for _ in range(2))
        assert np.array_equal(first.labels, second.labels)
        assert np.array_equal(first.values, second.values)
        assert first.notes == second.notes
        for old, new in zip(before, (prior, view.people.quasi_identifiers, view.sensitive), strict=True):
            assert np.array_equal(old, new)

    @given(drawn=tables(most=16), data=st.data())
    @settings(max_examples=25)
    def test_names_do_not_matter(self, name, drawn, data):
        view, prior = drawn
        ids = data.draw(st.permutations(view.frame["id"].tolist()))
        renamed = View(view.frame.assign(id=ids), view.schema, view.time)
        assert np.array_equal(group(name, view, prior).labels, group(name, renamed, prior).labels)

    @given(drawn=tables(most=16))
    @settings(max_examples=25)
    def test_units_do_not_matter(self, name, drawn):
        """Doubling every age, in a domain twice as wide, changes no group."""
        view, prior = drawn
        frame = view.frame.assign(age=2 * view.frame["age"], weight=2 * view.frame["weight"])
        schema = view_schema = view.schema
        doubled = {q: type(kind)(2 * kind.low, 2 * kind.high) for q, kind in view_schema.quasi_identifiers.items()}
        schema = dataclasses.replace(schema, quasi_identifiers=doubled)
        wider = View(frame, schema, view.time)
        assert np.array_equal(group(name, view, prior).labels, group(name, wider, prior).labels)

    def test_more_records_than_there_are_is_one_clear_error(self, name):
        view = view_of("A", "a")
        if name == "cohorts":  # a small view may have respondents of cells
            assert (group(name, view, np.full((1, 3), 1 / 3)).labels == -1).all()
            return
        with pytest.raises(ValueError, match=r"the view at 1 has 1"):
            defense_of(name)(view, np.full((1, 3), 1 / 3), ())


SAFE = partial(ForegroundSafe, sensitive_set=("d",), support=1)
BELIEFS = KAnonymity(2) & PosteriorBound(0.4) & BTPrivacy(1.5, 0.5)
COMPOSED = {
    "mondrian": Mondrian,
    "full-domain": FullDomain,
    "js-reduce": lambda asked: JSReduce(2, 1, 2, also=asked, patience=6),
    "bkaa": lambda asked: BKAA(2, 9, 2, enhanced=False, also=asked),
    "uhra": lambda asked: UHRA(2, 0.4, 1, also=asked),
}
"""Every defense that takes a requirement, made with one that reads the view and the group members."""


def test_every_defense_that_takes_a_requirement_is_here():
    taking = {
        name for name, kind in DEFENSES.items() if {"requirement", "also"} & set(inspect.signature(kind).parameters)
    }
    assert taking == set(COMPOSED)


@pytest.mark.parametrize("name", COMPOSED)
@given(drawn=mixed_tables(most=10))
@settings(max_examples=25)
def test_requirements_on_beliefs_are_kept(name, drawn):
    view, prior = drawn
    try:
        grouping = COMPOSED[name](BELIEFS)(view, prior, ())
    except Infeasible:
        reject()
    assert verify(Release(view, grouping), KAnonymity(2) & PosteriorBound(0.4), prior)["holds"].all()
    assert verify(Release(view, grouping), BTPrivacy(1.5, 0.5), prior)["holds"].all()


LETTERS = Linking(ExternalKnowledge({"x": ["a", "b"], "y": ["b", "c"]}), "result")
LABELS = KAnonymity(2) & (QSDiversity(2, 2, LETTERS) | QSCloseness(0.1, LETTERS, "fractional"))


@pytest.mark.parametrize("name", COMPOSED)
@given(drawn=mixed_tables(most=10))
@settings(max_examples=25)
def test_requirements_on_labels_are_kept(name, drawn):
    view, prior = drawn
    try:
        grouping = COMPOSED[name](LABELS)(view, prior, ())
    except Infeasible:
        reject()
    release = ItemRelease(Release(view, grouping), LETTERS, LETTERS.items_of(view))
    assert verify_items(release, LABELS)["holds"].all()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: publish(HISTORY, Mondrian), "is no defense"),
        (lambda: publish(HISTORY, KAnonymity(2)), "is no defense"),
        (lambda: publish(HISTORY.views[0], Anatomy(2)), "got a View.*put one view into a list"),
        (lambda: publish(HISTORY[0].frame, Anatomy(2)), r"got a DataFrame\. Make a view by View\(frame, schema"),
        (
            lambda: publish(publish(HISTORY, Anatomy(2)), Anatomy(2)),
            "publish takes views in the order of time: .* got a tuple",
        ),
        (
            lambda: publish(HISTORY, Anatomy(2), Adversary),
            r"publish: adversary is .*; it is an Adversary with its settings",
        ),
        (
            lambda: publish(HISTORY, Anatomy(2), UniformPrior()),
            "publish: adversary is .*; it is an Adversary with its settings",
        ),
        (
            lambda: publish(HISTORY, lambda *_: [0] * 4),
            r"the result of .* is \[0, 0, 0, 0\]; .* Grouping\(labels\)",
        ),
        (lambda: Mondrian(3), "Mondrian: requirement is 3; it is a requirement"),
        (lambda: FullDomain(None), "FullDomain: requirement is None; it is a requirement"),
        (lambda: KAnonymity(3) & None, "requirement is None; it is a requirement"),
        (lambda: JSReduce(3, 0.5, 0.6, also=2), "requirement is 2; it is a requirement"),
        (lambda: verify(publish(HISTORY, Anatomy(2)), KAnonymity(2)), "release is a tuple; it is one Release"),
    ],
)
def test_what_is_of_another_kind_is_one_clear_error(asked, message):
    with pytest.raises(TypeError, match=message):
        asked()


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("row", [[np.nan, 0.5, 0.5], [1.5, -0.5, 0.0], [1.0, 1.0, 0.0]])
def test_a_prior_that_is_no_distribution_is_refused(name, row):
    with pytest.raises(ValueError, match="the prior of the record in row 1"):
        defense_of(name)(HISTORY[0], np.vstack([np.full(3, 1 / 3), row, np.full((2, 3), 1 / 3)]), ())


def test_a_compromised_record_of_another_time_is_refused():
    frame = pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [77], "confidence": [1.0]})
    known = Adversary(UniformPrior(), CHAIN, CompromisedRecords(frame), cascade=RemoveKnown())
    with pytest.raises(ValueError, match="about 77, and the times of the releases are"):
        publish(HISTORY, Spy([]), known)


@pytest.mark.parametrize("kind", [Anatomy, Injector, MInvariance])
def test_without_chance_records_are_assigned_to_neighbours(kind):
    """No group spans two distant clusters, although the rows of the two values are in opposite order."""
    ages = [*range(4), *range(90, 98), *range(4, 8)]
    view = view_of("ABCDEFGHIJKLMNOP", "aaaabbbbaaaabbbb", ages)
    release = Release(view, kind(2, deterministic=True)(view, np.full((16, 3), 1 / 3), ()))
    near = np.array(ages) < 50
    assert release.groups == 8
    assert all(len(set(near[release.group == g])) == 1 for g in range(8))


@pytest.mark.parametrize("kind", [Anatomy, Injector, MInvariance, partial(MASK, 4, sensitive_set=("a",)), SAFE])
class TestChance:
    """Random choices of a defense: fresh entropy, unless a generator is given."""

    VIEW = view_of("ABCDEFGHIJKLMNOP", "aaaaaabcbcdbcdbc", [20] * 8 + [60] * 8, domain="abcd")

    def drawn(self, defense):
        grouping = defense(self.VIEW, np.full((16, 4), 0.25), ())
        return grouping.labels.tolist(), None if grouping.values is None else grouping.values.tolist()

    def test_is_drawn_anew_at_every_call(self, kind):
        defense = kind(2)
        assert len({str(self.drawn(defense)) for _ in range(8)}) > 1

    def test_is_not_stored(self, kind):
        defense = kind(2)
        before = defense.__dict__.copy()
        self.drawn(defense)
        assert defense.rng is None
        assert defense.__dict__ == before

    def test_comes_from_fresh_entropy_whatever_seeds_numpy(self, kind):
        defense, found = kind(2), set()
        for _ in range(8):
            np.random.seed(1)  # noqa: NPY002 - the global state that nothing may be drawn from
            found.add(str(self.drawn(defense)))
        assert len(found) > 1

    def test_a_generator_repeats_it(self, kind):
        same = [self.drawn(kind(2, rng=np.random.default_rng(3))) for _ in range(2)]
        assert same[0] == same[1]

    def test_a_seed_is_converted_once(self, kind):
        """Every call of the defense continues the generator of that seed."""
        seeded, generated = kind(2, rng=3), kind(2, rng=np.random.default_rng(3))
        draws = [self.drawn(seeded) for _ in range(4)]
        assert draws == [self.drawn(generated) for _ in range(4)]
        assert len(set(map(str, draws))) > 1

    @pytest.mark.parametrize("rng", ["7", 7.0, True, np.random, np.random.RandomState(7)])
    def test_what_is_no_generator_is_refused(self, kind, rng):
        with pytest.raises(
            TypeError, match=r"rng is .*; it is a generator, as numpy\.random\.default_rng\(1\), an integer seed"
        ):
            kind(2, rng=rng)

    def test_a_negative_seed_is_refused(self, kind):
        with pytest.raises(ValueError, match="rng is -7; a seed is an integer of at least 0"):
            kind(2, rng=-7)


@pytest.mark.parametrize("kind", [Anatomy, Injector, MInvariance, SAFE])
def test_a_generator_and_no_chance_contradict(kind):
    with pytest.raises(ValueError, match="deterministic=True draws nothing, and rng is given"):
        kind(2, deterministic=True, rng=np.random.default_rng(1))
