"""Revised priors, posteriors and memory of an adversary, step by step."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from strategies import view_of

from foreknow.models import (
    Adversary,
    Auto,
    ChainByRelease,
    CompromisedRecords,
    EvidenceCascade,
    Exact,
    GivenPrior,
    Grouping,
    MarkovChain,
    Memory,
    Numeric,
    Omega,
    PosteriorCascade,
    PriorCascade,
    RandomWorlds,
    Release,
    RemoveKnown,
    Schema,
    TooLarge,
    UniformPrior,
    View,
)
from foreknow.models import memory as memories

RNG = np.random.default_rng(20120101)
CHAIN = MarkovChain(1, RNG.dirichlet(np.ones(3), size=3))
ROWS = dict(zip("ABCDEFG", RNG.dirichlet(np.ones(3), size=7), strict=True))


@dataclasses.dataclass(frozen=True)
class ByName:
    """Prior with a row for each respondent by name."""

    def __call__(self, people):
        return np.array([ROWS[respondent] for respondent in people.respondents])


def released(ids, results, labels, time=1, **changes):
    return Release(view_of(ids, results, time=time), Grouping(np.array(labels), **changes)).observation


FIRST = released("ABCD", "abca", [0, 0, 1, 1])
SECOND = released("BE", "ab", [0, 0], time=2)


@pytest.fixture(params=["ignore", "power"])
def adversary(request):
    return Adversary(ByName(), CHAIN, gaps=request.param)


class TestRevise:
    def test_a_respondent_never_seen_has_the_prior(self, adversary):
        assert np.allclose(adversary.revise(Memory(), FIRST.people), [ROWS[r] for r in "ABCD"])
        _, memory = adversary.observe(Memory(), FIRST)
        assert np.allclose(adversary.revise(memory, SECOND.people)[1], ROWS["E"])

    def test_a_respondent_seen_before_has_the_chain_applied_to_the_last_belief(self, adversary):
        posterior, memory = adversary.observe(Memory(), FIRST)
        revised = adversary.revise(memory, SECOND.people)
        assert np.allclose(revised[0], posterior.probabilities[1] @ CHAIN.probabilities)

    def test_without_transitions_nothing_is_learned(self):
        adversary = Adversary(ByName())
        _, memory = adversary.observe(Memory(), FIRST)
        assert np.array_equal(adversary.revise(memory, SECOND.people), [ROWS["B"], ROWS["E"]])

    def test_rows_are_normalized_under_a_substochastic_chain(self):
        table = np.array([[0.2, 0.1, 0.0], [0.0, 0.5, 0.1], [0.3, 0.3, 0.3]])
        adversary = Adversary(ByName(), MarkovChain(1, table, substochastic=True))
        posterior, memory = adversary.observe(Memory(), FIRST)
        raw = posterior.probabilities[1] @ table
        assert np.allclose(adversary.revise(memory, SECOND.people)[0], raw / raw.sum())

    def test_without_a_continuation_by_the_chain_the_prior_holds(self):
        adversary = Adversary(ByName(), MarkovChain(1, np.zeros((3, 3)), substochastic=True))
        _, memory = adversary.observe(Memory(), FIRST)
        assert np.allclose(adversary.revise(memory, FIRST.people), [ROWS[r] for r in "ABCD"])

    def test_the_chain_and_the_prior_are_over_one_domain(self):
        adversary = Adversary(UniformPrior(), MarkovChain(1, np.eye(2)))
        _, memory = adversary.observe(Memory(), FIRST)
        with pytest.raises(ValueError, match="the transitions are over 2 values, and the sensitive domain has 3"):
            adversary.revise(memory, FIRST.people)

    def test_knowledge_may_grow_with_the_releases(self):
        chains = tuple(MarkovChain(1, np.roll(np.eye(3), shift, axis=1)) for shift in range(3))
        for inclusive, known in ((False, 0), (True, 1)):
            adversary = Adversary(ByName(), ChainByRelease.of_views(chains, inclusive))
            posterior, memory = adversary.observe(Memory(), FIRST)
            revised = adversary.revise(memory, FIRST.people)
            assert np.allclose(revised, posterior.probabilities @ chains[known].probabilities)


class TestGaps:
    """A is seen at 1, not at 2 and 3, and revised for 4."""

    def memory(self, adversary):
        posterior, memory = adversary.observe(Memory(), FIRST)
        _, memory = adversary.observe(memory, SECOND)
        _, memory = adversary.observe(memory, released("EF", "bc", [0, 0], time=3))
        return posterior.probabilities[0], memory

    def test_ignored_an_absence_changes_nothing(self):
        adversary = Adversary(ByName(), CHAIN)
        last, memory = self.memory(adversary)
        assert np.array_equal(memory.beliefs[-1, memory.rows["A"]], last)
        assert np.allclose(adversary.revise(memory, FIRST.people)[0], last @ CHAIN.probabilities)

    def test_with_power_the_chain_takes_a_step_at_every_release(self):
        adversary = Adversary(ByName(), CHAIN, gaps="power")
        last, memory = self.memory(adversary)
        assert np.allclose(
            adversary.revise(memory, FIRST.people)[0], last @ np.linalg.matrix_power(CHAIN.probabilities, 3)
        )

    def test_with_power_a_suppressed_respondent_is_absent(self):
        adversary = Adversary(ByName(), CHAIN, gaps="power")
        posterior, memory = adversary.observe(Memory(), FIRST)
        _, memory = adversary.observe(memory, released("AEF", "abc", [-1, 0, 0], time=2))
        power = np.linalg.matrix_power(CHAIN.probabilities, 2)
        assert np.allclose(adversary.revise(memory, FIRST.people)[0], posterior.probabilities[0] @ power)

    def test_there_are_two_ways(self):
        with pytest.raises(ValueError, match="gaps is 'guess'; it is one of 'ignore', 'power'"):
            Adversary(ByName(), CHAIN, gaps="guess")


class TestObserve:
    def test_is_weighing_what_was_revised_and_remembering_it(self, adversary):
        _, memory = adversary.observe(Memory(), FIRST)
        posterior, after = adversary.observe(memory, SECOND)
        by_hand = adversary.posterior(adversary.revise(memory, SECOND.people), SECOND)
        remembered = adversary.update_memory(memory, SECOND, by_hand)
        assert np.array_equal(posterior.probabilities, by_hand.probabilities)
        assert after.releases == remembered.releases == 2
        assert np.array_equal(after.beliefs, remembered.beliefs)
        assert np.array_equal(
            by_hand.probabilities, Exact()(SECOND.problem(adversary.revise(memory, SECOND.people))).probabilities
        )

    def test_takes_the_estimator_it_is_given(self):
        posterior, _ = Adversary(ByName(), estimator=RandomWorlds()).observe(Memory(), FIRST)
        assert np.array_equal(posterior.probabilities, [[0.5, 0.5, 0]] * 2 + [[0.5, 0, 0.5]] * 2)

    def test_suppressed_rows_keep_the_revised_prior_and_are_not_remembered(self, adversary):
        _, memory = adversary.observe(Memory(), FIRST)
        observation = released("AEBF", "abca", [-1, -1, 0, 0], time=2)
        revised = adversary.revise(memory, observation.people)
        posterior, memory = adversary.observe(memory, observation)
        assert np.allclose(posterior.probabilities[:2], revised[:2], rtol=1e-14)
        assert "E" not in memory.rows
        assert np.array_equal(adversary.revise(memory, released("E", "a", [0]).people)[0], ROWS["E"])

    def test_counterfeits_are_lacking_values_and_drop_out(self):
        """A and B with a, b, c and one counterfeit; a and c are true in the other group as well.

        Of the records of a and of c the first group received one of two if it shows a true one, of those of b all: the ways in
        which b is the counterfeit weigh half.
        """
        observation = released("ABCD", "abca", [0, 0, 1, 1], counterfeits=np.array([[0, 2]]))
        posterior, memory = Adversary(ByName(), estimator=Exact()).observe(Memory(), observation)
        a, b = ROWS["A"], ROWS["B"]
        ways = {(s, r): a[s] * b[r] * (1 if 1 in (s, r) else 0.5) for s in range(3) for r in range(3) if s != r}
        expected = [sum(w for (s, _), w in ways.items() if s == v) / sum(ways.values()) for v in range(3)]
        assert posterior.probabilities.shape == (4, 3)
        assert np.allclose(posterior.probabilities[0], expected)
        assert set(memory.rows) == set("ABCD")

    def test_counterfeits_as_unknown_respondents(self):
        """A and B with a, b and an invented c: A has a, b, c in the six ways, each weighing prior A, B and 1/3."""
        observation = released("ABCD", "abca", [0, 0, 1, 1], counterfeits=np.array([[0, 2]]))
        adversary = Adversary(ByName(), estimator=Exact(), counterfeits="uniform")
        posterior, _ = adversary.observe(Memory(), observation)
        a, b = ROWS["A"], ROWS["B"]
        ways = {(s, r): a[s] * b[r] for s in range(3) for r in range(3) if s != r}
        expected = [sum(w for (s, _), w in ways.items() if s == v) / sum(ways.values()) for v in range(3)]
        assert np.allclose(posterior.probabilities[0], expected)

    def test_a_release_without_published_records(self, adversary):
        posterior, memory = adversary.observe(Memory(), released("AB", "ab", [-1, -1]))
        assert np.allclose(posterior.probabilities, [ROWS["A"], ROWS["B"]], rtol=1e-14)
        assert memory.releases == 1
        assert not memory.rows


class TestMemory:
    def test_observing_leaves_what_was_remembered_untouched(self, adversary):
        _, memory = adversary.observe(Memory(), FIRST)
        before = (memory.releases, dict(memory.rows), memory.beliefs.copy(), memory.known.copy())
        posterior, after = adversary.observe(memory, SECOND)
        posterior.probabilities[:] = 7
        after.beliefs[:] = 7
        assert (memory.releases, dict(memory.rows)) == before[:2]
        assert np.array_equal(memory.beliefs, before[2])
        assert np.array_equal(memory.known, before[3])

    def test_it_branches(self, adversary):
        """Two continuations of one memory do not see each other."""
        _, memory = adversary.observe(Memory(), FIRST)
        once = adversary.revise(memory, FIRST.people)
        adversary.observe(memory, SECOND)
        assert np.array_equal(adversary.revise(memory, FIRST.people), once)

    @pytest.mark.parametrize("revision", ["filter", "product", "chain"])
    def test_it_keeps_what_the_chain_looks_back_on(self, revision):
        """The last two beliefs, or the joint distribution of the last two values and the last belief."""
        chain = MarkovChain(2, np.random.default_rng(1).dirichlet(np.ones(3), size=(3, 3)))
        adversary, memory = Adversary(ByName(), chain, estimator=Omega(), revision=revision), Memory()
        posteriors = []
        for time in range(1, 4):
            posterior, memory = adversary.observe(memory, released("AB", "ab", [0, 0], time=time))
            posteriors.append(posterior.probabilities[0])
        _, memory = adversary.observe(memory, released("CD", "ab", [0, 0], time=4))
        kept = 1 if revision == "filter" else 2
        assert np.array_equal(memory.beliefs[:, memory.rows["A"]], posteriors[-kept:])
        assert memory.joint.shape == (4, 9 if revision == "filter" else 0)
        if revision == "filter":
            assert np.allclose(memory.joint[memory.rows["A"]].reshape(3, 3).sum(axis=0), posteriors[-1])
        assert memory.known[[memory.rows[r] for r in "ABCD"]].tolist() == [2, 2, 1, 1]

    def test_rows_of(self):
        _, memory = Adversary(ByName()).observe(Memory(), FIRST)
        assert memory.rows_of(SECOND.people).tolist() == [memory.rows["B"], -1]


@pytest.mark.parametrize("row", [[np.nan, 0.5, 0.5], [1.5, -0.5, 0.0], [0.5, 0.4, 0.0]])
def test_a_prior_of_one_s_own_is_checked(row):
    adversary = Adversary(lambda people: np.tile(row, (len(people), 1)), CHAIN)
    with pytest.raises(ValueError, match="the prior of the person in row 0"):
        adversary.revise(Memory(), FIRST.people)


WRONG = {
    "a name": ({"estimator": "omega"}, r"estimator is 'omega'; it is an estimator object, as Exact\(\) or Auto\(\)"),
    "a class": ({"estimator": Omega}, r"estimator is the class Omega"),
    "a number": ({"estimator": 3}, "estimator is 3; it is an estimator object"),
    "a cascade's name": (
        {"cascade": "prior"},
        r"cascade is 'prior'; it is an object: RemoveKnown\(\), PriorCascade\(\)",
    ),
    "a cascade's class": ({"cascade": PriorCascade}, r"cascade is the class PriorCascade"),
    "swapped": (
        {"prior": CHAIN, "transitions": UniformPrior()},
        r"prior is a MarkovChain; .* The prior stands first",
    ),
    "a chain alone": ({"prior": CHAIN}, r"prior is a MarkovChain; it maps people to probabilities"),
    "two priors": (
        {"transitions": UniformPrior()},
        r"transitions is UniformPrior\(\); it is a chain over the sensitive values",
    ),
    "a prior's class": (
        {"prior": UniformPrior},
        r"prior is the class UniformPrior",
    ),
    "a chain's class": ({"transitions": MarkovChain}, "transitions is the class MarkovChain"),
    "a table for a prior": ({"prior": pd.DataFrame()}, r"prior is a DataFrame; .* GivenPrior\(frame\)"),
    "an array for a prior": ({"prior": np.eye(3)}, r"prior is an array of shape \(3, 3\); .* GivenPrior\("),
    "an array for a chain": (
        {"transitions": np.eye(3)},
        r"transitions is an array of shape \(3, 3\); .* MarkovChain\(1, array\)",
    ),
    "a cube for a chain": ({"transitions": np.ones((3, 3, 3))}, r"MarkovChain\(1, array\)"),
    "a table for a chain": ({"transitions": pd.DataFrame()}, "transitions is a DataFrame; it is a chain"),
    "records for a chain": (
        {"transitions": CompromisedRecords(pd.DataFrame([], columns=["respondent", "value", "time", "confidence"]))},
        r"transitions is CompromisedRecords\(0\); it is a chain over the sensitive values",
    ),
    "a function for an estimator": (
        {"estimator": lambda prior, counts: prior * counts},
        r"estimator is <function.*PerGroup\(function\)",
    ),
}


class TestSettings:
    @pytest.mark.parametrize("word", ["sum", "Product", None])
    def test_there_are_three_revisions(self, word):
        with pytest.raises(
            ValueError, match=rf"Adversary: revision is {word!r}; it is one of 'filter', 'product', 'chain'"
        ):
            Adversary(ByName(), CHAIN, revision=word)

    def test_a_filter_keeps_no_more_numbers_than_fit(self):
        """2^18 sequences of 18 values of two kinds, for every respondent."""
        chain, prior = MarkovChain(18, np.full((2,) * 19, 0.5)), UniformPrior()
        first = Release(view_of("AB", "ab", domain="ab"), [0, 0]).observation
        with pytest.raises(ValueError, match=r"order 18 over 2 values keeps 262144 numbers .*truncate.*'product'"):
            Adversary(prior, chain)
        Adversary(prior, chain.truncate(2)).observe(Memory(), first)
        Adversary(prior, chain, revision="chain").observe(Memory(), first)

    @pytest.mark.parametrize("known", [Exact(), "A", 0.5, pd.DataFrame()])
    def test_compromised_records_are_an_object_of_their_own(self, known):
        with pytest.raises(TypeError, match=r"it must be CompromisedRecords\(frame\)"):
            Adversary(ByName(), CHAIN, known, cascade=RemoveKnown())

    def test_a_filter_keeps_no_more_numbers_of_all_than_fit(self, monkeypatch):
        """Two people with 9 numbers each, where 17 are allowed."""
        monkeypatch.setattr(memories, "MAX_JOINT_IN_ALL", 17)
        chain, first = MarkovChain(2, np.full((3, 3, 3), 1 / 3)), released("AB", "ab", [0, 0])
        with pytest.raises(ValueError, match=r"keeps 9 numbers of each of 2 respondents, more than 17 .*'product'"):
            Adversary(UniformPrior(), chain).observe(Memory(), first)
        Adversary(UniformPrior(), chain.truncate(1)).observe(Memory(), first)

    def test_a_filter_needs_one_order(self):
        """Of chains that are not checked themselves."""

        class Growing:
            def at(self, release):
                return MarkovChain(release + 1, np.full((3,) * (release + 2), 1 / 3))

        adversary = Adversary(UniformPrior(), Growing())
        _, memory = adversary.observe(Memory(), FIRST)
        with pytest.raises(ValueError, match=r"the transitions change their order .* needs one order"):
            adversary.observe(memory, SECOND)

    @pytest.mark.parametrize(("settings", "match"), WRONG.values(), ids=WRONG)
    def test_a_wrong_setting_is_one_clear_error(self, settings, match):
        with pytest.raises(TypeError, match=match):
            Adversary(**({"prior": UniformPrior()} | settings))

    def test_compromised_records_need_a_cascade(self):
        with pytest.raises(ValueError, match=r"no cascade; give the rule .* cascade=RemoveKnown\(\)"):
            Adversary(ByName(), CHAIN, CompromisedRecords(claims(("A", "a", 1, 1.0))))

    def test_a_cascade_without_records_does_nothing(self):
        one, other = Adversary(ByName(), CHAIN), Adversary(ByName(), CHAIN, cascade=PriorCascade())
        assert np.array_equal(
            one.observe(Memory(), FIRST)[0].probabilities, other.observe(Memory(), FIRST)[0].probabilities
        )


def claims(*rows):
    return pd.DataFrame(list(rows), columns=["respondent", "value", "time", "confidence"])


class TestCompromised:
    def knowing(self, *rows, cascade=None, **settings):
        known = CompromisedRecords(claims(*rows))
        return Adversary(ByName(), CHAIN, known, cascade=cascade or RemoveKnown(), **settings)

    def test_claims_are_in_the_revised_prior_of_their_time(self):
        adversary = self.knowing(("A", "b", 1, 1.0), ("B", "a", 2, 1.0))
        assert adversary.revise(Memory(), FIRST.people, 1)[0].tolist() == [0, 1, 0]
        assert np.allclose(adversary.revise(Memory(), FIRST.people, 1)[1], ROWS["B"])
        assert np.allclose(adversary.revise(Memory(), FIRST.people), [ROWS[r] for r in "ABCD"])
        assert np.allclose(adversary.revise(Memory(), FIRST.people, 3), [ROWS[r] for r in "ABCD"])

    def test_a_known_value_informs_about_group_members_and_the_next_release(self):
        """A has b, so B has a, and is expected at 2 as the chain goes on from a."""
        adversary = self.knowing(("A", "b", 1, 1.0))
        posterior, memory = adversary.observe(Memory(), FIRST)
        assert np.array_equal(posterior.probabilities[:2], [[0, 1, 0], [1, 0, 0]])
        assert np.allclose(adversary.revise(memory, SECOND.people, 2)[0], CHAIN.probabilities[0])

    def test_observing_is_still_weighing_what_was_revised(self):
        adversary = self.knowing(("A", "b", 1, 0.7), ("C", "c", 1, 1.0), cascade=EvidenceCascade())
        posterior, memory = adversary.observe(Memory(), FIRST)
        by_hand = adversary.posterior(adversary.revise(Memory(), FIRST.people, 1), FIRST)
        assert np.array_equal(posterior.probabilities, by_hand.probabilities)
        assert np.array_equal(memory.beliefs, adversary.update_memory(Memory(), FIRST, by_hand).beliefs)

    def test_a_claim_about_a_suppressed_record_does_not_inform_about_others(self):
        observation = released("ABCD", "abca", [-1, 0, 0, 0])
        posterior, _ = self.knowing(("A", "c", 1, 1.0)).observe(Memory(), observation)
        expected, _ = Adversary(ByName(), CHAIN).observe(Memory(), observation)
        assert posterior.probabilities[0].tolist() == [0, 0, 1]
        assert np.allclose(posterior.probabilities[1:], expected.probabilities[1:])

    def test_a_claim_about_a_suppressed_record_is_remembered(self):
        """With a step at every release: c at 1 is known for sure, so at 2 she is where the chain leads from c."""
        adversary = self.knowing(("A", "c", 1, 1.0), gaps="power")
        _, memory = adversary.observe(Memory(), released("ABCD", "abca", [-1, 0, 0, 0]))
        assert np.allclose(adversary.revise(memory, FIRST.people, 2)[0], CHAIN.probabilities[2])

    def test_an_estimator_that_cannot_read_evidence_says_so(self):
        adversary = self.knowing(("A", "b", 1, 0.7), cascade=PosteriorCascade())
        with pytest.raises(ValueError, match="cannot read it"):
            adversary.observe(Memory(), FIRST)


class TestWorthlessClaims:
    """A claim without information changes nothing, even about a respondent who is not published (A at time 1)."""

    @pytest.mark.parametrize("seed", range(20))
    def test_a_claim_that_says_nothing_is_not_remembered(self, seed):
        rng = np.random.default_rng(seed)
        rows = dict(zip("ABC", rng.dirichlet(np.ones(3), size=3), strict=True))
        chain = MarkovChain(1, rng.dirichlet(np.ones(3), size=3))
        prior = GivenPrior(pd.DataFrame(rows, index=list("abc")).T)
        releases = [released("ABC", "aab", [-1, 0, 0]), released("ABC", "abc", [0, 0, 0], time=2)]
        record = CompromisedRecords(claims(("A", "b", 1, 1 / 3)))
        memories = []
        for adversary in (
            Adversary(prior, chain),
            Adversary(prior, chain, record, cascade=EvidenceCascade()),
        ):
            memory = Memory()
            for observation in releases:
                _, memory = adversary.observe(memory, observation)
            memories.append(adversary.revise(memory, releases[0].people))
        assert np.allclose(*memories, rtol=0, atol=1e-9)


def test_classes_in_place_of_settings_are_refused():
    with pytest.raises(TypeError, match=r"estimator is the class Exact"):
        Adversary(ByName(), estimator=Exact)
    with pytest.raises(TypeError, match="cascade is the class RemoveKnown"):
        Adversary(ByName(), cascade=RemoveKnown)


def test_one_group_for_a_whole_large_view_is_no_trouble_by_default():
    """Three thousand people and five values: some 10^14 states."""
    n = 3_000
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"id": range(n), "age": rng.integers(0, 90, n), "result": rng.choice(list("abcde"), n)})
    view = View(people, Schema({"age": Numeric()}, "result", tuple("abcde")), 1)
    adversary = Adversary(lambda people: rng.dirichlet(np.ones(5), size=len(people)))
    posterior, _ = adversary.observe(Memory(), Release(view, np.zeros(n, dtype=int)).observation)
    assert adversary.estimator == Auto()
    assert posterior.rule.tolist() == ["BeliefPropagation"]


def test_too_large_names_the_release():
    with pytest.raises(TooLarge, match=r"the release at 1: group 0 has 2 respondents .* Use Auto\(\)"):
        Adversary(ByName(), estimator=Exact(1)).observe(Memory(), FIRST)
