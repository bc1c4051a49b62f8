"""Joint and learned attacks on releases of m-invariance, with and without its rule, by two solvers.

A row is an attack on a publication of `redrawn_worlds`, with its true values: gain, log score, and the sure beliefs, with how many
are right and expected to be. ``counterfeits`` is their share of the published records. On tiny histories, which an adversary meets
who knows their law, `Enumeration` is exact.
"""

from itertools import product

import numpy as np
import pandas as pd

from experiments.redrawn_worlds import HISTORIES, SIZES, publication
from foreknow.attacks import JointAttack, LearnedAttack
from foreknow.defenses import MInvariance, publish
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.models import JOINT_SOLVERS, Adversary, GivenPrior, History, MarkovChain, Numeric, Schema, View

SURE, SOLVERS = 0.9, ("group-graph", "group-messages")


TINY = 60
"""Number of tiny histories: 8 to 13 respondents, 3 to 5 releases, 3 or 4 values, each of which stays with .5, .8 or .95."""


def with_and_without_the_rule(cell, _rng):
    """Risk of one publication, or of all tiny ones, by each attack."""
    tiny = cell["history"] == "tiny"
    if tiny:
        met = [tiny_publication(np.random.default_rng([number, 33])) for number in range(TINY)]
    else:
        met = [(*publication(cell["history"], cell["defense"]), HISTORIES[cell["history"]]()[0])]
    published = sum(int(release.counts.sum()) for _, releases, _ in met for release in releases)
    true = sum(int((release.group >= 0).sum()) for _, releases, _ in met for release in releases)
    rows = []
    solvers = ("enumeration", *SOLVERS) if tiny else SOLVERS
    for knowledge, solver, rule in product(("given",) if tiny else ("given", "learned"), solvers, (False, True)):
        law, risks = JOINT_SOLVERS[solver](), []
        for adversary, releases, history in met:
            attack = (
                JointAttack(adversary, law, signatures=rule)
                if knowledge == "given"
                else LearnedAttack(solver=law, signatures=rule)
            )
            risks.append(risk_table(attack(releases), history, sure=SURE))
        total = total_of_risk(pd.concat(risks))
        told = {"knowledge": knowledge, "solver": solver, "signatures": rule, "counterfeits": 1 - true / published}
        rows.append(told | {name: total[name] for name in ("gain", "log_score", "sure", "right", "expected")})
    return pd.DataFrame(rows)


def tiny_publication(rng):
    """An adversary who knows the law of a random tiny history, its releases by m-invariance, and the history."""
    people, times, m = (int(rng.integers(*ends)) for ends in ((8, 14), (3, 6), (3, 5)))
    prior, stay = rng.dirichlet(np.full(m, 2.0), people), rng.choice([0.5, 0.8, 0.95])
    chain = (1 - stay) * rng.dirichlet(np.ones(m), m) + stay * np.eye(m)
    schema, views, values = Schema({"age": Numeric(0, people - 1)}, "result", tuple(range(m))), [], None
    for time in range(times):
        rows = prior if values is None else chain[values]
        values = np.array([rng.choice(m, p=row) for row in rows])
        frame = pd.DataFrame({"id": np.arange(people), "age": np.arange(people), "result": values})
        views.append(View(frame, schema, time))
    adversary, history = Adversary(GivenPrior(pd.DataFrame(prior)), MarkovChain(1, chain)), History(views)
    return adversary, publish(history, MInvariance(2, rng=rng), adversary, infeasible="suppress", rng=rng), history


M_INVARIANCE = Experiment(
    "m_invariance",
    with_and_without_the_rule,
    [{"history": name, "defense": f"MInvariance({size})"} for name, size in ({"tiny": 2} | SIZES).items()],
)


def table(rows):
    """Lines of Markdown, as in docs/methods/joint.md; ``rows`` are those of `cells.read`."""
    lines = ["| publication (counterfeits) | knowledge | solver | without the rule | with the rule |", "|---" * 5 + "|"]
    for cell, knowledge, solver in product(M_INVARIANCE.cells, ("given", "learned"), ("enumeration", *SOLVERS)):
        own = rows[(rows["history"] == cell["history"]) & (rows["knowledge"] == knowledge) & (rows["solver"] == solver)]
        if own.empty:
            continue
        told = [
            f"{one['log_score']:.2f}; {one['sure']:,.0f}, {one['right']:,.0f} ({one['expected']:,.0f})"
            for _, one in own.sort_values("signatures").iterrows()
        ]
        name = f"`{cell['history']}`, `{cell['defense']}` ({own['counterfeits'].iloc[0]:.0%})"
        lines.append(f"| {name} | {knowledge} | `{type(JOINT_SOLVERS[solver]()).__name__}` | {' | '.join(told)} |")
    return lines
