"""Labels from data are drawn literally, also if Matplotlib would read mathematics in them."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from strategies import frame_of

from foreknow.attacks import ForegroundAttack, SequentialAttack
from foreknow.evaluation import (
    belief_forest,
    belief_over_time,
    foreground_map,
    gain_over_time,
    influence_map,
    reliability_plot,
    risk_utility_map,
)
from foreknow.evaluation.plots.risk_utility import group_sizes
from foreknow.evaluation.plots.style import without_mathtext
from foreknow.models import Adversary, Categorical, History, Numeric, Release, Schema, UniformPrior, View

WORDS = ("$5 to $10", "a_b$^", r"$\frac$ to \$9")
"""The last is refused as mathematics."""


def risk():
    rows = [(defense, attack, time, 0.1) for defense in WORDS for attack in WORDS for time in WORDS[:2]]
    return pd.DataFrame(rows, columns=["defense", "attack", "time", "gain"])


def priced():
    """A history of two times, respondents and values in dollars, and its releases."""
    frame = frame_of("ABC", "abc").assign(id=list(WORDS), result=list(WORDS))
    schema = Schema({"age": Numeric(0, 99)}, "result", WORDS)
    history = History([View(frame, schema, time) for time in WORDS[:2]])
    return history, [Release(view, [0, 0, 1]) for view in history]


def beliefs():
    history, releases = priced()
    found = SequentialAttack(Adversary(UniformPrior()))(releases)
    return belief_over_time({WORDS[0]: found, WORDS[2]: found}, history, WORDS[2], WORDS[0])


def forest():
    history, releases = priced()
    found = SequentialAttack(Adversary(UniformPrior()))(releases)
    return belief_forest(dict.fromkeys(WORDS, found), WORDS[2], history=history)


def influence():
    graph = nx.DiGraph(source=(WORDS[0], WORDS[1]))
    for number, (person, time) in enumerate([(WORDS[0], WORDS[1]), (WORDS[2], WORDS[0])]):
        graph.add_node((person, time), bits=0.5, release=number, group=0, distance=number)
    return influence_map(graph, WORDS[2])


def points():
    table = pd.DataFrame({"defense": WORDS, "gain": 0.1, WORDS[2]: [0.1, 0.2, 0.3], "k": WORDS, "attack": WORDS[0]})
    return risk_utility_map(table, cost=WORDS[2], along="k", panel="attack")


def learned():
    frame = pd.DataFrame({"id": range(6), WORDS[1]: list(WORDS) * 2, "result": [*WORDS, WORDS[0], WORDS[0], WORDS[1]]})
    history = History([View(frame, Schema({WORDS[1]: Categorical(WORDS)}, "result", WORDS))])
    attack = ForegroundAttack(sensitive_set={WORDS[2]}, support=1)
    found = attack([Release(history[0], [0, 0, 0, 1, 1, 1])])
    return foreground_map(found, history, {WORDS[2]}, WORDS[1])


def calibrations():
    table = pd.DataFrame({"believed": [0.4], "observed": [0.5], "beliefs": [9]})
    return reliability_plot(dict.fromkeys(WORDS, table))


PLOTS = {
    "gain": lambda: gain_over_time(risk(), WORDS[2]),
    "gain in panels": lambda: gain_over_time(risk(), WORDS[2], panel="attack"),
    "belief": beliefs,
    "forest": forest,
    "sizes": lambda: group_sizes(dict.fromkeys(WORDS, priced()[1])),
    "sizes in rows": lambda: group_sizes({word + end: priced()[1] for word in WORDS for end in "12"}),
    "influence": influence,
    "risk and utility": points,
    "foreground": learned,
    "reliability": calibrations,
}


@pytest.mark.parametrize("name", list(PLOTS))
def test_a_plot_shows_them_as_they_are(name, tmp_path):
    figure = np.ravel(PLOTS[name]())[0].figure
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(tmp_path / "picture.png")
    shown = [
        text.get_text() for text in figure.findobj(Text) if any(word[:3] in text.get_text() for word in ("$5", "b$^"))
    ]
    shown += [text.get_text() for text in figure.findobj(Text) if "frac" in text.get_text()]
    assert shown
    assert not [text for text in shown if "$" in text.replace(r"\$", "")]


@pytest.mark.parametrize("word", WORDS)
def test_a_literal_is_drawn_as_the_word(word):
    """Equal pixels to Matplotlib's drawing with parse_math=False."""

    def pixels(text, **settings):
        figure = Figure(figsize=(4, 1))
        figure.text(0.1, 0.4, text, **settings)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return bytes(canvas.buffer_rgba())

    assert pixels(without_mathtext(word)) == pixels(word, parse_math=False)
