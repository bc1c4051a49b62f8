"""Sources of a belief: sums, the belief computed by hand, and what each attack refuses."""

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack, LearnedAttack, RetrospectiveAttack, SequentialAttack
from foreknow.defenses import DistinctDiversity, Mondrian, publish
from foreknow.evaluation import belief_sources, belief_sources_plot, exams
from foreknow.models import (
    Adversary,
    Averaged,
    GivenPrior,
    History,
    MarkovChain,
    Numeric,
    Presence,
    Release,
    Schema,
    UniformPrior,
)

HAZARD = Presence(np.array([0.5, 0.1]))


@pytest.fixture(scope="module")
def couple():
    """A and B in one group at week 1; A alone listed at week 2, in a group that shows its value."""
    frame = pd.DataFrame(
        {"id": ["A", "B", "A"], "age": [20, 21, 20], "result": ["ill", "well", "ill"], "week": [1, 1, 2]}
    )
    history = History.read(frame, Schema({"age": Numeric()}, "result", ("ill", "well")), time="week")
    return [Release(history[0], [0, 0]), Release(history[1], [-1])]


@pytest.fixture(scope="module")
def simulated():
    simulation = exams(4, 60, rng=3)
    releases = publish(simulation.history, Mondrian(DistinctDiversity(2)), rng=1)
    return releases, Adversary(simulation.prior, simulation.transitions)


def log_odds(belief):
    return np.log2(belief / (1 - belief))


def test_by_hand(couple):
    """Prior .8 and .2 for ill; one of each in the group; A is listed again, B is not."""
    prior = GivenPrior(pd.DataFrame({"ill": [0.8, 0.2], "well": [0.2, 0.8]}, index=["A", "B"]))
    chain = MarkovChain(1, np.array([[0.9, 0.1], [0.1, 0.9]]))
    attack = JointAttack(Adversary(prior, chain, presence=HAZARD))
    table = belief_sources(attack, couple, "A", time=1, value="ill").set_index(["source", "name"])
    # A stayed: .5 and .9. B left: .5 and .1.
    start = 0.8 * 0.5 / (0.8 * 0.5 + 0.2 * 0.9)
    both = 0.8 * 0.5 * 0.8 * 0.1, 0.2 * 0.9 * 0.2 * 0.5
    with_group, unread = both[0] / sum(both), 0.64 / (0.64 + 0.04)
    found = table["belief"]
    np.testing.assert_allclose(found["start", ""], start)
    np.testing.assert_allclose(found["release"], [with_group, with_group])
    np.testing.assert_allclose(found["part", "presence"], unread)
    change = table["change"]
    np.testing.assert_allclose(change["release", 1], log_odds(with_group) - log_odds(start))
    np.testing.assert_allclose(change["part", "presence"], log_odds(with_group) - log_odds(unread))
    np.testing.assert_allclose(change["part", "transitions"], 0, atol=1e-12)


@pytest.mark.parametrize("kind", [JointAttack, SequentialAttack])
def test_changes_of_start_and_releases_add_up(simulated, kind):
    releases, adversary = simulated
    beliefs = kind(adversary)(releases).posterior(releases[1].time).max(axis=1)
    respondent, belief = beliefs.idxmin(), beliefs.min()
    table = belief_sources(kind(adversary), releases, respondent, time=releases[1].time)
    np.testing.assert_allclose(table.loc[table["source"] != "part", "change"].sum(), log_odds(belief), atol=1e-6)
    assert table.attrs["respondent"] == respondent
    assert list(table["name"][table["source"] == "part"]) == ["transitions"]


def test_a_part_that_the_attack_needs_has_no_number(simulated):
    releases, adversary = simulated
    table = belief_sources(RetrospectiveAttack(adversary), releases, releases[0].view.people.respondents[0])
    assert table.set_index("name").loc["transitions", ["belief", "change"]].isna().all()


def test_draws_of_the_knowledge_lose_a_part_together(simulated):
    releases, adversary = simulated
    averaged = Averaged((adversary, adversary))
    respondent = releases[0].view.people.respondents[0]
    one, other = (belief_sources(JointAttack(each), releases, respondent) for each in (adversary, averaged))
    pd.testing.assert_frame_equal(one, other, atol=1e-6)


def test_certain_beliefs_have_finite_changes(couple):
    alone = [Release(couple[0].view, [0, 1])]
    assert np.isfinite(belief_sources(SequentialAttack(Adversary(UniformPrior())), alone, "A")["change"]).all()


def test_wrong_arguments(couple):
    with pytest.raises(TypeError, match="with an adversary"):
        belief_sources(LearnedAttack(), couple, "A")
    attack = SequentialAttack(Adversary(UniformPrior()))
    with pytest.raises(ValueError, match="is in no release"):
        belief_sources(attack, couple, "Z")
    with pytest.raises(ValueError, match="not in the release at 2; it is in those at 1"):
        belief_sources(attack, couple, "B", time=2)
    with pytest.raises(ValueError, match="value is 'dead'"):
        belief_sources(attack, couple, "A", value="dead")


def test_plot_has_a_bar_for_each_row(couple):
    chain = MarkovChain(1, np.array([[0.9, 0.1], [0.1, 0.9]]))
    table = belief_sources(
        JointAttack(Adversary(UniformPrior(), chain, presence=HAZARD)), couple, "A", time=1, value="ill"
    )
    axes = belief_sources_plot(table)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["before any group", "release 1", "release 2", "with transitions", "with presence"]
    widths = np.array([bar.get_width() for bar in axes.patches])
    np.testing.assert_allclose(widths, table["change"])
    assert axes.get_title() == "Belief that A has ill at 1"
