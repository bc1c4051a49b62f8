"""Joint solvers against enumeration on random small histories, by family of history.

A row is a history: the total variation between the beliefs of a solver and the exact ones, mean and largest over its records; the
sum of the gains and the number of sure beliefs of both; the number of records whose status says that they are exact, with the
largest error of these; and the error of the log evidence. All solvers meet the same histories.
"""

from dataclasses import fields
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd

from foreknow.evaluation.cells import Experiment
from foreknow.models import JOINT_SOLVERS, Enumeration
from foreknow.models.joint import JointProblem, joint_log_evidence

HISTORIES, SEEDS, SURE = 80, 1, 0.9

CHANGES = ("closed", "exchanged", "drawn anew")
"""Groups that never change, that exchange two members before each release, and that are drawn anew for each."""

FAMILIES = (
    *CHANGES,
    "gaps",
    "arrivals",
    "counterfeits",
    "compromised",
    "free",
    "zeros",
    "near zeros",
    "sticky",
    "sticky exchanged",
    "static",
    "halves",
)
"""The families after `CHANGES` change groups in one of these ways, drawn for each history; "sticky exchanged" exchanges members.

Gaps: each respondent is absent from .3 of the releases. Arrivals: each comes at a random release. Counterfeits: .4 of the groups
have one. Compromised: of .2 of the records a value is told, with a confidence of .7 or 1. The others differ in the chain. Free: the
next value depends on the last one with the weight .2. Zeros, near zeros: .4 of the entries are 0 or 1e-4, except one of each row.
Sticky: values are kept with the probability .8 and more. Static: with .95 and more, and with 1 in a third of the histories.
Halves: 4 to 8 respondents in two groups that change, with a chain of Dirichlet rows of concentration .4 instead of 1."""

SOLVERS = sorted(
    name
    for name, solver in JOINT_SOLVERS.items()
    if name != "enumeration" and "rng" not in {setting.name for setting in fields(solver)}
)
"""Names of the solvers that draw nothing."""


def accuracy(cell, _rng):
    """Accuracy of one solver on some histories of a family."""
    solver = JOINT_SOLVERS[cell["solver"]]()
    rows = []
    for number, (problem, values, exact) in enumerate(histories(cell["family"], cell["seed"])):
        found, records = solver(problem), np.arange(len(values))
        away = np.add.reduceat(np.abs(found.beliefs - exact.beliefs), exact.starts[:-1]) / 2
        fine = found.status[problem.group] == 0
        share = problem.counts[problem.group, values] / problem.counts.sum(axis=1)[problem.group]
        row = {
            "number": number,
            "people": problem.respondents,
            "releases": problem.releases,
            "records": len(records),
            "distance": away.mean(),
            "largest_distance": away.max(),
            "fine": fine.sum(),
            "largest_fine_distance": away[fine].max(initial=0),
            "evidence_error": joint_log_evidence(found) - joint_log_evidence(exact),
            "measured": (share < 1).sum(),
        }
        for prefix, each in (("", found), ("exact_", exact)):
            beliefs = each.rows(records)
            gain = (beliefs[records, values] - share)[share < 1] / (1 - share[share < 1])
            row |= {f"{prefix}gain": gain.sum(), f"{prefix}sure": (beliefs.max(axis=1) >= SURE).sum()}
        rows.append(row)
    return pd.DataFrame(rows)


@lru_cache(maxsize=1)
def histories(family, seed):
    """Problems of a family, the true values of their records, and the exact posteriors."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    drawn = [random_history(family, rng) for _ in range(HISTORIES)]
    return [(problem, values, Enumeration(2**18)(problem)) for problem, values in drawn]


def random_history(family, rng):
    """Problem of 2 to 8 respondents, 2 to 8 releases and 2 to 5 values, and the true value of each record, drawn from its law."""
    halves = family == "halves"
    people, times, m = (int(rng.integers(*ends)) for ends in ((4 if halves else 2, 9), (2, 9), (2, 6)))
    prior, chain = rng.dirichlet(np.ones(m), people), random_chain(family, m, rng)
    change = family.removeprefix("sticky ")
    change = change if change in CHANGES else str(rng.choice(CHANGES[1:] if halves else CHANGES))
    first = rng.integers(times, size=people) * (family == "arrivals")
    first[rng.integers(people)] = 0
    labels, last, records, invented = random_groups(people, halves, rng), {}, [], 0
    for time in range(times):
        if time and change == "exchanged":
            exchange(labels, rng)
        elif time and change == "drawn anew":
            labels = random_groups(people, halves, rng)
        here = first <= time
        if family == "gaps":
            here &= rng.random(people) < 0.7
            here[rng.integers(people)] = True
        for label in np.unique(labels[here]):
            for i in np.flatnonzero(here & (labels == label)).tolist():
                last[i] = int(rng.choice(m, p=chain[last[i]] if i in last else prior[i]))
                records.append((i, (time, label), last[i]))
            if family == "counterfeits" and rng.random() < 0.4:
                records.append((people + invented, (time, label), int(rng.integers(m))))
                invented += 1
    path, places, values = (np.array(column) for column in zip(*records, strict=True))
    starts, group = np.unique(places, axis=0, return_inverse=True)
    counts = np.zeros((len(starts), m), dtype=int)
    np.add.at(counts, (group, values), 1)
    problem = JointProblem(
        np.vstack([prior, np.full((invented, m), 1 / m)]),
        (chain[None],),
        path,
        group,
        np.zeros_like(path),
        counts,
        starts[:, 0],
        **(claims(values, m, rng) if family == "compromised" else {}),
        respondents=people,
    )
    return problem, values


def random_chain(family, m, rng):
    """Transitions of a family, shape ``(m, m)``."""
    chain = rng.dirichlet(np.full(m, 0.4 if family == "halves" else 1.0), m)
    if family == "free":
        return 0.2 * chain + 0.8 * rng.dirichlet(np.ones(m))
    if family in ("zeros", "near zeros"):
        low = rng.random((m, m)) < 0.4
        low[np.arange(m), rng.integers(m, size=m)] = False
        chain = np.where(low, 0.0 if family == "zeros" else 1e-4, chain)
        return chain / chain.sum(axis=1, keepdims=True)
    stay = rng.choice([0.95, 0.99, 1.0]) if family == "static" else 0.8 * family.startswith("sticky")
    return (1 - stay) * chain + stay * np.eye(m)


def claims(values, m, rng):
    """Likelihoods of compromised records: a told value is the true one with the probability of the confidence, or else any."""
    told = np.flatnonzero(rng.random(len(values)) < 0.2)
    confidence = rng.choice([0.7, 1.0], size=len(told))
    value = np.where(rng.random(len(told)) < confidence, values[told], rng.integers(m, size=len(told)))
    row = np.full(len(values), -1)
    row[told] = np.arange(len(told))
    evidence = (1 - confidence[:, None]) / m + confidence[:, None] * np.eye(m)[value]
    return {"evidence": evidence, "evidence_row": row}


def random_groups(people, halves, rng):
    """Two groups, or groups of 2 to 5 respondents, as labels; the last one may be smaller."""
    return rng.permutation(np.arange(people) // ((people + 1) // 2 if halves else int(rng.integers(2, 6))))


def exchange(labels, rng):
    """Let two respondents of different groups change places."""
    one = rng.integers(len(labels))
    others = np.flatnonzero(labels != labels[one])
    if len(others):
        other = rng.choice(others)
        labels[[one, other]] = labels[[other, one]]


JOINT_SOLVER_ACCURACY = Experiment(
    "joint_solvers",
    accuracy,
    [
        {"family": family, "solver": solver, "seed": seed}
        for family, seed, solver in product(FAMILIES, range(SEEDS), SOLVERS)
    ],
)


def table(rows):
    """Lines of Markdown, as in docs/methods/joint.md; ``rows`` are those of `cells.read`."""
    names = " | ".join(f"`{JOINT_SOLVERS[solver].__name__}`" for solver in SOLVERS)
    lines = [
        f"| family | {names} | largest | gain | sure beliefs | said exact | largest error | log evidence |",
        "|---" * (len(SOLVERS) + 7) + "|",
    ]
    for family in (*FAMILIES, "all"):
        of_family = rows[rows["family"].isin(FAMILIES if family == "all" else [family])]
        means = of_family.groupby("solver")["distance"].mean()
        own = of_family[of_family["solver"] == "group-graph"]
        total = own[["records", "measured", "gain", "exact_gain", "sure", "exact_sure", "fine"]].sum()
        parts = [
            family,
            *(_decimals(means[solver]) for solver in SOLVERS),
            ", ".join(_decimals(own[name].max(), 3) for name in ("distance", "largest_distance")),
            " / ".join(_decimals(total[name] / total["measured"], 3) for name in ("exact_gain", "gain")),
            " / ".join(f"{total[name]:,.0f}" for name in ("exact_sure", "sure")),
            f"{total['fine'] / total['records']:.0%}",
            f"{own['largest_fine_distance'].max():.0e}",
            ", ".join(_decimals(number, 3) for number in own["evidence_error"].abs().agg(["mean", "max"])),
        ]
        lines.append(f"| {' | '.join(parts)} |")
    return lines


def _decimals(number, digits=4):
    return f"{number:.{digits}f}".removeprefix("0")
