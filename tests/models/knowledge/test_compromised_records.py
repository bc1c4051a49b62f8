"""Compromised records: refused arguments, random draws, and their use by an adversary."""

import dataclasses
import functools

import numpy as np
import pandas as pd
import pytest
from strategies import history_of, view_of

from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    DirichletMultinomial,
    Enumeration,
    EvidenceCascade,
    Grouping,
    MarkovChain,
    Memory,
    PosteriorCascade,
    PriorCascade,
    Release,
    RemoveKnown,
    Status,
    UniformPrior,
)

COLUMNS = ["respondent", "value", "time", "confidence"]
CASCADES = {
    "remove": RemoveKnown(),
    "prior": PriorCascade(),
    "as printed": PriorCascade(normalized=False),
    "posterior": PosteriorCascade(),
    "to the letter": PosteriorCascade(keep_stated=True),
    "evidence": EvidenceCascade(),
}
ATTACKS = {
    "sequential": SequentialAttack,
    "snapshot": SnapshotAttack,
    "joint": functools.partial(JointAttack, solver=Enumeration()),
}
"""The attacks that take an adversary."""
HISTORY = history_of(("ABCDE", "abcab"), ("ABD", "bbc"), ("ABCE", "cbaa"))
PEOPLE = HISTORY[0].people


def frame(*claims):
    return pd.DataFrame(list(claims), columns=COLUMNS)


def records(*claims, **settings):
    return CompromisedRecords(frame(*claims), **settings)


class TestChecks:
    @pytest.mark.parametrize("missing", COLUMNS)
    def test_a_missing_column(self, missing):
        with pytest.raises(ValueError, match=f"CompromisedRecords: the frame has no column '{missing}'"):
            CompromisedRecords(frame(("A", "a", 1, 0.5)).drop(columns=missing))

    @pytest.mark.parametrize("confidence", [0, -0.1, 1.0000001, 7, np.nan, np.inf, -np.inf, None, "very"])
    def test_a_confidence_is_over_0_and_at_most_1(self, confidence):
        with pytest.raises(
            ValueError, match=r"respondent 'B' with value 'b' at \S+ has the confidence .* over 0 and at most 1"
        ):
            records(("A", "a", 1, 0.5), ("B", "b", 2, confidence))

    @pytest.mark.parametrize("confidence", [1e-300, 0.5, 1, 1.0, "0.5"])
    def test_others_are_taken(self, confidence):
        assert records(("A", "a", 1, confidence)).frame["confidence"].tolist() == [float(confidence)]

    def test_twice_with_different_confidences(self):
        with pytest.raises(
            ValueError, match=r"'A' with value 'a' at \S+ stands twice, with the confidences 0.5, 0.25; keep"
        ):
            records(("B", "a", 1, 0.5), ("A", "a", 1, 0.5), ("A", "a", 1, 0.25))

    def test_twice_word_for_word_counts_once(self):
        once = records(("A", "a", 1, 0.7), ("B", "b", 1, 0.7))
        twice = records(("A", "a", 1, 0.7), ("B", "b", 1, 0.7), ("A", "a", 1, 0.7))
        assert len(twice) == 2
        assert twice.frame.equals(once.frame)

    def test_twice_at_different_times_is_twice(self):
        assert len(records(("A", "a", 1, 1), ("A", "a", 2, 1))) == 2

    @pytest.mark.parametrize("confidences", [(0.7, 0.4), (1, 0.1), (1, 1), (0.5, 0.51)])
    def test_one_value_is_true(self, confidences):
        with pytest.raises(ValueError, match=r"the values of respondent 'A' at \S+ sum to .* at most 1"):
            records(("B", "a", 1, 1.0), *(("A", value, 1, c) for value, c in zip("ab", confidences, strict=True)))

    def test_a_sum_of_one_is_no_error_of_rounding(self):
        assert len(records(*(("A", value, 1, 0.1) for value in "abcdefghij"))) == 10

    def test_contradicted_is_one_of_two_words(self):
        with pytest.raises(ValueError, match=r"contradicted is 'ignore'; it is one of 'raise', 'report'"):
            records(("A", "a", 1, 1), contradicted="ignore")

    def test_is_frozen_and_leaves_the_given_frame_alone(self):
        given = frame(("A", "a", 1, 1), ("A", "a", 1, 1)).assign(note="x")
        before = given.copy()
        found = CompromisedRecords(given)
        assert given.equals(before)
        assert list(found.frame.columns) == COLUMNS
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.frame = given

    def test_any_index_and_any_order_of_columns(self):
        given = frame(("A", "a", 1, 0.5), ("B", "b", 1, 0.5)).set_index(pd.Index([7, 7]))[COLUMNS[::-1]]
        assert CompromisedRecords(given).frame.equals(records(("A", "a", 1, 0.5), ("B", "b", 1, 0.5)).frame)

    @pytest.mark.parametrize(
        "claims",
        [[("A", "a", 1, 0.0)], [("A", "a", 1, 0.5), ("A", "a", 1, 0.25)], [("A", "a", 1, 1), ("A", "b", 1, 1)]],
    )
    def test_messages_name_times_and_numbers_as_they_were_written(self, claims):
        with pytest.raises(ValueError, match="at 1 ") as error:
            records(*claims)
        assert "np." not in str(error.value)

    def test_confidences_read_as_text(self):
        assert len(records(("A", "a", 1, "0.5"), ("A", "a", 1, 0.5))) == 1
        with pytest.raises(ValueError, match="keep one"):
            records(("A", "a", 1, "0.5"), ("A", "a", 1, "0.25"))

    def test_it_says_how_many(self):
        assert repr(records(("A", "a", 1, 1), ("B", "a", 1, 1))) == "CompromisedRecords(2)"
        assert records(("A", "a", 1, 1), ("B", "a", 3, 1), ("C", "a", 1, 1)).times == [1, 3]
        assert len(records()) == 0

    def test_any_type_of_column(self):
        plain = records((2**53 + 1, "a", 1, 0.5))
        given = plain.frame.astype(
            {"respondent": "Int64", "value": "category", "time": "int64[pyarrow]", "confidence": "Float64"}
        )
        assert CompromisedRecords(given).frame.to_dict("list") == plain.frame.to_dict("list")

    def test_numbers_in_messages_never_pass_through_float(self):
        with pytest.raises(ValueError, match=r"respondent 9007199254740993 with value 1 at 2 has the confidence 0\.0"):
            records((2**53 + 1, 1, 2, 0.0))
        with pytest.raises(ValueError, match="respondent 9007199254740993 with value 1 at 2 stands twice"):
            records((2**53 + 1, 1, 2, 0.5), (2**53 + 1, 1, 2, 0.25))

    @pytest.mark.parametrize(
        ("claim", "match"),
        [
            (("A", ["a"], 1, 0.5), "the column 'value' of the compromised records holds lists"),
            (("A", pd.NA, 1, 0.5), "row 0 of the compromised records has no 'value' .*fill it in, or leave"),
            (("A", "a", pd.NaT, 0.5), "row 0 of the compromised records has no 'time'"),
            (("A", "a", 1, pd.NA), "has the confidence <NA>; it must be over 0"),
        ],
    )
    def test_cells_that_are_no_values(self, claim, match):
        with pytest.raises(ValueError, match=match):
            records(claim)

    def test_a_column_that_stands_twice(self):
        given = frame(("A", "a", 1, 1))
        with pytest.raises(ValueError, match="the column 'time' appears twice"):
            CompromisedRecords(pd.concat([given, given[["time"]]], axis=1))

    def test_times_may_be_tuples(self):
        assert records(("A", "a", (1, 2), 1)).at((1, 2), PEOPLE).rows.tolist() == [0]


class TestAt:
    def test_claims_are_rows_and_codes(self):
        known = records(("C", "a", 1, 0.5), ("A", "c", 2, 1.0), ("A", "b", 1, 1.0))
        claims = known.at(1, PEOPLE)
        assert claims.rows.tolist() == [2, 0]
        assert claims.values.tolist() == [0, 1]
        assert claims.confidence.tolist() == [0.5, 1.0]
        assert claims.sure.rows.tolist() == [0]
        assert claims.unsure.rows.tolist() == [2]
        assert known.at(2, HISTORY[1].people).rows.tolist() == [0]

    def test_nothing_at_another_time(self):
        claims = records(("C", "a", 1, 0.5)).at(3, PEOPLE)
        assert len(claims.rows) == len(claims.values) == len(claims.confidence) == 0

    def test_an_unknown_respondent(self):
        with pytest.raises(ValueError, match=r"about respondent 'C' at 2, who has no record in that view"):
            records(("A", "b", 2, 1), ("C", "a", 2, 1)).at(2, HISTORY[1].people)

    def test_a_value_that_is_not_in_the_domain(self):
        with pytest.raises(
            ValueError, match=r"respondent 'B' with value 'z' at \S+ is about a value .*domain \(a, b, c\)"
        ):
            records(("A", "a", 1, 1), ("B", "z", 1, 1)).at(1, PEOPLE)


class TestSample:
    def sample(self, share=0.4, confidence=0.9, seed=1, history=HISTORY):
        return CompromisedRecords.sample(history, share, confidence, rng=np.random.default_rng(seed))

    def test_only_true_values_of_people_who_are_there(self):
        truth = {
            (respondent, view.time): view.schema.values[code]
            for view in HISTORY
            for respondent, code in zip(view.people.respondents, view.sensitive, strict=True)
        }
        for seed in range(20):
            found = self.sample(0.7, seed=seed).frame
            assert all(truth[row.respondent, row.time] == row.value for row in found.itertuples())
            assert not found.duplicated(["respondent", "time"]).any()

    @pytest.mark.parametrize(("share", "numbers"), [(0, [0, 0, 0]), (0.4, [2, 1, 2]), (0.8, [4, 2, 3]), (1, [5, 3, 4])])
    def test_the_share_of_every_view(self, share, numbers):
        times = self.sample(share).frame["time"].tolist()
        assert [times.count(time) for time in (1, 2, 3)] == numbers

    def test_all_are_equally_sure(self):
        assert set(self.sample(confidence=0.9).frame["confidence"]) == {0.9}

    def test_the_same_rng_draws_the_same(self):
        assert self.sample(seed=5).frame.equals(self.sample(seed=5).frame)
        assert any(not self.sample(seed=5).frame.equals(self.sample(seed=seed).frame) for seed in range(5))

    @pytest.mark.slow
    def test_all_records_are_drawn_equally_often(self):
        """2 of the first view's 5: 2/5 each. 200 draws have a standard error of .035; 5 of them."""
        rng = np.random.default_rng(7)
        drawn = pd.concat([CompromisedRecords.sample(HISTORY, 0.4, 1, rng=rng).frame for _ in range(200)])
        shares = drawn[drawn["time"] == 1]["respondent"].value_counts() / 200
        assert set(shares.index) == set("ABCDE")
        assert np.allclose(shares, 0.4, atol=5 * np.sqrt(0.4 * 0.6 / 200))

    @pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
    def test_a_share_is_a_part(self, share):
        with pytest.raises(ValueError, match=r"share is .*; it is a number from 0 to 1, a part of the records"):
            self.sample(share)

    def test_the_confidence_is_checked_as_any(self):
        with pytest.raises(ValueError, match="a number from 0 to 1, but not 0"):
            self.sample(confidence=0)

    @pytest.mark.parametrize("attack", ATTACKS)
    def test_what_is_drawn_fits_the_releases(self, attack):
        releases = [Release(view, np.zeros(len(view), dtype=int)) for view in HISTORY]
        adversary = Adversary(
            UniformPrior(),
            MarkovChain(1, np.full((3, 3), 1 / 3)),
            compromised=self.sample(0.5, 1),
            cascade=RemoveKnown(),
        )
        for found in ATTACKS[attack](adversary)(releases):
            assert (found.posterior.status == Status.FINE).all()


def adversary(known, cascade="prior"):
    return Adversary(UniformPrior(), compromised=known, estimator=DirichletMultinomial(), cascade=CASCADES[cascade])


def released(ids="ABCD", results="abbc", labels=(0, 0, 1, 1), time=1):
    return Release(view_of(ids, results, time=time), list(labels))


@pytest.mark.parametrize("cascade", CASCADES)
class TestOnARelease:
    def test_a_value_that_the_group_does_not_show_is_an_error(self, cascade):
        with pytest.raises(
            ValueError, match=r"respondent 'B' has 'c' at 1, and the group 0 published then does not show it.*'report'"
        ):
            adversary(records(("A", "a", 1, 1), ("B", "c", 1, 1)), cascade).observe(Memory(), released().observation)

    @pytest.mark.parametrize("confidence", [0.3, 1])
    def test_or_is_reported(self, cascade, confidence):
        if cascade == "remove":
            confidence = 1
        known = records(("B", "c", 1, confidence), contradicted="report")
        posterior, _ = adversary(known, cascade).observe(Memory(), released().observation)
        assert posterior.status.tolist() == [Status.CONTRADICTED, Status.FINE]
        assert np.isfinite(posterior.probabilities).all()
        assert np.allclose(posterior.probabilities.sum(axis=1), 1)

    def test_a_suppressed_respondent_contradicts_no_group(self, cascade):
        known = records(("B", "c", 1, 1))
        posterior, _ = adversary(known, cascade).observe(Memory(), released(labels=(0, -1, 0, 0)).observation)
        assert posterior.status.tolist() == [Status.FINE]
        assert posterior.probabilities[1].tolist() == [0, 0, 1]

    def test_counterfeits_may_show_what_is_claimed(self, cascade):
        """The adversary does not see which values of a group are invented."""
        release = Release(view_of("AB", "ab"), Grouping(np.array([0, 0]), counterfeits=np.array([[0, 2]])))
        posterior, _ = adversary(records(("B", "c", 1, 1)), cascade).observe(Memory(), release.observation)
        assert posterior.probabilities.shape == (2, 3)
        assert posterior.probabilities[1].tolist() == [0, 0, 1]
        assert np.allclose(posterior.probabilities[0], [0.5, 0.5, 0])


@pytest.mark.parametrize("attack", ATTACKS)
class TestInAnAttack:
    def attack(self, attack, *claims):
        chain = MarkovChain(1, np.full((3, 3), 1 / 3))
        told = Adversary(UniformPrior(), chain, compromised=records(*claims), cascade=PriorCascade())
        return ATTACKS[attack](told)([released(), released("BE", "ab", (0, 0), time=3)])

    @pytest.mark.parametrize("time", [2, 0, 4, "1"])
    def test_a_time_at_which_nothing_is_released(self, attack, time):
        with pytest.raises(ValueError, match=f"about {time!r}, and the times of the releases are 1, 3"):
            self.attack(attack, ("A", "a", 1, 0.5), ("A", "a", time, 0.5))

    def test_a_respondent_who_is_not_in_that_release(self, attack):
        with pytest.raises(ValueError, match=r"respondent 'A' at 3, who has no record"):
            self.attack(attack, ("A", "a", 3, 0.5))

    def test_what_fits_is_used(self, attack):
        found = self.attack(attack, ("B", "b", 1, 1.0), ("E", "b", 3, 1.0))
        assert found.posterior(1).loc["B"].tolist() == [0, 1, 0]
        assert found.posterior(1).loc["A"].tolist() == [1, 0, 0]
        assert found.posterior(3).loc["B"].tolist() == [1, 0, 0]
