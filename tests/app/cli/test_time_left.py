"""Progress of steps of unequal cost: the time left is in proportion to their costs, and counts down."""

import io

import pytest
from rich.console import Console

from foreknow.app.cli import terminal
from foreknow.app.report.report import Step, report_steps


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves, and a console without a terminal."""
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(terminal, "error_console", Console(file=io.StringIO()))
    return now


def test_steps_are_counted_with_the_time_left(clock):
    """Two seconds for a cost of 1: four are left for costs of 1 and 1, and two after one more step."""
    shown, texts = terminal.TimeLeft("at first"), [str(terminal.TimeLeft("at first").__rich__())]
    for _ in shown.steps([Step("a", 1), Step("b", 1), Step("c", 1)]):
        texts.append(str(shown.__rich__()))
        clock[0] += 2
    assert texts == ["at first", "a (1 of 3)", "b (2 of 3, about 0:00:04 left)", "c (3 of 3, about 0:00:02 left)"]


def test_the_time_left_is_in_proportion_to_the_costs_and_counts_down(clock):
    """A cost of 1 takes 3 s; a step of cost 4 is expected to take 12 s, and one of cost 2 another 6 s."""
    shown = terminal.TimeLeft("at first")
    steps = shown.steps([Step("a", 1), Step("b", 4), Step("c", 2)])
    next(steps)
    clock[0] = 3
    next(steps)
    for seconds, left in ((0, 18), (5, 13), (12, 6), (60, 6)):
        clock[0] = 3 + seconds
        assert str(shown.__rich__()) == f"b (2 of 3, about 0:00:{left:02d} left)"


def test_the_time_left_within_an_action_is_in_proportion_to_its_parts(clock):
    """Two of six parts took 10 s: 20 s are left."""
    shown = terminal.TimeLeft("solving")
    parts = shown.parts(range(6))
    next(parts)
    assert str(shown.__rich__()) == "solving (part 1 of 6)"
    clock[0] = 5
    next(parts)
    clock[0] = 10
    next(parts)
    assert str(shown.__rich__()) == "solving (part 3 of 6, about 0:00:20 left)"


def test_parts_of_the_first_step_tell_the_time_of_the_later_ones(clock):
    """One of two parts took 10 s, so the step takes 20 s, and a later one of 3 times its cost takes 60 s."""
    shown = terminal.TimeLeft("at first")
    next(shown.steps([Step("a", 2), Step("b", 6)]))
    parts = shown.parts(range(2))
    next(parts)
    clock[0] = 10
    next(parts)
    assert str(shown.__rich__()) == "a (1 of 2, part 2 of 2, about 0:01:10 left)"


def test_parts_do_not_shorten_a_step_with_other_work(clock):
    """A cost of 1 took 10 s; a step of cost 6 takes 60 s, though its four parts take 4 s of them."""
    shown = terminal.TimeLeft("at first")
    steps = shown.steps([Step("a", 1), Step("b", 6)])
    next(steps)
    clock[0] = 10
    next(steps)
    parts = shown.parts(range(4))
    next(parts)
    clock[0] = 11
    next(parts)
    assert str(shown.__rich__()) == "b (2 of 2, part 2 of 4, about 0:00:59 left)"


def test_nothing_is_told_of_the_time_after_a_small_part(clock):
    shown = terminal.TimeLeft("at first")
    steps = shown.steps([Step("a", 1), Step("b", 99)])
    next(steps)
    clock[0] = 1
    next(steps)
    assert str(shown.__rich__()) == "b (2 of 2)"


def test_a_title_is_only_text(clock):
    assert str(terminal.TimeLeft("[red]x\x1b").__rich__()) == "[red]x\\x1b"


def test_steps_of_a_report_are_in_their_order():
    titles = [step.title for step in report_steps(["--attack snapshot"], ["k = 6"])]
    assert titles[0] == "informed: learning what is known"
    assert titles.index("without prior knowledge: learning what is known") == 3
    assert titles[6] == "--attack snapshot"
    assert titles[-1] == "publishing and attacking with k = 6"


def test_parts_of_other_work_in_a_step_take_the_place_of_the_last_ones(clock):
    shown = terminal.TimeLeft("at first")
    next(shown.steps([Step("a", 1)]))
    list(shown.parts(range(2)))
    next(shown.parts(range(3)))
    assert str(shown.__rich__()) == "a (1 of 1, part 1 of 3)"
