"""Joint and learned attacks on releases of m-invariance, with and without its rule, by two solvers.

A row is an attack on a publication of `redrawn_worlds`, with its true values: gain, log score, and the sure beliefs, with how many
are right and expected to be. ``counterfeits`` is their share of the published records.
"""

from itertools import product

import pandas as pd

from experiments.redrawn_worlds import HISTORIES, SIZES, publication
from foreknow.attacks import JointAttack, LearnedAttack
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.models import JOINT_SOLVERS

SURE, SOLVERS = 0.9, ("group-graph", "group-messages")


def with_and_without_the_rule(cell, _rng):
    """Risk of one publication by eight attacks."""
    adversary, releases = publication(cell["history"], cell["defense"])
    history, rows = HISTORIES[cell["history"]]()[0], []
    published = sum(int(release.counts.sum()) for release in releases)
    true = sum(int((release.group >= 0).sum()) for release in releases)
    for knowledge, solver, rule in product(("given", "learned"), SOLVERS, (False, True)):
        law = JOINT_SOLVERS[solver]()
        attack = (
            JointAttack(adversary, law, signatures=rule)
            if knowledge == "given"
            else LearnedAttack(solver=law, signatures=rule)
        )
        total = total_of_risk(risk_table(attack(releases), history, sure=SURE))
        told = {"knowledge": knowledge, "solver": solver, "signatures": rule, "counterfeits": 1 - true / published}
        rows.append(told | {name: total[name] for name in ("gain", "log_score", "sure", "right", "expected")})
    return pd.DataFrame(rows)


M_INVARIANCE = Experiment(
    "m_invariance",
    with_and_without_the_rule,
    [{"history": name, "defense": f"MInvariance({size})"} for name, size in SIZES.items()],
)


def table(rows):
    """Lines of Markdown, as in docs/methods/joint.md; ``rows`` are those of `cells.read`."""
    lines = ["| publication (counterfeits) | knowledge | solver | without the rule | with the rule |", "|---" * 5 + "|"]
    for cell, knowledge, solver in product(M_INVARIANCE.cells, ("given", "learned"), SOLVERS):
        own = rows[(rows["history"] == cell["history"]) & (rows["knowledge"] == knowledge) & (rows["solver"] == solver)]
        told = [
            f"{one['log_score']:.2f}; {one['sure']:,.0f}, {one['right']:,.0f} ({one['expected']:,.0f})"
            for _, one in own.sort_values("signatures").iterrows()
        ]
        name = f"`{cell['history']}`, `{cell['defense']}` ({own['counterfeits'].iloc[0]:.0%})"
        lines.append(f"| {name} | {knowledge} | `{type(JOINT_SOLVERS[solver]()).__name__}` | {' | '.join(told)} |")
    return lines
