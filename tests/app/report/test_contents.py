"""Numbers of a report: by hand, and by the measures called directly."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import history_of as history_over

from foreknow.app import report
from foreknow.app.cli.adversary_knowledge import DEFAULT_LEARNING, assumed_adversary, knowing_ghosts
from foreknow.app.cli.defense_choices import defense_options, defense_text, read_defense
from foreknow.app.exposure import TwoSides, Verdict
from foreknow.app.report import adversaries, respondents
from foreknow.app.report import contents as contents_file
from foreknow.app.report.adversaries import Inference, best_setting, detail_lost, stricter_settings
from foreknow.app.report.contents import size_notes
from foreknow.app.report.respondents import Pseudonyms, reason
from foreknow.app.report.sentences import (
    advice,
    advised,
    cards,
    redrawn_sentence,
    stricter_sentence,
    utility_sentence,
    verdict,
    what_it_knows,
)
from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack
from foreknow.defenses import (
    Anatomy,
    Cohorts,
    DistinctDiversity,
    JSReduce,
    KAnonymity,
    MInvariance,
    Mondrian,
    publish,
)
from foreknow.evaluation import (
    SolverCalibration,
    exams,
    gcp,
    recommend,
    reliability_curve,
    respondent_risk,
    retroactive_leak,
    risk_table,
    solver_calibration,
    suppressed,
)
from foreknow.evaluation.checks.program import defense_record, settings
from foreknow.evaluation.experiment import total_of_risk
from foreknow.models import (
    Adversary,
    Enumeration,
    GivenPrior,
    Grouping,
    GroupMessages,
    History,
    MarkovChain,
    Numeric,
    Presence,
    RandomWorlds,
    Release,
    Schema,
    UniformPrior,
    View,
)

STAYS = MarkovChain(1, np.array([[0.9, 0.1], [0.1, 0.9]]))
UNIFORM = Adversary(UniformPrior(), STAYS)


def history_of(*records):
    return history_over(*records, domain="ab")


def nothing_known(_):
    return UNIFORM


def pair():
    """A and B share a group of one a and one b; A alone, and B alone, are published with their values at the second release."""
    history = history_of(("AB", "ab"), ("AB", "ab"))
    return [Release(history[0], [0, 0]), Release(history[1], [0, 1])]


def single(prior=0.8):
    """A and B share a group of one a and one b; the informed adversary believes each value with the prior."""
    history = history_of(("AB", "ab"))
    rows = pd.DataFrame([[prior, 1 - prior], [1 - prior, prior]], list("AB"), list("ab"))
    releases = [Release(history[0], [0, 0])]
    return report(
        releases, Adversary(GivenPrior(rows)), nothing_known, solver=Enumeration(), stricter=0, draws=20, rng=1
    )


@pytest.fixture(scope="module")
def simulated():
    """A report on simulated exams, and what it was made of."""
    history, prior, transitions = exams(views=3, records=60, rng=1)
    defense = Mondrian(KAnonymity(3) & DistinctDiversity(2))
    releases = publish(history, defense, rng=1)
    informed = Adversary(prior, transitions)
    made = report(releases, informed, nothing_of_exams(prior), defense=defense, stricter=1, draws=30, rng=3)
    return made.contents, releases, informed


def nothing_of_exams(prior):
    m = len(exams(views=1, records=1, rng=1).history.schema.values)
    return lambda _: Adversary(UniformPrior(), MarkovChain(1, np.full((m, m), 1 / m)))


class TestByHand:
    def test_two_readers_of_one_release(self):
        """20 and 40 share a group of two a, 30 and 50 one of a and b; 30 and 40 fit both, so that each is in the first by 1/2."""
        frame = pd.DataFrame({"id": list("ABCD"), "age": [20, 40, 30, 50], "result": list("aaab")})
        view = View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b"), "id"), 0)
        releases = [Release(view, [0, 0, 1, 1])]
        made = report(releases, UNIFORM, nothing_known, solver=Enumeration(), stricter=0, draws=20, rng=1)
        readers = made.contents.readers
        table = readers.table.set_index(["adversary", "reader"])
        assert (readers.read, readers.left_out, readers.overlap) == (1, 0, True)
        assert table.loc[("learned", "knows the group"), ["exposed", "sure", "right"]].tolist() == [2, 2, 2]
        assert table.loc[("learned", "knows the quasi-identifiers"), ["exposed", "sure", "right"]].tolist() == [1, 1, 1]
        told = (
            "the releases expose 2 people to the informed and 2 to the other; to those who know the quasi-identifiers"
        )
        assert f"{told}, and must infer the group, 1 and 1." in made.verdict.reasons
        assert "Reader who" in made.html

    def test_readers_where_ranges_do_not_overlap_or_are_not_shown(self):
        frame = pd.DataFrame({"id": list("ABCD"), "age": [20, 30, 40, 50], "result": list("aaab")})
        view = View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b"), "id"), 0)
        for release, told in (
            (
                Release(view, [0, 0, 1, 1]),
                "do not overlap: who knows the quasi-identifiers of a person knows the group",
            ),
            (Release(view, Grouping([0, 0, 1, 1], bucketized=True)), "was not before."),
        ):
            made = report([release], UNIFORM, nothing_known, solver=Enumeration(), stricter=0, draws=20, rng=1)
            assert told in made.verdict.reasons
            assert made.contents.readers.left_out == release.bucketized

    def test_the_page_says_how_many_releases_were_read_one_at_a_time(self):
        """Groups of 20 to 30 and 40 to 50, and then groups with exact ages, which are not read."""
        frame = pd.DataFrame({"id": list("ABCD"), "age": [20, 30, 40, 50], "result": list("aaab")})
        first, second = (View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a", "b"), "id"), t) for t in (0, 1))
        exact = Release(second, Grouping([0, 0, 1, 1], bucketized=True))
        releases = [Release(first, [0, 0, 1, 1]), exact]
        made = report(releases, UNIFORM, nothing_known, solver=Enumeration(), stricter=0, draws=20, rng=1)
        some = "read one at a time (1 of 2; the others were not computed)"
        assert f"do not overlap in the releases that were {some}: who knows" in made.verdict.reasons
        releases[0] = Release(first, [0, 1, 0, 1])
        made = report(releases, UNIFORM, nothing_known, solver=Enumeration(), stricter=0, draws=20, rng=1)
        assert f"R{some[1:]}, the releases expose " in made.verdict.reasons

    def test_a_release_of_which_nothing_is_left_is_named(self):
        utility = pd.DataFrame({"time": [0, 1], "records": [10, 10], "suppressed": [10, 2], "gcp": [np.nan, 0.5]})
        told = utility_sentence(utility.assign(suppressed_share=[1.0, 0.2]))
        assert told.startswith("12 of 20 records (60%) are not published, all of those of the release 0. That is")
        told = utility_sentence(utility.assign(suppressed=[4, 2], suppressed_share=[0.4, 0.2]))
        assert told.startswith("6 of 20 records (30%) are not published. That is")

    def test_what_leaving_tells_stands_apart(self):
        """Chances of leaving .9 after a and .1 after b; A and C leave two groups of a and b, and no value tells another."""
        history = history_of(("ABCD", "abab"), ("BD", "ab"))
        releases = [Release(history[0], [0, 0, 1, 1]), Release(history[1], [0, 0])]
        even = MarkovChain(1, np.full((2, 2), 0.5))
        leaver = Adversary(UniformPrior(), even, presence=Presence(np.array([0.9, 0.1])))
        made = report(releases, leaver, nothing_known, solver=Enumeration(), stricter=0, draws=20, rng=1)
        table = made.contents.leaving.set_index("reads")
        assert set(table["adversary"]) == {"informed"}
        assert table["exposed"].to_dict() == {
            "groups and leaving": 4, "groups, leaving not read": 0, "leaving, without groups": 4,
        }  # fmt: skip
        # .9 * .9 / (.9 * .9 + .1 * .1) with the groups; without, any two of the four may have a.
        without = (0.9**4 + 2 * 0.09**2) / (0.9**4 + 4 * 0.09**2 + 0.1**4)
        # Six published records: the two of the second release stay at the share.
        gains = table["gain"] * 6 / 4
        np.testing.assert_allclose(gains, [2 * 0.81 / 0.82 - 1, 0, 2 * without - 1], atol=1e-9)
        told = "of 4 people exposed to the informed adversary, the groups alone expose 0, and departures without the groups 4"
        assert told in made.verdict.reasons
        assert "what leaving tells" in made.html

    def test_headline(self):
        """P(A = a, B = b) is .8 * .8 to .2 * .2, thus 16/17: both are exposed at .9, and neither was believed so before."""
        contents = single().contents
        informed, learned = contents.headlines["informed"], contents.headlines["learned"]
        assert (informed.exposed, informed.respondents, informed.known) == (2, 2, 0)
        assert informed.value("confidence") == pytest.approx(16 / 17)
        assert informed.value("confidence_of_shares") == pytest.approx(1 / 2)
        assert (informed.value("success"), informed.value("success_of_shares")) == (1, 1 / 2)
        assert (informed.sure, informed.right) == (2, 2)
        assert (learned.exposed, learned.value("confidence"), learned.sure) == (0, 0.5, 0)

    def test_the_interval_of_no_exposed_respondent_is_no_point(self):
        """Clopper-Pearson of 0 of 2 and 2 of 2 at 90 %: the ends are 1 - .05^(1/2) and .05^(1/2)."""
        contents = single().contents
        for name, ends in (("informed", (math.sqrt(0.05), 1)), ("learned", (0, 1 - math.sqrt(0.05)))):
            row = contents.headlines[name].table.iloc[0]
            assert (row["low"], row["high"]) == pytest.approx(ends)

    def test_a_belief_that_was_sure_before_is_no_exposure(self):
        contents = single(prior=0.95).contents
        assert (contents.headlines["informed"].exposed, contents.headlines["informed"].known) == (0, 2)
        assert "2 others" in cards(contents, "informed")[0].meaning

    @pytest.mark.parametrize(("prior", "state"), [(0.8, Verdict.OVER), (0.6, Verdict.WITHIN)])
    def test_verdict(self, prior, state):
        assert single(prior).verdict.state is state

    def test_over_the_bound_where_the_releases_alone_expose(self):
        """A is alone in its group at the second release."""
        told = report(pair(), UNIFORM, nothing_known, stricter=0, rng=1).verdict
        assert told.heading == "Over the default bound of 0%"

    def test_the_bound_is_a_share_of_the_people(self):
        """Both of two people are exposed."""
        for bound, heading in [(0.5, "Over your bound of 50%"), (1.0, "Within your bound of 100%")]:
            told = report(pair(), UNIFORM, nothing_known, stricter=0, rng=1, bound=bound).verdict
            assert told.heading == heading

    def test_leak_and_explorer(self):
        """At the first release .5 at that time; in hindsight .9 * .9 to .1 * .1 for (a, b), thus 81/82."""
        contents = report(pair(), UNIFORM, nothing_known, solver=Enumeration(), stricter=0, rng=1).contents
        leak = contents.leak.iloc[0]
        assert leak["leak"] == pytest.approx(np.log2(81 / 82) - np.log2(1 / 2))
        assert (leak["sure_forward"], leak["sure_hindsight"], leak["newly_right"]) == (0, 1, 1)
        by_name = dict(zip(contents.explorer.respondents, contents.explorer.people, strict=True))
        name, records = by_name["A"]
        assert name.startswith("Person ")
        assert records == [[0, 2, 0, [[0, 1, 500, 988], [1, 1, 500, 12]]], [1, 1, 0, [[0, 1, 1000, 1000]]]]

    def test_reason_names_the_later_release(self):
        """With the second release left out, the belief about A at the first is 1/2."""
        history = history_of(("AB", "ab"), ("AB", "ab"), ("AB", "ab"))
        releases = [Release(history[0], [0, 0]), Release(history[1], [0, 0]), Release(history[2], [0, 1])]
        uncertain = Adversary(UniformPrior(), MarkovChain(1, np.array([[1.0, 0.0], [0.0, 1.0]])))
        contents = report(releases, uncertain, nothing_known, solver=Enumeration(), stricter=0, rng=1).contents
        row = contents.people.iloc[0]
        assert (row["time"], row["later"], row["forward"], row["belief"]) == (1, 3, 0.5, 1)
        assert "later releases, above all the one at 3, raised it to 100%" in row["reason"]

    def test_reasons(self):
        row = {
            "members": 4,
            "records": 4,
            "share": 0.5,
            "forward": 0.8,
            "belief": 0.95,
            "value": "ill",
            "later": None,
            "together": False,
            "mates": ("P 7",),
            "earlier": True,
        }
        told = reason(row)
        assert "shows ill for 2 of 4 records (50%)" in told
        assert "what earlier releases told of P 7 and of this person raised the belief to 80%" in told
        assert "later releases raised it to 95%" in told
        assert "shows ill for 4 of 6 records (67%), 2 of them invented." in reason(
            {**row, "records": 6, "share": 4 / 6}
        )
        assert "table alone" in reason({**row, "share": 1.0})
        assert "change little" in reason({**row, "forward": 0.5, "belief": 0.5})

    @pytest.mark.parametrize(
        ("mates", "earlier", "told"),
        [
            ((), False, "At that time, the prior raised"),
            ((), True, "At that time, the prior and earlier releases raised"),
            (("P 7",), False, "At that time, the prior and what earlier releases told of P 7 raised"),
            (("P 7",), True, "At that time, what earlier releases told of P 7 and of this person raised"),
        ],
    )
    def test_a_reason_names_earlier_releases_only_where_there_are_some(self, mates, earlier, told):
        row = {
            "members": 4,
            "records": 4,
            "share": 0.5,
            "forward": 0.8,
            "belief": 0.8,
            "value": "ill",
            "later": None,
            "together": False,
        }
        assert told in reason({**row, "mates": mates, "earlier": earlier})

    @pytest.mark.parametrize(
        ("belief", "told"),
        [
            (0.7, "Then later releases lowered it to 70%."),
            (0.88, "In hindsight, it is 88%."),
            (0.9, "raised the belief to 90%."),
        ],
    )
    def test_a_reason_ends_with_the_belief_that_is_shown(self, belief, told):
        row = {
            "members": 4,
            "records": 4,
            "share": 0.5,
            "forward": 0.9,
            "value": "ill",
            "later": None,
            "together": False,
            "mates": (),
        }
        assert reason({**row, "earlier": False, "belief": belief}).endswith(told)

    def test_the_first_release_of_a_person_has_no_earlier_one(self):
        people = report(pair(), UNIFORM, nothing_known, solver=Enumeration(), stricter=0, rng=1).contents.people
        assert (people["earlier"] == (people["time"] == 2)).all()
        assert single().contents.people["earlier"].tolist() == [False, False]

    def test_mates(self):
        """B is known to be well from the first release; leaving this out lowers the belief that A is ill from .474 to 1/3."""
        rows = [("B", 1, "well"), ("A", 2, "ill"), ("B", 2, "well"), ("C", 2, "well")]
        history = _history(rows)
        releases = [Release(history[0], [0]), Release(history[1], [0, 0, 0])]
        contents = report(
            releases, UNIFORM, nothing_known, solver=Enumeration(), stricter=0, names=True, rng=1
        ).contents
        people = contents.people.set_index("respondent")
        assert people.loc["A", "mates"] == ("B",)
        assert people.loc["C", "mates"] == ()

    def test_ranking(self):
        """In one group of A and B, both values are believed more of their holder."""
        assert single().contents.ranking == 1
        assert single(prior=0.5).contents.ranking == 0.5

    def test_groups(self):
        row = single().contents.groups.iloc[0]
        assert (row["time"], row["members"], row["exposed"], row["values"], row["largest"]) == (1, 2, 2, 2, 0.5)


def _history(rows):
    from foreknow.models import Numeric, Schema

    frame = pd.DataFrame(rows, columns=["id", "week", "result"]).assign(age=1)
    return History.read(frame, Schema({"age": Numeric(0, 9)}, "result", ("ill", "well")))


class TestGhosts:
    """A publication by cohorts: who has the terminal value c counts as departed, and a ghost carries on the place."""

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls):
        """Sixteen in one cell; A ends with c at the third release, listed and withheld, and B at the fourth."""
        chain = MarkovChain(1, np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]))
        names = "ABCDEFGHIJKLMNOP"
        values = ["ab" * 8, "ab" * 8, "c" + "ba" * 7 + "b", "cc" + "ba" * 7]
        history = history_over(*((names, each) for each in values), domain="abc")
        defense = Cohorts(3, 16, transitions=chain, terminal=("c",), rng=1)
        informed = Adversary(UniformPrior(), chain)
        rules = {
            "solver": GroupMessages(),
            "draws": 5,
            "rng": 1,
            "defense": defense,
            "defender": Adversary(UniformPrior()),
        }
        releases = publish(history, defense, Adversary(UniformPrior()), rng=1)
        return report(
            releases, knowing_ghosts(informed, releases), lambda each: knowing_ghosts(informed, each), **rules
        )

    def test_records_of_a_group_are_those_published(self, made):
        """The groups of the third and the fourth release have 16 records, 1 and 2 of which are invented."""
        groups = made.contents.groups.set_index("time").sort_index()
        assert groups["records"].tolist() == [16] * 4
        assert groups["members"].tolist() == [16, 16, 15, 14]
        assert {"16 (1 invented)", "16 (2 invented)"} <= {*re.findall(r"<td>(16 [^<]*)</td>", made.html)}
        people = made.contents.people
        assert (people["records"] == 16).all()
        shown = people[people["time"] > 2]
        for row in shown.to_dict("records"):
            assert f"for {16 * row['share']:.0f} of 16 records ({respondents.percent(row['share'])}), " in row["reason"]
            assert f"{row['time'] - 2} of them invented." in row["reason"]

    def test_what_the_rule_tells_is_no_prior_knowledge_of_trials(self, made):
        """The compromised records are about A and B in these releases; a trial has others, or withholds other releases."""
        one = made.contents.inferences["informed"]
        assert {*one.adversary.compromised.frame["respondent"]} == {"A", "B"}
        assert one.knows.compromised is None
        assert "It knows the rule of terminal values" in what_it_knows(one)
        assert (made.contents.stricter["problem"] == "").all()

    def test_the_setting_in_use_is_not_tried(self, made):
        assert [*made.contents.stricter["setting"]] == ["as published", "a = 6, size = 32"]
        assert made.contents.tried["a = 6, size = 32"].terminal == ("c",)
        assert "larger batches and cells (a, size)" in stricter_sentence(made.contents)


class TestAsTheMeasures:
    def test_headline_is_that_of_the_risk_table(self, simulated):
        contents, releases, informed = simulated
        beliefs = JointAttack(informed)(releases)
        history = History([release.view for release in releases])
        total = total_of_risk(risk_table(beliefs, history))
        one = contents.headlines["informed"]
        assert one.value("confidence") == pytest.approx(total["confidence"])
        assert one.value("success") == pytest.approx(total["success"])
        assert (one.sure, one.right) == (total["sure"], total["right"])
        risk = respondent_risk(beliefs, history)
        assert one.respondents == len(risk)
        assert one.exposed + one.known <= (risk["belief"] >= 0.9).sum() + one.known
        assert one.exposed == ((risk["belief"] >= 0.9) & (risk["prior"] < 0.9)).sum()

    def test_shares_are_those_of_an_adversary_who_reads_each_group(self, simulated):
        from foreknow.models import RandomWorlds

        contents, releases, _ = simulated
        reader = SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds()))(releases)
        table = risk_table(reader, History([release.view for release in releases]))
        total = total_of_risk(table)
        assert contents.headlines["learned"].value("confidence_of_shares") == pytest.approx(total["confidence"])
        assert contents.headlines["learned"].value("success_of_shares") == pytest.approx(total["success"])
        shown = contents.by_release.query("adversary == 'informed'")["confidence_of_shares"]
        np.testing.assert_allclose(shown, table["confidence"])

    def test_leak_calibration_and_attacks(self, simulated):
        contents, releases, informed = simulated
        history = History([release.view for release in releases])
        forward, hindsight = (JointAttack(informed, hindsight=each)(releases) for each in (False, True))
        if contents.details.name == "informed":
            pd.testing.assert_frame_equal(contents.leak, retroactive_leak(forward, hindsight, history))
        columns = ["believed", "observed", "beliefs"]
        shown = contents.calibration.query("adversary == 'informed'")[columns].reset_index(drop=True)
        pd.testing.assert_frame_equal(shown, reliability_curve(hindsight, history, draws=0)[columns])
        row = contents.attacks.query("attack == 'Informed adversary, release by release'").iloc[0]
        sequential = total_of_risk(risk_table(SequentialAttack(informed)(releases), history))
        assert (row["sure"], row["right"]) == (sequential["sure"], sequential["right"])

    def test_redrawn_worlds(self, simulated, monkeypatch):
        contents, releases, _ = simulated
        details, least = contents.details, {"sure": 0.9, "rng": np.random.default_rng([contents.settings.seed, 3])}
        found = solver_calibration(JointAttack(details.adversary), releases, worlds=5, **least)
        assert contents.redrawn == found
        asked = (details, releases, GroupMessages(), contents.settings)
        for records, worlds in ((540, 3), (180, 1)):
            monkeypatch.setattr(contents_file, "MAX_REDRAWN_RECORDS", records)
            assert contents_file.redrawn_worlds(*asked).worlds == worlds
        monkeypatch.setattr(contents_file, "MAX_REDRAWN_RECORDS", 179)
        assert contents_file.redrawn_worlds(*asked) is None
        monkeypatch.undo()
        assert contents_file.redrawn_worlds(details, releases, Enumeration(limit=1), contents.settings) is None
        values = releases[0].view.sensitive[::-1]
        distorted = [Release(releases[0].view, Grouping(releases[0].group, values=values)), *releases[1:]]
        assert contents_file.redrawn_worlds(details, distorted, GroupMessages(), contents.settings) is None

    @pytest.mark.parametrize(
        ("z", "text"),
        [(-3.1, "fewer than chance explains"), (3.1, "more than chance"), (-2.9, "Chance explains"), (0.0, "Chance")],
    )
    def test_the_sentence_on_redrawn_worlds(self, z, text):
        found = SolverCalibration(5, 900, 1200, 1100, 1110.4, z, -1.0, -1.0, 0.1)
        told = redrawn_sentence(found, "90%")
        assert text in told
        assert "of 1,200 beliefs of 90% or more, 1,100 were right and 1,110 expected." in told
        assert redrawn_sentence(None, "90%") == ""

    def test_utility_and_the_present_setting(self, simulated):
        contents, releases, _ = simulated
        assert contents.utility["suppressed"].tolist() == suppressed(releases)["suppressed"].tolist()
        np.testing.assert_allclose(contents.utility["gcp"], gcp(releases)["gcp"])
        now, new = contents.stricter.iloc[0], contents.stricter.iloc[1]
        assert (now["setting"], new["setting"]) == ("as published", "k = 6")
        assert now["exposed_informed"] == contents.headlines["informed"].exposed
        assert now["group_size"] == pytest.approx(180 / sum(release.groups for release in releases))
        assert new["group_size"] >= 6

    def test_explorer_has_the_beliefs_of_each_release(self, simulated):
        contents, releases, _ = simulated
        one, values = contents.details, releases[0].view.schema.values
        assert contents.explorer.sampled == 0
        for respondent, (_, records) in zip(contents.explorer.respondents, contents.explorer.people, strict=True):
            for t, size, own, entries in records[:1]:
                release = releases[t]
                row = release.view.people.rows(respondent)[0]
                assert values[own] == values[release.view.sensitive[row]]
                assert size == (release.group == release.group[row]).sum()
                for code, _, forward, hindsight in entries:
                    time = release.time
                    assert forward / 1000 == pytest.approx(
                        contents.forward.posterior(time).loc[respondent, values[code]], abs=5.1e-4
                    )
                    assert hindsight / 1000 == pytest.approx(
                        one.hindsight.posterior(time).loc[respondent, values[code]], abs=5.1e-4
                    )

    def test_a_large_explorer_has_the_most_exposed_and_a_sample(self, simulated, monkeypatch):
        contents, releases, _ = simulated
        monkeypatch.setattr(respondents, "MAX_PEOPLE", 20)
        names = Pseudonyms.of(contents.headlines[contents.details.name].people["respondent"], False)
        found = respondents.explorer(contents.details, contents.forward, releases, names, np.random.default_rng(1))
        assert (found.most_exposed, found.sampled, found.total) == (10, 10, len(names.numbers))
        assert [name for name, _ in found.people[:10]] == [f"Person {number}" for number in range(1, 11)]
        assert len(set(found.respondents)) == 20

    @pytest.mark.slow
    def test_the_explorer_does_not_grow_with_the_history(self):
        """30,000 and 60,000 records, more entries than fit: the bounds of entries, people and bytes hold."""
        for records in (10_000, 20_000):
            history, prior, _ = exams(views=3, records=records, rng=1)
            releases = publish(history, Mondrian(KAnonymity(10) & DistinctDiversity(2)), rng=1)
            adversary = Adversary(prior, estimator=RandomWorlds())
            beliefs = SnapshotAttack(adversary)(releases)
            people = [name for release in releases for name in release.view.people.respondents]
            found = respondents.explorer(
                Inference("informed", adversary, beliefs, beliefs),
                beliefs,
                releases,
                Pseudonyms.of(people, False),
                np.random.default_rng(1),
            )
            entries = sum(len(record[3]) for _, records in found.people for record in records)
            people_shown = found.most_exposed + found.sampled
            shares = entries / respondents.MAX_ENTRIES, people_shown / respondents.MAX_PEOPLE
            assert 0.95 < max(shares) <= 1
            assert len(found.people) == people_shown
            assert len(json.dumps(found.people, separators=(",", ":"))) <= 20 * respondents.MAX_ENTRIES
            assert found.total == len(set(people))

    def test_pseudonyms_are_numbers_in_the_order_of_exposure(self, simulated):
        contents, *_ = simulated
        assert contents.people["person"].tolist() == [f"Person {number}" for number in range(1, 11)]
        belief = contents.people["belief"][contents.people["exposed"].astype(bool)].astype(float).round(9)
        assert belief.is_monotonic_decreasing

    def test_influence_of_a_record_is_that_of_the_attack_with_it(self):
        """A's record makes B's value known: a belief of 1/2 becomes 1."""
        history = history_of(("AB", "ab"))
        contents = report([Release(history[0], [0, 0])], UNIFORM, nothing_known, stricter=0, rng=1).contents
        assert contents.trials["respondents"].tolist() == [1, 1]
        assert contents.trials["largest"].tolist() == pytest.approx([0.5, 0.5])
        assert contents.by_distance["distance"].tolist() == [0, 1]


class TestSizeNotes:
    """Notes on what the report of large data leaves out."""

    def test_small_data_have_none(self, simulated):
        assert size_notes(simulated[1], 30, 30, 30) == ()

    def test_each_limit_has_a_note(self, simulated, monkeypatch):
        monkeypatch.setattr(contents_file, "MAX_PREFIX_RECORDS", 100)
        monkeypatch.setattr(contents_file, "MAX_TRIAL_RECORDS", 150)
        told = size_notes(simulated[1], 200, 80, 5)
        assert "over 100 records: the reasons do not name the later release" in told[0]
        assert "over 150 records: one record is made known, and not 6" in told[1]
        assert "fewer bootstrap draws than 200: 80 for means, 5 for calibration." in told[2]


COUNT = st.integers(0, 30)


def setting(title, informed, learned, suppressed=0.0, gcp=0.1, is_problem=False):
    """A row of the table of stricter settings: 100 respondents, without a bound."""
    exposed = {"exposed_informed": informed, "exposed_learned": learned}
    sides = {"respondents": 100, "at_most_informed": None, "at_most_learned": None}
    price = {"suppressed": suppressed, "most_suppressed": suppressed, "gcp": gcp, "invented": 0.0}
    return {"setting": title, **exposed, **sides, **price, "problem": "x" if is_problem else ""}


def most_exposed(row):
    return max(row["exposed_informed"], row["exposed_learned"])


class TestStricterSettings:
    @pytest.mark.parametrize(
        ("defense", "titles"),
        [
            (JSReduce(3, 0.5, 0.6, also=DistinctDiversity(2)), ["k = 6", "k = 12", "k = 24"]),
            (Mondrian(DistinctDiversity(2)), ["l = 3", "l = 4", "l = 5"]),
            (Anatomy(2), ["l = 3", "l = 4", "l = 5"]),
            (MInvariance(2), ["m = 3", "m = 4", "m = 5"]),
            (Cohorts(5, 20), ["a = 10, size = 40"]),
            (Cohorts(5, 20, ends=1), []),
        ],
    )
    def test_titles(self, defense, titles):
        assert [each.title for each in stricter_settings(defense)] == titles

    def test_a_value_after_which_most_leave_is_tried_as_terminal(self):
        """C and D leave after b, A and B stay after a: the chances are 2.1/2.2 and .1/2.2; of c, of whom there is none, 1/2."""
        history = history_over(("ABCD", "aabb"), ("AB", "aa"), domain="abc")
        *_, last = stricter_settings(Cohorts(2, 4), 3, history, seed=1)
        assert (last.title, last.defense.terminal) == ("terminal = b", ("b",))
        assert defense_options(last.defense) == "cohorts -a 2 --size 4 --terminal b"
        assert len(stricter_settings(Cohorts(2, 4, terminal=("b",)), 3, history)) == 1

    def test_no_setting_equals_the_present_one(self, monkeypatch):
        """A size that cannot be replaced within a defense leaves the defense as it is."""
        monkeypatch.setattr(adversaries, "_replaced", lambda part, *_: part)
        assert stricter_settings(Mondrian(KAnonymity(3))) == ()

    def test_only_the_size_changes(self):
        made = stricter_settings(JSReduce(3, 0.5, 0.6, also=DistinctDiversity(2)))[0].defense
        assert made == JSReduce(6, 0.5, 0.6, also=DistinctDiversity(2))

    @pytest.mark.parametrize(
        "defense",
        [
            JSReduce(3, 0.5, 0.6, also=DistinctDiversity(2), leftovers="relax"),
            Mondrian(KAnonymity(3) & DistinctDiversity(2)),
            Anatomy(4),
            Cohorts(5, transitions=MarkovChain(1, np.array([[0.5, 0.5], [0.1, 0.9]]))),
        ],
    )
    def test_a_written_defense_is_read_again(self, defense):
        record = json.loads(json.dumps(defense_record(defense)))
        assert settings(read_defense(record)) == settings(defense)

    @pytest.mark.parametrize(
        "record",
        [
            "Anatomy(4)",
            None,
            [],
            {},
            {"class": "KAnonymity", "k": 2},
            {"class": "JSReduce", "k": 0},
            {"class": "publish", "history": 1},
            {"class": "Anatomy", "m": 3},
            {"class": "type", "name": "Anatomy"},
            {"class": ["Anatomy"]},
        ],
    )
    def test_another_record_is_no_defense(self, record):
        assert read_defense(record) is None

    def test_advice_is_the_least_detail_lost_within_the_bound(self, simulated):
        """30 of 100 exposed now; k = 6 exposes 3; k = 12 none, at a higher price."""
        contents = simulated[0]
        rows = [
            setting("as published", 30, 0, gcp=0.05),
            setting("k = 6", 3, 0, 0.01),
            setting("k = 12", 0, 0, 0.02, 0.4),
        ]
        told = advice(replace(contents, stricter=pd.DataFrame(rows)))
        assert told.startswith(
            "In a trial with k = 12, the informed adversary exposed no person (now 30), and the one without prior knowledge "
            "no person (now 0). Not decided for the default bound of 0%. The price: 41% of the detail is lost in all (now 5.0%), "
            "with 2.0% of the records left out (now 0%)."
        )
        bounded = replace(contents, settings=replace(contents.settings, bound=0.03))
        assert advice(replace(bounded, stricter=pd.DataFrame(rows))).startswith("In a trial with k = 6, the informed")
        rows[2] |= {"most_suppressed": 1.0, "most_suppressed_at": "2024-03"}
        told = advice(replace(contents, stricter=pd.DataFrame(rows)))
        assert "with 2.0% of the records left out, all of those of the release 2024-03 (now 0%)." in told
        worse = [rows[0], setting("k = 6", 31, 0), setting("k = 12", 30, 0)]
        assert advice(replace(contents, stricter=pd.DataFrame(worse))).startswith("None of the stricter settings")
        enough = [setting("as published", 3, 0), rows[2]]
        assert advice(replace(bounded, stricter=pd.DataFrame(enough))).startswith("No stricter setting is needed")

    def test_a_setting_that_is_proved_within_the_bound_goes_before_one_that_is_not(self):
        proved = setting("cohorts", 0, 1, gcp=0.6) | {"at_most_informed": 4, "at_most_learned": 5}
        rows = [setting("now", 9, 9), setting("k = 6", 1, 1), proved]
        assert [advised(rows, bound)["setting"] for bound in (0.05, 0.04)] == ["cohorts", "k = 6"]

    def test_exact_settings_are_ranked_by_queries(self):
        """A bucketized setting has a GCP of 0, and loses the most by the error of queries."""
        exact = setting("anatomy", 0, 0, gcp=0.0) | {"exact": True, "query_error": 0.3}
        wide = setting("mondrian", 0, 0, gcp=0.4) | {"exact": False, "query_error": 0.2}
        assert best_setting([exact, wide], 0.1)["setting"] == "mondrian"
        assert best_setting([exact, wide | {"query_error": None}], 0.1)["setting"] == "anatomy"

    @given(st.lists(st.tuples(COUNT, COUNT, st.floats(0, 1), st.floats(0, 1), st.booleans()), min_size=1, max_size=5))
    def test_no_advice_exposes_more_or_can_be_improved(self, numbers):
        now, *tried = [setting("k", *each) for each in numbers]
        now["problem"] = ""
        best = advised([now, *tried], 0.1)
        fewer = [row for row in tried if not row["problem"] and most_exposed(row) < most_exposed(now)]
        within = [row for row in fewer if most_exposed(row) <= 10]
        if most_exposed(now) <= 10 or not fewer:
            assert best is None
        elif within:
            assert best in within
            assert detail_lost(best) == min(map(detail_lost, within))
        else:
            assert most_exposed(best) == min(map(most_exposed, fewer))

    def test_the_cheapest_cohorts_are_tried_where_several_releases_expose_people(self):
        """Their price is that of `recommend`, up to another draw; the adversary of the trial knows its ghosts."""
        history, prior, transitions = exams(views=3, records=300, rng=1)
        informed, defense = Adversary(prior, transitions), Mondrian(KAnonymity(2))
        options = {"defense": defense, "solver": GroupMessages(), "stricter": 1, "draws": 5, "rng": 3}
        releases = publish(history, defense, rng=1)
        contents = report(releases, informed, nothing_of_exams(prior), **options).contents
        (_, title), row = contents.tried, contents.stricter.iloc[2]
        made = contents.tried[title]
        assert title == row["setting"] == defense_text(made)
        assert made.transitions == transitions
        best = recommend(
            history,
            0.05,
            assumed_adversary(history, None, DEFAULT_LEARNING),
            Cohorts(2, transitions=transitions),
            candidates=[(made.a, made.size)],
            departures=[made.departures],
        ).iloc[0]
        assert best["meets"]
        assert row["suppressed"] == pytest.approx(best["withheld"] + best["waiting"], abs=0.02)
        assert row["invented"] == pytest.approx(best["ghosts"], abs=0.02)
        assert row["exposed_informed"] <= row["at_most_informed"] < contents.stricter["exposed_informed"][0]
        assert "or cells of people who stay together from release to release" in stricter_sentence(contents)
        told = advice(replace(contents, stricter=contents.stricter.iloc[[0, 2]], assumed=defense, defense=None))
        assert told.startswith(f"In a trial with {title}, the informed adversary")
        assert ("would be invented" in told) == (row["invented"] > 0)
        assert ("some have one value" in told) == (row["values"] == 1)
        alone = contents.stricter.iloc[[0, 2]].assign(values=1)
        assert "Cohorts require no distinct values of a group, and some have one value" in advice(
            replace(contents, stricter=alone)
        )
        for published, adversary in [(releases[:1], informed), (releases, Adversary(prior))]:
            again = report(published, adversary, nothing_of_exams(prior), **options)
            assert [*again.contents.tried] == ["k = 4"]

    def test_a_setting_that_cannot_be_published(self):
        history = history_of(("ABCD", "abab"))
        defense = Mondrian(KAnonymity(2))
        contents = report(
            publish(history, defense, rng=1), UNIFORM, nothing_known, defense=defense, stricter=2, rng=1
        ).contents
        assert contents.stricter["problem"].tolist()[:2] == ["", ""]
        assert "suppressed" in contents.stricter["problem"].tolist()[2]

    @pytest.mark.parametrize(
        ("defense", "raised"),
        [
            (Mondrian(KAnonymity(2)), "with larger groups"),
            (Anatomy(2, rng=1), "with more distinct values in each group"),
            (MInvariance(2, rng=1), "with more distinct values in each group"),
        ],
    )
    def test_the_page_says_what_is_raised(self, defense, raised):
        contents = replace(single().contents, defense=defense)
        assert stricter_sentence(contents).endswith(f"{raised}, and read by the same two adversaries.")

    def test_an_assumed_defense_is_named(self):
        """One pair is published; with k = 4 there is no group."""
        made = replace(single().contents, assumed=Mondrian(KAnonymity(2) & DistinctDiversity(2)))
        assert stricter_sentence(made).endswith(
            "The defense is not recorded; mondrian -k 2 -l 2 is assumed, and made stricter."
        )
        made = replace(made, stricter=pd.DataFrame([setting("as published", 2, 0), setting("k = 4", 1, 0)]))
        assert advice(made).startswith("In a trial with mondrian (k = 4), the informed adversary exposed 1 person")

    def test_a_defense_is_known_or_assumed(self):
        defense = Mondrian(KAnonymity(2))
        with pytest.raises(ValueError, match="both defense and assumed are given"):
            report(pair(), defense=defense, assumed=defense)


class TestSides:
    def test_the_verdict_has_the_larger_of_each_side(self):
        """The adversary of the headline exposes 5, at most 7 of 9; the other 2, at most 8: as `foreknow compare` prints it."""
        made = single().contents
        for sides, told in (
            (
                (TwoSides(5, 9, 7, "x"), TwoSides(2, 9, 8, "y")),
                "Over the default bound of 0%: 5 of 9 people are exposed, at most 8",
            ),
            (
                (TwoSides(2, 9, 8, "x"), TwoSides(5, 9, 7, "y")),
                "Over the default bound of 0%: 5 of 9 people are exposed, at most 8",
            ),
            (
                (TwoSides(5, 9, 7, "x"), TwoSides(2, 9, None, "y")),
                "Over the default bound of 0%: 5 of 9 people are exposed; no upper side, as y.",
            ),
        ):
            each = zip(made.headlines.items(), sides, strict=True)
            headlines = {name: one._replace(sides=side) for (name, one), side in each}
            assert verdict(replace(made, headlines=headlines)).sentence.startswith(told)


class TestKnowledge:
    """The page describes what the informed adversary knows only where it is the rates of records."""

    RATES = "knows how frequent each value is among people of the same kind"

    def test_of_records(self):
        history = history_of(("AB", "ab"), ("AB", "ab"))
        releases = [Release(view, [0, 0]) for view in history]
        made = report(releases, stricter=0, draws=5, rng=1).contents
        told = what_it_knows(made.inferences["informed"])
        assert f"It also {self.RATES}, and how values change from release to release." in told

    def test_of_records_of_one_release(self):
        made = report(pair()[:1], stricter=0, draws=5, rng=1).contents
        assert f"It also {self.RATES}. Reads" in what_it_knows(made.inferences["informed"])

    def test_given_by_the_author(self):
        made = single()
        told = what_it_knows(made.contents.inferences["informed"])
        assert "It also has the prior knowledge that the author of this report gave it." in told
        assert "how frequent" not in told + made.verdict.reasons
        assert "the prior knowledge that the author of this report gave it" in made.verdict.reasons


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("sure", 0.5), ("sure", "x"), ("level", 1), ("draws", -1), ("stricter", 4), ("details", "x"), ("names", 1),
        ("defense", Mondrian), ("assumed", Mondrian), ("also", [1]), ("notes", "x"), ("solver", 1),
        ("informed", 1), ("learned", 1), ("rng", "x"), ("progress", 1),
    ],
)  # fmt: skip
def test_wrong_arguments(argument, value):
    with pytest.raises((TypeError, ValueError), match=argument):
        report(**{"releases": pair(), argument: value})


def test_without_a_group_there_is_no_report():
    history = history_of(("AB", "ab"))
    with pytest.raises(ValueError, match="nothing is published"):
        report([Release(history[0], [-1, -1])])
