"""Measures of pycanon, qif and privattacks beside those of foreknow, on the same published tables and the same channels."""

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from environments import Program, Unavailable, output_of, runner
from runners import QUASI_IDENTIFIERS, SENSITIVE, K

from foreknow.attacks import SnapshotAttack
from foreknow.defenses import (
    Anatomy,
    BasicBetaLikeness,
    BetaLikeness,
    Defense,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    JSReduce,
    KAnonymity,
    Mondrian,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    publish,
    summarize_groups,
    summarize_records,
)
from foreknow.evaluation import information_flow
from foreknow.evaluation.checks.verify import verify_table
from foreknow.models import (
    Adversary,
    Exact,
    GivenPrior,
    History,
    Numeric,
    RandomWorlds,
    Release,
    Schema,
    UniformPrior,
    View,
)

FIRST_RECORDS = 3000
LIMIT = 3600.0
MAX_IS_WORST = ("t", "basic beta", "enhanced beta", "recursive c")
"""Measures whose worst group has the largest value; for all others it has the smallest."""


class ComparedMeasure(NamedTuple):
    """One measure of one release by pycanon, by `verify`, by the requirement, and by pycanon's own rule where it differs."""

    release: str
    by: str
    measure: str
    pycanon: float
    verify: float
    requirement: float
    rule: float


def releases() -> dict[str, Defense]:
    k = KAnonymity(K)
    return {
        "Mondrian: k": Mondrian(k),
        "Mondrian: k, distinct l = 3": Mondrian(k & DistinctDiversity(3)),
        "Mondrian: k, entropy l = 3": Mondrian(k & EntropyDiversity(3)),
        "Mondrian: k, recursive (2, 3)": Mondrian(k & RecursiveDiversity(2, 3)),
        "Mondrian: k, t = .5": Mondrian(k & TCloseness(0.5)),
        "Mondrian: k, basic beta = 2": Mondrian(k & BasicBetaLikeness(2)),
        "Mondrian: k, enhanced beta = 2": Mondrian(k & BetaLikeness(2)),
        "JSReduce(5, .5, .6, patience=50)": JSReduce(K, 0.5, 0.6, patience=50),
        "Anatomy(5)": Anatomy(5, rng=1),
    }


def agreement(program: Program, view: View, folder: Path) -> tuple[list[ComparedMeasure], list[str]]:
    """Measures of every release of the first `FIRST_RECORDS` records and of all records; and the failures of pycanon."""
    found: list[ComparedMeasure] = []
    failures: list[str] = []
    for size in sorted({min(FIRST_RECORDS, len(view)), len(view)}):
        part = View(view.frame.iloc[:size], view.schema)
        for name, defense in releases().items():
            release = publish([part], defense, Adversary(UniformPrior()), rng=np.random.default_rng(1))[0]
            # In a bucketized release, rows do not link quasi-identifiers and values.
            by = ["group"] if release.bucketized or size > FIRST_RECORDS else ["group", "labels"]
            try:
                found += compared(f"{name}, {size:,} rows", release, by, pycanon_measures(program, release, by, folder))
            except Unavailable as why:
                failures.append(f"{name}, {size:,} rows: {why}")
    return found, failures


def pycanon_measures(program: Program, release: Release, by: list[str], folder: Path) -> dict[str, float]:
    """Measures of a release by pycanon, from the published table alone."""
    path = folder / "published" / "checked.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    release.table.to_csv(path, index=False)
    command = [*runner(program), str(path), ",".join(by)]
    return json.loads(output_of(command, LIMIT).splitlines()[-1])["found"]


def compared(name: str, release: Release, columns: list[str], found: dict[str, float]) -> Iterator[ComparedMeasure]:
    """Measures of pycanon and of foreknow: groups by the column ``group``, or by the published quasi-identifiers alone."""
    values = release.view.schema.values
    for by in columns:
        table = release.table
        if by == "labels":
            table["group"] = table.groupby(QUASI_IDENTIFIERS, sort=False).ngroup()
        counts = pd.crosstab(table["group"], table[SENSITIVE])
        summary = summarized(table, release)
        for measure, requirement in measures(int(found[f"distinct l by {by}"])).items():
            by_pycanon = found[f"{measure} by {by}"]
            rule = RULES[measure](counts) if measure in RULES else float("nan")
            if requirement is None:
                yield ComparedMeasure(name, by, measure, by_pycanon, delta(counts), delta(counts), rule)
                continue
            checked = verify_table(table, SENSITIVE, values, requirement)["level"].to_numpy()
            ours = [worst(measure, levels) for levels in (checked, requirement.level(summary))]
            yield ComparedMeasure(name, by, measure, by_pycanon, *ours, rule)


def measures(l: int) -> dict[str, Requirement | None]:  # noqa: E741
    """Measures of pycanon, with the requirement that has this level; the last has no requirement in foreknow."""
    return {
        "k": KAnonymity(1),
        "alpha": FrequencyDiversity(1),
        "distinct l": DistinctDiversity(1),
        "entropy l": EntropyDiversity(1),
        "recursive c": RecursiveDiversity(1, l),
        "t": TCloseness(1.0),
        "basic beta": BasicBetaLikeness(1),
        "enhanced beta": BetaLikeness(1),
        "delta": None,
    }


def summarized(table: pd.DataFrame, release: Release):
    """Summaries of the published groups, with the published records as the whole table."""
    frame = release.view.frame.iloc[: len(table)].assign(**{SENSITIVE: table[SENSITIVE].to_numpy()})
    view = View(frame, release.view.schema)
    uniform = np.full((len(view), len(view.schema.values)), 1 / len(view.schema.values))
    return summarize_groups(summarize_records(view, uniform), table["group"].to_numpy())


def worst(measure: str, levels: np.ndarray) -> float:
    """Level of a table: that of its worst group; alpha is one over the frequency diversity."""
    level = float(levels.max() if measure in MAX_IS_WORST else levels.min())
    return 1 / level if measure == "alpha" else level


def delta(counts: pd.DataFrame) -> float:
    """Largest absolute logarithm of the ratio of a value's share in a group to its share in the table, over shown values."""
    ratio = counts.div(counts.sum(axis=1), axis=0) / (counts.sum() / counts.to_numpy().sum())
    return float(np.abs(np.log(ratio.to_numpy()[ratio.to_numpy() > 0])).max())


def same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(one) and math.isnan(other))


def agree(one: ComparedMeasure) -> bool:
    return same(one.pycanon, one.verify) and same(one.verify, one.requirement)


def explained(one: ComparedMeasure) -> bool:
    """Return whether only pycanon differs, and its known rule gives its number."""
    return same(one.verify, one.requirement) and same(one.pycanon, one.rule)


type Counts = pd.DataFrame
"""Counts of the values: one row per group, one column per value, in the order of the values."""


def entropy(counts: Counts) -> float:
    """Entropy l-diversity as ``int(e ** H)``: rounded down, also below a whole number, so that three equal shares have l = 2."""
    worst = min(-float(np.sum(share * np.log(share))) for share in shown_shares(counts))
    return float(int(np.exp(1) ** worst))


def recursive(counts: Counts) -> float:
    """Recursive c with counts sorted in ascending order: the rarest over the sum from the l-th on, plus 1, rounded down."""
    least = int((counts > 0).sum(axis=1).min())
    if least <= 1:
        return float("nan")
    ranked = (np.sort(row[row > 0]) for row in counts.to_numpy())
    return max(float(np.floor(row[0] / row[least - 1 :].sum() + 1)) for row in ranked)


def enhanced(counts: Counts) -> float:
    """Enhanced beta as the smaller of the largest gain and the smallest ``-ln p``, not compared value by value."""
    whole = counts.sum() / counts.to_numpy().sum()
    gains = counts.div(counts.sum(axis=1), axis=0) / whole - 1
    return float(min(gains.to_numpy().max(), -np.log(whole.min())))


def shown_shares(counts: Counts) -> list[np.ndarray]:
    return [row[row > 0] / row.sum() for row in counts.to_numpy()]


RULES: dict[str, Callable[[Counts], float]] = {
    "entropy l": entropy,
    "recursive c": recursive,
    "enhanced beta": enhanced,
}


GROUPS, MEMBERS, VALUES, GUESSES = 40, 3, 3, 4


def leakages(qif: Program, privattacks: Program, view: View, folder: Path) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for program, compare in ((qif, by_qif), (privattacks, by_privattacks)):
        try:
            rows += compare(program, view, folder)
        except Unavailable as why:
            rows.append((program.name, f"not run: {why}"))
    return rows


def by_qif(program: Program, _: View, folder: Path) -> Iterator[tuple[object, ...]]:
    """Random priors and gains of groups of three; the channel of a member leads from its value to the published multiset."""
    rng = np.random.default_rng(1)
    cases, ours = [], []
    for _ in range(GROUPS):
        prior = rng.dirichlet(np.full(VALUES, 0.7), MEMBERS)
        gains = rng.normal(1, 1, (GUESSES, VALUES)).clip(0)
        outputs, joint = joint_law(prior)
        for member in range(MEMBERS):
            channel = joint[:, member].T / prior[member][:, None]
            cases.append({"prior": prior[member].tolist(), "channel": channel.tolist(), "gains": gains.tolist()})
            ours.append(expected_flow(prior, member, outputs, joint[:, 0].sum(axis=1), gains))
    path = folder / "channels.json"
    path.write_text(json.dumps(cases))
    command = [*runner(program), str(path), ""]
    theirs = pd.DataFrame(json.loads(output_of(command, LIMIT).splitlines()[-1]))
    mine = pd.DataFrame(ours)
    case = f"{GROUPS} groups of {MEMBERS}, random priors over {VALUES} values; {GUESSES} guesses"
    for name in theirs:
        difference = (theirs[name] - mine[name]).abs().max()
        means = (f"{numbers.mean():.6f}" for numbers in (theirs[name], mine[name]))
        yield (program.name, case, name, len(theirs), *means, f"{difference:.1e}")


def by_privattacks(program: Program, view: View, folder: Path) -> Iterator[tuple[object, ...]]:
    """Adult, attacked with the quasi-identifiers as they are: groups of equal ones, and the shares of the table as the prior."""
    command = [*runner(program), str(folder), "posterior vulnerability"]
    theirs = json.loads(output_of(command, LIMIT).splitlines()[-1])
    labels = view.frame.groupby(QUASI_IDENTIFIERS, sort=False).ngroup().to_numpy()
    shares = np.bincount(view.sensitive, minlength=len(view.schema.values)) / len(view)
    prior = pd.DataFrame(np.tile(shares, (len(view), 1)), view.people.respondents, list(view.schema.values))
    beliefs = SnapshotAttack(Adversary(GivenPrior(prior), estimator=RandomWorlds()))([Release(view, labels)])
    flow = information_flow(beliefs, History([view])).iloc[0]
    case = f"Adult, {len(view):,} rows, {SENSITIVE} by groups of equal quasi-identifiers"
    for stage, their_name in (("prior", "prior"), ("posterior", "vulnerability")):
        his, mine = theirs[their_name], float(flow[f"{stage}_vulnerability"])
        yield (
            program.name,
            case,
            f"Bayes vulnerability, {stage}",
            1,
            f"{his:.6f}",
            f"{mine:.6f}",
            f"{abs(his - mine):.1e}",
        )


def joint_law(prior: np.ndarray) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Multisets of a group, and the joint probability of each and of each member's value: shape ``(outputs, k, m)``."""
    k, m = prior.shape
    joint: dict[tuple[int, ...], np.ndarray] = {}
    for values in itertools.product(range(m), repeat=k):
        weight = math.prod(prior[i, v] for i, v in enumerate(values))
        of_output = joint.setdefault(tuple(sorted(values)), np.zeros((k, m)))
        of_output[np.arange(k), values] += weight
    return list(joint), np.array(list(joint.values()))


def expected_flow(
    prior: np.ndarray, member: int, outputs: list[tuple[int, ...]], weights: np.ndarray, gains: np.ndarray
) -> dict[str, float]:
    """Vulnerability of one member by foreknow, release by release, and the expectation over all releases."""
    schema = Schema({"age": Numeric(0, 9)}, "result", tuple("abc"))
    rows = GivenPrior(pd.DataFrame(prior, index=range(MEMBERS), columns=list("abc")))
    attack = SnapshotAttack(Adversary(rows, estimator=Exact()))
    flows = []
    for values in outputs:
        frame = pd.DataFrame({"id": range(MEMBERS), "age": 1, "result": ["abc"[value] for value in values]})
        view = View(frame, schema)
        beliefs = attack([Release(view, [0] * MEMBERS)])
        others = set(range(MEMBERS)) - {member}
        pair = (information_flow(beliefs, History([view]), gains=g, leaving_out=others) for g in (None, gains))
        flows.append([table[name][0] for table in pair for name in ("prior_vulnerability", "posterior_vulnerability")])
    before, after, g_before, g_after = np.average(flows, axis=0, weights=weights)
    return {
        "Bayes vulnerability, prior": before,
        "Bayes vulnerability, posterior": after,
        "min-entropy leakage": math.log2(after / before),
        "g-vulnerability, prior": g_before,
        "g-vulnerability, posterior": g_after,
    }


LEAKAGES = ("program", "case", "measure", "numbers", "program's mean", "foreknow's mean", "largest difference")
COUNTED = ("measure", "groups by", "numbers", "agree", "differ by a rule of pycanon", "differ otherwise")
LISTED = (
    "release",
    "groups by",
    "measure",
    "pycanon",
    "`verify`",
    "level of the requirement",
    "rule of pycanon",
)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Markdown table; short rows are filled with empty cells."""
    lines = [f"| {' | '.join(map(str, row))} |" + " |" * (len(heads) - len(row)) for row in rows]
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *lines]


def agreed(found: list[ComparedMeasure], failures: list[str]) -> list[str]:
    """Numbers of agreeing measures of pycanon and foreknow, and each measure that differs."""
    flags = pd.DataFrame(found).assign(agrees=list(map(agree, found)), explained=list(map(explained, found)))
    counted = []
    for (measure, by), rows in flags.groupby(["measure", "by"], sort=False):
        apart = rows[~rows["agrees"]]
        by_rule = int(apart["explained"].sum())
        counted.append((measure, by, len(rows), len(rows) - len(apart), by_rule, len(apart) - by_rule))
    listed = [(*one[:3], *(f"{number:.6g}" for number in one[3:])) for one in found if not agree(one)]
    return [*table(COUNTED, counted), "", *table(LISTED, listed), "", *failures]
