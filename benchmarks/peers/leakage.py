"""Comparison of qif and privattacks with foreknow: vulnerability and leakage of the same channels and the same table."""

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from environments import Program, Unavailable, output_of, python_of
from records import QUASI_IDENTIFIERS, SENSITIVE

from foreknow.attacks import SnapshotAttack
from foreknow.evaluation import information_flow
from foreknow.models import Adversary, Exact, GivenPrior, History, Numeric, RandomWorlds, Release, Schema, View

GROUPS, MEMBERS, VALUES, GUESSES = 40, 3, 3, 4
LIMIT = 600.0


def leakages(qif: Program, privattacks: Program, view: View, folder: Path) -> list[tuple[object, ...]]:
    """Rows of the table: each measure of each program, beside that of foreknow."""
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
    command = [python_of(program), str(Path(__file__).parent / program.runner), str(path)]
    theirs = pd.DataFrame(json.loads(output_of(command, LIMIT).splitlines()[-1]))
    mine = pd.DataFrame(ours)
    case = f"{GROUPS} groups of {MEMBERS}, random priors over {VALUES} values; {GUESSES} guesses"
    for name in theirs:
        difference = (theirs[name] - mine[name]).abs().max()
        means = (f"{numbers.mean():.6f}" for numbers in (theirs[name], mine[name]))
        yield (program.name, case, name, len(theirs), *means, f"{difference:.1e}")


def by_privattacks(program: Program, view: View, folder: Path) -> Iterator[tuple[object, ...]]:
    """Adult, attacked with the quasi-identifiers as they are: groups of equal ones, and the shares of the table as the prior."""
    command = [python_of(program), str(Path(__file__).parent / program.runner), str(folder), "posterior vulnerability"]
    theirs = json.loads(output_of(command, LIMIT).splitlines()[-1])
    labels = view.frame.groupby(QUASI_IDENTIFIERS, sort=False).ngroup().to_numpy()
    shares = np.bincount(view.sensitive, minlength=len(view.schema.values)) / len(view)
    prior = pd.DataFrame(np.tile(shares, (len(view), 1)), view.people.respondents, list(view.schema.values))
    beliefs = SnapshotAttack(Adversary(GivenPrior(prior), estimator=RandomWorlds()))([Release(view, labels)])
    flow = information_flow(beliefs, History([view])).iloc[0]
    pairs = (("Bayes vulnerability, prior", "prior", "prior_vulnerability"),)
    for name, their_name, my_name in (
        *pairs,
        ("Bayes vulnerability, posterior", "vulnerability", "posterior_vulnerability"),
    ):
        numbers = theirs[their_name], float(flow[my_name])
        case = f"Adult, {len(view):,} rows, {SENSITIVE} by groups of equal quasi-identifiers"
        yield (
            program.name,
            case,
            name,
            1,
            *(f"{number:.6f}" for number in numbers),
            f"{abs(numbers[0] - numbers[1]):.1e}",
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
