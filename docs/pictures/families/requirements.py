"""Pictures of requirements: groups that satisfy one, and their levels beside those of groups of two."""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from example import Example, example, with_symptoms
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from families.defenses import groups_of
from families.drawing import BLUE, GREY, ORANGE, Pictures
from foreknow import defenses
from foreknow.defenses import Defense, KAnonymity, Mondrian, publish, summarize_groups, summarize_records
from foreknow.defenses import Requirement as Rule
from foreknow.models import Adversary, Release, View


class Shown(NamedTuple):
    """A requirement, the name of its level on an axis, and a defense that enforces it, Mondrian if None."""

    rule: Rule
    level: str
    defense: Defense | None = None


def requirement_pictures() -> Pictures:
    """Groups and levels of each requirement on the first release."""
    shown = example(views=1)
    view, linking = with_symptoms(shown.history[0])
    mild = defenses.PosteriorBound(0.1)
    rules = {
        "KAnonymity": Shown(KAnonymity(4), "records"),
        "DistinctDiversity": Shown(defenses.DistinctDiversity(3), "distinct values"),
        "FrequencyDiversity": Shown(defenses.FrequencyDiversity(2.0), "1 / largest share"),
        "EntropyDiversity": Shown(defenses.EntropyDiversity(2.5), "exponential of the entropy"),
        "RecursiveDiversity": Shown(defenses.RecursiveDiversity(2.0, 2), "largest count / tail"),
        "TCloseness": Shown(defenses.TCloseness(0.3), "distance from the table"),
        "BetaLikeness": Shown(defenses.BetaLikeness(1.0), "smallest satisfied β"),
        "BasicBetaLikeness": Shown(defenses.BasicBetaLikeness(1.0), "largest relative gain"),
        "JSimilarity": Shown(
            defenses.JSimilarity(0.05), "divergence of the priors, bits", defenses.JSReduce(2, 1.0, 0.05)
        ),
        "BTPrivacy": Shown(defenses.BTPrivacy(0.3, 0.15), "prior to posterior, bits"),
        "PosteriorBound": Shown(mild, "largest gain", defenses.JSReduce(2, 1.0, 1.0, also=mild)),
        "QSDiversity": Shown(defenses.QSDiversity(1.0, 2, linking), "likeliest label / tail"),
        "QSCloseness": Shown(defenses.QSCloseness(0.25, linking), "distance of the labels"),
    }
    for name, rule in rules.items():
        yield name, levels_and_groups(shown, view, rule)


def levels_and_groups(shown: Example, view: View, rule: Shown) -> Figure:
    """Groups of Mondrian under a requirement, and the level of each group with and without it."""
    adversary = Adversary(shown.prior, shown.chain)
    free = publish([view], Mondrian(KAnonymity(2)), adversary, rng=1)[0]
    bound = publish([view], rule.defense or Mondrian(rule.rule & KAnonymity(2)), adversary, rng=1)[0]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    groups_of(left, bound)
    prior = shown.prior(view.people)
    series = {"groups of at least two": levels(free, rule.rule, prior)}
    series["with the requirement"] = levels(bound, rule.rule, prior)
    levels_of(right, rule, series)
    return figure


def levels(release: Release, rule: Rule, prior: np.ndarray) -> np.ndarray:
    """Level of each group of a release, in increasing order."""
    records = summarize_records(release.view, prior, members=True)
    return np.sort(rule.bind(release.view, prior).level(summarize_groups(records, release.group)))


def levels_of(axes: Axes, rule: Shown, series: dict[str, np.ndarray]) -> None:
    """Levels as marks, and the bound as a line."""
    finite = np.concatenate([values[np.isfinite(values)] for values in series.values()])
    top = 1.15 * max(finite.max(), rule.rule.bound)
    for (name, values), colour, marker, size in zip(series.items(), (GREY, BLUE), "xo", (36, 44), strict=True):
        inside = np.isfinite(values)
        places = np.linspace(0, 1, len(values) + 2)[1:-1]
        axes.scatter(places, np.where(inside, values, top), marker=marker, color=colour, s=size, label=name)
        for place in places[~inside]:
            axes.annotate("∞", (place, top), textcoords="offset points", xytext=(0, -14), ha="center", color=colour)
    axes.axhline(rule.rule.bound, color=ORANGE, linestyle="--", label=f"bound: {rule.rule.sense} {rule.rule.bound:g}")
    axes.set(ylabel=rule.level, xlabel="groups, by level", xticks=[], ylim=(min(0, finite.min()), top * 1.05))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False, fontsize=7.5, columnspacing=1)
