"""Gain and accuracy against fractions by hand and plain loops over the labelled frames."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import history_of, tables

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.evaluation import (
    adversary_confidence,
    adversary_gain,
    disclosures,
    log_score,
    success_rate,
)
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    Exact,
    GivenPrior,
    Grouping,
    History,
    MarkovChain,
    Omega,
    PerGroup,
    RandomWorlds,
    Release,
    UniformPrior,
)

BELIEVED = pd.DataFrame(
    {
        "A": [0.6, 0.3, 0.1],
        "B": [0.2, 0.5, 0.3],
        "C": [0.3, 0.3, 0.4],
        "D": [0.3, 0.3, 0.4],
        "E": [0.05, 0.95, 0.0],
        "F": [0.05, 0.95, 0.0],
        "G": [0.3, 0.7, 0.0],
        "H": [0.2, 0.2, 0.6],
    },
    index=["a", "b", "c"],
).T
PRIOR = GivenPrior(BELIEVED)
IDS, LABELS = "ABCDEFGH", [0, 0, 1, 1, 2, 2, 2, -1]
EXPECTED, SURPRISING = "abccbbac", "bacaabbc"
"""Truths: A and B share {a, b}; C and D {c, c} in the first and {c, a} in the second; E, F and G {a, b, b}."""

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
FIRST = Fraction(5, 6)
"""Exact, A has a and B has b: .6 .5 / (.6 .5 + .3 .2)."""
LAST = Fraction(1083, 1349)
"""Exact, G has a: .95 .95 .3 / (.95 .95 .3 + 2 .05 .95 .7) = .80282 (worked by hand); E and F share the rest."""


def attacked(results, estimator, prior=PRIOR, labels=LABELS, ids=IDS):
    """Beliefs about one release, whose values are taken for true, and its history."""
    history = history_of((ids, results))
    release = Release(history[0], labels if isinstance(labels, Grouping) else np.array(labels))
    return SnapshotAttack(Adversary(prior, estimator=estimator, distortion="ignored"))([release]), history


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


class TestGain:
    def test_exact_beliefs_that_are_right(self):
        found = only(adversary_gain(*attacked(EXPECTED, Exact())))
        some, others = (FIRST - HALF) / HALF, (LAST - THIRD) / (1 - THIRD)
        assert found["gain"] == pytest.approx(float((2 * some + 3 * others) / 5))  # E's and F's is G's: 950/1349
        assert found["time"] == 1

    def test_who_is_alone_with_one_value_is_left_out_and_counted(self):
        found = only(adversary_gain(*attacked(EXPECTED, Exact())))
        assert (found["measured"], found["certain"], found["suppressed"]) == (5, 2, 1)

    def test_exact_beliefs_that_mislead_count_against(self):
        found = only(adversary_gain(*attacked(SURPRISING, Exact())))
        crossed = (1 - FIRST - HALF) / HALF  # A and B
        even = 0  # C and D, of whom the same is believed
        wrong = ((1 - LAST) / 2 - THIRD) / (1 - THIRD)  # E has the a
        right = ((1 + LAST) / 2 - 2 * THIRD) / THIRD  # F has a b
        worse = (1 - LAST - 2 * THIRD) / THIRD  # G has a b
        assert found["gain"] == pytest.approx(float((2 * crossed + 2 * even + wrong + right + worse) / 7))
        assert found["gain"] < 0
        assert found["certain"] == 0

    def test_absolute_counts_being_misled_as_gain(self):
        """BayFrame, Equation 8."""
        found = only(adversary_gain(*attacked(SURPRISING, Exact()), absolute=True))
        crossed, even = 2 * (FIRST - HALF), 0
        wrong, right, worse = (THIRD - (1 - LAST) / 2) * 3 / 2, (1 + LAST) / 2 * 3 - 2, 2 - 3 * (1 - LAST)
        assert found["gain"] == pytest.approx(float((2 * crossed + 2 * even + wrong + right + worse) / 7))
        assert found["measured"] == 7

    def test_absolute_keeps_groups_of_one_value(self):
        """There it is |1 - p|, and p is 1."""
        found = only(adversary_gain(*attacked(EXPECTED, Exact()), absolute=True))
        some, others = 2 * (FIRST - HALF), Fraction(950, 1349)
        assert found["gain"] == pytest.approx(float((2 * some + 3 * others + 2 * 0) / 7))
        assert (found["measured"], found["certain"]) == (7, 2)

    def test_absolute_in_a_group_of_one_value_is_what_certainty_lacks(self):
        """An estimator that does not look at the release: C and D are believed to have their c with .4."""
        stubborn = PerGroup(lambda prior, _: prior)
        found = only(
            adversary_gain(*attacked(EXPECTED, stubborn, labels=[-1, -1, 0, 0, -1, -1, -1, -1]), absolute=True)
        )
        assert found["gain"] == pytest.approx(1 - 0.4)

    def test_omega(self):
        """A: .6/.8 against .3/.8; B: .5/.8 against .2/.8; G: .3/.4 against 2 .7/2.6; E, F: 2 .95/2.6 against .05/.4."""
        found = only(adversary_gain(*attacked(EXPECTED, Omega())))
        gains = [2 * (Fraction(2, 3) - HALF), 2 * (Fraction(5, 7) - HALF)]
        gains += 2 * [3 * (Fraction(76, 89) - 2 * THIRD)] + [(Fraction(39, 67) - THIRD) * 3 / 2]
        assert found["gain"] == pytest.approx(float(sum(gains) / 5))

    def test_the_paper_s_running_example(self):
        """JS-reduce, Example 2: Alice is believed to have BCM with .62/.69, and the gain is .7971."""
        prior = GivenPrior(pd.DataFrame({"A": [62 / 69, 7 / 69], "C": [7 / 69, 62 / 69]}, index=["a", "b"]).T)
        history = history_of(("AC", "ab"), domain="ab")
        believed = SnapshotAttack(Adversary(prior, estimator=Omega()))([Release(history[0], [0, 0])])
        np.testing.assert_allclose(believed.posterior(1).loc["A", "a"], 0.89855, atol=5e-6)  # columns sum to 1
        assert only(adversary_gain(believed, history))["gain"] == pytest.approx(0.7971, abs=5e-5)

    def test_random_worlds_gain_nothing(self):
        assert only(adversary_gain(*attacked(EXPECTED, RandomWorlds())))["gain"] == pytest.approx(0)
        assert only(adversary_gain(*attacked(EXPECTED, Exact(), UniformPrior())))["gain"] == pytest.approx(0)

    def test_a_true_value_that_the_group_does_not_show(self):
        """A has a and is published with c: share and belief are 0, and so is the gain; B's share of b is a half."""
        labels = Grouping(np.array([0, 0, 1, 1, 2, 2, 2, -1]), values=np.array([2, 1, 2, 2, 1, 1, 0, 0]))
        found = only(adversary_gain(*attacked(EXPECTED, Exact(), labels=labels)))
        right = Fraction(5, 100) / Fraction(14, 100)  # B has b: .1 .5 against .3 .3
        assert found["gain"] == pytest.approx(float((0 + 2 * (right - HALF) + 3 * Fraction(950, 1349)) / 5))
        assert found["certain"] == 2

    def test_a_whole_group_published_with_a_value_of_no_member(self):
        labels = Grouping(np.array([0, 0, 1, 1, 2, 2, 2, -1]), values=np.array([2, 2, 1, 1, 1, 1, 0, 0]))
        found = only(adversary_gain(*attacked(EXPECTED, Exact(), labels=labels)))
        assert found["gain"] == pytest.approx(float((4 * 0 + 3 * Fraction(950, 1349)) / 7))
        assert (found["measured"], found["certain"]) == (7, 0)

    def test_counterfeits_are_in_the_shares_and_not_in_the_mean(self):
        """A and B share {a, b, c}, the c invented: six assignments, three with A's a; nothing is known of the third."""
        labels = Grouping(np.array([0, 0] + [-1] * 6), counterfeits=np.array([[0, 2]]))
        found = only(adversary_gain(*attacked(EXPECTED, Exact(), labels=labels)))
        weights = {"ab": 0.6 * 0.5, "ac": 0.6 * 0.3, "ba": 0.3 * 0.2, "bc": 0.3 * 0.3, "ca": 0.1 * 0.2, "cb": 0.1 * 0.5}
        total = sum(weights.values())
        believed = ((weights["ab"] + weights["ac"]) / total, (weights["ab"] + weights["cb"]) / total)
        assert found["gain"] == pytest.approx(sum((p - 1 / 3) / (2 / 3) for p in believed) / 2)
        assert (found["measured"], found["suppressed"], found["certain"]) == (2, 6, 0)

    def test_nothing_published_is_no_number(self):
        for absolute in (False, True):
            found = only(adversary_gain(*attacked(EXPECTED, Exact(), labels=[-1] * 8), absolute=absolute))
            assert np.isnan(found["gain"])
            assert (found["measured"], found["suppressed"], found["certain"]) == (0, 8, 0)

    def test_a_release_that_tells_all_has_no_gain(self):
        """Groups of one record: rho averages no record, BayFrame's measure is 0."""
        exact = attacked(EXPECTED, Exact(), labels=range(8))
        found = only(adversary_gain(*exact))
        assert np.isnan(found["gain"])
        assert (found["measured"], found["certain"]) == (0, 8)
        assert only(adversary_gain(*exact, absolute=True))["gain"] == 0


class TestConfidenceAndSuccess:
    def test_confidence(self):
        found = only(adversary_confidence(*attacked(EXPECTED, Exact())))
        mean = (2 * FIRST + 2 * 1 + 2 * (1 + LAST) / 2 + LAST) / 7
        assert found == {"time": 1, "confidence": pytest.approx(float(mean)), "measured": 7, "suppressed": 1}

    def test_success_without_ties(self):
        assert only(success_rate(*attacked(EXPECTED, Exact())))["success"] == 1
        found = only(success_rate(*attacked(SURPRISING, Exact())))  # F alone is read rightly, C and D are tied
        assert found == {"time": 1, "success": pytest.approx(2 / 7), "measured": 7, "suppressed": 1}

    def test_a_value_tied_with_q_others_counts_one_over_q(self):
        found = only(success_rate(*attacked("abc", Exact(), UniformPrior(), [0, 0, 0], "ABC")))
        assert found["success"] == pytest.approx(1 / 3)
        found = only(success_rate(*attacked("aabb", Exact(), UniformPrior(), [0, 0, 0, 0], "ABCD")))
        assert found["success"] == pytest.approx(1 / 2)

    def test_a_tie_without_the_truth_counts_nothing(self):
        """A has c and is believed to have a or b, .45 each; B and C, who have a and b, to have c: what A leaves them."""
        prior = GivenPrior(
            pd.DataFrame([[0.45, 0.45, 0.1], [1 / 3] * 3, [1 / 3] * 3], index=list("ABC"), columns=list("abc"))
        )
        assert only(success_rate(*attacked("cab", Exact(), prior, [0, 0, 0], "ABC")))["success"] == 0

    def test_nothing_published(self):
        nothing = attacked(EXPECTED, Exact(), labels=[-1] * 8)
        assert np.isnan(only(adversary_confidence(*nothing))["confidence"])
        assert np.isnan(only(success_rate(*nothing))["success"])


class TestDisclosures:
    """Beliefs: A's and B's best is 5/6 = .833, C's and D's 1, E's and F's .9014, G's .80282."""

    @pytest.mark.parametrize(
        ("sure", "held"), [(0.9, "CDEF"), (0.85, "CDEF"), (0.83, "ABCDEF"), (0.8, "ABCDEFG"), (1, "CD")]
    )
    def test_those_of_whom_something_is_believed_that_much(self, sure, held):
        best = {"A": FIRST, "B": FIRST, "C": 1, "D": 1, "E": (1 + LAST) / 2, "F": (1 + LAST) / 2, "G": LAST}
        found = only(disclosures(*attacked(EXPECTED, Exact()), sure=sure))
        expected = {"sure": len(held), "right": len(held), "expected": pytest.approx(float(sum(best[i] for i in held)))}
        assert found == {"time": 1, "measured": 7, "suppressed": 1} | expected

    def test_sure_and_wrong(self):
        found = only(disclosures(*attacked(SURPRISING, Exact())))  # of E, F and G only F is read rightly, C and D even
        assert (found["sure"], found["right"]) == (2, 1)
        assert found["expected"] == pytest.approx(float(1 + LAST))

    def test_nothing_published(self):
        found = only(disclosures(*attacked(EXPECTED, Exact(), labels=[-1] * 8)))
        assert found == {"time": 1, "sure": 0, "right": 0, "expected": 0, "measured": 0, "suppressed": 8}


class TestWhatDoesNotMatch:
    MEASURES = (adversary_gain, adversary_confidence, success_rate, disclosures)

    @pytest.mark.parametrize("measure", MEASURES)
    @pytest.mark.parametrize(
        "history",
        [
            History([view for view in history_of(("AB", "ab"), (IDS, EXPECTED)) if view.time == 2]),  # another time
            history_of(("ABCDEFGX", EXPECTED)),  # another respondent
            history_of(("ABCDEFG", EXPECTED[:-1])),  # one respondent less
            history_of((IDS[::-1], EXPECTED[::-1])),  # another order
        ],
    )
    def test_another_history_is_refused(self, measure, history):
        beliefs, _ = attacked(EXPECTED, Exact())
        with pytest.raises(ValueError, match="give the history that was published"):
            measure(beliefs, history)

    @pytest.mark.parametrize("measure", MEASURES)
    def test_another_domain_is_refused(self, measure):
        """The codes of the truth would be those of other values."""
        beliefs, _ = attacked(EXPECTED, Exact())
        with pytest.raises(ValueError, match="have other sensitive values, or another order of them"):
            measure(beliefs, history_of((IDS, EXPECTED), domain="cba"))

    def test_releases_are_matched_by_time_not_by_place(self):
        history = history_of((IDS, EXPECTED), (IDS, SURPRISING))
        beliefs = SnapshotAttack(Adversary(PRIOR))([Release(history[1], LABELS)])
        found = only(adversary_gain(beliefs, history))
        assert found["time"] == 2
        assert found["gain"] == pytest.approx(only(adversary_gain(*attacked(SURPRISING, Exact())))["gain"])


class TestAgainstPlainLoops:
    """Every measure recomputed from what a person can read: the posterior's frame, the records, the published table."""

    @given(drawn=tables(most=10), data=st.data(), estimator=st.sampled_from([Exact(), Omega(), RandomWorlds()]))
    def test_all_measures(self, drawn, data, estimator):
        view, prior = drawn
        labels = data.draw(st.lists(st.integers(-1, 3), min_size=len(view), max_size=len(view)))
        given_prior = GivenPrior(pd.DataFrame(prior, index=view.people.respondents, columns=list(view.schema.values)))
        release = Release(view, np.array(labels))
        beliefs = SnapshotAttack(Adversary(given_prior, estimator=estimator))([release])
        history = History([view])
        gains, absolutes, confidences, successes, certain, sure, right = [], [], [], [], 0, 0, 0
        posterior = beliefs.posterior(1)
        for i, (who, truth) in enumerate(zip(view.frame["id"], view.frame["result"], strict=True)):
            if labels[i] < 0:
                continue
            together = [view.frame["result"][other] for other in range(len(view)) if labels[other] == labels[i]]
            p, f, row = posterior.loc[who, truth], together.count(truth) / len(together), posterior.loc[who]
            best = [value for value in row.index if row[value] >= row.max() * (1 - 1e-12)]
            confidences.append(p)
            successes.append((truth in best) / len(best))
            sure += row.max() >= 0.9
            right += row.max() >= 0.9 and row.idxmax() == truth
            certain += f == 1
            absolutes.append(abs(1 - p) if f == 1 else abs(p - f) / (1 - f))
            if f < 1:
                gains.append((p - f) / (1 - f))
        mean = {name: sum(x) / len(x) if x else float("nan") for name, x in
                {"gain": gains, "absolute": absolutes, "confidence": confidences, "success": successes}.items()}  # fmt: skip
        near = {name: pytest.approx(x, abs=1e-12, nan_ok=True) for name, x in mean.items()}
        suppressed = labels.count(-1)
        counts = {"time": 1, "suppressed": suppressed}
        assert only(adversary_gain(beliefs, history)) == counts | {
            "gain": near["gain"],
            "measured": len(gains),
            "certain": certain,
        }
        assert only(adversary_gain(beliefs, history, absolute=True))["gain"] == near["absolute"]
        assert only(adversary_confidence(beliefs, history))["confidence"] == near["confidence"]
        assert only(success_rate(beliefs, history))["success"] == near["success"]
        found = only(disclosures(beliefs, history))
        assert (found["sure"], found["right"], found["suppressed"]) == (sure, right, suppressed)

    def test_a_history_is_one_row_per_release(self):
        history = history_of(("ABCD", "abab"), ("ABC", "abb"), ("ABCD", "bbaa"))
        chain = MarkovChain(1, np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]]))
        releases = [Release(history[0], [0, 0, 1, 1]), Release(history[1], [-1] * 3), Release(history[2], [0, 1, 0, 1])]
        beliefs = SequentialAttack(Adversary(PRIOR, chain))(releases)
        table = adversary_gain(beliefs, history)
        assert table["time"].tolist() == [1, 2, 3]
        assert table["measured"].tolist() == [4, 0, 4]
        assert table["suppressed"].tolist() == [0, 3, 0]
        # week 1: A and B 5/6; C and D, of whom the same is believed, 1/2. Week 3: the chain takes each once further.
        first = {"A": FIRST, "B": 1 - FIRST, "C": HALF, "D": HALF}  # belief in a
        revised = {i: [float(p * Fraction(8, 10) + (1 - p) * Fraction(3, 10)), float(p / 10 + (1 - p) * Fraction(6, 10))]
                   for i, p in first.items()}  # of a and of b  # fmt: skip
        gains = []
        for one, two in (("C", "A"), ("D", "B")):  # C and D have a at week 3, A and B have b
            right, crossed = revised[one][0] * revised[two][1], revised[one][1] * revised[two][0]
            gains += 2 * [2 * (right / (right + crossed) - 0.5)]
        np.testing.assert_allclose(table["gain"], [2 * (2 * float(FIRST - HALF)) / 4, np.nan, sum(gains) / 4])


class TestLeavingOut:
    """Beliefs about respondents who are not compromised, as in Figure 4b of BayFrame."""

    RECORDS = CompromisedRecords(
        pd.DataFrame({"respondent": ["A", "H"], "value": ["a", "a"], "time": [1, 1], "confidence": [0.9, 0.5]})
    )

    @pytest.mark.parametrize("measure", [adversary_gain, adversary_confidence, success_rate, disclosures])
    def test_it_is_the_measure_over_the_others(self, measure):
        beliefs, history = attacked(SURPRISING, Exact())
        found = only(measure(beliefs, history, leaving_out=self.RECORDS))
        view = history[0]
        everybody = only(measure(beliefs, history))
        gone = [row for row, r in enumerate(view.people.respondents) if r in ("A", "H")]
        published = [row for row in gone if beliefs.releases[0].observation.group[row] >= 0]
        assert found["compromised"] == len(published)
        assert found["measured"] == everybody["measured"] - len(published)
        assert found["suppressed"] == everybody["suppressed"]
        assert "compromised" not in everybody

    def test_respondents_are_left_out_of_all_releases(self):
        beliefs, history = attacked(SURPRISING, Exact())
        by_record = only(adversary_gain(beliefs, history, leaving_out=self.RECORDS))
        by_name = only(adversary_gain(beliefs, history, leaving_out={"A", "H"}))
        assert by_name == by_record
        elsewhere = CompromisedRecords(self.RECORDS.frame.assign(time=2))
        assert only(adversary_gain(beliefs, history, leaving_out=elsewhere))["compromised"] == 0

    def test_the_gain_is_that_of_the_others(self):
        beliefs, history = attacked(SURPRISING, Exact())
        found = only(adversary_gain(beliefs, history, leaving_out=self.RECORDS))
        crossed = (1 - FIRST - HALF) / HALF
        wrong = ((1 - LAST) / 2 - THIRD) / (1 - THIRD)
        right = ((1 + LAST) / 2 - 2 * THIRD) / THIRD
        worse = (1 - LAST - 2 * THIRD) / THIRD
        assert found["gain"] == pytest.approx(float((crossed + wrong + right + worse) / 6))


class TestProperScores:
    def test_log_score_is_the_mean_logarithm_of_the_belief_in_the_truth(self):
        found = only(log_score(*attacked(EXPECTED, Exact())))
        beliefs = [FIRST, FIRST, 1, 1, (1 + LAST) / 2, (1 + LAST) / 2, LAST]
        assert found["log_score"] == pytest.approx(np.mean(np.log2([float(b) for b in beliefs])))
        assert (found["measured"], found["suppressed"]) == (7, 1)

    def test_what_is_ruled_out_and_true_counts_as_the_least_belief(self):
        sure = PerGroup(lambda prior, counts: np.tile(np.eye(3)[0], (len(prior), 1)) + 0 * counts)
        found = only(log_score(*attacked(SURPRISING, sure), least=2.0**-7))
        assert found["log_score"] == pytest.approx(-7 * 4 / 7)  # b, c, b, b against the three a's
