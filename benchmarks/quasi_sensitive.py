"""Experiments of the quasi-sensitive paper: ``python benchmarks/quasi_sensitive.py [section ...]``, some minutes on two cores.

Prints the tables of docs/findings.md on quasi-sensitive attributes, and draws Figures 5 and 6 into docs/. Reads Adult from
../shared/data/adult. Source: Shi, Xiong, Fung, CIKM 2010.
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from subjects import ADULT, HIERARCHIES

from foreknow.defenses import (
    ItemSuppression,
    KAnonymity,
    Mondrian,
    QSCloseness,
    QSDiversity,
    Requirement,
    publish_items,
)
from foreknow.evaluation import adult_with_items, gcp
from foreknow.models import Linking, View

DOCS = Path(__file__).resolve().parents[1] / "docs"
SECONDS = 10.0
"""Time limit of each experiment in the paper."""

SETTINGS = ((200, 2), (220, 5))
"""Number of different items, and k. With fewer items, or larger groups, no item need be removed."""


@cache
def subject(vocabulary: int) -> tuple[View, Linking]:
    """3,000 records of Adult with random items, and their linking."""
    rng = np.random.default_rng(2010)
    (view,), linking = adult_with_items(ADULT, vocabulary=vocabulary, hierarchies=HIERARCHIES, rng=rng)
    return view, linking


def suppressed(vocabulary: int, k: int, requirement: Requirement, search: str = "adaptive") -> dict[str, float]:
    """Cost of the two phases: means over all groups, and over the groups that fail."""
    view, _ = subject(vocabulary)
    result = publish_items(view, Mondrian(KAnonymity(k)), ItemSuppression(requirement, seconds=SECONDS, search=search))
    groups = result.groups
    failing = groups[~groups["satisfied"]]
    return {
        "groups": len(groups),
        "failing": len(failing),
        "cost": float(groups["cost"].mean()),
        "first": float(failing["first_cost"].sum() / max(len(groups), 1)),
        "proven": float(failing["proven"].mean()) if len(failing) else float("nan"),
        "milliseconds": 1000 * float(failing["first_seconds"].median()) if len(failing) else float("nan"),
        "gcp": float(gcp([result.release.release])["gcp"][0]),
    }


def _percent(share: float) -> str:
    """A fraction in percent; empty if it is NaN."""
    return "" if np.isnan(share) else f"{share:.0%}"


def figure_5() -> Iterator[str]:
    """Figure 5: removal cost of QS (c, l)-diversity by both searches, over l (c = 1) and over c (l = 30), in 10 s each."""
    yield "| items | k | c | l | failing groups | mean cost, adaptive | at first | plain | at first | ms to the first | proven |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    rows = []
    for vocabulary, k in SETTINGS:
        _, linking = subject(vocabulary)
        for c, l in [*((1.0, l) for l in (10, 20, 30, 40, 50)), *((c, 30) for c in (0.5, 2.0, 3.0))]:  # noqa: E741
            requirement = QSDiversity(c, l, linking)
            adaptive, plain = (suppressed(vocabulary, k, requirement, search) for search in ("adaptive", "plain"))
            rows.append(
                {"vocabulary": vocabulary, "k": k, "c": c, "l": l, "adaptive": adaptive["cost"], "plain": plain["cost"]}
            )
            yield (
                f"| {vocabulary} | {k} | {c:g} | {l} | {adaptive['failing']} of {adaptive['groups']} | {adaptive['cost']:.4f} | "
                f"{adaptive['first']:.4f} | {plain['cost']:.4f} | {plain['first']:.4f} | {adaptive['milliseconds']:.1f} / "
                f"{plain['milliseconds']:.1f} | {_percent(adaptive['proven'])} |"
            )
    _draw_5(pd.DataFrame(rows))


def _draw_5(table: pd.DataFrame) -> None:
    """Draw Figure 5."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (axis, fixed) in zip(panels, (("l", "c"), ("c", "l")), strict=True):
        shown = table[table[fixed] == (1.0 if fixed == "c" else 30)].sort_values(axis)
        for color, ((vocabulary, k), rows) in zip(("C0", "C3"), shown.groupby(["vocabulary", "k"]), strict=True):
            for search, style in (("plain", "--s"), ("adaptive", "-o")):
                label = f"{search}, {vocabulary} items, k = {k}"
                panel.plot(rows[axis], rows[search], style, color=color, markerfacecolor="white", label=label)
        panel.set_xticks(sorted(set(shown[axis])))
        panel.set_xlabel(axis + (", at c = 1" if axis == "l" else ", at l = 30"))
        panel.set_title(f"Removal cost over {axis}")
    panels[0].set_ylabel("mean removal cost of a group (Eq. 1)")
    panels[0].legend(frameon=False)
    figure.suptitle("QS (c, l)-diversity: removal of items, searched for 10 s")
    figure.savefig(DOCS / "quasi-sensitive-5.png", dpi=110)


def figure_6() -> Iterator[str]:
    """Figure 6: removal cost and generalization loss of QS t-closeness, over t squared and k, in 10 s each."""
    yield "| k | t | t^2 | failing groups | mean cost | first at | GCP | proven | ms to the first |"
    yield "|---|---|---|---|---|---|---|---|---|"
    rows = []
    vocabulary = 220
    _, linking = subject(vocabulary)
    for k in (1, 2, 3, 5, 10, 20):
        for t in (0.2, 0.3, 0.4, 0.5):
            row = suppressed(vocabulary, k, QSCloseness(t, linking))
            rows.append({"k": k, "t": t} | row)
            yield (
                f"| {k} | {t} | {t * t:.2f} | {row['failing']} of {row['groups']} | {row['cost']:.4f} | {row['first']:.4f} | "
                f"{row['gcp']:.3f} | {_percent(row['proven'])} | {row['milliseconds']:.1f} |"
            )
    _draw_6(pd.DataFrame(rows))


def _draw_6(table: pd.DataFrame) -> None:
    """Draw Figure 6."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k, rows in table.groupby("k"):
        left.plot(rows["t"] ** 2, rows["cost"], "-o", label=f"k = {k}")
    left.set_xlabel("t squared, the paper's axis")
    left.set_ylabel("mean removal cost of a group (Eq. 1)")
    left.set_title("Cost of suppression")
    left.legend(frameon=False)
    by_k = table.drop_duplicates("k")
    right.plot(by_k["k"], by_k["gcp"], "-o", color="black")
    right.set_xticks(by_k["k"])
    right.set_xlabel("k")
    right.set_ylabel("GCP, 0 to 1")
    right.set_title("Loss by generalization, for every t")
    figure.suptitle("QS t-closeness in two phases: larger groups need fewer removals")
    figure.savefig(DOCS / "quasi-sensitive-6.png", dpi=110)


def never_worse() -> Iterator[str]:
    """Comparison of the costs of the adaptive and the plain search by group, after equal times: 10 ms each, 1 s and 10 s."""
    for vocabulary, k in SETTINGS:
        view, linking = subject(vocabulary)
        requirement, phase_1 = QSDiversity(1, 30, linking), Mondrian(KAnonymity(k))
        failing = int((~publish_items(view, phase_1, ItemSuppression(requirement, 0)).groups["satisfied"]).sum())
        for seconds in (0.01 * failing, 1.0, SECONDS):
            costs = {}
            for search in ("adaptive", "plain"):
                suppression = ItemSuppression(requirement, seconds=seconds, search=search)
                costs[search] = publish_items(view, phase_1, suppression).groups["cost"].to_numpy()
            more = costs["adaptive"] > costs["plain"] + 1e-12
            less = costs["adaptive"] < costs["plain"] - 1e-12
            yield (
                f"{vocabulary} items, k = {k}, {seconds:g} s, {1000 * seconds / failing:.3g} ms for each that fails: higher cost "
                f"in {more.sum()} of {len(more)} groups, lower in {less.sum()}; mean {costs['adaptive'].mean():.4f} against "
                f"{costs['plain'].mean():.4f}"
            )


SECTIONS = {section.__name__: section for section in (figure_5, figure_6, never_worse)}

if __name__ == "__main__":
    for name in sys.argv[1:] or SECTIONS:
        print(f"\n## {name}: {SECTIONS[name].__doc__}\n", flush=True)
        for line in SECTIONS[name]():
            print(line, flush=True)
