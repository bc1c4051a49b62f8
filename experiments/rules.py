"""Approximate rules of inference against the joint law by enumeration, on random tiny histories.

A row is a rule on the histories of a family: the mean total variation between its beliefs and those of the joint law, given all
releases and given the releases up to each one, and its sure beliefs, with how many are right and expected to be. The values and the
compromised record of a claim are drawn from the law that the adversary knows, so that the joint law is calibrated.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from foreknow.attacks import JointAttack, RetrospectiveAttack, SequentialAttack, SnapshotAttack
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.experiment import total_of_risk
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    ConfidenceSum,
    DirichletMultinomial,
    Enumeration,
    EvidenceCascade,
    Exact,
    GivenPrior,
    GroupGraph,
    GroupMessages,
    History,
    MarkovChain,
    MaxEntropy,
    Numeric,
    Omega,
    PosteriorCascade,
    PriorCascade,
    Release,
    Schema,
    View,
)

HISTORIES, SURE, CONFIDENCE = 100, 0.9, 0.7

FAMILIES = ("closed", "exchanged", "drawn anew")
"""Groups that never change; that exchange two members at each release; drawn anew at each."""


def sequential(estimator, cascade=None):
    """Sequential attack with another estimator, and with the cascade of a claim."""
    return lambda own: SequentialAttack(replace(own, estimator=estimator, cascade=cascade or own.cascade))


RULES = {
    "joint law": lambda own: JointAttack(own, Enumeration()),
    "joint law, forward": lambda own: JointAttack(own, Enumeration(), hindsight=False),
    "`GroupGraph`": lambda own: JointAttack(own, GroupGraph()),
    "`GroupMessages`": lambda own: JointAttack(own, GroupMessages()),
    "`MaxEntropy`": lambda own: JointAttack(own, MaxEntropy()),
    "`RetrospectiveAttack`, `Exact`": lambda own: RetrospectiveAttack(replace(own, estimator=Exact())),
    "`SequentialAttack`, `Exact`": sequential(Exact()),
    "`SequentialAttack`, `Omega`": sequential(Omega()),
    "`SequentialAttack`, `ConfidenceSum`": sequential(ConfidenceSum()),
    "`SequentialAttack`, `DirichletMultinomial`": sequential(DirichletMultinomial()),
    "`SnapshotAttack`, `Exact`": lambda own: SnapshotAttack(replace(own, estimator=Exact())),
}
"""Rules without compromised records."""

CASCADES = {
    "joint law": RULES["joint law"],
    "joint law, forward": RULES["joint law, forward"],
    "`PriorCascade`, `Exact`": sequential(Exact(), PriorCascade()),
    "`EvidenceCascade`, `Exact`": sequential(Exact(), EvidenceCascade()),
    "`PosteriorCascade`, `DirichletMultinomial`": sequential(DirichletMultinomial(), PosteriorCascade()),
}
"""Rules for a compromised record."""

DROPS = {
    "joint law": "nothing",
    "joint law, forward": "later releases",
    "`GroupGraph`": "that evidence on a cycle of groups is one",
    "`GroupMessages`": "what the members of a group tell about each other at other releases",
    "`MaxEntropy`": "the exact counts: kept in expectation",
    "`RetrospectiveAttack`, `Exact`": "the joint law of members, whose evidence it repeats in both directions",
    "`SequentialAttack`, `Exact`": "later releases; the joint law of members, whose evidence it repeats",
    "`SequentialAttack`, `Omega`": "the same, and the exact counts of a group (JS-reduce and BayFrame, experiments)",
    "`SequentialAttack`, `ConfidenceSum`": "the same; an assignment weighs the sum of its priors (JS-reduce, Algorithm 2)",
    "`SequentialAttack`, `DirichletMultinomial`": "the same; one draw at the assignment of the largest sum (BayFrame)",
    "`SnapshotAttack`, `Exact`": "all other releases; each has the prior of the first",
    "`PriorCascade`, `Exact`": "later releases and claims, the joint law of members (BayFrame, Equation 5)",
    "`EvidenceCascade`, `Exact`": "the same; the confidence is a likelihood",
    "`PosteriorCascade`, `DirichletMultinomial`": "the same; a claim is a pseudo-count of assignments (BayFrame, Definition 6)",
}
"""What each rule leaves out of the joint law."""


def errors(cell, _rng):
    """Errors of all rules on some histories of a family."""
    of_histories = np.random.default_rng([FAMILIES.index(cell["family"]), cell["claim"]])
    found = {name: [] for name in (CASCADES if cell["claim"] else RULES)}
    for _ in range(HISTORIES):
        releases, adversary = random_publication(cell["family"], of_histories)
        if cell["claim"]:
            adversary = replace(adversary, compromised=claim(releases, adversary, of_histories), cascade=PriorCascade())
        history = History(release.view for release in releases)
        beliefs = {name: (CASCADES if cell["claim"] else RULES)[name](adversary)(releases) for name in found}
        rows = {name: np.vstack([one.beliefs("posterior") for one in each.releases]) for name, each in beliefs.items()}
        for name, each in beliefs.items():
            total = total_of_risk(risk_table(each, history, sure=SURE))
            away = (np.abs(rows[name] - rows[exact]).sum() / 2 for exact in ("joint law", "joint law, forward"))
            found[name].append((len(rows[name]), *away, *(total[one] for one in ("sure", "right", "expected"))))
    columns = ["records", "distance", "forward_distance", "sure", "right", "expected"]
    table = pd.DataFrame([np.sum(each, axis=0) for each in found.values()], columns=columns).assign(rule=list(found))
    return table.assign(**{name: table[name] / table["records"] for name in ("distance", "forward_distance")})


def random_publication(family, rng):
    """Releases of a random history of 3 to 6 respondents, 2 to 4 releases and 2 to 4 values, and an adversary who knows its law."""
    people, times, m = int(rng.integers(3, 7)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
    prior, chain = rng.dirichlet(np.ones(m), size=people), rng.dirichlet(np.ones(m), size=m)
    values = np.array([rng.choice(m, p=row) for row in prior])
    labels = random_groups(people, rng)
    schema = Schema({"age": Numeric(0, people - 1)}, "result", tuple(range(m)))
    releases = []
    for time in range(times):
        if time:
            values = np.array([rng.choice(m, p=chain[value]) for value in values])
            if family == "exchanged":
                one, other = rng.choice(people, 2, replace=False)
                labels[[one, other]] = labels[[other, one]]
            elif family == "drawn anew":
                labels = random_groups(people, rng)
        frame = pd.DataFrame({"id": np.arange(people), "age": np.arange(people), "result": values})
        releases.append(Release(View(frame, schema, time), labels.copy()))
    return releases, Adversary(GivenPrior(pd.DataFrame(prior)), MarkovChain(1, chain))


def random_groups(people, rng):
    """Groups of 2 or 3 respondents, as labels; a group of 1 if one is left over."""
    return rng.permutation(np.arange(people) // int(rng.integers(2, 4)))


def claim(releases, adversary, rng):
    """A claim about a random record, of which its confidence is the probability that it is told, and not drawn from the law."""
    release = releases[rng.integers(len(releases))]
    row = rng.integers(len(release.view))
    value = release.view.sensitive[row]
    if rng.random() >= CONFIDENCE:
        steps = np.linalg.matrix_power(adversary.transitions.probabilities, release.time)
        value = rng.choice(len(steps), p=adversary.prior_rows(release.view.people)[row] @ steps)
    known = {"respondent": release.view.people.respondents[row], "value": int(value), "time": release.time}
    return CompromisedRecords(pd.DataFrame([known | {"confidence": CONFIDENCE}]), contradicted="report")


RULE_ERRORS = Experiment(
    "rules",
    errors,
    [{"family": family, "claim": claimed} for claimed in (False, True) for family in FAMILIES],
)


def table(rows):
    """Lines of Markdown, as in docs/methods/joint.md; ``rows`` are those of `cells.read`."""
    lines = [
        "| rule | what it drops | " + " | ".join(FAMILIES) + " | sure beliefs, right (expected) |",
        "|---" * 6 + "|",
    ]
    for claimed, rules in ((False, RULES), (True, CASCADES)):
        for name in rules:
            own = rows[(rows["rule"] == name) & (rows["claim"] == claimed)].set_index("family")
            away = [
                " / ".join(f"{own.loc[family, column]:.3f}"[1:] for column in ("distance", "forward_distance"))
                for family in FAMILIES
            ]
            sure, right, expected = own[["sure", "right", "expected"]].sum()
            told = f"{name}{', one claim' if claimed and name.startswith('joint') else ''}"
            lines.append(
                f"| {told} | {DROPS[name]} | {' | '.join(away)} | {sure:,.0f}, {right:,.0f} ({expected:,.0f}) |"
            )
    return lines
