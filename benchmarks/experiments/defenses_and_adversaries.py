"""Ten defenses on `exams`, `pbc` and `households` against the sequential, the joint and the learned adversary.

A row is an attack on a publication: gain over all releases and at the first and the last one, log score, sure beliefs, how many of
these are right, and how many the adversary expects to be. The publications are those of `redrawn_worlds`, with their true values.
"""

import pandas as pd

from experiments.redrawn_worlds import DEFENSES, HISTORIES, publication
from foreknow.attacks import JointAttack, LearnedAttack, SequentialAttack
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.models import GroupMessages

SURE = 0.9


def attacks(adversary):
    """The attacks by name; without a solver named, the joint law is that of the default."""
    return {
        "sequential": SequentialAttack(adversary),
        "group messages": JointAttack(adversary, GroupMessages()),
        "joint, forward": JointAttack(adversary, hindsight=False),
        "joint": JointAttack(adversary),
        "learned": LearnedAttack(),
    }


def exposure(cell, _rng):
    """Risk of one publication by each attack."""
    adversary, releases = publication(cell["history"], cell["defense"])
    history, rows = HISTORIES[cell["history"]]()[0], []
    for name, attack in attacks(adversary).items():
        table = risk_table(attack(releases), history, sure=SURE)
        measures = ("gain", "last_gain", "log_score", "sure", "right", "expected")
        total, gains = total_of_risk(table), table["gain"].dropna()
        records = {"attack": name, "records": int(table["published"].sum()), "first_gain": gains.iloc[0]}
        rows.append(records | {measure: total[measure] for measure in measures})
    return pd.DataFrame(rows)


DEFENSES_AND_ADVERSARIES = Experiment(
    "defenses_and_adversaries",
    exposure,
    [{"history": name, "defense": defense} for name in HISTORIES for defense in DEFENSES[name]],
)


def table(rows, history):
    """Lines of Markdown of one history, as in section 26 of docs/findings.md; ``rows`` are those of `cells.read`."""
    lines = [
        "| defense | sequential | joint, `GroupMessages` | joint, forward | joint, hindsight | learned, hindsight |"
    ]
    lines.append("|---" * 6 + "|")
    for defense in DEFENSES[history]:
        own = rows[(rows["history"] == history) & (rows["defense"] == defense)].set_index("attack")
        found = [own.loc[name] for name in ("sequential", "group messages", "joint, forward", "joint", "learned")]
        lines.append(f"| `{defense}` | " + " | ".join(map(_cell, found)) + " |")
    return lines


def _cell(one):
    """Gain, log score, and the sure beliefs: number, right and expected."""
    scores = " / ".join(f"{one[name]:.2f}".replace("0.", ".") for name in ("gain", "log_score"))
    return f"{scores}; {one['sure']:,.0f}, {one['right']:,.0f} ({one['expected']:,.0f})"
