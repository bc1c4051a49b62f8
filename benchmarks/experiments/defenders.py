"""Ten defenses that receive the joint beliefs instead of those revised release by release, against the joint adversary.

A row is the publication of a defense by one defender: the share of suppressed records, and the gain, the log score and the sure
beliefs of the adversary in hindsight. Defender and adversary have the same knowledge;
groups of defenses that read no beliefs are the same.
"""

import numpy as np
import pandas as pd
from subjects import seeded, ten

from experiments.redrawn_worlds import DEFENSES, HISTORIES, SIZES
from foreknow.attacks import JointAttack
from foreknow.defenses import publish
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.risk.adversary_gain import risk_table

SURE = 0.9

PANELS = ("exams", "pbc")


def exposure(cell, _rng):
    """Risk of the publications of one defense under the two defenders."""
    history, adversary = HISTORIES[cell["history"]]()
    attack = JointAttack(adversary)
    defenders = {"release by release": {"adversary": adversary}, "joint": {"believes": attack}}
    rows = []
    for name, believer in defenders.items():
        rule = ten(1, SIZES[cell["history"]])[cell["defense"]]  # made anew: some defenses hold a generator
        releases = publish(history, rule, **believer, infeasible="suppress", rng=seeded(1))
        total = total_of_risk(risk_table(attack(releases), history, sure=SURE))
        suppressed = float(np.mean(np.concatenate([release.group < 0 for release in releases])))
        measures = ("gain", "last_gain", "log_score", "sure", "right", "expected")
        rows.append({"defender": name, "suppressed": suppressed} | {measure: total[measure] for measure in measures})
    return pd.DataFrame(rows)


DEFENDERS = Experiment(
    "defenders", exposure, [{"history": name, "defense": defense} for name in PANELS for defense in DEFENSES[name]]
)


def table(rows, history):
    """Lines of Markdown of one history, as in docs/findings.md; ``rows`` are those of `cells.read`."""
    lines = [
        "| defense | suppressed: one by one / joint | gain | log score | sure, right (expected): one by one | joint |"
    ]
    lines.append("|---" * 6 + "|")
    for defense in DEFENSES[history]:
        own = rows[(rows["history"] == history) & (rows["defense"] == defense)].set_index("defender")
        both = [own.loc[name] for name in ("release by release", "joint")]
        pairs = [
            " / ".join(f"{one[name]:.2f}".replace("0.", ".") for one in both)
            for name in ("suppressed", "gain", "log_score")
        ]
        sure = [f"{one['sure']:,.0f}, {one['right']:,.0f} ({one['expected']:,.0f})" for one in both]
        lines.append(f"| `{defense}` | {' | '.join(pairs + sure)} |")
    return lines
