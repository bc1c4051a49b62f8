"""Parts of knowledge: relations, membership, a part of one's own, and forward beliefs in redrawn worlds.

`FAMILIES`: the joint attack on `simulated_families`, relations read and not read.
`RELATED_ERRORS`: `GroupGraph` against enumeration on small random histories, with and without related records.
`UNLABELED`: an adversary who knows the group of each respondent, and one who knows the quasi-identifiers alone.
`MEMBERSHIP_ERRORS`: estimators against `Exact` on random cases of one release; the tests hold `Exact` to enumeration.
`SEVERITY`: on `pbc`, the part of docs/how-to/your-adversary.md, by its factor of a step back.
`FORWARD`: the forward joint attack in worlds redrawn from its adversary's law, which tells an error of the attack from one of the
knowledge.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from experiments.presence import measured, published
from experiments.subjects import seeded
from foreknow.attacks import JointAttack, SnapshotAttack
from foreknow.defenses import FullDomain, JSReduce, KAnonymity, Mondrian, publish
from foreknow.evaluation import exams, group_linkage, households, simulated_families, solver_calibration
from foreknow.evaluation.cells import Experiment
from foreknow.models import (
    Adversary,
    BeliefPropagation,
    ClassFrequencies,
    Enumeration,
    Exact,
    GroupGraph,
    History,
    Knowledge,
    MarkovChain,
    Numeric,
    People,
    Schema,
    Sinkhorn,
    UniformMembership,
    UnlabeledObservation,
)
from foreknow.models.joint import JointProblem
from foreknow.models.knowledge.membership import connected_components, membership_posterior

STRENGTHS, SEEDS = (0.5, 1.0, 2.0), 3

KINDS = {"closed": (4, 3, 2**16), "drawn anew": (4, 3, 2**16), "one group of 8, limit=50": (8, 2, 50)}
"""Size of a group of 8 respondents, number of releases, and ``limit`` of `GroupGraph`; one of 8 has more than 50 arrangements."""

HISTORIES, RELATED, VALUES = 300, 0.2, 3
"""Number of histories of a kind, share of the pairs of respondents that are related, and number of values."""

DEFENSES = {
    "Mondrian": Mondrian(KAnonymity(3)),
    "Mondrian, strict=False": Mondrian(KAnonymity(3), strict=False),
    "FullDomain": FullDomain(KAnonymity(3)),
    "JSReduce": JSReduce(3, 0.5, 0.6),
}
"""Defenses of `UNLABELED`, in groups of three."""

SIZES = {"300 of 4 to 6 people": ((4, 7), (2, 4), 300), "100 of 17 to 19 people": ((17, 20), (3, 6), 100)}
"""Ends of the numbers of people and of groups, and the number of cases."""

ESTIMATORS = {"BeliefPropagation": BeliefPropagation(), "Sinkhorn": Sinkhorn()}

BACK = (1.0, 0.5, 0.05, 0.001)
"""Factors of a step back; 1 is not to know."""

WORLDS = 5


def families(cell, _rng):
    """The joint attack on 150 families in six views, relations not read and read."""
    history, prior, chain, relations = simulated_families(6, 150, cell["strength"], rng=seeded(cell["seed"]))
    releases = publish(history, Mondrian(KAnonymity(3)), rng=seeded(1))
    own = Adversary(prior, chain, relations=relations)
    each = {"unread": own.without("relations"), "read": own}
    return pd.DataFrame(
        [{"attack": name} | measured(JointAttack(one)(releases), history) for name, one in each.items()]
    )


def related_errors(cell, rng):
    """Total variation of `GroupGraph` to enumeration on each history, without its related pairs and with them."""
    solver, rows = GroupGraph(limit=KINDS[cell["kind"]][2]), []
    for number in range(HISTORIES):
        problem = related_history(cell["kind"], rng)
        for relations, one in ((False, replace(problem, pairs=problem.pairs[:0], pair_table=[])), (True, problem)):
            found, exact, records = solver(one), Enumeration()(one), np.arange(len(one.path))
            away = np.abs(found.rows(records) - exact.rows(records)).sum(axis=1) / 2
            fine = found.status[one.group] == 0
            row = {"number": number, "relations": relations, "records": len(records), "fine": fine.sum()}
            rows.append(row | {"distance": away.mean(), "largest_fine_distance": away[fine].max(initial=0)})
    return pd.DataFrame(rows)


def related_history(kind, rng):
    """Problem of 8 respondents in groups of one size, with random tables of related pairs at the first release."""
    size, times, _ = KINDS[kind]
    people, m = 8, VALUES
    prior, chain = rng.dirichlet(np.ones(m), people), rng.dirichlet(np.full(m, 0.4), m)
    values, path, counts = [], [], np.zeros((times * people // size, m), dtype=int)
    group = np.arange(people * times) // size
    for t in range(times):
        rows = chain[values[-1]] if t else prior
        values.append(np.array([rng.choice(m, p=row) for row in rows]))
        path.append(rng.permutation(people) if kind == "drawn anew" else np.arange(people))
        np.add.at(counts, (group[t * people : (t + 1) * people], values[t][path[t]]), 1)
    pairs = np.column_stack(np.triu_indices(people, 1))
    pairs = pairs[rng.random(len(pairs)) < RELATED]
    normal = rng.normal(size=(2, m, m))
    return JointProblem(
        prior,
        (chain[None],),
        np.concatenate(path),
        group,
        np.zeros(people * times, dtype=int),
        counts,
        np.repeat(np.arange(times), people // size),
        pairs=pairs,
        pair_table=rng.integers(2, size=len(pairs)),
        pair_tables=np.exp((normal + normal.transpose(0, 2, 1)) / 2),
    )


def unlabeled(cell, _rng):
    """Each release alone: beliefs of who knows the groups and of who knows the quasi-identifiers, and the linkage of the second."""
    history, own, defender = SUBJECTS[cell["panel"]]()
    releases = publish(history, DEFENSES[cell["defense"]], defender, rng=seeded(1))
    unsure = replace(own, membership=UniformMembership())
    linked = group_linkage(unsure, releases)
    fits = np.concatenate([one.unlabeled.fits.sum(axis=1)[one.group >= 0] for one in releases])
    common = {"fits": fits.mean(), "linkage": np.average(linked["linkage_after"], weights=linked["records"])}
    return pd.DataFrame(
        [
            {"knows": name} | common | measured(SnapshotAttack(one)(releases), history)
            for name, one in (("group", own), ("quasi-identifiers", unsure))
        ]
    )


def on_exams():
    """Four views of 400, an adversary who knows the prior, and the defender, who knows the chain too."""
    history, prior, chain = exams(4, 400, rng=seeded(1))
    return history, Adversary(prior), Adversary(prior, chain)


def on_households():
    """Weeks 11 to 14, with the knowledge of weeks 21 to 40."""
    year = households()
    history, others = (History(year[week] for week in weeks) for weeks in (range(10, 14), range(20, 40)))
    prior = ClassFrequencies.fit(others, {"age": 3}, pseudo_count=1.0)
    return history, Adversary(prior), Adversary(prior, MarkovChain.fit(others, pseudo_count=0.1))


SUBJECTS = {"exams, 4 x 400": on_exams, "households, weeks 11 to 14": on_households}


def membership_errors(cell, rng):
    """Total variation of each estimator to `Exact` on each case: mean over the people."""
    rows = []
    for number in range(SIZES[cell["cases"]][2]):
        weights, prior, counts = membership_case(*SIZES[cell["cases"]][:2], rng)
        ends, schema = np.zeros((len(counts), 1)), Schema({"age": Numeric(0, 9)}, "result", ("a", "b", "c"))
        people = People(np.arange(len(prior)).astype(object), np.zeros((len(prior), 1)), schema)
        parts = connected_components(
            lambda _, weights=weights: weights, UnlabeledObservation(people, ends, ends, counts, 0)
        )
        exact = membership_posterior(parts, prior, counts, Exact(2**23)).posterior.probabilities
        row = {"number": number}
        for name, estimator in ESTIMATORS.items():
            found = membership_posterior(parts, prior, counts, estimator).posterior.probabilities
            row[name] = np.abs(found - exact).sum(axis=1).mean() / 2
        rows.append(row)
    return pd.DataFrame(rows)


def membership_case(people, groups, rng):
    """Weights, prior and counts: each respondent could be in about half of the groups, with equal or random weights."""
    n, g = int(rng.integers(*people)), int(rng.integers(*groups))
    listed = n - int(rng.integers(2))
    own = np.append(rng.permutation(np.arange(listed) % g), np.full(n - listed, g))
    counts = np.zeros((g, VALUES), dtype=np.int64)
    np.add.at(counts, (own[:listed], rng.integers(0, VALUES, listed)), 1)
    weights = rng.gamma(1, size=(n, g + 1)) * (rng.random((n, g + 1)) < 0.5)
    weights[np.arange(n), own] += 0.5
    if rng.random() < 0.5:
        weights = (weights > 0).astype(np.float64)
    return weights, rng.dirichlet(np.full(VALUES, 0.6), n), counts


@dataclass(frozen=True)
class Severity(Knowledge):
    """Values in the order of severity: a step back is less probable by a factor."""

    name = "severity"
    values: int
    back: float

    def step_factor(self, _release):
        """Factor of each transition: float array, shape ``(m, m)``."""
        return np.where(np.tri(self.values, k=-1) > 0, self.back, 1.0)


def severity(cell, _rng):
    """The joint attack with the part, and the number of steps of the published people and of those that lead back."""
    history, adversary, releases = published("pbc", cell["defense"])
    part = Severity(len(history.schema.values), cell["back"])
    found = JointAttack(replace(adversary.without("presence"), own=(part,)))(releases)
    last, steps, back = {}, 0, 0
    for view in history:
        for who, value in zip(view.people.respondents, view.sensitive, strict=True):
            steps, back = steps + (who in last), back + (value < last.get(who, value))
            last[who] = value
    return pd.DataFrame([{"steps": steps, "back_steps": back} | measured(found, history)])


def forward(cell, _rng):
    """Calibration of the forward joint attack in redrawn worlds of a publication of `transplants`."""
    _, adversary, releases = published("transplants", cell["defense"])
    attack = JointAttack(adversary, hindsight=False)
    found = solver_calibration(attack, releases, worlds=WORLDS, rng=seeded(4))
    numbers = {"sure": found.sure, "right": found.right, "expected": found.expected, "z": found.z}
    return pd.DataFrame([numbers | {"log_score": found.log_score, "expected_score": found.expected_log_score}])


FAMILIES = Experiment(
    "families", families, [{"strength": strength, "seed": seed} for strength in STRENGTHS for seed in range(SEEDS)]
)

RELATED_ERRORS = Experiment("related_errors", related_errors, [{"kind": kind} for kind in KINDS])

UNLABELED = Experiment(
    "unlabeled", unlabeled, [{"panel": panel, "defense": defense} for panel in SUBJECTS for defense in DEFENSES]
)

MEMBERSHIP_ERRORS = Experiment("membership_errors", membership_errors, [{"cases": cases} for cases in SIZES])

SEVERITY = Experiment("severity", severity, [{"defense": "Mondrian k=2, l=2", "back": back} for back in BACK])

FORWARD = Experiment("forward", forward, [{"defense": defense} for defense in ("Anatomy(3)", "Injector(3)")])

PARTS = (FAMILIES, RELATED_ERRORS, UNLABELED, MEMBERSHIP_ERRORS, SEVERITY, FORWARD)


def families_table(rows):
    """Lines of Markdown of `FAMILIES`: scores are means over the seeds, numbers of sure beliefs sums."""
    lines = [
        "| strength | gain: relations not read / read | log score (expected), not read | read | sure, right (expected), read |",
        "|---" * 5 + "|",
    ]
    for strength, own in rows.groupby("strength"):
        each = own.groupby("attack")
        mean, total = each[["gain", "log_score", "expected_score"]].mean(), each[["sure", "right", "expected"]].sum()
        gains = " / ".join(_decimals(mean.loc[name, "gain"], 3) for name in ("unread", "read"))
        scores = " | ".join(_scores(mean.loc[name], 3) for name in ("unread", "read"))
        lines.append(f"| {strength:g} | {gains} | {scores} | {_sure(total.loc['read'])} |")
    return lines


def related_table(rows):
    """Lines of Markdown of `RELATED_ERRORS`, each without relations and with them."""
    lines = [
        f"| {HISTORIES} histories | mean total variation: without relations / with | largest of a history "
        "| records said to be exact | their largest error |",
        "|---" * 5 + "|",
    ]
    for kind in KINDS:
        both = [own for _, own in rows[rows["kind"] == kind].groupby("relations")]
        means, largest = (
            " / ".join(_decimals(each["distance"].agg(how), 4) for each in both) for how in ("mean", "max")
        )
        exact = " / ".join(f"{each['fine'].sum() / each['records'].sum():.0%}" for each in both)
        error = " / ".join(f"{each['largest_fine_distance'].max():.0e}" for each in both)
        lines.append(f"| {kind} | {means} | {largest} | {exact} | {error} |")
    return lines


def unlabeled_table(rows):
    """Lines of Markdown of `UNLABELED`."""
    lines = [
        "| data, defense | groups that fit | belief in the true group | gain: group known / not "
        "| sure, right (expected): group known | not |",
        "|---" * 6 + "|",
    ]
    for cell in UNLABELED.cells:
        own = rows[(rows["panel"] == cell["panel"]) & (rows["defense"] == cell["defense"])].set_index("knows")
        both = [own.loc[name] for name in ("group", "quasi-identifiers")]
        gains, sure = " / ".join(_decimals(one["gain"], 3) for one in both), " | ".join(_sure(one) for one in both)
        linked = f"{both[0]['fits']:.1f} | {_decimals(both[0]['linkage'], 2)}"
        lines.append(f"| {cell['panel']}, `{cell['defense']}` | {linked} | {gains} | {sure} |")
    return lines


def membership_table(rows):
    """Lines of Markdown of `MEMBERSHIP_ERRORS`."""
    lines = [
        f"| estimator | {' | '.join(f'{cases}: mean (largest)' for cases in SIZES)} |",
        "|---" * (len(SIZES) + 1) + "|",
    ]
    for name in ESTIMATORS:
        errors = [rows.loc[rows["cases"] == cases, name] for cases in SIZES]
        each = (f"{_decimals(one.mean(), 3)} ({_decimals(one.max(), 3)})" for one in errors)
        lines.append(f"| `{name}` | {' | '.join(each)} |")
    return lines


def severity_table(rows):
    """Lines of Markdown of `SEVERITY`; the factor 1 is not to know."""
    lines = ["| back | gain | log score in bits (expected) | sure, right (expected) |", "|---" * 4 + "|"]
    for _, one in rows.sort_values("back", ascending=False).iterrows():
        lines.append(f"| {one['back']:g} | {_decimals(one['gain'], 2)} | {_scores(one, 2)} | {_sure(one)} |")
    return lines


def forward_table(rows):
    """Lines of Markdown of `FORWARD`."""
    lines = ["| defense | sure, right (expected) | z | log score in bits (expected) |", "|---" * 4 + "|"]
    for _, one in rows.iterrows():
        lines.append(f"| `{one['defense']}` | {_sure(one)} | {one['z']:+.1f} | {_scores(one, 3)} |")
    return lines


TABLES = {
    "families": ("methods/knowledge.md", families_table),
    "related_errors": ("methods/knowledge.md", related_table),
    "unlabeled": ("methods/knowledge.md", unlabeled_table),
    "membership_errors": ("methods/knowledge.md", membership_table),
    "severity": ("how-to/your-adversary.md", severity_table),
    "forward": ("calibration.md", forward_table),
}
"""Page of docs/ and the function of the rows of `cells.read`, by experiment."""


def _decimals(number, digits):
    return f"{number:z.{digits}f}".replace("-0.", "-.").removeprefix("0")


def _scores(one, digits):
    return f"{_decimals(one['log_score'], digits)} ({_decimals(one['expected_score'], digits)})"


def _sure(one):
    return f"{one['sure']:,.0f}, {one['right']:,.0f} ({one['expected']:,.0f})"
